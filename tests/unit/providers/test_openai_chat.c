/* The dialect of Chat Completions: what a request says, where the protocol goes, what an event says. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>

#include <cmocka.h>

#include "providers/dialect.h"
#include "providers/protocol.h"

enum { ROOM = 1 << 16 };

static const struct dialect *chat(void)
{
    return dialect_find(API_OPENAI_CHAT);
}

/* ---- requests ---- */

static void test_request_facts(void **state)
{
    (void)state;
    static const struct {
        const char *body;
        bool usable, stream, machine, explained;
        unsigned choices;
    } table[] = {
        {"{\"messages\":[]}", true, false, false, false, 1},
        {" {\"stream\":true,\"n\":2,\"messages\":[]}\n", true, true, false, false, 2},
        {"{\"messages\":[],\"n\":0}", true, false, false, false, 1},
        {"{\"messages\":[],\"n\":1e9}", true, false, false, false, 1},
        {"{\"stream\":\"true\",\"messages\":[]}", true, false, false, false, 1},
        {"{\"messages\":[],\"str\\u0065am\":true}", true, true, false, false, 1},
        {"{\"messages\":[1,2]}", true, false, false, false, 1},
        {"{\"messages\":{}}", false, false, false, false, 1},
        {"{\"messages\":[],\"messages\":null}", false, false, false, false, 1},
        {"{\"prompt\":\"x\"}", false, false, false, false, 1},
        {"[{\"messages\":[]}]", false, false, false, false, 1},
        {"{\"messages\":[]", false, false, false, false, 1},
        {"{\"messages\":[]} x", false, false, false, false, 1},
        {"{\"messages\":[],}", false, false, false, false, 1},
        {"{\"messages\" []}", false, false, false, false, 1},
        {"", false, false, false, false, 1},
        {"null", false, false, false, false, 1},
        {"{\"messages\":[],\"response_format\":{\"type\":\"text\"}}", true, false, false, false, 1},
        {"{\"messages\":[],\"response_format\":null}", true, false, false, false, 1},
        {"{\"messages\":[],\"response_format\":{\"type\":\"json_object\"}}", true, false, true, false, 1},
        {"{\"messages\":[],\"tool_choice\":\"auto\"}", true, false, false, false, 1},
        {"{\"messages\":[],\"tool_choice\":\"none\"}", true, false, false, false, 1},
        {"{\"messages\":[],\"tool_choice\":\"required\"}", true, false, true, false, 1},
        {"{\"messages\":[],\"tool_choice\":{\"type\":\"function\",\"function\":{\"name\":\"f\"}}}", true,
         false, true, false, 1},
        {"{\"messages\":[],\"tool_choice\":{\"type\":\"allowed_tools\",\"allowed_tools\":{\"mode\":\"auto\"}}"
         "}",
         true, false, false, false, 1},
        {"{\"messages\":[],\"tool_choice\":{\"type\":\"allowed_tools\",\"allowed_tools\":{\"mode\":"
         "\"required\"}}}",
         true, false, true, false, 1},
        {"{\"messages\":[],\"guided_json\":{}}", true, false, true, false, 1},
        {"{\"messages\":[{\"role\":\"user\",\"content\":\"write <<<HW_ATTACHMENT blocks\"}]}", true, false,
         false, true, 1},
        {"{\"messages\":[{\"content\":[{\"text\":\"\\u003c\\u003C<hw_\\u0061ttachment\"}]}]}", true, false,
         false, true, 1},
        {"{\"messages\":[{\"content\":\"<<<<HW_ATTACHMENT\"}]}", true, false, false, true, 1},
        {"{\"messages\":[{\"content\":\"\\\\u003c<<HW_ATTACHMENT\"}]}", true, false, false, false, 1},
        {"{\"messages\":[{\"content\":\"<<\\\"<HW_ATTACHMENT <<HW_ATTACHMENT\"}]}", true, false, false, false,
         1},
        {"{\"messages\":[],\"metadata\":\"<<<HW_ATTACHMENT\"}", true, false, false, false, 1},
    };
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
        struct request_facts facts;
        chat()->request(span_str(table[i].body), &facts);
        if ((facts.root.n > 0) != table[i].usable || facts.stream != table[i].stream ||
            facts.machine_read != table[i].machine || facts.explains_protocol != table[i].explained ||
            facts.choices != table[i].choices)
            fail_msg("%s", table[i].body);
    }
}

static void test_request_keys(void **state)
{
    (void)state;
    static const char body[] = " { \"hw\" : {\"org\":\"a\"} , \"model\":\"x\\n\",\"model\":\"y\", "
                               "\"messages\":[], \"attachments\":[ ] }";
    struct request_facts facts;
    chat()->request(span_str(body), &facts);
    assert_true(span_is(facts.hw, "{\"org\":\"a\"}"));
    assert_true(span_is(facts.hw_whole, "\"hw\" : {\"org\":\"a\"}"));
    assert_true(span_is(facts.attachments, "[ ]"));
    assert_true(span_is(facts.attachments_whole, "\"attachments\":[ ]"));
    assert_true(span_is(facts.model, "y"));
    assert_int_equal(facts.root.n, sizeof body - 2);
    assert_null(facts.repeated);
    chat()->request(SPAN_LIT("{\"hw\":1,\"messages\":[],\"h\\u0077\":2}"), &facts);
    assert_string_equal(facts.repeated, "hw");
    chat()->request(SPAN_LIT("{\"attachments\":[],\"messages\":[],\"attachments\":[]}"), &facts);
    assert_string_equal(facts.repeated, "attachments");
}

static void test_add_protocol(void **state)
{
    (void)state;
#define P "\"content\":\"say \\\"<<<\\\"\\nplease\"}"
    static const struct {
        const char *body, *want;
    } table[] = {
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
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
        struct request_facts facts;
        struct edits edits = {0};
        struct span body = span_str(table[i].body), value;
        struct buf room, out;
        buf_init(&room, ROOM);
        buf_init(&out, ROOM);
        chat()->request(body, &facts);
        chat()->add_protocol(body, &facts, SPAN_LIT("say \\\"<<<\\\"\\nplease"), &room, &edits);
        assert_int_equal(edits_apply(&edits, body, &out), 0);
        assert_string_equal(buf_cstr(&out), table[i].want);
        assert_true(json_document(buf_span(&out), &value));
        edits_free(&edits);
        buf_free(&room);
        buf_free(&out);
    }
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

/* What an event says, in words: t0=text, l0=entries, e0 for ends, then the marks. */
static const char *describe(struct span raw, bool whole, unsigned choices, struct reply_ends *ends,
                            struct buf *out)
{
    struct reply_event e = {0};
    reply_event_reset(&e, raw);
    e.json = raw;
    e.whole = whole;
    chat()->event(&e, choices, ends);
    buf_reset(out);
    for (size_t i = 0; i < e.n; i++)
        buf_printf(out, "%c%u=%.*s ", "tle"[e.deltas[i].kind], e.deltas[i].channel, (int)e.deltas[i].n,
                   raw.p + e.deltas[i].at);
    buf_printf(out, "%s%s%s%s", e.bare ? "bare " : "", e.error ? "error " : "", e.ends_stream ? "done " : "",
               e.ends_reply ? "end " : "");
    if (e.ends_reply)
        assert_int_equal(raw.p[e.report_at], '}');
    reply_event_free(&e);
    return buf_cstr(out);
}

static void test_events(void **state)
{
    (void)state;
    static const struct {
        const char *event, *want;
    } table[] = {
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
         "l1={\"token\":\"a\"} t1=a bare "},
        {"{\"choices\":[{\"index\":0,\"delta\":{\"content\":\"a\"}},{\"index\":1,\"delta\":{\"content\":"
         "\"b\"}}]}",
         "t0=a t1=b bare "},
        {"{\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}]}", "e0= end "},
        {"{\"choices\":[],\"usage\":{\"total_tokens\":1}}", ""},
        {"{\"choices\":[]}", "bare "},
        {"{}", ""},
        {"{\"error\":{\"message\":\"m\"}}", "error "},
        {"{\"object\":\"error\",\"message\":\"m\"}", "error "},
        {"{\"error\":null,\"choices\":[]}", "bare "},
        {"{\"error\":{\"code\":502},\"choices\":[{\"delta\":{\"content\":\"\"},\"finish_reason\":\"error\"}]"
         "}",
         "t0= e0= error end "},
        {"[DONE]", "done "},
        {"{\"choices\":[{\"delta\":{\"content\":\"a\"}}]", ""},
        {"{\"choices\":[{\"delta\":{\"content\":\"a\"},}]}", ""},
        {"{\"choices\":[{\"delta\":{\"content\":\"a\"}}]} x", ""},
        {"{\"choices\":{\"0\":1},\"error\":true} x", ""},
        {"[1]", ""},
        {"{\"choices\":[1,\"x\",[],{\"delta\":7,\"logprobs\":8}]}", ""},
    };
    struct buf out;
    buf_init(&out, ROOM);
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
        struct reply_ends ends = {0};
        assert_string_equal(describe(span_str(table[i].event), false, 1, &ends, &out), table[i].want);
    }
    buf_free(&out);
}

static void test_ends(void **state)
{
    (void)state;
    struct reply_ends ends = {0};
    struct buf out;
    buf_init(&out, ROOM);
    struct span one = SPAN_LIT("{\"choices\":[{\"index\":1,\"finish_reason\":\"stop\"}]}"),
                zero = SPAN_LIT("{\"choices\":[{\"index\":0,\"finish_reason\":\"stop\"}]}");
    assert_string_equal(describe(one, false, 2, &ends, &out), "e1= ");
    assert_string_equal(describe(one, false, 2, &ends, &out), "e1= "); /* said twice */
    assert_string_equal(describe(SPAN_LIT("{\"choices\":[{\"index\":0,\"finish_reason\":\"stop\"}],}"), false,
                                 2, &ends, &out),
                        "");
    assert_string_equal(describe(zero, false, 2, &ends, &out), "e0= end ");
    assert_string_equal(describe(zero, false, 2, &ends, &out), "e0= ");
    buf_free(&out);
}

static void test_whole(void **state)
{
    (void)state;
    struct reply_ends ends = {0};
    struct buf out;
    buf_init(&out, ROOM);
    assert_string_equal(describe(SPAN_LIT(" {\"choices\":[{\"message\":{\"content\":\"a\"}},{\"index\":0,"
                                          "\"message\":{\"content\":\"b\"}},"
                                          "{\"index\":1,\"message\":{\"content\":null}}]}\n"),
                                 true, 1, &ends, &out),
                        "t0=a t0=b e0= e0= e1= end ");
    assert_string_equal(describe(SPAN_LIT("{\"data\":[]}"), true, 1, &ends, &out), "");
    buf_free(&out);
}

static void test_own_events(void **state)
{
    (void)state;
    struct buf shape, out;
    struct reply_event e = {0};
    buf_init(&shape, ROOM);
    buf_init(&out, ROOM);
    struct span raw = SPAN_LIT("{\"id\":\"x\",\"created\":17,\"usage\":{\"a\":1},\"model\":\"m\",\"choices\":"
                               "[],\"object\":\"chat.completion.chunk\"}");
    reply_event_reset(&e, raw);
    e.json = raw;
    chat()->keep_shape(&e, 2, &shape);
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
        cmocka_unit_test(test_whole),         cmocka_unit_test(test_own_events),
        cmocka_unit_test(test_errors),        cmocka_unit_test(test_api),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
