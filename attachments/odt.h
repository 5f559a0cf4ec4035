#ifndef ATTACHMENTS_ODT_H
#define ATTACHMENTS_ODT_H
/*
 * What the readers of an OpenDocument text's pieces share (OASIS OpenDocument 1.3, part 3); extract_odt.c is
 * the outside. The document is in memory as a tree.
 */
#include "attachments/markup.h"
#include "attachments/xml.h"

enum {
    ODT_LEVELS = 10,    /* of lists and of headings */
    ODT_DEPTH = 64,     /* of what is written inside one another; deeper text is written there */
    ODT_REPEATS = 1000, /* of one row with text that says how often it comes */
    ODT_NOTES = 100000,
    ODT_LISTS = 1024 /* list styles whose numbers are counted */
};

/* ---- odt_styles.c ---- */

struct odt_style {
    const char *name, *family, *parent; /* parent NULL: none */
    unsigned look, says;                /* MARKUP_ bits that are on, and those that it says something about */
    int hidden;                         /* 0, 1; -1: not said */
    bool title, quote, code, resolved;
    const char *list; /* NULL: not said */
};

/* One level of a list style, or of the numbers of headings. */
struct odt_level {
    bool numbered;
    char format;                 /* '1', 'a', 'A', 'i', 'I'; 0: no number is shown */
    const char *before, *behind; /* the number; "" when not said */
    unsigned long start;
    unsigned shown; /* levels whose numbers are shown, this one included */
};

struct odt_list {
    const char *name; /* NULL: of headings */
    struct odt_level levels[ODT_LEVELS];
    unsigned long next[ODT_LEVELS]; /* numbers that come next; 0: the first one */
};

struct odt_styles {
    struct odt_style *list; /* by family and name */
    size_t n;
    struct odt_list *lists;
    size_t n_lists;
    struct odt_list headings;
};

/* Those of both parts; `content` is the root of content.xml. -1: broken or too many. */
int odt_styles_read(struct archive *a, const struct xml_node *content, struct arena *memory,
                    struct odt_styles *s);
/* With what it inherits; an unknown or NULL name has a style that says nothing. */
const struct odt_style *odt_style_find(const struct odt_styles *s, const char *family, const char *name);
/* NULL: there is none. */
struct odt_list *odt_list_find(struct odt_styles *s, const char *name);
/* Counts at the level (from 0) and appends the label as it is shown ("1.2", "b)"), nothing without a number.
 * `start`: 0, or the number that it begins with. Answers the level's own number. */
unsigned long odt_count(struct odt_list *list, unsigned level, unsigned long start, struct buf *label);

/* ---- odt_text.c, odt_block.c, odt_table.c ---- */

struct odt_note {
    const struct xml_node *body;
};

struct odt {
    struct archive *archive;
    struct extraction *x;
    struct markup *m;
    struct arena *memory;
    struct odt_styles styles;
    struct buf notes, comments; /* struct odt_note, in order */
    struct buf later; /* struct odt_note: text boxes and charts, after the paragraph that holds them */
    const char *lead; /* text before the next paragraph: whose comment it is; NULL: none */
    unsigned items;   /* list items that are open in this flow */
    bool code, quote; /* a fence, a quote is open in this flow */
    unsigned depth;
};

/* Blocks among the children of a node, in the flow that is open. -1: refused. */
int odt_blocks(struct odt *o, const struct xml_node *node);
/* Ends lists, quotes and code of the flow. */
void odt_flow_end(struct odt *o);
/* A flow of its own, inside of what is open. */
int odt_flow(struct odt *o, const struct xml_node *node);
/* What stands in a paragraph, and what was anchored to it. */
int odt_inline(struct odt *o, const struct xml_node *node, unsigned look);
/* A frame: a picture, a text box, a chart, an equation. `in_text`: a paragraph is open, and what is a block
 * of its own is put off. */
int odt_frame(struct odt *o, const struct xml_node *frame, bool in_text);
/* What was put off since there were `from` of them. */
int odt_later(struct odt *o, size_t from);
int odt_table(struct odt *o, const struct xml_node *table);
/* Foot- and endnotes, then comments, then headers and footers. */
int odt_notes(struct odt *o);

#endif
