/* Content codings: each of them, cut at every offset, in small and large rooms, cut short, broken, and bombs.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <zlib.h>

#include "net/decode.h"

/* "data: {\"x\":1}\n\n" forty times, in each coding. */
#include "decode_samples.h"

enum { LINES = 40 };

static void expect_text(const struct buf *out)
{
    static const char line[] = "data: {\"x\":1}\n\n";
    size_t n = sizeof line - 1;
    assert_int_equal(out->n, n * LINES);
    for (size_t i = 0; i < LINES; i++)
        assert_memory_equal(buf_span(out).p + i * n, line, n);
}

static struct decoder *create(const char *codings)
{
    struct span unknown;
    struct decoder *d = decoder_create(span_str(codings), &unknown);
    assert_non_null(d);
    return d;
}

/* Everything in pieces of `piece` bytes with `room` a call; answers the last result. */
static int feed_all(struct decoder *d, struct span in, size_t piece, size_t room, struct buf *out)
{
    int result = 0;
    while (in.n) {
        struct span part = span_of(in.p, in.n < piece ? in.n : piece);
        in = span_from(in, part.n);
        do {
            size_t before = out->n, used = 0;
            result = decoder_feed(d, part, room, &used, out);
            assert_true(out->n - before <= room);
            assert_true(used <= part.n);
            part = span_from(part, used);
            if (result < 0)
                return result;
            if (result == 0)
                assert_int_equal(part.n, 0);
        } while (result == 1);
    }
    return result;
}

static void each_coding(void **state)
{
    (void)state;
    static const size_t pieces[] = {1, 2, 3, 7, 64, 100000}, rooms[] = {1, 5, 600, 601, 100000};
    for (size_t s = 0; s < sizeof samples / sizeof samples[0]; s++)
        for (size_t p = 0; p < sizeof pieces / sizeof pieces[0]; p++)
            for (size_t r = 0; r < sizeof rooms / sizeof rooms[0]; r++) {
                struct decoder *d = create(samples[s].codings);
                struct buf out;
                buf_init(&out, 1 << 20);
                assert_int_equal(feed_all(d, span_of((const char *)samples[s].bytes, samples[s].n), pieces[p],
                                          rooms[r], &out),
                                 0);
                expect_text(&out);
                assert_true(decoder_complete(d));
                buf_free(&out);
                decoder_destroy(d);
            }
}

static void cut_at_every_offset(void **state)
{
    (void)state;
    for (size_t s = 0; s < sizeof samples / sizeof samples[0]; s++)
        for (size_t cut = 1; cut < samples[s].n; cut++) {
            struct decoder *d = create(samples[s].codings);
            struct buf out;
            struct span in = span_of((const char *)samples[s].bytes, samples[s].n);
            size_t used;
            buf_init(&out, 1 << 20);
            assert_int_equal(decoder_feed(d, span_of(in.p, cut), 1 << 16, &used, &out), 0);
            assert_int_equal(used, cut);
            if (cut != samples[s].boundary) /* between two members it looks whole */
                assert_false(decoder_complete(d));
            assert_int_equal(decoder_feed(d, span_from(in, cut), 1 << 16, &used, &out), 0);
            expect_text(&out);
            assert_true(decoder_complete(d));
            buf_free(&out);
            decoder_destroy(d);
        }
}

static void bytes_behind_the_end(void **state)
{
    (void)state;
    for (size_t s = 0; s < sizeof samples / sizeof samples[0]; s++) {
        struct decoder *d = create(samples[s].codings);
        struct buf out;
        size_t used;
        buf_init(&out, 1 << 20);
        assert_int_equal(
            decoder_feed(d, span_of((const char *)samples[s].bytes, samples[s].n), 1 << 16, &used, &out), 0);
        assert_int_equal(decoder_feed(d, SPAN_LIT("!!!!!!!!!!!!!!!!"), 1 << 16, &used, &out), -1);
        expect_text(&out);
        buf_free(&out);
        decoder_destroy(d);
    }
}

/* A flipped bit is found (gzip and zlib have checksums), or changes text; it never crashes and never loops.
 */
static void broken_bytes(void **state)
{
    (void)state;
    for (size_t s = 0; s < sizeof samples / sizeof samples[0]; s++)
        for (size_t at = 0; at < samples[s].n; at++) {
            char copy[SAMPLE_MAX];
            struct decoder *d = create(samples[s].codings);
            struct buf out;
            buf_init(&out, 1 << 20);
            memcpy(copy, samples[s].bytes, samples[s].n);
            copy[at] = (char)(copy[at] ^ 0x10);
            int result = feed_all(d, span_of(copy, samples[s].n), samples[s].n, 1 << 14, &out);
            assert_true(result == 0 || result == -1);
            buf_free(&out);
            decoder_destroy(d);
        }
}

static void a_bomb_stays_within_the_room(void **state)
{
    (void)state;
    enum { ZEROS = 64 << 20, ROOM = 10000 };
    static char bomb[128 * 1024], zeros[1 << 16];
    z_stream z = {0};
    assert_int_equal(deflateInit2(&z, 9, Z_DEFLATED, 31, 8, Z_DEFAULT_STRATEGY), Z_OK);
    z.next_out = (Bytef *)bomb;
    z.avail_out = sizeof bomb;
    for (size_t made = 0; made < ZEROS; made += sizeof zeros) {
        z.next_in = (Bytef *)zeros;
        z.avail_in = sizeof zeros;
        assert_int_equal(deflate(&z, made + sizeof zeros < ZEROS ? Z_NO_FLUSH : Z_FINISH) < 0, 0);
    }
    struct span in = span_of(bomb, sizeof bomb - z.avail_out);
    deflateEnd(&z);

    struct decoder *d = create("gzip");
    struct buf out;
    size_t total = 0;
    int result;
    buf_init(&out, ROOM);
    do {
        size_t used;
        result = decoder_feed(d, in, ROOM, &used, &out);
        in = span_from(in, used);
        total += out.n;
        assert_true(out.n <= ROOM);
        assert_true(out.room <= 4 * ROOM);
        buf_reset(&out);
    } while (result == 1);
    assert_int_equal(result, 0);
    assert_int_equal(total, ZEROS);
    assert_true(decoder_complete(d));
    buf_free(&out);
    decoder_destroy(d);
}

/* The output buffer's own cap is respected without being marked as passed. */
static void room_above_the_cap(void **state)
{
    (void)state;
    struct decoder *d = create("identity");
    struct buf out;
    size_t used;
    buf_init(&out, 4);
    assert_int_equal(decoder_feed(d, SPAN_LIT("abcdefg"), 1000, &used, &out), 1);
    assert_int_equal(used, 4);
    assert_false(buf_full(&out));
    buf_consume(&out, 4);
    assert_int_equal(decoder_feed(d, SPAN_LIT("efg"), 1000, &used, &out), 0);
    assert_int_equal(used, 3);
    buf_free(&out);
    decoder_destroy(d);
}

/* An event that was flushed comes out at once although the stream goes on. */
static void flushed_events_come_at_once(void **state)
{
    (void)state;
    char coded[256];
    z_stream z = {0};
    struct decoder *d = create("gzip");
    struct buf out;
    buf_init(&out, 1 << 16);
    assert_int_equal(deflateInit2(&z, 6, Z_DEFLATED, 31, 8, Z_DEFAULT_STRATEGY), Z_OK);
    for (int i = 0; i < 10; i++) {
        static char event[] = "data: tick\n\n";
        size_t used, before = out.n;
        z.next_in = (Bytef *)event;
        z.avail_in = sizeof event - 1;
        z.next_out = (Bytef *)coded;
        z.avail_out = sizeof coded;
        assert_int_equal(deflate(&z, Z_SYNC_FLUSH), Z_OK);
        assert_int_equal(decoder_feed(d, span_of(coded, sizeof coded - z.avail_out), 1 << 16, &used, &out),
                         0);
        assert_int_equal(out.n - before, sizeof event - 1);
        assert_false(decoder_complete(d));
    }
    deflateEnd(&z);
    buf_free(&out);
    decoder_destroy(d);
}

static void lists(void **state)
{
    (void)state;
    static const struct {
        const char *codings, *unknown; /* NULL: known */
    } table[] = {
        {"", NULL},
        {"identity", NULL},
        {" , ,", NULL},
        {"GZip", NULL},
        {"x-gzip", NULL},
        {"gzip, br", NULL},
        {"zstd\t, identity", NULL},
        {"compress", "compress"},
        {"gzip, sdch", "sdch"},
        {"lzma , gzip", "lzma"},
        {"gzip;q=1", "gzip;q=1"},
        {"gzip br", "gzip br"},
        {"br,gzip,gzip,gzip,gzip", "br"},
        {"gzip,gzip,gzip,gzip", NULL},
    };
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
        struct span unknown;
        struct decoder *d = decoder_create(span_str(table[i].codings), &unknown);
        assert_int_equal(d == NULL, table[i].unknown != NULL);
        if (!d)
            assert_true(span_is(unknown, table[i].unknown));
        decoder_destroy(d);
    }
}

static void nothing_fed(void **state)
{
    (void)state;
    struct decoder *d = create("br");
    struct buf out;
    size_t used;
    buf_init(&out, 100);
    assert_true(decoder_complete(d));
    assert_int_equal(decoder_feed(d, span_of(NULL, 0), 100, &used, &out), 0);
    assert_true(decoder_complete(d));
    buf_free(&out);
    decoder_destroy(d);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_coding),
        cmocka_unit_test(cut_at_every_offset),
        cmocka_unit_test(bytes_behind_the_end),
        cmocka_unit_test(broken_bytes),
        cmocka_unit_test(a_bomb_stays_within_the_room),
        cmocka_unit_test(room_above_the_cap),
        cmocka_unit_test(flushed_events_come_at_once),
        cmocka_unit_test(lists),
        cmocka_unit_test(nothing_fed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
