/* What goes out to a client: bytes, files, and small replies of Penstock's own. */
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/log.h"
#include "proxy/conn_parts.h"
#include "proxy/exchange.h"
#include "proxy/sentry.h"

const char *http_reason(int status)
{
    switch (status) {
    case 200:
        return "OK";
    case 206:
        return "Partial Content";
    case 304:
        return "Not Modified";
    case 400:
        return "Bad Request";
    case 401:
        return "Unauthorized";
    case 403:
        return "Forbidden";
    case 404:
        return "Not Found";
    case 405:
        return "Method Not Allowed";
    case 408:
        return "Request Timeout";
    case 413:
        return "Content Too Large";
    case 416:
        return "Range Not Satisfiable";
    case 422:
        return "Unprocessable Content";
    case 429:
        return "Too Many Requests";
    case 502:
        return "Bad Gateway";
    case 503:
        return "Service Unavailable";
    case 504:
        return "Gateway Timeout";
    default:
        return "Status";
    }
}

/* ---- writing ---- */

/* A peer that takes no more is noticed by the read event, which comes for a broken socket too; so the state
 * changes from the loop. */
static void write_broken(struct conn *c)
{
    buf_free(&c->out);
    conn_want_write(c, false);
    c->reading = false; /* re-add, in case reading was paused */
    conn_want_read(c, true);
    event_active(&c->on_read, EV_READ, 0);
}

void conn_send(struct conn *c, struct iovec *pieces, int count)
{
    if (c->state == CONN_DEAD)
        return;
    int at = 0;
    if (c->out.n == 0 && c->file < 0) {
        ssize_t n = count == 1 ? stream_write(&c->stream, pieces[0].iov_base, pieces[0].iov_len)
                               : stream_writev(&c->stream, pieces, count);
        if (n == STREAM_BROKEN) {
            write_broken(c);
            return;
        }
        size_t sent = n > 0 ? (size_t)n : 0;
        while (at < count && sent >= pieces[at].iov_len)
            sent -= pieces[at++].iov_len;
        if (at < count) {
            pieces[at].iov_base = (char *)pieces[at].iov_base + sent;
            pieces[at].iov_len -= sent;
        }
    }
    if (at == count)
        return;
    for (; at < count; at++)
        buf_addn(&c->out, pieces[at].iov_base, pieces[at].iov_len);
    conn_want_write(c, true);
}

void conn_send_span(struct conn *c, struct span bytes)
{
    struct iovec piece = {(void *)(uintptr_t)bytes.p, bytes.n};
    if (bytes.n)
        conn_send(c, &piece, 1);
}

void conn_send_file(struct conn *c, int fd, int64_t from, int64_t length)
{
    if (c->state == CONN_DEAD || length <= 0) {
        close(fd);
        return;
    }
    c->file = fd;
    c->file_at = from;
    c->file_left = length;
    conn_want_write(c, true);
}

size_t conn_unsent(const struct conn *c)
{
    return c->out.n + (c->file >= 0);
}

/* Puts the next piece of the file into `out`. */
static void load_file(struct conn *c)
{
    size_t want = c->file_left < LIMIT_READ ? (size_t)c->file_left : LIMIT_READ;
    char *room = buf_reserve(&c->out, want);
    ssize_t n = room ? pread(c->file, room, want, c->file_at) : -1;
    if (n <= 0) { /* shorter than its record says: the client must see that this is not the whole */
        conn_gone(c);
        return;
    }
    buf_commit(&c->out, (size_t)n);
    c->file_at += n;
    c->file_left -= n;
    if (c->file_left == 0) {
        close(c->file);
        c->file = -1;
    }
}

static void conn_flushed(struct conn *c)
{
    buf_free(&c->out);
    conn_want_write(c, false);
    if (c->state == CONN_FLUSH) {
        shutdown(c->stream.fd, SHUT_WR);
        conn_enter(c, CONN_LINGER);
        conn_want_read(c, true);
    } else if (c->exchange) {
        exchange_drained(c->exchange);
    }
}

void conn_on_write(evutil_socket_t fd, short what, void *arg)
{
    struct conn *c = arg;
    (void)fd;
    (void)what;
    if (c->state == CONN_DEAD)
        return;
    if (c->stream.wants_write) {
        c->stream.wants_write = false;
        conn_on_read(c->stream.fd, EV_READ, c);
        if (c->state == CONN_DEAD)
            return;
    }
    if (c->out.n == 0 && c->file >= 0)
        load_file(c);
    if (c->state == CONN_DEAD)
        return;
    while (c->out.n) {
        ssize_t n = stream_write(&c->stream, buf_span(&c->out).p, c->out.n);
        if (n == STREAM_AGAIN)
            return;
        if (n < 0) {
            write_broken(c);
            return;
        }
        buf_consume(&c->out, (size_t)n);
        if (c->state == CONN_FLUSH)
            conn_set_deadline(c, WRITE_STALL_MS);
    }
    if (c->file < 0)
        conn_flushed(c);
}

/* ---- replies ---- */

bool conn_will_close(const struct conn *c)
{
    return !c->keep_alive || c->close_after || c->worker->draining || c->state == CONN_BODY;
}

static void conn_finish(struct conn *c)
{
    c->exchange = NULL;
    conn_enter(c, CONN_FLUSH);
    if (conn_unsent(c) == 0)
        conn_flushed(c);
}

void conn_reply_done(struct conn *c)
{
    if (c->state == CONN_DEAD)
        return;
    if (conn_will_close(c)) {
        conn_finish(c);
        return;
    }
    c->exchange = NULL;
    conn_enter(c, CONN_HEAD);
    if (c->in.n) /* the next request is here already; taken from the loop, so that pipelined requests do not
                    nest */
        event_active(&c->on_read, EV_READ, 0);
    conn_want_read(c, true);
}

void conn_reply(struct conn *c, int status, const char *media_type, const char *extra, struct span body,
                bool head_only)
{
    char head[1024];
    int n = snprintf(
        head, sizeof head, "HTTP/1.1 %d %s\r\nContent-Type: %s\r\nContent-Length: %zu\r\n%s%s\r\n", status,
        http_reason(status), media_type, body.n, extra, conn_will_close(c) ? "Connection: close\r\n" : "");
    struct iovec pieces[2] = {{head, n > 0 ? (size_t)n : 0},
                              {(void *)(uintptr_t)body.p, head_only ? 0 : body.n}};
    conn_send(c, pieces, body.n && !head_only ? 2 : 1);
    conn_reply_done(c);
}

void conn_refuse(struct conn *c, const struct error *e)
{
    char body[LIMIT_ERROR_TEXT + 160];
    int n = snprintf(
        body, sizeof body,
        "{\"error\":{\"message\":\"%s\",\"type\":\"invalid_request_error\",\"param\":null,\"code\":\"%s\"}}",
        e->message, error_name(e->code));
    sentry_note(c->worker, NULL, "", "", e);
    log_warning("request.refused", log_str("code", error_name(e->code)), log_str("peer", c->peer),
                log_str("message", e->message));
    c->keep_alive = false;
    conn_reply(c, e->status, "application/json", "", span_of(body, n > 0 ? (size_t)n : 0), false);
}

void conn_continue(struct conn *c)
{
    if (c->expects_continue && !c->http10)
        conn_send_span(c, SPAN_LIT("HTTP/1.1 100 Continue\r\n\r\n"));
    c->expects_continue = false;
}
