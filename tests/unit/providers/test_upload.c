/* What is said to files APIs, byte for byte, and what is taken of their answers. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "providers/upload.h"

static const struct upload_file pdf = {.name = {"Inv\"oice", 8},
                                       .media_type = {"application/pdf", 15},
                                       .bytes = {"%PDF\r\n", 6},
                                       .ttl_s = 86400};
static const struct upload_file png = {
    .name = {"a.png", 5}, .media_type = {"image/png", 9}, .bytes = {"\x89P", 2}, .ttl_s = 1};

static void check(const char *dialect, const char *base, enum upload_step step,
                  const struct upload_file *file, const char *id, const char *want)
{
    struct upload_message m;
    struct buf all;
    assert_int_equal(upload_write(dialect, base, step, file, id, "b0", &m), 0);
    buf_init(&all, 1 << 16);
    buf_printf(&all, "%s ", m.method);
    buf_add(&all, buf_span(&m.path));
    buf_adds(&all, "\n");
    buf_add(&all, buf_span(&m.fields));
    buf_printf(&all, "%s\n", m.content_type);
    buf_add(&all, buf_span(&m.body));
    assert_string_equal(buf_cstr(&all), want);
    buf_free(&all);
    upload_message_finish(&m);
}

#define FORM           "multipart/form-data; boundary=b0\n"
#define FIELD(name, v) "--b0\r\nContent-Disposition: form-data; name=\"" name "\"\r\n\r\n" v "\r\n"
#define FILE_(name, t, b)                                                                                    \
    "--b0\r\nContent-Disposition: form-data; name=\"file\"; filename=\"" name "\"\r\nContent-Type: " t       \
    "\r\n\r\n" b "\r\n--b0--\r\n"
#define PDF FILE_("Inv%22oice.pdf", "application/pdf", "%PDF\r\n")
#define PNG FILE_("a.png", "image/png", "\x89P")

static void test_requests(void **state)
{
    (void)state;
    check("openai", "", UPLOAD_SEND, &pdf, "",
          "POST /v1/files\n" FORM FIELD("purpose", "user_data") FIELD("expires_after[anchor]", "created_at")
              FIELD("expires_after[seconds]", "90000") PDF);
    check("openai", "/x/v1", UPLOAD_SEND, &png, "",
          "POST /x/v1/files\n" FORM FIELD("purpose", "vision") FIELD("expires_after[anchor]", "created_at")
              FIELD("expires_after[seconds]", "3601") PNG);
    check("openai", "", UPLOAD_STATE, NULL, "file-1", "GET /v1/files/file-1\n\n");
    check("openai", "", UPLOAD_DELETE, NULL, "file-1", "DELETE /v1/files/file-1\n\n");
    check("anthropic", "", UPLOAD_SEND, &pdf, "",
          "POST /v1/files\nanthropic-version: 2023-06-01\r\n" FORM FIELD("expires_in_seconds", "90000") PDF);
    check("anthropic", "", UPLOAD_DELETE, NULL, "file_1",
          "DELETE /v1/files/file_1\nanthropic-version: 2023-06-01\r\n\n");
    check("moonshot", "", UPLOAD_SEND, &pdf, "",
          "POST /v1/files\n" FORM FIELD("purpose", "file-extract") PDF);
    check("moonshot", "", UPLOAD_SEND, &png, "", "POST /v1/files\n" FORM FIELD("purpose", "image") PNG);
    check("moonshot", "", UPLOAD_CONTENT, NULL, "mf-1", "GET /v1/files/mf-1/content\n\n");
    check("gemini", "", UPLOAD_SEND, &pdf, "",
          "POST /upload/v1beta/files\nX-Goog-Upload-Protocol: resumable\r\nX-Goog-Upload-Command: start\r\n"
          "X-Goog-Upload-Header-Content-Length: 6\r\nX-Goog-Upload-Header-Content-Type: application/pdf\r\n"
          "application/json\n{\"file\":{\"displayName\":\"Inv\\\"oice.pdf\"}}");
    check("gemini", "/g/v1beta", UPLOAD_DATA, &pdf, "",
          "POST \nX-Goog-Upload-Command: upload, finalize\r\nX-Goog-Upload-Offset: 0\r\n"
          "application/octet-stream\n%PDF\r\n");
    check("gemini", "/g/v1beta", UPLOAD_STATE, NULL, "files/abc", "GET /g/v1beta/files/abc\n\n");
}

static void test_who_has_none(void **state)
{
    (void)state;
    struct upload_message m;
    assert_int_equal(upload_write("ollama", "", UPLOAD_SEND, &pdf, "", "b0", &m), -1);
    upload_message_finish(&m);
    assert_int_equal(upload_write("openai", "", UPLOAD_CONTENT, NULL, "file-1", "b0", &m), -1);
    upload_message_finish(&m);
    assert_int_equal(upload_write("openai", "", UPLOAD_DATA, &pdf, "", "b0", &m), -1);
    upload_message_finish(&m);
    assert_int_equal(upload_inline_most("ollama"), 0);
    assert_int_equal(upload_inline_most("gemini"), 20000000);
    assert_true(upload_is_for_text("moonshot", SPAN_LIT("application/pdf")));
    assert_false(upload_is_for_text("moonshot", SPAN_LIT("video/mp4")));
    assert_false(upload_is_for_text("openai", SPAN_LIT("application/pdf")));
}

static void test_answers(void **state)
{
    (void)state;
    static const struct {
        const char *dialect, *body, *id, *uri; /* id NULL: refused */
        int state;
        int64_t expires_s;
    } table[] = {
        {"openai", "{\"id\":\"file-1\",\"status\":\"uploaded\",\"expires_at\":1790000000}", "file-1",
         "file-1", UPLOAD_READY, 1790000000},
        {"openai", "{\"id\":\"file-1\",\"status\":\"error\"}", "file-1", "file-1", UPLOAD_FAILED, 0},
        {"openai", "{\"id\":\"file-1\",\"status\":\"pending\",\"expires_at\":null}", "file-1", "file-1",
         UPLOAD_WAIT, 0},
        {"moonshot", "{\"id\":\"mf-1\",\"status\":\"ok\",\"status_details\":\"\"}", "mf-1", "mf-1",
         UPLOAD_READY, 0},
        {"anthropic", "{\"id\":\"file_1\",\"type\":\"file\",\"expires_at\":\"2026-11-30T12:00:00Z\"}",
         "file_1", "file_1", UPLOAD_READY, 1796040000},
        {"gemini",
         "{\"file\":{\"name\":\"files/a\",\"uri\":\"https://h/v1beta/files/a\",\"state\":\"PROCESSING\","
         "\"expirationTime\":\"2026-11-30T12:00:00.5Z\"}}",
         "files/a", "https://h/v1beta/files/a", UPLOAD_WAIT, 1796040000},
        {"gemini", "{\"name\":\"files/a\",\"uri\":\"https://h/a\",\"state\":\"ACTIVE\"}", "files/a",
         "https://h/a", UPLOAD_READY, 0},
        {"gemini", "{\"file\":{\"name\":\"x/a\",\"uri\":\"https://h/a\"}}", NULL, NULL, 0, 0},
        {"gemini", "{\"file\":{\"name\":\"files/a\"}}", NULL, NULL, 0, 0},
        {"gemini", "{\"file\":{\"name\":\"files/a\",\"uri\":\"https://h/\\\"a\"}}", NULL, NULL, 0, 0},
        {"anthropic", "{\"id\":\"file_1\",\"expires_at\":\"1013-11-30T12:00:00Z\"}", "file_1", "file_1",
         UPLOAD_READY, 0},
        {"openai", "{\"id\":\"file-1\",\"expires_at\":9223372036854775807}", "file-1", "file-1", UPLOAD_READY,
         0},
        {"openai", "{\"id\":\"../admin\"}", NULL, NULL, 0, 0},
        {"openai", "{\"id\":\".\"}", NULL, NULL, 0, 0},
        {"openai", "{\"id\":\"/admin\"}", NULL, NULL, 0, 0},
        {"moonshot", "{\"id\":\"a/b\"}", NULL, NULL, 0, 0},
        {"gemini", "{\"file\":{\"name\":\"files/\",\"uri\":\"https://h/a\"}}", NULL, NULL, 0, 0},
        {"gemini", "{\"file\":{\"name\":\"files/a/b\",\"uri\":\"https://h/a\"}}", NULL, NULL, 0, 0},
        {"openai", "{\"id\":\"a\\r\\nb\"}", NULL, NULL, 0, 0},
        {"openai", "{\"id\":\"\"}", NULL, NULL, 0, 0},
        {"openai", "{\"id\":7}", NULL, NULL, 0, 0},
        {"openai", "[]", NULL, NULL, 0, 0},
        {"openai", "", NULL, NULL, 0, 0},
    };
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
        struct upload_reply r;
        char why[LIMIT_ERROR_TEXT] = "";
        int answer = upload_read(table[i].dialect, span_str(table[i].body), &r, why);
        if ((answer == 0) != (table[i].id != NULL))
            fail_msg("%s: %s", table[i].body, why);
        if (answer < 0) {
            assert_true(why[0] != '\0');
            continue;
        }
        assert_string_equal(r.id, table[i].id);
        assert_string_equal(r.uri, table[i].uri);
        assert_int_equal(r.state, table[i].state);
        assert_int_equal(r.expires_s, table[i].expires_s);
    }
}

/* No beginning of an answer is taken for one. */
static void test_cut_answers(void **state)
{
    (void)state;
    static const char body[] =
        "{\"file\":{\"name\":\"files/a\",\"uri\":\"https://h/a\",\"state\":\"ACTIVE\"}}";
    for (size_t n = 0; n < sizeof body - 1; n++) {
        struct upload_reply r;
        char why[LIMIT_ERROR_TEXT];
        assert_int_equal(upload_read("gemini", span_of(body, n), &r, why), -1);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_requests), cmocka_unit_test(test_who_has_none),
                                       cmocka_unit_test(test_answers), cmocka_unit_test(test_cut_answers)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
