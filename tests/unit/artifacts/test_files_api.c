/* The Files API: paths, bodies, conditions, ranges. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "artifacts/files_api.h"

static const struct artifact file = {.id = "file-hw-000000000000000000000000",
                                     .filename = "a \"b\".csv",
                                     .media_type = "text/csv; charset=utf-8",
                                     .bytes = 10,
                                     .sha256 = "abc123",
                                     .created_at = 784111777,
                                     .expires_at = 784111778};

static void paths(void **state)
{
    (void)state;
    static const struct {
        const char *path, *id;
        bool content;
    } rows[] = {
        {"/v1/files/file-hw-1", "file-hw-1", false},
        {"/v1/files/file-hw-1/content", "file-hw-1", true},
        {"/anthropic/v1/files/file-hw-1/content", "file-hw-1", true},
        {"/v1/containers/any/files/file-hw-1/content", "file-hw-1", true},
        {"/openai/v1/containers/c/files/file-hw-1", "file-hw-1", false},
        {"/v1/files/file-abc", NULL, false},
        {"/v1/files", NULL, false},
        {"/v1/files/", NULL, false},
        {"/v1/files/file-hw-1/", NULL, false},
        {"/v1/files/file-hw-1/contents", NULL, false},
        {"/v1/files/file-hw-1/content/", NULL, false},
        {"/v1/files/file-hw-1/content/x", NULL, false},
        {"/v1/containers/files/file-hw-1", NULL, false},
        {"/v1/containers//files/file-hw-1", NULL, false},
        {"/v1/containers/c/file-hw-1", NULL, false},
        {"/files/file-hw-1", NULL, false},
        {"/v1/filesx/file-hw-1", NULL, false},
        {"", NULL, false},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct files_path p;
        bool ours = files_path_parse(span_str(rows[i].path), &p);
        if (ours != (rows[i].id != NULL))
            fail_msg("%s", rows[i].path);
        if (ours) {
            assert_true(span_is(p.id, rows[i].id));
            assert_int_equal(p.content, rows[i].content);
        }
    }
}

static void bodies(void **state)
{
    (void)state;
    struct buf out;
    buf_init(&out, 8192);
    files_object(FILES_OPENAI, &file, &out);
    assert_string_equal(buf_cstr(&out),
                        "{\"id\":\"file-hw-000000000000000000000000\",\"object\":\"file\",\"bytes\":10,"
                        "\"created_at\":784111777,\"expires_at\":784111778,\"filename\":\"a \\\"b\\\".csv\","
                        "\"purpose\":\"assistants_output\",\"status\":\"processed\"}");
    buf_reset(&out);
    files_object(FILES_ANTHROPIC, &file, &out);
    assert_string_equal(
        buf_cstr(&out),
        "{\"id\":\"file-hw-000000000000000000000000\",\"type\":\"file\",\"filename\":\"a \\\"b\\\".csv\","
        "\"mime_type\":\"text/csv\",\"size_bytes\":10,"
        "\"created_at\":\"1994-11-06T08:49:37Z\",\"downloadable\":true}");
    buf_reset(&out);
    files_deleted(FILES_OPENAI, SPAN_LIT("file-hw-1"), &out);
    assert_string_equal(buf_cstr(&out), "{\"id\":\"file-hw-1\",\"object\":\"file\",\"deleted\":true}");
    buf_reset(&out);
    files_list(FILES_OPENAI, NULL, 0, false, &out);
    assert_string_equal(
        buf_cstr(&out),
        "{\"object\":\"list\",\"data\":[],\"has_more\":false,\"first_id\":null,\"last_id\":null}");
    buf_reset(&out);
    files_http_date(file.created_at, &out);
    assert_string_equal(buf_cstr(&out), "Sun, 06 Nov 1994 08:49:37 GMT");
    buf_free(&out);
}

static void ranges(void **state)
{
    (void)state;
    static const struct {
        const char *range;
        enum files_status status;
        uint64_t from, n;
        const char *content_range;
    } rows[] = {
        {"bytes=2-4", FILES_PARTIAL, 2, 3, "bytes 2-4/10"},
        {"Bytes = 2-4", FILES_OK, 0, 10, NULL},
        {"bytes=0-", FILES_PARTIAL, 0, 10, "bytes 0-9/10"},
        {"bytes=9-99", FILES_PARTIAL, 9, 1, "bytes 9-9/10"},
        {"bytes=-3", FILES_PARTIAL, 7, 3, "bytes 7-9/10"},
        {"bytes=-99", FILES_PARTIAL, 0, 10, "bytes 0-9/10"},
        {"bytes=-0", FILES_RANGE, 0, 0, "bytes */10"},
        {"bytes=20-", FILES_RANGE, 0, 0, "bytes */10"},
        {"bytes=10-", FILES_RANGE, 0, 0, "bytes */10"},
        {"bytes=99999999999999999999999999-", FILES_RANGE, 0, 0, "bytes */10"},
        {"bytes=0-1,3-4", FILES_OK, 0, 10, NULL},
        {"bytes=4-2", FILES_OK, 0, 10, NULL},
        {"bytes=a-b", FILES_OK, 0, 10, NULL},
        {"bytes=", FILES_OK, 0, 10, NULL},
        {"bytes=-", FILES_OK, 0, 10, NULL},
        {"items=0-1", FILES_OK, 0, 10, NULL},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct files_conditions c = {.range = span_str(rows[i].range)};
        struct files_answer a = files_decide(&file, &c);
        if (a.status != rows[i].status || a.from != rows[i].from || a.n != rows[i].n)
            fail_msg("%s: %d %llu %llu", rows[i].range, a.status, (unsigned long long)a.from,
                     (unsigned long long)a.n);
        if (rows[i].content_range) {
            struct buf out;
            buf_init(&out, 100);
            files_content_range(&file, &a, &out);
            assert_string_equal(buf_cstr(&out), rows[i].content_range);
            buf_free(&out);
        }
    }
}

static void conditions(void **state)
{
    (void)state;
    static const char date[] = "Sun, 06 Nov 1994 08:49:37 GMT", earlier[] = "Sun, 06 Nov 1994 08:49:36 GMT";
    struct {
        struct files_conditions c;
        enum files_status status;
    } rows[] = {
        {{.if_none_match = SPAN_LIT("*")}, FILES_NOT_MODIFIED},
        {{.if_none_match = SPAN_LIT("\"abc123\"")}, FILES_NOT_MODIFIED},
        {{.if_none_match = SPAN_LIT("\"x\" , W/\"abc123\"")}, FILES_NOT_MODIFIED},
        {{.if_none_match = SPAN_LIT("\"x\""), .if_modified_since = SPAN_LIT(date)}, FILES_OK},
        {{.if_modified_since = SPAN_LIT(date)}, FILES_NOT_MODIFIED},
        {{.if_modified_since = SPAN_LIT(earlier)}, FILES_OK},
        {{.if_modified_since = SPAN_LIT("yesterday")}, FILES_OK},
        {{.if_match = SPAN_LIT("\"x\"")}, FILES_PRECONDITION},
        {{.if_match = SPAN_LIT("W/\"abc123\"")}, FILES_PRECONDITION},
        {{.if_match = SPAN_LIT("\"abc123\"")}, FILES_OK},
        {{.if_unmodified_since = SPAN_LIT(earlier)}, FILES_PRECONDITION},
        {{.range = SPAN_LIT("bytes=0-1"), .if_range = SPAN_LIT("\"abc123\"")}, FILES_PARTIAL},
        {{.range = SPAN_LIT("bytes=0-1"), .if_range = SPAN_LIT("\"x\"")}, FILES_OK},
        {{.range = SPAN_LIT("bytes=0-1"), .if_range = SPAN_LIT("W/\"abc123\"")}, FILES_OK},
        {{.range = SPAN_LIT("bytes=0-1"), .if_range = SPAN_LIT(date)}, FILES_PARTIAL},
        {{.range = SPAN_LIT("bytes=0-1"), .if_range = SPAN_LIT(earlier)}, FILES_OK},
        {{.range = SPAN_LIT("bytes=0-1"), .if_none_match = SPAN_LIT("*")}, FILES_NOT_MODIFIED},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        if (files_decide(&file, &rows[i].c).status != rows[i].status)
            fail_msg("row %zu: %d", i, files_decide(&file, &rows[i].c).status);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(paths), cmocka_unit_test(bodies),
                                       cmocka_unit_test(ranges), cmocka_unit_test(conditions)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
