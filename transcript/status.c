#include "transcript/status.h"

enum status_kind status_classify(struct span status, struct span locked_reason)
{
    if (status.n == 0 || span_is_nocase(status, "COMPLETED") || span_is_nocase(status, "WORKFLOW_COMPLETED"))
        return STATUS_COMPLETED;
    if (span_is_nocase(status, "WORKFLOW_AWAITING_NEXT_STEPS"))
        return span_is(locked_reason, "spending_limit_exceeded") ? STATUS_LIMIT_INTERRUPTED : STATUS_AWAITING;
    return span_is_nocase(status, "WORKFLOW_CANCELED") ? STATUS_CANCELED : STATUS_OTHER;
}

const char *status_kind_name(enum status_kind kind)
{
    static const char *const names[STATUS_KINDS] = {"completed", "limit_interrupted", "awaiting", "canceled",
                                                    "other"};
    return names[kind];
}

const char *status_tag(enum status_kind kind)
{
    static const char *const tags[STATUS_KINDS] = {
        [STATUS_COMPLETED] = "",
        [STATUS_LIMIT_INTERRUPTED] = "⏸ limit-interrupted (content stops at the interruption point)",
        [STATUS_AWAITING] = "⏸ interrupted, pending continuation",
        [STATUS_CANCELED] = "⛔ canceled",
        [STATUS_OTHER] = ""};
    return tags[kind];
}
