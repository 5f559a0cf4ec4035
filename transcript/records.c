/* The background records of a thread. */
#include "transcript/text.h"
#include "transcript/thread.h"

enum {
    FEW = 4,      /* records of an entry that is read again for each */
    SECONDS = 19, /* characters of a time down to its seconds */
};

/* A payload with its id, and the workflow in which it stands. */
struct found {
    struct span id;
    struct place place;
    json_t *payload, *workflow;
    bool made;
};

static void set_times(struct record *r, const json_t *entry, const json_t *payload)
{
    int64_t us = 0;
    r->has_updated =
        raw_time(entry, "entry_updated_datetime", &us) || raw_time(entry, "updated_datetime", &us);
    if (!r->has_updated) {
        us = raw_us(entry, "updated_us");
        r->has_updated = us != 0;
    }
    r->updated = r->has_updated ? us : 0;
    r->has_ended = raw_time(payload, "completed_at", &r->ended);
    if (!r->has_ended) {
        r->ended = r->updated;
        r->has_ended = r->has_updated;
    }
}

static void add_record(struct transcript *t, const struct found *f, const json_t *entry, size_t i, bool alone)
{
    struct span status = raw_str(f->payload, "status"), workflow = raw_str(f->workflow, "status");
    struct record r = {.entry = i, .place = f->place, .made = f->made, .alone = alone};
    set_times(&r, entry, f->payload);
    size_t same = names_find(&t->record_ids, f->id);
    if (same != NAMES_NONE) {
        thread_warn(t, "duplicate_payload id=%.*s", (int)(f->id.n < TEXT_NAME ? f->id.n : TEXT_NAME),
                    f->id.p);
        if (r.updated <= t->records[same].updated)
            return;
    }
    r.id = same == NAMES_NONE ? thread_keep(t, f->id) : t->records[same].id;
    r.headline = thread_keep(t, raw_str(f->payload, "headline"));
    r.locked = thread_keep(t, raw_str(entry, "locked_reason"));
    r.status = thread_keep(t, status.n ? status : workflow);
    r.workflow_status = thread_keep(t, workflow);
    r.started = thread_keep(t, text_cut(raw_str(f->payload, "started_at"), SECONDS));
    r.completed = thread_keep(t, text_cut(raw_str(f->payload, "completed_at"), SECONDS));
    if (same == NAMES_NONE) {
        t->records = thread_grow(t->records, t->nrecords, &t->records_room, sizeof *t->records);
        names_set(&t->record_ids, r.id, same = t->nrecords++);
    }
    t->records[same] = r;
}

/* An id for one that has none. */
static struct span make_id(struct transcript *t, const json_t *entry, size_t index, size_t n)
{
    struct span uuid = raw_str(entry, "uuid");
    struct buf id;
    buf_init(&id, uuid.n + 64);
    buf_adds(&id, "bg:");
    if (uuid.n)
        buf_add(&id, uuid);
    else
        buf_add_number(&id, index);
    buf_printf(&id, ":%zu", n);
    struct span kept = thread_keep(t, buf_span(&id));
    buf_free(&id);
    return kept;
}

/* Of a whole entry that has no payload. */
static json_t *make_payload(const json_t *entry)
{
    json_t *payload = json_object(), *workflow = shape_last_workflow(entry),
           *steps = raw_list(workflow, "steps");
    struct span headline = text_cut(text_first_line(text_trim(shape_query(entry))), TEXT_TITLE);
    json_object_set_new(payload, "headline", json_stringn(headline.n ? headline.p : "", headline.n));
    if (raw_str(workflow, "status").n)
        json_object_set(payload, "status", json_object_get(workflow, "status"));
    if (steps)
        json_object_set(payload, "steps", steps);
    return payload;
}

static void add_whole(struct transcript *t, const json_t *entry, size_t index)
{
    struct found f = {.workflow = shape_last_workflow(entry), .payload = make_payload(entry), .made = true};
    json_t *step;
    size_t i;
    json_array_foreach(raw_list(f.workflow, "steps"), i, step) if (shape_is_subagent(step))
    {
        f.id = shape_step_id(step);
        break;
    }
    if (!f.id.n)
        f.id = make_id(t, entry, index, 0);
    add_record(t, &f, entry, index, true);
    json_decref(f.payload);
}

/* Calls add_record for each payload of an entry; with `count`, only counts. No recursion: what is nested is
 * drawn with its parent. */
static size_t visit_payloads(struct transcript *t, const json_t *entry, size_t index, bool count, bool alone)
{
    size_t found = 0, s, i;
    json_t *workflow, *step, *item;
    for (size_t w = 0; (workflow = shape_next_workflow(entry, &w));)
        json_array_foreach(raw_list(workflow, "steps"), s, step)
            json_array_foreach(raw_list(step, "items"), i, item)
        {
            struct found f = {.payload = shape_payload(item),
                              .workflow = workflow,
                              .place = {.block = (unsigned)w - 1, .step = (unsigned)s, .item = (unsigned)i}};
            if (!f.payload)
                continue;
            f.id = raw_str(f.payload, "id");
            if (!f.id.n && shape_is_subagent(step))
                f.id = shape_step_id(step);
            if (!f.id.n && !count)
                f.id = make_id(t, entry, index, found);
            found++;
            if (!count)
                add_record(t, &f, entry, index, alone);
        }
    return found;
}

void records_find(struct transcript *t, const json_t *entry, size_t i)
{
    if (!json_is_object(entry))
        return;
    size_t found = visit_payloads(t, entry, i, true, false);
    if (found)
        visit_payloads(t, entry, i, false, found == 1);
    else
        add_whole(t, entry, i);
    if (found > FEW)
        document_keep(t->document, SIDE_BACKGROUND, i);
}

struct record_trees record_open(const struct transcript *t, const struct record *r)
{
    struct record_trees trees = {.entry = document_entry(t->document, SIDE_BACKGROUND, r->entry)};
    trees.payload = r->made ? make_payload(trees.entry) : json_incref(shape_find(trees.entry, &r->place));
    return trees;
}

void record_close(struct record_trees *trees)
{
    json_decref(trees->payload);
    json_decref(trees->entry);
}
