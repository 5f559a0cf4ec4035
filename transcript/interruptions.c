/* The registry of what did not end well, and the alert. */
#include "transcript/print.h"
#include "transcript/text.h"
#include "transcript/thread.h"

enum { LISTED = 12, SIDE_ID = 8 };

struct span interruptions_lock(const struct turn *stub, const struct record *r)
{
    return r->locked.n ? r->locked : stub->locked;
}

struct registry {
    struct buf *out;
    size_t n;
};

/* turn 0: the appendix. */
static void add(struct registry *g, size_t turn, const char *place, enum status_kind kind,
                struct span headline, struct span status)
{
    buf_adds(g->out, g->n++ ? "," : "");
    if (turn)
        buf_printf(g->out, "{\"location\":\"turn_%04zu%s\"", turn, place);
    else
        buf_printf(g->out, "{\"location\":\"%s\"", place);
    buf_printf(g->out, ",\"kind\":\"%s\",\"headline\":", status_kind_name(kind));
    print_string(headline, g->out);
    buf_adds(g->out, ",\"status\":");
    print_string(status, g->out);
    buf_addc(g->out, '}');
}

static void add_of_turn(const struct transcript *t, size_t number, struct registry *g)
{
    const struct turn *turn = &t->turns[number - 1];
    enum status_kind kind = status_classify(turn->status, turn->locked);
    if (kind != STATUS_COMPLETED)
        add(g, number, "", kind, text_cut(turn->query, TEXT_TITLE), turn->status);
    for (size_t i = 0; i < turn->subs; i++) {
        const struct sub *sub = &t->subs[turn->first_sub + i];
        kind = status_classify(sub->status, sub->locked);
        if (kind != STATUS_COMPLETED)
            add(g, number, "/subagent", kind, sub->headline, sub->status);
    }
    for (size_t i = 0; i < turn->matches; i++) {
        const struct record *r = &t->records[t->matches[turn->first_match + i].record];
        kind = status_classify(r->status, interruptions_lock(turn, r));
        if (kind != STATUS_COMPLETED)
            add(g, number, "/subagent_stub", kind, raw_str(r->payload, "headline"), r->status);
    }
}

size_t interruptions_add(const struct transcript *t, struct buf *out)
{
    struct registry g = {.out = out};
    buf_addc(out, '[');
    for (size_t i = 0; i < t->nturns; i++)
        add_of_turn(t, i + 1, &g);
    for (size_t i = 0; i < t->nappendix; i++) {
        const struct record *r = &t->records[t->appendix[i]];
        add(&g, 0, "background_unassigned", status_classify(r->status, r->locked),
            raw_str(r->payload, "headline"), r->status);
    }
    buf_addc(out, ']');
    return g.n;
}

/* ---- the alert ---- */

struct alert {
    struct buf list;
    size_t n;
};

static void alert_entry(struct alert *a, const char *side, const json_t *entry)
{
    json_t *workflow;
    for (size_t w = 0; (workflow = shape_next_workflow(entry, &w));) {
        enum status_kind kind = status_classify(raw_str(workflow, "status"), raw_str(entry, "locked_reason"));
        if (kind == STATUS_COMPLETED || ++a->n > LISTED)
            continue;
        buf_printf(&a->list, "%s%s:", a->n > 1 ? "; " : "", side);
        text_line(text_cut(raw_str(entry, "uuid"), SIDE_ID), &a->list);
        buf_printf(&a->list, ":%s", status_kind_name(kind));
    }
}

int transcript_alert(const struct transcript *t, struct buf *out)
{
    struct alert a = {0};
    json_t *entry;
    size_t i;
    buf_init(&a.list, LISTED * 128);
    for (i = 0; i < t->nturns; i++)
        alert_entry(&a, "entry", t->turns[i].entry);
    json_array_foreach(raw_list(t->root, "background_entries"), i, entry)
        alert_entry(&a, "background", entry);
    if (a.n) {
        buf_adds(out, "thread ");
        text_line(t->id, out);
        buf_adds(out, " \"");
        text_line(buf_span(&t->title), out);
        buf_printf(out, "\": %zu unfinished workflows: ", a.n);
        buf_add(out, buf_span(&a.list));
    }
    buf_free(&a.list);
    return buf_full(out) ? -1 : 0;
}
