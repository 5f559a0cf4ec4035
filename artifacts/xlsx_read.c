/*
 * A workbook from the forms that models write: comma text (or semicolons, tabs, bars), several of these under
 * lines "=== Name ===", a Markdown table under each heading, JSON (xlsx_json.c).
 */
#include <stdarg.h>
#include <stdio.h>

#include "artifacts/lines.h"
#include "artifacts/markdown.h"
#include "artifacts/metadata.h"
#include "artifacts/utf8.h"
#include "artifacts/xlsx.h"
#include "base/json.h"
#include "base/xalloc.h"

enum { SAMPLE_LINES = 20, SAMPLE_BYTES = 64 * 1024 };

bool xlsx_refuse(struct xlsx_book *book, enum render_status status, const char *format, ...)
{
    va_list args;
    if (book->status != RENDER_OK)
        return false;
    book->status = status;
    va_start(args, format);
    vsnprintf(book->sentence, sizeof book->sentence, format, args);
    va_end(args);
    return false;
}

/* ---- building ---- */

struct xlsx_sheet *xlsx_add_sheet(struct xlsx_book *book, struct span name)
{
    if (book->sheets_n == XLSX_SHEETS) {
        xlsx_refuse(book, RENDER_LIMIT, "it has more than %d sheets", XLSX_SHEETS);
        return NULL;
    }
    struct xlsx_sheet *sheet = &book->sheets[book->sheets_n++];
    sheet->name = name;
    return sheet;
}

bool xlsx_add_row(struct xlsx_book *book, struct xlsx_sheet *sheet)
{
    if (sheet->rows_n == XLSX_ROWS)
        return xlsx_refuse(book, RENDER_LIMIT, "a sheet has more than %d rows", XLSX_ROWS);
    if (sheet->rows_n == sheet->rows_room) {
        sheet->rows_room = sheet->rows_room ? sheet->rows_room * 2 : 64;
        sheet->rows = xrealloc(sheet->rows, sheet->rows_room * sizeof *sheet->rows);
    }
    sheet->rows[sheet->rows_n++] = (struct xlsx_row){.first = book->cells_n};
    return true;
}

bool xlsx_add_cell(struct xlsx_book *book, struct xlsx_sheet *sheet, struct xlsx_cell cell)
{
    struct xlsx_row *row = &sheet->rows[sheet->rows_n - 1];
    if (row->n == XLSX_COLUMNS)
        return xlsx_refuse(book, RENDER_LIMIT, "a row has more than %d columns", XLSX_COLUMNS);
    if (book->cells_n == XLSX_CELLS)
        return xlsx_refuse(book, RENDER_LIMIT, "it has more than %d cells", XLSX_CELLS);
    if (book->cells_n == book->cells_room) {
        book->cells_room = book->cells_room ? book->cells_room * 2 : 256;
        book->cells = xrealloc(book->cells, book->cells_room * sizeof *book->cells);
    }
    book->cells[book->cells_n++] = cell;
    row->n++;
    if (row->n > sheet->columns_n)
        sheet->columns_n = row->n;
    return true;
}

static bool row_is_empty(const struct xlsx_book *book, const struct xlsx_row *row)
{
    for (uint32_t i = 0; i < row->n; i++)
        if (book->cells[row->first + i].source != CELL_EMPTY)
            return false;
    return true;
}

/* Empty rows at the end go. */
static void trim_rows(const struct xlsx_book *book, struct xlsx_sheet *sheet)
{
    while (sheet->rows_n && row_is_empty(book, &sheet->rows[sheet->rows_n - 1]))
        sheet->rows_n--;
}

/* ---- Markdown tables ---- */

/* The line below a Markdown table's head. */
static bool is_delimiter_row(struct span line)
{
    bool bar = false, dash = false;
    line = lines_trim(line);
    for (size_t i = 0; i < line.n; i++) {
        char c = line.p[i];
        bar |= c == '|';
        dash |= c == '-';
        if (c != '|' && c != '-' && c != ':' && c != ' ' && c != '\t')
            return false;
    }
    return bar && dash;
}

static bool has_markdown_table(struct span text)
{
    struct span before = {"", 0};
    while (text.n) {
        struct span line = lines_take(&text);
        if (before.n && is_delimiter_row(line) && memchr(before.p, '|', before.n))
            return true;
        before = line;
    }
    return false;
}

/* ---- comma text ---- */

/* What parts the cells: that of the marks which the most lines have the most of. */
static char delimiter_of(struct span text)
{
    static const char marks[] = {',', ';', '\t', '|'};
    size_t least[sizeof marks] = {0}, first[sizeof marks] = {0}, lines = 0;
    if (text.n > SAMPLE_BYTES)
        text.n = SAMPLE_BYTES;
    while (text.n && lines < SAMPLE_LINES) {
        size_t count[sizeof marks] = {0}, i = 0;
        bool quoted = false;
        for (; i < text.n && (quoted || (text.p[i] != '\n' && text.p[i] != '\r')); i++) {
            quoted ^= text.p[i] == '"';
            for (size_t k = 0; !quoted && k < sizeof marks; k++)
                count[k] += text.p[i] == marks[k];
        }
        bool blank = lines_trim(span_of(text.p, i)).n == 0;
        text = span_from(text, i < text.n ? i + 1 : i);
        if (blank)
            continue;
        for (size_t k = 0; k < sizeof marks; k++) {
            if (!lines)
                first[k] = count[k];
            if (!lines || count[k] < least[k])
                least[k] = count[k];
        }
        lines++;
    }
    size_t best = 0;
    for (size_t k = 1; k < sizeof marks; k++)
        if (least[k] > least[best] || (!least[k] && !least[best] && first[k] > first[best]))
            best = k;
    return marks[best];
}

/* Where the quotes that open at `at` are closed (the place of the closing one; the end when there is none).
 */
static size_t quote_end(struct span text, size_t at, bool *doubled)
{
    size_t i = at + 1;
    *doubled = false;
    while (i < text.n) {
        if (text.p[i] == '"') {
            if (i + 1 == text.n || text.p[i + 1] != '"')
                return i;
            *doubled = true;
            i++;
        }
        i++;
    }
    return i;
}

static struct span undouble(struct xlsx_book *book, struct span s)
{
    char *to = arena_take(&book->arena, s.n + 1);
    size_t n = 0;
    for (size_t i = 0; i < s.n; i++) {
        to[n++] = s.p[i];
        i += s.p[i] == '"' && i + 1 < s.n && s.p[i + 1] == '"';
    }
    return span_of(to, n);
}

/* Reads one cell at *at and leaves *at behind it, on its delimiter or line end. With `formulas`, a delimiter
 * inside of the parentheses or quotes of what begins like a formula is part of it. */
static struct span take_cell(struct xlsx_book *book, struct span text, size_t *at, char delimiter,
                             bool formulas)
{
    size_t i = *at;
    while (i < text.n && text.p[i] == ' ')
        i++;
    if (i < text.n && text.p[i] == '"') {
        bool doubled;
        size_t end = quote_end(text, i, &doubled), after = end + 1;
        while (after < text.n && text.p[after] == ' ')
            after++;
        if (after >= text.n || text.p[after] == delimiter || text.p[after] == '\n' || text.p[after] == '\r') {
            struct span inside = span_of(text.p + i + 1, end - i - 1);
            *at = after < text.n ? after : text.n;
            return doubled ? undouble(book, inside) : inside;
        }
    }
    size_t from = i, depth = 0;
    bool quoted = false;
    formulas = formulas && i < text.n && text.p[i] == '=';
    for (; i < text.n && text.p[i] != '\n' && text.p[i] != '\r'; i++) {
        char c = text.p[i];
        if (c == delimiter && !(formulas && (quoted || depth)))
            break;
        quoted ^= c == '"';
        depth += !quoted && c == '(';
        depth -= !quoted && c == ')' && depth;
    }
    *at = i;
    return lines_trim(span_of(text.p + from, i - from));
}

/* One line's cells. False: refused. */
static bool take_row(struct xlsx_book *book, struct xlsx_sheet *sheet, struct span text, size_t *at,
                     char delimiter, bool formulas)
{
    if (!xlsx_add_row(book, sheet))
        return false;
    for (;;) {
        struct span cell = take_cell(book, text, at, delimiter, formulas);
        if (!xlsx_add_cell(book, sheet,
                           (struct xlsx_cell){.text = cell, .source = cell.n ? CELL_TEXT : CELL_EMPTY}))
            return false;
        if (*at == text.n || text.p[*at] != delimiter)
            break;
        ++*at;
    }
    if (*at < text.n)
        *at += text.p[*at] == '\r' && *at + 1 < text.n && text.p[*at + 1] == '\n' ? 2 : 1;
    return true;
}

static bool is_number_cell(const struct xlsx_cell *cell)
{
    size_t digits = 0;
    for (size_t i = 0; i < cell->text.n; i++) {
        char c = cell->text.p[i];
        digits += c >= '0' && c <= '9';
        if ((c < '0' || c > '9') && !memchr("+-.,%", c, 5))
            return false;
    }
    return digits > 0;
}

/* The first row names the columns, unless it is numbers alone. */
static bool has_header(const struct xlsx_book *book, const struct xlsx_sheet *sheet)
{
    if (!sheet->rows_n)
        return false;
    const struct xlsx_row *row = &sheet->rows[0];
    for (uint32_t i = 0; i < row->n; i++)
        if (!is_number_cell(&book->cells[row->first + i]))
            return true;
    return false;
}

static bool read_table(struct xlsx_book *book, struct span text, struct span name)
{
    struct xlsx_sheet *sheet = xlsx_add_sheet(book, name);
    if (!sheet)
        return false;
    struct span rest = text, line = lines_take(&rest);
    char delimiter = 0;
    if (line.n == 5 && strncasecmp(line.p, "sep=", 4) == 0) {
        delimiter = line.p[4];
        text = rest;
    }
    if (!delimiter)
        delimiter = delimiter_of(text);
    size_t at = 0;
    while (at < text.n) {
        size_t from = at, cells = book->cells_n;
        uint32_t wide = sheet->rows_n ? sheet->rows[0].n : 0;
        size_t columns = sheet->columns_n;
        if (!take_row(book, sheet, text, &at, delimiter, false))
            return false;
        if (wide && sheet->rows[sheet->rows_n - 1].n > wide) {
            /* Too many cells: a formula without quotes around it may hold delimiters of its own. */
            book->cells_n = cells;
            sheet->rows_n--;
            sheet->columns_n = columns;
            at = from;
            if (!take_row(book, sheet, text, &at, delimiter, true))
                return false;
        }
        if (sheet->rows_n == 1 && row_is_empty(book, &sheet->rows[0])) {
            sheet->rows_n = sheet->columns_n = 0;
            book->cells_n = cells;
        }
    }
    trim_rows(book, sheet);
    sheet->header = has_header(book, sheet);
    return true;
}

static bool read_tables(struct xlsx_book *book, struct span text, struct span sheet)
{
    struct span rest = text, name, first;
    do
        first = lines_take(&rest);
    while (rest.n && !lines_trim(first).n);
    if (!lines_part(first, &name))
        return read_table(book, text, sheet);
    while (rest.n || name.n) {
        const char *from = rest.p;
        size_t n = 0;
        struct span next = {"", 0};
        while (rest.n) {
            struct span line = lines_take(&rest);
            if (lines_part(line, &next))
                break;
            n = (size_t)(rest.p - from);
            next = span_of("", 0);
        }
        if (!read_table(book, span_of(from, n), name))
            return false;
        name = next;
    }
    return true;
}

/* ---- Markdown ---- */

static bool add_markdown_cell(struct xlsx_book *book, struct xlsx_sheet *sheet,
                              const struct markdown_block *cell)
{
    struct buf text;
    buf_init(&text, MARKDOWN_SOURCE);
    for (const struct markdown_run *run = cell->runs; run; run = run->next) {
        if (run->type == RUN_BREAK)
            buf_addc(&text, '\n');
        else if (run->type != RUN_NOTE)
            buf_add(&text, run->text);
    }
    struct span s = arena_copy(&book->arena, lines_trim(buf_span(&text)));
    buf_free(&text);
    return xlsx_add_cell(book, sheet, (struct xlsx_cell){.text = s, .source = s.n ? CELL_TEXT : CELL_EMPTY});
}

static bool add_markdown_table(struct xlsx_book *book, const struct markdown_block *table, struct span name)
{
    struct xlsx_sheet *sheet = xlsx_add_sheet(book, name);
    if (!sheet)
        return false;
    for (const struct markdown_block *row = table->first; row; row = row->next) {
        if (!xlsx_add_row(book, sheet))
            return false;
        for (const struct markdown_block *cell = row->first; cell; cell = cell->next)
            if (!add_markdown_cell(book, sheet, cell))
                return false;
    }
    trim_rows(book, sheet);
    sheet->header = sheet->rows_n > 0;
    return true;
}

/* Every table becomes a sheet with the name of the heading above it. False: no table was found, or refused.
 */
static bool read_markdown(struct xlsx_book *book, struct span source, struct span only)
{
    const char *wrong;
    struct markdown *m = markdown_parse(source, &wrong);
    if (!m)
        return xlsx_refuse(book, RENDER_LIMIT, "its Markdown %s", wrong);
    struct span name = only;
    bool ok = true;
    const struct markdown_block *block = m->document->first;
    while (ok && block) {
        if (block->type == MARKDOWN_HEADING) {
            struct buf text;
            buf_init(&text, MARKDOWN_SOURCE);
            ok = markdown_plain(block->runs, &text) == 0;
            name = arena_copy(&book->arena, buf_span(&text));
            buf_free(&text);
        }
        if (ok && block->type == MARKDOWN_TABLE)
            ok = add_markdown_table(book, block, name);
        /* Tables stand in items and quotes too: the walk goes through all blocks, in order. */
        if (block->first && block->type != MARKDOWN_TABLE) {
            block = block->first;
            continue;
        }
        while (block && !block->next)
            block = block->parent;
        block = block ? block->next : NULL;
    }
    markdown_free(m);
    return ok && book->sheets_n > 0;
}

/* ---- JSON ---- */

static bool read_json(struct xlsx_book *book, struct span text, struct span sheet)
{
    struct span value;
    struct buf repaired;
    bool ok = false;
    if (json_document(text, &value))
        return xlsx_read_json(book, value, sheet) == RENDER_OK;
    buf_init(&repaired, text.n * 2 + 1024);
    if (metadata_repair_document(text, &repaired) == 0 && json_document(buf_span(&repaired), &value))
        ok = xlsx_read_json(book, arena_copy(&book->arena, value), sheet) == RENDER_OK;
    else
        xlsx_refuse(book, RENDER_INVALID, "it begins like JSON but is not valid JSON");
    buf_free(&repaired);
    return ok;
}

/* "[a],b" is comma text; "[[" or "[{" is not. */
static bool begins_like_json(struct span text)
{
    if (!text.n || (text.p[0] != '{' && text.p[0] != '['))
        return false;
    struct span inside = lines_trim(span_from(text, 1));
    if (!inside.n)
        return true;
    return text.p[0] == '{'
               ? inside.p[0] == '"' || inside.p[0] == '}' || inside.p[0] == '\'' || inside.p[0] == '/' ||
                     (unsigned char)inside.p[0] == 0xe2 || (inside.p[0] >= 'a' && inside.p[0] <= 'z')
               : inside.p[0] == '[' || inside.p[0] == '{';
}

enum render_status xlsx_read(struct xlsx_book *book, struct span source, struct span sheet)
{
    if (span_starts(source, "\xef\xbb\xbf"))
        source = span_from(source, 3);
    struct span text = lines_trim(source);
    if (!text.n)
        xlsx_refuse(book, RENDER_INVALID, "it is empty");
    else if (begins_like_json(text))
        read_json(book, text, sheet);
    else if (!has_markdown_table(text) || !read_markdown(book, text, sheet))
        read_tables(book, source, sheet);
    size_t rows = 0;
    for (size_t i = 0; i < book->sheets_n; i++)
        rows += book->sheets[i].rows_n;
    if (!rows)
        xlsx_refuse(book, RENDER_INVALID, "it has no rows");
    return book->status;
}

void xlsx_free(struct xlsx_book *book)
{
    for (size_t i = 0; i < book->sheets_n; i++) {
        xfree(book->sheets[i].rows);
        xfree(book->sheets[i].columns);
    }
    xfree(book->cells);
    arena_free(&book->arena);
}
