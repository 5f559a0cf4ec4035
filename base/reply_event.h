#ifndef BASE_REPLY_EVENT_H
#define BASE_REPLY_EVENT_H
/*
 * One event of a reply as dialects and filters both see it: the raw bytes, and where in them text and ends
 * are. A dialect (providers/) fills it in; the directive filter and the writer (filters/) read it, and never
 * look at JSON themselves. An event lives for one call; all spans point into `raw` (or, for `json`, into a
 * copy with the same offsets, see sse_join; use offsets).
 *
 * An event is an SSE block, an NDJSON line, or a whole reply body.
 */
#include <stdint.h>

#include "base/limits.h"
#include "base/span.h"

enum delta_kind {
    DELTA_TEXT,   /* more text of a channel; `at`,`n`: the inside of a JSON string, escaped */
    DELTA_TOKENS, /* log probabilities of this channel's text in this event; the inside of a JSON array */
    DELTA_CHANNEL_END, /* nothing of this channel comes after this event; deltas before it in the list come
                          first */
};

struct delta {
    enum delta_kind kind;
    uint32_t channel; /* the dialect's number of a text channel: the choice's index … */
    size_t at, n;     /* offset into `raw`, length */
};

struct reply_event {
    struct span raw;
    struct span json; /* the JSON value: same length and offsets from `json_at` on as in raw; n = 0: none */
    size_t json_at;   /* offset of `json` in raw */
    bool whole;       /* a whole reply body, not one event of a stream */
    struct delta *deltas; /* in the order of the bytes, but ends come after all text of their channel */
    size_t n, room;
    bool
        bare; /* carries nothing but text and its log probabilities: may be left out when both became empty */
    bool ends_reply;  /* the report goes in here */
    size_t report_at; /* offset in raw of the closing brace before which top-level keys go; with ends_reply */
    bool report_first; /* the object is empty: no comma before the report */
    bool ends_stream;  /* `[DONE]`: nothing may come after it, everything held must be out before it */
    bool error;        /* the provider's own error event */
};

/* Which channels of a reply have ended so far; zero it to start. Kept by the filter, read and written by the
 * dialect. */
struct reply_ends {
    uint64_t seen[LIMIT_CHANNELS / 64];
    unsigned count; /* distinct ones */
};

static inline void reply_ends_add(struct reply_ends *ends, uint32_t channel)
{
    if (channel < LIMIT_CHANNELS) {
        uint64_t bit = 1ULL << channel % 64, *word = &ends->seen[channel / 64];
        if (*word & bit)
            return;
        *word |= bit;
    }
    ends->count++;
}

/* Adds a delta for `where`, a span of e->json (NULL for an end); grows the list, which is the caller's and
 * reused from event to event. */
void reply_event_delta(struct reply_event *e, enum delta_kind kind, uint32_t channel, struct span where);
/* Empties it for the next event, keeping the list's memory. */
void reply_event_reset(struct reply_event *e, struct span raw);
void reply_event_free(struct reply_event *e);

#endif
