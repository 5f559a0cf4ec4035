#include "net/tls_socket.h"

#include <errno.h>
#include <openssl/bio.h>
#include <openssl/crypto.h>
#include <stdint.h>
#include <sys/socket.h>

/* Written once, by the first connection; OpenSSL offers no way to have a constant method table. */
static CRYPTO_ONCE method_once = CRYPTO_ONCE_STATIC_INIT;
static BIO_METHOD *method;

static int fd_of(BIO *bio)
{
    return (int)(intptr_t)BIO_get_data(bio);
}

static bool again(ssize_t got)
{
    return got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK);
}

static int socket_read(BIO *bio, char *room, int n)
{
    ssize_t got;
    BIO_clear_retry_flags(bio);
    do
        got = recv(fd_of(bio), room, (size_t)n, MSG_DONTWAIT);
    while (got < 0 && errno == EINTR);
    if (again(got))
        BIO_set_retry_read(bio);
    else if (got == 0)
        BIO_set_flags(bio, BIO_FLAGS_IN_EOF);
    return (int)got;
}

static int socket_write(BIO *bio, const char *p, int n)
{
    ssize_t sent;
    BIO_clear_retry_flags(bio);
    do
        sent = send(fd_of(bio), p, (size_t)n, MSG_NOSIGNAL | MSG_DONTWAIT);
    while (sent < 0 && errno == EINTR);
    if (again(sent))
        BIO_set_retry_write(bio);
    return (int)sent;
}

static long socket_ctrl(BIO *bio, int command, long number, void *p)
{
    (void)number;
    (void)p;
    switch (command) {
    case BIO_CTRL_FLUSH:
    case BIO_CTRL_DUP:
        return 1;
    case BIO_CTRL_EOF:
        return BIO_test_flags(bio, BIO_FLAGS_IN_EOF) != 0;
    default:
        return 0;
    }
}

static void method_make(void)
{
    BIO_METHOD *made = BIO_meth_new(BIO_get_new_index() | BIO_TYPE_SOURCE_SINK, "socket without SIGPIPE");
    if (!made)
        return;
    BIO_meth_set_read(made, socket_read);
    BIO_meth_set_write(made, socket_write);
    BIO_meth_set_ctrl(made, socket_ctrl);
    method = made;
}

int tls_socket_attach(SSL *ssl, int fd)
{
    if (!CRYPTO_THREAD_run_once(&method_once, method_make) || !method)
        return -1;
    BIO *bio = BIO_new(method);
    if (!bio)
        return -1;
    BIO_set_data(bio, (void *)(intptr_t)fd);
    BIO_set_init(bio, 1);
    SSL_set_bio(ssl, bio, bio);
    SSL_set_mode(ssl, SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER |
                          SSL_MODE_RELEASE_BUFFERS);
    return 0;
}
