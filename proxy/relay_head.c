/* What a reply's head decides: what is done with the body, how it is decoded and framed. */
#include "base/log.h"
#include "proxy/relay_parts.h"
#include "proxy/thread.h"

static bool contains(struct span s, const char *word)
{
    size_t n = strlen(word);
    for (size_t i = 0; i + n <= s.n; i++)
        if ((s.p[i] | 0x20) == word[0] && strncasecmp(s.p + i, word, n) == 0)
            return true;
    return false;
}

/* By the content type that the reply really has; where that says nothing of a stream, as the API frames one
 * that was asked for. */
static enum reply_framing find_framing(const struct exchange *ex, struct span type)
{
    if (contains(type, "event-stream"))
        return REPLY_SSE;
    if (contains(type, "ndjson") || contains(type, "jsonl"))
        return REPLY_NDJSON;
    switch (ex->wants_stream ? ex->dialect->untold_framing : FRAMING_WHOLE) {
    case FRAMING_NDJSON:
        return REPLY_NDJSON;
    case FRAMING_ARRAY:
        return REPLY_ARRAY;
    default:
        return REPLY_WHOLE;
    }
}

enum treatment relay_choose_treatment(struct exchange *ex, const struct http_head *head)
{
    const struct http_field *field = http_head_find(head, "content-type");
    struct span type = field ? field->value : span_of("", 0);
    if (!ex->consult || ex->head_method || head->status < 200 || head->status > 299 || head->status == 204)
        return TREAT_PASS;
    ex->events = find_framing(ex, type);
    /* octet-stream is what servers say that do not know */
    if (ex->events == REPLY_WHOLE && type.n && !contains(type, "json") && !contains(type, "text/") &&
        !contains(type, "octet-stream"))
        return TREAT_PASS;
    return ex->events == REPLY_WHOLE ? TREAT_WHOLE : TREAT_STREAM;
}

void relay_create_reply(struct exchange *ex)
{
    const struct config_limits *l = &ex->config->limits;
    const struct dialect *d = ex->dialect;
    struct reply_settings s = {
        .dialect = {.event = d->event,
                    .keep_shape = d->keep_shape,
                    .text_event = d->text_event,
                    .report_event = d->report_event,
                    .citation = d->citation,
                    .offsets = d->offsets,
                    .parts = d->parts},
        .framing = ex->events,
        .mode = ex->caller.stream_buffer ? REPLY_BUFFER : REPLY_SUPPRESS,
        .choices = ex->choices,
        .links = ex->caller.links_markdown,
        .directive_max = l->directive,
        .directive_total = l->directive_total,
        .directives = (unsigned)l->directives,
        .event_max = l->reply_body,
        .resumed = ex->stored && ex->treatment == TREAT_STREAM,
        .recorder = thread_recorder(ex),
    };
    for (int images = 0; images < 2; images++)
        if (ex->stored || ex->protocol_added[images]) /* of a stored reply it is not known which */
            s.echoes[images] = buf_span(&ex->worker->protocol[images]);
    static const struct reply_callbacks callbacks = {.directive = artifact_job_start};
    ex->reply = reply_create(&s, &callbacks, ex);
}

int relay_create_decoder(struct exchange *ex, const struct http_head *head)
{
    struct span unknown = {0};
    struct buf codings;
    struct error e;
    int status = 0;
    buf_init(&codings, LIMIT_HTTP_HEAD);
    http_head_codings(head, &codings);
    if (codings.n == 0 || span_is_nocase(buf_span(&codings), "identity"))
        goto out;
    ex->decoder = decoder_create(buf_span(&codings), &unknown);
    if (ex->decoder)
        goto out;
    error_set(&e, ERROR_UPSTREAM_INVALID,
              "The provider answered in the content coding \"%.*s\", which cannot be read here, although "
              "identity was asked for.",
              (int)(unknown.n > 40 ? 40 : unknown.n), unknown.p);
    exchange_fail(ex, &e);
    status = -1;
out:
    buf_free(&codings);
    return status;
}

void relay_choose_framing(struct exchange *ex, const uint64_t *length)
{
    bool none = ex->head_method || ex->status == 204 || ex->status == 304;
    if (none || (ex->treatment == TREAT_PASS && length)) {
        ex->framing = none ? BODY_NONE : BODY_LENGTH;
        if (length)
            buf_printf(&ex->head, "Content-Length: %llu\r\n", (unsigned long long)*length);
    } else if (ex->conn && ex->conn->http10) {
        ex->framing = BODY_CLOSE;
        ex->conn->close_after = true;
    } else {
        ex->framing = BODY_CHUNKED;
        buf_adds(&ex->head, "Transfer-Encoding: chunked\r\n");
    }
    if (ex->conn && conn_will_close(ex->conn))
        buf_adds(&ex->head, "Connection: close\r\n");
    else if (ex->conn && ex->conn->http10)
        buf_adds(&ex->head, "Connection: keep-alive\r\n");
    buf_adds(&ex->head, "\r\n");
}
