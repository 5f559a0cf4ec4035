#include "net/http_parser.h"

#include "base/xalloc.h"

static struct http_parser *parser_of(llhttp_t *l)
{
    return l->data;
}

static int on_body(llhttp_t *l, const char *at, size_t n)
{
    struct http_parser *p = parser_of(l);
    if (n)
        p->sink->data(p->arg, span_of(at, n));
    return 0;
}

/* Fields after the body are trailers; those of the head were read by http_head_read. */
static int on_header_field(llhttp_t *l, const char *at, size_t n)
{
    struct http_parser *p = parser_of(l);
    if (!p->in_body)
        return 0;
    if (!p->trailer) {
        p->trailer = xcalloc(1, sizeof *p->trailer);
        buf_init(p->trailer, LIMIT_HTTP_TRAILERS);
    }
    return buf_addn(p->trailer, at, n);
}

static int on_header_field_complete(llhttp_t *l)
{
    struct http_parser *p = parser_of(l);
    if (p->trailer)
        p->trailer_name = p->trailer->n;
    return 0;
}

static int on_header_value(llhttp_t *l, const char *at, size_t n)
{
    struct http_parser *p = parser_of(l);
    return p->trailer ? buf_addn(p->trailer, at, n) : 0;
}

static int on_header_value_complete(llhttp_t *l)
{
    struct http_parser *p = parser_of(l);
    if (p->trailer) {
        struct span all = buf_span(p->trailer);
        if (p->sink && p->sink->trailer)
            p->sink->trailer(p->arg, span_of(all.p, p->trailer_name), span_from(all, p->trailer_name));
        buf_reset(p->trailer);
    }
    return 0;
}

static int on_message_complete(llhttp_t *l)
{
    parser_of(l)->done = true;
    return HPE_PAUSED; /* what follows belongs to another message */
}

static const llhttp_settings_t settings = {
    .on_body = on_body,
    .on_header_field = on_header_field,
    .on_header_field_complete = on_header_field_complete,
    .on_header_value = on_header_value,
    .on_header_value_complete = on_header_value_complete,
    .on_message_complete = on_message_complete,
};

void http_parser_init(struct http_parser *p, bool request)
{
    *p = (struct http_parser){.in_body = false};
    llhttp_init(&p->llhttp, request ? HTTP_REQUEST : HTTP_RESPONSE, &settings);
    p->llhttp.data = p;
}

void http_parser_finish(struct http_parser *p)
{
    if (p->trailer) {
        buf_free(p->trailer);
        xfree(p->trailer);
        p->trailer = NULL;
    }
}

static bool bodyless_status(int status)
{
    return status < 200 || status == 204 || status == 304;
}

enum http_progress http_parser_head(struct http_parser *p, struct span head, bool no_body,
                                    struct http_head *out, struct error *e)
{
    bool request = p->llhttp.type == HTTP_REQUEST;
    http_parser_finish(p);
    http_parser_init(p, request);
    if (http_head_read(head, request, out, e) < 0)
        return HTTP_INVALID;
    enum llhttp_errno err = llhttp_execute(&p->llhttp, head.p, head.n);
    if (err != HPE_OK && err != HPE_PAUSED && err != HPE_PAUSED_UPGRADE) {
        error_set(e, ERROR_BAD_REQUEST, "The head cannot be read: %s.", llhttp_errno_name(err));
        return HTTP_INVALID;
    }
    out->keep_alive = llhttp_should_keep_alive(&p->llhttp);
    p->in_body = true;
    bool empty = request ? !out->chunked && (!out->has_length || out->length == 0)
                         : no_body || bodyless_status(out->status) || (out->has_length && out->length == 0);
    if (empty) {
        /* llhttp cannot know that a reply is one to HEAD, nor that 1xx replies are not the last; whether to
         * reuse the connection is told by the fields alone then. */
        if (no_body || (!request && bodyless_status(out->status)))
            out->keep_alive = out->minor == 1 ? !http_head_has_token(out, "connection", "close")
                                              : http_head_has_token(out, "connection", "keep-alive");
        p->done = true;
    }
    return p->done ? HTTP_DONE : HTTP_MORE;
}

enum http_progress http_parser_body(struct http_parser *p, struct span bytes,
                                    const struct http_body_sink *sink, void *arg, size_t *used)
{
    *used = 0;
    if (p->done)
        return HTTP_DONE;
    p->sink = sink;
    p->arg = arg;
    enum llhttp_errno err = llhttp_execute(&p->llhttp, bytes.p, bytes.n);
    p->sink = NULL;
    if (err == HPE_OK) {
        *used = bytes.n;
        return HTTP_MORE;
    }
    if (p->done) {
        *used = (size_t)(llhttp_get_error_pos(&p->llhttp) - bytes.p);
        return HTTP_DONE;
    }
    return HTTP_INVALID;
}

enum http_progress http_parser_eof(struct http_parser *p)
{
    if (p->done)
        return HTTP_DONE;
    if (!p->in_body || llhttp_message_needs_eof(&p->llhttp) == 0)
        return HTTP_INVALID;
    enum llhttp_errno err = llhttp_finish(&p->llhttp);
    return err == HPE_OK || p->done ? HTTP_DONE : HTTP_INVALID;
}
