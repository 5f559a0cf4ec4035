#include "proxy/forward.h"

enum { HEAD_ROOM = 900 /* with it a block is small enough for the allocator's cache */ };

static void add_field(struct buf *out, struct span name, struct span value)
{
    char *to = buf_reserve(out, name.n + value.n + 4);
    if (!to)
        return;
    memcpy(to, name.p, name.n);
    memcpy(to + name.n, ": ", 2);
    if (value.n)
        memcpy(to + name.n + 2, value.p, value.n);
    memcpy(to + name.n + 2 + value.n, "\r\n", 2);
    buf_commit(out, name.n + value.n + 4);
}

/* Most names are told apart by their length alone. */
static bool is_one_of(struct span name, const struct span *list, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (name.n == list[i].n && strncasecmp(name.p, list[i].p, name.n) == 0)
            return true;
    return false;
}

static bool is_key_field(struct span name)
{
    static const struct span keys[] = {SPAN_LIT("authorization"), SPAN_LIT("x-api-key"), SPAN_LIT("api-key"),
                                       SPAN_LIT("x-goog-api-key")};
    return is_one_of(name, keys, sizeof keys / sizeof keys[0]);
}

void forward_add_key(struct buf *out, const struct config_provider *provider, const char *key)
{
    const char *dialect = provider->dialect;
    if (strcmp(dialect, "anthropic") == 0)
        buf_printf(out, "x-api-key: %s\r\n", key);
    else if (strcmp(dialect, "gemini") == 0)
        buf_printf(out, "x-goog-api-key: %s\r\n", key);
    else if (strcmp(dialect, "azure") == 0)
        buf_printf(out, "api-key: %s\r\n", key);
    else
        buf_printf(out, "Authorization: Bearer %s\r\n", key);
}

/* Path and query; `key=` in the query is the caller's key at this proxy when the provider gets another one.
 */
static void add_rest(struct buf *out, struct span rest, bool without_key)
{
    const char *mark = without_key && rest.n ? memchr(rest.p, '?', rest.n) : NULL;
    char before = '?';
    if (!mark) {
        buf_add(out, rest);
        return;
    }
    buf_addn(out, rest.p, (size_t)(mark - rest.p));
    rest = span_from(rest, (size_t)(mark + 1 - rest.p));
    for (bool more = true; more;) {
        const char *amp = memchr(rest.p, '&', rest.n);
        struct span part = span_of(rest.p, amp ? (size_t)(amp - rest.p) : rest.n);
        if (!span_starts(part, "key=")) {
            buf_addc(out, before);
            buf_add(out, part);
            before = '&';
        }
        more = amp != NULL;
        rest = span_from(rest, part.n + more);
    }
}

void forward_request_head(const struct http_head *head, const struct forward_request *f, struct buf *out)
{
    static const struct span framing[] = {SPAN_LIT("content-length"), SPAN_LIT("transfer-encoding"),
                                          SPAN_LIT("expect")};
    bool host = false;
    char *room = buf_reserve(out, f->rest.n + HEAD_ROOM); /* grows once in most cases */
    (void)room;
    buf_add(out, head->method);
    buf_addc(out, ' ');
    buf_adds(out, f->provider->base_path);
    if (!f->rest.n || f->rest.p[0] != '/')
        buf_addc(out, '/');
    add_rest(out, f->rest, f->api_key != NULL);
    buf_adds(out, " HTTP/1.1\r\n");
    for (size_t i = 0; i < head->n; i++) {
        struct span name = head->fields[i].name, value = head->fields[i].value;
        if (span_is_nocase(name, "host")) {
            add_field(out, name, span_str(f->provider->host_header));
            host = true;
        } else if (is_one_of(name, framing, 3) || forward_is_own_field(name) ||
                   (f->api_key && is_key_field(name)) || http_head_is_hop(head, name)) {
            continue;
        } else {
            add_field(out, name, value);
        }
    }
    if (!host)
        add_field(out, SPAN_LIT("Host"), span_str(f->provider->host_header));
    if (f->api_key)
        forward_add_key(out, f->provider, f->api_key);
}

bool forward_account(struct span head, struct buf *out)
{
    static const struct span charged[] = {SPAN_LIT("openai-organization"), SPAN_LIT("openai-project"),
                                          SPAN_LIT("anthropic-workspace-id"),
                                          SPAN_LIT("x-goog-user-project")};
    bool key = false;
    while (head.n) {
        const char *lf = memchr(head.p, '\n', head.n);
        struct span line = span_of(head.p, lf ? (size_t)(lf + 1 - head.p) : head.n);
        const char *colon = memchr(line.p, ':', line.n);
        struct span name = span_of(line.p, colon ? (size_t)(colon - line.p) : 0);
        bool is_key = is_key_field(name);
        if (is_key || is_one_of(name, charged, sizeof charged / sizeof charged[0]))
            buf_add(out, line);
        key = key || is_key;
        head = span_from(head, line.n);
    }
    return key;
}

void forward_ask_identity(struct span head, struct buf *out)
{
    static const char name[] = "accept-encoding:";
    const char *at = head.p, *end = head.p + head.n, *from = head.p;
    bool said = false;
    while (at < end) {
        const char *lf = memchr(at, '\n', (size_t)(end - at));
        const char *next = lf ? lf + 1 : end;
        if ((size_t)(next - at) >= sizeof name && strncasecmp(at, name, sizeof name - 1) == 0) {
            buf_addn(out, from, (size_t)(at - from));
            if (!said) {
                buf_addn(out, at, sizeof name - 1);
                buf_adds(out, " identity\r\n");
            }
            said = true;
            from = next;
        }
        at = next;
    }
    buf_addn(out, from, (size_t)(end - from));
    if (!said)
        buf_adds(out, "Accept-Encoding: identity\r\n");
}

void forward_reply_head(const struct http_head *head, const struct forward_reply *f, struct buf *out)
{
    static const struct span framing[] = {SPAN_LIT("content-length"), SPAN_LIT("transfer-encoding")};
    static const struct span of_bytes[] = {SPAN_LIT("content-md5"), SPAN_LIT("digest"),
                                           SPAN_LIT("content-digest"), SPAN_LIT("repr-digest"),
                                           SPAN_LIT("etag")};
    bool buffering = false;
    char *room = buf_reserve(out, HEAD_ROOM); /* grows once in most cases */
    (void)room;
    buf_adds(out, "HTTP/1.1 ");
    buf_add_number(out, (uint64_t)head->status);
    buf_addc(out, ' ');
    buf_add(out, head->reason);
    buf_adds(out, "\r\n");
    for (size_t i = 0; i < head->n; i++) {
        struct span name = head->fields[i].name, value = head->fields[i].value;
        if (is_one_of(name, framing, 2) || forward_is_own_field(name) ||
            (f->decoded && span_is_nocase(name, "content-encoding")) ||
            (f->rewritten && is_one_of(name, of_bytes, 5)) || http_head_is_hop(head, name))
            continue;
        if (f->streamed && span_is_nocase(name, "x-accel-buffering")) {
            if (!buffering)
                add_field(out, name, SPAN_LIT("no"));
            buffering = true;
            continue;
        }
        add_field(out, name, value);
    }
    if (f->streamed && !buffering)
        buf_adds(out, "X-Accel-Buffering: no\r\n");
    if (f->consult)
        add_field(out, SPAN_LIT("X-HW-Consult-Id"), span_str(f->consult));
}
