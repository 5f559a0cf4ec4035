#ifndef FILTERS_ITEMS_H
#define FILTERS_ITEMS_H
/*
 * A JSON array of objects that comes piece by piece, as Gemini streams without alt=sse: cut into blocks, one
 * an object. A block is everything from behind the object before it (the bracket, the comma, white space) to
 * the object's own end, so that writing all blocks one after the other gives the array back byte for byte;
 * what is left behind the last object is a block of its own. An object that stands in no array is a block as
 * well.
 */
#include <stdint.h>

#include "base/span.h"

/* Where the scan of a block stands; zero it to start. */
struct items_scan {
    size_t seen; /* bytes of the unfinished block that were looked at already */
    size_t depth;
    bool string, escaped;
};

/* Length of the first block of `bytes` (which begin at a block's start), or 0 when it is not complete; then
 * call again with the same bytes and more behind them. */
size_t items_block(struct items_scan *scan, struct span bytes);
/* What a block says. Of white space or brackets alone, or one cut short: no object (n = 0). */
struct items_parts {
    struct span lead;   /* what stands before the object */
    struct span object; /* to the block's end */
    bool comma, opens;  /* whether the lead holds a comma, and whether it opens the array */
    bool closes;        /* it ends the array: nothing but white space follows */
};

struct items_parts items_parse(struct span block);

#endif
