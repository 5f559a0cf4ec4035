#include "transcript/journal.h"

#include "base/xalloc.h"
#include "transcript/journal_event.h"
#include "transcript/text.h"
#include "transcript/transcript.h"

/* ---- events ---- */

static const struct {
    const char *name;
    enum json_type type;
} members[MEMBERS] = {
    [EV] = {"ev", JSON_STRING},
    [THREAD] = {"thread", JSON_STRING},
    [TITLE] = {"title", JSON_STRING},
    [AUTHOR] = {"author", JSON_STRING},
    [ID] = {"id", JSON_STRING},
    [ROLE] = {"role", JSON_STRING},
    [AT] = {"at_us", JSON_NUMBER},
    [QUERY] = {"query", JSON_STRING},
    [TRIGGER] = {"trigger", JSON_STRING},
    [CONSULT] = {"consult_id", JSON_STRING},
    [PARENT] = {"parent", JSON_STRING},
    [HEADLINE] = {"headline", JSON_STRING},
    [RUN] = {"run", JSON_NUMBER},
    [ATTACHMENTS] = {"attachments", JSON_ARRAY},
    [TEXT] = {"text", JSON_STRING},
    [REASONING] = {"reasoning", JSON_STRING},
    [TOOL_CALLS] = {"tool_calls", JSON_ARRAY},
    [CITATIONS] = {"citations", JSON_ARRAY},
    [ARTIFACTS] = {"artifacts", JSON_ARRAY},
    [END] = {"end", JSON_OBJECT},
};

struct event event_read(struct span line)
{
    struct event e = {0};
    struct json_iter it = json_iter(line);
    while (line.n && json_next(&it) == 1)
        for (size_t i = 0; i < MEMBERS; i++)
            if (json_key_is(&it, members[i].name)) {
                bool empty = json_type(it.value) != members[i].type || span_is(it.value, "\"\"");
                e.v[i] = empty ? (struct span){0} : it.value;
                break;
            }
    return e;
}

int64_t event_number(struct span value)
{
    int64_t n = 0;
    return value.n && json_int(value, &n) ? n : 0;
}

bool event_is(struct span string, const char *text)
{
    return string.n && json_inside_is(json_inside(string), text);
}

/*
 * A program that died while it wrote leaves a piece of a line, to which the next one may have been appended:
 * inside of a line's strings quotes are escaped, so what looks like a beginning is one.
 */
static bool find_object(struct span line, struct span *object)
{
    static const char begin[] = "{\"ev\":";
    if (json_document(line, object))
        return json_type(*object) == JSON_OBJECT;
    for (size_t at = line.n; at-- > 0;)
        if (line.p[at] == '{' && span_starts(span_from(line, at), begin))
            return json_document(span_from(line, at), object);
    return false;
}

/* The walk through a journal's objects. */
struct objects {
    struct source_lines lines;
    size_t skipped;
};

/* The next line that is an object, and where that begins; false: there are no more. */
static bool next_object(struct objects *o, struct span *object, size_t *at)
{
    struct span line;
    while (source_next_line(&o->lines, &line, at)) {
        if (text_is_blank(line))
            continue;
        if (find_object(line, object)) {
            *at += (size_t)(object->p - line.p);
            return true;
        }
        o->skipped++;
    }
    return false;
}

/* ---- what belongs together ---- */

/* What is known only while the lines are read. */
struct reading {
    struct names ids;         /* id → request */
    struct names ends;        /* id → place in `early` */
    struct line_place *early; /* ends that stand before their begin */
    size_t nearly, early_room;
    struct names last; /* id → the last of the requests that it started */
};

static void *grow(void *list, size_t n, size_t *room, size_t size)
{
    if (n < *room)
        return list;
    *room = *room ? 2 * *room : 16;
    return xrealloc(list, *room * size);
}

static void add_child(struct journal *j, struct reading *r, struct span parent, size_t child)
{
    size_t before = names_find(&r->last, parent);
    if (before == NAMES_NONE)
        names_set(&j->first, parent, child);
    else
        j->requests[before].sibling = child;
    names_set(&r->last, parent, child);
}

static void add_begin(struct journal *j, struct reading *r, const struct event *e, struct line_place line)
{
    struct span id = json_inside(e->v[ID]);
    struct request begun = {.begin = line,
                            .sibling = NAMES_NONE,
                            .run = event_number(e->v[RUN]),
                            .specialist = event_is(e->v[ROLE], "specialist")};
    if (!names_add(&r->ids, id, j->n))
        return;
    if (e->v[CONSULT].n && begun.specialist)
        names_set(&j->consults, json_inside(e->v[CONSULT]), j->n);
    else if (e->v[PARENT].n && begun.specialist)
        add_child(j, r, json_inside(e->v[PARENT]), j->n);
    size_t early = names_find(&r->ends, id);
    if (early != NAMES_NONE)
        begun.end = r->early[early];
    j->requests = grow(j->requests, j->n, &j->room, sizeof *j->requests);
    j->requests[j->n++] = begun;
}

static void add_end(struct journal *j, struct reading *r, const struct event *e, struct line_place line)
{
    struct span id = json_inside(e->v[ID]);
    size_t request = names_find(&r->ids, id);
    if (request != NAMES_NONE) {
        j->requests[request].end = line;
        return;
    }
    r->early = grow(r->early, r->nearly, &r->early_room, sizeof *r->early);
    names_set(&r->ends, id, r->nearly);
    r->early[r->nearly++] = line;
}

static void take_head(struct journal *j, struct span line, struct span thread)
{
    struct event t = event_read(line);
    struct span title;
    buf_reset(&j->head);
    buf_adds(&j->head, "{\"thread_id\":");
    if (t.v[THREAD].n) {
        buf_add(&j->head, t.v[THREAD]);
    } else {
        buf_addc(&j->head, '"');
        if (json_escape(thread, &j->head) == 0)
            buf_addc(&j->head, '"');
    }
    if (line.n && json_member(line, "title", &title) && json_type(title) == JSON_STRING) {
        buf_adds(&j->head, ",\"title\":");
        buf_add(&j->head, title);
    }
    if (t.v[AUTHOR].n) {
        buf_adds(&j->head, ",\"author\":");
        buf_add(&j->head, t.v[AUTHOR]);
    }
    buf_adds(&j->head, ",\"mode\":\"consult\"");
}

static void read_lines(struct journal *j, struct reading *r, struct objects *o, struct span thread)
{
    struct span line;
    size_t at;
    bool named = false;
    while (next_object(o, &line, &at)) {
        struct event e = event_read(line);
        struct line_place place = {.at = at, .n = line.n};
        if (event_is(e.v[EV], "thread")) {
            if (!named)
                take_head(j, line, thread);
            named = true;
        } else if (event_is(e.v[EV], "begin") && e.v[ID].n) {
            add_begin(j, r, &e, place);
        } else if (event_is(e.v[EV], "end") && e.v[ID].n) {
            add_end(j, r, &e, place);
        } else {
            o->skipped++;
        }
    }
}

/* Which requests are turns and which background entries, and which of them run. */
static void sort_out(struct journal *j, const struct journal_live *live)
{
    for (unsigned side = 0; side < 2; side++)
        j->sides[side] = xcalloc(j->n + 1, sizeof *j->sides[side]);
    for (size_t i = 0; i < j->n; i++) {
        struct request *r = &j->requests[i];
        r->running = r->end.n == 0 && live && live->is_running(live->arg, r->run);
        j->running = j->running || r->running;
        j->sides[r->specialist][j->nsides[r->specialist]++] = i;
    }
}

int journal_open(const struct source *s, struct span thread, const struct journal_live *live,
                 struct journal **out, struct error *e)
{
    if (s->n > TRANSCRIPT_DOCUMENT)
        return error_set(e, ERROR_BAD_REQUEST, "The thread's journal has %zu bytes; %d can be read.", s->n,
                         TRANSCRIPT_DOCUMENT);
    struct journal *j = xcalloc(1, sizeof *j);
    struct reading r = {.nearly = 0};
    struct objects o = {.skipped = 0};
    j->source = s;
    buf_init(&j->head, TRANSCRIPT_DOCUMENT);
    names_init(&j->consults);
    names_init(&j->first);
    names_init(&r.ids);
    names_init(&r.ends);
    names_init(&r.last);
    source_lines_init(&o.lines, s, TRANSCRIPT_DOCUMENT);
    take_head(j, (struct span){0}, thread);
    read_lines(j, &r, &o, thread);
    sort_out(j, live);
    j->skipped = o.skipped;
    bool failed = o.lines.failed;
    source_lines_free(&o.lines);
    names_finish(&r.ids);
    names_finish(&r.ends);
    names_finish(&r.last);
    xfree(r.early);
    *out = j;
    if (!failed)
        return 0;
    journal_close(j);
    *out = NULL;
    return error_set(e, ERROR_BAD_REQUEST, "The thread's journal cannot be read to its end; try again.");
}

void journal_close(struct journal *j)
{
    if (!j)
        return;
    names_finish(&j->consults);
    names_finish(&j->first);
    buf_free(&j->head);
    xfree(j->requests);
    xfree(j->sides[0]);
    xfree(j->sides[1]);
    xfree(j);
}

size_t journal_skipped(const struct journal *j)
{
    return j->skipped;
}

bool journal_runs(const struct journal *j)
{
    return j->running;
}

size_t journal_entries(const struct journal *j, bool background)
{
    return j->nsides[background];
}

/* ---- a list's line ---- */

/* What the string says; nothing if it is too long. */
static void take(struct span string, struct buf *out)
{
    buf_reset(out);
    if (string.n && json_unescape(json_inside(string), out) < 0)
        buf_reset(out);
}

static void take_title(struct span string, struct buf *out)
{
    struct buf whole;
    buf_init(&whole, TRANSCRIPT_DOCUMENT);
    take(string, &whole);
    struct span title = text_cut(text_first_line(text_trim(buf_span(&whole))), TEXT_TITLE);
    buf_reset(out);
    buf_add(out, title);
    buf_free(&whole);
}

int journal_summarize(const struct source *s, struct journal_summary *out)
{
    enum { FIELD = 64 * 1024 };
    struct objects o = {.skipped = 0};
    struct span line;
    size_t place;
    bool known = false;
    *out = (struct journal_summary){0};
    buf_init(&out->id, FIELD);
    buf_init(&out->title, FIELD);
    buf_init(&out->author, FIELD);
    source_lines_init(&o.lines, s, TRANSCRIPT_DOCUMENT);
    while (next_object(&o, &line, &place)) {
        struct event e = event_read(line);
        int64_t at = event_number(e.v[AT]);
        if (at > out->last_us)
            out->last_us = at;
        if (event_is(e.v[EV], "thread") && !known) {
            known = true;
            take(e.v[THREAD], &out->id);
            take(e.v[AUTHOR], &out->author);
            take(e.v[TITLE], &out->title);
        } else if (event_is(e.v[EV], "begin")) {
            bool specialist = event_is(e.v[ROLE], "specialist");
            out->experts += !specialist;
            out->specialists += specialist;
            if (!specialist && text_is_blank(buf_span(&out->title)))
                take_title(e.v[QUERY], &out->title);
        }
    }
    out->skipped = o.skipped;
    source_lines_free(&o.lines);
    return o.lines.failed ? -1 : 0;
}

void journal_summary_free(struct journal_summary *s)
{
    buf_free(&s->id);
    buf_free(&s->title);
    buf_free(&s->author);
}
