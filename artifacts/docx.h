#ifndef ARTIFACTS_DOCX_H
#define ARTIFACTS_DOCX_H
/*
 * Markdown as WordprocessingML (ISO/IEC 29500-1, part 17). docx_text.c writes what stands in a paragraph,
 * docx_block.c blocks, docx_parts.c the fixed parts, render_docx.c puts them together. Lengths are twentieths
 * of a point unless said otherwise. For penstock-worker alone.
 */
#include "artifacts/markdown.h"
#include "artifacts/office_image.h"
#include "artifacts/office_xml.h"

enum {
    DOCX_LEVEL = 360, /* indentation of a list's level */
    DOCX_LEVELS = 9,
    DOCX_QUOTE = 360,
    DOCX_CELLS = 200000,  /* of all tables together */
    DOCX_HEADINGS = 5000, /* with a bookmark */
    DOCX_SLUG = 96,
    DOCX_XML = 1 << 28,
    EMU = 635, /* of 1/20 pt */
    EMU_PIXEL = 9525,
};

/* Relationships of a part. */
struct docx_rels {
    struct buf xml;
    unsigned n;
};

struct docx_heading {
    const struct markdown_block *block;
    char slug[DOCX_SLUG];
    unsigned number; /* of its bookmark */
};

struct docx {
    const struct render_params *params;
    struct markdown *markdown;
    struct office_zip zip;
    struct buf body, notes; /* of document.xml, not written yet; of footnotes.xml */
    struct buf *to;         /* one of these */
    struct docx_rels body_rels, notes_rels, *rels;
    struct buf nums; /* of numbering.xml: one for each ordered list */
    unsigned nums_n;
    unsigned width, height; /* of the page */
    unsigned text_width, text_height;
    unsigned room;   /* width of what is being written: the page's text, or a cell */
    unsigned indent; /* of the block that is being written */
    unsigned quotes; /* it stands in */
    unsigned lists;
    unsigned drawings_n;
    struct office_pictures pictures;
    struct docx_heading *headings; /* in order */
    size_t headings_n, heading_next;
    struct docx_heading **by_slug;
    bool *noted; /* footnotes that were mentioned, by number - 1 */
    bool page;   /* the next paragraph begins a page */
    bool toc_done;
    size_t cells;
    char colour[7];
    const char *east_asian; /* a font */
    const char *east_asian_language;
    enum render_status status;
    const char *why;
};

/* What the paragraph of a block looks like, beside its style. */
struct docx_paragraph {
    const char *style; /* NULL: Normal */
    unsigned list;     /* number of the list's numbering; 0: no item's first paragraph */
    unsigned level;
    unsigned hanging; /* the first line stands out by so much */
    enum markdown_align align;
    bool rtl;
    bool table; /* in a cell */
    bool keep_next;
};

/* ---- docx_text.c ---- */
void docx_open_paragraph(struct docx *d, const struct docx_paragraph *p);
void docx_close_paragraph(struct docx *d);
/* `bold`: in a table's head. */
void docx_runs(struct docx *d, const struct markdown_run *runs, bool bold);
/* Text in a style of characters, or NULL. */
void docx_plain_run(struct docx *d, const char *properties, struct span text);
void docx_image(struct docx *d, struct office_image *image, struct span words);
/* Text without tags: tabs and line feeds as elements. */
void docx_text(struct buf *out, struct span text);
unsigned docx_relation(struct docx_rels *rels, const char *type, const char *target, bool external);

/* ---- docx_block.c ---- */
void docx_blocks(struct docx *d, const struct markdown_block *parent);
void docx_block(struct docx *d, const struct markdown_block *block);
void docx_refuse(struct docx *d, enum render_status status, const char *why);
/* Writes what is ready of the body. */
void docx_flush(struct docx *d);

/* ---- docx_parts.c ---- */
void docx_collect_headings(struct docx *d);
struct docx_heading *docx_heading_by_slug(const struct docx *d, struct span slug);
void docx_contents(struct docx *d);
void docx_content_types(struct docx *d);
void docx_styles(struct docx *d);
void docx_numbering(struct docx *d);
void docx_settings(struct docx *d);
void docx_footnotes(struct docx *d);
void docx_header_and_footer(struct docx *d);

#endif
