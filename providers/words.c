#include "providers/words.h"

#include "base/json.h"
#include "providers/request.h"

/* How an API spells a message. */
struct spelling {
    const char *content; /* the member that holds what it says: a string, a part, or a list of them */
    const char *results; /* a part's member, or its type, that makes it a tool's result; NULL: none are */
};

static bool member(struct span object, const char *name, struct span *value)
{
    return json_type(object) == JSON_OBJECT && json_member(object, name, value);
}

static bool member_is(struct span object, const char *name, const char *text)
{
    struct span value;
    return member(object, name, &value) && request_value_is(value, text);
}

/* Text of a part: a string of its own, or `text` of one whose type says so or that has none. */
static bool part_text(struct span part, struct span *text)
{
    struct span type;
    *text = part;
    if (json_type(part) == JSON_STRING)
        return part.n > 2;
    if (member(part, "type", &type) && !request_value_is(type, "text") &&
        !request_value_is(type, "input_text"))
        return false;
    return member(part, "text", text) && json_type(*text) == JSON_STRING && text->n > 2;
}

static bool part_is_result(struct span part, const char *results)
{
    struct span value;
    return member_is(part, "type", results) || member(part, results, &value);
}

/* Calls `each` for the parts of a message's content. */
static void each_part(struct span content, bool (*each)(void *arg, struct span part), void *arg)
{
    if (json_type(content) != JSON_ARRAY) {
        if (content.n && json_type(content) != JSON_NULL)
            each(arg, content);
        return;
    }
    struct json_iter it = json_iter(content);
    while (json_next(&it) == 1 && each(arg, it.value))
        ;
}

static bool find_text(void *arg, struct span part)
{
    struct span text;
    bool *found = arg;
    *found = part_text(part, &text);
    return !*found;
}

static bool has_text(struct span content)
{
    bool found = false;
    each_part(content, find_text, &found);
    return found;
}

struct results_reading {
    const char *results;
    bool any, others;
};

static bool count_result(void *arg, struct span part)
{
    struct results_reading *r = arg;
    if (part_is_result(part, r->results))
        r->any = true;
    else
        r->others = true;
    return !r->others;
}

/* Whole characters of what fits. */
static void add_cut(struct request_words *words, struct span text)
{
    struct buf *out = &words->text;
    size_t room = out->max - out->n;
    if (text.n > room) {
        words->cut = true;
        text.n = room;
        while (text.n && ((unsigned char)text.p[text.n] & 0xc0) == 0x80)
            text.n--;
    }
    buf_add(out, text);
}

static bool add_text(void *arg, struct span part)
{
    struct request_words *words = arg;
    struct span text;
    struct buf plain;
    if (!part_text(part, &text))
        return true;
    buf_init(&plain, text.n);
    if (json_unescape(json_inside(text), &plain) == 0) {
        if (words->text.n)
            add_cut(words, SPAN_LIT("\n"));
        add_cut(words, buf_span(&plain));
    }
    buf_free(&plain);
    return !words->cut;
}

static bool is_result_message(struct span message, const struct spelling *s)
{
    struct results_reading r = {.results = s->results};
    struct span content;
    if (member_is(message, "role", "tool") || member_is(message, "role", "function") ||
        member_is(message, "type", "function_call_output") ||
        member_is(message, "type", "custom_tool_call_output"))
        return true;
    if (!s->results || !member(message, s->content, &content))
        return false;
    each_part(content, count_result, &r);
    return r.any && !r.others;
}

/* Gemini leaves the role out of a conversation of one turn. */
static bool is_user(struct span message)
{
    struct span role;
    return !member(message, "role", &role) ? !member(message, "type", &role) : request_value_is(role, "user");
}

static void read_messages(struct span list, const struct spelling *s, struct request_words *words)
{
    struct span content, last = {0}, said = {0};
    struct json_iter it = json_iter(list);
    while (json_next(&it) == 1) {
        last = it.value;
        if (is_user(last) && member(last, s->content, &content) && has_text(content))
            said = content;
    }
    words->results = last.n && is_result_message(last, s);
    each_part(said, add_text, words);
}

void request_words(enum api api, struct span root, struct request_words *words)
{
    static const struct spelling plain = {"content", NULL}, anthropic = {"content", "tool_result"},
                                 gemini = {"parts", "functionResponse"};
    struct span value;
    const char *name = api == API_GEMINI ? "contents" : api == API_OPENAI_RESPONSES ? "input" : "messages";
    const struct spelling *s = api == API_GEMINI               ? &gemini
                               : api == API_ANTHROPIC_MESSAGES ? &anthropic
                                                               : &plain;
    if (!member(root, name, &value) && (api != API_OLLAMA || !member(root, "prompt", &value)))
        return;
    if (json_type(value) == JSON_ARRAY)
        read_messages(value, s, words);
    else if (json_type(value) == JSON_STRING)
        each_part(value, add_text, words);
    else if (member(value, s->content, &value)) /* Gemini: one message without its list */
        each_part(value, add_text, words);
}
