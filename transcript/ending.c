#include "transcript/ending.h"

#include <stdio.h>

static const char *const done[] = {"stop",     "tool_calls", "function_call", "end_turn", "stop_sequence",
                                   "tool_use", "completed",  "load",          "unload",   NULL};
static const char *const more[] = {
    "length",     "max_tokens", "max_output_tokens", "pause_turn", "model_context_window_exceeded",
    "incomplete", NULL};
static const char *const spending[] = {
    "insufficient_quota",   "billing_hard_limit_reached", "billing_not_active",
    "billing_error",        "terminal_quota_exhausted",   "insufficient_balance",
    "insufficient_credits", "spending_limit_exceeded",    NULL};
/* "exceeded your current quota" is none of them: some say it of a limit per minute. */
static const char *const spending_words[] = {"credit balance is too low",
                                             "insufficient credits",
                                             "insufficient balance",
                                             "spending limit",
                                             "billing hard limit",
                                             "hard billing limit",
                                             NULL};

static bool is_one_of(struct span word, const char *const *list)
{
    for (; *list; list++)
        if (span_is_nocase(word, *list))
            return true;
    return false;
}

static bool contains(struct span text, const char *word)
{
    size_t n = strlen(word);
    for (size_t i = 0; i + n <= text.n; i++)
        if (span_is_nocase(span_of(text.p + i, n), word))
            return true;
    return false;
}

static bool is_spending(const struct ending *e)
{
    if (e->http_status == 402 || is_one_of(e->error_code, spending) || is_one_of(e->error_type, spending))
        return true;
    for (const char *const *word = spending_words; *word; word++)
        if (contains(e->error_message, *word))
            return true;
    return false;
}

/* "some-new reason" → "WORKFLOW_FINISH_SOME_NEW_REASON". */
static void name_reason(struct span reason, char status[ENDING_STATUS])
{
    size_t n = (size_t)snprintf(status, ENDING_STATUS, "WORKFLOW_FINISH_");
    size_t begin = n;
    for (size_t i = 0; i < reason.n && n < ENDING_STATUS - 1; i++) {
        char c = reason.p[i];
        if (c >= 'a' && c <= 'z')
            c = (char)(c - 'a' + 'A');
        if ((c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9'))
            status[n++] = c;
        else if (n > begin && status[n - 1] != '_')
            status[n++] = '_';
    }
    while (n > begin && status[n - 1] == '_')
        n--;
    status[n] = '\0';
}

static void set(char status[ENDING_STATUS], const char *text)
{
    snprintf(status, ENDING_STATUS, "%s", text);
}

static const char *status_of_error(const struct ending *e, bool http, char status[ENDING_STATUS])
{
    set(status, "WORKFLOW_AWAITING_NEXT_STEPS");
    if (is_spending(e))
        return "spending_limit_exceeded";
    if (e->http_status == 429 || contains(e->error_code, "rate_limit") ||
        contains(e->error_type, "rate_limit"))
        return "rate_limited";
    if (http && e->http_status >= 400 && e->http_status <= 499 && e->http_status != 408 &&
        e->http_status != 425)
        snprintf(status, ENDING_STATUS, "WORKFLOW_REFUSED_%d", (int)e->http_status);
    return "";
}

const char *ending_status(const struct ending *e, char status[ENDING_STATUS])
{
    bool http = span_is(e->cause, "http_error");
    if (http || span_is(e->cause, "stream_error"))
        return status_of_error(e, http, status);
    if (span_is(e->cause, "running"))
        set(status, "WORKFLOW_RUNNING");
    else if (span_is(e->cause, "client_closed") || span_is(e->cause, "canceled"))
        set(status, "WORKFLOW_CANCELED");
    else if (!span_is(e->cause, "finish") || is_one_of(e->finish_reason, more))
        set(status, "WORKFLOW_AWAITING_NEXT_STEPS");
    else if (e->finish_reason.n == 0 || is_one_of(e->finish_reason, done))
        set(status, "WORKFLOW_COMPLETED");
    else
        name_reason(e->finish_reason, status);
    return "";
}
