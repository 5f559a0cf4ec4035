/* A step of a turn. */
#include "transcript/show.h"
#include "transcript/text.h"

bool show_take_sub(struct drawing *d, size_t i)
{
    const struct sub *sub = &d->t->subs[i];
    const struct record *r = sub->record == NO_RECORD ? NULL : &d->t->records[sub->record];
    if ((r ? r->turn : sub->turn) != d->turn || (r && !r->owned))
        return false;
    unsigned char *drawn = r ? &d->drawn[r->number] : &d->subs_drawn[i - d->t->turns[d->turn - 1].first_sub];
    bool first = !*drawn;
    *drawn = 1;
    return first;
}

json_t *show_sub_payload(const struct drawing *d, const struct sub *sub)
{
    return sub->anchored ? shape_find(d->entry, &sub->place) : NULL;
}

static void show_ordinary(struct drawing *d, json_t *step, size_t number)
{
    struct span title = raw_str(step, "title"), tool = raw_str(step, "tool_name");
    show_part(d);
    buf_printf(d->out, "### Step %zu", number);
    if (title.n) {
        buf_adds(d->out, " · ");
        text_head(title, d->out);
    }
    if (tool.n) {
        buf_adds(d->out, " (`");
        text_line(tool, d->out);
        buf_adds(d->out, "`)");
    }
    show_times(d, raw_str(step, "started_at"), raw_str(step, "completed_at"));
    show_items(d, step, NULL);
}

static void show_heading(struct drawing *d, const struct sub *sub, const json_t *step, size_t number)
{
    show_part(d);
    buf_printf(d->out, "### Step %zu · 🤖 Subagent: ", number);
    text_head(text_is_blank(sub->headline) ? SPAN_LIT("untitled") : sub->headline, d->out);
    bool timed = show_times(d, raw_str(step, "started_at"), raw_str(step, "completed_at"));
    if (!timed && sub->record != NO_RECORD)
        show_times(d, d->t->records[sub->record].started, d->t->records[sub->record].completed);
    show_also(d, status_tag(status_classify(sub->status, sub->locked)));
}

/* What stands behind a bold line, if there is anything. */
static void show_under(struct drawing *d, const char *title, struct span text)
{
    if (!text.n)
        return;
    show_part(d);
    buf_printf(d->out, "**%s:**", title);
    show_part(d);
    buf_add(d->out, text);
}

static void show_prompt(struct drawing *d, const struct sub *sub)
{
    json_t *chunks = raw_list(show_sub_payload(d, sub), "objective_chunks"), *chunk;
    struct buf text, quoted;
    size_t i;
    buf_init(&text, d->out->max);
    buf_init(&quoted, d->out->max);
    json_array_foreach(chunks, i, chunk) buf_add(&text, raw_span(chunk));
    if (!text_is_blank(buf_span(&text)))
        text_quote(buf_span(&text), &quoted);
    show_under(d, "Prompt", buf_span(&quoted));
    if (buf_full(&quoted))
        d->out->over = true;
    buf_free(&text);
    buf_free(&quoted);
}

/* What the record did, and the step's other items. */
static void show_work(struct drawing *d, const struct sub *sub, const struct record *r,
                      const struct record_trees *trees, const json_t *step, struct links *links)
{
    struct drawing in = *d;
    struct buf work;
    const json_t *anchor = shape_anchor(step);
    buf_init(&work, d->out->max);
    in.out = &work;
    in.base = 0;
    in.own = !r;
    in.depth = 1;
    in.locked = sub->locked;
    in.links = links;
    show_open(&in, sub->id);
    show_body(&in, trees->payload);
    if (r)
        show_take_sources(&in, r, trees);
    show_close(&in);
    in.own = true;
    in.depth = 0;
    in.locked = d->locked;
    in.links = NULL;
    show_items(&in, step, anchor);
    show_rest(&in, anchor);
    show_under(d, "Subagent work", buf_span(&work));
    if (buf_full(&work))
        d->out->over = true;
    buf_free(&work);
}

static void show_subagent(struct drawing *d, const struct sub *sub, const json_t *step)
{
    const struct record *r = sub->record == NO_RECORD ? NULL : &d->t->records[sub->record];
    struct record_trees trees = {.payload = show_sub_payload(d, sub)};
    struct links links;
    struct buf answer;
    if (r)
        trees = record_open(d->t, r);
    buf_init(&answer, d->out->max);
    links_init(&links);
    show_prompt(d, sub);
    show_work(d, sub, r, &trees, step, &links);
    if (answer_sub(d->t, sub, d->entry, &answer))
        show_under(d, "Subagent conclusion", buf_span(&answer));
    if (links.n) {
        show_part(d);
        buf_adds(d->out, "**Subagent sources:**");
    }
    show_links(&links, d);
    links_finish(&links);
    buf_free(&answer);
    if (r)
        record_close(&trees);
}

void show_step(struct drawing *d, json_t *step, size_t number)
{
    struct span id = shape_sub_id(step);
    size_t i = id.n ? names_find(&d->t->sub_ids, id) : NAMES_NONE;
    if (i == NAMES_NONE) {
        show_ordinary(d, step, number);
        return;
    }
    const struct sub *sub = &d->t->subs[i];
    show_heading(d, sub, step, number);
    if (show_take_sub(d, i)) {
        show_subagent(d, sub, step);
        return;
    }
    show_part(d);
    buf_printf(d->out, "(recorded under turn %u)",
               sub->record == NO_RECORD ? sub->turn : d->t->records[sub->record].turn);
    show_items(d, step, shape_anchor(step));
    show_rest(d, shape_anchor(step));
}
