/* The client's writing: bytes that are given to a call, written into it, or lent. */
#include <stdint.h>

#include "base/limits.h"
#include "net/http_client_parts.h"

enum { PIECES_AT_ONCE = 16 };

void http_link_want_write(struct link *link, bool want)
{
    if (want == link->writing)
        return;
    link->writing = want;
    if (want)
        event_add(&link->on_write, NULL);
    else
        event_del(&link->on_write);
}

/* Sends from `bytes`, of a long run its beginning; answers how many were taken, or -1 when the peer takes no
 * more, even if it took some. */
static ssize_t link_send(struct link *link, struct span bytes)
{
    size_t sent = 0;
    bytes = span_of(bytes.p, bytes.n < LIMIT_SENT_AT_ONCE ? bytes.n : LIMIT_SENT_AT_ONCE);
    while (sent < bytes.n) {
        ssize_t n = stream_write(&link->stream, bytes.p + sent, bytes.n - sent);
        if (n == STREAM_AGAIN)
            break;
        if (n < 0)
            return -1;
        sent += (size_t)n;
        if (link->call)
            link->call->wrote = true;
    }
    return (ssize_t)sent;
}

/*
 * The peer takes nothing more. It may have answered already, so reading goes on and decides. A pooled
 * connection that took nothing at all is replaced, and the same bytes are offered to the new one.
 */
static void link_write_broken(struct link *link, struct buf *refused)
{
    struct http_call *call = link->call;
    link->write_broken = true;
    http_link_want_write(link, false);
    if (call && call->reused && !call->wrote) { /* what is lent has not begun either */
        call->reused = false;
        call->link = NULL;
        buf_move(&call->pending, refused);
        http_link_close(link);
        http_call_dial(call);
    } else {
        buf_free(refused);
        if (call)
            http_call_release(call);
    }
}

/* ---- what is lent ---- */

void http_call_release(struct http_call *call)
{
    struct http_loan loan = call->loan;
    call->loan = (struct http_loan){0};
    call->loan_left = 0;
    if (loan.released)
        loan.released(loan.arg);
}

/* The next pieces of what is lent, of the last one its beginning. */
static int next_pieces(const struct http_call *call, struct iovec v[PIECES_AT_ONCE])
{
    size_t room = LIMIT_SENT_AT_ONCE, from = call->loan_from;
    int n = 0;
    for (size_t i = 0; i < call->loan.n && n < PIECES_AT_ONCE && room; i++) {
        struct span piece = span_from(call->loan.pieces[i], from);
        size_t take = piece.n < room ? piece.n : room;
        from = 0;
        room -= take;
        v[n++] = (struct iovec){(void *)(uintptr_t)piece.p, take};
    }
    return n;
}

static void pieces_sent(struct http_call *call, size_t n)
{
    struct http_loan *loan = &call->loan;
    call->wrote = call->wrote || n;
    call->loan_left -= n;
    n += call->loan_from;
    while (loan->n && n >= loan->pieces->n) {
        n -= loan->pieces->n;
        loan->pieces++;
        loan->n--;
    }
    call->loan_from = n;
}

static void send_lent(struct http_call *call)
{
    struct link *link = call->link;
    struct iovec v[PIECES_AT_ONCE];
    ssize_t n = stream_writev(&link->stream, v, next_pieces(call, v));
    if (n == STREAM_AGAIN)
        n = 0;
    if (n < 0) {
        link_write_broken(link, &link->unsent);
        return;
    }
    pieces_sent(call, (size_t)n);
    http_link_want_write(link, call->loan_left != 0);
    if (call->loan_left == 0)
        http_call_release(call);
}

void http_call_lend(struct http_call *call, const struct http_loan *loan)
{
    call->loan = *loan;
    call->loan_from = call->loan_left = 0;
    for (size_t i = 0; i < loan->n; i++)
        call->loan_left += loan->pieces[i].n;
    if (call->over || (call->link && call->link->write_broken))
        http_call_release(call);
    else if (call->link)
        send_lent(call);
}

/* ---- what is given ---- */

void http_call_send_waiting(struct http_call *call)
{
    if (call->pending.n)
        http_call_give(call, &call->pending);
    else if (call->loan.n)
        send_lent(call);
}

void http_call_give(struct http_call *call, struct buf *bytes)
{
    struct link *link = call->link;
    struct buf *queue = link ? &link->unsent : &call->pending;
    if (call->over || (link && link->write_broken)) {
        buf_free(bytes);
    } else if (!link || queue->n) {
        if (queue->n)
            buf_add(queue, buf_span(bytes));
        else
            buf_move(queue, bytes);
        buf_free(bytes);
    } else {
        ssize_t sent = link_send(link, buf_span(bytes));
        if (sent < 0) {
            link_write_broken(link, bytes);
            return;
        }
        buf_consume(bytes, (size_t)sent);
        if (bytes->n) {
            buf_move(&link->unsent, bytes);
            http_link_want_write(link, true);
        } else {
            buf_free(bytes);
        }
    }
}

void http_call_write(struct http_call *call, struct span bytes)
{
    struct link *link = call->link;
    if (call->over || bytes.n == 0 || (link && link->write_broken))
        return;
    if (link && link->unsent.n == 0) {
        ssize_t sent = link_send(link, bytes);
        if (sent < 0) {
            struct buf copy;
            buf_init(&copy, SIZE_MAX / 2);
            buf_add(&copy, bytes);
            link_write_broken(link, &copy);
            return;
        }
        bytes = span_from(bytes, (size_t)sent);
    }
    if (bytes.n) {
        buf_add(link ? &link->unsent : &call->pending, bytes);
        if (link)
            http_link_want_write(link, true);
    }
}

size_t http_call_unsent(const struct http_call *call)
{
    return (call->link ? call->link->unsent.n : call->pending.n) + call->loan_left;
}

void http_call_sent_all(struct http_call *call)
{
    call->sent_all = true;
}

void http_link_on_write(evutil_socket_t fd, short what, void *arg)
{
    struct link *link = arg;
    (void)fd;
    (void)what;
    if (link->dead)
        return;
    if (link->stream.wants_write) { /* TLS has to write before it can read on */
        link->stream.wants_write = false;
        if (!link->unsent.n && !(link->call && link->call->loan.n))
            http_link_want_write(link, false);
        http_link_on_read(link->stream.fd, EV_READ, link);
        return;
    }
    struct http_call *call = link->call;
    if (call && call->loan.n) {
        send_lent(call);
    } else {
        ssize_t sent = link_send(link, buf_span(&link->unsent));
        if (sent < 0) {
            link_write_broken(link, &link->unsent);
            return;
        }
        buf_consume(&link->unsent, (size_t)sent);
        if (link->unsent.n == 0) {
            buf_free(&link->unsent);
            http_link_want_write(link, false);
        }
    }
    if (call && !call->over && call->link == link && !link->writing && call->sink->writable)
        call->sink->writable(call->arg);
}
