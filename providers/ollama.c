/*
 * Ollama's own API: /api/chat and /api/generate. A stream is one JSON object a line.
 *
 * There is one text channel: `message.content` of a chat, `response` of a generation. Thinking and tool calls
 * are no text; they are noted for whoever records the conversation. `context` of a generation holds prompt
 * and reply as token numbers; it goes through as it is, since nothing can be cut out of it and a caller needs
 * it to go on with the conversation.
 */
#include "providers/ollama.h"

#include "providers/event.h"
#include "providers/notes.h"
#include "providers/placing.h"
#include "providers/protocol.h"
#include "providers/request.h"
#include "providers/shape.h"

/* ---- requests ---- */

struct request_reading {
    struct request_facts *facts;
    struct span messages, prompt, system, suffix;
    bool raw, no_stream;
};

static void read_request_member(void *arg, const struct request_member *m)
{
    struct request_reading *r = arg;
    enum json_type type = json_type(m->value);
    if (request_member_is(m, "model"))
        r->facts->model = type == JSON_STRING ? json_inside(m->value) : span_of("", 0);
    else if (request_member_is(m, "stream"))
        r->no_stream = type == JSON_FALSE;
    else if (request_member_is(m, "messages"))
        r->messages = m->value;
    else if (request_member_is(m, "prompt"))
        r->prompt = m->value;
    else if (request_member_is(m, "system"))
        r->system = m->value;
    else if (request_member_is(m, "suffix"))
        r->suffix = m->value;
    else if (request_member_is(m, "raw"))
        r->raw = type == JSON_TRUE;
    else if (request_member_is(m, "format"))
        r->facts->machine_read = type == JSON_OBJECT || (type == JSON_STRING && m->value.n > 2);
}

/* Nothing in it: such a request only loads or unloads the model, and must stay one. */
static bool is_empty(struct span value)
{
    struct json_iter it;
    switch (json_type(value)) {
    case JSON_STRING:
        return value.n == 2;
    case JSON_ARRAY:
        it = json_iter(value);
        return json_next(&it) != 1;
    default:
        return true;
    }
}

static void read_request(struct span body, struct request_facts *facts)
{
    struct request_reading r = {.facts = facts};
    if (!request_read(body, facts, read_request_member, &r))
        return;
    bool chat = json_type(r.messages) == JSON_ARRAY;
    bool text = r.system.n == 0 || json_type(r.system) == JSON_STRING || json_type(r.system) == JSON_NULL;
    if (!chat && (r.messages.n || !text)) { /* another shape */
        request_reset(facts);
        return;
    }
    facts->stream = !r.no_stream;
    /* What is written between two pieces of text is no reply to anybody. */
    facts->machine_read = facts->machine_read || (!chat && !is_empty(r.suffix));
    /* With `raw` the caller gives the whole prompt, and `system` is refused. */
    facts->explains_protocol = chat ? is_empty(r.messages) || protocol_explained(r.messages)
                                    : r.raw || is_empty(r.prompt) || protocol_explained(r.prompt) ||
                                          (r.system.n && protocol_explained(r.system));
    facts->place = chat ? r.messages : r.system;
}

static bool is_system(struct span message)
{
    struct span role;
    return json_type(message) == JSON_OBJECT && json_member(message, "role", &role) &&
           request_value_is(role, "system");
}

/* Right behind the leading system messages. */
static void add_message(struct span body, struct span messages, struct span protocol, struct buf *room,
                        struct edits *edits)
{
    const char *at = messages.p + 1;
    bool leading = false, empty = true;
    struct json_iter it = json_iter(messages);
    while (json_next(&it) == 1) {
        empty = false;
        if (!is_system(it.value))
            break;
        leading = true;
        at = it.whole.p + it.whole.n;
    }
    size_t from = room->n;
    buf_adds(room, leading ? ",{\"role\":\"system\",\"content\":\"" : "{\"role\":\"system\",\"content\":\"");
    buf_add(room, protocol);
    buf_adds(room, leading || empty ? "\"}" : "\"},");
    request_insert(room, from, edits, (size_t)(at - body.p), 0);
}

static void add_system(struct span body, const struct request_facts *facts, struct span protocol,
                       struct buf *room, struct edits *edits)
{
    struct span system = facts->place;
    size_t from = room->n, at = system.n ? (size_t)(system.p - body.p) : 0, cut = 0;
    switch (json_type(system)) {
    case JSON_STRING:
        at += system.n - 1;
        buf_adds(room, system.n > 2 ? "\\n\\n" : "");
        buf_add(room, protocol);
        break;
    case JSON_NULL:
        cut = system.n;
        buf_addc(room, '"');
        buf_add(room, protocol);
        buf_addc(room, '"');
        break;
    default:
        at = (size_t)(facts->root.p - body.p) + facts->root.n - 1;
        buf_adds(room, request_keeps_members(facts) ? ",\"system\":\"" : "\"system\":\"");
        buf_add(room, protocol);
        buf_addc(room, '"');
    }
    request_insert(room, from, edits, at, cut);
}

static void add_protocol(struct span body, const struct request_facts *facts, struct span protocol,
                         struct buf *room, struct edits *edits)
{
    if (json_type(facts->place) == JSON_ARRAY)
        add_message(body, facts->place, protocol, room, edits);
    else
        add_system(body, facts, protocol, room, edits);
}

/* ---- events ---- */

struct reading {
    struct reply_event *e;
    bool bare;
    bool text; /* a text was there, empty or not */
    bool done;
    bool reason; /* a word says why, empty or not */
};

/* A member that says nothing does not keep an emptied event alive. */
static bool is_something(struct span value)
{
    return json_type(value) != JSON_NULL && json_type(value) != JSON_FALSE;
}

static void skip_counted(struct walk *w, struct reading *r)
{
    struct span value;
    if (walk_skip(w, &value) && is_something(value))
        r->bare = false;
}

/* The list of a message. */
static void note_calls(struct reply_event *e, struct span list)
{
    struct span function;
    struct json_iter it = json_iter(list);
    while (json_next(&it) == 1) {
        reply_event_note(e, NOTE_CALL, NOTE_NEXT_CALL, (struct span){0});
        notes_member(e, NOTE_CALL_ID, NOTE_NEXT_CALL, it.value, "id");
        if (json_type(it.value) != JSON_OBJECT || !json_member(it.value, "function", &function))
            continue;
        notes_member(e, NOTE_CALL_NAME, NOTE_NEXT_CALL, function, "name");
        notes_member(e, NOTE_CALL_ARGUMENTS, NOTE_NEXT_CALL, function, "arguments");
    }
}

/* A member that is no text, of a message or of the line. */
NOT_INLINE static void read_rest(struct walk *w, struct span key, struct reading *r)
{
    struct span value;
    if (!walk_skip(w, &value) || !is_something(value))
        return;
    r->bare = false;
    if (!r->e->noting)
        return;
    if (walk_key_is(w, key, "thinking"))
        notes_piece(r->e, NOTE_REASONING, 0, value);
    else if (walk_key_is(w, key, "tool_calls") && value.p[0] == '[')
        reply_event_note(r->e, NOTE_CALLS, 0, value);
    else if (walk_key_is(w, key, "done_reason")) {
        notes_string(r->e, NOTE_FINISH, 0, value);
        r->reason = true;
    }
}

static void read_text(struct walk *w, struct reading *r)
{
    struct span value;
    if (!walk_skip(w, &value))
        return;
    if (json_type(value) != JSON_STRING) {
        r->bare = r->bare && !is_something(value);
        return;
    }
    reply_event_delta(r->e, DELTA_TEXT, 0, json_inside(value));
    r->text = true;
}

static void read_message(struct walk *w, struct reading *r)
{
    struct span key, value;
    if (!walk_enter(w, '{')) {
        skip_counted(w, r);
        return;
    }
    while (walk_member(w, &key)) {
        if (walk_key_is(w, key, "content"))
            read_text(w, r);
        else if (walk_key_is(w, key, "role"))
            walk_skip(w, &value); /* it stands in every line */
        else
            read_rest(w, key, r);
    }
}

/* The rendered prompt, for a request that asked to see it. */
static void read_debug(struct walk *w, struct reading *r)
{
    struct span key, value;
    r->bare = false;
    if (!walk_enter(w, '{')) {
        walk_skip(w, &value);
        return;
    }
    while (walk_member(w, &key)) {
        bool prompt = walk_key_is(w, key, "rendered_template");
        if (walk_skip(w, &value) && prompt && json_type(value) == JSON_STRING)
            reply_event_delta(r->e, DELTA_ECHO, 0, value);
    }
}

static void read_logprobs(struct walk *w, struct reading *r)
{
    struct span value;
    if (!walk_skip(w, &value))
        return;
    if (json_type(value) == JSON_ARRAY)
        reply_event_delta(r->e, DELTA_TOKENS, 0, json_inside(value));
    else if (is_something(value))
        r->bare = false;
}

static void read_done(struct walk *w, struct reading *r)
{
    struct span value;
    if (walk_skip(w, &value) && json_type(value) == JSON_TRUE)
        r->done = true;
}

static void read_member(struct walk *w, struct span key, struct reading *r)
{
    struct span value;
    if (walk_key_is(w, key, "message")) {
        read_message(w, r);
    } else if (walk_key_is(w, key, "response")) {
        read_text(w, r);
    } else if (walk_key_is(w, key, "done")) {
        read_done(w, r);
    } else if (walk_key_is(w, key, "logprobs")) {
        read_logprobs(w, r);
    } else if (walk_key_is(w, key, "model") || walk_key_is(w, key, "created_at") ||
               walk_key_is(w, key, "remote_model") || walk_key_is(w, key, "remote_host")) {
        walk_skip(w, &value); /* these stand in every line */
    } else if (walk_key_is(w, key, "_debug_info")) {
        read_debug(w, r);
    } else if (walk_key_is(w, key, "error")) {
        if (walk_skip(w, &value) && is_something(value)) {
            r->e->error = true;
            r->bare = false;
            if (r->e->noting)
                notes_error(r->e, value);
        }
    } else {
        read_rest(w, key, r);
    }
}

static void read_event(struct reply_event *e, unsigned choices, struct reply_ends *ends)
{
    (void)choices;
    struct reading r = {.e = e, .bare = true};
    struct walk w;
    struct span key;
    if (!event_open(e, &w, false))
        return;
    const char *start = w.at;
    while (walk_member(&w, &key))
        read_member(&w, key, &r);
    if (!event_close(e, &w, start))
        return;
    if (r.done && !r.reason && e->noting) /* older servers give no reason */
        reply_event_note(e, NOTE_FINISH, 0, (struct span){0});
    e->ends_reply = r.done || e->whole;
    e->bare = r.bare && r.text && !e->ends_reply;
    if (e->ends_reply) {
        reply_ends_add(ends, 0);
        reply_event_delta(e, DELTA_CHANNEL_END, 0, (struct span){0});
    }
}

/* ---- events of our own ---- */

/*
 * A shape is a letter, c for a chat and g for a generation, and the members that every line of a reply
 * repeats: c"model":"llama3.2","created_at":"2026-11-01T10:00:00Z",
 */
static void keep_shape(const struct reply_event *e, uint32_t channel, struct buf *out)
{
    static const char *const names[] = {"model", "created_at", "remote_model", "remote_host"};
    struct span response;
    (void)channel;
    buf_addc(out, json_member(e->json, "response", &response) ? 'g' : 'c');
    shape_keep(e->json, names, sizeof names / sizeof names[0], true, out);
}

/* A line up to and with its text. */
static void add_line(struct span shape, struct span escaped, struct buf *out)
{
    bool generation = shape.n && shape.p[0] == 'g';
    buf_addc(out, '{');
    if (shape.n)
        buf_add(out, span_from(shape, 1));
    buf_adds(out, generation ? "\"response\":\"" : "\"message\":{\"role\":\"assistant\",\"content\":\"");
    buf_add(out, escaped);
    buf_adds(out, generation ? "\"" : "\"}");
}

static void text_event(struct span shape, uint32_t channel, int64_t number, struct span escaped,
                       struct span tokens, struct buf *out)
{
    (void)channel;
    (void)number;
    add_line(shape, escaped, out);
    if (tokens.p) {
        buf_adds(out, ",\"logprobs\":[");
        buf_add(out, tokens);
        buf_addc(out, ']');
    }
    buf_adds(out, ",\"done\":false}\n");
}

/* A reply that was broken off is not done: clients stop reading at the line that says so, and would miss the
 * error behind it. */
static void report_event(struct span shape, int64_t number, struct span report, bool cut, struct buf *out)
{
    (void)number;
    add_line(shape, SPAN_LIT(""), out);
    buf_adds(out, cut ? ",\"done\":false," : ",\"done\":true,\"done_reason\":\"stop\",");
    buf_add(out, report);
    buf_adds(out, "}\n");
}

/* ---- errors ---- */

/* `error` is a text in this API; code and details stand beside it. */
static void error_body(const struct error *e, struct buf *out)
{
    buf_adds(out, "{\"error\":\"");
    if (json_escape(span_str(e->message), out) < 0)
        return;
    buf_adds(out, "\",");
    shape_error_members(e, out);
    buf_addc(out, '}');
}

static void error_event(const struct error *e, bool named, struct buf *out)
{
    if (named) {
        shape_error_event(e, error_body, "error", "\n", out);
        return;
    }
    error_body(e, out);
    buf_addc(out, '\n');
}

const struct dialect ollama = {
    .api = API_OLLAMA,
    .request = read_request,
    .add_protocol = add_protocol,
    .place = place_ollama,
    .event = read_event,
    .calls = note_calls,
    .keep_shape = keep_shape,
    .text_event = text_event,
    .report_event = report_event,
    .error_body = error_body,
    .error_event = error_event,
    .untold_framing = FRAMING_NDJSON,
    .keep_alive = "",
};
