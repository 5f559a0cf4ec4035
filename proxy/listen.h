#ifndef PROXY_LISTEN_H
#define PROXY_LISTEN_H
/* Listening sockets, bound by the master and inherited by the workers. */
#include "config/config.h"

/*
 * One socket an address, non-blocking, TCP_NODELAY inherited by what it accepts. share: SO_REUSEPORT, so that
 * several may listen on one port; *port: in, the port to take instead of 0; out, the one it got. -1 with *e
 * naming the address.
 */
int listen_open(const struct config_address *address, bool share, uint16_t *port, struct error *e) MUST_USE;

#endif
