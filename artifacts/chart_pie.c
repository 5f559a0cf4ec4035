/* Pies and doughnuts, with their names and shares beside them. */
#include <math.h>
#include <stdio.h>

#include "artifacts/chart.h"

static colour_t slice_colour(const struct chart *c, size_t i)
{
    return c->series[0].colours ? c->series[0].colours[i] : i ? chart_palette(i) : c->series[0].colour;
}

static void share_text(double share, char *out, size_t room)
{
    double percent = share * 100;
    snprintf(out, room,
             percent > 0 && percent < 0.05 ? "<0.1%%"
             : percent < 10                ? "%.1f%%"
                                           : "%.0f%%",
             percent);
}

static void draw_slice(cairo_t *cr, const struct chart *c, size_t i, double x, double y, double radius,
                       double hole, double from, double to)
{
    char text[32];
    double share = (to - from) / (2 * M_PI), middle = (from + to) / 2, w, h;
    cairo_new_path(cr);
    if (hole > 0)
        cairo_arc_negative(cr, x, y, hole, to, from);
    else if (share < 1 - 1e-9)
        cairo_move_to(cr, x, y);
    cairo_arc(cr, x, y, radius, from, to);
    cairo_close_path(cr);
    draw_colour(cr, slice_colour(c, i));
    cairo_fill_preserve(cr);
    draw_colour(cr, COLOUR_PAPER);
    cairo_set_line_width(cr, share < 1 - 1e-9 ? fmin(1.5, (to - from) * radius / 3) : 0);
    cairo_stroke(cr);
    double at = hole > 0 ? (radius + hole) / 2 : radius * 0.68;
    if ((to - from) * at < 38 || radius < 50)
        return;
    share_text(share, text, sizeof text);
    struct text_style style = {.family = c->family, .size = 12, .bold = true};
    PangoLayout *layout = text_layout(cr, &style, text, strlen(text), 0, 0);
    text_extent(layout, &w, &h);
    text_show(cr, layout, colour_on(slice_colour(c, i)), x + at * cos(middle) - w / 2,
              y + at * sin(middle) - h / 2);
    g_object_unref(layout);
}

/* Names with their values, in as many columns as it takes. */
static void draw_names(cairo_t *cr, const struct chart *c, struct chart_box box, double sum)
{
    const struct chart_series *s = &c->series[0];
    double row = 22, size = 12.5;
    size_t columns = 1, rows;
    while (columns < 3 && (double)s->n * row / (double)columns > box.h)
        columns++;
    rows = (s->n + columns - 1) / columns;
    if ((double)rows * row > box.h) {
        row = box.h / (double)rows;
        size = fmax(row * 0.6, 5);
    }
    double width = box.w / (double)columns;
    double y = box.y + fmax((box.h - (double)rows * row) / 2, 0);
    struct text_style style = {.family = c->family, .size = size};
    for (size_t i = 0; i < s->n; i++) {
        char name[CHART_TEXT * 4 + 64], value[48], share[32];
        double x = box.x + width * (double)(i / rows), top = y + row * (double)(i % rows), w, h;
        chart_value_text(isnan(s->y[i]) ? 0 : s->y[i], value, sizeof value);
        share_text(isnan(s->y[i]) ? 0 : s->y[i] / sum, share, sizeof share);
        draw_colour(cr, slice_colour(c, i));
        cairo_rectangle(cr, x, top + row * 0.2, size, size);
        cairo_fill(cr);
        snprintf(name, sizeof name, columns > 1 ? "%s" : "%s (%s)", value, share);
        PangoLayout *layout = text_layout(cr, &style, name, strlen(name), 0, 0);
        text_extent(layout, &w, &h);
        double right = x + width - w - (columns > 1 ? 14 : 0);
        text_show(cr, layout, COLOUR_SOFT, right, top + (row - h) / 2);
        g_object_unref(layout);
        if (i < c->n_labels && *c->labels[i])
            snprintf(name, sizeof name, "%s", c->labels[i]);
        else
            snprintf(name, sizeof name, "%zu", i + 1);
        layout = text_line(cr, &style, name, strlen(name), fmax(right - x - size - 14, 8));
        text_extent(layout, NULL, &h);
        text_show(cr, layout, COLOUR_INK, x + size + 8, top + (row - h) / 2);
        g_object_unref(layout);
    }
}

void chart_draw_pie(cairo_t *cr, const struct chart *c, struct chart_box box)
{
    const struct chart_series *s = &c->series[0];
    double sum = 0, from = -M_PI / 2, w, h;
    for (size_t i = 0; i < s->n; i++)
        sum += isnan(s->y[i]) ? 0 : s->y[i];
    if (!(sum > 0) || !isfinite(sum))
        return;
    double part = s->n > 18 ? 0.42 : 0.52;
    double radius = fmax(fmin(box.w * part, box.h) / 2 - 6, 20);
    double x = box.x + box.w * part / 2, y = box.y + box.h / 2;
    double hole = c->type == CHART_DOUGHNUT ? radius * 0.58 : 0;
    for (size_t i = 0; i < s->n; i++) {
        double value = isnan(s->y[i]) ? 0 : s->y[i], to = from + value / sum * 2 * M_PI;
        if (value > 0)
            draw_slice(cr, c, i, x, y, radius, hole, from, to);
        from = to;
    }
    if (hole > 30) {
        char text[48];
        struct text_style style = {.family = c->family, .size = fmin(hole * 0.32, 24), .bold = true};
        chart_value_text(sum, text, sizeof text);
        PangoLayout *layout = text_layout(cr, &style, text, strlen(text), 0, 0);
        text_extent(layout, &w, &h);
        text_show(cr, layout, COLOUR_INK, x - w / 2, y - h / 2);
        g_object_unref(layout);
    }
    draw_names(cr, c, (struct chart_box){box.x + box.w * part + 20, box.y, box.w * (1 - part) - 20, box.h},
               sum);
}
