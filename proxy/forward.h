#ifndef PROXY_FORWARD_H
#define PROXY_FORWARD_H
/*
 * Heads as they are passed on (product.md §§2.2, 4.4): same names, order and values but for hop-by-hop
 * fields, Host, framing and what begins with X-HW-. Framing is written by the sender. Pure.
 */
#include "base/buf.h"
#include "config/config.h"
#include "net/http_head.h"

/* A field between the caller and Penstock, X-HW-…, which goes no further. */
static inline bool forward_is_own_field(struct span name)
{
    return name.n >= 5 && (name.p[0] | 0x20) == 'x' && strncasecmp(name.p, "X-HW-", 5) == 0;
}

struct forward_request {
    const struct config_provider *provider;
    struct span rest;    /* path and query after the provider's base path */
    const char *api_key; /* Penstock's own, in place of the caller's; NULL */
};

/* Request line and fields, without framing fields and without the empty line. */
void forward_request_head(const struct http_head *head, const struct forward_request *f, struct buf *out);

/* Appends the field in which the provider's dialect wants a key. */
void forward_add_key(struct buf *out, const struct config_provider *provider, const char *key);

/* Appends the fields of such a head that say who pays: keys and what is charged with them, whole lines.
 * Whether a key is among them. */
bool forward_account(struct span head, struct buf *out);

/* Copies such a head, asking for no content coding: the reply will be filtered. */
void forward_ask_identity(struct span head, struct buf *out);

struct forward_reply {
    const char *consult; /* id for X-HW-Consult-Id; NULL: no consult */
    bool streamed;       /* adds X-Accel-Buffering: no where the provider says nothing else */
    bool decoded;        /* Content-Encoding was undone */
    bool rewritten;      /* the body may differ: fields that describe its bytes go */
};

/* Status line and fields, without framing fields and without the empty line. */
void forward_reply_head(const struct http_head *head, const struct forward_reply *f, struct buf *out);

#endif
