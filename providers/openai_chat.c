/*
 * OpenAI Chat Completions and what speaks like it: Azure, OpenRouter, Moonshot, vLLM, llama.cpp, Mistral …
 *
 * Text channels are choices, numbered by `index`. The text of one is choices[i].delta.content
 * (message.content in a whole reply), a string, a part, or an array of either. Where a chunk has a message
 * beside its delta (Perplexity), that is the text up to there once more. Reasoning, refusals, tool calls and
 * audio are no text; all but the last are noted for whoever records the conversation.
 *
 * The `content_filter_offsets` of Azure's asynchronous filter are passed as they come, also when text was
 * taken out: streams that were recorded count them from the beginning of the prompt as the server renders it,
 * which nobody else knows, so there is nothing to say where in the reply they point.
 */
#include "providers/openai_chat.h"

#include <stdint.h>

#include "providers/event.h"
#include "providers/notes.h"
#include "providers/openai.h"
#include "providers/placing.h"

/* A member that is null says nothing, and does not keep an emptied event alive. */
static inline bool is_something(struct span value)
{
    return value.p[0] != 'n';
}

static inline bool is_string(struct span value)
{
    return value.p[0] == '"';
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
    if (event_says(w))
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

/* What is called, in the `function` (or `custom`) of a call. */
static inline void read_function(struct walk *w, struct call *c)
{
    struct span key, value;
    if (!walk_enter(w, '{')) {
        walk_skip(w, &value);
        return;
    }
    while (walk_member(w, &key)) {
        struct span *into = walk_key_is(w, key, "arguments") || walk_key_is(w, key, "input") ? &c->arguments
                            : walk_key_is(w, key, "name")                                    ? &c->name
                                                                                             : &value;
        walk_skip(w, into);
    }
}

/* A call; one of before there were several is a function itself. */
static inline void read_call(struct walk *w, struct call *c)
{
    struct span key, value;
    if (!walk_enter(w, '{')) {
        walk_skip(w, &value);
        return;
    }
    while (walk_member(w, &key)) {
        if (walk_key_is(w, key, "function") || walk_key_is(w, key, "custom")) {
            read_function(w, c);
            continue;
        }
        struct span *into = walk_key_is(w, key, "index")                                       ? &c->index
                            : walk_key_is(w, key, "id")                                        ? &c->id
                            : walk_key_is(w, key, "name")                                      ? &c->name
                            : walk_key_is(w, key, "arguments") || walk_key_is(w, key, "input") ? &c->arguments
                                                                                               : &value;
        walk_skip(w, into);
    }
}

static inline void note_call(struct reply_event *e, uint32_t number, const struct call *c)
{
    int64_t given;
    if (c->index.n == 1 && c->index.p[0] >= '0' && c->index.p[0] <= '9')
        number = (uint32_t)(c->index.p[0] - '0');
    else if (c->index.n && json_int(c->index, &given) && given >= 0 && given < UINT32_MAX)
        number = (uint32_t)given;
    if (c->id.n || c->name.n || e->whole) {
        reply_event_note(e, NOTE_CALL, number, (struct span){0});
        notes_value(e, NOTE_CALL_ID, number, c->id);
        notes_value(e, NOTE_CALL_NAME, number, c->name);
    }
    notes_value(e, NOTE_CALL_MORE, number, c->arguments);
}

/* A piece of a call's arguments as nearly everyone writes it, [{"index":0,"function":{"arguments":"…"}}].
 * False: it is something else, and nothing is consumed. */
static inline bool read_piece(struct walk *w, struct reading *r)
{
    static const char before[] = "[{\"index\":", behind[] = ",\"function\":{\"arguments\":\"";
    enum { DIGIT = sizeof before - 1, STRING = DIGIT + sizeof behind - 1, LEAST = STRING + sizeof "\"}}]" };
    const char *from = w->at;
    struct span string;
    if (w->end - from < LEAST || memcmp(from, before, sizeof before - 1) != 0 || from[DIGIT] < '0' ||
        from[DIGIT] > '9' || memcmp(from + DIGIT + 1, behind, sizeof behind - 1) != 0)
        return false;
    struct walk inside = *w;
    inside.at += STRING;
    if (!walk_skip(&inside, &string) || inside.end - inside.at < 3 || memcmp(inside.at, "}}]", 3) != 0)
        return false;
    w->at = inside.at + 3;
    reply_event_note(r->e, NOTE_CALL_MORE, (uint32_t)(from[DIGIT] - '0'), string);
    r->bare = false;
    return true;
}

/* Calls of tools, when they are noted; a list, or one as it was before there were several. */
NOT_INLINE static void read_calls(struct walk *w, bool list, struct reading *r)
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

/* What a member of a message is besides its text, told by its length first. */
enum message_member { MESSAGE_OTHER, MESSAGE_REASONING, MESSAGE_REFUSAL, MESSAGE_CALL, MESSAGE_CALLS };

static inline enum message_member message_member(const struct walk *w, struct span key)
{
    switch (w->escaped ? SIZE_MAX : key.n) {
    case 7:
        return memcmp(key.p, "refusal", 7) == 0 ? MESSAGE_REFUSAL : MESSAGE_OTHER;
    case 9:
        return memcmp(key.p, "reasoning", 9) == 0 ? MESSAGE_REASONING : MESSAGE_OTHER;
    case 10:
        return memcmp(key.p, "tool_calls", 10) == 0 ? MESSAGE_CALLS : MESSAGE_OTHER;
    case 13:
        return memcmp(key.p, "function_call", 13) == 0 ? MESSAGE_CALL : MESSAGE_OTHER;
    case 17:
        return memcmp(key.p, "reasoning_content", 17) == 0 ? MESSAGE_REASONING : MESSAGE_OTHER;
    case SIZE_MAX: /* spelt with escapes */
        return walk_key_is(w, key, "refusal")             ? MESSAGE_REFUSAL
               : walk_key_is(w, key, "reasoning")         ? MESSAGE_REASONING
               : walk_key_is(w, key, "reasoning_content") ? MESSAGE_REASONING
               : walk_key_is(w, key, "tool_calls")        ? MESSAGE_CALLS
               : walk_key_is(w, key, "function_call")     ? MESSAGE_CALL
                                                          : MESSAGE_OTHER;
    default:
        return MESSAGE_OTHER;
    }
}

NOT_INLINE static void read_rest(struct walk *w, struct span key, struct reading *r)
{
    struct span value;
    enum message_member member = r->e->noting ? message_member(w, key) : MESSAGE_OTHER;
    if (member >= MESSAGE_CALL) {
        if (!read_piece(w, r))
            read_calls(w, member == MESSAGE_CALLS, r);
        return;
    }
    if (!walk_skip(w, &value) || !is_something(value))
        return;
    r->bare = false;
    if (member == MESSAGE_OTHER || !is_string(value) || value.n == 2)
        return;
    if (member == MESSAGE_REFUSAL) {
        reply_event_note(r->e, NOTE_REFUSAL, 0, value);
    } else if (!r->reasoned) {
        r->reasoned = true;
        reply_event_note(r->e, NOTE_REASONING, 0, value);
    }
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
    event_set_channel(r->e, from, FROM_MESSAGE);
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
    event_set_channel(e, first, channel);
    bool finish = is_finish(reason);
    if (finish || e->whole) {
        reply_ends_add(&r->ends, channel);
        reply_event_delta(e, DELTA_CHANNEL_END, channel, (struct span){0});
        r->bare = false;
    }
    if (!e->noting)
        return;
    if (finish)
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
    if (openai_chat_is_frame(w, key)) {
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
    if (!walk_skip(w, &value))
        return;
    if (error && is_error(value))
        r->e->error = true;
    if (!is_something(value))
        return;
    r->bare = false;
    read_echo(w, key, value, r);
    if (r->e->noting)
        note_member(w, key, value, r);
}

static void read_event(struct reply_event *e, unsigned choices, struct reply_ends *ends)
{
    struct reading r = {.e = e, .ends = *ends, .bare = true};
    struct walk w;
    struct span key;
    if (!event_open(e, &w, true))
        return;
    const char *start = w.at;
    while (walk_member(&w, &key))
        read_member(&w, key, &r);
    if (!event_close(e, &w, start))
        return;
    if (e->n > 1)
        reply_event_ends_last(e);
    unsigned before = ends->count;
    *ends = r.ends;
    e->bare = r.bare && r.choices;
    e->ends_reply = e->whole ? r.choices : ends->count > before && ends->count >= choices;
}

const struct dialect openai_chat = {
    .api = API_OPENAI_CHAT,
    .request = openai_chat_request,
    .add_protocol = openai_chat_add_protocol,
    .place = place_openai_chat,
    .event = read_event,
    .keep_shape = openai_chat_keep_shape,
    .text_event = openai_chat_text_event,
    .report_event = openai_chat_report_event,
    .offsets = OFFSETS_POINTS,
    .error_body = openai_error_body,
    .error_event = openai_chat_error_event,
    .keep_alive = ": keep-alive\n\n",
};
