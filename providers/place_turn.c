/* Finding the turn to which attachments belong, and adding to what it says. */
#include "providers/placing.h"
#include "providers/request.h"

bool placing_find_last(struct span list, bool (*fits)(struct span item), struct span *found)
{
    struct json_iter it = json_iter(list);
    bool any = false;
    while (json_next(&it) == 1)
        if (fits(it.value)) {
            *found = it.value;
            any = true;
        }
    return any;
}

bool placing_is_user(struct span message)
{
    struct span role;
    return json_type(message) == JSON_OBJECT && json_member(message, "role", &role) &&
           request_value_is(role, "user");
}

/* Behind the last item or the opening bracket. */
static const char *end_of_items(struct span list, bool *empty)
{
    const char *at = list.p + 1;
    struct json_iter it = json_iter(list);
    *empty = true;
    while (json_next(&it) == 1) {
        at = it.whole.p + it.whole.n;
        *empty = false;
    }
    return at;
}

void placing_begin_item(struct placing *p, struct span list)
{
    bool empty;
    const char *at = end_of_items(list, &empty);
    placing_begin(p, at, 0);
    placing_write(p, empty && !placing_is_taken(p, at) ? "" : ",");
}

/* Of the request's object some members are taken out at the same time. */
static bool is_without_members(const struct placing *p, struct span object)
{
    struct json_iter it = json_iter(object);
    return object.p == p->r->facts->root.p ? !request_keeps_members(p->r->facts) : json_next(&it) != 1;
}

void placing_begin_member(struct placing *p, struct span object)
{
    const char *brace = object.p + object.n - 1;
    bool first = is_without_members(p, object) && !placing_is_taken(p, brace);
    placing_begin(p, brace, 0);
    placing_write(p, first ? "" : ",");
}

void placing_parts(struct placing *p, const struct place_style *style)
{
    for (size_t i = 0; i < p->n; i++) {
        placing_write(p, i ? "," : "");
        if (p->shapes[i] == SHAPE_TEXT) {
            placing_write(p, style->before_text);
            placing_write(p, "\"");
            placing_escaped(p, placing_item_text(p, i));
            placing_write(p, "\"}");
        } else {
            style->part(p, &p->items[i], p->shapes[i]);
        }
    }
}

void placing_value(struct placing *p, const struct place_style *style)
{
    bool string = style->strings && p->all_text;
    placing_write(p, string ? "\"" : "[");
    if (string)
        placing_joined(p, false);
    else
        placing_parts(p, style);
    placing_write(p, string ? "\"" : "]");
}

/* A string stays one when nothing but text joins it; else it becomes the first of the parts. An empty one
 * would be a part that some providers refuse. */
static void add_to_string(struct placing *p, const struct place_style *style, struct span string)
{
    if (p->all_text) {
        placing_begin(p, string.p + string.n - 1, 0);
        placing_joined(p, string.n > 2);
        placing_end(p);
    } else if (string.n == 2) {
        placing_begin(p, string.p, string.n);
        placing_value(p, style);
        placing_end(p);
    } else {
        placing_begin(p, string.p, 0);
        placing_write(p, "[");
        placing_write(p, style->before_text);
        placing_end(p);
        placing_begin(p, string.p + string.n, 0);
        placing_write(p, "},");
        placing_parts(p, style);
        placing_write(p, "]");
        placing_end(p);
    }
}

static void add_to_part(struct placing *p, const struct place_style *style, struct span part)
{
    placing_begin(p, part.p, 0);
    placing_write(p, "[");
    placing_end(p);
    placing_begin(p, part.p + part.n, 0);
    placing_write(p, ",");
    placing_parts(p, style);
    placing_write(p, "]");
    placing_end(p);
}

static void add_member(struct placing *p, const struct place_style *style, struct span message)
{
    placing_begin_member(p, message);
    placing_write(p, "\"");
    placing_write(p, style->member);
    placing_write(p, "\":");
    placing_value(p, style);
    placing_end(p);
}

void placing_to_message(struct placing *p, const struct place_style *style, struct span message)
{
    struct span value;
    if (!json_member(message, style->member, &value)) {
        add_member(p, style, message);
        return;
    }
    switch (json_type(value)) {
    case JSON_STRING:
        if (style->strings)
            add_to_string(p, style, value);
        else
            p->unplaced = true;
        break;
    case JSON_ARRAY:
        placing_begin_item(p, value);
        placing_parts(p, style);
        placing_end(p);
        break;
    case JSON_OBJECT: /* one part may stand without its array */
        add_to_part(p, style, value);
        break;
    case JSON_NULL:
        placing_begin(p, value.p, value.n);
        placing_value(p, style);
        placing_end(p);
        break;
    default:
        p->unplaced = true;
    }
}

void placing_to_list(struct placing *p, const struct place_style *style, struct span list)
{
    struct span message;
    if (placing_find_last(list, placing_is_user, &message)) {
        placing_to_message(p, style, message);
        return;
    }
    placing_begin_item(p, list);
    placing_write(p, "{\"role\":\"user\",\"");
    placing_write(p, style->member);
    placing_write(p, "\":");
    placing_value(p, style);
    placing_write(p, "}");
    placing_end(p);
}
