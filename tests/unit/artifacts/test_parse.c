/* directive_parse: the metadata, separators, fences, escapes and failures of product.md §3. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "artifacts/artifact.h"

enum { MAX = 1 << 20 };

struct row {
    const char *text, *filename, *format, *content;
};

static void check(const struct row *r)
{
    struct directive_parts p;
    char sentence[LIMIT_ERROR_TEXT];
    enum flag flag = directive_parse(span_str(r->text), MAX, &p, sentence);
    if (flag != FLAG_NONE)
        fail_msg("%s: %s: %s", r->text, flag_name(flag), sentence);
    assert_string_equal(p.filename, r->filename);
    assert_string_equal(p.format, r->format);
    if (strcmp(buf_cstr(&p.content), r->content) != 0)
        fail_msg("%s: content [%s], wanted [%s]", r->text, buf_cstr(&p.content), r->content);
    directive_parts_free(&p);
}

static void run(const struct row *rows, size_t n)
{
    for (size_t i = 0; i < n; i++)
        check(&rows[i]);
}

#define RUN(rows) run(rows, sizeof(rows) / sizeof((rows)[0]))
#define META      "{\"filename\":\"a.md\",\"format\":\"md\"}"

static void metadata_as_models_write_it(void **state)
{
    (void)state;
    static const struct row rows[] = {
        {"\n" META "\n---\n# A\n", "a.md", "md", "# A"},
        {"\n```json\n" META "\n```\n---\n# A\n", "a.md", "md", "# A"},
        {"\n```json\n" META "\n```\n# A\n", "a.md", "md", "# A"},
        {"\n```\n" META "\n---\n# A\n```\n", "a.md", "md", "# A"},
        {"\n{'filename':'a.md','format':'md'}\n---\n# A\n", "a.md", "md", "# A"},
        {"\n{'filename':'it's.md','format':'md'}\n---\n# A\n", "it's.md", "md", "# A"},
        {"\n{\"filename\":\"a.md\",\"format\":\"md\",}\n---\n# A\n", "a.md", "md", "# A"},
        {"\n{\u201cfilename\u201d: \u201ca.md\u201d, \u2018format\u2019: \u2018md\u2019}\n---\n# A\n", "a.md",
         "md", "# A"},
        {"\n{filename: \"a.md\", format: md}\n---\n# A\n", "a.md", "md", "# A"},
        {"\n{\"filename\":\"a.md\", // the name\n /* and */ \"format\":\"md\" # so\n}\n---\n# A\n", "a.md",
         "md", "# A"},
        {"\n{\"filename\":\"a.md\",\"format\":\"md\",\"title\":None,\"x\":[1,2,],}\n---\n# A\n", "a.md", "md",
         "# A"},
        {"\n{\"filename\":\"a.md\",\"format\":\"md\",\"x\":1e999,\"y\":123456789012345678901234567890}\n---"
         "\n# A\n",
         "a.md", "md", "# A"},
        {"\n{\"filename\":\"a.md\",\"format\":\"md\",\"description\":\"two\nlines\"}\n---\n# A\n", "a.md",
         "md", "# A"},
        {" " META "\n---\n# A\n", "a.md", "md", "# A"},
        {"\r\n" META "\r\n---\r\n# A\r\n", "a.md", "md", "# A"},
        {"  \n" META " \t\n---  \n# A\n", "a.md", "md", "# A"},
        {"\n{\n  \"filename\":\"a.md\",\n  \"format\":\"md\"\n}\n---\n# A\n", "a.md", "md", "# A"},
        {">>>\n" META "\n---\n# A\n", "a.md", "md", "# A"},
        {"\n{\"filename\":\"a.md\"}\n---\n# A\n", "a.md", "md", "# A"},
        {"\n{\"filename\":\"A.MD\"}\n---\n# A\n", "A.MD", "md", "# A"},
        {"\n{\"filename\":\"a.md\",\"format\":\".MD \"}\n---\n# A\n", "a.md", "md", "# A"},
        {"\n{\"format\":\"md\",\"title\":null,\"unknown\":{\"a\":[]}}\n---\n# A\n", "", "md", "# A"},
        {"\n{\"filename\":\"x\\u0000y.md\"}\n---\n# A\n", "xy.md", "md", "# A"},
        {"\n{\"filename\":\"x\\ud800.md\"}\n---\n# A\n", "x\ufffd.md", "md", "# A"},
    };
    RUN(rows);
}

static void separators_and_content(void **state)
{
    (void)state;
    static const struct row rows[] = {
        {"\n" META "\n-----\n# A\n", "a.md", "md", "# A"},
        {"\n" META "\n===\n# A\n", "a.md", "md", "# A"},
        {"\n" META "\n***\n# A\n", "a.md", "md", "# A"},
        {"\n" META "\n\u2014\u2014\u2014\n# A\n", "a.md", "md", "# A"},
        {"\n" META "\n  ---\n# A\n", "a.md", "md", "# A"},
        {"\n" META "\n--\n# A\n", "a.md", "md", "--\n# A"},
        {"\n" META "\n-=-\n# A\n", "a.md", "md", "-=-\n# A"},
        {"\n" META "\n# A\n", "a.md", "md", "# A"},
        {"\n" META "\n\n---\n# A\n", "a.md", "md", "\n---\n# A"},
        {"\n" META "\n---\nx\n---\ny\n\n---\n", "a.md", "md", "x\n---\ny\n\n---"},
        {"\n" META "\n---\n\n", "a.md", "md", ""},
        {"\n" META "\n---\n", "a.md", "md", ""},
        {"\n" META "\n---", "a.md", "md", ""},
        {"\n" META "\n", "a.md", "md", ""},
        {"\n" META " ---\n# A\n", "a.md", "md", "# A"},
        {"\n" META "\n---\n# A ", "a.md", "md", "# A "},
        {"\n" META "\n---\n# A\n\n", "a.md", "md", "# A\n"},
        {"\n" META "\n---\r\na\r\nb\r\n", "a.md", "md", "a\r\nb"},
        {"\n" META "\n---\n{\"a\":1}\n", "a.md", "md", "{\"a\":1}"},
    };
    RUN(rows);
}

static void fences_around_the_content(void **state)
{
    (void)state;
    static const struct row rows[] = {
        {"\n" META "\n---\n```md\n# A\n```\n", "a.md", "md", "# A"},
        {"\n" META "\n---\n```markdown\n# A\n```\n", "a.md", "md", "# A"},
        {"\n" META "\n---\n\n~~~\n# A\n~~~  \n\n", "a.md", "md", "# A"},
        {"\n" META "\n---\n```python\nprint(1)\n```\n", "a.md", "md", "```python\nprint(1)\n```"},
        {"\n" META "\n---\n```\na\n```\nb\n```\nc\n```\n", "a.md", "md", "```\na\n```\nb\n```\nc\n```"},
        {"\n" META "\n---\n```md\n# A\n```c\nint x;\n```\nend\n```\n", "a.md", "md",
         "# A\n```c\nint x;\n```\nend"},
        {"\n" META "\n---\n````\n```\na\n```\n````\n", "a.md", "md", "```\na\n```"},
        {"\n" META "\n---\n```md\n# A\n", "a.md", "md", "```md\n# A"},
        {"\n" META "\n---\n```\n```\n", "a.md", "md", ""},
        {"\n" META "\n---\n```md", "a.md", "md", "```md"},
        {"\n{\"filename\":\"b.py\"}\n---\n```python\nprint(1)\n```\n", "b.py", "py", "print(1)"},
        {"\n{\"filename\":\"b.py\",\"format\":\"py\"}\n---\n```\nprint(1)\n```\n", "b.py", "py", "print(1)"},
        {"\n{\"filename\":\"b.svg\"}\n---\n```xml\n<svg/>\n```\n", "b.svg", "svg", "<svg/>"},
        {"\n{\"filename\":\"b.yml\"}\n---\n```yaml\na: 1\n```\n", "b.yml", "yml", "a: 1"},
        {"\n{\"filename\":\"b.zzz\"}\n---\n```zzz\n1\n```\n", "b.zzz", "zzz", "1"},
    };
    RUN(rows);
}

static void escaped_once_more(void **state)
{
    (void)state;
    static const struct row rows[] = {
        {"\\n{\\\"filename\\\":\\\"a.md\\\",\\\"format\\\":\\\"md\\\"}\\n---\\n# A\\n", "a.md", "md", "# A"},
        {"\\n{\\\"filename\\\":\\\"t.txt\\\",\\\"format\\\":\\\"txt\\\"}\\n---\\ntab\\t\\\"quoted\\\" \\\\ "
         "back\\n\u00fc\\n",
         "t.txt", "txt", "tab\t\"quoted\" \\ back\n\u00fc"},
        {"\\r\\n{\\\"filename\\\":\\\"t.txt\\\"}\\r\\n---\\r\\na\\r\\nb\\r\\n", "t.txt", "txt", "a\r\nb"},
        {" {\\\"filename\\\":\\\"t.txt\\\"}\\n---\\n\\u00fc \\ud83d\\ude00 \\ud83d \\/ \\q\\n", "t.txt",
         "txt", "\u00fc \U0001f600 \ufffd / \\q"},
        {"\n{\"filename\":\"t.txt\"}\n---\nprintf(\"\\n\");\\t\n", "t.txt", "txt", "printf(\"\\n\");\\t"},
        {" {\"filename\":\"t.txt\"}\n---\na\\nb\n", "t.txt", "txt", "a\\nb"},
    };
    RUN(rows);
}

static void refuses(void **state)
{
    (void)state;
    static const struct {
        const char *text, *filename;
    } rows[] = {
        {"\n{\"filename\":\"a.md\", broken\n---\nCANARY\n", "a.md"},
        {"\n{\"filename\":\"a.md\"\n---\n\"filename\":\"CANARY\"\n", "a.md"},
        {"\n{\"a\"\n---\n\"filename\":\"CANARY\"\n", ""},
        {"\n[1]\n---\nx\n", ""},
        {"", ""},
        {"\n", ""},
        {"\n{", ""},
        {"\n{}\n---\nx\n", ""},
        {"\n{\"filename\":\"README\"}\n---\nx\n", "README"},
        {"\n{\"filename\":7,\"format\":\"md\"}\n---\nx\n", ""},
        {"\n{\"filename\":\"a.md\",\"format\":[\"md\"]}\n---\nx\n", "a.md"},
        {"\n{\"filename\":\"a.md\",\"title\":{}}\n---\nx\n", "a.md"},
        {"\n{\"filename\":\"a.md\",\"encoding\":\"rot13\"}\n---\nx\n", "a.md"},
        {"\n" META " text on the same line\n---\nx\n", "a.md"},
        {"\n" META, "a.md"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct directive_parts p;
        char sentence[LIMIT_ERROR_TEXT];
        enum flag flag = directive_parse(span_str(rows[i].text), MAX, &p, sentence);
        if (flag != FLAG_INVALID_METADATA)
            fail_msg("%s: %s", rows[i].text, flag_name(flag));
        assert_string_equal(p.filename, rows[i].filename);
        assert_true(sentence[0] != '\0');
        assert_null(strstr(sentence, "CANARY"));
        directive_parts_free(&p);
    }
}

/* 300 two-byte letters: cut, with the extension and whole characters left. */
static void long_name_keeps_its_extension(void **state)
{
    (void)state;
    char text[2048] = "\n{\"filename\":\"dir/";
    for (int i = 0; i < 300; i++)
        strncat(text, "\u00fc", sizeof text - strlen(text) - 1);
    strncat(text, ".csv\"}\n---\na\n1\n", sizeof text - strlen(text) - 1);
    struct directive_parts p;
    char sentence[LIMIT_ERROR_TEXT];
    assert_int_equal(directive_parse(span_str(text), MAX, &p, sentence), FLAG_NONE);
    assert_string_equal(p.format, "csv");
    assert_true(span_ends(span_str(p.filename), "\u00fc.csv"));
    assert_true(span_starts(span_str(p.filename), "\u00fc"));
    directive_parts_free(&p);
}

static void nul_in_content_and_limits(void **state)
{
    (void)state;
    static const char text[] = "\n{\"filename\":\"a.txt\",\"encoding\":\"BASE64\"}\n---\nbefore\0after\n";
    struct directive_parts p;
    char sentence[LIMIT_ERROR_TEXT];
    assert_int_equal(directive_parse(SPAN_LIT(text), MAX, &p, sentence), FLAG_NONE);
    assert_true(p.base64);
    assert_int_equal(p.content.n, 12);
    directive_parts_free(&p);
    assert_int_equal(directive_parse(SPAN_LIT(text), 5, &p, sentence), FLAG_TOO_LARGE);
    directive_parts_free(&p);
}

/* Metadata that nests without end, or goes on over the cap, is refused and not followed. */
static void deep_and_long_metadata(void **state)
{
    (void)state;
    struct buf text;
    struct directive_parts p;
    char sentence[LIMIT_ERROR_TEXT];
    buf_init(&text, 4 << 20);
    buf_adds(&text, "\n{\"a\":");
    for (int i = 0; i < 1 << 20; i++)
        buf_addc(&text, '[');
    assert_int_equal(directive_parse(buf_span(&text), MAX, &p, sentence), FLAG_INVALID_METADATA);
    directive_parts_free(&p);
    buf_reset(&text);
    buf_adds(&text, "\n{\"filename\":\"a.md\",\"x\":\"");
    for (int i = 0; i < LIMIT_METADATA; i++)
        buf_addc(&text, 'x');
    buf_adds(&text, "\"}\n---\n");
    assert_int_equal(directive_parse(buf_span(&text), MAX, &p, sentence), FLAG_INVALID_METADATA);
    assert_string_equal(p.filename, "a.md");
    directive_parts_free(&p);
    buf_free(&text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(metadata_as_models_write_it),
        cmocka_unit_test(separators_and_content),
        cmocka_unit_test(fences_around_the_content),
        cmocka_unit_test(escaped_once_more),
        cmocka_unit_test(refuses),
        cmocka_unit_test(long_name_keeps_its_extension),
        cmocka_unit_test(nul_in_content_and_limits),
        cmocka_unit_test(deep_and_long_metadata),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
