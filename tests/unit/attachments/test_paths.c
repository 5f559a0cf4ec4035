/* Files by path, with openat2 and without it: the same table for both (behaviours B.2). */
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "attachments/paths.h"

static char root[64];

static void make_file(int dir, const char *name, const char *text)
{
    int fd = openat(dir, name, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, text, strlen(text)), strlen(text));
    close(fd);
}

static int setup(void **state)
{
    (void)state;
    snprintf(root, sizeof root, "/tmp/test-paths-XXXXXX");
    if (!mkdtemp(root))
        return -1;
    int dir = open(root, O_RDONLY | O_DIRECTORY);
    assert_int_equal(mkdirat(dir, "o", 0700) | mkdirat(dir, "other", 0700) | mkdirat(dir, "o/d", 0700), 0);
    make_file(dir, "other/secret", "SECRET");
    make_file(dir, "o/d/f", "12345");
    make_file(dir, "o/a..b", "x");
    make_file(dir, "o/locked", "x");
    assert_int_equal(symlinkat("../other/secret", dir, "o/out"), 0);
    assert_int_equal(symlinkat("/etc/hostname", dir, "o/abs"), 0);
    assert_int_equal(symlinkat("../other", dir, "o/outdir"), 0);
    assert_int_equal(symlinkat("loop", dir, "o/loop"), 0);
    assert_int_equal(symlinkat("d/f", dir, "o/inside"), 0);
    assert_int_equal(symlinkat("o", dir, "linked-org"), 0);
    assert_int_equal(mkfifoat(dir, "o/pipe", 0600), 0);
    close(dir);
    return 0;
}

static int teardown(void **state)
{
    static const char *const names[] = {"other/secret", "o/d/f",  "o/a..b",    "o/locked",
                                        "o/out",        "o/abs",  "o/outdir",  "o/loop",
                                        "o/inside",     "o/pipe", "linked-org"};
    (void)state;
    int dir = open(root, O_RDONLY | O_DIRECTORY);
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        unlinkat(dir, names[i], 0);
    unlinkat(dir, "o/d", AT_REMOVEDIR);
    unlinkat(dir, "o", AT_REMOVEDIR);
    unlinkat(dir, "other", AT_REMOVEDIR);
    close(dir);
    return rmdir(root);
}

typedef enum path_result opener(const char *, const char *, struct span, int *, size_t *);

static void check_all(opener *open_path, enum path_result inside)
{
    static const struct {
        const char *path;
        enum path_result result;
    } rows[] = {
        {"d/f", PATH_OK},
        {"./d//f", PATH_OK},
        {"a..b", PATH_OK},
        {"", PATH_EMPTY},
        {"/etc/hostname", PATH_ABSOLUTE},
        {"..", PATH_DOTS},
        {"../other/secret", PATH_DOTS},
        {"d/../d/f", PATH_DOTS},
        {"d/..", PATH_DOTS},
        {"out", PATH_ESCAPES},
        {"abs", PATH_ESCAPES},
        {"outdir/secret", PATH_ESCAPES},
        {"loop", PATH_ESCAPES},
        {"d", PATH_NO_FILE},
        {"d/", PATH_NO_FILE},
        {".", PATH_NO_FILE},
        {"pipe", PATH_NO_FILE},
        {"none", PATH_NOT_FOUND},
        {"none/f", PATH_NOT_FOUND},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        int fd = -1;
        size_t size = 0;
        enum path_result result = open_path(root, "o", span_str(rows[i].path), &fd, &size);
        if (result != rows[i].result)
            fail_msg("%s: %s", rows[i].path, paths_reason(result));
        if (result == PATH_OK)
            close(fd);
    }
    int fd = -1;
    size_t size = 0;
    assert_int_equal(open_path(root, "o", SPAN_LIT("d/f"), &fd, &size), PATH_OK);
    assert_int_equal(size, 5);
    close(fd);
    assert_int_equal(open_path(root, "o", SPAN_LIT("inside"), &fd, &size), inside);
    if (inside == PATH_OK)
        close(fd);
    assert_int_equal(open_path(root, "o", SPAN_LIT("d/f\0x"), &fd, &size), PATH_NUL);
    assert_int_equal(open_path(root, "none", SPAN_LIT("d/f"), &fd, &size), PATH_NOT_FOUND);
    assert_int_equal(open_path(root, "..", SPAN_LIT("d/f"), &fd, &size), PATH_NOT_FOUND);
    assert_int_equal(open_path(root, "o/d", SPAN_LIT("f"), &fd, &size), PATH_NOT_FOUND);
    assert_int_not_equal(open_path(root, "linked-org", SPAN_LIT("d/f"), &fd, &size), PATH_OK);
}

static void b2_beneath(void **state)
{
    (void)state;
    check_all(paths_open, PATH_OK);
}

static void b2_by_component(void **state)
{
    (void)state;
    check_all(paths_open_by_component, PATH_ESCAPES); /* it follows no link at all */
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(b2_beneath), cmocka_unit_test(b2_by_component)};
    return cmocka_run_group_tests(tests, setup, teardown);
}
