#ifndef ATTACHMENTS_BASE64_H
#define ATTACHMENTS_BASE64_H
/* base64 as callers send it: either alphabet, with or without padding, line breaks allowed (RFC 4648 §4, §5).
 */
#include "base/buf.h"

/* Appends the bytes. -1: not base64, or over the buffer's cap. *canonical: the text is what base64_encode
 * would make of them. */
int base64_read(struct span text, struct buf *out, bool *canonical) MUST_USE;

/* Whether the text is what base64_encode would write of *n bytes; far quicker than reading it. */
bool base64_is_canonical(struct span text, size_t *n);

#endif
