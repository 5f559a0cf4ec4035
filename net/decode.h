#ifndef NET_DECODE_H
#define NET_DECODE_H
/*
 * Content codings that a provider used although it was asked for identity: gzip (and x-gzip, deflate), br,
 * zstd, as a stream. One decoder a reply; several codings ("gzip, br") are undone from the last to the first.
 */
#include "base/buf.h"
#include "base/span.h"

struct decoder;

enum { DECODE_CODINGS = 4 }; /* of one reply; a fifth is answered as if it were not known */

/* NULL: a coding that is not known; *unknown is then its name (a span of `codings`). An empty list or
 * "identity" gives a decoder that copies. */
struct decoder *decoder_create(struct span codings, struct span *unknown) MUST_USE;
void decoder_destroy(struct decoder *d);
/* Appends what the bytes decode to, as far as it can be decoded now (a flushed gzip stream gives each event
 * at once). At most `room` bytes are appended a call, and no more than `out` takes; *used says how much of
 * `in` was taken; call again with the rest (also with an empty rest while it answers 1). 1: more output may
 * wait, 0: all taken, -1: not valid (bytes behind the end of the coded stream included). */
int decoder_feed(struct decoder *d, struct span in, size_t room, size_t *used, struct buf *out) MUST_USE;
/* Whether the coded stream has come to its own end: a reply that ends before that was cut. Also true when not
 * one byte was fed: servers name a coding for empty bodies, too. */
bool decoder_complete(const struct decoder *d);

#endif
