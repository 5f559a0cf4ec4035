/*
 * OpenAI Chat Completions and what speaks like it: Azure, OpenRouter, Moonshot, vLLM, llama.cpp, Mistral …
 *
 * Text channels are choices, numbered by `index`. The text of one is choices[i].delta.content
 * (message.content in a whole reply), a string, a part, or an array of either. Where a chunk has a message
 * beside its delta (Perplexity), that is the text up to there once more. Reasoning, refusals, tool calls and
 * audio are no text; all but the last are noted for whoever records the conversation.
 */
#include "providers/openai_chat.h"

#include <stdint.h>

#include "providers/notes.h"
#include "providers/placing.h"
#include "providers/protocol.h"
#include "providers/walk.h"

/* A member that is null says nothing, and does not keep an emptied event alive. */
static inline bool is_something(struct span value)
{
    return value.p[0] != 'n';
}

static inline bool is_string(struct span value)
{
    return value.p[0] == '"';
}

/* ---- requests ---- */

static bool is_forced_tool(struct span choice)
{
    struct span inside = json_inside(choice), type, allowed, mode;
    switch (json_type(choice)) {
    case JSON_STRING:
        return json_inside_is(inside, "required") || json_inside_is(inside, "any");
    case JSON_OBJECT:
        if (!json_member(choice, "type", &type) || json_type(type) != JSON_STRING ||
            !json_inside_is(json_inside(type), "allowed_tools"))
            return true;
        return json_member(choice, "allowed_tools", &allowed) && json_member(allowed, "mode", &mode) &&
               json_type(mode) == JSON_STRING && json_inside_is(json_inside(mode), "required");
    default:
        return false;
    }
}

static bool is_machine_format(struct span format)
{
    struct span type;
    if (json_type(format) != JSON_OBJECT)
        return false;
    return !json_member(format, "type", &type) || json_type(type) != JSON_STRING ||
           !json_inside_is(json_inside(type), "text");
}

/* Members with which vLLM and llama.cpp force the reply's grammar. */
static bool is_grammar(const struct walk *w, struct span key)
{
    static const char *const names[] = {"structured_outputs", "guided_json", "guided_regex", "guided_choice",
                                        "guided_grammar",     "json_schema", "grammar"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (walk_key_is(w, key, names[i]))
            return true;
    return false;
}

static unsigned read_choices(struct span n)
{
    int64_t value;
    return json_int(n, &value) && value >= 1 && value <= LIMIT_CHANNELS ? (unsigned)value : 1;
}

struct request_reading {
    struct request_facts *facts;
    bool format, tool, grammar;
};

static void read_request_member(struct walk *w, struct span key, const char *key_at,
                                struct request_reading *r)
{
    struct request_facts *facts = r->facts;
    struct walk named = *w; /* the key's spelling, whatever the value does to the walk */
    struct span value;
    if (!walk_skip(w, &value))
        return;
    struct span whole = span_of(key_at, (size_t)(value.p + value.n - key_at));
    enum json_type type = json_type(value);
    if (walk_key_is(&named, key, "model")) {
        facts->model = type == JSON_STRING ? json_inside(value) : span_of("", 0);
    } else if (walk_key_is(&named, key, "stream")) {
        facts->stream = type == JSON_TRUE;
    } else if (walk_key_is(&named, key, "store")) {
        facts->kept = type == JSON_TRUE;
    } else if (walk_key_is(&named, key, "n")) {
        facts->choices = read_choices(value);
    } else if (walk_key_is(&named, key, "messages")) {
        facts->place = value;
    } else if (walk_key_is(&named, key, "response_format")) {
        r->format = is_machine_format(value);
    } else if (walk_key_is(&named, key, "tool_choice") || walk_key_is(&named, key, "function_call")) {
        r->tool = is_forced_tool(value);
    } else if (walk_key_is(&named, key, "hw")) {
        facts->repeated = facts->hw_whole.n ? "hw" : facts->repeated;
        facts->hw = value;
        facts->hw_whole = whole;
    } else if (walk_key_is(&named, key, "attachments")) {
        facts->repeated = facts->attachments_whole.n ? "attachments" : facts->repeated;
        facts->attachments = value;
        facts->attachments_whole = whole;
    } else if (is_grammar(&named, key)) {
        r->grammar = r->grammar || type != JSON_NULL;
    }
}

static void read_request(struct span body, struct request_facts *facts)
{
    *facts = (struct request_facts){.choices = 1};
    struct request_reading r = {.facts = facts};
    struct walk w = walk_text(body);
    struct span key;
    if (walk_peek(&w) != '{')
        return;
    const char *start = w.at;
    walk_enter(&w, '{');
    while (walk_member(&w, &key))
        read_request_member(&w, key, key.p - 1, &r);
    const char *end = w.at;
    if (!walk_done(&w) || json_type(facts->place) != JSON_ARRAY) {
        *facts = (struct request_facts){.choices = 1};
        return;
    }
    facts->machine_read = r.format || r.tool || r.grammar;
    facts->explains_protocol = protocol_explained(facts->place);
    facts->root = span_of(start, (size_t)(end - start));
}

/* "system" or "developer", or NULL for any other role, of the message that comes next. Reads to the role and
 * no further: what follows it is mostly the long part. */
static const char *next_system_role(struct walk w)
{
    struct span key, value;
    if (!walk_enter(&w, '{'))
        return NULL;
    while (walk_member(&w, &key)) {
        bool role = walk_key_is(&w, key, "role");
        if (!walk_skip(&w, &value))
            return NULL;
        if (role && is_string(value))
            return json_inside_is(json_inside(value), "system")      ? "system"
                   : json_inside_is(json_inside(value), "developer") ? "developer"
                                                                     : NULL;
    }
    return NULL;
}

/* Right behind the leading system messages, so that a prompt cache that knows the caller's beginning still
 * matches it. */
static void add_protocol(struct span body, const struct request_facts *facts, struct span protocol,
                         struct buf *room, struct edits *edits)
{
    const char *at = facts->place.p + 1, *role = "system", *its;
    struct walk w = walk_text(facts->place);
    struct span message;
    bool leading = false, empty = true;
    walk_enter(&w, '[');
    while (walk_item(&w)) {
        empty = false;
        its = next_system_role(w);
        if (!its || !walk_skip(&w, &message))
            break;
        role = its;
        leading = true;
        at = message.p + message.n;
    }
    size_t from = room->n;
    buf_adds(room, leading ? ",{\"role\":\"" : "{\"role\":\"");
    buf_adds(room, role);
    buf_adds(room, "\",\"content\":\"");
    buf_add(room, protocol);
    buf_adds(room, leading || empty ? "\"}" : "\"},");
    if (!buf_full(room))
        edits_add(edits, (size_t)(at - body.p), 0, span_from(buf_span(room), from));
}

/* ---- events ---- */

struct reading {
    struct reply_event *e;
    struct reply_ends ends;
    bool choices; /* a member of that name was there */
    bool bare;
    bool reasoned; /* the message's reasoning was noted: some servers say it twice */
};

static void skip_counted(struct walk *w, struct reading *r)
{
    struct span value;
    if (walk_skip(w, &value) && is_something(value))
        r->bare = false;
}

static void add_text(struct reading *r, struct span string)
{
    reply_event_delta(r->e, DELTA_TEXT, 0, json_inside(string));
}

/* A part is text when its type says so, or when it has none; or a string of its own. */
static void read_part(struct walk *w, struct reading *r)
{
    struct span key, value, text = {0};
    bool is_text = true;
    if (!walk_enter(w, '{')) {
        if (!walk_skip(w, &value))
            return;
        if (is_string(value))
            add_text(r, value);
        else if (is_something(value))
            r->bare = false;
        return;
    }
    while (walk_member(w, &key)) {
        bool type = walk_key_is(w, key, "type"), its = walk_key_is(w, key, "text");
        if (!walk_skip(w, &value))
            return;
        if (type && json_type(value) == JSON_STRING)
            is_text = json_inside_is(json_inside(value), "text") ||
                      json_inside_is(json_inside(value), "output_text");
        else if (its && json_type(value) == JSON_STRING)
            text = value;
        else if (is_something(value))
            r->bare = false;
    }
    if (is_text && text.p)
        add_text(r, text);
    else
        r->bare = false;
}

static void read_content(struct walk *w, struct reading *r)
{
    if (!walk_enter(w, '[')) {
        read_part(w, r);
        return;
    }
    while (walk_item(w))
        read_part(w, r);
}

/* Citations of web pages, which say where in the text they belong; and files that were parsed, which do not.
 */
static void read_annotations(struct walk *w, struct reading *r)
{
    struct span list, citation, start, end;
    if (!walk_skip(w, &list) || !is_something(list))
        return;
    r->bare = false;
    if (json_type(list) != JSON_ARRAY)
        return;
    struct json_iter it = json_iter(list);
    if (r->e->noting)
        notes_sources(r->e, list, "url_citation", "url");
    reply_event_delta(r->e, DELTA_LIST, 0, json_inside(list));
    while (json_next(&it) == 1) {
        reply_event_delta(r->e, DELTA_ITEM, 0, it.whole);
        if (json_type(it.value) != JSON_OBJECT || !json_member(it.value, "url_citation", &citation) ||
            !json_member(citation, "start_index", &start) || !json_member(citation, "end_index", &end))
            continue;
        reply_event_delta(r->e, DELTA_OFFSET, 0, start);
        reply_event_delta(r->e, DELTA_OFFSET, 0, end);
    }
}

struct call {
    struct span index, id, name, arguments; /* n = 0: absent */
};

/* A call, or its `function` (or `custom`). */
static void read_call(struct walk *w, struct call *c)
{
    struct span key, value;
    if (!walk_enter(w, '{')) {
        walk_skip(w, &value);
        return;
    }
    while (walk_member(w, &key)) {
        struct span *into = walk_key_is(w, key, "index")                                       ? &c->index
                            : walk_key_is(w, key, "id")                                        ? &c->id
                            : walk_key_is(w, key, "name")                                      ? &c->name
                            : walk_key_is(w, key, "arguments") || walk_key_is(w, key, "input") ? &c->arguments
                                                                                               : NULL;
        if (walk_key_is(w, key, "function") || walk_key_is(w, key, "custom"))
            read_call(w, c);
        else if (walk_skip(w, &value) && into)
            *into = value;
    }
}

static void note_call(struct reply_event *e, uint32_t number, const struct call *c)
{
    int64_t given;
    if (c->index.n && json_int(c->index, &given) && given >= 0 && given < UINT32_MAX)
        number = (uint32_t)given;
    if (c->id.n || c->name.n || e->whole) {
        reply_event_note(e, NOTE_CALL, number, (struct span){0});
        notes_value(e, NOTE_CALL_ID, number, c->id);
        notes_value(e, NOTE_CALL_NAME, number, c->name);
    }
    notes_value(e, NOTE_CALL_MORE, number, c->arguments);
}

/* Calls of tools, when they are noted; a list, or one as it was before there were several. */
static void read_calls(struct walk *w, bool list, struct reading *r)
{
    const char *start = (walk_peek(w), w->at);
    struct call c = {.id = {0}};
    if (!list || !walk_enter(w, '[')) {
        read_call(w, &c);
        if (!list && *start == '{')
            note_call(r->e, 0, &c);
    } else {
        for (uint32_t i = 0; walk_item(w); i++) {
            c = (struct call){.id = {0}};
            read_call(w, &c);
            note_call(r->e, i, &c);
        }
    }
    r->bare = r->bare && *start == 'n';
}

/* What a message says besides its text. */
NOT_INLINE static void note_message(const struct walk *w, struct span key, struct span value,
                                    struct reading *r)
{
    struct reply_event *e = r->e;
    bool string = is_string(value) && value.n > 2;
    if (walk_key_is(w, key, "reasoning_content") || walk_key_is(w, key, "reasoning")) {
        if (string && !r->reasoned)
            reply_event_note(e, NOTE_REASONING, 0, value);
        r->reasoned = r->reasoned || string;
    } else if (walk_key_is(w, key, "refusal")) {
        notes_string(e, NOTE_REFUSAL, 0, value);
    }
}

NOT_INLINE static void read_rest(struct walk *w, struct span key, struct reading *r)
{
    struct walk named = *w;
    struct span value;
    bool calls = r->e->noting && walk_key_is(w, key, "tool_calls");
    if (calls || (r->e->noting && walk_key_is(w, key, "function_call"))) {
        read_calls(w, calls, r);
        return;
    }
    if (!walk_skip(w, &value) || !is_something(value))
        return;
    r->bare = false;
    if (r->e->noting)
        note_message(&named, key, value, r);
}

/* A delta, or the message of a whole reply. False: it is no object. */
static bool read_message(struct walk *w, struct reading *r)
{
    struct span key;
    r->reasoned = false;
    if (!walk_enter(w, '{')) {
        skip_counted(w, r);
        return false;
    }
    while (walk_member(w, &key)) {
        if (walk_key_is(w, key, "content"))
            read_content(w, r);
        else if (walk_key_is(w, key, "annotations"))
            read_annotations(w, r);
        else
            read_rest(w, key, r);
    }
    return true;
}

static bool is_empty_array(struct span value)
{
    if (json_type(value) != JSON_ARRAY)
        return false;
    struct json_iter it = json_iter(value);
    return json_next(&it) == 0;
}

static void read_logprobs(struct walk *w, struct reading *r)
{
    struct span key, value;
    if (!walk_enter(w, '{')) {
        skip_counted(w, r);
        return;
    }
    while (walk_member(w, &key)) {
        bool content = walk_key_is(w, key, "content");
        if (!walk_skip(w, &value))
            return;
        if (content && json_type(value) == JSON_ARRAY)
            reply_event_delta(r->e, DELTA_TOKENS, 0, json_inside(value));
        else if (is_something(value) && !is_empty_array(value))
            r->bare = false;
    }
}

/* Some servers spell "not finished yet" as an empty string. */
static bool is_finish(struct span reason)
{
    return reason.n && is_something(reason) && !span_is(reason, "\"\"");
}

/* What a member of a choice is, told by its length first. */
enum choice_member {
    CHOICE_OTHER,
    CHOICE_DELTA,
    CHOICE_INDEX,
    CHOICE_MESSAGE,
    CHOICE_LOGPROBS,
    CHOICE_FINISH
};

static inline enum choice_member choice_member(const struct walk *w, struct span key)
{
    switch (w->escaped ? SIZE_MAX : key.n) {
    case 5:
        return memcmp(key.p, "delta", 5) == 0   ? CHOICE_DELTA
               : memcmp(key.p, "index", 5) == 0 ? CHOICE_INDEX
                                                : CHOICE_OTHER;
    case 7:
        return memcmp(key.p, "message", 7) == 0 ? CHOICE_MESSAGE : CHOICE_OTHER;
    case 8:
        return memcmp(key.p, "logprobs", 8) == 0 ? CHOICE_LOGPROBS : CHOICE_OTHER;
    case 13:
        return memcmp(key.p, "finish_reason", 13) == 0 ? CHOICE_FINISH : CHOICE_OTHER;
    case SIZE_MAX: /* spelt with escapes */
        return walk_key_is(w, key, "delta")           ? CHOICE_DELTA
               : walk_key_is(w, key, "index")         ? CHOICE_INDEX
               : walk_key_is(w, key, "message")       ? CHOICE_MESSAGE
               : walk_key_is(w, key, "logprobs")      ? CHOICE_LOGPROBS
               : walk_key_is(w, key, "finish_reason") ? CHOICE_FINISH
                                                      : CHOICE_OTHER;
    default:
        return CHOICE_OTHER;
    }
}

/* The message of a choice. Until the choice's index is known its deltas have a channel of their own, for
 * message_repeats. */
enum { FROM_MESSAGE = 1 };

static bool read_whole_message(struct walk *w, struct reading *r)
{
    size_t from = r->e->n, notes = r->e->nnotes;
    bool object = read_message(w, r);
    for (size_t i = from; i < r->e->n; i++)
        r->e->deltas[i].channel = FROM_MESSAGE;
    if (!r->e->whole) /* in a stream it says again what the deltas said */
        r->e->nnotes = notes;
    return object;
}

/* There is a delta as well: of the choice's deltas, from the first one on, the message's text is a repeat. */
static void message_repeats(struct reply_event *e, size_t first)
{
    for (size_t i = first; i < e->n; i++)
        if (e->deltas[i].kind == DELTA_TEXT && e->deltas[i].channel == FROM_MESSAGE) {
            e->deltas[i].kind = DELTA_SO_FAR;
            e->more = true;
        }
}

static void add_beside(struct walk *w, struct reading *r)
{
    struct span value;
    if (walk_skip(w, &value) && is_something(value))
        reply_event_delta(r->e, DELTA_BESIDE, 0, value);
}

static void read_choice(struct walk *w, struct reading *r)
{
    struct reply_event *e = r->e;
    size_t first = e->n, notes = e->nnotes;
    struct span key, index = {0}, reason = {0};
    unsigned objects = 0; /* members that were one: a bit each */
    if (!walk_enter(w, '{')) {
        skip_counted(w, r);
        return;
    }
    while (walk_member(w, &key)) {
        enum choice_member member = choice_member(w, key);
        if (member == CHOICE_DELTA) {
            objects |= (unsigned)read_message(w, r) << CHOICE_DELTA;
        } else if (member == CHOICE_INDEX) {
            walk_skip(w, &index);
        } else if (member == CHOICE_FINISH) {
            walk_skip(w, &reason);
        } else if (member == CHOICE_LOGPROBS) {
            read_logprobs(w, r);
        } else if (member == CHOICE_MESSAGE) {
            objects |= (unsigned)read_whole_message(w, r) << CHOICE_MESSAGE;
        } else if (walk_key_is(w, key, "token_ids")) { /* vLLM: the text once more, as numbers */
            add_beside(w, r);
        } else {
            skip_counted(w, r);
        }
    }
    int64_t number = 0;
    if (index.n == 1 && index.p[0] >= '0' && index.p[0] <= '9')
        number = index.p[0] - '0';
    else if (index.n && !json_int(index, &number))
        number = 0;
    if (objects == (1u << CHOICE_DELTA | 1u << CHOICE_MESSAGE) && !e->whole)
        message_repeats(e, first);
    /* The index may stand behind the text. */
    uint32_t channel = (uint32_t)number;
    for (size_t i = first; i < e->n; i++)
        e->deltas[i].channel = channel;
    if (is_finish(reason) || e->whole) {
        reply_ends_add(&r->ends, channel);
        reply_event_delta(e, DELTA_CHANNEL_END, channel, (struct span){0});
        r->bare = false;
    }
    if (!e->noting)
        return;
    if (is_finish(reason))
        reply_event_note(e, NOTE_FINISH, 0, reason);
    if (channel)
        e->nnotes = notes;
}

static bool is_error(struct span value)
{
    switch (json_type(value)) {
    case JSON_NULL:
    case JSON_FALSE:
    case JSON_NONE:
        return false;
    case JSON_STRING:
    case JSON_OBJECT:
    case JSON_ARRAY:
        return value.n > 2;
    case JSON_NUMBER:
        return !span_is(value, "0");
    default:
        return true;
    }
}

/* Members of a chunk that stand in every one of them and say nothing of this one. */
static bool is_frame(const struct walk *w, struct span key)
{
    switch (w->escaped ? 0 : key.n) {
    case 2:
        return memcmp(key.p, "id", 2) == 0;
    case 5:
        return memcmp(key.p, "model", 5) == 0;
    case 6:
        return memcmp(key.p, "object", 6) == 0;
    case 7:
        return memcmp(key.p, "created", 7) == 0;
    case 11:
        return memcmp(key.p, "obfuscation", 11) == 0;
    case 12:
        return memcmp(key.p, "service_tier", 12) == 0;
    case 18:
        return memcmp(key.p, "system_fingerprint", 18) == 0;
    default:
        return false;
    }
}

/* All strings of a value that may hold a prompt. */
static void add_echoes(struct reading *r, struct span value)
{
    enum { SHORTEST = 32 }; /* the protocol is longer */
    const char *p = value.p, *end = value.p + value.n;
    struct span string;
    while (p < end && (p = memchr(p, '"', (size_t)(end - p))) && json_value(p, end, &string) == 0) {
        if (string.n >= SHORTEST)
            reply_event_delta(r->e, DELTA_ECHO, 0, string);
        p += string.n;
    }
}

/* Where the prompt comes back for a request that asked for it: vLLM, llama.cpp, OpenRouter. */
static void read_echo(const struct walk *w, struct span key, struct span value, struct reading *r)
{
    if (walk_key_is(w, key, "prompt_text") || walk_key_is(w, key, "debug"))
        add_echoes(r, value);
    else if (walk_key_is(w, key, "prompt_token_ids") || walk_key_is(w, key, "prompt_logprobs") ||
             walk_key_is(w, key, "__verbose"))
        reply_event_delta(r->e, DELTA_WITHHELD, 0, value);
}

NOT_INLINE static void note_member(const struct walk *w, struct span key, struct span value,
                                   struct reading *r)
{
    struct reply_event *e = r->e;
    if (walk_key_is(w, key, "error")) {
        notes_error(e, value);
    } else if (walk_key_is(w, key, "citations") || walk_key_is(w, key, "search_results")) { /* Perplexity */
        notes_sources(e, value, NULL, "url");
    } else if (!r->choices) { /* an error of older versions of vLLM */
        enum note_kind kind = walk_key_is(w, key, "message") ? NOTE_ERROR_MESSAGE
                              : walk_key_is(w, key, "type")  ? NOTE_ERROR_TYPE
                              : walk_key_is(w, key, "code")  ? NOTE_ERROR_CODE
                                                             : NOTE_ERROR;
        if (kind != NOTE_ERROR)
            notes_value(e, kind, 0, value);
    }
}

static void read_member(struct walk *w, struct span key, struct reading *r)
{
    struct span value;
    if (is_frame(w, key)) {
        /* "object":"error" is how older versions of vLLM say it */
        if (walk_skip(w, &value) && key.n == 6 && value.n == 7 && memcmp(value.p, "\"error\"", 7) == 0)
            r->e->error = true;
        return;
    }
    if (walk_key_is(w, key, "choices") && walk_enter(w, '[')) {
        r->choices = true;
        while (walk_item(w))
            read_choice(w, r);
        return;
    }
    bool error = walk_key_is(w, key, "error");
    struct walk named = *w;
    if (!walk_skip(w, &value))
        return;
    if (error && is_error(value))
        r->e->error = true;
    if (!is_something(value))
        return;
    r->bare = false;
    read_echo(w, key, value, r);
    if (r->e->noting)
        note_member(&named, key, value, r);
}

static void read_event(struct reply_event *e, unsigned choices, struct reply_ends *ends)
{
    if (!e->whole && span_starts(e->json, "[DONE]")) {
        e->ends_stream = true;
        return;
    }
    struct reading r = {.e = e, .ends = *ends, .bare = true};
    struct walk w = walk_event(e);
    struct span key;
    if (!walk_enter(&w, '{')) {
        e->unreadable = true;
        return;
    }
    const char *start = w.at;
    while (walk_member(&w, &key))
        read_member(&w, key, &r);
    const char *brace = w.at - 1;
    if (!walk_done(&w)) {
        e->n = e->nnotes = 0;
        e->unreadable = true;
        e->error = false;
        return;
    }
    if (e->n > 1)
        reply_event_ends_last(e);
    unsigned before = ends->count;
    *ends = r.ends;
    e->bare = r.bare && r.choices;
    e->ends_reply = e->whole ? r.choices : ends->count > before && ends->count >= choices;
    e->report_at = e->json_at + (size_t)(brace - e->json.p);
    while (start < brace && (*start == ' ' || *start == '\n' || *start == '\r' || *start == '\t'))
        start++;
    e->report_first = start == brace;
}

/* ---- events of our own ---- */

/*
 * A shape is the channel's number, a blank, and the members that every chunk of a reply repeats, each with a
 * comma behind it: 0 "id":"chatcmpl-1","object":"chat.completion.chunk",
 */
/* The members that an event of our own repeats: those of the frame that are the same in every event, as they
 * are spelt there. */
static void keep_shape(const struct reply_event *e, uint32_t channel, struct buf *out)
{
    enum { LONGEST_VALUE = 160 };
    struct walk w = walk_text(e->json);
    struct span key, value;
    buf_add_number(out, channel);
    buf_addc(out, ' ');
    walk_enter(&w, '{');
    while (walk_member(&w, &key)) {
        bool kept =
            (is_frame(&w, key) && key.n != sizeof "obfuscation" - 1) || walk_key_is(&w, key, "provider");
        if (!walk_skip(&w, &value))
            break;
        if (!kept || value.n > LONGEST_VALUE || value.p[0] == '{' || value.p[0] == '[')
            continue;
        buf_addc(out, '"');
        buf_add(out, key);
        buf_adds(out, "\":");
        buf_add(out, value);
        buf_addc(out, ',');
    }
}

static struct span shape_members(struct span shape, struct span *channel)
{
    const char *blank = shape.n ? memchr(shape.p, ' ', shape.n) : NULL;
    if (!blank) {
        *channel = SPAN_LIT("0");
        return SPAN_LIT("\"object\":\"chat.completion.chunk\",");
    }
    *channel = span_of(shape.p, (size_t)(blank - shape.p));
    return span_from(shape, channel->n + 1);
}

static void text_event(struct span shape, uint32_t channel, int64_t number, struct span escaped,
                       struct span tokens, struct buf *out)
{
    struct span index;
    (void)number;
    buf_adds(out, "data: {");
    buf_add(out, shape_members(shape, &index));
    buf_printf(out, "\"choices\":[{\"index\":%u,\"delta\":{\"content\":\"", (unsigned)channel);
    buf_add(out, escaped);
    buf_adds(out, "\"}");
    if (tokens.p) {
        buf_adds(out, ",\"logprobs\":{\"content\":[");
        buf_add(out, tokens);
        buf_adds(out, "]}");
    }
    buf_adds(out, ",\"finish_reason\":null}]}\n\n");
}

static void report_event(struct span shape, int64_t number, struct span report, bool cut, struct buf *out)
{
    struct span index;
    (void)number;
    buf_adds(out, "data: {");
    buf_add(out, shape_members(shape, &index));
    buf_adds(out, "\"choices\":[{\"index\":");
    buf_add(out, index);
    buf_adds(out, ",\"delta\":{},\"finish_reason\":");
    buf_adds(out, cut ? "\"error\"}]," : "\"stop\"}],");
    buf_add(out, report);
    buf_adds(out, "}\n\n");
}

/* ---- errors ---- */

static const char *error_type(const struct error *e)
{
    switch (e->status) {
    case 401:
        return "authentication_error";
    case 403:
        return "permission_error";
    case 429:
        return "rate_limit_error";
    default:
        return e->status >= 500 ? "server_error" : "invalid_request_error";
    }
}

void openai_chat_error_body(const struct error *e, struct buf *out)
{
    buf_adds(out, "{\"error\":{\"message\":\"");
    if (json_escape(span_str(e->message), out) < 0)
        return;
    buf_printf(out, "\",\"type\":\"%s\",\"param\":null,\"code\":\"%s\"", error_type(e), error_name(e->code));
    if (e->details[0]) {
        buf_adds(out, ",\"details\":");
        buf_adds(out, e->details);
    }
    buf_adds(out, "}}");
}

static void error_event(const struct error *e, bool named, struct buf *out)
{
    buf_adds(out, named ? "event: error\ndata: " : "data: ");
    openai_chat_error_body(e, out);
    buf_adds(out, "\n\n");
}

const struct dialect openai_chat = {
    .api = API_OPENAI_CHAT,
    .request = read_request,
    .add_protocol = add_protocol,
    .place = place_openai_chat,
    .event = read_event,
    .keep_shape = keep_shape,
    .text_event = text_event,
    .report_event = report_event,
    .offsets = OFFSETS_POINTS,
    .error_body = openai_chat_error_body,
    .error_event = error_event,
    .keep_alive = ": keep-alive\n\n",
};
