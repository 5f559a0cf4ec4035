/* Books as Markdown: what their package document says, then the chapters in the order of the spine. */
#include "attachments/extract_office.h"
#include "attachments/extraction.h"
#include "extract_made.h"

#define CONTAINER                                                                                            \
    {                                                                                                        \
        "META-INF/container.xml",                                                                            \
            "<container><rootfiles><rootfile full-path=\"OEBPS/book.opf\"/></rootfiles></container>"         \
    }
#define OPF(metadata, manifest, spine)                                                                       \
    "<package xmlns:dc=\"dc\"><metadata>" metadata "</metadata><manifest>" manifest                          \
    "</manifest><spine>" spine "</spine></package>"
#define ITEM(id, href) "<item id=\"" id "\" href=\"" href "\" media-type=\"application/xhtml+xml\"/>"
#define REF(id)        "<itemref idref=\"" id "\"/>"
#define PAGE(body)                                                                                           \
    "<?xml version=\"1.0\" encoding=\"utf-8\"?><!DOCTYPE html PUBLIC \"-//W3C//DTD XHTML 1.1//EN\" "         \
    "\"xhtml11.dtd\"><html xmlns=\"http://www.w3.org/1999/xhtml\"><head><title/></head><body>" body          \
    "</body></html>"

static void metadata_then_chapters_by_the_spine(void **state)
{
    (void)state;
    static const struct part parts[] = {
        {"mimetype", "application/epub+zip"},
        CONTAINER,
        {"OEBPS/book.opf",
         OPF("<dc:title>\n The  Weir</dc:title><dc:creator>Ann &amp; Co</dc:creator><dc:creator> "
             "</dc:creator><dc:creator>Bob</dc:creator>",
             ITEM("b", "text/chapter%20two.xhtml#top") ITEM("a", "./text/../one.xhtml")
                 ITEM("unused", "three.xhtml") "<item id=\"p\" href=\"p.svg\" media-type=\"image/svg+xml\"/>",
             REF("a") REF("p") REF("nowhere") REF("b"))},
        {"OEBPS/one.xhtml", PAGE("<h1><a id=\"x\"/>One</h1><p>Grüße, <b>all</b>.</p><ul><li>a<ul><li>b</li>"
                                 "</ul></li></ul><img src=\"img/cover.png\" alt=\"Cover\"/>")},
        {"OEBPS/three.xhtml", PAGE("<p>not in the spine</p>")},
        {"OEBPS/text/chapter two.xhtml",
         PAGE("<h2>Two</h2><table><tr><th>k</th><th>v</th></tr><tr><td>1</td><td>2</td></tr></table>")},
        {NULL, NULL}};
    expect_text(&extract_epub_ops, parts,
                "**Title:** The Weir\n\n**Authors:** Ann & Co, Bob\n\n# One\n\nGrüße, **all**.\n\n- a\n    - "
                "b\n\n![Cover](cover.png)\n\n## Two\n\n| k | v |\n| --- | --- |\n| 1 | 2 |\n");
}

static void a_book_without_container_is_found(void **state)
{
    (void)state;
    static const struct part parts[] = {{"content.opf", OPF("", ITEM("a", "a.html"), REF("a"))},
                                        {"a.html", PAGE("<p>text</p>")},
                                        {NULL, NULL}};
    expect_text(&extract_epub_ops, parts, "text\n");
}

#define BOOK(opf)                                                                                            \
    CONTAINER,                                                                                               \
    {                                                                                                        \
        "OEBPS/book.opf", opf                                                                                \
    }
#define ENCRYPTED(algorithm)                                                                                 \
    {                                                                                                        \
        "META-INF/encryption.xml", "<encryption><EncryptedData><EncryptionMethod Algorithm=\"" algorithm     \
                                   "\"/></EncryptedData></encryption>"                                       \
    }

static void what_is_no_book_is_refused(void **state)
{
    (void)state;
    static const struct {
        struct part parts[6];
        const char *says;
    } cases[] = {
        {{{"mimetype", "application/epub+zip"}}, "package document is missing"},
        {{CONTAINER}, "package document is missing"},
        {{BOOK("<package/>")}, "has no spine"},
        {{BOOK("<package><spine/>")}, "OEBPS/book.opf"},
        {{BOOK("<!DOCTYPE p [<!ENTITY a \"b\">]><package>&a;</package>")}, "document type"},
        {{BOOK(OPF("", ITEM("a", "gone.xhtml"), REF("a")))}, "the chapter gone.xhtml is missing"},
        {{BOOK(OPF("", ITEM("a", "../../../etc/passwd"), REF("a")))}, "is missing"},
        {{BOOK(OPF("", ITEM("a", "a.xhtml"), "")), {"OEBPS/a.xhtml", PAGE("x")}}, "no chapters"},
        {{BOOK(OPF("", ITEM("a", "a.xhtml"), REF("a"))),
          {"OEBPS/a.xhtml", PAGE("x")},
          ENCRYPTED("http://www.w3.org/2001/04/xmlenc#aes256-cbc")},
         "is encrypted"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct buf zip;
        pack(&zip, cases[i].parts);
        expect_refusal(&extract_epub_ops, buf_span(&zip), RENDER_INVALID, cases[i].says);
        buf_free(&zip);
    }
}

static void obfuscated_fonts_are_no_lock(void **state)
{
    (void)state;
    static const struct part parts[] = {BOOK(OPF("", ITEM("a", "a.xhtml"), REF("a"))),
                                        {"OEBPS/a.xhtml", PAGE("x")},
                                        ENCRYPTED("http://www.idpf.org/2008/embedding"),
                                        {NULL, NULL}};
    expect_text(&extract_epub_ops, parts, "x\n");
}

/* One small chapter that the spine names again and again is paid for each time. */
static void a_chapter_without_end_is_refused(void **state)
{
    (void)state;
    struct buf page, opf, zip;
    buf_init(&page, 1 << 24);
    buf_init(&opf, 1 << 24);
    for (int i = 0; i < 20000; i++)
        buf_adds(&page, "<p>x</p>");
    buf_adds(&opf, "<package><manifest>" ITEM("a", "a.xhtml") "</manifest><spine>");
    for (int i = 0; i < 1000; i++)
        buf_adds(&opf, REF("a"));
    buf_adds(&opf, "</spine></package>");
    const struct part parts[] = {
        CONTAINER, {"OEBPS/book.opf", buf_cstr(&opf)}, {"OEBPS/a.xhtml", buf_cstr(&page)}, {NULL, NULL}};
    pack(&zip, parts);
    expect_refusal(&extract_epub_ops, buf_span(&zip), RENDER_LIMIT, "500");
    buf_free(&page);
    buf_free(&opf);
    buf_free(&zip);
}

static void every_cut_is_refused(void **state)
{
    (void)state;
    static const struct part parts[] = {
        BOOK(OPF("", ITEM("a", "a.xhtml"), REF("a"))), {"OEBPS/a.xhtml", PAGE("<p>x</p>")}, {NULL, NULL}};
    expect_cuts_refused(&extract_epub_ops, parts);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(metadata_then_chapters_by_the_spine),
        cmocka_unit_test(a_book_without_container_is_found),
        cmocka_unit_test(what_is_no_book_is_refused),
        cmocka_unit_test(obfuscated_fonts_are_no_lock),
        cmocka_unit_test(a_chapter_without_end_is_refused),
        cmocka_unit_test(every_cut_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
