#ifndef PROXY_LISTEN_H
#define PROXY_LISTEN_H
/* Listening sockets, bound by the master and inherited by the workers. */
#include "config/config.h"
#include "net/tls.h"

/*
 * One socket an address, non-blocking, TCP_NODELAY inherited by what it accepts. share: SO_REUSEPORT, so that
 * several may listen on one port; *port: in, the port to take instead of 0; out, the one it got. -1 with *e
 * naming the address.
 */
int listen_open(const struct config_address *address, bool share, uint16_t *port, struct error *e) MUST_USE;

/*
 * A TLS context a configured listener, NULL for those without TLS: loaded once, before anything starts, so
 * that what was checked is what runs (a worker that is replaced while certificates are being renewed too),
 * and so that a session's ticket is good at every worker. NULL with *e naming line and key of the
 * configuration, and the file.
 */
SSL_CTX **listen_open_tls(const struct config *c, struct error *e) MUST_USE;
void listen_close_tls(SSL_CTX **tls, size_t n);

#endif
