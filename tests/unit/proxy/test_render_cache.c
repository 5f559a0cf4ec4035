#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

#include "proxy/render_cache.h"

static void digest_of(unsigned n, unsigned char out[DIGEST])
{
    memset(out, 0, DIGEST);
    memcpy(out, &n, sizeof n);
}

/* The file of number n holds that number. */
static void add(struct render_cache *c, const char *org, unsigned n, uint64_t bytes)
{
    unsigned char digest[DIGEST];
    struct cached file = {
        .fd = memfd_create("file", MFD_CLOEXEC), .bytes = bytes, .renderer = "r", .version = "1"};
    assert_int_equal(write(file.fd, &n, sizeof n), sizeof n);
    digest_of(n, digest);
    render_cache_add(c, org, digest, &file);
    close(file.fd);
}

static bool has(struct render_cache *c, const char *org, unsigned n)
{
    unsigned char digest[DIGEST];
    struct cached file;
    unsigned found = 0;
    digest_of(n, digest);
    if (!render_cache_find(c, org, digest, &file))
        return false;
    assert_int_equal(pread(file.fd, &found, sizeof found, 0), sizeof found);
    assert_int_equal(found, n);
    close(file.fd);
    return true;
}

static void what_was_added_is_found_by_its_organisation_alone(void **state)
{
    struct render_cache *c = render_cache_create();
    (void)state;
    add(c, "one", 1, 10);
    assert_true(has(c, "one", 1));
    assert_false(has(c, "two", 1));
    assert_false(has(c, "one", 2));
    render_cache_destroy(c);
    render_cache_destroy(NULL);
}

static void the_least_used_goes_first(void **state)
{
    struct render_cache *c = render_cache_create();
    (void)state;
    for (unsigned i = 0; i < 64; i++)
        add(c, "one", i, 10);
    assert_true(has(c, "one", 0));
    add(c, "one", 64, 10);
    assert_true(has(c, "one", 0));
    assert_false(has(c, "one", 1));
    assert_true(has(c, "one", 64));
    render_cache_destroy(c);
}

static void bytes_are_bounded(void **state)
{
    struct render_cache *c = render_cache_create();
    unsigned n = 0;
    (void)state;
    for (unsigned i = 0; i < 20; i++)
        add(c, "one", i, 4 << 20);
    for (unsigned i = 0; i < 20; i++)
        n += has(c, "one", i);
    assert_int_equal(n, 8); /* of 4 MiB in 32 */
    add(c, "one", 99, (4 << 20) + 1);
    assert_false(has(c, "one", 99));
    render_cache_destroy(c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_was_added_is_found_by_its_organisation_alone),
        cmocka_unit_test(the_least_used_goes_first),
        cmocka_unit_test(bytes_are_bounded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
