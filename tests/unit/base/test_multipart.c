/* A multipart body, byte for byte. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/multipart.h"

static void test_body(void **state)
{
    (void)state;
    struct buf out;
    buf_init(&out, 4096);
    multipart_type("b0", &out);
    assert_string_equal(buf_cstr(&out), "multipart/form-data; boundary=b0");
    buf_reset(&out);
    multipart_field("b0", "purpose", SPAN_LIT("user_data"), &out);
    multipart_file("b0", "file", SPAN_LIT("a\"\r\n\xc3\xa9.pdf"), SPAN_LIT("application/pdf"),
                   SPAN_LIT("%PDF\0\r\n--"), &out);
    multipart_end("b0", &out);
    static const char want[] = "--b0\r\nContent-Disposition: form-data; name=\"purpose\"\r\n\r\nuser_data\r\n"
                               "--b0\r\nContent-Disposition: form-data; name=\"file\"; "
                               "filename=\"a%22%0D%0A\xc3\xa9.pdf\"\r\nContent-Type: application/pdf\r\n\r\n"
                               "%PDF\0\r\n--\r\n--b0--\r\n";
    assert_int_equal((int)out.n, (int)sizeof want - 1);
    assert_memory_equal(buf_span(&out).p, want, out.n);
    buf_free(&out);
}

/* One that does not fit says so, at every size. */
static void test_cap(void **state)
{
    (void)state;
    size_t whole = 0;
    for (size_t max = 200; max > 0; max--) {
        struct buf out;
        buf_init(&out, max);
        multipart_file("b0", "file", SPAN_LIT("a.pdf"), SPAN_LIT("application/pdf"), SPAN_LIT("0123456789"),
                       &out);
        multipart_end("b0", &out);
        if (max == 200)
            whole = out.n;
        assert_int_equal(buf_full(&out), max < whole);
        buf_free(&out);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_body), cmocka_unit_test(test_cap)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
