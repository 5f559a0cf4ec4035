/* base/sse: framing whatever the line ends and wherever the stream is cut, fields, joined data. */
#include "base/sse.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/buf.h"
#include "base/xalloc.h"

#define BOM "\xef\xbb\xbf"

/* Feeds a stream as its owner would: bytes arrive at the given cuts, blocks are consumed as they are found.
 * Writes each block to `out` with a '|' behind it. */
static void feed(struct span stream, const size_t *cuts, size_t n, struct buf *out)
{
    struct sse_scan scan = {0};
    size_t start = 0;
    for (size_t i = 0; i <= n; i++) {
        bool last = i == n;
        size_t end = last ? stream.n : cuts[i], got;
        /* Exactly what has arrived, so that a read beyond it is found by the sanitizer. */
        char *copy = xmalloc(end - start);
        if (end > start)
            memcpy(copy, stream.p + start, end - start);
        size_t done = 0;
        while ((got = sse_block(&scan, span_of(copy + done, end - start - done), last)) > 0) {
            assert_true(got <= end - start - done);
            buf_addn(out, copy + done, got);
            buf_addc(out, '|');
            done += got;
            assert_int_equal(scan.seen, 0);
        }
        assert_true(scan.seen <= end - start - done);
        if (last)
            assert_int_equal(done, end - start);
        start += done;
        xfree(copy);
    }
}

static const struct {
    struct span stream, blocks;
} framings[] = {
    {SPAN_LIT(""), SPAN_LIT("")},
    {SPAN_LIT("\n"), SPAN_LIT("\n|")},
    {SPAN_LIT("\n\n"), SPAN_LIT("\n|\n|")},
    {SPAN_LIT("\r\n"), SPAN_LIT("\r\n|")},
    {SPAN_LIT("\r\r"), SPAN_LIT("\r|\r|")},
    {SPAN_LIT("\r\n\r\n"), SPAN_LIT("\r\n|\r\n|")},
    {SPAN_LIT("\n\r"), SPAN_LIT("\n|\r|")},
    {SPAN_LIT("data: a\n\ndata: b\n\n"), SPAN_LIT("data: a\n\n|data: b\n\n|")},
    {SPAN_LIT("data: a\r\n\r\ndata: b\r\n\r\n"), SPAN_LIT("data: a\r\n\r\n|data: b\r\n\r\n|")},
    {SPAN_LIT("data: a\r\rdata: b\r\r"), SPAN_LIT("data: a\r\r|data: b\r\r|")},
    {SPAN_LIT("a\r\n\nb\n\r\nc\r\r\nd\n\re\r\n\rf"), SPAN_LIT("a\r\n\n|b\n\r\n|c\r\r\n|d\n\r|e\r\n\r|f|")},
    {SPAN_LIT("a\r\n\r\n\nb\n\n\r\n"), SPAN_LIT("a\r\n\r\n|\n|b\n\n|\r\n|")},
    {SPAN_LIT("data: a\n"), SPAN_LIT("data: a\n|")},
    {SPAN_LIT("data: a"), SPAN_LIT("data: a|")},
    {SPAN_LIT("data: a\r"), SPAN_LIT("data: a\r|")},
    {SPAN_LIT("data: a\r\n"), SPAN_LIT("data: a\r\n|")},
    {SPAN_LIT("data: a\n\ndata: b"), SPAN_LIT("data: a\n\n|data: b|")},
    {SPAN_LIT(": ping\n\nevent: x\nid: 1\ndata: a\ndata: b\n\n"),
     SPAN_LIT(": ping\n\n|event: x\nid: 1\ndata: a\ndata: b\n\n|")},
    {SPAN_LIT(BOM "data: a\n\n" BOM "\n\n"), SPAN_LIT(BOM "data: a\n\n|" BOM "\n\n|")},
    {SPAN_LIT(BOM "\n" BOM "\n\n"), SPAN_LIT(BOM "\n|" BOM "\n\n|")},
    {SPAN_LIT(BOM "\r\nx"), SPAN_LIT(BOM "\r\n|x|")},
    {SPAN_LIT(BOM), SPAN_LIT(BOM "|")},
    {SPAN_LIT("\xef\xbb"), SPAN_LIT("\xef\xbb|")},
    {SPAN_LIT("\xef\xbb\n\n"), SPAN_LIT("\xef\xbb\n\n|")},
    {SPAN_LIT("\xef\n\n"), SPAN_LIT("\xef\n\n|")},
    {SPAN_LIT("\0\n\n\0"), SPAN_LIT("\0\n\n|\0|")},
    {SPAN_LIT("data: 0123456789abcdef0123456789abcdef\n\ndata: 0123456789abcdef0123\r\n\r\n"),
     SPAN_LIT("data: 0123456789abcdef0123456789abcdef\n\n|data: 0123456789abcdef0123\r\n\r\n|")},
};

static void compare(struct span stream, const size_t *cuts, size_t n, struct span blocks)
{
    struct buf out;
    buf_init(&out, 1 << 16);
    feed(stream, cuts, n, &out);
    if (out.n != blocks.n || memcmp(buf_span(&out).p, blocks.p, out.n) != 0)
        fail_msg("%.*s\nwanted %.*s\ncuts %zu: %zu %zu", (int)out.n, out.data, (int)blocks.n, blocks.p, n,
                 n > 0 ? cuts[0] : 0, n > 1 ? cuts[1] : 0);
    buf_free(&out);
}

static void test_framing(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof framings / sizeof framings[0]; i++)
        compare(framings[i].stream, NULL, 0, framings[i].blocks);
}

static void test_framing_cut_anywhere(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof framings / sizeof framings[0]; i++) {
        struct span stream = framings[i].stream;
        size_t each[128];
        for (size_t a = 0; a <= stream.n; a++) {
            each[a] = a;
            for (size_t b = a; b <= stream.n; b++)
                compare(stream, (size_t[]){a, b}, 2, framings[i].blocks);
        }
        compare(stream, each, stream.n, framings[i].blocks);
    }
}

/* All streams of up to eight bytes over {x, CR, LF}, against a plain reading of the grammar. */
static void test_all_short_streams(void **state)
{
    (void)state;
    size_t each[] = {0, 1, 2, 3, 4, 5, 6, 7, 8};
    for (size_t n = 0; n <= 8; n++) {
        unsigned total = 1;
        for (size_t i = 0; i < n; i++)
            total *= 3;
        for (unsigned code = 0; code < total; code++) {
            char stream[8];
            unsigned rest = code;
            for (size_t i = 0; i < n; i++, rest /= 3)
                stream[i] = "x\r\n"[rest % 3];
            struct buf wanted;
            buf_init(&wanted, 64);
            size_t line = 0;
            for (size_t i = 0; i < n; i++) {
                buf_addc(&wanted, stream[i]);
                if (stream[i] == 'x') {
                    line++;
                    continue;
                }
                if (stream[i] == '\r' && i + 1 < n && stream[i + 1] == '\n')
                    buf_addc(&wanted, stream[++i]);
                if (line == 0)
                    buf_addc(&wanted, '|');
                line = 0;
            }
            if (wanted.n && wanted.data[wanted.n - 1] != '|')
                buf_addc(&wanted, '|');
            compare(span_of(stream, n), NULL, 0, buf_span(&wanted));
            compare(span_of(stream, n), each, n, buf_span(&wanted));
            buf_free(&wanted);
        }
    }
}

/* A complete block is answered as soon as its last byte is there, and bytes seen once are not read again. */
static void test_no_waiting_and_no_second_look(void **state)
{
    (void)state;
    struct sse_scan scan = {0};
    char bytes[] = "data: abc\n\n";
    assert_int_equal(sse_block(&scan, span_of(bytes, 9), false), 0);
    assert_int_equal(scan.seen, 9);
    bytes[3] = '\n';
    bytes[4] = '\n';
    assert_int_equal(sse_block(&scan, span_of(bytes, 10), false), 0);
    assert_int_equal(sse_block(&scan, span_of(bytes, 11), false), 11);
    assert_true(scan.started);

    assert_int_equal(sse_block(&scan, SPAN_LIT("a\r\n\r\n"), false), 5);
    assert_int_equal(sse_block(&scan, SPAN_LIT("a\r\r"), false), 0);
    assert_int_equal(sse_block(&scan, SPAN_LIT("a\r\rb"), false), 3);
    assert_int_equal(sse_block(&scan, SPAN_LIT("a\r\r"), true), 3);
}

static const struct {
    struct span block;
    bool first;
    const char *name, *data, *id;
    unsigned data_lines;
} fields[] = {
    {SPAN_LIT("data: x\n\n"), false, "", "x", "", 1},
    {SPAN_LIT("data:x\n\n"), false, "", "x", "", 1},
    {SPAN_LIT("data:  x \n\n"), false, "", " x ", "", 1},
    {SPAN_LIT("data\n\n"), false, "", "", "", 1},
    {SPAN_LIT("data:\n\n"), false, "", "", "", 1},
    {SPAN_LIT("data: \n\n"), false, "", "", "", 1},
    {SPAN_LIT("data\ndata\n\n"), false, "", "\ndata", "", 2},
    {SPAN_LIT("data: a\r\ndata:b\r\n\r\n"), false, "", "a\r\ndata:b", "", 2},
    {SPAN_LIT("data: a\rdata:b\r\r"), false, "", "a\rdata:b", "", 2},
    {SPAN_LIT("event: message_start\ndata: {\"a\":1}\n\n"), false, "message_start", "{\"a\":1}", "", 1},
    {SPAN_LIT("data: {}\nid: 7\nevent:e\nretry: 10\n\n"), false, "e", "{}", "7", 1},
    {SPAN_LIT("event: a\nevent: b\ndata: x\n\n"), false, "b", "x", "", 1},
    {SPAN_LIT("event: a\nevent\n\n"), false, "", "", "", 0},
    {SPAN_LIT("data: a\n: c\nevent: e\ndata: b\n\n"), false, "e", "a\n: c\nevent: e\ndata: b", "", 2},
    {SPAN_LIT(": data: x\n\n"), false, "", "", "", 0},
    {SPAN_LIT(" data: x\nDATA: x\ndata : x\ndatas: x\n\n"), false, "", "", "", 0},
    {SPAN_LIT("data: a:b: c\n"), false, "", "a:b: c", "", 1},
    {SPAN_LIT("data: x"), false, "", "x", "", 1},
    {SPAN_LIT("data: x\r"), false, "", "x", "", 1},
    {SPAN_LIT("id: a\nid: b\0c\n\n"), false, "", "", "a", 0},
    {SPAN_LIT(BOM "data: x\n\n"), true, "", "x", "", 1},
    {SPAN_LIT(BOM "data: x\n\n"), false, "", "", "", 0},
    {SPAN_LIT(BOM), true, "", "", "", 0},
    {SPAN_LIT("\n"), true, "", "", "", 0},
    {SPAN_LIT(""), true, "", "", "", 0},
};

static void test_fields(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof fields / sizeof fields[0]; i++) {
        struct sse_fields got;
        sse_parse(fields[i].block, fields[i].first, &got);
        if (!span_is(got.name, fields[i].name) || !span_is(got.data, fields[i].data) ||
            !span_is(got.id, fields[i].id) || got.data_lines != fields[i].data_lines)
            fail_msg("%s: name %.*s, data %.*s, id %.*s, %u lines", fields[i].block.p, (int)got.name.n,
                     got.name.p, (int)got.data.n, got.data.p, (int)got.id.n, got.id.p, got.data_lines);
    }
}

static void test_join(void **state)
{
    (void)state;
    static const struct {
        const char *block, *joined;
    } cases[] = {
        {"data: {\ndata: \"a\":1\ndata: }\n\n", "{\n      \"a\":1\n      }"},
        {"data: {\r\ndata:1}\r\n\r\n", "{\n      1}"},
        {"data: {\rdata:  1}\r\r", "{\n       1}"},
        {"data: a\ndata\ndata: b\n\n", "a\n    \n      b"},
        {"data: a\n: data: no\nevent: x\ndata: b\n\n", "a\n                          b"},
        {"data\ndata: b\n\n", "\n      b"},
        {"data: a\ndata:\n\n", "a\n     "},
        {"data: a\ndata\n\n", "a\n    "},
        {"data: data: a\ndata: data: b\n\n", "data: a\n      data: b"},
        {"data: one\n\n", "one"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct sse_fields got;
        sse_parse(span_str(cases[i].block), false, &got);
        char *room = xmalloc(got.data.n);
        sse_join(got.data, room);
        struct span joined = span_of(room, got.data.n);
        if (!span_is(joined, cases[i].joined))
            fail_msg("%s: got %.*s", cases[i].block, (int)joined.n, joined.p);
        xfree(room);
    }
    sse_join(SPAN_LIT(""), NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_framing),
        cmocka_unit_test(test_framing_cut_anywhere),
        cmocka_unit_test(test_all_short_streams),
        cmocka_unit_test(test_no_waiting_and_no_second_look),
        cmocka_unit_test(test_fields),
        cmocka_unit_test(test_join),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
