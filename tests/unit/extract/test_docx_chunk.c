/* Files of other kinds whose text stands in a Word document (altChunk). */
#include "attachments/extract_office.h"
#include "extract_made.h"

#define BODY(b)                                                                                              \
    "<w:document xmlns:w=\"w\" xmlns:r=\"r\"><w:body><w:p><w:r><w:t>before</w:t></w:r></w:p>" b              \
    "<w:p><w:r><w:t>after</w:t></w:r></w:p></w:body></w:document>"
#define CHUNK    "<w:altChunk r:id=\"r1\"/>"
#define NOTE(id) "<w:p><w:r><w:t>see</w:t><w:footnoteReference w:id=\"" id "\"/></w:r></w:p>"

static const char footnotes[] =
    "<w:footnotes xmlns:w=\"w\"><w:footnote w:id=\"4\"><w:p><w:r><w:t>four</w:t></w:r></w:p></w:footnote>"
    "<w:footnote w:id=\"5\"><w:p><w:r><w:t>five</w:t></w:r></w:p></w:footnote></w:footnotes>";
static const char styles[] = "<w:styles xmlns:w=\"w\"><w:style w:type=\"paragraph\" w:default=\"1\" "
                             "w:styleId=\"N\"><w:rPr><w:i/></w:rPr>"
                             "</w:style></w:styles>";

/* A document with a chunk of that name and those bytes. */
static void document(struct buf *zip, const char *body, const char *name, struct span chunk, bool slanted)
{
    char rels[512];
    snprintf(
        rels, sizeof rels,
        "<Relationships><Relationship Id=\"r1\" Type=\"x/aFChunk\" Target=\"%s\"/><Relationship Id=\"r2\" "
        "Type=\"x/footnotes\" Target=\"footnotes.xml\"/><Relationship Id=\"r3\" Type=\"x/styles\" "
        "Target=\"styles.xml\"/></Relationships>",
        name);
    char path[64];
    snprintf(path, sizeof path, "word/%s", name);
    const struct zip_member members[] = {
        {"[Content_Types].xml",
         SPAN_LIT("<Types><Override PartName=\"/word/document.xml\" ContentType=\"application/"
                  "vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml\"/></Types>"),
         0, 0, 8},
        {"word/document.xml", span_str(body), 0, 0, 8},
        {"word/_rels/document.xml.rels", span_str(rels), 0, 0, 8},
        {"word/footnotes.xml", span_str(footnotes), 0, 0, 8},
        {"word/styles.xml", span_str(slanted ? styles : "<w:styles xmlns:w=\"w\"/>"), 0, 0, 8},
        {path, chunk, 0, 0, 8},
    };
    buf_init(zip, 1 << 26);
    zip_make(zip, members, sizeof members / sizeof members[0]);
}

static void expect(struct span zip, const char *expected)
{
    struct text t = extract_bytes(&extract_docx_ops, zip);
    assert_string_equal(t.sentence, "");
    assert_string_equal(buf_cstr(&t.out), expected);
    buf_free(&t.out);
}

static void what_it_says_stands_where_it_is(void **state)
{
    (void)state;
    static const struct {
        const char *name, *chunk, *expected;
    } cases[] = {
        {"a.htm", "<html><body><h2>T</h2><p>a <b>b</b><ul><li>c</ul></body></html>",
         "before\n\n## T\n\na **b**\n\n- c\n\nafter\n"},
        {"a.dat", " <p>a fragment</p>", "before\n\na fragment\n\nafter\n"},
        {"a.htm", "<p>caf\xe9</p>", "before\n\ncaf\xc3\xa9\n\nafter\n"},
        {"a.txt", "one\r\n\r\n  two | three", "before\n\none\n\ntwo | three\n\nafter\n"},
        {"a.rtf", "{\\rtf1 in {\\b bold}{\\footnote rich}\\par}",
         "before\n\nin **bold[^1]**\n\n[^1]: rich\n\nsee[^2]\n\nafter\n\n[^2]: five\n"},
        {"a.txt", "", "before\n\nafter\n"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct buf zip;
        bool noted = strstr(cases[i].expected, "see") != NULL;
        document(&zip, noted ? BODY(CHUNK NOTE("5")) : BODY(CHUNK), cases[i].name, span_str(cases[i].chunk),
                 false);
        expect(buf_span(&zip), cases[i].expected);
        buf_free(&zip);
    }
}

static void documents_may_hold_documents(void **state)
{
    (void)state;
    struct buf inner, outer;
    document(&inner, BODY(NOTE("4")), "none.txt", SPAN_LIT(""), true);
    document(&outer, BODY(NOTE("5") CHUNK NOTE("5")), "inner.docx", buf_span(&inner), false);
    expect(buf_span(&outer),
           "before\n\nsee[^1]\n\n*before*\n\n*see[^2]*\n\n*after*\n\n[^2]: *four*\n\nsee[^1]\n\n"
           "after\n\n[^1]: five\n");
    buf_free(&inner);
    buf_free(&outer);
}

static void not_endlessly(void **state)
{
    (void)state;
    struct buf zip, around;
    document(&zip, BODY(""), "none.txt", SPAN_LIT(""), false);
    for (int depth = 1; depth <= 4; depth++) {
        document(&around, BODY(CHUNK), "inner.docx", buf_span(&zip), false);
        buf_free(&zip);
        zip = around;
        if (depth < 4)
            expect(buf_span(&zip), depth == 1   ? "before\n\nbefore\n\nafter\n\nafter\n"
                                   : depth == 2 ? "before\n\nbefore\n\nbefore\n\nafter\n\nafter\n\nafter\n"
                                                : "before\n\nbefore\n\nbefore\n\nbefore\n\nafter\n\nafter\n\n"
                                                  "after\n\nafter\n");
    }
    expect_refusal(&extract_docx_ops, buf_span(&zip), RENDER_INVALID,
                   "holds documents inside one another, more than 3 deep");
    buf_free(&zip);
}

static void others_are_refused_by_name(void **state)
{
    (void)state;
    static const struct {
        const char *name, *chunk, *says;
    } cases[] = {
        {"a.mht", "MIME-Version: 1.0\r\n\r\n<html>x</html>", "holds text as an embedded document"},
        {"a.xml", "<?xml version=\"1.0\"?><pkg:package xmlns:pkg=\"p\"/>",
         "holds text as an embedded document"},
        {"a.bin", "%PDF-1.7\n", "holds text as an embedded document"},
        {"a.rtf", "{\\rtf1 cut {\\b off", "is damaged: it ends within a group"},
        {"a.docx", "PK\3\4 and nothing else", "holds text as an embedded document"},
    };
    struct buf zip;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        document(&zip, BODY(CHUNK), cases[i].name, span_str(cases[i].chunk), false);
        expect_refusal(&extract_docx_ops, buf_span(&zip), RENDER_INVALID, cases[i].says);
        buf_free(&zip);
    }
    document(&zip, BODY("<w:altChunk r:id=\"r9\"/>"), "a.txt", SPAN_LIT("x"), false);
    expect_refusal(&extract_docx_ops, buf_span(&zip), RENDER_INVALID,
                   "an embedded document that is not in it");
    buf_free(&zip);
}

/* A document inside of another one that is cut is refused; what is left of its first bytes is text. */
static void cut_at_every_offset(void **state)
{
    (void)state;
    struct buf inner, outer;
    document(&inner, BODY(NOTE("4")), "none.txt", SPAN_LIT("x"), true);
    for (size_t n = 0; n < inner.n; n++) {
        document(&outer, BODY(CHUNK), "inner.docx", span_of(buf_span(&inner).p, n), false);
        struct text t = extract_bytes(&extract_docx_ops, buf_span(&outer));
        assert_int_not_equal(t.status, RENDER_FAILED);
        assert_true(n < 4 || t.status != RENDER_OK || strstr(buf_cstr(&t.out), "*before*"));
        buf_free(&t.out);
        buf_free(&outer);
    }
    buf_free(&inner);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_it_says_stands_where_it_is),
        cmocka_unit_test(documents_may_hold_documents),
        cmocka_unit_test(not_endlessly),
        cmocka_unit_test(others_are_refused_by_name),
        cmocka_unit_test(cut_at_every_offset),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
