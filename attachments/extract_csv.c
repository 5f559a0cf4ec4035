/*
 * CSV and TSV as one Markdown table (RFC 4180, read leniently). The first record is the head. Short records
 * are padded, a long one widens the table; lines with nothing in them are passed over.
 */
#include "attachments/charset.h"
#include "attachments/extract.h"
#include "attachments/markup.h"

enum {
    SAMPLE_RECORDS = 200, /* that the delimiter is told from */
    SAMPLE_BYTES = 256 * 1024
};

struct csv {
    struct span text;
    size_t at;
    char delimiter;
    bool quotes;      /* a field may be quoted */
    bool unfinished;  /* a quoted field had no end */
    bool more;        /* a delimiter was read, so a field follows even at the end of the text */
    struct buf field; /* of a quoted one */
};

enum csv_step { CSV_END, CSV_FIELD, CSV_LAST /* field of its record */ };

static void csv_open(struct csv *c, struct span text, char delimiter, bool quotes)
{
    *c = (struct csv){.text = text, .delimiter = delimiter, .quotes = quotes};
    buf_init(&c->field, text.n + 1);
}

/* Behind a field: its delimiter, or the end of the line. */
static enum csv_step pass_delimiter(struct csv *c)
{
    c->more = false;
    if (c->at == c->text.n)
        return CSV_LAST;
    char sign = c->text.p[c->at++];
    c->more = sign == c->delimiter;
    if (c->more)
        return CSV_FIELD;
    if (sign == '\r' && c->at < c->text.n && c->text.p[c->at] == '\n')
        c->at++;
    return CSV_LAST;
}

static bool ends_field(const struct csv *c, size_t at)
{
    char sign = c->text.p[at];
    return sign == c->delimiter || sign == '\n' || sign == '\r';
}

/* What stands between a closing quote and the delimiter belongs to the field as it is. */
static enum csv_step read_quoted(struct csv *c, struct span *field)
{
    bool open = true;
    size_t at = c->at + 1;
    buf_reset(&c->field);
    for (; at < c->text.n && (open || !ends_field(c, at)); at++) {
        const char *p = c->text.p + at;
        if (open && *p == '"' && at + 1 < c->text.n && p[1] == '"')
            buf_addc(&c->field, p[0]), at++;
        else if (open && *p == '"')
            open = false;
        else
            buf_addc(&c->field, *p);
    }
    c->unfinished = c->unfinished || open;
    c->at = at;
    *field = buf_span(&c->field);
    return pass_delimiter(c);
}

/* The field is valid until the next call. */
static enum csv_step csv_next(struct csv *c, struct span *field)
{
    size_t from = c->at;
    if (from == c->text.n && !c->more)
        return CSV_END;
    if (c->quotes && from < c->text.n && c->text.p[from] == '"')
        return read_quoted(c, field);
    while (c->at < c->text.n && !ends_field(c, c->at))
        c->at++;
    *field = span_of(c->text.p + from, c->at - from);
    return pass_delimiter(c);
}

/* Fields of the next record, 0: there is none. *blank: it has nothing in it. */
static size_t count_fields(struct csv *c, bool *blank)
{
    struct span field;
    size_t n = 0;
    *blank = true;
    for (enum csv_step step = CSV_FIELD; step == CSV_FIELD;) {
        step = csv_next(c, &field);
        if (step == CSV_END)
            return 0;
        n++;
        *blank = *blank && field.n == 0;
    }
    *blank = *blank && n == 1;
    return n;
}

/* ---- the delimiter ---- */

/* How many of 1000 records have as many fields as most have; 0 when most have one. */
static unsigned evenness(struct span sample, char delimiter, bool quotes)
{
    size_t counts[SAMPLE_RECORDS], n = 0, most = 0, usual = 0;
    struct csv c;
    bool blank;
    csv_open(&c, sample, delimiter, quotes);
    for (size_t fields; n < SAMPLE_RECORDS && (fields = count_fields(&c, &blank)) > 0;)
        if (!blank)
            counts[n++] = fields;
    if (n > 1 && c.at == sample.n && n < SAMPLE_RECORDS && sample.n == SAMPLE_BYTES)
        n--; /* the sample ends inside of it */
    for (size_t i = 0; i < n; i++) {
        size_t same = 0;
        for (size_t k = 0; k < n; k++)
            same += counts[k] == counts[i];
        if (same > most || (same == most && counts[i] > usual)) {
            most = same;
            usual = counts[i];
        }
    }
    buf_free(&c.field);
    return usual < 2 ? 0 : (unsigned)(most * 1000 / n);
}

/* A first line `sep=;`, as spreadsheets write it; the text goes on behind it. */
static char said_delimiter(struct span *text)
{
    if (text->n < 5 || strncasecmp(text->p, "sep=", 4) != 0 || (text->n > 5 && !strchr("\r\n", text->p[5])))
        return '\0';
    char sign = text->p[4];
    size_t n = 5;
    while (n < text->n && strchr("\r\n", text->p[n]) && n < 7)
        n++;
    *text = span_from(*text, n);
    return sign;
}

/* Where two are even alike, the one that is rarer in words and numbers. */
static char find_delimiter(struct span text, bool tabs, bool quotes)
{
    static const char signs[] = {'\t', ';', '|', ','};
    struct span sample = span_of(text.p, text.n < SAMPLE_BYTES ? text.n : SAMPLE_BYTES);
    unsigned most = 0;
    char best = tabs ? '\t' : ',';
    if (tabs && sample.n && memchr(sample.p, '\t', sample.n))
        return best;
    for (size_t i = 0; i < sizeof signs; i++) {
        unsigned even = evenness(sample, signs[i], quotes);
        if (even > most) {
            most = even;
            best = signs[i];
        }
    }
    return best;
}

/* ---- the table ---- */

struct size {
    size_t rows, columns;
};

static int measure(struct csv *c, struct size *size, struct extraction *x)
{
    bool blank;
    for (size_t n; (n = count_fields(c, &blank)) > 0;) {
        size->rows += !blank;
        if (!blank && n > size->columns)
            size->columns = n;
    }
    if (size->columns > MARKUP_COLUMNS)
        return extraction_fail(x, RENDER_LIMIT, "has %zu columns; at most %d can be converted.",
                               size->columns, MARKUP_COLUMNS);
    if (size->rows * size->columns > MARKUP_CELLS)
        return extraction_fail(x, RENDER_LIMIT,
                               "has %zu rows of up to %zu columns; at most %d cells can be converted.",
                               size->rows, size->columns, MARKUP_CELLS);
    return 0;
}

static void write_cell(struct markup *m, struct span field)
{
    markup_cell(m, 1, 1);
    while (field.n) {
        size_t n = 0;
        while (n < field.n && field.p[n] != '\n' && field.p[n] != '\r')
            n++;
        markup_text(m, span_of(field.p, n), 0);
        if (n == field.n)
            break;
        markup_break(m);
        n += field.n - n >= 2 && field.p[n] == '\r' && field.p[n + 1] == '\n' ? 2 : 1;
        field = span_from(field, n);
    }
    markup_cell_end(m);
}

/* A record with nothing in it makes no row. */
static void write_rows(struct csv *c, struct markup *m)
{
    struct span field;
    enum csv_step step = CSV_FIELD;
    size_t n = 0;
    markup_table(m);
    while (step != CSV_END && !markup_stopped(m)) {
        bool first = n == 0;
        step = csv_next(c, &field);
        if (step == CSV_END || (first && step == CSV_LAST && field.n == 0))
            continue;
        if (first)
            markup_row(m);
        write_cell(m, field);
        n = step == CSV_LAST ? 0 : n + 1;
    }
    markup_table_end(m);
}

static int write_table(struct span text, bool tabs, struct buf *out, struct extraction *x)
{
    struct csv c;
    struct size size = {0};
    char delimiter = said_delimiter(&text);
    bool said = delimiter != '\0';
    delimiter = said ? delimiter : find_delimiter(text, tabs, true);
    csv_open(&c, text, delimiter, true);
    int failed = measure(&c, &size, x);
    if (!failed && c.unfinished) {
        /* A quotation mark that is never closed would swallow the rest: they are letters as any. */
        buf_free(&c.field);
        delimiter = said ? delimiter : find_delimiter(text, tabs, false);
        csv_open(&c, text, delimiter, false);
        size = (struct size){0};
        failed = measure(&c, &size, x);
    }
    c.at = 0;
    struct markup *m = failed ? NULL : markup_create(out, x);
    if (m && size.rows)
        write_rows(&c, m);
    if (m && !failed)
        failed = markup_finish(m);
    if (!failed && size.rows == 0)
        buf_adds(out, "(empty)\n");
    markup_destroy(m);
    buf_free(&c.field);
    return failed;
}

static enum render_status extract_csv(struct span source, const struct render_params *params, struct buf *out,
                                      char sentence[RENDER_SENTENCE])
{
    struct extraction x;
    struct buf text;
    extraction_init(&x, sentence, EXTRACT_NODES);
    buf_init(&text, CHARSET_TEXT);
    x.status = charset_decode(source, span_of("", 0), &text, sentence);
    if (x.status == RENDER_OK)
        write_table(buf_span(&text), strcmp(params->format, "text:tsv") == 0, out, &x);
    buf_free(&text);
    return x.status;
}

static const char *const formats[] = {"text:csv", "text:tsv", NULL};

const struct renderer_ops extract_csv_ops = {
    .name = "csv",
    .version = "1",
    .formats = formats,
    .limits = EXTRACT_LIMITS,
    .warm = charset_warm,
    .render = extract_csv,
};
