#ifndef ATTACHMENTS_SHEET_H
#define ATTACHMENTS_SHEET_H
/*
 * What the readers of a workbook's pieces share (ISO/IEC 29500-1, 18); extract_xlsx.c is the outside. Sheets
 * and shared strings are read as events: only cells that hold something are kept, 20 bytes each and their
 * text.
 */
#include "attachments/markup.h"
#include "attachments/office_number.h"
#include "attachments/office_package.h"
#include "attachments/xml.h"

enum {
    SHEET_ROWS = 1048576,
    SHEET_COLUMNS = 16384,
    SHEET_CELLS = 1000000,         /* with something in them, of one sheet, repeated merged ones included */
    SHEET_MERGES = 200000,         /* of one sheet */
    SHEET_LINKS = 100000,          /* of one sheet */
    SHEET_STRINGS = 2000000,       /* shared ones of a workbook */
    SHEET_TEXT = 32 * 1024 * 1024, /* of shared strings, and of one sheet's cells */
    SHEET_FORMATS = 65536,         /* numbers of formats that are known */
};

struct sheet_string {
    uint32_t at, n;
};

struct sheet_cell {
    uint32_t row, at, n; /* row from 0; the text's place, with SHEET_SHARED the string's */
    uint16_t column;     /* from 0 */
    uint16_t shared;     /* the text is a shared string */
    uint32_t link;       /* from 1; 0: none */
};

/* Where a group of cells leads to. */
struct sheet_link {
    uint32_t first_row, last_row;
    uint16_t first_column, last_column;
    uint32_t at, n; /* the address, in the sheet's text */
    uint32_t shown; /* bytes behind it: what is shown in a cell without text; 0: the address */
};

struct sheet_merge {
    uint32_t first_row, last_row;
    uint16_t first_column, last_column;
};

struct sheet_book {
    struct archive *archive;
    struct extraction *x;
    struct markup *m;
    struct arena memory;
    struct office_relations relations;
    struct buf strings;     /* text of the shared strings */
    struct buf string_list; /* struct sheet_string */
    uint8_t *formats;       /* enum office_number by style (xf) */
    size_t n_formats;
    bool from_1904;
};

/* One sheet's cells. */
struct sheet {
    struct sheet_book *book;
    struct buf cells;  /* struct sheet_cell, by row and column once sheet_read is done */
    struct buf merges; /* struct sheet_merge */
    struct buf links;  /* struct sheet_link */
    struct buf text;
    struct buf around; /* lines for behind the tables: headers and footers of its pages, objects */
    const struct office_relations *relations;
    bool sorted;
};

/* Shared strings and number formats. */
int sheet_strings_read(struct sheet_book *b, const char *part);
int sheet_formats_read(struct sheet_book *b, const char *part);
/* Appends a string of a workbook, in which _x000A_ stands for a line feed (22.9.2.19). */
void sheet_string_write(struct buf *out, struct span stored);
/* "B4" as row and column from 0; -1: no cell of a sheet. *end is what follows. */
int sheet_reference(const char *text, uint32_t *row, uint16_t *column, const char **end);

/* "A1" or "A1:B2"; -1: not cells of a sheet. */
int sheet_range(const char *text, struct sheet_merge *range);
int sheet_read(struct sheet *s, const char *part);
/* What a `hyperlink` element says. -1: refused. */
int sheet_link(struct sheet *s, const char *const *attributes);
/* The address that a formula leads to by its own words, HYPERLINK("address"; …), for one cell. */
int sheet_link_of_formula(struct sheet *s, struct span formula, uint32_t row, uint16_t column);
/* Gives cells their links; what leads somewhere and is empty gets a text. The cells must be in order and may
 * be so no more afterwards (s->sorted). */
int sheet_links_set(struct sheet *s);
/* The address; empty: none. */
struct span sheet_link_target(const struct sheet *s, const struct sheet_cell *cell);
struct span sheet_text(const struct sheet *s, const struct sheet_cell *cell);
/* Gives merged cells their text, splits the sheet at empty rows and columns, and writes the tables. Answers
 * how many, or -1. */
int sheet_write(struct sheet *s);
/* Comments and drawings of a sheet. */
int sheet_comments(struct sheet_book *b, const struct office_relations *sheet);
int sheet_drawings(struct sheet_book *b, const struct office_relations *sheet);

#endif
