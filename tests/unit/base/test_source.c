/* Lines of a source: whatever is read at once, every line comes whole, where it is, and once. */
#include "base/source.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

enum { MOST = 4 << 20 };

/* Reads all lines and puts them together again. */
static bool same_lines(struct span text, size_t lines_wanted)
{
    const struct source source = source_text(&text);
    struct source_lines lines;
    struct span line;
    struct buf again;
    size_t at, n = 0;
    bool good = true;
    buf_init(&again, MOST);
    source_lines_init(&lines, &source, MOST);
    while (source_next_line(&lines, &line, &at)) {
        good = good && at == again.n;
        buf_add(&again, line);
        if (again.n < text.n)
            buf_addc(&again, '\n');
        n++;
    }
    good = good && !lines.failed && n == lines_wanted && again.n == text.n &&
           (text.n == 0 || memcmp(buf_span(&again).p, text.p, text.n) == 0);
    source_lines_free(&lines);
    buf_free(&again);
    return good;
}

static void test_lines(void **state)
{
    struct buf text;
    size_t lines = 0;
    (void)state;
    assert_true(same_lines(SPAN_LIT(""), 0));
    assert_true(same_lines(SPAN_LIT("\n"), 1));
    assert_true(same_lines(SPAN_LIT("a"), 1));
    assert_true(same_lines(SPAN_LIT("a\n\nb"), 3));
    /* Lines of all lengths, some longer than what is read at once. */
    buf_init(&text, MOST);
    for (size_t n = 1; n < 1000000; n = n * 5 / 3 + 1) {
        for (size_t i = 0; i < n; i++)
            buf_addc(&text, (char)('a' + i % 26));
        buf_addc(&text, '\n');
        lines++;
        assert_true(same_lines(buf_span(&text), lines));
    }
    assert_true(same_lines(span_of(buf_span(&text).p, text.n - 1), lines));
    buf_free(&text);
}

static int fail_behind(void *arg, size_t at, size_t n, struct buf *out)
{
    (void)out;
    return at + n > *(const size_t *)arg ? -1 : buf_addn(out, "\n", 1);
}

static void test_ends(void **state)
{
    const struct span text = SPAN_LIT("0123456789");
    struct source source = source_text(&text);
    struct source_lines lines;
    struct buf out;
    struct span line;
    size_t good = 0, at;
    (void)state;
    buf_init(&out, 6);
    assert_int_equal(source_read(&source, 8, 2, &out), 0);
    assert_int_equal(source_read(&source, 10, 0, &out), 0);
    assert_int_equal(source_read(&source, 8, 3, &out), -1);
    assert_int_equal(source_read(&source, 11, 0, &out), -1);
    assert_int_equal(source_read(&source, SIZE_MAX, 2, &out), -1);
    assert_string_equal(buf_cstr(&out), "89");
    buf_free(&out);
    source = (struct source){.n = 1, .read = fail_behind, .arg = &good};
    source_lines_init(&lines, &source, MOST);
    assert_false(source_next_line(&lines, &line, &at));
    assert_true(lines.failed);
    source_lines_free(&lines);
}

/* A line that is longer than it may be ends the walk. */
static void test_long_line(void **state)
{
    struct buf text;
    struct source_lines lines;
    struct span line;
    size_t at;
    (void)state;
    buf_init(&text, MOST);
    buf_adds(&text, "short\n");
    while (text.n < MOST / 2)
        buf_addc(&text, 'x');
    const struct span span = buf_span(&text);
    const struct source source = source_text(&span);
    source_lines_init(&lines, &source, MOST / 8);
    assert_true(source_next_line(&lines, &line, &at));
    assert_true(span_is(line, "short"));
    assert_false(source_next_line(&lines, &line, &at));
    assert_true(lines.failed);
    assert_false(source_next_line(&lines, &line, &at));
    source_lines_free(&lines);
    buf_free(&text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_lines), cmocka_unit_test(test_ends),
                                       cmocka_unit_test(test_long_line)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
