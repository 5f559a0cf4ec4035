#ifndef NET_STREAM_H
#define NET_STREAM_H
/*
 * A connected, non-blocking byte stream: a socket, or TLS over one. Raw recv and send, no buffers of its own
 * (see relay-cost: one system call an event more would use up the margin). The owner watches `fd` with
 * libevent.
 *
 * TLS may want the other direction: after STREAM_AGAIN look at `wants_write` (wait for writability although a
 * read was tried) and `wants_read`, and after a read ask stream_pending whether decrypted bytes wait that no
 * readiness will announce.
 *
 * A TLS peer that goes away without saying so (no close_notify) is STREAM_BROKEN, not STREAM_EOF: the end may
 * have been cut off.
 */
#include <openssl/ssl.h>
#include <sys/types.h>
#include <sys/uio.h>

#include "base/span.h"

struct stream {
    int fd;           /* -1: closed */
    SSL *ssl;         /* NULL: plain */
    bool wants_write; /* the last read stopped because TLS must write */
    bool wants_read;  /* the last write stopped because TLS must read */
};

enum { STREAM_EOF = 0, STREAM_AGAIN = -1, STREAM_BROKEN = -2 };

static inline struct stream stream_closed(void)
{
    return (struct stream){.fd = -1};
}

/* Bytes read (> 0), STREAM_EOF, STREAM_AGAIN or STREAM_BROKEN. */
ssize_t stream_read(struct stream *s, void *room, size_t n) MUST_USE;
/* Bytes written (> 0, perhaps fewer), STREAM_AGAIN or STREAM_BROKEN. Never raises SIGPIPE. After STREAM_AGAIN
 * the next write must begin with the same bytes and be no shorter, from wherever in memory: TLS has encrypted
 * them already. */
ssize_t stream_write(struct stream *s, const void *p, size_t n) MUST_USE;
/* The same for several pieces; TLS writes the first. */
ssize_t stream_writev(struct stream *s, const struct iovec *v, int count) MUST_USE;
/* Bytes that are decrypted already. */
bool stream_pending(const struct stream *s);
/* Ends TLS without waiting and closes the socket. `reset`: with a TCP reset, so that the peer sees that what
 * it got was cut short. */
void stream_close(struct stream *s, bool reset);

#endif
