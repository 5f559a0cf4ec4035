/* The line of a block: emphasis around trimmed text, merged over equal runs; links. */
#include <stdlib.h>

#include "attachments/markup_write.h"

static const struct {
    unsigned style;
    const char *open, *close;
} marks[] = {
    /* outermost first */
    {MARKUP_BOLD, "**", "**"},         {MARKUP_ITALIC, "*", "*"},       {MARKUP_STRIKE, "~~", "~~"},
    {MARKUP_SUPER, "<sup>", "</sup>"}, {MARKUP_SUB, "<sub>", "</sub>"},
};
enum { MARKS = sizeof marks / sizeof marks[0] };

struct composer {
    struct markup *m;
    struct buf *line;
    struct buf white; /* seen, not written: it may turn out to be at an end */
    unsigned white_style;
    uint8_t open[MARKS]; /* indices of marks, in the order in which they were opened */
    unsigned n_open, style;
    struct span url;
    size_t start; /* of the block's own text in line */
    bool link_waits, in_link, in_cell, heading;
};

static void write(struct composer *c, struct span text)
{
    for (size_t i = 0; i < text.n; i++) {
        if (text.p[i] == '|' && c->in_cell)
            buf_addc(c->line, '\\');
        buf_addc(c->line, text.p[i]);
    }
}

/* Closes marks until none is open that is not in `keep`; what had to be closed with them may open again. */
static void close_to(struct composer *c, unsigned keep)
{
    while (c->style & ~keep) {
        unsigned i = c->open[--c->n_open];
        buf_adds(c->line, marks[i].close);
        c->style &= ~marks[i].style;
    }
}

static bool at_line_start(const struct composer *c)
{
    return c->line->n == c->start || c->line->data[c->line->start + c->line->n - 1] == '\n';
}

/* White space that stands between what is written and what comes now, in the style that both have. */
static void settle(struct composer *c, unsigned style)
{
    if (c->white.n == 0) {
        close_to(c, style);
        return;
    }
    close_to(c, c->white_style & style);
    if (!at_line_start(c))
        buf_add(c->line, c->m->collapse ? SPAN_LIT(" ") : buf_span(&c->white));
    buf_reset(&c->white);
}

static void open_link(struct composer *c)
{
    close_to(c, 0);
    buf_addc(c->line, '[');
    c->link_waits = false;
    c->in_link = true;
}

static void mono(struct composer *c, struct span text)
{
    size_t longest = 0, run = 0;
    for (size_t i = 0; i < text.n; i++) {
        run = text.p[i] == '`' ? run + 1 : 0;
        longest = run > longest ? run : longest;
    }
    bool pad = text.p[0] == '`' || text.p[text.n - 1] == '`';
    for (size_t i = 0; i <= longest; i++)
        buf_addc(c->line, '`');
    if (pad)
        buf_addc(c->line, ' ');
    write(c, text);
    if (pad)
        buf_addc(c->line, ' ');
    for (size_t i = 0; i <= longest; i++)
        buf_addc(c->line, '`');
}

/* Text without white space at its ends. */
static void core(struct composer *c, struct span text, unsigned style)
{
    settle(c, c->link_waits ? 0 : style & ~(unsigned)MARKUP_MONO);
    if (c->link_waits)
        open_link(c);
    for (unsigned i = 0; i < MARKS; i++)
        if (style & ~c->style & marks[i].style) {
            buf_adds(c->line, marks[i].open);
            c->open[c->n_open++] = (uint8_t)i;
            c->style |= marks[i].style;
        }
    if (style & MARKUP_MONO)
        mono(c, text);
    else
        write(c, text);
}

static void white(struct composer *c, struct span text, unsigned style)
{
    if (text.n == 0)
        return;
    c->white_style = c->white.n ? c->white_style & style : style;
    buf_add(&c->white, text);
}

static bool is_white(char c)
{
    return c == ' ' || c == '\t';
}

static void text(struct composer *c, struct span text, unsigned style)
{
    if (c->heading)
        style &= ~(unsigned)(MARKUP_BOLD | MARKUP_ITALIC | MARKUP_STRIKE);
    size_t from = 0, to = text.n;
    while (from < to && is_white(text.p[from]))
        from++;
    while (to > from && is_white(text.p[to - 1]))
        to--;
    white(c, span_of(text.p, from), style);
    if (to == from)
        return;
    core(c, span_of(text.p + from, to - from), style);
    white(c, span_from(text, to), style);
}

void markup_target(struct buf *out, struct span url, bool in_cell)
{
    int open = 0;
    bool plain = true;
    for (size_t i = 0; i < url.n && plain; i++) {
        char p = url.p[i];
        open += p == '(' ? 1 : p == ')' ? -1 : 0;
        plain = open >= 0 && p != ' ' && p != '<' && p != '>';
    }
    plain = plain && open == 0;
    buf_adds(out, plain ? "](" : "](<");
    for (size_t i = 0; i < url.n; i++) {
        char p = url.p[i];
        if (!plain && (p == '<' || p == '>'))
            buf_adds(out, p == '<' ? "%3C" : "%3E");
        else if ((unsigned char)p >= ' ') {
            if (p == '|' && in_cell)
                buf_addc(out, '\\');
            buf_addc(out, p);
        }
    }
    buf_adds(out, plain ? ")" : ">)");
}

static void end_link(struct composer *c)
{
    if (c->link_waits || !c->in_link) {
        c->link_waits = c->in_link = false;
        return;
    }
    close_to(c, 0);
    markup_target(c->line, c->url, c->in_cell);
    c->in_link = false;
}

static void line_end(struct composer *c)
{
    buf_reset(&c->white);
    close_to(c, 0);
    if (c->heading)
        buf_adds(&c->white, " ");
    else if (!at_line_start(c))
        buf_adds(c->line, c->in_cell ? "\n" : "  \n");
    c->white_style = 0;
}

static void code(struct composer *c, const struct frame *frame)
{
    struct markup *m = c->m;
    const struct piece *pieces = (const struct piece *)(const void *)(m->pieces.data + m->pieces.start);
    for (size_t i = frame->first_piece; i < m->pieces.n / sizeof *pieces; i++)
        if (pieces[i].kind == PIECE_BREAK)
            buf_addc(c->line, '\n');
        else if (pieces[i].kind == PIECE_TEXT || pieces[i].kind == PIECE_VERBATIM)
            write(c, span_of(buf_span(&m->text).p + pieces[i].at, pieces[i].n));
}

void markup_compose(struct markup *m, const struct frame *frame, bool in_cell)
{
    struct composer c = {
        .m = m, .line = &m->line, .in_cell = in_cell, .heading = frame->kind == MARKUP_HEADING};
    buf_reset(&m->line);
    if (m->pieces.n / sizeof(struct piece) <= frame->first_piece)
        return;
    if (frame->kind == MARKUP_CODE) {
        code(&c, frame);
        return;
    }
    if (c.heading && !in_cell) {
        for (unsigned i = 0; i < frame->level; i++)
            buf_addc(&m->line, '#');
        buf_addc(&m->line, ' ');
    }
    c.start = m->line.n;
    buf_init(&c.white, EXTRACT_TEXT + (1 << 20));
    const struct piece *pieces = (const struct piece *)(const void *)(m->pieces.data + m->pieces.start);
    for (size_t i = frame->first_piece; i < m->pieces.n / sizeof *pieces; i++) {
        struct span bytes = span_of(buf_span(&m->text).p + pieces[i].at, pieces[i].n);
        switch ((enum piece_kind)pieces[i].kind) {
        case PIECE_TEXT:
            text(&c, bytes, pieces[i].style);
            break;
        case PIECE_VERBATIM:
            core(&c, bytes, c.white.n ? c.style & c.white_style : c.style);
            break;
        case PIECE_BREAK:
            line_end(&c);
            break;
        case PIECE_LINK:
            c.url = bytes;
            c.link_waits = true;
            break;
        case PIECE_LINK_END:
            end_link(&c);
            break;
        }
    }
    end_link(&c);
    close_to(&c, 0);
    buf_free(&c.white);
    while (m->line.n > c.start && m->line.data[m->line.start + m->line.n - 1] <= ' ' &&
           m->line.data[m->line.start + m->line.n - 1] >= 0)
        buf_cut(&m->line, m->line.n - 1);
    if (m->line.n == c.start)
        buf_reset(&m->line);
}
