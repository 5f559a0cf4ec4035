#ifndef FILTERS_REPLY_H
#define FILTERS_REPLY_H
/*
 * The reply side of one consult, from the provider's body bytes to the client's: framing, dialect, directive
 * filter per channel, log probabilities kept in step, events rewritten by splicing, the report in the event
 * that ends the reply. Bytes in, bytes out; no sockets, no clock, no disk. Streams and whole replies take the
 * same way: a whole reply is one event.
 *
 *   reply_feed(bytes) ──> blocks ──> dialect.event ──> directive filters ──> writer ──> out
 *                                                         │ directive()                 ^
 *                                                         └──> artifacts … reply_settle ─┘ (before the
 * reply's last event)
 *
 * What may be written when: product.md §§4.2–4.5. An event that ends the reply (or a channel of which nothing
 * but white space is left) waits until every directive handed out before it is settled: reply_feed answers
 * REPLY_WAITING, keeps the bytes from that event on, and goes on in reply_resume. While it waits the caller
 * stops reading upstream and sends keep-alives.
 *
 * filters/ does not include providers/: the dialect's functions come in as struct reply_dialect, which is
 * filled from a struct dialect by the proxy; both sides share base/reply_event.h.
 */
#include "base/buf.h"
#include "base/flag.h"
#include "base/reply_event.h"
#include "base/span.h"
#include "filters/directive.h"

/* REPLY_ARRAY: one JSON array, whose objects come one after the other. */
enum reply_framing { REPLY_SSE, REPLY_NDJSON, REPLY_ARRAY, REPLY_WHOLE };
struct recorder; /* filters/recorder.h */

enum reply_mode { REPLY_SUPPRESS, REPLY_BUFFER };

/* As in providers/dialect.h. */
struct reply_dialect {
    void (*event)(struct reply_event *e, unsigned choices, struct reply_ends *ends);
    void (*keep_shape)(const struct reply_event *e, uint32_t channel, struct buf *out);
    void (*text_event)(struct span shape, uint32_t channel, int64_t number, struct span escaped,
                       struct span tokens, struct buf *out);
    void (*report_event)(struct span shape, int64_t number, struct span report, bool cut, struct buf *out);
    void (*citation)(struct span entry, size_t at, struct buf *out);
    enum offset_unit offsets;
    bool parts;
};

struct reply_settings {
    struct reply_dialect dialect;
    enum reply_framing framing;
    enum reply_mode mode;
    unsigned choices;
    bool links;             /* add a Markdown link a file to the text */
    size_t directive_max;   /* bytes of one */
    size_t directive_total; /* bytes of all of a reply */
    unsigned directives;    /* of a reply */
    size_t event_max;       /* an unfinished event, and a whole body (limits.reply_body) */
    /* A stored stream that is fetched again, which may begin inside of a text: until one begins
     * (reply_event's `opens`) pieces of text are of no use, and wait for the text as a whole. */
    bool resumed;
    /* What was added to the prompt (the inside of a JSON string), to be cut out where the prompt comes back;
     * more than one when it is not known which. Borrowed. */
    struct span echoes[2];
    struct recorder *recorder; /* gets what the reply says; NULL: nobody records it. Borrowed */
};

/* What became of a directive. `entry` is its object in outbound_artifacts as JSON text, empty when there is
 * no file. */
struct reply_artifact {
    struct span entry;
    struct span
        filename; /* for the stand-in sentence and links: of the file, or what was asked for (may be empty) */
    struct span url;
    enum flag flag;       /* FLAG_NONE: all well */
    struct span sentence; /* the flag's sentence, for the reader; not empty with a flag */
};

struct reply_callbacks {
    /* A directive to render (DIRECTIVE_COMPLETE) or to keep in quarantine. `number` counts from 0 in the
     * order of the text in the reply. The callee takes `text` with buf_move. It answers later, or at once
     * from inside this call, with reply_settle(number); `refused` is FLAG_NONE, or what forbids rendering it
     * (FLAG_TOO_LARGE, FLAG_TOO_MANY, FLAG_UNTERMINATED): then it is only kept. Directives more than
     * LIMIT_FLAGS beyond the limit are not handed out at all. Must not call back but for reply_settle. */
    void (*directive)(void *arg, unsigned number, struct buf *text, enum flag refused);
};

enum reply_state {
    REPLY_GOING,   /* all bytes taken; feed more */
    REPLY_WAITING, /* for reply_settle; do not feed, call reply_resume after the last one */
    REPLY_DONE,    /* after reply_end: everything is out */
    REPLY_FAILED /* an event or body over event_max, more than LIMIT_CHANNELS channels, `out` full, or a whole
                    body that was cut, or an event that is unreadable (reply_unreadable); what is in `out` may
                    be sent (nothing, for a whole body), then the stream ends with an error. After an event
                    that was too large or unreadable, reply_end (not clean) still delivers what was before it;
                    otherwise it answers REPLY_FAILED again */
};

/* What the audit record and the metrics want to know. */
struct reply_totals {
    uint64_t events_in, events_out;
    unsigned directives, artifacts;
    unsigned flags[FLAGS]; /* how often each */
    bool provider_error;   /* the provider sent an error event */
    bool ended;            /* the event that ends the reply was seen */
};

struct reply;

struct reply *reply_create(const struct reply_settings *settings, const struct reply_callbacks *callbacks,
                           void *arg) MUST_USE;
/* NULL is fine. No callback comes after it. */
void reply_destroy(struct reply *r);
/* Takes decoded body bytes and appends what may be sent now. */
enum reply_state reply_feed(struct reply *r, struct span bytes, struct buf *out) MUST_USE;
/*
 * The provider's body ended. clean: as HTTP says it should, or else it was cut: what is held goes out all the
 * same, an open directive is unterminated, a report not yet sent gets an event of its own, and `error_event`
 * (framed, from the dialect; empty when clean) goes last. A clean end after the provider's own error event
 * adds nothing, and nothing at all is added after `[DONE]`. An event of which only a part came before the cut
 * is left out when it is of no use. Answers REPLY_DONE, or REPLY_WAITING and then REPLY_DONE from
 * reply_resume.
 */
enum reply_state reply_end(struct reply *r, bool clean, struct span error_event, struct buf *out) MUST_USE;
enum reply_state reply_resume(struct reply *r, struct buf *out) MUST_USE;
/* Directives handed out and not settled yet. */
unsigned reply_pending(const struct reply *r);
/* Why it failed: an event that the dialect cannot read as JSON holds a marker or came inside a directive, so
 * that nobody can tell what a more lenient reader would make of it. Without such a sign what is no JSON
 * passes as it is. */
bool reply_unreadable(const struct reply *r);
/* Copies what it is given. */
void reply_settle(struct reply *r, unsigned number, const struct reply_artifact *a);
/* Appends the reasons for which the reply is flagged, as in the report ("invalid_metadata: …; …"); nothing
 * when it is not. For the audit record. */
void reply_reasons(const struct reply *r, struct buf *out);
/* Bytes held back or in open directives, for the metrics. */
size_t reply_held_bytes(const struct reply *r);
/* True when what was put out ends with a whole event, so that a keep-alive may be written: always for
 * streams, never for a whole body. */
bool reply_between_events(const struct reply *r);
/* Whether the reply's first event has gone out and the one that ends the stream has not: where an event that
 * says nothing has its place. */
bool reply_is_inside(const struct reply *r);
const struct reply_totals *reply_totals(const struct reply *r);

#endif
