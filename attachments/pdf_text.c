#include "attachments/pdf_text.h"

enum {
    GUTTER = 2,   /* blanks that part columns, at least */
    WIDEST = 400, /* columns of a line that are looked at */
    PROSE = 20,   /* letters that a line of a column has on the average, at least */
    FEWEST = 5,   /* lines of which a page must have more for that */
    BLANKS = 4,   /* the longest run that is kept */
};

/* ---- characters ---- */

/* The next character, at least one byte of it; -1: not UTF-8 (one byte is passed over). */
static int32_t next(struct span *text)
{
    const unsigned char *p = (const unsigned char *)text->p;
    size_t n = p[0] < 0x80                   ? 1
               : p[0] >= 0xc2 && p[0] < 0xe0 ? 2
               : (p[0] & 0xf0) == 0xe0       ? 3
               : p[0] >= 0xf0 && p[0] < 0xf5 ? 4
                                             : 0;
    int32_t c = n == 1 ? p[0] : p[0] & (0x7f >> n);
    if (n == 0 || n > text->n) {
        *text = span_from(*text, 1);
        return -1;
    }
    for (size_t i = 1; i < n; i++) {
        if ((p[i] & 0xc0) != 0x80) {
            *text = span_from(*text, 1);
            return -1;
        }
        c = c << 6 | (p[i] & 0x3f);
    }
    bool bad =
        (n == 3 && c < 0x800) || (n == 4 && (c < 0x10000 || c > 0x10ffff)) || (c >= 0xd800 && c < 0xe000);
    *text = span_from(*text, bad ? 1 : n);
    return bad ? -1 : c;
}

static bool is_blank(int32_t c)
{
    return c == ' ' || c == '\t' || c == 0xa0 || (c >= 0x2000 && c <= 0x200b) || c == 0x3000 || c == 0xfeff;
}

static bool is_control(int32_t c)
{
    return (c >= 0 && c < 0x20) || (c >= 0x7f && c < 0xa0);
}

bool pdf_text_visible(struct span text)
{
    while (text.n) {
        int32_t c = next(&text);
        if (c > 0 && !is_blank(c) && !is_control(c) && c != 0xad)
            return true;
    }
    return false;
}

/* ---- pages and lines ---- */

/* Cuts off the beginning up to `end`, which is passed over; all of it when there is none. */
static struct span cut(struct span *text, char end)
{
    const char *at = text->n ? memchr(text->p, end, text->n) : NULL;
    struct span first = span_of(text->p, at ? (size_t)(at - text->p) : text->n);
    *text = span_from(*text, first.n + (at ? 1 : 0));
    return first;
}

static size_t count_pages(struct span text)
{
    size_t n = 0;
    for (; text.n; n++)
        cut(&text, '\f');
    return n;
}

/* ---- columns ---- */

struct gap {
    size_t from, to; /* columns of blanks between texts */
};

enum { GAPS = 32 };

/* A line of a page: its gaps, and where its text begins and ends. */
struct line {
    struct gap gaps[GAPS];
    size_t n, from, to;
};

static void measure(struct span text, struct line *l)
{
    size_t at = 0, blanks = 0;
    bool begun = false;
    *l = (struct line){.n = 0};
    for (; text.n; at++) {
        int32_t c = next(&text);
        if (is_blank(c) || is_control(c)) {
            blanks++;
            continue;
        }
        if (!begun)
            l->from = at;
        else if (blanks >= GUTTER && l->n < GAPS)
            l->gaps[l->n++] = (struct gap){at - blanks, at};
        begun = true;
        blanks = 0;
        l->to = at + 1;
    }
}

/* The column over which most lines have a gap. */
static size_t find_gutter(struct span page, size_t *lines, size_t *with)
{
    unsigned counts[WIDEST] = {0};
    struct line l;
    size_t best = 0;
    *lines = 0;
    while (page.n) {
        measure(cut(&page, '\n'), &l);
        *lines += l.to > 0;
        for (size_t i = 0; i < l.n; i++)
            for (size_t c = l.gaps[i].from; c < l.gaps[i].to && c < WIDEST; c++)
                counts[c]++;
    }
    for (size_t c = 0; c < WIDEST; c++)
        if (counts[c] > counts[best])
            best = c;
    *with = counts[best];
    return best;
}

static bool has_two_columns(struct span page)
{
    size_t lines, with, left = 0, right = 0, third = 0;
    size_t gutter = find_gutter(page, &lines, &with);
    struct line l;
    if (lines <= FEWEST || 5 * with < 2 * lines)
        return false;
    while (page.n) {
        measure(cut(&page, '\n'), &l);
        for (size_t i = 0; i < l.n; i++)
            if (l.gaps[i].from <= gutter && gutter < l.gaps[i].to) {
                left += l.gaps[i].from - l.from;
                right += l.to - l.gaps[i].to;
                third += l.n > 1;
            }
    }
    return left >= PROSE * with && right >= PROSE * with && 5 * third < with;
}

bool pdf_text_has_columns(struct span laid_out)
{
    while (laid_out.n)
        if (has_two_columns(cut(&laid_out, '\f')))
            return true;
    return false;
}

/* ---- writing ---- */

struct writer {
    struct buf *out;
    size_t blanks, lines; /* that were not written yet */
    bool begun;           /* something of this page was written */
    bool hyphen;          /* the last thing was a soft hyphen */
};

static void put(struct writer *w, int32_t c, struct span bytes)
{
    size_t lines = !w->begun ? 0 : w->hyphen && w->lines == 1 ? 0 : w->lines > 2 ? 2 : w->lines;
    size_t blanks = w->hyphen && w->lines == 1 ? 0 : w->blanks > BLANKS ? BLANKS : w->blanks;
    while (lines--)
        buf_addc(w->out, '\n');
    while (blanks--)
        buf_addc(w->out, ' ');
    if (c < 0)
        buf_adds(w->out, "\xef\xbf\xbd");
    else
        buf_add(w->out, bytes);
    w->blanks = w->lines = 0;
    w->begun = true;
    w->hyphen = false;
}

static void write_page(struct span page, struct buf *out)
{
    struct writer w = {.out = out};
    while (page.n) {
        struct span rest = page;
        int32_t c = next(&page);
        if (c == '\n') {
            w.lines++;
            w.blanks = 0;
        } else if (c == 0xad) {
            w.hyphen = true;
        } else if (is_blank(c)) {
            w.blanks++;
        } else if (!is_control(c)) {
            put(&w, c, span_of(rest.p, rest.n - page.n));
        }
    }
}

void pdf_text_write(struct span laid_out, struct span in_order, struct buf *out)
{
    bool both = count_pages(laid_out) == count_pages(in_order);
    for (size_t number = 1; laid_out.n; number++) {
        struct span page = cut(&laid_out, '\f'), other = cut(&in_order, '\f');
        if (number > 1)
            buf_printf(out, "\n\n<!-- Page %zu -->\n\n", number);
        size_t before = out->n;
        write_page(both && has_two_columns(page) ? other : page, out);
        if (out->n == before)
            buf_adds(out, "(no text on this page)");
    }
}
