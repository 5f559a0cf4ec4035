#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/xalloc.h"
#include "net/proxy_protocol.h"
#include "proxy/admin.h"
#include "proxy/conn_parts.h"
#include "proxy/exchange.h"
#include "proxy/sentry.h"

enum {
    LINGER_MS = 5000,       /* after a reply to a request that is still being sent: silence */
    LINGER_MOST_MS = 30000, /* … and in all */
    LAST_HEAD_MS = 1000,    /* while the worker drains: for the first byte of a request that may come yet */
    BODY_WINDOW_BYTES = 64 * 1024 /* a body must bring so much in each `body` timeout, or end */
};

static void conn_take(struct conn *c, struct span bytes);

/* ---- life ---- */

void conn_set_deadline(struct conn *c, int64_t ms)
{
    c->deadline_ms = clock_mono_ms() + ms;
    c->window_bytes = 0;
}

void conn_enter(struct conn *c, enum conn_state state)
{
    const struct config_timeouts *t = &c->worker->config->timeouts;
    c->state = state;
    switch (state) {
    case CONN_PREFACE:
        conn_set_deadline(c, t->header);
        break;
    case CONN_HEAD:
        c->head_started = c->in.n > 0;
        conn_set_deadline(c, c->in.n ? t->header : c->worker->draining ? LAST_HEAD_MS : t->keep_alive);
        break;
    case CONN_BODY:
        conn_set_deadline(c, t->body);
        break;
    case CONN_LINGER:
        conn_set_deadline(c, LINGER_MS);
        c->linger_until_ms = c->deadline_ms - LINGER_MS + LINGER_MOST_MS;
        break;
    case CONN_FLUSH:
        conn_set_deadline(c, WRITE_STALL_MS);
        break;
    case CONN_BUSY:
    case CONN_DEAD:
        c->deadline_ms = INT64_MAX;
        break;
    }
}

void conn_die(struct conn *c, bool reset)
{
    struct worker *w = c->worker;
    if (c->state == CONN_DEAD)
        return;
    conn_enter(c, CONN_DEAD);
    event_del(&c->on_read);
    event_del(&c->on_write);
    stream_close(&c->stream, reset);
    buf_free(&c->in);
    buf_free(&c->out);
    if (c->file >= 0)
        close(c->file);
    c->file = -1;
    if (c->prev)
        c->prev->next = c->next;
    else
        w->conns = c->next;
    if (c->next)
        c->next->prev = c->prev;
    w->nconns--;
    metrics_gauge_add(w->metrics, w->index, GAUGE_CONNECTIONS, -1);
    c->next = w->dead_conns;
    w->dead_conns = c;
    worker_reap_later(w);
}

void conn_free(struct conn *c)
{
    http_parser_finish(&c->parser);
    xfree(c);
}

void conn_gone(struct conn *c)
{
    struct exchange *ex = c->exchange;
    c->exchange = NULL;
    conn_die(c, false);
    if (ex)
        exchange_client_gone(ex);
}

void conn_abort(struct conn *c, bool reset)
{
    c->exchange = NULL;
    conn_die(c, reset);
}

void conn_want_read(struct conn *c, bool want)
{
    if (want == c->reading || c->state == CONN_DEAD)
        return;
    c->reading = want;
    if (want) {
        event_add(&c->on_read, NULL);
        if (stream_pending(&c->stream))
            event_active(&c->on_read, EV_READ, 0);
    } else {
        event_del(&c->on_read);
    }
}

void conn_want_write(struct conn *c, bool want)
{
    if (want == c->writing || c->state == CONN_DEAD)
        return;
    c->writing = want;
    if (want)
        event_add(&c->on_write, NULL);
    else
        event_del(&c->on_write);
}

static void peer_name(const struct sockaddr_storage *a, char *out, size_t room)
{
    if (a->ss_family == AF_INET)
        inet_ntop(AF_INET, &((const struct sockaddr_in *)a)->sin_addr, out, (socklen_t)room);
    else if (a->ss_family == AF_INET6)
        inet_ntop(AF_INET6, &((const struct sockaddr_in6 *)a)->sin6_addr, out, (socklen_t)room);
    else
        snprintf(out, room, "unix");
}

static void note_overload(struct worker *w)
{
    struct error e;
    error_set(&e, ERROR_OVERLOADED, "Too many connections are open.");
    sentry_note(w, NULL, "", "", &e);
}

void conn_start(struct worker *w, int fd, const struct sockaddr_storage *peer,
                const struct worker_listener *l)
{
    struct conn *c = xcalloc(1, sizeof *c);
    c->worker = w;
    c->stream = stream_closed();
    c->stream.fd = fd;
    c->file = -1;
    c->admin = l->admin;
    c->number = ++w->conn_number;
    peer_name(peer, c->peer, sizeof c->peer);
    buf_init(&c->in, 2 * LIMIT_HTTP_HEAD + LIMIT_READ);
    buf_init(&c->out, SIZE_MAX / 2); /* capped by watermarks: the writer stops above limits.stream_buffer */
    http_parser_init(&c->parser, true);
    if (l->tls) {
        c->tls = true;
        c->stream.ssl = tls_accept(l->tls, fd);
    }
    event_assign(&c->on_read, w->base, fd, EV_READ | EV_PERSIST, conn_on_read, c);
    event_assign(&c->on_write, w->base, fd, EV_WRITE | EV_PERSIST, conn_on_write, c);
    c->next = w->conns;
    if (w->conns)
        w->conns->prev = c;
    w->conns = c;
    w->nconns++;
    metrics_gauge_add(w->metrics, w->index, GAUGE_CONNECTIONS, 1);
    conn_enter(c, l->proxy_protocol ? CONN_PREFACE : CONN_HEAD);
    conn_want_read(c, true);
    if (l->tls && !c->stream.ssl) {
        conn_die(c, false);
    } else if (w->nconns > w->config->limits.connections && !c->admin) {
        c->keep_alive = false;
        note_overload(w);
        conn_reply(c, 503, "application/json", "Retry-After: 1\r\n",
                   SPAN_LIT("{\"error\":{\"message\":\"Too many connections are open; try "
                            "again.\",\"type\":\"server_error\","
                            "\"param\":null,\"code\":\"OVERLOADED\"}}"),
                   false);
    }
}

/* ---- reading ---- */

static void sink_body(void *arg, struct span bytes)
{
    struct conn *c = arg;
    c->window_bytes += bytes.n;
    if (c->exchange)
        exchange_body(c->exchange, bytes);
}

static void sink_trailer(void *arg, struct span name, struct span value)
{
    struct conn *c = arg;
    if (c->exchange)
        exchange_trailer(c->exchange, name, value);
}

static const struct http_body_sink body_sink = {.data = sink_body, .trailer = sink_trailer};

static void take_body(struct conn *c, struct span bytes)
{
    size_t used = 0;
    struct error e;
    enum http_progress progress = http_parser_body(&c->parser, bytes, &body_sink, c, &used);
    if (c->state != CONN_BODY) /* answered, or dead */
        return;
    if (progress == HTTP_INVALID) {
        error_set(&e, ERROR_BAD_REQUEST, "The body's chunked coding is broken.");
        c->keep_alive = false;
        if (c->exchange)
            exchange_body_failed(c->exchange, &e);
        return;
    }
    if (progress == HTTP_MORE)
        return;
    conn_enter(c, CONN_BUSY);
    if (used < bytes.n)
        buf_add(&c->in, span_from(bytes, used));
    if (c->exchange)
        exchange_body_end(c->exchange);
}

static void begin_request(struct conn *c, struct span head_bytes)
{
    struct http_head *head = &c->worker->head;
    struct error e;
    enum http_progress progress = http_parser_head(&c->parser, head_bytes, false, head, &e);
    c->scanned = 0;
    c->asked = true;
    c->close_after = c->body_paused = false;
    c->http10 = progress != HTTP_INVALID && head->minor == 0;
    if (progress == HTTP_INVALID) {
        conn_refuse(c, &e);
        return;
    }
    c->keep_alive = head->keep_alive;
    c->expects_continue = http_head_has_token(head, "expect", "100-continue");
    conn_enter(c, progress == HTTP_MORE ? CONN_BODY : CONN_BUSY);
    if (c->admin)
        admin_request(c, head);
    else
        exchange_begin(c, head, progress == HTTP_MORE);
}

static void refuse_head(struct conn *c, bool too_long)
{
    struct error e;
    if (too_long)
        error_set(&e, ERROR_REQUEST_TOO_LARGE, "The request's head is larger than %d bytes.",
                  LIMIT_HTTP_HEAD);
    else
        error_set(&e, ERROR_BAD_REQUEST, "The head has a line that does not end with CR LF.");
    conn_refuse(c, &e);
}

/* Empty lines before a request are skipped (RFC 9112 §2.2). */
static struct span skip_empty_lines(struct span s)
{
    while (s.n >= 2 && s.p[0] == '\r' && s.p[1] == '\n')
        s = span_from(s, 2);
    return s;
}

/* Bytes in HEAD: `bytes` begins with what was kept. Answers how many were used. */
static size_t take_head(struct conn *c, struct span bytes)
{
    struct span rest = c->scanned ? bytes : skip_empty_lines(bytes);
    size_t skipped = bytes.n - rest.n;
    ssize_t n = http_head_length(rest, &c->scanned);
    if (n < 0) {
        refuse_head(c, rest.n > LIMIT_HTTP_HEAD);
        return bytes.n;
    }
    if (n == 0)
        return skipped;
    begin_request(c, span_of(rest.p, (size_t)n));
    return skipped + (size_t)n;
}

static size_t take_preface(struct conn *c, struct span bytes)
{
    char address[64];
    int n = proxy_protocol_parse(bytes, address);
    if (n < 0) {
        log_warning("connection.refused", log_str("why", "no valid PROXY protocol header"),
                    log_str("peer", c->peer));
        conn_die(c, false);
        return bytes.n;
    }
    if (n > 0) {
        if (address[0])
            snprintf(c->peer, sizeof c->peer, "%s", address);
        conn_enter(c, CONN_HEAD);
    }
    return (size_t)n;
}

/* Bytes that begin where the last ones ended, with what was kept in front. */
static void conn_take(struct conn *c, struct span bytes)
{
    while (bytes.n) {
        size_t used = 0;
        switch (c->state) {
        case CONN_PREFACE:
            used = take_preface(c, bytes);
            break;
        case CONN_HEAD:
            used = take_head(c, bytes);
            break;
        case CONN_BODY:
            take_body(c, bytes); /* keeps the rest itself */
            return;
        case CONN_BUSY: /* a next request; more than this is not read before the reply is out */
            buf_add(&c->in, bytes);
            if (c->in.n >= LIMIT_PIPELINED)
                conn_want_read(c, false);
            return;
        case CONN_LINGER:
            conn_set_deadline(c, LINGER_MS);
            if (c->deadline_ms > c->linger_until_ms)
                c->deadline_ms = c->linger_until_ms;
            return;
        case CONN_FLUSH:
        case CONN_DEAD:
            return;
        }
        if (used == 0 && (c->state == CONN_HEAD || c->state == CONN_PREFACE)) {
            buf_add(&c->in, bytes);
            if (!c->head_started)
                conn_set_deadline(c, c->worker->config->timeouts.header);
            c->head_started = true;
            return;
        }
        bytes = span_from(bytes, used);
    }
}

/* What was kept, with the new bytes behind it. */
static void conn_take_kept(struct conn *c, struct span bytes)
{
    struct buf kept;
    buf_init(&kept, c->in.max);
    buf_move(&kept, &c->in);
    if (buf_add(&kept, bytes) < 0)
        refuse_head(c, true);
    else
        conn_take(c, buf_span(&kept));
    buf_free(&kept);
}

void conn_on_read(evutil_socket_t fd, short what, void *arg)
{
    struct conn *c = arg;
    char *room = c->worker->read_room;
    (void)fd;
    (void)what;
    if (c->state == CONN_HEAD && c->in.n && c->scanned == 0)
        conn_take_kept(c, (struct span){0});
    do {
        if (c->state == CONN_DEAD || !c->reading)
            return;
        ssize_t n = stream_read(&c->stream, room, LIMIT_READ);
        if (n == STREAM_AGAIN) {
            if (c->stream.wants_write)
                conn_want_write(c, true);
            return;
        }
        if (n <= 0) {
            conn_gone(c);
            return;
        }
        if (c->in.n && (c->state == CONN_HEAD || c->state == CONN_PREFACE))
            conn_take_kept(c, span_of(room, (size_t)n));
        else
            conn_take(c, span_of(room, (size_t)n));
    } while (stream_pending(&c->stream));
}

void conn_pause_body(struct conn *c, bool paused)
{
    c->body_paused = paused;
    if (c->state == CONN_BODY) {
        conn_want_read(c, !paused);
        if (!paused)
            conn_set_deadline(c, c->worker->config->timeouts.body);
    }
}

/* ---- time ---- */

static void head_timeout(struct conn *c)
{
    struct error e;
    if (c->in.n == 0) { /* idle, or nothing was ever sent */
        conn_die(c, false);
        return;
    }
    error_set(&e, ERROR_REQUEST_TIMEOUT, "The request's head did not arrive in time.");
    conn_refuse(c, &e);
}

static void body_timeout(struct conn *c)
{
    struct error e;
    if (c->body_paused || c->window_bytes >= BODY_WINDOW_BYTES) {
        conn_set_deadline(c, c->worker->config->timeouts.body);
        return;
    }
    error_set(&e, ERROR_REQUEST_TIMEOUT, "The request's body did not arrive in time.");
    c->keep_alive = false;
    if (c->exchange)
        exchange_body_failed(c->exchange, &e);
    else
        conn_refuse(c, &e);
}

void conn_tick(struct conn *c, int64_t now_ms)
{
    if (now_ms < c->deadline_ms)
        return;
    switch (c->state) {
    case CONN_HEAD:
        head_timeout(c);
        break;
    case CONN_BODY:
        body_timeout(c);
        break;
    case CONN_PREFACE:
    case CONN_FLUSH:
    case CONN_LINGER:
        conn_die(c, false);
        break;
    case CONN_BUSY:
    case CONN_DEAD:
        break;
    }
}

static bool has_unread(const struct conn *c)
{
    char byte;
    return stream_pending(&c->stream) || recv(c->stream.fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT) > 0;
}

void conn_drain(struct conn *c)
{
    if (c->state != CONN_HEAD || c->in.n)
        return;
    if (c->asked && !has_unread(c))
        conn_die(c, false);
    else
        conn_set_deadline(c, LAST_HEAD_MS);
}
