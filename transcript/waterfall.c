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
}

/* The first turn wins. payload may be NULL. */
static void add_sub(struct transcript *t, unsigned turn, struct span id, json_t *payload, json_t *step)
{
    struct turn *starter = &t->turns[turn - 1];
    if (!id.n || !names_add(&t->sub_ids, id, t->nsubs))
        return;
    own(t, id, turn);
    size_t found = names_find(&t->record_ids, id);
    const struct record *r = found == NAMES_NONE ? NULL : &t->records[found];
    struct span headline = raw_str(payload, "headline");
    if (!headline.n)
        headline = raw_str(step, "title");
    if (!headline.n && r)
        headline = raw_str(r->payload, "headline");
    t->subs = thread_grow(t->subs, t->nsubs, &t->subs_room, sizeof *t->subs);
    t->subs[t->nsubs++] = (struct sub){
        .id = id,
        .headline = headline,
        /* The anchor's copy may lag behind: what the background says counts. */
        .status = r ? raw_str(r->workflow, "status") : raw_str(payload, "status"),
        .locked = r ? r->locked : starter->locked,
        .turn = turn,
        .record = r ? found : NO_RECORD,
        .payload = payload,
        .step = step,
    };
    starter->subs++;
}

/* Down to the depth to which payloads are drawn: the step's own, and those in them. */
static void find_in_payload(struct transcript *t, unsigned turn, json_t *payload, json_t *step,
                            const json_t *first_anchor, unsigned depth)
{
    struct span id = raw_str(payload, "id");
    json_t *steps = raw_list(payload, "steps"), *inner, *item;
    size_t s, i;
    if (shape_is_anchor(payload))
        add_sub(t, turn, !id.n && payload == first_anchor ? shape_step_id(step) : id, payload, step);
    else if (id.n && json_array_size(steps))
        own(t, id, turn);
    if (depth == 0)
        json_array_foreach(steps, s, inner)
            json_array_foreach(raw_list(inner, "items"), i, item) if (shape_payload(item))
                find_in_payload(t, turn, shape_payload(item), step, first_anchor, 1);
}

static void find_in_step(struct transcript *t, unsigned turn, json_t *step)
{
    json_t *anchor = shape_anchor(step), *item;
    size_t i;
    if (!anchor)
        add_sub(t, turn, shape_sub_id(step), NULL, step);
    json_array_foreach(raw_list(step, "items"), i, item) if (shape_payload(item))
        find_in_payload(t, turn, shape_payload(item), step, anchor, 0);
}

static void find_anchored(struct transcript *t)
{
    json_t *workflow, *step;
    size_t s;
    for (size_t i = 0; i < t->nturns; i++) {
        t->turns[i].first_sub = t->nsubs;
        for (size_t w = 0; (workflow = shape_next_workflow(t->turns[i].entry, &w));)
            json_array_foreach(raw_list(workflow, "steps"), s, step) find_in_step(t, (unsigned)i + 1, step);
    }
}

static bool is_stub(const struct turn *turn)
{
    return span_is(raw_str(turn->entry, "trigger"), "subagent_result") && turn->steps == 0 &&
           turn->created > 0;
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
static void find_matched(struct transcript *t)
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

void waterfall_place(struct transcript *t)
{
    find_anchored(t);
    find_matched(t);
}
