/* Archives: their parts, paths, and what is drawn within. */
#include "office_reader.h"

extern const struct renderer_ops render_zip;

static struct made render(const char *source)
{
    struct made m;
    struct render_params params = {.format = "zip", .title = "", .made_at = 1790000000};
    render_into(&render_zip, span_str(source), &params, &m);
    return m;
}

static struct made good(const char *source)
{
    struct made m = render(source);
    if (m.status != RENDER_OK)
        print_message("%s: %s\n", source, m.sentence);
    assert_int_equal(m.status, RENDER_OK);
    return m;
}

static void expect(struct made *m, const char *name, const char *want)
{
    const char *have = part(m, name);
    if (!have)
        print_message("no part %s\n", name);
    assert_non_null(have);
    assert_string_equal(have, want);
}

static unsigned count(struct made *m)
{
    struct span zip = buf_span(&m->bytes);
    return little(zip.p + zip.n - 12, 2);
}

static void parts_under_lines(void **state)
{
    (void)state;
    struct made m = good(
        "\n=== src/a.py ===\nprint(1)\n\n=== README.md ===\r\n# A\r\n\r\ntext\r\n=== empty.txt ===\n"
        "=== b.c ===\n```c\nint x;\n```\n=== c.md ===\n```\nx\n```\n\n```\ny\n```\n=== .gitignore ===\n*.o");
    assert_int_equal(count(&m), 6);
    expect(&m, "src/a.py", "print(1)\n");
    expect(&m, "README.md", "# A\r\n\r\ntext");
    expect(&m, "empty.txt", "");
    expect(&m, "b.c", "int x;");
    expect(&m, "c.md", "```\nx\n```\n\n```\ny\n```");
    expect(&m, ".gitignore", "*.o");
    struct made again = good(
        "\n=== src/a.py ===\nprint(1)\n\n=== README.md ===\r\n# A\r\n\r\ntext\r\n=== empty.txt ===\n"
        "=== b.c ===\n```c\nint x;\n```\n=== c.md ===\n```\nx\n```\n\n```\ny\n```\n=== .gitignore ===\n*.o");
    assert_int_equal(again.bytes.n, m.bytes.n);
    assert_memory_equal(buf_span(&again.bytes).p, buf_span(&m.bytes).p, m.bytes.n);
    made_free(&again);
    made_free(&m);
}

static void parts_in_json(void **state)
{
    (void)state;
    struct made m = good(
        "{\"files\":[{\"path\":\"a/b.txt\",\"content\":\"x\\ny\"},{\"path\":\"n.bin\",\"base64\":\"AAEC\"},"
        "{\"path\":\"c.json\",\"content\":{\"k\": 1.0}},{\"path\":\"p.png\",\"encoding\":\"base64\","
        "\"content\":\"data:image/png;base64,iVBORw0KGgo=\"},{\"path\":\"nil\",\"content\":null}]}");
    expect(&m, "a/b.txt", "x\ny");
    assert_memory_equal(part(&m, "n.bin"), "\0\1\2", 3);
    expect(&m, "c.json", "{\"k\": 1.0}");
    expect(&m, "p.png", "\x89PNG\r\n\x1a\n");
    expect(&m, "nil", "");
    made_free(&m);
    m = good("[{\"filename\":\"a.txt\",\"content\":\"1\"}]");
    expect(&m, "a.txt", "1");
    made_free(&m);
    m = good("{\"a.txt\":\"1\",\"d/b.txt\":\"2\"}");
    expect(&m, "d/b.txt", "2");
    made_free(&m);
}

static void paths_lead_nowhere_else(void **state)
{
    (void)state;
    struct made m =
        good("=== ../../etc/passwd ===\n1\n=== /abs/./b.txt ===\n2\n=== C:\\dir\\c.txt ===\n3\n"
             "=== a\xe2\x80\xaeg.txt ===\n4\n=== x/A.txt ===\n5\n=== x/a.TXT ===\n6\n=== con.txt ===\n7\n"
             "=== nul/d.txt ===\n8\n=== e... ===\n9\n");
    assert_int_equal(count(&m), 9);
    expect(&m, "etc/passwd", "1");
    expect(&m, "abs/b.txt", "2");
    expect(&m, "C_/dir/c.txt", "3");
    expect(&m, "ag.txt", "4");
    expect(&m, "x/A.txt", "5");
    expect(&m, "x/a (2).TXT", "6");
    expect(&m, "_con.txt", "7");
    expect(&m, "_nul/d.txt", "8");
    expect(&m, "e", "9");
    made_free(&m);
}

/* What has a source of its own is drawn, with the pictures of the reply. */
static void documents_are_drawn(void **state)
{
    (void)state;
    struct made m =
        good("=== r.docx ===\n# Report\n\ntext\n=== t.csv ===\na;b\n=1;2\n=== t.tsv ===\na\t=1\n"
             "=== c.ics ===\nBEGIN:VEVENT\nUID:1\nDTSTART:20260701\nEND:VEVENT\n=== s.xlsx ===\na,b\n1,2\n"
             "=== k.svg ===\n<svg><rect/></svg>\n=== chart.png ===\n{\"type\":\"bar\",\"data\":{\"A\":1}}\n");
    assert_memory_equal(part(&m, "r.docx"), "PK\3\4", 4);
    expect(&m, "t.csv", "a,b\r\n'=1,2\r\n");
    expect(&m, "t.tsv", "a\t'=1");
    assert_holds(part(&m, "c.ics"), "DTSTART;VALUE=DATE:20260701\r\n");
    assert_memory_equal(part(&m, "s.xlsx"), "PK\3\4", 4);
    expect(&m, "k.svg", "<svg><rect/></svg>");
    assert_memory_equal(part(&m, "chart.png"), "\x89PNG", 4);
    made_free(&m);
}

static void refused(const char *source, enum render_status status, const char *why)
{
    struct made m = render(source);
    if (m.status != status || !strstr(m.sentence, why))
        print_message("%s: %d %s\n", source, (int)m.status, m.sentence);
    assert_int_equal(m.status, status);
    assert_holds(m.sentence, why);
    made_free(&m);
}

static void what_cannot_be_packed_is_refused(void **state)
{
    (void)state;
    refused("", RENDER_INVALID, "no parts");
    refused("text", RENDER_INVALID, "=== path ===");
    refused("Here:\n=== a ===\nx", RENDER_INVALID, "=== path ===");
    refused("=== .. ===\nx", RENDER_INVALID, "\"..\" has no file name");
    refused("=== a ===\n1\n=== a/b ===\n2", RENDER_INVALID, "another part for a folder");
    refused("=== in.zip ===\nx", RENDER_INVALID, "\"in.zip\" is an archive itself");
    refused("{\"files\":[{\"path\":\"a.bin\",\"base64\":\"UEsFBgAAAAAAAAAAAAAAAAAAAAAAAA==\"}]}",
            RENDER_INVALID, "is an archive itself");
    refused("=== a.mp3 ===\nla la", RENDER_INVALID, "is text, but");
    refused("{\"files\":[{\"path\":\"a.pdf\",\"base64\":\"aGVsbG8=\"}]}", RENDER_INVALID, "another type");
    refused("{\"files\":[{\"path\":\"a\",\"base64\":\"!\"}]}", RENDER_INVALID, "not valid base64");
    refused("{\"files\":[{\"path\":\"a\"}]}", RENDER_INVALID, "no \"content\"");
    refused("{\"files\":[{\"content\":\"a\"}]}", RENDER_INVALID, "no \"path\"");
    refused("{\"files\":7}", RENDER_INVALID, "without a list");
    refused("{\"files\":[", RENDER_INVALID, "not valid JSON");
    refused("=== a.svg ===\n<svg onload=\"x()\"/>", RENDER_INVALID,
            "\"a.svg\" a drawing may not hold scripts");
    refused("=== a.ics ===\nlunch", RENDER_INVALID, "\"a.ics\" it does not begin");
    struct buf many;
    buf_init(&many, 1 << 16);
    for (int i = 0; i < 101; i++)
        buf_printf(&many, "=== f%d ===\n", i);
    refused(buf_cstr(&many), RENDER_LIMIT, "more than 100 parts");
    buf_reset(&many);
    buf_adds(&many, "=== ");
    for (int i = 0; i < 17; i++)
        buf_adds(&many, "d/");
    buf_adds(&many, "f ===\nx");
    refused(buf_cstr(&many), RENDER_INVALID, "too long a path");
    buf_free(&many);
}

static void any_cut_is_answered(void **state)
{
    (void)state;
    static const char source[] = "=== a/b.txt ===\n```txt\nx\n```\n=== t.csv ===\na,b\n1,2\n=== c ===\n";
    static const char json[] =
        "{\"files\":[{\"path\":\"a\",\"content\":\"x\\u00e9\"},{\"path\":\"b\",\"base64\":\"AAEC\"}]}";
    for (size_t i = 0; i < sizeof source + sizeof json; i++) {
        bool second = i >= sizeof source;
        struct render_params params = {.format = "zip", .title = ""};
        struct made m;
        render_into(&render_zip, second ? span_of(json, i - sizeof source) : span_of(source, i), &params, &m);
        assert_true(m.status == RENDER_OK || (m.status == RENDER_INVALID && m.sentence[0]));
        made_free(&m);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(parts_under_lines),
        cmocka_unit_test(parts_in_json),
        cmocka_unit_test(paths_lead_nowhere_else),
        cmocka_unit_test(documents_are_drawn),
        cmocka_unit_test(what_cannot_be_packed_is_refused),
        cmocka_unit_test(any_cut_is_answered),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
