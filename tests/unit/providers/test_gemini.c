/* The dialect of Gemini: what a request says, where the protocol goes, what an event says, errors. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>

#include <cmocka.h>

#include "providers/dialect.h"

enum { ROOM = 1 << 16 };

static const struct dialect *gemini(void)
{
    return dialect_find(API_GEMINI);
}

#define CONTENTS "\"contents\":[{\"parts\":[{\"text\":\"u\"}]}]"

static void test_request_facts(void **state)
{
    (void)state;
    static const struct {
        const char *body;
        bool usable, machine, explained;
        unsigned choices;
    } table[] = {
        {"{" CONTENTS "}", true, false, false, 1},
        {"{\"contents\":{\"parts\":{\"text\":\"u\"}}}", true, false, false, 1},
        {"{\"contents\":\"u\"}", false, false, false, 1},
        {"{\"content\":[]}", false, false, false, 1},
        {"[" CONTENTS "]", false, false, false, 1},
        {"{" CONTENTS "} x", false, false, false, 1},
        {"", false, false, false, 1},
        {"{" CONTENTS ",\"systemInstruction\":\"text\"}", false, false, false, 1},
        {"{" CONTENTS ",\"systemInstruction\":{\"parts\":\"text\"}}", false, false, false, 1},
        {"{" CONTENTS ",\"systemInstruction\":null}", true, false, false, 1},
        {"{" CONTENTS ",\"generationConfig\":{\"candidateCount\":3}}", true, false, false, 3},
        {"{" CONTENTS ",\"generation_config\":{\"candidate_count\":2}}", true, false, false, 2},
        {"{" CONTENTS ",\"generationConfig\":{\"candidateCount\":0}}", true, false, false, 1},
        {"{" CONTENTS ",\"generationConfig\":{\"responseMimeType\":\"application/json\"}}", true, true, false,
         1},
        {"{" CONTENTS ",\"generation_config\":{\"response_mime_type\":\"text/x.enum\"}}", true, true, false,
         1},
        {"{" CONTENTS ",\"generationConfig\":{\"responseMimeType\":\"text/plain\"}}", true, false, false, 1},
        {"{" CONTENTS ",\"generationConfig\":{\"responseMimeType\":null}}", true, false, false, 1},
        {"{" CONTENTS ",\"toolConfig\":{\"functionCallingConfig\":{\"mode\":\"ANY\"}}}", true, true, false,
         1},
        {"{" CONTENTS ",\"tool_config\":{\"function_calling_config\":{\"mode\":\"AUTO\"}}}", true, false,
         false, 1},
        {"{" CONTENTS ",\"cachedContent\":\"cachedContents/1\"}", true, false, true, 1},
        {"{" CONTENTS ",\"systemInstruction\":{\"parts\":[{\"text\":\"\\u003c<<hw_attachment\"}]}}", true,
         false, true, 1},
        {"{\"contents\":[{\"parts\":[{\"text\":\"<<<HW_ATTACHMENT\"}]}]}", true, false, true, 1},
    };
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
        struct request_facts facts;
        gemini()->request(span_str(table[i].body), &facts);
        if ((facts.root.n > 0) != table[i].usable || facts.machine_read != table[i].machine ||
            facts.explains_protocol != table[i].explained || facts.choices != table[i].choices)
            fail_msg("%s", table[i].body);
    }
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
    static const struct {
        const char *body, *expected;
    } table[] = {
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
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
        struct request_facts facts;
        struct edits edits = {0};
        struct buf room, out;
        buf_init(&room, ROOM);
        buf_init(&out, ROOM);
        gemini()->request(span_str(table[i].body), &facts);
        gemini()->add_protocol(span_str(table[i].body), &facts, SPAN_LIT("P"), &room, &edits);
        assert_int_equal(edits_apply(&edits, span_str(table[i].body), &out), 0);
        assert_string_equal(buf_cstr(&out), table[i].expected);
        edits_free(&edits);
        buf_free(&room);
        buf_free(&out);
    }
}

/* Reads an event, and says its deltas in short: t for text, # for log probabilities, . for an end, with
 * channel. */
static void say(const char *json, unsigned choices, bool whole, struct buf *said)
{
    static const char letters[] = {
        [DELTA_TEXT] = 't', [DELTA_TOKENS] = '#', [DELTA_CHANNEL_END] = '.', [DELTA_EXCERPT] = 'x',
        [DELTA_LIST] = 'l', [DELTA_ITEM] = 'i',   [DELTA_OFFSET] = 'o',      [DELTA_BESIDE] = 'b'};
    struct reply_event e = {0};
    struct reply_ends ends = {0};
    reply_event_reset(&e, span_str(json));
    e.json = e.raw;
    e.whole = whole;
    gemini()->event(&e, choices, &ends);
    for (size_t i = 0; i < e.n; i++)
        buf_printf(said, "%c%u", letters[e.deltas[i].kind], e.deltas[i].channel);
    buf_printf(said, "%s%s%s%s%s", e.bare ? " bare" : "", e.ends_reply ? " ends" : "",
               e.error ? " error" : "", e.may_go_on ? " perhaps" : "", e.ends_stream ? " stream" : "");
    reply_event_free(&e);
}

static void test_events(void **state)
{
    (void)state;
    static const struct {
        const char *json, *said;
    } table[] = {
        {"{\"candidates\":[{\"content\":{\"parts\":[{\"text\":\"a\"}],\"role\":\"model\"},\"index\":0}]}",
         "t0 bare"},
        {"{\"candidates\":[{\"index\":3,\"content\":{\"parts\":[{\"text\":\"a\"},{\"text\":\"b\"}]}}],"
         "\"modelVersion\":\"m\",\"responseId\":\"r\"}",
         "t3t3 bare"},
        {"{\"candidates\":[{\"content\":{\"parts\":[{\"text\":\"a\"}]}}],\"usageMetadata\":{}}", "t0"},
        {"{\"candidates\":[{\"content\":{\"parts\":[{\"text\":\"a\",\"thought\":true}]}}]}", ""},
        {"{\"candidates\":[{\"content\":{\"parts\":[{\"thought\":false,\"text\":\"a\"}]}}]}", "t0 bare"},
        {"{\"candidates\":[{\"content\":{\"parts\":[{\"text\":\"\",\"thoughtSignature\":\"s\"}]}}]}", ""},
        {"{\"candidates\":[{\"content\":{\"parts\":[{\"text\":\"a\",\"thoughtSignature\":\"s\"}]}}]}", "t0"},
        {"{\"candidates\":[{\"content\":{\"parts\":[{\"functionCall\":{\"name\":\"f\"}}]}}]}", ""},
        {"{\"candidates\":[{\"content\":{}}]}", " bare"},
        {"{\"candidates\":[{\"finishReason\":\"STOP\",\"content\":{\"parts\":[{\"text\":\"a\"}]}}]}",
         "t0.0 ends perhaps"},
        {"{\"candidates\":[{\"finishReason\":\"FINISH_REASON_UNSPECIFIED\"}]}", " bare"},
        {"{\"candidates\":[{\"finishReason\":null}]}", " bare"},
        {"{\"candidates\":[{\"index\":-1,\"content\":{\"parts\":[{\"text\":\"a\"}]}},{\"index\":1.5}]}",
         "t0 bare"},
        {"{\"candidates\":[{\"logprobsResult\":{\"chosenCandidates\":[{}],\"topCandidates\":[{}]}}]}",
         "#0b0 bare"},
        {"{\"candidates\":[{\"citationMetadata\":{\"citations\":[{\"endIndex\":1},{}]}}]}", "l0i0o0o0i0"},
        {"{\"candidates\":[{\"groundingMetadata\":{\"groundingSupports\":[{\"segment\":{\"endIndex\":1,"
         "\"text\":\"a\"}}]}}]}",
         "l0i0o0o0x0"},
        {"{\"promptFeedback\":{\"blockReason\":\"SAFETY\"}}", ""},
        {"{\"error\":{\"code\":503}}", " error"},
        {"{\"error\":{}}", ""},
        {"[DONE]", " stream"},
        {"{\"candidates\":[{\"content\":{\"parts\":[{\"text\":\"a\"}]}}]", ""},
        {"[]", ""},
        {"", ""},
    };
    struct buf said;
    buf_init(&said, ROOM);
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
        buf_reset(&said);
        say(table[i].json, 1, false, &said);
        if (!span_is(buf_span(&said), table[i].said))
            fail_msg("%s: \"%s\"", table[i].json, buf_cstr(&said));
    }
    buf_reset(&said);
    say("{\"candidates\":[{\"content\":{\"parts\":[{\"text\":\"a\"}]}},{\"index\":1}]}", 2, true, &said);
    assert_string_equal(buf_cstr(&said), "t0.0.1 ends perhaps");
    buf_reset(&said);
    say("{\"candidates\":[{\"finishReason\":\"STOP\"},{\"index\":1}]}", 1, false, &said);
    assert_string_equal(buf_cstr(&said), ".0 perhaps"); /* the other one goes on */
    buf_free(&said);
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
        cmocka_unit_test(test_request_facts), cmocka_unit_test(test_target), cmocka_unit_test(test_protocol),
        cmocka_unit_test(test_events),        cmocka_unit_test(test_errors),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
