#ifndef PROXY_SIDE_CALL_H
#define PROXY_SIDE_CALL_H
/*
 * Calls that Penstock makes of its own accord, beside the requests that it relays: pictures, uploads,
 * transcripts, reports of errors. On the loop, over the worker's own client, so with its TLS, its proxies and
 * its pool of connections. The answer is collected whole and capped; a request goes out once. Nothing of it
 * is logged here: the caller knows what may be said.
 */
#include "base/buf.h"
#include "base/error.h"
#include "config/config.h"
#include "net/http_client.h"

struct side_call;

enum {
    SIDE_FIELD = 2048, /* bytes of the one field that is kept of an answer's head */
};

struct side_request {
    struct config *config; /* what is pointed to below lies in it; the call holds a reference. May be NULL */
    const char *host;      /* outlives the call */
    uint16_t port;
    bool tls;
    const char *host_header;
    int64_t connect_ms; /* for the connection alone */
    int64_t timeout_ms; /* for everything; 0: the caller sees to it */
    const char *method;
    struct span target;       /* path and query */
    struct span fields;       /* header lines, each with its line end: a key, for one. Copied; may be empty */
    const char *accept;       /* NULL: not said */
    const char *content_type; /* of the body; NULL: there is none */
    struct buf *body;         /* taken over; NULL: none */
    size_t answer_most;       /* bytes of the answer's body */
    const char *keep_field;   /* name of a field of the answer's head that is wanted; NULL */
};

struct side_answer {
    /* NULL: it came whole, whatever its status. Else UPSTREAM_UNREACHABLE, UPSTREAM_TIMEOUT or
     * UPSTREAM_INVALID, with a message that names host and port at most; the rest is not to be used then. */
    const struct error *failed;
    bool given_up;     /* with it: not the network's doing; its message is a clause about the answer alone */
    int status;        /* 0: no head came */
    struct buf *body;  /* may be taken with buf_move */
    struct span field; /* of keep_field; empty: not there, or too long */
};

/* Once, and never from inside side_call_start; the call is gone afterwards. */
typedef void (*side_done)(void *arg, const struct side_answer *answer);

/* Host, port and the like of a provider. */
void side_request_provider(struct side_request *r, struct config *config,
                           const struct config_provider *provider);
struct side_call *side_call_start(struct event_base *base, struct http_client *client,
                                  const struct side_request *r, side_done done, void *arg) MUST_USE;
/* No callback comes afterwards. NULL is fine. */
void side_call_cancel(struct side_call *call);

#endif
