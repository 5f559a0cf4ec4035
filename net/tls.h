#ifndef NET_TLS_H
#define NET_TLS_H
/* TLS on listeners: a server context from PEM files, TLS 1.2 and later, ALPN http/1.1. */
#include <openssl/ssl.h>

#include "base/error.h"
#include "base/span.h"

/* NULL with *e saying "certificate FILE: why" or "key FILE: why", which also tells of a key with a passphrase
 * or one that belongs to another certificate. Free with SSL_CTX_free. */
SSL_CTX *tls_server_context(const char *certificate, const char *key, struct error *e) MUST_USE;
/* A server-side SSL over a connected non-blocking socket, in accept state, buffers released when idle. NULL:
 * out of memory. */
SSL *tls_accept(SSL_CTX *context, int fd) MUST_USE;

#endif
