/* Charts with two axes: bars, lines, areas and scatters. */
#include <math.h>
#include <stdio.h>

#include "artifacts/chart.h"
#include "base/xalloc.h"

static const double TICK_SIZE = 11.5, LABEL_SIZE = 12.5;

struct plot {
    cairo_t *cr;
    const struct chart *c;
    struct chart_box box;      /* of the data alone */
    struct chart_scale value;  /* of what the bars' length says */
    struct chart_scale across; /* of x, when x is a number or a date */
    bool numeric_x, horizontal;
    double bottom; /* height of the text below the plot */
    double left;   /* width of the text left of it */
    size_t bars;   /* series that are bars */
};

/* ---- places ---- */

static double along(const struct chart_scale *s, double v, double from, double length)
{
    /* By halves: the difference of the two ends may be no number. */
    double span = s->high / 2 - s->low / 2;
    return from + (span > 0 ? (v / 2 - s->low / 2) / span : 0.5) * length;
}

static double value_at(const struct plot *p, double v)
{
    return p->horizontal ? along(&p->value, v, p->box.x, p->box.w)
                         : along(&p->value, v, p->box.y + p->box.h, -p->box.h);
}

static double slot_width(const struct plot *p)
{
    return (p->horizontal ? p->box.h : p->box.w) / (double)(p->c->n_points ? p->c->n_points : 1);
}

/* The middle of point i of a series on the other axis. */
static double point_at(const struct plot *p, const struct chart_series *s, size_t i)
{
    if (p->numeric_x)
        return along(&p->across,
                     s->x          ? s->x[i]
                     : p->c->dates ? p->c->dates[i]
                                   : (double)i + 1,
                     p->box.x, p->box.w);
    return (p->horizontal ? p->box.y : p->box.x) + slot_width(p) * ((double)i + 0.5);
}

/* ---- ranges ---- */

static bool is_stacked(const struct chart *c, const struct chart_series *s)
{
    return c->stacked && (s->type == CHART_BAR || s->type == CHART_AREA);
}

static void widen(double *low, double *high, double v)
{
    if (!isnan(v)) {
        *low = fmin(*low, v);
        *high = fmax(*high, v);
    }
}

static void stacked_range(const struct chart *c, double *low, double *high)
{
    for (int type = CHART_BAR; type <= CHART_AREA; type += CHART_AREA - CHART_BAR)
        for (size_t i = 0; i < c->n_points; i++) {
            double up = 0, down = 0;
            for (size_t k = 0; k < c->n_series; k++) {
                const struct chart_series *s = &c->series[k];
                double v = s->type == (enum chart_type)type && i < s->n && !isnan(s->y[i]) ? s->y[i] : 0;
                *(v < 0 ? &down : &up) += v;
            }
            widen(low, high, up);
            widen(low, high, down);
        }
}

static void find_values(struct plot *p, int wanted)
{
    const struct chart *c = p->c;
    double low = INFINITY, high = -INFINITY;
    bool zero = c->from_zero;
    for (size_t k = 0; k < c->n_series; k++) {
        const struct chart_series *s = &c->series[k];
        zero |= s->type == CHART_BAR || s->type == CHART_AREA;
        for (size_t i = 0; i < s->n && !is_stacked(c, s); i++)
            widen(&low, &high, s->y[i]);
    }
    if (c->stacked)
        stacked_range(c, &low, &high);
    /* A line whose values lie close together is not pressed against the top. */
    if (zero || (low > 0 && low < high * 0.5))
        low = fmin(low, 0);
    if (zero || (high < 0 && high > low * 0.5))
        high = fmax(high, 0);
    chart_scale_numbers(&p->value, low, high, wanted, true);
}

/* Whether there are so few dates that each can be named. */
static bool dates_fit(const struct plot *p, double low, double high)
{
    const struct chart *c = p->c;
    for (size_t i = 1; i < c->n_points; i++)
        if ((c->dates[i] - c->dates[i - 1]) * p->box.w < 46 * (high - low))
            return false;
    return c->n_points > 1 && c->n_points <= 14 && c->dates[0] >= low && c->dates[c->n_points - 1] <= high;
}

static void find_across(struct plot *p, int wanted)
{
    const struct chart *c = p->c;
    double low = INFINITY, high = -INFINITY;
    bool dates = c->type == CHART_SCATTER ? c->x_dates : c->dates != NULL;
    for (size_t k = 0; k < c->n_series; k++)
        for (size_t i = 0; i < c->series[k].n; i++)
            if (!isnan(c->series[k].y[i]))
                widen(&low, &high,
                      c->series[k].x ? c->series[k].x[i]
                      : c->dates     ? c->dates[i]
                                     : (double)i + 1);
    if (!(low <= high))
        low = high = 0;
    if (dates) {
        chart_scale_dates(&p->across, low, high, wanted);
        if (c->dates && dates_fit(p, low, high))
            chart_scale_on(&p->across, c->dates, c->n_points);
    } else
        chart_scale_numbers(&p->across, low, high, wanted, true);
}

/* ---- text beside the axes ---- */

static PangoLayout *tick_layout(const struct plot *p, const char *text, double width, int lines)
{
    struct text_style style = {.family = p->c->family, .size = TICK_SIZE};
    return text_layout(p->cr, &style, text, strlen(text), width, lines);
}

static PangoLayout *slanted_layout(const struct plot *p, const char *text, double limit)
{
    struct text_style style = {.family = p->c->family, .size = TICK_SIZE};
    return text_line(p->cr, &style, text, strlen(text), limit);
}

static double scale_text_width(const struct plot *p, const struct chart_scale *s)
{
    double widest = 0;
    for (size_t i = 0; i < s->n; i++) {
        char text[64];
        double w;
        chart_tick_text(s, s->at[i], text, sizeof text);
        PangoLayout *layout = tick_layout(p, text, 0, 0);
        text_extent(layout, &w, NULL);
        g_object_unref(layout);
        widest = fmax(widest, w);
    }
    return widest;
}

static const char *label_of(const struct chart *c, size_t i, char number[24])
{
    if (i < c->n_labels)
        return c->labels[i];
    snprintf(number, 24, "%zu", i + 1);
    return number;
}

/* How names of points stand below the axis. */
struct names {
    size_t every; /* of how many points one is named */
    bool slanted;
    double width; /* of one */
};

static double names_width(const struct plot *p, size_t every)
{
    double widest = 0;
    for (size_t i = 0; i < p->c->n_points; i += every) {
        char number[24];
        double w;
        PangoLayout *layout = tick_layout(p, label_of(p->c, i, number), 0, 0);
        text_extent(layout, &w, NULL);
        g_object_unref(layout);
        widest = fmax(widest, w);
    }
    return widest;
}

/* Whether the names, broken into two lines, fit the width without a break in a word. */
static bool names_fit(const struct plot *p, double width, double *height)
{
    bool fits = true;
    *height = 0;
    for (size_t i = 0; i < p->c->n_points && fits; i++) {
        char number[24];
        double w, h;
        PangoLayout *layout = tick_layout(p, label_of(p->c, i, number), width, 0);
        pango_layout_set_wrap(layout, PANGO_WRAP_WORD);
        text_extent(layout, &w, &h);
        fits = w <= width + 0.5 && pango_layout_get_line_count(layout) <= 2;
        *height = fmax(*height, h);
        g_object_unref(layout);
    }
    return fits;
}

static struct names fit_names(struct plot *p)
{
    struct names n = {.every = 1};
    double slot = slot_width(p);
    n.every = (size_t)ceil(17 / slot);
    double widest = names_width(p, n.every), height;
    n.width = slot * (double)n.every - 6;
    if (widest <= n.width) {
        p->bottom = 22;
    } else if (n.every == 1 && p->c->n_points <= 40 && names_fit(p, n.width, &height)) {
        p->bottom = height + 8;
    } else if (p->c->dates && widest * 1.3 < p->box.w) {
        n.every = (size_t)ceil((widest + 12) / slot);
        n.width = widest + 2;
        p->bottom = 22;
    } else {
        n.slanted = true;
        n.width = fmin(fmin(widest + 1, 130), p->box.h * 0.4);
        /* The first name reaches to the left of its point: the plot makes room for it, up to a point. */
        double room = p->left + (p->box.x - p->left) * 0.5 + slot / 2, lack = n.width * 0.71 - room;
        if (lack > 0) {
            lack = fmin(lack, p->box.w * 0.06);
            p->box.x += lack;
            p->box.w -= lack;
            n.width = fmin(n.width, (room + lack) / 0.71);
        }
        p->bottom = n.width * 0.71 + 20;
    }
    return n;
}

static void draw_names(struct plot *p, struct names n)
{
    double y = p->box.y + p->box.h + 6;
    for (size_t i = 0; i < p->c->n_points; i += n.every) {
        char number[24];
        const char *text = label_of(p->c, i, number);
        double x = point_at(p, NULL, i), w, h;
        PangoLayout *layout = n.slanted ? slanted_layout(p, text, n.width) : tick_layout(p, text, n.width, 2);
        if (!n.slanted) {
            pango_layout_set_alignment(layout, PANGO_ALIGN_CENTER);
            text_show(p->cr, layout, COLOUR_INK, x - n.width / 2, y);
        } else {
            text_extent(layout, &w, &h);
            cairo_save(p->cr);
            cairo_translate(p->cr, x + 4, y);
            cairo_rotate(p->cr, -M_PI / 4);
            text_show(p->cr, layout, COLOUR_INK, -w, -h / 2 + 3);
            cairo_restore(p->cr);
        }
        g_object_unref(layout);
    }
}

/* Names left of horizontal bars. */
static void draw_side_names(struct plot *p)
{
    double slot = slot_width(p);
    size_t every = (size_t)ceil(14 / slot);
    for (size_t i = 0; i < p->c->n_points; i += every) {
        char number[24];
        double w, h, room = slot * (double)every;
        PangoLayout *layout = tick_layout(p, label_of(p->c, i, number), p->left - 10, room > 30 ? 2 : 1);
        pango_layout_set_alignment(layout, PANGO_ALIGN_RIGHT);
        text_extent(layout, &w, &h);
        text_show(p->cr, layout, COLOUR_INK, p->box.x - p->left + 2, point_at(p, NULL, i) - h / 2);
        g_object_unref(layout);
    }
}

static void draw_axis_labels(struct plot *p, const char *below, const char *beside)
{
    struct text_style style = {.family = p->c->family, .size = LABEL_SIZE};
    double w, h;
    if (*below) {
        PangoLayout *layout = text_layout(p->cr, &style, below, strlen(below), p->box.w, 1);
        pango_layout_set_alignment(layout, PANGO_ALIGN_CENTER);
        text_show(p->cr, layout, COLOUR_SOFT, p->box.x, p->box.y + p->box.h + p->bottom + 2);
        g_object_unref(layout);
    }
    if (*beside) {
        PangoLayout *layout = text_layout(p->cr, &style, beside, strlen(beside), p->box.h, 1);
        pango_layout_set_alignment(layout, PANGO_ALIGN_CENTER);
        text_extent(layout, &w, &h);
        cairo_save(p->cr);
        cairo_translate(p->cr, p->box.x - p->left - h - 4, p->box.y + p->box.h);
        cairo_rotate(p->cr, -M_PI / 2);
        text_show(p->cr, layout, COLOUR_SOFT, 0, 0);
        cairo_restore(p->cr);
        g_object_unref(layout);
    }
}

/* Marks, their text and rules across the plot. */
static void draw_scale(struct plot *p, const struct chart_scale *s, bool upright)
{
    cairo_set_line_width(p->cr, 1);
    for (size_t i = 0; i < s->n; i++) {
        char text[64];
        double w, h,
            at = upright ? along(s, s->at[i], p->box.y + p->box.h, -p->box.h)
                         : along(s, s->at[i], p->box.x, p->box.w);
        chart_tick_text(s, s->at[i], text, sizeof text);
        PangoLayout *layout = tick_layout(p, text, 0, 0);
        text_extent(layout, &w, &h);
        draw_colour(p->cr, COLOUR_GRID);
        if (upright) {
            cairo_move_to(p->cr, p->box.x, at);
            cairo_line_to(p->cr, p->box.x + p->box.w, at);
            cairo_stroke(p->cr);
            text_show(p->cr, layout, COLOUR_SOFT, p->box.x - w - 8, at - h / 2);
        } else {
            if (s->dates)
                draw_colour(p->cr, COLOUR_FRAME);
            cairo_move_to(p->cr, at, s->dates ? p->box.y + p->box.h + 5 : p->box.y);
            cairo_line_to(p->cr, at, p->box.y + p->box.h);
            cairo_stroke(p->cr);
            text_show(p->cr, layout, COLOUR_SOFT, at - w / 2, p->box.y + p->box.h + 6);
        }
        g_object_unref(layout);
    }
}

/* ---- bars ---- */

static void draw_value(struct plot *p, double v, double middle, double end, double room)
{
    char text[64];
    double w, h;
    struct text_style style = {.family = p->c->family, .size = TICK_SIZE - 0.5};
    chart_value_text(v, text, sizeof text);
    PangoLayout *layout = text_layout(p->cr, &style, text, strlen(text), 0, 0);
    text_extent(layout, &w, &h);
    double x = p->horizontal ? (v < 0 ? end - w - 5 : end + 5) : middle - w / 2;
    double y = p->horizontal ? middle - h / 2 : v < 0 ? end + 2 : end - h - 2;
    bool fits = p->horizontal ? h <= room && x + w < p->box.x + p->box.w + 20 && x > p->box.x - 4 : w <= room;
    if (fits)
        text_show(p->cr, layout, COLOUR_INK, x, y);
    g_object_unref(layout);
}

static void draw_bar(struct plot *p, const struct chart_series *s, size_t i, double side, double width,
                     double from, double to)
{
    double a = value_at(p, from), b = value_at(p, to), low = fmin(a, b), length = fabs(b - a);
    draw_colour(p->cr, s->colours ? s->colours[i] : s->colour);
    if (p->horizontal)
        cairo_rectangle(p->cr, low, side, length, width);
    else
        cairo_rectangle(p->cr, side, low, width, length);
    cairo_fill(p->cr);
}

static void draw_bars(struct plot *p)
{
    const struct chart *c = p->c;
    double slot = slot_width(p), used = fmin(slot * 0.78, slot - fmin(2, slot * 0.2));
    used = fmin(used, (c->stacked ? 72.0 : 60.0 * (double)p->bars));
    double width = c->stacked ? used : used / (double)p->bars, gap = width > 6 && !c->stacked ? 1 : 0;
    bool say = !c->stacked && c->n_series == 1 && c->n_points <= 24;
    for (size_t i = 0; i < c->n_points; i++) {
        double up = 0, down = 0, start = point_at(p, NULL, i) - used / 2;
        size_t n = 0;
        for (size_t k = 0; k < c->n_series; k++) {
            const struct chart_series *s = &c->series[k];
            if (s->type != CHART_BAR)
                continue;
            double v = i < s->n ? s->y[i] : NAN, *pile = v < 0 ? &down : &up;
            double side = start + (c->stacked ? 0 : width * (double)n) + gap;
            n++;
            if (isnan(v))
                continue;
            draw_bar(p, s, i, side, width - 2 * gap, c->stacked ? *pile : 0, c->stacked ? *pile + v : v);
            *pile += v;
            if (say)
                draw_value(p, v, side + width / 2 - gap, value_at(p, v), slot);
        }
    }
}

/* ---- lines, areas, points ---- */

static void draw_marker(cairo_t *cr, size_t shape, double x, double y, double r)
{
    cairo_new_sub_path(cr);
    switch (shape % 4) {
    case 0:
        cairo_arc(cr, x, y, r, 0, 2 * M_PI);
        break;
    case 1:
        cairo_rectangle(cr, x - r * 0.9, y - r * 0.9, r * 1.8, r * 1.8);
        break;
    case 2:
        cairo_move_to(cr, x, y - r * 1.2);
        cairo_line_to(cr, x + r * 1.1, y + r * 0.8);
        cairo_line_to(cr, x - r * 1.1, y + r * 0.8);
        cairo_close_path(cr);
        break;
    default:
        cairo_move_to(cr, x, y - r * 1.25);
        cairo_line_to(cr, x + r * 1.25, y);
        cairo_line_to(cr, x, y + r * 1.25);
        cairo_line_to(cr, x - r * 1.25, y);
        cairo_close_path(cr);
    }
    cairo_fill(cr);
}

static void draw_line(struct plot *p, size_t k, const double *base)
{
    static const double dash[] = {7, 4};
    const struct chart_series *s = &p->c->series[k];
    bool pen = false, marks = s->n <= 40;
    cairo_t *cr = p->cr;
    draw_colour(cr, s->colour);
    cairo_set_line_width(cr, 2.4);
    cairo_set_line_join(cr, CAIRO_LINE_JOIN_ROUND);
    cairo_set_line_cap(cr, CAIRO_LINE_CAP_ROUND);
    cairo_set_dash(cr, dash, k / 8 % 2 ? 2 : 0, 0);
    cairo_new_path(cr);
    for (size_t i = 0; i < s->n; i++) {
        if (isnan(s->y[i])) {
            pen = false;
            continue;
        }
        double x = point_at(p, s, i), y = value_at(p, s->y[i] + (base ? base[i] : 0));
        if (pen)
            cairo_line_to(cr, x, y);
        else
            cairo_move_to(cr, x, y);
        pen = true;
    }
    cairo_stroke(cr);
    cairo_set_dash(cr, NULL, 0, 0);
    for (size_t i = 0; i < s->n; i++) {
        bool alone = (i == 0 || isnan(s->y[i - 1])) && (i + 1 >= s->n || isnan(s->y[i + 1]));
        if (!isnan(s->y[i]) && (alone || (marks && !base)))
            draw_marker(cr, k, point_at(p, s, i), value_at(p, s->y[i] + (base ? base[i] : 0)), 3.6);
    }
}

/* The ground below a line, or between it and the one that it stands on; `base` is NULL or what the areas
 * before it sum up to. */
static void draw_ground(struct plot *p, size_t k, const double *base)
{
    const struct chart_series *s = &p->c->series[k];
    cairo_t *cr = p->cr;
    for (size_t i = 0; i < s->n;) {
        size_t from = i;
        while (i < s->n && (base || !isnan(s->y[i])))
            i++;
        if (i == from) {
            i++;
            continue;
        }
        cairo_new_path(cr);
        for (size_t at = from; at < i; at++)
            cairo_line_to(cr, point_at(p, s, at),
                          value_at(p, (isnan(s->y[at]) ? 0 : s->y[at]) + (base ? base[at] : 0)));
        for (size_t at = i; at-- > from;)
            cairo_line_to(cr, point_at(p, s, at), value_at(p, base ? base[at] : 0));
        cairo_close_path(cr);
        colour_t c = s->colour;
        cairo_set_source_rgba(cr, (double)(c >> 16) / 255, (double)(c >> 8 & 255) / 255,
                              (double)(c & 255) / 255, base ? 0.7 : 0.25);
        cairo_fill(cr);
    }
}

static void draw_areas(struct plot *p)
{
    const struct chart *c = p->c;
    double *base = c->stacked ? xcalloc(c->n_points + 1, sizeof *base) : NULL;
    for (size_t k = 0; k < c->n_series; k++) {
        const struct chart_series *s = &c->series[k];
        if (s->type != CHART_AREA)
            continue;
        draw_ground(p, k, base);
        draw_line(p, k, base);
        for (size_t i = 0; base && i < s->n; i++)
            base[i] += isnan(s->y[i]) ? 0 : s->y[i];
    }
    xfree(base);
}

static void draw_points(struct plot *p, size_t k)
{
    const struct chart_series *s = &p->c->series[k];
    colour_t c = s->colour;
    cairo_set_source_rgba(p->cr, (double)(c >> 16) / 255, (double)(c >> 8 & 255) / 255,
                          (double)(c & 255) / 255, 0.8);
    for (size_t i = 0; i < s->n; i++)
        if (!isnan(s->y[i]) && !(s->x && isnan(s->x[i])))
            draw_marker(p->cr, k, point_at(p, s, i), value_at(p, s->y[i]), s->n > 500 ? 2.5 : 4.2);
}

/* ---- the whole ---- */

static void draw_data(struct plot *p)
{
    if (p->bars)
        draw_bars(p);
    draw_areas(p);
    for (size_t k = 0; k < p->c->n_series; k++)
        if (p->c->series[k].type == CHART_LINE)
            draw_line(p, k, NULL);
    for (size_t k = 0; k < p->c->n_series; k++)
        if (p->c->series[k].type == CHART_SCATTER)
            draw_points(p, k);
}

static void draw_baseline(struct plot *p)
{
    double at = value_at(p, p->value.low <= 0 && p->value.high >= 0 ? 0 : p->value.low);
    draw_colour(p->cr, COLOUR_FRAME);
    cairo_set_line_width(p->cr, 1.2);
    if (p->horizontal) {
        cairo_move_to(p->cr, at, p->box.y);
        cairo_line_to(p->cr, at, p->box.y + p->box.h);
    } else {
        cairo_move_to(p->cr, p->box.x, at);
        cairo_line_to(p->cr, p->box.x + p->box.w, at);
    }
    cairo_stroke(p->cr);
}

static void draw_horizontal(struct plot *p)
{
    const struct chart *c = p->c;
    double beside = *c->y_label ? 20 : 0;
    p->bottom = 22;
    p->box.h -= p->bottom + (*c->x_label ? 20 : 0);
    p->left = fmin(names_width(p, (size_t)ceil(14 / slot_width(p))) + 14, p->box.w * 0.38);
    p->box.x += p->left + beside;
    p->box.w -= p->left + beside + 26;
    find_values(p, (int)(p->box.w / 80));
    draw_scale(p, &p->value, false);
    draw_bars(p);
    draw_baseline(p);
    draw_side_names(p);
    draw_axis_labels(p, c->x_label, c->y_label);
}

void chart_draw_axes(cairo_t *cr, const struct chart *c, struct chart_box box)
{
    struct plot p = {.cr = cr, .c = c, .box = box};
    struct names names = {.every = 1};
    bool only_lines = true;
    for (size_t k = 0; k < c->n_series; k++) {
        p.bars += c->series[k].type == CHART_BAR;
        only_lines &= c->series[k].type == CHART_LINE || c->series[k].type == CHART_AREA;
    }
    if (box.w < 60 || box.h < 40 || !c->n_points)
        return;
    p.horizontal = c->horizontal && p.bars == c->n_series;
    if (p.horizontal) {
        draw_horizontal(&p);
        return;
    }
    p.numeric_x = c->type == CHART_SCATTER || (only_lines && c->dates && c->n_points <= c->n_labels);
    double below = *c->x_label ? 20 : 0, beside = *c->y_label ? 20 : 0;
    find_values(&p, (int)((box.h - 40) / 48));
    p.left = scale_text_width(&p, &p.value) + 12;
    p.box.x += p.left + beside;
    p.box.w -= p.left + beside + 14;
    p.bottom = 22;
    if (p.numeric_x) {
        p.box.w -= 12;
        find_across(&p, (int)(p.box.w / 76));
    } else {
        names = fit_names(&p);
    }
    p.box.h -= p.bottom + below;
    draw_scale(&p, &p.value, true);
    if (p.numeric_x)
        draw_scale(&p, &p.across, false);
    draw_data(&p);
    draw_baseline(&p);
    if (!p.numeric_x)
        draw_names(&p, names);
    draw_axis_labels(&p, c->x_label, c->y_label);
}
