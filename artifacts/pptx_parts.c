/* The parts of a presentation beside its slides: theme, master, layouts, the notes' master. */
#include <stdio.h>

#include "artifacts/pptx.h"

#define NAMESPACES                                                                                           \
    "xmlns:a=\"http://schemas.openxmlformats.org/drawingml/2006/main\" xmlns:r=\"" OFFICE_RELATIONS          \
    "\" xmlns:p=\"http://schemas.openxmlformats.org/presentationml/2006/main\""
#define GROUP "<p:nvGrpSpPr><p:cNvPr id=\"1\" name=\"\"/><p:cNvGrpSpPr/><p:nvPr/></p:nvGrpSpPr><p:grpSpPr/>"
#define MAP                                                                                                  \
    "<p:clrMap bg1=\"lt1\" tx1=\"dk1\" bg2=\"lt2\" tx2=\"dk2\" accent1=\"accent1\" accent2=\"accent2\" "     \
    "accent3=\"accent3\" accent4=\"accent4\" accent5=\"accent5\" accent6=\"accent6\" hlink=\"hlink\" "       \
    "folHlink=\"folHlink\"/>"

static void put_part(struct pptx *p, const char *name)
{
    office_zip_part(&p->zip, name, buf_span(&p->xml));
    if (buf_full(&p->xml))
        pptx_refuse(p, RENDER_LIMIT, "it is too large");
    buf_reset(&p->xml);
}

void pptx_content_types(struct pptx *p)
{
    static const char *const fixed[][2] = {
        {"presentation.xml", "presentation.main"},        {"slideMasters/slideMaster1.xml", "slideMaster"},
        {"slideLayouts/slideLayout1.xml", "slideLayout"}, {"slideLayouts/slideLayout2.xml", "slideLayout"},
        {"notesMasters/notesMaster1.xml", "notesMaster"},
    };
    struct buf *b = &p->xml;
#define TYPE "application/vnd.openxmlformats-officedocument.presentationml."
    buf_adds(b,
             OFFICE_XML "<Types xmlns=\"http://schemas.openxmlformats.org/package/2006/content-types\">"
                        "<Default Extension=\"rels\" "
                        "ContentType=\"application/vnd.openxmlformats-package.relationships+xml\"/>"
                        "<Default Extension=\"xml\" ContentType=\"application/xml\"/>"
                        "<Default Extension=\"png\" ContentType=\"image/png\"/><Default Extension=\"jpeg\" "
                        "ContentType=\"image/jpeg\"/><Default Extension=\"gif\" ContentType=\"image/gif\"/>");
    for (size_t i = 0; i < sizeof fixed / sizeof fixed[0]; i++)
        buf_printf(b, "<Override PartName=\"/ppt/%s\" ContentType=\"" TYPE "%s+xml\"/>", fixed[i][0],
                   fixed[i][1]);
    for (unsigned i = 1; i <= 2; i++)
        buf_printf(b,
                   "<Override PartName=\"/ppt/theme/theme%u.xml\" "
                   "ContentType=\"application/vnd.openxmlformats-officedocument.theme+xml\"/>",
                   i);
    for (size_t i = 0; i < p->slides_n; i++) {
        buf_printf(b, "<Override PartName=\"/ppt/slides/slide%zu.xml\" ContentType=\"" TYPE "slide+xml\"/>",
                   i + 1);
        if (p->slides[i].notes_n)
            buf_printf(b,
                       "<Override PartName=\"/ppt/notesSlides/notesSlide%zu.xml\" ContentType=\"" TYPE
                       "notesSlide+xml\"/>",
                       i + 1);
    }
    buf_adds(
        b, "<Override PartName=\"/docProps/core.xml\" "
           "ContentType=\"application/vnd.openxmlformats-package.core-properties+xml\"/>"
           "<Override PartName=\"/docProps/app.xml\" "
           "ContentType=\"application/vnd.openxmlformats-officedocument.extended-properties+xml\"/></Types>");
    put_part(p, "[Content_Types].xml");
}

static void put_theme(struct pptx *p, const char *name)
{
    static const char *const accents[] = {"E69F00", "56B4E9", "009E73", "CC79A7", "D55E00"};
    const struct render_brand *brand = &p->params->brand;
    struct span font = span_str(brand->font && brand->font[0] ? brand->font : "Calibri");
    struct span heading =
        brand->heading_font && brand->heading_font[0] ? span_str(brand->heading_font) : font;
    struct buf *b = &p->xml;
    buf_printf(
        b,
        OFFICE_XML
        "<a:theme xmlns:a=\"http://schemas.openxmlformats.org/drawingml/2006/main\" name=\"Penstock\">"
        "<a:themeElements><a:clrScheme name=\"Penstock\"><a:dk1><a:srgbClr val=\"1F1F1F\"/></a:dk1><a:lt1>"
        "<a:srgbClr val=\"FFFFFF\"/></a:lt1><a:dk2><a:srgbClr val=\"%s\"/></a:dk2><a:lt2><a:srgbClr "
        "val=\"F2F2F2\"/></a:lt2><a:accent1><a:srgbClr val=\"%s\"/></a:accent1>",
        p->colour, p->colour);
    for (unsigned i = 0; i < 5; i++)
        buf_printf(b, "<a:accent%u><a:srgbClr val=\"%s\"/></a:accent%u>", i + 2, accents[i], i + 2);
    buf_adds(
        b,
        "<a:hlink><a:srgbClr val=\"0563C1\"/></a:hlink><a:folHlink><a:srgbClr val=\"954F72\"/></a:folHlink>"
        "</a:clrScheme><a:fontScheme name=\"Penstock\"><a:majorFont><a:latin typeface=\"");
    office_xml_short(b, heading, 64);
    buf_adds(b,
             "\"/><a:ea typeface=\"\"/><a:cs typeface=\"\"/></a:majorFont><a:minorFont><a:latin typeface=\"");
    office_xml_short(b, font, 64);
    buf_adds(b, "\"/><a:ea typeface=\"\"/><a:cs typeface=\"\"/></a:minorFont></a:fontScheme><a:fmtScheme "
                "name=\"Penstock\">"
                "<a:fillStyleLst>");
    for (unsigned i = 0; i < 3; i++)
        buf_adds(b, "<a:solidFill><a:schemeClr val=\"phClr\"/></a:solidFill>");
    buf_adds(b, "</a:fillStyleLst><a:lnStyleLst>");
    for (unsigned i = 0; i < 3; i++)
        buf_printf(b, "<a:ln w=\"%u\"><a:solidFill><a:schemeClr val=\"phClr\"/></a:solidFill></a:ln>",
                   6350 * (i + 1));
    buf_adds(b, "</a:lnStyleLst><a:effectStyleLst>");
    for (unsigned i = 0; i < 3; i++)
        buf_adds(b, "<a:effectStyle><a:effectLst/></a:effectStyle>");
    buf_adds(b, "</a:effectStyleLst><a:bgFillStyleLst>");
    for (unsigned i = 0; i < 3; i++)
        buf_adds(b, "<a:solidFill><a:schemeClr val=\"phClr\"/></a:solidFill>");
    buf_adds(b, "</a:bgFillStyleLst></a:fmtScheme></a:themeElements></a:theme>");
    put_part(p, name);
}

/* ---- placeholders ---- */

struct placeholder {
    const char *kind; /* its attributes */
    unsigned x, y, width, height;
    const char *anchor;
    const char *style; /* of its text */
    const char *text;
};

static void put_placeholder(struct buf *b, unsigned id, const struct placeholder *h)
{
    buf_printf(
        b,
        "<p:sp><p:nvSpPr><p:cNvPr id=\"%u\" name=\"Placeholder %u\"/><p:cNvSpPr><a:spLocks "
        "noGrp=\"1\"/></p:cNvSpPr>"
        "<p:nvPr><p:ph %s/></p:nvPr></p:nvSpPr><p:spPr><a:xfrm><a:off x=\"%u\" y=\"%u\"/><a:ext cx=\"%u\" "
        "cy=\"%u\"/></a:xfrm><a:prstGeom prst=\"rect\"><a:avLst/></a:prstGeom></p:spPr><p:txBody><a:bodyPr "
        "lIns=\"0\" rIns=\"0\" "
        "anchor=\"%s\"><a:normAutofit/></a:bodyPr><a:lstStyle>%s</a:lstStyle><a:p>%s</a:p>"
        "</p:txBody></p:sp>",
        id, id, h->kind, h->x * PPTX_POINT, h->y * PPTX_POINT, h->width * PPTX_POINT, h->height * PPTX_POINT,
        h->anchor, h->style, h->text);
}

#define NUMBER_TEXT                                                                                          \
    "<a:fld id=\"{B6F15528-21DE-4FAA-801E-634DDDAF4B2B}\" type=\"slidenum\"><a:rPr lang=\"en-US\"/>"         \
    "<a:t>\xe2\x80\xb9#\xe2\x80\xba</a:t></a:fld>"
#define TEXT(words) "<a:r><a:rPr lang=\"en-US\"/><a:t>" words "</a:t></a:r>"

static const struct placeholder master_title = {"type=\"title\"", PPTX_LEFT, 28, PPTX_BODY_WIDTH, 72, "b", "",
                                                TEXT("Title")};
static const struct placeholder master_body = {"type=\"body\" idx=\"1\"",
                                               PPTX_LEFT,
                                               PPTX_BODY_TOP,
                                               PPTX_BODY_WIDTH,
                                               PPTX_BODY_HEIGHT,
                                               "t",
                                               "",
                                               TEXT("Text")};
static const struct placeholder number = {
    "type=\"sldNum\" sz=\"quarter\" idx=\"12\"",
    PPTX_WIDTH - PPTX_LEFT - 120,
    505,
    120,
    24,
    "ctr",
    "<a:lvl1pPr algn=\"r\"><a:defRPr sz=\"1100\"><a:solidFill><a:srgbClr "
    "val=\"7F7F7F\"/></a:solidFill><a:latin typeface=\"+mn-lt\"/></a:defRPr></a:lvl1pPr>",
    NUMBER_TEXT};

/* The brand's words and logo at the foot of each slide. */
static void put_brand(struct pptx *p, struct buf *b, unsigned logo)
{
    const struct render_brand *brand = &p->params->brand;
    struct span words = span_str(brand->footer && brand->footer[0] ? brand->footer : brand->header);
    if (words.n) {
        buf_printf(b,
                   "<p:sp><p:nvSpPr><p:cNvPr id=\"20\" name=\"Footer\"/><p:cNvSpPr txBox=\"1\"/><p:nvPr "
                   "userDrawn=\"1\"/>"
                   "</p:nvSpPr><p:spPr><a:xfrm><a:off x=\"%u\" y=\"%u\"/><a:ext cx=\"%u\" "
                   "cy=\"%u\"/></a:xfrm><a:prstGeom "
                   "prst=\"rect\"><a:avLst/></a:prstGeom></p:spPr><p:txBody><a:bodyPr lIns=\"0\" "
                   "anchor=\"ctr\"/><a:lstStyle/>"
                   "<a:p><a:r><a:rPr lang=\"en-US\" sz=\"1100\"><a:solidFill><a:srgbClr "
                   "val=\"7F7F7F\"/></a:solidFill></a:rPr>"
                   "<a:t>",
                   PPTX_LEFT * PPTX_POINT, 505 * PPTX_POINT, 600 * PPTX_POINT, 24 * PPTX_POINT);
        office_xml_text(b, words);
        buf_adds(b, "</a:t></a:r></a:p></p:txBody></p:sp>");
    }
    if (!logo)
        return;
    const struct office_picture *image = &p->pictures.list[logo - 1];
    uint64_t height = 32, width = (uint64_t)image->width * height / image->height;
    if (width > 160) {
        height = height * 160 / width;
        width = 160;
    }
    buf_printf(b,
               "<p:pic><p:nvPicPr><p:cNvPr id=\"21\" name=\"Logo\" descr=\"Logo\"/><p:cNvPicPr/><p:nvPr "
               "userDrawn=\"1\"/>"
               "</p:nvPicPr><p:blipFill><a:blip "
               "r:embed=\"rId9\"/><a:stretch><a:fillRect/></a:stretch></p:blipFill><p:spPr>"
               "<a:xfrm><a:off x=\"%llu\" y=\"%u\"/><a:ext cx=\"%llu\" cy=\"%llu\"/></a:xfrm><a:prstGeom "
               "prst=\"rect\">"
               "<a:avLst/></a:prstGeom></p:spPr></p:pic>",
               (unsigned long long)(PPTX_WIDTH - 24 - width) * PPTX_POINT, 12 * PPTX_POINT,
               (unsigned long long)(width ? width : 1) * PPTX_POINT,
               (unsigned long long)(height ? height : 1) * PPTX_POINT);
}

/* The place of the brand's logo among the pictures, + 1; 0: there is none. */
static unsigned keep_logo(struct pptx *p)
{
    struct render_asset asset = {.name = "logo", .bytes = p->params->brand.logo};
    struct render_params own = {.assets = &asset, .n_assets = 1};
    struct office_image image;
    if (!asset.bytes.n || !office_pictures_room(&p->pictures) ||
        !office_image_find(&own, SPAN_LIT("logo"), &image))
        return 0;
    unsigned place = office_pictures_keep(&p->pictures, &image);
    office_image_free(&image);
    return place + 1;
}

static void put_text_styles(struct pptx *p, struct buf *b)
{
    static const char *const kinds[] = {"bodyStyle", "otherStyle"};
    buf_printf(b,
               "<p:txStyles><p:titleStyle><a:lvl1pPr algn=\"l\"><a:lnSpc><a:spcPct "
               "val=\"90000\"/></a:lnSpc><a:buNone/>"
               "<a:defRPr sz=\"3200\" b=\"1\"><a:solidFill><a:srgbClr val=\"%s\"/></a:solidFill><a:latin "
               "typeface=\"+mj-lt\"/>"
               "<a:ea typeface=\"+mj-ea\"/><a:cs typeface=\"+mj-cs\"/></a:defRPr></a:lvl1pPr></p:titleStyle>",
               p->colour);
    for (unsigned k = 0; k < 2; k++) {
        buf_printf(b, "<p:%s>", kinds[k]);
        for (unsigned i = 0; i < 9; i++)
            buf_printf(
                b,
                "<a:lvl%upPr marL=\"%u\" indent=\"%d\" algn=\"l\">%s<a:defRPr "
                "sz=\"%u\"><a:solidFill><a:schemeClr "
                "val=\"tx1\"/></a:solidFill><a:latin typeface=\"+mn-lt\"/><a:ea typeface=\"+mn-ea\"/><a:cs "
                "typeface=\"+mn-cs\"/></a:defRPr></a:lvl%upPr>",
                i + 1, k ? 0 : 279400 * (i + 1), k ? 0 : -279400,
                k ? "" : "<a:buFont typeface=\"Arial\"/><a:buChar char=\"\xe2\x80\xa2\"/>",
                k        ? 1800
                : i == 0 ? 2000
                : i == 1 ? 1800
                         : 1600,
                i + 1);
        buf_printf(b, "</p:%s>", kinds[k]);
    }
    buf_adds(b, "</p:txStyles>");
}

static void put_master(struct pptx *p)
{
    struct buf *b = &p->xml;
    unsigned logo = keep_logo(p);
    buf_adds(b, OFFICE_XML "<p:sldMaster " NAMESPACES
                           "><p:cSld><p:bg><p:bgPr><a:solidFill><a:schemeClr val=\"bg1\"/>"
                           "</a:solidFill><a:effectLst/></p:bgPr></p:bg><p:spTree>" GROUP);
    put_placeholder(b, 2, &master_title);
    put_placeholder(b, 3, &master_body);
    put_placeholder(b, 4, &number);
    put_brand(p, b, logo);
    buf_adds(b,
             "</p:spTree></p:cSld>" MAP "<p:sldLayoutIdLst><p:sldLayoutId id=\"2147483649\" r:id=\"rId1\"/>"
             "<p:sldLayoutId id=\"2147483650\" r:id=\"rId2\"/></p:sldLayoutIdLst>");
    put_text_styles(p, b);
    buf_adds(b, "</p:sldMaster>");
    put_part(p, "ppt/slideMasters/slideMaster1.xml");
    buf_adds(b, OFFICE_RELS_HEAD
             "<Relationship Id=\"rId1\" Type=\"" OFFICE_RELATIONS
             "/slideLayout\" Target=\"../slideLayouts/slideLayout1.xml\"/><Relationship Id=\"rId2\" "
             "Type=\"" OFFICE_RELATIONS "/slideLayout\" Target=\"../slideLayouts/slideLayout2.xml\"/>"
             "<Relationship Id=\"rId3\" Type=\"" OFFICE_RELATIONS
             "/theme\" Target=\"../theme/theme1.xml\"/>");
    if (logo)
        buf_printf(b, "<Relationship Id=\"rId9\" Type=\"" OFFICE_RELATIONS "/image\" Target=\"../%s\"/>",
                   p->pictures.list[logo - 1].target);
    buf_adds(b, "</Relationships>");
    put_part(p, "ppt/slideMasters/_rels/slideMaster1.xml.rels");
}

static void put_layout(struct pptx *p, unsigned index)
{
    const struct placeholder title = {"type=\"ctrTitle\"",
                                      96,
                                      130,
                                      768,
                                      150,
                                      "b",
                                      "<a:lvl1pPr algn=\"ctr\"><a:defRPr sz=\"4400\"/></a:lvl1pPr>",
                                      TEXT("Title")};
    const struct placeholder subtitle = {
        "type=\"subTitle\" idx=\"1\"",
        96,
        296,
        768,
        130,
        "t",
        "<a:lvl1pPr marL=\"0\" indent=\"0\" algn=\"ctr\"><a:buNone/><a:defRPr sz=\"2200\"/></a:lvl1pPr>",
        TEXT("Subtitle")};
    struct placeholder body = master_body;
    struct buf *b = &p->xml;
    char name[64];
    body.kind = "idx=\"1\"";
    buf_printf(b,
               OFFICE_XML "<p:sldLayout " NAMESPACES
                          " type=\"%s\" preserve=\"1\"><p:cSld name=\"%s\"><p:spTree>" GROUP,
               index == 1 ? "title" : "obj", index == 1 ? "Title Slide" : "Title and Content");
    put_placeholder(b, 2, index == 1 ? &title : &master_title);
    put_placeholder(b, 3, index == 1 ? &subtitle : &body);
    put_placeholder(b, 4, &number);
    buf_adds(b, "</p:spTree></p:cSld><p:clrMapOvr><a:masterClrMapping/></p:clrMapOvr></p:sldLayout>");
    snprintf(name, sizeof name, "ppt/slideLayouts/slideLayout%u.xml", index);
    put_part(p, name);
    buf_adds(b,
             OFFICE_RELS_HEAD "<Relationship Id=\"rId1\" Type=\"" OFFICE_RELATIONS
                              "/slideMaster\" Target=\"../slideMasters/slideMaster1.xml\"/></Relationships>");
    snprintf(name, sizeof name, "ppt/slideLayouts/_rels/slideLayout%u.xml.rels", index);
    put_part(p, name);
}

static void put_notes_master(struct pptx *p)
{
    static const struct placeholder notes = {
        "type=\"body\" sz=\"quarter\" idx=\"1\"", 54, 380, 432, 300, "t", "", TEXT("Notes")};
    struct buf *b = &p->xml;
    buf_printf(
        b,
        OFFICE_XML
        "<p:notesMaster " NAMESPACES "><p:cSld><p:bg><p:bgPr><a:solidFill><a:schemeClr val=\"bg1\"/>"
        "</a:solidFill><a:effectLst/></p:bgPr></p:bg><p:spTree>" GROUP
        "<p:sp><p:nvSpPr><p:cNvPr id=\"2\" name=\"Slide Image\"/><p:cNvSpPr><a:spLocks noGrp=\"1\" "
        "noRot=\"1\" noChangeAspect=\"1\"/></p:cNvSpPr><p:nvPr><p:ph type=\"sldImg\" idx=\"2\"/></p:nvPr>"
        "</p:nvSpPr><p:spPr><a:xfrm><a:off x=\"%u\" y=\"%u\"/><a:ext cx=\"%u\" "
        "cy=\"%u\"/></a:xfrm><a:prstGeom "
        "prst=\"rect\"><a:avLst/></a:prstGeom><a:noFill/><a:ln w=\"12700\"><a:solidFill><a:prstClr "
        "val=\"black\"/></a:solidFill></a:ln></p:spPr></p:sp>",
        54 * PPTX_POINT, 90 * PPTX_POINT, 432 * PPTX_POINT, 243 * PPTX_POINT);
    put_placeholder(b, 3, &notes);
    buf_adds(b, "</p:spTree></p:cSld>" MAP
                "<p:notesStyle><a:lvl1pPr marL=\"0\" algn=\"l\"><a:defRPr sz=\"1200\"><a:solidFill>"
                "<a:schemeClr val=\"tx1\"/></a:solidFill><a:latin "
                "typeface=\"+mn-lt\"/></a:defRPr></a:lvl1pPr></p:notesStyle>"
                "</p:notesMaster>");
    put_part(p, "ppt/notesMasters/notesMaster1.xml");
    buf_adds(b, OFFICE_RELS_HEAD "<Relationship Id=\"rId1\" Type=\"" OFFICE_RELATIONS
                                 "/theme\" Target=\"../theme/theme2.xml\"/></Relationships>");
    put_part(p, "ppt/notesMasters/_rels/notesMaster1.xml.rels");
}

void pptx_fixed_parts(struct pptx *p)
{
    put_theme(p, "ppt/theme/theme1.xml");
    put_theme(p, "ppt/theme/theme2.xml");
    put_master(p);
    put_layout(p, 1);
    put_layout(p, 2);
    put_notes_master(p);
}

void pptx_presentation(struct pptx *p)
{
    struct buf *b = &p->xml;
    buf_adds(b, OFFICE_XML
             "<p:presentation " NAMESPACES " saveSubsetFonts=\"1\"><p:sldMasterIdLst><p:sldMasterId "
             "id=\"2147483648\" r:id=\"rId1\"/></p:sldMasterIdLst><p:notesMasterIdLst><p:notesMasterId "
             "r:id=\"rId2\"/></p:notesMasterIdLst><p:sldIdLst>");
    for (size_t i = 0; i < p->slides_n; i++)
        buf_printf(b, "<p:sldId id=\"%zu\" r:id=\"rId%zu\"/>", 256 + i, 10 + i);
    buf_printf(b,
               "</p:sldIdLst><p:sldSz cx=\"%u\" cy=\"%u\"/><p:notesSz cx=\"6858000\" "
               "cy=\"9144000\"/></p:presentation>",
               PPTX_WIDTH * PPTX_POINT, PPTX_HEIGHT * PPTX_POINT);
    put_part(p, "ppt/presentation.xml");
    buf_adds(b, OFFICE_RELS_HEAD
             "<Relationship Id=\"rId1\" Type=\"" OFFICE_RELATIONS
             "/slideMaster\" Target=\"slideMasters/slideMaster1.xml\"/><Relationship Id=\"rId2\" "
             "Type=\"" OFFICE_RELATIONS "/notesMaster\" Target=\"notesMasters/notesMaster1.xml\"/>"
             "<Relationship Id=\"rId3\" Type=\"" OFFICE_RELATIONS "/theme\" Target=\"theme/theme1.xml\"/>");
    for (size_t i = 0; i < p->slides_n; i++)
        buf_printf(b,
                   "<Relationship Id=\"rId%zu\" Type=\"" OFFICE_RELATIONS
                   "/slide\" Target=\"slides/slide%zu.xml\"/>",
                   10 + i, i + 1);
    buf_adds(b, "</Relationships>");
    put_part(p, "ppt/_rels/presentation.xml.rels");
}
