/* The dialect of Gemini: what a request says, where the protocol goes, what an event says, errors. */
#include "dialect_test.h"

static const struct dialect *gemini(void)
{
    return dialect_find(API_GEMINI);
}

#define CONTENTS "\"contents\":[{\"parts\":[{\"text\":\"u\"}]}]"

static void test_request_facts(void **state)
{
    (void)state;
    static const struct facts_case table[] = {
        {"{" CONTENTS "}", "usable "},
        {"{\"contents\":{\"parts\":{\"text\":\"u\"}}}", "usable "},
        {"{\"contents\":\"u\"}", ""},
        {"{\"content\":[]}", ""},
        {"[" CONTENTS "]", ""},
        {"{" CONTENTS "} x", ""},
        {"", ""},
        {"{" CONTENTS ",\"systemInstruction\":\"text\"}", ""},
        {"{" CONTENTS ",\"systemInstruction\":{\"parts\":\"text\"}}", ""},
        {"{" CONTENTS ",\"systemInstruction\":null}", "usable "},
        {"{" CONTENTS ",\"generationConfig\":{\"candidateCount\":3}}", "usable n=3 "},
        {"{" CONTENTS ",\"generation_config\":{\"candidate_count\":2}}", "usable n=2 "},
        {"{" CONTENTS ",\"generationConfig\":{\"candidateCount\":0}}", "usable "},
        {"{" CONTENTS ",\"generationConfig\":{\"responseMimeType\":\"application/json\"}}",
         "usable machine "},
        {"{" CONTENTS ",\"generation_config\":{\"response_mime_type\":\"text/x.enum\"}}", "usable machine "},
        {"{" CONTENTS ",\"generationConfig\":{\"responseMimeType\":\"text/plain\"}}", "usable "},
        {"{" CONTENTS ",\"generationConfig\":{\"responseMimeType\":null}}", "usable "},
        {"{" CONTENTS ",\"toolConfig\":{\"functionCallingConfig\":{\"mode\":\"ANY\"}}}", "usable machine "},
        {"{" CONTENTS ",\"tool_config\":{\"function_calling_config\":{\"mode\":\"AUTO\"}}}", "usable "},
        {"{" CONTENTS ",\"cachedContent\":\"cachedContents/1\"}", "usable explained "},
        {"{" CONTENTS ",\"systemInstruction\":{\"parts\":[{\"text\":\"\\u003c<<hw_attachment\"}]}}",
         "usable explained "},
        {"{\"contents\":[{\"parts\":[{\"text\":\"<<<HW_ATTACHMENT\"}]}]}", "usable explained "},
    };
    check_facts(gemini(), table, sizeof table / sizeof table[0]);
}

static void test_own_keys(void **state)
{
    (void)state;
    check_own_keys(gemini(), "\"contents\":[]");
}

static void test_target(void **state)
{
    (void)state;
    static const struct {
        const char *path, *model;
        bool stream;
    } table[] = {
        {"/v1beta/models/gemini-2.5-flash:streamGenerateContent", "gemini-2.5-flash", true},
        {"/v1beta/models/gemini-2.5-flash:generateContent", "gemini-2.5-flash", false},
        {"/v1/projects/p/locations/l/publishers/google/models/g:streamGenerateContent", "g", true},
        {"/v1beta/models/a/b:generateContent", "a/b", false},
        {"/v1beta/models", "", false},
        {":streamGenerateContent", "", true},
    };
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
        struct request_target t = {0};
        gemini()->target(span_str(table[i].path), SPAN_LIT("alt=sse"), &t);
        if (!span_is(t.model, table[i].model) || t.stream != table[i].stream)
            fail_msg("%s", table[i].path);
    }
}

static void test_protocol(void **state)
{
    (void)state;
    static const struct protocol_case table[] = {
        {"{" CONTENTS " }", "{" CONTENTS " ,\"systemInstruction\":{\"parts\":[{\"text\":\"P\"}]}}"},
        {"{\"systemInstruction\" : null," CONTENTS "}",
         "{\"systemInstruction\" : {\"parts\":[{\"text\":\"P\"}]}," CONTENTS "}"},
        {"{\"systemInstruction\":{\"parts\":[ {\"text\":\"G\"} ]}," CONTENTS "}",
         "{\"systemInstruction\":{\"parts\":[ {\"text\":\"G\"} ,{\"text\":\"P\"}]}," CONTENTS "}"},
        {"{\"system_instruction\":{\"parts\":[]}," CONTENTS "}",
         "{\"system_instruction\":{\"parts\":[{\"text\":\"P\"}]}," CONTENTS "}"},
        {"{\"systemInstruction\":{\"parts\":{\"text\":\"G\"}}," CONTENTS "}",
         "{\"systemInstruction\":{\"parts\":[{\"text\":\"G\"},{\"text\":\"P\"}]}," CONTENTS "}"},
        {"{\"systemInstruction\":{\"parts\":null}," CONTENTS "}",
         "{\"systemInstruction\":{\"parts\":[{\"text\":\"P\"}]}," CONTENTS "}"},
        {"{\"systemInstruction\":{\"role\":\"system\"}," CONTENTS "}",
         "{\"systemInstruction\":{\"parts\":[{\"text\":\"P\"}],\"role\":\"system\"}," CONTENTS "}"},
        {"{\"systemInstruction\":{}," CONTENTS "}",
         "{\"systemInstruction\":{\"parts\":[{\"text\":\"P\"}]}," CONTENTS "}"},
    };
    check_protocol(gemini(), "P", table, sizeof table / sizeof table[0]);
}

static void test_events(void **state)
{
    (void)state;
    static const struct event_case table[] = {
        {"{\"candidates\":[{\"content\":{\"parts\":[{\"text\":\"a\"}],\"role\":\"model\"},\"index\":0}]}",
         "t0=a bare "},
        {"{\"candidates\":[{\"index\":3,\"content\":{\"parts\":[{\"text\":\"a\"},{\"text\":\"b\"}]}}],"
         "\"modelVersion\":\"m\",\"responseId\":\"r\"}",
         "t3=a t3=b bare "},
        {"{\"candidates\":[{\"content\":{\"parts\":[{\"text\":\"a\"}]}}],\"usageMetadata\":{}}", "t0=a "},
        {"{\"candidates\":[{\"content\":{\"parts\":[{\"text\":\"a\",\"thought\":true}]}}]}", ""},
        {"{\"candidates\":[{\"content\":{\"parts\":[{\"thought\":false,\"text\":\"a\"}]}}]}", "t0=a bare "},
        {"{\"candidates\":[{\"content\":{\"parts\":[{\"text\":\"\",\"thoughtSignature\":\"s\"}]}}]}", ""},
        {"{\"candidates\":[{\"content\":{\"parts\":[{\"text\":\"a\",\"thoughtSignature\":\"s\"}]}}]}",
         "t0=a "},
        {"{\"candidates\":[{\"content\":{\"parts\":[{\"functionCall\":{\"name\":\"f\"}}]}}]}", ""},
        {"{\"candidates\":[{\"content\":{}}]}", "bare "},
        {"{\"candidates\":[{\"finishReason\":\"STOP\",\"content\":{\"parts\":[{\"text\":\"a\"}]}}]}",
         "t0=a e0 perhaps end "},
        {"{\"candidates\":[{\"finishReason\":\"FINISH_REASON_UNSPECIFIED\"}]}", "bare "},
        {"{\"candidates\":[{\"finishReason\":null}]}", "bare "},
        {"{\"candidates\":[{\"index\":-1,\"content\":{\"parts\":[{\"text\":\"a\"}]}},{\"index\":1.5}]}",
         "t0=a bare "},
        {"{\"candidates\":[{\"logprobsResult\":{\"chosenCandidates\":[{}],\"topCandidates\":[{}]}}]}",
         "p0={} b0=[{}] bare "},
        {"{\"candidates\":[{\"citationMetadata\":{\"citations\":[{\"endIndex\":1},{}]}}]}",
         "l0={\"endIndex\":1},{} i0 o0= o0=1 i0 "},
        {"{\"candidates\":[{\"groundingMetadata\":{\"groundingSupports\":[{\"segment\":{\"endIndex\":1,"
         "\"text\":\"a\"}}]}}]}",
         "l0={\"segment\":{\"endIndex\":1,\"text\":\"a\"}} i0 o0= o0=1 x0=a "},
        {"{\"promptFeedback\":{\"blockReason\":\"SAFETY\"}}", ""},
        {"{\"error\":{\"code\":503}}", "error "},
        {"{\"error\":{}}", ""},
        {"[DONE]", "done "},
        {"{\"candidates\":[{\"content\":{\"parts\":[{\"text\":\"a\"}]}}]", ""},
        {"[]", ""},
        {"", ""},
    };
    check_events(gemini(), false, table, sizeof table / sizeof table[0]);
    struct reply_ends ends = {0}, none = {0};
    check_event(gemini(), "{\"candidates\":[{\"content\":{\"parts\":[{\"text\":\"a\"}]}},{\"index\":1}]}",
                true, 2, &ends, "t0=a e0 e1 perhaps end ");
    check_event(gemini(), "{\"candidates\":[{\"finishReason\":\"STOP\"},{\"index\":1}]}", false, 1, &none,
                "e0 perhaps "); /* the other one goes on */
}

static void test_own_events(void **state)
{
    (void)state;
    struct buf shape, out;
    buf_init(&shape, ROOM);
    buf_init(&out, ROOM);
    keep_shape_of(gemini(),
                  "{\"responseId\":\"r\",\"candidates\":[],\"usageMetadata\":{\"n\":1},\"createTime\":7,"
                  "\"modelVersion\":\"m\"}",
                  1, &shape);
    gemini()->text_event(buf_span(&shape), 1, -1, SPAN_LIT("a\\n"), SPAN_LIT("{}"), &out);
    assert_string_equal(buf_cstr(&out),
                        "data: {\"candidates\":[{\"content\":{\"parts\":[{\"text\":\"a\\n\"}],\"role\":"
                        "\"model\"},\"logprobsResult\":{\"chosenCandidates\":[{}]},\"index\":1}],"
                        "\"responseId\":\"r\",\"modelVersion\":\"m\"}\r\n\r\n");
    buf_reset(&out);
    gemini()->report_event(buf_span(&shape), -1, SPAN_LIT("\"outbound_artifacts\":[]"), false, &out);
    assert_string_equal(
        buf_cstr(&out),
        "data: {\"candidates\":[{\"finishReason\":\"STOP\",\"index\":1}],\"responseId\":\"r\","
        "\"modelVersion\":\"m\",\"outbound_artifacts\":[]}\r\n\r\n");
    buf_reset(&out);
    gemini()->text_event(SPAN_LIT(""), 0, -1, SPAN_LIT("a"), (struct span){0}, &out);
    gemini()->report_event(SPAN_LIT(""), -1, SPAN_LIT("\"outbound_artifacts\":[]"), true, &out);
    assert_string_equal(
        buf_cstr(&out),
        "data: {\"candidates\":[{\"content\":{\"parts\":[{\"text\":\"a\"}],\"role\":\"model\"},"
        "\"index\":0}]}\r\n\r\n"
        "data: {\"candidates\":[{\"finishReason\":\"OTHER\",\"index\":0}],"
        "\"outbound_artifacts\":[]}\r\n\r\n");
    buf_free(&shape);
    buf_free(&out);
}

static void test_errors(void **state)
{
    (void)state;
    struct error e;
    struct buf out;
    struct span value;
    buf_init(&out, ROOM);
    error_set(&e, ERROR_BAD_REQUEST, "No \"x\".");
    gemini()->error_body(&e, &out);
    assert_string_equal(
        buf_cstr(&out),
        "{\"error\":{\"code\":400,\"message\":\"No \\\"x\\\".\",\"status\":\"INVALID_ARGUMENT\","
        "\"details\":[{\"@type\":\"type.googleapis.com/google.rpc.ErrorInfo\","
        "\"reason\":\"BAD_REQUEST\",\"domain\":\"penstock\"}]}}");
    for (int code = ERROR_NONE + 1; code < ERROR_CODES; code++) {
        error_set(&e, (enum error_code)code, "m");
        snprintf(e.details, sizeof e.details, "{\"n\":1}");
        buf_reset(&out);
        gemini()->error_body(&e, &out);
        assert_true(json_document(buf_span(&out), &value));
        assert_non_null(strstr(buf_cstr(&out), error_name((enum error_code)code)));
        assert_non_null(strstr(buf_cstr(&out), "{\"n\":1}"));
    }
    buf_reset(&out);
    gemini()->error_event(&e, true, &out);
    assert_int_equal(strncmp(buf_cstr(&out), "event: error\r\ndata: {", 21), 0);
    assert_true(span_ends(buf_span(&out), "}\r\n\r\n"));
    buf_free(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_request_facts), cmocka_unit_test(test_target),
        cmocka_unit_test(test_protocol),      cmocka_unit_test(test_events),
        cmocka_unit_test(test_own_events),    cmocka_unit_test(test_own_keys),
        cmocka_unit_test(test_errors),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
