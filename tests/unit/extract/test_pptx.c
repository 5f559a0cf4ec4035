/* Presentations as Markdown: the order of shapes, lists, tables, charts, pictures, notes, comments. */
#include "attachments/extract_office.h"
#include "extract_made.h"

extern const struct renderer_ops render_pptx;

#define REL(id, type, target, more)                                                                          \
    "<Relationship Id=\"" id                                                                                 \
    "\" Type=\"http://schemas.openxmlformats.org/officeDocument/2006/relationships/" type                    \
    "\" Target=\"" target "\"" more "/>"
#define RELS(x) "<Relationships>" x "</Relationships>"
#define SHOW(ids)                                                                                            \
    "<p:presentation xmlns:p=\"p\" xmlns:r=\"r\"><p:sldIdLst>" ids "</p:sldIdLst></p:presentation>"
#define ID(n) "<p:sldId id=\"25" n "\" r:id=\"r" n "\"/>"
#define SLIDE(attributes, shapes)                                                                            \
    "<p:sld xmlns:p=\"p\" xmlns:a=\"a\" xmlns:r=\"r\" xmlns:c=\"c\" xmlns:mc=\"mc\" xmlns:m=\"m\" "          \
    "xmlns:a14=\"a14\" xmlns:dgm=\"dgm\"" attributes "><p:cSld><p:spTree>" shapes                            \
    "</p:spTree></p:cSld></p:sld>"
#define NV(ph)          "<p:nvSpPr><p:cNvPr id=\"1\" name=\"n\"/><p:nvPr>" ph "</p:nvPr></p:nvSpPr>"
#define AT(x, y)        "<p:spPr><a:xfrm><a:off x=\"" x "\" y=\"" y "\"/></a:xfrm></p:spPr>"
#define BODY(text)      "<p:txBody>" text "</p:txBody>"
#define R(x)            "<a:r><a:t>" x "</a:t></a:r>"
#define P(pr, x)        "<a:p>" pr x "</a:p>"
#define BOX(x, y, t)    "<p:sp>" NV("") AT(x, y) BODY(P("", R(t))) "</p:sp>"
#define HOLDER(type, t) "<p:sp>" NV("<p:ph type=\"" type "\"/>") BODY(t) "</p:sp>"

/* One slide with its relationships and further parts. */
static void slide(const char *xml, const char *relations, struct part extra, const char *expected)
{
    const struct part parts[] = {
        {"ppt/presentation.xml", SHOW(ID("1"))},
        {"ppt/_rels/presentation.xml.rels", RELS(REL("r1", "slide", "slides/s1.xml", ""))},
        {"ppt/slides/s1.xml", xml},
        {"ppt/slides/_rels/s1.xml.rels", relations},
        extra,
        {NULL, NULL}};
    expect_text(&extract_pptx_ops, parts, expected);
}

static const struct part none = {NULL, NULL};

static void shapes_are_read_from_top_to_bottom(void **state)
{
    (void)state;
    slide(SLIDE("", BOX("9", "500", "right") BOX("1", "500", "left") BOX("5", "90", "above")
                        HOLDER("sldNum", P("", R("7"))) HOLDER("ftr", P("", R("foot"))) HOLDER(
                            "dt", P("", R("2026"))) HOLDER("title", P("", R("The") "<a:br/>" R("title")))),
          RELS(""), none, "<!-- Slide number: 1 -->\n\n# The title\n\nabove\n\nleft\n\nright\n");
    /* A group has coordinates of its own: what is at 0 in it is at 400 on the slide. */
    slide(
        SLIDE(
            "",
            BOX("0", "300",
                "first") "<p:grpSp><p:grpSpPr><a:xfrm><a:off x=\"0\" y=\"400\"/><a:ext cx=\"10\" cy=\"10\"/>"
                         "<a:chOff x=\"0\" y=\"0\"/><a:chExt cx=\"100\" "
                         "cy=\"100\"/></a:xfrm></p:grpSpPr>" BOX("0", "50", "third")
                             BOX("0", "0", "second") "</p:grpSp>" BOX("0", "404", "between")),
        RELS(""), none, "<!-- Slide number: 1 -->\n\nfirst\n\nsecond\n\nbetween\n\nthird\n");
    slide(SLIDE("", "<mc:AlternateContent><mc:Choice>" BOX("0", "0", "once") "</mc:Choice><mc:Fallback>" BOX(
                        "0", "0",
                        "twice") "</mc:Fallback></mc:AlternateContent>"
                                 "<p:sp><p:nvSpPr><p:cNvPr id=\"2\" name=\"n\" "
                                 "hidden=\"1\"/><p:nvPr/></p:nvSpPr>" BODY(P("", R("unseen"))) "</p:sp>"),
          RELS(""), none, "<!-- Slide number: 1 -->\n\nonce\n\n(1 hidden shape left out)\n");
}

static void placeholders_stand_where_their_layout_says(void **state)
{
    (void)state;
    static const struct part parts[] = {
        {"ppt/presentation.xml", SHOW(ID("1"))},
        {"ppt/_rels/presentation.xml.rels", RELS(REL("r1", "slide", "slides/s1.xml", ""))},
        {"ppt/slides/s1.xml", SLIDE("", "<p:sp>" NV("<p:ph idx=\"2\"/>") "<p:spPr/>" BODY(
                                            P("", R("below"))) "</p:sp>" BOX("0", "50", "above"))},
        {"ppt/slides/_rels/s1.xml.rels", RELS(REL("r1", "slideLayout", "../slideLayouts/l1.xml", ""))},
        {"ppt/slideLayouts/l1.xml", SLIDE("", "<p:sp>" NV("<p:ph idx=\"2\"/>") AT("0", "90") "</p:sp>")},
        {NULL, NULL}};
    expect_text(&extract_pptx_ops, parts, "<!-- Slide number: 1 -->\n\nabove\n\n- below\n");
}

static void lists_and_runs(void **state)
{
    (void)state;
    slide(SLIDE("", HOLDER("body",
                           P("", R("one")) P("<a:pPr lvl=\"1\"/>", R("two"))
                               P("<a:pPr lvl=\"1\"><a:buAutoNum type=\"arabicPeriod\"/></a:pPr>", R("n"))
                                   P("<a:pPr lvl=\"1\"><a:buAutoNum type=\"arabicPeriod\"/></a:pPr>", R("m"))
                                       P("", R("three")) P("<a:pPr><a:buNone/></a:pPr>", R("plain")) P("", "")
                                           P("<a:pPr lvl=\"7\"/>", R("deep")))),
          RELS(""), none,
          "<!-- Slide number: 1 -->\n\n- one\n    - two\n\n    1. n\n    2. m\n- three\n\nplain\n\n- deep\n");
    slide(SLIDE("",
                "<p:sp>" NV("") BODY(
                    P("", "<a:r><a:rPr b=\"1\"/><a:t>bold</a:t></a:r>" R(
                              " and ") "<a:r><a:rPr i=\"1\" strike=\"sngStrike\"/><a:t>gone</a:t></a:r>"
                                       "<a:r><a:rPr><a:hlinkClick r:id=\"h\"/></a:rPr><a:t> link</a:t></a:r>"
                                       "<a:fld type=\"slidenum\"><a:t>!</a:t></a:fld>")) "</p:sp>"),
          RELS(REL("h", "hyperlink", "https://x.test/", " TargetMode=\"External\"")), none,
          "<!-- Slide number: 1 -->\n\n**bold** and *~~gone~~* [link](https://x.test/)!\n");
}

#define TC(attributes, x) "<a:tc" attributes "><a:txBody>" P("", R(x)) "</a:txBody></a:tc>"

static void tables_pictures_and_charts(void **state)
{
    (void)state;
    slide(SLIDE("", "<p:graphicFrame><a:graphic><a:graphicData><a:tbl><a:tr>" TC(" gridSpan=\"2\"", "wide")
                        TC(" hMerge=\"1\"", "") TC(" rowSpan=\"2\"", "tall") "</a:tr><a:tr>" TC("", "a") TC(
                            "", "b|c") TC(" vMerge=\"1\"",
                                          "") "</a:tr></a:tbl></a:graphicData></a:graphic></p:graphicFrame>"),
          RELS(""), none,
          "<!-- Slide number: 1 -->\n\n| wide | wide | tall |\n| --- | --- | --- |\n| a | b\\|c | tall |\n");
    slide(
        SLIDE("",
              "<p:pic><p:nvPicPr><p:cNvPr id=\"3\" name=\"Picture 3\" descr=\"A cat\"/><p:nvPr/></p:nvPicPr>"
              "<p:blipFill><a:blip r:embed=\"i\"/></p:blipFill></p:pic>"),
        RELS(REL("i", "image", "../media/image1.png", "")), none,
        "<!-- Slide number: 1 -->\n\n![A cat](image1.png)\n");
    slide(
        SLIDE("",
              "<p:graphicFrame><a:graphic><a:graphicData><c:chart r:id=\"c\"/></a:graphicData></a:graphic>"
              "</p:graphicFrame>"),
        RELS(REL("c", "chart", "../charts/c.xml", "")),
        (struct part){
            "ppt/charts/c.xml",
            "<c:chartSpace xmlns:c=\"c\" xmlns:a=\"a\"><c:chart><c:title><c:tx><c:rich><a:p><a:r><a:t>Sales"
            "</a:t></a:r></a:p></c:rich></c:tx></c:title><c:plotArea><c:barChart><c:ser><c:tx><c:strRef>"
            "<c:strCache><c:pt idx=\"0\"><c:v>2026</c:v></c:pt></c:strCache></c:strRef></c:tx><c:cat>"
            "<c:strRef><c:strCache><c:pt idx=\"0\"><c:v>Q1</c:v></c:pt></c:strCache></c:strRef></c:cat>"
            "<c:val><c:numRef><c:numCache><c:pt idx=\"0\"><c:v>12</c:v></c:pt></c:numCache></c:numRef>"
            "</c:val></c:ser></c:barChart></c:plotArea></c:chart></c:chartSpace>"},
        "<!-- Slide number: 1 -->\n\n### Chart: Sales\n\n| Category | 2026 |\n| --- | --- |\n| Q1 | 12 |\n");
}

#define LINKED(id, x) "<a:r><a:rPr><a:hlinkClick r:id=\"" id "\"/></a:rPr><a:t>" x "</a:t></a:r>"

static void links_lead_somewhere(void **state)
{
    (void)state;
    slide(SLIDE("",
                "<p:sp><p:nvSpPr><p:cNvPr id=\"2\" name=\"n\"><a:hlinkClick r:id=\"o\"/></p:cNvPr><p:nvPr/>"
                "</p:nvSpPr>" BODY(
                    P("", R("all ") LINKED(
                              "p", "but this"))) "</p:sp>"
                                                 "<p:pic><p:nvPicPr><p:cNvPr id=\"3\" name=\"P\" descr=\"A "
                                                 "cat\"><a:hlinkClick r:id=\"o\"/>"
                                                 "</p:cNvPr><p:nvPr/></p:nvPicPr><p:blipFill><a:blip "
                                                 "r:embed=\"i\"/></p:blipFill></p:pic>"
                                                 "<p:sp>" NV("") BODY(P("", LINKED("s", "back to one") LINKED(
                                                                                "x", " nowhere"))) "</p:sp>"),
          RELS(REL("o", "hyperlink", "https://x.test/", " TargetMode=\"External\"")
                   REL("p", "hyperlink", "https://p.test/", " TargetMode=\"External\"")
                       REL("s", "slide", "s1.xml", "") REL("i", "image", "../media/i.png", "")),
          none,
          "<!-- Slide number: 1 -->\n\n[all](https://x.test/) [but this](https://p.test/)\n\n"
          "[![A cat](i.png)](https://x.test/)\n\n[back to one](#slide-1) nowhere\n");
}

static void objects_and_masters_are_named(void **state)
{
    (void)state;
    static const struct part parts[] = {
        {"ppt/presentation.xml", SHOW(ID("1") ID("2"))},
        {"ppt/_rels/presentation.xml.rels",
         RELS(REL("r1", "slide", "slides/s1.xml", "") REL("r2", "slide", "slides/s2.xml", ""))},
        {"ppt/slides/s1.xml",
         SLIDE("", "<p:graphicFrame><a:graphic><a:graphicData><mc:AlternateContent><mc:Choice><p:oleObj "
                   "progId=\"Excel.Sheet.12\"/></mc:Choice><mc:Fallback><p:oleObj progId=\"Excel.Sheet.12\"/>"
                   "</mc:Fallback></mc:AlternateContent></a:graphicData></a:graphic></p:graphicFrame>")},
        {"ppt/slides/s2.xml", SLIDE("", BOX("0", "0", "x"))},
        {"ppt/slides/_rels/s1.xml.rels", RELS(REL("r1", "slideLayout", "../slideLayouts/l1.xml", ""))},
        {"ppt/slides/_rels/s2.xml.rels", RELS(REL("r1", "slideLayout", "../slideLayouts/l1.xml", "")
                                                  REL("r2", "comments", "../comments/c.xml", "")
                                                      REL("r3", "notesSlide", "../notesSlides/n.xml", ""))},
        {"ppt/slideLayouts/l1.xml", SLIDE("", BOX("0", "0", "Acme") HOLDER("title", P("", R("Click here"))))},
        {"ppt/notesSlides/n.xml", SLIDE("", HOLDER("body", P("", R("Say it"))) BOX("0", "0", "and this"))},
        {"ppt/comments/c.xml",
         "<cmLst><cm authorId=\"1\"><replyLst><reply "
         "authorId=\"2\"><txBody><p><r><t>No</t></r></p></txBody></reply>"
         "</replyLst><txBody><p><r><t>Well</t></r></p><p><r><t>then?</t></r></p></txBody></cm></cmLst>"},
        {NULL, NULL}};
    expect_text(
        &extract_pptx_ops, parts,
        "<!-- Slide number: 1 -->\n\n(embedded object: Excel.Sheet.12)\n\n<!-- Slide number: 2 -->\n\nx\n\n"
        "### Notes:\n\nSay it\n\nand this\n\n> Comment (unknown): Well then?\n\n> Comment (unknown): No\n\n"
        "> Master: Acme\n");
}

static void hidden_slides_notes_and_comments(void **state)
{
    (void)state;
    static const struct part parts[] = {
        {"ppt/presentation.xml", SHOW(ID("1") ID("2"))},
        {"ppt/_rels/presentation.xml.rels",
         RELS(REL("r2", "slide", "slides/s2.xml", "") REL("r1", "slide", "slides/s1.xml", "")
                  REL("a", "commentAuthors", "commentAuthors.xml", ""))},
        {"ppt/commentAuthors.xml",
         "<p:cmAuthorLst xmlns:p=\"p\"><p:cmAuthor id=\"4\" name=\"Ann\"/></p:cmAuthorLst>"},
        {"ppt/slides/s1.xml", SLIDE("", HOLDER("title", P("", R("A"))))},
        {"ppt/slides/_rels/s1.xml.rels", RELS(REL("r1", "notesSlide", "../notesSlides/n.xml", "")
                                                  REL("r2", "comments", "../comments/c.xml", ""))},
        {"ppt/notesSlides/n.xml",
         SLIDE("", HOLDER("sldImg", "") HOLDER("body", P("", R("Say it"))) HOLDER("sldNum", P("", R("1"))))},
        {"ppt/comments/c.xml",
         "<p:cmLst xmlns:p=\"p\"><p:cm authorId=\"4\"><p:text>Why?</p:text></p:cm></p:cmLst>"},
        {"ppt/slides/s2.xml", SLIDE(" show=\"0\"", HOLDER("title", P("", R("B"))))},
        {NULL, NULL}};
    expect_text(&extract_pptx_ops, parts,
                "<!-- Slide number: 1 -->\n\n# A\n\n### Notes:\n\nSay it\n\n> Comment (Ann): Why?\n\n"
                "<!-- Slide number: 2 (hidden) -->\n\n# B\n");
}

static void what_was_rendered_is_read_back(void **state)
{
    (void)state;
    static const char source[] = "# Board\n\n## One\n\n- x\n    - y\n- z\n\nNotes: say hello\n\n## Two\n\n"
                                 "| A | B |\n| --- | --- |\n| 1 | 2 |\n";
    struct render_params params = {.format = "pptx", .title = "", .made_at = 1790000000};
    char sentence[RENDER_SENTENCE] = "";
    struct buf pptx;
    buf_init(&pptx, 1 << 24);
    assert_int_equal(render_pptx.render(SPAN_LIT(source), &params, &pptx, sentence), RENDER_OK);
    struct text t = extract_bytes(&extract_pptx_ops, buf_span(&pptx));
    assert_string_equal(
        buf_cstr(&t.out),
        "<!-- Slide number: 1 -->\n\n# Board\n\n<!-- Slide number: 2 -->\n\n# One\n\n- x\n    - y\n- z\n\n"
        "### Notes:\n\nsay hello\n\n<!-- Slide number: 3 -->\n\n# Two\n\n| **A** | **B** |\n| --- | --- "
        "|\n| 1 | 2 |\n");
    buf_free(&t.out);
    buf_free(&pptx);
}

static void refuse(const struct part *parts, enum render_status status, const char *says)
{
    struct buf zip;
    pack(&zip, parts);
    expect_refusal(&extract_pptx_ops, buf_span(&zip), status, says);
    buf_free(&zip);
}

static void repeated(const char *before, const char *piece, int times, const char *behind,
                     enum render_status status, const char *says)
{
    struct buf xml;
    buf_init(&xml, 1 << 28);
    buf_adds(&xml, before);
    for (int i = 0; i < times; i++)
        buf_adds(&xml, piece);
    buf_adds(&xml, behind);
    const struct part parts[] = {{"ppt/presentation.xml", SHOW(ID("1"))},
                                 {"ppt/_rels/presentation.xml.rels", RELS(REL("r1", "slide", "s.xml", ""))},
                                 {"ppt/s.xml", buf_cstr(&xml)},
                                 {NULL, NULL}};
    refuse(parts, status, says);
    buf_free(&xml);
}

static void hostile_documents_are_refused(void **state)
{
    (void)state;
    static const struct part wrong[] = {{"word/document.xml", "<x/>"}, {NULL, NULL}},
                             missing[] = {{"ppt/presentation.xml", SHOW(ID("1"))}, {NULL, NULL}},
                             empty[] = {{"ppt/presentation.xml", SHOW("")}, {NULL, NULL}},
                             entity[] = {{"ppt/presentation.xml", "<!DOCTYPE d [<!ENTITY x \"y\">]><p/>"},
                                         {NULL, NULL}};
    refuse(wrong, RENDER_INVALID, "is no pptx file: ppt/presentation.xml is missing.");
    refuse(missing, RENDER_INVALID, "is damaged: slide 1 is missing.");
    static const struct part notes[] = {
        {"ppt/presentation.xml", SHOW(ID("1"))},
        {"ppt/_rels/presentation.xml.rels", RELS(REL("r1", "slide", "s.xml", ""))},
        {"ppt/s.xml", "<p:sld xmlns:p=\"p\"/>"},
        {"ppt/_rels/s.xml.rels", RELS(REL("r1", "notesSlide", "n.xml", ""))},
        {NULL, NULL}};
    refuse(notes, RENDER_INVALID, "is damaged: ppt/n.xml is missing.");
    refuse(empty, RENDER_INVALID, "has no slides.");
    refuse(entity, RENDER_INVALID, "declares a document type (DTD)");
    repeated("<p:sld xmlns:p=\"p\"><p:cSld><p:spTree>", "<p:sp/>", 5000, "</p:spTree></p:cSld></p:sld>",
             RENDER_LIMIT, "has a slide with more than 4096 shapes.");
    repeated("<p:sld xmlns:p=\"p\"><p:cSld><p:spTree>", "<p:grpSp>", 100, "", RENDER_INVALID, "is damaged");
    repeated("<p:sld xmlns:p=\"p\"><p:cSld><p:spTree><p:sp><p:txBody>", "<p:p/>", 1000000,
             "</p:txBody></p:sp></p:spTree></p:cSld></p:sld>", RENDER_LIMIT, "has more than 500000 elements");
}

static void every_cut_is_refused(void **state)
{
    (void)state;
    static const struct part parts[] = {
        {"ppt/presentation.xml", SHOW(ID("1"))},
        {"ppt/_rels/presentation.xml.rels", RELS(REL("r1", "slide", "s.xml", ""))},
        {"ppt/s.xml", SLIDE("", BOX("0", "0", "x"))},
        {NULL, NULL}};
    expect_cuts_refused(&extract_pptx_ops, parts);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shapes_are_read_from_top_to_bottom),
        cmocka_unit_test(placeholders_stand_where_their_layout_says),
        cmocka_unit_test(lists_and_runs),
        cmocka_unit_test(tables_pictures_and_charts),
        cmocka_unit_test(links_lead_somewhere),
        cmocka_unit_test(objects_and_masters_are_named),
        cmocka_unit_test(hidden_slides_notes_and_comments),
        cmocka_unit_test(what_was_rendered_is_read_back),
        cmocka_unit_test(hostile_documents_are_refused),
        cmocka_unit_test(every_cut_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
