#include "net/proxy_protocol.h"

#include <arpa/inet.h>
#include <stdint.h>

enum {
    V1_MAX = 107, /* the longest line, CR LF included (section 2.1) */
    V2_HEAD = 16, /* before the addresses (section 2.2) */
    V2_SIGNATURE = 12,
};

/* Cuts what is before the next blank off the front; the last field ends with the line. */
static struct span field_next(struct span *line)
{
    const char *blank = memchr(line->p, ' ', line->n);
    struct span field = span_of(line->p, blank ? (size_t)(blank - line->p) : line->n);
    *line = span_from(*line, field.n + (blank != NULL));
    return field;
}

static bool port_valid(struct span text)
{
    unsigned n = 0;
    if (text.n == 0 || text.n > 5 || (text.n > 1 && text.p[0] == '0'))
        return false;
    for (size_t i = 0; i < text.n; i++) {
        if (text.p[i] < '0' || text.p[i] > '9')
            return false;
        n = n * 10 + (unsigned)(text.p[i] - '0');
    }
    return n <= 65535;
}

/* As inet_ntop writes it, so that one client has one spelling. */
static bool address_write(struct span text, int family, char *out)
{
    char copy[INET6_ADDRSTRLEN];
    uint8_t bytes[16];
    if (text.n >= sizeof copy || (text.n && memchr(text.p, '\0', text.n)))
        return false;
    memcpy(copy, text.p, text.n);
    copy[text.n] = '\0';
    return inet_pton(family, copy, bytes) == 1 && inet_ntop(family, bytes, out, INET6_ADDRSTRLEN);
}

/* "PROXY TCP4 192.0.2.1 192.0.2.2 51234 443" without its line end. */
static bool v1_line(struct span line, char *address)
{
    char destination[INET6_ADDRSTRLEN];
    (void)field_next(&line);
    struct span protocol = field_next(&line);
    if (span_is(protocol, "UNKNOWN"))
        return true;
    if (!span_is(protocol, "TCP4") && !span_is(protocol, "TCP6"))
        return false;
    int family = protocol.p[3] == '4' ? AF_INET : AF_INET6;
    struct span from = field_next(&line), to = field_next(&line), from_port = field_next(&line);
    return port_valid(from_port) && port_valid(line) && address_write(to, family, destination) &&
           address_write(from, family, address);
}

static int v1_parse(struct span bytes, char *address)
{
    const char *lf = memchr(bytes.p, '\n', bytes.n < V1_MAX ? bytes.n : V1_MAX);
    if (!lf)
        return bytes.n < V1_MAX ? 0 : -1;
    size_t n = (size_t)(lf - bytes.p) + 1;
    if (lf[-1] != '\r' || !v1_line(span_of(bytes.p, n - 2), address)) {
        address[0] = '\0';
        return -1;
    }
    return (int)n;
}

static int v2_parse(struct span bytes, char *address)
{
    if (bytes.n < V2_HEAD)
        return 0;
    const uint8_t *b = (const uint8_t *)bytes.p;
    uint8_t version = b[12] >> 4, command = b[12] & 0xf, family = b[13] >> 4, transport = b[13] & 0xf;
    size_t length = (size_t)b[14] << 8 | b[15];
    static const uint8_t addresses[] = {0, 12, 36, 216}; /* bytes of both: unspecified, IPv4, IPv6, Unix */
    if (version != 2 || command > 1 || family > 3 || transport > 2 || length > PROXY_PROTOCOL_MAX - V2_HEAD)
        return -1;
    if (command == 1 && length < addresses[family])
        return -1;
    if (bytes.n < V2_HEAD + length)
        return 0;
    if (command == 1 && (family == 1 || family == 2))
        inet_ntop(family == 1 ? AF_INET : AF_INET6, b + V2_HEAD, address, INET6_ADDRSTRLEN);
    return (int)(V2_HEAD + length);
}

int proxy_protocol_parse(struct span bytes, char address[64])
{
    static const char v1[] = "PROXY ", v2[] = "\r\n\r\n\0\r\nQUIT\n";
    size_t v1_n = sizeof v1 - 1, v2_n = V2_SIGNATURE;
    address[0] = '\0';
    if (bytes.n == 0)
        return 0;
    if (memcmp(bytes.p, v1, bytes.n < v1_n ? bytes.n : v1_n) == 0)
        return bytes.n < v1_n ? 0 : v1_parse(bytes, address);
    if (memcmp(bytes.p, v2, bytes.n < v2_n ? bytes.n : v2_n) == 0)
        return v2_parse(bytes, address);
    return -1;
}
