#ifndef ARTIFACTS_PPTX_H
#define ARTIFACTS_PPTX_H
/*
 * Markdown as PresentationML (ISO/IEC 29500-1, part 19). pptx_json.c turns slides in JSON into Markdown,
 * pptx_plan.c takes a document apart into slides and these into pages that hold what they are given,
 * pptx_draw.c writes a slide, pptx_parts.c the fixed parts, render_pptx.c puts them together. Lengths are
 * points. For penstock-worker alone.
 */
#include "artifacts/markdown.h"
#include "artifacts/office_image.h"
#include "artifacts/office_xml.h"

enum {
    PPTX_SLIDES = 300, /* of the file: a slide of the source may need several */
    PPTX_SOURCE_SLIDES = 100,
    PPTX_ITEMS = 20000,
    PPTX_XML = 1 << 26,
    PPTX_WIDTH = 960,
    PPTX_HEIGHT = 540,
    PPTX_LEFT = 48,
    PPTX_BODY_WIDTH = 864,
    PPTX_BODY_TOP = 112,
    PPTX_BODY_HEIGHT = 380,
    PPTX_POINT = 12700, /* EMU */
};

enum pptx_kind { ITEM_TEXT, ITEM_HEADING, ITEM_TABLE, ITEM_CODE, ITEM_IMAGE };
enum pptx_bullet { BULLET_NONE, BULLET_MARK, BULLET_NUMBER, BULLET_OPEN, BULLET_DONE };

/* Something that stands on a slide, below the one before. */
struct pptx_item {
    enum pptx_kind kind;
    const struct markdown_block *block;
    const struct markdown_run *runs; /* TEXT, HEADING */
    struct span code;                /* CODE: these lines of it */
    unsigned from, to;               /* TABLE: these rows, beside the head */
    unsigned level;
    enum pptx_bullet bullet;
    unsigned number;
    bool quote;
    unsigned image; /* IMAGE: its place in pptx.pictures */
    struct span words;
};

struct pptx_slide {
    const struct markdown_run *title; /* NULL: none */
    bool opening;                     /* the title of the whole */
    size_t first, n;                  /* of pptx.items */
    size_t notes, notes_n;            /* likewise */
    unsigned part;                    /* of a slide that takes several, from 1; 0: it takes one */
    double scale;                     /* of its letters */
};

struct pptx {
    const struct render_params *params;
    const struct markdown *markdown;
    struct office_zip zip;
    struct pptx_item *items;
    size_t items_n;
    struct pptx_slide slides[PPTX_SLIDES];
    size_t slides_n;
    struct office_pictures pictures;
    char colour[7];
    /* of the slide that is being written */
    struct buf xml, rels;
    unsigned rels_n, shapes;
    enum render_status status;
    const char *why;
};

void pptx_refuse(struct pptx *p, enum render_status status, const char *why);

/* ---- pptx_json.c ---- */
/* Appends the slides as Markdown. False: this is no JSON of slides. */
bool pptx_json(struct span document, struct buf *out) MUST_USE;

/* ---- pptx_plan.c ---- */
void pptx_plan(struct pptx *p);
/* Height of an item in letters of that scale, in that width. */
double pptx_item_height(const struct pptx *p, const struct pptx_item *item, double width, double scale);
/* Size of an item's letters. */
double pptx_letters(const struct pptx_item *item, double scale);

/* ---- pptx_draw.c ---- */
/* Writes slide `index` (from 0), its notes and their relations. */
void pptx_draw(struct pptx *p, size_t index);

/* ---- pptx_parts.c ---- */
void pptx_content_types(struct pptx *p);
void pptx_fixed_parts(struct pptx *p);
void pptx_presentation(struct pptx *p);

#endif
