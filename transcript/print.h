#ifndef TRANSCRIPT_PRINT_H
#define TRANSCRIPT_PRINT_H
/*
 * JSON as it stands in files: one blank of indentation a level, ": " after keys, UTF-8 as it is, numbers as
 * they are spelt. Works on texts, not on trees.
 */
#include "base/buf.h"

/* A quoted string. */
void print_string(struct span text, struct buf *out);
/* The value, printed anew; lines after the first are indented for `level`. -1: it is none, or the buffer is
 * full. */
int print_json(struct span value, unsigned level, struct buf *out) MUST_USE;
/* A member of a document that is an object; false: none, or the document is not strictly JSON. */
bool print_find(struct span document, const char *name, struct span *value);
/*
 * The document, which is an object, printed anew with one member set (at its place, or at the end), or with
 * an empty value taken out. -1: no object, or the buffer is full.
 */
int print_with(struct span document, const char *name, struct span value, struct buf *out) MUST_USE;
/* Whether two documents are the same objects when this member is left out of both, after printing. */
bool print_same_without(struct span a, struct span b, const char *name);

#endif
