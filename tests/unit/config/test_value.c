/* Sizes, durations, addresses and URLs, there and back. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "base/xalloc.h"
#include "config/address.h"
#include "config/value.h"

enum { BAD = -1 };

static void sizes(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        int64_t bytes;
        const char *printed;
    } rows[] = {
        {"0", 0, "0B"},
        {"1", 1, "1B"},
        {"512B", 512, "512B"},
        {"1024", 1024, "1KiB"},
        {"64KiB", 65536, "64KiB"},
        {"8MiB", 8 << 20, "8MiB"},
        {"1GiB", 1 << 30, "1GiB"},
        {"1025", 1025, "1025B"},
        {"8MB", BAD, ""},
        {"8 MiB", BAD, ""},
        {"8mib", BAD, ""},
        {"1.5MiB", BAD, ""},
        {"-1", BAD, ""},
        {"+1", BAD, ""},
        {"", BAD, ""},
        {"MiB", BAD, ""},
        {"0x10", BAD, ""},
        {"9223372036854775807", INT64_MAX, "9223372036854775807B"},
        {"9223372036854775808", BAD, ""},
        {"9007199254740992KiB", BAD, ""},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        int64_t n = 0;
        struct buf b;
        bool good = value_size(span_str(rows[i].text), &n) == 0;
        if (good != (rows[i].bytes != BAD))
            fail_msg("%s", rows[i].text);
        if (!good)
            continue;
        buf_init(&b, 64);
        assert_int_equal(n, rows[i].bytes);
        value_print_size(n, &b);
        assert_string_equal(buf_cstr(&b), rows[i].printed);
        buf_free(&b);
    }
}

static void durations(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        int64_t ms;
        const char *printed;
    } rows[] = {
        {"250ms", 250, "250ms"}, {"10s", 10000, "10s"},
        {"300s", 300000, "5m"},  {"1h", 3600000, "1h"},
        {"7d", 604800000, "7d"}, {"24h", 86400000, "1d"},
        {"0s", 0, "0ms"},        {"90s", 90000, "90s"},
        {"10", BAD, ""},         {"s", BAD, ""},
        {"1w", BAD, ""},         {"1h30m", BAD, ""},
        {"1.5h", BAD, ""},       {"10S", BAD, ""},
        {"", BAD, ""},           {"9223372036854775807d", BAD, ""},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        int64_t n = 0;
        struct buf b;
        bool good = value_milliseconds(span_str(rows[i].text), &n) == 0;
        if (good != (rows[i].ms != BAD))
            fail_msg("%s", rows[i].text);
        if (!good)
            continue;
        buf_init(&b, 64);
        assert_int_equal(n, rows[i].ms);
        value_print_milliseconds(n, &b);
        assert_string_equal(buf_cstr(&b), rows[i].printed);
        buf_free(&b);
    }
}

static void addresses(void **state)
{
    (void)state;
    static const struct {
        const char *text, *host; /* host NULL: refused */
        int port;
        bool is_unix;
    } rows[] = {
        {"127.0.0.1:8080", "127.0.0.1", 8080, false},
        {"localhost:0", "localhost", 0, false},
        {"my_host-1.example:65535", "my_host-1.example", 65535, false},
        {"[::1]:80", "::1", 80, false},
        {"[fe80::1:2]:80", "fe80::1:2", 80, false},
        {":8080", "::", 8080, false},
        {"unix:/run/p.sock", "/run/p.sock", 0, true},
        {"unix:p.sock", "p.sock", 0, true},
        {"", NULL, 0, false},
        {"8080", NULL, 0, false},
        {"host", NULL, 0, false},
        {"host:", NULL, 0, false},
        {"host:-1", NULL, 0, false},
        {"host:65536", NULL, 0, false},
        {"host:99999999999999999999", NULL, 0, false},
        {"host:80x", NULL, 0, false},
        {"::1:80", NULL, 0, false},
        {"[::1]", NULL, 0, false},
        {"[::1]80", NULL, 0, false},
        {"[]:80", NULL, 0, false},
        {"[127.0.0.1]:80", NULL, 0, false},
        {"[::1%eth0]:80", NULL, 0, false},
        {"ho st:80", NULL, 0, false},
        {"-h:80", NULL, 0, false},
        {"unix:", NULL, 0, false},
        {"unix:/"
         "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
         "aaaaaaaa",
         NULL, 0, false},
    };
    struct config_address a = {0};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const char *expected = address_parse(span_str(rows[i].text), &a);
        if (!expected != (rows[i].host != NULL))
            fail_msg("%s: %s", rows[i].text, expected ? expected : "accepted");
        if (expected)
            continue;
        assert_string_equal(a.text, rows[i].text);
        assert_string_equal(a.host, rows[i].host);
        assert_int_equal(a.port, rows[i].port);
        assert_int_equal(a.is_unix, rows[i].is_unix);
    }
    address_finish(&a);
}

static void urls(void **state)
{
    (void)state;
    static const struct {
        const char *text, *kept, *host, *header, *path;
        int port;
        bool tls;
    } rows[] = {
        {"http://h", "http://h", "h", "h", "", 80, false},
        {"https://h/", "https://h", "h", "h", "", 443, true},
        {"https://h:443/v1/", "https://h:443/v1", "h", "h", "/v1", 443, true},
        {"http://h:443", "http://h:443", "h", "h:443", "", 443, false},
        {"http://h:0081/a//", "http://h:0081/a", "h", "h:81", "/a", 81, false},
        {"http://[::1]/a/b", "http://[::1]/a/b", "::1", "[::1]", "/a/b", 80, false},
        {"http://[::1]:80", "http://[::1]:80", "::1", "[::1]", "", 80, false},
        {"https://h/%20/x;y=1", "https://h/%20/x;y=1", "h", "h", "/%20/x;y=1", 443, true},
    };
    static const char *const bad[] = {
        "",
        "h",
        "//h",
        "http:/h",
        "ws://h",
        "http://",
        "http://:80",
        "http://h:",
        "http://h:0",
        "http://h:1:2",
        "http://u@h",
        "http://h?x",
        "http://h/a#b",
        "http://h/\x01",
        "http://[h]",
        "http://[::1",
        "http://[::1]x",
        "http://h/ü",
        "http://h\\x/",
        "http://h h/",
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct url u;
        assert_null(url_parse(span_str(rows[i].text), &u));
        assert_string_equal(u.text, rows[i].kept);
        assert_string_equal(u.host, rows[i].host);
        assert_string_equal(u.host_header, rows[i].header);
        assert_string_equal(u.path, rows[i].path);
        assert_int_equal(u.port, rows[i].port);
        assert_int_equal(u.tls, rows[i].tls);
        url_finish(&u);
    }
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        struct url u;
        if (!url_parse(span_str(bad[i]), &u))
            fail_msg("accepted: %s", bad[i]);
    }
}

static void printable(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        bool good;
    } rows[] = {
        {"a b", true},
        {"ü €", true},
        {"\xf0\x9f\x98\x80", true},
        {"a\nb", false},
        {"\x7f", false},
        {"\xc2\x85", false},
        {"\xe2\x80\xa8", false},
        {"\xef\xbb\xbf", false},
        {"\xff", false},
        {"\xc3", false},
        {"\xc0\x80", false},
        {"\xed\xa0\x80", false},
        {"\xf4\x90\x80\x80", false},
        {"\xe2\x82", false},
        {"\xef\xbf\xbe", false},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        if (value_printable(span_str(rows[i].text)) != rows[i].good)
            fail_msg("row %zu", i);
}

static void texts_are_quoted_where_needed(void **state)
{
    (void)state;
    static const struct {
        const char *text, *printed;
    } rows[] = {
        {"abc", "abc"},
        {"./a", "\"./a\""},
        {"/a/b-c.d", "/a/b-c.d"},
        {"https://h:1/x", "https://h:1/x"},
        {"a:", "\"a:\""},
        {"off", "\"off\""},
        {"True", "\"True\""},
        {"1", "\"1\""},
        {"a b", "\"a b\""},
        {"a\"\\", "\"a\\\"\\\\\""},
        {"", "\"\""},
        {"a#b", "\"a#b\""},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct buf b;
        buf_init(&b, 64);
        value_print_text(span_str(rows[i].text), &b);
        assert_string_equal(buf_cstr(&b), rows[i].printed);
        buf_free(&b);
    }
}

static void found_is_cut(void **state)
{
    (void)state;
    char text[200];
    struct buf b;
    buf_init(&b, 256);
    memset(text, 'x', sizeof text);
    value_print_found(span_of(text, 59), &b);
    assert_int_equal(b.n, 61);
    buf_reset(&b);
    memcpy(text + 59, "€", 3);
    value_print_found(span_of(text, sizeof text), &b);
    assert_int_equal(b.n, 1 + 59 + 3 + 1);
    buf_reset(&b);
    value_print_found(SPAN_LIT("a\x1b\xff€"), &b);
    assert_string_equal(buf_cstr(&b), "\"a??€\"");
    buf_free(&b);
}

static void distances(void **state)
{
    (void)state;
    assert_int_equal(value_distance(SPAN_LIT("abc"), SPAN_LIT("abc")), 0);
    assert_int_equal(value_distance(SPAN_LIT("abc"), SPAN_LIT("")), 3);
    assert_int_equal(value_distance(SPAN_LIT("limts"), SPAN_LIT("limits")), 1);
    assert_int_equal(value_distance(SPAN_LIT("kitten"), SPAN_LIT("sitting")), 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sizes),        cmocka_unit_test(durations),
        cmocka_unit_test(addresses),    cmocka_unit_test(urls),
        cmocka_unit_test(printable),    cmocka_unit_test(texts_are_quoted_where_needed),
        cmocka_unit_test(found_is_cut), cmocka_unit_test(distances),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
