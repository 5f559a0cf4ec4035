/* base/json: the grammar, walking, escapes, removal of members. */
#include "base/json.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/limits.h"
#include "base/xalloc.h"

/* A copy of exactly the size of the text, so that a read beyond it is found by the sanitizer. */
static struct span tight(struct span s)
{
    char *p = xmalloc(s.n);
    if (s.n)
        memcpy(p, s.p, s.n);
    return span_of(p, s.n);
}

static bool is_document(struct span s)
{
    struct span copy = tight(s), value = {0};
    bool ok = json_document(copy, &value);
    if (ok) {
        assert_true(value.n > 0 && value.p >= copy.p && value.p + value.n <= copy.p + copy.n);
        assert_null(memchr(" \t\r\n", value.p[0], 4));
    }
    xfree((char *)copy.p);
    return ok;
}

static void test_valid_documents(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "0",
        "-0",
        "10",
        "-1.5e+3",
        "1E5",
        "0.0",
        "0e-0",
        "12345678901234567890123456789",
        "\"\"",
        "\"a\"",
        "\"\\\"\\\\\\/\\b\\f\\n\\r\\t\\u00aF\"",
        "\"\\ud800\"",
        "\"\\u0000\"",
        "\"\x7f\xff\xc3\"",
        "true",
        "false",
        "null",
        " \t\r\n null \t\r\n ",
        "{}",
        "[]",
        "[ ]",
        "{ }",
        "[[],{}]",
        "[1,2 , 3]",
        "{\"a\":1}",
        "{ \"a\" : { \"b\" : [ ] } , \"a\" : null }",
        "{\"\":0}",
        "[\"0123456789abcdef0123456789abcdef\\n0123456789abcdef\"]",
    };
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
        if (!is_document(span_str(texts[i])))
            fail_msg("refused: %s", texts[i]);
}

static void test_invalid_documents(void **state)
{
    (void)state;
    static const struct span texts[] = {
        SPAN_LIT(""),
        SPAN_LIT(" "),
        SPAN_LIT("-"),
        SPAN_LIT("+1"),
        SPAN_LIT("01"),
        SPAN_LIT("-01"),
        SPAN_LIT("1."),
        SPAN_LIT(".5"),
        SPAN_LIT("1.e3"),
        SPAN_LIT("1e"),
        SPAN_LIT("1e+"),
        SPAN_LIT("0x1"),
        SPAN_LIT("1 2"),
        SPAN_LIT("NaN"),
        SPAN_LIT("tru"),
        SPAN_LIT("truex"),
        SPAN_LIT("nul"),
        SPAN_LIT("TRUE"),
        SPAN_LIT("\""),
        SPAN_LIT("\"a"),
        SPAN_LIT("\"\\\""),
        SPAN_LIT("\"\\"),
        SPAN_LIT("\"\\x\""),
        SPAN_LIT("\"\\u12\""),
        SPAN_LIT("\"\\u12g4\""),
        SPAN_LIT("\"\\u"),
        SPAN_LIT("\"a\nb\""),
        SPAN_LIT("\"a\x1f\""),
        SPAN_LIT("\"a\0b\""),
        SPAN_LIT("'a'"),
        SPAN_LIT("["),
        SPAN_LIT("[1"),
        SPAN_LIT("[1,"),
        SPAN_LIT("[1,]"),
        SPAN_LIT("[,1]"),
        SPAN_LIT("[1 2]"),
        SPAN_LIT("[1}"),
        SPAN_LIT("]"),
        SPAN_LIT("[]]"),
        SPAN_LIT("{"),
        SPAN_LIT("{]"),
        SPAN_LIT("{\"a\"}"),
        SPAN_LIT("{\"a\":}"),
        SPAN_LIT("{\"a\":1"),
        SPAN_LIT("{\"a\":1,}"),
        SPAN_LIT("{,}"),
        SPAN_LIT("{a:1}"),
        SPAN_LIT("{\"a\" 1}"),
        SPAN_LIT("{1:1}"),
        SPAN_LIT("{\"a\":1 \"b\":2}"),
        SPAN_LIT("\xef\xbb\xbf{}"),
        SPAN_LIT("{}\0"),
        SPAN_LIT("[1]//"),
        SPAN_LIT("\f1"),
        SPAN_LIT("[[1],{]}"),
        SPAN_LIT("{\"a\":[1}]"),
        SPAN_LIT("\"0123456789abcdef\x01"
                 "0123456789abcdef\""),
        SPAN_LIT("\"0123456789abcdef0123456789abcde\\"),
    };
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
        if (is_document(texts[i]))
            fail_msg("accepted, number %zu: %s", i, texts[i].p);
}

/* Every special byte at every place of a string, so that all paths of the search by words are taken. */
static void test_strings_of_all_lengths(void **state)
{
    (void)state;
    for (size_t n = 0; n < 70; n++) {
        char text[80];
        memset(text, 'x', sizeof text);
        text[0] = text[n + 1] = '"';
        assert_true(is_document(span_of(text, n + 2)));
        assert_false(is_document(span_of(text, n + 1)));
        for (size_t i = 1; i <= n; i++) {
            static const unsigned char bytes[] = {0,    0x1f, 0x20, 0x7f, 0x80, 0xa2, 0xdc,
                                                  0xff, '"',  '!',  '#',  '[',  ']'};
            for (size_t k = 0; k < sizeof bytes; k++) {
                text[i] = (char)bytes[k];
                assert_int_equal(is_document(span_of(text, n + 2)), bytes[k] >= 0x20 && bytes[k] != '"');
            }
            text[i] = '\\';
            assert_int_equal(is_document(span_of(text, n + 2)), false);
            text[i] = 'x';
        }
    }
}

static void test_depth(void **state)
{
    (void)state;
    for (int kind = 0; kind < 3; kind++) {
        for (size_t depth = LIMIT_JSON_DEPTH - 1; depth <= LIMIT_JSON_DEPTH + 1; depth++) {
            struct buf b;
            buf_init(&b, 1 << 20);
            for (size_t i = 0; i < depth; i++)
                buf_adds(&b, kind == 0 || (kind == 2 && i % 3) ? "[" : "{\"a\":");
            buf_adds(&b, "1");
            for (size_t i = depth; i-- > 0;)
                buf_adds(&b, kind == 0 || (kind == 2 && i % 3) ? "]" : "}");
            assert_int_equal(is_document(buf_span(&b)), depth <= LIMIT_JSON_DEPTH);
            b.data[b.n - 1] = b.data[b.n - 1] == ']' ? '}' : ']';
            assert_false(is_document(buf_span(&b)));
            buf_free(&b);
        }
    }
}

static void test_value_ends_where_it_ends(void **state)
{
    (void)state;
    static const struct {
        const char *text, *value;
    } cases[] = {
        {"  {\"a\":1} ]", "{\"a\":1}"},
        {"12,", "12"},
        {"\"a\"\"b\"", "\"a\""},
        {"true}", "true"},
        {"[1][2]", "[1]"},
        {"1.x", NULL},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct span text = span_str(cases[i].text), value;
        int got = json_value(text.p, text.p + text.n, &value);
        assert_int_equal(got, cases[i].value ? 0 : -1);
        if (cases[i].value)
            assert_true(span_is(value, cases[i].value));
    }
}

static void test_leniency(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        bool nonfinite, lenient; /* strict: never */
    } cases[] = {
        {"NaN", true, true},
        {"[Infinity,-Infinity , NaN]", true, true},
        {"{\"a\":{\"b\":[1,-Infinity]},\"c\":NaN}", true, true},
        {"\"a\tb\"", false, true},
        {"{\"a\nb\":\"\x01\x1f\"}", false, true},
        {"[\"\n\",NaN]", false, true},
        {"nan", false, false},
        {"[Na]", false, false},
        {"+Infinity", false, false},
        {"-NaN", false, false},
        {"-", false, false},
        {"-Infinit", false, false},
        {"NaNs", false, false},
        {"{NaN:1}", false, false},
        {"\"a\tb", false, false},
        {"\"\\\t\"", false, false},
        {"\"\\u00\n0\"", false, false},
        {"{} {}", false, false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct span text = tight(span_str(cases[i].text)), value;
        assert_false(json_document(text, &value));
        assert_false(json_document_as(text, JSON_RFC, &value));
        assert_int_equal(json_document_as(text, JSON_NONFINITE, &value), cases[i].nonfinite);
        assert_int_equal(json_document_as(text, JSON_LENIENT, &value), cases[i].lenient);
        xfree((char *)text.p);
    }
    struct json_iter it = json_iter(SPAN_LIT("{\"a\":NaN,\"b\":\"\t\"}"));
    assert_int_equal(json_next(&it), 1);
    assert_true(span_is(it.value, "NaN"));
    assert_int_equal(json_next(&it), 1);
    assert_true(span_is(it.value, "\"\t\""));
    assert_int_equal(json_next(&it), 0);
}

static void test_types(void **state)
{
    (void)state;
    assert_int_equal(json_type(SPAN_LIT("{}")), JSON_OBJECT);
    assert_int_equal(json_type(SPAN_LIT("[]")), JSON_ARRAY);
    assert_int_equal(json_type(SPAN_LIT("\"\"")), JSON_STRING);
    assert_int_equal(json_type(SPAN_LIT("-1")), JSON_NUMBER);
    assert_int_equal(json_type(SPAN_LIT("7")), JSON_NUMBER);
    assert_int_equal(json_type(SPAN_LIT("true")), JSON_TRUE);
    assert_int_equal(json_type(SPAN_LIT("false")), JSON_FALSE);
    assert_int_equal(json_type(SPAN_LIT("null")), JSON_NULL);
    assert_int_equal(json_type(SPAN_LIT("")), JSON_NONE);
    assert_int_equal(json_type(SPAN_LIT("x")), JSON_NONE);
}

/* Writes a walk down as "key=value;…", then the last answer. */
static void note_walk(const char *text, struct buf *out)
{
    struct span copy = tight(span_str(text));
    struct json_iter it = json_iter(copy);
    int got;
    while ((got = json_next(&it)) == 1) {
        buf_add(out, it.key);
        buf_addc(out, '=');
        buf_add(out, it.value);
        buf_addc(out, ';');
        if (it.object)
            assert_true(it.whole.p == it.key.p - 1 && it.whole.p + it.whole.n == it.value.p + it.value.n);
        else
            assert_true(it.whole.p == it.value.p && it.whole.n == it.value.n);
    }
    assert_int_equal(json_next(&it), got);
    buf_printf(out, "%d", got);
    xfree((char *)copy.p);
}

static void test_walk(void **state)
{
    (void)state;
    static const struct {
        const char *text, *walk;
    } cases[] = {
        {"{}", "0"},
        {"[]", "0"},
        {"[ \n ]", "0"},
        {"{\"a\":1}", "a=1;0"},
        {" {\"a\":1}", "-1"},
        {"{\"a\":1} ", "a=1;-1"},
        {"{ \"a\" : 1 , \"b\\\"\" : [1, {}] , \"a\":\"}\" }", "a=1;b\\\"=[1, {}];a=\"}\";0"},
        {"[1, [2,3] ,{\"x\":null}]", "=1;=[2,3];={\"x\":null};0"},
        {"[1,2", "=1;-1"},
        {"[1,", "=1;-1"},
        {"[1,]", "=1;-1"},
        {"[", "-1"},
        {"{", "-1"},
        {"[1}", "=1;-1"},
        {"[1]]", "=1;-1"},
        {"{\"a\":1,}", "a=1;-1"},
        {"{\"a\":1,\"b\"}", "a=1;-1"},
        {"{\"a\"", "-1"},
        {"{\"a\":", "-1"},
        {"{\"a\":1", "-1"},
        {"[1 2]", "=1;-1"},
        {"1", "-1"},
        {"\"a\"", "-1"},
        {"", "-1"},
    };
    struct buf b;
    buf_init(&b, 4096);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        buf_reset(&b);
        note_walk(cases[i].text, &b);
        assert_string_equal(buf_cstr(&b), cases[i].walk);
    }
    buf_free(&b);
}

static void test_member(void **state)
{
    (void)state;
    struct span value = {0};
    assert_true(json_member(SPAN_LIT("{\"a\":1,\"b\":2,\"a\":3}"), "a", &value));
    assert_true(span_is(value, "3"));
    assert_true(json_member(SPAN_LIT("{\"c\\u006Fntent\":\"x\",\"d\":{\"content\":1}}"), "content", &value));
    assert_true(span_is(value, "\"x\""));
    assert_false(json_member(SPAN_LIT("{\"a\":1}"), "b", &value));
    assert_false(json_member(SPAN_LIT("[\"a\",1]"), "a", &value));
    assert_false(json_member(SPAN_LIT("\"a\""), "a", &value));
    assert_false(json_member(SPAN_LIT(""), "a", &value));
    assert_true(json_member(SPAN_LIT("{\"\":1}"), "", &value));
}

static void test_inside_is(void **state)
{
    (void)state;
    static const struct {
        struct span inside;
        const char *text;
        bool same;
    } cases[] = {
        {SPAN_LIT("abc"), "abc", true},
        {SPAN_LIT("abc"), "ab", false},
        {SPAN_LIT("ab"), "abc", false},
        {SPAN_LIT(""), "", true},
        {SPAN_LIT("\\u0061bc"), "abc", true},
        {SPAN_LIT("ab\\u0063"), "abc", true},
        {SPAN_LIT("ab\\u0063d"), "abc", false},
        {SPAN_LIT("\\n"), "\\n", false},
        {SPAN_LIT("\\n"), "\n", true},
        {SPAN_LIT("\\\\n"), "\\n", true},
        {SPAN_LIT("\\/"), "/", true},
        {SPAN_LIT("\\u0000"), "", false},
        {SPAN_LIT("a\\u0000"), "a", false},
        {SPAN_LIT("\\u00e4"), "\xc3\xa4", true},
        {SPAN_LIT("\\ud83d\\ude00"), "\xf0\x9f\x98\x80", true},
        {SPAN_LIT("\\ud83d"), "\xef\xbf\xbd", true},
        {SPAN_LIT("a\\"), "a", false},
        {SPAN_LIT("a\\u00"), "a", false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        if (json_inside_is(cases[i].inside, cases[i].text) != cases[i].same)
            fail_msg("%s against %s", cases[i].inside.p, cases[i].text);
    assert_true(span_is(json_inside(SPAN_LIT("\"a\\\"b\"")), "a\\\"b"));
    assert_int_equal(json_inside(SPAN_LIT("\"\"")).n, 0);
}

static void test_unescape(void **state)
{
    (void)state;
    static const struct {
        struct span inside, text; /* text.p NULL: not valid */
    } cases[] = {
        {SPAN_LIT(""), SPAN_LIT("")},
        {SPAN_LIT("plain"), SPAN_LIT("plain")},
        {SPAN_LIT("\\\"\\\\\\/\\b\\f\\n\\r\\t"), SPAN_LIT("\"\\/\b\f\n\r\t")},
        {SPAN_LIT("\\u0041\\u00e9\\u20AC\\u0000x"), SPAN_LIT("A\xc3\xa9\xe2\x82\xac\0x")},
        {SPAN_LIT("\\ud83d\\ude00!"), SPAN_LIT("\xf0\x9f\x98\x80!")},
        {SPAN_LIT("\\udbff\\udfff"), SPAN_LIT("\xf4\x8f\xbf\xbf")},
        {SPAN_LIT("\\ud800"), SPAN_LIT("\xef\xbf\xbd")},
        {SPAN_LIT("\\udc00\\ud800"), SPAN_LIT("\xef\xbf\xbd\xef\xbf\xbd")},
        {SPAN_LIT("\\ud800\\ud83d\\ude00"), SPAN_LIT("\xef\xbf\xbd\xf0\x9f\x98\x80")},
        {SPAN_LIT("\\ud800\\n"), SPAN_LIT("\xef\xbf\xbd\n")},
        {SPAN_LIT("\\ud800\\u0041"), SPAN_LIT("\xef\xbf\xbd"
                                              "A")},
        {SPAN_LIT("\xff\xc3"), SPAN_LIT("\xff\xc3")},
        {SPAN_LIT("a long run of text and then\\nanother long run of text"),
         SPAN_LIT("a long run of text and then\nanother long run of text")},
        {SPAN_LIT("\\"), {0}},
        {SPAN_LIT("abc\\u12"), {0}},
        {SPAN_LIT("\\u12G4"), {0}},
        {SPAN_LIT("\\a"), {0}},
        {SPAN_LIT("a\"b"), {0}},
        {SPAN_LIT("a\nb"), {0}},
        {SPAN_LIT("\\ud800\\u12"), {0}},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct span copy = tight(cases[i].inside);
        struct buf b;
        buf_init(&b, 4096);
        buf_adds(&b, ">");
        int got = json_unescape(copy, &b);
        assert_int_equal(got, cases[i].text.p ? 0 : -1);
        assert_int_equal(b.n, 1 + cases[i].text.n);
        if (cases[i].text.n)
            assert_memory_equal(b.data + 1, cases[i].text.p, cases[i].text.n);
        buf_free(&b);
        xfree((char *)copy.p);
    }
}

static void test_escape(void **state)
{
    (void)state;
    struct buf b;
    buf_init(&b, 4096);
    assert_int_equal(json_escape(SPAN_LIT("a\"\\/\b\f\n\r\t\x01\x1f\0\x7f\xff\xc3\xa4"), &b), 0);
    assert_string_equal(buf_cstr(&b), "a\\\"\\\\/\\b\\f\\n\\r\\t\\u0001\\u001f\\u0000\x7f\xff\xc3\xa4");
    buf_reset(&b);
    for (int c = 0; c < 256; c++)
        buf_addc(&b, (char)c);
    struct buf escaped, back;
    buf_init(&escaped, 4096);
    buf_init(&back, 4096);
    assert_int_equal(json_escape(buf_span(&b), &escaped), 0);
    assert_int_equal(json_unescape(buf_span(&escaped), &back), 0);
    assert_int_equal(back.n, 256);
    assert_memory_equal(back.data, b.data, 256);
    buf_free(&b);
    buf_free(&escaped);
    buf_free(&back);
}

static void test_escape_over_the_cap(void **state)
{
    (void)state;
    struct buf b;
    buf_init(&b, 6);
    buf_adds(&b, "ab");
    assert_int_equal(json_escape(SPAN_LIT("cd\n\n"), &b), -1);
    assert_true(buf_full(&b));
    assert_int_equal(b.n, 2);
    buf_reset(&b);
    assert_int_equal(json_unescape(SPAN_LIT("abcd\\u0041\\u0041\\u0041"), &b), -1);
    assert_int_equal(b.n, 0);
    buf_reset(&b);
    assert_int_equal(json_unescape(SPAN_LIT("abcd\\u0041\\u0041"), &b), 0);
    assert_string_equal(buf_cstr(&b), "abcdAA");
    buf_free(&b);
}

static void test_int(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        bool ok;
        int64_t value;
    } cases[] = {
        {"0", true, 0},
        {"-0", true, 0},
        {"42", true, 42},
        {"-7", true, -7},
        {"9223372036854775807", true, INT64_MAX},
        {"-9223372036854775808", true, INT64_MIN},
        {"9223372036854775808", false, 0},
        {"-9223372036854775809", false, 0},
        {"99999999999999999999", false, 0},
        {"1.0", false, 0},
        {"1e3", false, 0},
        {"\"1\"", false, 0},
        {"01", false, 0},
        {"-", false, 0},
        {"", false, 0},
        {"null", false, 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        int64_t value = 0;
        assert_int_equal(json_int(span_str(cases[i].text), &value), cases[i].ok);
        assert_int_equal(value, cases[i].value);
    }
}

static void remove_and_compare(const char *text, const char *const *names, size_t n, const char *wanted)
{
    struct edits named = {0}, listed = {0};
    struct buf out;
    struct span value, wholes[32];
    size_t count = 0;
    buf_init(&out, 4096);
    assert_true(json_document(span_str(text), &value));

    struct json_iter it = json_iter(value);
    while (json_next(&it) == 1)
        for (size_t i = 0; i < n; i++)
            if (json_key_is(&it, names[i]))
                wholes[count++] = it.whole;
    json_removals(span_str(text), value, wholes, count, &listed);
    assert_int_equal(edits_apply(&listed, span_str(text), &out), 0);
    assert_string_equal(buf_cstr(&out), wanted);
    buf_reset(&out);
    assert_int_equal(json_remove_members(span_str(text), value, names, n, &named), count);
    assert_int_equal(edits_apply(&named, span_str(text), &out), 0);
    assert_string_equal(buf_cstr(&out), wanted);
    assert_true(is_document(buf_span(&out)));
    if (count == 1) {
        struct span cut = json_removal(value, wholes[0]);
        assert_int_equal(cut.p - text, named.list[0].at);
        assert_int_equal(cut.n, named.list[0].cut);
    }
    edits_free(&named);
    edits_free(&listed);
    buf_free(&out);
}

static void test_removal(void **state)
{
    (void)state;
    static const char *const names[] = {"hw", "attachments"};
    static const struct {
        const char *before, *after;
    } cases[] = {
        {"{\"a\":1}", "{\"a\":1}"},
        {"{}", "{}"},
        {"{\"hw\":1}", "{}"},
        {"{ \"hw\" : {} }", "{  }"},
        {"{\"a\":1, \"hw\":{} ,\"b\":2}", "{\"a\":1, \"b\":2}"},
        {"{\"hw\":1,\"a\":2}", "{\"a\":2}"},
        {"{ \"hw\":1 ,\n \"a\":2 }", "{ \"a\":2 }"},
        {"{\"a\":2 , \"hw\":1}", "{\"a\":2 }"},
        {"{\"hw\":1,\"attachments\":2}", "{}"},
        {"{\"hw\":1,\"a\":0,\"attachments\":2}", "{\"a\":0}"},
        {"{\"a\":0,\"hw\":1,\"attachments\":2}", "{\"a\":0}"},
        {"{\"a\":0 ,\n\"attachments\":2 ,\n\"hw\":1\n}", "{\"a\":0 \n}"},
        {"{\"a\":0,\"hw\":1,\"attachments\":2,\"b\":3}", "{\"a\":0,\"b\":3}"},
        {"{\"hw\":1,\"hw\":2,\"a\":\"hw\",\"hw\":[\"hw\"],\"b\":0,\"h\\u0077\":4,\"attachments\":5}",
         "{\"a\":\"hw\",\"b\":0}"},
        {"  {\"x\":{\"hw\":1},\"hw\":1}  ", "  {\"x\":{\"hw\":1}}  "},
        {"[1,\"hw\"]", "[1,\"hw\"]"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        remove_and_compare(cases[i].before, names, 2, cases[i].after);
}

/* Every subset of the members or items of a container, with every kind of spacing. */
static void test_removal_of_every_subset(void **state)
{
    (void)state;
    static const char *const gaps[] = {"", " ", "\n\t"};
    for (unsigned spacing = 0; spacing < 27; spacing++) {
        const char *before = gaps[spacing % 3], *between = gaps[spacing / 3 % 3], *last = gaps[spacing / 9];
        for (unsigned n = 0; n <= 5; n++) {
            for (unsigned cut = 0; cut < 1U << n; cut++) {
                char text[256];
                struct span value, wholes[5];
                size_t count = 0, kept = 0;
                int size = snprintf(text, sizeof text, "{\"list\":[");
                for (unsigned i = 0; i < n; i++)
                    size += snprintf(text + size, sizeof text - (size_t)size, "%s%u%s%s", before, i,
                                     i + 1 < n ? between : last, i + 1 < n ? "," : "");
                snprintf(text + size, sizeof text - (size_t)size, "]}");
                assert_true(json_member(span_str(text), "list", &value));
                struct json_iter it = json_iter(value);
                for (unsigned i = 0; json_next(&it) == 1; i++)
                    if (cut >> i & 1)
                        wholes[count++] = it.whole;

                struct edits e = {0};
                struct buf out;
                buf_init(&out, 4096);
                json_removals(span_str(text), value, wholes, count, &e);
                for (size_t i = 1; i < e.n; i++)
                    assert_true(e.list[i - 1].at + e.list[i - 1].cut <= e.list[i].at);
                assert_int_equal(edits_apply(&e, span_str(text), &out), 0);
                assert_true(is_document(buf_span(&out)));
                assert_true(json_member(buf_span(&out), "list", &value));
                it = json_iter(value);
                for (unsigned i = 0; i < n; i++) {
                    if (cut >> i & 1)
                        continue;
                    int64_t number = -1;
                    assert_int_equal(json_next(&it), 1);
                    assert_true(json_int(it.value, &number));
                    assert_int_equal(number, i);
                    kept++;
                }
                assert_int_equal(json_next(&it), 0);
                assert_int_equal(kept + count, n);
                edits_free(&e);
                buf_free(&out);
            }
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_valid_documents),
        cmocka_unit_test(test_invalid_documents),
        cmocka_unit_test(test_strings_of_all_lengths),
        cmocka_unit_test(test_depth),
        cmocka_unit_test(test_value_ends_where_it_ends),
        cmocka_unit_test(test_leniency),
        cmocka_unit_test(test_types),
        cmocka_unit_test(test_walk),
        cmocka_unit_test(test_member),
        cmocka_unit_test(test_inside_is),
        cmocka_unit_test(test_unescape),
        cmocka_unit_test(test_escape),
        cmocka_unit_test(test_escape_over_the_cap),
        cmocka_unit_test(test_int),
        cmocka_unit_test(test_removal),
        cmocka_unit_test(test_removal_of_every_subset),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
