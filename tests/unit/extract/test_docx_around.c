/* What belongs to a Word document and is not in its text's flow: headers, objects, form fields, charts. */
#include "attachments/extract_office.h"
#include "extract_made.h"

#define BODY(b)                                                                                              \
    "<w:document xmlns:w=\"w\" xmlns:r=\"r\" xmlns:v=\"v\" xmlns:o=\"o\" xmlns:c=\"c\" "                     \
    "xmlns:a=\"a\"><w:body>" b "</w:body></w:document>"
#define P(x)                  "<w:p>" x "</w:p>"
#define T(x)                  "<w:r><w:t xml:space=\"preserve\">" x "</w:t></w:r>"
#define FIELD(x)              "<w:fldSimple w:instr=\"PAGE\">" T(x) "</w:fldSimple>"
#define PART(type, x)         "<w:" type " xmlns:w=\"w\" xmlns:v=\"v\" xmlns:r=\"r\">" x "</w:" type ">"
#define REL(id, type, target) "<Relationship Id=\"" id "\" Type=\"x/" type "\" Target=\"" target "\"/>"

static const char relations[] = "<Relationships>" REL("r1", "header", "header1.xml")
    REL("r2", "header", "header2.xml") REL("r3", "footer", "footer1.xml") REL("r4", "image", "media/i.emf")
        REL("r5", "chart", "chart.xml") "<Relationship Id=\"r6\" Type=\"x/hyperlink\" "
                                        "Target=\"https://x.test/\" TargetMode=\"External\"/>"
                                        "<Relationship Id=\"r7\" Type=\"x/subDocument\" Target=\"Chapter "
                                        "2.docx\" TargetMode=\"External\"/>"
                                        "</Relationships>";

static void expect(const char *body, const char *header1, const char *header2, const char *footer,
                   const char *chart, const char *expected)
{
    const struct part parts[] = {
        {"word/document.xml", body},
        {"word/_rels/document.xml.rels", relations},
        {"word/header1.xml", header1},
        {"word/header2.xml", header2},
        {"word/footer1.xml", footer},
        {"word/chart.xml", chart},
        {"word/_rels/chart.xml.rels",
         "<Relationships>" REL("s1", "chartUserShapes", "drawn.xml") "</Relationships>"},
        {"word/drawn.xml", "<userShapes><sp><txBody><p><r><t>drawn </t></r><r><t>in</t>"
                           "</r></p></txBody></sp></userShapes>"},
        {NULL, NULL}};
    expect_text(&extract_docx_ops, parts, expected);
}

static void headers_and_footers_are_left_out(void **state)
{
    (void)state;
    const char *body = BODY(P(T("text")));
    expect(body, PART("hdr", P(T("Secret"))), PART("hdr", P(T("Secret"))),
           PART("ftr", P(T("Page ") FIELD("1"))), "<c/>", "text\n");
    expect(body, PART("hdr", P(FIELD("– 3 –"))), PART("hdr", P("")), PART("ftr", P(T("2 / 4"))), "<c/>",
           "text\n");
    expect(body, PART("hdr", P(T("one")) P(T("two"))),
           PART("hdr", P("<w:r><w:pict><v:shape><v:textpath string=\"DRAFT\"/></v:shape></w:pict></w:r>")),
           PART("ftr", "<w:tbl><w:tr><w:tc>" P(T("版")) "</w:tc></w:tr></w:tbl>"), "<c/>", "text\n");
}

static void objects_lists_and_links(void **state)
{
    (void)state;
    static const struct {
        const char *body, *expected;
    } cases[] = {
        {BODY(P(T("a") "<w:r><w:object><v:shape><v:imagedata r:id=\"r4\"/></v:shape><o:OLEObject "
                       "ProgID=\"Excel.Sheet.12\"/></w:object></w:r>" T("b"))),
         "a![](i.emf) (embedded object: Excel.Sheet.12) b\n"},
        {BODY(P("<w:r><w:object><v:imagedata r:id=\"r4\"/><o:OLEObject "
                "ProgID=\"Equation.3\"/></w:object></w:r>")),
         "![](i.emf)\n"},
        {BODY(
             P("<w:r><w:fldChar w:fldCharType=\"begin\"><w:ffData><w:ddList><w:result "
               "w:val=\"1\"/><w:listEntry "
               "w:val=\"red\"/><w:listEntry w:val=\"blue\"/></w:ddList></w:ffData></w:fldChar></w:r><w:r>"
               "<w:instrText>FORMDROPDOWN</w:instrText></w:r><w:r><w:fldChar w:fldCharType=\"end\"/></w:r>")),
         "blue\n"},
        {BODY(P("<w:hyperlink r:id=\"r6\" w:anchor=\"part 2\">" T("t") "</w:hyperlink>")),
         "[t](<https://x.test/#part 2>)\n"},
        {BODY(P("<w:fldSimple w:instr=\" HYPERLINK &quot;https://z.test/&quot; \\l &quot;here&quot;\">" T(
             "z") "</w:fldSimple>")),
         "[z](https://z.test/#here)\n"},
        {BODY(P(T("one")) "<w:subDoc r:id=\"r7\"/>" P(T("three"))),
         "one\n\n(The document Chapter 2.docx belongs here; it is not part of this file.)\n\nthree\n"},
        {BODY(P("<w:r><w:drawing><w:docPr descr=\"lost\"/><a:blip r:embed=\"r99\"/></w:drawing></w:r>")),
         "![lost]()\n"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        expect(cases[i].body, "<hdr/>", "<hdr/>", "<ftr/>", "<c/>", cases[i].expected);
}

#define CHART    BODY(P("<w:r><w:drawing><c:chart r:id=\"r5\"/></w:drawing></w:r>"))
#define PT(i, x) "<pt idx=\"" i "\"><v>" x "</v></pt>"

static void charts_are_whole(void **state)
{
    (void)state;
    static const struct {
        const char *chart, *expected;
    } cases[] = {
        {"<chartSpace><chart><plotArea><barChart><ser><tx><v>S</v></"
         "tx><cat><multiLvlStrRef><multiLvlStrCache><lvl>" PT("0", "Q1") PT("1", "Q2")
             PT("2", "Q1") "</lvl><lvl>" PT("0", "2025") PT(
                 "2", "2026") "</lvl></multiLvlStrCache></multiLvlStrRef></cat><val><numCache>" PT("0", "1")
                 PT("1", "2")
                     PT("2", "3") "</numCache></val><dLbls><dLbl><idx "
                                  "val=\"1\"/><tx><rich><p><r><t>odd</t></r></p></rich>"
                                  "</tx></dLbl></dLbls></ser></"
                                  "barChart><catAx><title><tx><rich><p><r><t>Time</t></r></p>"
                                  "</rich></tx></title></catAx><valAx><title><tx><rich><p><r><t>EUR</"
                                  "t></r></p></rich></tx>"
                                  "</title></valAx></plotArea></chart></chartSpace>",
         "### Chart: S\n\nAxes: Time; EUR\n\n| Category | S |\n| --- | --- |\n| 2025 / Q1 | 1 |\n| "
         "2025 / Q2 | 2 |\n"
         "| 2026 / Q1 | 3 |\n\n- Label of row 2: odd\n\ndrawn in\n"},
        {"<chartSpace><chart><plotArea><bubbleChart><ser><xVal><numCache>" PT(
             "0", "1") "</numCache></xVal><yVal><numCache>" PT("0", "2") "</numCache></"
                                                                         "yVal><bubbleSize><"
                                                                         "numCache>" PT("0", "3") "</"
                                                                                                  "numCach"
                                                                                                  "e></"
                                                                                                  "bubbleS"
                                                                                                  "ize></"
                                                                                                  "ser></"
                                                                                                  "bubbleC"
                                                                                                  "hart></"
                                                                                                  "plotAre"
                                                                                                  "a></"
                                                                                                  "chart><"
                                                                                                  "/chartS"
                                                                                                  "pace>",
         "### Chart\n\n| Category |  | size |\n| --- | --- | --- |\n| 1 | 2 | 3 |\n\ndrawn in\n"},
        {"<chartSpace><chartData><data id=\"0\"><strDim type=\"cat\"><lvl><pt idx=\"0\">In</pt><pt "
         "idx=\"1\">Out</pt></lvl></strDim><numDim type=\"val\"><lvl formatCode=\"0%\"><pt "
         "idx=\"0\">0.5</pt><pt "
         "idx=\"1\">1</pt></lvl></numDim></data></chartData><chart><title><tx><txData><v>Flow</v></"
         "txData></tx></title>"
         "<plotArea><plotAreaRegion><series "
         "layoutId=\"waterfall\"><tx><txData><v>Cash</v></txData></tx><dataId "
         "val=\"0\"/></series></plotAreaRegion></plotArea></chart></chartSpace>",
         "### Chart: Flow\n\n| Category | Cash |\n| --- | --- |\n| In | 50% |\n| Out | 100% "
         "|\n\ndrawn in\n"},
        {"<chartSpace><chart><plotArea/></chart></chartSpace>",
         "### Chart\n\n(Its data is not stored with it.)\n\ndrawn in\n"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        expect(CHART, "<hdr/>", "<hdr/>", "<ftr/>", cases[i].chart, cases[i].expected);
}

static void charts_of_too_many_series_are_refused(void **state)
{
    (void)state;
    struct buf chart, zip;
    buf_init(&chart, 1 << 20);
    buf_adds(&chart, "<chartSpace><chart><plotArea><lineChart>");
    for (int i = 0; i < 257; i++)
        buf_adds(&chart, "<ser/>");
    buf_adds(&chart, "</lineChart></plotArea></chart></chartSpace>");
    const struct part parts[] = {{"word/document.xml", CHART},
                                 {"word/_rels/document.xml.rels", relations},
                                 {"word/chart.xml", buf_cstr(&chart)},
                                 {NULL, NULL}};
    pack(&zip, parts);
    expect_refusal(&extract_docx_ops, buf_span(&zip), RENDER_LIMIT, "has a chart of more than 256 series.");
    buf_free(&zip);
    buf_free(&chart);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(headers_and_footers_are_left_out),
        cmocka_unit_test(objects_lists_and_links),
        cmocka_unit_test(charts_are_whole),
        cmocka_unit_test(charts_of_too_many_series_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
