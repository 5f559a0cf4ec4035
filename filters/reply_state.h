#ifndef FILTERS_REPLY_STATE_H
#define FILTERS_REPLY_STATE_H
/*
 * The reply filter's inside, shared by reply.c (bytes into blocks, and the order of things at the end),
 * block.c (a block into an event), rewrite.c (one event in, what a client may see of it out), channel.c (the
 * text of one channel), repeat.c (text that comes again) and offsets.c (what points into text). Nobody else
 * includes it.
 *
 * An event is worked on in two steps, between which the filter may wait for directives to be settled:
 *   rewrite_read    feeds its text to the directive filters and notes how the event changes
 *   rewrite_write   adds what only the settled directives tell (stand-in, links, report) and writes it
 */
#include "base/sse.h"
#include "filters/items.h"
#include "filters/reply.h"
#include "filters/report.h"
#include "filters/tokens.h"

/* What a channel needs only while something of it is held, or once it had a directive or a marker. */
struct held {
    struct buf shape;   /* from the dialect's keep_shape */
    struct buf pending; /* buffer mode: cleaned text so far, escaped */
};

/* What was taken out of a channel's text, in the units of its offsets; ascending, apart from each other. */
struct removal {
    size_t at, n;  /* counted in the provider's text */
    size_t before; /* removed before it, all together */
};

struct removals {
    struct removal *list;
    size_t n, room;
    size_t total;
};

struct channel {
    struct channel *next;
    struct reply *reply;
    struct directive_filter *filter;
    struct held *held;         /* NULL: nothing */
    struct tokens *tokens;     /* NULL: no log probabilities came yet */
    struct removals *removals; /* NULL: nothing was taken out */
    size_t position;           /* units of its text that were decided on */
    char *added;               /* what was added at its end: a sentence, links; NULL: nothing */
    size_t added_n;
    uint32_t number;
    unsigned directives; /* since its text began */
    bool open;           /* text came and its end did not */
    bool visible;        /* something else than white space was passed on */
    bool shown;          /* so it was at the end of a text, or a sentence stood in */
    bool reported;       /* had a directive or a marker */
    bool changed;        /* in this event: its text is another now */
    bool tokens_read;    /* in this event: its log probabilities are in step */
    bool midway;         /* its beginning did not come, so its pieces wait for the whole text */
    bool muted;          /* what is fed was passed on before */
    size_t missed;       /* midway: bytes of UTF-8 in its pieces */
    struct span late;    /* in this event: what is still to be fed before its end */
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
    struct channel *channels, *latest;
    struct buf echoes[2]; /* settings.echoes as text; empty: no echo came */
    struct buf frame;     /* shape of the event that begins the reply */
    struct reply_ends ends;
    struct report report;
    struct reply_totals totals;
    size_t directive_bytes; /* of all directives so far */
    bool midway;            /* no text has begun yet */
    bool partial;           /* a resumed stream that did not begin at its beginning */
    bool numbered;          /* events have numbers */
    int64_t number;         /* of the last one that went out; -1: none did */
    int64_t shift;          /* what is added to the provider's numbers */

    /* Bytes in. */
    struct buf in; /* an unfinished event; while waiting, the event and what came after it */
    struct sse_scan scan;
    struct buf later;                         /* an event that ends channels, perhaps; the next one tells */
    uint64_t later_ends[LIMIT_CHANNELS / 64]; /* which */
    struct span run;                          /* blocks that pass as they are and are not in `out` yet */
    bool first_done;                          /* the stream's first block was seen */
    struct items_scan items;
    bool array_open;  /* REPLY_ARRAY: its opening bracket went out */
    bool array_items; /* so did an item */

    /* The event being worked on. */
    struct reply_event event;
    uint64_t serial;
    size_t lead; /* REPLY_ARRAY: bytes before the item; of its bracket or comma, and whether they are there */
    bool lead_opens, lead_comma;
    struct buf scratch; /* replacements, escaped */
    struct change *changes;
    size_t nchanges, changes_room;
    size_t text_out, tokens_out; /* bytes of text and entries left in the event */
    struct span feeding;         /* the text being fed */
    size_t feeding_from;         /* end of the scratch buffer before it */
    bool same;                   /* the filter passed it on as it is, in one piece */
    bool closing;                /* no text comes after this event: everything held goes out before it */
    bool bare;                   /* a JSON value that is no event, in an event stream */
    bool own;                    /* an event of Penstock's own went out before it */
    bool drop;                   /* it is about text that was taken out, and goes with it */

    /* The end. */
    struct buf error_event;
    bool waiting, ending, clean, closed, done, failed;
    bool broken;       /* failed because of one event alone: reply_end can still tell what was before it */
    bool unreadable;   /* that event is no JSON, and would take directives to whoever reads it all the same */
    bool done_seen;    /* [DONE] went out */
    size_t own_from;   /* where the event of Penstock's own begins in the output */
    unsigned open_end; /* line ends that the last block lacks before another one may follow */
};

/* An unfinished event may be so much longer than settings.event_max, and what came behind it. */
enum { REPLY_IN_ROOM = 2 * LIMIT_READ };

/* ---- block.c ---- */
/* Takes a block: reads its event, and writes it or puts it off. False: it waits, or the one before it in
 * `later` does; after a failure true. */
bool block_take(struct reply *r, struct span block, struct buf *out);
/* The same for the one in `later`, when nothing comes behind it any more. False: it waits, and stays there.
 */
bool block_take_last(struct reply *r, struct buf *out);
/* Fills in r->event. `room` holds a joined copy of several data lines; to be freed after the event was read.
 */
void block_read(struct reply *r, struct span block, struct buf *room);
/* The event of r->event has been read; true: it is written, false: it waits. */
bool block_take_event(struct reply *r, struct buf *out);
/* A JSON value with no field's name before it, which is how Gemini says an error in an event stream. The
 * empty span for everything else. */
struct span block_bare_json(struct span block);

/* NULL: too many. Channels stay in the order in which their text began. */
struct channel *channel_get(struct reply *r, uint32_t number) MUST_USE;
struct channel *channel_find(const struct reply *r, uint32_t number) MUST_USE;
void channel_destroy(struct channel *c);
/* Feeds a piece of text; what comes out is appended to the reply's scratch buffer, or to the channel's
 * pending text. Notes the change. */
void channel_feed(struct channel *c, const struct delta *d);
/* The whole text of a channel that is midway has come: what came before its pieces is known to the client,
 * the rest goes out at its end. `text` must live until then. */
void channel_resume(struct channel *c, struct span text);
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

/* Whether a sentence must stand in for the channel's text, if it ends like this. */
bool channel_needs_sentence(const struct channel *c);

/* The channels of repeats and notes; a repeat of what never came becomes text. Before the event's text is
 * fed. */
void repeat_read(struct reply *r);
/* Notes how the event's repeats, excerpts and echoes change. After what was added to its channels is known.
 */
void repeat_write(struct reply *r);
void repeat_finish(struct reply *r);
/* Appends the delta's text without directives to the scratch buffer; false, and nothing appended: it has
 * none. */
bool repeat_clean(struct reply *r, const struct delta *d) MUST_USE;

/* What became of the next units of the channel's text. */
void offsets_fate(struct channel *c, size_t n, bool kept);
/* The channel's text begins. */
void offsets_restart(struct channel *c);
void offsets_finish(struct channel *c);
/* Notes how the event's lists, items and offsets change, or that it goes. */
void offsets_write(struct reply *r);

/* The place in the stream of an event of Penstock's own, or -1. */
int64_t rewrite_next_number(struct reply *r);
/* Writes the event as it is but for its number. */
void rewrite_plain(struct reply *r, struct buf *out);

void rewrite_read(struct reply *r);
/* Whether the event must wait for directives to be settled. */
bool rewrite_must_wait(const struct reply *r);
void rewrite_write(struct reply *r, struct buf *out);
/* Notes that `cut` bytes at `at` become n bytes of the scratch buffer. */
void rewrite_change(struct reply *r, size_t at, size_t cut, size_t from, size_t n);

/* Puts out the blocks that passed as they are. */
void reply_flush(struct reply *r, struct buf *out);
/* Before and after an event of Penstock's own. */
void reply_own_event(struct reply *r, struct buf *out);
void reply_own_end(struct reply *r, struct buf *out);

#endif
