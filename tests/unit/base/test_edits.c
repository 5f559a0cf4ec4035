/* base/json: edits of a text. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/json.h"

struct step {
    size_t at, cut;
    const char *insert;
};

/* The same text in pieces. */
static void expect_pieces(const struct edits *e, const char *text, const char *wanted)
{
    struct span pieces[64];
    struct buf out;
    assert_true(2 * e->n + 1 <= sizeof pieces / sizeof pieces[0]);
    int n = edits_pieces(e, span_str(text), pieces);
    assert_true(n <= (int)(2 * e->n + 1));
    assert_int_equal(n < 0, !wanted);
    if (!wanted)
        return;
    buf_init(&out, 4096);
    for (int i = 0; i < n; i++) {
        assert_true(pieces[i].n > 0);
        buf_add(&out, pieces[i]);
    }
    assert_string_equal(buf_cstr(&out), wanted);
    buf_free(&out);
}

static void test_apply(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        struct step steps[5];
        size_t n;
        const char *wanted; /* NULL: refused */
    } cases[] = {
        {"abc", {{0}}, 0, "abc"},
        {"", {{0}}, 0, ""},
        {"", {{0, 0, "x"}}, 1, "x"},
        {"abc", {{1, 1, "X"}}, 1, "aXc"},
        {"abc", {{0, 3, ""}}, 1, ""},
        {"abc", {{3, 0, "d"}, {0, 0, "_"}}, 2, "_abcd"},
        {"abc", {{1, 0, "1"}, {1, 0, "2"}, {1, 0, "3"}}, 3, "a123bc"},
        {"abc", {{2, 0, "y"}, {1, 0, "1"}, {2, 0, "z"}, {1, 0, "2"}}, 4, "a12byzc"},
        {"abcdef", {{4, 1, "E"}, {0, 1, "A"}, {2, 1, "C"}}, 3, "AbCdEf"},
        {"abcdef", {{2, 2, ""}, {4, 2, ""}, {0, 2, "x"}}, 3, "x"},
        {"abc", {{1, 0, "<"}, {1, 1, "B"}, {2, 0, ">"}}, 3, "a<B>c"},
        {"abc", {{1, 1, "B"}, {1, 0, "<"}}, 2, "aB<c"},
        {"abc", {{4, 0, "x"}}, 1, NULL},
        {"abc", {{2, 2, "x"}}, 1, NULL},
        {"abc", {{1, (size_t)-1, "x"}}, 1, NULL},
    };
    struct edits e = {0};
    struct buf out;
    buf_init(&out, 4096);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        edits_reset(&e);
        buf_reset(&out);
        for (size_t k = 0; k < cases[i].n; k++)
            edits_add(&e, cases[i].steps[k].at, cases[i].steps[k].cut, span_str(cases[i].steps[k].insert));
        for (size_t k = 1; k < e.n; k++)
            assert_true(e.list[k - 1].at <= e.list[k].at);
        assert_int_equal(edits_apply(&e, span_str(cases[i].text), &out), cases[i].wanted ? 0 : -1);
        if (cases[i].wanted)
            assert_string_equal(buf_cstr(&out), cases[i].wanted);
        expect_pieces(&e, cases[i].text, cases[i].wanted);
    }
    edits_free(&e);
    assert_int_equal(e.n, 0);
    edits_free(&e);
    edits_free(NULL);
    buf_free(&out);
}

static void test_apply_appends_and_respects_the_cap(void **state)
{
    (void)state;
    struct edits e = {0};
    struct buf out;
    buf_init(&out, 5);
    buf_adds(&out, ">");
    edits_add(&e, 1, 1, SPAN_LIT("XY"));
    assert_int_equal(edits_apply(&e, SPAN_LIT("abc"), &out), 0);
    assert_string_equal(buf_cstr(&out), ">aXYc");
    buf_reset(&out);
    assert_int_equal(edits_apply(&e, SPAN_LIT("abcde"), &out), -1);
    edits_free(&e);
    buf_free(&out);
}

/* Added in any order, the result is that of a stable sort. */
static void test_order(void **state)
{
    (void)state;
    enum { N = 500 };
    static char marks[N];
    struct edits e = {0};
    unsigned random = 12345;
    for (size_t i = 0; i < N; i++) {
        random = random * 1103515245 + 12345;
        edits_add(&e, random >> 16 & 63, 0, span_of(&marks[i], 1));
    }
    assert_int_equal(e.n, N);
    for (size_t i = 1; i < N; i++) {
        assert_true(e.list[i - 1].at <= e.list[i].at);
        if (e.list[i - 1].at == e.list[i].at)
            assert_true(e.list[i - 1].insert.p < e.list[i].insert.p);
    }
    edits_free(&e);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_apply),
        cmocka_unit_test(test_apply_appends_and_respects_the_cap),
        cmocka_unit_test(test_order),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
