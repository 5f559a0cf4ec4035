/* net/query: the parameters of a request's query, one after the other. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/buf.h"
#include "net/query.h"

static void test_parameters(void **state)
{
    (void)state;
    static const struct {
        const char *query, *wanted; /* each as "name>value;" */
    } cases[] = {
        {"", ""},
        {"&&", ""},
        {"org=acme", "org>acme;"},
        {"org=acme&limit=5", "org>acme;limit>5;"},
        {"&org=acme&&limit=5&", "org>acme;limit>5;"},
        {"org", "org>;"},
        {"org=", "org>;"},
        {"=acme", ">acme;"},
        {"a=b=c&d", "a>b=c;d>;"},
        {"a=%26&b=+", "a>%26;b>+;"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct span query = span_str(cases[i].query), name, value;
        struct buf out;
        buf_init(&out, 256);
        while (query_next(&query, &name, &value)) {
            buf_add(&out, name);
            buf_addc(&out, '>');
            buf_add(&out, value);
            buf_addc(&out, ';');
        }
        assert_string_equal(buf_cstr(&out), cases[i].wanted);
        assert_int_equal(query.n, 0);
        buf_free(&out);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_parameters)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
