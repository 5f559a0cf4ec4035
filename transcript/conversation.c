/* conversation.md: queries, answers, and the background work that belongs to no turn. */
#include "transcript/show.h"
#include "transcript/text.h"
#include "transcript/time.h"

static void show_query_and_answer(struct drawing *d, size_t i)
{
    const struct turn *turn = &d->t->turns[i];
    struct buf answer;
    buf_init(&answer, d->out->max);
    show_part(d);
    buf_printf(d->out, "## Turn %zu", i + 1);
    show_when(d, turn->created);
    show_part(d);
    buf_adds(d->out, "### Query\n");
    buf_add(d->out, turn->query.n ? turn->query : SPAN_LIT("(empty)"));
    show_part(d);
    buf_adds(d->out, "### Answer\n");
    buf_add(d->out, answer_turn(d->t, turn, &answer) ? buf_span(&answer) : SPAN_LIT("(none)"));
    buf_free(&answer);
}

/* " · Time: start → end": the end is when it completed, or else was updated. */
static void show_time_range(struct drawing *d, const struct record *r)
{
    struct buf start, end;
    buf_init(&start, 128);
    buf_init(&end, 128);
    show_second(raw_str(r->payload, "started_at"), &start);
    show_second(raw_str(r->payload, "completed_at"), &end);
    if (!end.n && r->has_updated)
        time_print_second(r->updated, &end);
    if (start.n || end.n)
        buf_printf(d->out, " · Time: %s → %s", start.n ? buf_cstr(&start) : "?",
                   end.n ? buf_cstr(&end) : "?");
    buf_free(&start);
    buf_free(&end);
}

static void show_unassigned(struct drawing *d, size_t record)
{
    const struct record *r = &d->t->records[record];
    struct fold fold = {.label = "🤖 Background task",
                        .headline = raw_str(r->payload, "headline"),
                        .status = r->status,
                        .locked = r->locked,
                        .payload = r->payload,
                        .record = record};
    show_part(d);
    buf_adds(d->out, "> Status: `");
    text_line(r->status.n ? r->status : SPAN_LIT("unknown"), d->out);
    buf_addc(d->out, '`');
    show_also(d, status_tag(status_classify(r->status, r->locked)));
    if (r->locked.n) {
        buf_adds(d->out, " · locked_reason: `");
        text_line(r->locked, d->out);
        buf_addc(d->out, '`');
    }
    show_time_range(d, r);
    show_fold(d, &fold);
}

int transcript_conversation(const struct transcript *t, struct buf *out)
{
    struct drawing d = {.t = t, .out = out, .base = out->n};
    buf_adds(out, "# ");
    text_head(buf_span(&t->title), out);
    show_part(&d);
    buf_adds(out, "> Mode: ");
    text_head(t->mode, out);
    buf_adds(out, " | Author: ");
    text_head(t->author, out);
    buf_printf(out, " | Turns: %zu | Citations: %zu", t->nturns, t->nsources);
    for (size_t i = 0; i < t->nturns && !buf_full(out); i++)
        show_query_and_answer(&d, i);
    if (t->nappendix) {
        show_part(&d);
        buf_adds(out, "## Background tasks (unassigned to turns)");
        show_part(&d);
        buf_adds(
            out,
            "> No turn anchors these background runs and no completion notice matched them in time. They "
            "are kept here in full.");
    }
    for (size_t i = 0; i < t->nappendix && !buf_full(out); i++)
        show_unassigned(&d, t->appendix[i]);
    return show_finish(&d);
}
