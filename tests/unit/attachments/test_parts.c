/* What a film becomes, as it comes out of the cage: all of it right, or nothing is believed. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "attachments/parts.h"

#define JPEG "\xff\xd8\xff\xe0picture\xff\xd9"

static void what_is_written_is_read(void **state)
{
    struct buf b;
    struct part parts[PARTS_MOST];
    (void)state;
    buf_init(&b, 4096);
    parts_begin(&b);
    parts_add("text/markdown", SPAN_LIT("Frame at 00:00:07:"), &b);
    parts_add("image/jpeg", SPAN_LIT(JPEG), &b);
    parts_add("text/markdown", SPAN_LIT("said\n"), &b);
    assert_int_equal(parts_read(buf_span(&b), parts), 3);
    assert_false(parts[0].picture);
    assert_true(span_is(parts[0].bytes, "Frame at 00:00:07:"));
    assert_true(parts[1].picture);
    assert_string_equal(parts[1].media_type, "image/jpeg");
    assert_int_equal(parts[1].bytes.n, sizeof(JPEG) - 1);
    assert_true(span_is(parts[2].bytes, "said\n"));
    /* Cut anywhere it is refused, but for the ends of parts. */
    unsigned whole = 0;
    for (size_t n = 0; n < b.n; n++)
        whole += parts_read(span_of(buf_span(&b).p, n), parts) >= 0;
    assert_int_equal(whole, 3);
    buf_free(&b);
}

/* ID3 is how an MP3 may begin. */
static void there_is_one_sound_at_most(void **state)
{
    struct buf b;
    struct part parts[PARTS_MOST];
    (void)state;
    buf_init(&b, 4096);
    parts_begin(&b);
    parts_add("text/markdown", SPAN_LIT("a"), &b);
    parts_add("audio/mpeg", SPAN_LIT("ID3\x04\0\0\0\0\0\0"), &b);
    assert_int_equal(parts_read(buf_span(&b), parts), 2);
    assert_true(parts[1].sound && !parts[1].picture && !parts[0].sound);
    assert_string_equal(parts[1].media_type, "audio/mpeg");
    for (size_t n = 0; n < b.n; n++)
        assert_true(parts_read(span_of(buf_span(&b).p, n), parts) < 2);
    parts_add("audio/mpeg", SPAN_LIT("ID3\x04\0\0\0\0\0\0"), &b);
    assert_int_equal(parts_read(buf_span(&b), parts), -1);
    buf_free(&b);
}

static void lies_are_refused(void **state)
{
    static const struct {
        const char *bytes;
        size_t n;
    } rows[] = {
#define ROW(s) {s, sizeof(s) - 1}
        ROW(""),
        ROW("text"),
        ROW("penstock-parts 2\ntext/markdown 1\na"),
        ROW("penstock-parts 1\ntext/markdown 0\n"),
        ROW("penstock-parts 1\ntext/markdown 2\na"),
        ROW("penstock-parts 1\ntext/markdown -1\na"),
        ROW("penstock-parts 1\ntext/markdown 1\n\x01"),
        ROW("penstock-parts 1\ntext/markdown 9999999999999999999999\na"),
        ROW("penstock-parts 1\ntext/html 1\na"),
        ROW("penstock-parts 1\nimage/jpeg 4\nnone"),
        ROW("penstock-parts 1\naudio/mpeg 4\nnone"),
        ROW("penstock-parts 1\naudio/mpeg"),
        ROW("penstock-parts 1\nimage/jpeg 8\n\x89PNG\r\n\x1a\n"),
        ROW("penstock-parts 1\ntext/markdown 1\nab"),
    };
    struct part parts[PARTS_MOST];
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        if (parts_read(span_of(rows[i].bytes, rows[i].n), parts) >= 0)
            fail_msg("row %zu was believed", i);
    struct buf b;
    buf_init(&b, 4096);
    parts_begin(&b);
    for (int i = 0; i < PARTS_MOST; i++)
        parts_add("text/markdown", SPAN_LIT("a"), &b);
    assert_int_equal(parts_read(buf_span(&b), parts), PARTS_MOST);
    parts_add("text/markdown", SPAN_LIT("a"), &b);
    assert_int_equal(parts_read(buf_span(&b), parts), -1);
    buf_free(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(what_is_written_is_read),
                                       cmocka_unit_test(there_is_one_sound_at_most),
                                       cmocka_unit_test(lies_are_refused)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
