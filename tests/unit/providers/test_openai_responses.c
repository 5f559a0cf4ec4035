/* The dialect of OpenAI's Responses: what a request says, where the protocol goes, what an event says. */
#include "dialect_test.h"

static const struct dialect *responses(void)
{
    return dialect_find(API_OPENAI_RESPONSES);
}

/* ---- requests ---- */

static void test_request_facts(void **state)
{
    (void)state;
    static const struct facts_case table[] = {
        {"{\"input\":\"x\"}", "usable kept "},
        {" {\"stream\":true,\"n\":2,\"input\":[]}\n", "usable stream kept "},
        {"{\"input\":\"x\",\"store\":false}", "usable "},
        {"{\"input\":\"x\",\"store\":null}", "usable kept "},
        {"{\"previous_response_id\":\"r\"}", "usable kept "},
        {"{\"input\":null,\"instructions\":null}", "usable kept "},
        {"{\"input\":7}", ""},
        {"{\"input\":\"x\",\"instructions\":[]}", ""},
        {"{\"hw\":{}}", ""},
        {"{}", ""},
        {"[{\"input\":\"x\"}]", ""},
        {"{\"input\":\"x\"", ""},
        {"{\"input\":\"x\"} y", ""},
        {"{\"input\":\"x\",}", ""},
        {"", ""},
        {"{\"input\":\"x\",\"tool_choice\":\"auto\"}", "usable kept "},
        {"{\"input\":\"x\",\"tool_choice\":\"required\"}", "usable machine kept "},
        {"{\"input\":\"x\",\"tool_choice\":{\"type\":\"function\",\"name\":\"f\"}}", "usable machine kept "},
        {"{\"input\":\"x\",\"tool_choice\":{\"type\":\"allowed_tools\",\"mode\":\"auto\",\"tools\":[]}}",
         "usable kept "},
        {"{\"input\":\"x\",\"tool_choice\":{\"type\":\"allowed_tools\",\"mode\":\"required\"}}",
         "usable machine kept "},
        {"{\"input\":\"x\",\"text\":{\"verbosity\":\"low\"}}", "usable kept "},
        {"{\"input\":\"x\",\"text\":{\"format\":{\"type\":\"text\"}}}", "usable kept "},
        {"{\"input\":\"x\",\"text\":{\"format\":{\"type\":\"json_schema\"}}}", "usable machine kept "},
        {"{\"input\":\"x\",\"text\":{\"format\":{\"type\":\"json_object\"}}}", "usable machine kept "},
        {"{\"input\":\"see \\u003c<<hw_attachment\"}", "usable explained kept "},
        {"{\"input\":\"x\",\"instructions\":\"<<<HW_ATTACHMENT\"}", "usable explained kept "},
        {"{\"input\":\"x\",\"metadata\":{\"a\":\"<<<HW_ATTACHMENT\"}}", "usable kept "},
    };
    check_facts(responses(), table, sizeof table / sizeof table[0]);
}

static void test_request_keys(void **state)
{
    (void)state;
    check_own_keys(responses(), "\"input\":[]");
}

static void test_add_protocol(void **state)
{
    (void)state;
#define P "say \\\"<<<\\\"\\nplease\""
    static const struct protocol_case table[] = {
        {"{\"input\":\"u\"}", "{\"instructions\":\"" P ",\"input\":\"u\"}"},
        {"{ \"model\" : \"m\" , \"input\" : [ ] }",
         "{ \"model\" : \"m\" , \"instructions\":\"" P ",\"input\" : [ ] }"},
        {"{\"previous_response_id\":\"r\"}", "{\"instructions\":\"" P ",\"previous_response_id\":\"r\"}"},
        {"{\"instructions\" : null,\"input\":\"u\"}", "{\"instructions\" : \"" P ",\"input\":\"u\"}"},
        {"{\"input\":\"u\",\"instructions\":\"a \\u00e9\\\\\"}",
         "{\"input\":\"u\",\"instructions\":\"a \\u00e9\\\\\\n\\n" P "}"},
        {"{\"instructions\":\"\",\"input\":\"u\"}", "{\"instructions\":\"\\n\\n" P ",\"input\":\"u\"}"},
        {"{\"instructions\":\"a\",\"instructions\":\"b\",\"input\":1e3,\"input\":\"u\"}",
         "{\"instructions\":\"a\",\"instructions\":\"b\\n\\n" P ",\"input\":1e3,\"input\":\"u\"}"},
        {"{\"hw\":{},\"input\":\"u\"}", "{\"instructions\":\"" P ",\"input\":\"u\"}"},
        {"{\"input\":\"u\",\"hw\":{}}", "{\"instructions\":\"" P ",\"input\":\"u\"}"},
        {"{\"attachments\":[],\"model\":\"m\",\"hw\":{}}", "{\"instructions\":\"" P ",\"model\":\"m\"}"},
    };
#undef P
    check_protocol(responses(), "say \\\"<<<\\\"\\nplease", table, sizeof table / sizeof table[0]);
}

/* ---- events ---- */

static void test_events(void **state)
{
    (void)state;
    static const struct event_case table[] = {
        {"{\"type\":\"response.output_text.delta\",\"sequence_number\":7,\"item_id\":\"i\",\"output_index\":"
         "1,"
         "\"content_index\":2,\"delta\":\"a\\n\",\"logprobs\":[],\"obfuscation\":\"x\"}",
         "t258=a\\n n=7 bare "},
        {"{\"delta\":\"a\",\"type\":\"response.output_text.d\\u0065lta\"}", "t0=a bare "},
        {"{\"type\":\"response.output_text.delta\",\"delta\":\"a\",\"logprobs\":[{\"token\":\"a\"}]}",
         "t0=a p0={\"token\":\"a\"} bare "},
        {"{\"type\":\"response.output_text.delta\",\"delta\":\"a\",\"logprobs\":null,\"seen\":1}", "t0=a "},
        {"{\"type\":\"response.output_text.delta\",\"delta\":\"\"}", "bare "},
        {"{\"type\":\"response.output_text.delta\",\"delta\":7}", ""},
        {"{\"type\":\"response.output_text.delta\",\"delta\":\"a\",\"sequence_number\":-1,\"output_index\":-"
         "1}",
         "t0=a bare "},
        {"{\"type\":\"response.output_text.delta\",\"delta\":\"a\",\"sequence_number\":1.5}", "t0=a bare "},
        {"{\"type\":\"response.output_text.done\",\"output_index\":1,\"text\":\"a\",\"logprobs\":[{}]}",
         "r256=a q256={} e256 "},
        {"{\"type\":\"response.output_text.done\",\"text\":\"\"}", ""},
        {"{\"type\":\"response.content_part.added\",\"part\":{\"type\":\"output_text\",\"text\":\"\","
         "\"annotations\":[]}}",
         ""},
        {"{\"type\":\"response.content_part.added\",\"part\":{\"type\":\"output_text\",\"text\":\"a\"}}",
         "t0=a "},
        {"{\"type\":\"response.content_part.done\",\"part\":{\"type\":\"refusal\",\"refusal\":\"a\"}}", ""},
        {"{\"type\":\"response.content_part.done\",\"part\":{\"type\":\"reasoning_text\",\"text\":\"a\"}}",
         ""},
        {"{\"type\":\"response.content_part.done\",\"content_index\":1,\"part\":{\"annotations\":[{\"end_"
         "index\":"
         "3,\"start_index\":2},{\"index\":9},7],\"text\":\"a\"}}",
         "r1=a l1={\"end_index\":3,\"start_index\":2},{\"index\":9},7 i1 o1=2 o1=3 i1 o1=9 i1 e1 "},
        {"{\"type\":\"response.output_item.added\",\"item\":{\"type\":\"message\",\"content\":[]}}", ""},
        {"{\"type\":\"response.output_item.done\",\"output_index\":1,\"item\":{\"type\":\"message\","
         "\"content\":"
         "[{\"type\":\"refusal\",\"refusal\":\"x\"},{\"type\":\"output_text\",\"text\":\"a\"}]}}",
         "r257=a e257 "},
        {"{\"type\":\"response.output_item.done\",\"item\":{\"type\":\"function_call\",\"arguments\":\"x\"}}",
         ""},
        {"{\"type\":\"response.output_text.annotation.added\",\"annotation\":{\"start_index\":1,\"end_"
         "index\":2}}",
         "i0 o0=1 o0=2 "},
        {"{\"type\":\"response.created\",\"sequence_number\":0,\"response\":{\"instructions\":\"I\","
         "\"output\":[]}}",
         "h0=\"I\" n=0 begins "},
        {"{\"type\":\"response.queued\",\"response\":{\"output\":[{\"content\":[{\"text\":\"a\"}]}]}}",
         "x0=a "},
        {"{\"type\":\"response.completed\",\"response\":{\"output\":[{\"type\":\"reasoning\"},{\"type\":"
         "\"message\",\"content\":[{\"text\":\"a\"},{\"text\":\"\"},{\"text\":\"b\"}]},{\"type\":\"message\","
         "\"content\":[{\"text\":\"c\",\"annotations\":[]}]}],\"output_text\":\"abc\"}}",
         "r#0=a r#1=b r#2=c l#2= x0=abc end "},
        {"{\"type\":\"response.incomplete\",\"response\":{}}", "end "},
        {"{\"type\":\"response.failed\",\"response\":{\"error\":{}}}", "error end "},
        {"{\"type\":\"response.completed\",\"response\":null}", ""},
        {"{\"type\":\"error\",\"sequence_number\":2,\"error\":{\"code\":\"x\"}}", "n=2 error on "},
        {"{\"type\":\"error\",\"code\":\"x\"}", "error on "},
        {"{\"error\":{\"code\":\"x\"}}", "error "},
        {"{\"error\":null}", ""},
        {"{\"type\":\"keepalive\",\"sequence_number\":16}", "n=16 "},
        {"{\"type\":\"response.reasoning_text.delta\",\"delta\":\"<<<HW_ATTACHMENT\"}", ""},
        {"{\"type\":\"response.function_call_arguments.delta\",\"delta\":\"a\"}", ""},
        {"[DONE]", "done "},
        {"{\"type\":\"response.output_text.delta\",\"delta\":\"a\"", ""},
        {"{\"type\":\"response.output_text.delta\",\"delta\":\"a\"} x", ""},
        {"{\"type\":7,\"delta\":8,\"part\":9,\"item\":10,\"response\":11}", ""},
        {"[1]", ""},
        {"", ""},
    };
    check_events(responses(), false, table, sizeof table / sizeof table[0]);
}

static void test_whole(void **state)
{
    (void)state;
    static const struct event_case table[] = {
        {" {\"object\":\"response\",\"instructions\":\"I\",\"output\":[{\"type\":\"reasoning\",\"content\":[{"
         "\"type\":\"reasoning_text\",\"text\":\"x\"}]},{\"type\":\"message\",\"content\":[{\"type\":"
         "\"output_text\","
         "\"text\":\"a\",\"logprobs\":[{}]},{\"type\":\"output_text\",\"text\":\"b\"}]}]} ",
         "h0=\"I\" t256=a p256={} e256 t257=b e257 end "},
        {"{\"output\":[]}", "end "},
        {"{\"output\":\"x\"}", ""},
        {"{\"output\":[1,{\"type\":\"message\",\"content\":[2,{\"text\":3}]},{\"type\":\"message\"}]}",
         "end "},
        {"{\"error\":{\"message\":\"x\"}}", ""},
        {"{\"output\":[]", ""},
        {"[DONE]", ""},
    };
    check_events(responses(), true, table, sizeof table / sizeof table[0]);
}

static void test_own_events(void **state)
{
    (void)state;
    struct buf shape, out;
    buf_init(&shape, ROOM);
    buf_init(&out, ROOM);
    keep_shape_of(responses(),
                  "{\"type\":\"response.output_text.delta\",\"sequence_number\":3,\"item_id\":\"i\","
                  "\"output_index\":1,\"content_index\":0,\"delta\":\"x\"}",
                  0, &shape);
    responses()->text_event(buf_span(&shape), 256, 4, SPAN_LIT("a\\n"), SPAN_LIT("{}"), &out);
    assert_string_equal(buf_cstr(&out),
                        "event: response.output_text.delta\ndata: {\"type\":"
                        "\"response.output_text.delta\",\"sequence_number\":4,\"item_id\":\"i\","
                        "\"output_index\":1,\"content_index\":0,\"delta\":\"a\\n\",\"logprobs\":"
                        "[{}]}\n\n");
    buf_reset(&out);
    responses()->text_event(SPAN_LIT(""), 257, -1, SPAN_LIT("a"), (struct span){0}, &out);
    assert_non_null(strstr(buf_cstr(&out), "{\"type\":\"response.output_text.delta\",\"output_index\":1,"
                                           "\"content_index\":1,\"delta\":\"a\",\"logprobs\":[]}"));
    buf_reset(&out);
    responses()->report_event(buf_span(&shape), -1, SPAN_LIT("\"outbound_artifacts\":[]"), true, &out);
    assert_non_null(strstr(buf_cstr(&out), "\"response\":{\"object\":\"response\",\"status\":\"failed\","));
    keep_shape_of(responses(),
                  "{\"type\":\"response.created\",\"response\":{\"id\":\"r\",\"model\":\"m\",\"output\":[]}}",
                  0, &shape);
    buf_reset(&out);
    responses()->report_event(buf_span(&shape), 9, SPAN_LIT("\"outbound_artifacts\":[]"), false, &out);
    assert_string_equal(
        buf_cstr(&out),
        "event: response.completed\ndata: {\"type\":\"response.completed\",\"sequence_number\":9,"
        "\"response\":{\"id\":\"r\",\"model\":\"m\",\"status\":\"completed\",\"error\":null,"
        "\"incomplete_details\":null,\"output\":[],\"outbound_artifacts\":[]}}\n\n");
    buf_reset(&out);
    responses()->citation(SPAN_LIT("{\"id\":\"file-hw-abc\",\"filename\":\"a \\\"b\\\".txt\"}"), 5, &out);
    assert_string_equal(
        buf_cstr(&out),
        "{\"type\":\"container_file_citation\",\"container_id\":\"cntr-hw-abc\",\"file_id\":"
        "\"file-hw-abc\",\"filename\":\"a \\\"b\\\".txt\",\"start_index\":5,\"end_index\":5}");
    buf_free(&shape);
    buf_free(&out);
}

static void test_errors(void **state)
{
    (void)state;
    struct error e;
    struct buf out;
    struct span value, inner, code;
    buf_init(&out, ROOM);
    error_set(&e, ERROR_BAD_REQUEST, "No \"%s\".", "x");
    responses()->error_event(&e, true, &out);
    assert_true(
        span_starts(buf_span(&out), "event: error\ndata: {\"type\":\"error\",\"sequence_number\":0,"));
    value = span_from(buf_span(&out), strlen("event: error\ndata: "));
    assert_true(span_ends(value, "\n\n"));
    assert_true(json_document(value, &value));
    assert_true(json_member(value, "code", &code) && span_is(code, "\"BAD_REQUEST\""));
    assert_true(json_member(value, "error", &inner) && json_member(inner, "message", &code));
    assert_true(span_is(code, "\"No \\\"x\\\".\""));
    buf_free(&out);
}

static void test_stored(void **state)
{
    (void)state;
    static const struct {
        const char *method, *path;
        bool stored;
        enum api api;
    } table[] = {
        {"GET", "/v1/responses/resp_1", true, API_OPENAI_RESPONSES},
        {"POST", "/v1/responses/resp_1/cancel", true, API_OPENAI_RESPONSES},
        {"POST", "/v1/responses", false, API_OPENAI_RESPONSES},
        {"GET", "/v1/responses", false, API_NONE},
        {"GET", "/v1/responses/", false, API_NONE},
        {"GET", "/v1/responses/resp_1/input_items", false, API_NONE},
        {"DELETE", "/v1/responses/resp_1", false, API_NONE},
        {"POST", "/v1/responses/compact", false, API_NONE},
    };
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
        bool stored;
        enum api api = dialect_api(span_str(table[i].method), span_str(table[i].path), &stored);
        assert_int_equal(api, table[i].api);
        assert_int_equal(stored, table[i].stored);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_request_facts), cmocka_unit_test(test_request_keys),
        cmocka_unit_test(test_add_protocol),  cmocka_unit_test(test_events),
        cmocka_unit_test(test_whole),         cmocka_unit_test(test_own_events),
        cmocka_unit_test(test_errors),        cmocka_unit_test(test_stored),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
