/* What the error sink is told, and what it is not. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "base/json.h"
#include "proxy/sentry_event.h"

static void check(const struct error *e, const char *provider, const char *want)
{
    const struct sentry_event event = {.error = e,
                                       .provider = provider,
                                       .api = "openai-chat",
                                       .consult = "hwc-1",
                                       .id = "0123456789abcdef0123456789abcdef",
                                       .at_ms = 1796040000250};
    struct buf out, whole;
    struct span value;
    buf_init(&out, 1 << 16);
    buf_init(&whole, 1 << 16);
    sentry_event_write(&event, &out);
    buf_printf(&whole,
               "{\"event_id\":\"0123456789abcdef0123456789abcdef\",\"sent_at\":\"2026-11-30T12:00:00Z\"}\n"
               "{\"type\":\"event\",\"length\":%zu}\n%s\n",
               strlen(want), want);
    assert_string_equal(buf_cstr(&out), buf_cstr(&whole));
    assert_true(json_document(span_str(want), &value));
    buf_free(&out);
    buf_free(&whole);
}

#define START                                                                                                \
    "{\"event_id\":\"0123456789abcdef0123456789abcdef\",\"timestamp\":1796040000.250,"                       \
    "\"platform\":\"native\",\"logger\":\"penstock\",\"release\":\"penstock@" PENSTOCK_VERSION "\","

/* A.6: levels and tags; details are merged flat, and none of a caller's words is among them. */
static void test_a6_events(void **state)
{
    (void)state;
    struct error e;
    error_set(&e, ERROR_ATTACHMENT_TOO_LARGE, "attachments[0] \"CANARY\" is too large");
    snprintf(e.details, sizeof e.details,
             "{\"total_characters\":612430,\"limit_characters\":250000,"
             "\"largest_attachment\":{\"type\":\"CANARY\",\"characters\":610002},\"name\":\"CANARY\"}");
    check(&e, "openai",
          START "\"level\":\"warning\",\"message\":\"ATTACHMENT_TOO_LARGE\",\"fingerprint\":[\"penstock\","
                "\"ATTACHMENT_TOO_LARGE\"],\"tags\":{\"penstock_error_type\":\"ATTACHMENT_TOO_LARGE\","
                "\"provider\":\"openai\",\"api\":\"openai-chat\",\"consult\":\"hwc-1\"},\"contexts\":"
                "{\"penstock_error\":{\"code\":400,\"total_characters\":612430,\"limit_characters\":250000,"
                "\"largest_attachment\":{\"characters\":610002}}}}");
    error_set(&e, ERROR_OVERLOADED, "CANARY");
    check(&e, "",
          START
          "\"level\":\"error\",\"message\":\"OVERLOADED\",\"fingerprint\":[\"penstock\",\"OVERLOADED\"],"
          "\"tags\":{\"penstock_error_type\":\"OVERLOADED\",\"api\":\"openai-chat\",\"consult\":\"hwc-1\"},"
          "\"contexts\":{\"penstock_error\":{\"code\":503}}}");
    snprintf(e.details, sizeof e.details, "no JSON: CANARY");
    check(&e, "a\"b",
          START
          "\"level\":\"error\",\"message\":\"OVERLOADED\",\"fingerprint\":[\"penstock\",\"OVERLOADED\"],"
          "\"tags\":{\"penstock_error_type\":\"OVERLOADED\",\"provider\":\"a\\\"b\",\"api\":\"openai-chat\","
          "\"consult\":\"hwc-1\"},\"contexts\":{\"penstock_error\":{\"code\":503}}}");
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_a6_events)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
