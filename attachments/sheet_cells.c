/* A sheet's cells, one event after the other. */
#include <stdlib.h>

#include "attachments/sheet.h"

enum inside { NOTHING, VALUE, FORMULA, INLINE };

struct reader {
    struct sheet *sheet;
    struct sheet_book *book;
    uint32_t row;    /* of the open row, from 0; UINT32_MAX before the first, which two more make number 1 */
    uint32_t column; /* of the next cell without a reference */
    bool in_cell, has_value;
    enum inside inside;
    unsigned phonetic, fallback; /* open ones */
    /* Of the open cell: */
    uint32_t cell_row;
    uint16_t cell_column;
    char type[12];
    unsigned long style;
    struct buf value, formula;
    long shared;        /* which shared formula; -1: none */
    struct buf masters; /* formulas that others share: "si row column\0text\0" as struct master and text */
};

struct master {
    long id;
    uint32_t row, at, n;
    uint16_t column;
};

int sheet_reference(const char *text, uint32_t *row, uint16_t *column, const char **end)
{
    uint32_t c = 0, r = 0;
    const char *p = text;
    p += *p == '$';
    for (; ((*p | 0x20) >= 'a' && (*p | 0x20) <= 'z') && c <= SHEET_COLUMNS; p++)
        c = c * 26 + (uint32_t)((*p | 0x20) - 'a') + 1;
    p += *p == '$';
    for (; *p >= '0' && *p <= '9' && r <= SHEET_ROWS; p++)
        r = r * 10 + (uint32_t)(*p - '0');
    *end = p;
    if (c == 0 || c > SHEET_COLUMNS || r == 0 || r > SHEET_ROWS)
        return -1;
    *row = r - 1;
    *column = (uint16_t)(c - 1);
    return 0;
}

static int no_cell(struct reader *r, const char *text)
{
    return extraction_fail(r->book->x, RENDER_INVALID, "names a cell that cannot be: %s.",
                           extraction_name(span_str(text)).text);
}

static int open_row(struct reader *r, const char *const *attributes)
{
    const char *number = xml_attribute(attributes, "r");
    unsigned long n = number ? strtoul(number, NULL, 10) : (uint32_t)(r->row + 2u);
    if (n == 0 || n > SHEET_ROWS)
        return no_cell(r, number ? number : "beyond the last row");
    r->row = (uint32_t)n - 1;
    r->column = 0;
    return 0;
}

static int open_cell(struct reader *r, const char *const *attributes)
{
    const char *reference = NULL, *end, *type = "n";
    r->style = 0;
    for (const char *const *a = attributes; a[0]; a += 2) {
        if (!strcmp(a[0], "r"))
            reference = a[1];
        else if (!strcmp(a[0], "t"))
            type = a[1];
        else if (!strcmp(a[0], "s"))
            r->style = strtoul(a[1], NULL, 10);
    }
    r->cell_row = r->row;
    if (reference) {
        if (sheet_reference(reference, &r->cell_row, &r->cell_column, &end) || *end)
            return no_cell(r, reference);
    } else if (r->column >= SHEET_COLUMNS)
        return no_cell(r, "beyond the last column");
    else
        r->cell_column = (uint16_t)r->column;
    r->column = r->cell_column + 1u;
    memccpy(r->type, type, '\0', sizeof r->type - 1);
    buf_reset(&r->value);
    buf_reset(&r->formula);
    r->shared = -1;
    r->has_value = false;
    r->in_cell = true;
    return 0;
}

int sheet_range(const char *text, struct sheet_merge *range)
{
    const char *end = "";
    if (sheet_reference(text, &range->first_row, &range->first_column, &end))
        return -1;
    range->last_row = range->first_row;
    range->last_column = range->first_column;
    if (*end &&
        (*end != ':' || sheet_reference(end + 1, &range->last_row, &range->last_column, &end) || *end))
        return -1;
    return range->last_row < range->first_row || range->last_column < range->first_column ? -1 : 0;
}

static int merge(struct reader *r, const char *reference)
{
    struct sheet_merge m;
    if (!reference || sheet_range(reference, &m))
        return no_cell(r, reference ? reference : "");
    if (buf_addn(&r->sheet->merges, &m, sizeof m))
        return extraction_fail(r->book->x, RENDER_LIMIT, "merges more than %d groups of cells in one sheet.",
                               SHEET_MERGES);
    return 0;
}

/* What stands behind the cells. */
static int open_other(struct reader *r, const char *name, const char *const *attributes)
{
    if (!strcmp(name, "mergeCell"))
        return merge(r, xml_attribute(attributes, "ref"));
    if (!strcmp(name, "hyperlink"))
        return sheet_link(r->sheet, attributes);
    if (!strcmp(name, "Fallback"))
        r->fallback++;
    else if (!strcmp(name, "oleObject") && !r->fallback) {
        const char *program = xml_attribute(attributes, "progId");
        buf_printf(&r->sheet->around, "(embedded object: %s)\n",
                   extraction_name(span_str(program ? program : "unknown")).text);
    }
    return 0;
}

static int open(void *user, const char *qualified, const char *const *attributes)
{
    struct reader *r = user;
    const char *name = xml_local(qualified);
    if (!strcmp(name, "c"))
        return open_cell(r, attributes);
    if (!strcmp(name, "row"))
        return open_row(r, attributes);
    if (!r->in_cell)
        return open_other(r, name, attributes);
    if (!strcmp(name, "v")) {
        r->inside = VALUE;
        r->has_value = true;
    } else if (!strcmp(name, "t") && r->phonetic == 0)
        r->inside = INLINE;
    else if (!strcmp(name, "rPh"))
        r->phonetic++;
    else if (!strcmp(name, "f")) {
        const char *type = xml_attribute(attributes, "t"), *id = xml_attribute(attributes, "si");
        r->inside = FORMULA;
        if (type && id && !strcmp(type, "shared"))
            r->shared = strtol(id, NULL, 10);
    }
    return 0;
}

static int text(void *user, struct span bytes)
{
    struct reader *r = user;
    if (r->inside == VALUE || r->inside == INLINE)
        return buf_add(&r->value, bytes);
    return r->inside == FORMULA ? buf_add(&r->formula, bytes) : 0;
}

/* 2026-07-01T00:00:00.000 as people write it. */
static void iso(struct buf *out, struct span value)
{
    struct span s = value;
    const char *point = memchr(s.p, '.', s.n);
    if (point && strspn(point + 1, "0") >= s.n - (size_t)(point - s.p) - 1)
        s.n = (size_t)(point - s.p);
    if (s.n == 19 && !memcmp(s.p + 10, "T00:00:00", 9))
        s.n = 10;
    for (size_t i = 0; i < s.n; i++)
        buf_addc(out, i == 10 && s.p[i] == 'T' ? ' ' : s.p[i]);
}

/* A formula without a stored value, by its own text or that of the cell it shares it with. */
static void formula(struct reader *r, struct buf *out)
{
    struct span own = buf_span(&r->formula);
    if (own.n || r->shared < 0) {
        buf_addc(out, '=');
        buf_add(out, own);
        return;
    }
    for (size_t i = 0; i < r->masters.n / sizeof(struct master); i++) {
        const struct master *m =
            (const struct master *)(const void *)(r->masters.data + r->masters.start) + i;
        if (m->id != r->shared)
            continue;
        char letters[4];
        int n = 0;
        for (unsigned c = m->column + 1u; c > 0 && n < 4; c = (c - 1) / 26)
            letters[n++] = (char)('A' + (c - 1) % 26);
        struct span master = span_of(r->sheet->text.data + r->sheet->text.start + m->at, m->n);
        buf_addc(out, '=');
        if (out == &r->sheet->text) { /* the same memory may move */
            char *copy = buf_reserve(out, master.n);
            if (copy)
                memcpy(copy, r->sheet->text.data + r->sheet->text.start + m->at, m->n);
            buf_commit(out, copy ? m->n : 0);
        }
        buf_adds(out, " (as in ");
        while (n)
            buf_addc(out, letters[--n]);
        buf_printf(out, "%u)", m->row + 1);
        return;
    }
    buf_adds(out, "=");
}

/* The text of the open cell, appended to the sheet's; or the shared string that it is. */
static int value(struct reader *r, struct sheet_cell *cell)
{
    struct sheet_book *b = r->book;
    struct buf *out = &r->sheet->text;
    struct span v = buf_span(&r->value);
    bool has_formula = r->formula.n || r->shared >= 0;
    if (has_formula && (!r->has_value || (v.n == 0 && strcmp(r->type, "str") != 0)))
        formula(r, out);
    else if (!strcmp(r->type, "s")) {
        unsigned long i = v.n ? strtoul(buf_cstr(&r->value), NULL, 10) : 0;
        if (v.n == 0)
            return 0;
        if (i >= b->string_list.n / sizeof(struct sheet_string))
            return extraction_fail(b->x, RENDER_INVALID,
                                   "is damaged: a cell names string %lu, which is not there.", i);
        const struct sheet_string *string =
            (const struct sheet_string *)(const void *)(b->string_list.data + b->string_list.start) + i;
        *cell = (struct sheet_cell){.shared = 1, .at = string->at, .n = string->n};
    } else if (!strcmp(r->type, "b"))
        buf_adds(out, v.n && (v.p[0] == '1' || v.p[0] == 't') ? "TRUE" : v.n ? "FALSE" : "");
    else if (!strcmp(r->type, "str") || !strcmp(r->type, "inlineStr"))
        sheet_string_write(out, v);
    else if (!strcmp(r->type, "e"))
        buf_add(out, v);
    else if (!strcmp(r->type, "d"))
        iso(out, v);
    else
        office_number_write_text(
            out, v, r->style < b->n_formats ? (enum office_number)b->formats[r->style] : OFFICE_PLAIN,
            b->from_1904);
    return 0;
}

static int keep_formula(struct reader *r)
{
    enum { MASTERS = 10000 };
    if (r->shared < 0 || r->formula.n == 0 || r->masters.n / sizeof(struct master) >= MASTERS)
        return 0;
    struct master m = {r->shared, r->cell_row, (uint32_t)r->sheet->text.n, (uint32_t)r->formula.n,
                       r->cell_column};
    buf_add(&r->sheet->text, buf_span(&r->formula));
    return buf_addn(&r->masters, &m, sizeof m);
}

static int close_cell(struct reader *r)
{
    struct sheet *s = r->sheet;
    if (!r->in_cell)
        return 0;
    r->in_cell = false;
    if (keep_formula(r))
        return -1;
    if (sheet_link_of_formula(s, buf_span(&r->formula), r->cell_row, r->cell_column))
        return -1;
    struct sheet_cell cell = {.at = (uint32_t)s->text.n};
    if (value(r, &cell))
        return -1;
    if (!cell.shared)
        cell.n = (uint32_t)s->text.n - cell.at;
    cell.row = r->cell_row;
    cell.column = r->cell_column;
    if (buf_full(&s->text))
        return extraction_fail(r->book->x, RENDER_LIMIT, "has too much text in its cells; split it.");
    if (cell.n == 0)
        return 0;
    size_t n = s->cells.n / sizeof cell;
    if (n > 0) {
        const struct sheet_cell *last =
            (const struct sheet_cell *)(const void *)(s->cells.data + s->cells.start) + n - 1;
        s->sorted &= last->row < cell.row || (last->row == cell.row && last->column < cell.column);
    }
    if (buf_addn(&s->cells, &cell, sizeof cell))
        return extraction_fail(r->book->x, RENDER_LIMIT,
                               "has more than %d cells with something in them; split it.", SHEET_CELLS);
    return 0;
}

static int close(void *user, const char *qualified)
{
    struct reader *r = user;
    const char *name = xml_local(qualified);
    if (!strcmp(name, "c"))
        return close_cell(r);
    if (!strcmp(name, "v") || !strcmp(name, "f") || !strcmp(name, "t"))
        r->inside = NOTHING;
    else if (!strcmp(name, "rPh") && r->phonetic)
        r->phonetic--;
    else if (!strcmp(name, "Fallback") && r->fallback)
        r->fallback--;
    return 0;
}

int sheet_read(struct sheet *s, const char *part)
{
    static const struct xml_handlers handlers = {.open = open, .close = close, .text = text};
    struct reader r = {.sheet = s, .book = s->book, .row = UINT32_MAX};
    s->sorted = true;
    buf_init(&r.value, SHEET_TEXT);
    buf_init(&r.formula, SHEET_TEXT);
    buf_init(&r.masters, 1 << 20);
    int answer = xml_scan_part(s->book->archive, part, &handlers, &r);
    if (answer)
        extraction_fail(s->book->x, RENDER_LIMIT, "has too much text in its cells; split it.");
    buf_free(&r.value);
    buf_free(&r.formula);
    buf_free(&r.masters);
    return answer;
}

struct span sheet_text(const struct sheet *s, const struct sheet_cell *cell)
{
    const struct buf *from = cell->shared ? &s->book->strings : &s->text;
    return span_of(from->data + from->start + cell->at, cell->n);
}
