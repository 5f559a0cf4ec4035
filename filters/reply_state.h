#ifndef FILTERS_REPLY_STATE_H
#define FILTERS_REPLY_STATE_H
/*
 * The reply filter's inside, shared by reply.c (bytes into events, and the order of things at the end),
 * rewrite.c (one event in, what a client may see of it out) and channel.c (the text of one channel). Nobody
 * else includes it.
 *
 * An event is worked on in two steps, between which the filter may wait for directives to be settled:
 *   rewrite_read    feeds its text to the directive filters and notes how the event changes
 *   rewrite_write   adds what only the settled directives tell (stand-in, links, report) and writes it
 */
#include "base/sse.h"
#include "filters/reply.h"
#include "filters/report.h"
#include "filters/tokens.h"

/* What a channel needs only while something of it is held, or once it had a directive or a marker. */
struct held {
    struct buf shape;   /* from the dialect's keep_shape */
    struct buf pending; /* buffer mode: cleaned text so far, escaped */
};

struct channel {
    struct channel *next;
    struct reply *reply;
    struct directive_filter *filter;
    struct held *held;     /* NULL: nothing */
    struct tokens *tokens; /* NULL: no log probabilities came yet */
    uint32_t number;
    unsigned directives; /* since its text began */
    bool open;           /* text came and its end did not */
    bool visible;        /* something else than white space was passed on */
    bool reported;       /* had a directive or a marker */
    bool changed;        /* in this event: its text is another now */
    bool tokens_read;    /* in this event: its log probabilities are in step */
    bool ending;         /* in this event: its end came, and is still to be written */
    size_t undecided;    /* bytes of text held or inside a directive */
    size_t decided;      /* in this feed: bytes that the filter decided on */
    /* This event's text of the channel. */
    uint64_t event;      /* the event these are about */
    size_t length;       /* bytes of UTF-8, counted only when log probabilities need it */
    size_t place;        /* offset behind its last text in the event */
    size_t text_out;     /* bytes of text left of it */
    size_t tail, tail_n; /* in reply's scratch: what its end let go */
};

/* How an event changes: `cut` bytes at `at` become n bytes of the scratch buffer. */
struct change {
    size_t at, cut;
    size_t from, n;
};

struct reply {
    struct reply_settings settings;
    struct reply_callbacks callbacks;
    void *arg;
    struct channel *channels;
    struct reply_ends ends;
    struct report report;
    struct reply_totals totals;
    size_t directive_bytes; /* of all directives so far */

    /* Bytes in. */
    struct buf in; /* an unfinished event; while waiting, the event and what came after it */
    struct sse_scan scan;
    struct span run; /* blocks that pass as they are and are not in `out` yet */
    bool first_done; /* the stream's first block was seen */

    /* The event being worked on. */
    struct reply_event event;
    uint64_t serial;
    struct buf scratch; /* replacements, escaped */
    struct change *changes;
    size_t nchanges, changes_room;
    size_t text_out, tokens_out; /* bytes of text and entries left in the event */
    struct span feeding;         /* the text being fed */
    size_t feeding_from;         /* end of the scratch buffer before it */
    bool same;                   /* the filter passed it on as it is, in one piece */
    bool closing;                /* no text comes after this event: everything held goes out before it */

    /* The end. */
    struct buf error_event;
    bool waiting, ending, clean, closed, done, failed;
    bool overlong; /* failed because of one event's size alone: reply_end can still tell what was before it */
    bool done_seen;    /* [DONE] went out */
    unsigned open_end; /* line ends that the last block lacks before another one may follow */
};

/* NULL: too many. */
struct channel *channel_get(struct reply *r, uint32_t number) MUST_USE;
struct channel *channel_find(const struct reply *r, uint32_t number) MUST_USE;
void channel_destroy(struct channel *c);
/* Feeds a piece of text; what comes out is appended to the reply's scratch buffer, or to the channel's
 * pending text. Notes the change. */
void channel_feed(struct channel *c, const struct delta *d);
/* Ends the text: what was held is the channel's tail, or pending. */
void channel_end(struct channel *c);
/* Log probabilities of this channel have come: from now on its text is followed by them. Before the event's
 * text is fed. */
void channel_start_tokens(struct channel *c);
/* Brings the log probabilities of this event in step; d: their place, or NULL when it has none. */
void channel_tokens(struct channel *c, const struct delta *d);
/* Gives back what is not needed while nothing is held. */
void channel_rest(struct channel *c);
size_t channel_held_bytes(const struct channel *c);

void rewrite_read(struct reply *r);
/* Whether the event must wait for directives to be settled. */
bool rewrite_must_wait(const struct reply *r);
void rewrite_write(struct reply *r, struct buf *out);
/* Notes that `cut` bytes at `at` become n bytes of the scratch buffer. */
void rewrite_change(struct reply *r, size_t at, size_t cut, size_t from, size_t n);

/* Puts out the blocks that passed as they are. */
void reply_flush(struct reply *r, struct buf *out);
/* Before an event of Penstock's own. */
void reply_own_event(struct reply *r, struct buf *out);

#endif
