#ifndef ARTIFACTS_UTF8_H
#define ARTIFACTS_UTF8_H
/* UTF-8 a character at a time (RFC 3629: no surrogates, no overlong forms, nothing over U+10FFFF). Pure. */
#include <stdint.h>

#include "base/buf.h"

enum { UTF8_INVALID = 0xfffd, UTF8_MAX = 4 };

/* The character at p (p < end) and in *n its bytes; for what is not valid UTF8_INVALID and *n = 1. */
uint32_t utf8_next(const char *p, const char *end, size_t *n);
bool utf8_valid(struct span text);
/* Writes one character (a surrogate becomes U+FFFD); answers how many bytes, at most UTF8_MAX. */
size_t utf8_put(uint32_t c, char out[UTF8_MAX]);
/* The longest beginning of `text` of at most `max` bytes that does not end inside a character. */
size_t utf8_cut(struct span text, size_t max);
/* Characters that show nothing: control, format, bidirectional, zero width, byte order mark, variation
 * selectors. */
bool utf8_invisible(uint32_t c);
/* White space that stands in a line: blank, tab, no-break space and their like. */
bool utf8_blank(uint32_t c);

#endif
