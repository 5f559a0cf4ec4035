/* A sheet as tables: merged cells repeat their text, and an empty row or column parts one table from the
 * next. */
#include <stdlib.h>

#include "attachments/sheet.h"
#include "base/xalloc.h"

enum {
    STEPS = 20000000, /* places looked at for merged cells */
    DEPTH = 12,       /* cuts inside cuts; deeper ones are not made */
};

struct splitter {
    struct sheet *sheet;
    struct buf table;
    int tables;
    unsigned depth;
    uint32_t *column_part; /* which run of columns a column is in; SHEET_COLUMNS of them */
};

static int by_place(const void *a, const void *b)
{
    const struct sheet_cell *x = a, *y = b;
    if (x->row != y->row)
        return x->row < y->row ? -1 : 1;
    return (x->column > y->column) - (x->column < y->column);
}

static struct sheet_cell *cells_of(const struct sheet *s)
{
    return s->cells.n ? (struct sheet_cell *)(void *)(s->cells.data + s->cells.start) : NULL;
}

static size_t count_of(const struct sheet *s)
{
    return s->cells.n / sizeof(struct sheet_cell);
}

static const struct sheet_cell *find(const struct sheet *s, size_t n, uint32_t row, uint16_t column)
{
    const struct sheet_cell key = {.row = row, .column = column};
    return n ? bsearch(&key, cells_of(s), n, sizeof key, by_place) : NULL;
}

/* Only as far as the sheet is used at all: a merged group may reach to its last row. */
static int fill_merges(struct sheet *s)
{
    size_t n = count_of(s);
    uint32_t last_row = 0;
    uint16_t last_column = 0;
    uint64_t steps = 0;
    for (size_t i = 0; i < n; i++) {
        last_row = cells_of(s)[i].row > last_row ? cells_of(s)[i].row : last_row;
        last_column = cells_of(s)[i].column > last_column ? cells_of(s)[i].column : last_column;
    }
    const struct sheet_merge *merges = (const struct sheet_merge *)(const void *)buf_span(&s->merges).p;
    for (size_t i = 0; i < s->merges.n / sizeof *merges; i++) {
        const struct sheet_merge *m = &merges[i];
        const struct sheet_cell *first = find(s, n, m->first_row, m->first_column);
        if (!first)
            continue;
        struct sheet_cell copy = *first;
        for (uint32_t row = m->first_row; row <= m->last_row && row <= last_row; row++)
            for (uint32_t column = m->first_column; column <= m->last_column && column <= last_column;
                 column++) {
                copy.row = row;
                copy.column = (uint16_t)column;
                if (++steps < STEPS && find(s, n, row, copy.column))
                    continue;
                if (steps >= STEPS || buf_addn(&s->cells, &copy, sizeof copy))
                    return extraction_fail(s->book->x, RENDER_LIMIT,
                                           "has more than %d cells with something in them; split it.",
                                           SHEET_CELLS);
            }
    }
    if (count_of(s) > n)
        qsort(cells_of(s), count_of(s), sizeof(struct sheet_cell), by_place);
    return 0;
}

static void write_text(struct buf *out, struct span text)
{
    while (text.n && (text.p[0] == ' ' || (text.p[0] >= '\t' && text.p[0] <= '\r')))
        text = span_from(text, 1);
    while (text.n &&
           (text.p[text.n - 1] == ' ' || (text.p[text.n - 1] >= '\t' && text.p[text.n - 1] <= '\r')))
        text.n--;
    for (size_t i = 0; i < text.n; i++) {
        char c = text.p[i];
        if (c == '\n')
            buf_adds(out, "<br>");
        else if (c == '|')
            buf_adds(out, "\\|");
        else if (c != '\r')
            buf_addc(out, c >= 0 && c < ' ' ? ' ' : c);
    }
}

/* The address is not said twice. */
static void write_cell(struct splitter *p, const struct sheet_cell *cell)
{
    struct span text = sheet_text(p->sheet, cell), target = sheet_link_target(p->sheet, cell);
    bool linked = target.n && !(target.n == text.n && !memcmp(target.p, text.p, text.n));
    if (linked)
        buf_addc(&p->table, '[');
    write_text(&p->table, text);
    if (linked)
        markup_target(&p->table, target, true);
}

/* Cells of one table, by row and column. */
static void write_table(struct splitter *p, const struct sheet_cell *cells, size_t n)
{
    uint32_t first = SHEET_COLUMNS, last = 0;
    for (size_t i = 0; i < n; i++) {
        first = cells[i].column < first ? cells[i].column : first;
        last = cells[i].column > last ? cells[i].column : last;
    }
    buf_reset(&p->table);
    size_t i = 0;
    for (uint32_t row = cells[0].row; row <= cells[n - 1].row && !buf_full(&p->table); row++) {
        buf_adds(&p->table, row == cells[0].row ? "|" : "\n|");
        for (uint32_t column = first; column <= last; column++) {
            buf_addc(&p->table, ' ');
            for (; i < n && cells[i].row == row && cells[i].column == column; i++)
                if (i + 1 == n || cells[i + 1].row != row ||
                    cells[i + 1].column != column) /* the last one stays */
                    write_cell(p, &cells[i]);
            buf_adds(&p->table, " |");
        }
        if (row == cells[0].row) {
            buf_adds(&p->table, "\n|");
            for (uint32_t column = first; column <= last; column++)
                buf_adds(&p->table, " --- |");
        }
    }
    if (buf_full(&p->table)) {
        extraction_fail(p->sheet->book->x, RENDER_LIMIT, "is longer than %d MiB as text; split it.",
                        EXTRACT_TEXT >> 20);
        return;
    }
    markup_raw(p->sheet->book->m, buf_span(&p->table));
    p->tables++;
}

static void split_rows(struct splitter *p, struct sheet_cell *cells, size_t n, bool again);

/* Rows that follow each other; parted where a column is empty in all of them. */
static void split_columns(struct splitter *p, struct sheet_cell *cells, size_t n)
{
    uint32_t parts = 0;
    memset(p->column_part, 0, SHEET_COLUMNS * sizeof *p->column_part);
    for (size_t i = 0; i < n; i++)
        p->column_part[cells[i].column] = 1;
    for (uint32_t c = 0, inside = 0; c < SHEET_COLUMNS; c++) {
        parts += p->column_part[c] && !inside;
        inside = p->column_part[c];
        p->column_part[c] = inside ? parts : 0;
    }
    if (parts == 1 || p->depth == DEPTH) {
        write_table(p, cells, n);
        return;
    }
    /* Sorted by part, each in its old order. */
    struct sheet_cell *sorted = xcalloc(n, sizeof *sorted);
    size_t *at = xcalloc(parts + 2, sizeof *at);
    for (size_t i = 0; i < n; i++)
        at[p->column_part[cells[i].column] + 1]++;
    for (uint32_t i = 1; i <= parts + 1; i++)
        at[i] += at[i - 1];
    for (size_t i = 0; i < n; i++)
        sorted[at[p->column_part[cells[i].column]]++] = cells[i];
    p->depth++;
    for (uint32_t i = 1; i <= parts; i++)
        split_rows(p, sorted + at[i - 1], at[i] - at[i - 1], true);
    p->depth--;
    xfree(at);
    xfree(sorted);
}

static void split_rows(struct splitter *p, struct sheet_cell *cells, size_t n, bool again)
{
    for (size_t i = 0, end; i < n && !markup_stopped(p->sheet->book->m); i = end) {
        for (end = i + 1; end < n && cells[end].row <= cells[end - 1].row + 1; end++)
            ;
        if (again && i == 0 && end == n)
            write_table(p, cells, n);
        else
            split_columns(p, cells + i, end - i);
    }
}

int sheet_write(struct sheet *s)
{
    if (!s->sorted && count_of(s))
        qsort(cells_of(s), count_of(s), sizeof(struct sheet_cell), by_place);
    s->sorted = true;
    if (sheet_links_set(s))
        return -1;
    if (!s->sorted)
        qsort(cells_of(s), count_of(s), sizeof(struct sheet_cell), by_place);
    if (fill_merges(s))
        return -1;
    struct splitter p = {.sheet = s, .column_part = xcalloc(SHEET_COLUMNS, sizeof(uint32_t))};
    buf_init(&p.table, EXTRACT_TEXT);
    split_rows(&p, cells_of(s), count_of(s), false);
    buf_free(&p.table);
    xfree(p.column_part);
    return s->book->x->status == RENDER_OK ? p.tables : -1;
}
