#ifndef TRANSCRIPT_ENDING_H
#define TRANSCRIPT_ENDING_H
/*
 * How a relayed stream ended, as a workflow's status: the object `end` of a journal's line,
 *   {cause, http_status?, finish_reason?, error_type?, error_code?, error_message?}
 * with cause one of finish, http_error, stream_error, upstream_closed, upstream_timeout, client_closed,
 * canceled, proxy_shutdown, running, missing. A structured code decides before any wording.
 */
#include <stdint.h>

#include "base/span.h"

enum { ENDING_STATUS = 160 };

/* Spans may be empty; http_status 0: none. */
struct ending {
    struct span cause, finish_reason, error_type, error_code, error_message;
    int64_t http_status;
};

/* Writes the status ("WORKFLOW_COMPLETED", …), terminated and cut to its room. Answers the locked_reason:
 * "spending_limit_exceeded", "rate_limited" or "". */
const char *ending_status(const struct ending *e, char status[ENDING_STATUS]);

#endif
