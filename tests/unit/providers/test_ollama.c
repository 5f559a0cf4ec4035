/* The dialect of Ollama: what a request says, where the protocol goes, what a line says, errors. */
#include "dialect_test.h"

static const struct dialect *ollama(void)
{
    return dialect_find(API_OLLAMA);
}

#define USER   "{\"role\":\"user\",\"content\":\"u\"}"
#define SYSTEM "{\"role\":\"system\",\"content\":\"s\"}"
#define ADDED  "{\"role\":\"system\",\"content\":\"P\"}"

static void test_request_facts(void **state)
{
    (void)state;
    static const struct facts_case table[] = {
        {"{\"model\":\"m\",\"messages\":[" USER "]}", "usable stream "},
        {"{\"messages\":[" USER "],\"stream\":false}", "usable "},
        {"{\"messages\":[" USER "],\"stream\":null}", "usable stream "},
        {"{\"messages\":[" USER "],\"format\":\"json\"}", "usable stream machine "},
        {"{\"messages\":[" USER "],\"format\":{\"type\":\"object\"}}", "usable stream machine "},
        {"{\"messages\":[" USER "],\"format\":\"\"}", "usable stream "},
        {"{\"messages\":[" USER "],\"format\":null}", "usable stream "},
        {"{\"messages\":[]}", "usable stream explained "},
        {"{\"messages\":{}}", ""},
        {"{\"messages\":[{\"content\":\"<<<HW_ATTACHMENT\"}]}", "usable stream explained "},
        {"{\"prompt\":\"p\"}", "usable stream "},
        {"{\"prompt\":\"\"}", "usable stream explained "},
        {"{\"model\":\"m\",\"keep_alive\":0}", "usable stream explained "},
        {"{\"prompt\":\"p\",\"raw\":true}", "usable stream explained "},
        {"{\"prompt\":\"p\",\"suffix\":\"s\"}", "usable stream machine "},
        {"{\"prompt\":\"p\",\"suffix\":\"\"}", "usable stream "},
        {"{\"prompt\":\"p\",\"system\":\"x \\u003c<<HW_ATTACHMENT\"}", "usable stream explained "},
        {"{\"prompt\":\"<<<HW_ATTACHMENT\"}", "usable stream explained "},
        {"{\"prompt\":\"p\",\"system\":[\"x\"]}", ""},
        {"[]", ""},
        {"{\"prompt\":\"p\"", ""},
        {"", ""},
    };
    check_facts(ollama(), table, sizeof table / sizeof table[0]);
}

static void test_own_keys(void **state)
{
    (void)state;
    check_own_keys(ollama(), "\"messages\":[]");
}

static void test_protocol(void **state)
{
    (void)state;
    static const struct protocol_case table[] = {
        {"{\"messages\":[" USER "]}", "{\"messages\":[" ADDED "," USER "]}"},
        {"{\"messages\":[" SYSTEM " , " USER "]}", "{\"messages\":[" SYSTEM "," ADDED " , " USER "]}"},
        {"{\"messages\":[" SYSTEM "]}", "{\"messages\":[" SYSTEM "," ADDED "]}"},
        {"{\"messages\":[" USER "," SYSTEM "]}", "{\"messages\":[" ADDED "," USER "," SYSTEM "]}"},
        {"{\"prompt\":\"p\" }", "{\"prompt\":\"p\" ,\"system\":\"P\"}"},
        {"{\"system\":\"s\",\"prompt\":\"p\"}", "{\"system\":\"s\\n\\nP\",\"prompt\":\"p\"}"},
        {"{\"system\":\"\",\"prompt\":\"p\"}", "{\"system\":\"P\",\"prompt\":\"p\"}"},
        {"{\"system\": null,\"prompt\":\"p\"}", "{\"system\": \"P\",\"prompt\":\"p\"}"},
    };
    check_protocol(ollama(), "P", table, sizeof table / sizeof table[0]);
}

static void test_events(void **state)
{
    (void)state;
    static const struct event_case table[] = {
        {"{\"model\":\"m\",\"created_at\":\"t\",\"message\":{\"role\":\"assistant\",\"content\":\"a\"},"
         "\"done\":"
         "false}",
         "t0=a bare "},
        {"{\"response\":\"a\",\"done\":false}", "t0=a bare "},
        {"{\"response\":\"a\",\"thinking\":\"x\",\"done\":false}", "t0=a "},
        {"{\"message\":{\"content\":\"\",\"thinking\":\"x\"}}", "t0= "},
        {"{\"message\":{\"content\":\"a\",\"tool_calls\":[]}}", "t0=a "},
        {"{\"message\":{\"content\":null}}", ""},
        {"{\"message\":\"x\"}", ""},
        {"{\"response\":\"a\",\"logprobs\":[{}]}", "t0=a p0={} bare "},
        {"{\"response\":\"\",\"done\":true,\"done_reason\":\"stop\",\"context\":[1]}", "t0= e0 end "},
        {"{\"done\":true}", "e0 end "},
        {"{\"error\":\"no\"}", "error "},
        {"{\"error\":null}", ""},
        {"{\"_debug_info\":{\"rendered_template\":\"x\"}}", "h0=\"x\" "},
        {"{\"response\":\"a\",\"done\":true", ""},
        {"{\"response\":\"a\"} x", ""},
        {"", ""},
    };
    static const struct event_case whole[] = {
        {"{\"response\":\"a\",\"done\":false}", "t0=a e0 end "},
    };
    check_events(ollama(), false, table, sizeof table / sizeof table[0]);
    check_events(ollama(), true, whole, 1);
}

static void test_own_events(void **state)
{
    (void)state;
    struct buf shape, out;
    buf_init(&shape, ROOM);
    buf_init(&out, ROOM);
    keep_shape_of(ollama(), "{\"model\":\"m\",\"created_at\":\"t\",\"response\":\"x\",\"done\":false}", 0,
                  &shape);
    ollama()->text_event(buf_span(&shape), 0, -1, SPAN_LIT("a"), SPAN_LIT("{}"), &out);
    assert_string_equal(buf_cstr(&out),
                        "{\"model\":\"m\",\"created_at\":\"t\",\"response\":\"a\",\"logprobs\":[{}],"
                        "\"done\":false}\n");
    buf_reset(&out);
    ollama()->report_event(buf_span(&shape), -1, SPAN_LIT("\"outbound_artifacts\":[]"), false, &out);
    assert_string_equal(buf_cstr(&out),
                        "{\"model\":\"m\",\"created_at\":\"t\",\"response\":\"\",\"done\":true,"
                        "\"done_reason\":\"stop\",\"outbound_artifacts\":[]}\n");
    buf_reset(&out);
    ollama()->report_event(SPAN_LIT(""), -1, SPAN_LIT("\"outbound_artifacts\":[]"), true, &out);
    assert_string_equal(buf_cstr(&out),
                        "{\"message\":{\"role\":\"assistant\",\"content\":\"\"},\"done\":false,"
                        "\"outbound_artifacts\":[]}\n");
    buf_free(&shape);
    buf_free(&out);
}

static void test_errors(void **state)
{
    (void)state;
    struct error e;
    struct buf out;
    buf_init(&out, ROOM);
    error_set(&e, ERROR_BAD_REQUEST, "No \"x\".");
    snprintf(e.details, sizeof e.details, "{\"n\":1}");
    ollama()->error_body(&e, &out);
    assert_string_equal(buf_cstr(&out),
                        "{\"error\":\"No \\\"x\\\".\",\"code\":\"BAD_REQUEST\",\"details\":{\"n\":1}}");
    e.details[0] = '\0';
    buf_reset(&out);
    ollama()->error_event(&e, false, &out);
    assert_string_equal(buf_cstr(&out), "{\"error\":\"No \\\"x\\\".\",\"code\":\"BAD_REQUEST\"}\n");
    buf_reset(&out);
    ollama()->error_event(&e, true, &out);
    assert_string_equal(buf_cstr(&out),
                        "event: error\ndata: {\"error\":\"No \\\"x\\\".\",\"code\":\"BAD_REQUEST\"}\n\n");
    buf_free(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_request_facts), cmocka_unit_test(test_protocol), cmocka_unit_test(test_events),
        cmocka_unit_test(test_own_events),    cmocka_unit_test(test_own_keys), cmocka_unit_test(test_errors),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
