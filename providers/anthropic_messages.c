/*
 * Anthropic Messages, and what speaks like it: OpenRouter, llama.cpp, Ollama …
 *
 * Text channels are the content blocks of type `text`, numbered by `index` (in a whole reply by their place
 * in `content`). Blocks come one after the other and make up one reply together. Thinking and its signatures,
 * tool calls, the results of server tools and citations are no text and are never looked at.
 */
#include "providers/anthropic_messages.h"

#include "providers/event.h"
#include "providers/notes.h"
#include "providers/placing.h"
#include "providers/protocol.h"
#include "providers/request.h"
#include "providers/shape.h"

/* ---- requests ---- */

static bool is_forced_tool(struct span choice)
{
    struct span type = choice;
    if (json_type(choice) == JSON_OBJECT && !json_member(choice, "type", &type))
        return false;
    return request_value_is(type, "any") || request_value_is(type, "tool");
}

static bool is_machine_config(struct span config)
{
    struct span format;
    return json_type(config) == JSON_OBJECT && json_member(config, "format", &format) &&
           request_machine_format(format);
}

struct request_reading {
    struct span model, stream, system, messages, config, format, tool;
    const char *messages_key; /* the opening quote of the last `messages` */
};

static void read_request_member(void *arg, const struct request_member *m)
{
    struct request_reading *r = arg;
    if (request_member_is(m, "model")) {
        r->model = m->value;
    } else if (request_member_is(m, "stream")) {
        r->stream = m->value;
    } else if (request_member_is(m, "system")) {
        r->system = m->value;
    } else if (request_member_is(m, "messages")) {
        r->messages = m->value;
        r->messages_key = m->key.p - 1;
    } else if (request_member_is(m, "output_config")) {
        r->config = m->value;
    } else if (request_member_is(m, "output_format")) {
        r->format = m->value; /* where the format stood before it moved into output_config */
    } else if (request_member_is(m, "tool_choice")) {
        r->tool = m->value;
    }
}

static bool is_system(struct span system)
{
    switch (json_type(system)) {
    case JSON_NONE: /* there is none */
    case JSON_NULL:
    case JSON_STRING:
    case JSON_ARRAY:
        return true;
    default:
        return false;
    }
}

/* The place is the value of `system`, or empty, before the key of `messages`, when there is none. */
static void read_request(struct span body, struct request_facts *facts)
{
    struct request_reading r = {.messages_key = NULL};
    if (!request_read(body, facts, read_request_member, &r))
        return;
    if (json_type(r.messages) != JSON_ARRAY || !is_system(r.system)) {
        request_reset(facts);
        return;
    }
    if (json_type(r.model) == JSON_STRING)
        facts->model = json_inside(r.model);
    facts->stream = json_type(r.stream) == JSON_TRUE;
    facts->place = r.system.n ? r.system : span_of(r.messages_key, 0);
    facts->machine_read =
        request_machine_format(r.format) || is_machine_config(r.config) || is_forced_tool(r.tool);
    facts->explains_protocol = protocol_explained(r.system) || protocol_explained(r.messages);
}

static void add_block(struct span protocol, struct buf *room)
{
    buf_adds(room, "{\"type\":\"text\",\"text\":\"");
    buf_add(room, protocol);
    buf_adds(room, "\"}");
}

/* Nothing but white space; of escapes those that are written for it. */
static bool is_blank(struct span inside)
{
    for (size_t i = 0; i < inside.n; i++) {
        if (inside.p[i] == ' ')
            continue;
        if (inside.p[i] != '\\' ||
            !strchr("nrt", inside.p[i + 1])) /* a valid string does not end in a backslash */
            return false;
        i++;
    }
    return true;
}

/* A string becomes the first block of a list. A blank one would be a block that the API refuses: there the
 * protocol goes inside of the quotes. */
static void add_to_string(size_t at, struct span string, struct span protocol, struct buf *room,
                          struct edits *edits)
{
    bool blank = is_blank(json_inside(string));
    size_t from = room->n, end = at + string.n;
    if (blank) {
        buf_add(room, protocol);
    } else {
        buf_adds(room, "},");
        add_block(protocol, room);
        buf_addc(room, ']');
    }
    if (buf_full(room))
        return;
    edits_add(edits, at, 0, SPAN_LIT("[{\"type\":\"text\",\"text\":"));
    edits_add(edits, blank ? end - 1 : end, 0, span_from(buf_span(room), from));
    if (blank)
        edits_add(edits, end, 0, SPAN_LIT("}]"));
}

/* Behind the last of the caller's blocks, whose cache marks so keep what they stand for. */
static void add_to_list(size_t at, struct span list, struct span protocol, struct buf *room,
                        struct edits *edits)
{
    const char *last = list.p + 1;
    struct json_iter it = json_iter(list);
    size_t from = room->n;
    while (json_next(&it) == 1)
        last = it.whole.p + it.whole.n;
    if (last != list.p + 1)
        buf_addc(room, ',');
    add_block(protocol, room);
    request_insert(room, from, edits, at + (size_t)(last - list.p), 0);
}

static void add_protocol(struct span body, const struct request_facts *facts, struct span protocol,
                         struct buf *room, struct edits *edits)
{
    struct span system = facts->place;
    size_t at = (size_t)(system.p - body.p), from = room->n;
    switch (system.n ? json_type(system) : JSON_NONE) {
    case JSON_STRING:
        add_to_string(at, system, protocol, room, edits);
        break;
    case JSON_ARRAY:
        add_to_list(at, system, protocol, room, edits);
        break;
    default: /* null, or absent */
        buf_adds(room, system.n ? "[" : "\"system\":[");
        add_block(protocol, room);
        buf_adds(room, system.n ? "]" : "],");
        request_insert(room, from, edits, at, system.n);
    }
}

/* ---- events ---- */

/* Whether a value is this string, as a rule without a look at each of its bytes. */
static bool is_word(struct span value, const char *word)
{
    if (json_type(value) != JSON_STRING)
        return false;
    struct span inside = json_inside(value);
    return span_is(inside, word) || (memchr(inside.p, '\\', inside.n) && json_inside_is(inside, word));
}

/* A `delta` or a content block. */
struct part {
    struct span type, text, stop_reason; /* n = 0: absent */
    bool more;                           /* it says something else than its type and text */
};

/* What else it says, for whoever records the conversation. */
enum other { THINKING, PARTIAL_JSON, ID, NAME, INPUT, CITATION, CITATIONS, NO_OTHER };

struct rest {
    unsigned said; /* a bit for each of the others that is there */
    struct span values[NO_OTHER];
};

struct reading {
    struct reply_event *e;
    struct part part;  /* the delta, or the block that starts */
    struct rest *rest; /* of that; NULL: nobody records */
    struct span type, index, error;
    bool content; /* a list of that name was there */
    bool more;    /* members that a bare text event does not have */
};

/* Told by its length first. */
static inline enum other other_of(const struct walk *w, struct span key)
{
    switch (w->escaped ? SIZE_MAX : key.n) {
    case 2:
        return memcmp(key.p, "id", 2) == 0 ? ID : NO_OTHER;
    case 4:
        return memcmp(key.p, "name", 4) == 0 ? NAME : NO_OTHER;
    case 5:
        return memcmp(key.p, "input", 5) == 0 ? INPUT : NO_OTHER;
    case 8:
        return memcmp(key.p, "citation", 8) == 0 ? CITATION : NO_OTHER;
    case 9:
        return memcmp(key.p, "citations", 9) == 0 ? CITATIONS : NO_OTHER;
    case SIZE_MAX: /* spelt with escapes */
        return walk_key_is(w, key, "thinking")       ? THINKING
               : walk_key_is(w, key, "partial_json") ? PARTIAL_JSON
               : walk_key_is(w, key, "id")           ? ID
               : walk_key_is(w, key, "name")         ? NAME
               : walk_key_is(w, key, "input")        ? INPUT
               : walk_key_is(w, key, "citation")     ? CITATION
               : walk_key_is(w, key, "citations")    ? CITATIONS
                                                     : NO_OTHER;
    default:
        return NO_OTHER;
    }
}

static inline struct span said(const struct rest *rest, enum other what)
{
    return rest->said >> what & 1 ? rest->values[what] : (struct span){0};
}

static inline bool read_said(struct walk *w, enum other what, struct rest *rest)
{
    struct span *value = &rest->values[what];
    rest->said |= 1u << what;
    return walk_skip(w, value) && value->p[0] != 'n';
}

/* A member that is neither text nor type; whether it says anything. */
static inline bool read_other(struct walk *w, struct span key, struct rest *rest)
{
    if (!rest)
        return event_says(w);
    if (key.n == 12 && memcmp(key.p, "partial_json", 12) == 0) /* what comes by the token */
        return read_said(w, PARTIAL_JSON, rest);
    if (key.n == 8 && memcmp(key.p, "thinking", 8) == 0)
        return read_said(w, THINKING, rest);
    enum other what = other_of(w, key);
    return what == NO_OTHER ? event_says(w) : read_said(w, what, rest);
}

/* Room for both in one place: `delta` and `content_block` do not stand in one event. False: no object. */
static bool read_part(struct walk *w, struct part *part, struct rest *rest)
{
    struct span key, value;
    *part = (struct part){.more = false};
    if (rest)
        rest->said = 0;
    if (!walk_enter(w, '{')) {
        if (walk_skip(w, &value))
            part->more = json_type(value) != JSON_NULL;
        return false;
    }
    while (walk_member(w, &key)) {
        struct span *into = walk_key_is(w, key, "text")          ? &part->text
                            : walk_key_is(w, key, "type")        ? &part->type
                            : walk_key_is(w, key, "stop_reason") ? &part->stop_reason
                                                                 : NULL;
        if (into)
            walk_skip(w, into);
        else if (read_other(w, key, rest))
            part->more = true;
    }
    return !w->bad;
}

static bool is_tool_use(struct span type)
{
    return is_word(type, "tool_use") || is_word(type, "server_tool_use") || is_word(type, "mcp_tool_use");
}

/* A block that starts, or one of a whole message, which says all of it. */
NOT_INLINE static void note_block(struct reply_event *e, const struct part *block, const struct rest *rest,
                                  uint32_t number)
{
    struct span input = said(rest, INPUT);
    if (is_word(block->type, "thinking")) {
        reply_event_note(e, NOTE_REASONING_BREAK, 0, (struct span){0});
        notes_string(e, NOTE_REASONING, 0, said(rest, THINKING));
    } else if (is_tool_use(block->type)) {
        reply_event_note(e, NOTE_CALL, number, (struct span){0});
        notes_value(e, NOTE_CALL_ID, number, said(rest, ID));
        notes_value(e, NOTE_CALL_NAME, number, said(rest, NAME));
        /* in a stream it begins as {}, and pieces follow */
        if (e->whole || (json_type(input) == JSON_OBJECT && input.n > 2))
            notes_value(e, NOTE_CALL_ARGUMENTS, number, input);
    }
    notes_sources(e, said(rest, CITATIONS), NULL, "url");
}

NOT_INLINE static void note_odd_delta(struct reply_event *e, const struct rest *rest, uint32_t number)
{
    notes_string(e, NOTE_REASONING, 0, said(rest, THINKING));
    notes_string(e, NOTE_CALL_MORE, number, said(rest, PARTIAL_JSON));
    notes_source(e, said(rest, CITATION), "url");
}

static inline void note_delta(struct reply_event *e, const struct rest *rest, uint32_t number)
{
    if (rest->said == 1u << PARTIAL_JSON)
        notes_piece(e, NOTE_CALL_MORE, number, rest->values[PARTIAL_JSON]);
    else if (rest->said == 1u << THINKING)
        notes_piece(e, NOTE_REASONING, 0, rest->values[THINKING]);
    else
        note_odd_delta(e, rest, number);
}

/* The blocks of a whole message: each is a channel, and at its end. */
static void read_content(struct walk *w, struct reading *r)
{
    struct span value;
    struct part block;
    r->more = true;
    if (!walk_enter(w, '[')) {
        walk_skip(w, &value);
        return;
    }
    r->content = true;
    for (uint32_t i = 0; walk_item(w); i++) {
        bool object = read_part(w, &block, r->rest);
        if (object && r->rest)
            note_block(r->e, &block, r->rest, i);
        if (!object || !is_word(block.type, "text") || json_type(block.text) != JSON_STRING)
            continue;
        reply_event_delta(r->e, DELTA_TEXT, i, json_inside(block.text));
        if (r->e->whole)
            reply_event_delta(r->e, DELTA_CHANNEL_END, i, (struct span){0});
    }
}

/* The message that a stream starts with; its blocks come later, as a rule. */
static void read_message(struct walk *w, struct reading *r)
{
    struct span key, value;
    r->more = true;
    if (!walk_enter(w, '{')) {
        walk_skip(w, &value);
        return;
    }
    while (walk_member(w, &key))
        if (walk_key_is(w, key, "content"))
            read_content(w, r);
        else
            walk_skip(w, &value);
}

static void read_member(struct walk *w, struct span key, struct reading *r)
{
    struct span value, *into = walk_key_is(w, key, "type")    ? &r->type
                               : walk_key_is(w, key, "index") ? &r->index
                               : walk_key_is(w, key, "error") ? &r->error
                                                              : NULL;
    if (into) {
        walk_skip(w, into);
    } else if (!r->e->whole && (walk_key_is(w, key, "delta") || walk_key_is(w, key, "content_block"))) {
        read_part(w, &r->part, r->rest);
    } else if (r->e->whole && walk_key_is(w, key, "content")) {
        read_content(w, r);
    } else if (!r->e->whole && walk_key_is(w, key, "message")) {
        read_message(w, r);
    } else {
        bool stop = r->rest && r->e->whole && walk_key_is(w, key, "stop_reason");
        if (!walk_skip(w, &value) || json_type(value) == JSON_NULL)
            return;
        r->more = true;
        if (stop)
            notes_string(r->e, NOTE_FINISH, 0, value);
    }
}

static uint32_t read_index(struct span index)
{
    int64_t number;
    if (index.n == 1 && index.p[0] >= '0' && index.p[0] <= '9')
        return (uint32_t)(index.p[0] - '0');
    return index.n && json_int(index, &number) ? (uint32_t)number : 0;
}

/* A block whose start brings text already. A block of that number that was never stopped, as in streams that
 * a gateway put together, ends here. */
static void read_start(struct reading *r, uint32_t channel)
{
    struct span text = r->part.text;
    if (is_word(r->part.type, "text") && json_type(text) == JSON_STRING && text.n > 2)
        reply_event_delta(r->e, DELTA_TEXT, channel, json_inside(text));
    else
        reply_event_delta(r->e, DELTA_CHANNEL_END, channel, (struct span){0});
}

static void read_delta(struct reading *r, uint32_t channel)
{
    const struct part *part = &r->part;
    if (json_type(part->text) != JSON_STRING || (part->type.n && !is_word(part->type, "text_delta")))
        return;
    reply_event_delta(r->e, DELTA_TEXT, channel, json_inside(part->text));
    r->e->bare = !r->more && !part->more;
}

static bool is_error(const struct reading *r)
{
    if (is_word(r->type, "error"))
        return true;
    return r->error.n > 2 && json_type(r->error) != JSON_NULL && json_type(r->error) != JSON_FALSE;
}

static void read_stream_event(struct reading *r)
{
    struct reply_event *e = r->e;
    if (is_word(r->type, "content_block_delta")) {
        uint32_t channel = read_index(r->index);
        read_delta(r, channel);
        if (r->rest && r->rest->said)
            note_delta(e, r->rest, channel);
    } else if (is_word(r->type, "content_block_start")) {
        uint32_t channel = read_index(r->index);
        read_start(r, channel);
        if (r->rest)
            note_block(e, &r->part, r->rest, channel);
    } else if (is_word(r->type, "content_block_stop")) {
        reply_event_delta(e, DELTA_CHANNEL_END, read_index(r->index), (struct span){0});
    } else if (is_word(r->type, "message_delta")) {
        e->ends_reply = json_type(r->part.stop_reason) == JSON_STRING;
        if (r->rest)
            notes_string(e, NOTE_FINISH, 0, r->part.stop_reason);
    } else if (is_word(r->type, "message_stop")) {
        e->ends_stream = true;
    } else if (is_word(r->type, "message_start")) {
        e->begins = true;
    } else if (is_error(r)) {
        e->error = true;
    }
}

static void read_event(struct reply_event *e, unsigned choices, struct reply_ends *ends)
{
    (void)choices;
    (void)ends;
    struct rest rest;
    struct reading r = {.e = e, .rest = e->noting ? &rest : NULL};
    rest.said = 0;
    struct walk w;
    struct span key;
    if (!event_open(e, &w, true)) /* [DONE] is of some gateways */
        return;
    const char *start = w.at;
    while (walk_member(&w, &key))
        read_member(&w, key, &r);
    if (!event_close(e, &w, start))
        return;
    if (e->whole) {
        e->error = is_error(&r);
        e->ends_reply = r.content;
    } else {
        read_stream_event(&r);
    }
    if (r.rest && e->error)
        notes_error(e, r.error);
}

/* ---- events of our own ---- */

/* Text events say nothing of the reply but its text. What is kept is the count of tokens that the event which
 * begins the reply gives. */
static void keep_shape(const struct reply_event *e, uint32_t channel, struct buf *out)
{
    enum { LONGEST_COUNT = 20 };
    struct span message, usage, tokens;
    (void)channel;
    if (e->begins && json_member(e->json, "message", &message) && json_member(message, "usage", &usage) &&
        json_member(usage, "output_tokens", &tokens) && json_type(tokens) == JSON_NUMBER &&
        tokens.n <= LONGEST_COUNT)
        buf_add(out, tokens);
}

static void text_event(struct span shape, uint32_t channel, int64_t number, struct span escaped,
                       struct span tokens, struct buf *out)
{
    (void)shape;
    (void)number;
    (void)tokens; /* the API has no log probabilities */
    buf_adds(out, "event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":");
    buf_add_number(out, channel);
    buf_adds(out, ",\"delta\":{\"type\":\"text_delta\",\"text\":\"");
    buf_add(out, escaped);
    buf_adds(out, "\"}}\n\n");
}

/* Clients take the count of tokens from here. */
static void report_event(struct span shape, int64_t number, struct span report, bool cut, struct buf *out)
{
    (void)number;
    buf_adds(out, "event: message_delta\ndata: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":");
    buf_adds(out, cut ? "null" : "\"end_turn\"");
    buf_adds(out, ",\"stop_sequence\":null},\"usage\":{\"output_tokens\":");
    buf_add(out, shape.n ? shape : SPAN_LIT("0"));
    buf_adds(out, "},");
    buf_add(out, report);
    buf_adds(out, "}\n\n");
}

/* ---- errors ---- */

static const char *error_type(const struct error *e)
{
    static const struct shape_error_name names[] = {
        {401, "authentication_error"}, {403, "permission_error"},  {404, "not_found_error"},
        {408, "timeout_error"},        {413, "request_too_large"}, {429, "rate_limit_error"},
        {503, "overloaded_error"},     {504, "timeout_error"},
    };
    return shape_error_name(e, names, sizeof names / sizeof names[0], "invalid_request_error", "api_error");
}

/* The code stands where the API has codes of its own, `details.error_code`, and beside the message, where
 * Penstock's callers find it in the other APIs too. */
static void error_body(const struct error *e, struct buf *out)
{
    const char *code = error_name(e->code), *members = e->details[0] == '{' ? e->details + 1 : "}";
    buf_printf(out, "{\"type\":\"error\",\"error\":{\"type\":\"%s\",\"message\":\"", error_type(e));
    if (json_escape(span_str(e->message), out) < 0)
        return;
    buf_printf(out, "\",\"code\":\"%s\",\"details\":{\"error_code\":\"%s\"%s%s},\"request_id\":null}", code,
               code, members[strspn(members, " ")] == '}' ? "" : ",", members);
}

static void error_event(const struct error *e, bool named, struct buf *out)
{
    (void)named; /* this API's errors always are */
    shape_error_event(e, error_body, "error", "\n", out);
}

const struct dialect anthropic_messages = {
    .api = API_ANTHROPIC_MESSAGES,
    .request = read_request,
    .add_protocol = add_protocol,
    .place = place_anthropic_messages,
    .event = read_event,
    .parts = true,
    .keep_shape = keep_shape,
    .text_event = text_event,
    .report_event = report_event,
    .error_body = error_body,
    .error_event = error_event,
    .keep_alive = "event: ping\ndata: {\"type\": \"ping\"}\n\n",
};
