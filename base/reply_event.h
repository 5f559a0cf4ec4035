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
    /* What says again, or points into, text that came as DELTA_TEXT. */
    DELTA_REPEAT, /* the whole text of a channel once more, the inside of a string. A channel of which no
                     text has come has it as its text, and ends with it. */
    DELTA_REPEAT_TOKENS, /* next in the list after its DELTA_REPEAT: the log probabilities that go with it */
    DELTA_EXCERPT,       /* some text of the reply once more, the inside of a string; cleaned by itself */
    DELTA_LIST,   /* notes on a channel's text (annotations, citations): the inside of an array. Next in the
                     list are its items, each followed by its offsets, and these by its excerpts. */
    DELTA_ITEM,   /* an item with all its bytes. n = 0: the event itself is one, and no list is before it */
    DELTA_OFFSET, /* a number in the item, an offset into the channel's text; the second one of an item is the
                     end of a range, behind its last character. n = 0: it is not there, which says 0 */
    DELTA_ECHO,   /* a string, with its quotes, in which the request's prompt comes back */
    DELTA_WITHHELD, /* a value in which the prompt, or the whole reply, comes back in a form that cannot be
                       cleaned (token numbers): null stands in for it once something was added or removed */
    DELTA_SO_FAR,   /* the text of a channel up to and with this event's once more, the inside of a string.
                       Several   of one channel behind each other are one text */
    DELTA_BESIDE,   /* a value that goes with this event's text of the channel and cannot be cut like it: null
                       stands in for it when that text does not pass as it came */
};

/* How a dialect counts its offsets into text. */
enum offset_unit { OFFSETS_NONE, OFFSETS_BYTES /* of UTF-8 */, OFFSETS_POINTS /* Unicode code points */ };

struct delta {
    enum delta_kind kind;
    bool nth;         /* `channel` is not its number: it counts the channels that have had text, from 0 */
    uint32_t channel; /* the dialect's number of a text channel: the choice's index … */
    size_t at, n;     /* offset into `raw`, length */
};

/*
 * What a reply says besides its text, for whoever records conversations. A dialect tells it only of an event
 * that is `noting`, so that replies which nobody records pay nothing. Notes are of the first reply alone
 * where an API gives several (choice 0, candidate 0).
 */
enum note_kind {
    NOTE_REASONING,       /* more of it */
    NOTE_REASONING_BREAK, /* what follows is another paragraph of it; no value */
    NOTE_REFUSAL,         /* more of a refusal that stands beside the text */
    /* Calls of tools; `number` is the call's, NOTE_NEXT_CALL one that has none. */
    NOTE_CALL, /* it begins, or is named once more; no value */
    NOTE_CALL_ID,
    NOTE_CALL_NAME,
    NOTE_CALL_MORE,      /* more of its arguments */
    NOTE_CALL_ARGUMENTS, /* all of its arguments, whatever came before */
    NOTE_CALLS,    /* whole calls as the API writes them, an object or an array: the dialect's `calls` has the
                      notes of them, which are asked for when the reply is over. A dialect that has these has
                      none of the others */
    NOTE_CITATION, /* the address of a source */
    NOTE_CITATION_TITLE, /* next after its NOTE_CITATION */
    NOTE_FINISH,         /* why the reply ended; no value: it did, without a reason */
    NOTE_PENDING,        /* a reply that is made in the background and not ready; its status */
    NOTE_CANCELED,       /* a reply that was cancelled by a call of the API; no value */
    NOTE_REPLY_ID,       /* under which the provider keeps it */
    NOTE_ERROR,          /* this event is an error, also when reply_event's `error` is not set; no value */
    NOTE_ERROR_TYPE,
    NOTE_ERROR_CODE,
    NOTE_ERROR_MESSAGE,
};
enum { NOTE_NEXT_CALL = UINT32_MAX };

struct note {
    enum note_kind kind;
    uint32_t number;
    struct span value; /* a JSON value of reply_event's `json`, a string with its quotes; lives as long. n =
                          0: none, which only kinds without a value have */
};

struct reply_event {
    struct span raw;
    struct span json;   /* the JSON value: same length and offsets from `json_at` on as in raw; n = 0: none */
    size_t json_at;     /* offset of `json` in raw */
    bool whole;         /* a whole reply body, not one event of a stream */
    bool plain_strings; /* a string with a control character makes it unreadable: where it comes from they
                           could not be put back */
    bool unreadable;    /* set by the dialect: it is not one JSON object, so nothing is known of it */
    struct delta *deltas; /* in the order of the bytes, but ends come after all text of their channel */
    size_t n, room;
    struct note *notes; /* in the order of the bytes */
    size_t nnotes, notes_room;
    bool noting; /* notes are wanted; set by the filter */
    bool more;   /* some are of a kind behind DELTA_CHANNEL_END; kept by reply_event_delta */
    bool
        bare; /* carries nothing but text and its log probabilities: may be left out when both became empty */
    bool opens;      /* a text begins behind it, or the whole reply: all of it will come */
    bool begins;     /* says which reply it is: the shape kept of this event is what report_event gets */
    bool ends_reply; /* the report goes in here */
    size_t
        report_at; /* offset in raw of the closing brace before which the report's keys go; with ends_reply */
    bool report_first; /* the object is empty: no comma before the report */
    bool ends_stream;  /* `[DONE]`: nothing may come after it, everything held must be out before it */
    bool error;        /* the provider's own error event */
    bool may_go_on; /* it ends channels of which it is the first event, and there are providers that say so in
                       every event: what comes next tells */
    bool goes_on;   /* with error: the event that ends the reply may still follow */
    size_t number_at, number_n; /* the digits of the event's place in the stream, which must rise from event
                                   to event; n = 0: it has none */
};

/* Which channels of a reply have ended so far; zero it to start. Kept by the filter, read and written by the
 * dialect. */
struct reply_ends {
    uint64_t seen[LIMIT_CHANNELS / 64];
    unsigned count; /* distinct ones */
    /* For dialects whose channels may go on after an end. */
    uint64_t begun[LIMIT_CHANNELS / 64]; /* of which anything came */
    unsigned begun_count;
    bool repeated; /* the provider says in every event that it is the end */
};

/* Whether something of the channel came before. */
static inline bool reply_ends_begin(struct reply_ends *ends, uint32_t channel)
{
    if (channel >= LIMIT_CHANNELS)
        return true;
    uint64_t bit = 1ULL << channel % 64, *word = &ends->begun[channel / 64];
    bool before = *word & bit;
    ends->begun_count += !before;
    *word |= bit;
    return before;
}

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
/* Makes room in the list of notes. */
void reply_event_more_notes(struct reply_event *e);

/* Adds a note; only of an event that is noting. Inlined always: a call is a third of what a piece costs. */
static inline __attribute__((always_inline)) void reply_event_note(struct reply_event *e, enum note_kind kind,
                                                                   uint32_t number, struct span value)
{
    if (e->nnotes == e->notes_room)
        reply_event_more_notes(e);
    e->notes[e->nnotes++] = (struct note){.kind = kind, .number = number, .value = value};
}

/* Moves the ends behind everything else: with several replies in an event some text of a channel may come
 * after its end. */
void reply_event_ends_last(struct reply_event *e);
/* Empties it for the next event, keeping the list's memory. */
void reply_event_reset(struct reply_event *e, struct span raw);
void reply_event_free(struct reply_event *e);

#endif
