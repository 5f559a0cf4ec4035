/* The background records of a thread. */
#include "transcript/text.h"
#include "transcript/thread.h"

/* A payload with its id, and the workflow in which it stands. */
struct found {
    struct span id;
    json_t *payload, *workflow;
};

static void set_times(struct record *r)
{
    int64_t us = 0;
    r->has_updated =
        raw_time(r->entry, "entry_updated_datetime", &us) || raw_time(r->entry, "updated_datetime", &us);
    if (!r->has_updated) {
        us = raw_us(r->entry, "updated_us");
        r->has_updated = us != 0;
    }
    r->updated = r->has_updated ? us : 0;
    r->has_ended = raw_time(r->payload, "completed_at", &r->ended);
    if (!r->has_ended) {
        r->ended = r->updated;
        r->has_ended = r->has_updated;
    }
}

static void add_record(struct transcript *t, const struct found *f, json_t *entry, bool alone)
{
    struct span status = raw_str(f->payload, "status");
    struct record r = {.id = f->id,
                       .payload = f->payload,
                       .entry = entry,
                       .workflow = f->workflow,
                       .alone = alone,
                       .locked = raw_str(entry, "locked_reason"),
                       .status = status.n ? status : raw_str(f->workflow, "status")};
    set_times(&r);
    size_t same = names_find(&t->record_ids, r.id);
    if (same == NAMES_NONE) {
        t->records = thread_grow(t->records, t->nrecords, &t->records_room, sizeof *t->records);
        names_set(&t->record_ids, r.id, t->nrecords);
        t->records[t->nrecords++] = r;
        return;
    }
    thread_warn(t, "duplicate_payload id=%.*s", (int)(r.id.n < TEXT_NAME ? r.id.n : TEXT_NAME), r.id.p);
    if (r.updated > t->records[same].updated) {
        r.id = t->records[same].id;
        t->records[same] = r;
    }
}

/* An id for one that has none; the text is kept with the payloads that were made. */
static struct span make_id(struct transcript *t, const json_t *entry, size_t index, size_t n)
{
    struct span uuid = raw_str(entry, "uuid");
    json_t *id =
        uuid.n ? json_sprintf("bg:%.*s:%zu", (int)uuid.n, uuid.p, n) : json_sprintf("bg:%zu:%zu", index, n);
    json_array_append_new(t->made, id);
    return raw_span(id);
}

/* A whole entry that has no payload. */
static struct found make_payload(struct transcript *t, const json_t *entry)
{
    struct found f = {.workflow = shape_last_workflow(entry), .payload = json_object()};
    struct span query = raw_str(entry, "query_str");
    if (!query.n)
        query = raw_str(entry, "query");
    struct span headline = text_cut(text_first_line(text_trim(query)), TEXT_TITLE);
    json_object_set_new(f.payload, "headline", json_stringn(headline.n ? headline.p : "", headline.n));
    if (raw_str(f.workflow, "status").n)
        json_object_set(f.payload, "status", json_object_get(f.workflow, "status"));
    json_t *steps = raw_list(f.workflow, "steps"), *step;
    size_t i;
    if (steps)
        json_object_set(f.payload, "steps", steps);
    json_array_append_new(t->made, f.payload);
    json_array_foreach(steps, i, step) if (shape_is_subagent(step))
    {
        f.id = shape_step_id(step);
        break;
    }
    return f;
}

/* Calls add_record for each payload of an entry; with `count`, only counts. No recursion: what is nested is
 * drawn with its parent. */
static size_t visit_payloads(struct transcript *t, json_t *entry, size_t index, bool count, bool alone)
{
    size_t found = 0, s, i;
    json_t *workflow, *step, *item;
    for (size_t w = 0; (workflow = shape_next_workflow(entry, &w));)
        json_array_foreach(raw_list(workflow, "steps"), s, step)
            json_array_foreach(raw_list(step, "items"), i, item)
        {
            struct found f = {.payload = shape_payload(item), .workflow = workflow};
            if (!f.payload)
                continue;
            f.id = raw_str(f.payload, "id");
            if (!f.id.n && shape_is_subagent(step))
                f.id = shape_step_id(step);
            if (!f.id.n && !count)
                f.id = make_id(t, entry, index, found);
            found++;
            if (!count)
                add_record(t, &f, entry, alone);
        }
    return found;
}

void records_find(struct transcript *t)
{
    json_t *entries = raw_list(t->root, "background_entries"), *entry;
    size_t index;
    json_array_foreach(entries, index, entry)
    {
        if (!json_is_object(entry))
            continue;
        size_t found = visit_payloads(t, entry, index, true, false);
        if (found) {
            visit_payloads(t, entry, index, false, found == 1);
            continue;
        }
        struct found f = make_payload(t, entry);
        if (!f.id.n)
            f.id = make_id(t, entry, index, 0);
        add_record(t, &f, entry, true);
    }
}
