/* turns/turn_NNNN.md: all that a turn did. */
#include "base/xalloc.h"
#include "transcript/show.h"
#include "transcript/text.h"

/* "- name · media type · n bytes · n characters" a line: of files that came in or went out. */
static void show_files(struct drawing *d, const char *title, json_t *files)
{
    static const char *const names[] = {"name", "filename", "type"};
    static const char *const counts[][2] = {{"bytes", "bytes"}, {"characters", "characters"}};
    json_t *file;
    bool any = false;
    size_t i;
    json_array_foreach(files, i, file)
    {
        struct span name = {"", 0}, media = raw_str(file, "media_type");
        for (size_t n = 0; n < 3 && !name.n; n++)
            name = raw_str(file, names[n]);
        if (!json_is_object(file))
            continue;
        if (!any) {
            show_part(d);
            buf_printf(d->out, "## %s", title);
            show_part(d);
        }
        buf_adds(d->out, any ? "\n- " : "- ");
        any = true;
        text_line(name.n ? name : SPAN_LIT("unnamed"), d->out);
        if (media.n) {
            buf_adds(d->out, " · ");
            text_line(media, d->out);
        }
        for (size_t n = 0; n < 2; n++)
            if (json_is_integer(json_object_get(file, counts[n][0])))
                buf_printf(d->out, " · %lld %s",
                           (long long)json_integer_value(json_object_get(file, counts[n][0])), counts[n][1]);
    }
}

static void show_rationale(struct drawing *d, struct span reasoning)
{
    if (text_is_blank(reasoning))
        return;
    show_part(d);
    buf_adds(d->out, "## Rationale");
    show_part(d);
    text_quote(reasoning, d->out);
}

static void show_process(struct drawing *d, const struct turn *turn)
{
    enum status_kind kind = status_classify(turn->status, turn->locked);
    json_t *workflow, *step;
    size_t s, number = 0;
    if (!shape_last_workflow(d->entry) || (turn->steps == 0 && kind == STATUS_COMPLETED))
        return;
    show_part(d);
    buf_adds(d->out, "## Work process (");
    text_plural(turn->steps, "step", d->out);
    if (turn->status.n) {
        buf_adds(d->out, " · ");
        text_head(turn->status, d->out);
    }
    show_also(d, status_tag(kind));
    buf_addc(d->out, ')');
    for (size_t w = 0; (workflow = shape_next_workflow(d->entry, &w));)
        json_array_foreach(raw_list(workflow, "steps"), s, step) if (!buf_full(d->out))
            show_step(d, step, ++number);
}

static void show_matched(struct drawing *d, const struct turn *turn)
{
    if (!turn->matches)
        return;
    show_part(d);
    buf_printf(d->out, "## Subagent work (%zu)", turn->matches);
    show_part(d);
    buf_adds(d->out,
             "> This turn only reports that background work ended; it did no work itself. The records below "
             "were matched to it by time.");
    d->own = false;
    for (size_t i = 0; i < turn->matches && !buf_full(d->out); i++) {
        size_t record = d->t->matches[turn->first_match + i].record;
        const struct record *r = &d->t->records[record];
        struct fold fold = {.label = "🤖 Subagent",
                            .headline = r->headline,
                            .status = r->status,
                            .locked = interruptions_lock(turn, r),
                            .record = record};
        show_fold(d, &fold);
    }
}

static void show_answer(struct drawing *d, const struct turn *turn)
{
    struct buf answer;
    buf_init(&answer, d->out->max);
    show_part(d);
    buf_adds(d->out, "## Answer");
    show_part(d);
    buf_add(d->out, answer_turn(d->t, turn, d->entry, &answer) ? buf_span(&answer) : SPAN_LIT("(none)"));
    buf_free(&answer);
}

static void show_turn_sources(struct drawing *d)
{
    struct links links;
    links_init(&links);
    links_add(&links, raw_list(d->entry, "sources"));
    if (links.n) {
        show_part(d);
        buf_adds(d->out, "## Turn sources");
    }
    show_links(&links, d);
    links_finish(&links);
}

int transcript_turn(const struct transcript *t, unsigned number, struct buf *out)
{
    if (number == 0 || number > t->nturns)
        return -1;
    const struct turn *turn = &t->turns[number - 1];
    json_t *entry = document_entry(t->document, SIDE_TURNS, turn->entry);
    struct span query = shape_query(entry);
    struct drawing d = {.t = t,
                        .entry = entry,
                        .out = out,
                        .base = out->n,
                        .turn = number,
                        .own = true,
                        .locked = turn->locked};
    /* A turn that does nothing draws no record of its own. */
    d.drawn = turn->steps ? xcalloc(turn->owned + 1, 1) : NULL;
    d.subs_drawn = turn->steps ? xcalloc(turn->subs + 1, 1) : NULL;
    buf_printf(out, "# Turn %u", number);
    show_when(&d, turn->created);
    show_part(&d);
    buf_adds(out, "## Query");
    show_part(&d);
    buf_add(out, query.n ? query : SPAN_LIT("(empty)"));
    show_files(&d, "Attachments", raw_list(entry, "attachments"));
    show_rationale(&d, raw_str(entry, "reasoning"));
    show_process(&d, turn);
    show_matched(&d, turn);
    show_answer(&d, turn);
    show_files(&d, "Files", raw_list(entry, "artifacts"));
    show_turn_sources(&d);
    xfree(d.drawn);
    xfree(d.subs_drawn);
    json_decref(entry);
    return show_finish(&d);
}
