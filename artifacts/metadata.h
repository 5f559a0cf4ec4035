#ifndef ARTIFACTS_METADATA_H
#define ARTIFACTS_METADATA_H
/*
 * The JSON object at the beginning of a directive as models write it: single, typographic or no quotes,
 * trailing commas, comments, line breaks in strings, Python's words (behaviours of comparable products). One
 * pass, no backtracking; what it writes is then read by a strict parser, which has the last word.
 */
#include "base/buf.h"

/*
 * Reads an object from the first byte of `text`, which is its `{`, and appends strict JSON. Answers the
 * length of what was read; 0: no end found within the text, or the buffer is full.
 */
size_t metadata_repair(struct span text, struct buf *out);
/*
 * The same for a content that is one object or array and nothing else: appends it as strict JSON. -1: it is
 * none that could be repaired. The result is still to be read by a strict parser.
 */
int metadata_repair_document(struct span text, struct buf *out) MUST_USE;

#endif
