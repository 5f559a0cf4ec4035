#ifndef NET_QUERY_H
#define NET_QUERY_H
/* The query of a request's target: `name=value` parted by `&` (RFC 3986 §3.4, by convention). Nothing is
 * decoded. */
#include "base/span.h"

/* Cuts the next parameter off the front of *query, passing over empty ones; one without `=` has an empty
 * value. False: there is none left. */
bool query_next(struct span *query, struct span *name, struct span *value);

#endif
