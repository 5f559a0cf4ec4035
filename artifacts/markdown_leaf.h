#ifndef ARTIFACTS_MARKDOWN_LEAF_H
#define ARTIFACTS_MARKDOWN_LEAF_H
/* The state of a reading of Markdown, and the leaf that is being gathered; for markdown.c alone. */
#include "artifacts/markdown.h"
#include "artifacts/markdown_source.h"

enum { MARKDOWN_STYLES = 8 };

/* A run whose text is still being added to. */
struct markdown_piece {
    enum markdown_run_type type;
    unsigned style;
    size_t at, n; /* its text in reader.text */
    struct span href, source;
};

struct markdown_reader {
    struct markdown *markdown;
    struct markdown_source source;
    const char *wrong;
    size_t nodes;
    struct markdown_block *at;   /* the innermost open block that holds others */
    struct markdown_block *leaf; /* open */
    unsigned ignored;            /* open blocks that were too deep */
    unsigned depth;
    bool head;
    unsigned column;
    struct markdown_piece *pieces;
    size_t pieces_n, pieces_room;
    struct buf text;
    unsigned styles[MARKDOWN_STYLES], html_styles[MARKDOWN_STYLES];
    struct span href, html_href;
    unsigned image; /* open ones */
    struct span image_source;
    size_t image_at; /* where its words begin in `text` */
    bool soft;       /* a line of the source ended */
    bool page;       /* a page ends with this block */
    bool in_note;
};

/* Once; always -1. */
int markdown_leaf_refuse(struct markdown_reader *r, const char *why);
/* One more part; -1: there are too many. */
int markdown_leaf_count(struct markdown_reader *r);
/* Adds a block to the innermost open one. */
struct markdown_block *markdown_leaf_block(struct markdown_reader *r, enum markdown_type type);
void markdown_leaf_style(unsigned counts[MARKDOWN_STYLES], unsigned style, bool begins);
struct markdown_piece *markdown_leaf_piece(struct markdown_reader *r, enum markdown_run_type type);
/* Nothing happens while no leaf is open. */
void markdown_leaf_text(struct markdown_reader *r, struct span text);
void markdown_leaf_break(struct markdown_reader *r);
void markdown_leaf_begin(struct markdown_reader *r, enum markdown_type type);
/* Moves what was gathered into the document. */
void markdown_leaf_end(struct markdown_reader *r);

#endif
