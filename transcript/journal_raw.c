/* The raw thread document that a journal's lines make, an entry at a time. */
#include <stdio.h>

#include "base/xalloc.h"
#include "transcript/ending.h"
#include "transcript/journal_event.h"
#include "transcript/time.h"
#include "transcript/transcript.h"

/* Lines of the journal read again. */
struct lines {
    const struct journal *journal;
    bool failed;
};

/* The event of a line; the text, which the caller frees, holds what its spans point to. */
static struct event read_line(struct lines *l, struct line_place place, struct buf *text)
{
    buf_init(text, place.n);
    if (place.n == 0)
        return (struct event){0};
    if (source_read(l->journal->source, place.at, place.n, text) < 0) {
        l->failed = true;
        return (struct event){0};
    }
    return event_read(buf_span(text));
}

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
        ending.http_status = event_number(value);
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
static void put_anchor(struct lines *l, const struct request *consult, struct span id, struct span name,
                       struct span arguments, struct buf *out)
{
    struct buf line;
    struct event begin = read_line(l, consult->begin, &line);
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
    buf_free(&line);
}

static struct span string_member(struct span object, const char *name)
{
    struct span value;
    bool found =
        json_member(object, name, &value) && json_type(value) == JSON_STRING && !span_is(value, "\"\"");
    return found ? value : (struct span){0};
}

static void put_calls(struct lines *l, struct span calls, const char **comma, struct buf *out)
{
    const struct journal *j = l->journal;
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
            put_anchor(l, &j->requests[consult], id, name, arguments, out);
        else
            put_call(out, id, name, arguments);
        buf_free(&text);
    }
}

/* Consults of an Expert that named its request, whatever tool asked for them. */
static void put_children(struct lines *l, struct span parent, const char **comma, struct buf *out)
{
    const struct journal *j = l->journal;
    for (size_t i = names_find(&j->first, parent); i != NAMES_NONE; i = j->requests[i].sibling) {
        struct buf line, id;
        struct event begin = read_line(l, j->requests[i].begin, &line);
        buf_init(&id, TRANSCRIPT_DOCUMENT);
        put_joined(&id, "consult_", json_inside(begin.v[ID]), "");
        buf_adds(out, *comma);
        *comma = ",";
        buf_free(&line);
        put_anchor(l, &j->requests[i], buf_span(&id), (struct span){0}, SPAN_LIT("\"\""), out);
        buf_free(&id);
    }
}

/* What both kinds of entry begin with. */
static void put_entry_head(struct buf *out, const struct event *b, const struct event *x, const char *locked,
                           struct span end, bool expert)
{
    buf_adds(out, "{\"uuid\":");
    buf_add(out, b->v[ID]);
    put_time(out, "created_us", "entry_created_datetime", event_number(b->v[AT]));
    if (x->v[EV].n)
        put_time(out, "updated_us", "entry_updated_datetime", event_number(x->v[AT]));
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

static void put_specialist_steps(struct lines *l, const struct event *b, const struct event *x,
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
    put_calls(l, x->v[TOOL_CALLS], &comma, out);
    if (x->v[TEXT].n) {
        buf_printf(out, "%s{\"id\":", comma);
        put_joined(out, "", id, ":answer");
        buf_adds(out, ",\"title\":\"\",");
        /* What did not finish is work, no conclusion. */
        put_text_item(out, x->v[TEXT], completed ? ",\"variant\":\"answer\"" : "");
    }
}

static void put_payload(struct lines *l, const struct event *b, const struct event *x, const char *status,
                        struct buf *out)
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
    put_iso(out, "started_at", event_number(b->v[AT]));
    buf_adds(out, ",\"steps\":[");
    put_specialist_steps(l, b, x, completed, out);
    buf_addc(out, ']');
    if (completed)
        put_iso(out, "completed_at", event_number(x->v[AT]));
    buf_adds(out, "}}}]}");
}

int journal_add_entry(const struct journal *j, bool background, size_t i, struct buf *out)
{
    const struct request *r = &j->requests[j->sides[background][i]];
    struct lines l = {.journal = j};
    struct buf begin, end;
    struct event b = read_line(&l, r->begin, &begin), x = read_line(&l, r->end, &end);
    char status[ENDING_STATUS];
    struct span how = r->running ? SPAN_LIT("{\"cause\":\"running\"}") : x.v[END];
    const char *locked = status_of(how, status), *comma = "";
    put_entry_head(out, &b, &x, locked, how, !background);
    buf_printf(out, "\"%s\",\"steps\":[", status);
    if (background) {
        put_payload(&l, &b, &x, status, out);
    } else {
        put_calls(&l, x.v[TOOL_CALLS], &comma, out);
        put_children(&l, json_inside(b.v[ID]), &comma, out);
    }
    buf_adds(out, "]}}]}");
    buf_free(&begin);
    buf_free(&end);
    return l.failed || buf_full(out) ? -1 : 0;
}

void journal_add_head(const struct journal *j, struct buf *out)
{
    buf_add(out, buf_span(&j->head));
    buf_addc(out, '}');
}

/* ---- the whole document ---- */

struct printing {
    const struct journal *journal;
    const struct sink *to;
    struct error *e;
    size_t n, most;
    struct buf text;
};

static int flush(struct printing *p)
{
    struct span text = buf_span(&p->text);
    if (text.n > p->most - p->n || buf_full(&p->text))
        return error_set(p->e, ERROR_REQUEST_TOO_LARGE,
                         "The thread's document is larger than the %zu bytes that it may have.", p->most);
    p->n += text.n;
    int status = p->to->write(p->to->arg, text);
    buf_reset(&p->text);
    return status;
}

static int print_entries(struct printing *p, const char *name, bool background)
{
    size_t n = journal_entries(p->journal, background);
    int status = 0;
    buf_printf(&p->text, "\"%s\":[", name);
    for (size_t i = 0; i < n && !status; i++) {
        buf_adds(&p->text, i ? ",\n " : "\n ");
        if (journal_add_entry(p->journal, background, i, &p->text) && !buf_full(&p->text))
            status = error_set(p->e, ERROR_BAD_REQUEST,
                               "The thread's journal cannot be read any more; try again.");
        else
            status = flush(p);
    }
    buf_addc(&p->text, ']');
    return status;
}

int journal_print(const struct journal *j, size_t most, const struct sink *to, struct error *e)
{
    struct printing p = {.journal = j, .to = to, .e = e, .most = most};
    if (most > TRANSCRIPT_DOCUMENT)
        p.most = TRANSCRIPT_DOCUMENT;
    buf_init(&p.text, p.most);
    buf_add(&p.text, buf_span(&j->head));
    buf_adds(&p.text, ",\n");
    int status = print_entries(&p, "entries", false);
    buf_adds(&p.text, ",\n");
    if (!status)
        status = print_entries(&p, "background_entries", true);
    buf_adds(&p.text, "}\n");
    if (!status)
        status = flush(&p);
    buf_free(&p.text);
    return status;
}

static int write_buf(void *arg, struct span bytes)
{
    return buf_add(arg, bytes);
}

int journal_to_raw(const struct journal *j, struct buf *raw, struct error *e)
{
    const struct sink to = {.write = write_buf, .arg = raw};
    return journal_print(j, raw->max - raw->n, &to, e);
}
