/*
 * OpenAI Responses, and what speaks like it: Azure, OpenRouter, vLLM, llama.cpp …
 *
 * Text channels are the parts of type `output_text` of the output items of type `message`. Their number is
 * made of output_index and content_index, since some servers name an item anew in every event. A stream says
 * a part's text up to five times: in pieces, and whole in the events that end the part, its content, its item
 * and the reply. The list in the last one may lack items, so there parts are told by their order.
 *
 * Reasoning, refusals, the arguments and results of tools are no text; all but the last are noted for whoever
 * records the conversation.
 */
#include "providers/openai_responses.h"

#include "providers/event.h"
#include "providers/notes.h"
#include "providers/openai.h"
#include "providers/placing.h"
#include "providers/request.h"

/* ---- events ---- */

enum kind {
    KIND_OTHER,
    KIND_TEXT_DELTA,
    KIND_TEXT_DONE,
    KIND_PART_ADDED,
    KIND_PART_DONE,
    KIND_ITEM_ADDED,
    KIND_ITEM_DONE,
    KIND_ANNOTATION,
    KIND_CREATED,
    KIND_ENDED,
    KIND_FAILED,
    KIND_ERROR,
    /* These are noted, and nothing else. */
    KIND_REASONING_DELTA,
    KIND_REASONING_PART,
    KIND_CALL_DELTA,
    KIND_REFUSAL_DELTA,
};

/* Told by its length first; most events of a stream are of a few kinds, and each is looked up. */
static enum kind kind_named(struct span name)
{
    switch (name.n) {
    case 5:
        return span_is(name, "error") ? KIND_ERROR : KIND_OTHER;
    case 15:
        return span_is(name, "response.failed") ? KIND_FAILED : KIND_OTHER;
    case 16:
        return span_is(name, "response.created") ? KIND_CREATED : KIND_OTHER;
    case 18:
        return span_is(name, "response.completed") || span_is(name, "response.cancelled") ? KIND_ENDED
                                                                                          : KIND_OTHER;
    case 19:
        return span_is(name, "response.incomplete") ? KIND_ENDED : KIND_OTHER;
    case 22:
        return span_is(name, "response.refusal.delta") ? KIND_REFUSAL_DELTA : KIND_OTHER;
    case 25:
        return span_is(name, "response.output_text.done")   ? KIND_TEXT_DONE
               : span_is(name, "response.output_item.done") ? KIND_ITEM_DONE
                                                            : KIND_OTHER;
    case 26:
        return span_is(name, "response.output_text.delta")   ? KIND_TEXT_DELTA
               : span_is(name, "response.content_part.done") ? KIND_PART_DONE
               : span_is(name, "response.output_item.added") ? KIND_ITEM_ADDED
                                                             : KIND_OTHER;
    case 27:
        return span_is(name, "response.content_part.added") ? KIND_PART_ADDED : KIND_OTHER;
    case 29:
        return span_is(name, "response.reasoning_text.delta") ? KIND_REASONING_DELTA : KIND_OTHER;
    case 33:
        return span_is(name, "response.mcp_call_arguments.delta") ? KIND_CALL_DELTA : KIND_OTHER;
    case 37:
        return span_is(name, "response.reasoning_summary_text.delta")   ? KIND_REASONING_DELTA
               : span_is(name, "response.output_text.annotation.added") ? KIND_ANNOTATION
               : span_is(name, "response.reasoning_summary_part.added") ? KIND_REASONING_PART
                                                                        : KIND_OTHER;
    case 38:
        return span_is(name, "response.function_call_arguments.delta") ||
                       span_is(name, "response.custom_tool_call_input.delta")
                   ? KIND_CALL_DELTA
                   : KIND_OTHER;
    default:
        return KIND_OTHER;
    }
}

static enum kind kind_of(struct span type)
{
    enum { LONGEST = 64 };
    if (json_type(type) != JSON_STRING)
        return KIND_OTHER;
    struct span name = json_inside(type);
    enum kind kind = kind_named(name);
    if (kind != KIND_OTHER || !memchr(name.p, '\\', name.n))
        return kind;
    struct buf plain;
    buf_init(&plain, LONGEST);
    if (json_unescape(name, &plain) == 0)
        kind = kind_named(buf_span(&plain));
    buf_free(&plain);
    return kind;
}

/* The members of an event, or of a whole reply, that matter; n = 0: absent. */
struct members {
    struct span type, number, output_index, content_index;
    struct span delta, text, logprobs, part, item, annotation, response, output, error;
    bool bare; /* no others that say anything */
};

/* In the order in which events have them. */
static struct span *member_of(struct members *m, const struct walk *w, struct span key)
{
    const struct {
        const char *name;
        struct span *value;
    } names[] = {
        {"type", &m->type},
        {"sequence_number", &m->number},
        {"output_index", &m->output_index},
        {"content_index", &m->content_index},
        {"delta", &m->delta},
        {"logprobs", &m->logprobs},
        {"text", &m->text},
        {"part", &m->part},
        {"item", &m->item},
        {"annotation", &m->annotation},
        {"response", &m->response},
        {"output", &m->output},
        {"error", &m->error},
    };
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (walk_key_is(w, key, names[i].name))
            return names[i].value;
    return NULL;
}

static bool is_something(struct span value)
{
    return json_type(value) != JSON_NULL;
}

/* False: not one JSON object. `brace`: its opening one. */
static bool read_members(const struct reply_event *e, struct members *m, const char **brace,
                         const char **closing)
{
    struct walk w = walk_event(e);
    struct span key, value;
    *m = (struct members){.bare = true};
    if (walk_peek(&w) != '{')
        return false;
    *brace = w.at;
    walk_enter(&w, '{');
    while (walk_member(&w, &key)) {
        bool frame = walk_key_is(&w, key, "item_id") || walk_key_is(&w, key, "obfuscation");
        struct span *known = frame ? NULL : member_of(m, &w, key);
        if (!walk_skip(&w, &value))
            return false;
        if (known)
            *known = value;
        else if (!frame && is_something(value))
            m->bare = false;
    }
    *closing = w.at - 1;
    return walk_done(&w);
}

static uint32_t channel_of(struct span output_index, struct span content_index)
{
    enum { PARTS = 256, ITEMS = 1 << 20 };
    int64_t item = 0, part = 0;
    if (output_index.n == 0 || !json_int(output_index, &item) || item < 0 || item >= ITEMS)
        item = 0;
    if (content_index.n == 0 || !json_int(content_index, &part) || part < 0 || part >= PARTS)
        part = 0;
    return (uint32_t)(item * PARTS + part);
}

/* How the text of a part is to be taken. */
enum saying { SAYS_TEXT, SAYS_WHOLE_TEXT /* and its end */, SAYS_AGAIN, SAYS_EXCERPT };

struct reading {
    struct reply_event *e;
    enum saying saying;
    bool nth;         /* channels are counted */
    uint32_t channel; /* next one, or of the event */
};

static void add_delta(struct reading *r, enum delta_kind kind, struct span where)
{
    reply_event_delta(r->e, kind, r->channel, where);
    r->e->deltas[r->e->n - 1].nth = r->nth;
}

/* The offsets of an annotation, the beginning of a range first. */
static void read_annotation(struct reading *r, struct span annotation, bool event)
{
    static const char *const names[] = {"start_index", "end_index", "index"};
    struct span value;
    add_delta(r, DELTA_ITEM, event ? span_of(annotation.p, 0) : annotation);
    if (json_type(annotation) != JSON_OBJECT)
        return;
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (json_member(annotation, names[i], &value) && json_type(value) == JSON_NUMBER)
            add_delta(r, DELTA_OFFSET, value);
}

static void read_annotations(struct reading *r, struct span list)
{
    add_delta(r, DELTA_LIST, json_inside(list));
    struct json_iter it = json_iter(list);
    while (json_next(&it) == 1)
        read_annotation(r, it.value, false);
}

/* A text with what belongs to it; empty text is no text. */
static void add_text(struct reading *r, struct span text, struct span logprobs, struct span annotations)
{
    static const enum delta_kind kinds[] = {DELTA_TEXT, DELTA_TEXT, DELTA_REPEAT, DELTA_EXCERPT};
    bool tokens = json_type(logprobs) == JSON_ARRAY && logprobs.n > 2;
    if (json_type(text) != JSON_STRING || text.n == 2)
        return;
    add_delta(r, kinds[r->saying], json_inside(text));
    if (r->saying == SAYS_EXCERPT)
        return;
    if (tokens)
        add_delta(r, r->saying == SAYS_AGAIN ? DELTA_REPEAT_TOKENS : DELTA_TOKENS, json_inside(logprobs));
    if (json_type(annotations) == JSON_ARRAY)
        read_annotations(r, annotations);
    if (r->saying != SAYS_TEXT && !r->nth)
        add_delta(r, DELTA_CHANNEL_END, (struct span){0});
}

/* Whether it had text. */
static bool read_part(struct reading *r, struct span part)
{
    struct span type, text = {0}, logprobs = {0}, annotations = {0};
    if (json_type(part) != JSON_OBJECT)
        return false;
    if (json_member(part, "type", &type) && !request_value_is(type, "output_text") &&
        !request_value_is(type, "text"))
        return false;
    if (!json_member(part, "text", &text) || json_type(text) != JSON_STRING || text.n == 2)
        return false;
    if (!json_member(part, "logprobs", &logprobs))
        logprobs = (struct span){0};
    if (!json_member(part, "annotations", &annotations))
        annotations = (struct span){0};
    add_text(r, text, logprobs, annotations);
    return true;
}

/* The parts of a message. Without nth their channels are numbered from that of the item. */
static void read_item(struct reading *r, struct span item)
{
    struct span type, content;
    uint32_t first = r->channel;
    if (json_type(item) != JSON_OBJECT ||
        (json_member(item, "type", &type) && !request_value_is(type, "message")))
        return;
    if (!json_member(item, "content", &content) || json_type(content) != JSON_ARRAY)
        return;
    struct json_iter it = json_iter(content);
    for (uint32_t i = 0; json_next(&it) == 1; i++) {
        if (!r->nth)
            r->channel = first | (i & 0xff);
        if (read_part(r, it.value) && r->nth)
            r->channel++;
    }
    if (!r->nth)
        r->channel = first;
}

static void read_output(struct reading *r, struct span output)
{
    if (json_type(output) != JSON_ARRAY)
        return;
    struct json_iter it = json_iter(output);
    for (uint32_t i = 0; json_next(&it) == 1; i++) {
        if (!r->nth)
            r->channel = channel_of((struct span){0}, (struct span){0}) | (i & 0xfffff) << 8;
        read_item(r, it.value);
    }
}

/* The report's place in an object. */
static void set_report(struct reply_event *e, struct span object)
{
    e->ends_reply = true;
    event_report_in(e, object.p + 1, object.p + object.n - 1);
}

/* A Response object, whole or in an event. */
static void read_response(struct reading *r, struct span response)
{
    struct span value;
    if (json_type(response) != JSON_OBJECT)
        return;
    if (json_member(response, "instructions", &value) && json_type(value) == JSON_STRING)
        reply_event_delta(r->e, DELTA_ECHO, 0, value);
    if (json_member(response, "output", &value))
        read_output(r, value);
    /* What some servers add for convenience: the text of all parts. */
    if (json_member(response, "output_text", &value) && json_type(value) == JSON_STRING)
        reply_event_delta(r->e, DELTA_EXCERPT, 0, json_inside(value));
}

static void read_whole(struct reply_event *e, const struct members *m, struct span root)
{
    struct reading r = {.e = e, .saying = SAYS_WHOLE_TEXT};
    if (json_type(m->output) != JSON_ARRAY)
        return;
    read_response(&r, root);
    set_report(e, root);
}

static void read_response_event(struct reading *r, const struct members *m, enum kind kind)
{
    bool last = kind == KIND_ENDED || kind == KIND_FAILED;
    r->saying = last ? SAYS_AGAIN : SAYS_EXCERPT;
    r->nth = last;
    r->channel = 0;
    read_response(r, m->response);
    r->e->begins = r->e->opens = kind == KIND_CREATED;
    r->e->error = kind == KIND_FAILED;
    if (last && json_type(m->response) == JSON_OBJECT)
        set_report(r->e, m->response);
}

static enum kind read_stream_event(struct reply_event *e, const struct members *m)
{
    struct reading r = {.e = e, .channel = channel_of(m->output_index, m->content_index)};
    enum kind kind = kind_of(m->type);
    switch (kind) {
    case KIND_TEXT_DELTA:
        if (json_type(m->delta) != JSON_STRING)
            return kind;
        e->bare = m->bare && m->part.n + m->item.n + m->response.n == 0 &&
                  (m->logprobs.n == 0 || json_type(m->logprobs) == JSON_ARRAY || !is_something(m->logprobs));
        add_text(&r, m->delta, m->logprobs, (struct span){0});
        break;
    case KIND_TEXT_DONE:
        r.saying = SAYS_AGAIN;
        add_text(&r, m->text, m->logprobs, (struct span){0});
        break;
    case KIND_PART_ADDED:
    case KIND_PART_DONE:
        r.saying = kind == KIND_PART_DONE ? SAYS_AGAIN : SAYS_TEXT;
        e->opens = kind == KIND_PART_ADDED;
        read_part(&r, m->part);
        break;
    case KIND_ITEM_ADDED:
    case KIND_ITEM_DONE:
        r.saying = kind == KIND_ITEM_DONE ? SAYS_AGAIN : SAYS_EXCERPT;
        e->opens = kind == KIND_ITEM_ADDED;
        read_item(&r, m->item);
        break;
    case KIND_ANNOTATION:
        if (m->annotation.n)
            read_annotation(&r, m->annotation, true);
        break;
    case KIND_ERROR:
        e->error = e->goes_on = true;
        break;
    default:
        if (m->response.n)
            read_response_event(&r, m, kind);
        else if (m->type.n == 0 && m->error.n && is_something(m->error))
            e->error = true; /* how servers say it that have no event for it */
        break;
    }
    return kind;
}

/* ---- notes ---- */

static void note_texts(struct reply_event *e, struct span list)
{
    if (json_type(list) != JSON_ARRAY)
        return;
    struct json_iter it = json_iter(list);
    while (json_next(&it) == 1) {
        reply_event_note(e, NOTE_REASONING_BREAK, 0, (struct span){0});
        notes_member(e, NOTE_REASONING, 0, it.value, "text");
    }
}

/* An item that calls a tool. */
static void note_call(struct reply_event *e, struct span item, struct span type, uint32_t number)
{
    bool function = request_value_is(type, "function_call"),
         custom = request_value_is(type, "custom_tool_call");
    if (!function && !custom && !request_value_is(type, "mcp_call"))
        return;
    reply_event_note(e, NOTE_CALL, number, (struct span){0});
    notes_member(e, NOTE_CALL_ID, number, item, function || custom ? "call_id" : "id");
    notes_member(e, NOTE_CALL_NAME, number, item, "name");
    notes_member(e, NOTE_CALL_ARGUMENTS, number, item, custom ? "input" : "arguments");
}

/* An item of a whole reply, which says all of it. */
static void note_item(struct reply_event *e, struct span item, uint32_t number)
{
    struct span type, value;
    if (json_type(item) != JSON_OBJECT || !json_member(item, "type", &type))
        return;
    note_call(e, item, type, number);
    if (request_value_is(type, "reasoning")) {
        if (json_member(item, "summary", &value))
            note_texts(e, value);
        if (json_member(item, "content", &value))
            note_texts(e, value);
    }
    if (!request_value_is(type, "message") || !json_member(item, "content", &value) ||
        json_type(value) != JSON_ARRAY)
        return;
    struct json_iter it = json_iter(value);
    while (json_next(&it) == 1) {
        notes_member(e, NOTE_REFUSAL, 0, it.value, "refusal");
        if (json_type(it.value) == JSON_OBJECT && json_member(it.value, "annotations", &value))
            notes_sources(e, value, NULL, "url");
    }
}

/* How a reply stands. */
static void note_status(struct reply_event *e, struct span response)
{
    struct span status, value;
    if (json_type(response) != JSON_OBJECT)
        return;
    notes_member(e, NOTE_REPLY_ID, 0, response, "id");
    if (json_member(response, "error", &value) && is_something(value))
        notes_error(e, value);
    if (!json_member(response, "status", &status))
        return;
    if (request_value_is(status, "failed"))
        reply_event_note(e, NOTE_ERROR, 0, (struct span){0});
    else if (request_value_is(status, "cancelled"))
        reply_event_note(e, NOTE_CANCELED, 0, (struct span){0});
    else if (request_value_is(status, "queued") || request_value_is(status, "in_progress"))
        reply_event_note(e, NOTE_PENDING, 0, status);
    else if (request_value_is(status, "incomplete") && json_member(response, "incomplete_details", &value) &&
             json_type(value) == JSON_OBJECT && json_member(value, "reason", &value))
        notes_string(e, NOTE_FINISH, 0, value);
    else
        notes_string(e, NOTE_FINISH, 0, status);
}

NOT_INLINE static void note_whole(struct reply_event *e, const struct members *m, struct span root)
{
    if (json_type(m->output) == JSON_ARRAY) {
        struct json_iter it = json_iter(m->output);
        for (uint32_t i = 0; json_next(&it) == 1; i++)
            note_item(e, it.value, i);
    }
    if (json_type(m->output) == JSON_ARRAY)
        note_status(e, root);
    else if (m->error.n)
        notes_error(e, m->error);
}

static uint32_t number_of(struct span output_index)
{
    int64_t index = 0;
    if (output_index.n == 1 && output_index.p[0] >= '0' && output_index.p[0] <= '9')
        return (uint32_t)(output_index.p[0] - '0');
    return output_index.n && json_int(output_index, &index) ? (uint32_t)index : 0;
}

static inline void note_piece(struct reply_event *e, const struct members *m, enum kind kind)
{
    if (kind == KIND_CALL_DELTA)
        notes_piece(e, NOTE_CALL_MORE, number_of(m->output_index), m->delta);
    else if (kind == KIND_REASONING_DELTA)
        notes_piece(e, NOTE_REASONING, 0, m->delta);
    else if (kind == KIND_REFUSAL_DELTA)
        notes_string(e, NOTE_REFUSAL, 0, m->delta);
    else
        reply_event_note(e, NOTE_REASONING_BREAK, 0, (struct span){0});
}

NOT_INLINE static void note_stream_event(struct reply_event *e, const struct members *m, enum kind kind,
                                         struct span root)
{
    struct span type;
    switch (kind) {
    case KIND_ITEM_ADDED:
    case KIND_ITEM_DONE:
        if (json_type(m->item) == JSON_OBJECT && json_member(m->item, "type", &type))
            note_call(e, m->item, type, number_of(m->output_index));
        break;
    case KIND_ANNOTATION:
        notes_source(e, m->annotation, "url");
        break;
    case KIND_ERROR:
        if (json_type(m->error) == JSON_OBJECT) {
            notes_error(e, m->error);
            break;
        }
        notes_member(e, NOTE_ERROR_CODE, 0, root, "code");
        notes_member(e, NOTE_ERROR_MESSAGE, 0, root, "message");
        break;
    case KIND_CREATED:
        notes_member(e, NOTE_REPLY_ID, 0, m->response, "id");
        break;
    case KIND_ENDED:
    case KIND_FAILED:
        note_status(e, m->response);
        break;
    case KIND_OTHER:
        if (json_type(m->type) != JSON_STRING && m->error.n)
            notes_error(e, m->error);
        break;
    default:
        break;
    }
}

static bool is_digits(struct span s)
{
    for (size_t i = 0; i < s.n; i++)
        if (s.p[i] < '0' || s.p[i] > '9')
            return false;
    return s.n > 0;
}

static void read_event(struct reply_event *e, unsigned choices, struct reply_ends *ends)
{
    struct members m;
    const char *brace, *closing;
    (void)choices;
    (void)ends;
    if (!e->whole && span_starts(e->json, "[DONE]")) {
        e->ends_stream = true;
        return;
    }
    if (!read_members(e, &m, &brace, &closing)) {
        e->unreadable = true;
        return;
    }
    struct span root = span_of(brace, (size_t)(closing - brace) + 1);
    if (e->whole) {
        read_whole(e, &m, root);
        if (e->noting)
            note_whole(e, &m, root);
        return;
    }
    enum kind kind = read_stream_event(e, &m);
    if (e->noting && kind >= KIND_REASONING_DELTA)
        note_piece(e, &m, kind);
    else if (e->noting && !e->bare)
        note_stream_event(e, &m, kind, root);
    if (is_digits(m.number)) {
        e->number_at = e->json_at + (size_t)(m.number.p - e->json.p);
        e->number_n = m.number.n;
    }
}

const struct dialect openai_responses = {
    .api = API_OPENAI_RESPONSES,
    .request = openai_responses_request,
    .add_protocol = openai_responses_add_protocol,
    .place = place_openai_responses,
    .event = read_event,
    .keep_shape = openai_responses_keep_shape,
    .text_event = openai_responses_text_event,
    .report_event = openai_responses_report_event,
    .citation = openai_responses_citation,
    .offsets = OFFSETS_POINTS,
    .parts = true,
    .error_body = openai_error_body,
    .error_event = openai_responses_error_event,
    .keep_alive = ": keep-alive\n\n",
};
