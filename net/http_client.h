#ifndef NET_HTTP_CLIENT_H
#define NET_HTTP_CLIENT_H
/*
 * HTTP/1.1 to upstreams: one client a worker, a pool of idle connections a target, one call a request. Raw
 * sockets, one shared read buffer, one read a readiness; a persistent read event for the life of a connection
 * and a write event only while something is unsent (relay-cost).
 *
 * Rules for callers. No callback comes from inside http_call_start; bytes may be given at once, they wait for
 * the connection. Callbacks may call any function here, http_call_cancel included. After `done`, or after
 * http_call_cancel, no callback comes and the call must not be used; it is freed after the loop turn. A
 * request of which one byte was written is never written again: only a pooled connection that refuses the
 * very first byte is replaced.
 */
#include <event2/event.h>
#include <event2/event_struct.h>

#include "base/buf.h"
#include "net/dial.h"
#include "net/http_parser.h"

struct http_client;
struct http_call;

/* Called in this order: connected, interim*, head, (body* read_end)*, done. On failure `done` may come at any
 * point. Those that are not needed may be NULL: connected, interim, trailer, writable. */
struct http_call_sink {
    /* A new connection is there; not called when the pool had one. */
    void (*connected)(void *arg);
    /* A 1xx reply other than 100 and 101. */
    void (*interim)(void *arg, const struct http_head *head);
    /* The reply's head; valid during the call. */
    void (*head)(void *arg, const struct http_head *head);
    void (*body)(void *arg, struct span bytes);
    void (*trailer)(void *arg, struct span name, struct span value);
    /* All bytes of one read are delivered: the moment to write. Not called after the read that ends the
     * reply; `done` is. */
    void (*read_end)(void *arg);
    /* What was unsent has gone out. */
    void (*writable)(void *arg);
    /* e is NULL when the reply came whole. */
    void (*done)(void *arg, const struct error *e);
};

/* `read_room`: LIMIT_READ bytes shared by the worker, used during one read. */
struct http_client *http_client_create(struct event_base *base, struct dialer *dialer, char *read_room,
                                       size_t idle_max) MUST_USE;
void http_client_destroy(struct http_client *c);
/* Closes pooled connections that were idle too long; call about once a second. */
void http_client_sweep(struct http_client *c, int64_t now_ms);
size_t http_client_idle(const struct http_client *c);

/* target->host must live as long as the call. `no_body`: a HEAD request. */
struct http_call *http_call_start(struct http_client *c, const struct dial_target *target, bool no_body,
                                  const struct http_call_sink *sink, void *arg) MUST_USE;
/* Sends the buffer's bytes; what does not go out at once stays with the call, the buffer is left empty. */
void http_call_give(struct http_call *call, struct buf *bytes);
/* Sends; the rest that does not go out is copied. */
void http_call_write(struct http_call *call, struct span bytes);
/*
 * Sends bytes that stay where they are. List and bytes must stay until released(arg) comes: once, on the
 * loop, perhaps from inside of http_call_lend, when all have gone out or the call is over. For requests that
 * are not to be copied: nothing has been given to the call before, and nothing is before the release.
 */
struct http_loan {
    const struct span *pieces;
    size_t n;
    void (*released)(void *arg);
    void *arg;
};
void http_call_lend(struct http_call *call, const struct http_loan *loan);
/* Bytes not sent yet. */
size_t http_call_unsent(const struct http_call *call);
/* The request is complete: without this the connection cannot be used again. */
void http_call_sent_all(struct http_call *call);
/* Stops and restarts reading; what was read already is still delivered. */
void http_call_pause(struct http_call *call, bool paused);
/* Closes the connection at once. NULL is fine. */
void http_call_cancel(struct http_call *call);

#endif
