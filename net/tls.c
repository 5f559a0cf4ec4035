#include "net/tls.h"

#include <openssl/err.h>

#include "net/tls_socket.h"

/* Never asks on a terminal: a key with a passphrase is refused like a broken one. */
static int no_passphrase(char *room, int n, int writing, void *arg)
{
    (void)room;
    (void)n;
    (void)writing;
    (void)arg;
    return -1;
}

/* A client that offers protocols and HTTP/1.1 not among them is told so (RFC 7301, 3.2). */
static int on_alpn(SSL *ssl, const unsigned char **out, unsigned char *out_n, const unsigned char *offered,
                   unsigned n, void *arg)
{
    static const unsigned char ours[] = "\x08http/1.1";
    unsigned char *chosen = NULL;
    (void)ssl;
    (void)arg;
    if (SSL_select_next_proto(&chosen, out_n, ours, sizeof ours - 1, offered, n) != OPENSSL_NPN_NEGOTIATED)
        return SSL_TLSEXT_ERR_ALERT_FATAL;
    *out = chosen;
    return SSL_TLSEXT_ERR_OK;
}

static SSL_CTX *refuse(SSL_CTX *context, struct error *e, const char *what, const char *path)
{
    unsigned long code = ERR_peek_last_error();
    const char *reason = code ? ERR_reason_error_string(code) : NULL;
    error_set(e, ERROR_BAD_REQUEST, "%s %.256s: %s", what, path, reason ? reason : "cannot be used");
    ERR_clear_error();
    SSL_CTX_free(context);
    return NULL;
}

SSL_CTX *tls_server_context(const char *certificate, const char *key, struct error *e)
{
    ERR_clear_error();
    SSL_CTX *c = SSL_CTX_new(TLS_server_method());
    if (!c || !SSL_CTX_set_min_proto_version(c, TLS1_2_VERSION))
        return refuse(c, e, "TLS with", certificate);
    SSL_CTX_set_options(c, SSL_OP_NO_COMPRESSION | SSL_OP_NO_RENEGOTIATION | SSL_OP_CIPHER_SERVER_PREFERENCE);
    /* Tickets carry the sessions; nothing is kept here. */
    SSL_CTX_set_session_cache_mode(c, SSL_SESS_CACHE_OFF);
    SSL_CTX_set_alpn_select_cb(c, on_alpn, NULL);
    SSL_CTX_set_default_passwd_cb(c, no_passphrase);
    if (SSL_CTX_use_certificate_chain_file(c, certificate) != 1)
        return refuse(c, e, "TLS certificate", certificate);
    if (SSL_CTX_use_PrivateKey_file(c, key, SSL_FILETYPE_PEM) != 1 || SSL_CTX_check_private_key(c) != 1)
        return refuse(c, e, "TLS key", key);
    return c;
}

SSL *tls_accept(SSL_CTX *context, int fd)
{
    SSL *ssl = SSL_new(context);
    if (!ssl)
        return NULL;
    if (tls_socket_attach(ssl, fd) != 0) {
        SSL_free(ssl);
        return NULL;
    }
    SSL_set_accept_state(ssl);
    return ssl;
}
