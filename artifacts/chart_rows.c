/* A chart from rows of values: RFC 4180 with any of , ; tab |, or a Markdown table. */
#include <math.h>
#include <stdio.h>

#include "artifacts/chart.h"
#include "base/xalloc.h"

enum { CELL = 1024, COLUMNS = CHART_SERIES + 1 };

struct rows {
    const char *p, *end;
    char mark;
    struct buf cells[COLUMNS];
    size_t n; /* cells of the row that was read */
};

static char mark_of(struct span text)
{
    static const char marks[] = {',', ';', '\t', '|'};
    size_t count[sizeof marks] = {0}, best = 0;
    bool quoted = false;
    for (size_t i = 0; i < text.n && (quoted || text.p[i] != '\n'); i++) {
        quoted ^= text.p[i] == '"';
        for (size_t k = 0; !quoted && k < sizeof marks; k++)
            count[k] += text.p[i] == marks[k];
    }
    for (size_t k = 1; k < sizeof marks; k++)
        if (count[k] > count[best])
            best = k;
    return marks[best];
}

static void trim(struct buf *cell)
{
    while (cell->n && strchr(" \t\r", cell->data[cell->start + cell->n - 1]))
        buf_cut(cell, cell->n - 1);
    while (cell->n && strchr(" \t", cell->data[cell->start]))
        buf_consume(cell, 1);
}

/* Reads a row; cells beyond the last column and bytes beyond a cell's room are read over. */
static bool next_row(struct rows *r)
{
    bool quoted = false, any = false;
    size_t column = 0;
    for (size_t i = 0; i < COLUMNS; i++)
        buf_reset(&r->cells[i]);
    if (r->p == r->end)
        return false;
    for (; r->p < r->end; r->p++) {
        char c = *r->p;
        if (quoted && c == '"' && r->p + 1 < r->end && r->p[1] == '"')
            r->p++;
        else if (c == '"' && (quoted || !any)) {
            quoted = !quoted;
            any = true;
            continue;
        } else if (!quoted && c == '\n')
            break;
        else if (!quoted && c == r->mark) {
            column++;
            any = false;
            continue;
        }
        any |= c != ' ' && c != '\t';
        if (column < COLUMNS)
            (void)buf_addc(&r->cells[column], c);
    }
    if (r->p < r->end)
        r->p++;
    r->n = column + 1 < COLUMNS ? column + 1 : COLUMNS;
    for (size_t i = 0; i < r->n; i++)
        trim(&r->cells[i]);
    return true;
}

/* Takes off the empty cells at both ends that the outer bars of a Markdown table make. */
static size_t first_cell(struct rows *r)
{
    if (r->mark != '|')
        return 0;
    while (r->n > 1 && !r->cells[r->n - 1].n)
        r->n--;
    return r->n > 1 && !r->cells[0].n;
}

static bool is_rule(const struct rows *r)
{
    for (size_t i = 0; i < r->n; i++)
        for (size_t k = 0; k < r->cells[i].n; k++)
            if (!strchr("-: ", r->cells[i].data[r->cells[i].start + k]))
                return false;
    return true;
}

static double cell_number(const struct rows *r, size_t i)
{
    return i < r->n ? chart_number_read(buf_span(&r->cells[i])) : NAN;
}

static void take_row(struct rows *r, struct chart *c, size_t first, size_t row)
{
    for (size_t k = 0; k < c->n_series; k++) {
        struct chart_series *s = &c->series[k];
        s->y[row] = cell_number(r, first + k + 1);
        if (c->type == CHART_SCATTER) {
            double at;
            s->x[row] = cell_number(r, first);
            if (isnan(s->x[row]) && chart_date_read(buf_span(&r->cells[first]), &at)) {
                s->x[row] = at;
                c->x_dates = true;
            }
        }
        s->n = row + 1;
    }
    if (c->type != CHART_SCATTER)
        chart_set_label(c, row, buf_span(&r->cells[first]));
    c->n_points = row + 1;
}

/* The series, named by the first row; whether that row holds names and no values. */
static bool take_head(struct rows *r, struct chart *c, size_t first)
{
    bool names = true;
    for (size_t i = first + 1; i < r->n; i++)
        names &= isnan(cell_number(r, i));
    for (size_t i = first + 1; i < r->n; i++) {
        struct chart_series *s =
            chart_add_series(c, names ? buf_span(&r->cells[i]) : SPAN_LIT(""), CHART_POINTS);
        if (s && c->type == CHART_SCATTER)
            s->x = xcalloc(CHART_POINTS + 1, sizeof *s->x);
    }
    if (names && c->n_series && r->cells[first].n && !*c->x_label) {
        xfree(c->x_label);
        c->x_label = chart_text(buf_span(&r->cells[first]));
    }
    return names;
}

enum render_status chart_read_rows(struct span text, struct chart *c, char sentence[RENDER_SENTENCE])
{
    struct rows r = {.p = text.p, .end = text.p + text.n, .mark = mark_of(text)};
    enum render_status status = RENDER_OK;
    size_t row = 0, first = 0;
    bool head = true;
    for (size_t i = 0; i < COLUMNS; i++)
        buf_init(&r.cells[i], CELL);
    while (next_row(&r)) {
        if (is_rule(&r))
            continue;
        if (head) {
            first = first_cell(&r);
            head = false;
            if (take_head(&r, c, first))
                continue;
        }
        if (row == CHART_POINTS) {
            snprintf(sentence, RENDER_SENTENCE, "a chart may have at most 2000 points in a data set");
            status = RENDER_LIMIT;
            break;
        }
        take_row(&r, c, first, row++);
    }
    if (!c->n_series || !row) {
        snprintf(sentence, RENDER_SENTENCE,
                 "the chart has no data: write JSON, or rows with a label and values in each");
        status = RENDER_INVALID;
    }
    for (size_t i = 0; i < COLUMNS; i++)
        buf_free(&r.cells[i]);
    return status;
}
