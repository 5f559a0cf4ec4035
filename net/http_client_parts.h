#ifndef NET_HTTP_CLIENT_PARTS_H
#define NET_HTTP_CLIENT_PARTS_H
/*
 * The files of which the HTTP client is made: http_client.c (calls: reading, their ends), http_send.c
 * (writing) and http_pool.c (connections between two calls). Nobody else includes this.
 */
#include <stdint.h>

#include "net/http_client.h"

/* A connection to an upstream: serves one call at a time, waits in the pool between calls. */
struct link {
    struct http_client *client;
    struct stream stream;
    struct event on_read, on_write;
    struct http_parser parser;
    struct http_call *call; /* NULL: idle or dead */
    struct buf unsent;
    struct buf head; /* an incomplete head; empty otherwise */
    size_t head_scanned;
    char *host; /* with port and tls: whom it is connected to */
    uint16_t port;
    int64_t idle_since, idle_max;
    bool paused, writing, write_broken, dead;
    struct link *prev, *next; /* the pool, or the dead */
};

struct http_call {
    struct http_client *client;
    struct dial_target target;
    const struct http_call_sink *sink;
    void *arg;
    struct dial *dial;
    struct link *link;
    struct buf pending;    /* what to send once there is a connection */
    struct http_loan loan; /* its pieces that have not gone out whole; n = 0: nothing is lent */
    size_t loan_from;      /* bytes of the first of these that have gone out */
    size_t loan_left;      /* bytes of all of them that have not */
    bool no_body, headed, wrote, sent_all, reused, over, undialled;
    struct http_call *next; /* the dead, or those that could not be dialled */
};

struct http_client {
    struct event_base *base;
    struct dialer *dialer;
    char *read_room;
    struct http_head *head_room;
    struct link *idle; /* most recently used first */
    size_t idle_n, idle_max;
    struct link *dead_links;
    struct http_call *dead_calls, *undialled;
    struct event *reap;
};

/* ---- http_client.c ---- */
/* Closes it; freed after the loop turn. Not one that is in the pool. */
void http_link_close(struct link *link);
void http_link_on_read(evutil_socket_t fd, short what, void *arg);
/* Connects it to its target. */
void http_call_dial(struct http_call *call);

/* ---- http_send.c ---- */
void http_link_on_write(evutil_socket_t fd, short what, void *arg);
void http_link_want_write(struct link *link, bool want);
/* There is a connection: sends what waited for it. */
void http_call_send_waiting(struct http_call *call);
/* What is lent goes back to its owner. */
void http_call_release(struct http_call *call);

/* ---- http_pool.c ---- */
/* Of a connection whose server has not said how long it keeps it: milliseconds that it may be idle. */
int64_t http_pool_idle_max(bool tls);
/* What the server says: Keep-Alive: timeout=N, less a second. */
void http_pool_note_keep_alive(struct link *link, const struct http_head *head);
/* Its call is over. Over the pool's size the one that waits longest is closed. */
void http_pool_add(struct link *link);
void http_pool_remove(struct link *link);
/* The most recently used connection to that target that is still open, out of the pool; NULL: there is
 * none. */
struct link *http_pool_take(struct http_client *c, const struct dial_target *t) MUST_USE;

#endif
