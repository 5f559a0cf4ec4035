#ifndef ATTACHMENTS_MARKUP_WRITE_H
#define ATTACHMENTS_MARKUP_WRITE_H
/* What markup.c (blocks, containers), markup_inline.c (a block's line), markup_table.c and
 * markup_columns.c share; nobody else includes it. */
#include "attachments/markup.h"

enum piece_kind { PIECE_TEXT, PIECE_VERBATIM, PIECE_BREAK, PIECE_LINK, PIECE_LINK_END };

struct piece {
    uint32_t at, n; /* in markup.text */
    uint8_t kind, style;
};

enum { MARKUP_FRAMES = 32, MARKUP_CONTAINERS = 64, MARKUP_MARKER = 32 };

/* A block that is open. */
struct frame {
    enum markup_block kind;
    unsigned level;
    uint32_t first_piece, first_byte;
    bool implicit;  /* begun by text outside of any block */
    bool linked;    /* inside a link */
    unsigned cells; /* tables that were open when it began */
};

struct container {
    uint32_t id; /* never the same again */
    bool quote, used;
    char marker[MARKUP_MARKER]; /* "": none */
};

struct table_cell {
    uint32_t at, n; /* in table.text */
};

struct table {
    struct buf text;           /* of its cells */
    struct buf cells;          /* struct table_cell */
    struct buf grid;           /* uint32_t, a cell's number for each place, row after row; */
    struct buf rows;           /* uint32_t, where each row begins in grid */
    struct buf spans;          /* struct table_span by column: cells that reach down into the next rows */
    struct buf edges;          /* int32_t, where each place of the grid ends, if its cell said so */
    uint32_t columns;          /* of the widest row */
    uint32_t cell, wide, high; /* the open cell */
    bool in_row, in_cell;
    unsigned base; /* containers that belong to what is around the table */
};

struct markup {
    struct buf *out;
    struct extraction *x;
    struct buf text, pieces, line;
    struct frame frames[MARKUP_FRAMES];
    unsigned n_frames, deep_frames; /* deep: begun beyond the room, counted only */
    struct container containers[MARKUP_CONTAINERS];
    unsigned n_containers, deep_containers;
    uint32_t ids;
    /* Of the block that was written last: */
    uint32_t last_ids[MARKUP_CONTAINERS];
    char last_markers[MARKUP_CONTAINERS][MARKUP_MARKER];
    unsigned n_last;
    bool last_tight; /* it was text in an item */
    bool written;
    struct table *tables[MARKUP_TABLE_DEPTH];
    unsigned n_tables, deep_tables;
    uint64_t cells; /* places in all grids */
    bool collapse, over;
    unsigned notes; /* that have a number */
    size_t begin;   /* of what this writer wrote, in out */
};

/* The innermost table, when one of its cells is open. */
struct table *markup_cell_of(const struct markup *m);
/* Ends the paragraph that text began by itself. */
void markup_flush(struct markup *m);
/* Writes a finished block where it belongs: lines parted by \n; `tight`: it is text. */
void markup_block_out(struct markup *m, struct span lines, bool tight);
/* The line(s) of a block's pieces, into m->line. */
void markup_compose(struct markup *m, const struct frame *frame, bool in_cell);
void markup_table_free(struct table *t);
/* Makes a grid of cells that said where they end. */
void markup_columns_fit(struct markup *m, struct table *t);

#endif
