#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

#include "jobs/document.h"
#include "jobs/wire.h"

static void a_message_is_read_as_it_was_written(void **state)
{
    struct buf m;
    struct wire_in in;
    uint32_t type;
    uint64_t id;
    char text[8];
    (void)state;
    buf_init(&m, WIRE_MESSAGE);
    wire_begin(&m, WIRE_DONE, 77);
    wire_add_u32(&m, 5);
    wire_add_text(&m, SPAN_LIT("abc"));
    wire_add_u64(&m, UINT64_MAX);
    assert_int_equal(wire_end(&m), 0);
    assert_int_equal(wire_open(buf_span(&m), &type, &id, &in), 0);
    assert_int_equal(type, WIRE_DONE);
    assert_int_equal(id, 77);
    assert_int_equal(wire_get_u32(&in), 5);
    wire_get_string(&in, text, sizeof text);
    assert_string_equal(text, "abc");
    assert_int_equal(wire_close(&in), -1); /* something is left */
    assert_true(wire_get_u64(&in) == UINT64_MAX);
    assert_int_equal(wire_close(&in), 0);
    assert_int_equal(wire_get_u32(&in), 0); /* nothing is */
    assert_int_equal(wire_close(&in), -1);
    buf_free(&m);
}

static void every_cut_and_every_changed_head_is_refused(void **state)
{
    struct buf m;
    struct wire_in in;
    uint32_t type;
    uint64_t id;
    (void)state;
    buf_init(&m, WIRE_MESSAGE);
    wire_begin(&m, WIRE_DONE, 1);
    wire_add_text(&m, SPAN_LIT("abc"));
    assert_int_equal(wire_end(&m), 0);
    for (size_t n = 0; n < m.n; n++)
        assert_int_equal(wire_open(span_of(buf_span(&m).p, n), &type, &id, &in), -1);
    for (size_t i = 0; i < 6; i++) { /* magic and version */
        m.data[m.start + i] ^= 1;
        assert_int_equal(wire_open(buf_span(&m), &type, &id, &in), -1);
        m.data[m.start + i] ^= 1;
    }
    buf_free(&m);
}

static void a_field_of_another_type_is_bad(void **state)
{
    struct buf m;
    struct wire_in in;
    uint32_t type;
    uint64_t id;
    char small[3];
    (void)state;
    buf_init(&m, WIRE_MESSAGE);
    wire_begin(&m, WIRE_DONE, 1);
    wire_add_text(&m, SPAN_LIT("abc"));
    wire_add_text(&m, span_of("a\0b", 3));
    assert_int_equal(wire_end(&m), 0);
    assert_int_equal(wire_open(buf_span(&m), &type, &id, &in), 0);
    wire_get_u64(&in);
    assert_true(in.bad);
    assert_int_equal(wire_open(buf_span(&m), &type, &id, &in), 0);
    wire_get_string(&in, small, sizeof small); /* no room for its end */
    assert_true(in.bad);
    assert_string_equal(small, "");
    assert_int_equal(wire_open(buf_span(&m), &type, &id, &in), 0);
    assert_int_equal(wire_get_text(&in, 3).n, 3);
    assert_int_equal(wire_get_text(&in, 3).n, 0); /* a zero inside */
    assert_true(in.bad);
    buf_free(&m);
}

static void descriptors_travel_and_too_much_is_refused(void **state)
{
    int pair[2], pipes[2], got[WIRE_FDS];
    struct buf m;
    char c;
    (void)state;
    buf_init(&m, 4 * WIRE_MESSAGE);
    assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK, 0, pair), 0);
    assert_int_equal(pipe(pipes), 0);
    assert_int_equal(wire_send(pair[0], SPAN_LIT("hello"), pipes, 2), 0);
    assert_int_equal(wire_receive(pair[1], &m, got), 1);
    assert_true(span_is(buf_span(&m), "hello"));
    assert_int_equal(write(got[1], "x", 1), 1);
    assert_int_equal(read(pipes[0], &c, 1), 1);
    assert_int_equal(wire_receive(pair[1], &m, got), -1);
    assert_int_equal(errno, EAGAIN);
    char long_one[WIRE_MESSAGE + 1] = {1};
    assert_int_equal(wire_send(pair[0], span_of(long_one, sizeof long_one), NULL, 0), 0);
    assert_int_equal(wire_receive(pair[1], &m, got), -1);
    assert_int_equal(errno, EPROTO);
    close(pair[0]);
    assert_int_equal(wire_receive(pair[1], &m, got), 0);
    close(pair[1]);
    close(pipes[0]);
    close(pipes[1]);
    buf_free(&m);
}

static struct buf read_whole(int fd)
{
    struct buf b;
    char room[4096];
    buf_init(&b, 1 << 20);
    for (off_t at = 0;;) {
        ssize_t n = pread(fd, room, sizeof room, at);
        if (n <= 0)
            break;
        buf_addn(&b, room, (size_t)n);
        at += n;
    }
    return b;
}

static void a_document_is_read_as_it_was_written_and_not_if_cut(void **state)
{
    struct render_asset picture = {"a.png", "image/png", SPAN_LIT("PNG")};
    struct render_params p = {.format = "docx",
                              .filename = "a.docx",
                              .title = "T",
                              .options = SPAN_LIT("{}"),
                              .made_at = -5,
                              .brand = {.colour = "#123456", .logo = SPAN_LIT("LOGO")},
                              .assets = &picture,
                              .n_assets = 1};
    struct document d;
    (void)state;
    int fd = document_create(SPAN_LIT("# Hello"), &p);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, "x", 1), -1);
    assert_int_equal(ftruncate(fd, 0), -1);
    struct buf b = read_whole(fd);
    close(fd);
    assert_int_equal(document_read(buf_span(&b), &d), 0);
    assert_true(span_is(d.source, "# Hello"));
    assert_string_equal(d.params.format, "docx");
    assert_string_equal(d.params.title, "T");
    assert_string_equal(d.params.brand.colour, "#123456");
    assert_string_equal(d.params.brand.font, "");
    assert_true(span_is(d.params.brand.logo, "LOGO"));
    assert_true(d.params.made_at == -5);
    assert_int_equal(d.params.n_assets, 1);
    assert_string_equal(d.params.assets[0].name, "a.png");
    assert_true(span_is(d.params.assets[0].bytes, "PNG"));
    document_finish(&d);
    for (size_t n = 0; n < b.n; n++) {
        assert_int_equal(document_read(span_of(buf_span(&b).p, n), &d), -1);
        document_finish(&d);
    }
    buf_addc(&b, 'x');
    assert_int_equal(document_read(buf_span(&b), &d), -1);
    document_finish(&d);
    buf_free(&b);
}

static void an_output_keeps_its_size(void **state)
{
    (void)state;
    int fd = document_output_create(100);
    assert_true(fd >= 0);
    assert_int_equal(ftruncate(fd, 200), -1);
    assert_int_equal(ftruncate(fd, 50), -1);
    assert_int_equal(pwrite(fd, "x", 1, 100), -1);
    assert_int_equal(pwrite(fd, "x", 1, 99), 1);
    assert_int_equal(document_output_seal(fd, 101), -1);
    assert_int_equal(document_output_seal(fd, 100), 0);
    assert_int_equal(pwrite(fd, "x", 1, 0), -1);
    close(fd);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_message_is_read_as_it_was_written),
        cmocka_unit_test(every_cut_and_every_changed_head_is_refused),
        cmocka_unit_test(a_field_of_another_type_is_bad),
        cmocka_unit_test(descriptors_travel_and_too_much_is_refused),
        cmocka_unit_test(a_document_is_read_as_it_was_written_and_not_if_cut),
        cmocka_unit_test(an_output_keeps_its_size),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
