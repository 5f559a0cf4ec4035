/* Folded blocks, and what is in them. */
#include "transcript/draw.h"
#include "transcript/text.h"

static void draw_title(struct drawing *d, struct span title, struct span tool)
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
    draw_text(d, buf_span(&line));
    buf_free(&line);
}

/* Steps whose content is not drawn at all, as a list. */
static void draw_names(struct drawing *d, json_t *steps)
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
            draw_part(d);
        buf_adds(d->out, any ? "\n" : "");
        draw_text(d, buf_span(&line));
        any = true;
    }
    buf_free(&line);
    buf_free(&answer);
}

void draw_body(struct drawing *d, json_t *payload)
{
    json_t *steps = raw_list(payload, "steps"), *step;
    bool any = false;
    size_t i;
    json_array_foreach(steps, i, step)
    {
        struct span title = raw_str(step, "title"), tool = raw_str(step, "tool_name");
        size_t before = d->out->n;
        if (title.n || tool.n) {
            draw_part(d);
            draw_title(d, title, tool);
        }
        size_t titled = d->out->n;
        draw_items(d, step, NULL);
        if (d->out->n == titled)
            buf_cut(d->out, before);
        else
            any = true;
    }
    if (!any)
        draw_names(d, steps);
}

void draw_take_sources(struct drawing *d, size_t record)
{
    const struct record *r = record == NO_RECORD ? NULL : &d->t->records[record];
    if (r && r->alone)
        links_add(d->links, raw_list(r->entry, "sources"));
}

static void draw_summary(struct drawing *d, const struct fold *f, bool answered, size_t sources)
{
    buf_printf(d->out, "<details>\n<summary>%s: ", f->label);
    text_head(text_is_blank(f->headline) ? SPAN_LIT("untitled") : f->headline, d->out);
    buf_adds(d->out, " (");
    text_plural(json_array_size(raw_list(f->payload, "steps")), "step", d->out);
    draw_also(d, answered ? "has conclusion" : "no conclusion");
    if (sources) {
        buf_adds(d->out, " · ");
        text_plural(sources, "source", d->out);
    }
    draw_also(d, status_tag(status_classify(f->status, f->locked)));
    buf_adds(d->out, ")</summary>");
}

void draw_fold(struct drawing *d, const struct fold *f)
{
    struct drawing in = *d;
    struct buf body, answer;
    struct links links;
    buf_init(&body, d->out->max);
    buf_init(&answer, d->out->max);
    links_init(&links);
    in.out = &body;
    in.base = 0;
    in.inside = true;
    in.own = d->own && f->record == NO_RECORD;
    in.depth = d->depth + 1;
    in.locked = f->locked;
    in.links = &links;
    draw_open(&in, f->record == NO_RECORD ? raw_str(f->payload, "id") : d->t->records[f->record].id);
    draw_body(&in, f->payload);
    draw_take_sources(&in, f->record);
    bool answered = f->record == NO_RECORD ? answer_block(f->payload, &answer)
                                           : answer_record(&d->t->records[f->record], &answer);
    in.out = d->out;
    in.base = d->base;
    draw_part(&in);
    draw_summary(&in, f, answered, links.n);
    if (body.n || !answered) {
        draw_part(&in);
        buf_add(d->out, body.n ? buf_span(&body) : SPAN_LIT("(no work steps recorded)"));
    }
    if (answered) {
        draw_part(&in);
        buf_adds(d->out, "**Conclusion:**");
        draw_part(&in);
        draw_text(&in, buf_span(&answer));
    }
    if (links.n) {
        draw_part(&in);
        buf_adds(d->out, "**Sources:**");
    }
    draw_links(&links, &in);
    draw_part(&in);
    buf_adds(d->out, "</details>");
    if (buf_full(&body) || buf_full(&answer))
        d->out->over = true;
    links_finish(&links);
    buf_free(&answer);
    buf_free(&body);
}
