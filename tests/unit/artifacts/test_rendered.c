/* What is asked of a renderer, and what is taken from it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "artifacts/artifact.h"
#include "jobs/document.h"

enum { MAX = 1 << 20 };

static const struct rendered all = {.formats = {"docx", "png", "svg"}, .n = 3};

static enum flag parse(const char *metadata, const char *content, struct directive_parts *out)
{
    char text[4096], sentence[LIMIT_ERROR_TEXT];
    snprintf(text, sizeof text, "\n%s\n---\n%s\n", metadata, content);
    return directive_parse(span_str(text), MAX, out, sentence);
}

static void sources_are_told_from_files(void **state)
{
    static const struct {
        const char *metadata, *content;
        bool wanted;
    } rows[] = {
        {"{\"format\":\"docx\"}", "# Title", true},
        {"{\"format\":\"docx\"}", "", true},
        {"{\"format\":\"docx\",\"encoding\":\"base64\"}", "UEsDBA==", false},
        {"{\"format\":\"png\"}", "{\"type\":\"bar\"}", true},
        {"{\"format\":\"png\"}",
         "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAQAAAC1HAwCAAAAC0lEQVR42mNk+A8AAQUBAScY42YAAAAASUVORK5CYII=",
         false},
        {"{\"format\":\"png\"}", "abcdefgh", true},
        {"{\"format\":\"svg\"}", "\n <svg xmlns=\"http://www.w3.org/2000/svg\"/>", false},
        {"{\"format\":\"svg\"}", "{\"type\":\"pie\"}", true},
        {"{\"format\":\"pdf\"}", "# Not made here", false},
        {"{\"format\":\"md\"}", "# A text", false},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct directive_parts parts;
        assert_int_equal(parse(rows[i].metadata, rows[i].content, &parts), FLAG_NONE);
        const struct format *format = format_find_any(span_str(parts.format));
        assert_non_null(format);
        if (render_is_wanted(&all, &parts, format) != rows[i].wanted)
            fail_msg("%s %s", rows[i].metadata, rows[i].content);
        assert_false(render_is_wanted(NULL, &parts, format));
        directive_parts_free(&parts);
    }
}

static void want(const char *metadata, const char *content, int64_t made_at,
                 const struct rendered_asset *assets, size_t n, struct render_wanted *out)
{
    struct directive_parts parts;
    char sentence[LIMIT_ERROR_TEXT];
    assert_int_equal(parse(metadata, content, &parts), FLAG_NONE);
    *out = (struct render_wanted){.wanted = false};
    enum flag flag = render_wanted_read(&all, &parts, format_find_binary(SPAN_LIT("docx")), "a.docx", made_at,
                                        assets, n, out, sentence);
    assert_int_equal(flag, FLAG_NONE);
    assert_true(out->wanted);
    directive_parts_free(&parts);
}

static void a_document_says_what_the_directive_said(void **state)
{
    struct render_wanted w;
    struct rendered_asset asset = {.name = "a.png", .media_type = "image/png"};
    struct stat st;
    struct document d;
    (void)state;
    buf_init(&asset.bytes, 100);
    buf_adds(&asset.bytes, "PNG");
    want("{\"format\":\"docx\",\"title\":\"T\",\"author\":\"me\"}", "# Hi", 77, &asset, 1, &w);
    assert_string_equal(w.format, "docx");
    assert_int_equal(fstat(w.document, &st), 0);
    char *p = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, w.document, 0);
    assert_int_equal(document_read(span_of(p, (size_t)st.st_size), &d), 0);
    assert_string_equal(d.params.title, "T");
    assert_string_equal(d.params.filename, "a.docx");
    assert_true(d.params.made_at == 77);
    assert_non_null(memmem(d.params.options.p, d.params.options.n, "author", 6));
    assert_true(span_is(d.assets[0].bytes, "PNG"));
    assert_true(span_starts(d.source, "# Hi"));
    document_finish(&d);
    munmap(p, (size_t)st.st_size);
    render_wanted_free(&w);
    assert_int_equal(fstat(w.document, &st), -1); /* closed */
    buf_free(&asset.bytes);
}

static bool same_digest(const char *metadata, const char *content, int64_t at,
                        const struct rendered_asset *assets, size_t n)
{
    struct render_wanted a, b;
    want("{\"format\":\"docx\"}", "x", 1, NULL, 0, &a);
    want(metadata, content, at, assets, n, &b);
    bool same = memcmp(a.digest, b.digest, DIGEST) == 0;
    render_wanted_free(&a);
    render_wanted_free(&b);
    return same;
}

static void everything_but_the_time_is_in_the_digest(void **state)
{
    struct rendered_asset asset = {.name = "a.png"};
    (void)state;
    assert_true(same_digest("{\"format\":\"docx\"}", "x", 99, NULL, 0));
    assert_false(same_digest("{\"format\":\"docx\"}", "y", 1, NULL, 0));
    assert_false(same_digest("{\"format\":\"docx\",\"page_size\":\"A5\"}", "x", 1, NULL, 0));
    assert_false(same_digest("{\"format\":\"docx\"}", "x", 1, &asset, 1));
}

static void what_a_renderer_says_is_made_harmless(void **state)
{
    char out[LIMIT_ERROR_TEXT], longest[RENDER_SENTENCE];
    const struct format *docx = format_find_binary(SPAN_LIT("docx"));
    (void)state;
    render_clause(docx, "line 3 is no table.", out);
    assert_string_equal(out, "the format docx: line 3 is no table");
    render_clause(docx,
                  "a\nb\x1b[2J\xff\xe2\x80\xae"
                  "c; ",
                  out);
    assert_string_equal(out, "the format docx: a b [2J\xef\xbf\xbd c");
    memset(longest, 'x', sizeof longest - 1);
    longest[sizeof longest - 1] = '\0';
    render_clause(docx, longest, out);
    assert_int_equal(strlen(out), strlen("the format docx: ") + RENDER_SENTENCE - 1);
}

static void a_file_of_another_type_is_not_taken(void **state)
{
    const struct format *pdf = format_find_binary(SPAN_LIT("pdf")), *svg = format_find(SPAN_LIT("svg"));
    (void)state;
    assert_int_equal(render_check(pdf, SPAN_LIT("%PDF-1.7\n")), 0);
    assert_int_equal(render_check(pdf, SPAN_LIT("<html>")), -1);
    assert_int_equal(render_check(pdf, SPAN_LIT("")), -1);
    assert_int_equal(render_check(svg, SPAN_LIT("<svg xmlns=\"http://www.w3.org/2000/svg\"/>")), 0);
    assert_int_equal(render_check(svg, SPAN_LIT("<html/>")), -1);
    const struct format *csv = format_find(SPAN_LIT("csv")), *zip = format_find_binary(SPAN_LIT("zip"));
    assert_int_equal(render_check(csv, SPAN_LIT("a,b\r\n")), 0);
    assert_int_equal(render_check(csv, SPAN_LIT("a,\xff")), -1);
    assert_int_equal(render_check(csv, SPAN_LIT("%PDF-1.7\n")), -1);
    assert_int_equal(render_check(zip, SPAN_LIT("PK\3\4 and more that is needed")), 0);
    assert_int_equal(render_check(zip, SPAN_LIT("a,b\r\n")), -1);
}

static bool is_sales(void *arg, struct span name)
{
    (void)arg;
    return span_is_nocase(name, "sales.png");
}

/* Which sources name a picture beside sales.png. */
static void missing_pictures_are_found(void **state)
{
    static const struct {
        const char *format, *source;
        bool lacks;
    } cases[] = {
        {"docx", "text", false},
        {"docx", "![a](sales.png) ![b](./Sales.PNG) ![c](<sales.png>) ![d](attachment:sales.png)", false},
        {"docx", "![a](other.png)", true},
        {"pdf", "![a [b]](other.jpeg \"title\")", true},
        {"docx", "[a](other.png)", false},
        {"docx", "![a](other.txt) ![b](http://h.test/a.png) ![c](dir/a.png) ![d](data:image/png;base64,AAAA)",
         false},
        {"docx", "```\n![a](other.png)\n```\n", false},
        {"docx", "```\nx\n```\n![a](other.png)\n", true},
        {"docx", "![a\n](other.png)", false},
        {"docx", "<p><img alt=\"x\" src=\"other.png\"></p>", true},
        {"pptx", "{\"slides\":[{\"image\": \"other.png\"}]}", true},
        {"pptx", "{\"slides\":[{\"image\": \"sales.png\"}]}", false},
        {"csv", "![a](other.png)", false},
        {"zip", "=== r.docx ===\n![a](other.png)", true},
        {"zip", "=== README.md ===\n![a](img.png)\n=== img.png ===\nAAAA", false},
        {"zip", "{\"files\":[{\"path\":\"a.md\",\"content\":\"![a](img.png)\"},{\"path\":\"d/img.png\"}]}",
         false},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        if (rendered_lacks(format_find_any(span_str(cases[i].format)), span_str(cases[i].source), is_sales,
                           NULL) != cases[i].lacks)
            fail_msg("%s: %s", cases[i].format, cases[i].source);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sources_are_told_from_files),
        cmocka_unit_test(a_document_says_what_the_directive_said),
        cmocka_unit_test(everything_but_the_time_is_in_the_digest),
        cmocka_unit_test(what_a_renderer_says_is_made_harmless),
        cmocka_unit_test(a_file_of_another_type_is_not_taken),
        cmocka_unit_test(missing_pictures_are_found),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
