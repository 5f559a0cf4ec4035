/*
 * A workbook from JSON: {"sheets":[{"name","columns","rows"}]}, one such sheet, {"Name":[rows], …}, or rows
 * alone. Rows are arrays, or objects whose names are the columns.
 */
#include "artifacts/utf8.h"
#include "artifacts/xlsx.h"
#include "base/json.h"
#include "base/xalloc.h"

enum { KEY_COLUMNS = 2048, KEY_STEPS = 50000000 };

/* The columns of a sheet whose rows are objects, by name. */
struct keys {
    struct span name[KEY_COLUMNS];
    struct xlsx_cell cell[KEY_COLUMNS]; /* of the row that is being read */
    struct span header[KEY_COLUMNS];    /* of the declared ones */
    size_t n, declared;
    size_t steps;
};

static struct span text_of(struct xlsx_book *book, struct span string)
{
    struct span inside = json_inside(string), copy = inside;
    if (!memchr(inside.p, '\\', inside.n))
        return inside;
    struct buf text;
    buf_init(&text, inside.n + 1);
    if (json_unescape(inside, &text) == 0)
        copy = arena_copy(&book->arena, buf_span(&text));
    buf_free(&text);
    return copy;
}

static bool member(struct span object, const char *const *names, struct span *value)
{
    for (; *names; names++)
        if (json_member(object, *names, value))
            return true;
    return false;
}

#define NAMES(...) ((const char *const[]){__VA_ARGS__, NULL})

/* ---- cells ---- */

static struct xlsx_cell formula_cell(struct xlsx_book *book, struct span object, struct span formula)
{
    struct xlsx_cell cell = {.source = CELL_FORMULA};
    struct span text = text_of(book, formula);
    struct buf checked;
    while (text.n && (text.p[0] == '=' || text.p[0] == ' '))
        text = span_from(text, 1);
    buf_init(&checked, XLSX_FORMULA * 2);
    if (xlsx_formula(text, &checked)) {
        cell.text = arena_copy(&book->arena, buf_span(&checked));
        struct span value;
        if (member(object, NAMES("value", "v", "result"), &value))
            cell.value = value;
    } else {
        book->formulas_refused++;
        buf_reset(&checked);
        checked.max = text.n + 1;
        buf_addc(&checked, '=');
        buf_add(&checked, text);
        cell.text = arena_copy(&book->arena, buf_span(&checked));
        cell.source = CELL_STRING;
    }
    buf_free(&checked);
    return cell;
}

static struct xlsx_cell cell_of(struct xlsx_book *book, struct span value)
{
    struct span inner, type;
    bool string = false;
    if (json_type(value) == JSON_OBJECT) {
        if (member(value, NAMES("formula", "f"), &inner) && json_type(inner) == JSON_STRING)
            return formula_cell(book, value, inner);
        if (member(value, NAMES("value", "v"), &inner) && json_type(inner) != JSON_OBJECT) {
            string = json_member(value, "type", &type) && json_type(type) == JSON_STRING &&
                     xlsx_kind_named(text_of(book, type)) == KIND_TEXT;
            value = inner;
        }
    }
    switch (json_type(value)) {
    case JSON_STRING: {
        struct span text = text_of(book, value);
        return (struct xlsx_cell){.text = text,
                                  .source = !text.n  ? CELL_EMPTY
                                            : string ? CELL_STRING
                                                     : CELL_TEXT};
    }
    case JSON_NUMBER:
        return (struct xlsx_cell){.text = value, .source = string ? CELL_STRING : CELL_NUMBER};
    case JSON_TRUE:
    case JSON_FALSE:
        return (struct xlsx_cell){.text = value, .source = CELL_BOOL};
    case JSON_OBJECT:
    case JSON_ARRAY:
        return (struct xlsx_cell){.text = value, .source = CELL_STRING};
    case JSON_NULL:
    case JSON_NONE:
        break;
    }
    return (struct xlsx_cell){.source = CELL_EMPTY};
}

/* ---- rows ---- */

static bool add_array_row(struct xlsx_book *book, struct xlsx_sheet *sheet, struct span row)
{
    if (!xlsx_add_row(book, sheet))
        return false;
    struct json_iter it = json_iter(row);
    while (json_next(&it) == 1)
        if (!xlsx_add_cell(book, sheet, cell_of(book, it.value)))
            return false;
    return true;
}

/* The place of a name, added when it is new; KEY_COLUMNS: too many. `hint`: where it probably is. */
static size_t key_place(struct keys *keys, struct span name, size_t hint)
{
    for (size_t k = 0; k < keys->n; k++) {
        size_t i = (hint + k) % keys->n;
        keys->steps++;
        if (keys->name[i].n == name.n && memcmp(keys->name[i].p, name.p, name.n) == 0)
            return i;
        if (keys->steps > KEY_STEPS)
            return KEY_COLUMNS;
    }
    if (keys->n == KEY_COLUMNS)
        return KEY_COLUMNS;
    keys->name[keys->n] = name;
    return keys->n++;
}

static struct span key_name(struct xlsx_book *book, struct span key)
{
    /* With its quotes, which stand around it in the source, it is a string. */
    return memchr(key.p, '\\', key.n) ? text_of(book, span_of(key.p - 1, key.n + 2)) : key;
}

/* The names of all rows that are objects, in the order in which they first come up. */
static bool collect_keys(struct xlsx_book *book, struct span rows, struct keys *keys)
{
    struct json_iter it = json_iter(rows);
    while (json_next(&it) == 1) {
        size_t hint = 0;
        struct json_iter row = json_iter(it.value);
        while (json_type(it.value) == JSON_OBJECT && json_next(&row) == 1) {
            size_t i = key_place(keys, key_name(book, row.key), hint);
            if (i == KEY_COLUMNS)
                return xlsx_refuse(book, RENDER_LIMIT, "its rows have more than %d different names",
                                   KEY_COLUMNS);
            hint = i + 1;
        }
    }
    return true;
}

static bool add_object_row(struct xlsx_book *book, struct xlsx_sheet *sheet, struct span row,
                           struct keys *keys)
{
    size_t hint = 0;
    memset(keys->cell, 0, sizeof keys->cell[0] * keys->n);
    struct json_iter it = json_iter(row);
    while (json_next(&it) == 1) {
        size_t i = key_place(keys, key_name(book, it.key), hint);
        if (i == KEY_COLUMNS)
            return xlsx_refuse(book, RENDER_LIMIT, "its rows have too many names in different orders");
        keys->cell[i] = cell_of(book, it.value);
        hint = i + 1;
    }
    if (!xlsx_add_row(book, sheet))
        return false;
    for (size_t i = 0; i < keys->n; i++)
        if (!xlsx_add_cell(book, sheet, keys->cell[i]))
            return false;
    return true;
}

static bool add_rows(struct xlsx_book *book, struct xlsx_sheet *sheet, struct span rows, struct keys *keys)
{
    struct json_iter it = json_iter(rows);
    while (json_next(&it) == 1) {
        enum json_type type = json_type(it.value);
        bool ok;
        if (type == JSON_ARRAY)
            ok = add_array_row(book, sheet, it.value);
        else if (type == JSON_OBJECT)
            ok = add_object_row(book, sheet, it.value, keys);
        else /* a row of one cell */
            ok = xlsx_add_row(book, sheet) && xlsx_add_cell(book, sheet, cell_of(book, it.value));
        if (!ok)
            return false;
    }
    return true;
}

/* ---- columns ---- */

/* What a column's object says beside its header. */
static void declare_column(struct xlsx_book *book, struct xlsx_column *column, struct span object)
{
    struct span value;
    if (json_member(object, "type", &value) && json_type(value) == JSON_STRING)
        column->kind = xlsx_kind_named(text_of(book, value));
    if (member(object, NAMES("format", "number_format", "numFmt"), &value) && json_type(value) == JSON_STRING)
        column->format = text_of(book, value);
    int64_t width;
    if (json_member(object, "width", &value) && json_type(value) == JSON_NUMBER && json_int(value, &width) &&
        width > 0)
        column->width = width < 4 ? 4 : width > 120 ? 120 : (double)width;
}

static struct span header_of(struct xlsx_book *book, struct span column)
{
    struct span value = column;
    if (json_type(column) == JSON_OBJECT &&
        !member(column, NAMES("header", "name", "title", "label", "key", "field"), &value))
        return span_of("", 0);
    return json_type(value) == JSON_STRING ? text_of(book, value)
           : json_type(value) == JSON_NULL ? span_of("", 0)
                                           : value;
}

static void declare_columns(struct xlsx_book *book, struct xlsx_sheet *sheet, struct span columns,
                            struct keys *keys)
{
    struct json_iter it = json_iter(columns);
    size_t room = 0;
    while (keys->n < KEY_COLUMNS && json_next(&it) == 1) {
        size_t i = keys->n++;
        bool object = json_type(it.value) == JSON_OBJECT;
        struct span key;
        if (i == room) {
            room = room ? room * 2 : 16;
            sheet->columns = xrealloc(sheet->columns, room * sizeof *sheet->columns);
        }
        sheet->columns[i] = (struct xlsx_column){.kind = KIND_AUTO};
        keys->header[i] = keys->name[i] = header_of(book, it.value);
        if (object)
            declare_column(book, &sheet->columns[i], it.value);
        if (object && member(it.value, NAMES("key", "field"), &key) && json_type(key) == JSON_STRING)
            keys->name[i] = text_of(book, key);
    }
    sheet->columns_declared = keys->declared = keys->n;
}

static bool add_header(struct xlsx_book *book, struct xlsx_sheet *sheet, const struct keys *keys)
{
    if (!keys->n)
        return true;
    if (!xlsx_add_row(book, sheet))
        return false;
    sheet->header = true;
    for (size_t i = 0; i < keys->n; i++) {
        struct span text = i < keys->declared ? keys->header[i] : keys->name[i];
        struct xlsx_cell cell = {.text = text, .source = text.n ? CELL_STRING : CELL_EMPTY};
        if (!xlsx_add_cell(book, sheet, cell))
            return false;
    }
    return true;
}

static bool first_row_is_header(const struct xlsx_book *book, const struct xlsx_sheet *sheet)
{
    if (sheet->rows_n < 2 || !sheet->rows[0].n)
        return false;
    for (uint32_t i = 0; i < sheet->rows[0].n; i++)
        if (book->cells[sheet->rows[0].first + i].source != CELL_TEXT)
            return false;
    return true;
}

/* ---- sheets ---- */

static bool add_sheet(struct xlsx_book *book, struct span name, struct span columns, struct span rows)
{
    struct xlsx_sheet *sheet = xlsx_add_sheet(book, name);
    if (!sheet)
        return false;
    struct keys *keys = xcalloc(1, sizeof *keys);
    if (columns.n)
        declare_columns(book, sheet, columns, keys);
    bool ok =
        collect_keys(book, rows, keys) && add_header(book, sheet, keys) && add_rows(book, sheet, rows, keys);
    if (ok && !sheet->header)
        sheet->header = first_row_is_header(book, sheet);
    xfree(keys);
    return ok;
}

static struct span name_in(struct xlsx_book *book, struct span object, struct span otherwise)
{
    struct span name;
    if (member(object, NAMES("name", "title", "sheet"), &name) && json_type(name) == JSON_STRING)
        return text_of(book, name);
    return otherwise;
}

/* A sheet's object, or its rows alone. */
static bool read_sheet(struct xlsx_book *book, struct span value, struct span name)
{
    struct span rows = {"", 0}, columns = {"", 0};
    if (json_type(value) == JSON_ARRAY)
        return add_sheet(book, name, columns, value);
    if (json_type(value) != JSON_OBJECT)
        return xlsx_refuse(book, RENDER_INVALID, "a sheet is neither an object nor a list of rows");
    bool have = member(value, NAMES("rows", "data", "values", "cells"), &rows);
    if (!member(value, NAMES("columns", "headers", "header"), &columns) || json_type(columns) != JSON_ARRAY)
        columns = span_of("", 0);
    if (have && json_type(rows) != JSON_ARRAY)
        return xlsx_refuse(book, RENDER_INVALID, "the rows of a sheet are not a list");
    if (!have && !columns.n)
        return xlsx_refuse(book, RENDER_INVALID, "a sheet has no rows");
    return add_sheet(book, name_in(book, value, name), columns, have ? rows : span_of("[]", 2));
}

static bool read_sheets(struct xlsx_book *book, struct span array, struct span sheet)
{
    struct json_iter it = json_iter(array);
    while (json_next(&it) == 1)
        if (!read_sheet(book, it.value, sheet))
            return false;
    return true;
}

/* A list of sheets, or of rows. */
static bool read_array(struct xlsx_book *book, struct span array, struct span sheet)
{
    struct span rows;
    struct json_iter it = json_iter(array);
    if (json_next(&it) != 1)
        return xlsx_refuse(book, RENDER_INVALID, "it has no rows");
    bool sheets = json_type(it.value) == JSON_OBJECT && member(it.value, NAMES("rows", "data"), &rows) &&
                  json_type(rows) == JSON_ARRAY;
    return sheets ? read_sheets(book, array, sheet) : read_sheet(book, array, sheet);
}

/* Every member is a sheet with its name. */
static bool read_named(struct xlsx_book *book, struct span object)
{
    struct json_iter it = json_iter(object);
    while (json_next(&it) == 1) {
        if (json_type(it.value) != JSON_ARRAY && json_type(it.value) != JSON_OBJECT)
            continue;
        if (!read_sheet(book, it.value, key_name(book, it.key)))
            return false;
    }
    return book->sheets_n > 0 || xlsx_refuse(book, RENDER_INVALID, "it has neither sheets nor rows");
}

enum render_status xlsx_read_json(struct xlsx_book *book, struct span document, struct span sheet)
{
    struct span value;
    if (json_type(document) == JSON_ARRAY)
        read_array(book, document, sheet);
    else if (json_type(document) != JSON_OBJECT)
        xlsx_refuse(book, RENDER_INVALID, "it is neither an object nor a list of rows");
    else if (json_member(document, "sheets", &value) && json_type(value) == JSON_ARRAY)
        read_sheets(book, value, sheet);
    else if (json_member(document, "sheets", &value) && json_type(value) == JSON_OBJECT)
        read_named(book, value);
    else if (member(document, NAMES("rows", "data", "columns"), &value) && json_type(value) == JSON_ARRAY)
        read_sheet(book, document, sheet);
    else
        read_named(book, document);
    return book->status;
}
