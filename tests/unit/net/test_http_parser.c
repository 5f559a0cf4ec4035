/* Whole messages, from the head to what belongs to the next one, cut in every place. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "net/http_parser.h"

enum kind { REQUEST, REPLY, REPLY_TO_HEAD };

/* What came out of one message. */
struct result {
    enum http_progress progress; /* after all bytes; after the peer's end where `ended` */
    bool keep_alive, ended;
    size_t left; /* bytes behind the message */
    struct buf body, trailers;
    bool data_after_trailer;
};

static void on_data(void *arg, struct span bytes)
{
    struct result *r = arg;
    assert_true(bytes.n > 0);
    r->data_after_trailer |= r->trailers.n > 0;
    assert_int_equal(buf_add(&r->body, bytes), 0);
}

static void on_trailer(void *arg, struct span name, struct span value)
{
    struct result *r = arg;
    assert_int_equal(buf_printf(&r->trailers, "%.*s=%.*s;", (int)name.n, name.p, (int)value.n, value.p), 0);
}

static const struct http_body_sink sink = {.data = on_data, .trailer = on_trailer};

static void result_free(struct result *r)
{
    buf_free(&r->body);
    buf_free(&r->trailers);
}

/* Feeds the bytes behind the head in pieces: the first of `first` bytes, then of `piece`; each from memory of
 * its own size. */
static void feed(struct http_parser *p, struct span bytes, size_t first, size_t piece, struct result *r)
{
    while (bytes.n && r->progress == HTTP_MORE) {
        size_t n = first ? first : piece, used;
        n = n < bytes.n ? n : bytes.n;
        char *copy = malloc(n);
        memcpy(copy, bytes.p, n);
        r->progress = http_parser_body(p, span_of(copy, n), &sink, r, &used);
        free(copy);
        assert_true(used <= n);
        if (r->progress == HTTP_MORE)
            assert_int_equal(used, n);
        bytes = span_from(bytes, used);
        first = 0;
    }
    r->left = bytes.n;
}

static struct result parse(enum kind kind, struct span bytes, size_t first, size_t piece, bool ended)
{
    static struct http_head head;
    struct result r = {.progress = HTTP_MORE, .ended = ended};
    struct http_parser p;
    struct error e;
    size_t scanned = 0;
    buf_init(&r.body, 1 << 20);
    buf_init(&r.trailers, 1 << 20);
    http_parser_init(&p, kind == REQUEST);
    ssize_t n = http_head_length(bytes, &scanned);
    assert_true(n > 0);
    r.progress = http_parser_head(&p, span_of(bytes.p, (size_t)n), kind == REPLY_TO_HEAD, &head, &e);
    r.keep_alive = r.progress != HTTP_INVALID && head.keep_alive;
    feed(&p, span_from(bytes, (size_t)n), first, piece, &r);
    if (ended)
        r.progress = http_parser_eof(&p);
    if (r.progress == HTTP_DONE) { /* and it stays so */
        size_t used = 1;
        assert_int_equal(http_parser_body(&p, SPAN_LIT("more"), &sink, &r, &used), HTTP_DONE);
        assert_int_equal(used, 0);
        assert_int_equal(http_parser_eof(&p), HTTP_DONE);
    }
    http_parser_finish(&p);
    return r;
}

#define POST    "POST /x HTTP/1.1\r\nHost: h\r\n"
#define OK      "HTTP/1.1 200 OK\r\n"
#define CHUNKED "Transfer-Encoding: chunked\r\n\r\n"

struct row {
    enum kind kind;
    const char *bytes;
    bool ended; /* the peer closes behind them */
    enum http_progress progress;
    bool keep_alive;
    const char *body, *trailers;
    size_t left;
};

static const struct row rows[] = {
    /* requests without a body */
    {REQUEST, POST "\r\n", false, HTTP_DONE, true, "", "", 0},
    {REQUEST, POST "\r\nGET /", false, HTTP_DONE, true, "", "", 5},
    {REQUEST, POST "Content-Length: 0\r\n\r\nGET /", false, HTTP_DONE, true, "", "", 5},
    {REQUEST, POST "Connection: close\r\n\r\n", false, HTTP_DONE, false, "", "", 0},
    {REQUEST, POST "Connection: a, Close\r\n\r\n", false, HTTP_DONE, false, "", "", 0},
    {REQUEST, POST "Connection: a\r\nConnection: close\r\n\r\n", false, HTTP_DONE, false, "", "", 0},
    {REQUEST, "GET / HTTP/1.0\r\n\r\n", false, HTTP_DONE, false, "", "", 0},
    {REQUEST, "GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n", false, HTTP_DONE, true, "", "", 0},
    /* of a length */
    {REQUEST, POST "Content-Length: 5\r\n\r\nhello", false, HTTP_DONE, true, "hello", "", 0},
    {REQUEST, POST "Content-Length: 5\r\n\r\nhelloGET /", false, HTTP_DONE, true, "hello", "", 5},
    {REQUEST, POST "Content-Length: 5\r\n\r\nhell", false, HTTP_MORE, true, "hell", "", 0},
    {REQUEST, POST "Content-Length: 5\r\n\r\nhell", true, HTTP_INVALID, true, "hell", "", 0},
    {REQUEST, POST "Content-Length: 3\r\n\r\n\r\n\r\n", false, HTTP_DONE, true, "\r\n\r", "", 1},
    {REQUEST, POST "Connection: upgrade\r\nUpgrade: h2c\r\nContent-Length: 5\r\n\r\nhello", false, HTTP_DONE,
     true, "hello", "", 0},
    {REQUEST, POST "Connection: upgrade\r\nUpgrade: h2c\r\n\r\nhello", false, HTTP_DONE, true, "", "", 5},
    /* in chunks */
    {REQUEST, POST CHUNKED "5\r\nhello\r\n0\r\n\r\n", false, HTTP_DONE, true, "hello", "", 0},
    {REQUEST, POST CHUNKED "0\r\n\r\nGET /", false, HTTP_DONE, true, "", "", 5},
    {REQUEST, POST CHUNKED "000\r\n\r\n", false, HTTP_DONE, true, "", "", 0},
    {REQUEST, POST CHUNKED "1\r\na\r\n002\r\nbc\r\nA\r\n0123456789\r\n0\r\n\r\n", false, HTTP_DONE, true,
     "abc0123456789", "", 0},
    {REQUEST, POST CHUNKED "3;a\r\nabc\r\n3;a=b\r\ndef\r\n0;x=y\r\n\r\nGET /", false, HTTP_DONE, true,
     "abcdef", "", 5},
    {REQUEST, POST CHUNKED "4\r\n\r\n\r\n\r\n0\r\n\r\n", false, HTTP_DONE, true, "\r\n\r\n", "", 0},
    {REQUEST, POST CHUNKED "3\r\nabc\r\n0\r\nX-Sum: 1 \r\nY:\r\n\r\nGET /", false, HTTP_DONE, true, "abc",
     "X-Sum=1;Y=;", 5},
    {REQUEST,
     POST CHUNKED "3\r\nabc\r\n0\r\nContent-Length: 7\r\nHost: evil\r\nConnection: x-a\r\nX-A: 1\r\nTE: t\r\n"
                  "Transfer-Encoding: chunked\r\nTrailer: b\r\nX-B: 2\r\n\r\nGET /",
     false, HTTP_DONE, true, "abc", "X-B=2;", 5},
    {REQUEST, POST CHUNKED "3\r\nabc\r\n0\r\nX: y\r\n", false, HTTP_MORE, true, "abc", "", 0},
    {REQUEST, POST CHUNKED "3\r\nabc\r\n0\r\n", true, HTTP_INVALID, true, "abc", "", 0},
    {REQUEST, POST CHUNKED "3\r\nab", true, HTTP_INVALID, true, "ab", "", 0},
    /* replies */
    {REPLY, OK "Content-Length: 5\r\n\r\nhelloHTTP", false, HTTP_DONE, true, "hello", "", 4},
    {REPLY, OK "Content-Length: 0\r\n\r\nHTTP", false, HTTP_DONE, true, "", "", 4},
    {REPLY, OK "Content-Length: 5\r\n\r\nhel", true, HTTP_INVALID, true, "hel", "", 0},
    {REPLY, OK CHUNKED "3\r\nabc\r\n0\r\nA: b\r\n\r\nHTTP", false, HTTP_DONE, true, "abc", "A=b;", 4},
    {REPLY, OK CHUNKED "3\r\nabc\r\n", true, HTTP_INVALID, true, "abc", "", 0},
    {REPLY, OK "\r\nhello", false, HTTP_MORE, false, "hello", "", 0},
    {REPLY, OK "\r\nhello", true, HTTP_DONE, false, "hello", "", 0},
    {REPLY, OK "\r\n", true, HTTP_DONE, false, "", "", 0},
    {REPLY, "HTTP/1.0 200 OK\r\n\r\nhello", true, HTTP_DONE, false, "hello", "", 0},
    {REPLY, "HTTP/1.0 200 OK\r\nContent-Length: 2\r\n\r\nhi", false, HTTP_DONE, false, "hi", "", 0},
    {REPLY, "HTTP/1.0 200 OK\r\nConnection: keep-alive\r\nContent-Length: 2\r\n\r\nhi", false, HTTP_DONE,
     true, "hi", "", 0},
    {REPLY, OK "Connection: close\r\nContent-Length: 2\r\n\r\nhi", false, HTTP_DONE, false, "hi", "", 0},
    {REPLY, OK "Connection: upgrade\r\nUpgrade: h2c\r\nContent-Length: 2\r\n\r\nhi", false, HTTP_DONE, true,
     "hi", "", 0},
    /* without a body, whatever their fields say */
    {REPLY, "HTTP/1.1 204 No Content\r\n\r\nHTTP", false, HTTP_DONE, true, "", "", 4},
    {REPLY, "HTTP/1.1 204 No Content\r\nConnection: close\r\n\r\n", false, HTTP_DONE, false, "", "", 0},
    {REPLY, "HTTP/1.1 304 Not Modified\r\nContent-Length: 9\r\n\r\nHTTP", false, HTTP_DONE, true, "", "", 4},
    {REPLY, "HTTP/1.0 304 Not Modified\r\n\r\n", false, HTTP_DONE, false, "", "", 0},
    {REPLY, "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200", false, HTTP_DONE, true, "", "", 12},
    {REPLY, "HTTP/1.1 103 Early Hints\r\nContent-Length: 3\r\n\r\nHTTP", false, HTTP_DONE, true, "", "", 4},
    {REPLY_TO_HEAD, OK "Content-Length: 5\r\n\r\nHTTP", false, HTTP_DONE, true, "", "", 4},
    {REPLY_TO_HEAD, OK CHUNKED "HTTP", false, HTTP_DONE, true, "", "", 4},
    {REPLY_TO_HEAD, OK "\r\nHTTP", false, HTTP_DONE, true, "", "", 4},
    {REPLY_TO_HEAD, OK "Connection: close\r\n\r\n", false, HTTP_DONE, false, "", "", 0},
    {REPLY_TO_HEAD, "HTTP/1.0 200 OK\r\nContent-Length: 5\r\n\r\n", false, HTTP_DONE, false, "", "", 0},
};

static void expect(const struct row *row, const struct result *r)
{
    if (r->progress != row->progress || r->left != row->left || !span_is(buf_span(&r->body), row->body) ||
        !span_is(buf_span(&r->trailers), row->trailers))
        print_error("progress %d, %zu left, '%.*s' {%.*s} of\n%s\n", r->progress, r->left, (int)r->body.n,
                    buf_span(&r->body).p, (int)r->trailers.n, buf_span(&r->trailers).p, row->bytes);
    assert_int_equal(r->progress, row->progress);
    assert_int_equal(r->keep_alive, row->keep_alive);
    assert_true(span_is(buf_span(&r->body), row->body));
    assert_true(span_is(buf_span(&r->trailers), row->trailers));
    assert_int_equal(r->left, row->left);
    assert_false(r->data_after_trailer);
}

static void messages(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct span bytes = span_str(rows[i].bytes);
        for (size_t first = 0; first < bytes.n;
             first++) { /* two pieces, cut everywhere; then a byte at a time */
            struct result r = parse(rows[i].kind, bytes, first, first ? bytes.n : 1, rows[i].ended);
            expect(&rows[i], &r);
            result_free(&r);
        }
    }
}

/* ---- what is refused ---- */

static const char *const broken_chunks[] = {
    "\r\n0\r\n\r\n",
    "x\r\n",
    "5 \r\nhello\r\n0\r\n\r\n",
    " 5\r\nhello\r\n0\r\n\r\n",
    "+5\r\nhello\r\n0\r\n\r\n",
    "-5\r\nhello\r\n0\r\n\r\n",
    "0x5\r\nhello\r\n0\r\n\r\n",
    "5\nhello\r\n0\r\n\r\n",
    "5\rhello\r\n0\r\n\r\n",
    "5;a\nb\r\nhello\r\n0\r\n\r\n",
    "5;a\n\r\nhello\r\n0\r\n\r\n",
    "5;a\rb\r\nhello\r\n0\r\n\r\n",
    "5\r\nhello0\r\n\r\n",
    "5\r\nhello\n0\r\n\r\n",
    "5\r\nhello\r0\r\n\r\n",
    "5\r\nhello!\r\n0\r\n\r\n",
    "5\r\nhell\r\n0\r\n\r\n",
    "FFFFFFFFFFFFFFFFF\r\nhello\r\n0\r\n\r\n",
    "10000000000000000\r\nhello\r\n0\r\n\r\n",
    /* behind the last chunk */
    "5\r\nhello\r\n0\n\r\n",
    "5\r\nhello\r\n0\r\n\n",
    "5\r\nhello\r\n0\r\n\r\r\n\r\n",
    "5\r\nhello\r\n0\r\n\rX: y\r\n\r\n",
    "5\r\nhello\r\n0\r\nX: y\n\r\n",
    "5\r\nhello\r\n0\r\nX: y\r\n\n",
    "5\r\nhello\r\n0\r\nX: y\rZ: w\r\n\r\n",
    "5\r\nhello\r\n0\r\nX: y\r\n folded\r\n\r\n",
    "5\r\nhello\r\n0\r\nX : y\r\n\r\n",
    "5\r\nhello\r\n0\r\nX\r\n\r\n",
    "5\r\nhello\r\n0\r\nX: a\x01\r\n\r\n",
    "5\r\nhello\r\n0\r\nTransfer-Encoding: gzip\r\n\r\n",
    "5\r\nhello\r\n0\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n",
};

static void broken(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof broken_chunks / sizeof broken_chunks[0]; i++)
        for (int kind = 0; kind < 2; kind++)
            for (size_t piece = 1; piece < 40; piece += kind ? 38 : 1) {
                char bytes[256];
                snprintf(bytes, sizeof bytes, "%s" CHUNKED "%s", kind ? OK : POST, broken_chunks[i]);
                struct result r = parse(kind ? REPLY : REQUEST, span_str(bytes), 0, piece, false);
                if (r.progress != HTTP_INVALID)
                    print_error("%s", bytes);
                assert_int_equal(r.progress, HTTP_INVALID);
                assert_int_equal(r.trailers.n, 0);
                assert_true(r.body.n <= 5);
                result_free(&r);
            }
}

static void heads_refused(void **state)
{
    (void)state;
    static const struct {
        bool request;
        const char *bytes;
    } bad[] = {
        {true, "CONNECT h:443 HTTP/1.1\r\nHost: h\r\n\r\n"},
        {true, "CONNECT /x HTTP/1.1\r\nHost: h\r\nContent-Length: 5\r\n\r\n"},
        {true, "PRI * HTTP/2.0\r\n\r\n"},
        {true, "FOO /x HTTP/1.1\r\nHost: h\r\n\r\n"},
        {true, "GET x HTTP/1.1\r\nHost: h\r\n\r\n"},
        {true, POST "Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n"},
        {true, POST "A : b\r\n\r\n"},
        {false, OK "Content-Length: 5\r\nContent-Length: 6\r\n\r\n"},
        {false, "HTTP/1.0 200 OK\r\n" CHUNKED},
        {false, "ICY 200 OK\r\n\r\n"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        static struct http_head head;
        struct http_parser p;
        struct error e = {0};
        http_parser_init(&p, bad[i].request);
        enum http_progress progress = http_parser_head(&p, span_str(bad[i].bytes), false, &head, &e);
        if (progress != HTTP_INVALID)
            print_error("%s", bad[i].bytes);
        assert_int_equal(progress, HTTP_INVALID);
        assert_int_equal(e.code, ERROR_BAD_REQUEST);
        assert_true(e.message[0]);
        http_parser_finish(&p);
    }
}

/* Trailers are capped, however they come. */
static void long_trailers(void **state)
{
    (void)state;
    for (int over = 0; over < 2; over++)
        for (size_t piece = 977; piece < 20000; piece += 19000) {
            struct buf bytes;
            buf_init(&bytes, 1 << 20);
            buf_adds(&bytes, POST CHUNKED "0\r\n");
            size_t start = bytes.n;
            while (bytes.n - start < LIMIT_HTTP_TRAILERS - 200)
                buf_adds(&bytes, "X: 0123456789012345678901234567890123456789012345678901234567890123456789"
                                 "012345678901234567890123456789\r\n");
            while (bytes.n - start < (size_t)LIMIT_HTTP_TRAILERS - 8 - 3)
                buf_adds(&bytes, "Y:\r\n");
            size_t rest = (size_t)LIMIT_HTTP_TRAILERS - 2 - (bytes.n - start);
            buf_printf(&bytes, "Z:%*s\r\n\r\n", (int)(rest - 4) + over, "");
            assert_int_equal(bytes.n - start, LIMIT_HTTP_TRAILERS + over);
            struct result r = parse(REQUEST, buf_span(&bytes), 0, piece, false);
            assert_int_equal(r.progress, over ? HTTP_INVALID : HTTP_DONE);
            result_free(&r);
            buf_free(&bytes);
        }
}

static void no_trailer_sink(void **state)
{
    (void)state;
    static const struct http_body_sink data_only = {.data = on_data};
    static struct http_head head;
    struct http_parser p;
    struct error e;
    struct result r = {0};
    size_t used;
    buf_init(&r.body, 100);
    http_parser_init(&p, true);
    assert_int_equal(http_parser_head(&p, SPAN_LIT(POST CHUNKED), false, &head, &e), HTTP_MORE);
    assert_int_equal(http_parser_body(&p, SPAN_LIT("1\r\na\r\n0\r\nA: b\r\n\r\n"), &data_only, &r, &used),
                     HTTP_DONE);
    assert_int_equal(used, 17);
    http_parser_finish(&p);
    buf_free(&r.body);
}

/* One parser, one message after the other; a head is read again while a trailer section is half there. */
static void message_after_message(void **state)
{
    (void)state;
    static struct http_head head;
    struct http_parser p;
    struct error e;
    struct result r = {0};
    size_t used;
    buf_init(&r.body, 100);
    buf_init(&r.trailers, 100);
    http_parser_init(&p, true);
    assert_int_equal(http_parser_eof(&p), HTTP_INVALID);
    for (int i = 0; i < 3; i++) {
        assert_int_equal(http_parser_head(&p, SPAN_LIT(POST CHUNKED), false, &head, &e), HTTP_MORE);
        assert_int_equal(http_parser_body(&p, SPAN_LIT("1\r\na\r\n0\r\nA: b"), &sink, &r, &used), HTTP_MORE);
        if (i < 2)
            assert_int_equal(http_parser_body(&p, SPAN_LIT("\r\n\r\nGET"), &sink, &r, &used), HTTP_DONE);
        if (i < 2)
            assert_int_equal(used, 4);
    }
    assert_int_equal(http_parser_head(&p, SPAN_LIT(POST "Content-Length: 2\r\n\r\n"), false, &head, &e),
                     HTTP_MORE);
    buf_reset(&r.trailers);
    assert_int_equal(http_parser_body(&p, SPAN_LIT("bcd"), &sink, &r, &used), HTTP_DONE);
    assert_int_equal(used, 2);
    assert_true(span_is(buf_span(&r.body), "aaabc"));
    http_parser_finish(&p);
    http_parser_finish(&p);
    result_free(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(messages),        cmocka_unit_test(broken),
        cmocka_unit_test(heads_refused),   cmocka_unit_test(long_trailers),
        cmocka_unit_test(no_trailer_sink), cmocka_unit_test(message_after_message),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
