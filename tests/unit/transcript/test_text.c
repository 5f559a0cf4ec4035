/* Small functions of text and time. */
#include "transcript/text.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "base/xalloc.h"
#include "transcript/time.h"

static void assert_prints(void (*print)(struct span s, struct buf *out), const char *text, const char *wanted)
{
    struct buf out;
    char *tight = xmalloc(strlen(text) + 1); /* without a terminator behind it */
    memcpy(tight, text, strlen(text));
    buf_init(&out, 4096);
    print(span_of(tight, strlen(text)), &out);
    assert_string_equal(buf_cstr(&out), wanted);
    buf_free(&out);
    xfree(tight);
}

static void test_slug(void **state)
{
    static const char *const rows[][2] = {
        {"Gate alert: 17:32 — cam #2", "Gate-alert-17-32-cam-2"},
        {"../../etc/passwd", "etc-passwd"},
        {"示例 主题（一）", "示例-主题-一"},
        {"  ", "untitled"},
        {"", "untitled"},
        {"AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA", "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"},
        {"a--b", "a--b"},
        {"\xff\xfe", "untitled"},
        {"÷×🙂", "untitled"},
        {"Größe_3", "Größe_3"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        assert_prints(text_slug, rows[i][0], rows[i][1]);
}

static void test_directory_names(void **state)
{
    static const char *const rows[][2] = {
        {"ana", "ana"},    {" a/b\\c:d*e?f\"g<h>i|j ", "a_b_c_d_e_f_g_h_i_j"},
        {"..", "unknown"}, {".", "unknown"},
        {"  ", "unknown"}, {"", "unknown"},
        {"../x", ".._x"},  {"a\nb\x7f", "a_b_"},
        {"\xff", "_"},     {"李", "李"},
    };
    struct buf out;
    char many[1000];
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        assert_prints(text_directory, rows[i][0], rows[i][1]);
    for (size_t i = 0; i + 2 < sizeof many; i += 3)
        memcpy(many + i, "李", 3);
    buf_init(&out, 4096);
    text_directory(span_of(many, 999), &out);
    assert_int_equal(out.n, TEXT_NAME / 3 * 3);
    buf_free(&out);
}

static void test_fence(void **state)
{
    (void)state;
    assert_int_equal(text_fence_length(SPAN_LIT("plain")), 3);
    assert_int_equal(text_fence_length(SPAN_LIT("one ``` run")), 4);
    assert_int_equal(text_fence_length(SPAN_LIT("a ````` b")), 6);
    assert_prints(text_fence, "a ``` b \n\n", "````\na ``` b\n````");
}

static void test_lines(void **state)
{
    (void)state;
    assert_prints(text_quote, "a\n\nb", "> a\n>\n> b");
    assert_prints(text_quote, "", ">");
    assert_prints(text_head, "Part <b>\nnew", "Part &lt;b&gt; new");
    assert_prints(text_head, " \x01 a \r\n\t b & c\x02 ", "a   b &amp; c");
    assert_prints(text_line, "a\n\nb", "a b");
    assert_prints(text_cell, "a|b", "a｜b");
    assert_prints(text_cell, "two\nlines", "two lines");
}

static void test_guard(void **state)
{
    static const char *const rows[][2] = {
        {"see </details> end", "see &lt;/details> end"},
        {"<Summary x>", "&lt;Summary x>"},
        {"a < b", "a < b"},
        {"<details", "&lt;details"},
        {"<detailsx> <//details>", "<detailsx> <//details>"},
        {"<<DETAILS/>", "<&lt;DETAILS/>"},
        {"<", "<"},
        {"</", "</"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        assert_prints(text_guard, rows[i][0], rows[i][1]);
}

static void test_links(void **state)
{
    static const char *const rows[][3] = {
        {"Data [v2]", "https://h/a(b).html", "- [Data \\[v2\\]](<https://h/a(b).html>)"},
        {"", "https://h/x y", "- [https://h/x y](<https://h/x%20y>)"},
        {"Line\nbreak", "https://h/", "- [Line break](https://h/)"},
        {"n", "https://h/<a>", "- [n](<https://h/%3Ca%3E>)"},
        {"n", "https://h/\n\x7f", "- [n](<https://h/%0A%7F>)"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct buf out;
        buf_init(&out, 4096);
        text_link(span_str(rows[i][0]), span_str(rows[i][1]), &out);
        assert_string_equal(buf_cstr(&out), rows[i][2]);
        buf_free(&out);
    }
}

static void test_parts(void **state)
{
    (void)state;
    assert_true(text_is_blank(SPAN_LIT(" \n\t\xe3\x80\x80\xc2\xa0")));
    assert_false(text_is_blank(SPAN_LIT(" \xc3")));
    struct span s = text_trim(SPAN_LIT("\xe2\x80\x83 a b \xe3\x80\x80\n"));
    assert_int_equal(s.n, 3);
    assert_memory_equal(s.p, "a b", 3);
    assert_int_equal(text_cut(SPAN_LIT("äöü"), 2).n, 4);
    assert_int_equal(text_cut(SPAN_LIT("\xc3"), 2).n, 1);
    assert_int_equal(text_cut(SPAN_LIT("abc"), 80).n, 3);
    assert_int_equal(text_first_line(SPAN_LIT("ab\r\nc")).n, 2);
}

static void test_times(void **state)
{
    static const struct {
        const char *text;
        int64_t us; /* -1: none */
    } rows[] = {{"2035-01-02T03:04:05Z", 2051319845000000},
                {"2035-01-02T03:04:05.1Z", 2051319845100000},
                {"2035-01-02 03:04:05.1234567", 2051319845123456},
                {"2035-01-02T05:04:05+02:00", 2051319845000000},
                {"2035-01-01T22:04:05-05:00", 2051319845000000},
                {"2035-13-02T03:04:05Z", -1},
                {"2035-02-29T03:04:05Z", -1},
                {"2036-02-29T00:00:00Z", 2087856000000000},
                {"2035-01-02T24:04:05Z", -1},
                {"2035-01-02T03:60:05Z", -1},
                {"2035-01-02T03:04:60Z", -1},
                {"2035-01-02T03:04:05.Z", -1},
                {"2035-01-02T03:04:05+2:00", -1},
                {"2035-01-02T03:04:05+24:00", -1},
                {"2035-01-02T03:04:05Zx", -1},
                {"2035-01-02", -1},
                {"0000-01-02T03:04:05Z", -1},
                {"yesterday", -1},
                {"", -1}};
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        int64_t us = -1;
        char *tight = xmalloc(strlen(rows[i].text) + 1);
        memcpy(tight, rows[i].text, strlen(rows[i].text));
        assert_int_equal(time_parse(span_of(tight, strlen(rows[i].text)), &us), rows[i].us >= 0);
        assert_int_equal(us, rows[i].us);
        xfree(tight);
    }
}

static void test_printed_times(void **state)
{
    struct buf out;
    (void)state;
    buf_init(&out, 256);
    assert_true(time_print(2051319845100000, &out));
    assert_string_equal(buf_cstr(&out), "2035-01-02T03:04:05.100000Z");
    buf_reset(&out);
    assert_true(time_print(-1, &out));
    assert_string_equal(buf_cstr(&out), "1969-12-31T23:59:59.999999Z");
    buf_reset(&out);
    assert_false(time_print(INT64_MAX, &out));
    assert_false(time_print(INT64_MIN, &out));
    time_print_minute(0, &out);
    time_print_minute(INT64_MAX, &out);
    assert_int_equal(out.n, 0);
    time_print_minute(2051319845100000, &out);
    assert_string_equal(buf_cstr(&out), "2035-01-02 03:04 UTC");
    buf_free(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_slug),          cmocka_unit_test(test_directory_names),
        cmocka_unit_test(test_fence),         cmocka_unit_test(test_lines),
        cmocka_unit_test(test_guard),         cmocka_unit_test(test_links),
        cmocka_unit_test(test_parts),         cmocka_unit_test(test_times),
        cmocka_unit_test(test_printed_times),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
