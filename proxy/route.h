#ifndef PROXY_ROUTE_H
#define PROXY_ROUTE_H
/* Where a request goes (product.md §2.1). Pure. */
#include "base/api.h"
#include "base/buf.h"
#include "config/config.h"

struct route {
    const struct config_provider *provider; /* NULL: no known prefix and no default provider */
    struct span rest;                       /* what is appended to the provider's base path: path and query */
    struct span path;                       /* the path of it, without query */
    struct span query;                      /* after the question mark; may be empty */
    enum api api;
    bool stored; /* a stored reply is fetched again: only the reply side applies */
};

/* `target` as in the request line, in origin or absolute form. -1: neither ("*", an authority). */
int route_find(const struct config *c, struct span method, struct span target, struct route *out) MUST_USE;

#endif
