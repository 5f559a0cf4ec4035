#ifndef TRANSCRIPT_THREAD_H
#define TRANSCRIPT_THREAD_H
/*
 * A loaded thread, as the files of this room see it: what of each entry decides where things are drawn. The
 * entries themselves are trees only while they are drawn (transcript/document.h). Spans belong to the thread;
 * nothing changes after transcript_load.
 *
 * Terms: a turn is an entry of the thread; a payload is a workflow {id, headline, status, steps, …}; a record
 * is one background payload (or a whole background entry without one), the unit that is drawn in exactly one
 * place; an anchor is a payload in a turn that stands for a record; a stub is a turn that only reports that
 * background work ended.
 */
#include "base/arena.h"
#include "transcript/document.h"
#include "transcript/names.h"
#include "transcript/raw.h"
#include "transcript/status.h"
#include "transcript/transcript.h"

struct turn {
    size_t entry; /* in the document */
    int64_t created;
    struct span headline, status, locked; /* headline: of the query, if the turn did not end well */
    bool notice, blank;                   /* blank: it has no query */
    size_t steps;                         /* of all workflows */
    size_t first_sub, subs, first_match, matches;
    size_t owned; /* records */
};

/* A payload in an entry, or in a payload that is one. */
struct place {
    unsigned block, step, item, inner_step, inner_item;
    bool inner;
};

struct record {
    struct span id, headline;
    size_t entry;
    struct place place;
    bool made; /* the entry has no payload, so that all of it is one */
    int64_t updated, ended;
    bool has_updated, has_ended;    /* ended: when it completed, or else was updated */
    bool alone;                     /* the only one of its entry, whose answer and sources are its own */
    bool owned;                     /* by its turn: anchored there, or the turn has its own copy */
    struct span started, completed; /* as the payload says, the seconds */
    struct span locked, status, workflow_status;
    unsigned turn; /* that draws it; 0: the appendix */
    size_t number; /* among those that its turn owns */
};

/* What a turn's step starts. */
struct sub {
    struct span id, headline, status, locked;
    unsigned turn;
    size_t record; /* SIZE_MAX: nothing is known in the background */
    struct place place;
    bool anchored; /* it has a payload in the turn, at that place */
};

struct match {
    size_t stub, record;
    uint64_t distance;
};

/* A source. */
struct cited {
    struct span name, url, snippet, timestamp;
};

/* One an address. */
struct cited_list {
    struct cited *list;
    size_t n, room;
    struct names urls;
};

enum { ALERT_LISTED = 12, THREAD_RECENT = 8 };

/* Unfinished workflows: how many, and the first ones as "side:id:kind". */
struct alert {
    struct span listed[ALERT_LISTED];
    size_t n;
};

struct transcript {
    struct document *document;
    struct arena texts; /* what spans point to */
    struct span recent[THREAD_RECENT];
    unsigned nrecent;
    struct span id, author, mode;
    struct buf title, last, warnings;
    struct buf metadata; /* the dump's own, as it is spelt; empty for none */
    size_t nwarnings;
    int64_t last_us;  /* the newest time of an entry; INT64_MIN: none */
    size_t best_mode; /* the most specific one that an entry names */
    bool attributed;  /* whether the mode has background work */
    struct turn *turns;
    struct record *records;
    struct sub *subs;
    struct match *matches; /* by stub, nearest first */
    size_t *appendix;
    struct cited_list sources, background_sources; /* after loading, the first has all */
    struct alert alerts[SIDES];
    size_t nturns, nrecords, nsubs, nmatches, nappendix;
    size_t turns_room, records_room, subs_room;
    struct names record_ids, sub_ids; /* → records, subs */
};

#define NO_RECORD ((size_t)-1)

/* A copy that lives as long as the thread. */
struct span thread_keep(struct transcript *t, struct span text);
/* The list with room for one more. */
void *thread_grow(void *list, size_t n, size_t *room, size_t size) MUST_USE;
/* A line of printf's. */
void thread_warn(struct transcript *t, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* ---- shape.c: reading entries and payloads ---- */

/* Walks an entry's workflow blocks: NULL at the end. *i begins with 0. */
json_t *shape_next_workflow(const json_t *entry, size_t *i);
json_t *shape_last_workflow(const json_t *entry);
/* An item's payload, or NULL. */
json_t *shape_payload(const json_t *item);
bool shape_is_anchor(const json_t *payload);
/* A step's id without ":workflow". */
struct span shape_step_id(const json_t *step);
bool shape_is_subagent(const json_t *step);
/* The first anchor among a step's items, or NULL. */
json_t *shape_anchor(const json_t *step);
bool shape_has_payload(const json_t *step);
/* The id of the sub that a step stands for; empty: of none. */
struct span shape_sub_id(const json_t *step);
/* Appends a text payload's text. */
void shape_add_text(const json_t *text_payload, struct buf *out);

/* What the user asked. */
struct span shape_query(const json_t *entry);
/* The payload there, or NULL. */
json_t *shape_find(const json_t *entry, const struct place *place);

/* ---- answer.c: appending an answer; false: there is none ---- */

bool answer_plain(const json_t *entry, struct buf *out);
/* Of a workflow or a payload. */
bool answer_block(const json_t *block, struct buf *out);
bool answer_record(const struct transcript *t, const struct record *r, struct buf *out);
/* entry: the turn's. */
bool answer_sub(const struct transcript *t, const struct sub *sub, const json_t *entry, struct buf *out);
bool answer_turn(const struct transcript *t, const struct turn *turn, const json_t *entry, struct buf *out);

/* ---- records.c ---- */

/* A record's trees while they are used. */
struct record_trees {
    json_t *entry, *payload;
};
struct record_trees record_open(const struct transcript *t, const struct record *r) MUST_USE;
void record_close(struct record_trees *trees);
/* Adds those of a background entry. */
void records_find(struct transcript *t, const json_t *entry, size_t i);

/* ---- waterfall.c, match.c ---- */

/* What a turn anchors and has copies of; turns are added in their order, after the records. */
void waterfall_add_turn(struct transcript *t, unsigned turn, const json_t *entry);
/* Forgets the turns that were added. */
void waterfall_forget_turns(struct transcript *t);
/* Records that no turn owns find theirs, or the appendix. */
void waterfall_place(struct transcript *t);

/* ---- conversation.c: see transcript_parts ---- */

size_t conversation_parts(const struct transcript *t);
int conversation_part(const struct transcript *t, size_t part, struct buf *out) MUST_USE;

/* ---- interruptions.c ---- */

/* How a matched record counts in its stub. */
struct span interruptions_lock(const struct turn *stub, const struct record *r);
/* The registry as a JSON array without blanks; answers how many it has. */
size_t interruptions_add(const struct transcript *t, struct buf *out);
/* Takes note of an entry's unfinished workflows for the alert. */
void interruptions_note(struct transcript *t, enum side side, const json_t *entry);

#endif
