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

/* The last chunk has length 0; what follows is not for llhttp. */
static int on_chunk_header(llhttp_t *l)
{
    if (l->content_length > 0)
        return 0;
    parser_of(l)->in_trailers = true;
    return HPE_PAUSED;
}

static int on_message_complete(llhttp_t *l)
{
    parser_of(l)->done = true;
    return HPE_PAUSED; /* what follows belongs to another message */
}

static const llhttp_settings_t settings = {
    .on_body = on_body,
    .on_chunk_header = on_chunk_header,
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
    if (p->trailers) {
        buf_free(p->trailers);
        xfree(p->trailers);
        p->trailers = NULL;
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
    if (p->done && !empty) {
        error_set(e, ERROR_BAD_REQUEST, "The head can be read both with a body and without.");
        return HTTP_INVALID;
    }
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

static bool is_trailer(const struct http_head *h, struct span name)
{
    return !http_head_is_hop(h, name) && !span_is_nocase(name, "content-length") &&
           !span_is_nocase(name, "host");
}

/* A complete section, its empty line included. */
static enum http_progress read_trailers(struct http_parser *p, struct span section)
{
    struct http_head fields;
    struct error e;
    if (http_head_read_trailers(section, &fields, &e) < 0)
        return HTTP_INVALID;
    p->done = true;
    for (size_t i = 0; i < fields.n && p->sink->trailer; i++)
        if (is_trailer(&fields, fields.fields[i].name))
            p->sink->trailer(p->arg, fields.fields[i].name, fields.fields[i].value);
    return HTTP_DONE;
}

/* Bytes behind the last chunk. */
static enum http_progress take_trailers(struct http_parser *p, struct span bytes, size_t *used)
{
    size_t before = p->trailers ? p->trailers->n : 0;
    size_t room = LIMIT_HTTP_TRAILERS - before;
    struct span part = span_of(bytes.p, bytes.n < room ? bytes.n : room), all = part;
    if (p->trailers) {
        buf_add(p->trailers, part);
        all = buf_span(p->trailers);
    }
    ssize_t n = http_head_length(all, &p->trailers_scanned);
    if (n < 0 || (n == 0 && part.n < bytes.n))
        return HTTP_INVALID;
    *used = n > 0 ? (size_t)n - before : part.n;
    if (n > 0)
        return read_trailers(p, span_of(all.p, (size_t)n));
    if (!p->trailers) {
        p->trailers = xcalloc(1, sizeof *p->trailers);
        buf_init(p->trailers, LIMIT_HTTP_TRAILERS);
        buf_add(p->trailers, part);
    }
    return HTTP_MORE;
}

static enum http_progress take_body(struct http_parser *p, struct span bytes, size_t *used)
{
    enum llhttp_errno err = llhttp_execute(&p->llhttp, bytes.p, bytes.n);
    if (err == HPE_OK) {
        *used = bytes.n;
        return HTTP_MORE;
    }
    if (!p->done && !p->in_trailers)
        return HTTP_INVALID;
    *used = (size_t)(llhttp_get_error_pos(&p->llhttp) - bytes.p);
    return p->done ? HTTP_DONE : HTTP_MORE;
}

enum http_progress http_parser_body(struct http_parser *p, struct span bytes,
                                    const struct http_body_sink *sink, void *arg, size_t *used)
{
    enum http_progress progress = HTTP_MORE;
    *used = 0;
    if (p->done)
        return HTTP_DONE;
    p->sink = sink;
    p->arg = arg;
    if (!p->in_trailers)
        progress = take_body(p, bytes, used);
    if (p->in_trailers && progress == HTTP_MORE && *used < bytes.n) {
        size_t more = 0;
        progress = take_trailers(p, span_from(bytes, *used), &more);
        *used += more;
    }
    p->sink = NULL;
    return progress;
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
