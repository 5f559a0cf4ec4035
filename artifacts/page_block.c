/* Blocks of Markdown in the flow of pages. */
#include <math.h>
#include <stdio.h>

#include "artifacts/chart.h"
#include "artifacts/page.h"

static const double TEXT = 10, CODE = 8.5, PARAGRAPH_GAP = 6.5, INDENT = 17, NARROW = 110;

static struct text_style body_style(const struct page *p)
{
    return (struct text_style){
        .family = p->family, .size = TEXT, .colour = p->n_bars ? COLOUR_SOFT : COLOUR_INK};
}

/* ---- headings ---- */

static void add_outline(struct page *p, const struct markdown_block *b, unsigned level)
{
    struct buf name;
    char place[64];
    int parent = CAIRO_PDF_OUTLINE_ROOT;
    if (p->over || p->headings++ >= PAGE_HEADINGS)
        return;
    buf_init(&name, 1024);
    struct buf plain;
    buf_init(&plain, 64 * 1024);
    if (!markdown_plain(b->runs, &plain) && plain.n) {
        size_t n = plain.n;
        for (n = n > 200 ? 200 : n;
             n < plain.n && n && ((unsigned char)plain.data[plain.start + n] & 0xc0) == 0x80;)
            n--;
        if (!text_clean(span_of(plain.data + plain.start, n), false, &name) && name.n) {
            for (unsigned up = level; up-- > 1;)
                if (p->outline[up]) {
                    parent = p->outline[up];
                    break;
                }
            snprintf(place, sizeof place, "page=%u pos=[%.1f %.1f]", p->number, p->margin, fmax(p->y - 6, 0));
            p->outline[level] = cairo_pdf_surface_add_outline(p->surface, parent, buf_cstr(&name), place,
                                                              level < 3 ? CAIRO_PDF_OUTLINE_FLAG_OPEN : 0);
            for (unsigned down = level + 1; down <= 6; down++)
                p->outline[down] = 0;
        }
    }
    buf_free(&plain);
    buf_free(&name);
}

static void put_heading(struct page *p, const struct markdown_block *b)
{
    static const double sizes[] = {19, 15, 12.5, 11, 10.5, 10}, before[] = {20, 17, 14, 12, 10, 10};
    static const char *const tags[] = {"H1", "H2", "H3", "H4", "H5", "H6"};
    unsigned level = b->level < 1 ? 1 : b->level > 6 ? 6 : b->level;
    struct text_style style = {.family = p->heading_family,
                               .size = sizes[level - 1],
                               .bold = true,
                               .colour = level <= 3 ? p->accent : COLOUR_INK};
    struct page_text text;
    double height;
    page_text_init(&text);
    page_text_add(&text, b->runs, NULL, style.size);
    if (text.text.n && text.text.n < PAGE_PIECE) {
        PangoLayout *layout = page_text_layout(p, &text, &style, p->right - p->left);
        text_extent(layout, NULL, &height);
        g_object_unref(layout);
        page_gap(p, before[level - 1]);
        page_need(p, fmin(height + 60, p->bottom - p->top));
        add_outline(p, b, level);
    }
    page_tag(p, tags[level - 1]);
    page_text_flow(p, &text, &style);
    page_untag(p);
    page_gap(p, level < 3 ? 7 : 5);
    page_text_free(&text);
}

/* ---- pictures ---- */

static const struct render_asset *find_asset(const struct page *p, struct span source)
{
    while (span_starts(source, "./"))
        source = span_from(source, 2);
    for (size_t i = 0; i < p->params->n_assets; i++)
        if (span_is_nocase(source, p->params->assets[i].name))
            return &p->params->assets[i];
    return NULL;
}

static bool put_picture(struct page *p, const struct render_asset *asset)
{
    double width, height, room = p->right - p->left;
    cairo_surface_t *picture = draw_picture(asset->bytes, &width, &height);
    if (!picture)
        return false;
    double scale = fmin(fmin(0.75, room / width), (p->bottom - p->top) * 0.92 / height);
    page_gap(p, PARAGRAPH_GAP);
    page_need(p, height * scale);
    if (!p->over) {
        page_put_mark(p, p->y + TEXT);
        page_tag(p, "Figure");
        cairo_save(p->cr);
        cairo_translate(p->cr, p->left, p->y);
        cairo_scale(p->cr, scale, scale);
        cairo_set_source_surface(p->cr, picture, 0, 0);
        cairo_rectangle(p->cr, 0, 0, width, height);
        cairo_fill(p->cr);
        cairo_restore(p->cr);
        page_untag(p);
    }
    p->y += height * scale;
    p->blank = false;
    page_gap(p, PARAGRAPH_GAP);
    cairo_surface_destroy(picture);
    return true;
}

static bool put_chart(struct page *p, struct span source)
{
    struct render_params params = {.brand = p->params->brand};
    char sentence[RENDER_SENTENCE] = "";
    struct chart c;
    bool drawn = chart_read(source, &params, &c, sentence) == RENDER_OK;
    if (drawn) {
        double width = c.width > 0 ? c.width : 800, height = c.height > 0 ? c.height : 460;
        double scale = fmin(fmin((p->right - p->left) / width, 0.75), (p->bottom - p->top) * 0.9 / height);
        page_gap(p, PARAGRAPH_GAP + 2);
        page_need(p, height * scale);
        if (!p->over) {
            page_put_mark(p, p->y + TEXT);
            page_tag(p, "Figure");
            cairo_save(p->cr);
            cairo_translate(p->cr, p->left, p->y);
            cairo_scale(p->cr, scale, scale);
            chart_draw(p->cr, &c, width, height);
            cairo_restore(p->cr);
            page_untag(p);
        }
        p->y += height * scale;
        p->blank = false;
        page_gap(p, PARAGRAPH_GAP + 2);
    }
    chart_free(&c);
    return drawn;
}

/* ---- paragraphs ---- */

static bool is_blank(const struct buf *b)
{
    for (size_t i = 0; i < b->n; i++)
        if (!strchr(" \t\n", b->data[b->start + i]))
            return false;
    return true;
}

static void put_runs(struct page *p, const struct markdown_run *from, const struct markdown_run *end)
{
    struct text_style style = body_style(p);
    struct page_text text;
    page_text_init(&text);
    page_text_add(&text, from, end, style.size);
    if (!is_blank(&text.text)) {
        page_tag(p, "P");
        page_text_flow(p, &text, &style);
        page_untag(p);
    }
    page_text_free(&text);
}

/* Pictures that are at hand stand between the text before and the text after them. */
static void put_paragraph(struct page *p, const struct markdown_block *b)
{
    const struct markdown_run *from = b->runs;
    for (const struct markdown_run *r = b->runs; r; r = r->next) {
        if (r->type != RUN_IMAGE)
            continue;
        const struct render_asset *asset = find_asset(p, r->source);
        if (from != r && asset)
            put_runs(p, from, r);
        if (asset && put_picture(p, asset))
            from = r->next;
        else
            p->lost++;
    }
    put_runs(p, from, NULL);
}

/* ---- code ---- */

/* As many of the layout's lines as fit, on one grey ground. */
static void put_code_lines(struct page *p, PangoLayout *layout, bool first, bool last)
{
    PangoLayoutIter *iter = pango_layout_get_iter(layout);
    const double pad = 5;
    bool more = true;
    while (more && !p->over) {
        PangoLayoutIter *ahead = pango_layout_iter_copy(iter);
        double height = 0, line;
        int n = 0, top, bottom;
        page_need(p, 2 * CODE * 1.5 + (first ? pad : 0));
        double room = page_left(p) - (first ? pad : 0);
        do {
            pango_layout_iter_get_line_yrange(ahead, &top, &bottom);
            line = (double)(bottom - top) / PANGO_SCALE;
            if (n && height + line > room)
                break;
            height += line;
            n++;
        } while (pango_layout_iter_next_line(ahead));
        pango_layout_iter_free(ahead);
        draw_colour(p->cr, 0xf3f5f7);
        cairo_rectangle(p->cr, p->left, p->y, p->right - p->left,
                        height + (first ? pad : 0) + (last ? pad : 0));
        cairo_fill(p->cr);
        p->y += first ? pad : 0;
        first = false;
        for (int i = 0; i < n && more; i++) {
            p->y += page_text_line(p, iter, NULL, COLOUR_INK, p->left + 7, p->y);
            more = pango_layout_iter_next_line(iter);
        }
        p->blank = false;
        if (more)
            page_break(p);
    }
    p->y += last ? pad : 0;
    pango_layout_iter_free(iter);
}

/* The next piece of code: whole lines as long as these are not too long themselves. */
static size_t code_piece(struct span code)
{
    if (code.n <= PAGE_PIECE)
        return code.n;
    const char *end = memrchr(code.p, '\n', PAGE_PIECE);
    size_t n = end ? (size_t)(end - code.p) + 1 : PAGE_PIECE;
    while (!end && n > 1 && ((unsigned char)code.p[n] & 0xc0) == 0x80)
        n--;
    return n;
}

static void put_code(struct page *p, const struct markdown_block *b)
{
    struct text_style style = {.family = PAGE_MONO, .size = CODE};
    struct buf clean;
    if (span_is_nocase(b->language, "chart") && put_chart(p, b->code))
        return;
    buf_init(&clean, b->code.n * 3 + 16);
    if (!text_clean(b->code, true, &clean)) {
        struct span left = buf_span(&clean);
        bool first = true;
        page_gap(p, PARAGRAPH_GAP);
        page_tag(p, "Code");
        do {
            size_t n = code_piece(left);
            bool last = n == left.n;
            /* The line break at the end is no line of its own. */
            size_t shown = n && left.p[n - 1] == '\n' ? n - 1 : n;
            PangoLayout *layout = text_layout(p->cr, &style, left.p, shown, p->right - p->left - 14, 0);
            pango_layout_set_line_spacing(layout, 1.12f);
            put_code_lines(p, layout, first, last);
            g_object_unref(layout);
            left = span_from(left, n);
            first = false;
        } while (left.n && !p->over);
        page_untag(p);
    }
    buf_free(&clean);
    page_gap(p, PARAGRAPH_GAP + 2);
}

/* ---- lists and quotes ---- */

static bool first_is_rtl(const struct markdown_block *b)
{
    while (b && !b->runs && b->first)
        b = b->first;
    return b && markdown_is_rtl(b->runs);
}

static double mark_indent(const struct markdown_block *list)
{
    unsigned long long number = list->start;
    double digits = 1;
    for (const struct markdown_block *item = list->first; item; item = item->next)
        number++;
    for (; number > 9; number /= 10)
        digits++;
    return list->ordered ? fmax(INDENT, digits * 6.2 + 9) : INDENT;
}

static void put_list(struct page *p, const struct markdown_block *list, unsigned depth)
{
    static const char *const bullets[] = {"\xe2\x80\xa2", "\xe2\x97\xa6", "\xe2\x96\xaa"};
    double indent = p->right - p->left < NARROW ? 0 : mark_indent(list);
    unsigned long long number = list->start;
    page_group(p, "L");
    for (const struct markdown_block *item = list->first; item && !p->over; item = item->next, number++) {
        double left = p->left, right = p->right;
        bool rtl = first_is_rtl(item);
        page_group(p, "LI");
        if (item->task != TASK_NONE)
            snprintf(p->mark.text, sizeof p->mark.text, "%s",
                     item->task == TASK_DONE ? "\xe2\x98\x92" : "\xe2\x98\x90");
        else if (list->ordered)
            snprintf(p->mark.text, sizeof p->mark.text, "%llu.", number);
        else
            snprintf(p->mark.text, sizeof p->mark.text, "%s", bullets[depth % 3]);
        *(rtl ? &p->right : &p->left) += rtl ? -indent : indent;
        p->mark.rtl = rtl;
        p->mark.edge = rtl ? p->right + 5 : p->left - 5;
        page_gap(p, list->tight ? 2 : 5);
        page_blocks(p, item->first);
        if (p->mark.text[0]) {
            page_need(p, TEXT * 1.5);
            page_put_mark(p, p->y + TEXT * 1.1);
            p->y += TEXT * 1.5;
            p->blank = false;
        }
        p->left = left;
        p->right = right;
        p->gap = list->tight ? 2 : 5;
        page_ungroup(p, "LI");
    }
    page_ungroup(p, "L");
}

static void put_quote(struct page *p, const struct markdown_block *b)
{
    double left = p->left, right = p->right;
    bool barred = p->right - p->left >= NARROW && p->n_bars < PAGE_BARS, rtl = first_is_rtl(b);
    page_gap(p, PARAGRAPH_GAP);
    page_group(p, "BlockQuote");
    if (barred) {
        page_bar_open(p, rtl ? p->right - 4 : p->left + 2); /* where the lines begin */
        *(rtl ? &p->right : &p->left) += rtl ? -13 : 13;
    }
    page_blocks(p, b->first);
    if (barred)
        page_bar_close(p);
    p->left = left;
    p->right = right;
    page_ungroup(p, "BlockQuote");
    page_gap(p, PARAGRAPH_GAP);
}

static void put_rule(struct page *p)
{
    page_gap(p, 9);
    page_need(p, 2);
    draw_colour(p->cr, COLOUR_FRAME);
    cairo_rectangle(p->cr, p->left, p->y, p->right - p->left, 0.7);
    cairo_fill(p->cr);
    p->y += 0.7;
    p->blank = false;
    page_gap(p, 9);
}

static unsigned list_depth(const struct markdown_block *b)
{
    unsigned depth = 0;
    for (b = b->parent; b; b = b->parent)
        depth += b->type == MARKDOWN_LIST;
    return depth;
}

static void put_block(struct page *p, const struct markdown_block *b)
{
    bool in_tight =
        b->parent && b->parent->type == MARKDOWN_ITEM && b->parent->parent && b->parent->parent->tight;
    double gap = in_tight ? 2 : PARAGRAPH_GAP;
    switch (b->type) {
    case MARKDOWN_HEADING:
        put_heading(p, b);
        break;
    case MARKDOWN_PARAGRAPH:
    case MARKDOWN_CELL:
        page_gap(p, b == (b->parent ? b->parent->first : NULL) ? 0 : gap);
        put_paragraph(p, b);
        page_gap(p, gap);
        break;
    case MARKDOWN_CODE:
        put_code(p, b);
        break;
    case MARKDOWN_LIST:
        page_gap(p, gap - 2);
        put_list(p, b, list_depth(b));
        page_gap(p, gap);
        break;
    case MARKDOWN_QUOTE:
        put_quote(p, b);
        break;
    case MARKDOWN_TABLE:
        page_table(p, b);
        break;
    case MARKDOWN_RULE:
        put_rule(p);
        break;
    case MARKDOWN_PAGE_BREAK:
        if (!p->blank)
            page_break(p);
        break;
    case MARKDOWN_DOCUMENT:
    case MARKDOWN_ITEM:
    case MARKDOWN_ROW:
    case MARKDOWN_NOTE:
        page_blocks(p, b->first);
        break;
    }
}

void page_blocks(struct page *p, const struct markdown_block *first)
{
    for (const struct markdown_block *b = first; b && !p->over; b = b->next)
        put_block(p, b);
}

void page_notes(struct page *p)
{
    double left = p->left;
    if (!p->markdown->notes_n)
        return;
    page_gap(p, 16);
    page_need(p, 40);
    draw_colour(p->cr, COLOUR_FRAME);
    cairo_rectangle(p->cr, p->left, p->y, 120, 0.6);
    cairo_fill(p->cr);
    p->y += 1;
    p->blank = false;
    for (unsigned i = 0; i < p->markdown->notes_n && !p->over; i++) {
        if (!p->markdown->notes[i])
            continue;
        snprintf(p->mark.text, sizeof p->mark.text, "%u.", i + 1);
        p->left = left + INDENT + 4;
        p->mark.rtl = false;
        p->mark.edge = p->left - 5;
        page_gap(p, 4);
        page_group(p, "Note");
        page_blocks(p, p->markdown->notes[i]->first);
        page_ungroup(p, "Note");
        p->mark.text[0] = '\0';
        p->left = left;
    }
}
