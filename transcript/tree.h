#ifndef TRANSCRIPT_TREE_H
#define TRANSCRIPT_TREE_H
/* JSON texts as jansson's trees, the fast way for what is usual: an entry is read several times. */
#include <jansson.h>

#include "base/span.h"

enum { TREE_DEPTH = 200 };

/* The tree that json_loadb makes of the text; NULL when it makes none, and for what is not usual: nested
 * deeper than TREE_DEPTH, numbers that are no JSON integers of 64 bits where it cannot tell. The tree is the
 * caller's. */
json_t *tree_load(struct span text) MUST_USE;

#endif
