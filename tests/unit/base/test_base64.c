/* base/base64: what is read, and what is told apart. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/base64.h"

/* The caller's own text is used where it is just what a provider wants. */
static void base64_forms(void **state)
{
    static const struct {
        const char *text, *bytes; /* NULL: refused */
        bool canonical;
    } rows[] = {
        {"", "", true},
        {"aA==", "h", true},
        {"aA", "h", false},
        {"aGU=", "he", true},
        {"aGU", "he", false},
        {"aGVs", "hel", true},
        {"aGVsbG8=", "hello", true},
        {"aG\nVs", "hel", false},
        {" aGVs", "hel", false},
        {"aGVs\r\n", "hel", false},
        {"/+8=", "\xff\xef", true},
        {"_-8=", "\xff\xef", false},
        {"aB==", "h", false},
        {"aGV=", "he", false},
        {"a", NULL, false},
        {"aGVsb", NULL, false},
        {"=", NULL, false},
        {"a=", NULL, false},
        {"aA=", NULL, false},
        {"aA===", NULL, false},
        {"aA==aA==", NULL, false},
        {"aGVs=", NULL, false},
        {"aG*s", NULL, false},
        {"aGVs\xc3\xa9", NULL, false},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct buf out;
        bool canonical = false;
        buf_init(&out, 100);
        int bad = base64_read(span_str(rows[i].text), &out, &canonical);
        if (bad != (rows[i].bytes ? 0 : -1) || (!bad && canonical != rows[i].canonical))
            fail_msg("%s: %d %d", rows[i].text, bad, canonical);
        if (!bad)
            assert_string_equal(buf_cstr(&out), rows[i].bytes);
        size_t n = 0;
        bool sure = base64_is_canonical(span_str(rows[i].text), &n);
        if (sure != (rows[i].text[0] && !bad && canonical) || (sure && n != out.n))
            fail_msg("%s: %d, %zu bytes", rows[i].text, sure, n);
        buf_free(&out);
    }
}

/* The quick look and the reading agree, wherever an odd character stands. */
static void base64_quick_look(void **state)
{
    static const char odd[] = "AZaz09+/=-_ \n@[`{:;,.\x80\xff";
    char text[100];
    (void)state;
    for (size_t at = 0; at < sizeof text; at++)
        for (size_t i = 0; i < sizeof odd; i++) { /* the NUL too */
            struct buf out;
            size_t n = 0;
            bool canonical = false;
            memset(text, 'A', sizeof text);
            text[at] = odd[i];
            buf_init(&out, sizeof text);
            bool read = base64_read(span_of(text, sizeof text), &out, &canonical) == 0 && canonical;
            bool sure = base64_is_canonical(span_of(text, sizeof text), &n);
            if (read != sure || (sure && n != out.n))
                fail_msg("%02x at %zu: %d %d", (unsigned char)odd[i], at, read, sure);
            buf_free(&out);
        }
}

/* As models write it. */
static void lenient(void **state)
{
    static const struct {
        const char *text, *bytes; /* NULL: not base64 */
    } rows[] = {
        {"aGVsbG8=", "hello"},
        {"aGVsbG8", "hello"},
        {"aA=", "h"},
        {" aGVs\nbG8 = \n", "hello"},
        {"data:text/plain;base64,aGVsbG8=", "hello"},
        {"\n DATA:;base64,aGVsbG8=", "hello"},
        {"data:text/plain;base64", NULL},
        {"a", NULL},
        {"aGV*", NULL},
        {"aA==aA==", NULL},
        {"", ""},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct buf out;
        buf_init(&out, 100);
        int bad = base64_read_leniently(span_str(rows[i].text), &out);
        if (bad != (rows[i].bytes ? 0 : -1) || (!bad && strcmp(buf_cstr(&out), rows[i].bytes) != 0))
            fail_msg("%s: %d %s", rows[i].text, bad, buf_cstr(&out));
        buf_free(&out);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(base64_forms),
        cmocka_unit_test(base64_quick_look),
        cmocka_unit_test(lenient),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
