#ifndef TESTS_UNIT_NET_TLS_FIXTURE_H
#define TESTS_UNIT_NET_TLS_FIXTURE_H
/*
 * Certificates made at test time, in a folder of their own that goes away at the end: an authority (ca.pem)
 * and, signed by it, right     localhost, *.good.test, 127.0.0.1, ::1 wrong     other.test expired   as
 * right, until an hour ago and self, as right but signed by itself. Keys beside them as *.key.
 */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "net/tls_socket.h"

static char fixture_folder[64];

/* Good for the next three calls. */
static const char *fixture_path(const char *name)
{
    static char paths[4][128];
    static unsigned next;
    char *path = paths[next++ % 4];
    snprintf(path, sizeof paths[0], "%s/%s", fixture_folder, name);
    return path;
}

static void fixture_save(const char *name, X509 *certificate, EVP_PKEY *key)
{
    char file[64];
    snprintf(file, sizeof file, "%s.pem", name);
    FILE *f = fopen(fixture_path(file), "w");
    assert_non_null(f);
    assert_int_equal(PEM_write_X509(f, certificate), 1);
    fclose(f);
    snprintf(file, sizeof file, "%s.key", name);
    f = fopen(fixture_path(file), "w");
    assert_non_null(f);
    assert_int_equal(PEM_write_PrivateKey(f, key, NULL, NULL, 0, NULL, NULL), 1);
    fclose(f);
}

static void fixture_extend(X509 *x, int what, const char *value)
{
    X509V3_CTX context;
    X509V3_set_ctx(&context, x, x, NULL, NULL, 0);
    X509_EXTENSION *e = X509V3_EXT_conf_nid(NULL, &context, what, value);
    assert_non_null(e);
    assert_int_equal(X509_add_ext(x, e, -1), 1);
    X509_EXTENSION_free(e);
}

/* names NULL: an authority. issuer NULL: signed by itself. */
static X509 *fixture_certificate(const char *name, const char *names, long ends, X509 *issuer,
                                 EVP_PKEY *issuer_key, EVP_PKEY **key_out)
{
    static long serial = 1;
    EVP_PKEY *key = EVP_EC_gen("P-256");
    X509 *x = X509_new();
    assert_true(key && x);
    X509_set_version(x, 2);
    ASN1_INTEGER_set(X509_get_serialNumber(x), serial++);
    X509_gmtime_adj(X509_getm_notBefore(x), -86400);
    X509_gmtime_adj(X509_getm_notAfter(x), ends);
    X509_set_pubkey(x, key);
    X509_NAME_add_entry_by_txt(X509_get_subject_name(x), "CN", MBSTRING_ASC, (const unsigned char *)name, -1,
                               -1, 0);
    X509_set_issuer_name(x, X509_get_subject_name(issuer ? issuer : x));
    fixture_extend(x, NID_basic_constraints, names ? "CA:FALSE" : "critical,CA:TRUE");
    if (names)
        fixture_extend(x, NID_subject_alt_name, names);
    assert_true(X509_sign(x, issuer_key ? issuer_key : key, EVP_sha256()) > 0);
    fixture_save(name, x, key);
    *key_out = key;
    return x;
}

static int fixture_start(void **state)
{
    (void)state;
    static const char *const names = "DNS:localhost,DNS:*.good.test,IP:127.0.0.1,IP:::1";
    static const struct {
        const char *name, *names;
        long ends;
        int self;
    } table[] = {
        {"right", names, 86400, 0},
        {"wrong", "DNS:other.test", 86400, 0},
        {"expired", names, -3600, 0},
        {"self", names, 86400, 1},
    };
    const char *temp = getenv("TMPDIR");
    snprintf(fixture_folder, sizeof fixture_folder, "%.40s/penstock-tls-XXXXXX",
             temp && *temp ? temp : "/tmp");
    if (!mkdtemp(fixture_folder))
        return -1;
    EVP_PKEY *ca_key, *key;
    X509 *ca = fixture_certificate("ca", NULL, 86400, NULL, NULL, &ca_key);
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
        X509 *x = fixture_certificate(table[i].name, table[i].names, table[i].ends, table[i].self ? NULL : ca,
                                      table[i].self ? NULL : ca_key, &key);
        X509_free(x);
        EVP_PKEY_free(key);
    }
    X509_free(ca);
    EVP_PKEY_free(ca_key);
    return 0;
}

static int fixture_end(void **state)
{
    static const char *const names[] = {"ca", "right", "wrong", "expired", "self"};
    (void)state;
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        char file[64];
        snprintf(file, sizeof file, "%s.pem", names[i]);
        unlink(fixture_path(file));
        snprintf(file, sizeof file, "%s.key", names[i]);
        unlink(fixture_path(file));
    }
    return rmdir(fixture_folder);
}

/* A listening socket on a port of 127.0.0.1 that the kernel chooses. */
static int fixture_listen(struct sockaddr_in *at)
{
    socklen_t n = sizeof *at;
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    *at = (struct sockaddr_in){.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
    assert_int_equal(bind(fd, (struct sockaddr *)at, sizeof *at), 0);
    assert_int_equal(listen(fd, 64), 0);
    assert_int_equal(getsockname(fd, (struct sockaddr *)at, &n), 0);
    return fd;
}

/* A client that verifies nothing. */
static inline SSL *fixture_client(SSL_CTX *context, int fd)
{
    SSL *ssl = SSL_new(context);
    assert_non_null(ssl);
    assert_int_equal(tls_socket_attach(ssl, fd), 0);
    SSL_set_connect_state(ssl);
    return ssl;
}

#endif
