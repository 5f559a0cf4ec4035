/* Content items: shapes (behaviours A.3), fields (A.1), the other form (A.2), tags. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "attachments/context.h"
#include "base/clock.h"
#include "base/json.h"

static const struct attachment_settings settings = {.workspace_root = "/nowhere",
                                                    .org = "o",
                                                    .file_max = 1 << 20,
                                                    .total_max = 1 << 22,
                                                    .characters_max = 250000};

static void made(const char *json, bool fields, struct buf *out, size_t *not_passed)
{
    struct attachments a = {0};
    struct error e;
    struct span value;
    if (!json_document(span_str(json), &value))
        fail_msg("no JSON: %s", json);
    if (attachments_declare(value, &a, &e) < 0 || attachments_resolve(&a, &settings, &e) < 0)
        fail_msg("%s: %s", json, e.message);
    *not_passed = context_decide(&a, fields);
    context_write(&a, fields, out);
    attachments_free(&a);
}

struct row {
    const char *json, *text;
    size_t not_passed;
};

static void check(const struct row *rows, size_t n, bool fields)
{
    for (size_t i = 0; i < n; i++) {
        struct buf out;
        size_t not_passed;
        buf_init(&out, 1 << 20);
        made(rows[i].json, fields, &out, &not_passed);
        assert_string_equal(buf_cstr(&out), rows[i].text);
        assert_int_equal(not_passed, rows[i].not_passed);
        buf_free(&out);
    }
}

static void a1_fields(void **state)
{
    static const struct row rows[] = {
        {"[{\"type\":\"log\",\"content\":\"L\"},{\"type\":\"input_dataclip\",\"content\":\"I\"},"
         "{\"type\":\"output_dataclip\",\"content\":\"O\"}]",
         "<input>\nI\n</input>\n<output>\nO\n</output>\n<run_logs>\nL\n</run_logs>", 0},
        {"[{\"type\":\"input_dataclip\",\"content\":\"STEP\"}]", "<input>\nSTEP\n</input>", 0},
        {"[{\"type\":\"input_dataclip\",\"content\":\"STEP\"},{\"type\":\"run_input\",\"content\":\"RUN\"}]",
         "<input>\n[input_dataclip]\nSTEP\n\n[run_input]\nRUN\n</input>", 0},
        {"[{\"type\":\"run_input\",\"content\":\"1\"},{\"type\":\"input_dataclip\",\"content\":\"2\"},"
         "{\"type\":\"run_input\",\"content\":\"3\"}]",
         "<input>\n[run_input]\n1\n\n[input_dataclip]\n2\n\n[run_input]\n3\n</input>", 0},
        {"[{\"type\":\"log\",\"content\":\"a\"},{\"type\":\"log\",\"content\":\"b\"}]",
         "<run_logs>\n[log]\na\n\n[log]\nb\n</run_logs>", 0},
        {"[{\"type\":\"log\",\"content\":\"  \\n\"}]", "", 0},
        {"[{\"type\":\"log\",\"content\":\" \"},{\"type\":\"log\",\"content\":\"b\"}]",
         "<run_logs>\nb\n</run_logs>", 0},
        {"[{\"type\":\"screenshot\",\"content\":\"x\"},{\"type\":\"other\",\"content\":\" \"}]", "", 1},
        {"[{\"type\":\"Log\",\"content\":\"x\"}]", "", 1},
    };
    (void)state;
    check(rows, sizeof rows / sizeof rows[0], true);
}

static void a2_attachments(void **state)
{
    static const struct row rows[] = {
        {"[{\"type\":\"log\",\"content\":\"L\"},{\"type\":\"x\\\"<&>\",\"content\":\"Y\"}]",
         "<attachments>\n<attachment type=\"log\">\nL\n</attachment>\n<attachment "
         "type=\"x&quot;&lt;&amp;&gt;\">\nY\n</attachment>\n</attachments>",
         0},
        {"[{\"type\":\"log\",\"content\":\"\"}]", "", 0},
        {"[]", "", 0},
    };
    (void)state;
    check(rows, sizeof rows / sizeof rows[0], false);
}

static void a3_shapes(void **state)
{
    static const struct row rows[] = {
        {"[{\"type\":\"log\",\"content\":[\"[R/T] started\",\"[JOB] failed\"]}]",
         "<run_logs>\n[R/T] started\n[JOB] failed\n</run_logs>", 0},
        {"[{\"type\":\"log\",\"content\":[1e3,null,true,{\"a\" : [1, 2]},\"\\\"\"]}]",
         "<run_logs>\n1e3\n\ntrue\n{\"a\":[1,2]}\n\"\n</run_logs>", 0},
        {"[{\"type\":\"log\",\"content\":{\"z\":1.50, \"a\":{\"n\":12345678901234567890},\"e\":{ },\"l\":[],"
         "\"m\":[1,\"\\u00e9\\n\\/\"],\"active\":true,\"ref\":null}}]",
         "<run_logs>\n{\n  \"z\": 1.50,\n  \"a\": {\n    \"n\": 12345678901234567890\n  },\n  \"e\": {},\n  "
         "\"l\": "
         "[],\n  \"m\": [\n    1,\n    \"\xc3\xa9\\n/\"\n  ],\n  \"active\": true,\n  \"ref\": "
         "null\n}\n</run_logs>",
         0},
        {"[{\"type\":\"log\",\"content\":\"\\ud83d\\ude00 \\ud800\"}]",
         "<run_logs>\n\xf0\x9f\x98\x80 \xef\xbf\xbd\n</run_logs>", 0},
        {"[{\"type\":\"log\",\"content\":{\"a,b\":\"}]:,\"}}]",
         "<run_logs>\n{\n  \"a,b\": \"}]:,\"\n}\n</run_logs>", 0},
    };
    (void)state;
    check(rows, sizeof rows / sizeof rows[0], true);
}

static void closing_tags(void **state)
{
    static const struct row fields[] = {
        {"[{\"type\":\"log\",\"content\":\"x </run_logs> y\"}]",
         "<run_logs-2>\nx </run_logs> y\n</run_logs-2>", 0},
        {"[{\"type\":\"log\",\"content\":\"</Run_Logs-2></run_logs-3>\"}]",
         "<run_logs-4>\n</Run_Logs-2></run_logs-3>\n</run_logs-4>", 0},
        {"[{\"type\":\"log\",\"content\":\"</run_logs-3></run_logs-99999999999999999999999>\"}]",
         "<run_logs-2>\n</run_logs-3></run_logs-99999999999999999999999>\n</run_logs-2>", 0},
        {"[{\"type\":\"log\",\"content\":\"</input>\"}]", "<run_logs>\n</input>\n</run_logs>", 0},
    };
    static const struct row blocks[] = {
        {"[{\"type\":\"log\",\"content\":\"</attachment>\"},{\"type\":\"log\",\"content\":\"b\"}]",
         "<attachments>\n<attachment-2 type=\"log\">\n</attachment>\n</attachment-2>\n<attachment "
         "type=\"log\">\nb\n</attachment>\n</attachments>",
         0},
        {"[{\"type\":\"log\",\"content\":\"</attachments>\"}]",
         "<attachments-2>\n<attachment-2 type=\"log\">\n</attachments>\n</attachment-2>\n</attachments-2>",
         0},
    };
    (void)state;
    check(fields, sizeof fields / sizeof fields[0], true);
    check(blocks, sizeof blocks / sizeof blocks[0], false);
}

/* Indenting makes more of deep JSON than anybody would keep; it is counted all the same, and quickly. */
static void deep_objects(void **state)
{
    enum { DEPTH = 400, ITEMS = 200000 };
    struct buf json, out;
    (void)state;
    buf_init(&json, 1 << 22);
    buf_init(&out, 1000);
    buf_adds(&json, "{\"a\":");
    for (int i = 0; i < DEPTH; i++)
        buf_addc(&json, '[');
    for (int i = 0; i < ITEMS; i++)
        buf_adds(&json, i ? ",1" : "1");
    for (int i = 0; i < DEPTH; i++)
        buf_addc(&json, ']');
    buf_addc(&json, '}');
    int64_t began = clock_mono_ms();
    uint64_t n = content_render(buf_span(&json), &out);
    assert_true(clock_mono_ms() - began < 5000);
    assert_true(n > (uint64_t)ITEMS * 2 * DEPTH);
    assert_true(buf_full(&out) && out.n <= 1000);
    buf_free(&json);
    buf_free(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a1_fields),    cmocka_unit_test(a2_attachments), cmocka_unit_test(a3_shapes),
        cmocka_unit_test(closing_tags), cmocka_unit_test(deep_objects),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
