#include "proxy/demo_client.h"

#include <stdio.h>
#include <unistd.h>

#include "base/json.h"
#include "base/xalloc.h"
#include "net/http_parser.h"

enum { READ = 64 * 1024, SHORT_MS = 10000, CONSULT_MS = 120000, MESSAGE = 64 * 1024 };

/* ---- events ---- */

void demo_stream_init(struct demo_stream *s)
{
    *s = (struct demo_stream){.show = NULL};
    buf_init(&s->raw, DEMO_FILE);
    buf_init(&s->text, DEMO_TEXT);
}

void demo_stream_finish(struct demo_stream *s)
{
    buf_free(&s->raw);
    buf_free(&s->text);
    xfree(s->cuts);
    xfree(s->artifacts);
    *s = (struct demo_stream){.show = NULL};
}

/* Control characters, which a terminal would obey, become blanks. */
static void blank_controls(char *text)
{
    for (unsigned char *p = (unsigned char *)text; *p; p++) {
        if (*p < 0x20 || *p == 0x7f)
            *p = ' ';
        if (*p == 0xc2 && p[1] >= 0x80 && p[1] < 0xa0)
            p[0] = p[1] = ' ';
    }
}

/* A string member, cut to the room there is; empty when it is absent. */
static void copy_member(struct span object, const char *name, char *to, size_t room)
{
    struct span value;
    struct buf text;
    to[0] = '\0';
    if (!json_member(object, name, &value) || json_type(value) != JSON_STRING)
        return;
    buf_init(&text, value.n);
    if (json_unescape(json_inside(value), &text) == 0)
        snprintf(to, room, "%s", buf_cstr(&text));
    blank_controls(to);
    buf_free(&text);
}

static void take_text(struct demo_stream *s, struct span content)
{
    size_t before = s->text.n;
    if (json_unescape(json_inside(content), &s->text) < 0 || s->text.n == before)
        return;
    if (s->ncuts < DEMO_CUTS) {
        if (s->ncuts == s->room) {
            s->room = s->room ? 2 * s->room : 256;
            s->cuts = xrealloc(s->cuts, s->room * sizeof *s->cuts);
        }
        s->cuts[s->ncuts++] = s->text.n;
    }
    if (s->show)
        s->show(span_from(buf_span(&s->text), before));
}

static void take_artifacts(struct demo_stream *s, struct span list)
{
    struct json_iter it = json_iter(list);
    struct span bytes;
    s->reported = true;
    while (json_next(&it) == 1 && s->nartifacts < DEMO_FILES) {
        s->artifacts = xrealloc(s->artifacts, (s->nartifacts + 1) * sizeof *s->artifacts);
        struct demo_artifact *a = &s->artifacts[s->nartifacts++];
        *a = (struct demo_artifact){.bytes = -1};
        copy_member(it.value, "filename", a->filename, sizeof a->filename);
        copy_member(it.value, "format", a->format, sizeof a->format);
        copy_member(it.value, "sha256", a->sha256, sizeof a->sha256);
        copy_member(it.value, "title", a->title, sizeof a->title);
        copy_member(it.value, "url", a->url, sizeof a->url);
        if (json_member(it.value, "bytes", &bytes) && !json_int(bytes, &a->bytes))
            a->bytes = -1;
    }
}

static void take_error(struct demo_stream *s, struct span error)
{
    copy_member(error, "message", s->error, sizeof s->error);
    if (!s->error[0])
        snprintf(s->error, sizeof s->error, "%.*s", (int)(error.n < 400 ? error.n : 400), error.p);
    blank_controls(s->error);
}

static void take_event(struct demo_stream *s, struct span data)
{
    struct span event, choices, delta, content, member;
    if (span_is(data, "[DONE]"))
        s->done = true;
    if (!json_document(data, &event) || json_type(event) != JSON_OBJECT)
        return;
    if (json_member(event, "choices", &choices) && json_type(choices) == JSON_ARRAY) {
        struct json_iter it = json_iter(choices);
        if (json_next(&it) == 1 && json_member(it.value, "delta", &delta) &&
            json_member(delta, "content", &content) && json_type(content) == JSON_STRING)
            take_text(s, content);
    }
    if (json_member(event, "outbound_artifacts", &member) && json_type(member) == JSON_ARRAY)
        take_artifacts(s, member);
    if (json_member(event, "reason", &member))
        copy_member(event, "reason", s->reason, sizeof s->reason);
    if (json_member(event, "error", &member) && json_type(member) != JSON_NULL)
        take_error(s, member);
}

int demo_stream_feed(struct demo_stream *s, struct span bytes, bool last)
{
    if (buf_add(&s->raw, bytes) < 0)
        return -1;
    for (;;) {
        struct span rest = span_from(buf_span(&s->raw), s->framed);
        struct sse_fields fields;
        size_t n = sse_block(&s->scan, rest, last);
        if (n == 0)
            break;
        sse_parse(span_of(rest.p, n), s->framed == 0, &fields);
        s->framed += n;
        if (fields.data_lines == 1)
            take_event(s, fields.data);
    }
    return buf_full(&s->text) ? -1 : 0;
}

/* ---- requests ---- */

struct body {
    int (*data)(void *arg, struct span bytes);
    void *arg;
    bool failed;
};

static void pass_body(void *arg, struct span bytes)
{
    struct body *b = arg;
    if (!b->failed && b->data(b->arg, bytes) < 0)
        b->failed = true;
}

static const struct http_body_sink body_sink = {.data = pass_body};

static void read_reply_head(const struct http_head *head, struct demo_reply *reply)
{
    const struct http_field *id = http_head_find(head, "X-HW-Consult-Id");
    reply->status = head->status;
    snprintf(reply->consult, sizeof reply->consult, "%.*s",
             id ? (int)(id->value.n < 63 ? id->value.n : 63) : 0, id ? id->value.p : "");
}

static enum http_progress read_some(struct http_parser *parser, struct buf *in, size_t *scanned, bool *headed,
                                    struct body *body, struct demo_reply *reply)
{
    enum http_progress progress = HTTP_MORE;
    size_t used = 0;
    if (!*headed) {
        struct http_head head;
        struct error e;
        ssize_t length = http_head_length(buf_span(in), scanned);
        if (length <= 0)
            return length < 0 ? HTTP_INVALID : HTTP_MORE;
        progress = http_parser_head(parser, span_of(buf_span(in).p, (size_t)length), false, &head, &e);
        if (progress == HTTP_INVALID)
            return progress;
        *headed = true;
        read_reply_head(&head, reply);
        buf_consume(in, (size_t)length);
    }
    if (progress == HTTP_MORE)
        progress = http_parser_body(parser, buf_span(in), &body_sink, body, &used);
    buf_reset(in);
    return body->failed ? HTTP_INVALID : progress;
}

/* The demo is to end when `why` says so already; otherwise it is the reply that is at fault. */
static int read_reply(struct demo_io *io, int fd, struct body *body, int idle_ms, struct demo_reply *reply,
                      char why[LIMIT_ERROR_TEXT])
{
    struct http_parser parser;
    struct buf in;
    enum http_progress progress = HTTP_MORE;
    size_t scanned = 0;
    bool headed = false;
    why[0] = '\0';
    http_parser_init(&parser, false);
    buf_init(&in, LIMIT_HTTP_HEAD + READ);
    while (progress == HTTP_MORE) {
        char *room = buf_reserve(&in, READ);
        ssize_t n = room ? demo_io_receive(io, fd, room, READ, idle_ms, why) : -1;
        if (n < 0)
            break;
        buf_commit(&in, (size_t)n);
        progress =
            n == 0 ? http_parser_eof(&parser) : read_some(&parser, &in, &scanned, &headed, body, reply);
    }
    http_parser_finish(&parser);
    buf_free(&in);
    if (progress == HTTP_DONE)
        return 0;
    if (!why[0])
        snprintf(why, LIMIT_ERROR_TEXT, "%s",
                 body->failed ? "the reply is too large" : "the reply broke off or was not HTTP");
    return -1;
}

int demo_client_request(struct demo_io *io, uint16_t port, struct span request,
                        int (*data)(void *arg, struct span bytes), void *arg, int idle_ms,
                        struct demo_reply *reply, char why[LIMIT_ERROR_TEXT])
{
    struct body body = {.data = data, .arg = arg};
    *reply = (struct demo_reply){.status = 0};
    int fd = demo_io_connect(port, why);
    if (fd < 0)
        return -1;
    int failed = demo_io_send(io, fd, request, why);
    if (!failed)
        failed = read_reply(io, fd, &body, idle_ms, reply, why);
    close(fd);
    return failed;
}

static int append(void *arg, struct span bytes)
{
    return buf_add(arg, bytes);
}

int demo_client_get(struct demo_io *io, uint16_t port, const char *target, struct buf *body, int *status,
                    char why[LIMIT_ERROR_TEXT])
{
    struct demo_reply reply;
    struct buf request;
    buf_init(&request, MESSAGE);
    buf_printf(&request, "GET %s HTTP/1.1\r\nHost: 127.0.0.1:%u\r\nConnection: close\r\n\r\n", target, port);
    int failed = demo_client_request(io, port, buf_span(&request), append, body, SHORT_MS, &reply, why);
    *status = reply.status;
    buf_free(&request);
    return failed;
}

static int feed(void *arg, struct span bytes)
{
    return demo_stream_feed(arg, bytes, false);
}

/* A reply that is no stream: an error's message, as every provider words it. */
static void read_refusal(struct demo_stream *s)
{
    struct span document, error;
    if (json_document(buf_span(&s->raw), &document) && json_member(document, "error", &error))
        take_error(s, error);
}

int demo_client_consult(struct demo_io *io, uint16_t port, const char *model, const char *key,
                        const char *question, struct demo_stream *s, struct demo_reply *reply,
                        char why[LIMIT_ERROR_TEXT])
{
    struct buf body, request;
    buf_init(&body, MESSAGE);
    buf_init(&request, 2 * MESSAGE);
    buf_adds(&body, "{\"model\":\"");
    int failed = json_escape(span_str(model), &body);
    buf_adds(&body, "\",\"stream\":true,\"stream_options\":{\"include_usage\":true},\"messages\":["
                    "{\"role\":\"system\",\"content\":\"You are a helpful analyst.\"},"
                    "{\"role\":\"user\",\"content\":\"");
    failed = failed || json_escape(span_str(question), &body);
    buf_adds(&body, "\"}]}");
    buf_printf(&request,
               "POST /v1/chat/completions HTTP/1.1\r\nHost: 127.0.0.1:%u\r\n"
               "Content-Type: application/json\r\nContent-Length: %zu\r\nAccept: text/event-stream\r\n",
               port, body.n);
    if (key)
        buf_printf(&request, "Authorization: Bearer %s\r\n", key);
    buf_adds(&request, "Connection: close\r\n\r\n");
    buf_add(&request, buf_span(&body));
    if (failed || buf_full(&body) || buf_full(&request)) {
        snprintf(why, LIMIT_ERROR_TEXT, "the question or the model's name is too long");
        failed = -1;
    } else {
        failed = demo_client_request(io, port, buf_span(&request), feed, s, CONSULT_MS, reply, why);
    }
    if (!failed && demo_stream_feed(s, span_of("", 0), true)) {
        snprintf(why, LIMIT_ERROR_TEXT, "the reply is too large");
        failed = -1;
    }
    if (!failed && reply->status != 200)
        read_refusal(s);
    buf_free(&body);
    buf_free(&request);
    return failed;
}
