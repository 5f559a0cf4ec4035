/* What a caller attached, kept for the consults that this one starts (behaviours A.7). */
#include <dirent.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "artifacts/inbound.h"
#include "base/clock.h"

enum { MAX_SEEN = 8 };

struct seen {
    struct store *store;
    size_t n, stop_after;
    char names[MAX_SEEN][32], bytes[MAX_SEEN][32];
    bool native[MAX_SEEN];
};

static int see(void *arg, const struct inbound_item *item, const char *key)
{
    struct seen *s = arg;
    struct buf bytes;
    assert_true(s->n < MAX_SEEN);
    buf_init(&bytes, 31);
    snprintf(s->names[s->n], 32, "%s", item->type ? item->type : item->name);
    s->native[s->n] = item->native;
    if (inbound_read(s->store, key, &bytes) == 0)
        snprintf(s->bytes[s->n], 32, "%s", buf_cstr(&bytes));
    buf_free(&bytes);
    return ++s->n == s->stop_after ? -1 : 0;
}

static void keeps_and_finds(void **state)
{
    char dir[] = "/tmp/test-inbound-XXXXXX", path[256];
    struct error e;
    struct stat st;
    (void)state;
    assert_non_null(mkdtemp(dir));
    struct store_settings settings = {
        .state_dir = dir, .retention_s = 1000000, .inbound_ttl_s = 100, .public_url = "http://x"};
    struct store *s = store_open(&settings, &e);
    assert_non_null(s);
    int64_t now = clock_wall_ms() / 1000;
    const struct inbound_item items[] = {
        {.type = "log", .bytes = SPAN_LIT("\"L\\u00e9\"")},
        {.name = "../x", .path = "a/b", .media_type = "image/png", .native = true, .bytes = SPAN_LIT("PNG")},
    };
    assert_int_equal(inbound_keep(s, inbound_begin(s, "acme", "hwc-1"), "acme", "hwc-1", items, 2, now + 100),
                     0);
    struct seen seen = {.store = s};
    assert_int_equal(inbound_find(s, "acme", "hwc-1", now + 99, see, &seen), INBOUND_THERE);
    assert_int_equal(seen.n, 2);
    assert_string_equal(seen.names[0], "log");
    assert_string_equal(seen.bytes[0], "\"L\\u00e9\"");
    assert_false(seen.native[0]);
    assert_string_equal(seen.names[1], "../x");
    assert_string_equal(seen.bytes[1], "PNG");
    assert_true(seen.native[1]);
    seen = (struct seen){.store = s, .stop_after = 1};
    assert_int_equal(inbound_find(s, "acme", "hwc-1", now, see, &seen), INBOUND_THERE);
    assert_int_equal(seen.n, 1);
    seen.n = 0;
    assert_int_equal(inbound_find(s, "acme", "hwc-1", now + 100, see, &seen), INBOUND_EXPIRED);
    assert_int_equal(inbound_find(s, "other", "hwc-1", now, see, &seen), INBOUND_NONE);
    assert_int_equal(inbound_find(s, "acme", "hwc-2", now, see, &seen), INBOUND_NONE);
    assert_int_equal(inbound_find(s, "acme", "../acme/hwc-1", now, see, &seen), INBOUND_NONE);
    assert_int_equal(inbound_find(s, "..", "x", now, see, &seen), INBOUND_NONE);
    assert_int_equal(seen.n, 0);
    /* The bytes go when their time is over; what the manifest says of them stays. */
    snprintf(path, sizeof path, "%s/orgs/acme/hwc-1/inbound/00", dir);
    for (int i = 0; i < 3; i++)
        store_sweep(s, now + 50);
    assert_int_equal(stat(path, &st), 0);
    for (int i = 0; i < 3; i++)
        store_sweep(s, now + 200);
    assert_int_equal(stat(path, &st), -1);
    assert_int_equal(inbound_find(s, "acme", "hwc-1", now + 200, see, &seen), INBOUND_EXPIRED);
    for (int i = 0; i < 3; i++)
        store_sweep(s, now + 1000100);
    assert_int_equal(inbound_find(s, "acme", "hwc-1", now, see, &seen), INBOUND_NONE);
    store_close(s);
    static const char *const left[] = {"orgs/acme", "orgs", "files", "secret", ""};
    for (size_t i = 0; i < sizeof left / sizeof left[0]; i++) {
        snprintf(path, sizeof path, "%s/%s", dir, left[i]);
        (void)!remove(path);
    }
}

/* Another process that asks after inbound_begin is not told that there is nothing. */
static void whoever_asks_too_early_waits(void **state)
{
    char dir[] = "/tmp/test-inbound-XXXXXX", path[256], said = 0;
    int ready[2], answer[2], status;
    struct error e;
    (void)state;
    assert_non_null(mkdtemp(dir));
    struct store_settings settings = {
        .state_dir = dir, .retention_s = 1000000, .inbound_ttl_s = 100, .public_url = "http://x"};
    struct store *s = store_open(&settings, &e);
    assert_non_null(s);
    assert_true(pipe(ready) == 0 && pipe(answer) == 0);
    int token = inbound_begin(s, "acme", "hwc-1");
    assert_true(token >= 0);
    pid_t pid = fork();
    if (pid == 0) { /* it has the lock's descriptor too, which would be the same lock */
        close(token);
        struct store *other = store_open(&settings, &e);
        struct seen seen = {.store = other};
        (void)!write(ready[1], "r", 1);
        said = other && inbound_find(other, "acme", "hwc-1", 0, see, &seen) == INBOUND_THERE && seen.n == 1
                   ? 'y'
                   : 'n';
        (void)!write(answer[1], &said, 1);
        _exit(0);
    }
    assert_int_equal(read(ready[0], &said, 1), 1);
    usleep(50000); /* time enough to answer wrongly */
    const struct inbound_item item = {.name = "a", .bytes = SPAN_LIT("A")};
    assert_int_equal(inbound_keep(s, token, "acme", "hwc-1", &item, 1, 1000), 0);
    assert_int_equal(read(answer[0], &said, 1), 1);
    assert_int_equal(said, 'y');
    assert_int_equal(waitpid(pid, &status, 0), pid);
    struct seen seen = {.store = s};
    token = inbound_begin(s, "acme", "hwc-2");
    inbound_give_up(s, token); /* the request was not sent */
    assert_int_equal(inbound_find(s, "acme", "hwc-2", 0, see, &seen), INBOUND_NONE);
    for (int i = 0; i < 3; i++)
        store_sweep(s, clock_wall_ms() / 1000 + 1000100);
    store_close(s);
    static const char *const left[] = {"orgs/acme", "orgs", "files", "secret", ""};
    for (size_t i = 0; i < sizeof left / sizeof left[0]; i++) {
        snprintf(path, sizeof path, "%s/%s", dir, left[i]);
        (void)!remove(path);
    }
    for (int i = 0; i < 2; i++) {
        close(ready[i]);
        close(answer[i]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(keeps_and_finds),
                                       cmocka_unit_test(whoever_asks_too_early_waits)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
