/* Tables: a grid of cells, of which one may fill many places. */
#include "attachments/markup_write.h"
#include "base/xalloc.h"

enum { NO_CELL = UINT32_MAX, CELL_ABOVE = UINT32_MAX - 1 /* the one of the row before; until the end */ };

struct table_span {
    uint32_t cell, rows;
};

struct table *markup_cell_of(const struct markup *m)
{
    for (unsigned i = m->n_tables; i-- > 0;)
        if (m->tables[i]->in_cell)
            return m->tables[i];
    return NULL;
}

void markup_table_free(struct table *t)
{
    buf_free(&t->text);
    buf_free(&t->cells);
    buf_free(&t->grid);
    buf_free(&t->rows);
    buf_free(&t->spans);
    buf_free(&t->edges);
    xfree(t);
}

void markup_table(struct markup *m)
{
    markup_flush(m);
    if (m->n_tables == MARKUP_TABLE_DEPTH) {
        m->deep_tables++;
        return;
    }
    struct table *t = xcalloc(1, sizeof *t);
    buf_init(&t->text, EXTRACT_TEXT);
    buf_init(&t->cells, (size_t)MARKUP_CELLS * sizeof(struct table_cell));
    buf_init(&t->grid, (size_t)MARKUP_CELLS * 2 * sizeof(uint32_t));
    buf_init(&t->rows, (size_t)MARKUP_CELLS * sizeof(uint32_t));
    buf_init(&t->spans, (size_t)MARKUP_COLUMNS * 2 * sizeof(struct table_span));
    buf_init(&t->edges, (size_t)MARKUP_CELLS * 2 * sizeof(int32_t));
    t->base = m->n_containers;
    m->tables[m->n_tables++] = t;
}

static struct table *top(struct markup *m)
{
    return m->n_tables && !m->deep_tables ? m->tables[m->n_tables - 1] : NULL;
}

/* NULL: it is empty. */
static uint32_t *numbers(struct buf *b)
{
    return b->data ? (uint32_t *)(void *)(b->data + b->start) : NULL;
}

static struct table_span *span_at(struct table *t, uint32_t column)
{
    return (size_t)column < t->spans.n / sizeof(struct table_span)
               ? (struct table_span *)(void *)(t->spans.data + t->spans.start) + column
               : NULL;
}

static uint32_t width(struct table *t)
{
    size_t rows = t->rows.n / sizeof(uint32_t);
    return (uint32_t)(t->grid.n / sizeof(uint32_t)) - (rows ? numbers(&t->rows)[rows - 1] : 0);
}

static void put(struct markup *m, struct table *t, uint32_t cell)
{
    if (markup_stopped(m))
        return;
    if (++m->cells > MARKUP_CELLS)
        extraction_fail(m->x, RENDER_LIMIT, "has tables of more than %d cells; split it.", MARKUP_CELLS);
    else if (width(t) >= MARKUP_COLUMNS)
        extraction_fail(m->x, RENDER_LIMIT, "has a table of more than %d columns.", MARKUP_COLUMNS);
    else
        buf_addn(&t->grid, &cell, sizeof cell);
}

/* Cells from above that reach down to here. */
static void put_spans(struct markup *m, struct table *t)
{
    struct table_span *above;
    while (!markup_stopped(m) && (above = span_at(t, width(t))) && above->rows > 0) {
        above->rows--;
        put(m, t, above->cell);
    }
}

static void end_row(struct markup *m, struct table *t)
{
    if (!t->in_row)
        return;
    uint32_t last = (uint32_t)(t->spans.n / sizeof(struct table_span));
    while (last > width(t) && span_at(t, last - 1)->rows == 0)
        last--;
    while (!markup_stopped(m) && width(t) < last) {
        put_spans(m, t);
        if (width(t) < last)
            put(m, t, NO_CELL);
    }
    if (width(t) > t->columns)
        t->columns = width(t);
    t->in_row = false;
}

void markup_row(struct markup *m)
{
    markup_flush(m);
    struct table *t = top(m);
    if (!t || t->in_cell)
        return;
    end_row(m, t);
    uint32_t at = (uint32_t)(t->grid.n / sizeof(uint32_t));
    if (buf_addn(&t->rows, &at, sizeof at))
        m->over = true;
    t->in_row = true;
}

void markup_cell(struct markup *m, unsigned columns, unsigned rows)
{
    markup_flush(m);
    struct table *t = top(m);
    if (!t || t->in_cell || markup_stopped(m))
        return;
    if (!t->in_row)
        markup_row(m);
    put_spans(m, t);
    struct table_cell cell = {(uint32_t)t->text.n, 0};
    t->cell = (uint32_t)(t->cells.n / sizeof cell);
    if (buf_addn(&t->cells, &cell, sizeof cell)) {
        m->over = true;
        return;
    }
    t->wide = columns < 1 ? 1 : columns > MARKUP_SPAN ? MARKUP_SPAN : columns;
    t->high = rows < 1 ? 1 : rows;
    t->in_cell = true;
}

void markup_cell_end(struct markup *m)
{
    markup_flush(m);
    struct table *t = top(m);
    if (!t || !t->in_cell)
        return;
    while (m->n_frames && m->frames[m->n_frames - 1].cells >= m->n_tables)
        markup_end(m);
    struct table_cell *cell = (struct table_cell *)(void *)(t->cells.data + t->cells.start) + t->cell;
    cell->n = (uint32_t)t->text.n - cell->at;
    m->n_containers = m->n_containers > t->base ? t->base : m->n_containers;
    t->in_cell = false;
    for (uint32_t i = 0; i < t->wide && !markup_stopped(m); i++) {
        uint32_t column = width(t);
        struct table_span below = {t->cell, t->high - 1}, none = {0, 0};
        put(m, t, t->cell);
        while (t->high > 1 && !span_at(t, column) && !buf_addn(&t->spans, &none, sizeof none))
            ;
        if (span_at(t, column))
            *span_at(t, column) = below;
    }
}

void markup_cell_above(struct markup *m, unsigned columns)
{
    markup_flush(m);
    struct table *t = top(m);
    if (!t || t->in_cell || !t->in_row)
        return;
    for (unsigned i = 0; i < (columns > MARKUP_SPAN ? MARKUP_SPAN : columns < 1 ? 1 : columns); i++)
        put(m, t, CELL_ABOVE);
}

/* What goes on from above is in the same column, which is known when all rows are there. */
static void settle_above(struct table *t)
{
    uint32_t *grid = numbers(&t->grid), *rows = numbers(&t->rows);
    size_t n = t->grid.n / sizeof *grid, n_rows = t->rows.n / sizeof *rows;
    for (size_t row = 0; row < n_rows; row++) {
        size_t end = row + 1 < n_rows ? rows[row + 1] : n;
        for (size_t i = rows[row]; i < end; i++) {
            size_t above = row ? rows[row - 1] + (i - rows[row]) : n;
            if (grid[i] == CELL_ABOVE)
                grid[i] = above < rows[row] ? grid[above] : NO_CELL;
        }
    }
}

static struct span cell_text(struct table *t, uint32_t row, uint32_t column)
{
    size_t rows = t->rows.n / sizeof(uint32_t);
    uint32_t begin = numbers(&t->rows)[row];
    uint32_t end = row + 1 < rows ? numbers(&t->rows)[row + 1] : (uint32_t)(t->grid.n / sizeof(uint32_t));
    if (column >= end - begin || numbers(&t->grid)[begin + column] == NO_CELL)
        return SPAN_LIT("");
    const struct table_cell *cell =
        (const struct table_cell *)(const void *)(t->cells.data + t->cells.start) +
        numbers(&t->grid)[begin + column];
    return span_of(buf_span(&t->text).p + cell->at, cell->n);
}

static uint32_t row_width(struct table *t, uint32_t row)
{
    size_t rows = t->rows.n / sizeof(uint32_t);
    uint32_t end = row + 1 < rows ? numbers(&t->rows)[row + 1] : (uint32_t)(t->grid.n / sizeof(uint32_t));
    return end - numbers(&t->rows)[row];
}

static void table_out(struct markup *m, struct table *t, bool nested)
{
    struct buf lines;
    buf_init(&lines, EXTRACT_TEXT);
    bool head = true;
    for (uint32_t row = 0; row < t->rows.n / sizeof(uint32_t) && !buf_full(&lines); row++) {
        uint32_t columns = nested ? row_width(t, row) : t->columns;
        if (row_width(t, row) == 0)
            continue;
        if (lines.n)
            buf_addc(&lines, '\n');
        for (uint32_t i = 0; i < columns && !buf_full(&lines); i++) {
            buf_adds(&lines, nested ? (i ? " \\| " : "") : i ? " | " : "| ");
            buf_add(&lines, cell_text(t, row, i));
        }
        buf_adds(&lines, nested ? "" : " |");
        if (!nested && head) {
            buf_adds(&lines, "\n|");
            for (uint32_t i = 0; i < columns; i++)
                buf_adds(&lines, " --- |");
        }
        head = false;
    }
    if (buf_full(&lines))
        m->over = true;
    else if (lines.n)
        markup_block_out(m, buf_span(&lines), false);
    buf_free(&lines);
}

void markup_table_end(struct markup *m)
{
    markup_flush(m);
    if (m->deep_tables) {
        m->deep_tables--;
        return;
    }
    if (!m->n_tables)
        return;
    struct table *t = m->tables[m->n_tables - 1];
    markup_cell_end(m);
    while (m->n_frames && m->frames[m->n_frames - 1].cells >= m->n_tables)
        markup_end(m);
    end_row(m, t);
    m->n_tables--;
    markup_columns_fit(m, t);
    settle_above(t);
    if (!markup_stopped(m))
        table_out(m, t, markup_cell_of(m) != NULL);
    markup_table_free(t);
}
