/* What a request of OpenAI Chat Completions says, and where the protocol goes in it. */
#include "providers/openai.h"
#include "providers/openai_chat.h"
#include "providers/protocol.h"
#include "providers/request.h"

/* Members with which vLLM and llama.cpp force the reply's grammar. */
static bool is_grammar(const struct request_member *m)
{
    static const char *const names[] = {"structured_outputs", "guided_json", "guided_regex", "guided_choice",
                                        "guided_grammar",     "json_schema", "grammar"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (request_member_is(m, names[i]))
            return true;
    return false;
}

struct request_reading {
    struct request_facts *facts;
    bool format, tool, grammar;
};

static void read_request_member(void *arg, const struct request_member *m)
{
    struct request_reading *r = arg;
    enum json_type type = json_type(m->value);
    if (request_member_is(m, "model"))
        r->facts->model = type == JSON_STRING ? json_inside(m->value) : span_of("", 0);
    else if (request_member_is(m, "stream"))
        r->facts->stream = type == JSON_TRUE;
    else if (request_member_is(m, "store"))
        r->facts->kept = type == JSON_TRUE;
    else if (request_member_is(m, "n"))
        r->facts->choices = request_choices(m->value);
    else if (request_member_is(m, "messages"))
        r->facts->place = m->value;
    else if (request_member_is(m, "response_format"))
        r->format = request_machine_format(m->value);
    else if (request_member_is(m, "tool_choice") || request_member_is(m, "function_call"))
        r->tool = openai_forced_tool(m->value, "allowed_tools");
    else if (is_grammar(m))
        r->grammar = r->grammar || type != JSON_NULL;
}

void openai_chat_request(struct span body, struct request_facts *facts)
{
    struct request_reading r = {.facts = facts};
    if (!request_read(body, facts, read_request_member, &r))
        return;
    if (json_type(facts->place) != JSON_ARRAY) {
        request_reset(facts);
        return;
    }
    facts->machine_read = r.format || r.tool || r.grammar;
    facts->explains_protocol = protocol_explained(facts->place);
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
        if (role && json_type(value) == JSON_STRING)
            return request_value_is(value, "system")      ? "system"
                   : request_value_is(value, "developer") ? "developer"
                                                          : NULL;
    }
    return NULL;
}

/* Right behind the leading system messages, so that a prompt cache that knows the caller's beginning still
 * matches it. */
void openai_chat_add_protocol(struct span body, const struct request_facts *facts, struct span protocol,
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
    request_insert(room, from, edits, (size_t)(at - body.p), 0);
}
