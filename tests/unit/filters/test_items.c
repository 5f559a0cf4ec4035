/* A JSON array cut into blocks, one an object, however it arrives. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>

#include <cmocka.h>

#include "filters/items.h"

/* Feeds the first n bytes, then all of them; answers the first block's length. */
static size_t first_block(const char *text, size_t n)
{
    struct items_scan scan = {0};
    size_t block = items_block(&scan, span_of(text, n));
    return block ? block : items_block(&scan, span_str(text));
}

static void test_blocks(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        size_t block;
    } table[] = {
        {"[{},{}]", 3},
        {" [ {\"a\":{\"b\":\"}\"}}\n,", 18},
        {",\r\n{\"a\":\"\\\"}\"}]", 14},
        {"{\"a\":[{},{}]}", 13},
        {"]\n", 0},
        {"}{}", 3},
        {"\"{}\",{}", 7},
        {"[{\"a\":\"", 0},
        {"", 0},
    };
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++)
        for (size_t n = 0; n <= strlen(table[i].text); n++)
            if (first_block(table[i].text, n) != table[i].block)
                fail_msg("%s at %zu: %zu", table[i].text, n, first_block(table[i].text, n));
}

static void test_parse(void **state)
{
    (void)state;
    struct items_parts parts = items_parse(SPAN_LIT(" [ {\"a\":1}"));
    assert_true(span_is(parts.lead, " [ ") && span_is(parts.object, "{\"a\":1}"));
    assert_true(parts.opens && !parts.comma && !parts.closes);
    parts = items_parse(SPAN_LIT("\r\n,\r\n{}"));
    assert_true(span_is(parts.lead, "\r\n,\r\n") && span_is(parts.object, "{}"));
    assert_true(parts.comma && !parts.opens);
    parts = items_parse(SPAN_LIT("\n]\n"));
    assert_true(parts.object.n == 0 && parts.lead.n == 3 && parts.closes);
    parts = items_parse(SPAN_LIT("\"[{,]\""));
    assert_true(parts.object.n == 0 && !parts.comma && !parts.opens && !parts.closes);
    parts = items_parse(SPAN_LIT(""));
    assert_true(parts.object.n == 0 && parts.lead.n == 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_blocks),
        cmocka_unit_test(test_parse),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
