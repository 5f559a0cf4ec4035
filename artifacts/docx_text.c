/* Paragraphs and what stands in them: runs of text, links, footnotes' marks, pictures. */
#include <stdio.h>
#include <string.h>

#include "artifacts/docx.h"
#include "artifacts/utf8.h"

/* ---- paragraphs ---- */

static const char *jc_of(const struct docx_paragraph *p)
{
    switch (p->align) {
    case ALIGN_CENTER:
        return "center";
    case ALIGN_RIGHT:
        return p->rtl ? "start" : "end";
    case ALIGN_LEFT:
        return p->rtl ? "end" : NULL;
    default:
        return NULL;
    }
}

/* The order of the elements is the schema's (CT_PPr). */
void docx_open_paragraph(struct docx *d, const struct docx_paragraph *p)
{
    struct buf *b = d->to;
    const char *jc = jc_of(p);
    buf_adds(b, "<w:p><w:pPr>");
    if (p->style)
        buf_printf(b, "<w:pStyle w:val=\"%s\"/>", p->style);
    if (p->keep_next)
        buf_adds(b, "<w:keepNext/>");
    if (d->page && b == &d->body && !p->table) {
        buf_adds(b, "<w:pageBreakBefore/>");
        d->page = false;
    }
    if (p->list)
        buf_printf(b, "<w:numPr><w:ilvl w:val=\"%u\"/><w:numId w:val=\"%u\"/></w:numPr>", p->level, p->list);
    if (p->rtl)
        buf_adds(b, "<w:bidi/>");
    if (p->table)
        buf_adds(b, "<w:spacing w:before=\"40\" w:after=\"40\"/>");
    if (!p->list && !p->table && (d->indent || p->hanging)) {
        buf_printf(b, "<w:ind w:left=\"%u\"", d->indent);
        if (p->hanging)
            buf_printf(b, " w:hanging=\"%u\"", p->hanging);
        buf_adds(b, "/>");
    }
    if (jc)
        buf_printf(b, "<w:jc w:val=\"%s\"/>",
                   strcmp(jc, "start") == 0 ? "left"
                   : strcmp(jc, "end") == 0 ? "right"
                                            : jc);
    buf_adds(b, "</w:pPr>");
}

void docx_close_paragraph(struct docx *d)
{
    buf_adds(d->to, "</w:p>");
}

/* ---- text ---- */

void docx_text(struct buf *out, struct span text)
{
    size_t from = 0;
    for (size_t i = 0; i <= text.n; i++) {
        if (i < text.n && text.p[i] != '\t' && text.p[i] != '\n')
            continue;
        if (i > from) {
            buf_adds(out, "<w:t xml:space=\"preserve\">");
            office_xml_text(out, span_of(text.p + from, i - from));
            buf_adds(out, "</w:t>");
        }
        if (i < text.n)
            buf_adds(out, text.p[i] == '\t' ? "<w:tab/>" : "<w:br/>");
        from = i + 1;
    }
}

void docx_plain_run(struct docx *d, const char *properties, struct span text)
{
    buf_printf(d->to, "<w:r>%s%s%s", properties ? "<w:rPr>" : "", properties ? properties : "",
               properties ? "</w:rPr>" : "");
    docx_text(d->to, text);
    buf_adds(d->to, "</w:r>");
}

/* The order is the schema's (CT_RPr). */
static void put_properties(struct buf *b, unsigned style, bool link, bool rtl)
{
    if (!style && !link && !rtl)
        return;
    buf_adds(b, "<w:rPr>");
    if (link)
        buf_adds(b, "<w:rStyle w:val=\"Hyperlink\"/>");
    else if (style & STYLE_CODE)
        buf_adds(b, "<w:rStyle w:val=\"VerbatimChar\"/>");
    if (link && (style & STYLE_CODE))
        buf_adds(b, "<w:rFonts w:ascii=\"Consolas\" w:hAnsi=\"Consolas\" w:cs=\"Consolas\"/>");
    if (style & STYLE_STRONG)
        buf_adds(b, "<w:b/><w:bCs/>");
    if (style & STYLE_EMPHASIS)
        buf_adds(b, "<w:i/><w:iCs/>");
    if (style & STYLE_STRIKE)
        buf_adds(b, "<w:strike/>");
    if (style & STYLE_MARK)
        buf_adds(b, "<w:highlight w:val=\"yellow\"/>");
    if (style & STYLE_UNDERLINE)
        buf_adds(b, "<w:u w:val=\"single\"/>");
    if (style & (STYLE_SUPERSCRIPT | STYLE_SUBSCRIPT))
        buf_printf(b, "<w:vertAlign w:val=\"%s\"/>", style & STYLE_SUPERSCRIPT ? "superscript" : "subscript");
    if (rtl)
        buf_adds(b, "<w:rtl/>");
    buf_adds(b, "</w:rPr>");
}

/* Up to where the text is written in one direction, and which one. What has none goes with what is before. */
static size_t direction_end(struct span text, bool *rtl)
{
    size_t i = 0, n;
    bool known = false;
    *rtl = false;
    for (; i < text.n; i += n) {
        uint32_t c = utf8_next(text.p + i, text.p + text.n, &n);
        bool letter = (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') ||
                      (c >= 0xc0 && c < 0x2000 && c != 0xd7) || (c >= 0x2c00 && c < 0xe000 && c != 0x3000) ||
                      (c >= 0xf900 && c < 0xfe00) || c >= 0xfe70;
        if (!letter || c >= 0x1f000)
            continue;
        bool now = office_is_rtl(span_of(text.p + i, n));
        if (known && now != *rtl)
            return i;
        known = true;
        *rtl = now;
    }
    return i;
}

static void put_run(struct docx *d, const struct markdown_run *run, unsigned style, bool link)
{
    struct span left = run->text;
    while (left.n) {
        bool rtl;
        size_t n = direction_end(left, &rtl);
        buf_adds(d->to, "<w:r>");
        put_properties(d->to, style, link, rtl);
        docx_text(d->to, span_of(left.p, n));
        buf_adds(d->to, "</w:r>");
        left = span_from(left, n);
    }
}

/* ---- links ---- */

unsigned docx_relation(struct docx_rels *rels, const char *type, const char *target, bool external)
{
    return office_relation(&rels->xml, &rels->n, type, target, external);
}

/* Opens a link; false: the target is none that a document may have. */
static bool open_link(struct docx *d, struct span href)
{
    char uri[OFFICE_URI];
    if (href.n > 1 && href.p[0] == '#') {
        const struct docx_heading *heading = docx_heading_by_slug(d, span_from(href, 1));
        if (heading)
            buf_printf(d->to, "<w:hyperlink w:anchor=\"_Heading%u\" w:history=\"1\">", heading->number);
        return heading != NULL;
    }
    if (!office_link(href, uri))
        return false;
    buf_printf(d->to, "<w:hyperlink r:id=\"rId%u\" w:history=\"1\">",
               docx_relation(d->rels, "hyperlink", uri, true));
    return true;
}

/* ---- pictures ---- */

void docx_image(struct docx *d, struct office_image *image, struct span words)
{
    struct buf *b = d->to;
    uint64_t width = (uint64_t)image->width * EMU_PIXEL, height = (uint64_t)image->height * EMU_PIXEL;
    uint64_t most_width = (uint64_t)d->room * EMU, most_height = (uint64_t)d->text_height * EMU * 9 / 10;
    if (width > most_width) {
        height = height * most_width / width;
        width = most_width;
    }
    if (height > most_height) {
        width = width * most_height / height;
        height = most_height;
    }
    width += !width;
    height += !height;
    const char *target = d->pictures.list[office_pictures_keep(&d->pictures, image)].target;
    unsigned relation = docx_relation(d->rels, "image", target, false), id = ++d->drawings_n;
    buf_printf(
        b,
        "<w:r><w:drawing><wp:inline distT=\"0\" distB=\"0\" distL=\"0\" distR=\"0\"><wp:extent cx=\"%llu\" "
        "cy=\"%llu\"/><wp:docPr id=\"%u\" name=\"Picture %u\" descr=\"",
        (unsigned long long)width, (unsigned long long)height, id, id);
    office_xml_short(b, words, 1000);
    buf_printf(
        b,
        "\"/><wp:cNvGraphicFramePr><a:graphicFrameLocks "
        "xmlns:a=\"http://schemas.openxmlformats.org/drawingml/"
        "2006/main\" noChangeAspect=\"1\"/></wp:cNvGraphicFramePr><a:graphic xmlns:a=\"http://"
        "schemas.openxmlformats.org/drawingml/2006/main\"><a:graphicData uri=\"http://"
        "schemas.openxmlformats.org/drawingml/2006/picture\"><pic:pic xmlns:pic=\"http://"
        "schemas.openxmlformats.org/drawingml/2006/picture\"><pic:nvPicPr><pic:cNvPr id=\"%u\" "
        "name=\"Picture "
        "%u\"/><pic:cNvPicPr/></pic:nvPicPr><pic:blipFill><a:blip r:embed=\"rId%u\"/><a:stretch><a:fillRect/>"
        "</a:stretch></pic:blipFill><pic:spPr><a:xfrm><a:off x=\"0\" y=\"0\"/><a:ext cx=\"%llu\" "
        "cy=\"%llu\"/>"
        "</a:xfrm><a:prstGeom prst=\"rect\"><a:avLst/></a:prstGeom></pic:spPr></pic:pic></a:graphicData>"
        "</a:graphic></wp:inline></w:drawing></w:r>",
        id, id, relation, (unsigned long long)width, (unsigned long long)height);
}

static void put_image(struct docx *d, const struct markdown_run *run)
{
    struct office_image image;
    if (office_pictures_room(&d->pictures) && office_image_find(d->params, run->source, &image)) {
        docx_image(d, &image, run->text);
        office_image_free(&image);
        return;
    }
    /* Its words stand in its place. */
    d->pictures.lost++;
    docx_plain_run(d, "<w:i/><w:iCs/>", run->text.n ? run->text : run->source);
}

static void put_note(struct docx *d, unsigned number)
{
    if (d->noted[number - 1] || d->to == &d->notes) {
        /* A footnote has one mark; further mentions are its number. */
        char text[16];
        snprintf(text, sizeof text, "%u", number);
        docx_plain_run(d, "<w:vertAlign w:val=\"superscript\"/>", span_str(text));
        return;
    }
    d->noted[number - 1] = true;
    buf_printf(
        d->to,
        "<w:r><w:rPr><w:rStyle w:val=\"FootnoteReference\"/></w:rPr><w:footnoteReference w:id=\"%u\"/></w:r>",
        number + 1);
}

void docx_runs(struct docx *d, const struct markdown_run *runs, bool bold)
{
    const char *open = NULL; /* the target of the open link */
    bool linked = false;
    for (const struct markdown_run *run = runs; run; run = run->next) {
        if (open && (!run->href.n || run->href.p != open)) {
            buf_adds(d->to, linked ? "</w:hyperlink>" : "");
            open = NULL;
            linked = false;
        }
        if (run->href.n && !open) {
            open = run->href.p;
            linked = open_link(d, run->href);
        }
        switch (run->type) {
        case RUN_TEXT:
            put_run(d, run, run->style | (bold ? STYLE_STRONG : 0u), linked);
            break;
        case RUN_BREAK:
            buf_adds(d->to, "<w:r><w:br/></w:r>");
            break;
        case RUN_IMAGE:
            put_image(d, run);
            break;
        case RUN_NOTE:
            put_note(d, run->note);
            break;
        }
    }
    buf_adds(d->to, linked ? "</w:hyperlink>" : "");
}
