#ifndef TRANSCRIPT_THREAD_H
#define TRANSCRIPT_THREAD_H
/*
 * A loaded thread, as the files of this room see it. Trees and spans belong to the document; nothing changes
 * after transcript_load.
 *
 * Terms: a turn is an entry of the thread; a payload is a workflow {id, headline, status, steps, …}; a record
 * is one background payload (or a whole background entry without one), the unit that is drawn in exactly one
 * place; an anchor is a payload in a turn that stands for a record; a stub is a turn that only reports that
 * background work ended.
 */
#include "transcript/names.h"
#include "transcript/raw.h"
#include "transcript/status.h"
#include "transcript/transcript.h"

struct turn {
    json_t *entry;
    size_t index; /* in the document */
    int64_t created;
    struct span query, status, locked;
    json_t *workflow; /* the last one, or NULL */
    size_t steps;     /* of all of them */
    size_t first_sub, subs, first_match, matches;
};

struct record {
    struct span id;
    json_t *payload, *entry, *workflow; /* workflow: may be NULL */
    int64_t updated, ended;
    bool has_updated, has_ended; /* ended: when it completed, or else was updated */
    bool alone;                  /* the only one of its entry, whose answer and sources are its own */
    struct span locked, status;
    unsigned turn; /* that draws it; 0: the appendix */
    bool owned;    /* by that turn: anchored there, or the turn has its own copy */
};

/* What a turn's step starts. */
struct sub {
    struct span id, headline, status, locked;
    unsigned turn;
    size_t record; /* SIZE_MAX: nothing is known in the background */
    json_t *payload, *step;
};

struct match {
    size_t stub, record;
    uint64_t distance;
};

struct transcript {
    json_t *root, *made; /* made: payloads of entries that have none */
    struct span id, author, mode;
    struct buf title, last, warnings;
    struct buf metadata; /* the dump's own, as it is spelt; empty for none */
    size_t nwarnings;
    bool attributed; /* whether the mode has background work */
    struct turn *turns;
    struct record *records;
    struct sub *subs;
    struct match *matches; /* by stub, nearest first */
    size_t *appendix;
    json_t **sources; /* one a url */
    size_t nturns, nrecords, nsubs, nmatches, nappendix, nsources;
    size_t records_room, subs_room, sources_room;
    struct names record_ids, sub_ids; /* → records, subs */
};

#define NO_RECORD ((size_t)-1)

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

/* ---- answer.c: appending an answer; false: there is none ---- */

bool answer_plain(const json_t *entry, struct buf *out);
/* Of a workflow or a payload. */
bool answer_block(const json_t *block, struct buf *out);
bool answer_record(const struct record *r, struct buf *out);
bool answer_sub(const struct transcript *t, const struct sub *sub, struct buf *out);
bool answer_turn(const struct transcript *t, const struct turn *turn, struct buf *out);

/* ---- records.c, waterfall.c, match.c: in this order ---- */

void records_find(struct transcript *t);
void waterfall_place(struct transcript *t);

/* ---- interruptions.c ---- */

/* How a matched record counts in its stub. */
struct span interruptions_lock(const struct turn *stub, const struct record *r);
/* The registry as a JSON array without blanks; answers how many it has. */
size_t interruptions_add(const struct transcript *t, struct buf *out);

#endif
