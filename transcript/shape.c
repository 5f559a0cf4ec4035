/* The shape of entries, workflows, steps, items and payloads. */
#include "transcript/thread.h"

json_t *shape_next_workflow(const json_t *entry, size_t *i)
{
    const json_t *blocks = raw_list(entry, "blocks");
    while (*i < json_array_size(blocks)) {
        json_t *workflow = raw_obj(json_array_get(blocks, (*i)++), "workflow_block");
        if (workflow)
            return workflow;
    }
    return NULL;
}

json_t *shape_last_workflow(const json_t *entry)
{
    json_t *workflow, *last = NULL;
    for (size_t i = 0; (workflow = shape_next_workflow(entry, &i));)
        last = workflow;
    return last;
}

json_t *shape_payload(const json_t *item)
{
    if (!span_is(raw_str(item, "type"), "WORKFLOW_ITEM_WORKFLOW"))
        return NULL;
    return raw_obj(raw_obj(item, "payload"), "workflow_payload");
}

bool shape_is_anchor(const json_t *payload)
{
    return json_array_size(raw_list(payload, "objective_chunks")) > 0 ||
           raw_true(payload, "is_background_anchor");
}

struct span shape_step_id(const json_t *step)
{
    static const char end[] = ":workflow";
    struct span id = raw_str(step, "id");
    if (span_ends(id, end))
        id.n -= sizeof end - 1;
    return id;
}

bool shape_is_subagent(const json_t *step)
{
    return span_is(raw_str(step, "tool_name"), "run_subagent");
}

json_t *shape_anchor(const json_t *step)
{
    json_t *items = raw_list(step, "items"), *item;
    size_t i;
    json_array_foreach(items, i, item) if (shape_is_anchor(shape_payload(item))) return shape_payload(item);
    return NULL;
}

bool shape_has_payload(const json_t *step)
{
    json_t *items = raw_list(step, "items"), *item;
    size_t i;
    json_array_foreach(items, i, item) if (shape_payload(item)) return true;
    return false;
}

struct span shape_sub_id(const json_t *step)
{
    const json_t *anchor = shape_anchor(step);
    struct span id = raw_str(anchor, "id");
    if (anchor)
        return id.n ? id : shape_step_id(step);
    return shape_is_subagent(step) && !shape_has_payload(step) ? shape_step_id(step) : (struct span){"", 0};
}

void shape_add_text(const json_t *text_payload, struct buf *out)
{
    struct span text = raw_str(text_payload, "text");
    json_t *chunks = raw_list(text_payload, "chunks"), *chunk;
    size_t i;
    buf_add(out, text);
    if (!text.n)
        json_array_foreach(chunks, i, chunk) buf_add(out, raw_span(chunk));
}

struct span shape_query(const json_t *entry)
{
    struct span query = raw_str(entry, "query_str");
    return query.n ? query : raw_str(entry, "query");
}

static json_t *payload_at(const json_t *block, unsigned step, unsigned item)
{
    return shape_payload(
        json_array_get(raw_list(json_array_get(raw_list(block, "steps"), step), "items"), item));
}

json_t *shape_find(const json_t *entry, const struct place *place)
{
    const json_t *block = json_array_get(raw_list(entry, "blocks"), place->block);
    json_t *payload = payload_at(raw_obj(block, "workflow_block"), place->step, place->item);
    return place->inner ? payload_at(payload, place->inner_step, place->inner_item) : payload;
}
