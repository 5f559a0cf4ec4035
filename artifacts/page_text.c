/* Runs of text as pango layouts, and their lines on pages. */
#include <ctype.h>
#include <stdio.h>

#include "artifacts/page.h"
#include "base/xalloc.h"

enum { TEXT_MAX = 16 * 1024 * 1024, LINKS = 20000, KEEP = 2 /* lines at a page's end and beginning */ };

static const colour_t LINK_COLOUR = 0x0b5394;
static const double LEADING = 1.16;

void page_text_init(struct page_text *t)
{
    *t = (struct page_text){.attributes = pango_attr_list_new()};
    buf_init(&t->text, TEXT_MAX);
}

void page_text_free(struct page_text *t)
{
    buf_free(&t->text);
    pango_attr_list_unref(t->attributes);
    xfree(t->links);
    *t = (struct page_text){0};
}

static void style_from(struct page_text *t, PangoAttribute *a, size_t from)
{
    a->start_index = (guint)from;
    a->end_index = (guint)t->text.n;
    pango_attr_list_insert(t->attributes, a);
}

static void background(struct page_text *t, colour_t c, size_t from)
{
    style_from(t,
               pango_attr_background_new((guint16)((c >> 16 & 255) * 257), (guint16)((c >> 8 & 255) * 257),
                                         (guint16)((c & 255) * 257)),
               from);
}

static void apply(struct page_text *t, unsigned style, double size, size_t from)
{
    if (t->text.n == from)
        return;
    if (style & STYLE_STRONG)
        style_from(t, pango_attr_weight_new(PANGO_WEIGHT_BOLD), from);
    if (style & STYLE_EMPHASIS)
        style_from(t, pango_attr_style_new(PANGO_STYLE_ITALIC), from);
    if (style & STYLE_STRIKE)
        style_from(t, pango_attr_strikethrough_new(TRUE), from);
    if (style & STYLE_UNDERLINE)
        style_from(t, pango_attr_underline_new(PANGO_UNDERLINE_SINGLE), from);
    if (style & STYLE_CODE) {
        style_from(t, pango_attr_family_new(PAGE_MONO), from);
        style_from(t, pango_attr_scale_new(0.9), from);
        background(t, 0xeef1f4, from);
    }
    if (style & STYLE_MARK)
        background(t, 0xfff1a8, from);
    if (style & (STYLE_SUPERSCRIPT | STYLE_SUBSCRIPT)) {
        double rise = style & STYLE_SUPERSCRIPT ? size * 0.33 : -size * 0.15;
        style_from(t, pango_attr_scale_new(0.7), from);
        style_from(t, pango_attr_rise_new((int)(rise * PANGO_SCALE)), from);
    }
}

static void add_link(struct page_text *t, struct span href, size_t from)
{
    if (t->text.n == from || t->n_links == LINKS || href.n > PAGE_LINK || !markdown_link_allowed(href))
        return;
    if (t->n_links == t->room) {
        t->room = t->room ? t->room * 2 : 8;
        t->links = xrealloc(t->links, t->room * sizeof *t->links);
    }
    t->links[t->n_links++] = (struct page_link){(int)from, (int)t->text.n, href};
    style_from(t,
               pango_attr_foreground_new((guint16)((LINK_COLOUR >> 16 & 255) * 257),
                                         (guint16)((LINK_COLOUR >> 8 & 255) * 257),
                                         (guint16)((LINK_COLOUR & 255) * 257)),
               from);
    style_from(t, pango_attr_underline_new(PANGO_UNDERLINE_SINGLE), from);
}

void page_text_add(struct page_text *t, const struct markdown_run *from, const struct markdown_run *end,
                   double size)
{
    for (const struct markdown_run *r = from; r && r != end; r = r->next) {
        size_t at = t->text.n;
        int failed = 0;
        switch (r->type) {
        case RUN_TEXT:
            failed = text_clean(r->text, true, &t->text);
            apply(t, r->style, size, at);
            break;
        case RUN_BREAK:
            failed = buf_addc(&t->text, '\n');
            break;
        case RUN_IMAGE:
            failed = buf_addc(&t->text, '[') ||
                     text_clean(r->text.n ? r->text : r->source, false, &t->text) || buf_addc(&t->text, ']');
            apply(t, r->style | STYLE_EMPHASIS, size, at);
            break;
        case RUN_NOTE:
            failed = buf_printf(&t->text, "%u", r->note);
            apply(t, r->style | STYLE_SUPERSCRIPT, size, at);
            break;
        }
        if (failed)
            return; /* the cap is above the longest source */
        struct span href = r->href;
        if (!href.n && r->type == RUN_IMAGE)
            href = r->source;
        if (href.n)
            add_link(t, href, at);
    }
}

PangoLayout *page_text_layout(struct page *p, struct page_text *t, const struct text_style *style,
                              double width)
{
    PangoLayout *layout =
        text_layout(p->cr, style, t->text.data ? t->text.data + t->text.start : "", t->text.n, width, 0);
    pango_layout_set_attributes(layout, t->attributes);
    pango_layout_set_line_spacing(layout, (float)LEADING);
    return layout;
}

static void put_links(struct page *p, PangoLayoutLine *line, const struct page_text *t, double x, double y,
                      double height)
{
    int from = line->start_index, to = line->start_index + line->length;
    for (size_t i = 0; i < t->n_links; i++) {
        const struct page_link *link = &t->links[i];
        if (link->to <= from)
            continue;
        if (link->from >= to)
            break;
        int *ranges, n;
        pango_layout_line_get_x_ranges(line, link->from > from ? link->from : from,
                                       link->to < to ? link->to : to, &ranges, &n);
        for (int k = 0; k < n; k++)
            if (ranges[2 * k + 1] > ranges[2 * k])
                page_link_area(p,
                               (struct page_area){x + (double)ranges[2 * k] / PANGO_SCALE, y,
                                                  (double)(ranges[2 * k + 1] - ranges[2 * k]) / PANGO_SCALE,
                                                  height, link->href});
        g_free(ranges);
    }
}

double page_text_line(struct page *p, PangoLayoutIter *iter, const struct page_text *t, colour_t colour,
                      double x, double y)
{
    PangoLayoutLine *line = pango_layout_iter_get_line_readonly(iter);
    PangoRectangle logical;
    int top, bottom;
    pango_layout_iter_get_line_extents(iter, NULL, &logical);
    pango_layout_iter_get_line_yrange(iter, &top, &bottom);
    double height = (double)(bottom - top) / PANGO_SCALE;
    double baseline = y + (double)(pango_layout_iter_get_baseline(iter) - top) / PANGO_SCALE;
    if (p->over)
        return height;
    page_put_mark(p, baseline);
    draw_colour(p->cr, colour);
    cairo_move_to(p->cr, x + (double)logical.x / PANGO_SCALE, baseline);
    pango_cairo_show_layout_line(p->cr, line);
    if (t && t->n_links)
        put_links(p, line, t, x, y, height);
    return height;
}

static double line_height(PangoLayoutIter *iter)
{
    int top, bottom;
    pango_layout_iter_get_line_yrange(iter, &top, &bottom);
    return (double)(bottom - top) / PANGO_SCALE;
}

/* The height of the next `n` lines, from the iterator's on. */
static double lines_height(const PangoLayoutIter *from, int n)
{
    PangoLayoutIter *iter = pango_layout_iter_copy((PangoLayoutIter *)from);
    double height = 0;
    do
        height += line_height(iter);
    while (--n > 0 && pango_layout_iter_next_line(iter));
    pango_layout_iter_free(iter);
    return height;
}

static void flow_layout(struct page *p, PangoLayout *layout, const struct page_text *t, colour_t colour)
{
    int lines = pango_layout_get_line_count(layout), at = 0;
    PangoLayoutIter *iter = pango_layout_get_iter(layout);
    do {
        /* A short paragraph stays whole; of a longer one, two lines stay together at either end. */
        int left = lines - at, together = at == 0        ? (lines <= KEEP + 1 ? lines : KEEP)
                                          : left == KEEP ? KEEP
                                                         : 1;
        page_need(p, lines_height(iter, together));
        p->y += page_text_line(p, iter, t, colour, p->left, p->y);
        p->blank = false;
        at++;
    } while (!p->over && pango_layout_iter_next_line(iter));
    pango_layout_iter_free(iter);
}

void page_text_flow(struct page *p, struct page_text *t, const struct text_style *style)
{
    if (t->text.n > PAGE_PIECE) {
        page_plain_flow(p, buf_span(&t->text), style);
        return;
    }
    PangoLayout *layout = page_text_layout(p, t, style, p->right - p->left);
    flow_layout(p, layout, t, style->colour);
    g_object_unref(layout);
}

/* The length of the next piece: up to its last blank; without one a short piece of whole characters, for what
 * pango does then for each line grows with all that is left. */
static size_t piece_of(struct span text)
{
    if (text.n <= PAGE_PIECE)
        return text.n;
    for (size_t n = PAGE_PIECE; n > PAGE_PIECE / 2; n--)
        if (text.p[n - 1] == ' ' || text.p[n - 1] == '\n')
            return n;
    size_t n = PAGE_PIECE / 4;
    while (n > 1 && ((unsigned char)text.p[n] & 0xc0) == 0x80)
        n--;
    return n;
}

void page_plain_flow(struct page *p, struct span text, const struct text_style *style)
{
    while (text.n && !p->over) {
        size_t n = piece_of(text);
        PangoLayout *layout = text_layout(p->cr, style, text.p, n, p->right - p->left, 0);
        pango_layout_set_line_spacing(layout, (float)LEADING);
        flow_layout(p, layout, NULL, style->colour);
        g_object_unref(layout);
        text = span_from(text, n);
    }
}
