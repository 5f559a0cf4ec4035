/* OpenDocument texts as Markdown. */
#include "attachments/extract_office.h"
#include "extract_made.h"

#define NAMES                                                                                                \
    "xmlns:office=\"o\" xmlns:text=\"t\" xmlns:table=\"tb\" xmlns:draw=\"d\" xmlns:style=\"s\" "             \
    "xmlns:fo=\"f\" xmlns:xlink=\"x\" xmlns:svg=\"v\" xmlns:dc=\"dc\" xmlns:math=\"m\" xmlns:chart=\"c\""
#define CONTENT(styles, body)                                                                                \
    "<office:document-content " NAMES "><office:automatic-styles>" styles                                    \
    "</office:automatic-styles><office:body><office:text>" body                                              \
    "</office:text></office:body></office:document-content>"
#define STYLE(family, name, more, text)                                                                      \
    "<style:style style:family=\"" family "\" style:name=\"" name "\"" more "><style:text-properties " text  \
    "/></style:style>"
#define P(x)                "<text:p>" x "</text:p>"
#define PS(style, x)        "<text:p text:style-name=\"" style "\">" x "</text:p>"
#define ITEM(x)             "<text:list-item>" x "</text:list-item>"
#define LIST(name, more, x) "<text:list text:style-name=\"" name "\"" more ">" x "</text:list>"

static void text(const char *content, const char *expected)
{
    const struct part parts[] = {
        {"mimetype", "application/vnd.oasis.opendocument.text"}, {"content.xml", content}, {NULL, NULL}};
    expect_text(&extract_odt_ops, parts, expected);
}

static void paragraphs_and_runs(void **state)
{
    (void)state;
    text(CONTENT(STYLE("text", "B", "", "fo:font-weight=\"bold\"")
                     STYLE("text", "I", " style:parent-style-name=\"B\"", "fo:font-style=\"italic\"")
                         STYLE("text", "N", "", "fo:font-weight=\"normal\"")
                             STYLE("text", "H", "", "text:display=\"none\"")
                                 STYLE("text", "Up", "", "style:text-position=\"super 58%\"")
                                     STYLE("text", "Gone", "", "style:text-line-through-style=\"solid\"")
                                         STYLE("text", "Source_20_Text", "", ""),
                 P("<text:span text:style-name=\"B\">bold</text:span> x<text:span "
                   "text:style-name=\"Up\">2</text:span> "
                   "<text:span text:style-name=\"I\">both<text:span "
                   "text:style-name=\"N\">slant</text:span></text:span>")
                     P("a<text:s text:c=\"3\"/>b<text:span "
                       "text:style-name=\"H\">unseen</text:span><text:line-break/>c "
                       "<text:span text:style-name=\"Gone\">d</text:span>")
                         P("<text:a xlink:href=\"https://x.test/\">link</text:a> <text:a "
                           "xlink:href=\"#in\">in</text:a> "
                           "<text:span text:style-name=\"Source_20_Text\">mono</text:span>")),
         "**bold** x<sup>2</sup> ***both****slant*\n\na   b  \nc ~~d~~\n\n[link](https://x.test/) in "
         "`mono`\n");
}

static void headings_quotes_and_code(void **state)
{
    (void)state;
    text(CONTENT(STYLE("paragraph", "Title", "", "") STYLE("paragraph", "Quotations", "", "")
                     STYLE("paragraph", "Own", " style:parent-style-name=\"Preformatted_20_Text\"", "")
                         STYLE("paragraph", "Preformatted_20_Text", "", ""),
                 PS("Title", "Report") "<text:h text:outline-level=\"2\">Scope</text:h>" PS(
                     "Quotations", "Said") PS("Quotations", "Twice") PS("Preformatted_20_Text", "int x;")
                     PS("Own", "<text:s text:c=\"2\"/>y") P("after")),
         "# Report\n\n## Scope\n\n> Said\n>\n> Twice\n\n```\nint x;\n  y\n```\n\nafter\n");
    static const struct part parts[] = {
        {"content.xml",
         CONTENT("", "<text:h text:outline-level=\"1\">A</text:h><text:h text:outline-level=\"2\">B"
                     "</text:h><text:h text:outline-level=\"2\">C</text:h>"
                     "<text:h text:outline-level=\"1\" text:is-list-header=\"true\">D</text:h>")},
        {"styles.xml",
         "<office:document-styles " NAMES "><office:styles><text:outline-style>"
         "<text:outline-level-style text:level=\"1\" style:num-format=\"1\" style:num-suffix=\".\"/>"
         "<text:outline-level-style text:level=\"2\" style:num-format=\"1\" text:display-levels=\"2\"/>"
         "</text:outline-style></office:styles></office:document-styles>"},
        {NULL, NULL}};
    expect_text(&extract_odt_ops, parts, "# 1. A\n\n## 1.1 B\n\n## 1.2 C\n\n# D\n");
}

#define NUMBERED(name)                                                                                       \
    "<text:list-style style:name=\"" name                                                                    \
    "\"><text:list-level-style-number text:level=\"1\" style:num-format=\"1\"/>"                             \
    "<text:list-level-style-bullet text:level=\"2\" text:bullet-char=\"o\"/>"                                \
    "<text:list-level-style-number text:level=\"3\" style:num-format=\"a\" text:display-levels=\"3\"/>"      \
    "</text:list-style>"

static void lists(void **state)
{
    (void)state;
    text(CONTENT(NUMBERED("L"),
                 LIST("L", "",
                      ITEM(P("one") P("more")) ITEM(P("two") "<text:list>" ITEM(P("nested")) "</text:list>"))
                     P("between") LIST("L", " text:continue-numbering=\"true\"", ITEM(P("three")))
                         LIST("L", "", ITEM(P("again")))
                             LIST("L", "",
                                  "<text:list-item text:start-value=\"7\">" P("seven") "</text:list-item>")),
         "1. one\n\n    more\n2. two\n    - nested\n\nbetween\n\n3. three\n\n1. again\n7. seven\n");
    /* As programs write a list that begins a level deeper. */
    text(CONTENT(NUMBERED("L"),
                 LIST("L", "", ITEM(P("a"))) LIST("L", "", ITEM("<text:list>" ITEM(P("b")) "</text:list>"))),
         "1. a\n    - b\n");
}

#define CELL(more, x) "<table:table-cell" more ">" P(x) "</table:table-cell>"
#define ROW(more, x)  "<table:table-row" more ">" x "</table:table-row>"

static void tables(void **state)
{
    (void)state;
    text(CONTENT(
             "",
             "<table:table><table:table-column/><table:table-header-rows>" ROW(
                 "",
                 CELL(" table:number-columns-spanned=\"2\"", "wide") "<table:covered-table-cell/>" CELL(
                     " table:number-rows-spanned=\"2\"",
                     "tall")) "</table:table-header-rows>" ROW("",
                                                               CELL("", "a") CELL(
                                                                   "", "b|c") "<table:covered-table-cell/>")
                 ROW(" table:number-rows-repeated=\"2\"", CELL(" table:number-columns-repeated=\"3\"", "r"))
                     ROW(" table:number-rows-repeated=\"1048576\"", "<table:table-cell/>") "</table:table>"),
         "| wide | wide | tall |\n| --- | --- | --- |\n| a | b\\|c | tall |\n| r | r | r |\n| r | r | r |\n");
}

static void notes_changes_and_comments(void **state)
{
    (void)state;
    text(CONTENT("",
                 "<text:tracked-changes><text:changed-region><text:deletion><text:p>deleted</text:p></"
                 "text:deletion>"
                 "</text:changed-region></text:tracked-changes>"
                 "<text:p>kept<text:change text:change-id=\"c\"/> new<text:note text:note-class=\"footnote\">"
                 "<text:note-citation>1</text:note-citation><text:note-body><text:p>The note.</text:p>"
                 "</text:note-body></text:note><office:annotation><dc:creator>Ann</dc:creator>"
                 "<dc:date>2026</dc:date><text:p>Why?</text:p></office:annotation></text:p>"
                 "<text:section text:display=\"none\"><text:p>unseen</text:p></text:section>"
                 "<text:section><text:p>seen</text:p></text:section>"),
         "kept new[^1]\n\nseen\n\n[^1]: The note.\n\n> Comment (Ann): Why?\n");
}

static void frames(void **state)
{
    (void)state;
    static const struct part parts[] = {
        {"content.xml",
         CONTENT("", P("<draw:frame><draw:image xlink:href=\"Pictures/p.png\"/><svg:title>A "
                       "cat</svg:title></draw:frame>")
                         P("x<draw:frame><draw:text-box>" P("boxed") "</draw:text-box></draw:frame>")
                             P("<draw:frame><draw:object xlink:href=\"./Object 1\"/></draw:frame>")
                                 P("<draw:frame><draw:object xlink:href=\"./Object 2\"/></draw:frame>"))},
        {"Object 1/content.xml",
         "<math:math " NAMES "><math:semantics><math:mi>a</math:mi><math:annotation>a over b"
         "</math:annotation></math:semantics></math:math>"},
        {"Object 2/content.xml",
         "<office:document-content " NAMES "><office:body><office:chart><chart:chart><chart:title>" P(
             "Sales") "</chart:title><table:table>" ROW("", CELL("", "") CELL("", "2026"))
             ROW("", CELL("", "Q1") CELL("", "12")) "</table:table></chart:chart></office:chart></"
                                                    "office:body></office:document-content>"},
        {NULL, NULL}};
    expect_text(&extract_odt_ops, parts,
                "![A cat](p.png)\n\nx\n\nboxed\n\n$a over b$\n\n### Chart: Sales\n\n|  | 2026 |\n| --- | --- "
                "|\n| Q1 | "
                "12 |\n");
}

static void shapes_objects_and_pages(void **state)
{
    (void)state;
    static const struct part parts[] = {
        {"content.xml",
         CONTENT("", P("<draw:custom-shape>" P("in a shape") P("of two") "</draw:custom-shape>beside")
                         P("<draw:frame><draw:object xlink:href=\"./Object 1\"/></draw:frame>sheet")
                             P("<draw:frame><draw:object-ole xlink:href=\"./Object 9\"/></draw:frame>")
                                 P("<draw:frame><draw:object xlink:href=\"./Object 8\"/><draw:image "
                                   "xlink:href=\"Pictures/8.png\"/></draw:frame>"))},
        {"Object 1/content.xml",
         "<office:document-content " NAMES "><office:body><office:spreadsheet><table:table><table:table-row>"
         "<table:table-cell>" P(
             "7") "</table:table-cell></table:table-row></table:table></office:spreadsheet>"
                  "</office:body></office:document-content>"},
        {"styles.xml",
         "<office:document-styles " NAMES
         "><office:master-styles><style:master-page><style:header>" P("Secret")
             P("draft") "</style:header>"
                        "<style:footer>" P(
                            "<text:page-number>1</text:page-number>") "</style:footer></style:master-page>"
                                                                      "<style:master-page><style:header-left "
                                                                      "style:display=\"false\">" P("never") "</style:header-left><style:footer>" P(
                                                                          "Ada, "
                                                                          "<text:page-number>1</"
                                                                          "text:page-number>") "</"
                                                                                               "style:footer>"
                                                                                               "<style:"
                                                                                               "footer-"
                                                                                               "first>" P(
                                                                                                   "Ad"
                                                                                                   "a,"
                                                                                                   " <"
                                                                                                   "te"
                                                                                                   "xt"
                                                                                                   ":p"
                                                                                                   "ag"
                                                                                                   "e-"
                                                                                                   "nu"
                                                                                                   "mb"
                                                                                                   "er"
                                                                                                   ">1"
                                                                                                   "</"
                                                                                                   "te"
                                                                                                   "xt"
                                                                                                   ":p"
                                                                                                   "ag"
                                                                                                   "e-"
                                                                                                   "nu"
                                                                                                   "mb"
                                                                                                   "er"
                                                                                                   ">") "</"
                                                                                                        "styl"
                                                                                                        "e:"
                                                                                                        "foot"
                                                                                                        "er-"
                                                                                                        "firs"
                                                                                                        "t></"
                                                                                                        "styl"
                                                                                                        "e:"
                                                                                                        "mast"
                                                                                                        "er-"
                                                                                                        "page"
                                                                                                        "></"
                                                                                                        "offi"
                                                                                                        "ce:"
                                                                                                        "mast"
                                                                                                        "er-"
                                                                                                        "styl"
                                                                                                        "es><"
                                                                                                        "/off"
                                                                                                        "ice:"
                                                                                                        "docu"
                                                                                                        "ment"
                                                                                                        "-sty"
                                                                                                        "les"
                                                                                                        ">"},
        {NULL, NULL}};
    expect_text(
        &extract_odt_ops, parts,
        "beside\n\nin a shape\n\nof two\n\nsheet\n\n| 7 |\n| --- |\n\n(embedded object)\n\n![](8.png)\n");
}

static void refuse(const struct part *parts, enum render_status status, const char *says)
{
    struct buf zip;
    pack(&zip, parts);
    expect_refusal(&extract_odt_ops, buf_span(&zip), status, says);
    buf_free(&zip);
}

static void repeated(const char *before, const char *piece, int times, const char *behind,
                     enum render_status status, const char *says)
{
    struct buf xml;
    buf_init(&xml, 1 << 28);
    buf_adds(&xml, "<office:document-content " NAMES "><office:body><office:text>");
    buf_adds(&xml, before);
    for (int i = 0; i < times; i++)
        buf_adds(&xml, piece);
    buf_adds(&xml, behind);
    buf_adds(&xml, "</office:text></office:body></office:document-content>");
    const struct part parts[] = {{"content.xml", buf_cstr(&xml)}, {NULL, NULL}};
    refuse(parts, status, says);
    buf_free(&xml);
}

static void hostile_documents_are_refused(void **state)
{
    (void)state;
    static const struct part wrong[] = {{"mimetype", "x"}, {NULL, NULL}},
                             sheet[] = {{"content.xml",
                                         "<o:d xmlns:o=\"o\"><o:body><o:spreadsheet/></o:body></o:d>"},
                                        {NULL, NULL}},
                             locked[] = {{"content.xml", "\x01\x02"},
                                         {"META-INF/manifest.xml", "<m><e><encryption-data/></e></m>"},
                                         {NULL, NULL}},
                             entity[] = {
                                 {"content.xml",
                                  "<!DOCTYPE d [<!ENTITY x SYSTEM \"file:///etc/passwd\">]><d>&x;</d>"},
                                 {NULL, NULL}};
    refuse(wrong, RENDER_INVALID, "is no odt file: content.xml is missing.");
    refuse(sheet, RENDER_INVALID, "holds no text document.");
    refuse(locked, RENDER_INVALID, "is protected with a password");
    refuse(entity, RENDER_INVALID, "declares a document type (DTD)");
    repeated("", "<text:p/>", 1000000, "", RENDER_LIMIT, "has more than 500000 elements");
    repeated("", "<text:section>", 100000, "", RENDER_INVALID, "nests elements too deeply");
    repeated(
        "<table:table><table:table-row table:number-rows-repeated=\"1000\">",
        "<table:table-cell table:number-columns-repeated=\"999999999\"><text:p>x</text:p></table:table-cell>",
        2, "</table:table-row></table:table>", RENDER_LIMIT, "is longer than 8 MiB as text");
    repeated("<table:table><table:table-row table:number-rows-repeated=\"999999999\">",
             "<table:table-cell><text:p>x</text:p></table:table-cell>", 1, "</table:table-row></table:table>",
             RENDER_LIMIT, "repeats a row with text more than 1000 times");
}

static void every_cut_is_refused(void **state)
{
    (void)state;
    static const struct part parts[] = {{"mimetype", "application/vnd.oasis.opendocument.text"},
                                        {"content.xml", CONTENT("", P("x"))},
                                        {NULL, NULL}};
    expect_cuts_refused(&extract_odt_ops, parts);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(paragraphs_and_runs),
        cmocka_unit_test(headings_quotes_and_code),
        cmocka_unit_test(lists),
        cmocka_unit_test(tables),
        cmocka_unit_test(notes_changes_and_comments),
        cmocka_unit_test(frames),
        cmocka_unit_test(shapes_objects_and_pages),
        cmocka_unit_test(hostile_documents_are_refused),
        cmocka_unit_test(every_cut_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
