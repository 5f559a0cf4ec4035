/* Folded blocks, and what is in them. */
#include "transcript/show.h"
#include "transcript/text.h"

static void show_title(struct drawing *d, struct span title, struct span tool)
{
    struct buf line;
    buf_init(&line, d->out->max);
    if (title.n) {
        buf_adds(&line, "**");
        text_line(title, &line);
        buf_adds(&line, "**");
    }
    if (tool.n) {
        buf_adds(&line, title.n ? " (`" : "(`");
        text_line(tool, &line);
        buf_adds(&line, "`)");
    }
    show_text(d, buf_span(&line));
    buf_free(&line);
}

/* Steps whose content is not drawn at all, as a list. */
static void show_names(struct drawing *d, json_t *steps)
{
    json_t *step;
    struct buf line, answer;
    bool any = false;
    size_t i;
    buf_init(&line, d->out->max);
    buf_init(&answer, d->out->max);
    json_array_foreach(steps, i, step)
    {
        struct span title = raw_str(step, "title"), tool = raw_str(step, "tool_name");
        json_t *alone = json_pack("{s:[O]}", "steps", step);
        bool answers = answer_block(alone, &answer);
        json_decref(alone);
        buf_reset(&answer);
        if (answers || !(title.n || tool.n))
            continue;
        buf_reset(&line);
        buf_adds(&line, "- ");
        text_line(title, &line);
        if (tool.n) {
            buf_adds(&line, title.n ? " (`" : "(`");
            text_line(tool, &line);
            buf_adds(&line, "`)");
        }
        if (!any)
            show_part(d);
        buf_adds(d->out, any ? "\n" : "");
        show_text(d, buf_span(&line));
        any = true;
    }
    buf_free(&line);
    buf_free(&answer);
}

void show_body(struct drawing *d, json_t *payload)
{
    json_t *steps = raw_list(payload, "steps"), *step;
    bool any = false;
    size_t i;
    json_array_foreach(steps, i, step)
    {
        struct span title = raw_str(step, "title"), tool = raw_str(step, "tool_name");
        size_t before = d->out->n;
        if (title.n || tool.n) {
            show_part(d);
            show_title(d, title, tool);
        }
        size_t titled = d->out->n;
        show_items(d, step, NULL);
        if (d->out->n == titled)
            buf_cut(d->out, before);
        else
            any = true;
    }
    if (!any)
        show_names(d, steps);
}

void show_take_sources(struct drawing *d, const struct record *r, const struct record_trees *trees)
{
    if (r->alone)
        links_add(d->links, raw_list(trees->entry, "sources"));
}

static void show_summary(struct drawing *d, const struct fold *f, const json_t *payload, bool answered,
                         size_t sources)
{
    buf_printf(d->out, "<details>\n<summary>%s: ", f->label);
    text_head(text_is_blank(f->headline) ? SPAN_LIT("untitled") : f->headline, d->out);
    buf_adds(d->out, " (");
    text_plural(json_array_size(raw_list(payload, "steps")), "step", d->out);
    show_also(d, answered ? "has conclusion" : "no conclusion");
    if (sources) {
        buf_adds(d->out, " · ");
        text_plural(sources, "source", d->out);
    }
    show_also(d, status_tag(status_classify(f->status, f->locked)));
    buf_adds(d->out, ")</summary>");
}

/* What is in the block, and its answer. */
static bool show_inside(struct drawing *in, const struct record *r, const struct record_trees *trees,
                        struct buf *answer)
{
    show_open(in, r ? r->id : raw_str(trees->payload, "id"));
    show_body(in, trees->payload);
    if (r)
        show_take_sources(in, r, trees);
    return answer_block(trees->payload, answer) || (r && r->alone && answer_plain(trees->entry, answer));
}

void show_fold(struct drawing *d, const struct fold *f)
{
    struct drawing in = *d;
    struct buf body, answer;
    struct links links;
    const struct record *r = f->record == NO_RECORD ? NULL : &d->t->records[f->record];
    struct record_trees trees = {.payload = f->payload};
    if (r)
        trees = record_open(d->t, r);
    buf_init(&body, d->out->max);
    buf_init(&answer, d->out->max);
    links_init(&links);
    in.out = &body;
    in.base = 0;
    in.inside = true;
    in.own = d->own && !r;
    in.depth = d->depth + 1;
    in.locked = f->locked;
    in.links = &links;
    bool answered = show_inside(&in, r, &trees, &answer);
    in.out = d->out;
    in.base = d->base;
    show_part(&in);
    show_summary(&in, f, trees.payload, answered, links.n);
    if (body.n || !answered) {
        show_part(&in);
        buf_add(d->out, body.n ? buf_span(&body) : SPAN_LIT("(no work steps recorded)"));
    }
    if (answered) {
        show_part(&in);
        buf_adds(d->out, "**Conclusion:**");
        show_part(&in);
        show_text(&in, buf_span(&answer));
    }
    if (links.n) {
        show_part(&in);
        buf_adds(d->out, "**Sources:**");
    }
    show_links(&links, &in);
    show_part(&in);
    buf_adds(d->out, "</details>");
    if (buf_full(&body) || buf_full(&answer))
        d->out->over = true;
    links_finish(&links);
    buf_free(&answer);
    buf_free(&body);
    if (r)
        record_close(&trees);
}
