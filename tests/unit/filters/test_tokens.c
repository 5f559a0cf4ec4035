/* Log probabilities in step with their text. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>

#include <cmocka.h>

#include "filters/tokens.h"

#define T(text) "{\"token\":\"" text "\"}"

static void take(struct tokens *t, const char *entries, size_t length)
{
    assert_int_equal(tokens_take(t, span_str(entries), length), 0);
}

static void assert_ready(struct tokens *t, const char *want)
{
    assert_string_equal(buf_cstr(&t->ready), want);
    buf_reset(&t->ready);
}

static void test_fates(void **state)
{
    (void)state;
    struct tokens t;
    tokens_init(&t, 1 << 16);
    take(&t, T("ab") "," T("cd") " , " T("e"), 5);
    tokens_fate(&t, 1, true);
    tokens_settle(&t, false);
    assert_ready(&t, ""); /* half of "ab" is open */
    tokens_fate(&t, 1, true);
    tokens_fate(&t, 1, true);
    tokens_fate(&t, 1, false); /* half of "cd" goes, so it goes */
    tokens_settle(&t, false);
    assert_ready(&t, T("ab"));
    assert_true(tokens_any(&t));
    take(&t, "", 3); /* text without entries */
    take(&t, T("f"), 1);
    tokens_fate(&t, 5, true);
    tokens_settle(&t, false);
    assert_ready(&t, T("e") "," T("f"));
    assert_false(tokens_any(&t));
    tokens_finish(&t);
}

/* Entries that do not spell their text are out of step for their event alone. */
static void test_lengths_that_differ(void **state)
{
    (void)state;
    struct tokens t;
    tokens_init(&t, 1 << 16);
    take(&t, T("long token") "," T("x"), 3);
    take(&t, T("a"), 4);
    take(&t, T("b") "," T(""), 1);
    tokens_fate(&t, 7, false);
    tokens_fate(&t, 1, true);
    tokens_settle(&t, false);
    assert_ready(&t, T("b") "," T(""));
    take(&t, T("c"), 1);
    tokens_settle(&t, true); /* nothing is held, whatever was counted */
    assert_ready(&t, T("c"));
    tokens_finish(&t);
}

static void test_entry_lengths(void **state)
{
    (void)state;
    static const struct {
        const char *entry;
        size_t length;
    } table[] = {
        {"{\"token\":\"a\",\"bytes\":[1,2,3]}", 3},
        {"{\"token\":\"a\",\"bytes\":null}", 1},
        {"{\"token\":\"\\u00e9\\n\"}", 3},
        {"{\"token\":\"\\ud83d\\ude00\"}", 4},
        {"{\"token\":\"\\ud83d\"}", 3},
        {"{\"token\":\"\xe2\x82\xac\"}", 3},
    };
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
        struct tokens t;
        tokens_init(&t, 1 << 16);
        take(&t, table[i].entry, 100);
        tokens_fate(&t, table[i].length - 1, true);
        tokens_settle(&t, false);
        assert_int_equal(t.ready.n, 0);
        tokens_fate(&t, 1, true);
        tokens_settle(&t, false);
        assert_ready(&t, table[i].entry);
        tokens_finish(&t);
    }
}

static void test_cap(void **state)
{
    (void)state;
    struct tokens t;
    tokens_init(&t, 20);
    assert_int_equal(tokens_take(&t, span_str(T("a") "," T("b")), 2), -1);
    tokens_finish(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_fates),
        cmocka_unit_test(test_lengths_that_differ),
        cmocka_unit_test(test_entry_lengths),
        cmocka_unit_test(test_cap),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
