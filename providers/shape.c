#include "providers/shape.h"

#include <string.h>

#include "base/json.h"

void shape_add(struct span key, struct span value, struct buf *out)
{
    enum { LONGEST_VALUE = 160 };
    enum json_type type = json_type(value);
    if (type == JSON_OBJECT || type == JSON_ARRAY || value.n > LONGEST_VALUE)
        return;
    buf_addc(out, '"');
    buf_add(out, key);
    buf_adds(out, "\":");
    buf_add(out, value);
    buf_addc(out, ',');
}

void shape_keep(struct span object, const char *const *names, size_t n, bool strings, struct buf *out)
{
    struct json_iter it = json_iter(object);
    while (it.object && json_next(&it) == 1) {
        if (strings && json_type(it.value) != JSON_STRING)
            continue;
        for (size_t i = 0; i < n; i++)
            if (json_key_is(&it, names[i]))
                shape_add(span_str(names[i]), it.value, out);
    }
}

void shape_begin(uint32_t channel, struct buf *out)
{
    buf_add_number(out, channel);
    buf_addc(out, ' ');
}

struct span shape_members(struct span shape, struct span *channel)
{
    const char *blank = shape.n ? memchr(shape.p, ' ', shape.n) : NULL;
    if (!blank) {
        *channel = SPAN_LIT("0");
        return span_of("", 0);
    }
    *channel = span_of(shape.p, (size_t)(blank - shape.p));
    return span_from(shape, channel->n + 1);
}

void shape_error_members(const struct error *e, struct buf *out)
{
    buf_printf(out, "\"code\":\"%s\"", error_name(e->code));
    if (e->details[0]) {
        buf_adds(out, ",\"details\":");
        buf_adds(out, e->details);
    }
}

void shape_error_event(const struct error *e, void (*body)(const struct error *e, struct buf *out),
                       const char *name, const char *end, struct buf *out)
{
    if (name)
        buf_printf(out, "event: %s%s", name, end);
    buf_adds(out, "data: ");
    body(e, out);
    buf_adds(out, end);
    buf_adds(out, end);
}

const char *shape_error_name(const struct error *e, const struct shape_error_name *table, size_t n,
                             const char *client, const char *server)
{
    for (size_t i = 0; i < n; i++)
        if (table[i].status == e->status)
            return table[i].name;
    return e->status >= 500 ? server : client;
}
