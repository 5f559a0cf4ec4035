#ifndef TRANSCRIPT_CLEAN_H
#define TRANSCRIPT_CLEAN_H
/* JSON that a strict parser refuses, made such that it does not: in one pass, without a stack. */
#include "base/buf.h"

enum { CLEAN_DEPTH = 500 };

/*
 * Appends the text. Values that lie deeper than CLEAN_DEPTH, numbers that fit no type, NaN and Infinity
 * become null; lone surrogates, NUL and what is no UTF-8 become U+FFFD; control characters in strings are
 * escaped; a byte order mark goes. What is no JSON besides stays none. At most six times as long as the text.
 */
void clean_json(struct span text, struct buf *out);

#endif
