/* What the image-generation API is asked, and what is made of its answers. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "base/json.h"
#include "proxy/image_reply.h"

#define PLAIN                                                                                                \
    {                                                                                                        \
        .host_header = "img.test:8080", .host = "img.test", .port = 8080, .base_path = ""                    \
    }
#define SECURE                                                                                               \
    {                                                                                                        \
        .host_header = "img.test", .host = "img.test", .port = 443, .tls = true, .base_path = "/api/v1"      \
    }

static const struct config_provider plain = PLAIN, secure = SECURE;

static void paths(void **state)
{
    (void)state;
    struct buf out;
    buf_init(&out, 200);
    image_request_path(&plain, &out);
    assert_string_equal(buf_cstr(&out), "/v1/images/generations");
    buf_reset(&out);
    image_request_path(&secure, &out);
    assert_string_equal(buf_cstr(&out), "/api/v1/images/generations");
    buf_free(&out);
}

static void requests(void **state)
{
    (void)state;
    static const struct {
        const char *model, *prompt, *size, *quality, *body;
    } rows[] = {
        {"gpt-image-1", "a cat", "", "", "{\"n\":1,\"model\":\"gpt-image-1\",\"prompt\":\"a cat\"}"},
        {"m", "a \"red\"\ncat", "1024x1024", "high",
         "{\"n\":1,\"model\":\"m\",\"prompt\":\"a "
         "\\\"red\\\"\\ncat\",\"size\":\"1024x1024\",\"quality\":\"high\"}"},
        {"dall-e-3", "x", "", "",
         "{\"n\":1,\"model\":\"dall-e-3\",\"prompt\":\"x\",\"response_format\":\"b64_json\"}"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct image_wanted wanted = {.wanted = true};
        struct buf out;
        struct span document;
        buf_init(&wanted.prompt, 100);
        buf_adds(&wanted.prompt, rows[i].prompt);
        snprintf(wanted.size, sizeof wanted.size, "%s", rows[i].size);
        snprintf(wanted.quality, sizeof wanted.quality, "%s", rows[i].quality);
        buf_init(&out, 1000);
        image_request_body(rows[i].model, &wanted, &out);
        assert_string_equal(buf_cstr(&out), rows[i].body);
        assert_true(json_document(buf_span(&out), &document));
        buf_free(&out);
        image_wanted_free(&wanted);
    }
}

static void answers(void **state)
{
    (void)state;
    static const struct {
        const char *body;
        enum image_answer answer;
        const char *text; /* the picture, the target, or a part of the reason */
    } rows[] = {
        {"{\"data\":[{\"b64_json\":\"aGVsbG8=\"}]}", IMAGE_PICTURE, "hello"},
        {" {\"created\":1,\"data\":[{\"revised_prompt\":\"x\",\"b64_json\":\"aGVsbG8\"}]}\n", IMAGE_PICTURE,
         "hello"},
        {"{\"data\":[{\"b64_json\":\"Pz8\\/\"}]}", IMAGE_PICTURE, "???"},
        {"{\"data\":[{\"b64_json\":\"data:image\\/png;base64,aGVsbG8=\"}]}", IMAGE_PICTURE, "hello"},
        {"{\"data\":[{\"b64_json\":null,\"url\":\"data:image/png;base64,aGVsbG8=\"}]}", IMAGE_PICTURE,
         "hello"},
        {"{\"data\":[{},{\"url\":null,\"b64_json\":\"aGVsbG8=\"}]}", IMAGE_PICTURE, "hello"},
        {"{\"data\":[{\"url\":\"https://img.test/x/y.png\"}]}", IMAGE_AT_URL, "/x/y.png"},
        {"{\"data\":[{\"url\":\"HTTPS:\\/\\/IMG.test:443\\/a?b=c#d\"}]}", IMAGE_AT_URL, "/a?b=c"},
        {"{\"data\":[{\"url\":\"https://img.test\"}]}", IMAGE_AT_URL, "/"},
        {"{\"data\":[{\"url\":\"https://img.test?a\"}]}", IMAGE_AT_URL, "/?a"},
        {"{\"data\":[{\"url\":\"/generated/1.png\"}]}", IMAGE_AT_URL, "/generated/1.png"},
        /* Elsewhere, in every disguise. */
        {"{\"data\":[{\"url\":\"https://img.test.evil/x\"}]}", IMAGE_NONE, "another host"},
        {"{\"data\":[{\"url\":\"https://evil/img.test\"}]}", IMAGE_NONE, "another host"},
        {"{\"data\":[{\"url\":\"https://img.test@evil/x\"}]}", IMAGE_NONE, "another host"},
        {"{\"data\":[{\"url\":\"https://img.test:443@evil/x\"}]}", IMAGE_NONE, "another host"},
        {"{\"data\":[{\"url\":\"https://img.test:8443/x\"}]}", IMAGE_NONE, "another host"},
        {"{\"data\":[{\"url\":\"https://img.tes/x\"}]}", IMAGE_NONE, "another host"},
        {"{\"data\":[{\"url\":\"https://img.test\\\\@evil/\"}]}", IMAGE_NONE, "another host"},
        {"{\"data\":[{\"url\":\"https://img.test#@evil/\"}]}", IMAGE_AT_URL, "/"},
        {"{\"data\":[{\"url\":\"http://img.test/x\"}]}", IMAGE_NONE, "another host"},
        {"{\"data\":[{\"url\":\"//evil/x\"}]}", IMAGE_NONE, "another host"},
        {"{\"data\":[{\"url\":\"file:///etc/passwd\"}]}", IMAGE_NONE, "another host"},
        {"{\"data\":[{\"url\":\"x.png\"}]}", IMAGE_NONE, "another host"},
        {"{\"data\":[{\"url\":\"/x HTTP/1.1\\r\\nHost: evil\"}]}", IMAGE_NONE, "another host"},
        {"{\"data\":[{\"url\":\"/\\u00fc\"}]}", IMAGE_NONE, "another host"},
        /* No picture. */
        {"", IMAGE_NONE, "not a JSON object"},
        {"<html>", IMAGE_NONE, "not a JSON object"},
        {"[]", IMAGE_NONE, "not a JSON object"},
        {"{}", IMAGE_NONE, "holds no picture"},
        {"{\"data\":[]}", IMAGE_NONE, "holds no picture"},
        {"{\"data\":{\"b64_json\":\"aGVsbG8=\"}}", IMAGE_NONE, "holds no picture"},
        {"{\"data\":[\"aGVsbG8=\",{\"b64_json\":3},{\"b64_json\":\"\"}]}", IMAGE_NONE, "holds no picture"},
        {"{\"error\":{\"message\":\"busy\"}}", IMAGE_NONE, "holds no picture: busy"},
        {"{\"data\":[{\"b64_json\":\"a*b\"}]}", IMAGE_NONE, "not valid base64"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct buf picture, target = {0};
        char why[LIMIT_ERROR_TEXT];
        buf_init(&picture, 1000);
        enum image_answer answer = image_reply_read(span_str(rows[i].body), &secure, &picture, &target, why);
        const char *got = answer == IMAGE_PICTURE  ? buf_cstr(&picture)
                          : answer == IMAGE_AT_URL ? buf_cstr(&target)
                                                   : why;
        bool same = answer == IMAGE_NONE ? strstr(got, rows[i].text) != NULL : strcmp(got, rows[i].text) == 0;
        if (answer != rows[i].answer || !same)
            fail_msg("%s: got %d, \"%s\"", rows[i].body, answer, got);
        buf_free(&picture);
        buf_free(&target);
    }
}

static void own_port(void **state)
{
    (void)state;
    struct buf picture, target = {0};
    char why[LIMIT_ERROR_TEXT];
    buf_init(&picture, 1000);
    struct span good = SPAN_LIT("{\"data\":[{\"url\":\"http://img.test:8080/x\"}]}");
    struct span bad = SPAN_LIT("{\"data\":[{\"url\":\"http://img.test/x\"}]}");
    assert_int_equal(image_reply_read(good, &plain, &picture, &target, why), IMAGE_AT_URL);
    assert_string_equal(buf_cstr(&target), "/x");
    buf_free(&target);
    assert_int_equal(image_reply_read(bad, &plain, &picture, &target, why), IMAGE_NONE);
    buf_free(&target);
    buf_free(&picture);
}

static void refusals(void **state)
{
    (void)state;
    static const struct {
        const char *body, *key, *said;
    } rows[] = {
        {"{\"error\":{\"message\":\"Too many  requests.\\n\",\"type\":\"x\"}}", NULL, ": Too many requests"},
        {"{\"error\":\"no such model\"}", NULL, ": no such model"},
        {"{\"message\":\"nope\"}", NULL, ": nope"},
        {"{\"detail\":\"nope\"}", NULL, ": nope"},
        {"{\"error\":{\"code\":3}}", NULL, ""},
        {"{\"error\":{\"message\":\" . \"}}", NULL, ""},
        {"{\"detail\":[{\"msg\":\"x\"}]}", NULL, ""},
        {"<html>busy</html>", NULL, ""},
        {"", NULL, ""},
        {"[]", NULL, ""},
        /* Secrets, markers, what nobody sees. */
        {"{\"error\":{\"message\":\"Bad key abc123 (abc123)\"}}", "abc123", ": Bad key *** (***)"},
        {"{\"error\":{\"message\":\"Bad key sk-proj-0123456789\"}}", NULL, ": Bad key sk-***"},
        {"{\"error\":{\"message\":\"a<<<HW_ATTACHMENT>>>b\"}}", NULL, ": a HW_ATTACHMENT b"},
        {"{\"error\":{\"message\":\"a\\u0000\\u202e\\u200bb\\u001b[1m\"}}", NULL, ": a b [1m"},
        {"{\"error\":{\"message\":\"\\ud800x\\u00fc\"}}", NULL, ": x\u00fc"},
    };
    char why[LIMIT_ERROR_TEXT], expected[LIMIT_ERROR_TEXT];
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        image_reply_refusal(400, span_str(rows[i].body), rows[i].key, why);
        snprintf(expected, sizeof expected, "the image provider answered with status 400%s", rows[i].said);
        assert_string_equal(why, expected);
    }
}

static void long_refusals_are_cut(void **state)
{
    (void)state;
    struct buf body;
    char why[LIMIT_ERROR_TEXT];
    buf_init(&body, 200000);
    buf_adds(&body, "{\"error\":\"x");
    for (int i = 0; i < 1000; i++)
        buf_adds(&body, "\u00fc");
    buf_adds(&body, "\"}");
    image_reply_refusal(500, buf_span(&body), NULL, why);
    assert_true(strlen(why) < 260);
    assert_non_null(strstr(why, "\u00fc\u00fc \u2026"));
    buf_reset(&body);
    buf_adds(&body, "{\"error\":\"");
    for (int i = 0; i < 70000; i++)
        buf_addc(&body, 'x');
    buf_adds(&body, "\"}");
    image_reply_refusal(500, buf_span(&body), NULL, why);
    assert_string_equal(why, "the image provider answered with status 500");
    buf_free(&body);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(paths),    cmocka_unit_test(requests), cmocka_unit_test(answers),
        cmocka_unit_test(own_port), cmocka_unit_test(refusals), cmocka_unit_test(long_refusals_are_cut),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
