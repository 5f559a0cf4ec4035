#ifndef FILTERS_BODY_H
#define FILTERS_BODY_H
/*
 * The text of an open directive, unescaped to UTF-8, with the beginning of what may become its closing marker
 * at its end. Over the cap it keeps what fits under it and the last BODY_LAST bytes, so that the marker can
 * still be cut off.
 */
#include <stdint.h>

#include "base/buf.h"

enum { BODY_LAST = 48 }; /* no marker, with what is cut off before it, is longer */

struct body {
    struct buf text;
    size_t max;
    bool too_large; /* some of it was thrown away */
};

/* Empties it; gives no memory back. */
void body_init(struct body *b, size_t max);
void body_free(struct body *b);
void body_add(struct body *b, const char *p, size_t n);
/* A character (filters/character.h). `high` is the one before it, if that was a high surrogate, or 0; it is
 * added with its low half, or as U+FFFD when something else follows. */
void body_add_character(struct body *b, uint32_t c, uint32_t high);
/* Nothing follows: a high surrogate stays alone. */
void body_add_lone(struct body *b, uint32_t high);
/* Its last bytes; n is at most BODY_LAST. */
struct span body_last(const struct body *b, size_t n);
/* Takes the last n bytes off, and then, before a closing marker, what models leave there: `<<<`, `<<</`,
 * `<<<END` … Cuts at the cap. */
void body_close(struct body *b, size_t n, bool closed);

#endif
