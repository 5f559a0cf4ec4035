/* The audit in SQLite. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>
#include <jansson.h>

#include "artifacts/records.h"

static void remove_all(const char *dir)
{
    static const char *const files[] = {"records.db", "records.db-wal", "records.db-shm"};
    char path[128];
    for (size_t i = 0; i < 3; i++) {
        snprintf(path, sizeof path, "%s/%s", dir, files[i]);
        unlink(path);
    }
    rmdir(dir);
}

static json_t *list(struct records *r, const char *org, const char *id, int64_t before, int limit)
{
    struct buf out;
    buf_init(&out, 1 << 20);
    assert_int_equal(records_list(r, org, id, before, limit, &out), 0);
    json_t *value = json_loads(buf_cstr(&out), 0, NULL);
    assert_non_null(value);
    buf_free(&out);
    return value;
}

static const char *text_at(json_t *page, size_t i, const char *key)
{
    return json_string_value(json_object_get(json_array_get(json_object_get(page, "data"), i), key));
}

static void keeps_and_lists(void **state)
{
    (void)state;
    char dir[] = "/tmp/test-records-XXXXXX", path[64];
    struct error e;
    struct stat st;
    assert_non_null(mkdtemp(dir));
    struct records *r = records_open(dir, &e), *again = records_open(dir, &e);
    assert_non_null(r);
    assert_non_null(again);
    for (int i = 0; i < 5; i++) {
        char id[16];
        snprintf(id, sizeof id, "hwc-%d", i);
        struct consult_record c = {.id = id,
                                   .org = i % 2 ? "b" : "a",
                                   .thread = "t\"x",
                                   .provider = "openai",
                                   .api = "openai-chat",
                                   .model = "m",
                                   .started_ms = 1000 + i,
                                   .first_byte_ms = i ? 5 : -1,
                                   .status = 200,
                                   .outcome = "completed",
                                   .streamed = true,
                                   .bytes_in = 7,
                                   .directives = 1,
                                   .artifacts = i ? SPAN_LIT("{\"id\":\"file-hw-1\"}") : SPAN_LIT("broken"),
                                   .attachments_not_passed = SPAN_LIT("{\"type\":\"x\"}")};
        struct buf text;
        buf_init(&text, 10000);
        assert_int_equal(record_write(&c, &text), 0);
        struct record_row row = {
            .id = c.id, .org = c.org, .started_ms = c.started_ms, .text = buf_span(&text)};
        assert_int_equal(records_add(i % 2 ? r : again, &row, 1), 0);
        buf_free(&text);
    }
    json_t *page = list(r, "", "", 0, 3);
    assert_int_equal(json_array_size(json_object_get(page, "data")), 3);
    assert_true(json_is_true(json_object_get(page, "has_more")));
    assert_string_equal(text_at(page, 0, "id"), "hwc-4");
    assert_string_equal(text_at(page, 2, "id"), "hwc-2");
    assert_string_equal(text_at(page, 0, "thread"), "t\"x");
    json_decref(page);
    page = list(r, "", "", 1002, 10);
    assert_int_equal(json_array_size(json_object_get(page, "data")), 2);
    assert_false(json_is_true(json_object_get(page, "has_more")));
    json_t *oldest = json_array_get(json_object_get(page, "data"), 1);
    assert_true(json_is_null(json_object_get(oldest, "first_byte_ms")));
    assert_int_equal(json_array_size(json_object_get(oldest, "artifacts")), 0);
    assert_string_equal(json_string_value(json_object_get(oldest, "parent")), "");
    json_decref(page);
    page = list(r, "b", "", 0, 10);
    assert_int_equal(json_array_size(json_object_get(page, "data")), 2);
    json_decref(page);
    page = list(r, "", "hwc-3' OR '1'='1", 0, 10);
    assert_int_equal(json_array_size(json_object_get(page, "data")), 0);
    json_decref(page);
    assert_int_equal(records_sweep(r, 1003), 0);
    page = list(again, "", "", 0, 10);
    assert_int_equal(json_array_size(json_object_get(page, "data")), 2);
    json_decref(page);
    snprintf(path, sizeof path, "%s/records.db", dir);
    assert_int_equal(stat(path, &st), 0);
    assert_int_equal(st.st_mode & 07777, 0600);
    records_close(again);
    records_close(r);
    records_close(NULL);
    remove_all(dir);
    assert_null(records_open("/nonexistent/dir", &e));
    assert_true(e.message[0] != '\0');
}

/* A record that does not fit leaves nothing behind. */
static void over_the_cap(void **state)
{
    (void)state;
    const struct consult_record c = {
        .id = "hwc-1", .org = "a", .outcome = "completed", .reason = SPAN_LIT("x\ny")};
    struct buf whole, out;
    buf_init(&whole, 10000);
    assert_int_equal(record_write(&c, &whole), 0);
    assert_non_null(strstr(buf_cstr(&whole), "\"reason\":\"x\\ny\""));
    for (size_t max = 3; max < whole.n + 3; max++) {
        buf_init(&out, max);
        buf_adds(&out, "abc");
        assert_int_equal(record_write(&c, &out), -1);
        assert_int_equal(out.n, 3);
        buf_free(&out);
    }
    buf_free(&whole);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(keeps_and_lists), cmocka_unit_test(over_the_cap)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
