#include "transcript/raw.h"

#include "transcript/clean.h"
#include "transcript/time.h"
#include "transcript/transcript.h"
#include "transcript/tree.h"

struct span raw_span(const json_t *value)
{
    if (!json_is_string(value))
        return (struct span){"", 0};
    return span_of(json_string_value(value), json_string_length(value));
}

struct span raw_str(const json_t *object, const char *key)
{
    return raw_span(json_object_get(object, key));
}

json_t *raw_list(const json_t *object, const char *key)
{
    json_t *value = json_object_get(object, key);
    return json_is_array(value) ? value : NULL;
}

json_t *raw_obj(const json_t *object, const char *key)
{
    json_t *value = json_object_get(object, key);
    return json_is_object(value) ? value : NULL;
}

bool raw_true(const json_t *object, const char *key)
{
    return json_is_true(json_object_get(object, key));
}

int64_t raw_us(const json_t *object, const char *key)
{
    const json_t *value = json_object_get(object, key);
    struct span digits = raw_span(value);
    int64_t us = 0;
    if (json_is_integer(value))
        return json_integer_value(value);
    for (size_t i = 0; i < digits.n; i++) {
        if (digits.p[i] < '0' || digits.p[i] > '9' || us > (INT64_MAX - (digits.p[i] - '0')) / 10)
            return 0;
        us = us * 10 + (digits.p[i] - '0');
    }
    return us;
}

bool raw_time(const json_t *object, const char *key, int64_t *us)
{
    return time_parse(raw_str(object, key), us);
}

static json_t *parse(struct span text, json_error_t *why)
{
    return json_loadb(text.n ? text.p : "", text.n, JSON_DECODE_ANY, why);
}

static json_t *parse_leniently(struct span text, json_error_t *why)
{
    json_t *value = tree_load(text);
    struct buf cleaned;
    if (!value)
        value = parse(text, why);
    if (value)
        return value;
    buf_init(&cleaned, 6 * text.n + 16);
    clean_json(text, &cleaned);
    value = parse(buf_span(&cleaned), why);
    buf_free(&cleaned);
    return value;
}

json_t *raw_parse(struct span text, struct error *e)
{
    json_error_t why;
    if (text.n > TRANSCRIPT_DOCUMENT) {
        error_set(e, ERROR_BAD_REQUEST, "A thread document of %zu bytes is too large; %d can be read.",
                  text.n, TRANSCRIPT_DOCUMENT);
        return NULL;
    }
    json_t *root = parse_leniently(text, &why);
    if (!root) /* the library's message quotes the text; its place is enough */
        error_set(e, ERROR_BAD_REQUEST, "The thread document is not valid JSON: see line %d, column %d.",
                  why.line, why.column);
    else if (!json_is_object(root))
        error_set(e, ERROR_BAD_REQUEST,
                  "The thread document is not a JSON object with the list \"entries\" in it.");
    if (json_is_object(root))
        return root;
    json_decref(root);
    return NULL;
}

json_t *raw_parse_value(struct span text)
{
    json_error_t why;
    return parse_leniently(text, &why);
}
