/* Where an answer comes from: the last step FINAL, a text of the block form, an anchored record. */
#include "transcript/text.h"
#include "transcript/thread.h"

/*
 * In a platform's dump, an answer that is an object (or the text of one) holds it under "answer"; other
 * members of such an object, snapshots say, are none. What Penstock recorded is the text that the client got,
 * which may well be an object of the model's.
 */
static bool add_answer(const json_t *answer, bool recorded, struct buf *out)
{
    struct span text = raw_span(answer), trimmed = text_trim(text);
    json_t *parsed = !recorded && span_starts(trimmed, "{") ? raw_parse_value(trimmed) : NULL;
    if (json_is_object(parsed))
        text = raw_str(parsed, "answer");
    else if (json_is_object(answer))
        text = raw_str(answer, "answer");
    bool found = json_is_object(parsed) || json_is_object(answer) ? text.n > 0 : !text_is_blank(text);
    if (found)
        buf_add(out, text);
    json_decref(parsed);
    return found;
}

bool answer_plain(const json_t *entry, struct buf *out)
{
    json_t *text = json_object_get(entry, "text"), *parsed = NULL;
    bool found = false, recorded = raw_obj(entry, "end");
    if (json_is_string(text))
        text = parsed = raw_parse_value(raw_span(text));
    for (size_t i = json_is_array(text) ? json_array_size(text) : 0; i-- > 0 && !found;) {
        const json_t *step = json_array_get(text, i);
        if (span_is(raw_str(step, "step_type"), "FINAL"))
            found = add_answer(json_object_get(raw_obj(step, "content"), "answer"), recorded, out);
    }
    json_decref(parsed);
    return found;
}

static bool is_answer(const json_t *item)
{
    return span_is(raw_str(item, "type"), "WORKFLOW_ITEM_TEXT") &&
           span_is(raw_str(raw_obj(raw_obj(item, "payload"), "text_payload"), "variant"), "answer");
}

bool answer_block(const json_t *block, struct buf *out)
{
    json_t *steps = raw_list(block, "steps"), *items;
    size_t before = out->n;
    for (size_t s = json_array_size(steps); s-- > 0;) {
        items = raw_list(json_array_get(steps, s), "items");
        for (size_t i = json_array_size(items); i-- > 0;) {
            const json_t *item = json_array_get(items, i);
            if (!is_answer(item))
                continue;
            shape_add_text(raw_obj(raw_obj(item, "payload"), "text_payload"), out);
            if (!text_is_blank(span_from(buf_span(out), before)))
                return true;
            buf_cut(out, before);
        }
    }
    return false;
}

bool answer_record(const struct transcript *t, const struct record *r, struct buf *out)
{
    struct record_trees trees = record_open(t, r);
    bool found = answer_block(trees.payload, out) || (r->alone && answer_plain(trees.entry, out));
    record_close(&trees);
    return found;
}

bool answer_sub(const struct transcript *t, const struct sub *sub, const json_t *entry, struct buf *out)
{
    if (sub->record != NO_RECORD)
        return answer_record(t, &t->records[sub->record], out);
    return sub->anchored && answer_block(shape_find(entry, &sub->place), out);
}

bool answer_turn(const struct transcript *t, const struct turn *turn, const json_t *entry, struct buf *out)
{
    size_t before = out->n;
    if (answer_plain(entry, out) && !text_is_blank(span_from(buf_span(out), before)))
        return true;
    buf_cut(out, before);
    if (answer_block(shape_last_workflow(entry), out))
        return true;
    for (size_t i = 0; i < turn->subs; i++)
        if (answer_sub(t, &t->subs[turn->first_sub + i], entry, out))
            return true;
    return false;
}
