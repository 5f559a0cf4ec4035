/* The dialect of Chat Completions: what a request says, where the protocol goes, what an event says. */
#include "dialect_test.h"
#include "providers/protocol.h"

static const struct dialect *chat(void)
{
    return dialect_find(API_OPENAI_CHAT);
}

/* ---- requests ---- */

static void test_request_facts(void **state)
{
    (void)state;
    static const struct facts_case table[] = {
        {"{\"messages\":[]}", "usable "},
        {" {\"stream\":true,\"n\":2,\"messages\":[]}\n", "usable stream n=2 "},
        {"{\"messages\":[],\"n\":0}", "usable "},
        {"{\"messages\":[],\"n\":1e9}", "usable "},
        {"{\"stream\":\"true\",\"messages\":[]}", "usable "},
        {"{\"messages\":[],\"str\\u0065am\":true}", "usable stream "},
        {"{\"messages\":[1,2]}", "usable "},
        {"{\"messages\":{}}", ""},
        {"{\"messages\":[],\"messages\":null}", ""},
        {"{\"prompt\":\"x\"}", ""},
        {"[{\"messages\":[]}]", ""},
        {"{\"messages\":[]", ""},
        {"{\"messages\":[]} x", ""},
        {"{\"messages\":[],}", ""},
        {"{\"messages\" []}", ""},
        {"", ""},
        {"null", ""},
        {"{\"messages\":[],\"response_format\":{\"type\":\"text\"}}", "usable "},
        {"{\"messages\":[],\"response_format\":null}", "usable "},
        {"{\"messages\":[],\"response_format\":{\"type\":\"json_object\"}}", "usable machine "},
        {"{\"messages\":[],\"tool_choice\":\"auto\"}", "usable "},
        {"{\"messages\":[],\"tool_choice\":\"none\"}", "usable "},
        {"{\"messages\":[],\"tool_choice\":\"required\"}", "usable machine "},
        {"{\"messages\":[],\"tool_choice\":{\"type\":\"function\",\"function\":{\"name\":\"f\"}}}",
         "usable machine "},
        {"{\"messages\":[],\"tool_choice\":{\"type\":\"allowed_tools\",\"allowed_tools\":{\"mode\":\"auto\"}}"
         "}",
         "usable "},
        {"{\"messages\":[],\"tool_choice\":{\"type\":\"allowed_tools\",\"allowed_tools\":{\"mode\":"
         "\"required\"}}}",
         "usable machine "},
        {"{\"messages\":[],\"guided_json\":{}}", "usable machine "},
        {"{\"messages\":[{\"role\":\"user\",\"content\":\"write <<<HW_ATTACHMENT blocks\"}]}",
         "usable explained "},
        {"{\"messages\":[{\"content\":[{\"text\":\"\\u003c\\u003C<hw_\\u0061ttachment\"}]}]}",
         "usable explained "},
        {"{\"messages\":[{\"content\":\"<<<<HW_ATTACHMENT\"}]}", "usable explained "},
        {"{\"messages\":[{\"content\":\"\\\\u003c<<HW_ATTACHMENT\"}]}", "usable "},
        {"{\"messages\":[{\"content\":\"<<\\\"<HW_ATTACHMENT <<HW_ATTACHMENT\"}]}", "usable "},
        {"{\"messages\":[],\"metadata\":\"<<<HW_ATTACHMENT\"}", "usable "},
    };
    check_facts(chat(), table, sizeof table / sizeof table[0]);
}

static void test_request_keys(void **state)
{
    (void)state;
    check_own_keys(chat(), "\"messages\":[]");
}

static void test_add_protocol(void **state)
{
    (void)state;
#define P "\"content\":\"say \\\"<<<\\\"\\nplease\"}"
    static const struct protocol_case table[] = {
        {"{\"messages\":[]}", "{\"messages\":[{\"role\":\"system\"," P "]}"},
        {"{ \"messages\" : [ ] }", "{ \"messages\" : [{\"role\":\"system\"," P " ] }"},
        {"{\"messages\":[ {\"role\":\"user\"}]}",
         "{\"messages\":[{\"role\":\"system\"," P ", {\"role\":\"user\"}]}"},
        {"{\"messages\":[{\"role\":\"system\",\"content\":\"a\"}]}",
         "{\"messages\":[{\"role\":\"system\",\"content\":\"a\"},{\"role\":\"system\"," P "]}"},
        {"{\"messages\":[{\"role\":\"system\"},\n {\"content\":[],\"role\":\"devel\\u006fper\"} , "
         "{\"role\":\"user\"},{\"role\":\"system\"}]}",
         "{\"messages\":[{\"role\":\"system\"},\n "
         "{\"content\":[],\"role\":\"devel\\u006fper\"},{\"role\":\"developer\"," P
         " , {\"role\":\"user\"},{\"role\":\"system\"}]}"},
        {"{\"messages\":[1],\"messages\":[{\"role\":\"developer\"}],\"x\":1.0}",
         "{\"messages\":[1],\"messages\":[{\"role\":\"developer\"},{\"role\":\"developer\"," P
         "],\"x\":1.0}"},
        {"{\"messages\":[\"odd\"]}", "{\"messages\":[{\"role\":\"system\"," P ",\"odd\"]}"},
    };
    check_protocol(chat(), "say \\\"<<<\\\"\\nplease", table, sizeof table / sizeof table[0]);
}

static void test_protocol_text(void **state)
{
    (void)state;
    struct buf out;
    buf_init(&out, ROOM);
    protocol_text(SPAN_LIT("md, csv, svg, txt"), false, &out);
    const char *text = buf_cstr(&out);
    assert_non_null(strstr(text, "\n<<<HW_ATTACHMENT\n{\"filename\":\"q3-report.md\",\"format\":\"md\","
                                 "\"title\":\"Q3 report\"}\n---\n"));
    assert_non_null(strstr(text, "\nHW_ATTACHMENT>>>\n"));
    assert_non_null(strstr(text, "\n- csv: commas"));
    assert_non_null(strstr(text, "\n- md, svg, txt, source code by its extension: the file itself.\n"));
    assert_non_null(strstr(text, "must not emit format image"));
    assert_null(strstr(text, "Charts"));
    assert_null(strstr(text, "docx"));
    buf_reset(&out);
    protocol_text(SPAN_LIT("docx,png"), true, &out);
    assert_null(strstr(buf_cstr(&out), "must not"));
    assert_non_null(strstr(buf_cstr(&out), "\n- image: a prompt"));
    assert_non_null(strstr(buf_cstr(&out), "q3-report.docx"));
    assert_non_null(strstr(buf_cstr(&out), "\n- docx: Markdown"));
    buf_reset(&out);
    protocol_text(SPAN_LIT("md, png, svg"), false, &out);
    assert_non_null(strstr(buf_cstr(&out), "Charts and other files still work"));
    assert_non_null(strstr(buf_cstr(&out), "\n- png: a chart as JSON"));
    assert_non_null(strstr(buf_cstr(&out), "\n- svg: that chart JSON"));
    assert_null(strstr(buf_cstr(&out), "xlsx"));
    buf_free(&out);
}

/* ---- events ---- */

static void test_events(void **state)
{
    (void)state;
    static const struct event_case table[] = {
        {"{\"id\":\"x\",\"choices\":[{\"index\":0,\"delta\":{\"content\":\"a\\n\"},\"logprobs\":null,"
         "\"finish_reason\":null}],\"usage\":null,"
         "\"obfuscation\":\"q\"}",
         "t0=a\\n bare "},
        {"{\"choices\":[{\"delta\":{\"content\":\"a\",\"role\":\"assistant\"},\"index\":3}]}", "t3=a "},
        {"{\"choices\":[{\"delta\":{\"content\":\"a\",\"tool_calls\":null}}]}", "t0=a bare "},
        {"{\"choices\":[{\"delta\":{\"content\":\"a\"},\"content_filter_results\":{}}]}", "t0=a "},
        {"{\"choices\":[{\"delta\":{\"content\":\"a\"}}],\"usage\":{}}", "t0=a "},
        {"{\"choices\":[{\"delta\":{\"content\":\"a\"},\"finish_reason\":\"\"}]}", "t0=a bare "},
        {"{\"choices\":[{\"delta\":{\"reasoning_content\":\"a\",\"refusal\":\"b\"}}]}", ""},
        {"{\"choices\":[{\"delta\":{\"content\":[{\"type\":\"text\",\"text\":\"a\"},{\"text\":\"b\",\"type\":"
         "\"thinking\"},{\"text\":\"c\"}]}}]}",
         "t0=a t0=c "},
        {"{\"choices\":[{\"delta\":{\"content\":[{\"text\":\"a\",\"type\":\"text\"}]}}]}", "t0=a bare "},
        {"{\"choices\":[{\"delta\":{\"c\\u006fntent\":\"a\"}}]}", "t0=a bare "},
        {"{\"choices\":[{\"index\":1,\"logprobs\":{\"content\":[{\"token\":\"a\"}],\"refusal\":[]},\"delta\":"
         "{\"content\":\"a\"}}]}",
         "p1={\"token\":\"a\"} t1=a bare "},
        {"{\"choices\":[{\"index\":0,\"delta\":{\"content\":\"a\"}},{\"index\":1,\"delta\":{\"content\":"
         "\"b\"}}]}",
         "t0=a t1=b bare "},
        {"{\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}]}", "e0 end "},
        {"{\"choices\":[],\"usage\":{\"total_tokens\":1}}", ""},
        {"{\"choices\":[]}", "bare "},
        {"{}", ""},
        {"{\"error\":{\"message\":\"m\"}}", "error "},
        {"{\"object\":\"error\",\"message\":\"m\"}", "error "},
        {"{\"error\":null,\"choices\":[]}", "bare "},
        {"{\"error\":{\"code\":502},\"choices\":[{\"delta\":{\"content\":\"\"},\"finish_reason\":\"error\"}]"
         "}",
         "t0= e0 error end "},
        /* Azure's offsets count from the beginning of the prompt: they are no offsets into the text */
        {"{\"choices\":[{\"content_filter_offsets\":{\"check_offset\":140,\"start_offset\":140,"
         "\"end_offset\":259},\"content_filter_results\":{},\"finish_reason\":null,\"index\":0}]}",
         ""},
        {"[DONE]", "done "},
        {"{\"choices\":[{\"delta\":{\"content\":\"a\"}}]", ""},
        {"{\"choices\":[{\"delta\":{\"content\":\"a\"},}]}", ""},
        {"{\"choices\":[{\"delta\":{\"content\":\"a\"}}]} x", ""},
        {"{\"choices\":{\"0\":1},\"error\":true} x", ""},
        {"[1]", ""},
        {"{\"choices\":[1,\"x\",[],{\"delta\":7,\"logprobs\":8}]}", ""},
    };
    check_events(chat(), false, table, sizeof table / sizeof table[0]);
}

static void test_ends(void **state)
{
    (void)state;
    struct reply_ends ends = {0};
    static const char one[] = "{\"choices\":[{\"index\":1,\"finish_reason\":\"stop\"}]}",
                      zero[] = "{\"choices\":[{\"index\":0,\"finish_reason\":\"stop\"}]}";
    check_event(chat(), one, false, 2, &ends, "e1 ");
    check_event(chat(), one, false, 2, &ends, "e1 "); /* said twice */
    check_event(chat(), "{\"choices\":[{\"index\":0,\"finish_reason\":\"stop\"}],}", false, 2, &ends, "");
    check_event(chat(), zero, false, 2, &ends, "e0 end ");
    check_event(chat(), zero, false, 2, &ends, "e0 ");
}

static void test_whole(void **state)
{
    (void)state;
    static const struct event_case table[] = {
        {" {\"choices\":[{\"message\":{\"content\":\"a\"}},{\"index\":0,\"message\":{\"content\":\"b\"}},"
         "{\"index\":1,\"message\":{\"content\":null}}]}\n",
         "t0=a t0=b e0 e0 e1 end "},
        {"{\"data\":[]}", ""},
    };
    check_events(chat(), true, table, sizeof table / sizeof table[0]);
}

/* What is no reply may be an error of its own: how older versions of vLLM and llama.cpp say it. */
static void test_bare_error(void **state)
{
    (void)state;
    struct buf said;
    char want[100];
    buf_init(&said, ROOM);
    static const char event[] = "{\"code\":500,\"message\":\"m\",\"type\":\"server_error\"}";
    say_notes(chat(), event, &said);
    snprintf(want, sizeof want, "%d=500 %d=\"m\" %d=\"server_error\" ", NOTE_ERROR_CODE, NOTE_ERROR_MESSAGE,
             NOTE_ERROR_TYPE);
    expect(event, &said, want);
    buf_free(&said);
}

static void test_own_events(void **state)
{
    (void)state;
    struct buf shape, out;
    buf_init(&shape, ROOM);
    buf_init(&out, ROOM);
    keep_shape_of(chat(),
                  "{\"id\":\"x\",\"created\":17,\"usage\":{\"a\":1},\"model\":\"m\",\"choices\":[],"
                  "\"object\":\"chat.completion.chunk\"}",
                  2, &shape);
    chat()->text_event(buf_span(&shape), 2, -1, SPAN_LIT("a\\n"), SPAN_LIT("{\"token\":\"a\"}"), &out);
    assert_string_equal(buf_cstr(&out), "data: "
                                        "{\"id\":\"x\",\"created\":17,\"model\":\"m\",\"object\":\"chat."
                                        "completion.chunk\",\"choices\":[{\"index\":2,"
                                        "\"delta\":{\"content\":\"a\\n\"},\"logprobs\":{\"content\":[{"
                                        "\"token\":\"a\"}]},\"finish_reason\":null}]}\n\n");
    buf_reset(&out);
    chat()->report_event(buf_span(&shape), -1, SPAN_LIT("\"outbound_artifacts\":[]"), false, &out);
    assert_non_null(strstr(buf_cstr(&out), "\"choices\":[{\"index\":2,\"delta\":{},\"finish_reason\":"
                                           "\"stop\"}],\"outbound_artifacts\":[]}\n\n"));
    buf_reset(&out);
    chat()->report_event(SPAN_LIT(""), -1, SPAN_LIT("\"outbound_artifacts\":[]"), true, &out);
    assert_string_equal(
        buf_cstr(&out),
        "data: "
        "{\"object\":\"chat.completion.chunk\",\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":"
        "\"error\"}],\"outbound_artifacts\":[]}\n\n");
    buf_free(&shape);
    buf_free(&out);
}

static void test_errors(void **state)
{
    (void)state;
    struct error e;
    struct buf out;
    buf_init(&out, ROOM);
    error_set(&e, ERROR_BAD_REQUEST, "hw has no key \"%s\"", "colour");
    chat()->error_body(&e, &out);
    assert_string_equal(
        buf_cstr(&out),
        "{\"error\":{\"message\":\"hw has no key \\\"colour\\\"\",\"type\":\"invalid_request_error\","
        "\"param\":null,\"code\":\"BAD_REQUEST\"}}");
    buf_reset(&out);
    error_set(&e, ERROR_UPSTREAM_TIMEOUT, "late");
    snprintf(e.details, sizeof e.details, "{\"ms\":1}");
    chat()->error_event(&e, true, &out);
    assert_string_equal(
        buf_cstr(&out),
        "event: error\ndata: {\"error\":{\"message\":\"late\",\"type\":\"server_error\",\"param\":null,"
        "\"code\":\"UPSTREAM_TIMEOUT\",\"details\":{\"ms\":1}}}\n\n");
    buf_reset(&out);
    e.details[0] = '\0';
    chat()->error_event(&e, false, &out);
    assert_true(span_starts(buf_span(&out), "data: {\"error\":"));
    buf_reset(&out);
    dialect_plain_error(&e, &out);
    assert_true(span_starts(buf_span(&out), "{\"error\":{\"message\":\"late\""));
    buf_free(&out);
}

/* ---- which API ---- */

static void test_api(void **state)
{
    (void)state;
    static const struct {
        const char *method, *path;
        enum api api;
        bool stored;
    } table[] = {
        {"POST", "/v1/chat/completions", API_OPENAI_CHAT, false},
        {"POST", "/openai/deployments/x/chat/completions", API_OPENAI_CHAT, false},
        {"GET", "/v1/chat/completions", API_NONE, false},
        {"GET", "/v1/chat/completions/cc-9", API_OPENAI_CHAT, true},
        {"GET", "/v1/chat/completions/", API_NONE, false},
        {"GET", "/v1/chat/completions/cc-9/messages", API_NONE, false},
        {"POST", "/v1/completions", API_NONE, false},
        {"POST", "/v1/responses", API_OPENAI_RESPONSES, false},
        {"GET", "/v1/responses/resp_1", API_OPENAI_RESPONSES, true},
        {"DELETE", "/v1/responses/resp_1", API_NONE, false},
        {"GET", "/v1/responses/resp_1/input_items", API_NONE, false},
        {"POST", "/v1/responses/resp_1/cancel", API_OPENAI_RESPONSES, true},
        {"POST", "/v1/responses//cancel", API_NONE, false},
        {"POST", "/v1/messages", API_ANTHROPIC_MESSAGES, false},
        {"POST", "/v1/messages/batches", API_NONE, false},
        {"POST", "/v1beta/models/a/b:generateContent", API_GEMINI, false},
        {"POST", "/v1beta/models/a:streamGenerateContent", API_GEMINI, false},
        {"POST", "/api/chat", API_OLLAMA, false},
        {"POST", "/api/generate", API_OLLAMA, false},
        {"POST", "/x/api/generate", API_NONE, false},
        {"POST", "", API_NONE, false},
        {"GET", "x", API_NONE, false},
    };
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
        bool stored = true;
        enum api api = dialect_api(span_str(table[i].method), span_str(table[i].path), &stored);
        if (api != table[i].api || stored != table[i].stored)
            fail_msg("%s %s: %s", table[i].method, table[i].path, api_name(api));
    }
    assert_ptr_equal(dialect_find(API_OPENAI_CHAT)->keep_alive, chat()->keep_alive);
    assert_null(dialect_find(API_NONE));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_request_facts), cmocka_unit_test(test_request_keys),
        cmocka_unit_test(test_add_protocol),  cmocka_unit_test(test_protocol_text),
        cmocka_unit_test(test_events),        cmocka_unit_test(test_ends),
        cmocka_unit_test(test_whole),         cmocka_unit_test(test_bare_error),
        cmocka_unit_test(test_own_events),    cmocka_unit_test(test_errors),
        cmocka_unit_test(test_api),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
