#ifndef ATTACHMENTS_MARKUP_H
#define ATTACHMENTS_MARKUP_H
/*
 * Writes Markdown for a model: what every reader of documents says when it has found a heading, a paragraph,
 * a list item or a table. The writer knows about blank lines, indentation, merged and trimmed emphasis, and
 * what becomes of a block inside a table's cell; the reader knows about its format.
 *
 *   markup_begin(m, MARKUP_HEADING, 2); markup_text(m, SPAN_LIT("Scope"), MARKUP_BOLD); markup_end(m);
 *   markup_item(m, "-"); markup_begin(m, MARKUP_PARAGRAPH, 0); … markup_end(m); markup_leave(m);
 *
 * Text is not escaped, but for `|` in a cell: the model shall read the document's own characters. Blocks
 * without anything in them are left out. Everything is capped by the caps of `out` and EXTRACT_TEXT; once
 * one of them is passed nothing more is written, and markup_finish says so.
 */
#include "attachments/extraction.h"
#include "base/buf.h"
#include "base/span.h"

enum markup_block {
    MARKUP_PARAGRAPH,
    MARKUP_HEADING, /* level 1 to 6; others are moved there */
    MARKUP_CODE,    /* a fence; line ends and tabs stay */
};

/* How text looks; bits. None of BOLD, ITALIC, STRIKE shows in a heading. */
enum {
    MARKUP_BOLD = 1,   /* **x** */
    MARKUP_ITALIC = 2, /* *x* */
    MARKUP_STRIKE = 4, /* ~~x~~ */
    MARKUP_SUPER = 8,  /* <sup>x</sup> */
    MARKUP_SUB = 16,   /* <sub>x</sub> */
    MARKUP_MONO = 32,  /* `x` */
};

enum {
    MARKUP_SPAN = 1000,      /* columns that one cell may be wide; more are taken for as many (as in HTML) */
    MARKUP_COLUMNS = 16384,  /* of one table, past which it is refused */
    MARKUP_CELLS = 1000000,  /* of all tables, repeated ones included, past which the document is refused */
    MARKUP_TABLE_DEPTH = 32, /* tables inside tables; text of deeper ones is written without their grid */
};

struct markup;

/* Both must outlive it; `out` has a cap. */
struct markup *markup_create(struct buf *out, struct extraction *x);
/* Closes what is open and ends with one line end (none when nothing was written). -1: refused, x says why. */
int markup_finish(struct markup *m);
/* NULL is fine. */
void markup_destroy(struct markup *m);
/* Runs of white space count as one blank from here on, also between runs of text (HTML). Not in code. */
void markup_collapse(struct markup *m, bool on);
/* Whether it goes on at all; asked now and then by readers of endless documents. */
bool markup_stopped(const struct markup *m);

/* Blocks. One may begin while another is open (a text box in a paragraph): it is written first. Text outside
 * of any block begins a paragraph, which ends when a block, container or table begins or ends. */
void markup_begin(struct markup *m, enum markup_block kind, unsigned level);
void markup_end(struct markup *m);
/* Whether a block has been begun and not ended. */
bool markup_open(const struct markup *m);
/* A block whose text is written as it is: "<!-- Slide number: 1 -->". In a cell, too. */
void markup_line(struct markup *m, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* The same of text that is there already, of one line or several. */
void markup_raw(struct markup *m, struct span lines);
/* Each line as a quote of its own: what a document says around its text. */
void markup_quotes(struct markup *m, struct span lines);

/* What stands in a block. */
void markup_text(struct markup *m, struct span text, unsigned style);
/* As it is, not trimmed nor collapsed: "$x^2$". */
void markup_verbatim(struct markup *m, struct span text);
void markup_break(struct markup *m);
/* Until markup_link_end. A link without text leaves nothing; one inside of a link is ignored. */
void markup_link(struct markup *m, struct span url);
void markup_link_end(struct markup *m);
/* How a link ends, "](address)", for who writes lines of its own; an address with blanks or unbalanced
 * parentheses goes into <…>. */
void markup_target(struct buf *out, struct span url, bool in_cell);
void markup_image(struct markup *m, struct span alt, struct span name);
/* The number of the next note, counted through the whole text from 1. */
unsigned markup_note_next(struct markup *m);
/* [^3] */
void markup_note(struct markup *m, unsigned number);

/* Containers, around blocks. */
void markup_quote(struct markup *m);
/* `marker`: "-", "3.", "[^1]:", at most 30 bytes, before the first block; the others are indented by four
 * blanks. NULL: indented only. */
void markup_item(struct markup *m, const char *marker);
/* Ends the innermost container. */
void markup_leave(struct markup *m);
/* Containers that are open; counted anew inside a cell. */
unsigned markup_depth(const struct markup *m);

/* Tables. The first row is the head, short rows are padded, what spans cells is repeated in each of them. In
 * a cell blocks are joined by <br>; a table in a cell becomes lines, its cells parted by `\|`. */
void markup_table(struct markup *m);
void markup_row(struct markup *m);
/* Until markup_cell_end. Spans of 0 count as 1; rows may be more than there are. */
void markup_cell(struct markup *m, unsigned columns, unsigned rows);
void markup_cell_end(struct markup *m);
/* A cell that goes on with the one above it: the same text again. */
void markup_cell_above(struct markup *m, unsigned columns);
/* Where the last `n` columns of the row end, from its left, in any unit finer than a millimetre (RTF: twips):
 * once for each. If all cells of a table say so, they fill the columns that they reach across. */
void markup_cell_edges(struct markup *m, const int32_t *right, unsigned n);
void markup_table_end(struct markup *m);

#endif
