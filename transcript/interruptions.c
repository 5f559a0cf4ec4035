/* The registry of what did not end well, and the alert. */
#include "transcript/print.h"
#include "transcript/text.h"
#include "transcript/thread.h"

enum { SIDE_ID = 8 };

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
        add(g, number, "", kind, turn->headline, turn->status);
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
            add(g, number, "/subagent_stub", kind, r->headline, r->status);
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
        add(&g, 0, "background_unassigned", status_classify(r->status, r->locked), r->headline, r->status);
    }
    buf_addc(out, ']');
    return g.n;
}

/* ---- the alert ---- */

void interruptions_note(struct transcript *t, enum side side, const json_t *entry)
{
    static const char *const sides[SIDES] = {"entry:", "background:"};
    struct alert *a = &t->alerts[side];
    json_t *workflow;
    for (size_t w = 0; (workflow = shape_next_workflow(entry, &w));) {
        enum status_kind kind = status_classify(raw_str(workflow, "status"), raw_str(entry, "locked_reason"));
        if (kind == STATUS_COMPLETED || a->n++ >= ALERT_LISTED)
            continue;
        struct buf line;
        buf_init(&line, 256);
        buf_adds(&line, sides[side]);
        text_line(text_cut(raw_str(entry, "uuid"), SIDE_ID), &line);
        buf_printf(&line, ":%s", status_kind_name(kind));
        a->listed[a->n - 1] = thread_keep(t, buf_span(&line));
        buf_free(&line);
    }
}

int transcript_alert(const struct transcript *t, struct buf *out)
{
    size_t n = t->alerts[SIDE_TURNS].n + t->alerts[SIDE_BACKGROUND].n, listed = 0;
    if (n == 0)
        return buf_full(out) ? -1 : 0;
    buf_adds(out, "thread ");
    text_line(t->id, out);
    buf_adds(out, " \"");
    text_line(buf_span(&t->title), out);
    buf_printf(out, "\": %zu unfinished workflows: ", n);
    for (unsigned s = 0; s < SIDES; s++)
        for (size_t i = 0; i < t->alerts[s].n && i < ALERT_LISTED && listed < ALERT_LISTED; i++) {
            buf_adds(out, listed++ ? "; " : "");
            buf_add(out, t->alerts[s].listed[i]);
        }
    return buf_full(out) ? -1 : 0;
}
