/* A file that is written as it is made: left alone when it is the same, replaced as a whole when it is not.
 */
#include "transcript/disk.h"

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/xalloc.h"

enum { MOST = 1 << 20, LONG = 200000 };

struct place {
    char dir[64], path[80];
};

static int set_up(void **state)
{
    struct place *p = xcalloc(1, sizeof *p);
    snprintf(p->dir, sizeof p->dir, "/tmp/transcript-disk-XXXXXX");
    if (!mkdtemp(p->dir))
        return -1;
    snprintf(p->path, sizeof p->path, "%s/file", p->dir);
    *state = p;
    return 0;
}

static int tear_down(void **state)
{
    struct place *p = *state;
    unlink(p->path);
    int status = rmdir(p->dir); /* nothing else is there */
    xfree(p);
    return status;
}

static void assert_holds(const struct place *p, struct span wanted)
{
    struct buf text;
    buf_init(&text, MOST);
    assert_int_equal(disk_read(p->path, &text), 0);
    assert_int_equal(text.n, wanted.n);
    assert_true(wanted.n == 0 || memcmp(buf_span(&text).p, wanted.p, wanted.n) == 0);
    buf_free(&text);
}

static void put_old(const struct place *p, struct span text)
{
    FILE *f = fopen(p->path, "wb");
    assert_non_null(f);
    assert_int_equal(fwrite(text.p, 1, text.n, f), text.n);
    fclose(f);
}

/* Answers what disk_close does. */
static int write_pieces(const struct place *p, struct span text, size_t piece)
{
    struct disk_file *f = disk_open(p->path);
    struct error e;
    for (size_t at = 0; at < text.n; at += piece)
        assert_int_equal(disk_add(f, span_of(text.p + at, text.n - at < piece ? text.n - at : piece), &e), 0);
    return disk_close(f, &e);
}

static void test_changes(void **state)
{
    static const size_t places[] = {0, 1, 65535, 65536, 65537, 131072, LONG - 1},
                        pieces[] = {4097, 65536, LONG};
    enum { PLACES = sizeof places / sizeof places[0], PIECES = sizeof pieces / sizeof pieces[0] };
    const struct place *p = *state;
    char *text = xmalloc(LONG), *old = xmalloc(LONG + 1);
    for (size_t i = 0; i < LONG; i++)
        text[i] = (char)('a' + i % 23);
    const struct span whole = span_of(text, LONG);
    for (size_t k = 0; k < PIECES; k++) {
        unlink(p->path);
        assert_int_equal(write_pieces(p, whole, pieces[k]), 1);
        assert_int_equal(write_pieces(p, whole, pieces[k]), 0);
        assert_int_equal(write_pieces(p, span_of(text, 0), pieces[k]), 1);
        assert_holds(p, span_of(text, 0));
        assert_int_equal(write_pieces(p, span_of(text, 0), pieces[k]), 0);
        for (size_t i = 0; i < PLACES; i++) {
            memcpy(old, text, LONG);
            old[places[i]] = '?';
            put_old(p, span_of(old, LONG)); /* another byte */
            assert_int_equal(write_pieces(p, whole, pieces[k]), 1);
            assert_holds(p, whole);
            put_old(p, span_of(text, places[i])); /* the beginning */
            assert_int_equal(write_pieces(p, whole, pieces[k]), 1);
            assert_holds(p, whole);
            assert_int_equal(write_pieces(p, span_of(text, places[i]), pieces[k]), 1); /* it was longer */
            assert_holds(p, span_of(text, places[i]));
        }
    }
    xfree(text);
    xfree(old);
}

/* What is the same is the same file. */
static void test_left_alone(void **state)
{
    const struct place *p = *state;
    struct stat before, after;
    struct error e;
    put_old(p, SPAN_LIT("same"));
    assert_int_equal(stat(p->path, &before), 0);
    assert_int_equal(write_pieces(p, SPAN_LIT("same"), 1), 0);
    assert_int_equal(disk_write(p->path, SPAN_LIT("same"), &e), 0);
    struct disk_file *f = disk_open(p->path); /* given up, though something else had come */
    assert_int_equal(disk_add(f, SPAN_LIT("other"), &e), 0);
    disk_abandon(f);
    assert_int_equal(stat(p->path, &after), 0);
    assert_true(before.st_ino == after.st_ino && before.st_mtim.tv_nsec == after.st_mtim.tv_nsec);
    assert_holds(p, SPAN_LIT("same"));
    assert_int_equal(disk_write(p->path, SPAN_LIT(""), &e), 1);
    assert_holds(p, SPAN_LIT(""));
}

/* Given up in the middle, nothing is left of the new one. */
static void test_abandoned(void **state)
{
    const struct place *p = *state;
    char *text = xcalloc(1, LONG);
    struct error e;
    struct disk_file *f = disk_open(p->path);
    assert_int_equal(disk_add(f, span_of(text, LONG), &e), 0);
    disk_abandon(f);
    assert_int_equal(access(p->path, F_OK), -1);
    xfree(text);
}

static void test_cannot(void **state)
{
    const struct place *p = *state;
    char path[128];
    struct error e;
    snprintf(path, sizeof path, "%s/none/file", p->dir);
    struct disk_file *f = disk_open(path);
    assert_int_equal(disk_add(f, SPAN_LIT("x"), &e), 0);
    assert_int_equal(disk_close(f, &e), -1);
    assert_non_null(strstr(e.message, path));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test_setup_teardown(test_changes, set_up, tear_down),
                                       cmocka_unit_test_setup_teardown(test_left_alone, set_up, tear_down),
                                       cmocka_unit_test_setup_teardown(test_abandoned, set_up, tear_down),
                                       cmocka_unit_test_setup_teardown(test_cannot, set_up, tear_down)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
