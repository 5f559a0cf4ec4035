#include "transcript/table.h"

#include <stdlib.h>

#include "transcript/raw.h"
#include "transcript/text.h"

/* The fewest digits that stand for the number. */
static void add_real(double number, struct buf *out)
{
    char text[64];
    for (int digits = 15; digits <= 17; digits++) {
        snprintf(text, sizeof text, "%.*g", digits, number);
        if (strtod(text, NULL) == number)
            break;
    }
    buf_adds(out, text);
}

static void add_cell(const json_t *value, struct buf *out)
{
    struct buf text;
    const json_t *inner = json_object_get(value, "value");
    if (inner)
        value = inner;
    buf_init(&text, out->max);
    if (json_is_string(value))
        buf_add(&text, raw_span(value));
    else if (json_is_real(value))
        add_real(json_real_value(value), &text);
    else if (value && !json_is_null(value))
        json_dump_callback(value, buf_sink, &text, JSON_COMPACT | JSON_ENCODE_ANY | JSON_REAL_PRECISION(15));
    text_cell(buf_span(&text), out);
    buf_free(&text);
}

static json_t *row_cells(const json_t *row)
{
    json_t *cells = raw_obj(row, "cells");
    return cells ? cells : raw_list(row, "cells");
}

/* The names of the columns, and those that only rows have. */
static json_t *find_columns(const json_t *payload, json_t *rows, size_t *widest)
{
    json_t *names = json_object(), *column, *row, *value;
    const char *key;
    size_t i;
    *widest = 0;
    json_array_foreach(raw_list(payload, "columns"), i, column)
    {
        struct span name = raw_span(column);
        static const char *const members[] = {"name", "title", "key", "id"};
        for (size_t m = 0; m < 4 && !name.n; m++)
            name = raw_str(column, members[m]);
        if (name.n && !json_object_getn(names, name.p, name.n))
            json_object_setn_new(names, name.p, name.n, json_true());
    }
    json_array_foreach(rows, i, row)
    {
        const json_t *cells = json_is_array(row) ? row : row_cells(row);
        if (json_is_array(cells) && json_array_size(cells) > *widest)
            *widest = json_array_size(cells);
        json_object_foreach(json_is_object(cells) ? (json_t *)cells : NULL, key,
                            value) if (!json_object_get(names, key))
            json_object_set_new(names, key, json_true());
    }
    return names;
}

static void add_row(json_t *names, const json_t *row, size_t columns, struct buf *out)
{
    const json_t *cells = json_is_array(row) ? row : row_cells(row);
    size_t n = 0;
    const char *key;
    json_t *value;
    buf_adds(out, "\n|");
    if (json_is_object(cells))
        json_object_foreach(names, key, value)
        {
            buf_addc(out, ' ');
            add_cell(json_object_get(cells, key), out);
            buf_adds(out, " |");
            n++;
        }
    for (; n < columns && !buf_full(out); n++) {
        buf_addc(out, ' ');
        add_cell(json_array_get(cells, n), out);
        buf_adds(out, " |");
    }
}

void table_print(const json_t *payload, struct buf *out)
{
    json_t *rows = raw_list(payload, "rows"), *row, *value;
    size_t columns, i = 0;
    json_t *names = find_columns(payload, rows, &columns);
    const char *key;
    if (json_object_size(names) > columns)
        columns = json_object_size(names);
    if (columns) {
        buf_addc(out, '|');
        json_object_foreach(names, key, value)
        {
            buf_addc(out, ' ');
            text_cell(span_str(key), out);
            buf_adds(out, " |");
            i++;
        }
        for (; i < columns && !buf_full(out); i++)
            buf_adds(out, "  |");
        buf_adds(out, "\n|");
        for (i = 0; i < columns && !buf_full(out); i++)
            buf_adds(out, " --- |");
        json_array_foreach(rows, i, row) if (!buf_full(out)) add_row(names, row, columns, out);
    }
    json_decref(names);
}
