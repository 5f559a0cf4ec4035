/* The flow of lines into pages, what stands on every page, and the tagged structure. */
#include <math.h>
#include <stdio.h>

#include "artifacts/page.h"
#include "base/xalloc.h"

static const double FURNITURE = 8; /* size of the text above and below */

static void put_furniture(struct page *p, const char *text, double y, bool right)
{
    struct text_style style = {.family = p->family, .size = FURNITURE};
    struct buf clean;
    double width, limit = p->width - 2 * p->margin - 40;
    buf_init(&clean, 2048);
    if (!text_clean(span_str(text), false, &clean) && clean.n) {
        PangoLayout *layout = text_line(p->cr, &style, clean.data + clean.start, clean.n, limit);
        text_extent(layout, &width, NULL);
        text_show(p->cr, layout, COLOUR_SOFT, right ? p->width - p->margin - width : p->margin, y);
        g_object_unref(layout);
    }
    buf_free(&clean);
}

static void put_head(struct page *p)
{
    double room = p->top - 24;
    /* Cairo 1.16 fails on a page whose first drawing is a picture (an emoji is one) within an element. */
    draw_colour(p->cr, COLOUR_PAPER);
    cairo_rectangle(p->cr, 0, 0, 1, 1);
    cairo_fill(p->cr);
    if (p->params->brand.header && *p->params->brand.header)
        put_furniture(p, p->params->brand.header, p->top - 28, false);
    if (!p->logo || room < 8)
        return;
    double scale = fmin(fmin(room - 12, 32) / p->logo_height, 140 / p->logo_width);
    cairo_save(p->cr);
    cairo_translate(p->cr, p->width - p->margin - p->logo_width * scale,
                    p->top - 16 - p->logo_height * scale);
    cairo_scale(p->cr, scale, scale);
    cairo_set_source_surface(p->cr, p->logo, 0, 0);
    cairo_paint(p->cr);
    cairo_restore(p->cr);
}

static void put_foot(struct page *p)
{
    char number[16];
    double y = p->height - p->margin + 18;
    snprintf(number, sizeof number, "%u", p->number);
    put_furniture(p, number, y, true);
    if (p->params->brand.footer && *p->params->brand.footer)
        put_furniture(p, p->params->brand.footer, y, false);
}

static void draw_bars(struct page *p)
{
    for (unsigned i = 0; i < p->n_bars; i++) {
        if (p->bars[i].from < 0 || p->y <= p->bars[i].from)
            continue;
        draw_colour(p->cr, COLOUR_FRAME);
        cairo_rectangle(p->cr, p->bars[i].x, p->bars[i].from, 2, p->y - p->bars[i].from);
        cairo_fill(p->cr);
        p->bars[i].from = p->y;
    }
}

void page_begin(struct page *p)
{
    p->number = 1;
    p->y = p->top;
    p->gap = 0;
    p->blank = true;
    put_head(p);
}

void page_finish(struct page *p)
{
    draw_bars(p);
    put_foot(p);
    cairo_show_page(p->cr);
}

void page_break(struct page *p)
{
    const char *tag = p->tag;
    if (p->number == PAGE_MAX)
        p->over = true;
    if (p->over) {
        p->y = p->top; /* what comes after is not drawn, and the renderer refuses the document */
        return;
    }
    page_untag(p);
    page_finish(p);
    p->number++;
    p->y = p->top;
    p->gap = 0;
    p->blank = true;
    for (unsigned i = 0; i < p->n_bars; i++)
        p->bars[i].from = p->bars[i].from < 0 ? -1 : p->y;
    put_head(p);
    if (tag)
        page_tag(p, tag);
}

double page_left(const struct page *p)
{
    return p->bottom - p->y;
}

void page_gap(struct page *p, double gap)
{
    p->gap = fmax(p->gap, gap);
}

void page_need(struct page *p, double height)
{
    if (!p->blank && p->y + p->gap + height > p->bottom + 0.01)
        page_break(p);
    if (!p->blank)
        p->y += p->gap;
    p->gap = 0;
    /* A quote's bar begins with its first line, not with the white space before it. */
    for (unsigned i = 0; i < p->n_bars; i++)
        if (p->bars[i].from < 0)
            p->bars[i].from = p->y;
}

void page_tag(struct page *p, const char *tag)
{
    cairo_tag_begin(p->cr, tag, NULL);
    p->tag = tag;
}

/* A target as an attribute's value: ASCII without quotes, blanks and backslashes, and without parentheses,
 * which cairo 1.16 copies into a PDF string as they are: one too many would end the string. */
static void write_target(struct span href, struct buf *out)
{
    for (size_t i = 0; i < href.n; i++) {
        unsigned char c = (unsigned char)href.p[i];
        if (c <= 0x20 || c >= 0x7f || strchr("'\\\"<>[]{}()^`|", c))
            buf_printf(out, "%%%02X", c);
        else
            buf_addc(out, (char)c);
    }
}

static void put_link(struct page *p, const struct page_area *area)
{
    struct buf attributes;
    buf_init(&attributes, PAGE_LINK * 3 + 256);
    buf_printf(&attributes, "rect=[%.2f %.2f %.2f %.2f] uri='", area->x, area->y, area->width, area->height);
    write_target(area->href, &attributes);
    buf_adds(&attributes, "'");
    if (!buf_full(&attributes)) {
        cairo_tag_begin(p->cr, CAIRO_TAG_LINK, buf_cstr(&attributes));
        cairo_tag_end(p->cr, CAIRO_TAG_LINK);
    }
    buf_free(&attributes);
}

void page_link_area(struct page *p, struct page_area area)
{
    if (p->n_areas == p->areas_room) {
        p->areas_room = p->areas_room ? p->areas_room * 2 : 16;
        p->areas = xrealloc(p->areas, p->areas_room * sizeof *p->areas);
    }
    p->areas[p->n_areas++] = area;
}

void page_untag(struct page *p)
{
    if (p->tag)
        cairo_tag_end(p->cr, p->tag);
    p->tag = NULL;
    for (size_t i = 0; i < p->n_areas; i++)
        put_link(p, &p->areas[i]);
    p->n_areas = 0;
}

void page_group(struct page *p, const char *tag)
{
    cairo_tag_begin(p->cr, tag, NULL);
}

void page_ungroup(struct page *p, const char *tag)
{
    cairo_tag_end(p->cr, tag);
}

void page_bar_open(struct page *p, double x)
{
    if (p->n_bars == PAGE_BARS)
        return;
    p->bars[p->n_bars].x = x;
    p->bars[p->n_bars++].from = -1; /* not begun */
}

void page_bar_close(struct page *p)
{
    if (!p->n_bars)
        return;
    unsigned last = p->n_bars - 1;
    if (p->bars[last].from >= 0 && p->y > p->bars[last].from) {
        draw_colour(p->cr, COLOUR_FRAME);
        cairo_rectangle(p->cr, p->bars[last].x, p->bars[last].from, 2, p->y - p->bars[last].from);
        cairo_fill(p->cr);
    }
    p->n_bars--;
}

void page_put_mark(struct page *p, double baseline)
{
    if (!p->mark.text[0])
        return;
    struct text_style style = {.family = p->family, .size = 10};
    PangoLayout *layout = text_layout(p->cr, &style, p->mark.text, strlen(p->mark.text), 0, 0);
    double width;
    text_extent(layout, &width, NULL);
    double x = p->mark.rtl ? p->mark.edge : p->mark.edge - width;
    text_show(p->cr, layout, COLOUR_INK, x,
              baseline - (double)pango_layout_get_baseline(layout) / PANGO_SCALE);
    g_object_unref(layout);
    p->mark.text[0] = '\0';
}
