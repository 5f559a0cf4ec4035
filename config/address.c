#include "config/address.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <sys/un.h>

#include "base/xalloc.h"
#include "config/value.h"

enum { HOST_LONGEST = 253 };

static bool is_host_name(struct span host)
{
    static const char allowed[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-_";
    for (size_t i = 0; i < host.n; i++)
        if (!memchr(allowed, host.p[i], sizeof allowed - 1))
            return false;
    return host.n > 0 && host.n <= HOST_LONGEST && host.p[0] != '.' && host.p[0] != '-';
}

static bool is_ipv6(struct span host)
{
    char text[INET6_ADDRSTRLEN];
    struct in6_addr address;
    if (host.n >= sizeof text)
        return false;
    memcpy(text, host.p, host.n);
    text[host.n] = '\0';
    return inet_pton(AF_INET6, text, &address) == 1;
}

/* "host", "host:port", "[v6]", "[v6]:port"; port_text.p is NULL when there is no colon. */
static const char *split_authority(struct span text, struct span *host, struct span *port_text)
{
    *port_text = span_of(NULL, 0);
    if (text.n && text.p[0] == '[') {
        const char *close = memchr(text.p, ']', text.n);
        if (!close)
            return "a closing ] after the IPv6 address";
        *host = span_of(text.p + 1, (size_t)(close - text.p) - 1);
        if (!is_ipv6(*host))
            return "an IPv6 address between [ and ]";
        struct span rest = span_from(text, host->n + 2);
        if (rest.n && rest.p[0] != ':')
            return "a colon and the port after ]";
        if (rest.n)
            *port_text = span_from(rest, 1);
        return NULL;
    }
    const char *colon = memchr(text.p, ':', text.n);
    *host = span_of(text.p, colon ? (size_t)(colon - text.p) : text.n);
    if (colon)
        *port_text = span_from(text, host->n + 1);
    if (port_text->n && memchr(port_text->p, ':', port_text->n))
        return "an IPv6 address in brackets, such as [::1]:8080";
    return NULL;
}

static int parse_port(struct span text, int64_t least, uint16_t *port)
{
    int64_t n;
    if (value_count(text, &n) || n < least || n > 65535)
        return -1;
    *port = (uint16_t)n;
    return 0;
}

static const char *parse_unix(struct span text, struct config_address *a)
{
    struct span path = span_from(text, strlen("unix:"));
    struct sockaddr_un longest;
    if (path.n == 0 || path.n >= sizeof longest.sun_path || !value_printable(path))
        return "unix: and a path of at most 107 bytes, such as unix:/run/penstock.sock";
    a->is_unix = true;
    a->host = xspandup(path);
    a->port = 0;
    return NULL;
}

static const char *parse_inet(struct span text, struct config_address *a)
{
    struct span host, port;
    const char *expected = split_authority(text, &host, &port);
    uint16_t number;
    if (expected)
        return expected;
    if (!port.p)
        return "an address with its port, such as 127.0.0.1:8080, [::1]:8080, :8080 or "
               "unix:/run/penstock.sock";
    if (parse_port(port, 0, &number))
        return "a port from 0 to 65535 after the colon";
    if (host.n && text.p[0] != '[' && !is_host_name(host))
        return "a host name or address before the colon; :8080 stands for every address";
    a->is_unix = false;
    a->host = host.n ? xspandup(host) : xstrdup("::");
    a->port = number;
    return NULL;
}

const char *address_parse(struct span text, struct config_address *a)
{
    struct config_address made = {0};
    const char *expected = span_starts(text, "unix:") ? parse_unix(text, &made) : parse_inet(text, &made);
    if (expected)
        return expected;
    made.text = xspandup(text);
    address_finish(a);
    *a = made;
    return NULL;
}

void address_finish(struct config_address *a)
{
    xfree(a->text);
    xfree(a->host);
    *a = (struct config_address){0};
}

bool address_same(const struct config_address *a, const struct config_address *b)
{
    if (a->is_unix != b->is_unix || strcmp(a->host, b->host) != 0)
        return false;
    return a->is_unix || (a->port == b->port && a->port != 0);
}

/* What may stand in a request line as it is. */
static bool is_url_path(struct span path)
{
    for (size_t i = 0; i < path.n; i++)
        if (path.p[i] <= ' ' || path.p[i] >= 0x7f || memchr("\"<>\\^`{|}?#", path.p[i], 11))
            return false;
    return true;
}

/* `host` with its brackets; the scheme's own port is left out. */
static char *host_header(struct span host, uint16_t port, uint16_t own)
{
    char number[8] = "";
    if (port != own)
        snprintf(number, sizeof number, ":%u", port);
    char *text = xmalloc(host.n + sizeof number);
    memcpy(text, host.p, host.n);
    memcpy(text + host.n, number, strlen(number) + 1);
    return text;
}

const char *url_parse(struct span text, struct url *u)
{
    enum { URL_LONGEST = 2048 };
    static const char form[] = "an address that begins with http:// or https://";
    struct span rest = text, authority, host, port;
    uint16_t own;
    if (text.n > URL_LONGEST)
        return "an address of at most 2048 bytes";
    *u = (struct url){.tls = text.n >= 8 && strncasecmp(text.p, "https://", 8) == 0};
    if (!u->tls && !(text.n >= 7 && strncasecmp(text.p, "http://", 7) == 0))
        return form;
    rest = span_from(text, u->tls ? 8 : 7);
    const char *slash = memchr(rest.p, '/', rest.n);
    authority = span_of(rest.p, slash ? (size_t)(slash - rest.p) : rest.n);
    struct span path = span_from(rest, authority.n);
    while (path.n && path.p[path.n - 1] == '/')
        path.n--;
    if (memchr(text.p, '?', text.n) || memchr(text.p, '#', text.n))
        return "an address without query (?) and fragment (#)";
    if (memchr(authority.p, '@', authority.n))
        return "an address without user and password";
    if (!is_url_path(path))
        return "a path without blanks, control, non-ASCII and reserved characters (write them as %XX)";
    const char *expected = split_authority(authority, &host, &port);
    if (expected)
        return expected;
    if (authority.n == 0 || (authority.p[0] != '[' && !is_host_name(host)))
        return "a host name or address after ://";
    own = u->tls ? 443 : 80;
    u->port = own;
    if (port.p && parse_port(port, 1, &u->port))
        return "a port from 1 to 65535 after the colon";
    u->text = xspandup(span_of(text.p, (size_t)(path.p + path.n - text.p)));
    u->host = xspandup(host);
    u->path = xspandup(path);
    u->host_header = host_header(span_of(authority.p, authority.n - (port.p ? port.n + 1 : 0)), u->port, own);
    return NULL;
}

void url_finish(struct url *u)
{
    xfree(u->text);
    xfree(u->host);
    xfree(u->host_header);
    xfree(u->path);
    *u = (struct url){0};
}
