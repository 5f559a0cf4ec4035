/* What a caller says: X-HW- headers, the body's `hw`, which of them wins, and where an API key may stand. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "proxy/caller.h"

/* The settings as one line, so that a row of a table can hold them. */
static const char *said(const struct caller *c)
{
    static char text[512];
    static const char *const marks[] = {"", "consult=on ", "consult=off "};
    static const char *const keys[CALLER_NAMES] = {"org", "thread", "turn", "parent", "trigger", "headline"};
    int n = snprintf(text, sizeof text, "%s%s%s%s%s%s%s", marks[c->consult],
                     c->image_generation_off ? "images=off " : "", c->stream_buffer ? "buffer " : "",
                     c->links_markdown ? "markdown " : "", c->errors_event ? "event " : "",
                     c->inject_off ? "inject=off " : "", c->context_attachments ? "attachments " : "");
    for (int i = 0; i < CALLER_NAMES; i++)
        if (c->names[i])
            n += snprintf(text + n, sizeof text - (size_t)n, "%s=%s ", keys[i], c->names[i]);
    return text;
}

/* Headers as lines, then the body's value (NULL: none). */
static int say(struct caller *c, const char *headers, const char *hw, struct error *e)
{
    static struct http_head head;
    static char bytes[4096];
    snprintf(bytes, sizeof bytes, "POST /x HTTP/1.1\r\nHost: h\r\n%s\r\n", headers);
    assert_int_equal(http_head_read(span_str(bytes), true, &head, e), 0);
    if (caller_read_head(c, &head, e) < 0)
        return -1;
    return hw ? caller_read_body(c, span_str(hw), e) : 0;
}

static struct config *defaults(const char *text)
{
    struct config_error e;
    struct config *c = config_parse(span_str(text), "test", &e);
    assert_non_null(c);
    return c;
}

#define A64 "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"

static void accepted(void **state)
{
    (void)state;
    struct config *config = defaults("enabled: true\n");
    static const struct {
        const char *headers, *hw, *said;
    } rows[] = {
        {"", NULL, ""},
        {"", "{}", ""},
        {"", "{ }", ""},
        {"X-HW-Consult: on\r\n", NULL, "consult=on "},
        {"x-hw-CONSULT: OFF\r\n", NULL, "consult=off "},
        {"X-HW-Org: Acme-1_x\r\nX-HW-Thread: t.1:2\r\nX-HW-Turn: 3\r\nX-HW-Parent: hw-9\r\n", NULL,
         "org=Acme-1_x thread=t.1:2 turn=3 parent=hw-9 "},
        {"X-HW-Org: " A64 "\r\n", NULL, "org=" A64 " "},
        {"X-HW-Stream: buffer\r\nX-HW-Links: markdown\r\nX-HW-Errors: event\r\nX-HW-Inject: off\r\n"
         "X-HW-Context: attachments\r\nX-HW-Image-Generation: off\r\n",
         NULL, "images=off buffer markdown event inject=off attachments "},
        {"X-HW-Stream: suppress\r\nX-HW-Links: none\r\nX-HW-Errors: http\r\nX-HW-Inject: on\r\n"
         "X-HW-Context: fields\r\nX-HW-Image-Generation: on\r\n",
         NULL, ""},
        {"X-HW-Something: else\r\nX-HWx: 1\r\nX-HW: 2\r\nXX-HW-Consult: on\r\n", NULL, ""},
        {"",
         "{\"consult\":\"on\",\"org\":\"acme\",\"thread\":\"t\",\"turn\":\"u\",\"parent\":\"p\","
         "\"agent_context\":{\"image_generation_enabled\":false},\"stream\":\"buffer\",\"links\":"
         "\"markdown\","
         "\"errors\":\"event\",\"inject\":\"off\",\"context\":\"attachments\",\"forward\":[]}",
         "consult=on images=off buffer markdown event inject=off attachments org=acme thread=t turn=u "
         "parent=p "},
        {"X-HW-Thread: ticket/42 \xc3\xbc\r\nX-HW-Headline: Read it, all of it\r\nX-HW-Trigger: cron\r\n",
         NULL, "thread=ticket/42 \xc3\xbc trigger=cron headline=Read it, all of it "},
        {"X-HW-Thread: " A64 A64 A64 A64 "\r\n", NULL, "thread=" A64 A64 A64 A64 " "},
        {"", "{\"thread\":\"a\\/b \\u00fc\",\"headline\":\"\\\"x\\\"\",\"trigger\":\"subagent_result\"}",
         "thread=a/b \xc3\xbc trigger=subagent_result headline=\"x\" "},
        {"X-HW-Headline: head\r\n", "{\"headline\":\"body\"}", "headline=head "},
        {"", "{\"agent_context\":{}}", ""},
        {"", "{\"agent_context\":{\"image_generation_enabled\":true}}", ""},
        {"", "{\"agent_context\":{\"image_generation_enabled\":null}}", ""},
        {"", "{\"forward\":null}", ""},
        {"", "{\"c\\u006fnsult\":\"on\"}", "consult=on "},
        {"", "{\"turn\":7}", "turn=7 "},
        /* null: nothing is said */
        {"", "{\"org\":null,\"turn\":null}", ""},
        {"",
         "{\"consult\":null,\"stream\":null,\"links\":null,\"errors\":null,\"inject\":null,\"context\":null,"
         "\"agent_context\":null}",
         ""},
        /* a header wins, even with the default's own word */
        {"X-HW-Consult: off\r\n", "{\"consult\":\"on\"}", "consult=off "},
        {"X-HW-Org: head\r\n", "{\"org\":\"body\",\"thread\":\"t\"}", "org=head thread=t "},
        {"X-HW-Stream: suppress\r\n", "{\"stream\":\"buffer\",\"links\":\"markdown\"}", "markdown "},
        {"X-HW-Image-Generation: on\r\n", "{\"agent_context\":{\"image_generation_enabled\":false}}", ""},
        {"X-HW-Image-Generation: off\r\n", "{\"agent_context\":{\"image_generation_enabled\":true}}",
         "images=off "},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct caller c;
        struct error e;
        caller_init(&c, config);
        if (say(&c, rows[i].headers, rows[i].hw, &e) < 0)
            fail_msg("row %zu: %s", i, e.message);
        assert_string_equal(said(&c), rows[i].said);
        assert_string_equal(caller_org(&c), c.names[CALLER_ORG] ? c.names[CALLER_ORG] : "default");
        caller_finish(&c);
    }
    config_unref(config);
}

static void refused(void **state)
{
    (void)state;
    struct config *config = defaults("enabled: true\n");
    static const struct {
        const char *headers, *hw, *named;
        enum error_code code;
    } rows[] = {
        {"X-HW-Consult: maybe\r\n", NULL, "X-HW-Consult", ERROR_BAD_REQUEST},
        {"X-HW-Consult:\r\n", NULL, "X-HW-Consult", ERROR_BAD_REQUEST},
        {"X-HW-Stream: on\r\n", NULL, "X-HW-Stream", ERROR_BAD_REQUEST},
        {"X-HW-Links: Markdown!\r\n", NULL, "X-HW-Links", ERROR_BAD_REQUEST},
        {"X-HW-Errors: sse\r\n", NULL, "X-HW-Errors", ERROR_BAD_REQUEST},
        {"X-HW-Inject: no\r\n", NULL, "X-HW-Inject", ERROR_BAD_REQUEST},
        {"X-HW-Context: all\r\n", NULL, "X-HW-Context", ERROR_BAD_REQUEST},
        {"X-HW-Image-Generation: 0\r\n", NULL, "X-HW-Image-Generation", ERROR_BAD_REQUEST},
        {"X-HW-Org:\r\n", NULL, "X-HW-Org", ERROR_BAD_REQUEST},
        {"X-HW-Org: ..\r\n", NULL, "X-HW-Org", ERROR_BAD_REQUEST},
        {"X-HW-Org: a/b\r\n", NULL, "X-HW-Org", ERROR_BAD_REQUEST},
        {"X-HW-Org: a.b\r\n", NULL, "X-HW-Org", ERROR_BAD_REQUEST},
        {"X-HW-Org: a b\r\n", NULL, "X-HW-Org", ERROR_BAD_REQUEST},
        {"X-HW-Org: \xc3\xa9\r\n", NULL, "X-HW-Org", ERROR_BAD_REQUEST},
        {"X-HW-Org: " A64 "a\r\n", NULL, "X-HW-Org", ERROR_BAD_REQUEST},
        {"X-HW-Org: a\r\nX-HW-Org: b\r\n", NULL, "X-HW-Org", ERROR_BAD_REQUEST},
        {"X-HW-Org: a\r\nx-hw-org: a\r\n", NULL, "X-HW-Org", ERROR_BAD_REQUEST},
        {"X-HW-Consult: on\r\nX-HW-Consult: off\r\n", NULL, "X-HW-Consult", ERROR_BAD_REQUEST},
        {"X-HW-Stream: buffer\r\nX-HW-Links: none\r\nx-hw-stream: buffer\r\n", NULL, "X-HW-Stream",
         ERROR_BAD_REQUEST},
        {"X-HW-Turn: a/b\r\n", NULL, "X-HW-Turn", ERROR_BAD_REQUEST},
        {"X-HW-Thread: a\xff\r\n", NULL, "X-HW-Thread", ERROR_BAD_REQUEST},
        {"X-HW-Thread: " A64 A64 A64 A64 "a\r\n", NULL, "X-HW-Thread", ERROR_BAD_REQUEST},
        {"X-HW-Thread:\r\n", NULL, "X-HW-Thread", ERROR_BAD_REQUEST},
        {"X-HW-Trigger: two words\r\n", NULL, "X-HW-Trigger", ERROR_BAD_REQUEST},
        {"", "{\"thread\":{}}", "hw.thread", ERROR_BAD_REQUEST},
        {"", "{\"headline\":7}", "hw.headline", ERROR_BAD_REQUEST},
        {"", "{\"headline\":\"two\\nlines\"}", "hw.headline", ERROR_BAD_REQUEST},
        {"", "{\"headline\":\"\"}", "hw.headline", ERROR_BAD_REQUEST},
        {"X-HW-Turn: \"1\"\r\n", NULL, "X-HW-Turn", ERROR_BAD_REQUEST},
        {"X-HW-Parent: " A64 "a\r\n", NULL, "X-HW-Parent", ERROR_BAD_REQUEST},
        /* wrong in a header is wrong, whatever the body says */
        {"X-HW-Org: ..\r\n", "{\"org\":\"good\"}", "X-HW-Org", ERROR_BAD_REQUEST},
        {"", "null", "hw", ERROR_BAD_REQUEST},
        {"", "[]", "hw", ERROR_BAD_REQUEST},
        {"", "\"on\"", "hw", ERROR_BAD_REQUEST},
        {"", "{\"unknown\":1}", "\"unknown\"", ERROR_BAD_REQUEST},
        {"", "{\"Consult\":\"on\"}", "\"Consult\"", ERROR_BAD_REQUEST},
        {"", "{\"image_generation\":\"off\"}", "image_generation", ERROR_BAD_REQUEST},
        {"", "{\"consult\":true}", "hw.consult", ERROR_BAD_REQUEST},
        {"", "{\"stream\":true}", "hw.stream", ERROR_BAD_REQUEST},
        {"", "{\"org\":\"../x\"}", "hw.org", ERROR_BAD_REQUEST},
        {"", "{\"org\":\"\\u0061\"}", "hw.org", ERROR_BAD_REQUEST},
        {"", "{\"org\":{}}", "hw.org", ERROR_BAD_REQUEST},
        {"", "{\"org\":7}", "hw.org", ERROR_BAD_REQUEST},
        {"", "{\"parent\":true}", "hw.parent", ERROR_BAD_REQUEST},
        {"", "{\"turn\":false}", "hw.turn", ERROR_BAD_REQUEST},
        /* of two, one would be dropped in silence */
        {"", "{\"org\":\"a\",\"org\":\"a\"}", "hw.org", ERROR_BAD_REQUEST},
        {"", "{\"stream\":\"buffer\",\"stream\":\"suppress\"}", "hw.stream", ERROR_BAD_REQUEST},
        {"", "{\"consult\":\"on\",\"c\\u006fnsult\":\"off\"}", "hw.consult", ERROR_BAD_REQUEST},
        {"", "{\"forward\":[\"a\"],\"forward\":[\"b\"]}", "hw.forward", ERROR_BAD_REQUEST},
        {"", "{\"agent_context\":{},\"agent_context\":{}}", "hw.agent_context", ERROR_BAD_REQUEST},
        {"", "{\"agent_context\":{\"image_generation_enabled\":true,\"image_generation_enabled\":false}}",
         "image_generation_enabled", ERROR_BAD_REQUEST},
        {"", "{\"turn\":null,\"turn\":\"1\"}", "hw.turn", ERROR_BAD_REQUEST},
        /* … also where a header has said it */
        {"X-HW-Org: a\r\n", "{\"org\":\"b\",\"org\":\"c\"}", "hw.org", ERROR_BAD_REQUEST},
        /* the first mistake is named */
        {"X-HW-Org: ..\r\nX-HW-Stream: x\r\n", NULL, "X-HW-Org", ERROR_BAD_REQUEST},
        {"", "{\"first\":1,\"second\":2}", "first", ERROR_BAD_REQUEST},
        {"", "{\"agent_context\":[]}", "hw.agent_context", ERROR_BAD_REQUEST},
        {"", "{\"agent_context\":{\"x\":1}}", "hw.agent_context", ERROR_BAD_REQUEST},
        {"", "{\"agent_context\":{\"image_generation_enabled\":\"no\"}}", "image_generation_enabled",
         ERROR_BAD_REQUEST},
        {"", "{\"forward\":true}", "hw.forward", ERROR_BAD_REQUEST},
        {"", "{\"forward\":{}}", "hw.forward", ERROR_BAD_REQUEST},
        {"", "{\"forward\":\"\"}", "hw.forward", ERROR_BAD_REQUEST},
        {"", "{\"forward\":[\"log\",7]}", "hw.forward", ERROR_BAD_REQUEST},
        {"", "{\"forward\":[\"a\\u0000\"]}", "hw.forward", ERROR_BAD_REQUEST},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct caller c;
        struct error e = {0};
        caller_init(&c, config);
        if (say(&c, rows[i].headers, rows[i].hw, &e) != -1)
            fail_msg("row %zu was taken: %s", i, said(&c));
        assert_int_equal(e.code, rows[i].code);
        if (!strstr(e.message, rows[i].named))
            fail_msg("no '%s' in '%s'", rows[i].named, e.message);
        caller_finish(&c);
    }
    config_unref(config);
}

/* How a mistake is to be told may be said behind it. */
static void what_is_said_behind_a_mistake_counts(void **state)
{
    (void)state;
    struct config *config = defaults("enabled: true\n");
    static const struct {
        const char *headers, *hw;
    } rows[] = {
        {"X-HW-Org: ..\r\nX-HW-Errors: event\r\n", NULL},
        {"", "{\"unknown\":1,\"errors\":\"event\"}"},
        {"", "{\"org\":\"a\",\"org\":\"b\",\"errors\":\"event\"}"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct caller c;
        struct error e = {0};
        caller_init(&c, config);
        assert_int_equal(say(&c, rows[i].headers, rows[i].hw, &e), -1);
        assert_true(c.errors_event);
        caller_finish(&c);
    }
    config_unref(config);
}

static void a7_what_is_forwarded(void **state)
{
    (void)state;
    struct config *config = defaults("enabled: true\n");
    static const struct {
        const char *hw;
        bool all;
        size_t n;
        const char *first;
    } rows[] = {
        {"{}", false, 0, NULL},
        {"{\"forward\":[]}", false, 0, NULL},
        {"{\"forward\":\"all\"}", true, 0, NULL},
        {"{\"forward\":\"log\"}", false, 1, "log"},
        {"{\"forward\":[\"scr\\u0065en\",\"log\"]}", false, 2, "screen"},
        {"{\"forward\":[\"all\"]}", false, 1, "all"}, /* in a list it is a name */
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct caller c;
        struct error e = {0};
        caller_init(&c, config);
        assert_int_equal(say(&c, "", rows[i].hw, &e), 0);
        assert_int_equal(c.forward_all, rows[i].all);
        assert_int_equal(c.nforward, rows[i].n);
        if (rows[i].first)
            assert_string_equal(c.forward[0], rows[i].first);
        caller_finish(&c);
    }
    config_unref(config);
}

static void defaults_of_the_configuration(void **state)
{
    (void)state;
    struct config *config = defaults("stream: buffer\nlinks: markdown\ncontext: attachments\n");
    struct caller c;
    struct error e;
    caller_init(&c, config);
    assert_string_equal(said(&c), "buffer markdown attachments ");
    assert_string_equal(caller_org(&c), "default");
    assert_int_equal(say(&c, "X-HW-Stream: suppress\r\n", "{\"links\":\"none\",\"stream\":\"buffer\"}", &e),
                     0);
    assert_string_equal(said(&c), "attachments ");
    caller_finish(&c);
    config_unref(config);
}

static void api_keys(void **state)
{
    (void)state;
    static const struct {
        const char *headers, *query, *key;
    } rows[] = {
        {"", "", ""},
        {"Authorization: Bearer sk-1\r\n", "", "sk-1"},
        {"authorization: bearer   sk-1\r\n", "", "sk-1"},
        {"Authorization: Bearer\r\n", "", "Bearer"},
        {"Authorization: Basic abc\r\n", "", "Basic abc"},
        {"Authorization:\r\nx-api-key: k\r\n", "", "k"},
        {"X-API-Key: k\r\n", "", "k"},
        {"Api-Key: k\r\n", "", "k"},
        {"x-goog-api-key: k\r\n", "key=other", "k"},
        {"Authorization: Bearer a\r\nx-api-key: b\r\n", "key=c", "a"},
        {"", "key=k", "k"},
        {"", "alt=sse&key=k%20&x=y", "k%20"},
        {"", "xkey=a&keys=b&key=c&key=d", "c"},
        {"", "key", ""},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        static struct http_head head;
        struct error e;
        char bytes[256];
        snprintf(bytes, sizeof bytes, "GET / HTTP/1.1\r\nHost: h\r\n%s\r\n", rows[i].headers);
        assert_int_equal(http_head_read(span_str(bytes), true, &head, &e), 0);
        struct span key = caller_api_key(&head, span_str(rows[i].query));
        if (!span_is(key, rows[i].key))
            fail_msg("row %zu: '%.*s'", i, (int)key.n, key.p);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(accepted),
        cmocka_unit_test(refused),
        cmocka_unit_test(what_is_said_behind_a_mistake_counts),
        cmocka_unit_test(a7_what_is_forwarded),
        cmocka_unit_test(defaults_of_the_configuration),
        cmocka_unit_test(api_keys),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
