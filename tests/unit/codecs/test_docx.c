/* Word documents: which elements the parts of a Markdown source become. */
#include "office_reader.h"

extern const struct renderer_ops render_docx;

/* One pixel. */
static const char png[] =
    "\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\1\0\0\0\1\x08\6\0\0\0\x1f\x15\xc4\x89\0\0\0\0IDAT";

static struct made render(const char *source, const char *options)
{
    struct made m;
    const struct render_asset asset = {"pic.png", "image/png", {png, sizeof png - 1}};
    struct render_params params = {.format = "docx",
                                   .title = "",
                                   .made_at = 1790000000,
                                   .options = span_str(options),
                                   .assets = &asset,
                                   .n_assets = 1};
    render_into(&render_docx, span_str(source), &params, &m);
    assert_int_equal(m.status, RENDER_OK);
    return m;
}

#define DOCUMENT "word/document.xml"

static void blocks_become_elements(void **state)
{
    (void)state;
    static const struct {
        const char *source, *element;
    } cases[] = {
        {"# A", "<w:pStyle w:val=\"Heading1\"/></w:pPr><w:bookmarkStart w:id=\"1\" w:name=\"_Heading1\"/>"},
        {"###### F", "<w:pStyle w:val=\"Heading6\"/>"},
        {"a **b**", "<w:rPr><w:b/><w:bCs/></w:rPr><w:t xml:space=\"preserve\">b</w:t>"},
        {"~~a~~", "<w:strike/>"},
        {"H<sub>2</sub>", "<w:vertAlign w:val=\"subscript\"/>"},
        {"`a<b`", "<w:rStyle w:val=\"VerbatimChar\"/></w:rPr><w:t xml:space=\"preserve\">a&lt;b</w:t>"},
        {"- a", "<w:numPr><w:ilvl w:val=\"0\"/><w:numId w:val=\"1\"/></w:numPr>"},
        {"1. a\n\n   - b", "<w:numPr><w:ilvl w:val=\"1\"/><w:numId w:val=\"1\"/></w:numPr>"},
        {"4. a", "<w:numPr><w:ilvl w:val=\"0\"/><w:numId w:val=\"2\"/></w:numPr>"},
        {"- [x] a", "\xe2\x98\x92"},
        {"> a", "<w:pStyle w:val=\"Quote\"/>"},
        {"```\na\tb\nc\n```",
         "a</w:t><w:tab/><w:t xml:space=\"preserve\">b</w:t><w:br/><w:t xml:space=\"preserve\">c</w:t>"},
        {"---", "<w:pBdr>"},
        {"a\n\n<!-- pagebreak -->\n\nb", "<w:pageBreakBefore/>"},
        {"|a|b|\n|-|:-:|\n|c|d|", "<w:trPr><w:cantSplit/><w:tblHeader/></w:trPr>"},
        {"|a|b|\n|-|:-:|\n|c|d|", "<w:jc w:val=\"center\"/>"},
        {"\xd7\xa9\xd7\x9c\xd7\x95\xd7\x9d", "<w:bidi/></w:pPr><w:r><w:rPr><w:rtl/></w:rPr>"},
        {"![a pic](pic.png)",
         "<wp:extent cx=\"9525\" cy=\"9525\"/><wp:docPr id=\"1\" name=\"Picture 1\" descr=\"a pic\"/>"},
        {"![gone](x.png)", "<w:i/><w:iCs/></w:rPr><w:t xml:space=\"preserve\">gone</w:t>"},
        {"a[^1]\n\n[^1]: note", "<w:footnoteReference w:id=\"2\"/>"},
        {"[a](#the-b)\n\n# The B", "<w:hyperlink w:anchor=\"_Heading1\""},
        {"[a](javascript:x)", "<w:r><w:t xml:space=\"preserve\">a</w:t></w:r>"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct made m = render(cases[i].source, "");
        assert_holds(part(&m, DOCUMENT), cases[i].element);
        made_free(&m);
    }
}

static void lists_count_anew(void **state)
{
    (void)state;
    struct made m = render("1. a\n2. b\n\ntext\n\n7. c\n", "");
    const char *numbering = part(&m, "word/numbering.xml");
    assert_holds(
        numbering,
        "<w:num w:numId=\"2\"><w:abstractNumId w:val=\"1\"/><w:lvlOverride w:ilvl=\"0\"><w:startOverride "
        "w:val=\"1\"/>");
    assert_holds(
        numbering,
        "<w:num w:numId=\"3\"><w:abstractNumId w:val=\"1\"/><w:lvlOverride w:ilvl=\"0\"><w:startOverride "
        "w:val=\"7\"/>");
    made_free(&m);
}

static void links_are_relationships(void **state)
{
    (void)state;
    struct made m =
        render("[a](https://x.test/a%zz?b=c&d#e#f) [b](mailto:a@b.test) [c](http://) [d](ftp://x.test)", "");
    const char *rels = part(&m, "word/_rels/document.xml.rels");
    assert_holds(rels, "Target=\"https://x.test/a%25zz?b=c&amp;d#e%23f\" TargetMode=\"External\"");
    assert_holds(rels, "Target=\"mailto:a@b.test\"");
    assert_lacks(rels, "http://\"");
    assert_lacks(rels, "ftp:");
    made_free(&m);
}

static void tables_fill_the_page_at_most(void **state)
{
    (void)state;
    struct buf source;
    buf_init(&source, 1 << 16);
    for (int row = 0; row < 3; row++) {
        for (int i = 0; i < 60; i++)
            buf_adds(&source, row == 1 ? "|-" : "|a rather long word: abcdefghijklmnopqrstuvwxyz");
        buf_adds(&source, "|\n");
    }
    struct made m = render(buf_cstr(&source), "");
    const char *at = part(&m, DOCUMENT);
    unsigned sum = 0, columns = 0, width;
    while ((at = strstr(at, "<w:gridCol w:w=\"")) != NULL) {
        at += 16;
        assert_int_equal(sscanf(at, "%u", &width), 1);
        sum += width;
        columns++;
    }
    assert_int_equal(columns, 60);
    assert_true(sum <= 9026 && sum > 8000);
    made_free(&m);
    buf_free(&source);
}

static void notes_and_front_matter(void **state)
{
    (void)state;
    struct made m = render(
        "---\ntitle: \"T & U\"\nauthor: Ada\n---\nA[^n], again[^n].\n\n[^n]: The **note**\n    goes on.\n",
        "");
    assert_holds(part(&m, DOCUMENT), "<w:pStyle w:val=\"Title\"/>");
    assert_holds(part(&m, DOCUMENT),
                 "<w:vertAlign w:val=\"superscript\"/></w:rPr><w:t xml:space=\"preserve\">1</w:t>");
    assert_holds(part(&m, "word/footnotes.xml"), "note</w:t>");
    assert_holds(part(&m, "word/footnotes.xml"), " goes on.</w:t>");
    assert_holds(part(&m, "docProps/core.xml"), "<dc:title>T &amp; U</dc:title><dc:creator>Ada</dc:creator>");
    made_free(&m);
}

static void contents_are_a_field(void **state)
{
    (void)state;
    struct made m = render("[TOC]\n\n# One\n\n## Two\n", "");
    assert_holds(part(&m, DOCUMENT), " TOC \\o \"1-3\" \\h \\z \\u ");
    assert_holds(part(&m, DOCUMENT), "<w:pStyle w:val=\"TOC2\"/></w:pPr><w:hyperlink w:anchor=\"_Heading2\"");
    made_free(&m);
    m = render("# One\n", "{\"toc\":true}");
    assert_holds(part(&m, DOCUMENT), " TOC ");
    made_free(&m);
}

static void pages_have_the_size_asked_for(void **state)
{
    (void)state;
    struct made m = render("a", "{\"page_size\":\"Letter\",\"orientation\":\"landscape\"}");
    assert_holds(part(&m, DOCUMENT), "<w:pgSz w:w=\"15840\" w:h=\"12240\" w:orient=\"landscape\"/>");
    made_free(&m);
}

static void charts_and_page_breaks_stand_in_place(void **state)
{
    (void)state;
    struct made m =
        render("a\n\n<!-- pagebreak -->\n\nb\n\n```chart\n{\"type\":\"pie\",\"labels\":[\"a\",\"b\"],"
               "\"datasets\":[{\"data\":[1,2]}]}\n```\n\nc\n",
               "");
    const char *document = part(&m, "word/document.xml");
    const char *broken = strstr(document, "<w:pageBreakBefore/>"), *drawing = strstr(document, "<w:drawing>");
    assert_non_null(broken);
    assert_non_null(drawing);
    assert_true(strstr(document, ">a</w:t>") < broken && broken < strstr(document, ">b</w:t>"));
    assert_true(strstr(document, ">b</w:t>") < drawing && drawing < strstr(document, ">c</w:t>"));
    assert_memory_equal(part(&m, "word/media/image1.png"), "\x89PNG", 4);
    made_free(&m);
}

static void an_empty_source_is_a_document(void **state)
{
    (void)state;
    struct made m = render("", "");
    assert_holds(part(&m, DOCUMENT), "<w:body><w:sectPr>");
    made_free(&m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(blocks_become_elements),
        cmocka_unit_test(lists_count_anew),
        cmocka_unit_test(links_are_relationships),
        cmocka_unit_test(tables_fill_the_page_at_most),
        cmocka_unit_test(notes_and_front_matter),
        cmocka_unit_test(contents_are_a_field),
        cmocka_unit_test(pages_have_the_size_asked_for),
        cmocka_unit_test(an_empty_source_is_a_document),
        cmocka_unit_test(charts_and_page_breaks_stand_in_place),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
