#include "net/dial_proxy.h"

#include <openssl/evp.h>
#include <stdlib.h>

#include "base/xalloc.h"
#include "net/dial_dns.h"

enum { PROXY_PORT = 1080, USERINFO = 1024 }; /* curl's default port; longest credentials, encoded */

static bool is_set(const char *name)
{
    const char *value = getenv(name);
    return value && *value;
}

static char *variable(const char *first, const char *second)
{
    const char *value = getenv(second && !is_set(first) ? second : first);
    return value && *value && strlen(value) <= DIAL_PROXY_SETTING ? xstrdup(value) : NULL;
}

void dial_proxy_environment(struct dial_proxy_settings *out)
{
    out->https = variable("https_proxy", "HTTPS_PROXY");
    out->upper = !is_set("https_proxy");
    out->http = variable("http_proxy", NULL);
    out->none = variable("no_proxy", "NO_PROXY");
}

void dial_proxy_settings_free(struct dial_proxy_settings *s)
{
    xfree(s->https);
    xfree(s->http);
    xfree(s->none);
    *s = (struct dial_proxy_settings){0};
}

/* 1..max, nothing but digits. */
static bool number_parse(struct span text, unsigned max, unsigned *out)
{
    unsigned n = 0;
    if (text.n == 0 || text.n > 5)
        return false;
    for (size_t i = 0; i < text.n; i++) {
        if (text.p[i] < '0' || text.p[i] > '9')
            return false;
        n = n * 10 + (unsigned)(text.p[i] - '0');
    }
    *out = n;
    return n <= max;
}

/* Cuts `host:port`, `[v6]:port`, `host` or a bare IPv6 address into its parts; *port is 0 without one. */
static bool authority_split(struct span text, struct span *host, unsigned *port)
{
    union dial_address address;
    *port = 0;
    *host = text;
    if (text.n && text.p[0] == '[') {
        const char *close = memchr(text.p, ']', text.n);
        if (!close)
            return false;
        *host = span_of(text.p + 1, (size_t)(close - text.p) - 1);
        text = span_from(text, (size_t)(close - text.p) + 1);
        if (text.n == 0)
            return host->n > 0;
        return text.p[0] == ':' && number_parse(span_from(text, 1), 65535, port) && *port && host->n > 0;
    }
    const char *colon = memchr(text.p, ':', text.n);
    if (!colon || dial_address_parse(text, &address))
        return text.n > 0;
    *host = span_of(text.p, (size_t)(colon - text.p));
    return host->n > 0 && number_parse(span_from(text, host->n + 1), 65535, port) && *port;
}

/* Whether `address` is in the block `text`, "10.0.0.0/8"; a text without a slash is a block of one address.
 */
static bool block_has(struct span text, const union dial_address *address)
{
    union dial_address block;
    const char *slash = memchr(text.p, '/', text.n);
    struct span base = slash ? span_of(text.p, (size_t)(slash - text.p)) : text;
    if (!dial_address_parse(base, &block) || block.any.sa_family != address->any.sa_family)
        return false;
    bool v4 = block.any.sa_family == AF_INET;
    unsigned bits = v4 ? 32 : 128;
    if (slash && !number_parse(span_from(text, base.n + 1), bits, &bits))
        return false;
    const uint8_t *a = v4 ? (const uint8_t *)&block.v4.sin_addr : block.v6.sin6_addr.s6_addr;
    const uint8_t *b = v4 ? (const uint8_t *)&address->v4.sin_addr : address->v6.sin6_addr.s6_addr;
    if (memcmp(a, b, bits / 8) != 0)
        return false;
    unsigned rest = bits % 8;
    return rest == 0 || ((a[bits / 8] ^ b[bits / 8]) >> (8 - rest)) == 0;
}

static struct span without_last_dot(struct span name)
{
    if (name.n && name.p[name.n - 1] == '.')
        name.n--;
    return name;
}

/* The name itself or a name below it. */
static bool name_below(struct span name, struct span top)
{
    if (span_starts(top, "*."))
        top = span_from(top, 2);
    else if (span_starts(top, "."))
        top = span_from(top, 1);
    top = without_last_dot(top);
    if (top.n == 0 || top.n > name.n || strncasecmp(name.p + name.n - top.n, top.p, top.n) != 0)
        return false;
    return top.n == name.n || name.p[name.n - top.n - 1] == '.';
}

static bool item_covers(struct span item, struct span host, const union dial_address *literal, uint16_t port)
{
    struct span name = item;
    unsigned only = 0;
    if (span_is(item, "*"))
        return true;
    if (literal && block_has(item, literal))
        return true;
    if (!authority_split(item, &name, &only) || (only && only != port))
        return false;
    return literal ? block_has(name, literal) : name_below(host, name);
}

bool dial_proxy_exempt(struct span list, struct span host, uint16_t port)
{
    union dial_address address;
    bool literal = dial_address_parse(host, &address);
    host = without_last_dot(host);
    for (size_t at = 0; at < list.n;) {
        size_t end = at;
        while (end < list.n && !memchr(", \t", list.p[end], 3))
            end++;
        if (end > at && item_covers(span_of(list.p + at, end - at), host, literal ? &address : NULL, port))
            return true;
        at = end + 1;
    }
    return false;
}

/* [http://][user[:password]@]host[:port][/] */
static int proxy_parse(struct span url, struct dial_proxy *out, const char **why)
{
    static const char mark[] = "://", scheme[] = "http://";
    unsigned port = 0;
    const char *after = memmem(url.p, url.n, mark, sizeof mark - 1);
    if (after) {
        if (url.n < sizeof scheme - 1 || strncasecmp(url.p, scheme, sizeof scheme - 1) != 0) {
            *why = "only http:// proxies can be used";
            return -1;
        }
        url = span_from(url, sizeof scheme - 1);
    }
    const char *path = memchr(url.p, '/', url.n);
    if (path)
        url.n = (size_t)(path - url.p);
    const char *at = memrchr(url.p, '@', url.n);
    if (at) {
        out->userinfo = span_of(url.p, (size_t)(at - url.p));
        url = span_from(url, out->userinfo.n + 1);
    }
    if (out->userinfo.n > USERINFO || !authority_split(url, &out->host, &port) || out->host.n > DIAL_NAME) {
        *why = "not a proxy's address (http://user:password@host:port)";
        return -1;
    }
    out->port = (uint16_t)(port ? port : PROXY_PORT);
    return 0;
}

const char *dial_proxy_variable(const struct dial_proxy_settings *s, bool tls)
{
    return !tls ? "http_proxy" : s->upper ? "HTTPS_PROXY" : "https_proxy";
}

int dial_proxy_choose(const struct dial_proxy_settings *s, const char *host, uint16_t port, bool tls,
                      struct dial_proxy *out, const char **why)
{
    const char *url = tls ? s->https : s->http;
    *out = (struct dial_proxy){0};
    if (!url || dial_proxy_exempt(span_str(s->none), span_str(host), port))
        return 0;
    return proxy_parse(span_str(url), out, why);
}

static int hex(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    c |= 0x20;
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* Undoes percent encoding; length, or -1. */
static int percent_decode(struct span in, char *out)
{
    int n = 0;
    for (size_t i = 0; i < in.n; i++) {
        char c = in.p[i];
        if (c == '%') {
            int high = i + 2 < in.n ? hex(in.p[i + 1]) : -1, low = high < 0 ? -1 : hex(in.p[i + 2]);
            if (low < 0)
                return -1;
            c = (char)(high << 4 | low);
            i += 2;
        }
        out[n++] = c;
    }
    return n;
}

static int credentials_add(struct span userinfo, struct buf *out)
{
    char plain[USERINFO + 1];
    unsigned char coded[(USERINFO + 1 + 2) / 3 * 4 + 1];
    const char *colon = memchr(userinfo.p, ':', userinfo.n);
    size_t user = colon ? (size_t)(colon - userinfo.p) : userinfo.n;
    int n = percent_decode(span_of(userinfo.p, user), plain);
    /* A colon in the name could not be told from the one that ends it (RFC 7617, 2). */
    if (n < 0 || memchr(plain, ':', (size_t)n))
        return -1;
    plain[n++] = ':';
    int password = colon ? percent_decode(span_from(userinfo, user + 1), plain + n) : 0;
    if (password < 0)
        return -1;
    int length = EVP_EncodeBlock(coded, (unsigned char *)plain, n + password);
    buf_adds(out, "Proxy-Authorization: Basic ");
    buf_addn(out, coded, (size_t)length);
    return buf_adds(out, "\r\n");
}

int dial_proxy_request(const struct dial_proxy *proxy, const char *host, uint16_t port, struct buf *out)
{
    union dial_address address;
    size_t n = strlen(host);
    bool brackets =
        dial_address_parse(span_of(host, n), &address) && address.any.sa_family == AF_INET6 && host[0] != '[';
    for (size_t i = 0; i < n; i++)
        if ((unsigned char)host[i] <= ' ' || host[i] == 0x7f)
            return -1;
    const char *open = brackets ? "[" : "", *close = brackets ? "]" : "";
    buf_printf(out, "CONNECT %s%s%s:%u HTTP/1.1\r\n", open, host, close, port);
    buf_printf(out, "Host: %s%s%s:%u\r\n", open, host, close, port);
    if (proxy->userinfo.n && credentials_add(proxy->userinfo, out) != 0)
        return -1;
    return buf_adds(out, "\r\n");
}

static bool status_line(struct span line, int *status)
{
    static const char version[] = "HTTP/1.";
    size_t n = sizeof version - 1;
    if (line.n < n + 5 || !span_starts(line, version) || (line.p[n] != '0' && line.p[n] != '1'))
        return false;
    const char *d = line.p + n + 2;
    if (line.p[n + 1] != ' ' || d[0] < '1' || d[0] > '5')
        return false;
    if (d[1] < '0' || d[1] > '9' || d[2] < '0' || d[2] > '9' || (line.n > n + 5 && d[3] != ' '))
        return false;
    *status = (d[0] - '0') * 100 + (d[1] - '0') * 10 + (d[2] - '0');
    return true;
}

/* name ":" anything without control characters; no folded lines. */
static bool field_line(struct span line)
{
    const char *colon = memchr(line.p, ':', line.n);
    if (!colon || colon == line.p)
        return false;
    for (const char *p = line.p; p < line.p + line.n; p++) {
        unsigned char c = (unsigned char)*p;
        if ((c < ' ' && c != '\t') || c == 0x7f || (p < colon && c <= ' '))
            return false;
    }
    return true;
}

int dial_proxy_reply(struct span bytes, size_t *head)
{
    int status = 0;
    for (size_t at = 0; at < bytes.n;) {
        const char *lf = memchr(bytes.p + at, '\n', bytes.n - at);
        size_t n = lf ? (size_t)(lf - bytes.p) - at : 0;
        if (!lf)
            break;
        if (n == 0 || lf[-1] != '\r')
            return -1;
        struct span line = span_of(bytes.p + at, n - 1);
        if (at > 0 && line.n == 0) {
            *head = at + 2;
            return status;
        }
        if (at == 0 ? !status_line(line, &status) : !field_line(line))
            return -1;
        at += n + 1;
    }
    return bytes.n >= DIAL_PROXY_REPLY ? -1 : 0;
}
