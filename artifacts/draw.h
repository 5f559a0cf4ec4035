#ifndef ARTIFACTS_DRAW_H
#define ARTIFACTS_DRAW_H
/*
 * What charts and pages share: text through pango, colours, and clean UTF-8. For penstock-worker alone.
 * Lengths are in the units of the cairo context; text sizes too, so that no resolution comes into play.
 */
#include <cairo.h>
#include <pango/pangocairo.h>
#include <stdint.h>

#include "base/buf.h"

/* 0xrrggbb */
typedef uint32_t colour_t;

enum {
    COLOUR_INK = 0x1f2933,   /* text */
    COLOUR_SOFT = 0x52606d,  /* secondary text: 6:1 on white */
    COLOUR_GRID = 0xd9dee4,  /* rules within a drawing */
    COLOUR_FRAME = 0x9aa5b1, /* axes */
    COLOUR_PAPER = 0xffffff,
};

void draw_colour(cairo_t *cr, colour_t c);
/* "#rgb", "#rrggbb", "#rrggbbaa", "rgb(1,2,3)", "rgba(1,2,3,.5)" or one of a few names; false: none of
 * these. An opacity is dropped. */
bool colour_read(struct span text, colour_t *out) MUST_USE;
/* Towards white (share > 0) or black (share < 0), by a share of the way, -1 to 1. */
colour_t colour_blend(colour_t c, double share);
/* Black or white, whichever is easier to read on it. */
colour_t colour_on(colour_t ground);

/* Appends text that pango takes: valid UTF-8 (U+FFFD for what is not), without NUL and controls; with `lines`
 * line breaks and tabs stay, else they become blanks. -1: over the buffer's cap. */
int text_clean(struct span text, bool lines, struct buf *out) MUST_USE;

struct text_style {
    const char *family; /* NULL: the default one */
    double size;        /* of the em */
    bool bold, italic;
    colour_t colour;
};

/* A line of text, or, with width > 0, as many lines of that width as it takes, of which `lines` (0: all) are
 * shown and the last one ends in an ellipsis. `text` is clean, of n bytes. Give back with g_object_unref. */
PangoLayout *text_layout(cairo_t *cr, const struct text_style *style, const char *text, size_t n,
                         double width, int lines) MUST_USE;
/* One line, cut by an ellipsis at `limit`, and no wider than its text. */
PangoLayout *text_line(cairo_t *cr, const struct text_style *style, const char *text, size_t n,
                       double limit) MUST_USE;
void text_extent(PangoLayout *layout, double *width, double *height);
/* Draws a layout; x, y: its upper left corner. */
void text_show(cairo_t *cr, PangoLayout *layout, colour_t colour, double x, double y);
/* Families for the operator's font, or the default ones. The result lives as long as `room`. */
const char *text_families(const char *wanted, char *room, size_t n);

/* A cairo_write_func_t over a struct buf. */
cairo_status_t draw_write(void *buf, const unsigned char *data, unsigned int n);

/* A picture from PNG bytes (JPEG: only its size is read, cairo embeds its bytes in PDF); NULL: neither, or
 * over 24 megapixels. */
cairo_surface_t *draw_picture(struct span bytes, double *width, double *height) MUST_USE;

#endif
