#ifndef ATTACHMENTS_SLIDE_H
#define ATTACHMENTS_SLIDE_H
/*
 * What the readers of a presentation's pieces share (ISO/IEC 29500-1, 19 and 21.1); extract_pptx.c is the
 * outside. One slide at a time is in memory.
 */
#include "attachments/markup.h"
#include "attachments/office_package.h"
#include "attachments/xml.h"
#include "base/span.h"

enum {
    SLIDE_LEVELS = 9,    /* of a list (ST_TextIndentLevelType) */
    SLIDE_SHAPES = 4096, /* of one slide, groups looked through, past which it is refused */
    SLIDE_GROUPS = 32    /* groups inside one another */
};

struct slide {
    struct archive *archive;
    struct extraction *x;
    struct markup *m;
    struct arena *memory;              /* of this slide */
    struct office_relations relations; /* of the part that is read */
    /* Where placeholders get their places from; NULL: not there. */
    const struct xml_node *layout, *master;
    /* Parts of all slides in their order, for links from one to another. */
    const char *const *slides;
    unsigned n_slides;
    struct span link; /* of the shape that is written, around runs without one of their own */
};

/* How the paragraphs of a text body are written. */
enum slide_body {
    SLIDE_PLAIN,  /* list items are those that say so */
    SLIDE_OUTLINE /* all are, but those that say not */
};

/* ---- slide_text.c ---- */

/* A text body (txBody): paragraphs and lists. */
/* The address that a click on something leads to, in s->memory: where it is, or "#slide-3" within the show;
 * empty: nowhere. `click` is a hlinkClick, NULL is fine. */
struct span slide_link(const struct slide *s, const struct xml_node *click);
void slide_text(struct slide *s, const struct xml_node *body, enum slide_body kind);
/* All of it as one heading. */
void slide_heading(struct slide *s, const struct xml_node *body, unsigned level);
/* Whether there is anything to see in it. */
bool slide_has_text(const struct xml_node *body);

/* ---- slide_shapes.c ---- */

/* The shapes of a slide: its title, then from top to bottom and from left to right. -1: refused. */
int slide_shapes(struct slide *s, const struct xml_node *tree);
/* Type of a shape's placeholder: "title", "body" …; NULL: it is none. */
const char *slide_placeholder(const struct xml_node *shape);
/* Whether a placeholder is a number, a date, a footer or a header. */
bool slide_is_furniture(const char *placeholder);

/* ---- slide_table.c ---- */

void slide_table(struct slide *s, const struct xml_node *table);

#endif
