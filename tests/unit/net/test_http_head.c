/* Heads: what is read, and everything that two implementations could read in two ways. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "net/http_head.h"

#define GET  "GET / HTTP/1.1\r\n"
#define HOST "Host: h\r\n"
#define OK   "HTTP/1.1 200 OK\r\n"
#define END  "\r\n"

/* The head of all of `bytes`, kept in memory of its own size, so that a read beyond it is seen. */
static int read_head(const char *bytes, size_t n, bool request, struct http_head *out, struct error *e)
{
    char *copy = malloc(n ? n : 1);
    memcpy(copy, bytes, n);
    int result = http_head_read(span_of(copy, n), request, out, e);
    free(copy); /* `out` is only counted from here on */
    return result;
}

/* ---- where it ends ---- */

static void length_of_a_head(void **state)
{
    (void)state;
    static const struct {
        const char *bytes;
        ssize_t n;
    } rows[] = {
        {"", 0},
        {"\r", 0},
        {"\r\n", 2},
        {"GET", 0},
        {GET, 0},
        {GET "\r", 0},
        {GET END, 18},
        {GET END "body\n", 18},
        {GET HOST END GET HOST END, 27},
        {"\n", -1},
        {"GET / HTTP/1.1\n", -1},
        {GET "Host: h\n\r\n", -1},
        {GET HOST "\n", -1},
        {GET HOST "A: b\n", -1},
        {"\n\n", -1},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        size_t n = strlen(rows[i].bytes), scanned = 0;
        assert_int_equal(http_head_length(span_of(rows[i].bytes, n), &scanned), rows[i].n);
        /* a byte more at a time: the same answer, and not before its bytes are there */
        scanned = 0;
        ssize_t got = 0;
        for (size_t at = 0; at <= n && got == 0; at++) {
            got = http_head_length(span_of(rows[i].bytes, at), &scanned);
            assert_true(got <= (ssize_t)at);
            assert_true(scanned <= at);
        }
        assert_int_equal(got, rows[i].n);
    }
}

static void length_has_a_cap(void **state)
{
    (void)state;
    static char bytes[LIMIT_HTTP_HEAD + 2];
    size_t scanned = 0;
    memset(bytes, 'a', sizeof bytes);
    assert_int_equal(http_head_length(span_of(bytes, LIMIT_HTTP_HEAD), &scanned), 0);
    assert_int_equal(http_head_length(span_of(bytes, LIMIT_HTTP_HEAD + 1), &scanned), -1);
    memcpy(bytes + LIMIT_HTTP_HEAD - 4, "\r\n\r\n", 4);
    scanned = 0;
    assert_int_equal(http_head_length(span_of(bytes, sizeof bytes), &scanned), LIMIT_HTTP_HEAD);
    memcpy(bytes + LIMIT_HTTP_HEAD - 4, "aa\r\n\r\n", 6);
    scanned = 0;
    assert_int_equal(http_head_length(span_of(bytes, sizeof bytes), &scanned), -1);
}

/* ---- what is read ---- */

static void a_request(void **state)
{
    (void)state;
    static const char bytes[] = "POST /v1/x?a=b%20c HTTP/1.1\r\nHost: a.test:8080\r\n"
                                "X-Empty:\r\nX-Blank: \t \r\nx-SPACE: \t two  words\t \r\n"
                                "X-High: \xc3\xa9\xff\r\nX-Colon: a:b: c\r\ncontent-LENGTH: 00012\r\n\r\n";
    static struct http_head h;
    struct error e;
    assert_int_equal(http_head_read(span_str(bytes), true, &h, &e), 0);
    assert_true(span_is(h.method, "POST"));
    assert_true(span_is(h.target, "/v1/x?a=b%20c"));
    assert_int_equal(h.minor, 1);
    assert_int_equal(h.n, 7);
    assert_true(h.has_length && !h.chunked && !h.connection);
    assert_int_equal(h.length, 12);
    static const char *const fields[][2] = {{"Host", "a.test:8080"},
                                            {"X-Empty", ""},
                                            {"X-Blank", ""},
                                            {"x-SPACE", "two  words"},
                                            {"X-High", "\xc3\xa9\xff"},
                                            {"X-Colon", "a:b: c"},
                                            {"content-LENGTH", "00012"}};
    for (size_t i = 0; i < 7; i++) {
        assert_true(span_is(h.fields[i].name, fields[i][0]));
        assert_true(span_is(h.fields[i].value, fields[i][1]));
    }
}

static void a_reply(void **state)
{
    (void)state;
    static const struct {
        const char *line;
        int status, minor;
        const char *reason;
    } rows[] = {
        {"HTTP/1.1 200 OK", 200, 1, "OK"},
        {"HTTP/1.1 404 Not  Found ", 404, 1, "Not  Found "},
        {"HTTP/1.1 204 ", 204, 1, ""},
        {"HTTP/1.1 204", 204, 1, ""},
        {"HTTP/1.0 999 \xc3\xa9", 999, 0, "\xc3\xa9"},
        {"HTTP/1.1 100 Continue", 100, 1, "Continue"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        static struct http_head h;
        struct error e;
        char bytes[80];
        snprintf(bytes, sizeof bytes, "%s\r\nTransfer-Encoding: chunked\r\n\r\n", rows[i].line);
        if (rows[i].minor == 0)
            snprintf(bytes, sizeof bytes, "%s\r\n\r\n", rows[i].line);
        assert_int_equal(http_head_read(span_str(bytes), false, &h, &e), 0);
        assert_int_equal(h.status, rows[i].status);
        assert_int_equal(h.minor, rows[i].minor);
        assert_true(span_is(h.reason, rows[i].reason));
        assert_int_equal(h.chunked, rows[i].minor == 1);
        assert_false(h.has_length);
    }
}

/* The same struct is used again and again: nothing of the last head may be left. */
static void reading_again(void **state)
{
    (void)state;
    static struct http_head h;
    struct error e;
    assert_int_equal(http_head_read(SPAN_LIT("POST / HTTP/1.0\r\nConnection: x\r\nContent-Length: 5\r\n\r\n"),
                                    true, &h, &e),
                     0);
    assert_true(h.has_length && h.connection);
    assert_int_equal(http_head_read(SPAN_LIT(OK "\r\n"), false, &h, &e), 0);
    assert_true(!h.has_length && !h.chunked && !h.connection && h.n == 0 && h.length == 0);
    assert_true(h.method.n == 0 && h.target.n == 0 && h.minor == 1);
    assert_int_equal(http_head_read(SPAN_LIT(OK "Transfer-Encoding: chunked\r\n\r\n"), false, &h, &e), 0);
    assert_int_equal(http_head_read(SPAN_LIT("GET / HTTP/1.0\r\n\r\n"), true, &h, &e), 0);
    assert_true(!h.chunked && h.status == 0 && h.reason.n == 0 && h.minor == 0);
}

struct row {
    const char *bytes;
    bool good;
};

static void check_rows(const struct row *rows, size_t n, bool request)
{
    for (size_t i = 0; i < n; i++) {
        static struct http_head h;
        struct error e = {0};
        int result = read_head(rows[i].bytes, strlen(rows[i].bytes), request, &h, &e);
        if (result != (rows[i].good ? 0 : -1))
            print_error("row %zu: %d %s\n%s\n", i, result, e.message, rows[i].bytes);
        assert_int_equal(result, rows[i].good ? 0 : -1);
        if (!rows[i].good) {
            assert_int_equal(e.code, ERROR_BAD_REQUEST);
            assert_int_equal(e.status, 400);
            assert_true(e.message[0]);
        }
    }
}

#define CHECK(rows, request) check_rows(rows, sizeof rows / sizeof rows[0], request)

static void request_lines(void **state)
{
    (void)state;
    static const struct row rows[] = {
        {"GET / HTTP/1.1\r\n" HOST END, true},
        {"M-SEARCH!#$%&'*+.^_`|~09 / HTTP/1.1\r\n" HOST END, true},
        {"OPTIONS * HTTP/1.1\r\n" HOST END, true},
        {"GET http://h/x HTTP/1.1\r\n" HOST END, true},
        {"GET /\xc3\xa9 HTTP/1.1\r\n" HOST END, true},
        {"GET / HTTP/1.0\r\n" END, true},
        {"CONNECT h:443 HTTP/1.1\r\n" HOST END, false},
        {"CONNECT /v1/x HTTP/1.1\r\n" HOST "Content-Length: 5\r\n" END, false},
        {"CONNECT /v1/x HTTP/1.0\r\n" END, false},
        {"", false},
        {END, false},
        {"GET\r\n" HOST END, false},
        {"GET /\r\n" HOST END, false},
        {"GET  / HTTP/1.1\r\n" HOST END, false},
        {"GET /  HTTP/1.1\r\n" HOST END, false},
        {"GET / HTTP/1.1 \r\n" HOST END, false},
        {" GET / HTTP/1.1\r\n" HOST END, false},
        {"GET\t/ HTTP/1.1\r\n" HOST END, false},
        {"GET /a b HTTP/1.1\r\n" HOST END, false},
        {"GET /a\tb HTTP/1.1\r\n" HOST END, false},
        {"GET /a\x7f HTTP/1.1\r\n" HOST END, false},
        {"GET /a\x01 HTTP/1.1\r\n" HOST END, false},
        {"GET  HTTP/1.1\r\n" HOST END, false},
        {" / HTTP/1.1\r\n" HOST END, false},
        {"G(T / HTTP/1.1\r\n" HOST END, false},
        {"G\xc3\xa9T / HTTP/1.1\r\n" HOST END, false},
        {"GET / HTTP/1.2\r\n" HOST END, false},
        {"GET / HTTP/2.0\r\n" HOST END, false},
        {"GET / HTTP/0.9\r\n" HOST END, false},
        {"GET / HTTP/1.10\r\n" HOST END, false},
        {"GET / HTTP/1.\r\n" HOST END, false},
        {"GET / http/1.1\r\n" HOST END, false},
        {"GET / HTTP/1.1\r\r\n" HOST END, false},
        {"GET / HTTP/1.1\n" HOST END, false},
        {"GET / HTTP/1.1", false},
    };
    CHECK(rows, true);
}

static void status_lines(void **state)
{
    (void)state;
    static const struct row rows[] = {
        {"HTTP/1.1 200 OK\r\n" END, true},      {"HTTP/1.1 200\r\n" END, true},
        {"HTTP/1.1 200 a\tb\r\n" END, true},    {"HTTP/1.1 099 OK\r\n" END, false},
        {"HTTP/1.1 20 OK\r\n" END, false},      {"HTTP/1.1 2000 OK\r\n" END, false},
        {"HTTP/1.1 200OK\r\n" END, false},      {"HTTP/1.1  200 OK\r\n" END, false},
        {"HTTP/1.1 2x0 OK\r\n" END, false},     {"HTTP/1.1 -20 OK\r\n" END, false},
        {"HTTP/1.1 200 O\x01K\r\n" END, false}, {"HTTP/1.1 200 O\x7fK\r\n" END, false},
        {"HTTP/1.1 200 O\rK\r\n" END, false},   {"HTTP/2.0 200 OK\r\n" END, false},
        {"HTTP/1.3 200 OK\r\n" END, false},     {"http/1.1 200 OK\r\n" END, false},
        {"ICY 200 OK\r\n" END, false},          {"HTTP/1.1\r\n" END, false},
        {" HTTP/1.1 200 OK\r\n" END, false},    {"HTTP/1.1 200 OK\n" END, false},
        {"GET / HTTP/1.1\r\n" HOST END, false}, {"", false},
    };
    CHECK(rows, false);
}

/* Fields of requests. */
static void fields(void **state)
{
    (void)state;
    static const struct row rows[] = {
        {GET HOST "A:b\r\n" END, true},
        {GET HOST "A: b\tc\r\n" END, true},
        {GET HOST "!#$%&'*+-.^_`|~0aZ: b\r\n" END, true},
        {GET HOST "A : b\r\n" END, false},
        {GET HOST "A\t: b\r\n" END, false},
        {GET HOST ": b\r\n" END, false},
        {GET HOST "A\r\n" END, false},
        {GET HOST "A b: c\r\n" END, false},
        {GET HOST "A(b): c\r\n" END, false},
        {GET HOST "A\x7f: c\r\n" END, false},
        {GET HOST "\xc3\xa9: c\r\n" END, false},
        /* folds */
        {GET HOST "A: b\r\n c\r\n" END, false},
        {GET HOST "A: b\r\n\tc\r\n" END, false},
        {GET HOST "A: b\r\n \r\n" END, false},
        {GET " " HOST END, false},
        {GET "\t\r\n" HOST END, false},
        /* bare line ends */
        {GET HOST "A: b\rc\r\n" END, false},
        {GET HOST "A: b\nc: d\r\n" END, false},
        {GET HOST "A: b\n" END, false},
        {GET HOST "A: b\r\r\n" END, false},
        {GET HOST "\rA: b\r\n" END, false},
        {GET HOST "A: b\r\n\r", false},
        {GET HOST "A: b", false},
        /* control characters, in every place of a word that is read at once */
        {GET HOST "A: b\x01\r\n" END, false},
        {GET HOST "A: \x1f"
                  "bcdefghijk\r\n" END,
         false},
        {GET HOST "A: bcdefgh\x08ijk\r\n" END, false},
        {GET HOST "A: bcdefghijklmno\x7f\r\n" END, false},
        {GET HOST "A: \x7f"
                  "bcdefghijklmno\r\n" END,
         false},
        {GET HOST "A: bcd\tefghijklmno\x0b\r\n" END, false},
        {GET HOST "A: \xff\xfe\x80\x81\xa0\x9f\x20\x7e\xff\r\n" END, true},
        {GET HOST "A: bcdefghi\tjklmnop\r\n" END, true},
        {GET HOST "A: \x80\x80\x80\x80\x80\x80\x80\x1f\r\n" END, false},
    };
    CHECK(rows, true);
    static struct http_head h;
    struct error e;
    static const char nul[] = GET HOST "A: b\0c\r\n" END, nul_name[] = GET HOST "A\0: c\r\n" END;
    assert_int_equal(http_head_read(span_of(nul, sizeof nul - 1), true, &h, &e), -1);
    assert_int_equal(http_head_read(span_of(nul_name, sizeof nul_name - 1), true, &h, &e), -1);
}

static void hosts(void **state)
{
    (void)state;
    static const struct row rows[] = {
        {GET "hOST: h\r\n" END, true},
        {GET END, false},
        {GET "X-Host: h\r\n" END, false},
        {GET HOST HOST END, false},
        {GET HOST "A: b\r\nHOST: other\r\n" END, false},
        {"GET / HTTP/1.0\r\n" END, true},
        {"GET / HTTP/1.0\r\n" HOST HOST END, false},
    };
    CHECK(rows, true);
    static const struct row replies[] = {{OK END, true}, {OK HOST HOST END, true}};
    CHECK(replies, false);
}

#define CL "Content-Length: "
#define TE "Transfer-Encoding: "

static void lengths_and_codings(void **state)
{
    (void)state;
    static const struct row rows[] = {
        {GET HOST CL "0\r\n" END, true},
        {GET HOST CL "999999999999999999\r\n" END, true},
        {GET HOST CL "9999999999999999999\r\n" END, false},
        {GET HOST CL "18446744073709551617\r\n" END, false},
        {GET HOST CL "\r\n" END, false},
        {GET HOST CL "+5\r\n" END, false},
        {GET HOST CL "-5\r\n" END, false},
        {GET HOST CL "5 5\r\n" END, false},
        {GET HOST CL "5,5\r\n" END, false},
        {GET HOST CL "0x5\r\n" END, false},
        {GET HOST CL "5.0\r\n" END, false},
        {GET HOST CL "\xc2\xb2\r\n" END, false},
        {GET HOST CL "5\r\n" CL "6\r\n" END, false},
        {GET HOST CL "5\r\n" CL "5\r\n" END, false},
        {GET HOST CL "5\r\ncontent-length: 5\r\n" END, false},
        {GET HOST TE "chunked\r\n" END, true},
        {GET HOST TE " \tChunKed\t\r\n" END, true},
        {GET HOST TE "\r\n" END, false},
        {GET HOST TE "identity\r\n" END, false},
        {GET HOST TE "gzip, chunked\r\n" END, false},
        {GET HOST TE "chunked, chunked\r\n" END, false},
        {GET HOST TE "chunked,\r\n" END, false},
        {GET HOST TE ",chunked\r\n" END, false},
        {GET HOST TE "chunked;a=b\r\n" END, false},
        {GET HOST TE "\"chunked\"\r\n" END, false},
        {GET HOST TE "xchunked\r\n" END, false},
        {GET HOST TE "\x0b"
                     "chunked\r\n" END,
         false},
        {GET HOST TE "chunked\r\n" TE "chunked\r\n" END, false},
        {GET HOST TE "chunked\r\n" TE "identity\r\n" END, false},
        {GET HOST TE "gzip\r\n" TE "chunked\r\n" END, false},
        {GET HOST "Transfer-Encoding : chunked\r\n" END, false},
        {GET HOST "Transfer-Encoding\r\n : chunked\r\n" END, false},
        {GET HOST CL "5\r\n" TE "chunked\r\n" END, false},
        {GET HOST TE "chunked\r\n" CL "5\r\n" END, false},
        {GET HOST CL "0\r\n" TE "chunked\r\n" END, false},
        {"POST / HTTP/1.0\r\n" TE "chunked\r\n" END, false},
        {"POST / HTTP/1.0\r\n" CL "5\r\n" END, true},
        /* names that only look like them */
        {GET HOST "Content_Length: x\r\nTransfer_Encoding: x\r\nXTransfer-Encoding: x\r\n" END, true},
    };
    CHECK(rows, true);
    static const struct row replies[] = {
        {OK CL "5\r\n" END, true},        {OK CL "5\r\n" CL "5\r\n" END, false},
        {OK CL "5, 5\r\n" END, false},    {OK CL "5\r\n" TE "chunked\r\n" END, false},
        {OK TE "gzip\r\n" END, false},    {OK TE "chunked\r\n" END, true},
        {OK "A: b\r\n c\r\n" END, false}, {OK "A : b\r\n" END, false},
    };
    CHECK(replies, false);
}

static void many_fields(void **state)
{
    (void)state;
    for (int extra = 0; extra < 2; extra++) {
        static char bytes[LIMIT_HTTP_FIELDS * 8 + 64];
        static struct http_head h;
        struct error e;
        size_t n = (size_t)snprintf(bytes, sizeof bytes, GET HOST);
        for (int i = 1; i < LIMIT_HTTP_FIELDS + extra; i++)
            n += (size_t)snprintf(bytes + n, sizeof bytes - n, "A: b\r\n");
        n += (size_t)snprintf(bytes + n, sizeof bytes - n, "\r\n");
        assert_int_equal(read_head(bytes, n, true, &h, &e), extra ? -1 : 0);
        assert_int_equal(h.n, LIMIT_HTTP_FIELDS);
    }
}

static void trailers(void **state)
{
    (void)state;
    static struct http_head h;
    struct error e;
    assert_int_equal(http_head_read_trailers(SPAN_LIT("\r\n"), &h, &e), 0);
    assert_int_equal(h.n, 0);
    assert_int_equal(http_head_read_trailers(SPAN_LIT("A: b\r\nC:\r\n\r\n"), &h, &e), 0);
    assert_int_equal(h.n, 2);
    assert_true(span_is(h.fields[0].value, "b") && span_is(h.fields[1].name, "C"));
    static const char *const bad[] = {"A: b\n\r\n",         "A : b\r\n\r\n",  "A: b\r\n c\r\n\r\n",
                                      "A: b\rC: d\r\n\r\n", "\rA: b\r\n\r\n", "A\r\n\r\n",
                                      "A: \x01\r\n\r\n"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        assert_int_equal(http_head_read_trailers(span_str(bad[i]), &h, &e), -1);
}

/* ---- looking at it ---- */

static void finding(void **state)
{
    (void)state;
    static struct http_head h;
    struct error e;
    assert_int_equal(
        http_head_read(SPAN_LIT(GET HOST "A: 1\r\na: 2\r\nConnection: close , x-One\r\nB: c\r\n"
                                         "CONNECTION:,,Keep-Alive,\tX-TWO\t,\r\nX: closed, un close\r\n" END),
                       true, &h, &e),
        0);
    assert_true(span_is(http_head_find(&h, "a")->value, "1"));
    assert_true(span_is(http_head_find(&h, "HOST")->value, "h"));
    assert_null(http_head_find(&h, "hos"));
    assert_null(http_head_find(&h, "hostt"));
    assert_null(http_head_find(&h, ""));
    static const struct {
        const char *name, *token;
        bool has;
    } rows[] = {
        {"connection", "close", true},   {"Connection", "CLOSE", true}, {"connection", "keep-alive", true},
        {"connection", "x-two", true},   {"connection", "x", false},    {"connection", "clos", false},
        {"connection", "closes", false}, {"x", "close", false},         {"x", "closed", true},
        {"x", "un close", true},         {"y", "close", false},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        assert_int_equal(http_head_has_token(&h, rows[i].name, rows[i].token), rows[i].has);
}

static void hop_by_hop(void **state)
{
    (void)state;
    static struct http_head h;
    struct error e;
    static const char *const always[] = {"Connection",       "KEEP-ALIVE",          "te",
                                         "Trailer",          "Transfer-Encoding",   "Upgrade",
                                         "Proxy-Connection", "Proxy-Authorization", "Proxy-Authenticate"};
    static const char *const never[] = {"Host",           "tee",      "t",           "Authorization",
                                        "Content-Length", "Trailers", "Keep-Alives", "X-Upgrade",
                                        "close",          "Via"};
    assert_int_equal(http_head_read(SPAN_LIT(GET HOST END), true, &h, &e), 0);
    for (size_t i = 0; i < sizeof always / sizeof always[0]; i++)
        assert_true(http_head_is_hop(&h, span_str(always[i])));
    for (size_t i = 0; i < sizeof never / sizeof never[0]; i++)
        assert_false(http_head_is_hop(&h, span_str(never[i])));
    static const struct {
        const char *connection;
        bool names, hop; /* names: something besides close and keep-alive */
    } rows[] = {
        {"Connection: close\r\n", false, false},
        {"Connection: Keep-Alive\r\n", false, false},
        {"Connection: X-Secret\r\n", true, true},
        {"Connection: close, x-secret\r\n", true, true},
        {"Connection: close\r\nConnection: other\r\nConnection: x-SECRET\r\n", true, true},
        {"Connection: close\r\nX-Connection: x-secret\r\n", false, false},
        {"Connection: x-secret2, x-secre\r\n", true, false},
        {"Connection: \r\n", true, false},
        {"Connection: ,,,\r\n", true, false},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char bytes[256];
        snprintf(bytes, sizeof bytes, "%s%s%s\r\n", GET HOST, rows[i].connection, "X-Secret: 1\r\n");
        assert_int_equal(http_head_read(span_str(bytes), true, &h, &e), 0);
        assert_int_equal(h.connection, rows[i].names);
        assert_int_equal(http_head_is_hop(&h, SPAN_LIT("X-Secret")), rows[i].hop);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(length_of_a_head),
        cmocka_unit_test(length_has_a_cap),
        cmocka_unit_test(a_request),
        cmocka_unit_test(a_reply),
        cmocka_unit_test(reading_again),
        cmocka_unit_test(request_lines),
        cmocka_unit_test(status_lines),
        cmocka_unit_test(fields),
        cmocka_unit_test(hosts),
        cmocka_unit_test(lengths_and_codings),
        cmocka_unit_test(many_fields),
        cmocka_unit_test(trailers),
        cmocka_unit_test(finding),
        cmocka_unit_test(hop_by_hop),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
