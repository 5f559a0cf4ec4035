#ifndef PROVIDERS_DIALECT_H
#define PROVIDERS_DIALECT_H
/*
 * A dialect knows where things are in one API's bytes: pure functions over spans, one file each, one line in
 * registry.c. It sees no sockets, clocks or configuration. All edits are splices (base/json.h).
 */
#include "base/api.h"
#include "base/buf.h"
#include "base/error.h"
#include "base/json.h"
#include "base/reply_event.h"

/* A request as far as the proxy needs to know it. Spans point into the body. */
struct request_facts {
    struct span root;  /* the top-level object; n = 0: not JSON or another shape: relay untouched */
    struct span model; /* inside of the string, escaped */
    bool stream;
    unsigned choices;       /* `n`; 1 when absent */
    bool machine_read;      /* product.md §2.4: response_format, forced tool_choice … */
    bool kept;              /* the provider keeps the reply, so that it can be fetched again */
    bool explains_protocol; /* the caller's own text already holds `<<<HW_ATTACHMENT` */
    struct span hw;         /* value of the top-level key; n = 0: absent */
    struct span hw_whole;   /* key and value, as json_iter's whole */
    struct span attachments, attachments_whole;
    const char *repeated; /* which of these two keys is there more than once; NULL: neither */
    struct span place;    /* value in which the protocol text goes; the dialect's own business */
};

/* What path and query say of a request, for an API in which the body does not. */
struct request_target {
    struct span model; /* as it stands there, percent-encoded; may be empty */
    bool stream;
};

/* How replies are framed: FRAMING_ARRAY is one JSON array, whose objects come one after the other. */
enum framing { FRAMING_WHOLE, FRAMING_SSE, FRAMING_NDJSON, FRAMING_ARRAY };

struct placing; /* providers/placing.h */

struct dialect {
    enum api api;
    /* Reads a request. A body that is no JSON, or of another shape than this API's, leaves facts->root empty;
     * that is no error. */
    void (*request)(struct span body, struct request_facts *facts);
    /* The same for path (under the provider) and query. NULL: they say nothing. */
    void (*target)(struct span path, struct span query, struct request_target *target);
    /* Adds to `edits` (offsets into body) what puts the protocol text (escaped: the inside of a JSON string)
     * in its place; `room` owns the inserted bytes, must outlive the edits and may not grow any more. Called
     * only when facts->root is not empty. */
    void (*add_protocol)(struct span body, const struct request_facts *facts, struct span protocol,
                         struct buf *room, struct edits *edits);
    /* Puts attachments into the last user message; for providers/place.h, which is how it is called. */
    void (*place)(struct placing *p);
    /* Fills in what an event says: deltas, bare, ends_reply … e->raw, e->json, e->whole are set. `choices` as
     * in the request; *ends is kept between the calls of one reply. JSON that is not valid, or of another
     * shape, leaves the event without deltas. */
    void (*event)(struct reply_event *e, unsigned choices, struct reply_ends *ends);
    /* Adds the notes of the calls of tools in a NOTE_CALLS, whose value this is. NULL: the dialect has none
     * of that kind. */
    void (*calls)(struct reply_event *e, struct span value);
    /* Appends to `out` a reduced copy of an event with text, from which the next two make events; called when
     * text of that channel begins to be held, so that the original event need not be kept. At most a few
     * hundred bytes. */
    void (*keep_shape)(const struct reply_event *e, uint32_t channel, struct buf *out);
    /* A whole framed event of that shape with this (escaped) text in that channel and, where given, this
     * (inside of a JSON array) in the place for log probabilities (NULL span: none). number: its place in a
     * stream whose events have reply_event's number_at; -1: they have none. */
    void (*text_event)(struct span shape, uint32_t channel, int64_t number, struct span escaped,
                       struct span tokens, struct buf *out);
    /* A whole framed event of the kind that ends a reply, carrying `report` (members without braces, e.g.
     * "outbound_artifacts":[…]). `shape` is of the event that `begins` the reply, else of one with text, and
     * may be empty. cut: the provider broke the reply off, so it did not stop by itself. */
    void (*report_event)(struct span shape, int64_t number, struct span report, bool cut, struct buf *out);
    /* A note on the text for the artifact whose entry in outbound_artifacts this is, and which stood at this
     * offset of the text: goes into the DELTA_LISTs of the event that ends the reply. NULL: the API has
     * none. */
    void (*citation)(struct span entry, size_t at, struct buf *out);
    /* What a DELTA_OFFSET counts. */
    enum offset_unit offsets;
    /* Channels are parts of one reply (content blocks, output parts), not replies of their own (choices,
     * candidates): the sentence that stands in for a reply of which nothing is left goes into a part only
     * when no part before it has shown text, and the event that ends the reply ends all of them. */
    bool parts;
    /* An error of Penstock's own as a reply body, and as an event of a stream. named: as an SSE event called
     * `error`, which is what a caller asked for with X-HW-Errors: event; else as this API's own providers
     * send an error inside a running stream. */
    void (*error_body)(const struct error *e, struct buf *out);
    void (*error_event)(const struct error *e, bool named, struct buf *out);
    /* How a stream is framed whose content type does not tell (event streams and NDJSON do). Events of our
     * own are written as an event stream wants them all the same, and the reply filter takes that off. */
    enum framing untold_framing;
    /* What goes out while Penstock keeps a client of an event stream waiting; empty: nothing. */
    const char *keep_alive;
};

/* NULL: no dialect for that API yet. */
const struct dialect *dialect_find(enum api api);
/* A JSON error body in OpenAI's shape, for requests of no API. */
void dialect_plain_error(const struct error *e, struct buf *out);

/* Told from method and path (without query) under the provider, product.md §2.1. `stored`: a stored reply is
 * fetched or cancelled, so only the reply side applies. */
enum api dialect_api(struct span method, struct span path, bool *stored);

/* The attachment protocol: a short text for the model (product.md §2.4). `formats`: names, comma separated,
 * of what this deployment can render. */
void protocol_text(struct span formats, bool image_generation, struct buf *out);

#endif
