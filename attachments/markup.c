/* Blocks and what is around them. */
#include "attachments/markup_write.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/xalloc.h"

enum { PIECES = 32 * 1024 * 1024 };

struct markup *markup_create(struct buf *out, struct extraction *x)
{
    struct markup *m = xcalloc(1, sizeof *m);
    m->out = out;
    m->x = x;
    m->begin = out->n;
    buf_init(&m->text, EXTRACT_TEXT + (1 << 20));
    buf_init(&m->pieces, PIECES);
    buf_init(&m->line, EXTRACT_TEXT + (1 << 20));
    return m;
}

void markup_destroy(struct markup *m)
{
    if (!m)
        return;
    for (unsigned i = 0; i < m->n_tables; i++)
        markup_table_free(m->tables[i]);
    buf_free(&m->text);
    buf_free(&m->pieces);
    buf_free(&m->line);
    xfree(m);
}

void markup_collapse(struct markup *m, bool on)
{
    m->collapse = on;
}

bool markup_stopped(const struct markup *m)
{
    return m->over || m->x->status != RENDER_OK || buf_full(m->out) || buf_full(&m->text) ||
           buf_full(&m->pieces);
}

int markup_finish(struct markup *m)
{
    while (m->n_tables)
        markup_table_end(m);
    while (m->n_frames)
        markup_end(m);
    m->n_containers = m->deep_containers = 0;
    if (m->written)
        buf_addc(m->out, '\n');
    if (m->x->status == RENDER_OK && markup_stopped(m))
        extraction_fail(m->x, RENDER_LIMIT, "is longer than %d MiB as text; split it.", EXTRACT_TEXT >> 20);
    return m->x->status == RENDER_OK ? 0 : -1;
}

/* The block that text goes into, if there is one here. */
static struct frame *frame_here(struct markup *m)
{
    struct frame *top = m->n_frames ? &m->frames[m->n_frames - 1] : NULL;
    return top && top->cells == m->n_tables ? top : NULL;
}

bool markup_open(const struct markup *m)
{
    return m->n_frames && m->frames[m->n_frames - 1].cells == m->n_tables;
}

void markup_flush(struct markup *m)
{
    struct frame *frame = frame_here(m);
    if (frame && frame->implicit && m->deep_frames == 0)
        markup_end(m);
}

static void begin(struct markup *m, enum markup_block kind, unsigned level, bool implicit)
{
    if (m->n_frames == MARKUP_FRAMES) {
        m->deep_frames++;
        return;
    }
    m->frames[m->n_frames++] = (struct frame){
        .kind = kind,
        .level = level < 1   ? 1
                 : level > 6 ? 6
                             : level,
        .first_piece = (uint32_t)(m->pieces.n / sizeof(struct piece)),
        .first_byte = (uint32_t)m->text.n,
        .implicit = implicit,
        .cells = m->n_tables,
    };
}

void markup_begin(struct markup *m, enum markup_block kind, unsigned level)
{
    markup_flush(m);
    begin(m, kind, level, false);
}

static void code_out(struct markup *m, bool in_cell)
{
    struct span code = buf_span(&m->line);
    while (code.n && code.p[code.n - 1] == '\n')
        code.n--;
    while (code.n && code.p[0] == '\n')
        code = span_from(code, 1);
    if (code.n == 0 || in_cell) {
        if (code.n)
            markup_block_out(m, code, false);
        return;
    }
    size_t longest = 2, run = 0;
    for (size_t i = 0; i < code.n; i++) {
        run = code.p[i] == '`' ? run + 1 : 0;
        longest = run > longest ? run : longest;
    }
    struct buf fenced;
    buf_init(&fenced, 3 * (size_t)EXTRACT_TEXT + 16);
    for (size_t i = 0; i <= longest; i++)
        buf_addc(&fenced, '`');
    buf_addc(&fenced, '\n');
    buf_add(&fenced, code);
    buf_addc(&fenced, '\n');
    for (size_t i = 0; i <= longest; i++)
        buf_addc(&fenced, '`');
    markup_block_out(m, buf_span(&fenced), false);
    buf_free(&fenced);
}

void markup_end(struct markup *m)
{
    if (m->deep_frames) {
        m->deep_frames--;
        markup_break(m);
        return;
    }
    if (!m->n_frames)
        return;
    struct frame frame = m->frames[m->n_frames - 1];
    bool in_cell = markup_cell_of(m) != NULL;
    if (!markup_stopped(m)) {
        markup_compose(m, &frame, in_cell);
        if (frame.kind == MARKUP_CODE)
            code_out(m, in_cell);
        else if (m->line.n)
            markup_block_out(m, buf_span(&m->line), frame.kind == MARKUP_PARAGRAPH);
    }
    m->n_frames--;
    buf_cut(&m->pieces, frame.first_piece * sizeof(struct piece));
    buf_cut(&m->text, frame.first_byte);
}

void markup_line(struct markup *m, const char *format, ...)
{
    markup_flush(m);
    struct buf line;
    buf_init(&line, EXTRACT_TEXT);
    va_list list;
    va_start(list, format);
    int n = vsnprintf(NULL, 0, format, list);
    va_end(list);
    char *p = n > 0 ? buf_reserve(&line, (size_t)n + 1) : NULL;
    if (p) {
        va_start(list, format);
        vsnprintf(p, (size_t)n + 1, format, list);
        va_end(list);
        buf_commit(&line, (size_t)n);
        markup_block_out(m, buf_span(&line), false);
    } else if (n > 0)
        m->over = true;
    buf_free(&line);
}

void markup_raw(struct markup *m, struct span lines)
{
    markup_flush(m);
    if (lines.n)
        markup_block_out(m, lines, false);
}

void markup_quotes(struct markup *m, struct span lines)
{
    while (lines.n) {
        const char *end = memchr(lines.p, '\n', lines.n);
        size_t n = end ? (size_t)(end - lines.p) : lines.n;
        markup_quote(m);
        markup_raw(m, span_of(lines.p, n));
        markup_leave(m);
        lines = span_from(lines, end ? n + 1 : n);
    }
}

/* Text */

static void add_piece(struct markup *m, enum piece_kind kind, struct span bytes, unsigned style)
{
    struct piece piece = {(uint32_t)m->text.n, (uint32_t)bytes.n, (uint8_t)kind, (uint8_t)style};
    if (bytes.n == 0 || buf_add(&m->text, bytes) == 0)
        buf_addn(&m->pieces, &piece, sizeof piece);
}

static struct frame *frame_for_text(struct markup *m)
{
    if (markup_stopped(m))
        return NULL;
    struct frame *frame = frame_here(m);
    if (frame)
        return frame;
    begin(m, MARKUP_PARAGRAPH, 1, true);
    return frame_here(m);
}

static struct piece *last_piece(struct markup *m, const struct frame *frame)
{
    size_t n = m->pieces.n / sizeof(struct piece);
    if (n <= frame->first_piece)
        return NULL;
    return (struct piece *)(void *)(m->pieces.data + m->pieces.start) + (n - 1);
}

void markup_text(struct markup *m, struct span text, unsigned style)
{
    bool blank = true;
    for (size_t i = 0; i < text.n && blank; i++)
        blank = text.p[i] == ' ' || (text.p[i] >= '\t' && text.p[i] <= '\r');
    if (text.n == 0 || (blank && !markup_open(m)))
        return;
    struct frame *frame = frame_for_text(m);
    if (!frame)
        return;
    bool code = frame->kind == MARKUP_CODE;
    struct piece *last = last_piece(m, frame);
    bool joins = last && last->kind == PIECE_TEXT && (last->style == style || code);
    uint32_t begin = (uint32_t)m->text.n;
    bool white = m->collapse && joins && m->text.n && m->text.data[m->text.start + m->text.n - 1] == ' ';
    for (size_t i = 0; i < text.n; i++) {
        unsigned char c = (unsigned char)text.p[i];
        if (code ? c == '\r' && i + 1 < text.n && text.p[i + 1] == '\n' : false)
            continue;
        if (c < ' ' && !(code && (c == '\n' || c == '\t'))) {
            if (c < '\t' || c > '\r')
                continue; /* control characters say nothing to a model */
            c = code ? '\n' : ' ';
        }
        if (c == 0x7f || (m->collapse && !code && c == ' ' && white))
            continue;
        white = c == ' ';
        buf_addc(&m->text, (char)c);
    }
    uint32_t n = (uint32_t)m->text.n - begin;
    if (joins)
        last->n += n;
    else if (n) {
        struct piece piece = {begin, n, PIECE_TEXT, (uint8_t)style};
        buf_addn(&m->pieces, &piece, sizeof piece);
    }
}

void markup_verbatim(struct markup *m, struct span text)
{
    if (text.n && frame_for_text(m))
        add_piece(m, PIECE_VERBATIM, text, 0);
}

void markup_break(struct markup *m)
{
    if (markup_open(m) && frame_for_text(m))
        add_piece(m, PIECE_BREAK, SPAN_LIT(""), 0);
}

void markup_link(struct markup *m, struct span url)
{
    struct frame *frame = url.n ? frame_for_text(m) : NULL;
    if (!frame || frame->linked || frame->kind == MARKUP_CODE)
        return;
    frame->linked = true;
    add_piece(m, PIECE_LINK, url, 0);
}

void markup_link_end(struct markup *m)
{
    struct frame *frame = frame_here(m);
    if (!frame || !frame->linked)
        return;
    frame->linked = false;
    add_piece(m, PIECE_LINK_END, SPAN_LIT(""), 0);
}

static void add_flat(struct buf *to, struct span text)
{
    for (size_t i = 0; i < text.n; i++)
        buf_addc(to, text.p[i] >= 0 && text.p[i] < ' ' ? ' ' : text.p[i]);
}

void markup_image(struct markup *m, struct span alt, struct span name)
{
    struct buf image;
    buf_init(&image, EXTRACT_TEXT);
    buf_adds(&image, "![");
    add_flat(&image, alt);
    buf_adds(&image, "](");
    add_flat(&image, name);
    buf_adds(&image, ")");
    markup_verbatim(m, buf_span(&image));
    buf_free(&image);
}

unsigned markup_note_next(struct markup *m)
{
    return ++m->notes;
}

void markup_note(struct markup *m, unsigned number)
{
    char note[24];
    int n = snprintf(note, sizeof note, "[^%u]", number);
    markup_verbatim(m, span_of(note, (size_t)n));
}

/* Containers */

static unsigned base(const struct markup *m)
{
    const struct table *t = markup_cell_of(m);
    return t ? t->base : 0;
}

static void enter(struct markup *m, bool quote, const char *marker)
{
    markup_flush(m);
    if (m->n_containers == MARKUP_CONTAINERS) {
        m->deep_containers++;
        return;
    }
    struct container *c = &m->containers[m->n_containers++];
    *c = (struct container){.id = ++m->ids, .quote = quote, .used = quote || !marker};
    if (marker)
        snprintf(c->marker, sizeof c->marker, "%s ", marker);
}

void markup_quote(struct markup *m)
{
    enter(m, true, NULL);
}

void markup_item(struct markup *m, const char *marker)
{
    enter(m, false, marker);
}

void markup_leave(struct markup *m)
{
    markup_flush(m);
    if (m->deep_containers)
        m->deep_containers--;
    else if (m->n_containers > base(m))
        m->n_containers--;
}

unsigned markup_depth(const struct markup *m)
{
    return m->n_containers - base(m) + m->deep_containers;
}

/* Lines go out */

static void in_cell(struct markup *m, struct table *t, struct span lines)
{
    const struct table_cell *cell =
        (const struct table_cell *)(const void *)(t->cells.data + t->cells.start) + t->cell;
    struct buf *to = &t->text;
    if (to->n > cell->at)
        buf_adds(to, "<br>");
    for (unsigned i = t->base; i < m->n_containers; i++) {
        if (!m->containers[i].used)
            buf_adds(to, m->containers[i].marker);
        m->containers[i].used = true;
    }
    for (size_t i = 0; i < lines.n; i++)
        if (lines.p[i] == '\n')
            buf_adds(to, "<br>");
        else
            buf_addc(to, lines.p[i]);
    if (buf_full(to))
        m->over = true;
}

static void prefix(struct markup *m, unsigned n, bool first, bool blank)
{
    size_t begin = m->out->n;
    for (unsigned i = 0; i < n; i++) {
        const struct container *c = &m->containers[i];
        buf_adds(m->out, c->quote ? "> " : first && !c->used ? c->marker : "    ");
    }
    while (blank && m->out->n > begin && m->out->data[m->out->start + m->out->n - 1] == ' ')
        buf_cut(m->out, m->out->n - 1);
}

/* Whether an item is the next one of the list that the other belongs to. */
static bool same_list(const char *last, const char *marker)
{
    bool numbers = last[0] >= '0' && last[0] <= '9';
    if (numbers && marker[0] >= '0' && marker[0] <= '9')
        return strtol(marker, NULL, 10) >= strtol(last, NULL, 10);
    return !marker[0] || !last[0] || last[0] == marker[0];
}

/* What parts a block from the one before it. */
static void separate(struct markup *m, bool tight)
{
    if (!m->written)
        return;
    unsigned shared = 0, quotes = 0, last_quotes = 0;
    bool begins = false, item = false;
    while (shared < m->n_containers && shared < m->n_last && m->containers[shared].id == m->last_ids[shared])
        shared++;
    for (unsigned i = 0; i < m->n_containers; i++) {
        quotes += m->containers[i].quote;
        begins |= !m->containers[i].used;
        item |= !m->containers[i].quote;
    }
    for (unsigned i = 0; i < shared; i++)
        last_quotes += m->containers[i].quote;
    buf_addc(m->out, '\n');
    if (begins && item && tight && m->last_tight && quotes == last_quotes &&
        (shared >= m->n_last || shared >= m->n_containers ||
         same_list(m->last_markers[shared], m->containers[shared].marker)))
        return;
    prefix(m, shared, false, true);
    buf_addc(m->out, '\n');
}

void markup_block_out(struct markup *m, struct span lines, bool tight)
{
    if (markup_stopped(m))
        return;
    struct table *t = markup_cell_of(m);
    if (t) {
        in_cell(m, t, lines);
        return;
    }
    separate(m, tight);
    bool first = true;
    while (lines.n || first) {
        const char *end = memchr(lines.p, '\n', lines.n);
        size_t n = end ? (size_t)(end - lines.p) : lines.n;
        prefix(m, m->n_containers, first, n == 0);
        buf_add(m->out, span_of(lines.p, n));
        lines = span_from(lines, end ? n + 1 : n);
        if (end)
            buf_addc(m->out, '\n');
        first = false;
    }
    m->written = true;
    m->last_tight = false;
    m->n_last = m->n_containers;
    for (unsigned i = 0; i < m->n_containers; i++) {
        m->containers[i].used = true;
        m->last_ids[i] = m->containers[i].id;
        memcpy(m->last_markers[i], m->containers[i].marker, MARKUP_MARKER);
        m->last_tight |= tight && !m->containers[i].quote;
    }
}
