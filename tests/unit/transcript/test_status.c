/* Statuses by class, and how streams end: the tables of the specification. */
#include "transcript/status.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "transcript/ending.h"

static const char limit_tag[] = "⏸ limit-interrupted (content stops at the interruption point)";
static const char wait_tag[] = "⏸ interrupted, pending continuation";
static const char cancel_tag[] = "⛔ canceled";

static void test_classes(void **state)
{
    static const struct {
        const char *status, *locked, *kind, *tag;
    } rows[] = {
        {"", "", "completed", ""},
        {"completed", "", "completed", ""},
        {"WORKFLOW_COMPLETED", "spending_limit_exceeded", "completed", ""},
        {"WORKFLOW_AWAITING_NEXT_STEPS", "spending_limit_exceeded", "limit_interrupted", limit_tag},
        {"WORKFLOW_AWAITING_NEXT_STEPS", "", "awaiting", wait_tag},
        {"WORKFLOW_AWAITING_NEXT_STEPS", "rate_limited", "awaiting", wait_tag},
        {"workflow_canceled", "", "canceled", cancel_tag},
        {"WORKFLOW_CANCELED", "spending_limit_exceeded", "canceled", cancel_tag},
        {"WORKFLOW_FINISH_CONTENT_FILTER", "", "other", ""},
        {"WORKFLOW_RUNNING", "", "other", ""},
        {"AWAITING_NEXT_STEPS", "", "other", ""},
        {"WORKFLOW_COMPLETED ", "", "other", ""},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        enum status_kind kind = status_classify(span_str(rows[i].status), span_str(rows[i].locked));
        assert_string_equal(status_kind_name(kind), rows[i].kind);
        assert_string_equal(status_tag(kind), rows[i].tag);
    }
}

#define AWAITING "WORKFLOW_AWAITING_NEXT_STEPS"

static const struct {
    const char *cause, *finish, *code, *type, *message;
    int http;
    const char *status, *locked;
} endings[] = {
    {"finish", "stop", "", "", "", 0, "WORKFLOW_COMPLETED", ""},
    {"finish", "tool_use", "", "", "", 0, "WORKFLOW_COMPLETED", ""},
    {"finish", "", "", "", "", 0, "WORKFLOW_COMPLETED", ""},
    {"finish", "STOP", "", "", "", 0, "WORKFLOW_COMPLETED", ""},
    {"finish", "length", "", "", "", 0, AWAITING, ""},
    {"finish", "pause_turn", "", "", "", 0, AWAITING, ""},
    {"finish", "MAX_TOKENS", "", "", "", 0, AWAITING, ""},
    {"finish", "content_filter", "", "", "", 0, "WORKFLOW_FINISH_CONTENT_FILTER", ""},
    {"finish", "refusal", "", "", "", 0, "WORKFLOW_FINISH_REFUSAL", ""},
    {"finish", "SAFETY", "", "", "", 0, "WORKFLOW_FINISH_SAFETY", ""},
    {"finish", "some-new reason", "", "", "", 0, "WORKFLOW_FINISH_SOME_NEW_REASON", ""},
    {"finish", " --odd-- ", "", "", "", 0, "WORKFLOW_FINISH_ODD", ""},
    {"http_error", "", "insufficient_quota", "", "", 429, AWAITING, "spending_limit_exceeded"},
    {"http_error", "", "", "", "", 402, AWAITING, "spending_limit_exceeded"},
    {"http_error", "", "", "invalid_request_error", "Your credit balance is too low to go on", 400, AWAITING,
     "spending_limit_exceeded"},
    {"stream_error", "", "", "billing_error", "", 200, AWAITING, "spending_limit_exceeded"},
    {"http_error", "", "rate_limit_exceeded", "", "", 429, AWAITING, "rate_limited"},
    {"http_error", "", "", "RESOURCE_EXHAUSTED", "You exceeded your current quota for requests", 429,
     AWAITING, "rate_limited"},
    {"stream_error", "", "", "RATE_LIMIT_error", "", 200, AWAITING, "rate_limited"},
    {"stream_error", "", "", "overloaded_error", "", 200, AWAITING, ""},
    {"http_error", "", "", "", "", 503, AWAITING, ""},
    {"http_error", "", "", "authentication_error", "", 401, "WORKFLOW_REFUSED_401", ""},
    {"http_error", "", "", "", "", 408, AWAITING, ""},
    {"http_error", "", "", "", "", 425, AWAITING, ""},
    {"http_error", "", "", "", "", 499, "WORKFLOW_REFUSED_499", ""},
    {"stream_error", "", "", "", "", 401, AWAITING, ""},
    {"upstream_closed", "", "", "", "", 0, AWAITING, ""},
    {"upstream_timeout", "", "", "", "", 0, AWAITING, ""},
    {"proxy_shutdown", "", "", "", "", 0, AWAITING, ""},
    {"client_closed", "", "", "", "", 0, "WORKFLOW_CANCELED", ""},
    {"canceled", "", "", "", "", 0, "WORKFLOW_CANCELED", ""},
    {"", "", "", "", "", 0, AWAITING, ""},
    {"running", "", "", "", "", 0, "WORKFLOW_RUNNING", ""},
    /* What was said first decides, not what the client did afterwards. */
    {"finish", "stop", "", "", "", 499, "WORKFLOW_COMPLETED", ""},
};

static void test_endings(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof endings / sizeof endings[0]; i++) {
        char status[ENDING_STATUS];
        struct ending e = {.cause = span_str(endings[i].cause),
                           .finish_reason = span_str(endings[i].finish),
                           .error_code = span_str(endings[i].code),
                           .error_type = span_str(endings[i].type),
                           .error_message = span_str(endings[i].message),
                           .http_status = endings[i].http};
        assert_string_equal(ending_status(&e, status), endings[i].locked);
        assert_string_equal(status, endings[i].status);
    }
}

/* A reason of any length stays within its room. */
static void test_long_reason(void **state)
{
    char reason[1000], status[ENDING_STATUS];
    (void)state;
    memset(reason, 'x', sizeof reason);
    struct ending e = {.cause = SPAN_LIT("finish"), .finish_reason = span_of(reason, sizeof reason)};
    ending_status(&e, status);
    assert_int_equal(strlen(status), ENDING_STATUS - 1);
    assert_memory_equal(status, "WORKFLOW_FINISH_XXX", 19);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_classes), cmocka_unit_test(test_endings),
                                       cmocka_unit_test(test_long_reason)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
