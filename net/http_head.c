#include "net/http_head.h"

ssize_t http_head_length(struct span bytes, size_t *scanned)
{
    size_t at = *scanned;
    for (;;) {
        const char *lf = at < bytes.n ? memchr(bytes.p + at, '\n', bytes.n - at) : NULL;
        if (!lf)
            break;
        size_t end = (size_t)(lf - bytes.p);
        if (end == 0 || bytes.p[end - 1] != '\r')
            return -1;
        if (end == 1 || (end >= 3 && bytes.p[end - 2] == '\n'))
            return end + 1 > LIMIT_HTTP_HEAD ? -1 : (ssize_t)end + 1;
        at = end + 1;
    }
    *scanned = at;
    return bytes.n > LIMIT_HTTP_HEAD ? -1 : 0;
}

/* RFC 9110 §5.6.2: letters, digits and !#$%&'*+-.^_`|~, a bit for each character. */
static const uint32_t token_characters[8] = {0, 0x03ff6cfa, 0xc7fffffe, 0x57ffffff};

static inline bool is_token_char(unsigned char c)
{
    return token_characters[c >> 5] & (uint32_t)1 << (c & 31);
}

static bool is_token(struct span s)
{
    for (size_t i = 0; i < s.n; i++)
        if (!is_token_char((unsigned char)s.p[i]))
            return false;
    return s.n > 0;
}

/* HTAB, SP, visible ASCII and bytes over 127 (RFC 9110 §5.5): everything else could be read in two ways.
 * Eight bytes a step; a step that may hold such a byte (or a HTAB) is looked at again. */
static bool is_field_value(struct span s)
{
    const uint64_t ones = UINT64_MAX / 255, high = ones * 0x80;
    size_t i = 0;
    for (; i + 8 <= s.n; i += 8) {
        uint64_t v, del;
        memcpy(&v, s.p + i, sizeof v);
        del = v ^ ones * 0x7f;
        if ((((v - ones * 0x20) & ~v) | ((del - ones) & ~del)) & high)
            break;
    }
    for (; i < s.n; i++) {
        unsigned char c = (unsigned char)s.p[i];
        if ((c < 0x20 && c != '\t') || c == 0x7f)
            return false;
    }
    return true;
}

static struct span trimmed(struct span s)
{
    while (s.n && (s.p[0] == ' ' || s.p[0] == '\t'))
        s.p++, s.n--;
    while (s.n && (s.p[s.n - 1] == ' ' || s.p[s.n - 1] == '\t'))
        s.n--;
    return s;
}

static int read_request_line(struct span line, struct http_head *out)
{
    const char *end = line.p + line.n;
    const char *a = memchr(line.p, ' ', line.n);
    const char *b = a ? memchr(a + 1, ' ', (size_t)(end - a - 1)) : NULL;
    if (!b)
        return -1;
    out->method = span_of(line.p, (size_t)(a - line.p));
    out->target = span_of(a + 1, (size_t)(b - a - 1));
    struct span version = span_of(b + 1, (size_t)(end - b - 1));
    if (!is_token(out->method) || out->target.n == 0)
        return -1;
    for (size_t i = 0; i < out->target.n; i++)
        if ((unsigned char)out->target.p[i] <= 0x20 || (unsigned char)out->target.p[i] == 0x7f)
            return -1;
    if (!span_is(version, "HTTP/1.1") && !span_is(version, "HTTP/1.0"))
        return -1;
    out->minor = version.p[7] - '0';
    return 0;
}

static int read_status_line(struct span line, struct http_head *out)
{
    if (line.n < 12 || memcmp(line.p, "HTTP/1.", 7) != 0 || (line.p[7] != '0' && line.p[7] != '1') ||
        line.p[8] != ' ')
        return -1;
    for (int i = 9; i < 12; i++) {
        if (line.p[i] < '0' || line.p[i] > '9')
            return -1;
        out->status = out->status * 10 + (line.p[i] - '0');
    }
    if (out->status < 100 || (line.n > 12 && line.p[12] != ' '))
        return -1;
    out->minor = line.p[7] - '0';
    out->reason = line.n > 13 ? span_from(line, 13) : span_of(line.p + line.n, 0);
    return is_field_value(out->reason) ? 0 : -1;
}

static int read_length(struct span value, struct http_head *out)
{
    if (out->has_length || value.n == 0 || value.n > 18)
        return -1;
    for (size_t i = 0; i < value.n; i++) {
        if (value.p[i] < '0' || value.p[i] > '9')
            return -1;
        out->length = out->length * 10 + (uint64_t)(value.p[i] - '0');
    }
    out->has_length = true;
    return 0;
}

static int read_field(struct span line, struct http_head *out, struct error *e)
{
    if (out->n == LIMIT_HTTP_FIELDS)
        return error_set(e, ERROR_BAD_REQUEST, "The head has more than %d fields.", LIMIT_HTTP_FIELDS);
    const char *colon = memchr(line.p, ':', line.n);
    if (line.p[0] == ' ' || line.p[0] == '\t')
        return error_set(e, ERROR_BAD_REQUEST, "A header field is folded over two lines; write it on one.");
    struct span name = span_of(line.p, colon ? (size_t)(colon - line.p) : 0);
    if (!is_token(name))
        return error_set(e, ERROR_BAD_REQUEST, "A header field has no valid name before its colon.");
    struct span value = trimmed(span_of(colon + 1, line.n - name.n - 1));
    if (!is_field_value(value))
        return error_set(e, ERROR_BAD_REQUEST, "The header field %.*s holds a control character.",
                         (int)(name.n > 64 ? 64 : name.n), name.p);
    out->fields[out->n++] = (struct http_field){name, value};
    if (name.n == 10 && span_is_nocase(name, "connection") && !span_is_nocase(value, "keep-alive") &&
        !span_is_nocase(value, "close"))
        out->connection = true;
    if (span_is_nocase(name, "content-length") && read_length(value, out) < 0)
        return error_set(e, ERROR_BAD_REQUEST, "Content-Length must be one number, given once.");
    if (span_is_nocase(name, "transfer-encoding")) {
        if (out->chunked || !span_is_nocase(value, "chunked"))
            return error_set(e, ERROR_BAD_REQUEST,
                             "The only Transfer-Encoding accepted is chunked, given once.");
        out->chunked = true;
    }
    return 0;
}

static int check_whole(const struct http_head *h, bool request, struct error *e)
{
    size_t hosts = 0;
    for (size_t i = 0; i < h->n; i++)
        hosts += span_is_nocase(h->fields[i].name, "host");
    if (request && (hosts > 1 || (hosts == 0 && h->minor == 1)))
        return error_set(e, ERROR_BAD_REQUEST, "A request needs exactly one Host field; this one has %zu.",
                         hosts);
    if (request && span_is(h->method, "CONNECT"))
        return error_set(e, ERROR_BAD_REQUEST, "CONNECT is not served: this is no forward proxy.");
    if (h->chunked && h->has_length)
        return error_set(e, ERROR_BAD_REQUEST,
                         "Content-Length and Transfer-Encoding must not both be given.");
    if (h->chunked && h->minor == 0)
        return error_set(e, ERROR_BAD_REQUEST, "HTTP/1.0 knows no Transfer-Encoding.");
    return 0;
}

/* Takes one line off the front of `rest`. */
static int next_line(struct span *rest, struct span *line, struct error *e)
{
    const char *at = rest->p;
    const char *lf = memchr(at, '\n', rest->n);
    if (!lf || lf == at || lf[-1] != '\r' || memchr(at, '\r', (size_t)(lf - at - 1)))
        return error_set(e, ERROR_BAD_REQUEST,
                         "Lines of the head must end with CR LF and hold no CR of their own.");
    *line = span_of(at, (size_t)(lf - at - 1));
    *rest = span_from(*rest, line->n + 2);
    return 0;
}

/* Up to the empty line. */
static int read_fields(struct span rest, struct http_head *out, struct error *e)
{
    struct span line;
    while (rest.n) {
        if (next_line(&rest, &line, e) < 0)
            return -1;
        if (line.n == 0)
            break;
        if (read_field(line, out, e) < 0)
            return -1;
    }
    return 0;
}

static void head_reset(struct http_head *out)
{
    out->method = out->target = out->reason = (struct span){0};
    out->status = 0;
    out->chunked = out->has_length = out->keep_alive = out->connection = false;
    out->length = 0;
    out->n = 0;
}

int http_head_read(struct span head, bool request, struct http_head *out, struct error *e)
{
    struct span line = {0};
    head_reset(out);
    if (head.n && next_line(&head, &line, e) < 0)
        return -1;
    if (line.n == 0)
        return error_set(e, ERROR_BAD_REQUEST, "The head is empty.");
    if ((request ? read_request_line(line, out) : read_status_line(line, out)) < 0)
        return error_set(e, ERROR_BAD_REQUEST, "The first line is not that of an HTTP/1.1 %s.",
                         request ? "request" : "reply");
    if (read_fields(head, out, e) < 0)
        return -1;
    return check_whole(out, request, e);
}

int http_head_read_trailers(struct span section, struct http_head *out, struct error *e)
{
    head_reset(out);
    return read_fields(section, out, e);
}

const struct http_field *http_head_find(const struct http_head *h, const char *name)
{
    for (size_t i = 0; i < h->n; i++)
        if (span_is_nocase(h->fields[i].name, name))
            return &h->fields[i];
    return NULL;
}

void http_head_codings(const struct http_head *h, struct buf *out)
{
    for (size_t i = 0; i < h->n; i++)
        if (span_is_nocase(h->fields[i].name, "content-encoding") && h->fields[i].value.n) {
            if (out->n)
                buf_addc(out, ',');
            buf_add(out, h->fields[i].value);
        }
}

/* Whether a comma-separated list holds this token. */
static bool list_has(struct span list, struct span token)
{
    while (list.n) {
        const char *comma = memchr(list.p, ',', list.n);
        size_t n = comma ? (size_t)(comma - list.p) : list.n;
        struct span item = trimmed(span_of(list.p, n));
        if (item.n == token.n && strncasecmp(item.p, token.p, item.n) == 0)
            return true;
        list = span_from(list, comma ? n + 1 : n);
    }
    return false;
}

bool http_head_has_token(const struct http_head *h, const char *name, const char *token)
{
    for (size_t i = 0; i < h->n; i++)
        if (span_is_nocase(h->fields[i].name, name) && list_has(h->fields[i].value, span_str(token)))
            return true;
    return false;
}

static bool is_hop_name(struct span name)
{
    switch (name.n) { /* most names are told apart by their length alone */
    case 2:
        return span_is_nocase(name, "te");
    case 7:
        return span_is_nocase(name, "trailer") || span_is_nocase(name, "upgrade");
    case 10:
        return span_is_nocase(name, "connection") || span_is_nocase(name, "keep-alive");
    case 16:
        return span_is_nocase(name, "proxy-connection");
    case 17:
        return span_is_nocase(name, "transfer-encoding");
    case 18:
        return span_is_nocase(name, "proxy-authenticate");
    case 19:
        return span_is_nocase(name, "proxy-authorization");
    default:
        return false;
    }
}

bool http_head_is_hop(const struct http_head *h, struct span name)
{
    if (is_hop_name(name))
        return true;
    for (size_t i = 0; i < h->n && h->connection; i++)
        if (span_is_nocase(h->fields[i].name, "connection") && list_has(h->fields[i].value, name))
            return true;
    return false;
}
