/* conversation.md: queries, answers, and the background work that belongs to no turn. */
#include "transcript/show.h"
#include "transcript/text.h"
#include "transcript/time.h"

static void show_query_and_answer(struct drawing *d, size_t i)
{
    const struct turn *turn = &d->t->turns[i];
    json_t *entry = document_entry(d->t->document, SIDE_TURNS, turn->entry);
    struct span query = shape_query(entry);
    struct buf answer;
    buf_init(&answer, d->out->max);
    buf_printf(d->out, "## Turn %zu", i + 1);
    show_when(d, turn->created);
    show_part(d);
    buf_adds(d->out, "### Query\n");
    buf_add(d->out, query.n ? query : SPAN_LIT("(empty)"));
    show_part(d);
    buf_adds(d->out, "### Answer\n");
    buf_add(d->out, answer_turn(d->t, turn, entry, &answer) ? buf_span(&answer) : SPAN_LIT("(none)"));
    buf_free(&answer);
    json_decref(entry);
}

/* " · Time: start → end": the end is when it completed, or else was updated. */
static void show_time_range(struct drawing *d, const struct record *r)
{
    struct buf start, end;
    buf_init(&start, 128);
    buf_init(&end, 128);
    show_second(r->started, &start);
    show_second(r->completed, &end);
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
                        .headline = r->headline,
                        .status = r->status,
                        .locked = r->locked,
                        .record = record};
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

static void show_title(struct drawing *d)
{
    const struct transcript *t = d->t;
    buf_adds(d->out, "# ");
    text_head(buf_span(&t->title), d->out);
    show_part(d);
    buf_adds(d->out, "> Mode: ");
    text_head(t->mode, d->out);
    buf_adds(d->out, " | Author: ");
    text_head(t->author, d->out);
    buf_printf(d->out, " | Turns: %zu | Citations: %zu", t->nturns, t->sources.n);
}

static void show_appendix_title(struct drawing *d)
{
    buf_adds(d->out, "## Background tasks (unassigned to turns)");
    show_part(d);
    buf_adds(d->out,
             "> No turn anchors these background runs and no completion notice matched them in time. They "
             "are kept here in full.");
}

size_t conversation_parts(const struct transcript *t)
{
    return 1 + t->nturns + (t->nappendix ? 1 + t->nappendix : 0);
}

/* The title, the turns, the appendix's title, the appendix. Each part ends with the empty line before the
 * next. */
int conversation_part(const struct transcript *t, size_t part, struct buf *out)
{
    struct drawing d = {.t = t, .out = out, .base = out->n};
    if (part == 0)
        show_title(&d);
    else if (part <= t->nturns)
        show_query_and_answer(&d, part - 1);
    else if (part == t->nturns + 1)
        show_appendix_title(&d);
    else
        show_unassigned(&d, t->appendix[part - t->nturns - 2]);
    if (part + 1 == conversation_parts(t))
        return show_finish(&d);
    show_part(&d);
    return buf_full(out) ? -1 : 0;
}
