/* base/buf: growing, the cap, consuming at the front. */
#include "base/buf.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

static void test_append(void **state)
{
    (void)state;
    struct buf b;
    buf_init(&b, 1000);
    assert_string_equal(buf_cstr(&b), "");
    assert_int_equal(buf_span(&b).n, 0);
    assert_non_null(buf_span(&b).p);
    assert_int_equal(buf_add(&b, span_of(NULL, 0)), 0);
    assert_int_equal(buf_adds(&b, "ab"), 0);
    assert_int_equal(buf_addc(&b, 'c'), 0);
    assert_int_equal(buf_add(&b, SPAN_LIT("de")), 0);
    assert_int_equal(buf_addn(&b, "fgh", 2), 0);
    assert_int_equal(buf_printf(&b, "%d-%s", 42, "x"), 0);
    assert_string_equal(buf_cstr(&b), "abcdefg42-x");
    buf_cut(&b, 3);
    buf_cut(&b, 10);
    assert_string_equal(buf_cstr(&b), "abc");
    char *room = buf_reserve(&b, 5);
    assert_non_null(room);
    memcpy(room, "123", 3);
    buf_commit(&b, 3);
    assert_string_equal(buf_cstr(&b), "abc123");
    buf_free(&b);
    assert_int_equal(b.n, 0);
    assert_int_equal(b.max, 1000);
    buf_free(&b);
}

static void test_cap(void **state)
{
    (void)state;
    struct buf b;
    buf_init(&b, 5);
    assert_int_equal(buf_adds(&b, "12345"), 0);
    assert_false(buf_full(&b));
    assert_int_equal(buf_addc(&b, '6'), -1);
    assert_true(buf_full(&b));
    assert_string_equal(buf_cstr(&b), "12345");
    /* A refusal sticks, until the buffer is emptied. */
    buf_cut(&b, 0);
    assert_int_equal(buf_addc(&b, '1'), -1);
    assert_int_equal(buf_addn(&b, "", 0), -1);
    assert_int_equal(buf_printf(&b, "%d", 1), -1);
    assert_null(buf_reserve(&b, 1));
    buf_reset(&b);
    assert_false(buf_full(&b));
    assert_int_equal(buf_printf(&b, "%d", 123456), -1);
    assert_int_equal(b.n, 0);
    buf_reset(&b);
    assert_null(buf_reserve(&b, (size_t)-1));
    buf_free(&b);
    assert_int_equal(buf_adds(&b, "12345"), 0);
    buf_free(&b);
    buf_init(&b, 0);
    assert_int_equal(buf_addn(&b, "", 0), 0);
    assert_int_equal(buf_addc(&b, 'x'), -1);
    buf_free(&b);
}

/* A queue that takes and gives for long needs no more memory than it holds at once. */
static void test_queue(void **state)
{
    (void)state;
    struct buf b;
    unsigned char next_in = 0, next_out = 0;
    buf_init(&b, 300);
    for (unsigned i = 0; i < 20000; i++) {
        unsigned take = i * 7 % 23;
        for (unsigned k = 0; k < take && b.n < b.max; k++)
            assert_int_equal(buf_addc(&b, (char)next_in++), 0);
        unsigned give = i * 5 % 29;
        if (give > b.n)
            give = (unsigned)b.n;
        for (unsigned k = 0; k < give; k++)
            assert_int_equal((unsigned char)buf_span(&b).p[k], next_out++);
        buf_consume(&b, give);
        assert_true(b.n <= b.max);
    }
    assert_true(b.room <= 1024);
    assert_int_equal((unsigned char)(next_in - next_out), (unsigned char)b.n);
    buf_free(&b);
}

static void test_move(void **state)
{
    (void)state;
    struct buf a, b;
    buf_init(&a, 100);
    buf_init(&b, 200);
    buf_adds(&a, "old");
    buf_adds(&b, "xnew");
    buf_consume(&b, 1);
    buf_move(&a, &b);
    assert_string_equal(buf_cstr(&a), "new");
    assert_int_equal(a.max, 100);
    assert_int_equal(b.n, 0);
    assert_int_equal(b.max, 200);
    assert_int_equal(buf_adds(&b, "again"), 0);
    assert_string_equal(buf_cstr(&b), "again");
    buf_free(&a);
    buf_free(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_append),
        cmocka_unit_test(test_cap),
        cmocka_unit_test(test_queue),
        cmocka_unit_test(test_move),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
