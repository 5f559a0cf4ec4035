#ifndef PROXY_SENTRY_EVENT_H
#define PROXY_SENTRY_EVENT_H
/*
 * One error of Penstock's own as a Sentry envelope (https://develop.sentry.dev/sdk/data-model/envelopes/). It
 * has the code, the status, whose doing it was, provider, API, consult and the numbers of the details; never
 * a message, a name, content or a key. Pure.
 */
#include "base/buf.h"
#include "base/error.h"

struct sentry_event {
    const struct error *error;
    const char *provider, *api, *consult; /* may be empty */
    const char *id;                       /* 32 hexadecimal digits */
    int64_t at_ms;                        /* wall clock */
};

void sentry_event_write(const struct sentry_event *event, struct buf *out);

#endif
