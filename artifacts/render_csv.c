/*
 * Tables as comma text (RFC 4180): from comma, semicolon, tab or bar text, a Markdown table, or rows in JSON,
 * by the reader of workbooks. UTF-8, CRLF, quotes where they are needed, no cell that a spreadsheet would
 * run.
 */
#include <stdio.h>

#include "artifacts/render.h"
#include "artifacts/xlsx.h"
#include "base/json.h"
#include "base/xalloc.h"

enum { OUT = 64 * 1024 * 1024 };

static void put_text(struct buf *out, struct span text)
{
    bool quotes = text.n && (text.p[0] == ' ' || text.p[text.n - 1] == ' ');
    for (size_t i = 0; i < text.n && !quotes; i++)
        quotes = text.p[i] && strchr(",;\t\"\r\n", text.p[i]);
    if (!quotes) {
        buf_add(out, text);
        return;
    }
    buf_addc(out, '"');
    while (text.n) {
        const char *quote = memchr(text.p, '"', text.n);
        size_t n = quote ? (size_t)(quote - text.p) + 1 : text.n;
        buf_addn(out, text.p, n);
        if (quote)
            buf_addc(out, '"');
        text = span_from(text, n);
    }
    buf_addc(out, '"');
}

static void put_cell(struct buf *out, const struct xlsx_cell *cell)
{
    struct buf formula;
    switch (cell->source) {
    case CELL_EMPTY:
        break;
    case CELL_FORMULA: /* csv_make_inert makes it text */
        buf_init(&formula, cell->text.n + 1);
        buf_addc(&formula, '=');
        buf_add(&formula, cell->text);
        put_text(out, buf_span(&formula));
        buf_free(&formula);
        break;
    default:
        put_text(out, cell->text);
        break;
    }
}

/* Every row has as many cells as the widest, so that no reader takes them for different tables. */
static void put_rows(struct buf *out, const struct xlsx_book *book, const struct xlsx_sheet *sheet)
{
    for (size_t r = 0; r < sheet->rows_n && !buf_full(out); r++) {
        const struct xlsx_row *row = &sheet->rows[r];
        for (size_t c = 0; c < sheet->columns_n; c++) {
            if (c)
                buf_addc(out, ',');
            if (c < row->n)
                put_cell(out, &book->cells[row->first + c]);
        }
        buf_adds(out, "\r\n");
    }
}

static enum render_status refuse(char sentence[RENDER_SENTENCE], enum render_status status, const char *why)
{
    snprintf(sentence, RENDER_SENTENCE, "%s", why);
    return status;
}

static enum render_status write_table(const struct xlsx_book *book, const struct render_params *params,
                                      struct buf *out, char sentence[RENDER_SENTENCE])
{
    const struct xlsx_sheet *sheet = NULL;
    struct buf text;
    struct span bom;
    for (size_t i = 0; i < book->sheets_n; i++) {
        if (sheet && book->sheets[i].rows_n) {
            snprintf(sentence, RENDER_SENTENCE,
                     "it holds %zu tables, and a csv file one; format xlsx has sheets", book->sheets_n);
            return RENDER_INVALID;
        }
        if (book->sheets[i].rows_n)
            sheet = &book->sheets[i];
    }
    if (!sheet) /* the reader has refused that */
        return refuse(sentence, RENDER_INVALID, "it has no rows");
    buf_init(&text, OUT);
    if (params->options.n && json_member(params->options, "bom", &bom) && json_type(bom) == JSON_TRUE)
        buf_adds(out, "\xef\xbb\xbf");
    put_rows(&text, book, sheet);
    bool full = csv_make_inert(buf_span(&text), false, out) || buf_full(&text);
    buf_free(&text);
    return full ? refuse(sentence, RENDER_LIMIT, "the file would be larger than the limit") : RENDER_OK;
}

static enum render_status render(struct span source, const struct render_params *params, struct buf *out,
                                 char sentence[RENDER_SENTENCE])
{
    struct xlsx_book *book = xcalloc(1, sizeof *book);
    enum render_status status = xlsx_read(book, source, span_of("", 0));
    if (status == RENDER_OK)
        status = write_table(book, params, out, sentence);
    else
        snprintf(sentence, RENDER_SENTENCE, "%s", book->sentence);
    xlsx_free(book);
    xfree(book);
    return status;
}

static const char *const formats[] = {"csv", NULL};

const struct renderer_ops render_csv = {
    .name = "csv",
    .version = "1",
    .formats = formats,
    .limits = {.source_bytes = 32u * 1024 * 1024,
               .out_bytes = OUT,
               .memory_bytes = 512u * 1024 * 1024,
               .cpu_s = 10,
               .wall_ms = 15000},
    .render = render,
};
