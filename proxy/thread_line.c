#include "proxy/thread_line.h"

#include "artifacts/artifact.h"
#include "artifacts/utf8.h"
#include "base/json.h"

enum { HEADLINE_CHARACTERS = 80 };

static void add_replacement(struct buf *out)
{
    char text[UTF8_MAX];
    buf_addn(out, text, utf8_put(UTF8_INVALID, text));
}

/* Steps over characters of ASCII other than NUL, as far as there are eight of them. */
static const char *skip_ascii(const char *p, const char *end)
{
    const uint64_t ones = UINT64_MAX / 255, high = ones * 0x80;
    uint64_t v;
    for (; end - p >= (ptrdiff_t)sizeof v; p += sizeof v) {
        memcpy(&v, p, sizeof v);
        if ((v | (v - ones)) & high)
            break;
    }
    return p;
}

/* Copies what is valid. */
static void make_valid(struct span text, struct buf *out)
{
    const char *p = text.p, *end = text.n ? p + text.n : p, *from = p;
    while ((p = skip_ascii(p, end)) < end) {
        size_t n = 1;
        bool good = (unsigned char)*p < 0x80 ? *p != '\0' : utf8_next(p, end, &n) != UTF8_INVALID || n > 1;
        if (!good) {
            buf_addn(out, from, (size_t)(p - from));
            add_replacement(out);
            from = p + n;
        }
        p += n;
    }
    buf_addn(out, from, (size_t)(end - from));
}

/* Some servers leave control characters in their strings as they are. */
static void unescape(struct span escaped, struct buf *out)
{
    const char *p = escaped.p, *end = escaped.n ? p + escaped.n : p;
    if (json_unescape(escaped, out) == 0) /* as a rule it is valid */
        return;
    while (p < end) {
        const char *control = p;
        while (control < end && (unsigned char)*control >= 0x20)
            control++;
        if (json_unescape(span_of(p, (size_t)(control - p)), out) < 0)
            add_replacement(out);
        while (control < end && (unsigned char)*control < 0x20)
            buf_addc(out, *control++);
        p = control;
    }
}

void thread_plain(struct span escaped, struct buf *out)
{
    struct buf text;
    buf_init(&text, escaped.n + UTF8_MAX);
    unescape(escaped, &text);
    make_valid(buf_span(&text), out);
    buf_free(&text);
}

/* ---- members ---- */

/* The key, with a comma before it unless it is the first one. */
static void add_key(struct buf *out, const char *key)
{
    char last = buf_span(out).p[out->n - 1];
    if (last != '{' && last != '[')
        buf_addc(out, ',');
    buf_printf(out, "\"%s\":", key);
}

static void add_valid(struct buf *out, const char *key, struct span text)
{
    add_key(out, key);
    buf_addc(out, '"');
    if (json_escape(text, out) == 0)
        buf_addc(out, '"');
}

static void add_string(struct buf *out, const char *key, struct span text)
{
    struct buf valid;
    buf_init(&valid, UTF8_MAX * text.n + 1);
    make_valid(text, &valid);
    add_valid(out, key, buf_span(&valid));
    buf_free(&valid);
}

static void add_said(struct buf *out, const char *key, const char *text)
{
    if (text && *text)
        add_string(out, key, span_str(text));
}

static void add_escaped(struct buf *out, const char *key, struct span escaped)
{
    struct buf plain;
    buf_init(&plain, UTF8_MAX * escaped.n + UTF8_MAX);
    thread_plain(escaped, &plain);
    add_valid(out, key, buf_span(&plain));
    buf_free(&plain);
}

static void add_escaped_if_any(struct buf *out, const char *key, const struct buf *escaped)
{
    if (escaped->n)
        add_escaped(out, key, buf_span(escaped));
}

static void add_json(struct buf *out, const char *key, struct span json)
{
    if (json.n == 0)
        return;
    add_key(out, key);
    buf_add(out, json);
}

/* ---- lines ---- */

void thread_line_first(const char *thread, const char *org, struct buf *out)
{
    buf_adds(out, "{\"ev\":\"thread\"");
    add_string(out, "thread", span_str(thread));
    add_string(out, "author", span_str(org));
    buf_adds(out, "}\n");
}

bool thread_parent_is_consult(const char *parent)
{
    return strncmp(parent, "hwc-", 4) == 0;
}

/* The first line, cut to so many characters. */
static struct span headline_of(struct span text)
{
    while (text.n && (text.p[0] == '\n' || text.p[0] == '\r' || text.p[0] == ' ' || text.p[0] == '\t'))
        text = span_from(text, 1);
    const char *p = text.p, *end = text.n ? p + text.n : p;
    for (int i = 0; i < HEADLINE_CHARACTERS && p < end && *p != '\n' && *p != '\r'; i++) {
        size_t n;
        utf8_next(p, end, &n);
        p += n;
    }
    return span_of(text.p, (size_t)(p - text.p));
}

void thread_line_begin(const struct thread_begin_line *l, struct buf *out)
{
    bool specialist = l->parent != NULL;
    /* A caller that names a trigger of its own knows better than its messages tell. */
    const char *trigger = l->trigger ? l->trigger : !specialist && l->results ? "subagent_result" : NULL;
    bool notice = !specialist && trigger && strcmp(trigger, "subagent_result") == 0;
    buf_adds(out, "{\"ev\":\"begin\"");
    add_said(out, "id", l->id);
    add_key(out, "run");
    buf_add_number(out, l->run);
    add_said(out, "role", specialist ? "specialist" : "expert");
    add_key(out, "at_us");
    buf_add_number(out, (uint64_t)l->at_us);
    if (specialist)
        add_said(out, thread_parent_is_consult(l->parent) ? "parent" : "consult_id", l->parent);
    add_said(out, "turn", l->turn);
    add_said(out, "trigger", trigger);
    if (l->headline)
        add_string(out, "headline", headline_of(span_str(l->headline)));
    else if (specialist)
        add_string(out, "headline", headline_of(l->query));
    add_string(out, "query", notice ? span_of("", 0) : l->query);
    if (l->query_cut && !notice)
        buf_adds(out, ",\"cut\":[\"query\"]");
    add_json(out, "attachments", l->attachments);
    add_said(out, "model", l->model);
    add_said(out, "provider", l->provider);
    buf_adds(out, "}\n");
}

static void add_calls(struct buf *out, const struct recorder *r, const char *id)
{
    if (!r->ncalls)
        return;
    add_key(out, "tool_calls");
    buf_addc(out, '[');
    for (size_t i = 0; i < r->ncalls; i++) {
        const struct recorder_call *c = &r->calls[i];
        buf_adds(out, i ? ",{" : "{");
        if (c->id.n) {
            add_escaped(out, "id", buf_span(&c->id));
        } else { /* APIs without ids for calls: one that is nobody else's */
            add_key(out, "id");
            buf_printf(out, "\"%s:%zu\"", id, i + 1);
        }
        add_escaped(out, "name", buf_span(&c->name));
        add_escaped(out, "arguments", buf_span(&c->arguments));
        buf_addc(out, '}');
    }
    buf_addc(out, ']');
}

/* Its entries are strings of the provider's. */
static void add_citations(struct buf *out, const struct recorder *r)
{
    struct span list = buf_span(&r->citations), entry;
    const char *p = list.p, *end = list.p + list.n;
    if (!r->ncitations)
        return;
    add_key(out, "citations");
    buf_addc(out, '[');
    while (p < end && json_value_as(p, end, JSON_LENIENT, &entry) == 0) {
        struct json_iter it = json_iter(entry);
        buf_adds(out, buf_span(out).p[out->n - 1] == '[' ? "{" : ",{");
        while (json_next(&it) == 1)
            add_escaped(out, it.key.n == 3 ? "url" : "name", json_inside(it.value));
        buf_addc(out, '}');
        p = entry.p + entry.n;
        p += p < end; /* the comma */
    }
    buf_addc(out, ']');
}

static void add_cuts(struct buf *out, const struct recorder *r)
{
    const struct {
        bool cut;
        const char *what;
    } cuts[] = {{r->text_cut, "text"},
                {r->reasoning_cut, "reasoning"},
                {r->calls_cut, "tool_calls"},
                {r->citations_cut, "citations"}};
    bool any = false;
    for (size_t i = 0; i < sizeof cuts / sizeof cuts[0]; i++)
        if (cuts[i].cut) {
            buf_printf(out, "%s\"%s\"", any ? "," : ",\"cut\":[", cuts[i].what);
            any = true;
        }
    buf_adds(out, any ? "]" : "");
}

int thread_error_status(const struct recorder *r)
{
    struct span code = buf_span(&r->error_code);
    int64_t status;
    return json_int(code, &status) && status >= 400 && status <= 599 ? (int)status : 0;
}

static void add_ending(struct buf *out, const struct thread_ending *end, const struct recorder *r)
{
    bool finish = strcmp(end->cause, "finish") == 0;
    bool stream_error = strcmp(end->cause, "stream_error") == 0;
    int told = stream_error && r ? thread_error_status(r) : 0;
    int status = told ? told : end->http_status;
    add_key(out, "end");
    buf_addc(out, '{');
    add_said(out, "cause", end->cause);
    if (status) {
        add_key(out, "http_status");
        buf_add_number(out, (uint64_t)status);
    }
    if (r && (finish || strcmp(end->cause, "running") == 0))
        add_escaped_if_any(out, "finish_reason", &r->finish);
    if (end->error_code) {
        add_said(out, "error_code", end->error_code);
        add_said(out, "error_message", end->error_message);
    } else if (r && (stream_error || strcmp(end->cause, "http_error") == 0)) {
        add_escaped_if_any(out, "error_type", &r->error_type);
        add_escaped_if_any(out, "error_code", &r->error_code);
        add_escaped_if_any(out, "error_message", &r->error_message);
    }
    buf_addc(out, '}');
}

/* Whether the provider may have more of the reply than came here: whoever fetches it later ends it. */
static bool may_go_on(const char *cause)
{
    static const char *const over[] = {"finish", "http_error", "stream_error", "canceled"};
    for (size_t i = 0; i < sizeof over / sizeof over[0]; i++)
        if (strcmp(cause, over[i]) == 0)
            return false;
    return true;
}

void thread_line_end(const struct thread_end_line *l, struct buf *out)
{
    const struct recorder *r = l->said;
    buf_adds(out, "{\"ev\":\"end\"");
    add_said(out, "id", l->id);
    add_key(out, "at_us");
    buf_add_number(out, (uint64_t)l->at_us);
    if (r && may_go_on(l->ending.cause))
        add_escaped_if_any(out, "reply", &r->reply_id);
    if (r) {
        add_escaped_if_any(out, "text", &r->text);
        add_escaped_if_any(out, "reasoning", &r->reasoning);
        add_calls(out, r, l->id);
        add_citations(out, r);
        add_cuts(out, r);
    }
    if (l->artifacts.n) {
        add_key(out, "artifacts");
        buf_addc(out, '[');
        buf_add(out, l->artifacts);
        buf_addc(out, ']');
    }
    add_ending(out, &l->ending, r);
    buf_adds(out, "}\n");
}
