#include "net/tls.h"

#include <errno.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <sys/stat.h>
#include <unistd.h>

#include "net/tls_socket.h"

/* Never asks on a terminal. */
static int no_passphrase(char *room, int n, int writing, void *asked)
{
    (void)room;
    (void)n;
    (void)writing;
    *(bool *)asked = true;
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

/* What keeps a file from being read at all; NULL: nothing. */
static const char *unreadable(const char *path)
{
    struct stat st;
    if (stat(path, &st) < 0 || access(path, R_OK) < 0)
        return strerror(errno);
    return S_ISDIR(st.st_mode) ? "is a directory" : NULL;
}

static const char *openssl_reason(void)
{
    unsigned long code = ERR_peek_last_error();
    const char *said = code ? ERR_reason_error_string(code) : NULL;
    return said ? said : "cannot be used";
}

static SSL_CTX *refuse(SSL_CTX *context, struct error *e, const char *what, const char *path, const char *why)
{
    error_set(e, ERROR_BAD_REQUEST, "%s %.256s: %s", what, path, why);
    ERR_clear_error();
    SSL_CTX_free(context);
    return NULL;
}

/* NULL, or why not. */
static const char *load_certificate(SSL_CTX *c, const char *path)
{
    const char *why = unreadable(path);
    if (why || SSL_CTX_use_certificate_chain_file(c, path) == 1)
        return why;
    return ERR_GET_REASON(ERR_peek_last_error()) == ERR_R_PEM_LIB ? "holds no certificate in PEM form"
                                                                  : openssl_reason();
}

/* NULL, or why not. */
static const char *load_key(SSL_CTX *c, const char *path)
{
    bool has_passphrase = false;
    const char *why = unreadable(path);
    BIO *file = why ? NULL : BIO_new_file(path, "r");
    EVP_PKEY *key = file ? PEM_read_bio_PrivateKey(file, NULL, no_passphrase, &has_passphrase) : NULL;
    if (why)
        goto out;
    if (!key)
        why = has_passphrase ? "has a passphrase, which is not supported; store it without one"
                             : "holds no private key in PEM form";
    else if (EVP_PKEY_eq(X509_get0_pubkey(SSL_CTX_get0_certificate(c)), key) != 1)
        why = "does not belong to the certificate";
    else if (SSL_CTX_use_PrivateKey(c, key) != 1 || SSL_CTX_check_private_key(c) != 1)
        why = openssl_reason();
out:
    EVP_PKEY_free(key);
    BIO_free(file);
    return why;
}

SSL_CTX *tls_server_context(const char *certificate, const char *key, struct error *e)
{
    ERR_clear_error();
    SSL_CTX *c = SSL_CTX_new(TLS_server_method());
    if (!c || !SSL_CTX_set_min_proto_version(c, TLS1_2_VERSION))
        return refuse(c, e, "TLS with", certificate, openssl_reason());
    SSL_CTX_set_options(c, SSL_OP_NO_COMPRESSION | SSL_OP_NO_RENEGOTIATION | SSL_OP_CIPHER_SERVER_PREFERENCE);
    /* Tickets carry the sessions; nothing is kept here. */
    SSL_CTX_set_session_cache_mode(c, SSL_SESS_CACHE_OFF);
    SSL_CTX_set_alpn_select_cb(c, on_alpn, NULL);
    const char *why = load_certificate(c, certificate);
    if (why)
        return refuse(c, e, "certificate", certificate, why);
    why = load_key(c, key);
    return why ? refuse(c, e, "key", key, why) : c;
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
