/* The dialect of Ollama: what a request says, where the protocol goes, what a line says, errors. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>

#include <cmocka.h>

#include "providers/dialect.h"

enum { ROOM = 1 << 16 };

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
    static const struct {
        const char *body;
        bool usable, stream, machine, explained;
    } table[] = {
        {"{\"model\":\"m\",\"messages\":[" USER "]}", true, true, false, false},
        {"{\"messages\":[" USER "],\"stream\":false}", true, false, false, false},
        {"{\"messages\":[" USER "],\"stream\":null}", true, true, false, false},
        {"{\"messages\":[" USER "],\"format\":\"json\"}", true, true, true, false},
        {"{\"messages\":[" USER "],\"format\":{\"type\":\"object\"}}", true, true, true, false},
        {"{\"messages\":[" USER "],\"format\":\"\"}", true, true, false, false},
        {"{\"messages\":[" USER "],\"format\":null}", true, true, false, false},
        {"{\"messages\":[]}", true, true, false, true},
        {"{\"messages\":{}}", false, false, false, false},
        {"{\"messages\":[{\"content\":\"<<<HW_ATTACHMENT\"}]}", true, true, false, true},
        {"{\"prompt\":\"p\"}", true, true, false, false},
        {"{\"prompt\":\"\"}", true, true, false, true},
        {"{\"model\":\"m\",\"keep_alive\":0}", true, true, false, true},
        {"{\"prompt\":\"p\",\"raw\":true}", true, true, false, true},
        {"{\"prompt\":\"p\",\"suffix\":\"s\"}", true, true, true, false},
        {"{\"prompt\":\"p\",\"suffix\":\"\"}", true, true, false, false},
        {"{\"prompt\":\"p\",\"system\":\"x \\u003c<<HW_ATTACHMENT\"}", true, true, false, true},
        {"{\"prompt\":\"<<<HW_ATTACHMENT\"}", true, true, false, true},
        {"{\"prompt\":\"p\",\"system\":[\"x\"]}", false, false, false, false},
        {"[]", false, false, false, false},
        {"{\"prompt\":\"p\"", false, false, false, false},
        {"", false, false, false, false},
    };
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
        struct request_facts facts;
        ollama()->request(span_str(table[i].body), &facts);
        if ((facts.root.n > 0) != table[i].usable || facts.stream != table[i].stream ||
            facts.machine_read != table[i].machine || facts.explains_protocol != table[i].explained)
            fail_msg("%s", table[i].body);
    }
}

static void test_protocol(void **state)
{
    (void)state;
    static const struct {
        const char *body, *expected;
    } table[] = {
        {"{\"messages\":[" USER "]}", "{\"messages\":[" ADDED "," USER "]}"},
        {"{\"messages\":[" SYSTEM " , " USER "]}", "{\"messages\":[" SYSTEM "," ADDED " , " USER "]}"},
        {"{\"messages\":[" SYSTEM "]}", "{\"messages\":[" SYSTEM "," ADDED "]}"},
        {"{\"messages\":[" USER "," SYSTEM "]}", "{\"messages\":[" ADDED "," USER "," SYSTEM "]}"},
        {"{\"prompt\":\"p\" }", "{\"prompt\":\"p\" ,\"system\":\"P\"}"},
        {"{\"system\":\"s\",\"prompt\":\"p\"}", "{\"system\":\"s\\n\\nP\",\"prompt\":\"p\"}"},
        {"{\"system\":\"\",\"prompt\":\"p\"}", "{\"system\":\"P\",\"prompt\":\"p\"}"},
        {"{\"system\": null,\"prompt\":\"p\"}", "{\"system\": \"P\",\"prompt\":\"p\"}"},
    };
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
        struct request_facts facts;
        struct edits edits = {0};
        struct buf room, out;
        buf_init(&room, ROOM);
        buf_init(&out, ROOM);
        ollama()->request(span_str(table[i].body), &facts);
        ollama()->add_protocol(span_str(table[i].body), &facts, SPAN_LIT("P"), &room, &edits);
        assert_int_equal(edits_apply(&edits, span_str(table[i].body), &out), 0);
        assert_string_equal(buf_cstr(&out), table[i].expected);
        edits_free(&edits);
        buf_free(&room);
        buf_free(&out);
    }
}

/* Reads a line, and says its deltas in short: t for text, # for log probabilities, . for an end, e for an
 * echo. */
static void say(const char *json, bool whole, struct buf *said)
{
    static const char letters[] = {
        [DELTA_TEXT] = 't', [DELTA_TOKENS] = '#', [DELTA_CHANNEL_END] = '.', [DELTA_ECHO] = 'e'};
    struct reply_event e = {0};
    struct reply_ends ends = {0};
    reply_event_reset(&e, span_str(json));
    e.json = e.raw;
    e.whole = whole;
    ollama()->event(&e, 1, &ends);
    for (size_t i = 0; i < e.n; i++)
        buf_addc(said, letters[e.deltas[i].kind]);
    buf_printf(said, "%s%s%s", e.bare ? " bare" : "", e.ends_reply ? " ends" : "", e.error ? " error" : "");
    reply_event_free(&e);
}

static void test_events(void **state)
{
    (void)state;
    static const struct {
        const char *json, *said;
        bool whole;
    } table[] = {
        {"{\"model\":\"m\",\"created_at\":\"t\",\"message\":{\"role\":\"assistant\",\"content\":\"a\"},"
         "\"done\":"
         "false}",
         "t bare", false},
        {"{\"response\":\"a\",\"done\":false}", "t bare", false},
        {"{\"response\":\"a\",\"thinking\":\"x\",\"done\":false}", "t", false},
        {"{\"message\":{\"content\":\"\",\"thinking\":\"x\"}}", "t", false},
        {"{\"message\":{\"content\":\"a\",\"tool_calls\":[]}}", "t", false},
        {"{\"message\":{\"content\":null}}", "", false},
        {"{\"message\":\"x\"}", "", false},
        {"{\"response\":\"a\",\"logprobs\":[{}]}", "t# bare", false},
        {"{\"response\":\"\",\"done\":true,\"done_reason\":\"stop\",\"context\":[1]}", "t. ends", false},
        {"{\"done\":true}", ". ends", false},
        {"{\"response\":\"a\",\"done\":false}", "t. ends", true},
        {"{\"error\":\"no\"}", " error", false},
        {"{\"error\":null}", "", false},
        {"{\"_debug_info\":{\"rendered_template\":\"x\"}}", "e", false},
        {"{\"response\":\"a\",\"done\":true", "", false},
        {"{\"response\":\"a\"} x", "", false},
        {"", "", false},
    };
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
        struct buf said;
        buf_init(&said, ROOM);
        say(table[i].json, table[i].whole, &said);
        if (!span_is(buf_span(&said), table[i].said))
            fail_msg("%s: \"%s\"", table[i].json, buf_cstr(&said));
        buf_free(&said);
    }
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
        cmocka_unit_test(test_request_facts),
        cmocka_unit_test(test_protocol),
        cmocka_unit_test(test_events),
        cmocka_unit_test(test_errors),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
