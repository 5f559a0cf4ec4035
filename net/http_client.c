#include <stdint.h>

#include "base/xalloc.h"
#include "net/http_client_parts.h"

static void call_fail(struct http_call *call, const struct error *e);

/* ---- ends ---- */

void http_link_close(struct link *link)
{
    if (link->dead)
        return;
    link->dead = true;
    event_del(&link->on_read);
    event_del(&link->on_write);
    stream_close(&link->stream, false);
    buf_free(&link->unsent);
    buf_free(&link->head);
    link->call = NULL;
    link->next = link->client->dead_links;
    link->client->dead_links = link;
    event_active(link->client->reap, EV_TIMEOUT, 0);
}

/* A call that was cancelled meanwhile is told by nobody. */
static void fail_undialled(struct http_client *c)
{
    struct error e;
    error_set(&e, ERROR_UPSTREAM_UNREACHABLE, "No connection to the provider could be begun.");
    while (c->undialled) {
        struct http_call *call = c->undialled;
        c->undialled = call->next;
        call->undialled = false;
        if (call->over) {
            call->next = c->dead_calls;
            c->dead_calls = call;
        } else {
            call_fail(call, &e);
        }
    }
}

static void on_reap(evutil_socket_t fd, short what, void *arg)
{
    struct http_client *c = arg;
    (void)fd;
    (void)what;
    fail_undialled(c);
    while (c->dead_links) {
        struct link *link = c->dead_links;
        c->dead_links = link->next;
        http_parser_finish(&link->parser);
        xfree(link->host);
        xfree(link);
    }
    while (c->dead_calls) {
        struct http_call *call = c->dead_calls;
        c->dead_calls = call->next;
        buf_free(&call->pending);
        xfree(call);
    }
}

/* The call's end as far as this room is concerned; frees it after the loop turn. */
static void call_over(struct http_call *call)
{
    call->over = true;
    call->link = NULL;
    http_call_release(call);
    if (!call->undialled) {
        call->next = call->client->dead_calls;
        call->client->dead_calls = call;
    }
    event_active(call->client->reap, EV_TIMEOUT, 0);
}

static void call_fail(struct http_call *call, const struct error *e)
{
    if (call->over)
        return;
    if (call->link)
        http_link_close(call->link);
    call_over(call);
    call->sink->done(call->arg, e);
}

/* ---- reading ---- */

static void sink_body(void *arg, struct span bytes)
{
    struct http_call *call = arg;
    if (!call->over)
        call->sink->body(call->arg, bytes);
}

static void sink_trailer(void *arg, struct span name, struct span value)
{
    struct http_call *call = arg;
    if (!call->over && call->sink->trailer)
        call->sink->trailer(call->arg, name, value);
}

static const struct http_body_sink body_sink = {.data = sink_body, .trailer = sink_trailer};

/* The reply is complete: the connection goes back before the caller writes its last bytes. */
static void call_complete(struct http_call *call, size_t left_over)
{
    struct link *link = call->link;
    bool reusable = call->sent_all && !link->write_broken && !link->unsent.n && !call->loan.n &&
                    left_over == 0 && llhttp_should_keep_alive(&link->parser.llhttp) && link->idle_max > 0;
    link->call = NULL;
    call_over(call);
    if (reusable) {
        buf_free(&link->head);
        if (link->paused) {
            link->paused = false;
            event_add(&link->on_read, NULL);
        }
        http_pool_add(link);
    } else {
        http_link_close(link);
    }
    call->sink->done(call->arg, NULL);
}

static void call_invalid(struct http_call *call, const char *why)
{
    struct error e;
    error_set(&e, ERROR_UPSTREAM_INVALID, "The provider's reply is not valid HTTP: %s", why);
    call_fail(call, &e);
}

/* Takes heads from the front of `bytes`: any number of 1xx, then the reply's own. Answers how many bytes were
 * used, with *progress; the call may be over afterwards. */
static size_t call_heads(struct http_call *call, struct span bytes, enum http_progress *progress)
{
    struct link *link = call->link;
    struct http_head *head = call->client->head_room;
    size_t used = 0;
    *progress = HTTP_MORE;
    while (!call->headed && !call->over) {
        ssize_t n = http_head_length(span_from(bytes, used), &link->head_scanned);
        if (n == 0)
            return used;
        struct error e;
        if (n < 0) {
            call_invalid(call, "a line of its head does not end with CR LF, or the head is too long.");
            return used;
        }
        link->head_scanned = 0;
        *progress =
            http_parser_head(&link->parser, span_of(bytes.p + used, (size_t)n), call->no_body, head, &e);
        if (*progress == HTTP_INVALID) {
            call_invalid(call, e.message);
            return used;
        }
        used += (size_t)n;
        if (head->status == 101) {
            call_invalid(call, "it switches protocols, which was not asked for.");
        } else if (head->status < 200) {
            *progress = HTTP_MORE;
            if (head->status != 100 && call->sink->interim)
                call->sink->interim(call->arg, head);
        } else {
            call->headed = true;
            http_pool_note_keep_alive(link, head);
            if (!head->keep_alive)
                link->idle_max = 0;
            call->sink->head(call->arg, head);
        }
    }
    return used;
}

/* All bytes that one read gave. */
static void call_take(struct http_call *call, struct span bytes)
{
    struct link *link = call->link;
    enum http_progress progress = HTTP_MORE;
    struct buf heads = {0};
    if (!call->headed) {
        if (link->head.n) { /* go on with what the last read left */
            if (buf_add(&link->head, bytes) < 0) {
                call_invalid(call, "the head is too long.");
                return;
            }
            buf_init(&heads, link->head.max);
            buf_move(&heads, &link->head);
            bytes = buf_span(&heads);
        }
        size_t used = call_heads(call, bytes, &progress);
        if (call->over)
            goto out;
        bytes = span_from(bytes, used);
        if (!call->headed) {
            buf_add(&link->head, bytes);
            goto out;
        }
    }
    if (progress == HTTP_MORE) {
        size_t used = 0;
        progress = http_parser_body(&link->parser, bytes, &body_sink, call, &used);
        bytes = span_from(bytes, used);
    }
    if (call->over)
        goto out;
    if (progress == HTTP_DONE)
        call_complete(call, bytes.n);
    else if (progress == HTTP_INVALID)
        call_invalid(call, "its body's framing is broken.");
    else
        call->sink->read_end(call->arg);
out:
    buf_free(&heads);
}

static void call_eof(struct http_call *call, bool broken)
{
    struct error e;
    if (call->headed && !broken && http_parser_eof(&call->link->parser) == HTTP_DONE) {
        call->link->idle_max = 0;
        call_complete(call, 0);
        return;
    }
    if (!call->headed && call->link->head.n == 0)
        error_set(&e, ERROR_UPSTREAM_UNREACHABLE,
                  "The provider at %s:%u closed the connection before it answered. The request may have been "
                  "processed and "
                  "was not sent again.",
                  call->target.host, call->target.port);
    else
        error_set(&e, ERROR_UPSTREAM_INVALID,
                  "The provider closed the connection in the middle of its reply.");
    call_fail(call, &e);
}

void http_link_on_read(evutil_socket_t fd, short what, void *arg)
{
    struct link *link = arg;
    (void)fd;
    (void)what;
    do {
        if (link->dead || link->paused)
            return;
        ssize_t n = stream_read(&link->stream, link->client->read_room, LIMIT_READ);
        if (n == STREAM_AGAIN) {
            if (link->stream.wants_write)
                http_link_want_write(link, true);
            return;
        }
        if (!link->call) { /* idle: closed, or bytes that nobody asked for */
            http_pool_remove(link);
            http_link_close(link);
            return;
        }
        if (n > 0)
            call_take(link->call, span_of(link->client->read_room, (size_t)n));
        else
            call_eof(link->call, n == STREAM_BROKEN);
    } while (!link->dead && stream_pending(&link->stream));
}

void http_call_pause(struct http_call *call, bool paused)
{
    struct link *link = call->link;
    if (!link || link->paused == paused)
        return;
    link->paused = paused;
    if (paused) {
        event_del(&link->on_read);
    } else {
        event_add(&link->on_read, NULL);
        if (stream_pending(&link->stream))
            event_active(&link->on_read, EV_READ, 0);
    }
}

/* ---- starting ---- */

static void link_start(struct http_call *call, struct link *link)
{
    link->call = call;
    call->link = link;
    link->head_scanned = 0;
    link->write_broken = false;
    http_parser_finish(&link->parser);
    http_parser_init(&link->parser, false);
}

static void on_dialled(void *arg, const struct stream *s, const struct error *e)
{
    struct http_call *call = arg;
    struct http_client *c = call->client;
    call->dial = NULL;
    if (!s) {
        call_fail(call, e);
        return;
    }
    struct link *link = xcalloc(1, sizeof *link);
    link->client = c;
    link->stream = *s;
    link->host = xstrdup(call->target.host);
    link->port = call->target.port;
    link->idle_max = http_pool_idle_max(call->target.tls);
    buf_init(&link->unsent,
             SIZE_MAX / 2); /* capped by what callers may send: limits.request_body, watermarks */
    buf_init(&link->head, 2 * LIMIT_HTTP_HEAD);
    http_parser_init(&link->parser, false);
    event_assign(&link->on_read, c->base, s->fd, EV_READ | EV_PERSIST, http_link_on_read, link);
    event_assign(&link->on_write, c->base, s->fd, EV_WRITE | EV_PERSIST, http_link_on_write, link);
    event_add(&link->on_read, NULL);
    link_start(call, link);
    if (call->sink->connected)
        call->sink->connected(call->arg);
    if (!call->over)
        http_call_send_waiting(call);
}

void http_call_dial(struct http_call *call)
{
    call->dial = dial_start(call->client->dialer, &call->target, on_dialled, call);
    if (!call->dial) { /* not even begun; reported from the loop */
        call->undialled = true;
        event_active(call->client->reap, EV_TIMEOUT, 0);
        call->next = call->client->undialled;
        call->client->undialled = call;
    }
}

struct http_call *http_call_start(struct http_client *c, const struct dial_target *target, bool no_body,
                                  const struct http_call_sink *sink, void *arg)
{
    struct http_call *call = xcalloc(1, sizeof *call);
    call->client = c;
    call->target = *target;
    call->no_body = no_body;
    call->sink = sink;
    call->arg = arg;
    buf_init(&call->pending, SIZE_MAX / 2); /* capped by limits.request_body and watermarks */
    struct link *link = http_pool_take(c, target);
    if (link) {
        call->reused = true;
        link_start(call, link);
    } else {
        http_call_dial(call);
    }
    return call;
}

void http_call_cancel(struct http_call *call)
{
    if (!call || call->over)
        return;
    if (call->dial)
        dial_cancel(call->dial);
    call->dial = NULL;
    if (call->link)
        http_link_close(call->link);
    call_over(call);
}

struct http_client *http_client_create(struct event_base *base, struct dialer *dialer, char *read_room,
                                       size_t idle_max)
{
    struct http_client *c = xcalloc(1, sizeof *c);
    c->base = base;
    c->dialer = dialer;
    c->read_room = read_room;
    c->idle_max = idle_max;
    c->head_room = xcalloc(1, sizeof *c->head_room);
    c->reap = event_new(base, -1, EV_PERSIST, on_reap, c);
    return c;
}

void http_client_destroy(struct http_client *c)
{
    if (!c)
        return;
    while (c->idle) {
        struct link *link = c->idle;
        http_pool_remove(link);
        http_link_close(link);
    }
    on_reap(-1, 0, c);
    event_free(c->reap);
    xfree(c->head_room);
    xfree(c);
}
