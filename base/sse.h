#ifndef BASE_SSE_H
#define BASE_SSE_H
/*
 * Server-sent events as providers really send them (WHATWG HTML, "Server-sent events"; wire-formats.md 0.5):
 * line ends LF, CRLF or a lone CR, mixed; several data lines; comments; fields without a space after the
 * colon; a byte order mark at the start; a last event without its empty line. Framing only: bytes are cut
 * into blocks, none is changed.
 *
 * A block is everything from after the previous block's empty line to the end of its own empty line: comments
 * and unknown fields included, so that writing all blocks one after the other gives the stream back byte for
 * byte.
 */
#include <stdint.h>

#include "base/span.h"

/* Where the scan of a stream stands; zero it to start. Feed it bytes that continue where the last call's
 * consumed bytes ended. */
struct sse_scan {
    size_t seen;     /* bytes of the unfinished block that were looked at already: not scanned again */
    bool line_empty; /* no byte of the current line seen yet */
    bool after_cr;   /* last byte seen was a CR: an LF after it belongs to it */
    bool started;    /* false until the first byte of the stream was consumed */
    unsigned lines;  /* line ends of the block so far; after sse_block found an end: of that block, its empty
                        line not counted */
};

/*
 * Finds the end of the first block in `bytes` (which begins at a block's start). Answers the block's length,
 * or 0 when it is not complete yet; then call again with the same bytes and more behind them. A block that
 * ends with CR CR or LF CR is complete only when the byte after the CR is known or when `last` is true (an LF
 * after a CR belongs to the same line end). `last`: nothing comes after these bytes; an unfinished block is
 * then a block.
 */
size_t sse_block(struct sse_scan *scan, struct span bytes, bool last);

/* What a block says. Spans of the block; name is empty for no `event:` field. Of a field given twice the last
 * one counts; an id with a NUL in it does not. */
struct sse_fields {
    struct span name;
    struct span data;    /* from the first byte of the first data line's value to the end of the last one's */
    unsigned data_lines; /* 0: no data; 1: `data` is exactly the value; more: see sse_join */
    struct span id;
};

void sse_parse(struct span block, bool first_of_stream, struct sse_fields *out);
/* The same for a block that is one line and its empty line (sse_scan.lines == 1), which is how nearly all
 * come: nothing is searched. */
void sse_parse_line(struct span block, bool first_of_stream, struct sse_fields *out);
/*
 * For a block with several data lines: a copy of `data` of the same length and offsets, in which each line
 * end is LF and spaces, and field names, and lines of other fields in between, are spaces, so that it parses
 * like the joined value and every offset is also an offset in the block. `room` has at least data.n bytes.
 */
void sse_join(struct span data, char *room);

#endif
