#ifndef PROVIDERS_SHAPE_H
#define PROVIDERS_SHAPE_H
/*
 * What dialects have in common when they write events and errors of Penstock's own. Such an event repeats
 * what the provider's events of that reply say of it (id, model …); that is kept in a shape, a few bytes that
 * begin with what the dialect wants to find again and go on with the members as an event has them, each with
 * a comma behind it.
 */
#include <stdint.h>

#include "base/buf.h"
#include "base/error.h"
#include "base/span.h"

/* Appends `"key":value,`, unless the value is an object, an array or longer than a name or an id is: values
 * come from the provider and go out again. `key`: the inside of its quotes, as it is to be spelt. */
void shape_add(struct span key, struct span value, struct buf *out);
/* Appends those of the object's members that have one of the `n` names; `strings`: only if they are one. What
 * is no object has none. */
void shape_keep(struct span object, const char *const *names, size_t n, bool strings, struct buf *out);

/* Begins a shape whose first part is the number of a channel. */
void shape_begin(uint32_t channel, struct buf *out);
/* The members in such a shape; *channel: the digits of its number, 0 for an empty one, which has no members
 * (n = 0). */
struct span shape_members(struct span shape, struct span *channel);

/* `"code":"…"` and, if there are any, `,"details":{…}`: what Penstock's callers find in the errors of most
 * APIs. */
void shape_error_members(const struct error *e, struct buf *out);
/* An error event as an event stream has it. name: of the event, NULL: it goes without; end: of a line. */
void shape_error_event(const struct error *e, void (*body)(const struct error *e, struct buf *out),
                       const char *name, const char *end, struct buf *out);

/* What an API calls errors of a status. */
struct shape_error_name {
    int status;
    const char *name;
};
/* The name in the table; else `client` for a status below 500, `server` from there on. */
const char *shape_error_name(const struct error *e, const struct shape_error_name *table, size_t n,
                             const char *client, const char *server);

#endif
