/* The lines of a thread's journal. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>

#include <cmocka.h>

#include "base/json.h"
#include "proxy/thread_line.h"

static void check_line(struct buf *line, const char *expected)
{
    struct span value;
    assert_true(span_ends(buf_span(line), "\n"));
    assert_null(memchr(buf_span(line).p, '\n', line->n - 1));
    assert_true(json_document(buf_span(line), &value));
    assert_string_equal(buf_cstr(line), expected);
    buf_free(line);
}

static struct thread_begin_line begin_of(const char *query)
{
    return (struct thread_begin_line){
        .id = "hwc-1", .run = 7, .at_us = 2051319840000000, .query = span_str(query), .provider = "p"};
}

#define HEAD "{\"ev\":\"begin\",\"id\":\"hwc-1\",\"run\":7,\"role\":"
#define AT   ",\"at_us\":2051319840000000"

static void test_begin(void **state)
{
    (void)state;
    struct buf line;
    buf_init(&line, 1 << 16);
    struct thread_begin_line l = begin_of("Why?\nSay it.");
    l.model = "m\"1";
    l.turn = "3";
    l.attachments = SPAN_LIT("[{\"type\":\"log\",\"bytes\":3}]");
    thread_line_begin(&l, &line);
    check_line(&line, HEAD "\"expert\"" AT ",\"turn\":\"3\",\"query\":\"Why?\\nSay it.\",\"attachments\":[{"
                           "\"type\":\"log\",\"bytes\":3}],\"model\":\"m\\\"1\",\"provider\":\"p\"}\n");

    l = begin_of("What was asked before");
    l.results = true;
    thread_line_begin(&l, &line);
    check_line(&line,
               HEAD "\"expert\"" AT ",\"trigger\":\"subagent_result\",\"query\":\"\",\"provider\":\"p\"}\n");
    l.trigger = "user";
    thread_line_begin(&l, &line);
    check_line(&line, HEAD "\"expert\"" AT
                           ",\"trigger\":\"user\",\"query\":\"What was asked before\",\"provider\":\"p\"}\n");

    l = begin_of("\n  First line\r\nsecond");
    l.parent = "call_A";
    l.results = true;
    l.query_cut = true;
    thread_line_begin(&l, &line);
    check_line(&line,
               HEAD "\"specialist\"" AT ",\"consult_id\":\"call_A\",\"headline\":\"First line\",\"query\":"
                    "\"\\n  First line\\r\\nsecond\",\"cut\":[\"query\"],\"provider\":\"p\"}\n");

    l = begin_of("ééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééé");
    l.parent = "hwc-parent";
    thread_line_begin(&l, &line);
    assert_non_null(strstr(buf_cstr(&line), "\"parent\":\"hwc-parent\",\"headline\":\""));
    const char *headline = strstr(buf_cstr(&line), "headline\":\"") + 11;
    assert_int_equal(strchr(headline, '"') - headline, 160); /* 80 characters of two bytes */
    buf_free(&line);

    l = begin_of("\xff\xc3 ok \xed\xa0\x80");
    thread_line_begin(&l, &line);
    assert_non_null(strstr(buf_cstr(&line), "\"query\":\"\xef\xbf\xbd\xef\xbf\xbd ok \xef\xbf\xbd"));
    struct span value;
    assert_true(json_document(buf_span(&line), &value));
    buf_free(&line);

    thread_line_first("t", "acme", &line);
    check_line(&line, "{\"ev\":\"thread\",\"thread\":\"t\",\"author\":\"acme\"}\n");
}

static void add_note(struct reply_event *e, enum note_kind kind, uint32_t number, const char *value)
{
    reply_event_note(e, kind, number, span_str(value));
}

static void test_end(void **state)
{
    (void)state;
    struct buf line;
    struct reply_event e = {.noting = true};
    struct recorder *r = recorder_create(false, NULL);
    buf_init(&line, 1 << 16);
    struct thread_end_line l = {
        .id = "hwc-1", .at_us = 5, .ending = {.cause = "client_closed", .http_status = 200}};
    thread_line_end(&l, &line);
    check_line(&line, "{\"ev\":\"end\",\"id\":\"hwc-1\",\"at_us\":5,\"end\":{\"cause\":\"client_closed\","
                      "\"http_status\":200}}\n");

    recorder_text(r, 0, SPAN_LIT("a\\ud83d"));
    recorder_text(r, 0, SPAN_LIT("\\ude00 \\ud83d \\u0000\x01\xff"));
    add_note(&e, NOTE_REASONING, 0, "\"why\"");
    add_note(&e, NOTE_CALL, NOTE_NEXT_CALL, "");
    add_note(&e, NOTE_CALL_NAME, NOTE_NEXT_CALL, "\"f\"");
    add_note(&e, NOTE_CALL_ARGUMENTS, NOTE_NEXT_CALL, "{\"a\":\"\\u00e9\"}");
    add_note(&e, NOTE_CITATION, 0, "\"https://h/\\\"\"");
    add_note(&e, NOTE_CITATION_TITLE, 0, "\"T\\ud800\"");
    add_note(&e, NOTE_CITATION, 0, "\"https://h/2\"");
    add_note(&e, NOTE_FINISH, 0, "\"stop\"");
    add_note(&e, NOTE_REPLY_ID, 0, "\"resp_1\"");
    recorder_take_notes(r, &e);
    r->text_cut = r->calls_cut = true;
    l.said = r;
    l.artifacts = SPAN_LIT("{\"filename\":\"a.csv\"}");
    l.ending = (struct thread_ending){.cause = "finish", .http_status = 200};
    thread_line_end(&l, &line);
    check_line(&line,
               "{\"ev\":\"end\",\"id\":\"hwc-1\",\"at_us\":5,\"text\":\"a\xf0\x9f\x98\x80 \xef\xbf\xbd "
               "\xef\xbf\xbd\\u0001\xef\xbf\xbd\",\"reasoning\":\"why\",\"tool_calls\":[{\"id\":\"hwc-1:1\","
               "\"name\":\"f\",\"arguments\":\"{\\\"a\\\":\\\"\\\\u00e9\\\"}\"}],\"citations\":[{\"url\":"
               "\"https://h/\\\"\",\"name\":\"T\xef\xbf\xbd\"},{\"url\":\"https://h/2\"}],\"cut\":[\"text\","
               "\"tool_calls\"],\"artifacts\":[{\"filename\":\"a.csv\"}],\"end\":{\"cause\":\"finish\","
               "\"http_status\":200,\"finish_reason\":\"stop\"}}\n");
    recorder_destroy(r);
    reply_event_free(&e);
}

/* The words that an end is told with: the provider's for its errors, ours for ours. */
static void test_words_of_ends(void **state)
{
    (void)state;
    struct buf line;
    struct reply_event e = {.noting = true, .error = true};
    struct recorder *r = recorder_create(false, NULL);
    buf_init(&line, 1 << 16);
    add_note(&e, NOTE_ERROR_TYPE, 0, "\"RESOURCE_EXHAUSTED\"");
    add_note(&e, NOTE_ERROR_CODE, 0, "429");
    add_note(&e, NOTE_ERROR_MESSAGE, 0, "\"Slow \\\"down\\\"\"");
    add_note(&e, NOTE_REPLY_ID, 0, "\"resp_1\"");
    recorder_take_notes(r, &e);
    assert_true(r->failed && !r->finished);
    static const struct {
        struct thread_ending ending;
        const char *end;
    } rows[] = {
        {{.cause = "stream_error", .http_status = 200},
         "\"end\":{\"cause\":\"stream_error\",\"http_status\":429,\"error_type\":\"RESOURCE_EXHAUSTED\","
         "\"error_code\":\"429\",\"error_message\":\"Slow \\\"down\\\"\"}}\n"},
        {{.cause = "http_error", .http_status = 503},
         "\"end\":{\"cause\":\"http_error\",\"http_status\":503,\"error_type\":\"RESOURCE_EXHAUSTED\","
         "\"error_code\":\"429\",\"error_message\":\"Slow \\\"down\\\"\"}}\n"},
        {{.cause = "upstream_timeout",
          .http_status = 200,
          .error_code = "UPSTREAM_TIMEOUT",
          .error_message = "Late."},
         "\"reply\":\"resp_1\",\"end\":{\"cause\":\"upstream_timeout\",\"http_status\":200,\"error_code\":"
         "\"UPSTREAM_TIMEOUT\",\"error_message\":\"Late.\"}}\n"},
        {{.cause = "canceled", .http_status = 200},
         "\"end\":{\"cause\":\"canceled\",\"http_status\":200}}\n"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct thread_end_line l = {.id = "i", .at_us = 5, .said = r, .ending = rows[i].ending};
        char expected[600];
        snprintf(expected, sizeof expected, "{\"ev\":\"end\",\"id\":\"i\",\"at_us\":5,%s", rows[i].end);
        thread_line_end(&l, &line);
        check_line(&line, expected);
    }
    recorder_destroy(r);
    reply_event_free(&e);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_begin),
        cmocka_unit_test(test_end),
        cmocka_unit_test(test_words_of_ends),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
