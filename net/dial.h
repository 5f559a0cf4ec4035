#ifndef NET_DIAL_H
#define NET_DIAL_H
/*
 * From a host name to a connected stream, without blocking the loop: DNS (libevent's evdns, with /etc/hosts
 * and a small cache), each address in turn with a head start of 250 ms (RFC 8305), TCP_NODELAY, a CONNECT
 * proxy where HTTPS_PROXY says so (NO_PROXY respected), TLS with verification of chain and name, ALPN
 * http/1.1, session reuse.
 */
#include <event2/event.h>

#include "base/error.h"
#include "net/stream.h"

struct dialer;
struct dial;

/* Made once a worker. The process's trust store (SSL_CERT_FILE and SSL_CERT_DIR respected) is loaded when the
 * first https upstream is dialled. */
struct dialer *dialer_create(struct event_base *base) MUST_USE;
/* Cancels what is under way; streams that were handed out live on. The last of a name lookup is given back in
 * the loop's next turn. */
void dialer_destroy(struct dialer *d);

struct dial_target {
    const char *host; /* name or literal address; must live until the end of the dial */
    uint16_t port;
    bool tls;
    int64_t timeout_ms; /* all steps together */
};

/* Exactly one call, never from inside dial_start: on success `s` is a connected stream that the callee now
 * owns, on failure `s` is NULL and `e` says why (UPSTREAM_UNREACHABLE, UPSTREAM_TIMEOUT) without naming more
 * than host and port. */
typedef void (*dial_cb)(void *arg, const struct stream *s, const struct error *e);

/* NULL: out of memory; there is no call then. */
struct dial *dial_start(struct dialer *d, const struct dial_target *target, dial_cb done, void *arg) MUST_USE;
/* No callback comes after it. */
void dial_cancel(struct dial *dial);

#endif
