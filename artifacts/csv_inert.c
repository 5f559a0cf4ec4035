/*
 * Formulas in tables. A spreadsheet runs a cell whose first visible character is one of = + - @ (or a tab, or
 * their full-width forms); an apostrophe before it makes the cell text (OWASP, "CSV injection"). Which
 * character parts the cells depends on who opens the file: the one that the first line uses counts, and a
 * comma, semicolon or tab directly before a formula counts too.
 */
#include "artifacts/render.h"
#include "artifacts/utf8.h"

enum { NUMBER_MAX = 64 };

static char delimiter_of(struct span text)
{
    static const char marks[] = {',', ';', '\t'};
    size_t count[sizeof marks] = {0};
    bool quoted = false;
    for (size_t i = 0; i < text.n && (quoted || (text.p[i] != '\n' && text.p[i] != '\r')); i++) {
        quoted ^= text.p[i] == '"';
        for (size_t k = 0; !quoted && k < sizeof marks; k++)
            count[k] += text.p[i] == marks[k];
    }
    size_t best = 0;
    for (size_t k = 1; k < sizeof marks; k++)
        if (count[k] > count[best])
            best = k;
    return marks[best];
}

static bool is_formula(uint32_t c)
{
    return c == '=' || c == '+' || c == '-' || c == '@' || c == 0xff1d || c == 0xff0b || c == 0xff0d ||
           c == 0xff20;
}

/* A plain number: a sign, digits with points and commas, an exponent, a percent sign. Or signs alone, which
 * no spreadsheet runs. */
static bool is_number(struct span s)
{
    size_t i = 0, digits = 0;
    while (s.n && (s.p[s.n - 1] == ' ' || s.p[s.n - 1] == '\t'))
        s.n--;
    if (s.n > NUMBER_MAX)
        return false;
    while (i < s.n && (s.p[i] == '-' || s.p[i] == '+'))
        i++;
    if (i == s.n)
        return true;
    if (i > 1)
        return false;
    for (; i < s.n && ((s.p[i] >= '0' && s.p[i] <= '9') || s.p[i] == '.' || s.p[i] == ','); i++)
        digits += s.p[i] >= '0' && s.p[i] <= '9';
    if (!digits)
        return false;
    if (i + 1 < s.n && (s.p[i] | 0x20) == 'e') {
        i += s.p[i + 1] == '-' || s.p[i + 1] == '+' ? 2 : 1;
        size_t first = i;
        while (i < s.n && s.p[i] >= '0' && s.p[i] <= '9')
            i++;
        if (i == first)
            return false;
    }
    i += i < s.n && s.p[i] == '%';
    return i == s.n;
}

/* Where the cell that begins at `at` ends: before its delimiter or line end, which do not count inside
 * quotes. *from and *to: what its quotes hold, or all of it. */
static size_t cell_end(struct span text, size_t at, char delimiter, size_t *from, size_t *to)
{
    size_t i = at;
    while (i < text.n && text.p[i] == ' ')
        i++;
    *from = at;
    if (i < text.n && text.p[i] == '"') {
        *from = ++i;
        while (i < text.n && (text.p[i] != '"' || (i + 1 < text.n && text.p[i + 1] == '"')))
            i += text.p[i] == '"' ? 2 : 1;
        *to = i < text.n ? i : text.n;
        i = *to;
    }
    while (i < text.n && text.p[i] != delimiter && text.p[i] != '\n' && text.p[i] != '\r')
        i++;
    if (*from == at)
        *to = i;
    return i;
}

static bool runs(struct span cell)
{
    size_t i = 0, n;
    if (cell.n > 1 && (cell.p[0] == '\t' || cell.p[0] == '\r'))
        return true;
    while (i < cell.n) {
        uint32_t c = utf8_next(cell.p + i, cell.p + cell.n, &n);
        if (is_formula(c))
            return !is_number(span_from(cell, i));
        if (c != '"' && c != '\n' && c != '\r' && !utf8_blank(c) && !utf8_invisible(c))
            return false;
        i += n;
    }
    return false;
}

static bool parts_cells(char c)
{
    return c == ',' || c == ';' || c == '\t';
}

/* The text of a cell without quotes: what parts the cells in another country's spreadsheet, or in one that
 * takes tabs too, may begin a formula in it. */
static int add_cell(struct span cell, char delimiter, bool split, struct buf *out)
{
    size_t from = 0;
    for (size_t i = 0; split && i + 1 < cell.n; i++) {
        if (!parts_cells(cell.p[i]) || cell.p[i] == delimiter)
            continue;
        size_t end = i + 1;
        while (end < cell.n && end - i <= NUMBER_MAX + 1 && !parts_cells(cell.p[end]))
            end++;
        if (runs(span_of(cell.p + i + 1, end - i - 1))) {
            buf_addn(out, cell.p + from, i + 1 - from);
            buf_addc(out, '\'');
            from = i + 1;
        }
    }
    return buf_addn(out, cell.p + from, cell.n - from);
}

/* Whether text stands behind a cell's closing quote: readers append it to what the quotes hold, so `""=1` is
 * the cell =1. */
static bool goes_on(struct span rest)
{
    for (size_t i = 1; i < rest.n; i++)
        if (rest.p[i] != ' ' && rest.p[i] != '\t')
            return true;
    return false;
}

/* The first visible character of a cell with quotes and text behind them, whatever follows it. */
static bool begins_formula(struct span cell)
{
    size_t i = 0, n;
    for (; i < cell.n; i += n) {
        uint32_t c = utf8_next(cell.p + i, cell.p + cell.n, &n);
        if (c != '"' && c != '\n' && c != '\r' && !utf8_blank(c) && !utf8_invisible(c))
            return is_formula(c);
    }
    return false;
}

int csv_make_inert(struct span text, bool tab, struct buf *out)
{
    char delimiter = tab ? '\t' : delimiter_of(text);
    size_t at = 0;
    while (at < text.n) {
        size_t from = at, to = at;
        size_t end = cell_end(text, at, delimiter, &from, &to);
        buf_addn(out, text.p + at, from - at);
        bool longer = from > at && goes_on(span_of(text.p + to, end - to));
        if (longer ? begins_formula(span_of(text.p + from, end - from))
                   : runs(span_of(text.p + from, to - from)))
            buf_addc(out, '\'');
        add_cell(span_of(text.p + from, to - from), delimiter, from == at && !tab, out);
        add_cell(span_of(text.p + to, end - to), delimiter, true, out);
        if (end < text.n)
            buf_addc(out, text.p[end++]);
        at = end;
    }
    return buf_full(out) ? -1 : 0;
}
