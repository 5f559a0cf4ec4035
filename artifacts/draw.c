#include "artifacts/draw.h"

#include <stdio.h>
#include <stdlib.h>

#include "artifacts/utf8.h"
#include "base/xalloc.h"

#define DEFAULT_FAMILIES "Noto Sans, sans-serif"

void draw_colour(cairo_t *cr, colour_t c)
{
    cairo_set_source_rgb(cr, (double)(c >> 16 & 255) / 255, (double)(c >> 8 & 255) / 255,
                         (double)(c & 255) / 255);
}

static int hex_digit(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    char lower = (char)(c | 0x20);
    return lower >= 'a' && lower <= 'f' ? lower - 'a' + 10 : -1;
}

static bool read_hex(struct span text, colour_t *out)
{
    if (text.n != 3 && text.n != 4 && text.n != 6 && text.n != 8)
        return false;
    bool brief = text.n < 6;
    colour_t c = 0;
    for (size_t i = 0; i < (brief ? 3u : 6u); i++) {
        int digit = hex_digit(text.p[i]);
        if (digit < 0)
            return false;
        c = c << 4 | (colour_t)digit;
        if (brief)
            c = c << 4 | (colour_t)digit;
    }
    *out = c;
    return true;
}

static bool read_rgb(struct span text, colour_t *out)
{
    char copy[64];
    if (text.n >= sizeof copy)
        return false;
    memcpy(copy, text.p, text.n);
    copy[text.n] = '\0';
    const char *p = strchr(copy, '(');
    colour_t c = 0;
    if (!p)
        return false;
    p++;
    for (int i = 0; i < 3; i++) {
        char *end;
        long part = strtol(p, &end, 10);
        if (end == p || part < 0 || part > 255)
            return false;
        c = c << 8 | (colour_t)part;
        p = end;
        while (*p == ' ' || *p == ',')
            p++;
    }
    *out = c;
    return true;
}

bool colour_read(struct span text, colour_t *out)
{
    static const struct {
        const char *name;
        colour_t colour;
    } names[] = {{"red", 0xd62728},    {"green", 0x2ca02c},  {"blue", 0x1f77b4},  {"orange", 0xff7f0e},
                 {"purple", 0x9467bd}, {"brown", 0x8c564b},  {"pink", 0xe377c2},  {"gray", 0x7f7f7f},
                 {"grey", 0x7f7f7f},   {"yellow", 0xe0b400}, {"black", 0x000000}, {"teal", 0x008080},
                 {"navy", 0x1f3a5f},   {"cyan", 0x17becf}};
    if (text.n && text.p[0] == '#')
        return read_hex(span_from(text, 1), out);
    if (text.n > 4 && strncasecmp(text.p, "rgb", 3) == 0)
        return read_rgb(text, out);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (span_is_nocase(text, names[i].name)) {
            *out = names[i].colour;
            return true;
        }
    return false;
}

colour_t colour_blend(colour_t c, double share)
{
    double to = share > 0 ? 255 : 0, by = share > 0 ? share : -share;
    colour_t out = 0;
    for (int shift = 16; shift >= 0; shift -= 8) {
        double part = (double)(c >> shift & 255);
        out = out << 8 | (colour_t)(part + (to - part) * by + 0.5);
    }
    return out;
}

colour_t colour_on(colour_t ground)
{
    double light = 0.299 * (double)(ground >> 16 & 255) + 0.587 * (double)(ground >> 8 & 255) +
                   0.114 * (double)(ground & 255);
    return light > 140 ? COLOUR_INK : COLOUR_PAPER;
}

int text_clean(struct span text, bool lines, struct buf *out)
{
    const char *p = text.p, *end = text.p + text.n;
    int failed = 0;
    while (p < end && !failed) {
        size_t n;
        uint32_t c = utf8_next(p, end, &n);
        bool blank =
            c == '\t' || c == '\n' || c == '\r' || c == 0x2028 || c == 0x2029 || c == 0x0b || c == 0x0c;
        char encoded[UTF8_MAX];
        if (c == '\r' && end - p > 1 && p[1] == '\n')
            failed = 0; /* the line feed counts */
        else if (blank)
            failed = buf_addc(out, !lines ? ' ' : c == '\t' ? '\t' : '\n');
        else if (c >= 0x20 && (c < 0x7f || c > 0x9f) && c != 0xfeff && (c & 0xfffe) != 0xfffe)
            failed = buf_addn(out, encoded, utf8_put(c, encoded));
        p += n;
    }
    return failed;
}

const char *text_families(const char *wanted, char *room, size_t n)
{
    if (!wanted || !*wanted)
        return DEFAULT_FAMILIES;
    snprintf(room, n, "%s, " DEFAULT_FAMILIES, wanted);
    return room;
}

/* Glyphs stand where the font says, at any size: no rounding to pixels. */
static void exact_places(PangoContext *context)
{
    cairo_font_options_t *options = cairo_font_options_create();
    cairo_font_options_set_hint_style(options, CAIRO_HINT_STYLE_NONE);
    cairo_font_options_set_hint_metrics(options, CAIRO_HINT_METRICS_OFF);
    cairo_font_options_set_antialias(options, CAIRO_ANTIALIAS_GRAY);
    pango_cairo_context_set_font_options(context, options);
    cairo_font_options_destroy(options);
    pango_context_set_round_glyph_positions(context, FALSE);
}

PangoLayout *text_layout(cairo_t *cr, const struct text_style *style, const char *text, size_t n,
                         double width, int lines)
{
    PangoLayout *layout = pango_cairo_create_layout(cr);
    exact_places(pango_layout_get_context(layout));
    PangoFontDescription *font = pango_font_description_new();
    pango_font_description_set_family(font, style->family ? style->family : DEFAULT_FAMILIES);
    pango_font_description_set_absolute_size(font, style->size * PANGO_SCALE);
    pango_font_description_set_weight(font, style->bold ? PANGO_WEIGHT_BOLD : PANGO_WEIGHT_NORMAL);
    pango_font_description_set_style(font, style->italic ? PANGO_STYLE_ITALIC : PANGO_STYLE_NORMAL);
    pango_layout_set_font_description(layout, font);
    pango_font_description_free(font);
    if (width > 0) {
        pango_layout_set_width(layout, (int)(width * PANGO_SCALE));
        pango_layout_set_wrap(layout, PANGO_WRAP_WORD_CHAR);
        if (lines > 0) {
            pango_layout_set_height(layout, -lines);
            pango_layout_set_ellipsize(layout, PANGO_ELLIPSIZE_END);
        }
    }
    pango_layout_set_text(layout, text, (int)n);
    return layout;
}

PangoLayout *text_line(cairo_t *cr, const struct text_style *style, const char *text, size_t n, double limit)
{
    PangoLayout *layout = text_layout(cr, style, text, n, 0, 0);
    double width;
    text_extent(layout, &width, NULL);
    if (width > limit) {
        pango_layout_set_width(layout, (int)(limit * PANGO_SCALE));
        pango_layout_set_ellipsize(layout, PANGO_ELLIPSIZE_END);
    }
    return layout;
}

void text_extent(PangoLayout *layout, double *width, double *height)
{
    PangoRectangle logical;
    pango_layout_get_extents(layout, NULL, &logical);
    if (width)
        *width = (double)logical.width / PANGO_SCALE;
    if (height)
        *height = (double)logical.height / PANGO_SCALE;
}

void text_show(cairo_t *cr, PangoLayout *layout, colour_t colour, double x, double y)
{
    draw_colour(cr, colour);
    cairo_move_to(cr, x, y);
    pango_cairo_show_layout(cr, layout);
}

cairo_status_t draw_write(void *buf, const unsigned char *data, unsigned int n)
{
    return buf_addn(buf, data, n) ? CAIRO_STATUS_WRITE_ERROR : CAIRO_STATUS_SUCCESS;
}

/* ---- pictures ---- */

enum { PIXELS_MAX = 24000000, SIDE_MAX = 30000 };

struct reading {
    struct span left;
};

static cairo_status_t read_png(void *arg, unsigned char *to, unsigned int n)
{
    struct reading *r = arg;
    if (r->left.n < n)
        return CAIRO_STATUS_READ_ERROR;
    memcpy(to, r->left.p, n);
    r->left = span_from(r->left, n);
    return CAIRO_STATUS_SUCCESS;
}

static unsigned number(const char *p, int bytes)
{
    unsigned n = 0;
    for (int i = 0; i < bytes; i++)
        n = n << 8 | (unsigned char)p[i];
    return n;
}

static bool size_fits(unsigned width, unsigned height)
{
    return width && height && width <= SIDE_MAX && height <= SIDE_MAX &&
           (unsigned long long)width * height <= PIXELS_MAX;
}

/* The size from a JPEG's start of frame (ITU-T T.81, B.2.2); false: none, or of a kind that readers of PDF do
 * not know. */
static bool jpeg_size(struct span bytes, unsigned *width, unsigned *height)
{
    size_t at = 2;
    while (at + 9 < bytes.n) {
        unsigned char mark = (unsigned char)bytes.p[at + 1];
        if (bytes.p[at] != '\xff')
            return false;
        if (mark == 0xff) {
            at++;
            continue;
        }
        if (mark == 0xc0 || mark == 0xc1 || mark == 0xc2) {
            unsigned char components = (unsigned char)bytes.p[at + 9];
            *height = number(bytes.p + at + 5, 2);
            *width = number(bytes.p + at + 7, 2);
            return bytes.p[at + 4] == 8 && (components == 1 || components == 3);
        }
        if (mark == 0xd9 || mark == 0xda)
            return false;
        at += mark == 0x01 || (mark >= 0xd0 && mark <= 0xd8) ? 2 : 2 + (size_t)number(bytes.p + at + 2, 2);
    }
    return false;
}

static cairo_surface_t *jpeg_picture(struct span bytes, unsigned width, unsigned height)
{
    /* The pixels of this surface are never looked at: the file's own bytes go into the document. */
    cairo_surface_t *s = cairo_image_surface_create(CAIRO_FORMAT_RGB24, (int)width, (int)height);
    unsigned char *copy = xmalloc(bytes.n);
    memcpy(copy, bytes.p, bytes.n);
    if (cairo_surface_set_mime_data(s, CAIRO_MIME_TYPE_JPEG, copy, bytes.n, xfree, copy)) {
        xfree(copy);
        cairo_surface_destroy(s);
        return NULL;
    }
    return s;
}

cairo_surface_t *draw_picture(struct span bytes, double *width, double *height)
{
    unsigned w = 0, h = 0;
    cairo_surface_t *s = NULL;
    if (bytes.n > 33 && memcmp(bytes.p, "\x89PNG\r\n\x1a\n", 8) == 0) {
        struct reading r = {bytes};
        w = number(bytes.p + 16, 4);
        h = number(bytes.p + 20, 4);
        s = size_fits(w, h) ? cairo_image_surface_create_from_png_stream(read_png, &r) : NULL;
    } else if (bytes.n > 10 && memcmp(bytes.p, "\xff\xd8\xff", 3) == 0 && jpeg_size(bytes, &w, &h) &&
               size_fits(w, h)) {
        s = jpeg_picture(bytes, w, h);
    }
    if (s && cairo_surface_status(s)) {
        cairo_surface_destroy(s);
        s = NULL;
    }
    *width = w;
    *height = h;
    return s;
}
