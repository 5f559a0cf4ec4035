#ifndef PROXY_CONN_H
#define PROXY_CONN_H
/*
 * A client's connection: HTTP/1.1 server over llhttp on a raw non-blocking socket. It reads one request at a
 * time, hands it to its exchange (or to the admin pages), sends what it is given, and goes on with the next
 * request.
 *
 *            +------------------ keep-alive -------------------+
 *            v                                                 |
 *   (PREFACE) --> HEAD --> BODY --> BUSY ----------------------+
 *   PROXY line      |        |        |
 *                   +--------+--------+--> FLUSH --> LINGER --> dead
 *                                          unsent     read and drop, so that the peer
 *                                          rest       sees the reply and not a reset
 *
 * PREFACE  the PROXY protocol's header is awaited
 * HEAD     a request head is awaited or arriving
 * BODY     the head was handed over, body bytes go to the exchange
 * BUSY     the request is complete, its reply is not; bytes that come now are a next request's and wait
 * FLUSH    nothing more is taken; what is unsent goes out
 * LINGER   the write side is closed
 */
#include <sys/socket.h>
#include <sys/uio.h>

#include "net/http_parser.h"
#include "net/stream.h"
#include "proxy/worker.h"

struct exchange;

enum conn_state { CONN_PREFACE, CONN_HEAD, CONN_BODY, CONN_BUSY, CONN_FLUSH, CONN_LINGER, CONN_DEAD };

struct conn {
    struct worker *worker;
    struct stream stream;
    struct event on_read, on_write;
    struct http_parser parser;
    struct exchange *exchange;
    enum conn_state state;
    struct buf in;   /* an incomplete head, or a next request; empty otherwise */
    struct buf out;  /* unsent rest */
    size_t scanned;  /* of an incomplete head */
    uint64_t number; /* never used twice in a worker */
    int64_t deadline_ms, linger_until_ms;
    uint64_t window_bytes; /* body bytes since the deadline was set */
    int file;              /* being sent after `out`; -1: none */
    int64_t file_at, file_left;
    bool admin, reading, writing, keep_alive, http10, expects_continue, tls;
    bool body_paused;  /* the exchange takes no more body for now */
    bool close_after;  /* the reply says so, or the request was not read to its end */
    bool asked;        /* a request has begun on it */
    bool head_started; /* a first byte of the head has come: the header timeout runs */
    char peer[64];     /* the client's address, for the log */
    struct conn *prev, *next;
};

/* Takes over the socket. */
void conn_start(struct worker *w, int fd, const struct sockaddr_storage *peer,
                const struct worker_listener *l);

/* ---- for the exchange and the admin pages, while they answer ---- */

/* Sends the pieces in order; the rest that does not go out is kept. The client may be found gone by it; that
 * is reported to the exchange later, from the loop. */
void conn_send(struct conn *c, struct iovec *pieces, int count);
void conn_send_span(struct conn *c, struct span bytes);
/* Sends so much of an open file after what is unsent, and closes it. */
void conn_send_file(struct conn *c, int fd, int64_t from, int64_t length);
size_t conn_unsent(const struct conn *c);
/* The reply is complete: next request, or close. */
void conn_reply_done(struct conn *c);
/* Closes at once; `reset`: so that the client cannot take what it got for the whole. */
void conn_abort(struct conn *c, bool reset);
/* Whether the reply must carry "Connection: close". */
bool conn_will_close(const struct conn *c);
/* Stops and restarts taking the request's body. */
void conn_pause_body(struct conn *c, bool paused);
/* 100 Continue, once, when the client waits for it. */
void conn_continue(struct conn *c);
/* A whole small reply of Penstock's own. `extra`: further header lines, each with CR LF. */
void conn_reply(struct conn *c, int status, const char *media_type, const char *extra, struct span body,
                bool head_only);

/* ---- for the worker ---- */

/* Deadlines; called a few times a second. */
void conn_tick(struct conn *c, int64_t now_ms);
/* Drain: an idle connection is closed, a busy one after its reply. One on which a request may be under way,
 * since bytes wait or since it never had one, gets a moment for it. */
void conn_drain(struct conn *c);
/* Frees the memory of a dead one. */
void conn_free(struct conn *c);
const char *http_reason(int status);

#endif
