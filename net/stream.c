#include "net/stream.h"

#include <errno.h>
#include <openssl/err.h>
#include <sys/socket.h>
#include <unistd.h>

static ssize_t result(ssize_t n)
{
    if (n >= 0)
        return n;
    return errno == EAGAIN || errno == EWOULDBLOCK ? STREAM_AGAIN : STREAM_BROKEN;
}

/* What a failed SSL_read_ex or SSL_write_ex means. After a fatal error nothing may be sent any more, not even
 * close_notify. */
static ssize_t tls_result(struct stream *s, bool *other_direction, int wants_other)
{
    int why = SSL_get_error(s->ssl, 0);
    *other_direction = why == wants_other;
    switch (why) {
    case SSL_ERROR_WANT_READ:
    case SSL_ERROR_WANT_WRITE:
        return STREAM_AGAIN;
    case SSL_ERROR_ZERO_RETURN:
        return STREAM_EOF;
    default:
        SSL_set_quiet_shutdown(s->ssl, 1);
        ERR_clear_error();
        return STREAM_BROKEN;
    }
}

static ssize_t tls_read(struct stream *s, void *room, size_t n)
{
    size_t got = 0;
    ERR_clear_error();
    s->wants_write = false;
    if (SSL_read_ex(s->ssl, room, n, &got))
        return (ssize_t)got;
    return tls_result(s, &s->wants_write, SSL_ERROR_WANT_WRITE);
}

static ssize_t tls_write(struct stream *s, const void *p, size_t n)
{
    size_t sent = 0;
    ERR_clear_error();
    s->wants_read = false;
    if (SSL_write_ex(s->ssl, p, n, &sent))
        return (ssize_t)sent;
    ssize_t why = tls_result(s, &s->wants_read, SSL_ERROR_WANT_READ);
    return why == STREAM_EOF ? STREAM_BROKEN : why;
}

ssize_t stream_read(struct stream *s, void *room, size_t n)
{
    if (s->ssl)
        return tls_read(s, room, n);
    ssize_t got;
    do
        got = recv(s->fd, room, n, MSG_DONTWAIT);
    while (got < 0 && errno == EINTR);
    return result(got);
}

ssize_t stream_write(struct stream *s, const void *p, size_t n)
{
    if (n == 0)
        return 0;
    if (s->ssl)
        return tls_write(s, p, n);
    ssize_t sent;
    do
        sent = send(s->fd, p, n, MSG_NOSIGNAL | MSG_DONTWAIT);
    while (sent < 0 && errno == EINTR);
    return result(sent);
}

ssize_t stream_writev(struct stream *s, const struct iovec *v, int count)
{
    while (count > 0 && v->iov_len == 0) {
        v++;
        count--;
    }
    if (count <= 0)
        return 0;
    if (s->ssl || count == 1)
        return stream_write(s, v->iov_base, v->iov_len);
    struct msghdr message = {.msg_iov = (struct iovec *)v, .msg_iovlen = (size_t)count};
    ssize_t sent;
    do
        sent = sendmsg(s->fd, &message, MSG_NOSIGNAL | MSG_DONTWAIT);
    while (sent < 0 && errno == EINTR);
    return result(sent);
}

/* Not SSL_has_pending, which also counts a record that has arrived in part and that only more bytes can
 * complete. */
bool stream_pending(const struct stream *s)
{
    return s->ssl && SSL_pending(s->ssl) > 0;
}

void stream_close(struct stream *s, bool reset)
{
    if (s->ssl) {
        ERR_clear_error();
        /* A cut connection must not look like an orderly end; quiet, the session still counts as fit for
         * reuse. */
        if (reset)
            SSL_set_quiet_shutdown(s->ssl, 1);
        if (SSL_is_init_finished(s->ssl))
            (void)SSL_shutdown(s->ssl);
        SSL_free(s->ssl);
        ERR_clear_error();
    }
    if (s->fd >= 0) {
        struct linger cut = {.l_onoff = 1, .l_linger = 0};
        if (reset)
            (void)setsockopt(s->fd, SOL_SOCKET, SO_LINGER, &cut, sizeof cut);
        close(s->fd);
    }
    *s = stream_closed();
}
