#include "transcript/journal.h"

#include "base/json.h"
#include "base/xalloc.h"
#include "transcript/ending.h"
#include "transcript/names.h"
#include "transcript/text.h"
#include "transcript/time.h"
#include "transcript/transcript.h"

/* ---- events ---- */

/* The members that are read; of a repeated one the last counts. */
enum member {
    EV,
    THREAD,
    TITLE,
    AUTHOR,
    ID,
    ROLE,
    AT,
    QUERY,
    TRIGGER,
    CONSULT,
    PARENT,
    HEADLINE,
    ATTACHMENTS,
    TEXT,
    REASONING,
    TOOL_CALLS,
    CITATIONS,
    ARTIFACTS,
    END,
    MEMBERS
};

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
    [ATTACHMENTS] = {"attachments", JSON_ARRAY},
    [TEXT] = {"text", JSON_STRING},
    [REASONING] = {"reasoning", JSON_STRING},
    [TOOL_CALLS] = {"tool_calls", JSON_ARRAY},
    [CITATIONS] = {"citations", JSON_ARRAY},
    [ARTIFACTS] = {"artifacts", JSON_ARRAY},
    [END] = {"end", JSON_OBJECT},
};

/* A line's members as they are spelt; an empty span: missing, of another type, or an empty string. */
struct event {
    struct span v[MEMBERS];
};

static struct event read_event(struct span line)
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

static int64_t number_of(struct span value)
{
    int64_t n = 0;
    return value.n && json_int(value, &n) ? n : 0;
}

static bool is_text(struct span string, const char *text)
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

struct lines {
    struct span rest;
    size_t skipped;
};

/* The next line that is an object; false: there are no more. */
static bool next_object(struct lines *l, struct span *object)
{
    while (l->rest.n) {
        const char *lf = memchr(l->rest.p, '\n', l->rest.n);
        size_t n = lf ? (size_t)(lf - l->rest.p) : l->rest.n;
        struct span line = span_of(l->rest.p, n);
        l->rest = span_from(l->rest, lf ? n + 1 : n);
        if (text_is_blank(line))
            continue;
        if (find_object(line, object))
            return true;
        l->skipped++;
    }
    return false;
}

/* ---- what belongs together ---- */

struct request {
    struct span begin, end; /* lines; end may be empty */
    size_t sibling;         /* the next one that the same request started, NAMES_NONE: none */
};

struct journal {
    struct span thread; /* line */
    struct request *requests;
    size_t n, room;
    struct names ids;      /* id → request */
    struct names ends;     /* id → 1 + the end line's place in the journal, for ends before their begin */
    struct names consults; /* consult id → request */
    /* For specialists that name the request which started them instead of a tool's call: its id → the first
     * and the last of them. */
    struct names first, last;
};

static void add_child(struct journal *j, struct span parent, size_t child)
{
    size_t before = names_find(&j->last, parent);
    if (before == NAMES_NONE)
        names_set(&j->first, parent, child);
    else
        j->requests[before].sibling = child;
    names_set(&j->last, parent, child);
}

static void add_request(struct journal *j, const struct event *e, struct span line)
{
    struct span id = json_inside(e->v[ID]);
    if (!names_add(&j->ids, id, j->n))
        return;
    if (j->n == j->room) {
        j->room = j->room ? 2 * j->room : 16;
        j->requests = xrealloc(j->requests, j->room * sizeof *j->requests);
    }
    if (e->v[CONSULT].n && is_text(e->v[ROLE], "specialist"))
        names_set(&j->consults, json_inside(e->v[CONSULT]), j->n);
    else if (e->v[PARENT].n && is_text(e->v[ROLE], "specialist"))
        add_child(j, json_inside(e->v[PARENT]), j->n);
    j->requests[j->n++] = (struct request){.begin = line, .sibling = NAMES_NONE};
}

static void read_journal(struct journal *j, struct lines *l)
{
    const char *start = l->rest.p;
    struct span line;
    names_init(&j->ids);
    names_init(&j->ends);
    names_init(&j->consults);
    names_init(&j->first);
    names_init(&j->last);
    while (next_object(l, &line)) {
        struct event e = read_event(line);
        if (is_text(e.v[EV], "thread") && !j->thread.n)
            j->thread = line;
        else if (is_text(e.v[EV], "begin") && e.v[ID].n)
            add_request(j, &e, line);
        else if (is_text(e.v[EV], "end") && e.v[ID].n)
            names_set(&j->ends, json_inside(e.v[ID]), (size_t)(line.p - start));
        else if (!is_text(e.v[EV], "thread"))
            l->skipped++;
    }
    for (size_t i = 0; i < j->n; i++) {
        struct event e = read_event(j->requests[i].begin);
        size_t at = names_find(&j->ends, json_inside(e.v[ID]));
        if (at != NAMES_NONE && json_value(start + at, l->rest.p, &j->requests[i].end) < 0)
            j->requests[i].end = (struct span){0};
    }
}

static void free_journal(struct journal *j)
{
    names_finish(&j->ids);
    names_finish(&j->ends);
    names_finish(&j->consults);
    names_finish(&j->first);
    names_finish(&j->last);
    xfree(j->requests);
}

/* ---- writing ---- */

/* `,"name":value`, if there is a value. */
static void put(struct buf *out, const char *name, struct span value)
{
    if (value.n) {
        buf_printf(out, ",\"%s\":", name);
        buf_add(out, value);
    }
}

static void put_or_empty(struct buf *out, const char *name, struct span value)
{
    put(out, name, value.n ? value : SPAN_LIT("\"\""));
}

static void put_time(struct buf *out, const char *number, const char *text, int64_t us)
{
    struct buf iso;
    buf_init(&iso, 64);
    buf_printf(out, ",\"%s\":%lld", number, (long long)us);
    if (time_print(us, &iso))
        buf_printf(out, ",\"%s\":\"%s\"", text, buf_cstr(&iso));
    buf_free(&iso);
}

static void put_iso(struct buf *out, const char *name, int64_t us)
{
    struct buf iso;
    buf_init(&iso, 64);
    if (time_print(us, &iso))
        buf_printf(out, ",\"%s\":\"%s\"", name, buf_cstr(&iso));
    buf_free(&iso);
}

/* A string's inside between two pieces of text, as a string. */
static void put_joined(struct buf *out, const char *before, struct span inside, const char *after)
{
    buf_printf(out, "\"%s", before);
    buf_add(out, inside);
    buf_printf(out, "%s\"", after);
}

static void put_text_item(struct buf *out, struct span text, const char *more)
{
    buf_adds(out, "\"items\":[{\"type\":\"WORKFLOW_ITEM_TEXT\",\"payload\":{\"text_payload\":{\"text\":");
    buf_add(out, text);
    buf_printf(out, "%s}}}]}", more);
}

/* The end's status into `status`; answers the lock. */
static const char *status_of(struct span end, char status[ENDING_STATUS])
{
    enum { CAUSE, FINISH, TYPE, CODE, MESSAGE, WORDS };
    static const char *const names[WORDS] = {"cause", "finish_reason", "error_type", "error_code",
                                             "error_message"};
    struct buf words[WORDS];
    struct span value;
    struct ending ending = {0};
    for (size_t i = 0; i < WORDS; i++) {
        buf_init(&words[i], TRANSCRIPT_DOCUMENT);
        if (end.n && json_member(end, names[i], &value) && json_type(value) == JSON_STRING &&
            json_unescape(json_inside(value), &words[i]) < 0)
            buf_reset(&words[i]);
    }
    if (end.n && json_member(end, "http_status", &value))
        ending.http_status = number_of(value);
    ending.cause = buf_span(&words[CAUSE]);
    ending.finish_reason = buf_span(&words[FINISH]);
    ending.error_type = buf_span(&words[TYPE]);
    ending.error_code = buf_span(&words[CODE]);
    ending.error_message = buf_span(&words[MESSAGE]);
    const char *locked = ending_status(&ending, status);
    for (size_t i = 0; i < WORDS; i++)
        buf_free(&words[i]);
    return locked;
}

/* The step of a tool call that is no consult. */
static void put_call(struct buf *out, struct span id, struct span name, struct span arguments)
{
    buf_adds(out, "{\"id\":");
    buf_add(out, id.n ? id : SPAN_LIT("\"\""));
    put_or_empty(out, "tool_name", name);
    buf_adds(out, ",\"title\":\"\",");
    put_text_item(out, arguments.n ? arguments : SPAN_LIT("\"\""), ",\"is_mono\":true");
}

/* The anchor of a consult. Its status is empty: when the call was made, the consult had not run. */
static void put_anchor(struct buf *out, const struct request *consult, struct span id, struct span name,
                       struct span arguments)
{
    struct event begin = read_event(consult->begin);
    buf_adds(out, "{\"id\":");
    put_joined(out, "", json_inside(id), ":workflow");
    buf_adds(out,
             ",\"tool_name\":\"run_subagent\",\"title\":\"\",\"items\":[{\"type\":\"WORKFLOW_ITEM_WORKFLOW\","
             "\"payload\":{\"workflow_payload\":{\"id\":");
    buf_add(out, id);
    put_or_empty(out, "headline", begin.v[HEADLINE].n ? begin.v[HEADLINE] : name);
    buf_adds(out, ",\"status\":\"\",\"is_background_anchor\":true,\"objective_chunks\":[");
    buf_add(out, begin.v[QUERY].n ? begin.v[QUERY] : arguments);
    buf_adds(out, "],\"steps\":[]}}}]}");
}

static struct span string_member(struct span object, const char *name)
{
    struct span value;
    bool found =
        json_member(object, name, &value) && json_type(value) == JSON_STRING && !span_is(value, "\"\"");
    return found ? value : (struct span){0};
}

static void put_calls(const struct journal *j, struct span calls, const char **comma, struct buf *out)
{
    struct json_iter it = json_iter(calls);
    while (calls.n && json_next(&it) == 1) {
        if (json_type(it.value) != JSON_OBJECT)
            continue;
        struct span id = string_member(it.value, "id"), name = string_member(it.value, "name"), arguments;
        struct buf text;
        buf_init(&text, TRANSCRIPT_DOCUMENT);
        if (!json_member(it.value, "arguments", &arguments) || json_type(arguments) == JSON_NULL) {
            arguments = (struct span){0};
        } else if (json_type(arguments) != JSON_STRING) { /* some providers send the object itself */
            buf_addc(&text, '"');
            if (json_escape(arguments, &text) == 0)
                buf_addc(&text, '"');
            arguments = buf_full(&text) ? (struct span){0} : buf_span(&text);
        }
        size_t consult = id.n ? names_find(&j->consults, json_inside(id)) : NAMES_NONE;
        buf_adds(out, *comma);
        *comma = ",";
        if (consult != NAMES_NONE)
            put_anchor(out, &j->requests[consult], id, name, arguments);
        else
            put_call(out, id, name, arguments);
        buf_free(&text);
    }
}

/* Consults of an Expert that named its request, whatever tool asked for them. */
static void put_children(const struct journal *j, struct span parent, const char **comma, struct buf *out)
{
    for (size_t i = names_find(&j->first, parent); i != NAMES_NONE; i = j->requests[i].sibling) {
        struct event begin = read_event(j->requests[i].begin);
        struct buf id;
        buf_init(&id, TRANSCRIPT_DOCUMENT);
        put_joined(&id, "consult_", json_inside(begin.v[ID]), "");
        buf_adds(out, *comma);
        *comma = ",";
        put_anchor(out, &j->requests[i], buf_span(&id), (struct span){0}, SPAN_LIT("\"\""));
        buf_free(&id);
    }
}

/* What both kinds of entry begin with. */
static void put_entry_head(struct buf *out, const struct event *b, const struct event *x, const char *locked,
                           struct span end, bool expert)
{
    buf_adds(out, "{\"uuid\":");
    buf_add(out, b->v[ID]);
    put_time(out, "created_us", "entry_created_datetime", number_of(b->v[AT]));
    if (x->v[EV].n)
        put_time(out, "updated_us", "entry_updated_datetime", number_of(x->v[AT]));
    if (*locked)
        buf_printf(out, ",\"locked_reason\":\"%s\"", locked);
    if (expert && x->v[TEXT].n) {
        buf_adds(out, ",\"text\":[{\"step_type\":\"FINAL\",\"content\":{\"answer\":");
        buf_add(out, x->v[TEXT]);
        buf_adds(out, "}}]");
    }
    if (expert)
        put(out, "reasoning", x->v[REASONING]);
    put(out, "attachments", b->v[ATTACHMENTS]);
    put(out, "artifacts", x->v[ARTIFACTS]);
    put(out, "sources", x->v[CITATIONS]);
    put(out, "end", end);
    if (!expert)
        buf_adds(out, ",\"is_background\":true");
    put_or_empty(out, "query_str", b->v[QUERY]);
    if (expert)
        put(out, "trigger", b->v[TRIGGER]);
    buf_adds(out, ",\"blocks\":[{\"workflow_block\":{\"status\":");
}

static void put_specialist_steps(const struct journal *j, const struct event *b, const struct event *x,
                                 bool completed, struct buf *out)
{
    const char *comma = "";
    struct span id = json_inside(b->v[ID]);
    if (x->v[REASONING].n) {
        buf_adds(out, "{\"id\":");
        put_joined(out, "", id, ":reasoning");
        buf_adds(out, ",\"title\":\"Reasoning\",");
        put_text_item(out, x->v[REASONING], ",\"variant\":\"thought\"");
        comma = ",";
    }
    put_calls(j, x->v[TOOL_CALLS], &comma, out);
    if (x->v[TEXT].n) {
        buf_printf(out, "%s{\"id\":", comma);
        put_joined(out, "", id, ":answer");
        buf_adds(out, ",\"title\":\"\",");
        /* What did not finish is work, no conclusion. */
        put_text_item(out, x->v[TEXT], completed ? ",\"variant\":\"answer\"" : "");
    }
}

static void put_payload(const struct journal *j, const struct event *b, const struct event *x,
                        const char *status, struct buf *out)
{
    bool completed = strcmp(status, "WORKFLOW_COMPLETED") == 0, named = b->v[CONSULT].n;
    struct span id = json_inside(b->v[named ? CONSULT : ID]);
    const char *before = named ? "" : "consult_";
    buf_adds(out, "{\"id\":");
    put_joined(out, before, id, ":workflow");
    buf_adds(out,
             ",\"tool_name\":\"run_subagent\",\"title\":\"\",\"items\":[{\"type\":\"WORKFLOW_ITEM_WORKFLOW\","
             "\"payload\":{\"workflow_payload\":{\"id\":");
    put_joined(out, before, id, "");
    put_or_empty(out, "headline", b->v[HEADLINE]);
    buf_printf(out, ",\"status\":\"%s\"", status);
    put_iso(out, "started_at", number_of(b->v[AT]));
    buf_adds(out, ",\"steps\":[");
    put_specialist_steps(j, b, x, completed, out);
    buf_addc(out, ']');
    if (completed)
        put_iso(out, "completed_at", number_of(x->v[AT]));
    buf_adds(out, "}}}]}");
}

static void put_entry(const struct journal *j, const struct request *r, const struct journal_live *live,
                      bool expert, struct buf *out)
{
    struct event b = read_event(r->begin), x = read_event(r->end);
    char status[ENDING_STATUS];
    struct span end = x.v[END];
    if (!r->end.n && live && live->is_running(live->arg, json_inside(b.v[ID])))
        end = SPAN_LIT("{\"cause\":\"running\"}");
    const char *locked = status_of(end, status), *comma = "";
    put_entry_head(out, &b, &x, locked, end, expert);
    buf_printf(out, "\"%s\",\"steps\":[", status);
    if (expert) {
        put_calls(j, x.v[TOOL_CALLS], &comma, out);
        put_children(j, json_inside(b.v[ID]), &comma, out);
    } else {
        put_payload(j, &b, &x, status, out);
    }
    buf_adds(out, "]}}]}");
}

static void put_entries(const struct journal *j, const char *name, const struct journal_live *live,
                        bool expert, struct buf *out)
{
    const char *comma = "";
    buf_printf(out, "\"%s\":[", name);
    for (size_t i = 0; i < j->n && !buf_full(out); i++) {
        struct event b = read_event(j->requests[i].begin);
        if (is_text(b.v[ROLE], "specialist") == expert)
            continue;
        buf_printf(out, "%s\n ", comma);
        put_entry(j, &j->requests[i], live, expert, out);
        comma = ",";
    }
    buf_addc(out, ']');
}

int journal_to_raw(struct span journal, struct span thread, const struct journal_live *live, struct buf *raw,
                   struct journal_report *report, struct error *e)
{
    struct lines l = {.rest = journal};
    struct journal j = {0};
    if (report)
        *report = (struct journal_report){0};
    if (journal.n > TRANSCRIPT_DOCUMENT)
        return error_set(e, ERROR_BAD_REQUEST, "The thread's journal has %zu bytes; %d can be read.",
                         journal.n, TRANSCRIPT_DOCUMENT);
    read_journal(&j, &l);
    struct event t = read_event(j.thread);
    buf_adds(raw, "{\"thread_id\":");
    if (t.v[THREAD].n) {
        buf_add(raw, t.v[THREAD]);
    } else {
        buf_addc(raw, '"');
        if (json_escape(thread, raw) == 0)
            buf_addc(raw, '"');
    }
    struct span title;
    if (j.thread.n && json_member(j.thread, "title", &title) && json_type(title) == JSON_STRING)
        put(raw, "title", title);
    put(raw, "author", t.v[AUTHOR]);
    buf_adds(raw, ",\"mode\":\"consult\",\n");
    put_entries(&j, "entries", live, true, raw);
    buf_adds(raw, ",\n");
    put_entries(&j, "background_entries", live, false, raw);
    buf_adds(raw, "}\n");
    free_journal(&j);
    if (report)
        report->skipped = l.skipped;
    return buf_full(raw)
               ? error_set(e, ERROR_BAD_REQUEST,
                           "The thread's document is larger than the %zu bytes that it may have.", raw->max)
               : 0;
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

void journal_summarize(struct span journal, struct journal_summary *out)
{
    enum { FIELD = 64 * 1024 };
    struct lines l = {.rest = journal};
    struct span line;
    bool known = false;
    *out = (struct journal_summary){0};
    buf_init(&out->id, FIELD);
    buf_init(&out->title, FIELD);
    buf_init(&out->author, FIELD);
    while (next_object(&l, &line)) {
        struct event e = read_event(line);
        int64_t at = number_of(e.v[AT]);
        if (at > out->last_us)
            out->last_us = at;
        if (is_text(e.v[EV], "thread") && !known) {
            known = true;
            take(e.v[THREAD], &out->id);
            take(e.v[AUTHOR], &out->author);
            take(e.v[TITLE], &out->title);
        } else if (is_text(e.v[EV], "begin")) {
            bool specialist = is_text(e.v[ROLE], "specialist");
            out->experts += !specialist;
            out->specialists += specialist;
            if (!specialist && text_is_blank(buf_span(&out->title)))
                take_title(e.v[QUERY], &out->title);
        }
    }
    out->skipped = l.skipped;
}

void journal_summary_free(struct journal_summary *s)
{
    buf_free(&s->id);
    buf_free(&s->title);
    buf_free(&s->author);
}
