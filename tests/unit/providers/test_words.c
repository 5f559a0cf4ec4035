/* What the last turn of a request says, for every API. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>

#include <cmocka.h>

#include "base/json.h"
#include "base/xalloc.h"
#include "providers/words.h"

static struct request_words words_of(enum api api, struct span body, size_t max)
{
    struct request_words words = {.cut = false};
    buf_init(&words.text, max);
    request_words(api, body, &words);
    return words;
}

static void test_texts(void **state)
{
    (void)state;
    static const struct {
        enum api api;
        const char *body, *text;
        bool results;
    } rows[] = {
        {API_OPENAI_CHAT, "{\"messages\":[{\"role\":\"user\",\"content\":\"a\\u00e9\\nb\"}]}", "aé\nb",
         false},
        {API_OPENAI_CHAT,
         "{\"messages\":[{\"role\":\"user\",\"content\":\"old\"},{\"role\":\"assistant\",\"content\":\"x\"},{"
         "\"role\":\"user\",\"content\":[{\"type\":\"text\",\"text\":\"one\"},{\"type\":\"image_url\","
         "\"image_url\":{\"url\":\"data:,\"}},\"two\"]}]}",
         "one\ntwo", false},
        {API_OPENAI_CHAT,
         "{\"messages\":[{\"role\":\"user\",\"content\":\"q\"},{\"role\":\"tool\",\"tool_call_id\":\"c\","
         "\"content\":\"result\"}]}",
         "q", true},
        {API_OPENAI_CHAT,
         "{\"messages\":[{\"role\":\"tool\",\"content\":\"r\"},{\"role\":\"user\",\"content\":\"q\"}]}", "q",
         false},
        {API_OPENAI_CHAT,
         "{\"messages\":[{\"role\":\"user\",\"content\":\"q\"},{\"role\":\"user\",\"content\":\"\"}]}", "q",
         false},
        {API_OPENAI_CHAT, "{\"messages\":[{\"role\":\"user\",\"content\":null},7,null,[]]}", "", false},
        {API_OPENAI_CHAT, "{\"messages\":{}}", "", false},
        {API_OPENAI_CHAT, "{\"messages\":[]}", "", false},
        {API_OPENAI_RESPONSES, "{\"input\":\"plain\"}", "plain", false},
        {API_OPENAI_RESPONSES,
         "{\"input\":[{\"type\":\"message\",\"role\":\"user\",\"content\":[{\"type\":\"input_text\",\"text\":"
         "\"q\"},{\"type\":\"input_file\",\"file_id\":\"f\"}]}]}",
         "q", false},
        {API_OPENAI_RESPONSES,
         "{\"input\":[{\"role\":\"user\",\"content\":\"q\"},{\"type\":\"function_call\",\"call_id\":\"c\"},{"
         "\"type\":\"function_call_output\",\"call_id\":\"c\",\"output\":\"r\"}]}",
         "q", true},
        {API_ANTHROPIC_MESSAGES,
         "{\"messages\":[{\"role\":\"user\",\"content\":\"q\"},{\"role\":\"assistant\",\"content\":[]},{"
         "\"role\":\"user\",\"content\":[{\"type\":\"tool_result\",\"tool_use_id\":\"t\",\"content\":\"r\"}]}"
         "]"
         "}",
         "q", true},
        {API_ANTHROPIC_MESSAGES,
         "{\"messages\":[{\"role\":\"user\",\"content\":[{\"type\":\"tool_result\",\"content\":\"r\"},{"
         "\"type\":\"text\",\"text\":\"and?\"}]}]}",
         "and?", false},
        {API_GEMINI, "{\"contents\":[{\"parts\":[{\"text\":\"a\"},{\"inlineData\":{}},{\"text\":\"b\"}]}]}",
         "a\nb", false},
        {API_GEMINI, "{\"contents\":{\"parts\":{\"text\":\"one\"}}}", "one", false},
        {API_GEMINI,
         "{\"contents\":[{\"role\":\"user\",\"parts\":[{\"text\":\"q\"}]},{\"role\":\"user\",\"parts\":[{"
         "\"functionResponse\":{\"name\":\"f\"}}]}]}",
         "q", true},
        {API_OLLAMA, "{\"prompt\":\"p\"}", "p", false},
        {API_OLLAMA, "{\"messages\":[{\"role\":\"user\",\"content\":\"q\",\"images\":[\"x\"]}]}", "q", false},
        {API_OLLAMA,
         "{\"messages\":[{\"role\":\"user\",\"content\":\"q\"},{\"role\":\"tool\",\"content\":\"r\"}]}", "q",
         true},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct request_words words = words_of(rows[i].api, span_str(rows[i].body), 1000);
        if (strcmp(buf_cstr(&words.text), rows[i].text) != 0 || words.results != rows[i].results || words.cut)
            fail_msg("row %zu: \"%s\" %d", i, buf_cstr(&words.text), words.results);
        buf_free(&words.text);
    }
}

static void test_long_text(void **state)
{
    (void)state;
    static const char body[] = "{\"messages\":[{\"role\":\"user\",\"content\":[\"12345\",\"€€\"]}]}";
    for (size_t max = 0; max <= 12; max++) {
        struct request_words words = words_of(API_OPENAI_CHAT, span_str(body), max);
        size_t expected = max < 6 ? max : max < 9 ? 6 : max < 12 ? 9 : 12; /* whole characters */
        assert_int_equal(words.text.n, expected);
        assert_int_equal(words.cut, max < 12);
        buf_free(&words.text);
    }
}

/* A request that was cut says nothing, or what it says; never anything beyond its bytes. */
static void test_cut_requests(void **state)
{
    (void)state;
    static const char body[] = "{\"messages\":[{\"role\":\"user\",\"content\":[{\"type\":\"text\",\"text\":"
                               "\"q\\u00e9\"}]},{\"role\":\"tool\",\"content\":\"r\"}]}";
    for (size_t n = 0; n < sizeof body - 1; n++) {
        char *copy = xmalloc(n + 1);
        memcpy(copy, body, n);
        struct span value = {0};
        if (!json_document(span_of(copy, n), &value))
            value = (struct span){0};
        struct request_words words = words_of(API_OPENAI_CHAT, value, 100);
        assert_int_equal(words.text.n, 0);
        buf_free(&words.text);
        xfree(copy);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_texts),
        cmocka_unit_test(test_long_text),
        cmocka_unit_test(test_cut_requests),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
