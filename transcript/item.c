/* The items of a step. */
#include "transcript/show.h"
#include "transcript/table.h"
#include "transcript/text.h"

/* ---- texts and lists ---- */

static void show_quoted(struct drawing *d, struct span text)
{
    struct buf guarded;
    buf_init(&guarded, d->out->max);
    if (d->inside)
        text_guard(text, &guarded);
    text_quote(d->inside ? buf_span(&guarded) : text, d->out);
    buf_free(&guarded);
}

static void show_line(struct drawing *d, struct span text)
{
    struct buf line;
    buf_init(&line, d->out->max);
    text_line(text, &line);
    show_text(d, buf_span(&line));
    buf_free(&line);
}

static void show_text_item(struct drawing *d, const json_t *payload)
{
    const json_t *text_payload = raw_obj(payload, "text_payload");
    struct span variant = raw_str(text_payload, "variant");
    struct buf text;
    if (span_is(variant, "answer"))
        return;
    buf_init(&text, d->out->max);
    shape_add_text(text_payload, &text);
    if (!text_is_blank(buf_span(&text))) {
        show_part(d);
        if (span_is(variant, "thought") || span_is(variant, "thinking"))
            show_quoted(d, buf_span(&text));
        else if (raw_true(text_payload, "is_mono") || span_is(raw_str(text_payload, "header"), "Output"))
            text_fence(buf_span(&text), d->out);
        else
            show_text(d, buf_span(&text));
    }
    buf_free(&text);
}

static void show_sources_item(struct drawing *d, const json_t *payload)
{
    json_t *sources = raw_list(raw_obj(payload, "sources_payload"), "sources");
    struct links links;
    struct buf text;
    buf_init(&text, d->out->max);
    shape_add_text(raw_obj(payload, "text_payload"), &text);
    if (!text_is_blank(buf_span(&text))) {
        show_part(d);
        show_text(d, buf_span(&text));
    }
    buf_free(&text);
    if (d->links) {
        links_add(d->links, sources);
        return;
    }
    links_init(&links);
    links_add(&links, sources);
    if (links.n) {
        show_part(d);
        buf_adds(d->out, "**Sources:**");
    }
    show_links(&links, d);
    links_finish(&links);
}

static void show_queries_item(struct drawing *d, const json_t *payload)
{
    json_t *queries = raw_list(raw_obj(payload, "queries_payload"), "queries"), *query;
    bool any = false;
    size_t i;
    json_array_foreach(queries, i, query)
    {
        struct span text = json_is_object(query) ? raw_str(query, "query") : raw_span(query);
        if (text_is_blank(text))
            continue;
        if (!any) {
            show_part(d);
            buf_adds(d->out, "**Queries:**");
            show_part(d);
        }
        buf_adds(d->out, any ? "\n- " : "- ");
        show_line(d, text);
        any = true;
    }
}

/* Platforms spell these with prefixes, in either case: "TODO_STATUS_IN_PROGRESS", "in progress". */
static bool has_word(struct span status, const char *word)
{
    size_t n = strlen(word);
    for (size_t i = 0; i + n <= status.n; i++) {
        size_t k = 0;
        while (k < n && (status.p[i + k] | 0x20) == (word[k] | 0x20))
            k++;
        if (k == n || (word[k] == '_' && status.p[i + k] == ' ' &&
                       span_is_nocase(span_of(status.p + i + k + 1, n - k - 1), word + k + 1)))
            return true;
    }
    return false;
}

static const char *todo_mark(struct span status)
{
    if (has_word(status, "in_progress") || has_word(status, "in-progress"))
        return "- [/] ";
    bool not_yet = has_word(status, "incomplete") || has_word(status, "not_complete");
    return has_word(status, "completed") && !not_yet ? "- [x] " : "- [ ] ";
}

static void show_todo_item(struct drawing *d, const json_t *payload)
{
    const json_t *list = raw_obj(payload, "todo_list_payload");
    json_t *items = raw_list(list, "items"), *item;
    struct span title = raw_str(list, "title");
    size_t i;
    show_part(d);
    buf_adds(d->out, "**");
    show_line(d, text_is_blank(title) ? SPAN_LIT("Tasks") : title);
    buf_adds(d->out, "**");
    if (json_array_size(items))
        show_part(d);
    json_array_foreach(items, i, item)
    {
        buf_adds(d->out, i ? "\n" : "");
        buf_adds(d->out, todo_mark(raw_str(item, "status")));
        show_line(d, raw_str(item, "description"));
    }
}

static void show_placeholder(struct drawing *d, struct span type)
{
    show_part(d);
    buf_addc(d->out, '(');
    text_head(type.n ? type : SPAN_LIT("unknown"), d->out);
    buf_addc(d->out, ')');
}

static void show_table_item(struct drawing *d, const json_t *payload)
{
    struct buf table;
    buf_init(&table, d->out->max);
    table_print(raw_obj(payload, "table_payload"), &table);
    if (table.n) {
        show_part(d);
        show_text(d, buf_span(&table));
    } else {
        show_placeholder(d, SPAN_LIT("WORKFLOW_ITEM_TABLE"));
    }
    if (buf_full(&table))
        d->out->over = true;
    buf_free(&table);
}

/* ---- workflows ---- */

static bool is_open(const struct drawing *d, struct span id)
{
    for (unsigned i = 0; i < d->nopen && id.n; i++)
        if (d->open[i].n == id.n && memcmp(d->open[i].p, id.p, id.n) == 0)
            return true;
    return false;
}

/* The sub of that id if it is this turn's to draw and not drawn yet; it is then marked as drawn. */
static const struct sub *take_sub(struct drawing *d, struct span id)
{
    size_t i = id.n && d->turn ? names_find(&d->t->sub_ids, id) : NAMES_NONE;
    const struct sub *sub = i == NAMES_NONE ? NULL : &d->t->subs[i];
    return sub && show_take_sub(d, i) ? sub : NULL;
}

/* Whether the record is this turn's by its own copy and not drawn yet; it is then marked. */
static bool take_copy(struct drawing *d, size_t record)
{
    const struct record *r = &d->t->records[record];
    if (!r->owned || r->turn != d->turn || d->drawn[r->number])
        return false;
    d->drawn[r->number] = 1;
    return true;
}

static void fold_sub(struct drawing *d, const struct sub *sub)
{
    struct fold fold = {.label = "🤖 Subagent",
                        .headline = sub->headline,
                        .status = sub->status,
                        .locked = sub->locked,
                        .record = sub->record,
                        .payload = sub->record == NO_RECORD ? show_sub_payload(d, sub) : NULL};
    show_fold(d, &fold);
}

static void fold_nested(struct drawing *d, json_t *payload)
{
    struct fold fold = {.label = "🧩 Nested workflow",
                        .headline = raw_str(payload, "headline"),
                        .status = raw_str(payload, "status"),
                        .locked = d->locked,
                        .payload = payload,
                        .record = NO_RECORD};
    show_fold(d, &fold);
}

void show_rest(struct drawing *d, const json_t *copy)
{
    json_t *steps = raw_list(copy, "steps"), *step, *item;
    unsigned depth = d->depth;
    size_t s, i;
    if (!d->own || depth > 0)
        return;
    d->depth = 1;
    json_array_foreach(steps, s, step) json_array_foreach(raw_list(step, "items"), i, item)
    {
        json_t *payload = shape_payload(item);
        struct span id = raw_str(payload, "id");
        const struct sub *sub = shape_is_anchor(payload) ? take_sub(d, id) : NULL;
        size_t record = id.n && !shape_is_anchor(payload) && json_array_size(raw_list(payload, "steps"))
                            ? names_find(&d->t->record_ids, id)
                            : NAMES_NONE;
        if (sub)
            fold_sub(d, sub);
        else if (record != NAMES_NONE && take_copy(d, record))
            fold_nested(d, payload);
    }
    d->depth = depth;
}

static void show_anchor(struct drawing *d, json_t *payload)
{
    struct span id = raw_str(payload, "id"), headline = raw_str(payload, "headline");
    const struct sub *sub = take_sub(d, id);
    if (sub) {
        fold_sub(d, sub);
    } else {
        size_t known = id.n ? names_find(&d->t->sub_ids, id) : NAMES_NONE;
        size_t record = id.n ? names_find(&d->t->record_ids, id) : NAMES_NONE;
        if (known != NAMES_NONE && text_is_blank(headline))
            headline = d->t->subs[known].headline;
        show_reference(d, headline, record == NAMES_NONE ? NO_RECORD : record,
                       known == NAMES_NONE ? 0 : d->t->subs[known].turn);
    }
    show_rest(d, payload);
}

static void show_workflow_item(struct drawing *d, json_t *payload, struct span type)
{
    struct span id = raw_str(payload, "id"), headline = raw_str(payload, "headline");
    if (payload && (d->depth >= SHOW_FOLDS || is_open(d, id))) {
        show_part(d);
        buf_adds(d->out, "(nested workflow: ");
        text_head(text_is_blank(headline) ? SPAN_LIT("untitled") : headline, d->out);
        buf_adds(d->out, ", recursion limit reached)");
        return;
    }
    if (d->t->attributed && shape_is_anchor(payload)) {
        show_anchor(d, payload);
        return;
    }
    if (json_array_size(raw_list(payload, "steps")) == 0) {
        show_placeholder(d, type);
        return;
    }
    size_t record = id.n && d->own ? names_find(&d->t->record_ids, id) : NAMES_NONE;
    if (record == NAMES_NONE || take_copy(d, record)) {
        fold_nested(d, payload);
        return;
    }
    show_reference(d, headline, record, 0);
    show_rest(d, payload);
}

void show_items(struct drawing *d, const json_t *step, const json_t *but)
{
    static const struct {
        const char *type;
        void (*draw)(struct drawing *d, const json_t *payload);
    } kinds[] = {{"WORKFLOW_ITEM_TEXT", show_text_item},
                 {"WORKFLOW_ITEM_SOURCES", show_sources_item},
                 {"WORKFLOW_ITEM_QUERIES", show_queries_item},
                 {"WORKFLOW_ITEM_TODO_LIST", show_todo_item},
                 {"WORKFLOW_ITEM_TABLE", show_table_item}};
    enum { KINDS = sizeof kinds / sizeof kinds[0] };
    json_t *items = raw_list(step, "items"), *item;
    size_t i, k;
    json_array_foreach(items, i, item)
    {
        struct span type = raw_str(item, "type");
        json_t *workflow = shape_payload(item);
        if (!json_is_object(item) || (but && workflow == but) || buf_full(d->out))
            continue;
        for (k = 0; k < KINDS && !span_is(type, kinds[k].type); k++)
            ;
        if (k < KINDS)
            kinds[k].draw(d, raw_obj(item, "payload"));
        else if (span_is(type, "WORKFLOW_ITEM_WORKFLOW"))
            show_workflow_item(d, workflow, type);
        else
            show_placeholder(d, type);
    }
}
