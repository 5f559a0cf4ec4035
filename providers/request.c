#include "providers/request.h"

void request_reset(struct request_facts *facts)
{
    *facts = (struct request_facts){.choices = 1};
}

unsigned request_choices(struct span value)
{
    int64_t n;
    return json_int(value, &n) && n >= 1 && n <= LIMIT_CHANNELS ? (unsigned)n : 1;
}

bool request_read(struct span body, struct request_facts *facts,
                  void (*member)(void *arg, const struct request_member *m), void *arg)
{
    struct walk w = walk_text(body);
    struct span key, value;
    request_reset(facts);
    if (walk_peek(&w) != '{')
        return false;
    const char *start = w.at;
    walk_enter(&w, '{');
    while (walk_member(&w, &key)) {
        if (!walk_skip(&w, &value))
            break;
        struct span whole = span_of(key.p - 1, (size_t)(value.p + value.n - key.p) + 1);
        struct request_member m = {&w, key, value};
        if (request_member_is(&m, "hw")) {
            facts->repeated = facts->hw_whole.n ? "hw" : facts->repeated;
            facts->hw = value;
            facts->hw_whole = whole;
        } else if (request_member_is(&m, "attachments")) {
            facts->repeated = facts->attachments_whole.n ? "attachments" : facts->repeated;
            facts->attachments = value;
            facts->attachments_whole = whole;
        } else {
            member(arg, &m);
        }
    }
    const char *end = w.at;
    if (!walk_done(&w)) {
        request_reset(facts);
        return false;
    }
    facts->root = span_of(start, (size_t)(end - start));
    return true;
}

bool request_keeps_members(const struct request_facts *facts)
{
    struct json_iter it = json_iter(facts->root);
    while (json_next(&it) == 1)
        if (!json_key_is(&it, "hw") && !json_key_is(&it, "attachments"))
            return true;
    return false;
}

bool request_machine_format(struct span format)
{
    struct span type;
    if (json_type(format) != JSON_OBJECT)
        return false;
    return !json_member(format, "type", &type) || !request_value_is(type, "text");
}

void request_insert(const struct buf *room, size_t from, struct edits *edits, size_t at, size_t cut)
{
    if (!buf_full(room))
        edits_add(edits, at, cut, span_from(buf_span(room), from));
}

void request_add_member(struct span body, struct span object, struct span member, struct edits *edits)
{
    edits_add(edits, (size_t)(object.p - body.p) + object.n - 1, 0, member);
}
