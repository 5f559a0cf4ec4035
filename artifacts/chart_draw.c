/* What every kind of chart has: the ground, titles and a legend. */
#include <math.h>
#include <stdio.h>

#include "artifacts/chart.h"

static const double MARGIN = 22, LEGEND_ITEM = 190;

colour_t chart_palette(size_t n)
{
    /* Yellow is left out: it cannot be seen on white. Grey stands in for black, which is the text's. */
    static const colour_t colours[] = {0x0072b2, 0xe69f00, 0x009e73, 0xd55e00,
                                       0x56b4e9, 0xcc79a7, 0x6b4c9a, 0x7a7a7a};
    static const double shades[] = {0, 0.4, -0.35, 0.62, -0.55, 0.2, -0.18};
    size_t count = sizeof colours / sizeof *colours;
    return colour_blend(colours[n % count], shades[n / count % (sizeof shades / sizeof *shades)]);
}

/* A block of text at the top of the box, which shrinks. */
static void put_heading(cairo_t *cr, const struct chart *c, struct chart_box *box, const char *text,
                        double size, bool bold, int lines)
{
    if (!*text)
        return;
    struct text_style style = {.family = c->family, .size = size, .bold = bold};
    PangoLayout *layout = text_layout(cr, &style, text, strlen(text), box->w, lines);
    double height;
    text_extent(layout, NULL, &height);
    text_show(cr, layout, bold ? COLOUR_INK : COLOUR_SOFT, box->x, box->y);
    g_object_unref(layout);
    height += bold ? 4 : 6;
    box->y += height;
    box->h -= height;
}

static void swatch(cairo_t *cr, const struct chart_series *s, double x, double y)
{
    draw_colour(cr, s->colour);
    if (s->type == CHART_LINE) {
        cairo_set_line_width(cr, 3);
        cairo_move_to(cr, x, y + 6);
        cairo_line_to(cr, x + 16, y + 6);
        cairo_stroke(cr);
        return;
    }
    if (s->type == CHART_SCATTER)
        cairo_arc(cr, x + 8, y + 6, 5, 0, 2 * M_PI);
    else
        cairo_rectangle(cr, x + 2, y, 12, 12);
    cairo_fill(cr);
}

/* The names of the series, in rows; where there are more than fit, their number. */
static void put_legend(cairo_t *cr, const struct chart *c, struct chart_box *box)
{
    struct text_style style = {.family = c->family, .size = 12};
    double x = box->x, y = box->y + 4, row = 20, limit = box->y + fmax(box->h * 0.25, 24);
    for (size_t i = 0; i < c->n_series; i++) {
        char name[CHART_TEXT * 4 + 64], more[32];
        double width;
        if (*c->series[i].label)
            snprintf(name, sizeof name, "%s", c->series[i].label);
        else
            snprintf(name, sizeof name, "%zu", i + 1);
        size_t n = strlen(name);
        PangoLayout *layout = text_line(cr, &style, name, n, fmin(LEGEND_ITEM, box->w - 22));
        text_extent(layout, &width, NULL);
        if (x > box->x && x + 22 + width > box->x + box->w) {
            x = box->x;
            y += row;
        }
        if (y + row > limit && i) {
            g_object_unref(layout);
            snprintf(more, sizeof more, "+%zu", c->n_series - i);
            layout = text_layout(cr, &style, more, strlen(more), 0, 0);
            text_show(cr, layout, COLOUR_SOFT, x, y);
            g_object_unref(layout);
            y += row;
            box->h -= y + 6 - box->y;
            box->y = y + 6;
            return;
        }
        swatch(cr, &c->series[i], x, y + 2);
        text_show(cr, layout, COLOUR_INK, x + 22, y);
        g_object_unref(layout);
        x += 22 + width + 18;
    }
    y += row + 6;
    box->h -= y - box->y;
    box->y = y;
}

static bool wants_legend(const struct chart *c)
{
    const char *only = c->n_series ? c->series[0].label : "";
    return c->n_series > 1 || (*only && strcmp(only, c->title) != 0 && strcmp(only, c->y_label) != 0);
}

void chart_draw(cairo_t *cr, const struct chart *c, double width, double height)
{
    struct chart_box box = {MARGIN, MARGIN * 0.75, width - 2 * MARGIN, height - 1.5 * MARGIN};
    bool small = height < 260;
    cairo_save(cr);
    cairo_rectangle(cr, 0, 0, width, height);
    cairo_clip(cr);
    draw_colour(cr, COLOUR_PAPER);
    cairo_paint(cr);
    put_heading(cr, c, &box, c->title, small ? 14 : 18, true, 2);
    put_heading(cr, c, &box, c->subtitle, small ? 11 : 13, false, 2);
    if (c->type == CHART_PIE || c->type == CHART_DOUGHNUT) {
        chart_draw_pie(cr, c, box);
    } else {
        if (wants_legend(c))
            put_legend(cr, c, &box);
        box.y += 6;
        box.h -= 6;
        chart_draw_axes(cr, c, box);
    }
    cairo_restore(cr);
}
