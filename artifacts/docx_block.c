/* Blocks: headings, paragraphs, lists, quotes, code, rules, tables. */
#include <stdio.h>

#include "artifacts/docx.h"
#include "base/xalloc.h"

enum {
    FLUSH = 256 * 1024,
    CELL_LEAST = 600,
    CELL_CHARACTER =
        125, /* about the width of one, also in what stands in for Calibri where that is missing */
    HEAD_CHARACTER = 150, /* bold */
    CELL_PADDING = 216,
    CELL_WIDEST = 60, /* characters that a column asks for at most */
};

void docx_refuse(struct docx *d, enum render_status status, const char *why)
{
    if (d->status != RENDER_OK)
        return;
    d->status = status;
    d->why = why;
}

void docx_flush(struct docx *d)
{
    if (d->to != &d->body || d->body.n < FLUSH)
        return;
    office_zip_write(&d->zip, buf_span(&d->body));
    buf_reset(&d->body);
}

/* ---- leaves ---- */

static const char *text_style(const struct docx *d)
{
    return d->to == &d->notes ? "FootnoteText" : d->quotes ? "Quote" : d->lists ? "ListParagraph" : NULL;
}

static void put_heading(struct docx *d, const struct markdown_block *block)
{
    char style[16];
    struct docx_heading *heading = NULL;
    snprintf(style, sizeof style, "Heading%u", block->level);
    /* Headings come in the order in which they were collected. */
    if (d->heading_next < d->headings_n && d->headings[d->heading_next].block == block)
        heading = &d->headings[d->heading_next++];
    docx_open_paragraph(d, &(struct docx_paragraph){.style = style, .rtl = markdown_is_rtl(block->runs)});
    if (heading)
        buf_printf(d->to, "<w:bookmarkStart w:id=\"%u\" w:name=\"_Heading%u\"/>", heading->number,
                   heading->number);
    docx_runs(d, block->runs, false);
    if (heading)
        buf_printf(d->to, "<w:bookmarkEnd w:id=\"%u\"/>", heading->number);
    docx_close_paragraph(d);
}

static bool is_contents(const struct markdown_block *block)
{
    const struct markdown_run *run = block->runs;
    return run && !run->next && run->type == RUN_TEXT &&
           (span_is_nocase(run->text, "[toc]") || span_is_nocase(run->text, "[[toc]]") ||
            span_is_nocase(run->text, "[[_toc_]]") || span_is_nocase(run->text, "\\tableofcontents"));
}

static void put_paragraph(struct docx *d, const struct markdown_block *block, struct docx_paragraph *p)
{
    if (is_contents(block) && d->to == &d->body && !d->indent) {
        docx_contents(d);
        return;
    }
    p->style = text_style(d);
    p->rtl = markdown_is_rtl(block->runs);
    docx_open_paragraph(d, p);
    if (p->hanging) { /* a task */
        docx_plain_run(
            d,
            "<w:rFonts w:ascii=\"Segoe UI Symbol\" w:hAnsi=\"Segoe UI Symbol\" w:eastAsia=\"Segoe UI "
            "Symbol\" w:cs=\"Segoe UI Symbol\"/>",
            block->parent->task == TASK_DONE ? SPAN_LIT("\xe2\x98\x92") : SPAN_LIT("\xe2\x98\x90"));
        docx_plain_run(d, NULL, SPAN_LIT("\t"));
    }
    docx_runs(d, block->runs, false);
    docx_close_paragraph(d);
}

static void put_code(struct docx *d, const struct markdown_block *block)
{
    struct office_image image;
    struct span code = block->code;
    if (office_is_chart(block) && office_pictures_room(&d->pictures) &&
        office_image_chart(d->params, block, &image)) {
        docx_open_paragraph(d, &(struct docx_paragraph){.align = ALIGN_CENTER});
        docx_image(d, &image, SPAN_LIT("Chart"));
        docx_close_paragraph(d);
        office_image_free(&image);
        return;
    }
    while (code.n && code.p[code.n - 1] == '\n')
        code.n--;
    docx_open_paragraph(d, &(struct docx_paragraph){.style = "SourceCode"});
    docx_plain_run(d, NULL, code);
    docx_close_paragraph(d);
}

static void put_rule(struct docx *d)
{
    buf_adds(d->to,
             "<w:p><w:pPr><w:pBdr><w:bottom w:val=\"single\" w:sz=\"6\" w:space=\"1\" w:color=\"BFBFBF\"/>"
             "</w:pBdr></w:pPr></w:p>");
}

/* ---- lists ---- */

static unsigned level_of(const struct docx *d)
{
    return d->lists > DOCX_LEVELS ? DOCX_LEVELS - 1u : d->lists - 1;
}

/* Each ordered list counts for itself: a numbering of its own that starts anew. Number 1 is the bullets'. */
static unsigned list_number(struct docx *d, const struct markdown_block *list)
{
    unsigned number = 2 + d->nums_n;
    if (!list->ordered)
        return 1;
    d->nums_n++;
    buf_printf(
        &d->nums,
        "<w:num w:numId=\"%u\"><w:abstractNumId w:val=\"1\"/><w:lvlOverride w:ilvl=\"%u\"><w:startOverride "
        "w:val=\"%u\"/></w:lvlOverride></w:num>",
        number, level_of(d), list->start > 32767 ? 32767 : list->start);
    return number;
}

static void put_item(struct docx *d, const struct markdown_block *item, unsigned list)
{
    const struct markdown_block *first = item->first;
    struct docx_paragraph p = {.level = level_of(d)};
    if (item->task == TASK_NONE)
        p.list = list;
    else
        p.hanging = DOCX_LEVEL;
    if (first && first->type == MARKDOWN_PARAGRAPH) {
        put_paragraph(d, first, &p);
        first = first->next;
    } else {
        struct markdown_block empty = {.type = MARKDOWN_PARAGRAPH, .parent = (struct markdown_block *)item};
        put_paragraph(d, &empty, &p);
    }
    for (; first && d->status == RENDER_OK; first = first->next)
        docx_block(d, first);
}

static void put_list(struct docx *d, const struct markdown_block *list)
{
    unsigned indent = d->indent;
    d->lists++;
    d->indent = indent + DOCX_LEVEL * (d->lists == 1 ? 2u : 1u);
    unsigned number = list_number(d, list);
    for (const struct markdown_block *item = list->first; item && d->status == RENDER_OK; item = item->next)
        put_item(d, item, number);
    d->indent = indent;
    d->lists--;
}

/* ---- tables ---- */

static size_t cell_text(const struct markdown_block *cell, size_t *longest_word)
{
    size_t width = 0, word = 0;
    for (const struct markdown_run *run = cell->runs; run; run = run->next) {
        struct span text = run->text;
        width += office_width(text);
        while (text.n) {
            const char *blank = memchr(text.p, ' ', text.n);
            size_t n = blank ? (size_t)(blank - text.p) : text.n;
            /* Scripts of wide characters are broken anywhere. */
            word = n > word && office_width(span_of(text.p, n)) * 3 / 2 != n ? n : word;
            text = span_from(text, blank ? n + 1 : n);
        }
    }
    *longest_word = word;
    return width;
}

/* Shares the room out by what the columns hold: none below the least, the longest word whole where it fits.
 */
static void share_room(unsigned room, unsigned n, const unsigned *least, const unsigned *wanted,
                       unsigned *out)
{
    uint64_t least_sum = 0, more_sum = 0;
    for (unsigned i = 0; i < n; i++) {
        least_sum += least[i];
        more_sum += wanted[i] - least[i];
    }
    unsigned left = room;
    for (unsigned i = 0; i < n; i++) {
        if (least_sum >= room)
            out[i] = (unsigned)((uint64_t)least[i] * room / least_sum);
        else if (least_sum + more_sum <= room)
            out[i] = wanted[i];
        else
            out[i] = least[i] + (unsigned)((wanted[i] - least[i]) * (room - least_sum) / more_sum);
        left -= out[i] < left ? out[i] : left;
    }
    if (least_sum + more_sum > room)
        out[n - 1] += left; /* what rounding left over */
}

static void measure_columns(const struct docx *d, const struct markdown_block *table, unsigned *out)
{
    unsigned least[MARKDOWN_COLUMNS] = {0}, wanted[MARKDOWN_COLUMNS] = {0};
    unsigned n = table->columns, room = d->room > d->indent + CELL_LEAST ? d->room - d->indent : CELL_LEAST;
    for (const struct markdown_block *row = table->first; row; row = row->next) {
        unsigned i = 0;
        for (const struct markdown_block *cell = row->first; cell && i < n; cell = cell->next, i++) {
            size_t word, width = cell_text(cell, &word);
            unsigned character = cell->head ? HEAD_CHARACTER : CELL_CHARACTER;
            unsigned whole = (unsigned)(width > CELL_WIDEST ? CELL_WIDEST : width) * character + CELL_PADDING;
            unsigned one =
                (unsigned)(word > CELL_WIDEST / 3 ? CELL_WIDEST / 3 : word) * character + CELL_PADDING;
            wanted[i] = whole > wanted[i] ? whole : wanted[i];
            least[i] = one > least[i] ? one : least[i];
        }
    }
    for (unsigned i = 0; i < n; i++) {
        least[i] = least[i] < CELL_LEAST ? CELL_LEAST : least[i];
        wanted[i] = wanted[i] < least[i] ? least[i] : wanted[i];
    }
    share_room(room, n, least, wanted, out);
}

static void put_cell(struct docx *d, const struct markdown_block *cell, unsigned width, bool rtl)
{
    buf_printf(d->to, "<w:tc><w:tcPr><w:tcW w:w=\"%u\" w:type=\"dxa\"/>", width);
    if (cell && cell->head)
        buf_printf(d->to, "<w:shd w:val=\"clear\" w:color=\"auto\" w:fill=\"%s\"/>", d->colour);
    buf_adds(d->to, "</w:tcPr>");
    struct docx_paragraph p = {.table = true, .align = cell ? cell->align : ALIGN_DEFAULT};
    p.rtl = cell && cell->runs ? markdown_is_rtl(cell->runs) : rtl;
    p.style = cell && cell->head ? "TableHead" : "TableText";
    docx_open_paragraph(d, &p);
    if (cell)
        docx_runs(d, cell->runs, false);
    docx_close_paragraph(d);
    buf_adds(d->to, "</w:tc>");
}

static void put_row(struct docx *d, const struct markdown_block *row, unsigned columns,
                    const unsigned *widths, bool rtl)
{
    const struct markdown_block *cell = row->first;
    unsigned room = d->room;
    buf_adds(d->to, row->head ? "<w:tr><w:trPr><w:cantSplit/><w:tblHeader/></w:trPr>"
                              : "<w:tr><w:trPr><w:cantSplit/></w:trPr>");
    for (unsigned i = 0; i < columns; i++) {
        d->room = widths[i] > CELL_PADDING + 100 ? widths[i] - CELL_PADDING : 100;
        put_cell(d, cell, widths[i], rtl);
        cell = cell ? cell->next : NULL;
    }
    d->room = room;
    d->cells += columns;
    buf_adds(d->to, "</w:tr>");
    docx_flush(d);
}

static void put_table(struct docx *d, const struct markdown_block *table)
{
    unsigned widths[MARKDOWN_COLUMNS] = {0}, sum = 0, n = table->columns;
    const struct markdown_block *head = table->first;
    if (!n || !head)
        return;
    measure_columns(d, table, widths);
    for (unsigned i = 0; i < n; i++)
        sum += widths[i];
    bool rtl = head->first && markdown_is_rtl(head->first->runs);
    if (d->page) {
        /* A table has no break of its own. */
        docx_open_paragraph(d, &(struct docx_paragraph){.style = NULL});
        docx_close_paragraph(d);
    }
    buf_printf(d->to,
               "<w:tbl><w:tblPr><w:tblStyle w:val=\"TableGrid\"/>%s<w:tblW w:w=\"%u\" w:type=\"dxa\"/>",
               rtl ? "<w:bidiVisual/>" : "", sum);
    if (d->indent)
        buf_printf(d->to, "<w:tblInd w:w=\"%u\" w:type=\"dxa\"/>", d->indent);
    buf_adds(d->to,
             "<w:tblLayout w:type=\"fixed\"/><w:tblLook w:val=\"0420\" w:firstRow=\"1\" w:lastRow=\"0\" "
             "w:firstColumn=\"0\" w:lastColumn=\"0\" w:noHBand=\"0\" w:noVBand=\"1\"/></w:tblPr><w:tblGrid>");
    for (unsigned i = 0; i < n; i++)
        buf_printf(d->to, "<w:gridCol w:w=\"%u\"/>", widths[i]);
    buf_adds(d->to, "</w:tblGrid>");
    for (const struct markdown_block *row = table->first; row && d->status == RENDER_OK; row = row->next) {
        put_row(d, row, n, widths, rtl);
        if (d->cells > DOCX_CELLS)
            docx_refuse(d, RENDER_LIMIT, "its tables have too many cells");
    }
    buf_adds(
        d->to,
        "</w:tbl><w:p><w:pPr><w:spacing w:after=\"60\" w:line=\"120\" w:lineRule=\"exact\"/></w:pPr></w:p>");
}

/* ---- all of them ---- */

void docx_block(struct docx *d, const struct markdown_block *block)
{
    struct docx_paragraph p = {.style = NULL};
    unsigned indent = d->indent;
    switch (block->type) {
    case MARKDOWN_HEADING:
        put_heading(d, block);
        break;
    case MARKDOWN_PARAGRAPH:
        put_paragraph(d, block, &p);
        break;
    case MARKDOWN_CODE:
        put_code(d, block);
        break;
    case MARKDOWN_RULE:
        put_rule(d);
        break;
    case MARKDOWN_PAGE_BREAK:
        d->page = true;
        break;
    case MARKDOWN_LIST:
        put_list(d, block);
        break;
    case MARKDOWN_QUOTE:
        d->quotes++;
        d->indent += DOCX_QUOTE;
        docx_blocks(d, block);
        d->indent = indent;
        d->quotes--;
        break;
    case MARKDOWN_TABLE:
        put_table(d, block);
        break;
    default:
        docx_blocks(d, block);
        break;
    }
    docx_flush(d);
    if (buf_full(d->to) || buf_full(&d->nums) || buf_full(&d->rels->xml))
        docx_refuse(d, RENDER_LIMIT, "it is too large");
}

void docx_blocks(struct docx *d, const struct markdown_block *parent)
{
    for (const struct markdown_block *block = parent->first; block && d->status == RENDER_OK;
         block = block->next)
        docx_block(d, block);
}
