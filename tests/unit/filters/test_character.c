/* Reading escaped text: every spelling, and the fast scan against its one-byte definition. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "filters/character.h"

static void test_read(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        uint32_t c;
        int raw;      /* 0: more is needed */
        int raw_last; /* when nothing follows */
    } cases[] = {
        {"a", 'a', 1, 1},        {"\\n", '\n', 2, 2},       {"\\\"", '"', 2, 2},
        {"\\\\", '\\', 2, 2},    {"\\/", '/', 2, 2},        {"\\u003C", '<', 6, 6},
        {"\\u003c0", '<', 6, 6}, {"\\ud83d", 0xd83d, 6, 6}, {"\\", '\\', 0, 1},
        {"\\u", '\\', 0, 1},     {"\\u00e", '\\', 0, 1},    {"\\u00x9", '\\', 1, 1},
        {"\\ux", '\\', 1, 1},    {"\\x", '\\', 1, 1},       {"\xc3", CHARACTER_BYTE | 0xc3, 1, 1},
        {"\\\x80", '\\', 1, 1},  {"\\b", '\b', 2, 2},       {"\\f", '\f', 2, 2},
        {"\\r", '\r', 2, 2},     {"\\t", '\t', 2, 2},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *end = cases[i].text + strlen(cases[i].text);
        struct character ch;
        bool got = character_read(cases[i].text, end, false, &ch);
        assert_int_equal(got, cases[i].raw != 0);
        if (got) {
            assert_int_equal(ch.c, cases[i].c);
            assert_int_equal(ch.raw, cases[i].raw);
        }
        assert_true(character_read(cases[i].text, end, true, &ch));
        assert_int_equal(ch.raw, cases[i].raw_last);
    }
}

/* Behind the last byte anything may follow: it stops if it begins something. */
static size_t slow_plain(const char *p, size_t n)
{
    size_t i = 0;
    while (i < n && !character_stops(p[i], i + 1 < n ? p[i + 1] : '\\'))
        i++;
    return i;
}

static void test_plain(void **state)
{
    (void)state;
    uint32_t seed = 1;
    for (int byte = 0; byte < 256; byte++) {
        bool stops = byte == '\\' || byte == '\n';
        bool begins = byte == '<' || byte == 'h' || byte == 'H';
        for (int next = 0; next < 256; next++) {
            bool more = next != 0 && strchr("<hHwW\\", next);
            assert_int_equal(character_stops((char)byte, (char)next), stops || (begins && more));
        }
    }
    for (int round = 0; round < 200000; round++) {
        size_t n = (seed >> 8) % 50;
        char *text = malloc(n ? n : 1); /* an allocation of its own, so that reading too far is seen */
        assert_non_null(text);
        for (size_t i = 0; i < n; i++) {
            seed = seed * 1664525u + 1013904223u;
            text[i] = round % 2 ? "aaaaaaaaabdefgijxWw<hH|\\"[(seed >> 8) % 24] : (char)(seed >> 20);
        }
        seed = seed * 1664525u + 1013904223u;
        assert_int_equal(character_plain(text, n), slow_plain(text, n));
        free(text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_read), cmocka_unit_test(test_plain)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
