/* base/write_all: all of it, or an error that says why. */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/buf.h"
#include "base/write_all.h"

enum { BYTES = 1 << 20 };

static void *read_slowly(void *arg)
{
    static char room[1000]; /* a pipe takes 64 KiB, so that a write is taken in parts */
    size_t *n = arg;
    int fd = (int)*n;
    ssize_t got;
    for (*n = 0; (got = read(fd, room, sizeof room)) > 0;)
        *n += (size_t)got;
    close(fd);
    return NULL;
}

static void test_goes_on_until_all_is_taken(void **state)
{
    (void)state;
    static char bytes[BYTES];
    int pair[2];
    pthread_t reader;
    assert_int_equal(pipe(pair), 0);
    size_t n = (size_t)pair[0];
    assert_int_equal(pthread_create(&reader, NULL, read_slowly, &n), 0);
    assert_int_equal(write_all_and_close(pair[1], span_of(bytes, sizeof bytes)), 0);
    pthread_join(reader, NULL);
    assert_int_equal(n, sizeof bytes);
}

static void test_says_why_not(void **state)
{
    (void)state;
    int full = open("/dev/full", O_WRONLY | O_CLOEXEC);
    if (full >= 0) {
        assert_int_equal(write_all(full, span_str("x")), -1);
        assert_int_equal(errno, ENOSPC);
        assert_int_equal(write_all_and_close(full, span_str("x")), -1);
        assert_int_equal(errno, ENOSPC);
        assert_int_equal(fcntl(full, F_GETFD), -1);
    }
    assert_int_equal(write_all(-1, span_str("")), 0);
    assert_int_equal(write_all_and_close(-1, span_str("")), -1);
    assert_int_equal(errno, EBADF);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_goes_on_until_all_is_taken),
        cmocka_unit_test(test_says_why_not),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
