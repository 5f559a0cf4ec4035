/* From a request line to a provider, what is appended to its base, and the API. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "proxy/route.h"

static const char configuration[] =
    "default_provider: openai\n"
    "providers:\n"
    "  - {name: openai, dialect: openai, base_url: \"https://api.openai.test\"}\n"
    "  - {name: anthropic, dialect: anthropic, base_url: \"https://api.anthropic.test\"}\n"
    "  - {name: team, dialect: openai, base_url: \"http://a.test\", prefix: /team}\n"
    "  - {name: deep, dialect: openai, base_url: \"http://b.test\", prefix: /team/deep}\n"
    "  - {name: ollama, dialect: ollama, base_url: \"http://c.test\"}\n";

static struct config *load(const char *text)
{
    struct config_error e;
    struct config *c = config_parse(span_str(text), "test", &e);
    if (!c)
        print_error("%s\n", e.message);
    assert_non_null(c);
    return c;
}

static void targets(void **state)
{
    (void)state;
    struct config *c = load(configuration);
    static const struct {
        const char *method, *target, *provider, *rest, *path, *query;
        enum api api;
        bool stored;
    } rows[] = {
        {"POST", "/v1/chat/completions", "openai", "/v1/chat/completions", "/v1/chat/completions", "",
         API_OPENAI_CHAT, false},
        {"POST", "/openai/v1/chat/completions?a=b", "openai", "/v1/chat/completions?a=b",
         "/v1/chat/completions", "a=b", API_OPENAI_CHAT, false},
        {"GET", "/v1/chat/completions/abc", "openai", "/v1/chat/completions/abc", "/v1/chat/completions/abc",
         "", API_OPENAI_CHAT, true},
        {"GET", "/v1/chat/completions", "openai", "/v1/chat/completions", "/v1/chat/completions", "",
         API_NONE, false},
        {"POST", "/v1/responses", "openai", "/v1/responses", "/v1/responses", "", API_OPENAI_RESPONSES,
         false},
        {"POST", "/v1/responses/r1/cancel", "openai", "/v1/responses/r1/cancel", "/v1/responses/r1/cancel",
         "", API_OPENAI_RESPONSES, true},
        {"GET", "/v1/responses/r1?stream=true", "openai", "/v1/responses/r1?stream=true", "/v1/responses/r1",
         "stream=true", API_OPENAI_RESPONSES, true},
        {"POST", "/anthropic/v1/messages", "anthropic", "/v1/messages", "/v1/messages", "",
         API_ANTHROPIC_MESSAGES, false},
        {"POST", "/ollama/api/chat", "ollama", "/api/chat", "/api/chat", "", API_OLLAMA, false},
        {"GET", "/ollama/api/tags", "ollama", "/api/tags", "/api/tags", "", API_NONE, false},
        /* a prefix is whole segments, spelt as in the configuration; of two the longer */
        {"GET", "/anthropic", "anthropic", "", "", "", API_NONE, false},
        {"GET", "/anthropic?x=/y", "anthropic", "?x=/y", "", "x=/y", API_NONE, false},
        {"GET", "/anthropic/", "anthropic", "/", "/", "", API_NONE, false},
        {"GET", "/anthropics/v1", "openai", "/anthropics/v1", "/anthropics/v1", "", API_NONE, false},
        {"GET", "/Anthropic/v1", "openai", "/Anthropic/v1", "/Anthropic/v1", "", API_NONE, false},
        {"GET", "/x/anthropic/v1", "openai", "/x/anthropic/v1", "/x/anthropic/v1", "", API_NONE, false},
        {"GET", "/x?/anthropic/v1", "openai", "/x?/anthropic/v1", "/x", "/anthropic/v1", API_NONE, false},
        {"GET", "/team/x", "team", "/x", "/x", "", API_NONE, false},
        {"GET", "/team/deep/x", "deep", "/x", "/x", "", API_NONE, false},
        {"GET", "/team/deeper", "team", "/deeper", "/deeper", "", API_NONE, false},
        /* bytes that are not looked at */
        {"GET", "/", "openai", "/", "/", "", API_NONE, false},
        {"GET", "//anthropic/v1", "openai", "//anthropic/v1", "//anthropic/v1", "", API_NONE, false},
        {"GET", "/a?b?c", "openai", "/a?b?c", "/a", "b?c", API_NONE, false},
        {"GET", "/a?", "openai", "/a?", "/a", "", API_NONE, false},
        {"GET", "/%61nthropic/v1", "openai", "/%61nthropic/v1", "/%61nthropic/v1", "", API_NONE, false},
        {"GET", "/anthropic/../x", "anthropic", "/../x", "/../x", "", API_NONE, false},
        /* absolute form: the authority is the proxy's own */
        {"POST", "http://proxy.test:8080/anthropic/v1/messages?x", "anthropic", "/v1/messages?x",
         "/v1/messages", "x", API_ANTHROPIC_MESSAGES, false},
        {"GET", "https://proxy.test/v1/models", "openai", "/v1/models", "/v1/models", "", API_NONE, false},
        {"GET", "http://proxy.test", "openai", "/", "/", "", API_NONE, false},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct route r;
        assert_int_equal(route_find(c, span_str(rows[i].method), span_str(rows[i].target), &r), 0);
        if (!r.provider || strcmp(r.provider->name, rows[i].provider) != 0 ||
            !span_is(r.rest, rows[i].rest) || r.api != rows[i].api)
            print_error("%s: %s, rest '%.*s', api %d\n", rows[i].target,
                        r.provider ? r.provider->name : "none", (int)r.rest.n, r.rest.p, r.api);
        assert_string_equal(r.provider->name, rows[i].provider);
        assert_true(span_is(r.rest, rows[i].rest));
        assert_true(span_is(r.path, rows[i].path));
        assert_true(span_is(r.query, rows[i].query));
        assert_int_equal(r.api, rows[i].api);
        assert_int_equal(r.stored, rows[i].stored);
    }
    config_unref(c);
}

static void no_paths(void **state)
{
    (void)state;
    struct config *c = load(configuration);
    static const char *const bad[] = {"",   "*",         "h:443", "x",       "anthropic/v1",
                                      "?a", "ftp://h/x", "HTTP",  "http:/x", "http//x"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        struct route r;
        if (route_find(c, SPAN_LIT("GET"), span_str(bad[i]), &r) != -1)
            print_error("%s\n", bad[i]);
        assert_int_equal(route_find(c, SPAN_LIT("GET"), span_str(bad[i]), &r), -1);
        assert_null(r.provider);
    }
    config_unref(c);
}

static void no_default(void **state)
{
    (void)state;
    struct config *c = load("default_provider: none\nproviders:\n"
                            "  - {name: a, dialect: openai, base_url: \"http://a.test\"}\n");
    struct route r;
    assert_int_equal(route_find(c, SPAN_LIT("POST"), SPAN_LIT("/v1/chat/completions"), &r), 0);
    assert_null(r.provider);
    assert_int_equal(r.api, API_NONE);
    assert_int_equal(route_find(c, SPAN_LIT("POST"), SPAN_LIT("/a/v1/chat/completions"), &r), 0);
    assert_string_equal(r.provider->name, "a");
    assert_int_equal(r.api, API_OPENAI_CHAT);
    config_unref(c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(targets),
        cmocka_unit_test(no_paths),
        cmocka_unit_test(no_default),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
