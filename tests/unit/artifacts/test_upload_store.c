/* What is remembered of uploads, between processes that share it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

#include "artifacts/upload_store.h"

struct place {
    char folder[64];
    struct upload_store *one, *two;
};

static int start(void **state)
{
    static struct place p;
    struct error e;
    snprintf(p.folder, sizeof p.folder, "/tmp/penstock-uploads-XXXXXX");
    assert_non_null(mkdtemp(p.folder));
    p.one = upload_store_open(p.folder, &e);
    p.two = upload_store_open(p.folder, &e);
    assert_non_null(p.one);
    assert_non_null(p.two);
    *state = &p;
    return 0;
}

static int end(void **state)
{
    struct place *p = *state;
    char file[96];
    static const char *const names[] = {"uploads.db", "uploads.db-wal", "uploads.db-shm"};
    upload_store_close(p->one);
    upload_store_close(p->two);
    for (int i = 0; i < 3; i++) {
        snprintf(file, sizeof file, "%s/%s", p->folder, names[i]);
        unlink(file);
    }
    return rmdir(p->folder);
}

static struct upload_row row_of(const char *key)
{
    struct upload_row row = {.good_until_ms = 5000, .delete_ms = 6000};
    snprintf(row.key, sizeof row.key, "%s", key);
    snprintf(row.provider, sizeof row.provider, "moonshot");
    snprintf(row.account, sizeof row.account, "acc");
    return row;
}

static void test_one_makes_it_and_others_wait(void **state)
{
    struct place *p = *state;
    struct upload_row a = row_of("k"), b = row_of("k");
    assert_int_equal(upload_store_take(p->one, &a, 1000, 500), UPLOAD_STORE_CLAIMED);
    assert_int_equal(upload_store_take(p->two, &b, 1000, 500), UPLOAD_STORE_BUSY);
    snprintf(a.id, sizeof a.id, "file-1");
    snprintf(a.uri, sizeof a.uri, "https://u/1");
    assert_int_equal(upload_store_put(p->one, &a), 0);
    assert_int_equal(upload_store_take(p->two, &b, 1000, 500), UPLOAD_STORE_FOUND);
    assert_string_equal(b.id, "file-1");
    assert_string_equal(b.uri, "https://u/1");
    assert_int_equal(b.good_until_ms, 5000);
    /* and another process later on */
    struct error e;
    upload_store_close(p->two);
    p->two = upload_store_open(p->folder, &e);
    b = row_of("k");
    assert_int_equal(upload_store_take(p->two, &b, 4999, 500), UPLOAD_STORE_FOUND);
}

static void test_claims_lapse_and_are_given_back(void **state)
{
    struct place *p = *state;
    struct upload_row a = row_of("k");
    assert_int_equal(upload_store_take(p->one, &a, 1000, 500), UPLOAD_STORE_CLAIMED);
    assert_int_equal(upload_store_take(p->two, &a, 1499, 500), UPLOAD_STORE_BUSY);
    assert_int_equal(upload_store_take(p->two, &a, 1500, 500), UPLOAD_STORE_CLAIMED);
    assert_int_equal(upload_store_drop(p->two, "k", ""), 0);
    assert_int_equal(upload_store_take(p->one, &a, 1501, 500), UPLOAD_STORE_CLAIMED);
}

static void test_what_has_expired_is_made_again_and_deleted(void **state)
{
    struct place *p = *state;
    struct upload_row a = row_of("k"), rows[4];
    snprintf(a.id, sizeof a.id, "file-1");
    assert_int_equal(upload_store_put(p->one, &a), 0);
    assert_int_equal(upload_store_due(p->one, "moonshot", "acc", 5999, 100, rows, 4), 0);
    assert_int_equal(upload_store_take(p->one, &a, 5000, 500), UPLOAD_STORE_CLAIMED);
    snprintf(a.id, sizeof a.id, "file-2");
    a.good_until_ms = 9000;
    a.delete_ms = 10000;
    assert_int_equal(upload_store_put(p->one, &a), 0);
    /* the old one is not forgotten for it, and goes to one alone */
    assert_int_equal(upload_store_due(p->one, "moonshot", "other", 6000, 100, rows, 4), 0);
    assert_int_equal(upload_store_due(p->one, "moonshot", "acc", 6000, 100, rows, 4), 1);
    assert_string_equal(rows[0].id, "file-1");
    assert_int_equal(upload_store_due(p->two, "moonshot", "acc", 6099, 100, rows, 4), 0);
    assert_int_equal(upload_store_due(p->two, "moonshot", "acc", 6100, 100, rows, 4), 1);
    assert_int_equal(upload_store_drop(p->two, "k", "file-1"), 0);
    assert_int_equal(upload_store_due(p->one, "moonshot", "acc", 9999, 100, rows, 4), 0);
    assert_int_equal(upload_store_sweep(p->one, 10001), 0);
    assert_int_equal(upload_store_due(p->one, "moonshot", "acc", 20000, 100, rows, 4), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_one_makes_it_and_others_wait, start, end),
        cmocka_unit_test_setup_teardown(test_claims_lapse_and_are_given_back, start, end),
        cmocka_unit_test_setup_teardown(test_what_has_expired_is_made_again_and_deleted, start, end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
