#include "artifacts/markdown_page.h"

#include <stdio.h>

#include "artifacts/lines.h"
#include "artifacts/markdown.h"
#include "artifacts/utf8.h"

enum { LEVELS = 16, COLUMNS = MARKDOWN_COLUMNS };

struct page {
    struct buf *out;
    struct {
        bool item, ordered; /* a list's item, or a quote */
        unsigned number;    /* of the last item */
    } levels[LEVELS];       /* open lists and quotes */
    unsigned depth;
    bool fresh;                  /* at the beginning of a line: nothing but its prefix is there */
    bool blank;                  /* white space waits for the next text */
    bool pre;                    /* in a block of code */
    bool text;                   /* the line has text */
    unsigned table;              /* open ones; those within a cell are only text */
    unsigned columns, row, cell; /* of the outermost: of its first row, rows so far, cells of this one */
};

static const char BLOCKS[] =
    "p div section article main header footer figure figcaption address dl dt dd aside "
    "form fieldset details summary center body html nav caption";
static const char SKIPPED[] = "script style head template noscript svg iframe object title";

/* ---- tags ---- */

struct tag {
    struct span name, whole;
    bool end;
};

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/* The tag or comment at the beginning, past quotes; a length of 0: it is none. A comment has no name. */
static struct tag take_tag(struct span s)
{
    struct tag t = {.name = {"", 0}, .whole = {"", 0}};
    size_t at = 1, n = 0;
    char quote = 0;
    if (span_starts(s, "<!--")) {
        const char *end = memmem(s.p, s.n, "-->", 3);
        t.whole.n = end ? (size_t)(end - s.p) + 3 : s.n;
        t.whole.p = s.p;
        return t;
    }
    t.end = s.n > 1 && s.p[1] == '/';
    at += t.end;
    if (at >= s.n || (!is_letter(s.p[at]) && s.p[at] != '!'))
        return t;
    while (at + n < s.n && (is_letter(s.p[at + n]) || (s.p[at + n] >= '0' && s.p[at + n] <= '9')))
        n++;
    t.name = span_of(s.p + at, n);
    for (at += n; at < s.n; at++) {
        char c = s.p[at];
        if (quote)
            quote = c == quote ? 0 : quote;
        else if (c == '>' || c == '<')
            break;
        else if (c == '"' || c == '\'')
            quote = c;
    }
    if (at < s.n && s.p[at] == '>')
        t.whole = span_of(s.p, at + 1);
    return t;
}

/* ---- lines ---- */

static void put_prefix(struct page *p)
{
    for (unsigned i = 0; i < p->depth; i++)
        buf_adds(p->out, p->levels[i].item ? "    " : "> ");
}

static void begin_line(struct page *p)
{
    buf_addc(p->out, '\n');
    put_prefix(p);
    p->fresh = true;
    p->blank = p->text = false;
}

/* Whatever comes begins a new block. In a table it goes on in its cell. */
static void break_block(struct page *p)
{
    if (p->table) {
        p->blank = true;
        return;
    }
    if (p->fresh && !p->text)
        return;
    begin_line(p);
    begin_line(p);
}

/* ---- text ---- */

static void put_blank(struct page *p)
{
    if (p->blank && !p->fresh)
        buf_addc(p->out, ' ');
    p->blank = p->fresh = false;
    p->text = true;
}

static bool is_space(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\f';
}

static void put_code(struct page *p, struct span s)
{
    char utf8[UTF8_MAX];
    for (size_t i = 0; i < s.n; i++) {
        const char *end = s.p[i] == '&' ? memchr(s.p + i, ';', s.n - i < 12 ? s.n - i : 12) : NULL;
        unsigned c = end ? markdown_entity(span_of(s.p + i, (size_t)(end - s.p) - i + 1)) : 0;
        if (c) {
            buf_addn(p->out, utf8, utf8_put(c, utf8));
            i = (size_t)(end - s.p);
        } else if (s.p[i] == '\n') {
            buf_addc(p->out, '\n');
            put_prefix(p);
        } else if (s.p[i] != '\r') {
            buf_addc(p->out, s.p[i]);
        }
    }
}

/* Runs of white space are one blank; what Markdown would read is escaped. Entities are the same in both. */
static void put_text(struct page *p, struct span s)
{
    for (size_t i = 0; i < s.n; i++) {
        char c = s.p[i];
        if (is_space(c)) {
            p->blank = true;
            continue;
        }
        bool first = p->fresh;
        put_blank(p);
        bool digit = c >= '0' && c <= '9', escape = c && strchr("\\`*_{}[]<>#|~", c);
        if (escape || (first && (c == '+' || c == '-' || c == '=')))
            buf_addc(p->out, '\\');
        buf_addc(p->out, c);
        if (first && digit) { /* "1." at a line's beginning would be a list */
            while (i + 1 < s.n && s.p[i + 1] >= '0' && s.p[i + 1] <= '9')
                buf_addc(p->out, s.p[++i]);
            if (i + 1 < s.n && (s.p[i + 1] == '.' || s.p[i + 1] == ')'))
                buf_addc(p->out, '\\');
        }
    }
}

/* A tag within text, on one line. */
static void put_tag(struct page *p, const struct tag *t)
{
    bool line = span_is_nocase(t->name, "br");
    p->blank = p->blank && !line;
    if (!t->end)
        put_blank(p);
    for (size_t i = 0; i < t->whole.n; i++)
        buf_addc(p->out, is_space(t->whole.p[i]) ? ' ' : t->whole.p[i]);
    p->fresh = p->fresh || line; /* no blank goes before what follows */
}

/* ---- blocks ---- */

static void enter(struct page *p, bool list, bool ordered)
{
    if (p->table)
        return;
    break_block(p);
    if (p->depth == LEVELS)
        return;
    p->levels[p->depth].item = list;
    p->levels[p->depth].ordered = ordered;
    p->levels[p->depth].number = 0;
    p->depth++;
    if (!list) {
        buf_adds(p->out, "> ");
        p->fresh = true;
    }
}

static void leave(struct page *p, bool list)
{
    if (p->table || !p->depth || p->levels[p->depth - 1].item != list)
        return;
    p->depth--;
    p->text = true; /* so that a line of the level around it begins */
    break_block(p);
}

static void begin_item(struct page *p)
{
    char mark[16] = "- ";
    if (p->table || !p->depth || !p->levels[p->depth - 1].item) {
        break_block(p);
        return;
    }
    unsigned number = ++p->levels[p->depth - 1].number;
    if (p->levels[p->depth - 1].ordered)
        snprintf(mark, sizeof mark, "%u. ", number);
    p->depth--; /* the mark stands before what is in the item */
    begin_line(p);
    p->depth++;
    buf_adds(p->out, mark);
    p->fresh = true;
}

static void begin_heading(struct page *p, unsigned level)
{
    break_block(p);
    if (p->table)
        return;
    for (unsigned i = 0; i < level; i++)
        buf_addc(p->out, '#');
    buf_addc(p->out, ' ');
    p->fresh = true;
    p->text = true;
}

static void begin_row(struct page *p)
{
    if (p->table != 1)
        return;
    p->cell = 0;
}

static void begin_cell(struct page *p)
{
    if (p->table != 1) {
        p->blank = true;
        return;
    }
    if (p->cell++ == 0)
        begin_line(p);
    buf_adds(p->out, "| ");
    p->fresh = true;
    p->blank = false;
}

static void end_row(struct page *p)
{
    if (p->table != 1 || !p->cell)
        return;
    buf_adds(p->out, " |");
    if (p->row++ == 0) {
        p->columns = p->cell < COLUMNS ? p->cell : COLUMNS;
        begin_line(p);
        for (unsigned i = 0; i < p->columns; i++)
            buf_adds(p->out, i ? " --- |" : "| --- |");
    }
    p->cell = 0;
}

static void table(struct page *p, bool end)
{
    if (!end && !p->table) {
        break_block(p);
        p->row = p->cell = 0;
    }
    if (end && p->table == 1) {
        end_row(p);
        p->table = 0;
        p->text = true;
        break_block(p);
    } else if (!end) {
        p->table++;
    } else if (p->table) {
        p->table--;
    }
}

static void code(struct page *p, bool end)
{
    if (p->table) { /* within a cell it is text */
        p->blank = true;
        return;
    }
    if (!end && !p->pre) {
        break_block(p);
        buf_adds(p->out, "~~~~~~~~");
        begin_line(p);
        p->pre = true;
    } else if (end && p->pre) {
        begin_line(p);
        buf_adds(p->out, "~~~~~~~~");
        p->pre = false;
        p->text = true;
        break_block(p);
    }
}

static void take_block(struct page *p, const struct tag *t)
{
    struct span name = t->name;
    bool heading = name.n == 2 && (name.p[0] | 0x20) == 'h' && name.p[1] >= '1' && name.p[1] <= '6';
    if (lines_word_in(name, "ul ol"))
        t->end ? leave(p, true) : enter(p, true, span_is_nocase(name, "ol"));
    else if (span_is_nocase(name, "blockquote"))
        t->end ? leave(p, false) : enter(p, false, false);
    else if (span_is_nocase(name, "li") && !t->end)
        begin_item(p);
    else if (heading && !t->end)
        begin_heading(p, (unsigned)(name.p[1] - '0'));
    else if (span_is_nocase(name, "table"))
        table(p, t->end);
    else if (span_is_nocase(name, "tr"))
        t->end ? end_row(p) : begin_row(p);
    else if (lines_word_in(name, "td th") && !t->end)
        begin_cell(p);
    else if (span_is_nocase(name, "pre"))
        code(p, t->end);
    else if (span_is_nocase(name, "hr") && !p->table) {
        break_block(p);
        buf_adds(p->out, "***");
        p->fresh = false;
        p->text = true;
        break_block(p);
    } else if (heading || lines_word_in(name, BLOCKS)) {
        break_block(p);
    }
}

/* Behind an element that shows nothing. */
static struct span skip_element(struct span rest, struct span name)
{
    for (size_t i = 0; i + name.n + 2 < rest.n; i++)
        if (rest.p[i] == '<' && rest.p[i + 1] == '/' && strncasecmp(rest.p + i + 2, name.p, name.n) == 0) {
            struct tag end = take_tag(span_from(rest, i));
            return span_from(rest, i + (end.whole.n ? end.whole.n : 1));
        }
    return span_of("", 0);
}

static bool is_block(struct span name)
{
    return lines_word_in(
               name,
               "ul ol li blockquote h1 h2 h3 h4 h5 h6 table thead tbody tfoot tr td th colgroup col pre "
               "hr") ||
           lines_word_in(name, BLOCKS);
}

int markdown_page_read(struct span source, struct buf *out)
{
    struct page p = {.out = out, .fresh = true};
    while (source.n && !buf_full(out)) {
        const char *mark = memchr(source.p, '<', source.n);
        size_t n = mark ? (size_t)(mark - source.p) : source.n;
        struct span text = span_of(source.p, n);
        if (p.pre)
            put_code(&p, text);
        else
            put_text(&p, text);
        source = span_from(source, n);
        if (!source.n)
            break;
        struct tag t = take_tag(source);
        n = t.whole.n ? t.whole.n : 1;
        bool page_break = t.whole.n && !t.name.n && t.whole.p[1] == '!';
        if (!t.whole.n && !p.pre)
            put_text(&p, span_of(source.p, 1));
        else if (!t.whole.n)
            put_code(&p, span_of(source.p, 1));
        else if (page_break && !p.pre && !p.table && span_starts(t.whole, "<!--")) {
            break_block(&p);
            buf_add(out, t.whole);
            p.fresh = false;
            p.text = true;
            break_block(&p);
        } else if (lines_word_in(t.name, SKIPPED) && !t.end) {
            source = skip_element(span_from(source, n), t.name);
            continue;
        } else if (is_block(t.name)) {
            take_block(&p, &t);
        } else if (!p.pre && t.name.n) {
            put_tag(&p, &t);
        }
        source = span_from(source, n);
    }
    buf_addc(out, '\n');
    return buf_full(out) ? -1 : 0;
}

bool markdown_page_is(struct span source)
{
    static const char begins[] = "html body article main section div h1 h2 h3 p table ul ol blockquote";
    if (span_starts(source, "\xef\xbb\xbf"))
        source = span_from(source, 3);
    struct span text = lines_trim(source);
    if (text.n > 9 && strncasecmp(text.p, "<!doctype", 9) == 0)
        return true;
    struct tag first = text.n ? take_tag(text) : (struct tag){.name = {"", 0}};
    if (text.n < 2 || text.p[0] != '<' || first.end || !lines_word_in(first.name, begins) ||
        !span_ends(text, ">"))
        return false;
    if (lines_word_in(first.name, "html body"))
        return true;
    /* Markdown may begin with a <div> too. */
    bool blocks = false;
    for (size_t i = 0; i + 4 < text.n && !blocks; i++)
        blocks = text.p[i] == '<' && text.p[i + 1] == '/' && strchr("hHpPlLtT", text.p[i + 2]) != NULL;
    if (!blocks || memmem(text.p, text.n, "**", 2))
        return false;
    struct span rest = text;
    while (rest.n) {
        struct span line = lines_take(&rest);
        if (span_starts(line, "# ") || span_starts(line, "## ") || span_starts(line, "- ") ||
            span_starts(line, "```"))
            return false;
    }
    return true;
}
