/* What the client gets of a reply: one write for what one read has produced. */
#include "proxy/relay_parts.h"

enum {
    JOINED_MAX = 4096,    /* so much is copied behind the head, since one piece is sent for less than two */
    OUT_KEPT = 256 * 1024 /* the shared output room is given back when one reply made it larger */
};

/* A client that reads slowly slows the upstream down (product.md §4.5). */
static void apply_watermark(struct exchange *ex)
{
    if (ex->conn && ex->call && conn_unsent(ex->conn) > ex->config->limits.stream_buffer / 8)
        http_call_pause(ex->call, true);
}

/* The chunk's length, in front of its bytes. */
static void add_length_line(struct buf *out, size_t length)
{
    char line[CHUNK_ROOM];
    size_t at = sizeof line;
    line[--at] = '\n';
    line[--at] = '\r';
    do {
        line[--at] = "0123456789abcdef"[length & 15];
        length >>= 4;
    } while (length && at);
    size_t n = sizeof line - at;
    if (out->start < n) { /* the buffer has moved what it holds over the room */
        char *room = buf_reserve(out, n);
        if (!room)
            return;
        memmove(out->data + out->start + n, out->data + out->start, out->n);
        out->start += n;
    }
    out->start -= n;
    out->n += n;
    memcpy(out->data + out->start, line + at, n);
}

/* What ends a chunked body. */
static void add_tail(const struct exchange *ex, struct buf *out)
{
    buf_adds(out, "0\r\n");
    buf_add(out, buf_span(&ex->trailers));
    buf_adds(out, "\r\n");
}

/*
 * One write for what one read has produced: the head when it has not gone yet, and `out` with its chunk's
 * length line, for which worker_out_reset left room in front. `out` is used up.
 */
static void send_out(struct exchange *ex, struct buf *out, bool last)
{
    struct iovec pieces[2];
    int n = 0;
    size_t body = out->n;
    if (ex->framing == BODY_CHUNKED && body) {
        buf_adds(out, "\r\n");
        add_length_line(out, body);
    }
    if (ex->framing == BODY_CHUNKED && last)
        add_tail(ex, out);
    bool with_head = !ex->head_sent && ex->head.n;
    bool joined = with_head && out->n <= JOINED_MAX && buf_add(&ex->head, buf_span(out)) == 0;
    if (with_head)
        pieces[n++] = (struct iovec){(void *)(uintptr_t)buf_span(&ex->head).p, ex->head.n};
    ex->head_sent = true;
    if (out->n && !joined)
        pieces[n++] = (struct iovec){(void *)(uintptr_t)buf_span(out).p, out->n};
    ex->bytes_out += body;
    if (n && ex->conn) {
        conn_send(ex->conn, pieces, n);
        ex->last_sent_ms = ex->worker->now_ms;
    }
    buf_free(&ex->head);
    if (out->room > OUT_KEPT)
        buf_free(out);
    worker_out_reset(out);
}

void relay_flush(struct exchange *ex, bool last)
{
    struct buf *out = &ex->worker->out;
    if (out->n || last || !ex->head_sent)
        send_out(ex, out, last);
    if (!last)
        apply_watermark(ex);
}

void relay_send_whole(struct exchange *ex)
{
    struct buf *out = &ex->worker->out;
    buf_adds(&ex->head, "Content-Length: ");
    buf_add_number(&ex->head, out->n);
    buf_adds(&ex->head, ex->conn && conn_will_close(ex->conn) ? "\r\nConnection: close\r\n\r\n" : "\r\n\r\n");
    ex->framing = BODY_LENGTH;
    relay_flush(ex, true);
}
