/*
 * Workbooks as SpreadsheetML (ISO/IEC 29500-1, part 18): typed cells, a frozen, filtered head, widths from
 * the content, shared strings. Nothing is a formula but what the source's JSON calls one.
 */
#include <stdio.h>
#include <stdlib.h>

#include "artifacts/office_xml.h"
#include "artifacts/utf8.h"
#include "artifacts/xlsx.h"
#include "base/xalloc.h"

#define MAIN "http://schemas.openxmlformats.org/spreadsheetml/2006/main"

enum {
    STYLES = 512, /* different ones; the cells of further ones are shown plainly */
    STYLE_SLOTS = 2048,
    FIRST_FORMAT = 164, /* lower numbers are built in */
    STYLE_HEAD = 1,
    STYLE_FIRST = 2,
    WIDTH_LEAST = 8,
    LINE_POINTS = 15, /* of a row's height */
    ROW_POINTS = 409, /* no row may be higher */
    WIDTH_MOST = 60,
    FLUSH = 256 * 1024,
    PROBES = 32,
    XML_MAX = 1 << 28,
};

struct style {
    struct span format;
    bool wrap;
};

struct string_slot {
    struct span text;
    uint32_t index;
};

struct writer {
    struct xlsx_book *book;
    const struct render_params *params;
    struct office_zip zip;
    struct buf xml;     /* of the part that is being written */
    struct buf strings; /* the items of sharedStrings.xml */
    struct string_slot *slots;
    size_t slots_n; /* a power of two */
    uint32_t strings_n, strings_used;
    struct style styles[STYLES];
    size_t styles_n;
    uint16_t style_slots[STYLE_SLOTS]; /* place in styles + 1 */
    bool has_formulas;
};

/* ---- strings ---- */

/* A text's characters, with what looks like an escaped one (ISO/IEC 29500-1, 22.9.2.19) protected. */
static void put_string(struct buf *out, struct span text)
{
    size_t from = 0;
    for (size_t i = 0; i + 6 < text.n; i++) {
        if (text.p[i] != '_' || text.p[i + 1] != 'x' || text.p[i + 6] != '_')
            continue;
        if (strspn(text.p + i + 2, "0123456789abcdefABCDEF") < 4)
            continue;
        office_xml_text(out, span_of(text.p + from, i - from));
        buf_adds(out, "_x005F");
        from = i;
    }
    office_xml_text(out, span_from(text, from));
}

static size_t hash_of(struct span text)
{
    uint64_t h = 14695981039346656037u;
    for (size_t i = 0; i < text.n; i++)
        h = (h ^ (unsigned char)text.p[i]) * 1099511628211u;
    return (size_t)(h ^ h >> 29);
}

/* The string's place in the table of shared strings. A crowded table only shares less. */
static uint32_t share_string(struct writer *w, struct span text)
{
    size_t mask = w->slots_n - 1, at = hash_of(text) & mask;
    struct string_slot *slot = NULL;
    w->strings_used++;
    for (int i = 0; i < PROBES; i++, at = (at + 1) & mask) {
        slot = &w->slots[at];
        if (!slot->text.p || (slot->text.n == text.n && memcmp(slot->text.p, text.p, text.n) == 0))
            break;
        slot = NULL;
    }
    if (slot && slot->text.p)
        return slot->index;
    if (slot)
        *slot = (struct string_slot){text, w->strings_n};
    bool keep = text.n && (text.p[0] == ' ' || text.p[0] == '\t' || text.p[text.n - 1] == ' ' ||
                           memchr(text.p, '\n', text.n));
    buf_adds(&w->strings, keep ? "<si><t xml:space=\"preserve\">" : "<si><t>");
    put_string(&w->strings, text);
    buf_adds(&w->strings, "</t></si>");
    return w->strings_n++;
}

/* ---- styles ---- */

/* LibreOffice shows 1 and 0 without it. */
#define TRUTH "\"TRUE\";\"TRUE\";\"FALSE\""

static unsigned style_of(struct writer *w, struct span format, bool wrap)
{
    if (!format.n && !wrap)
        return 0;
    size_t at = (hash_of(format) + wrap) % STYLE_SLOTS;
    for (; w->style_slots[at]; at = (at + 1) % STYLE_SLOTS) {
        const struct style *style = &w->styles[w->style_slots[at] - 1];
        if (style->wrap == wrap && style->format.n == format.n &&
            memcmp(style->format.p, format.p, format.n) == 0)
            return w->style_slots[at] - 1u + STYLE_FIRST;
    }
    if (w->styles_n == STYLES)
        return 0;
    w->styles[w->styles_n++] = (struct style){format, wrap};
    w->style_slots[at] = (uint16_t)w->styles_n;
    return (unsigned)w->styles_n - 1 + STYLE_FIRST;
}

static void put_styles(struct writer *w)
{
    struct buf *b = &w->xml;
    char ground[7];
    const struct render_brand *brand = &w->params->brand;
    struct span font = span_str(brand->font && brand->font[0] ? brand->font : "Calibri");
    office_colour(brand->colour, "1F4E79", ground);
    buf_adds(b, OFFICE_XML "<styleSheet xmlns=\"" MAIN "\">");
    if (w->styles_n)
        buf_printf(b, "<numFmts count=\"%zu\">", w->styles_n);
    for (size_t i = 0; i < w->styles_n; i++) {
        buf_printf(b, "<numFmt numFmtId=\"%zu\" formatCode=\"", FIRST_FORMAT + i);
        office_xml_text(b, w->styles[i].format.n ? w->styles[i].format : SPAN_LIT("General"));
        buf_adds(b, "\"/>");
    }
    buf_adds(b, w->styles_n ? "</numFmts>" : "");
    buf_adds(b, "<fonts count=\"2\"><font><sz val=\"11\"/><name val=\"");
    office_xml_short(b, font, 64);
    buf_printf(b, "\"/><family val=\"2\"/></font><font><b/><sz val=\"11\"/><color rgb=\"FF%s\"/><name val=\"",
               office_ink(ground));
    office_xml_short(b, font, 64);
    buf_printf(
        b,
        "\"/><family val=\"2\"/></font></fonts><fills count=\"3\"><fill><patternFill "
        "patternType=\"none\"/></fill><fill><patternFill patternType=\"gray125\"/></fill><fill>"
        "<patternFill patternType=\"solid\"><fgColor rgb=\"FF%s\"/><bgColor indexed=\"64\"/>"
        "</patternFill></fill></fills><borders count=\"1\"><border><left/><right/><top/><bottom/>"
        "<diagonal/></border></borders><cellStyleXfs count=\"1\"><xf numFmtId=\"0\" fontId=\"0\" "
        "fillId=\"0\" borderId=\"0\" applyAlignment=\"1\"><alignment "
        "vertical=\"top\"/></xf></cellStyleXfs><cellXfs count=\"%zu\"><xf numFmtId=\"0\" fontId=\"0\" "
        "fillId=\"0\" borderId=\"0\" xfId=\"0\" applyAlignment=\"1\"><alignment vertical=\"top\"/></xf><xf "
        "numFmtId=\"0\" fontId=\"1\" fillId=\"2\" borderId=\"0\" "
        "xfId=\"0\" applyFont=\"1\" applyFill=\"1\" applyAlignment=\"1\"><alignment vertical=\"center\" "
        "wrapText=\"1\"/></xf>",
        ground, w->styles_n + STYLE_FIRST);
    for (size_t i = 0; i < w->styles_n; i++) {
        buf_printf(b, "<xf numFmtId=\"%zu\" fontId=\"0\" fillId=\"0\" borderId=\"0\" xfId=\"0\"%s",
                   w->styles[i].format.n ? FIRST_FORMAT + i : 0,
                   w->styles[i].format.n ? " applyNumberFormat=\"1\"" : "");
        bool centred = span_is(w->styles[i].format, TRUTH) ||
                       memchr(w->styles[i].format.p, 'y', w->styles[i].format.n); /* dates */
        buf_printf(b, " applyAlignment=\"1\"><alignment%s vertical=\"top\"%s/></xf>",
                   centred ? " horizontal=\"center\"" : "", w->styles[i].wrap ? " wrapText=\"1\"" : "");
    }
    buf_adds(b, "</cellXfs><cellStyles count=\"1\"><cellStyle name=\"Normal\" xfId=\"0\" builtinId=\"0\"/>"
                "</cellStyles></styleSheet>");
}

/* ---- cells ---- */

/* "AB" for 27. */
static size_t put_letters(size_t column, char out[4])
{
    char letters[3];
    size_t n = 0, i = 0;
    for (column++; column; column = (column - 1) / 26)
        letters[n++] = (char)('A' + (column - 1) % 26);
    while (n)
        out[i++] = letters[--n];
    out[i] = '\0';
    return i;
}

static void open_cell(struct buf *b, size_t column, size_t row, unsigned style)
{
    char letters[4];
    size_t n = put_letters(column, letters);
    buf_adds(b, "<c r=\"");
    buf_addn(b, letters, n);
    buf_add_number(b, row + 1);
    if (style) {
        buf_adds(b, "\" s=\"");
        buf_add_number(b, style);
    }
    buf_addc(b, '"');
}

static void put_number(struct buf *b, const struct xlsx_value *value)
{
    char digits[40];
    if (value->digits.n) {
        buf_add(b, value->digits);
        return;
    }
    snprintf(digits, sizeof digits, "%.15g", value->number);
    double again = strtod(digits, NULL);
    if (again > value->number || again < value->number)
        snprintf(digits, sizeof digits, "%.17g", value->number);
    buf_adds(b, digits);
}

static void put_formula(struct writer *w, const struct xlsx_cell *cell)
{
    struct buf *b = &w->xml;
    struct span value = cell->value;
    char first = value.n ? value.p[0] : 0;
    bool string = first == '"' && !memchr(value.p, '\\', value.n), truth = first == 't' || first == 'f';
    buf_adds(b, string ? " t=\"str\"><f>" : truth ? " t=\"b\"><f>" : "><f>");
    office_xml_text(b, cell->text);
    buf_adds(b, "</f>");
    if (string || truth || first == '-' || (first >= '0' && first <= '9')) {
        buf_adds(b, "<v>");
        if (string)
            put_string(b, span_of(value.p + 1, value.n - 2));
        else
            buf_add(b, truth ? span_of(first == 't' ? "1" : "0", 1) : value);
        buf_adds(b, "</v>");
    }
    buf_adds(b, "</c>");
    w->has_formulas = true;
}

static bool put_cell(struct writer *w, const struct xlsx_sheet *sheet, size_t row, size_t column)
{
    const struct xlsx_cell *cell = &w->book->cells[sheet->rows[row].first + column];
    const struct xlsx_column *c = &sheet->columns[column];
    bool head = sheet->header && row == 0;
    struct xlsx_value value = {.kind = KIND_TEXT};
    if (cell->source == CELL_EMPTY && !head)
        return true;
    if (cell->source == CELL_FORMULA) {
        open_cell(&w->xml, column, row, style_of(w, xlsx_column_format(c), false));
        put_formula(w, cell);
        return true;
    }
    if (!head)
        value = xlsx_value_of(w->book, c, cell);
    if (value.kind == KIND_NUMBER) {
        open_cell(&w->xml, column, row, style_of(w, value.format, false));
        buf_adds(&w->xml, "><v>");
        put_number(&w->xml, &value);
    } else if (value.kind == KIND_BOOL) {
        open_cell(&w->xml, column, row, style_of(w, span_str(TRUTH), false));
        buf_adds(&w->xml, value.number > 0 ? " t=\"b\"><v>1" : " t=\"b\"><v>0");
    } else if (cell->source == CELL_EMPTY) {
        open_cell(&w->xml, column, row, STYLE_HEAD);
        buf_adds(&w->xml, "/>");
        return true;
    } else {
        if (cell->text.n > XLSX_CELL_UNITS && office_units(cell->text) > XLSX_CELL_UNITS) {
            char letters[4];
            put_letters(column, letters);
            return xlsx_refuse(w->book, RENDER_LIMIT, "the cell %s%zu has more than %d characters", letters,
                               row + 1, XLSX_CELL_UNITS);
        }
        bool lines = memchr(cell->text.p, '\n', cell->text.n) != NULL;
        /* A code kept as text says so by its format. */
        open_cell(&w->xml, column, row,
                  head ? STYLE_HEAD
                       : style_of(w, c->codes ? SPAN_LIT("@") : span_of("", 0), c->wrap || lines));
        buf_adds(&w->xml, " t=\"s\"><v>");
        buf_add_number(&w->xml, share_string(w, cell->text));
    }
    buf_adds(&w->xml, "</v></c>");
    return true;
}

/* ---- sheets ---- */

static size_t longest_line(struct span text)
{
    size_t longest = 0;
    while (text.n) {
        const char *end = memchr(text.p, '\n', text.n);
        size_t n = end ? (size_t)(end - text.p) : text.n;
        size_t width = n > 4 * XLSX_CELL_UNITS ? WIDTH_MOST + 1u : office_width(span_of(text.p, n));
        longest = width > longest ? width : longest;
        text = span_from(text, end ? n + 1 : n);
    }
    return longest;
}

static void measure_columns(const struct xlsx_book *book, struct xlsx_sheet *sheet)
{
    size_t *widest = xcalloc(sheet->columns_n + 1, sizeof *widest);
    for (size_t r = 0; r < sheet->rows_n; r++)
        for (uint32_t c = 0; c < sheet->rows[r].n; c++) {
            const struct xlsx_cell *cell = &book->cells[sheet->rows[r].first + c];
            size_t width = cell->source == CELL_FORMULA ? cell->value.n + 2 : longest_line(cell->text);
            width += sheet->header && r == 0 ? 3 : 0; /* the filter's button */
            widest[c] = width > widest[c] ? width : widest[c];
        }
    for (size_t c = 0; c < sheet->columns_n; c++) {
        struct xlsx_column *column = &sheet->columns[c];
        double width = (double)widest[c] + 2;
        if (column->kind == KIND_CURRENCY || column->kind == KIND_DATETIME)
            width += 4;
        width = width < WIDTH_LEAST ? WIDTH_LEAST : width > WIDTH_MOST ? WIDTH_MOST : width;
        if (column->width <= 0)
            column->width = width;
        column->wrap = (double)widest[c] > column->width;
    }
    xfree(widest);
}

static void put_range(struct buf *b, const struct xlsx_sheet *sheet, const char *lock)
{
    char letters[4];
    put_letters(sheet->columns_n - 1, letters);
    buf_printf(b, "%sA%s1:%s%s%s%zu", lock, lock, lock, letters, lock, sheet->rows_n);
}

static bool is_rtl_sheet(const struct xlsx_book *book, const struct xlsx_sheet *sheet)
{
    size_t rtl = 0, other = 0;
    for (uint32_t i = 0; sheet->rows_n && i < sheet->rows[0].n; i++) {
        struct span text = book->cells[sheet->rows[0].first + i].text;
        rtl += text.n && office_is_rtl(text);
        other += text.n && !office_is_rtl(text);
    }
    return rtl > other;
}

static void put_sheet_head(struct writer *w, const struct xlsx_sheet *sheet, size_t index)
{
    struct buf *b = &w->xml;
    buf_adds(b, OFFICE_XML "<worksheet xmlns=\"" MAIN "\"><sheetPr><pageSetUpPr fitToPage=\"1\"/></sheetPr>");
    if (sheet->columns_n && sheet->rows_n) {
        buf_adds(b, "<dimension ref=\"");
        put_range(b, sheet, "");
        buf_adds(b, "\"/>");
    }
    buf_printf(b, "<sheetViews><sheetView%s%s workbookViewId=\"0\"",
               is_rtl_sheet(w->book, sheet) ? " rightToLeft=\"1\"" : "",
               index == 0 ? " tabSelected=\"1\"" : "");
    if (sheet->header)
        buf_adds(b, "><pane ySplit=\"1\" topLeftCell=\"A2\" activePane=\"bottomLeft\" state=\"frozen\"/>"
                    "<selection pane=\"bottomLeft\" activeCell=\"A2\" sqref=\"A2\"/></sheetView>");
    else
        buf_adds(b, "/>");
    buf_adds(b, "</sheetViews><sheetFormatPr defaultRowHeight=\"15\"/>");
    for (size_t c = 0; c < sheet->columns_n; c++)
        buf_printf(b, "%s<col min=\"%zu\" max=\"%zu\" width=\"%.2f\" customWidth=\"1\"/>", c ? "" : "<cols>",
                   c + 1, c + 1, sheet->columns[c].width + 0.71);
    buf_adds(b, sheet->columns_n ? "</cols><sheetData>" : "<sheetData>");
}

/* Lines that a text takes in its column. */
static size_t lines_of(const struct xlsx_column *column, struct span text)
{
    size_t lines = 0, room = column->width > 1 ? (size_t)column->width : 1;
    while (text.n) {
        const char *end = memchr(text.p, '\n', text.n);
        size_t n = end ? (size_t)(end - text.p) : text.n, width = office_width(span_of(text.p, n));
        lines += width <= room ? 1 : (width + width / 10 + room - 1) / room; /* words leave gaps */
        text = span_from(text, end ? n + 1 : n);
    }
    return lines;
}

/* The height of a row with wrapped text: not every program finds it out by itself. */
static void put_height(struct writer *w, const struct xlsx_sheet *sheet, size_t r)
{
    size_t most = 1;
    for (uint32_t c = 0; c < sheet->rows[r].n; c++) {
        struct span text = w->book->cells[sheet->rows[r].first + c].text;
        if (!text.n || (!sheet->columns[c].wrap && !memchr(text.p, '\n', text.n)))
            continue;
        size_t lines = lines_of(&sheet->columns[c], text);
        most = lines > most ? lines : most;
    }
    if (most > 1)
        buf_printf(&w->xml, " ht=\"%zu\" customHeight=\"1\"",
                   most * LINE_POINTS < ROW_POINTS ? most * LINE_POINTS : (size_t)ROW_POINTS);
}

static bool put_sheet(struct writer *w, struct xlsx_sheet *sheet, size_t index)
{
    struct buf *b = &w->xml;
    char name[64];
    snprintf(name, sizeof name, "xl/worksheets/sheet%zu.xml", index + 1);
    office_zip_open(&w->zip, name, true);
    buf_reset(b);
    put_sheet_head(w, sheet, index);
    for (size_t r = 0; r < sheet->rows_n; r++) {
        buf_adds(b, "<row r=\"");
        buf_add_number(b, r + 1);
        buf_addc(b, '"');
        put_height(w, sheet, r);
        buf_addc(b, '>');
        for (uint32_t c = 0; c < sheet->rows[r].n; c++)
            if (!put_cell(w, sheet, r, c))
                return false;
        buf_adds(b, "</row>");
        if (b->n > FLUSH) {
            office_zip_write(&w->zip, buf_span(b));
            buf_reset(b);
        }
    }
    buf_adds(b, "</sheetData>");
    if (sheet->header && sheet->columns_n) {
        buf_adds(b, "<autoFilter ref=\"");
        put_range(b, sheet, "");
        buf_adds(b, "\"/>");
    }
    buf_printf(
        b,
        "<pageMargins left=\"0.5\" right=\"0.5\" top=\"0.6\" bottom=\"0.6\" header=\"0.3\" footer=\"0.3\"/>"
        "<pageSetup paperSize=\"9\" orientation=\"%s\" fitToWidth=\"1\" fitToHeight=\"0\"/>"
        "<headerFooter><oddFooter>&amp;L&amp;A&amp;R&amp;P / &amp;N</oddFooter></headerFooter></worksheet>",
        sheet->columns_n > 6 ? "landscape" : "portrait");
    office_zip_write(&w->zip, buf_span(b));
    office_zip_close(&w->zip);
    bool ok = !buf_full(b);
    buf_reset(b);
    return ok || xlsx_refuse(w->book, RENDER_LIMIT, "a row is larger than the limit");
}

/* ---- the book ---- */

static void put_part(struct writer *w, const char *name)
{
    office_zip_part(&w->zip, name, buf_span(&w->xml));
    buf_reset(&w->xml);
}

static void put_content_types(struct writer *w)
{
    struct buf *b = &w->xml;
#define TYPE "application/vnd.openxmlformats-officedocument.spreadsheetml."
    buf_adds(b,
             OFFICE_XML "<Types xmlns=\"http://schemas.openxmlformats.org/package/2006/content-types\">"
                        "<Default Extension=\"rels\" "
                        "ContentType=\"application/vnd.openxmlformats-package.relationships+xml\"/>"
                        "<Default Extension=\"xml\" ContentType=\"application/xml\"/>"
                        "<Override PartName=\"/xl/workbook.xml\" ContentType=\"" TYPE "sheet.main+xml\"/>");
    for (size_t i = 0; i < w->book->sheets_n; i++)
        buf_printf(
            b, "<Override PartName=\"/xl/worksheets/sheet%zu.xml\" ContentType=\"" TYPE "worksheet+xml\"/>",
            i + 1);
    buf_adds(
        b, "<Override PartName=\"/xl/styles.xml\" ContentType=\"" TYPE "styles+xml\"/>"
           "<Override PartName=\"/xl/sharedStrings.xml\" ContentType=\"" TYPE "sharedStrings+xml\"/>"
           "<Override PartName=\"/docProps/core.xml\" "
           "ContentType=\"application/vnd.openxmlformats-package.core-properties+xml\"/>"
           "<Override PartName=\"/docProps/app.xml\" "
           "ContentType=\"application/vnd.openxmlformats-officedocument.extended-properties+xml\"/></Types>");
    put_part(w, "[Content_Types].xml");
}

/* 'It''s'!$A$1:$B$9 */
static void put_sheet_reference(struct buf *b, const struct xlsx_sheet *sheet)
{
    buf_addc(b, '\'');
    for (const char *p = sheet->shown; *p; p++) {
        size_t n = strcspn(p, "'");
        office_xml_text(b, span_of(p, n));
        p += n;
        if (!*p)
            break;
        buf_adds(b, "''");
    }
    buf_adds(b, "'!");
}

static void put_defined_names(struct writer *w)
{
    struct buf *b = &w->xml;
    bool any = false;
    for (int pass = 0; pass < 2; pass++)
        for (size_t i = 0; i < w->book->sheets_n; i++) {
            const struct xlsx_sheet *sheet = &w->book->sheets[i];
            if (!sheet->header || !sheet->columns_n)
                continue;
            buf_printf(b, "%s<definedName name=\"_xlnm.%s\" localSheetId=\"%zu\"%s>",
                       any ? "" : "<definedNames>", pass ? "Print_Titles" : "_FilterDatabase", i,
                       pass ? "" : " hidden=\"1\"");
            any = true;
            put_sheet_reference(b, sheet);
            if (pass)
                buf_adds(b, "$1:$1");
            else
                put_range(b, sheet, "$");
            buf_adds(b, "</definedName>");
        }
    buf_adds(b, any ? "</definedNames>" : "");
}

static void put_book(struct writer *w)
{
    struct buf *b = &w->xml;
    size_t n = w->book->sheets_n;
    buf_adds(b, OFFICE_XML "<workbook xmlns=\"" MAIN "\" xmlns:r=\"" OFFICE_RELATIONS
                           "\"><bookViews><workbookView xWindow=\"0\" yWindow=\"0\" windowWidth=\"24000\" "
                           "windowHeight=\"12000\"/></bookViews><sheets>");
    for (size_t i = 0; i < n; i++) {
        buf_adds(b, "<sheet name=\"");
        office_xml_text(b, span_str(w->book->sheets[i].shown));
        buf_printf(b, "\" sheetId=\"%zu\" r:id=\"rId%zu\"/>", i + 1, i + 1);
    }
    buf_adds(b, "</sheets>");
    put_defined_names(w);
    buf_adds(b,
             w->has_formulas ? "<calcPr calcId=\"191029\" fullCalcOnLoad=\"1\"/></workbook>" : "</workbook>");
    put_part(w, "xl/workbook.xml");
    buf_adds(b, OFFICE_RELS_HEAD);
    for (size_t i = 0; i < n; i++)
        buf_printf(b,
                   "<Relationship Id=\"rId%zu\" Type=\"" OFFICE_RELATIONS
                   "/worksheet\" Target=\"worksheets/sheet%zu.xml\"/>",
                   i + 1, i + 1);
    buf_printf(b,
               "<Relationship Id=\"rId%zu\" Type=\"" OFFICE_RELATIONS "/styles\" Target=\"styles.xml\"/>"
               "<Relationship Id=\"rId%zu\" Type=\"" OFFICE_RELATIONS
               "/sharedStrings\" Target=\"sharedStrings.xml\"/></Relationships>",
               n + 1, n + 2);
    put_part(w, "xl/_rels/workbook.xml.rels");
    put_styles(w);
    put_part(w, "xl/styles.xml");
    office_zip_open(&w->zip, "xl/sharedStrings.xml", true);
    buf_printf(b, OFFICE_XML "<sst xmlns=\"" MAIN "\" count=\"%u\" uniqueCount=\"%u\">", w->strings_used,
               w->strings_n);
    office_zip_write(&w->zip, buf_span(b));
    office_zip_write(&w->zip, buf_span(&w->strings));
    office_zip_write(&w->zip, SPAN_LIT("</sst>"));
    office_zip_close(&w->zip);
    buf_reset(b);
}

static void write_book(struct writer *w, struct buf *out)
{
    char title[OFFICE_SHORT], author[OFFICE_SHORT];
    bool ok = true;
    office_option(w->params, "title", title);
    office_option(w->params, "author", author);
    struct span shown =
        w->params->title && w->params->title[0] ? span_str(w->params->title) : span_str(title);
    office_zip_begin(&w->zip, out);
    put_content_types(w);
    office_root_relations(&w->zip, "xl/workbook.xml");
    office_properties(&w->zip, w->params, shown, span_str(author));
    for (size_t i = 0; ok && i < w->book->sheets_n; i++) {
        struct xlsx_sheet *sheet = &w->book->sheets[i];
        xlsx_name_sheet(w->book, i);
        xlsx_type_columns(w->book, sheet);
        measure_columns(w->book, sheet);
        ok = put_sheet(w, sheet, i);
    }
    if (ok)
        put_book(w);
    if (office_zip_finish(&w->zip) || buf_full(&w->strings))
        xlsx_refuse(w->book, RENDER_LIMIT, "the file would be larger than the limit");
}

static void note(const struct xlsx_book *book, char sentence[RENDER_SENTENCE])
{
    if (book->formulas_refused)
        snprintf(sentence, RENDER_SENTENCE,
                 "%u formula%s kept as text: not well formed, or reaching out of the workbook",
                 book->formulas_refused, book->formulas_refused == 1 ? " was" : "s were");
    else if (book->zone_dropped)
        snprintf(sentence, RENDER_SENTENCE, "times are shown without their time zones");
}

static enum render_status render(struct span source, const struct render_params *params, struct buf *out,
                                 char sentence[RENDER_SENTENCE])
{
    char sheet[OFFICE_SHORT];
    struct xlsx_book *book = xcalloc(1, sizeof *book);
    office_option(params, "sheet", sheet);
    if (xlsx_read(book, source, span_str(sheet)) == RENDER_OK) {
        struct writer *w = xcalloc(1, sizeof *w);
        w->book = book;
        w->params = params;
        buf_init(&w->xml, XML_MAX);
        buf_init(&w->strings, XML_MAX);
        w->slots_n = 1024;
        while (w->slots_n < book->cells_n * 2)
            w->slots_n *= 2;
        w->slots = xcalloc(w->slots_n, sizeof *w->slots);
        write_book(w, out);
        xfree(w->slots);
        buf_free(&w->xml);
        buf_free(&w->strings);
        xfree(w);
    }
    enum render_status status = book->status;
    if (status == RENDER_OK)
        note(book, sentence);
    else
        snprintf(sentence, RENDER_SENTENCE, "%s", book->sentence);
    xlsx_free(book);
    xfree(book);
    return status;
}

static const char *const formats[] = {"xlsx", NULL};

const struct renderer_ops render_xlsx = {
    .name = "xlsx",
    .version = "2",
    .formats = formats,
    .limits = {.source_bytes = 32u * 1024 * 1024,
               .out_bytes = 64u * 1024 * 1024,
               .memory_bytes = 512u * 1024 * 1024,
               .cpu_s = 10,
               .wall_ms = 15000},
    .render = render,
};
