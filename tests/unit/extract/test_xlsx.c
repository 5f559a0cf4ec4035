/* Workbooks as Markdown. */
#include "attachments/extract_office.h"
#include "attachments/office_number.h"
#include "extract_made.h"

extern const struct renderer_ops render_xlsx;

#define BOOK(pr, sheets)      "<workbook xmlns=\"s\" xmlns:r=\"r\">" pr "<sheets>" sheets "</sheets></workbook>"
#define SHEET(name, id, more) "<sheet name=\"" name "\" sheetId=\"" id "\" r:id=\"rId" id "\" " more "/>"
#define REL(id, type, target)                                                                                \
    "<Relationship Id=\"" id                                                                                 \
    "\" Type=\"http://schemas.openxmlformats.org/officeDocument/2006/relationships/" type                    \
    "\" Target=\"" target "\"/>"
#define DATA(x)      "<worksheet xmlns=\"s\" xmlns:r=\"r\"><dimension ref=\"A1:ZZ9\"/><sheetData>" x "</sheetData>"
#define ROW(n, x)    "<row r=\"" n "\">" x "</row>"
#define TXT(r, x)    "<c r=\"" r "\" t=\"inlineStr\"><is><t>" x "</t></is></c>"
#define NUM(r, s, v) "<c r=\"" r "\" s=\"" s "\"><v>" v "</v></c>"
#define STR(r, i)    "<c r=\"" r "\" t=\"s\"><v>" i "</v></c>"

static const char book_relations[] = "<Relationships>" REL("rId1", "worksheet", "worksheets/sheet1.xml")
    REL("rId2", "worksheet", "worksheets/sheet2.xml") REL("rId3", "chartsheet", "chartsheets/sheet3.xml")
        REL("rId8", "sharedStrings", "sharedStrings.xml") REL("rId9", "styles", "styles.xml")
            REL("rId7", "person", "persons/person.xml") "</Relationships>";
static const char strings[] =
    "<sst><si><t>plain</t></si><si><r><rPr><b/></rPr><t>ri</t></r><r><t xml:space=\"preserve\">ch "
    "</t></r></si>"
    "<si><t>漢字</t><rPh sb=\"0\" "
    "eb=\"2\"><t>かんじ</t></rPh></si><si><t>a|b_x000D_\nc_x005F_</t></si><si/></sst>";
/* Styles: 0 general, 1 date, 2 time, 3 percent, 4 own date and time, 5 own with a quoted d, 6 duration, 7 own
 * percent, 8 month */
static const char styles[] =
    "<styleSheet><numFmts><numFmt numFmtId=\"164\" formatCode=\"yyyy\\-mm\\-dd\\ hh:mm\"/><numFmt "
    "numFmtId=\"165\" formatCode=\"0.00\\d&quot; days&quot;\"/>"
    "<numFmt numFmtId=\"166\" formatCode=\"[h]:mm\"/><numFmt numFmtId=\"167\" "
    "formatCode=\"0.0%;[Red]-0.0%\"/><numFmt numFmtId=\"168\" formatCode=\"[$-409]mmm;@\"/>"
    "</numFmts><cellStyleXfs><xf numFmtId=\"14\"/></cellStyleXfs><cellXfs><xf numFmtId=\"0\"/><xf "
    "numFmtId=\"14\"/><xf numFmtId=\"21\"/><xf numFmtId=\"10\"/><xf numFmtId=\"164\"/>"
    "<xf numFmtId=\"165\"/><xf numFmtId=\"166\"/><xf numFmtId=\"167\"/><xf "
    "numFmtId=\"168\"/></cellXfs></styleSheet>";

static void expect_book(const char *book, const char *sheet1, const char *sheet2, const char *expected)
{
    const struct part parts[] = {{"xl/workbook.xml", book},
                                 {"xl/_rels/workbook.xml.rels", book_relations},
                                 {"xl/sharedStrings.xml", strings},
                                 {"xl/styles.xml", styles},
                                 {"xl/worksheets/sheet1.xml", sheet1},
                                 {"xl/worksheets/sheet2.xml", sheet2},
                                 {NULL, NULL}};
    expect_text(&extract_xlsx_ops, parts, expected);
}

static void expect(const char *sheet, const char *expected)
{
    char all[4096];
    snprintf(all, sizeof all, "## S\n\n%s", expected);
    expect_book(BOOK("", SHEET("S", "1", "")), sheet, "<w/>", all);
}

#define END "</worksheet>"

static void values_by_type(void **state)
{
    (void)state;
    expect(DATA(ROW("1", STR("A1", "0") STR("B1", "1") STR("C1", "2") STR("D1", "3"))) END,
           "| plain | rich | 漢字 | a\\|b<br>c_ |\n| --- | --- | --- | --- |\n");
    expect(
        DATA(ROW("1", "<c r=\"A1\" t=\"b\"><v>1</v></c><c r=\"B1\" t=\"b\"><v>0</v></c><c r=\"C1\" "
                      "t=\"e\"><v>#DIV/0!</v></c>"
                      "<c r=\"D1\" t=\"d\"><v>2026-07-01T00:00:00.000</v></c><c r=\"E1\" "
                      "t=\"d\"><v>2026-07-01T14:30:00</v></c>")) END,
        "| TRUE | FALSE | #DIV/0! | 2026-07-01 | 2026-07-01 14:30:00 |\n| --- | --- | --- | --- | --- |\n");
    expect(DATA(ROW("1", NUM("A1", "0", "1200.5") NUM("B1", "0", "0.1") NUM("C1", "0", "1E+20")
                             NUM("D1", "0", "-0") NUM("E1", "5", "3") NUM("F1", "99", "7")
                                 NUM("G1", "0", "12345678901234567"))) END,
           "| 1200.5 | 0.1 | 1e+20 | 0 | 3 | 7 | 1.23456789012346e+16 |\n| --- | --- | --- | --- | --- | --- "
           "| --- |\n");
    expect(DATA("<row><c><v>1</v></c></row><row r='3'><c><v>3</v></c></row><row><c><v>4</v></c></row>") END,
           "| 1 |\n| --- |\n\n| 3 |\n| --- |\n| 4 |\n");
    expect(DATA(ROW("1", "<c><v>1</v></c><c><v>2</v></c>") "<row><c><v>3</v></c></row>") END,
           "| 1 | 2 |\n| --- | --- |\n| 3 |  |\n");
}

static void formulas(void **state)
{
    (void)state;
    expect(
        DATA(ROW("1",
                 "<c r=\"A1\"><f>6*7</f><v>42</v></c><c r=\"B1\"><f>SUM(D2:D4)</f></c><c r=\"C1\" "
                 "t=\"str\"><f>\"\"</f><v></v></c>"
                 "<c r=\"D1\"><f>1</f><v/></c><c r=\"E1\" t=\"str\"><f>\"mo\"&amp;\"re\"</f><v>more</v></c>"
                 "<c r=\"F1\"><f t=\"shared\" si=\"0\" ref=\"F1:G1\">F2+1</f></c><c r=\"G1\"><f t=\"shared\" "
                 "si=\"0\"/></c>")) END,
        "| 42 | =SUM(D2:D4) |\n| --- | --- |\n\n| =1 | more | =F2+1 | =F2+1 (as in F1) |\n| --- | --- | --- "
        "| --- |\n");
}

static void dates_and_percent(void **state)
{
    (void)state;
    static const char sheet[] =
        DATA(ROW("1", NUM("A1", "1", "46204") NUM("B1", "2", "0.604166666666667") NUM("C1", "3", "0.124")
                          NUM("D1", "4", "46204.5") NUM("E1", "6", "1.25") NUM("F1", "7", "0.07")
                              NUM("G1", "8", "46204") NUM("H1", "1", "46204.75"))) END;
    expect(sheet, "| 2026-07-01 | 14:30:00 | 12.4% | 2026-07-01 12:00:00 | 30:00:00 | 7% | 2026-07-01 | "
                  "2026-07-01 18:00:00 |\n"
                  "| --- | --- | --- | --- | --- | --- | --- | --- |\n");
    expect_book(BOOK("<workbookPr date1904=\"1\"/>", SHEET("S", "1", "")),
                DATA(ROW("1", NUM("A1", "1", "44742") NUM("B1", "1", "0"))) END, "<w/>",
                "## S\n\n| 2026-07-01 | 1904-01-01 |\n| --- | --- |\n");
}

static void days_at_the_edges(void **state)
{
    (void)state;
    static const struct {
        double value;
        enum office_number as;
        bool from_1904;
        const char *text;
    } cases[] = {
        {1, OFFICE_DATE, false, "1900-01-01"},
        {59, OFFICE_DATE, false, "1900-02-28"},
        {60, OFFICE_DATE, false, "1900-02-29"},
        {61, OFFICE_DATE, false, "1900-03-01"},
        {0, OFFICE_DATE, false, "1900-01-00"},
        {36526, OFFICE_DATE, false, "2000-01-01"},
        {2958465, OFFICE_DATE, false, "9999-12-31"},
        {2958466, OFFICE_DATE, false, "2958466"},
        {-1, OFFICE_DATE, false, "-1"},
        {0.999999, OFFICE_TIME, false, "23:59:59"},
        {44742.25, OFFICE_DATE_TIME, true, "2026-07-01 06:00:00"},
        {59, OFFICE_DATE, true, "1904-02-29"},
        {1e300, OFFICE_PERCENT, false, "1e+300"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct buf out;
        buf_init(&out, 1000);
        office_number_write(&out, cases[i].value, cases[i].as, cases[i].from_1904);
        assert_string_equal(buf_cstr(&out), cases[i].text);
        buf_free(&out);
    }
    static const struct {
        const char *code;
        enum office_number as;
    } codes[] = {
        {"General", OFFICE_PLAIN},
        {"0.00", OFFICE_PLAIN},
        {"0.00E+00", OFFICE_PLAIN},
        {"m/d/yy", OFFICE_DATE},
        {"mm:ss", OFFICE_TIME},
        {"[Red]0", OFFICE_PLAIN},
        {"[$-F800]dddd\\,\\ mmmm\\ dd", OFFICE_DATE},
        {"h:mm AM/PM", OFFICE_TIME},
        {"[mm]:ss", OFFICE_DURATION},
        {"\"day\" 0", OFFICE_PLAIN},
        {"0;\"d\"", OFFICE_PLAIN},
        {"#,##0.0 %", OFFICE_PERCENT},
        {"\"", OFFICE_PLAIN},
        {"\\", OFFICE_PLAIN},
        {"[", OFFICE_PLAIN},
        {"yyyy-mm-dd hh:mm", OFFICE_DATE_TIME},
        {"_(* #,##0_)", OFFICE_PLAIN},
    };
    for (size_t i = 0; i < sizeof codes / sizeof codes[0]; i++)
        assert_int_equal(office_number_of_code(span_str(codes[i].code)), codes[i].as);
}

static void merged_cells_repeat(void **state)
{
    (void)state;
    expect(
        DATA(ROW("1", TXT("A1", "Region") TXT("C1", "Sum")) ROW("2", TXT("A2", "North") NUM("C2", "0", "5"))
                 ROW("3", TXT("A3", "all")) ROW(
                     "4", NUM("C4", "0", "1"))) "<mergeCells><mergeCell ref=\"A1:B1\"/><mergeCell "
                                                "ref=\"A3:A4\"/><mergeCell ref=\"C2:C3\"/></mergeCells>" END,
        "| Region | Region | Sum |\n| --- | --- | --- |\n| North |  | 5 |\n| all |  | 5 |\n| all |  | 1 |\n");
    expect(
        DATA(ROW("1", TXT("A1", "title"))) "<mergeCells><mergeCell ref=\"A1:XFD1048576\"/></mergeCells>" END,
        "| title |\n| --- |\n");
}

static void empty_rows_and_columns_split(void **state)
{
    (void)state;
    expect(
        DATA(ROW("2", TXT("B2", "a") TXT("C2", "b") TXT("E2", "x")) ROW("3", TXT("B3", "c") TXT("E3", "y"))
                 ROW("5", TXT("B5", "d") TXT("E5", "z"))) END,
        "| a | b |\n| --- | --- |\n| c |  |\n\n| x |\n| --- |\n| y |\n\n| d |\n| --- |\n\n| z |\n| --- |\n");
    expect(DATA(ROW("1", TXT("A1", "first") TXT("XFD1", "last")) ROW("1048576", TXT("XFD1048576", "corner")))
               END,
           "| first |\n| --- |\n\n| last |\n| --- |\n\n| corner |\n| --- |\n");
    expect(DATA(ROW("2", TXT("B2", "out of") TXT("A2", "order")) ROW("1", TXT("A1", "above"))) END,
           "| above |  |\n| --- | --- |\n| order | out of |\n");
    expect(DATA("") END, "(empty)\n");
    expect(DATA(ROW("1", TXT("A1", "") "<c r=\"B1\" s=\"1\"/>")) END, "(empty)\n");
}

static void sheets_in_order_and_hidden_ones_named(void **state)
{
    (void)state;
    expect_book(BOOK("", SHEET("Sales 2026", "2", "") SHEET("Secret", "5", "state=\"veryHidden\"")
                             SHEET("Notes", "1", "state=\"hidden\"")),
                DATA(ROW("1", TXT("A1", "n"))) END, DATA(ROW("1", TXT("A1", "s"))) END,
                "## Sales 2026\n\n| s |\n| --- |\n\n## Notes (hidden)\n\n| n |\n| --- |\n\n(1 very hidden "
                "sheet left out)\n");
}

static void comments_charts_and_pictures(void **state)
{
    (void)state;
    static const struct part parts[] = {
        {"xl/workbook.xml", BOOK("", SHEET("S", "1", "") SHEET("C", "3", ""))},
        {"xl/_rels/workbook.xml.rels", book_relations},
        {"xl/worksheets/sheet1.xml", DATA(ROW("1", TXT("A1", "x"))) "<drawing r:id=\"d1\"/>" END},
        {"xl/worksheets/_rels/sheet1.xml.rels",
         "<Relationships>" REL("d1", "drawing", "../drawings/drawing1.xml")
             REL("c1", "comments", "/xl/comments1.xml")
                 REL("c2", "threadedComment", "../threads.xml") "</Relationships>"},
        {"xl/comments1.xml",
         "<comments><authors><author>Ada</author><author>tc={1}</author></authors><commentList><comment "
         "ref=\"B4\" authorId=\"0\"><text><r><t>Why\nso?</t></r></text></comment>"
         "<comment ref=\"C1\" authorId=\"1\"><text><t>[Threaded "
         "comment]</t></text></comment></commentList></comments>"},
        {"xl/threads.xml", "<ThreadedComments><threadedComment ref=\"C1\" personId=\"{2}\"><text>In a "
                           "thread</text></threadedComment></ThreadedComments>"},
        {"xl/persons/person.xml", "<personList><person displayName=\"Bob\" id=\"{2}\"/></personList>"},
        {"xl/drawings/drawing1.xml",
         "<wsDr xmlns:c=\"c\" xmlns:a=\"a\" xmlns:r=\"r\"><graphicFrame><c:chart "
         "r:id=\"g1\"/></graphicFrame><pic><nvPicPr><cNvPr descr=\"Logo\"/></nvPicPr>"
         "<blipFill><a:blip r:embed=\"g2\"/></blipFill></pic><sp><txBody><a:p><a:r><a:t>In a "
         "box</a:t></a:r></a:p></txBody></sp></wsDr>"},
        {"xl/drawings/_rels/drawing1.xml.rels", "<Relationships>" REL("g1", "chart", "../charts/c.xml") REL(
                                                    "g2", "image", "../media/image1.png") "</Relationships>"},
        {"xl/charts/c.xml", "<chartSpace><chart><title><tx><rich><p><r><t>T</t></r></p></rich></tx></"
                            "title><plotArea><lineChart><ser><tx><v>s</v></tx><cat><numRef><numCache>"
                            "<formatCode>d/m/yy</formatCode><pt "
                            "idx=\"0\"><v>46204</v></pt></numCache></numRef></cat><val><numRef><numCache><pt "
                            "idx=\"0\"><v>0.30000000000000004</v></pt></numCache>"
                            "</numRef></val></ser></lineChart></plotArea></chart></chartSpace>"},
        {"xl/chartsheets/sheet3.xml", "<chartsheet xmlns:r=\"r\"><drawing r:id=\"d1\"/></chartsheet>"},
        {"xl/chartsheets/_rels/sheet3.xml.rels",
         "<Relationships>" REL("d1", "drawing", "../drawings/drawing1.xml") "</Relationships>"},
        {NULL, NULL}};
#define DRAWN                                                                                                \
    "### Chart: T\n\n| Category | s |\n| --- | --- |\n| 2026-07-01 | 0.3 |\n\n![Logo](image1.png)\n\nIn a "  \
    "box\n"
    expect_text(&extract_xlsx_ops, parts,
                "## S\n\n| x |\n| --- |\n\n- B4 (Ada): Why so?\n- C1 (Bob): In a thread\n\n" DRAWN
                "\n## C\n\n" DRAWN);
}

static void what_was_rendered_is_read_back(void **state)
{
    (void)state;
    static const char source[] =
        "{\"sheets\":[{\"name\":\"Sales "
        "2026\",\"columns\":[{\"header\":\"Date\"},{\"header\":\"Code\"},{\"header\":\"Amount\"},{\"header\":"
        "\"Margin\"},{\"header\":\"Paid\"}],"
        "\"rows\":[[\"2026-07-01\",\"007\",1200.5,\"12.4%\",true],[\"2026-07-02\",\"010\",-3,\"7%\",false],["
        "\"2026-07-03\",\"=1+1\",null,\"0.5%\",true]]},"
        "{\"name\":\"Empty\",\"columns\":[{\"header\":\"A|B\"}],\"rows\":[[\"x\\ny\"]]}]}";
    struct render_params params = {.format = "xlsx", .title = "", .made_at = 1790000000};
    char sentence[RENDER_SENTENCE] = "";
    struct buf xlsx;
    buf_init(&xlsx, 1 << 24);
    assert_int_equal(render_xlsx.render(SPAN_LIT(source), &params, &xlsx, sentence), RENDER_OK);
    struct text t = extract_bytes(&extract_xlsx_ops, buf_span(&xlsx));
    assert_string_equal(t.sentence, "");
    assert_string_equal(
        buf_cstr(&t.out),
        "## Sales 2026\n\n| Date | Code | Amount | Margin | Paid |\n| --- | --- | --- | --- | --- |\n"
        "| 2026-07-01 | 007 | 1200.5 | 12.4% | TRUE |\n| 2026-07-02 | 010 | -3 | 7% | FALSE |\n| 2026-07-03 "
        "| =1+1 |  | 0.5% | TRUE |\n\n"
        "## Empty\n\n| A\\|B |\n| --- |\n| x<br>y |\n");
    buf_free(&t.out);
    buf_free(&xlsx);
}

static void hostile_workbooks_are_refused(void **state)
{
    (void)state;
    static const struct {
        const char *book, *sheet;
        enum render_status status;
        const char *says;
    } cases[] = {
        {BOOK("", SHEET("S", "1", "")), DATA(ROW("1", TXT("XFE1", "x"))) END, RENDER_INVALID,
         "names a cell that cannot be: XFE1."},
        {BOOK("", SHEET("S", "1", "")), DATA(ROW("1048577", "")) END, RENDER_INVALID, "cannot be: 1048577."},
        {BOOK("", SHEET("S", "1", "")), DATA(ROW("1", TXT("A0", "x"))) END, RENDER_INVALID, "cannot be: A0."},
        {BOOK("", SHEET("S", "1", "")), DATA(ROW("1", STR("A1", "5"))) END, RENDER_INVALID,
         "a cell names string 5, which is not there"},
        {BOOK("", SHEET("S", "1", "")),
         DATA(ROW("1", TXT("A1", "x")) ROW(
             "9999", TXT("XFD9999", "y"))) "<mergeCells><mergeCell ref=\"A1:XFD1048576\"/></mergeCells>" END,
         RENDER_LIMIT, "more than 1000000 cells"},
        {BOOK("", SHEET("S", "1", "")),
         DATA(ROW("1", TXT("A1", "x"))) "<mergeCells><mergeCell ref=\"B2:A1\"/></mergeCells>" END,
         RENDER_INVALID, "cannot be: B2:A1"},
        {BOOK("", SHEET("Lost", "6", "")), "<w/>", RENDER_INVALID, "the sheet Lost is missing"},
        {"<workbook/>", "<w/>", RENDER_INVALID, "lists no sheets"},
        {BOOK("", SHEET("S", "1", "")), DATA(ROW("1", TXT("A1", "x"))), RENDER_INVALID,
         "sheet1.xml is not well-formed"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const struct part parts[] = {{"xl/workbook.xml", cases[i].book},
                                     {"xl/_rels/workbook.xml.rels", book_relations},
                                     {"xl/sharedStrings.xml", strings},
                                     {"xl/worksheets/sheet1.xml", cases[i].sheet},
                                     {NULL, NULL}};
        struct buf zip;
        pack(&zip, parts);
        expect_refusal(&extract_xlsx_ops, buf_span(&zip), cases[i].status, cases[i].says);
        buf_free(&zip);
    }
}

static void many_cells(void **state)
{
    (void)state;
    struct buf xml, zip;
    buf_init(&xml, 1 << 28);
    buf_adds(&xml, "<worksheet><sheetData>");
    for (int row = 1; row <= 20000; row++) {
        buf_printf(&xml, "<row r=\"%d\">", row);
        for (int column = 0; column < 10; column++)
            buf_printf(&xml, "<c r=\"%c%d\"><v>%d.5</v></c>", 'A' + column, row, row * column);
        buf_adds(&xml, "</row>");
    }
    buf_adds(&xml, "</sheetData></worksheet>");
    const struct part parts[] = {{"xl/workbook.xml", BOOK("", SHEET("S", "1", ""))},
                                 {"xl/_rels/workbook.xml.rels", book_relations},
                                 {"xl/worksheets/sheet1.xml", buf_cstr(&xml)},
                                 {NULL, NULL}};
    pack(&zip, parts);
    struct text t = extract_bytes(&extract_xlsx_ops, buf_span(&zip));
    assert_int_equal(t.status, RENDER_OK);
    assert_non_null(strstr(buf_cstr(&t.out), "\n| 0.5 | 20000.5 | 40000.5 "));
    buf_free(&t.out);
    buf_free(&zip);
    buf_free(&xml);
}

static void every_cut_is_refused(void **state)
{
    (void)state;
    static const struct part parts[] = {{"xl/workbook.xml", BOOK("", SHEET("S", "1", ""))},
                                        {"xl/_rels/workbook.xml.rels", book_relations},
                                        {"xl/worksheets/sheet1.xml", DATA(ROW("1", TXT("A1", "x"))) END},
                                        {NULL, NULL}};
    expect_cuts_refused(&extract_xlsx_ops, parts);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_by_type),
        cmocka_unit_test(formulas),
        cmocka_unit_test(dates_and_percent),
        cmocka_unit_test(days_at_the_edges),
        cmocka_unit_test(merged_cells_repeat),
        cmocka_unit_test(empty_rows_and_columns_split),
        cmocka_unit_test(sheets_in_order_and_hidden_ones_named),
        cmocka_unit_test(comments_charts_and_pictures),
        cmocka_unit_test(what_was_rendered_is_read_back),
        cmocka_unit_test(hostile_workbooks_are_refused),
        cmocka_unit_test(many_cells),
        cmocka_unit_test(every_cut_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
