#ifndef BASE_BASE64_H
#define BASE_BASE64_H
/* base64 read: either alphabet, with or without padding, line breaks allowed (RFC 4648 §4, §5). */
#include "base/buf.h"

/* Appends the bytes. -1: not base64, or over the buffer's cap. *canonical: the text is in the standard
 * alphabet, padded, with nothing in between, and so just what an encoder makes of the bytes. */
int base64_read(struct span text, struct buf *out, bool *canonical) MUST_USE;
/* Likewise, as models and image providers write it: behind the head of a data: URL, and however it is padded.
 */
int base64_read_leniently(struct span text, struct buf *out) MUST_USE;

/* Whether the text is what an encoder makes of some bytes, *n of them; far quicker than reading it. */
bool base64_is_canonical(struct span text, size_t *n);

#endif
