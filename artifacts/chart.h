#ifndef ARTIFACTS_CHART_H
#define ARTIFACTS_CHART_H
/*
 * Charts: what a specification says (chart_read), and its drawing on a cairo context (chart_draw), which
 * render_chart puts into PNG and SVG files and render_pdf into pages. For penstock-worker alone.
 *
 * A specification is a JSON object: the short form of product.md §5.1,
 *   {"type":"bar","title","labels":[…],"datasets":[{"label","data":[…]}],"x_label","y_label"}
 * or Chart.js's own (data.labels, data.datasets, options.plugins.title.text, options.indexAxis,
 * options.scales.x.stacked, .title.text), repaired where it is not strict; or rows of values parted by
 * commas, semicolons, tabs or bars, the first column for the labels.
 */
#include <cairo.h>
#include <stdint.h>

#include "artifacts/draw.h"
#include "jobs/renderer.h"

enum {
    CHART_SERIES = 50,
    CHART_POINTS = 2000, /* of a series */
    CHART_SLICES = 60,   /* of a pie */
    CHART_TEXT = 200,    /* characters of a title or a label; longer ones end in an ellipsis */
};

enum chart_type { CHART_BAR, CHART_LINE, CHART_AREA, CHART_PIE, CHART_DOUGHNUT, CHART_SCATTER };

struct chart_series {
    enum chart_type type; /* a chart of bars may have lines among them */
    char *label;          /* may be empty */
    double *y;            /* NAN: a gap */
    double *x;            /* of a scatter, or NULL */
    size_t n;
    colour_t colour;
    colour_t *colours; /* one a point, or NULL */
};

struct chart {
    enum chart_type type;
    char *title, *subtitle, *x_label, *y_label; /* never NULL, clean UTF-8, may be empty */
    char **labels;                              /* of the points; may be fewer than these */
    size_t n_labels;
    double *dates; /* seconds since 1970, one a label, when every label is a date; or NULL */
    bool x_dates;  /* a scatter whose x are seconds since 1970 */
    struct chart_series *series;
    size_t n_series;
    size_t n_points; /* of the longest series */
    bool stacked, horizontal;
    bool from_zero;       /* the value axis begins at 0 in any case */
    double width, height; /* wanted; 0: not said */
    char *family;         /* of the text; NULL: the default one */
};

/* Reads a specification; `options` is the directive's metadata. The chart is to be freed in any case. */
enum render_status chart_read(struct span source, const struct render_params *params, struct chart *out,
                              char sentence[RENDER_SENTENCE]) MUST_USE;
void chart_free(struct chart *c);
/* Draws it into the rectangle from (0, 0); width and height are at least 120. */
void chart_draw(cairo_t *cr, const struct chart *c, double width, double height);
/* The n-th colour: told apart by people with any kind of colour vision (Okabe and Ito, 2008); after eight
 * they come again lighter and darker. */
colour_t chart_palette(size_t n);

/* ---- the parts of chart_read ---- */

/* A number as models write it: "1,234.5", "12 %", "$5", "-3e2"; NAN: it is none. */
double chart_number_read(struct span text);
/* A number, also one written as text; NAN: it is none. */
struct json_t;
double chart_json_number(const struct json_t *v);
/* A copy, clean, of at most CHART_TEXT characters. */
char *chart_text(struct span text) MUST_USE;
/* A series with room for n points, all gaps; NULL: over CHART_SERIES. */
struct chart_series *chart_add_series(struct chart *c, struct span label, size_t n) MUST_USE;
/* Sets label number i, and empty ones before it. */
void chart_set_label(struct chart *c, size_t i, struct span text);
/* The part of Vega-Lite that is a chart of these kinds: inline values, one mark, x, y, colour, theta
 * (chart_vega.c). */
enum render_status chart_read_vega(struct json_t *root, struct chart *c,
                                   char sentence[RENDER_SENTENCE]) MUST_USE;
/* Values in rows (chart_rows.c). */
enum render_status chart_read_rows(struct span text, struct chart *c,
                                   char sentence[RENDER_SENTENCE]) MUST_USE;

/* ---- scales (chart_scale.c); pure ---- */

enum { CHART_TICKS = 24 };

/* Where an axis begins and ends and the marks on it. Dates: `at` are seconds since 1970. */
struct chart_scale {
    double low, high, step;
    double at[CHART_TICKS];
    size_t n;
    bool dates;
    int unit; /* of dates: what a mark stands for */
};

/* An axis over [low, high] (finite) with about `wanted` round marks; `loose`: its ends are marks as well. */
void chart_scale_numbers(struct chart_scale *s, double low, double high, int wanted, bool loose);
void chart_scale_dates(struct chart_scale *s, double low, double high, int wanted);
/* Puts the marks on these dates (ascending, at most CHART_TICKS) instead, named by month or by day. */
void chart_scale_on(struct chart_scale *s, const double *dates, size_t n);
/* The text of a mark. */
void chart_tick_text(const struct chart_scale *s, double value, char *out, size_t room);
/* A value as a person writes it: at most four significant decimals, thousands parted. */
void chart_value_text(double value, char *out, size_t room);
/* "2026", "2026-07", "2026-07-01", "2026-07-01T10:20", "2026-07-01 10:20:30Z", "07/2026" is none. Seconds
 * since 1970. A year alone is no date. */
bool chart_date_read(struct span text, double *out) MUST_USE;

/* ---- the parts of the drawing ---- */

/* Where the plot itself goes, after titles and legend. */
struct chart_box {
    double x, y, w, h;
};
void chart_draw_axes(cairo_t *cr, const struct chart *c, struct chart_box box); /* chart_axes.c */
void chart_draw_pie(cairo_t *cr, const struct chart *c, struct chart_box box);  /* chart_pie.c */

#endif
