/* Tables whose cells say where they end instead of how many columns they fill. */
#include <stdlib.h>

#include "attachments/markup_write.h"

enum { NEAR = 30 /* twips: rows that were drawn one after the other seldom end at quite the same place */ };

/* Both NULL: it is empty. */
static int32_t *edges_of(struct buf *b)
{
    return b->data ? (int32_t *)(void *)(b->data + b->start) : NULL;
}

static uint32_t *numbers(struct buf *b)
{
    return b->data ? (uint32_t *)(void *)(b->data + b->start) : NULL;
}

void markup_cell_edges(struct markup *m, const int32_t *right, unsigned n)
{
    struct table *t = m->n_tables && !m->deep_tables ? m->tables[m->n_tables - 1] : NULL;
    if (t && !markup_stopped(m))
        buf_addn(&t->edges, right,
                 n * sizeof *right); /* as many as the grid has room for, or they are not used */
}

static int by_place(const void *a, const void *b)
{
    int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;
    return (x > y) - (x < y);
}

/* The edges of all rows in order, each once. */
static void find_columns(const struct table *t, struct buf *columns)
{
    size_t n = 0;
    buf_add(columns, buf_span(&t->edges));
    if (!columns->n)
        return;
    int32_t *at = edges_of(columns);
    qsort(at, columns->n / sizeof *at, sizeof *at, by_place);
    for (size_t i = 1; i < columns->n / sizeof *at; i++)
        if (at[i] > at[n] + NEAR)
            at[++n] = at[i];
    buf_cut(columns, (n + 1) * sizeof *at);
}

/* The column that ends there. */
static uint32_t column_of(struct buf *columns, int32_t edge)
{
    const int32_t *at = edges_of(columns);
    uint32_t low = 0, high = (uint32_t)(columns->n / sizeof *at);
    while (high - low > 1) {
        uint32_t middle = low + (high - low) / 2;
        if (at[middle] <= edge)
            low = middle;
        else
            high = middle;
    }
    return low;
}

/* Whether each place of each row has a column of its own, to the right of the one before. */
static bool is_in_order(struct table *t, struct buf *columns)
{
    const int32_t *edges = edges_of(&t->edges);
    const uint32_t *rows = numbers(&t->rows);
    size_t n = t->edges.n / sizeof *edges, row = 0, n_rows = t->rows.n / sizeof *rows;
    for (size_t i = 0; i < n; i++) {
        bool first = false;
        for (; row < n_rows && rows[row] <= i; row++)
            first = rows[row] == i;
        if (!first && i && column_of(columns, edges[i - 1]) >= column_of(columns, edges[i]))
            return false;
    }
    return true;
}

/* Each place again for all columns up to where it ends; what a row does not reach is left out. */
static void spread(struct markup *m, struct table *t, struct buf *columns)
{
    struct buf grid, rows;
    size_t n_rows = t->rows.n / sizeof(uint32_t), n = t->grid.n / sizeof(uint32_t);
    buf_init(&grid, (size_t)MARKUP_CELLS * 2 * sizeof(uint32_t));
    buf_init(&rows, t->rows.n);
    for (size_t row = 0; row < n_rows; row++) {
        uint32_t begin = (uint32_t)(grid.n / sizeof begin), column = 0;
        size_t end = row + 1 < n_rows ? numbers(&t->rows)[row + 1] : n;
        buf_addn(&rows, &begin, sizeof begin);
        for (size_t i = numbers(&t->rows)[row]; i < end; i++)
            for (uint32_t last = column_of(columns, edges_of(&t->edges)[i]); column <= last; column++)
                buf_addn(&grid, &numbers(&t->grid)[i], sizeof(uint32_t));
        t->columns = column > t->columns ? column : t->columns;
    }
    m->cells += (grid.n - t->grid.n) / sizeof(uint32_t);
    buf_move(&t->grid, &grid);
    buf_move(&t->rows, &rows);
    buf_free(&grid);
    buf_free(&rows);
}

void markup_columns_fit(struct markup *m, struct table *t)
{
    struct buf columns;
    if (t->edges.n == 0 || t->edges.n != t->grid.n)
        return;
    buf_init(&columns, t->edges.n);
    find_columns(t, &columns);
    uint64_t n = columns.n / sizeof(int32_t);
    if (!is_in_order(t, &columns))
        ; /* they make no sense: places count, as if none had been said */
    else if (n > MARKUP_COLUMNS)
        extraction_fail(m->x, RENDER_LIMIT, "has a table of more than %d columns.", MARKUP_COLUMNS);
    else if (m->cells + n * (t->rows.n / sizeof(uint32_t)) > MARKUP_CELLS)
        extraction_fail(m->x, RENDER_LIMIT, "has tables of more than %d cells; split it.", MARKUP_CELLS);
    else
        spread(m, t, &columns);
    buf_free(&columns);
}
