#include "net/dial_tls.h"

#include <openssl/err.h>
#include <openssl/x509v3.h>

#include "base/xalloc.h"
#include "net/dial_dns.h"
#include "net/tls_socket.h"

/* Where sessions are remembered. Never moved or given to another origin while `struct dial_tls` lives, since
 * connections point to them: a session that was made with one name must not spare another name its
 * verification. */
struct origin {
    struct origin *next;
    char *host;
    uint16_t port;
    SSL_SESSION *session;
};

struct dial_tls {
    SSL_CTX *context; /* NULL until the first dial */
    struct origin *origins;
    unsigned n;
};

struct dial_tls *dial_tls_create(void)
{
    return xcalloc(1, sizeof(struct dial_tls));
}

void dial_tls_destroy(struct dial_tls *tls)
{
    if (!tls)
        return;
    if (tls->context) {
        /* Connections that live on must not look for their origin any more. */
        SSL_CTX_sess_set_new_cb(tls->context, NULL);
        SSL_CTX_free(tls->context);
    }
    for (struct origin *o; (o = tls->origins);) {
        tls->origins = o->next;
        SSL_SESSION_free(o->session);
        xfree(o->host);
        xfree(o);
    }
    xfree(tls);
}

/* TLS 1.3 tickets come with the first bytes of replies, long after the dial. 1: the session is ours now. */
static int on_session(SSL *ssl, SSL_SESSION *session)
{
    struct origin *o = SSL_get_app_data(ssl);
    if (!o)
        return 0;
    SSL_SESSION_free(o->session);
    o->session = session;
    return 1;
}

static SSL_CTX *context_create(void)
{
    static const unsigned char alpn[] = "\x08http/1.1";
    SSL_CTX *c = SSL_CTX_new(TLS_client_method());
    if (!c)
        return NULL;
    if (!SSL_CTX_set_min_proto_version(c, TLS1_2_VERSION) || !SSL_CTX_set_default_verify_paths(c) ||
        SSL_CTX_set_alpn_protos(c, alpn, sizeof alpn - 1) != 0) {
        SSL_CTX_free(c);
        return NULL;
    }
    SSL_CTX_set_verify(c, SSL_VERIFY_PEER, NULL);
    SSL_CTX_set_options(c, SSL_OP_NO_COMPRESSION | SSL_OP_NO_RENEGOTIATION);
    SSL_CTX_set_session_cache_mode(c, SSL_SESS_CACHE_CLIENT | SSL_SESS_CACHE_NO_INTERNAL);
    SSL_CTX_sess_set_new_cb(c, on_session);
    return c;
}

static struct origin *origin_of(struct dial_tls *tls, const char *host, uint16_t port)
{
    for (struct origin *o = tls->origins; o; o = o->next)
        if (o->port == port && strcasecmp(o->host, host) == 0)
            return o;
    if (tls->n == DIAL_TLS_ORIGINS)
        return NULL;
    struct origin *o = xcalloc(1, sizeof *o);
    *o = (struct origin){tls->origins, xstrdup(host), port, NULL};
    tls->origins = o;
    tls->n++;
    return o;
}

/* Whom the certificate must name. */
static bool name_set(SSL *ssl, const char *host)
{
    char bare[DIAL_NAME + 1];
    union dial_address address;
    struct span name = span_str(host);
    bool literal = dial_address_parse(name, &address);
    if (literal && name.p[0] == '[')
        name = span_of(name.p + 1, name.n - 2);
    else if (name.n && name.p[name.n - 1] == '.')
        name.n--; /* certificates and SNI know no root label (RFC 6066, 3) */
    if (name.n == 0 || name.n >= sizeof bare)
        return false;
    memcpy(bare, name.p, name.n);
    bare[name.n] = '\0';
    if (literal)
        return X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(ssl), bare) == 1;
    SSL_set_hostflags(ssl, X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS);
    return SSL_set1_host(ssl, bare) == 1 && SSL_set_tlsext_host_name(ssl, bare) == 1;
}

SSL *dial_tls_start(struct dial_tls *tls, int fd, const char *host, uint16_t port, const char **why)
{
    ERR_clear_error();
    if (!tls->context)
        tls->context = context_create();
    SSL *ssl = tls->context ? SSL_new(tls->context) : NULL;
    if (!ssl) {
        *why = tls->context ? "out of memory" : "the trusted certificates cannot be loaded";
        goto fail;
    }
    if (!name_set(ssl, host)) {
        *why = "not a host name that a certificate can hold";
        goto fail;
    }
    if (tls_socket_attach(ssl, fd) != 0) {
        *why = "out of memory";
        goto fail;
    }
    struct origin *o = origin_of(tls, host, port);
    SSL_set_app_data(ssl, o);
    if (o && o->session)
        (void)SSL_set_session(ssl, o->session);
    SSL_set_connect_state(ssl);
    return ssl;
fail:
    SSL_free(ssl);
    ERR_clear_error();
    return NULL;
}

static const char *failure_text(const SSL *ssl)
{
    long verified = SSL_get_verify_result(ssl);
    unsigned long code = ERR_peek_error();
    const char *reason = code ? ERR_reason_error_string(code) : NULL;
    if (verified != X509_V_OK)
        return X509_verify_cert_error_string(verified);
    return reason ? reason : "the connection was closed";
}

enum dial_tls_step dial_tls_step(SSL *ssl, const char **why)
{
    const unsigned char *chosen = NULL;
    unsigned n = 0;
    ERR_clear_error();
    int done = SSL_do_handshake(ssl);
    switch (done == 1 ? SSL_ERROR_NONE : SSL_get_error(ssl, done)) {
    case SSL_ERROR_NONE:
        SSL_get0_alpn_selected(ssl, &chosen, &n);
        if (n == 0 || span_is(span_of((const char *)chosen, n), "http/1.1"))
            return DIAL_TLS_DONE;
        *why = "the server speaks another protocol than HTTP/1.1";
        break;
    case SSL_ERROR_WANT_READ:
        return DIAL_TLS_WANT_READ;
    case SSL_ERROR_WANT_WRITE:
        return DIAL_TLS_WANT_WRITE;
    default:
        *why = failure_text(ssl);
    }
    struct origin *o = SSL_get_app_data(ssl);
    if (o) {
        SSL_SESSION_free(o->session);
        o->session = NULL;
    }
    SSL_set_quiet_shutdown(ssl, 1);
    ERR_clear_error();
    return DIAL_TLS_FAILED;
}
