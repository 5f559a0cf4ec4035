/*
 * Gemini's generateContent and streamGenerateContent, as the Gemini API and Vertex AI speak it.
 *
 * Text channels are candidates, numbered by `index`. The text of one is that of
 * candidates[i].content.parts[], save of parts that are marked as thoughts. Names come in camel case, in
 * requests also in snake case.
 */
#include "providers/gemini.h"

#include "providers/event.h"
#include "providers/notes.h"
#include "providers/placing.h"
#include "providers/protocol.h"
#include "providers/request.h"
#include "providers/shape.h"

/* ---- requests ---- */

/* The member under either of its spellings. */
static bool find_member(struct span object, const char *camel, const char *snake, struct span *value)
{
    return json_type(object) == JSON_OBJECT &&
           (json_member(object, camel, value) || json_member(object, snake, value));
}

static bool is_machine_type(struct span config)
{
    struct span type;
    if (!find_member(config, "responseMimeType", "response_mime_type", &type) ||
        json_type(type) != JSON_STRING)
        return false;
    return !json_inside_is(json_inside(type), "text/plain") && json_inside(type).n > 0;
}

static bool is_forced_tool(struct span config)
{
    struct span calling, mode;
    return find_member(config, "functionCallingConfig", "function_calling_config", &calling) &&
           find_member(calling, "mode", "mode", &mode) && request_value_is(mode, "ANY");
}

struct request_reading {
    struct span contents, system, generation, tools, cached;
};

static void read_request_member(void *arg, const struct request_member *m)
{
    struct request_reading *r = arg;
    if (request_member_is(m, "contents"))
        r->contents = m->value;
    else if (request_member_is(m, "systemInstruction") || request_member_is(m, "system_instruction"))
        r->system = m->value;
    else if (request_member_is(m, "generationConfig") || request_member_is(m, "generation_config"))
        r->generation = m->value;
    else if (request_member_is(m, "toolConfig") || request_member_is(m, "tool_config"))
        r->tools = m->value;
    else if (request_member_is(m, "cachedContent") || request_member_is(m, "cached_content"))
        r->cached = m->value;
}

/* One content, and one part, may stand without its array. */
static bool is_list(struct span value)
{
    return json_type(value) == JSON_ARRAY || json_type(value) == JSON_OBJECT;
}

/* Whether the body has the API's shape where it matters here. */
static bool is_usable(const struct request_reading *r)
{
    struct span parts;
    if (!is_list(r->contents))
        return false;
    switch (json_type(r->system)) {
    case JSON_OBJECT:
        return !json_member(r->system, "parts", &parts) || is_list(parts) || json_type(parts) == JSON_NULL;
    case JSON_NONE:
    case JSON_NULL:
        return true;
    default:
        return false;
    }
}

static void read_request(struct span body, struct request_facts *facts)
{
    struct request_reading r = {0};
    struct span count;
    if (!request_read(body, facts, read_request_member, &r))
        return;
    if (!is_usable(&r)) {
        request_reset(facts);
        return;
    }
    if (find_member(r.generation, "candidateCount", "candidate_count", &count))
        facts->choices = request_choices(count);
    facts->machine_read = is_machine_type(r.generation) || is_forced_tool(r.tools);
    /* Cached content brings its own system text, and the API refuses a request that names both. */
    facts->explains_protocol = json_type(r.cached) == JSON_STRING || protocol_explained(r.contents) ||
                               (r.system.n && protocol_explained(r.system));
    facts->place = r.system;
}

static bool is_empty(struct span container)
{
    struct json_iter it = json_iter(container);
    return json_next(&it) != 1;
}

static void add_part(struct buf *room, const char *before, struct span protocol, const char *after)
{
    buf_adds(room, before);
    buf_adds(room, "{\"text\":\"");
    buf_add(room, protocol);
    buf_adds(room, "\"}");
    buf_adds(room, after);
}

/* A further part of a system instruction that is there. */
static void append_part(struct span body, struct span system, struct span protocol, struct buf *room,
                        struct edits *edits)
{
    struct span parts;
    size_t from = room->n;
    if (!json_member(system, "parts", &parts)) {
        add_part(room, "\"parts\":[", protocol, is_empty(system) ? "]" : "],");
        request_insert(room, from, edits, (size_t)(system.p - body.p) + 1, 0);
        return;
    }
    size_t at = (size_t)(parts.p - body.p);
    switch (json_type(parts)) {
    case JSON_ARRAY:
        add_part(room, is_empty(parts) ? "" : ",", protocol, "");
        request_insert(room, from, edits, at + parts.n - 1, 0);
        break;
    case JSON_OBJECT: /* one part may stand without its array */
        add_part(room, ",", protocol, "]");
        edits_add(edits, at, 0, SPAN_LIT("["));
        request_insert(room, from, edits, at + parts.n, 0);
        break;
    case JSON_NULL:
        add_part(room, "[", protocol, "]");
        request_insert(room, from, edits, at, parts.n);
        break;
    default:
        break;
    }
}

static void add_protocol(struct span body, const struct request_facts *facts, struct span protocol,
                         struct buf *room, struct edits *edits)
{
    size_t from = room->n;
    struct span system = facts->place;
    switch (json_type(system)) {
    case JSON_OBJECT:
        append_part(body, system, protocol, room, edits);
        break;
    case JSON_NULL:
        add_part(room, "{\"parts\":[", protocol, "]}");
        request_insert(room, from, edits, (size_t)(system.p - body.p), system.n);
        break;
    case JSON_NONE:
        add_part(room, ",\"systemInstruction\":{\"parts\":[", protocol, "]}");
        if (!buf_full(room))
            request_add_member(body, facts->root, span_from(buf_span(room), from), edits);
        break;
    default:
        break;
    }
}

/* The model's name and the verb are in the path: …/models/NAME:streamGenerateContent. */
static void read_target(struct span path, struct span query, struct request_target *target)
{
    (void)query;
    const char *colon = path.n ? memrchr(path.p, ':', path.n) : NULL;
    if (!colon)
        return;
    size_t n = (size_t)(colon - path.p);
    target->stream = span_is(span_from(path, n + 1), "streamGenerateContent");
    struct span models = SPAN_LIT("/models/");
    const char *name = memmem(path.p, n, models.p, models.n);
    if (name)
        target->model = span_of(name + models.n, n - (size_t)(name - path.p) - models.n);
}

/* ---- events ---- */

struct reading {
    struct reply_event *e;
    struct reply_ends ends;
    bool candidates; /* a member of that name was there */
    bool bare;
};

/* Steps over a value that is more than text. */
static void skip_counted(struct walk *w, struct reading *r)
{
    if (event_says(w))
        r->bare = false;
}

/* As a part of a reply has it. */
static void note_call(struct reply_event *e, struct span call)
{
    reply_event_note(e, NOTE_CALL, NOTE_NEXT_CALL, (struct span){0});
    notes_member(e, NOTE_CALL_ID, NOTE_NEXT_CALL, call, "id");
    notes_member(e, NOTE_CALL_NAME, NOTE_NEXT_CALL, call, "name");
    notes_member(e, NOTE_CALL_ARGUMENTS, NOTE_NEXT_CALL, call, "args");
}

/*
 * A part. An empty text that comes with a signature stands for the signature alone: held text must not join
 * it, as a signed part is to come back as it was.
 */
static void read_part(struct walk *w, struct reading *r)
{
    struct span key, value, text = {0}, call = {0};
    bool thought = false, more = false;
    if (!walk_enter(w, '{')) {
        skip_counted(w, r);
        return;
    }
    while (walk_member(w, &key)) {
        bool is_text = walk_key_is(w, key, "text"), is_thought = walk_key_is(w, key, "thought");
        if (r->e->noting && walk_key_is(w, key, "functionCall")) {
            if (!walk_skip(w, &call))
                return;
            more = more || call.p[0] != 'n';
            continue;
        }
        if (!walk_skip(w, &value))
            return;
        if (is_text && json_type(value) == JSON_STRING)
            text = value;
        else if (is_thought)
            thought = json_type(value) == JSON_TRUE;
        else if (json_type(value) != JSON_NULL)
            more = true;
    }
    if (r->e->noting && thought)
        notes_piece(r->e, NOTE_REASONING, 0, text);
    if (call.n && call.p[0] == '{')
        reply_event_note(r->e, NOTE_CALLS, 0, call);
    if (text.p && !thought && (text.n > 2 || !more))
        reply_event_delta(r->e, DELTA_TEXT, 0, json_inside(text));
    if (!text.p || thought || more)
        r->bare = false;
}

static void read_content(struct walk *w, struct reading *r)
{
    struct span key, value;
    if (!walk_enter(w, '{')) {
        skip_counted(w, r);
        return;
    }
    while (walk_member(w, &key)) {
        if (walk_key_is(w, key, "parts") && walk_enter(w, '[')) {
            while (walk_item(w))
                read_part(w, r);
        } else if (walk_key_is(w, key, "role")) {
            walk_skip(w, &value); /* it stands in every chunk */
        } else {
            skip_counted(w, r);
        }
    }
}

/* The notes of a list, and where each points into the candidate's text. An offset of 0 is left out by the
 * API. */
static void read_notes(struct reading *r, struct span list, bool segments)
{
    struct json_iter it = json_iter(list);
    struct span holder, start, end, text;
    reply_event_delta(r->e, DELTA_LIST, 0, json_inside(list));
    while (json_next(&it) == 1) {
        reply_event_delta(r->e, DELTA_ITEM, 0, it.whole);
        holder = it.value;
        if (json_type(holder) != JSON_OBJECT || (segments && !json_member(it.value, "segment", &holder)) ||
            json_type(holder) != JSON_OBJECT || !json_member(holder, "endIndex", &end))
            continue;
        if (!json_member(holder, "startIndex", &start))
            start = (struct span){0};
        reply_event_delta(r->e, DELTA_OFFSET, 0, start);
        reply_event_delta(r->e, DELTA_OFFSET, 0, end);
        if (segments && json_member(holder, "text", &text) && json_type(text) == JSON_STRING)
            reply_event_delta(r->e, DELTA_EXCERPT, 0, json_inside(text));
    }
}

/* Citations, or what the reply is grounded in. */
static void read_metadata(struct walk *w, struct reading *r)
{
    struct span key, value;
    r->bare = false;
    if (!walk_enter(w, '{')) {
        skip_counted(w, r);
        return;
    }
    while (walk_member(w, &key)) {
        bool supports = walk_key_is(w, key, "groundingSupports");
        bool notes = supports || walk_key_is(w, key, "citations") || walk_key_is(w, key, "citationSources");
        bool chunks = r->e->noting && walk_key_is(w, key, "groundingChunks");
        if (!walk_skip(w, &value))
            return;
        if (notes && json_type(value) == JSON_ARRAY)
            read_notes(r, value, supports);
        if (chunks)
            notes_sources(r->e, value, "web", "uri");
        else if (r->e->noting && notes && !supports)
            notes_sources(r->e, value, NULL, "uri");
    }
}

static void read_logprobs(struct walk *w, struct reading *r)
{
    struct span key, value;
    if (!walk_enter(w, '{')) {
        skip_counted(w, r);
        return;
    }
    while (walk_member(w, &key)) {
        bool chosen = walk_key_is(w, key, "chosenCandidates"), top = walk_key_is(w, key, "topCandidates");
        if (!walk_skip(w, &value))
            return;
        if (chosen && json_type(value) == JSON_ARRAY)
            reply_event_delta(r->e, DELTA_TOKENS, 0, json_inside(value));
        else if (top && json_type(value) == JSON_ARRAY)
            reply_event_delta(r->e, DELTA_BESIDE, 0, value);
        else if (json_type(value) != JSON_NULL)
            r->bare = false;
    }
}

static bool is_finish(struct span reason)
{
    return json_type(reason) == JSON_STRING && json_inside(reason).n > 0 &&
           !json_inside_is(json_inside(reason), "FINISH_REASON_UNSPECIFIED");
}

static void read_candidate(struct walk *w, struct reading *r)
{
    struct reply_event *e = r->e;
    size_t first = e->n, notes = e->nnotes;
    struct span key, index = {0}, reason = {0};
    if (!walk_enter(w, '{')) {
        skip_counted(w, r);
        return;
    }
    while (walk_member(w, &key)) {
        if (walk_key_is(w, key, "content"))
            read_content(w, r);
        else if (walk_key_is(w, key, "index"))
            walk_skip(w, &index);
        else if (walk_key_is(w, key, "finishReason"))
            walk_skip(w, &reason);
        else if (walk_key_is(w, key, "logprobsResult"))
            read_logprobs(w, r);
        else if (walk_key_is(w, key, "citationMetadata") || walk_key_is(w, key, "groundingMetadata"))
            read_metadata(w, r);
        else
            skip_counted(w, r);
    }
    int64_t number = 0;
    if (index.n && (!json_int(index, &number) || number < 0 || number > UINT32_MAX))
        number = 0;
    /* The index may stand behind the text. */
    uint32_t channel = (uint32_t)number;
    event_set_channel(e, first, channel);
    bool before = reply_ends_begin(&r->ends, channel);
    if (is_finish(reason) || e->whole) {
        e->may_go_on = e->may_go_on || !before || r->ends.repeated;
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

static void read_member(struct walk *w, struct span key, struct reading *r)
{
    struct span value;
    if (walk_key_is(w, key, "candidates") && walk_enter(w, '[')) {
        r->candidates = true;
        while (walk_item(w))
            read_candidate(w, r);
        return;
    }
    /* These stand in every chunk and say nothing of this one. */
    bool frame = walk_key_is(w, key, "modelVersion") || walk_key_is(w, key, "responseId") ||
                 walk_key_is(w, key, "createTime");
    bool error = walk_key_is(w, key, "error");
    bool feedback = r->e->noting && key.n == 14 && walk_key_is(w, key, "promptFeedback");
    if (!walk_skip(w, &value))
        return;
    if (error && json_type(value) == JSON_OBJECT && value.n > 2)
        r->e->error = true;
    if (error && r->e->noting)
        notes_error(r->e, value);
    if (feedback)
        notes_member(r->e, NOTE_FINISH, 0, value, "blockReason");
    if (!frame && json_type(value) != JSON_NULL)
        r->bare = false;
}

static void read_event(struct reply_event *e, unsigned choices, struct reply_ends *ends)
{
    struct reading r = {.e = e, .ends = *ends, .bare = true};
    struct walk w;
    struct span key;
    if (!event_open(e, &w, true)) /* [DONE] is not Gemini's, but proxies in front of it add one */
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
    e->bare = r.bare && r.candidates;
    /* Some models give more candidates than were asked for. */
    unsigned expected = ends->begun_count > choices ? ends->begun_count : choices;
    e->ends_reply = e->whole ? r.candidates : ends->count > before && ends->count >= expected;
}

/* ---- events of our own ---- */

/*
 * A shape is the channel's number, a blank, and the members that every chunk of a reply repeats:
 * 0 "modelVersion":"gemini-2.5-flash","responseId":"…",
 */
static void keep_shape(const struct reply_event *e, uint32_t channel, struct buf *out)
{
    static const char *const names[] = {"modelVersion", "responseId", "createTime"};
    shape_begin(channel, out);
    shape_keep(e->json, names, sizeof names / sizeof names[0], true, out);
}

static void text_event(struct span shape, uint32_t channel, int64_t place, struct span escaped,
                       struct span tokens, struct buf *out)
{
    (void)place;
    struct span number, members = shape_members(shape, &number);
    buf_adds(out, "data: {\"candidates\":[{\"content\":{\"parts\":[{\"text\":\"");
    buf_add(out, escaped);
    buf_adds(out, "\"}],\"role\":\"model\"}");
    if (tokens.p) {
        buf_adds(out, ",\"logprobsResult\":{\"chosenCandidates\":[");
        buf_add(out, tokens);
        buf_adds(out, "]}");
    }
    buf_printf(out, ",\"index\":%u}]", (unsigned)channel);
    if (members.n) { /* they come last, so their own last comma goes before them */
        buf_addc(out, ',');
        buf_add(out, span_of(members.p, members.n - 1));
    }
    buf_adds(out, "}\r\n\r\n");
}

static void report_event(struct span shape, int64_t place, struct span report, bool cut, struct buf *out)
{
    (void)place;
    struct span number, members = shape_members(shape, &number);
    buf_adds(out, "data: {\"candidates\":[{\"finishReason\":");
    buf_adds(out, cut ? "\"OTHER\",\"index\":" : "\"STOP\",\"index\":");
    buf_add(out, number);
    buf_adds(out, "}],");
    buf_add(out, members);
    buf_add(out, report);
    buf_adds(out, "}\r\n\r\n");
}

/* ---- errors ---- */

static const char *error_status_name(const struct error *e)
{
    static const struct shape_error_name names[] = {
        {401, "UNAUTHENTICATED"},   {403, "PERMISSION_DENIED"},  {404, "NOT_FOUND"},
        {408, "DEADLINE_EXCEEDED"}, {429, "RESOURCE_EXHAUSTED"}, {502, "UNAVAILABLE"},
        {503, "UNAVAILABLE"},       {504, "DEADLINE_EXCEEDED"},
    };
    return shape_error_name(e, names, sizeof names / sizeof names[0], "INVALID_ARGUMENT", "INTERNAL");
}

/* The code is an ErrorInfo's reason, as in Google's own errors; details of ours are a Struct. */
static void error_body(const struct error *e, struct buf *out)
{
    buf_printf(out, "{\"error\":{\"code\":%d,\"message\":\"", e->status);
    if (json_escape(span_str(e->message), out) < 0)
        return;
    buf_printf(out,
               "\",\"status\":\"%s\",\"details\":[{\"@type\":\"type.googleapis.com/google.rpc.ErrorInfo\","
               "\"reason\":\"%s\",\"domain\":\"penstock\"}",
               error_status_name(e), error_name(e->code));
    if (e->details[0]) {
        buf_adds(out, ",{\"@type\":\"type.googleapis.com/google.protobuf.Struct\",\"value\":");
        buf_adds(out, e->details);
        buf_addc(out, '}');
    }
    buf_adds(out, "]}}");
}

static void error_event(const struct error *e, bool named, struct buf *out)
{
    shape_error_event(e, error_body, named ? "error" : NULL, "\r\n", out);
}

const struct dialect gemini = {
    .api = API_GEMINI,
    .request = read_request,
    .target = read_target,
    .add_protocol = add_protocol,
    .place = place_gemini,
    .event = read_event,
    .calls = note_call,
    .keep_shape = keep_shape,
    .text_event = text_event,
    .report_event = report_event,
    .offsets = OFFSETS_BYTES,
    .error_body = error_body,
    .error_event = error_event,
    .untold_framing = FRAMING_ARRAY,
    .keep_alive = ": keep-alive\r\n\r\n",
};
