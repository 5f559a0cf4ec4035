/* The parts beside the document's text: contents, styles, numbering, footnotes, header and footer, settings.
 */
#include <stdio.h>
#include <stdlib.h>

#include "artifacts/docx.h"
#include "artifacts/utf8.h"
#include "base/xalloc.h"

#define WORD "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
#define NAMESPACES                                                                                           \
    "xmlns:w=\"" WORD "\" xmlns:r=\"" OFFICE_RELATIONS                                                       \
    "\" xmlns:wp=\"http://schemas.openxmlformats.org/drawingml/2006/wordprocessingDrawing\""

enum { CONTENTS_LEVEL = 3, PART = 1 << 22 };

/* ---- headings ---- */

/* As GitHub makes an anchor of a heading: lower case, blanks as hyphens, no punctuation. */
static void make_slug(struct span text, char out[DOCX_SLUG])
{
    size_t n = 0, step;
    for (size_t i = 0; i < text.n && n + UTF8_MAX < DOCX_SLUG; i += step) {
        uint32_t c = utf8_next(text.p + i, text.p + text.n, &step);
        if (c >= 'A' && c <= 'Z')
            out[n++] = (char)(c + 0x20);
        else if ((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '_')
            out[n++] = (char)c;
        else if (c == ' ')
            out[n++] = '-';
        else if (c >= 0xc0 && (c < 0x2000 || c > 0x206f))
            n += utf8_put(c, out + n);
    }
    out[n] = '\0';
}

static int by_slug(const void *a, const void *b)
{
    const struct docx_heading *x = *(struct docx_heading *const *)a, *y = *(struct docx_heading *const *)b;
    int order = strcmp(x->slug, y->slug);
    return order ? order : x->number < y->number ? -1 : x->number > y->number;
}

void docx_collect_headings(struct docx *d)
{
    const struct markdown_block *block = d->markdown->document->first;
    struct buf text;
    buf_init(&text, MARKDOWN_SOURCE * 2);
    d->headings = xcalloc(DOCX_HEADINGS, sizeof *d->headings);
    while (block && d->headings_n < DOCX_HEADINGS) {
        if (block->type == MARKDOWN_HEADING) {
            struct docx_heading *heading = &d->headings[d->headings_n++];
            heading->block = block;
            heading->number = (unsigned)d->headings_n;
            buf_reset(&text);
            if (markdown_plain(block->runs, &text) == 0)
                make_slug(buf_span(&text), heading->slug);
        }
        if (block->first && block->type != MARKDOWN_TABLE) {
            block = block->first;
            continue;
        }
        while (block && !block->next)
            block = block->parent;
        block = block ? block->next : NULL;
    }
    d->by_slug = xcalloc(d->headings_n + 1, sizeof *d->by_slug);
    for (size_t i = 0; i < d->headings_n; i++)
        d->by_slug[i] = &d->headings[i];
    qsort(d->by_slug, d->headings_n, sizeof *d->by_slug, by_slug);
    buf_free(&text);
}

struct docx_heading *docx_heading_by_slug(const struct docx *d, struct span slug)
{
    char clean[DOCX_SLUG];
    size_t low = 0, high = d->headings_n;
    make_slug(slug, clean);
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (strcmp(d->by_slug[middle]->slug, clean) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low < d->headings_n && strcmp(d->by_slug[low]->slug, clean) == 0 ? d->by_slug[low] : NULL;
}

/* A field that the reader's program can bring up to date, with its entries filled in. */
void docx_contents(struct docx *d)
{
    struct buf text;
    bool first = true;
    if (d->toc_done)
        return;
    d->toc_done = true;
    buf_init(&text, MARKDOWN_SOURCE * 2);
    for (size_t i = 0; i < d->headings_n; i++) {
        const struct docx_heading *heading = &d->headings[i];
        if (heading->block->level > CONTENTS_LEVEL)
            continue;
        buf_reset(&text);
        if (markdown_plain(heading->block->runs, &text))
            break;
        buf_printf(d->to, "<w:p><w:pPr><w:pStyle w:val=\"TOC%u\"/>%s</w:pPr>", heading->block->level,
                   markdown_is_rtl(heading->block->runs) ? "<w:bidi/>" : "");
        if (first)
            buf_adds(
                d->to,
                "<w:r><w:fldChar w:fldCharType=\"begin\"/></w:r><w:r><w:instrText xml:space=\"preserve\"> "
                "TOC "
                "\\o \"1-3\" \\h \\z \\u </w:instrText></w:r><w:r><w:fldChar w:fldCharType=\"separate\"/>"
                "</w:r>");
        first = false;
        buf_printf(d->to, "<w:hyperlink w:anchor=\"_Heading%u\" w:history=\"1\">", heading->number);
        docx_plain_run(d, NULL, buf_span(&text));
        buf_adds(d->to, "</w:hyperlink></w:p>");
        docx_flush(d);
    }
    if (!first)
        buf_adds(d->to, "<w:p><w:r><w:fldChar w:fldCharType=\"end\"/></w:r></w:p>");
    buf_free(&text);
}

/* ---- types and styles ---- */

void docx_content_types(struct docx *d)
{
    struct buf b;
    buf_init(&b, PART);
#define TYPE "application/vnd.openxmlformats-officedocument.wordprocessingml."
    buf_adds(
        &b, OFFICE_XML
        "<Types xmlns=\"http://schemas.openxmlformats.org/package/2006/content-types\">"
        "<Default Extension=\"rels\" "
        "ContentType=\"application/vnd.openxmlformats-package.relationships+xml\"/>"
        "<Default Extension=\"xml\" ContentType=\"application/xml\"/>"
        "<Default Extension=\"png\" ContentType=\"image/png\"/><Default Extension=\"jpeg\" "
        "ContentType=\"image/jpeg\"/><Default Extension=\"gif\" ContentType=\"image/gif\"/>"
        "<Override PartName=\"/word/document.xml\" ContentType=\"" TYPE "document.main+xml\"/>"
        "<Override PartName=\"/word/styles.xml\" ContentType=\"" TYPE "styles+xml\"/>"
        "<Override PartName=\"/word/numbering.xml\" ContentType=\"" TYPE "numbering+xml\"/>"
        "<Override PartName=\"/word/settings.xml\" ContentType=\"" TYPE "settings+xml\"/>"
        "<Override PartName=\"/word/footnotes.xml\" ContentType=\"" TYPE "footnotes+xml\"/>"
        "<Override PartName=\"/word/header1.xml\" ContentType=\"" TYPE "header+xml\"/>"
        "<Override PartName=\"/word/footer1.xml\" ContentType=\"" TYPE "footer+xml\"/>"
        "<Override PartName=\"/docProps/core.xml\" "
        "ContentType=\"application/vnd.openxmlformats-package.core-properties+xml\"/>"
        "<Override PartName=\"/docProps/app.xml\" "
        "ContentType=\"application/vnd.openxmlformats-officedocument.extended-properties+xml\"/></Types>");
    office_zip_part(&d->zip, "[Content_Types].xml", buf_span(&b));
    buf_free(&b);
}

static void put_fonts(struct buf *b, struct span font, const char *east_asian)
{
    buf_adds(b, "<w:rFonts w:ascii=\"");
    office_xml_short(b, font, 64);
    buf_adds(b, "\" w:hAnsi=\"");
    office_xml_short(b, font, 64);
    buf_printf(b, "\" w:eastAsia=\"%s\" w:cs=\"Arial\"/>", east_asian);
}

static void put_headings(struct docx *d, struct buf *b, struct span font)
{
    static const struct {
        unsigned size, before, after;
    } looks[] = {{36, 360, 120}, {30, 320, 100}, {26, 280, 80}, {24, 240, 80}, {22, 240, 60}, {22, 240, 60}};
    for (unsigned i = 0; i < 6; i++) {
        buf_printf(
            b,
            "<w:style w:type=\"paragraph\" w:styleId=\"Heading%u\"><w:name w:val=\"heading %u\"/><w:basedOn "
            "w:val=\"Normal\"/><w:next w:val=\"Normal\"/><w:uiPriority w:val=\"9\"/><w:qFormat/><w:pPr>"
            "<w:keepNext/><w:keepLines/><w:spacing w:before=\"%u\" w:after=\"%u\" w:line=\"240\" "
            "w:lineRule=\"auto\"/><w:outlineLvl w:val=\"%u\"/></w:pPr><w:rPr>",
            i + 1, i + 1, looks[i].before, looks[i].after, i);
        put_fonts(b, font, d->east_asian);
        buf_printf(b,
                   "<w:b/><w:bCs/>%s<w:color w:val=\"%s\"/><w:sz w:val=\"%u\"/><w:szCs "
                   "w:val=\"%u\"/></w:rPr></w:style>",
                   i == 5 ? "<w:i/><w:iCs/>" : "", d->colour, looks[i].size, looks[i].size);
    }
}

static const char fixed_styles[] =
    "<w:style w:type=\"paragraph\" w:styleId=\"Title\"><w:name w:val=\"Title\"/><w:basedOn "
    "w:val=\"Normal\"/><w:next "
    "w:val=\"Normal\"/><w:uiPriority w:val=\"10\"/><w:qFormat/><w:pPr><w:spacing "
    "w:after=\"120\"/></w:pPr><w:rPr><w:b/>"
    "<w:bCs/><w:sz w:val=\"48\"/><w:szCs w:val=\"48\"/></w:rPr></w:style>"
    "<w:style w:type=\"paragraph\" w:styleId=\"Subtitle\"><w:name w:val=\"Subtitle\"/><w:basedOn "
    "w:val=\"Normal\"/><w:next "
    "w:val=\"Normal\"/><w:uiPriority w:val=\"11\"/><w:qFormat/><w:rPr><w:color "
    "w:val=\"595959\"/></w:rPr></w:style>"
    "<w:style w:type=\"paragraph\" w:styleId=\"ListParagraph\"><w:name w:val=\"List Paragraph\"/><w:basedOn "
    "w:val=\"Normal\"/><w:uiPriority w:val=\"34\"/><w:qFormat/><w:pPr><w:spacing w:after=\"60\"/><w:ind "
    "w:left=\"720\"/>"
    "</w:pPr></w:style>"
    "<w:style w:type=\"paragraph\" w:styleId=\"Quote\"><w:name w:val=\"Quote\"/><w:basedOn "
    "w:val=\"Normal\"/><w:uiPriority "
    "w:val=\"29\"/><w:qFormat/><w:pPr><w:pBdr><w:left w:val=\"single\" w:sz=\"18\" w:space=\"8\" "
    "w:color=\"BFBFBF\"/></w:pBdr>"
    "<w:ind w:left=\"360\"/></w:pPr><w:rPr><w:color w:val=\"404040\"/></w:rPr></w:style>"
    "<w:style w:type=\"paragraph\" w:customStyle=\"1\" w:styleId=\"SourceCode\"><w:name w:val=\"Source "
    "Code\"/><w:basedOn "
    "w:val=\"Normal\"/><w:qFormat/><w:pPr><w:pBdr><w:top w:val=\"single\" w:sz=\"4\" w:space=\"4\" "
    "w:color=\"F2F2F2\"/><w:left "
    "w:val=\"single\" w:sz=\"4\" w:space=\"4\" w:color=\"F2F2F2\"/><w:bottom w:val=\"single\" w:sz=\"4\" "
    "w:space=\"4\" "
    "w:color=\"F2F2F2\"/><w:right w:val=\"single\" w:sz=\"4\" w:space=\"4\" "
    "w:color=\"F2F2F2\"/></w:pBdr><w:shd w:val=\"clear\" "
    "w:color=\"auto\" w:fill=\"F2F2F2\"/><w:bidi w:val=\"0\"/><w:spacing w:before=\"120\" w:after=\"200\" "
    "w:line=\"240\" "
    "w:lineRule=\"auto\"/></w:pPr><w:rPr><w:rFonts w:ascii=\"Consolas\" w:hAnsi=\"Consolas\" "
    "w:cs=\"Consolas\"/><w:noProof/>"
    "<w:sz w:val=\"18\"/><w:szCs w:val=\"18\"/></w:rPr></w:style>"
    "<w:style w:type=\"paragraph\" w:customStyle=\"1\" w:styleId=\"TableText\"><w:name w:val=\"Table "
    "Text\"/><w:basedOn "
    "w:val=\"Normal\"/><w:pPr><w:spacing w:before=\"40\" w:after=\"40\" w:line=\"240\" "
    "w:lineRule=\"auto\"/></w:pPr><w:rPr>"
    "<w:sz w:val=\"20\"/><w:szCs w:val=\"20\"/></w:rPr></w:style>"
    "<w:style w:type=\"paragraph\" w:styleId=\"Header\"><w:name w:val=\"header\"/><w:basedOn "
    "w:val=\"Normal\"/><w:uiPriority "
    "w:val=\"99\"/><w:pPr><w:spacing w:after=\"0\"/></w:pPr><w:rPr><w:color w:val=\"595959\"/><w:sz "
    "w:val=\"18\"/><w:szCs "
    "w:val=\"18\"/></w:rPr></w:style>"
    "<w:style w:type=\"paragraph\" w:styleId=\"Footer\"><w:name w:val=\"footer\"/><w:basedOn "
    "w:val=\"Header\"/><w:uiPriority "
    "w:val=\"99\"/></w:style>"
    "<w:style w:type=\"paragraph\" w:styleId=\"FootnoteText\"><w:name w:val=\"footnote text\"/><w:basedOn "
    "w:val=\"Normal\"/>"
    "<w:uiPriority w:val=\"99\"/><w:pPr><w:spacing w:after=\"0\" w:line=\"240\" "
    "w:lineRule=\"auto\"/></w:pPr><w:rPr><w:sz "
    "w:val=\"18\"/><w:szCs w:val=\"18\"/></w:rPr></w:style>"
    "<w:style w:type=\"paragraph\" w:styleId=\"TOC1\"><w:name w:val=\"toc 1\"/><w:basedOn "
    "w:val=\"Normal\"/><w:next "
    "w:val=\"Normal\"/><w:uiPriority w:val=\"39\"/><w:pPr><w:spacing w:after=\"60\"/></w:pPr></w:style>"
    "<w:style w:type=\"paragraph\" w:styleId=\"TOC2\"><w:name w:val=\"toc 2\"/><w:basedOn "
    "w:val=\"Normal\"/><w:next "
    "w:val=\"Normal\"/><w:uiPriority w:val=\"39\"/><w:pPr><w:spacing w:after=\"60\"/><w:ind "
    "w:left=\"220\"/></w:pPr></w:style>"
    "<w:style w:type=\"paragraph\" w:styleId=\"TOC3\"><w:name w:val=\"toc 3\"/><w:basedOn "
    "w:val=\"Normal\"/><w:next "
    "w:val=\"Normal\"/><w:uiPriority w:val=\"39\"/><w:pPr><w:spacing w:after=\"60\"/><w:ind "
    "w:left=\"440\"/></w:pPr></w:style>"
    "<w:style w:type=\"character\" w:default=\"1\" w:styleId=\"DefaultParagraphFont\"><w:name "
    "w:val=\"Default Paragraph "
    "Font\"/><w:uiPriority w:val=\"1\"/></w:style>"
    "<w:style w:type=\"character\" w:styleId=\"Hyperlink\"><w:name w:val=\"Hyperlink\"/><w:uiPriority "
    "w:val=\"99\"/><w:rPr>"
    "<w:color w:val=\"0563C1\"/><w:u w:val=\"single\"/></w:rPr></w:style>"
    "<w:style w:type=\"character\" w:customStyle=\"1\" w:styleId=\"VerbatimChar\"><w:name w:val=\"Verbatim "
    "Char\"/><w:rPr>"
    "<w:rFonts w:ascii=\"Consolas\" w:hAnsi=\"Consolas\" w:cs=\"Consolas\"/><w:noProof/><w:shd "
    "w:val=\"clear\" w:color=\"auto\" "
    "w:fill=\"F2F2F2\"/></w:rPr></w:style>"
    "<w:style w:type=\"character\" w:styleId=\"FootnoteReference\"><w:name w:val=\"footnote "
    "reference\"/><w:uiPriority "
    "w:val=\"99\"/><w:rPr><w:vertAlign w:val=\"superscript\"/></w:rPr></w:style>"
    "<w:style w:type=\"table\" w:default=\"1\" w:styleId=\"TableNormal\"><w:name w:val=\"Normal "
    "Table\"/><w:uiPriority "
    "w:val=\"99\"/><w:tblPr><w:tblInd w:w=\"0\" w:type=\"dxa\"/><w:tblCellMar><w:top w:w=\"0\" "
    "w:type=\"dxa\"/><w:left "
    "w:w=\"108\" w:type=\"dxa\"/><w:bottom w:w=\"0\" w:type=\"dxa\"/><w:right w:w=\"108\" "
    "w:type=\"dxa\"/></w:tblCellMar>"
    "</w:tblPr></w:style>"
    "<w:style w:type=\"table\" w:styleId=\"TableGrid\"><w:name w:val=\"Table Grid\"/><w:basedOn "
    "w:val=\"TableNormal\"/>"
    "<w:uiPriority w:val=\"39\"/><w:tblPr><w:tblBorders><w:top w:val=\"single\" w:sz=\"4\" w:space=\"0\" "
    "w:color=\"BFBFBF\"/>"
    "<w:left w:val=\"single\" w:sz=\"4\" w:space=\"0\" w:color=\"BFBFBF\"/><w:bottom w:val=\"single\" "
    "w:sz=\"4\" w:space=\"0\" "
    "w:color=\"BFBFBF\"/><w:right w:val=\"single\" w:sz=\"4\" w:space=\"0\" w:color=\"BFBFBF\"/><w:insideH "
    "w:val=\"single\" "
    "w:sz=\"4\" w:space=\"0\" w:color=\"BFBFBF\"/><w:insideV w:val=\"single\" w:sz=\"4\" w:space=\"0\" "
    "w:color=\"BFBFBF\"/>"
    "</w:tblBorders></w:tblPr></w:style>";

void docx_styles(struct docx *d)
{
    const struct render_brand *brand = &d->params->brand;
    struct span font = span_str(brand->font && brand->font[0] ? brand->font : "Calibri");
    struct span headings =
        brand->heading_font && brand->heading_font[0] ? span_str(brand->heading_font) : font;
    struct buf b;
    buf_init(&b, PART);
    buf_adds(&b, OFFICE_XML "<w:styles xmlns:w=\"" WORD "\"><w:docDefaults><w:rPrDefault><w:rPr>");
    put_fonts(&b, font, d->east_asian);
    buf_printf(&b,
               "<w:sz w:val=\"22\"/><w:szCs w:val=\"22\"/><w:lang w:val=\"en-US\" w:eastAsia=\"%s\" "
               "w:bidi=\"ar-SA\"/>"
               "</w:rPr></w:rPrDefault><w:pPrDefault><w:pPr><w:spacing w:after=\"140\" w:line=\"269\" "
               "w:lineRule=\"auto\"/>"
               "</w:pPr></w:pPrDefault></w:docDefaults><w:style w:type=\"paragraph\" w:default=\"1\" "
               "w:styleId=\"Normal\"><w:name w:val=\"Normal\"/><w:qFormat/></w:style>",
               d->east_asian_language);
    put_headings(d, &b, headings);
    buf_printf(&b,
               "<w:style w:type=\"paragraph\" w:customStyle=\"1\" w:styleId=\"TableHead\"><w:name "
               "w:val=\"Table Head\"/>"
               "<w:basedOn w:val=\"TableText\"/><w:pPr><w:keepNext/></w:pPr><w:rPr><w:b/><w:bCs/><w:color "
               "w:val=\"%s\"/>"
               "</w:rPr></w:style>",
               office_ink(d->colour));
    buf_adds(&b, fixed_styles);
    buf_adds(&b, "</w:styles>");
    office_zip_part(&d->zip, "word/styles.xml", buf_span(&b));
    buf_free(&b);
}

/* ---- numbering ---- */

void docx_numbering(struct docx *d)
{
    static const char *const bullets[] = {"\xe2\x80\xa2", "\xe2\x80\x93", "\xe2\x80\xa2"};
    static const char *const kinds[] = {"decimal", "lowerLetter", "lowerRoman"};
    struct buf b;
    buf_init(&b, DOCX_XML);
    buf_adds(&b, OFFICE_XML "<w:numbering xmlns:w=\"" WORD "\">");
    for (unsigned k = 0; k < 2; k++) {
        buf_printf(&b, "<w:abstractNum w:abstractNumId=\"%u\"><w:multiLevelType w:val=\"multilevel\"/>", k);
        for (unsigned i = 0; i < DOCX_LEVELS; i++) {
            buf_printf(
                &b, "<w:lvl w:ilvl=\"%u\"><w:start w:val=\"1\"/><w:numFmt w:val=\"%s\"/><w:lvlText w:val=\"",
                i, k ? kinds[i % 3] : "bullet");
            if (k)
                buf_printf(&b, "%%%u.", i + 1);
            else
                buf_adds(&b, bullets[i % 3]);
            buf_printf(
                &b,
                "\"/><w:lvlJc w:val=\"left\"/><w:pPr><w:ind w:left=\"%u\" w:hanging=\"%u\"/></w:pPr></w:lvl>",
                DOCX_LEVEL * (i + 2), DOCX_LEVEL);
        }
        buf_adds(&b, "</w:abstractNum>");
    }
    buf_adds(&b, "<w:num w:numId=\"1\"><w:abstractNumId w:val=\"0\"/></w:num>");
    buf_add(&b, buf_span(&d->nums));
    buf_adds(&b, "</w:numbering>");
    office_zip_part(&d->zip, "word/numbering.xml", buf_span(&b));
    buf_free(&b);
}

void docx_settings(struct docx *d)
{
    office_zip_part(
        &d->zip, "word/settings.xml",
        SPAN_LIT(
            OFFICE_XML
            "<w:settings xmlns:w=\"" WORD "\"><w:zoom w:percent=\"100\"/><w:defaultTabStop w:val=\"720\"/>"
            "<w:characterSpacingControl w:val=\"doNotCompress\"/><w:footnotePr><w:footnote "
            "w:id=\"-1\"/><w:footnote "
            "w:id=\"0\"/></w:footnotePr><w:compat><w:compatSetting w:name=\"compatibilityMode\" "
            "w:uri=\"http://schemas.microsoft.com/office/word\" w:val=\"15\"/></w:compat></w:settings>"));
}

/* ---- footnotes ---- */

/* A note is its blocks; its mark stands in a paragraph of its own only when the first of them is none. */
static void put_note(struct docx *d, const struct markdown_block *note)
{
    const struct markdown_block *first = note->first;
    buf_printf(d->to, "<w:footnote w:id=\"%u\">", note->level + 1);
    docx_open_paragraph(d, &(struct docx_paragraph){.style = "FootnoteText"});
    buf_adds(d->to, "<w:r><w:rPr><w:rStyle w:val=\"FootnoteReference\"/></w:rPr><w:footnoteRef/></w:r>");
    docx_plain_run(d, NULL, SPAN_LIT(" "));
    if (first && first->type == MARKDOWN_PARAGRAPH) {
        docx_runs(d, first->runs, false);
        first = first->next;
    }
    docx_close_paragraph(d);
    for (; first && d->status == RENDER_OK; first = first->next)
        docx_block(d, first);
    buf_adds(d->to, "</w:footnote>");
}

void docx_footnotes(struct docx *d)
{
    d->to = &d->notes;
    d->rels = &d->notes_rels;
    d->indent = d->quotes = d->lists = 0;
    d->room = d->text_width;
    buf_adds(d->to, OFFICE_XML
             "<w:footnotes " NAMESPACES "><w:footnote w:type=\"separator\" w:id=\"-1\"><w:p><w:pPr>"
             "<w:spacing w:after=\"0\"/></w:pPr><w:r><w:separator/></w:r></w:p></w:footnote>"
             "<w:footnote w:type=\"continuationSeparator\" w:id=\"0\"><w:p><w:pPr><w:spacing "
             "w:after=\"0\"/></w:pPr><w:r><w:continuationSeparator/></w:r></w:p></w:footnote>");
    for (unsigned i = 0; i < d->markdown->notes_n && d->status == RENDER_OK; i++)
        if (d->noted[i] && d->markdown->notes[i])
            put_note(d, d->markdown->notes[i]);
    buf_adds(d->to, "</w:footnotes>");
    office_zip_part(&d->zip, "word/footnotes.xml", buf_span(&d->notes));
    d->to = &d->body;
    d->rels = &d->body_rels;
}

/* ---- header and footer ---- */

static void put_field(struct buf *b, const char *name)
{
    buf_printf(
        b,
        "<w:r><w:fldChar w:fldCharType=\"begin\"/></w:r><w:r><w:instrText xml:space=\"preserve\"> %s "
        "</w:instrText></w:r><w:r><w:fldChar w:fldCharType=\"separate\"/></w:r><w:r><w:t>1</w:t></w:r><w:r>"
        "<w:fldChar w:fldCharType=\"end\"/></w:r>",
        name);
}

void docx_header_and_footer(struct docx *d)
{
    const struct render_brand *brand = &d->params->brand;
    struct render_asset logo = {.name = "logo", .bytes = brand->logo};
    struct render_params own = {.assets = &logo, .n_assets = 1};
    struct docx_rels rels = {.n = 0};
    struct office_image image;
    struct buf b, *to = d->to;
    buf_init(&b, PART);
    buf_init(&rels.xml, PART);
    buf_adds(&b, OFFICE_XML "<w:hdr " NAMESPACES "><w:p><w:pPr><w:pStyle w:val=\"Header\"/></w:pPr>");
    d->to = &b;
    d->rels = &rels;
    if (brand->logo.n && office_pictures_room(&d->pictures) &&
        office_image_find(&own, SPAN_LIT("logo"), &image)) {
        /* Half an inch high at most. */
        d->room = (unsigned)((uint64_t)image.width * 720 / image.height);
        d->room = d->room > d->text_width / 3 ? d->text_width / 3 : d->room + 1;
        docx_image(d, &image, SPAN_LIT("Logo"));
        office_image_free(&image);
        docx_plain_run(d, NULL, SPAN_LIT("  "));
    }
    if (brand->header)
        docx_plain_run(d, NULL, span_str(brand->header));
    buf_adds(&b, "</w:p></w:hdr>");
    office_zip_part(&d->zip, "word/header1.xml", buf_span(&b));
    if (rels.n) {
        buf_reset(&b);
        buf_adds(&b, OFFICE_RELS_HEAD);
        buf_add(&b, buf_span(&rels.xml));
        buf_adds(&b, "</Relationships>");
        office_zip_part(&d->zip, "word/_rels/header1.xml.rels", buf_span(&b));
    }
    buf_reset(&b);
    buf_printf(&b,
               OFFICE_XML "<w:ftr " NAMESPACES
                          "><w:p><w:pPr><w:pStyle w:val=\"Footer\"/><w:tabs><w:tab w:val=\"right\" "
                          "w:pos=\"%u\"/></w:tabs></w:pPr>",
               d->text_width);
    if (brand->footer)
        docx_plain_run(d, NULL, span_str(brand->footer));
    docx_plain_run(d, NULL, SPAN_LIT("\t"));
    put_field(&b, "PAGE");
    docx_plain_run(d, NULL, SPAN_LIT(" / "));
    put_field(&b, "NUMPAGES");
    buf_adds(&b, "</w:p></w:ftr>");
    office_zip_part(&d->zip, "word/footer1.xml", buf_span(&b));
    d->to = to;
    d->rels = &d->body_rels;
    buf_free(&b);
    buf_free(&rels.xml);
}
