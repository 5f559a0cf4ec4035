/* The PROXY protocol: both versions, what is not valid, and every place where a read may end. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "net/proxy_protocol.h"

#define V2       "\r\n\r\n\0\r\nQUIT\n"
#define BYTES(s) s, sizeof(s) - 1
#define IPV6     "\x20\x01\x0d\xb8\0\0\0\0\0\0\0\0\0\0\0\x01"

struct header {
    const char *bytes;
    size_t n;
    int length; /* expected: n, or -1 */
    const char *address;
};

static const struct header headers[] = {
    {BYTES("PROXY TCP4 192.0.2.1 198.51.100.2 51234 443\r\n"), 45, "192.0.2.1"},
    {BYTES("PROXY TCP6 2001:DB8:0:0::1 ::1 65535 0\r\n"), 40, "2001:db8::1"},
    {BYTES("PROXY UNKNOWN\r\n"), 15, ""},
    {BYTES("PROXY UNKNOWN ffff::1 ffff::2 1 2\r\n"), 35, ""},
    {BYTES(V2 "\x21\x11\0\x0c\xc0\0\x02\x01\xc6\x33\x64\x02\xc8\x22\x01\xbb"), 28, "192.0.2.1"},
    {BYTES(V2 "\x21\x21\0\x24" IPV6 IPV6 "\x01\x02\x03\x04"), 52, "2001:db8::1"},
    {BYTES(V2 "\x21\x11\0\x10\xc0\0\x02\x01\xc6\x33\x64\x02\xc8\x22\x01\xbb\x04\0\x01x"), 32, "192.0.2.1"},
    {BYTES(V2 "\x20\x11\0\x0c\xc0\0\x02\x01\xc6\x33\x64\x02\xc8\x22\x01\xbb"), 28, ""}, /* LOCAL */
    {BYTES(V2 "\x20\0\0\0"), 16, ""},
    {BYTES(V2 "\x21\0\0\x02zz"), 18, ""}, /* unspecified */

    {BYTES("PROXY TCP4 192.0.2.1 198.51.100.2 51234 443\n"), -1, ""},
    {BYTES("PROXY TCP4 192.0.2.1 198.51.100.2 51234 443 \r\n"), -1, ""},
    {BYTES("PROXY TCP4  192.0.2.1 198.51.100.2 51234 443\r\n"), -1, ""},
    {BYTES("PROXY TCP4 192.0.2.1 198.51.100.2 51234\r\n"), -1, ""},
    {BYTES("PROXY TCP4 192.0.2.1 198.51.100.2 65536 443\r\n"), -1, ""},
    {BYTES("PROXY TCP4 192.0.2.1 198.51.100.2 0123 443\r\n"), -1, ""},
    {BYTES("PROXY TCP4 192.0.2.1 198.51.100.2 1 \r\n"), -1, ""},
    {BYTES("PROXY TCP4 192.0.2.1\0 198.51.100.2 1 1\r\n"), -1, ""},
    {BYTES("PROXY TCP4 2001:db8::1 ::1 1 1\r\n"), -1, ""},
    {BYTES("PROXY TCP4 192.0.2.1 198.51.100.256 1 1\r\n"), -1, ""},
    {BYTES("PROXY TCP6 192.0.2.1 198.51.100.2 1 1\r\n"), -1, ""},
    {BYTES("PROXY UDP4 192.0.2.1 198.51.100.2 1 1\r\n"), -1, ""},
    {BYTES("PROXY \r\n"), -1, ""},
    {BYTES("PROXY \n"), -1, ""},
    {BYTES("proxy TCP4 192.0.2.1 198.51.100.2 1 1\r\n"), -1, ""},
    {BYTES("GET / HTTP/1.1\r\n"), -1, ""},
    {BYTES("\r\n\r\nGET"), -1, ""},
    {BYTES(V2 "\x11\x11\0\x0c\xc0\0\x02\x01\xc6\x33\x64\x02\xc8\x22\x01\xbb"), -1, ""}, /* version 1 */
    {BYTES(V2 "\x22\x11\0\x0c\xc0\0\x02\x01\xc6\x33\x64\x02\xc8\x22\x01\xbb"), -1, ""}, /* command 2 */
    {BYTES(V2 "\x21\x41\0\x0c\xc0\0\x02\x01\xc6\x33\x64\x02\xc8\x22\x01\xbb"), -1, ""}, /* family 4 */
    {BYTES(V2 "\x21\x13\0\x0c\xc0\0\x02\x01\xc6\x33\x64\x02\xc8\x22\x01\xbb"), -1, ""}, /* transport 3 */
    {BYTES(V2 "\x21\x11\0\x0b\xc0\0\x02\x01\xc6\x33\x64\x02\xc8\x22\x01"), -1, ""},     /* too short */
    {BYTES(V2 "\x21\x11\xff\xff"), -1, ""},                                             /* too long */
};

static void each_header(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof headers / sizeof headers[0]; i++) {
        const struct header *h = &headers[i];
        char address[64];
        int length = proxy_protocol_parse(span_of(h->bytes, h->n), address);
        if (length != h->length)
            print_error("header %zu: %d instead of %d\n", i, length, h->length);
        assert_int_equal(length, h->length);
        assert_string_equal(address, h->address);
    }
}

/* A valid header is never refused half way, and never taken before it is whole; what comes behind it does not
 * matter. */
static void cut_at_every_byte(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof headers / sizeof headers[0]; i++) {
        const struct header *h = &headers[i];
        char address[64], more[256];
        if (h->length < 0)
            continue;
        for (size_t n = 0; n < h->n; n++) {
            char copy[256]; /* exact size matters to the sanitizer only at the end, so put it there */
            char *at = copy + sizeof copy - n;
            memcpy(at, h->bytes, n);
            assert_int_equal(proxy_protocol_parse(span_of(at, n), address), 0);
            assert_string_equal(address, "");
        }
        memcpy(more, h->bytes, h->n);
        memset(more + h->n, 'x', sizeof more - h->n);
        assert_int_equal(proxy_protocol_parse(span_of(more, sizeof more), address), h->length);
        assert_string_equal(address, h->address);
    }
}

static void a_line_without_end(void **state)
{
    (void)state;
    char bytes[200], address[64];
    memset(bytes, 'a', sizeof bytes);
    memcpy(bytes, "PROXY ", 6);
    assert_int_equal(proxy_protocol_parse(span_of(bytes, 106), address), 0);
    assert_int_equal(proxy_protocol_parse(span_of(bytes, 107), address), -1);
    assert_int_equal(proxy_protocol_parse(span_of(bytes, sizeof bytes), address), -1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_header),
        cmocka_unit_test(cut_at_every_byte),
        cmocka_unit_test(a_line_without_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
