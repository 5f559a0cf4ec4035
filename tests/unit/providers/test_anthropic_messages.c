/* The dialect of Anthropic's Messages: what a request says, where the protocol goes, what an event says. */
#include "dialect_test.h"

static const struct dialect *messages(void)
{
    return dialect_find(API_ANTHROPIC_MESSAGES);
}

/* ---- requests ---- */

static void test_request_facts(void **state)
{
    (void)state;
    static const struct facts_case table[] = {
        {"{\"messages\":[]}", "usable "},
        {" {\"stream\":true,\"n\":2,\"messages\":[]}\n", "usable stream "},
        {"{\"stream\":1,\"messages\":[]}", "usable "},
        {"{\"messages\":[],\"str\\u0065am\":true}", "usable stream "},
        {"{\"messages\":[1,2],\"system\":\"a\"}", "usable "},
        {"{\"messages\":[],\"system\":null}", "usable "},
        {"{\"messages\":[],\"system\":[]}", "usable "},
        {"{\"messages\":[],\"system\":{\"type\":\"text\"}}", ""},
        {"{\"messages\":[],\"system\":7}", ""},
        {"{\"messages\":{}}", ""},
        {"{\"messages\":[],\"messages\":null}", ""},
        {"{\"system\":\"x\"}", ""},
        {"[{\"messages\":[]}]", ""},
        {"{\"messages\":[]", ""},
        {"{\"messages\":[]} x", ""},
        {"{\"messages\":[],}", ""},
        {"", ""},
        {"{\"messages\":[],\"tool_choice\":{\"type\":\"auto\"}}", "usable "},
        {"{\"messages\":[],\"tool_choice\":{\"type\":\"none\"}}", "usable "},
        {"{\"messages\":[],\"tool_choice\":{\"type\":\"any\"}}", "usable machine "},
        {"{\"messages\":[],\"tool_choice\":{\"name\":\"f\",\"type\":\"t\\u006fol\"}}", "usable machine "},
        {"{\"messages\":[],\"tool_choice\":{\"name\":\"f\"}}", "usable "},
        {"{\"messages\":[],\"output_config\":{\"effort\":\"low\"}}", "usable "},
        {"{\"messages\":[],\"output_config\":{\"format\":null}}", "usable "},
        {"{\"messages\":[],\"output_config\":{\"format\":{\"type\":\"text\"}}}", "usable "},
        {"{\"messages\":[],\"output_config\":{\"format\":{\"type\":\"json_schema\",\"schema\":{}}}}",
         "usable machine "},
        {"{\"messages\":[],\"output_format\":{\"type\":\"json_schema\"}}", "usable machine "},
        {"{\"messages\":[{\"role\":\"user\",\"content\":\"write <<<HW_ATTACHMENT blocks\"}]}",
         "usable explained "},
        {"{\"system\":\"\\u003c<<hw_attachment\",\"messages\":[]}", "usable explained "},
        {"{\"system\":[{\"type\":\"text\",\"text\":\"<<<HW_ATTACHMENT\"}],\"messages\":[]}",
         "usable explained "},
        {"{\"messages\":[],\"metadata\":{\"user_id\":\"<<<HW_ATTACHMENT\"}}", "usable "},
    };
    check_facts(messages(), table, sizeof table / sizeof table[0]);
}

static void test_request_keys(void **state)
{
    (void)state;
    check_own_keys(messages(), "\"messages\":[]");
}

static void test_add_protocol(void **state)
{
    (void)state;
#define P "{\"type\":\"text\",\"text\":\"say \\\"<<<\\\"\\nplease\"}"
    static const struct protocol_case table[] = {
        {"{\"messages\":[]}", "{\"system\":[" P "],\"messages\":[]}"},
        {"{ \"max_tokens\" : 1e3 , \"messages\" : [ ] }",
         "{ \"max_tokens\" : 1e3 , \"system\":[" P "],\"messages\" : [ ] }"},
        {"{\"messages\":[1],\"messages\":[]}", "{\"messages\":[1],\"system\":[" P "],\"messages\":[]}"},
        {"{\"system\":null,\"messages\":[]}", "{\"system\":[" P "],\"messages\":[]}"},
        {"{\"messages\":[], \"system\" : \"a \\u00e9\" }",
         "{\"messages\":[], \"system\" : [{\"type\":\"text\",\"text\":\"a \\u00e9\"}," P "] }"},
        {"{\"system\":\"\",\"messages\":[]}", "{\"system\":[" P "],\"messages\":[]}"},
        {"{\"system\":\" \\n\",\"messages\":[]}",
         "{\"system\":[{\"type\":\"text\",\"text\":\" \\nsay \\\"<<<\\\"\\nplease\"}],\"messages\":[]}"},
        {"{\"system\":\" \\\\\",\"messages\":[]}",
         "{\"system\":[{\"type\":\"text\",\"text\":\" \\\\\"}," P "],\"messages\":[]}"},
        {"{\"system\":[ ],\"messages\":[]}", "{\"system\":[" P " ],\"messages\":[]}"},
        {"{\"system\":[{\"type\":\"text\",\"text\":\"a\",\"cache_control\":{\"type\":\"ephemeral\"}} , "
         "{\"text\":\"b\"} ],\"messages\":[]}",
         "{\"system\":[{\"type\":\"text\",\"text\":\"a\",\"cache_control\":{\"type\":\"ephemeral\"}} , "
         "{\"text\":\"b\"}," P " ],\"messages\":[]}"},
        {"{\"system\":\"a\",\"system\":[7],\"messages\":[]}",
         "{\"system\":\"a\",\"system\":[7," P "],\"messages\":[]}"},
        {"{\"hw\":{},\"messages\":[]}", "{\"system\":[" P "],\"messages\":[]}"},
        {"{\"messages\":[],\"hw\":{}}", "{\"system\":[" P "],\"messages\":[]}"},
        {"{\"attachments\":[],\"messages\":[],\"hw\":{},\"system\":\"a\"}",
         "{\"messages\":[],\"system\":[{\"type\":\"text\",\"text\":\"a\"}," P "]}"},
    };
#undef P
    check_protocol(messages(), "say \\\"<<<\\\"\\nplease", table, sizeof table / sizeof table[0]);
}

/* ---- events ---- */

static void test_events(void **state)
{
    (void)state;
    static const struct event_case table[] = {
        {"{\"type\":\"content_block_delta\",\"index\":1,\"delta\":{\"type\":\"text_delta\",\"text\":\"a\\n\"}"
         "       }",
         "t1=a\\n bare "},
        {"{\"delta\":{\"text\":\"a\",\"type\":\"text_delta\"},\"index\":2,\"type\":\"content_block_delta\"}",
         "t2=a bare "},
        {"{ \"type\" : \"content_block_delta\" , \"index\" : 0 , \"delta\" : { \"type\" : \"text_delta\" , "
         "\"text\" : \"\" } }",
         "t0= bare "},
        {"{\"type\":\"content_block_delta\",\"delta\":{\"text\":\"a\"}}", "t0=a bare "},
        {"{\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"text_delta\",\"text\":\"a\"},"
         "\"usage\":{}}",
         "t0=a "},
        {"{\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"text_delta\",\"text\":\"a\","
         "\"citations\":[]}}",
         "t0=a "},
        {"{\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"t\\u0065xt_delta\","
         "\"t\\u0065xt\":\"a\"}}",
         "t0=a bare "},
        {"{\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"thinking_delta\","
         "\"thinking\":\"<<<HW_ATTACHMENT\"}}",
         ""},
        {"{\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"signature_delta\","
         "\"signature\":\"x\"}}",
         ""},
        {"{\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"input_json_delta\","
         "\"partial_json\":\"\"}}",
         ""},
        {"{\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"citations_delta\","
         "\"citation\":{\"cited_text\":\"x\",\"text\":\"y\"}}}",
         ""},
        {"{\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"other_delta\",\"text\":\"x\"}}",
         ""},
        {"{\"type\":\"content_block_delta\",\"index\":0,\"delta\":null}", ""},
        {"{\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"text_delta\",\"text\":null}}",
         ""},
        {"{\"type\":\"content_block_start\",\"index\":0,\"content_block\":{\"type\":\"text\",\"text\":\"\"}}",
         "e0 "},
        {"{\"type\":\"content_block_start\",\"index\":3,\"content_block\":{\"citations\":[],\"text\":\"a\","
         "\"type\":\"text\"}}",
         "t3=a "},
        {"{\"type\":\"content_block_start\",\"index\":0,\"content_block\":{\"type\":\"web_search_tool_"
         "result\","
         "\"content\":[{\"type\":\"text\",\"text\":\"<<<HW_ATTACHMENT\"}]}}",
         "e0 "},
        {"{\"type\":\"content_block_stop\",\"index\":4  }", "e4 "},
        {"{\"type\":\"message_start\",\"message\":{\"id\":\"msg_1\",\"content\":[],\"stop_reason\":null,"
         "\"usage\":{}}}",
         "begins "},
        {"{\"type\":\"message_start\",\"message\":{\"content\":[{\"type\":\"thinking\",\"thinking\":\"x\"},"
         "{\"type\":\"text\",\"text\":\"a\"}]}}",
         "t1=a begins "},
        {"{\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"end_turn\",\"stop_sequence\":null},"
         "\"usage\":{\"output_tokens\":2}     }",
         "end "},
        {"{\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"refusal\",\"stop_details\":{\"type\":"
         "\"refusal\"}}}",
         "end "},
        {"{\"type\":\"message_delta\",\"delta\":{\"stop_reason\":null},\"usage\":{\"output_tokens\":2}}", ""},
        {"{\"type\":\"message_stop\"      }", "done "},
        {"{\"type\": \"ping\"}", ""},
        {"{\"type\":\"error\",\"error\":{\"type\":\"overloaded_error\",\"message\":\"Overloaded\"}}",
         "error "},
        {"{\"error\":{\"message\":\"x\"}}", "error "},
        {"{\"error\":null}", ""},
        {"{\"type\":\"new_kind\",\"text\":\"a\",\"delta\":{\"text\":\"b\"}}", ""},
        {"{\"type\":\"message\",\"content\":[{\"type\":\"text\",\"text\":\"a\"}]}", ""},
        {"[DONE]", "done "},
        {"{\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"text_delta\",\"text\":\"a\"}",
         ""},
        {"{\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"text_delta\",\"text\":\"a\"},}",
         ""},
        {"{\"type\":\"message_start\",\"message\":{\"content\":[{\"type\":\"text\",\"text\":\"a\"}]}} x", ""},
        {"{\"type\":\"content_block_delta\",\"index\":\"x\",\"delta\":[1]}", ""},
        {"{\"type\":7,\"delta\":8,\"content_block\":9,\"message\":10}", ""},
        {"[1]", ""},
        {"", ""},
    };
    check_events(messages(), false, table, sizeof table / sizeof table[0]);
}

static void test_whole(void **state)
{
    (void)state;
    static const struct event_case table[] = {
        {" {\"id\":\"m\",\"type\":\"message\",\"content\":[{\"type\":\"thinking\",\"thinking\":\"x\","
         "\"signature\":"
         "\"y\"},{\"type\":\"text\",\"text\":\"a\",\"citations\":[{\"cited_text\":\"q\"}]},{\"type\":"
         "\"tool_use\",\"input\":{\"text\":\"z\"}},{\"text\":\"b\",\"type\":\"text\"}],\"stop_reason\":"
         "\"end_turn\"}\n",
         "t1=a e1 t3=b e3 end "},
        {"{\"type\":\"message\",\"content\":[]}", "end "},
        {"{\"type\":\"message\",\"content\":\"text\"}", ""},
        {"{\"type\":\"message\",\"content\":[1,{\"type\":\"text\"},{\"type\":\"text\",\"text\":7},null]}",
         "end "},
        {"{\"type\":\"error\",\"error\":{\"type\":\"api_error\",\"message\":\"x\"}}", "error "},
        {"{\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"text_delta\",\"text\":\"a\"}}",
         ""},
        {"{\"type\":\"message\",\"content\":[{\"type\":\"text\",\"text\":\"a\"}]", ""},
        {"[DONE]", ""},
    };
    check_events(messages(), true, table, sizeof table / sizeof table[0]);
}

static void test_own_events(void **state)
{
    (void)state;
    struct buf shape, out;
    buf_init(&shape, ROOM);
    buf_init(&out, ROOM);
    messages()->text_event(buf_span(&shape), 2, -1, SPAN_LIT("a\\n"), (struct span){0}, &out);
    assert_string_equal(buf_cstr(&out),
                        "event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":2,"
                        "\"delta\":{\"type\":\"text_delta\",\"text\":\"a\\n\"}}\n\n");
    buf_reset(&out);
    messages()->report_event(SPAN_LIT(""), -1, SPAN_LIT("\"outbound_artifacts\":[]"), false, &out);
    assert_string_equal(buf_cstr(&out),
                        "event: message_delta\ndata: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":"
                        "\"end_turn\",\"stop_sequence\":null},\"usage\":{\"output_tokens\":0},"
                        "\"outbound_artifacts\":[]}\n\n");
    buf_reset(&out);
    keep_shape_of(messages(),
                  "{\"type\":\"message_start\",\"message\":{\"id\":\"m\",\"usage\":{\"input_tokens\":9,"
                  "\"output_tokens\":3}}}",
                  0, &shape);
    messages()->report_event(buf_span(&shape), -1, SPAN_LIT("\"outbound_artifacts\":[]"), true, &out);
    assert_non_null(strstr(buf_cstr(&out), "{\"stop_reason\":null,\"stop_sequence\":null},\"usage\":"
                                           "{\"output_tokens\":3},"));
    buf_free(&shape);
    buf_free(&out);
    assert_string_equal(messages()->keep_alive, "event: ping\ndata: {\"type\": \"ping\"}\n\n");
    assert_true(messages()->parts);
}

static void test_errors(void **state)
{
    (void)state;
    static const struct {
        enum error_code code;
        const char *type;
    } table[] = {
        {ERROR_BAD_REQUEST, "invalid_request_error"},
        {ERROR_ATTACHMENT_UNSUPPORTED, "invalid_request_error"},
        {ERROR_AUTH_ERROR, "authentication_error"},
        {ERROR_FORBIDDEN, "permission_error"},
        {ERROR_NOT_FOUND, "not_found_error"},
        {ERROR_REQUEST_TIMEOUT, "timeout_error"},
        {ERROR_REQUEST_TOO_LARGE, "request_too_large"},
        {ERROR_RATE_LIMIT, "rate_limit_error"},
        {ERROR_UPSTREAM_UNREACHABLE, "api_error"},
        {ERROR_UPSTREAM_TIMEOUT, "timeout_error"},
        {ERROR_OVERLOADED, "overloaded_error"},
    };
    struct error e;
    struct buf out;
    char want[300];
    buf_init(&out, ROOM);
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
        buf_reset(&out);
        error_set(&e, table[i].code, "say \"%s\"", "what");
        messages()->error_body(&e, &out);
        snprintf(
            want, sizeof want,
            "{\"type\":\"error\",\"error\":{\"type\":\"%s\",\"message\":\"say \\\"what\\\"\",\"code\":\"%s\","
            "\"details\":{\"error_code\":\"%s\"}},\"request_id\":null}",
            table[i].type, error_name(table[i].code), error_name(table[i].code));
        assert_string_equal(buf_cstr(&out), want);
    }
    static const struct {
        const char *details, *want;
    } details[] = {
        {"{\"ms\":1}", "\"details\":{\"error_code\":\"UPSTREAM_TIMEOUT\",\"ms\":1}}"},
        {"{}", "\"details\":{\"error_code\":\"UPSTREAM_TIMEOUT\"}}"},
        {"{ }", "\"details\":{\"error_code\":\"UPSTREAM_TIMEOUT\" }}"},
    };
    for (size_t i = 0; i < sizeof details / sizeof details[0]; i++)
        for (int named = 0; named < 2; named++) {
            struct span json, value;
            error_set(&e, ERROR_UPSTREAM_TIMEOUT, "late");
            snprintf(e.details, sizeof e.details, "%s", details[i].details);
            buf_reset(&out);
            messages()->error_event(&e, named, &out);
            assert_true(span_starts(buf_span(&out), "event: error\ndata: {\"type\":\"error\","));
            assert_non_null(strstr(buf_cstr(&out), details[i].want));
            json = span_from(buf_span(&out), strlen("event: error\ndata: "));
            assert_true(json_document(json, &value) && span_ends(buf_span(&out), "}\n\n"));
        }
    buf_free(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_request_facts), cmocka_unit_test(test_request_keys),
        cmocka_unit_test(test_add_protocol),  cmocka_unit_test(test_events),
        cmocka_unit_test(test_whole),         cmocka_unit_test(test_own_events),
        cmocka_unit_test(test_errors),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
