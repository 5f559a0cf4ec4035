/* What belongs to a sheet beside the values of its cells: links, headers of pages, objects, diagrams. */
#include "attachments/extract_office.h"
#include "extract_made.h"

#define REL(id, type, target, more)                                                                          \
    "<Relationship Id=\"" id "\" Type=\"x/" type "\" Target=\"" target "\"" more "/>"
#define OUT               " TargetMode=\"External\""
#define SHEET(data, more) "<worksheet xmlns:r=\"r\"><sheetData>" data "</sheetData>" more "</worksheet>"
#define TXT(r, x)         "<c r=\"" r "\" t=\"inlineStr\"><is><t>" x "</t></is></c>"
#define FORMULA(r, f, v)  "<c r=\"" r "\" t=\"str\"><f>" f "</f><v>" v "</v></c>"
#define ROW(n, x)         "<row r=\"" n "\">" x "</row>"

static const char relations[] = "<Relationships>" REL("r1", "hyperlink", "https://x.test/a_(b)?q=1|2", OUT)
    REL("r2", "hyperlink", "files/my plan.pdf", OUT)
        REL("r3", "hyperlink", "https://plain.test/", OUT) "</Relationships>";
static const char drawing[] =
    "<Relationships>" REL("r4", "drawing", "../drawings/d.xml", "") "</Relationships>";

static void expect(const char *sheet, const char *type, const char *expected)
{
    char all[512], book[256];
    snprintf(all, sizeof all, "## S\n\n%s", expected);
    snprintf(
        book, sizeof book,
        "<Relationships><Relationship Id=\"b1\" Type=\"x/%s\" Target=\"worksheets/s.xml\"/></Relationships>",
        type);
    const struct part parts[] = {
        {"xl/workbook.xml",
         "<workbook xmlns:r=\"r\"><sheets><sheet name=\"S\" sheetId=\"1\" r:id=\"b1\"/></sheets></workbook>"},
        {"xl/_rels/workbook.xml.rels", book},
        {"xl/worksheets/s.xml", sheet},
        {"xl/worksheets/_rels/s.xml.rels", strstr(sheet, "drawing") ? drawing : relations},
        {"xl/drawings/d.xml",
         "<wsDr xmlns:r=\"r\"><graphicFrame><relIds r:dm=\"g1\"/></graphicFrame><sp><txBody><p><r>"
         "<t>two</t></r><br/><r><t>lines</t></r></p></txBody></sp></wsDr>"},
        {"xl/drawings/_rels/d.xml.rels",
         "<Relationships>" REL("g1", "diagramData", "../diagrams/data.xml", "") "</Relationships>"},
        {"xl/diagrams/data.xml",
         "<dataModel><ptLst><pt><t><p><r><t>Plan</t></r></p><p><r><t>well</t></r></p></t></pt>"
         "<pt><t><p><r><t>Do</t></r></p></t></pt></ptLst></dataModel>"},
        {NULL, NULL}};
    expect_text(&extract_xlsx_ops, parts, all);
}

static void links_of_cells(void **state)
{
    (void)state;
    static const struct {
        const char *sheet, *expected;
    } cases[] = {
        {SHEET(ROW("1", TXT("A1", "Name") TXT("B1", "Place"))
                   ROW("2", TXT("A2", "one") "<c r=\"B2\"><v>3</v></c>"),
               "<hyperlinks><hyperlink ref=\"A2\" r:id=\"r1\"/><hyperlink ref=\"B2\" location=\"'Other "
               "sheet'!A1\"/>"
               "</hyperlinks>"),
         "| Name | Place |\n| --- | --- |\n| [one](https://x.test/a_(b)?q=1\\|2) | [3](<#'Other sheet'!A1>) "
         "|\n"},
        {SHEET(ROW("1", TXT("A1", "a") TXT("B1", "b") TXT("C1", "c")) ROW("2", TXT("A2", "d") TXT("C2", "e")),
               "<hyperlinks><hyperlink ref=\"A1:B2\" r:id=\"r2\" location=\"page 2\"/></hyperlinks>"),
         "| [a](<files/my plan.pdf#page 2>) | [b](<files/my plan.pdf#page 2>) | c |\n| --- | --- | --- |\n"
         "| [d](<files/my plan.pdf#page 2>) |  | e |\n"},
        {SHEET(ROW("1", TXT("A1", "https://plain.test/")),
               "<hyperlinks><hyperlink ref=\"A1\" r:id=\"r3\"/></hyperlinks>"),
         "| https://plain.test/ |\n| --- |\n"},
        {SHEET(ROW("1", TXT("A1", "x")),
               "<hyperlinks><hyperlink ref=\"B1\" r:id=\"r3\" display=\"shown\"/><hyperlink "
               "ref=\"C1\" r:id=\"r3\"/></hyperlinks>"),
         "| x | [shown](https://plain.test/) | https://plain.test/ |\n| --- | --- | --- |\n"},
        {SHEET(ROW("1", TXT("A1", "wide")),
               "<mergeCells><mergeCell ref=\"A1:B1\"/></mergeCells><hyperlinks><hyperlink "
               "ref=\"A1\" r:id=\"r3\"/></hyperlinks>") /* B1 is not used */,
         "| [wide](https://plain.test/) |\n| --- |\n"},
        {SHEET(ROW("1",
                   FORMULA("A1", "HYPERLINK(&quot;https://y.test/?a=&quot;&quot;&quot;,&quot;t&quot;)", "t")
                       FORMULA("B1", "HYPERLINK(&quot;https://y.test/&quot;&amp;A2,&quot;t&quot;)", "u")
                           FORMULA("C1", "hyperlink(&quot;#A5&quot;)", "#A5")),
               ""),
         "| [t](https://y.test/?a=\") | u | #A5 |\n| --- | --- | --- |\n"},
        {SHEET(ROW("1", TXT("A1", "none")), "<hyperlinks><hyperlink ref=\"A1\" r:id=\"r99\"/></hyperlinks>"),
         "| none |\n| --- |\n"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        expect(cases[i].sheet, "worksheet", cases[i].expected);
}

static void pages_objects_and_diagrams(void **state)
{
    (void)state;
    static const struct {
        const char *sheet, *expected;
    } cases[] = {
        {SHEET(ROW("1", TXT("A1", "x")), "<headerFooter><oddHeader>&amp;L&amp;\"Arial,Bold\"&amp;12Q&amp;&"
                                         "amp;A&amp;C&amp;KFF0000Secret&amp;R&amp;P "
                                         "/ &amp;N</oddHeader><oddFooter>&amp;CPage "
                                         "&amp;P</oddFooter><evenFooter>&amp;CPage &amp;P</evenFooter>"
                                         "<firstFooter>&amp;D &amp;F</firstFooter></headerFooter>"),
         "| x |\n| --- |\n"},
        {SHEET("", "<AlternateContent><Choice><oleObjects><oleObject "
                   "progId=\"Word.Document.12\"/></oleObjects></Choice>"
                   "<Fallback><oleObject progId=\"Word.Document.12\"/></Fallback></AlternateContent>"),
         "(empty)\n\n> (embedded object: Word.Document.12)\n"},
        {SHEET(ROW("1", TXT("A1", "x")), "<drawing r:id=\"r4\"/>"),
         "| x |\n| --- |\n\n- Plan well\n- Do\n\ntwo lines\n"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        expect(cases[i].sheet, "worksheet", cases[i].expected);
    expect("<macrosheet drawing=\"1\"/>", "xlMacrosheet",
           "(a sheet of the kind xlMacrosheet, which is not read)\n\n- Plan well\n- Do\n\ntwo lines\n");
}

static void refuse(const char *sheet, enum render_status status, const char *says)
{
    struct buf zip;
    const struct part parts[] = {
        {"xl/workbook.xml",
         "<workbook xmlns:r=\"r\"><sheets><sheet name=\"S\" r:id=\"b1\"/></sheets></workbook>"},
        {"xl/_rels/workbook.xml.rels",
         "<Relationships>" REL("b1", "worksheet", "s.xml", "") "</Relationships>"},
        {"xl/s.xml", sheet},
        {NULL, NULL}};
    pack(&zip, parts);
    expect_refusal(&extract_xlsx_ops, buf_span(&zip), status, says);
    buf_free(&zip);
}

static void hostile_links_are_refused(void **state)
{
    (void)state;
    refuse(SHEET("", "<hyperlink ref=\"A0\"/>"), RENDER_INVALID, "names a cell that cannot be: A0.");
    refuse(SHEET("", "<hyperlink/>"), RENDER_INVALID, "names a cell that cannot be: .");
    refuse(SHEET("", "<hyperlink ref=\"B2:A1\"/>"), RENDER_INVALID, "names a cell that cannot be: B2:A1.");
    struct buf sheet;
    buf_init(&sheet, 1 << 28);
    buf_adds(&sheet, "<worksheet><sheetData/>");
    for (int i = 0; i < 100001; i++)
        buf_adds(&sheet, "<hyperlink ref=\"A1\" location=\"B\"/>");
    buf_adds(&sheet, "</worksheet>");
    refuse(buf_cstr(&sheet), RENDER_LIMIT, "has more than 100000 links in one sheet.");
    /* Ranges over all cells, again and again. */
    buf_reset(&sheet);
    buf_adds(&sheet, "<worksheet><sheetData>");
    for (int i = 1; i <= 5000; i++)
        buf_printf(&sheet, "<row r=\"%d\"><c><v>1</v></c></row>", i);
    buf_adds(&sheet, "</sheetData>");
    for (int i = 0; i < 5000; i++)
        buf_adds(&sheet, "<hyperlink ref=\"A1:XFD1048576\" location=\"B\"/>");
    buf_adds(&sheet, "</worksheet>");
    refuse(buf_cstr(&sheet), RENDER_LIMIT, "has more than 100000 links in one sheet.");
    buf_free(&sheet);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(links_of_cells),
        cmocka_unit_test(pages_objects_and_diagrams),
        cmocka_unit_test(hostile_links_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
