#ifndef ARTIFACTS_XLSX_H
#define ARTIFACTS_XLSX_H
/*
 * A workbook between its source and its file: xlsx_read.c and xlsx_json.c read the forms that models write,
 * xlsx_type.c says what kind of value each cell is, render_xlsx.c writes SpreadsheetML. Used in the worker
 * alone. Pure.
 */
#include <stdint.h>

#include "base/arena.h"
#include "jobs/renderer.h"

enum {
    XLSX_ROWS = 1048576,
    XLSX_COLUMNS = 16384,
    XLSX_SHEETS = 255,
    XLSX_CELLS = 1500000, /* of a book */
    XLSX_NAME_UNITS = 31, /* UTF-16 units of a sheet's name */
    XLSX_CELL_UNITS = 32767,
    XLSX_FORMULA = 8192, /* characters */
    XLSX_DECIMALS = 9,
    XLSX_FORMAT = 100, /* bytes of a number format */
    XLSX_SHORT_FORMAT = 48,
};

/* How a cell stands in the source. */
enum xlsx_source {
    CELL_EMPTY,
    CELL_TEXT,   /* `text`: may turn out to be a number, a date … */
    CELL_STRING, /* `text`: stays text, whatever it looks like */
    CELL_NUMBER, /* `text`: as in JSON */
    CELL_BOOL,   /* `text`: "true" or "false" */
    CELL_FORMULA /* `text`: without the equals sign, checked; `value`: JSON, or empty */
};

struct xlsx_cell {
    struct span text, value;
    enum xlsx_source source;
};

/* What the values of a column are. KIND_AUTO: to be found out. */
enum xlsx_kind {
    KIND_AUTO,
    KIND_TEXT,
    KIND_NUMBER,
    KIND_INTEGER,
    KIND_PERCENT,
    KIND_CURRENCY,
    KIND_DATE,
    KIND_DATETIME,
    KIND_BOOL
};

struct xlsx_column {
    enum xlsx_kind kind;
    struct span format; /* a number format, or a word for one; empty: the kind's own */
    double width;       /* in characters; 0: from the content */
    /* How its numbers are shown, by kind; empty: as they are. */
    char number_format[XLSX_SHORT_FORMAT], percent_format[XLSX_SHORT_FORMAT],
        currency_format[XLSX_SHORT_FORMAT];
    bool seconds;   /* times are shown with them */
    bool exponents; /* "1E5" is a number, not a code */
    bool codes;     /* its numbers are codes ("007"), which stay text */
    bool declared;  /* its kind is */
    bool wrap;
};

struct xlsx_row {
    size_t first; /* in `cells` */
    uint32_t n;
};

struct xlsx_sheet {
    struct span name; /* as asked for */
    char shown[XLSX_NAME_UNITS * 4 + 1];
    bool header; /* the first row names the columns */
    struct xlsx_row *rows;
    size_t rows_n, rows_room;
    struct xlsx_column *columns;
    size_t columns_n;
    size_t columns_declared; /* with a kind, a format or a width of their own */
};

struct xlsx_book {
    struct arena arena;
    struct xlsx_cell *cells;
    size_t cells_n, cells_room;
    struct xlsx_sheet sheets[XLSX_SHEETS];
    size_t sheets_n;
    unsigned formulas_refused; /* kept as text */
    bool zone_dropped;         /* of a date with a time */
    enum render_status status;
    char sentence[RENDER_SENTENCE];
};

/* The value of a cell as it is stored. */
struct xlsx_value {
    enum xlsx_kind kind; /* TEXT, NUMBER (all that are numbers), BOOL; AUTO: empty */
    double number;
    struct span digits; /* NUMBER: as written, where that is a number in the file too; else empty */
    struct span format; /* NUMBER: its number format; empty: general */
};

/* ---- reading (xlsx_read.c) ---- */
/* `sheet`: the name of the only sheet of a table without one. The spans of the book point into the source or
 * its arena. Answers book->status. */
enum render_status xlsx_read(struct xlsx_book *book, struct span source, struct span sheet);
/* JSON alone (xlsx_json.c); `document` is one value. */
enum render_status xlsx_read_json(struct xlsx_book *book, struct span document, struct span sheet);
void xlsx_free(struct xlsx_book *book);
/* For the readers. NULL: too many, with the book's status set. */
struct xlsx_sheet *xlsx_add_sheet(struct xlsx_book *book, struct span name) MUST_USE;
bool xlsx_add_row(struct xlsx_book *book, struct xlsx_sheet *sheet) MUST_USE;
bool xlsx_add_cell(struct xlsx_book *book, struct xlsx_sheet *sheet, struct xlsx_cell cell) MUST_USE;
/* Sets the status, once; always false. */
bool xlsx_refuse(struct xlsx_book *book, enum render_status status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* ---- kinds (xlsx_type.c) ---- */
/*
 * Makes sheet->columns complete: finds out the kind of each column that has none declared, and the formats.
 * KIND_AUTO afterwards: each cell is what it looks like.
 */
void xlsx_type_columns(struct xlsx_book *book, struct xlsx_sheet *sheet);
/* `column` after xlsx_type_columns. */
struct xlsx_value xlsx_value_of(struct xlsx_book *book, const struct xlsx_column *column,
                                const struct xlsx_cell *cell);
/* The format of a formula's value. */
struct span xlsx_column_format(const struct xlsx_column *column);

/* ---- formats (xlsx_format.c) ---- */
/* Whether the text is a number format that every spreadsheet takes. */
bool xlsx_format_valid(struct span format);
/* KIND_AUTO: not one of the words for a kind. */
enum xlsx_kind xlsx_kind_named(struct span word);

/* ---- names (xlsx_name.c) ---- */
/* Fills in how the sheet is called: at most 31 UTF-16 units, none of []:*?/\, no apostrophe at either end,
 * nothing that cannot be seen, and not as one before it. */
void xlsx_name_sheet(struct xlsx_book *book, size_t index);

/* ---- formulas (xlsx_formula.c) ---- */
/*
 * Appends the formula as the file wants it (names of newer functions with their prefix). False: it is not
 * well formed, or it could fetch, run or link to something: WEBSERVICE and its like, other workbooks, DDE,
 * links but to http and https.
 */
bool xlsx_formula(struct span formula, struct buf *out) MUST_USE;

#endif
