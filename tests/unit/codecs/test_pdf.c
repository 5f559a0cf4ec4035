/* Pages: what the bytes of a PDF say about its pages, links, outline, structure and fonts. (What it looks
 * like and what its text is, readers of PDF say in the tests of the whole program.) */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "artifacts/page.h"
#include "tests/font_leaks.h"

extern const struct renderer_ops render_pdf;

struct made {
    enum render_status status;
    struct buf bytes;
    char sentence[RENDER_SENTENCE];
};

static void render_with(struct span source, const struct render_params *params, struct made *m)
{
    m->sentence[0] = '\0';
    buf_init(&m->bytes, render_pdf.limits.out_bytes);
    m->status = render_pdf.render(source, params, &m->bytes, m->sentence);
}

static struct made render(const char *source, const char *options)
{
    struct made m;
    struct render_params params = {
        .format = "pdf", .title = "", .made_at = 1790000000, .options = span_str(options)};
    render_with(span_str(source), &params, &m);
    assert_int_equal(m.status, RENDER_OK);
    assert_true(m.bytes.n > 8 && memcmp(m.bytes.data + m.bytes.start, "%PDF-1.5", 8) == 0);
    return m;
}

static unsigned count(const struct made *m, const char *text)
{
    const char *p = m->bytes.data + m->bytes.start, *end = p + m->bytes.n;
    unsigned n = 0;
    for (; (p = memmem(p, (size_t)(end - p), text, strlen(text))); p++)
        n++;
    return n;
}

/* "/Type /Page" without "/Type /Pages". */
static unsigned pages(const struct made *m)
{
    return count(m, "/Type /Page") - count(m, "/Type /Pages");
}

static void a_document(void **state)
{
    struct made m =
        render("# Title\n\nText with [a link](https://example.org/x?a='b').\n\n## Part\n\n- one\n- two\n\n"
               "| A | B |\n| --- | --: |\n| 1 | 2 |\n\n> quote\n\n```c\nint x;\n```\n\n---\n",
               "{\"author\":\"Ann\"}");
    (void)state;
    assert_int_equal(pages(&m), 1);
    assert_int_equal(count(&m, "https://example.org/x?a=%27b%27"), 1);
    assert_true(count(&m, "/StructTreeRoot") && count(&m, "/Outlines"));
    assert_int_equal(count(&m, "/S /H1") + count(&m, "/S /H2"), 2);
    assert_int_equal(count(&m, "/S /LI"), 2 + 0);
    assert_int_equal(count(&m, "/S /TH"), 2);
    assert_int_equal(count(&m, "/S /TD"), 2);
    assert_int_equal(count(&m, "/S /BlockQuote"), 1);
    assert_true(count(&m, "(Title)") >= 1 && count(&m, "(Ann)") == 1);
    assert_true(count(&m, "/MediaBox [ 0 0 595") == 1);
    /* Every font is embedded. */
    assert_true(count(&m, "/FontDescriptor") > 0);
    assert_true(count(&m, "/FontFile2") + count(&m, "/FontFile3") > 0);
    buf_free(&m.bytes);
}

static void the_same_source_makes_the_same_bytes(void **state)
{
    struct made a = render("# One\n\nText.\n", ""), b = render("# One\n\nText.\n", "");
    (void)state;
    assert_true(a.bytes.n == b.bytes.n &&
                memcmp(a.bytes.data + a.bytes.start, b.bytes.data + b.bytes.start, a.bytes.n) == 0);
    buf_free(&a.bytes);
    buf_free(&b.bytes);
}

static void sheets(void **state)
{
    static const struct {
        const char *options, *box;
    } cases[] = {{"", "/MediaBox [ 0 0 595"},
                 {"{\"page_size\":\"Letter\"}", "/MediaBox [ 0 0 612 792"},
                 {"{\"page_size\":\"US Letter\"}", "/MediaBox [ 0 0 612 792"},
                 {"{\"page_size\":\"letter\",\"orientation\":\"landscape\"}", "/MediaBox [ 0 0 792 612"},
                 {"{\"page_size\":\"a5\"}", "/MediaBox [ 0 0 419"},
                 {"{\"page_size\":7}", "/MediaBox [ 0 0 595"},
                 {"not json", "/MediaBox [ 0 0 595"}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct made m = render("x", cases[i].options);
        if (count(&m, cases[i].box) != 1)
            fail_msg("%s: no %s", cases[i].options, cases[i].box);
        buf_free(&m.bytes);
    }
}

static void long_texts_break_into_pages(void **state)
{
    struct buf source;
    (void)state;
    buf_init(&source, 1 << 20);
    for (int i = 0; i < 200; i++)
        buf_printf(&source, "Paragraph %d with a few words.\n\n", i);
    struct made m = render(buf_cstr(&source), "");
    unsigned n = pages(&m);
    assert_true(n >= 4 && n <= 8);
    buf_free(&m.bytes);
    buf_reset(&source);
    /* The head of a table again on each page, but an element only once. */
    buf_adds(&source, "| Head | Other |\n| --- | --- |\n");
    for (int i = 0; i < 150; i++)
        buf_printf(&source, "| %d | x |\n", i);
    m = render(buf_cstr(&source), "");
    assert_true(pages(&m) >= 3);
    assert_int_equal(count(&m, "/S /TH"), 2);
    assert_int_equal(count(&m, "/S /TR"), 151);
    buf_free(&m.bytes);
    /* A cell that is longer than what is laid out at once makes the table paragraphs. */
    buf_reset(&source);
    buf_adds(&source, "| Head |\n| --- |\n| ");
    for (int i = 0; i < PAGE_PIECE; i++)
        buf_adds(&source, "w ");
    buf_adds(&source, "|\n");
    m = render(buf_cstr(&source), "");
    assert_int_equal(count(&m, "/S /TD"), 0);
    assert_true(pages(&m) >= 3);
    buf_free(&m.bytes);
    m = render("a\n\n<!-- pagebreak -->\n\nb\n", "");
    assert_int_equal(pages(&m), 2);
    buf_free(&m.bytes);
    buf_free(&source);
}

static void only_safe_links(void **state)
{
    struct made m = render("[a](javascript:alert(1)) [b](file:///etc/passwd) [c](mailto:a@example.org) "
                           "[d](https://e.example/\xc3\xa9\\)) <https://f.example/'(x)>",
                           "");
    (void)state;
    assert_int_equal(count(&m, "javascript"), 0);
    assert_int_equal(count(&m, "file:"), 0);
    assert_int_equal(count(&m, "mailto:a@example.org"), 1);
    assert_int_equal(count(&m, "%C3%A9"), 1);
    assert_int_equal(count(&m, "/S /URI"), 3);
    assert_int_equal(count(&m, "https://f.example/%27%28x%29"), 1);
    buf_free(&m.bytes);
    /* Titles and entries of the outline are PDF strings too. */
    m = render("# a) /X (b\\\n\n[x](<https://g.example/)/S/JavaScript/JS(>)\n", "{\"author\":\") /Y (\"}");
    assert_int_equal(count(&m, "(https://g.example/%29/S/JavaScript/JS%28)"), 1);
    assert_int_equal(count(&m, "/X ("), 0);
    assert_int_equal(count(&m, "/Y ("), 0);
    buf_free(&m.bytes);
}

/* Cairo 1.16 fails on a page whose first drawing is a picture within an element. */
static void emoji_first(void **state)
{
    static const char *const sources[] = {
        "\xf0\x9f\x98\x80", "# \xf0\x9f\x98\x80 x\n\ny\n", "a\n\n<!-- pagebreak -->\n\n\xf0\x9f\x98\x80",
        "|\xf0\x9f\x98\x80|\n|---|\n|\xf0\x9f\x98\x80|\n", "> - \xf0\x9f\x98\x80"};
    (void)state;
    for (size_t i = 0; i < sizeof sources / sizeof *sources; i++) {
        struct made m = render(sources[i], "");
        buf_free(&m.bytes);
    }
}

static void write_png(int width, int height, struct buf *out)
{
    cairo_surface_t *s = cairo_image_surface_create(CAIRO_FORMAT_RGB24, width, height);
    buf_init(out, 1 << 20);
    assert_int_equal(cairo_surface_write_to_png_stream(s, draw_write, out), CAIRO_STATUS_SUCCESS);
    cairo_surface_destroy(s);
}

static void pictures(void **state)
{
    struct buf png;
    struct made m;
    (void)state;
    write_png(30, 20, &png);
    struct render_asset assets[] = {{"plot.png", "image/png", buf_span(&png)},
                                    {"cut.png", "image/png", span_of(png.data + png.start, png.n / 2)},
                                    {"none.png", "image/png", SPAN_LIT("GIF89a")}};
    struct render_params params = {.format = "pdf", .title = "", .assets = assets, .n_assets = 3};
    render_with(SPAN_LIT("before ![plot](plot.png) after ![x](./PLOT.png)"), &params, &m);
    assert_int_equal(m.status, RENDER_OK);
    assert_string_equal(m.sentence, "");
    assert_true(count(&m, "/Width 30") >= 1);
    assert_int_equal(count(&m, "/S /Figure"), 2);
    buf_free(&m.bytes);
    render_with(SPAN_LIT("![a](cut.png) ![b](none.png) ![c](missing.png)"), &params, &m);
    assert_int_equal(m.status, RENDER_OK);
    assert_non_null(strstr(m.sentence, "3 pictures"));
    buf_free(&m.bytes);
    render_with(SPAN_LIT("```chart\n{\"type\":\"bar\",\"data\":[1,2]}\n```\n\n```chart\nnothing\n```\n"),
                &params, &m);
    assert_int_equal(m.status, RENDER_OK);
    assert_int_equal(count(&m, "/S /Figure"), 1);
    assert_int_equal(count(&m, "/S /Code"), 1);
    buf_free(&m.bytes);
    buf_free(&png);
}

static void huge_pictures_are_refused(void **state)
{
    /* A head that promises 60,000 by 60,000 pixels. */
    static const char bomb[] = "\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\xea\x60\0\0\xea\x60\x08\x02\0\0\0\0\0\0\0";
    static const char jpeg[] = "\xff\xd8\xff\xc0\0\x11\x08\xff\xff\xff\xff\x03\0\0\0\0\0\0\0\0\0";
    double w, h;
    (void)state;
    assert_null(draw_picture(span_of(bomb, sizeof bomb), &w, &h));
    assert_null(draw_picture(span_of(jpeg, sizeof jpeg), &w, &h));
    assert_null(draw_picture(SPAN_LIT(""), &w, &h));
}

static void too_long_is_said(void **state)
{
    struct buf source;
    struct made m;
    struct render_params params = {.format = "pdf", .title = ""};
    (void)state;
    buf_init(&source, 1 << 20);
    for (int i = 0; i <= PAGE_MAX; i++)
        buf_adds(&source, "x\n\n<!-- pagebreak -->\n\n");
    render_with(buf_span(&source), &params, &m);
    assert_int_equal(m.status, RENDER_LIMIT);
    assert_non_null(strstr(m.sentence, "2000 pages"));
    buf_free(&m.bytes);
    buf_free(&source);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_document),       cmocka_unit_test(the_same_source_makes_the_same_bytes),
        cmocka_unit_test(sheets),           cmocka_unit_test(long_texts_break_into_pages),
        cmocka_unit_test(only_safe_links),  cmocka_unit_test(emoji_first),
        cmocka_unit_test(pictures),         cmocka_unit_test(huge_pictures_are_refused),
        cmocka_unit_test(too_long_is_said),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
