#include "transcript/tree.h"

#include "transcript/scan.h"

/*
 * One walk over the text. A string without escapes other than the usual ones is taken here; whatever else a
 * scalar may be is left to jansson, so that there is one opinion on what is valid.
 */
struct reader {
    const char *p, *end;
    struct buf text; /* of the string read last */
};

static json_t *read_value(struct reader *r, unsigned depth);

static void skip_blank(struct reader *r)
{
    while (r->p < r->end && (*r->p == ' ' || *r->p == '\n' || *r->p == '\r' || *r->p == '\t'))
        r->p++;
}

/* Steps over the character if it comes next. */
static bool take(struct reader *r, char c)
{
    skip_blank(r);
    if (r->p == r->end || *r->p != c)
        return false;
    r->p++;
    return true;
}

static json_t *load(struct span scalar)
{
    return json_loadb(scalar.p, scalar.n, JSON_DECODE_ANY, NULL);
}

static bool has_unicode_escape(struct span inside)
{
    const char *p = inside.p, *end = inside.n ? p + inside.n : p;
    while ((p = p < end ? memchr(p, '\\', (size_t)(end - p)) : NULL)) {
        if (p + 1 < end && p[1] == 'u')
            return true;
        p += 2;
    }
    return false;
}

static bool is_ascii(struct span s)
{
    size_t i = 0;
    uint64_t word, any = 0;
    for (; i + sizeof word <= s.n; i += sizeof word) {
        memcpy(&word, s.p + i, sizeof word);
        any |= word;
    }
    for (; i < s.n; i++)
        any |= (uint64_t)(unsigned char)s.p[i];
    return (any & UINT64_MAX / 255 * 0x80) == 0;
}

static json_t *read_string(struct reader *r, struct span string)
{
    struct span inside = span_of(string.p + 1, string.n - 2), text = inside;
    if (inside.n && memchr(inside.p, '\\', inside.n)) {
        if (has_unicode_escape(inside))
            return load(string);
        buf_reset(&r->text);
        if (scan_unescape(inside, &r->text) < 0)
            return NULL;
        text = buf_span(&r->text);
    }
    return is_ascii(text) ? json_stringn_nocheck(text.p, text.n) : json_stringn(text.p, text.n);
}

static json_t *read_scalar(struct reader *r)
{
    struct span value = scan_value(r->p, r->end);
    int64_t number;
    if (value.n == 0)
        return NULL;
    r->p = value.p + value.n;
    switch (*value.p) {
    case '"':
        return read_string(r, value);
    case 't':
        return json_true();
    case 'f':
        return json_false();
    case 'n':
        return json_null();
    default:
        return scan_integer(value, &number) ? json_integer(number) : load(value);
    }
}

static json_t *read_array(struct reader *r, unsigned depth)
{
    json_t *array = json_array();
    if (take(r, ']'))
        return array;
    for (;;) {
        json_t *value = read_value(r, depth);
        if (!value || json_array_append_new(array, value) < 0)
            break;
        if (take(r, ']'))
            return array;
        if (!take(r, ','))
            break;
    }
    json_decref(array);
    return NULL;
}

/* One member. The key may need as much care as any string. */
static bool read_member(struct reader *r, json_t *object, unsigned depth)
{
    skip_blank(r);
    struct span string = scan_value(r->p, r->end);
    if (string.n == 0 || *string.p != '"')
        return false;
    r->p = string.p + string.n;
    struct span key = span_of(string.p + 1, string.n - 2);
    json_t *made = NULL;
    if (!is_ascii(key) || (key.n && memchr(key.p, '\\', key.n))) {
        made = read_string(r, string);
        key = span_of(json_string_value(made), json_string_length(made));
    }
    bool good = key.p && take(r, ':');
    json_t *value = good ? read_value(r, depth) : NULL;
    good = value && json_object_setn_new_nocheck(object, key.p, key.n, value) == 0;
    json_decref(made);
    return good;
}

static json_t *read_object(struct reader *r, unsigned depth)
{
    json_t *object = json_object();
    if (take(r, '}'))
        return object;
    while (read_member(r, object, depth)) {
        if (take(r, '}'))
            return object;
        if (!take(r, ','))
            break;
    }
    json_decref(object);
    return NULL;
}

static json_t *read_value(struct reader *r, unsigned depth)
{
    skip_blank(r);
    if (r->p == r->end || depth == TREE_DEPTH)
        return NULL;
    if (*r->p != '{' && *r->p != '[')
        return read_scalar(r);
    return *r->p++ == '{' ? read_object(r, depth + 1) : read_array(r, depth + 1);
}

json_t *tree_load(struct span text)
{
    struct reader r = {.p = text.p, .end = text.n ? text.p + text.n : text.p};
    buf_init(&r.text, text.n);
    json_t *value = read_value(&r, 0);
    skip_blank(&r);
    buf_free(&r.text);
    if (r.p == r.end)
        return value;
    json_decref(value);
    return NULL;
}
