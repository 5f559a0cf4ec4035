#ifndef ARTIFACTS_PAGE_H
#define ARTIFACTS_PAGE_H
/*
 * Markdown on pages: a flow of lines from top to bottom that breaks into pages (page_flow.c), runs of text as
 * pango layouts (page_text.c), blocks (page_block.c) and tables (page_table.c). Lengths are points of 1/72
 * inch. For penstock-worker alone.
 */
#include <cairo-pdf.h>

#include "artifacts/draw.h"
#include "artifacts/markdown.h"
#include "jobs/renderer.h"

enum {
    PAGE_MAX = 2000,        /* of a document */
    PAGE_BARS = 32,         /* quotes within quotes */
    PAGE_PIECE = 16 * 1024, /* bytes that are laid out at once: pango's work grows faster than they do */
    PAGE_CELLS = 50000,     /* of a table */
    PAGE_HEADINGS = 20000,  /* in the outline */
    PAGE_LINK = 2048,       /* bytes of a target */
};

#define PAGE_MONO "Noto Sans Mono, DejaVu Sans Mono, monospace"

/* The mark of a list's item, drawn beside its first line. */
struct page_mark {
    char text[24]; /* empty: none */
    double edge;   /* its right edge; the left one where the item is written from right to left */
    bool rtl;
};

struct page {
    cairo_surface_t *surface;
    cairo_t *cr;
    const struct render_params *params;
    const struct markdown *markdown;
    double width, height, margin; /* of the sheet */
    double top, bottom;           /* where text begins and ends on it */
    double left, right;           /* where the current block does */
    double y;                     /* where the next line goes */
    double gap;                   /* white space wanted before it */
    unsigned number;              /* of the page, from 1 */
    bool blank;                   /* nothing is on it yet */
    bool over;                    /* the document is too long: nothing more is drawn */
    const char *tag;              /* the open leaf of the tagged structure, or NULL */
    struct {
        double x, from;
    } bars[PAGE_BARS]; /* beside quotes */
    unsigned n_bars;
    struct page_mark mark;
    char families[256], heading_families[256];
    const char *family, *heading_family;
    colour_t accent;
    cairo_surface_t *logo;
    double logo_width, logo_height;
    int outline[7]; /* the last entry of each level; 0: none */
    unsigned headings;
    unsigned lost; /* pictures that were not found */
    /* Links in the open leaf. They are written behind it: cairo 1.16 forgets a leaf's text once another
     * element stands within it. */
    struct page_area {
        double x, y, width, height;
        struct span href;
    } * areas;
    size_t n_areas, areas_room;
};

/* ---- page_flow.c ---- */

void page_begin(struct page *p);
/* Ends the last page. */
void page_finish(struct page *p);
void page_break(struct page *p);
/* Takes the wanted gap, then a new page when less than `height` is left on this one. */
void page_need(struct page *p, double height);
double page_left(const struct page *p);
/* White space before whatever comes next; the larger of several counts. */
void page_gap(struct page *p, double gap);
/* Leaves of the tagged structure: "P", "H1" …; the groups around them are the caller's. Ending one writes its
 * links. */
void page_tag(struct page *p, const char *tag);
void page_untag(struct page *p);
/* A link in the open leaf. */
void page_link_area(struct page *p, struct page_area area);
void page_group(struct page *p, const char *tag);
void page_ungroup(struct page *p, const char *tag);
void page_bar_open(struct page *p, double x);
void page_bar_close(struct page *p);
/* Draws the item's mark, if one waits, on this base line. */
void page_put_mark(struct page *p, double baseline);

/* ---- page_text.c ---- */

struct page_link {
    int from, to; /* bytes of the text */
    struct span href;
};

struct page_text {
    struct buf text;
    PangoAttrList *attributes;
    struct page_link *links;
    size_t n_links, room;
};

void page_text_init(struct page_text *t);
void page_text_free(struct page_text *t);
/* Adds runs up to (not including) `end`; a picture becomes its words. */
void page_text_add(struct page_text *t, const struct markdown_run *from, const struct markdown_run *end,
                   double size);
PangoLayout *page_text_layout(struct page *p, struct page_text *t, const struct text_style *style,
                              double width) MUST_USE;
/* One line of a layout with its upper edge at y: glyphs, and links where t is not NULL. Answers its height.
 */
double page_text_line(struct page *p, PangoLayoutIter *iter, const struct page_text *t, colour_t colour,
                      double x, double y);
/* All lines of a text, over as many pages as it takes; no line stands alone at a page's end or beginning. */
void page_text_flow(struct page *p, struct page_text *t, const struct text_style *style);
/* As page_text_flow for text of any length without styles. */
void page_plain_flow(struct page *p, struct span text, const struct text_style *style);

/* ---- page_block.c, page_table.c ---- */

void page_blocks(struct page *p, const struct markdown_block *first);
/* Footnotes, behind the text. */
void page_notes(struct page *p);
void page_table(struct page *p, const struct markdown_block *table);

#endif
