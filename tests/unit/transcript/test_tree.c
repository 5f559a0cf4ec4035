/* The fast way to a tree answers what jansson does, or nothing. */
#include "transcript/tree.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/buf.h"
#include "base/xalloc.h"

static bool is_same(struct span text, bool *made)
{
    char *tight = xmalloc(text.n + 1); /* what reads beyond the end is seen */
    memcpy(tight, text.p, text.n);
    json_t *tree = tree_load(span_of(tight, text.n)),
           *wanted = json_loadb(tight, text.n, JSON_DECODE_ANY, NULL);
    *made = tree != NULL;
    bool same = !tree || json_equal(tree, wanted);
    json_decref(tree);
    json_decref(wanted);
    xfree(tight);
    return same;
}

static void assert_made(struct span text, bool wanted)
{
    bool made;
    if (is_same(text, &made) && made == wanted)
        return;
    print_error("%.*s\n", (int)text.n, text.p);
    fail();
}

static const char whole[] =
    " {\"a\":[1,-0,9223372036854775807,1.5e3,\"\",true,false,null,[],{}],\"text\":\"line\\n\\t\\\"q\\\" \\\\ "
    "\\/ "
    "é 漢 🤖\",\"e\\u0301\":\"\\u0041\\ud83d\\ude00\",\"\":{\"a\":{\"a\":2}},\"a\":\"again\"}\n";

static void test_same(void **state)
{
    static const char *const made[] = {
        "7", "\"x\"", "null", "[[],[{}]]", " [ 1 , 2 ] ", "{\"k\" : \"\\b\\f\\r\"}", whole};
    static const char *const refused[] = {"",
                                          " ",
                                          "[1,]",
                                          "{\"a\":1,}",
                                          "{a:1}",
                                          "[1 2]",
                                          "{\"a\" 1}",
                                          "01",
                                          "\"\\u0000\"",
                                          "{\"\\u0000\":1}",
                                          "\"\\ud800\"",
                                          "\"\\x\"",
                                          "\"\xff\"",
                                          "{\"\xc0\x80\":1}",
                                          "\"\t\"",
                                          "99999999999999999999",
                                          "[1e999]",
                                          "NaN",
                                          "{}{}",
                                          "[1]]"};
    (void)state;
    for (size_t i = 0; i < sizeof made / sizeof made[0]; i++)
        assert_made(span_str(made[i]), true);
    for (size_t i = 0; i < sizeof refused / sizeof refused[0]; i++)
        assert_made(span_str(refused[i]), false);
}

static void test_cut_anywhere(void **state)
{
    (void)state;
    assert_made(span_str(whole), true);
    for (size_t n = 0; n < sizeof whole - 2; n++)
        assert_made(span_of(whole, n), false);
}

static void test_deep(void **state)
{
    struct buf text;
    (void)state;
    for (unsigned depth = TREE_DEPTH - 2; depth < TREE_DEPTH + 2; depth++) {
        buf_init(&text, 4096);
        for (unsigned i = 0; i < depth; i++)
            buf_addc(&text, '[');
        for (unsigned i = 0; i < depth; i++)
            buf_addc(&text, ']');
        assert_made(buf_span(&text), depth <= TREE_DEPTH);
        buf_free(&text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_same), cmocka_unit_test(test_cut_anywhere),
                                       cmocka_unit_test(test_deep)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
