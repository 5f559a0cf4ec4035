/* Tables: columns as wide as their text wants, rows that stay whole as long as a page holds them, the head
 * again on every page. */
#include <math.h>

#include "artifacts/page.h"
#include "base/xalloc.h"

enum { MEASURED = 2000 /* cells that say how wide the columns are */ };

static const double PAD_X = 5, PAD_Y = 3.2;

struct cell {
    struct page_text text;
    PangoLayout *layout;
    PangoLayoutIter *iter;
    bool done; /* all of its lines are drawn */
};

struct table {
    struct page *p;
    const struct markdown_block *block, *head; /* head: the row, or NULL */
    size_t columns;
    double size; /* of the text */
    bool rtl;    /* the first column stands on the right */
    double width[MARKDOWN_COLUMNS], x[MARKDOWN_COLUMNS], total, left;
    struct cell cells[MARKDOWN_COLUMNS];
};

static struct text_style cell_style(const struct table *t, bool head)
{
    return (struct text_style){.family = t->p->family, .size = t->size, .bold = head, .colour = COLOUR_INK};
}

/* ---- how wide ---- */

static void measure_cell(struct table *t, const struct markdown_block *cell, double *widest, double *word)
{
    struct text_style style = cell_style(t, cell->head);
    struct page_text text;
    double w;
    page_text_init(&text);
    page_text_add(&text, cell->runs, NULL, t->size);
    if (text.text.n > PAGE_PIECE)
        buf_cut(&text.text, 1024); /* long enough to want all there is */
    PangoLayout *layout = page_text_layout(t->p, &text, &style, -1);
    text_extent(layout, &w, NULL);
    *widest = fmax(*widest, w);
    pango_layout_set_wrap(layout, PANGO_WRAP_WORD);
    pango_layout_set_width(layout, 0);
    text_extent(layout, &w, NULL);
    *word = fmax(*word, w);
    g_object_unref(layout);
    page_text_free(&text);
}

/* Shares the room: every column its longest word, the rest by what they want beyond it. */
static bool share_width(struct table *t, const double *widest, const double *word, double room)
{
    double wanted = 0, least = 0;
    for (size_t i = 0; i < t->columns; i++) {
        wanted += widest[i];
        least += word[i];
    }
    if (wanted <= room) {
        double extra = wanted >= room * 0.6 ? (room - wanted) / (double)t->columns
                                            : fmin(14, (room - wanted) / (double)t->columns);
        for (size_t i = 0; i < t->columns; i++)
            t->width[i] = widest[i] + extra;
        return true;
    }
    if (least <= room) {
        for (size_t i = 0; i < t->columns; i++)
            t->width[i] = word[i] + (room - least) * (widest[i] - word[i]) / (wanted - least);
        return true;
    }
    /* Words must break: a column keeps what it needs as long as that is below the even share of the others.
     */
    double left = room;
    size_t open = t->columns;
    bool settled[MARKDOWN_COLUMNS] = {false}, again = true;
    while (again && open) {
        again = false;
        for (size_t i = 0; i < t->columns; i++)
            if (!settled[i] && word[i] <= left / (double)open) {
                t->width[i] = word[i];
                left -= word[i];
                open--;
                settled[i] = again = true;
                if (!open)
                    break;
            }
    }
    for (size_t i = 0; i < t->columns; i++)
        if (!settled[i])
            t->width[i] = left / (double)open;
    return false;
}

/* Text grows and shrinks with its size; so it is measured at one, and the largest is taken at which no word
 * must break. */
static void measure(struct table *t, double room)
{
    static const double sizes[] = {9, 8, 7, 6};
    double widest[MARKDOWN_COLUMNS] = {0}, word[MARKDOWN_COLUMNS] = {0};
    size_t cells = 0;
    t->size = sizes[0];
    for (const struct markdown_block *row = t->block->first; row && cells < MEASURED; row = row->next) {
        size_t i = 0;
        for (const struct markdown_block *c = row->first; c && i < t->columns; c = c->next, i++, cells++)
            measure_cell(t, c, &widest[i], &word[i]);
    }
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
        double wide[MARKDOWN_COLUMNS], least[MARKDOWN_COLUMNS], scale = sizes[s] / sizes[0];
        for (size_t i = 0; i < t->columns; i++) {
            least[i] = fmax(word[i] * scale + 1, 8) + 2 * PAD_X;
            wide[i] = fmax(widest[i] * scale + 1, 8) + 2 * PAD_X;
        }
        t->size = sizes[s];
        if (share_width(t, wide, least, room))
            break;
    }
    t->total = 0;
    for (size_t i = 0; i < t->columns; i++)
        t->total += t->width[i];
    t->left = t->rtl ? t->p->right - t->total : t->p->left;
    double at = t->rtl ? t->left + t->total : t->left;
    for (size_t i = 0; i < t->columns; i++) {
        at -= t->rtl ? t->width[i] : 0;
        t->x[i] = at;
        at += t->rtl ? 0 : t->width[i];
    }
}

/* ---- rows ---- */

static void align(PangoLayout *layout, enum markdown_align a, bool rtl)
{
    PangoAlignment side = a == ALIGN_CENTER  ? PANGO_ALIGN_CENTER
                          : a == ALIGN_RIGHT ? PANGO_ALIGN_RIGHT
                                             : PANGO_ALIGN_LEFT;
    /* Pango's left is where the text begins. */
    if (rtl && (a == ALIGN_LEFT || a == ALIGN_RIGHT))
        side = a == ALIGN_RIGHT ? PANGO_ALIGN_LEFT : PANGO_ALIGN_RIGHT;
    pango_layout_set_alignment(layout, side);
}

/* Lays out a row; answers its height. */
static double open_row(struct table *t, const struct markdown_block *row)
{
    double height = 0, h;
    size_t i = 0;
    for (const struct markdown_block *c = row->first; c && i < t->columns; c = c->next, i++) {
        struct cell *cell = &t->cells[i];
        struct text_style style = cell_style(t, row->head);
        page_text_init(&cell->text);
        page_text_add(&cell->text, c->runs, NULL, t->size);
        cell->layout = page_text_layout(t->p, &cell->text, &style, fmax(t->width[i] - 2 * PAD_X, 4));
        align(cell->layout, c->align, markdown_is_rtl(c->runs));
        cell->iter = pango_layout_get_iter(cell->layout);
        cell->done = cell->text.text.n == 0;
        text_extent(cell->layout, NULL, &h);
        height = fmax(height, h);
    }
    return height + 2 * PAD_Y;
}

static void close_row(struct table *t)
{
    for (size_t i = 0; i < t->columns; i++) {
        struct cell *cell = &t->cells[i];
        if (!cell->layout)
            continue;
        pango_layout_iter_free(cell->iter);
        g_object_unref(cell->layout);
        page_text_free(&cell->text);
        *cell = (struct cell){0};
    }
}

/* Draws lines of a cell until `room` is used up; at least one when `forced`. Answers the height used. */
static double put_cell(struct table *t, size_t i, double room, bool forced, const char *tag)
{
    struct cell *cell = &t->cells[i];
    double used = 0;
    int top, bottom;
    if (tag)
        page_tag(t->p, tag);
    while (!cell->done) {
        pango_layout_iter_get_line_yrange(cell->iter, &top, &bottom);
        double line = (double)(bottom - top) / PANGO_SCALE;
        if (used + line > room + 0.01 && !(forced && used <= 0))
            break;
        used += page_text_line(t->p, cell->iter, &cell->text, COLOUR_INK, t->x[i] + PAD_X,
                               t->p->y + PAD_Y + used);
        cell->done = !pango_layout_iter_next_line(cell->iter);
    }
    if (tag)
        page_untag(t->p);
    return used;
}

static void put_rule(struct table *t, double thick, colour_t colour)
{
    draw_colour(t->p->cr, colour);
    cairo_rectangle(t->p->cr, t->left, t->p->y - thick / 2, t->total, thick);
    cairo_fill(t->p->cr);
}

static void put_ground(struct table *t, double height)
{
    draw_colour(t->p->cr, colour_blend(t->p->accent, 0.88));
    cairo_rectangle(t->p->cr, t->left, t->p->y, t->total, height);
    cairo_fill(t->p->cr);
}

/* What of the row fits on the page; whether that was all of it. */
static bool put_part(struct table *t, const char *tag, bool forced)
{
    double used = 0, room = page_left(t->p) - 2 * PAD_Y;
    bool done = true;
    for (size_t i = 0; i < t->columns; i++)
        if (t->cells[i].layout) {
            used = fmax(used, put_cell(t, i, room, forced, tag));
            done &= t->cells[i].done;
        }
    t->p->y += fmax(used, t->size) + 2 * PAD_Y;
    t->p->blank = false;
    return done;
}

static double head_height(struct table *t)
{
    double height = t->head ? open_row(t, t->head) : 0;
    if (t->head)
        close_row(t);
    return height;
}

static void put_head_again(struct table *t)
{
    struct page *p = t->p;
    if (!t->head || p->over)
        return;
    double height = open_row(t, t->head);
    if (height < (p->bottom - p->top) / 3) {
        put_ground(t, height);
        put_part(t, NULL, true);
        put_rule(t, 1, p->accent);
    }
    close_row(t);
}

static void put_row(struct table *t, const struct markdown_block *row)
{
    struct page *p = t->p;
    double page = p->bottom - p->top, height = open_row(t, row);
    bool whole = height <= page_left(p) + 0.01;
    if (!whole && !p->blank && (height < page * 0.6 || page_left(p) < 60)) {
        close_row(t);
        page_break(p);
        if (!row->head)
            put_head_again(t);
        height = open_row(t, row);
        whole = height <= page_left(p) + 0.01;
    }
    page_group(p, "TR");
    if (row->head && whole)
        put_ground(t, height);
    while (!put_part(t, row->head ? "TH" : "TD", p->blank) && !p->over) {
        put_rule(t, 0.5, COLOUR_GRID);
        page_break(p);
    }
    page_ungroup(p, "TR");
    put_rule(t, row->head ? 1 : 0.6, row->head ? p->accent : COLOUR_GRID);
    close_row(t);
}

/* Whether a cell's text is too long to be laid out at once. */
static bool has_huge_cell(const struct markdown_block *block)
{
    for (const struct markdown_block *row = block->first; row; row = row->next)
        for (const struct markdown_block *c = row->first; c; c = c->next) {
            size_t n = 0;
            for (const struct markdown_run *r = c->runs; r && n <= PAGE_PIECE; r = r->next)
                n += r->text.n + 1;
            if (n > PAGE_PIECE)
                return true;
        }
    return false;
}

void page_table(struct page *p, const struct markdown_block *block)
{
    if (has_huge_cell(block)) {
        page_blocks(p, block->first); /* its cells as paragraphs: every word, if no columns */
        return;
    }
    struct table *t = xcalloc(1, sizeof *t);
    t->p = p;
    t->block = block;
    t->columns = block->columns > MARKDOWN_COLUMNS ? MARKDOWN_COLUMNS : block->columns;
    if (block->first && block->first->head)
        t->head = block->first;
    t->rtl = block->first && block->first->first && markdown_is_rtl(block->first->first->runs);
    if (t->columns && block->first) {
        measure(t, p->right - p->left);
        page_gap(p, 8);
        /* The head stays with a row. */
        page_need(p, fmin(head_height(t) + 30, p->bottom - p->top));
        page_group(p, "Table");
        for (const struct markdown_block *row = block->first; row && !p->over; row = row->next)
            put_row(t, row);
        page_ungroup(p, "Table");
        page_gap(p, 10);
    }
    xfree(t);
}
