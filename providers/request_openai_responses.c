/* What a request of OpenAI Responses says, and where the protocol goes in it. */
#include "providers/openai.h"
#include "providers/openai_responses.h"
#include "providers/protocol.h"
#include "providers/request.h"

static bool is_machine_text(struct span text)
{
    struct span format;
    return json_type(text) == JSON_OBJECT && json_member(text, "format", &format) &&
           request_machine_format(format);
}

struct request_reading {
    struct span model, stream, store, instructions, input, text, tool;
    const char *key; /* of `input`, or else of the first member that is not Penstock's own */
};

static void read_request_member(void *arg, const struct request_member *m)
{
    struct request_reading *r = arg;
    const char *quote = m->key.p - 1;
    if (!r->key)
        r->key = quote;
    if (request_member_is(m, "model")) {
        r->model = m->value;
    } else if (request_member_is(m, "stream")) {
        r->stream = m->value;
    } else if (request_member_is(m, "store")) {
        r->store = m->value;
    } else if (request_member_is(m, "instructions")) {
        r->instructions = m->value;
    } else if (request_member_is(m, "input")) {
        r->input = m->value;
        r->key = quote;
    } else if (request_member_is(m, "text")) {
        r->text = m->value;
    } else if (request_member_is(m, "tool_choice")) {
        r->tool = m->value;
    }
}

static bool is_one_of(struct span value, enum json_type a, enum json_type b)
{
    enum json_type type = json_type(value);
    return value.n == 0 || type == a || type == b || type == JSON_NULL;
}

/* The place is the value of `instructions`, or empty, before the key of a member, when there is none. */
void openai_responses_request(struct span body, struct request_facts *facts)
{
    struct request_reading r = {.key = NULL};
    if (!request_read(body, facts, read_request_member, &r))
        return;
    if (!r.key || !is_one_of(r.instructions, JSON_STRING, JSON_NULL) ||
        !is_one_of(r.input, JSON_STRING, JSON_ARRAY)) {
        request_reset(facts);
        return;
    }
    if (json_type(r.model) == JSON_STRING)
        facts->model = json_inside(r.model);
    facts->stream = json_type(r.stream) == JSON_TRUE;
    facts->kept = json_type(r.store) != JSON_FALSE;
    facts->place = r.instructions.n ? r.instructions : span_of(r.key, 0);
    facts->machine_read = is_machine_text(r.text) || openai_forced_tool(r.tool, NULL);
    facts->explains_protocol = protocol_explained(r.instructions) || protocol_explained(r.input);
}

void openai_responses_add_protocol(struct span body, const struct request_facts *facts, struct span protocol,
                                   struct buf *room, struct edits *edits)
{
    size_t at = (size_t)(facts->place.p - body.p), cut = 0, from = room->n;
    if (json_type(facts->place) == JSON_STRING && facts->place.n) {
        at += facts->place.n - 1;
        buf_adds(room, "\\n\\n");
        buf_add(room, protocol);
    } else {
        cut = facts->place.n; /* null */
        buf_adds(room, cut ? "\"" : "\"instructions\":\"");
        buf_add(room, protocol);
        buf_adds(room, cut ? "\"" : "\",");
    }
    request_insert(room, from, edits, at, cut);
}
