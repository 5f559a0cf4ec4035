#ifndef NET_DIAL_TLS_H
#define NET_DIAL_TLS_H
/*
 * The client's side of TLS: chain and name verified, TLS 1.2 and later, ALPN http/1.1, one session remembered
 * an origin so that the next connection to it needs no full handshake.
 */
#include <openssl/ssl.h>
#include <stdint.h>

#include "base/span.h"

enum { DIAL_TLS_ORIGINS = 256 }; /* origins with a remembered session; more are served without */

struct dial_tls;

/* Loads nothing yet: the trust store takes megabytes, and many installations dial no https upstream. */
struct dial_tls *dial_tls_create(void) MUST_USE;
/* Connections made with it may live on. */
void dial_tls_destroy(struct dial_tls *tls);

/* A client over a connected socket, before its handshake. NULL: out of memory, or the host is no name or
 * address; *why says so. */
SSL *dial_tls_start(struct dial_tls *tls, int fd, const char *host, uint16_t port, const char **why) MUST_USE;

enum dial_tls_step { DIAL_TLS_DONE, DIAL_TLS_WANT_READ, DIAL_TLS_WANT_WRITE, DIAL_TLS_FAILED };

/* Goes on with the handshake; *why is the reason of a failure, constant text. After a failure the origin's
 * session is forgotten. */
enum dial_tls_step dial_tls_step(SSL *ssl, const char **why);

#endif
