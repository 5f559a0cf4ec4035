/*
 * The place of every record, in three levels: the turn that anchors it (or has its own copy), the notice that
 * is nearest to its end, the appendix.
 */
#include <stdlib.h>

#include "base/xalloc.h"
#include "transcript/match.h"
#include "transcript/thread.h"

static void own(struct transcript *t, struct span id, unsigned turn)
{
    size_t i = names_find(&t->record_ids, id);
    if (i == NAMES_NONE || t->records[i].owned)
        return;
    t->records[i].owned = true;
    t->records[i].turn = turn;
    t->records[i].number = t->turns[turn - 1].owned++;
}

/* The step of a turn that is looked through. */
struct starter {
    struct transcript *t;
    unsigned turn;
    const json_t *step, *anchor; /* its first one, or NULL */
};

/* The first turn wins. payload may be NULL; it is at the place. */
static void add_sub(const struct starter *s, struct span id, const json_t *payload, const struct place *place)
{
    struct transcript *t = s->t;
    if (!id.n || !names_add(&t->sub_ids, id, t->nsubs))
        return;
    own(t, id, s->turn);
    size_t found = names_find(&t->record_ids, id);
    const struct record *r = found == NAMES_NONE ? NULL : &t->records[found];
    struct turn *starter = &t->turns[s->turn - 1];
    struct span headline = raw_str(payload, "headline");
    if (!headline.n)
        headline = raw_str(s->step, "title");
    if (!headline.n && r)
        headline = r->headline;
    t->subs = thread_grow(t->subs, t->nsubs, &t->subs_room, sizeof *t->subs);
    t->subs[t->nsubs++] = (struct sub){
        .id = r ? r->id : thread_keep(t, id),
        .headline = thread_keep(t, headline),
        /* The anchor's copy may lag behind: what the background says counts. */
        .status = r ? r->workflow_status : thread_keep(t, raw_str(payload, "status")),
        .locked = r ? r->locked : starter->locked,
        .turn = s->turn,
        .record = r ? found : NO_RECORD,
        .place = *place,
        .anchored = payload,
    };
    starter->subs++;
}

/* Down to the depth to which payloads are drawn: the step's own, and those in them. */
static void find_in_payload(const struct starter *f, const json_t *payload, struct place *place)
{
    struct span id = raw_str(payload, "id");
    json_t *steps = raw_list(payload, "steps"), *inner, *item;
    size_t s, i;
    if (shape_is_anchor(payload))
        add_sub(f, !id.n && payload == f->anchor ? shape_step_id(f->step) : id, payload, place);
    else if (id.n && json_array_size(steps))
        own(f->t, id, f->turn);
    if (place->inner)
        return;
    json_array_foreach(steps, s, inner) json_array_foreach(raw_list(inner, "items"), i, item)
    {
        struct place in = *place;
        in.inner = true;
        in.inner_step = (unsigned)s;
        in.inner_item = (unsigned)i;
        if (shape_payload(item))
            find_in_payload(f, shape_payload(item), &in);
    }
}

static void find_in_step(struct transcript *t, unsigned turn, const json_t *step, struct place *place)
{
    const struct starter starter = {.t = t, .turn = turn, .step = step, .anchor = shape_anchor(step)};
    json_t *item;
    size_t i;
    if (!starter.anchor)
        add_sub(&starter, shape_sub_id(step), NULL, place);
    json_array_foreach(raw_list(step, "items"), i, item) if (shape_payload(item))
    {
        place->item = (unsigned)i;
        find_in_payload(&starter, shape_payload(item), place);
    }
}

void waterfall_add_turn(struct transcript *t, unsigned turn, const json_t *entry)
{
    json_t *workflow, *step;
    size_t s;
    t->turns[turn - 1].first_sub = t->nsubs;
    for (size_t w = 0; (workflow = shape_next_workflow(entry, &w));)
        json_array_foreach(raw_list(workflow, "steps"), s, step)
        {
            struct place place = {.block = (unsigned)w - 1, .step = (unsigned)s};
            find_in_step(t, turn, step, &place);
        }
}

void waterfall_forget_turns(struct transcript *t)
{
    names_finish(&t->sub_ids);
    names_init(&t->sub_ids);
    t->nsubs = 0;
    for (size_t i = 0; i < t->nturns; i++)
        t->turns[i].first_sub = t->turns[i].subs = t->turns[i].owned = 0;
    for (size_t i = 0; i < t->nrecords; i++) {
        t->records[i].owned = false;
        t->records[i].turn = 0;
    }
}

static bool is_stub(const struct turn *turn)
{
    return turn->notice && turn->steps == 0 && turn->created > 0;
}

static int compare_matches(const void *a, const void *b)
{
    const struct match *x = a, *y = b;
    if (x->stub != y->stub)
        return x->stub < y->stub ? -1 : 1;
    if (x->distance != y->distance)
        return x->distance < y->distance ? -1 : 1;
    return x->record < y->record ? -1 : x->record > y->record;
}

/* Turns are in the order of their times. */
void waterfall_place(struct transcript *t)
{
    int64_t *times = xcalloc(t->nturns + 1, sizeof *times);
    size_t *stubs = xcalloc(t->nturns + 1, sizeof *stubs), n = 0;
    for (size_t i = 0; i < t->nturns; i++)
        if (is_stub(&t->turns[i])) {
            times[n] = t->turns[i].created;
            stubs[n++] = i;
        }
    t->matches = xcalloc(t->nrecords + 1, sizeof *t->matches);
    t->appendix = xcalloc(t->nrecords + 1, sizeof *t->appendix);
    for (size_t i = 0; i < t->nrecords; i++) {
        struct record *r = &t->records[i];
        size_t near = r->owned || !r->has_ended ? n : match_stub(times, n, r->ended);
        if (near < n) {
            t->matches[t->nmatches++] = (struct match){
                .stub = stubs[near], .record = i, .distance = match_distance(times[near], r->ended)};
            r->turn = (unsigned)stubs[near] + 1;
        } else if (!r->owned) {
            t->appendix[t->nappendix++] = i;
        }
    }
    qsort(t->matches, t->nmatches, sizeof *t->matches, compare_matches);
    for (size_t i = t->nmatches; i-- > 0;) {
        t->turns[t->matches[i].stub].first_match = i;
        t->turns[t->matches[i].stub].matches++;
    }
    xfree(times);
    xfree(stubs);
}
