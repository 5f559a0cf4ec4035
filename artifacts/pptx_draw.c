/* One slide: its title, the shapes of its items from top to bottom, and the notes. */
#include <stdio.h>

#include "artifacts/pptx.h"

enum { NOTE_SIZE = 12 };

#define SLIDE_NAMESPACES                                                                                     \
    "xmlns:a=\"http://schemas.openxmlformats.org/drawingml/2006/main\" xmlns:r=\"" OFFICE_RELATIONS          \
    "\" xmlns:p=\"http://schemas.openxmlformats.org/presentationml/2006/main\""

struct box {
    double x, y, width, height;
};

static unsigned add_relation(struct pptx *p, const char *type, const char *target, bool external)
{
    buf_printf(&p->rels, "<Relationship Id=\"rId%u\" Type=\"%s/%s\" Target=\"", ++p->rels_n, OFFICE_RELATIONS,
               type);
    office_xml_text(&p->rels, span_str(target));
    buf_adds(&p->rels, external ? "\" TargetMode=\"External\"/>" : "\"/>");
    return p->rels_n;
}

/* ---- text ---- */

struct look {
    double size; /* 0: the placeholder's own */
    bool bold, code;
    const char *colour; /* NULL: the text's own */
};

static void put_properties(struct pptx *p, const struct markdown_run *run, const struct look *look)
{
    struct buf *b = &p->xml;
    unsigned style = run->style;
    char uri[OFFICE_URI];
    bool code = look->code || (style & STYLE_CODE);
    buf_adds(b, "<a:rPr lang=\"en-US\"");
    if (look->size > 0)
        buf_printf(b, " sz=\"%d\"", (int)(look->size * 100));
    if (look->bold || (style & STYLE_STRONG))
        buf_adds(b, " b=\"1\"");
    if (style & STYLE_EMPHASIS)
        buf_adds(b, " i=\"1\"");
    if (style & STYLE_UNDERLINE)
        buf_adds(b, " u=\"sng\"");
    if (style & STYLE_STRIKE)
        buf_adds(b, " strike=\"sngStrike\"");
    if (style & (STYLE_SUPERSCRIPT | STYLE_SUBSCRIPT))
        buf_adds(b, style & STYLE_SUPERSCRIPT ? " baseline=\"30000\"" : " baseline=\"-25000\"");
    buf_adds(b, " dirty=\"0\">");
    if (look->colour)
        buf_printf(b, "<a:solidFill><a:srgbClr val=\"%s\"/></a:solidFill>", look->colour);
    if (style & STYLE_MARK)
        buf_adds(b, "<a:highlight><a:srgbClr val=\"FFFF00\"/></a:highlight>");
    if (code)
        buf_adds(b, "<a:latin typeface=\"Consolas\"/><a:cs typeface=\"Consolas\"/>");
    if (run->href.n && markdown_link_allowed(run->href) && office_uri(run->href, uri))
        buf_printf(b, "<a:hlinkClick r:id=\"rId%u\"/>", add_relation(p, "hyperlink", uri, true));
    buf_adds(b, "</a:rPr>");
}

/* A line feed within text begins a new line. */
static void put_text(struct pptx *p, const struct markdown_run *run, struct span text,
                     const struct look *look)
{
    do {
        const char *end = memchr(text.p, '\n', text.n);
        size_t n = end ? (size_t)(end - text.p) : text.n;
        if (n) {
            buf_adds(&p->xml, "<a:r>");
            put_properties(p, run, look);
            buf_adds(&p->xml, "<a:t>");
            office_xml_text(&p->xml, span_of(text.p, n));
            buf_adds(&p->xml, "</a:t></a:r>");
        }
        if (end)
            buf_adds(&p->xml, "<a:br/>");
        text = span_from(text, end ? n + 1 : n);
    } while (text.n);
}

static void put_runs(struct pptx *p, const struct markdown_run *runs, const struct look *look)
{
    char number[16];
    for (const struct markdown_run *run = runs; run; run = run->next) {
        struct markdown_run own = *run;
        switch (run->type) {
        case RUN_TEXT:
            put_text(p, run, run->text, look);
            break;
        case RUN_BREAK:
            buf_adds(&p->xml, "<a:br/>");
            break;
        case RUN_IMAGE:
            break; /* stands by itself */
        case RUN_NOTE:
            snprintf(number, sizeof number, "%u", run->note);
            own.style |= STYLE_SUPERSCRIPT;
            put_text(p, &own, span_str(number), look);
            break;
        }
    }
}

/* Words of pictures that are missing, where they are all that a paragraph has. */
static void put_missing(struct pptx *p, const struct markdown_run *runs, const struct look *look)
{
    for (; runs; runs = runs->next)
        if (runs->type == RUN_IMAGE) {
            struct markdown_run own = *runs;
            own.style |= STYLE_EMPHASIS;
            put_text(p, &own, runs->text.n ? runs->text : runs->source, look);
        }
}

static bool has_text(const struct markdown_run *runs)
{
    for (; runs; runs = runs->next)
        if (runs->type == RUN_TEXT || runs->type == RUN_NOTE)
            return true;
    return false;
}

static void put_bullet(struct buf *b, const struct pptx_item *item)
{
    switch (item->bullet) {
    case BULLET_NONE:
        buf_adds(b, "<a:buNone/>");
        break;
    case BULLET_MARK:
        buf_adds(b, "<a:buFont typeface=\"Arial\"/><a:buChar char=\"\xe2\x80\xa2\"/>");
        break;
    case BULLET_NUMBER:
        buf_printf(b, "<a:buFont typeface=\"+mj-lt\"/><a:buAutoNum type=\"arabicPeriod\" startAt=\"%u\"/>",
                   item->number < 1       ? 1
                   : item->number > 32767 ? 32767
                                          : item->number);
        break;
    case BULLET_OPEN:
        buf_adds(b, "<a:buFont typeface=\"Segoe UI Symbol\"/><a:buChar char=\"\xe2\x98\x90\"/>");
        break;
    case BULLET_DONE:
        buf_adds(b, "<a:buFont typeface=\"Segoe UI Symbol\"/><a:buChar char=\"\xe2\x98\x92\"/>");
        break;
    }
}

static void put_paragraph(struct pptx *p, const struct pptx_item *item, double scale)
{
    struct look look = {.size = pptx_letters(item, scale), .bold = item->kind == ITEM_HEADING};
    unsigned level = item->level > 7 ? 7 : item->level;
    bool listed = item->bullet != BULLET_NONE || item->level > 0;
    bool rtl = markdown_is_rtl(item->runs);
    unsigned indent = listed ? 22 * PPTX_POINT : 0, left = listed        ? indent * (level + 1)
                                                           : item->quote ? indent
                                                                         : 0;
    if (item->kind == ITEM_HEADING)
        look.colour = p->colour;
    else if (item->quote)
        look.colour = "595959";
    if (!listed && item->quote)
        left = 22 * PPTX_POINT;
    buf_printf(&p->xml,
               "<a:p><a:pPr marL=\"%u\" indent=\"%d\"%s%s%s><a:spcBef><a:spcPts val=\"600\"/></a:spcBef>",
               left, item->bullet != BULLET_NONE ? -(int)indent : 0, rtl ? " algn=\"r\"" : "",
               rtl ? " rtl=\"1\"" : " rtl=\"0\"", level ? (level == 1 ? " lvl=\"1\"" : " lvl=\"2\"") : "");
    put_bullet(&p->xml, item);
    buf_adds(&p->xml, "</a:pPr>");
    if (has_text(item->runs))
        put_runs(p, item->runs, &look);
    else
        put_missing(p, item->runs, &look);
    buf_adds(&p->xml, "</a:p>");
}

/* ---- shapes ---- */

static void put_frame(struct buf *b, const char *element, const struct box *box)
{
    buf_printf(b, "<%s><a:off x=\"%lld\" y=\"%lld\"/><a:ext cx=\"%lld\" cy=\"%lld\"/></%s>", element,
               (long long)(box->x * PPTX_POINT), (long long)(box->y * PPTX_POINT),
               (long long)(box->width * PPTX_POINT), (long long)(box->height * PPTX_POINT), element);
}

static void open_shape(struct pptx *p, const char *name, const char *placeholder)
{
    unsigned id = ++p->shapes + 1;
    buf_printf(
        &p->xml,
        "<p:sp><p:nvSpPr><p:cNvPr id=\"%u\" name=\"%s %u\"/><p:cNvSpPr%s<p:nvPr>%s</p:nvPr></p:nvSpPr>", id,
        name, id, placeholder ? "><a:spLocks noGrp=\"1\"/></p:cNvSpPr>" : " txBox=\"1\"/>",
        placeholder ? placeholder : "");
}

/* A title with a few words below it at most. */
static bool is_opening(const struct pptx *p, const struct pptx_slide *slide)
{
    for (size_t i = 0; i < slide->n; i++)
        if (p->items[slide->first + i].kind != ITEM_TEXT || p->items[slide->first + i].bullet != BULLET_NONE)
            return false;
    return slide->opening && slide->title && !slide->part && slide->n <= 4;
}

static void put_title(struct pptx *p, const struct pptx_slide *slide)
{
    char part[24];
    struct look look = {.size = 0};
    open_shape(p, "Title", is_opening(p, slide) ? "<p:ph type=\"ctrTitle\"/>" : "<p:ph type=\"title\"/>");
    buf_printf(&p->xml, "<p:spPr/><p:txBody><a:bodyPr><a:normAutofit/></a:bodyPr><a:lstStyle/><a:p>%s",
               markdown_is_rtl(slide->title) ? "<a:pPr algn=\"r\" rtl=\"1\"/>" : "");
    put_runs(p, slide->title, &look);
    if (slide->part > 1) {
        struct markdown_run none = {.type = RUN_TEXT, .href = {"", 0}};
        snprintf(part, sizeof part, " (%u)", slide->part);
        put_text(p, &none, span_str(part), &look);
    }
    buf_adds(&p->xml, "</a:p></p:txBody></p:sp>");
}

static void put_text_shape(struct pptx *p, const struct pptx_item *items, size_t n, const struct box *box,
                           double scale, const char *placeholder)
{
    open_shape(p, placeholder ? "Content" : "Text", placeholder);
    buf_adds(&p->xml, "<p:spPr>");
    put_frame(&p->xml, "a:xfrm", box);
    buf_adds(&p->xml, placeholder ? "</p:spPr>"
                                  : "<a:prstGeom prst=\"rect\"><a:avLst/></a:prstGeom><a:noFill/></p:spPr>");
    buf_adds(
        &p->xml,
        "<p:txBody><a:bodyPr wrap=\"square\" lIns=\"0\" tIns=\"0\" rIns=\"0\" bIns=\"0\"><a:normAutofit/>"
        "</a:bodyPr><a:lstStyle/>");
    for (size_t i = 0; i < n; i++)
        put_paragraph(p, &items[i], scale);
    buf_adds(&p->xml, "</p:txBody></p:sp>");
}

static void put_code(struct pptx *p, const struct pptx_item *item, const struct box *box, double scale)
{
    struct look look = {.size = pptx_letters(item, scale), .code = true};
    struct markdown_run run = {.type = RUN_TEXT, .href = {"", 0}};
    struct span code = item->code;
    while (code.n && code.p[code.n - 1] == '\n')
        code.n--;
    open_shape(p, "Code", NULL);
    buf_adds(&p->xml, "<p:spPr>");
    put_frame(&p->xml, "a:xfrm", box);
    buf_adds(&p->xml, "<a:prstGeom prst=\"rect\"><a:avLst/></a:prstGeom><a:solidFill><a:srgbClr "
                      "val=\"F2F2F2\"/></a:solidFill>"
                      "</p:spPr><p:txBody><a:bodyPr wrap=\"square\" "
                      "anchor=\"t\"><a:normAutofit/></a:bodyPr><a:lstStyle/><a:p>"
                      "<a:pPr marL=\"0\" indent=\"0\"><a:buNone/></a:pPr>");
    put_text(p, &run, code, &look);
    buf_adds(&p->xml, "</a:p></p:txBody></p:sp>");
}

static void put_cell(struct pptx *p, const struct markdown_block *cell, bool head, double size)
{
    struct look look = {.size = size, .bold = head, .colour = head ? office_ink(p->colour) : NULL};
    enum markdown_align align = cell ? cell->align : ALIGN_DEFAULT;
    bool rtl = cell && markdown_is_rtl(cell->runs);
    buf_printf(&p->xml, "<a:tc><a:txBody><a:bodyPr/><a:lstStyle/><a:p><a:pPr%s%s/>",
               align == ALIGN_CENTER         ? " algn=\"ctr\""
               : align == ALIGN_RIGHT || rtl ? " algn=\"r\""
                                             : "",
               rtl ? " rtl=\"1\"" : "");
    if (cell && has_text(cell->runs))
        put_runs(p, cell->runs, &look);
    else if (cell)
        put_missing(p, cell->runs, &look);
    buf_printf(
        &p->xml,
        "<a:endParaRPr lang=\"en-US\" sz=\"%d\"/></a:p></a:txBody><a:tcPr marL=\"72000\" marR=\"72000\" "
        "marT=\"36000\" marB=\"36000\" anchor=\"ctr\">",
        (int)(size * 100));
    for (const char *side = "LRTB"; *side; side++)
        buf_printf(&p->xml,
                   "<a:ln%c w=\"6350\"><a:solidFill><a:srgbClr val=\"BFBFBF\"/></a:solidFill></a:ln%c>",
                   *side, *side);
    if (head)
        buf_printf(&p->xml, "<a:solidFill><a:srgbClr val=\"%s\"/></a:solidFill>", p->colour);
    else
        buf_adds(&p->xml, "<a:noFill/>");
    buf_adds(&p->xml, "</a:tcPr></a:tc>");
}

static void put_row(struct pptx *p, const struct markdown_block *row, unsigned columns, double size)
{
    const struct markdown_block *cell = row->first;
    buf_printf(&p->xml, "<a:tr h=\"%d\">", (int)(size * 1.22 + 8) * PPTX_POINT);
    for (unsigned i = 0; i < columns; i++) {
        put_cell(p, cell, row->head, size);
        cell = cell ? cell->next : NULL;
    }
    buf_adds(&p->xml, "</a:tr>");
}

static void put_table(struct pptx *p, const struct pptx_item *item, const struct box *box, double scale)
{
    unsigned columns = item->block->columns, id = ++p->shapes + 1, i = 0;
    const struct markdown_block *row = item->block->first;
    double size = pptx_letters(item, scale);
    if (!columns || !row)
        return;
    bool rtl = row->first && markdown_is_rtl(row->first->runs);
    buf_printf(
        &p->xml,
        "<p:graphicFrame><p:nvGraphicFramePr><p:cNvPr id=\"%u\" name=\"Table %u\"/><p:cNvGraphicFramePr>"
        "<a:graphicFrameLocks noGrp=\"1\"/></p:cNvGraphicFramePr><p:nvPr/></p:nvGraphicFramePr>",
        id, id);
    put_frame(&p->xml, "p:xfrm", box);
    buf_adds(
        &p->xml,
        "<a:graphic><a:graphicData uri=\"http://schemas.openxmlformats.org/drawingml/2006/table\"><a:tbl>"
        "<a:tblPr firstRow=\"1\"");
    buf_adds(&p->xml, rtl ? " rtl=\"1\"/><a:tblGrid>" : "/><a:tblGrid>");
    for (unsigned c = 0; c < columns; c++)
        buf_printf(&p->xml, "<a:gridCol w=\"%d\"/>", (int)(box->width / columns * PPTX_POINT));
    buf_adds(&p->xml, "</a:tblGrid>");
    put_row(p, row, columns, size);
    for (row = row->next; row && i < item->to; row = row->next, i++)
        if (i >= item->from)
            put_row(p, row, columns, size);
    buf_adds(&p->xml, "</a:tbl></a:graphicData></a:graphic></p:graphicFrame>");
}

/* As large as it may be within the box, in its middle. */
static void put_image(struct pptx *p, const struct pptx_item *item, struct box box)
{
    const struct pptx_picture *image = &p->images[item->image];
    unsigned id = ++p->shapes + 1;
    char target[64];
    double width = image->width * 0.75, height = image->height * 0.75;
    double shrink = width > box.width ? box.width / width : 1;
    if (height * shrink > box.height)
        shrink = box.height / height;
    width *= shrink;
    height *= shrink;
    box = (struct box){box.x + (box.width - width) / 2, box.y + (box.height - height) / 2,
                       width < 1 ? 1 : width, height < 1 ? 1 : height};
    snprintf(target, sizeof target, "../%s", image->target);
    buf_printf(&p->xml, "<p:pic><p:nvPicPr><p:cNvPr id=\"%u\" name=\"Picture %u\" descr=\"", id, id);
    office_xml_short(&p->xml, item->words, 1000);
    buf_printf(&p->xml,
               "\"/><p:cNvPicPr><a:picLocks "
               "noChangeAspect=\"1\"/></p:cNvPicPr><p:nvPr/></p:nvPicPr><p:blipFill><a:blip "
               "r:embed=\"rId%u\"/><a:stretch><a:fillRect/></a:stretch></p:blipFill><p:spPr>",
               add_relation(p, "image", target, false));
    put_frame(&p->xml, "a:xfrm", &box);
    buf_adds(&p->xml, "<a:prstGeom prst=\"rect\"><a:avLst/></a:prstGeom></p:spPr></p:pic>");
}

/* ---- slides ---- */

static bool is_text(const struct pptx_item *item)
{
    return item->kind == ITEM_TEXT || item->kind == ITEM_HEADING;
}

/* One picture beside text, where the text fits into the narrower column. */
static bool side_by_side(struct pptx *p, const struct pptx_slide *slide)
{
    const struct pptx_item *items = &p->items[slide->first], *picture = NULL;
    double height = 0, width = PPTX_BODY_WIDTH * 0.52;
    for (size_t i = 0; i < slide->n; i++) {
        if (!is_text(&items[i]) && (items[i].kind != ITEM_IMAGE || picture))
            return false;
        if (items[i].kind == ITEM_IMAGE)
            picture = &items[i];
        else
            height += pptx_item_height(p, &items[i], width, slide->scale);
    }
    size_t at = picture ? (size_t)(picture - items) : 0;
    if (!picture || slide->n < 2 || height > PPTX_BODY_HEIGHT || (at && at != slide->n - 1))
        return false;
    struct box left = {PPTX_LEFT, PPTX_BODY_TOP, width, PPTX_BODY_HEIGHT};
    struct box right = {PPTX_LEFT + width + 24, PPTX_BODY_TOP, PPTX_BODY_WIDTH - width - 24,
                        PPTX_BODY_HEIGHT};
    put_text_shape(p, at ? items : items + 1, slide->n - 1, &left, slide->scale, "<p:ph idx=\"1\"/>");
    put_image(p, picture, right);
    return true;
}

/* Items from top to bottom; the first text is the layout's own. */
static void put_items(struct pptx *p, const struct pptx_slide *slide)
{
    const struct pptx_item *items = &p->items[slide->first];
    struct box box = {PPTX_LEFT, PPTX_BODY_TOP, PPTX_BODY_WIDTH, 0};
    bool placed = false;
    for (size_t i = 0, n; i < slide->n; i += n) {
        box.height = 0;
        for (n = 0; i + n < slide->n && (n == 0 || (is_text(&items[i]) && is_text(&items[i + n]))); n++)
            box.height += pptx_item_height(p, &items[i + n], box.width, slide->scale);
        bool last = i + n == slide->n;
        double left = PPTX_BODY_TOP + PPTX_BODY_HEIGHT - box.y;
        if (is_text(&items[i])) {
            struct box own = box;
            own.height = last && left > box.height ? left : box.height;
            put_text_shape(p, &items[i], n, &own, slide->scale, placed ? NULL : "<p:ph idx=\"1\"/>");
            placed = true;
        } else if (items[i].kind == ITEM_TABLE) {
            put_table(p, &items[i], &box, slide->scale);
        } else if (items[i].kind == ITEM_CODE) {
            struct box own = box;
            own.height -= 6;
            put_code(p, &items[i], &own, slide->scale);
        } else {
            put_image(p, &items[i], box);
        }
        box.y += box.height;
    }
}

/* The opening slide's text is its subtitle. */
static void put_subtitle(struct pptx *p, const struct pptx_slide *slide)
{
    const struct pptx_item *items = &p->items[slide->first];
    struct look look = {.size = 0};
    if (!slide->n)
        return;
    open_shape(p, "Subtitle", "<p:ph type=\"subTitle\" idx=\"1\"/>");
    buf_adds(&p->xml, "<p:spPr/><p:txBody><a:bodyPr><a:normAutofit/></a:bodyPr><a:lstStyle/>");
    for (size_t i = 0; i < slide->n; i++) {
        buf_adds(&p->xml, "<a:p>");
        put_runs(p, items[i].runs, &look);
        if (!has_text(items[i].runs))
            put_missing(p, items[i].runs, &look);
        buf_adds(&p->xml, "</a:p>");
    }
    buf_adds(&p->xml, "</p:txBody></p:sp>");
}

static void put_number(struct pptx *p)
{
    open_shape(p, "Slide Number", "<p:ph type=\"sldNum\" sz=\"quarter\" idx=\"12\"/>");
    buf_adds(&p->xml,
             "<p:spPr/><p:txBody><a:bodyPr/><a:lstStyle/><a:p><a:fld "
             "id=\"{B6F15528-21DE-4FAA-801E-634DDDAF4B2B}\" "
             "type=\"slidenum\"><a:rPr lang=\"en-US\"/><a:t>\xe2\x80\xb9#\xe2\x80\xba</a:t></a:fld></a:p>"
             "</p:txBody></p:sp>");
}

static void put_part(struct pptx *p, const char *folder, const char *stem, size_t index)
{
    char name[96];
    snprintf(name, sizeof name, "ppt/%s/%s%zu.xml", folder, stem, index + 1);
    office_zip_part(&p->zip, name, buf_span(&p->xml));
    buf_reset(&p->xml);
    buf_adds(&p->xml, OFFICE_RELS_HEAD);
    buf_add(&p->xml, buf_span(&p->rels));
    buf_adds(&p->xml, "</Relationships>");
    snprintf(name, sizeof name, "ppt/%s/_rels/%s%zu.xml.rels", folder, stem, index + 1);
    office_zip_part(&p->zip, name, buf_span(&p->xml));
    if (buf_full(&p->xml) || buf_full(&p->rels))
        pptx_refuse(p, RENDER_LIMIT, "a slide is too large");
    buf_reset(&p->xml);
    buf_reset(&p->rels);
    p->rels_n = p->shapes = 0;
}

/* What the speaker sees, without the word "Notes:" before it. */
static struct markdown_run without_word(const struct markdown_run *runs)
{
    struct markdown_run first = *runs;
    struct span text = first.text;
    size_t n = 0;
    while (n < text.n && n < 16 && text.p[n] != ':')
        n++;
    if (n < text.n && text.p[n] == ':') {
        for (n++; n < text.n && text.p[n] == ' '; n++)
            ;
        first.text = span_from(text, n);
    } else if (first.next) { /* the colon begins the next run */
        static const char blank[] = "";
        first.text = span_of(blank, 0);
    }
    return first;
}

static void put_note_item(struct pptx *p, const struct pptx_item *item)
{
    struct look look = {.size = NOTE_SIZE};
    struct markdown_run run = {.type = RUN_TEXT, .href = {"", 0}};
    if (item->kind == ITEM_TABLE) {
        for (const struct markdown_block *row = item->block->first; row; row = row->next) {
            buf_adds(&p->xml, "<a:p>");
            for (const struct markdown_block *cell = row->first; cell; cell = cell->next) {
                put_runs(p, cell->runs, &look);
                if (cell->next)
                    put_text(p, &run, SPAN_LIT(" | "), &look);
            }
            buf_adds(&p->xml, "</a:p>");
        }
        return;
    }
    if (item->kind == ITEM_CODE) {
        buf_adds(&p->xml, "<a:p>");
        put_text(p, &run, item->code, &look);
        buf_adds(&p->xml, "</a:p>");
        return;
    }
    put_paragraph(p, item, 0.6);
}

static void put_notes(struct pptx *p, const struct pptx_slide *slide, size_t index)
{
    char target[64];
    const struct pptx_item *items = &p->items[slide->notes];
    snprintf(target, sizeof target, "../slides/slide%zu.xml", index + 1);
    add_relation(p, "notesMaster", "../notesMasters/notesMaster1.xml", false);
    add_relation(p, "slide", target, false);
    buf_adds(
        &p->xml, OFFICE_XML
        "<p:notes " SLIDE_NAMESPACES
        "><p:cSld><p:spTree><p:nvGrpSpPr><p:cNvPr id=\"1\" name=\"\"/><p:cNvGrpSpPr/>"
        "<p:nvPr/></p:nvGrpSpPr><p:grpSpPr/><p:sp><p:nvSpPr><p:cNvPr id=\"2\" name=\"Slide "
        "Image\"/><p:cNvSpPr>"
        "<a:spLocks noGrp=\"1\" noRot=\"1\" noChangeAspect=\"1\"/></p:cNvSpPr><p:nvPr><p:ph "
        "type=\"sldImg\"/></p:nvPr>"
        "</p:nvSpPr><p:spPr/></p:sp><p:sp><p:nvSpPr><p:cNvPr id=\"3\" name=\"Notes\"/><p:cNvSpPr><a:spLocks "
        "noGrp=\"1\"/></p:cNvSpPr><p:nvPr><p:ph type=\"body\" "
        "idx=\"1\"/></p:nvPr></p:nvSpPr><p:spPr/><p:txBody>"
        "<a:bodyPr/><a:lstStyle/>");
    for (size_t i = 0; i < slide->notes_n; i++) {
        struct pptx_item item = items[i];
        struct markdown_run first;
        if (item.kind == ITEM_HEADING && i == 0)
            continue;
        if (i == 0 && item.kind == ITEM_TEXT && item.runs) {
            first = without_word(item.runs);
            item.runs = &first;
            if (slide->notes_n > 1 && !first.text.n && !first.next)
                continue;
            put_note_item(p, &item);
            continue;
        }
        put_note_item(p, &item);
    }
    if (slide->notes_n == 1 && items[0].kind == ITEM_HEADING)
        buf_adds(&p->xml, "<a:p/>");
    buf_adds(
        &p->xml,
        "</p:txBody></p:sp></p:spTree></p:cSld><p:clrMapOvr><a:masterClrMapping/></p:clrMapOvr></p:notes>");
    put_part(p, "notesSlides", "notesSlide", index);
}

void pptx_draw(struct pptx *p, size_t index)
{
    const struct pptx_slide *slide = &p->slides[index];
    char target[64];
    bool opening = is_opening(p, slide);
    snprintf(target, sizeof target, "../slideLayouts/slideLayout%u.xml", opening ? 1u : 2u);
    add_relation(p, "slideLayout", target, false);
    snprintf(target, sizeof target, "../notesSlides/notesSlide%zu.xml", index + 1);
    if (slide->notes_n)
        add_relation(p, "notesSlide", target, false);
    buf_adds(&p->xml, OFFICE_XML
             "<p:sld " SLIDE_NAMESPACES
             "><p:cSld><p:spTree><p:nvGrpSpPr><p:cNvPr id=\"1\" name=\"\"/><p:cNvGrpSpPr/><p:nvPr/>"
             "</p:nvGrpSpPr><p:grpSpPr/>");
    if (slide->title)
        put_title(p, slide);
    if (opening)
        put_subtitle(p, slide);
    else if (!side_by_side(p, slide))
        put_items(p, slide);
    put_number(p);
    buf_adds(&p->xml, "</p:spTree></p:cSld><p:clrMapOvr><a:masterClrMapping/></p:clrMapOvr></p:sld>");
    put_part(p, "slides", "slide", index);
    if (slide->notes_n)
        put_notes(p, slide, index);
}
