#ifndef TRANSCRIPT_STATUS_H
#define TRANSCRIPT_STATUS_H
/*
 * The one classification of a workflow's status. Three consumers: tags in the Markdown, the registry in
 * thread.json, alerts (a log line, a metric by kind).
 */
#include "base/span.h"

enum status_kind {
    STATUS_COMPLETED, /* said nowhere */
    STATUS_LIMIT_INTERRUPTED,
    STATUS_AWAITING,
    STATUS_CANCELED,
    STATUS_OTHER, /* registered and alerted, no tag */
    STATUS_KINDS  /* how many */
};

enum status_kind status_classify(struct span status, struct span locked_reason);
/* "limit_interrupted" … */
const char *status_kind_name(enum status_kind kind);
/* "⏸ interrupted, pending continuation" …; "" for those without one. */
const char *status_tag(enum status_kind kind);

#endif
