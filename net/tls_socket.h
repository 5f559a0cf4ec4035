#ifndef NET_TLS_SOCKET_H
#define NET_TLS_SOCKET_H
/*
 * What OpenSSL reads from and writes to, on both sides. OpenSSL's own socket BIO writes with write(2), which
 * raises SIGPIPE when the peer is gone; this one sends with MSG_NOSIGNAL and never blocks.
 */
#include <openssl/ssl.h>

#include "base/span.h"

/* Puts `ssl` over a connected socket, which stays the caller's, and sets the modes that net/stream.h relies
 * on: partial writes, retries from another address, buffers given back when idle. -1: out of memory. */
int tls_socket_attach(SSL *ssl, int fd) MUST_USE;

#endif
