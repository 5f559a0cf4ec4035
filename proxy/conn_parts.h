#ifndef PROXY_CONN_PARTS_H
#define PROXY_CONN_PARTS_H
/*
 * The files of which a client's connection is made: conn.c (life, states, what comes in, time) and
 * conn_write.c (what goes out). Nobody else includes this; the drawing of the states is in conn.h.
 */
#include "proxy/conn.h"

enum { WRITE_STALL_MS = 300000 /* a client that takes nothing at all for so long is gone */ };

/* ---- conn.c ---- */
/* The only writer of `state`, but for death the deadline's as well. */
void conn_enter(struct conn *c, enum conn_state state);
/* So many milliseconds from now. */
void conn_set_deadline(struct conn *c, int64_t ms);
/* Closes the socket and puts the connection on the worker's list of the dead; its exchange is not told.
 * `reset`: as in conn_abort. */
void conn_die(struct conn *c, bool reset);
/* The peer closed or broke the connection. */
void conn_gone(struct conn *c);
void conn_want_read(struct conn *c, bool want);
void conn_want_write(struct conn *c, bool want);
/* The socket's events, for libevent; `arg` is the connection. */
void conn_on_read(evutil_socket_t fd, short what, void *arg);

/* ---- conn_write.c ---- */
void conn_on_write(evutil_socket_t fd, short what, void *arg);
/* A request that cannot be read. Its API is not known, so the error has OpenAI's shape. Closes behind it. */
void conn_refuse(struct conn *c, const struct error *e);

#endif
