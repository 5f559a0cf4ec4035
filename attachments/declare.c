/* The `attachments` array, read strictly: whatever is not understood is refused and named. */
#include <stdio.h>

#include "attachments/attachment.h"
#include "base/json.h"
#include "base/xalloc.h"

enum field {
    FIELD_PATH,
    FIELD_DATA,
    FIELD_CONTENT,
    FIELD_TYPE,
    FIELD_NAME,
    FIELD_HANDLING,
    FIELD_URL,
    FIELD_STREAM,
    FIELDS
};

static const char *const field_names[FIELDS] = {"path", "data",     "content", "type",
                                                "name", "handling", "url",     "stream"};

/* One object's fields as they stand; n = 0: not said, or null. */
struct declared {
    size_t index;
    struct span values[FIELDS];
    bool content_null; /* content: null, which is content that says nothing */
};

static int refuse(size_t index, const char *field, const char *why, struct error *e)
{
    return error_set(e, ERROR_ATTACHMENT_INVALID, "attachments[%zu]%s%s: %s", index, field ? "." : "",
                     field ? field : "", why);
}

static int read_fields(struct span object, struct declared *d, struct error *e)
{
    struct json_iter it = json_iter(object);
    unsigned seen = 0;
    int more;
    while ((more = json_next(&it)) == 1) {
        int f = 0;
        while (f < FIELDS && !json_key_is(&it, field_names[f]))
            f++;
        if (f == FIELDS)
            return error_set(e, ERROR_ATTACHMENT_INVALID,
                             "attachments[%zu].%.*s: there is no such field. There are path, data, content, "
                             "type, name and handling.",
                             d->index, (int)(it.key.n > 64 ? 64 : it.key.n), it.key.p);
        if (seen & 1u << f)
            return refuse(d->index, field_names[f], "it is given more than once.", e);
        seen |= 1u << f;
        if (json_type(it.value) != JSON_NULL)
            d->values[f] = it.value;
        else if (f == FIELD_CONTENT)
            d->content_null = true;
    }
    return more;
}

/* What may be shown to people and written into a line: UTF-8 without control characters. */
static bool is_line(struct span text)
{
    for (size_t i = 0; i < text.n; i++)
        if ((unsigned char)text.p[i] < 0x20 || text.p[i] == 0x7f)
            return false;
    return sniff_is_text(text);
}

/* A string of at most `max` bytes without control characters. */
static int take_string(const struct declared *d, enum field f, size_t max, char **out, struct error *e)
{
    struct buf text;
    struct span value = d->values[f];
    bool good = json_type(value) == JSON_STRING;
    char why[96];
    if (value.n == 0)
        return 0;
    buf_init(&text, max);
    good = good && json_unescape(json_inside(value), &text) == 0 && text.n > 0 && is_line(buf_span(&text));
    if (good)
        *out = xspandup(buf_span(&text));
    buf_free(&text);
    snprintf(why, sizeof why, "it must be a string of 1 to %zu bytes without control characters.", max);
    return good ? 0 : refuse(d->index, field_names[f], why, e);
}

/* Where it may lead is told by whoever opens it. */
static int take_path(const struct declared *d, struct attachment *a, struct error *e)
{
    struct buf text;
    struct span value = d->values[FIELD_PATH];
    if (json_type(value) != JSON_STRING)
        return refuse(d->index, "path", "it must be a string.", e);
    buf_init(&text, LIMIT_PATH);
    int bad = json_unescape(json_inside(value), &text);
    if (bad)
        refuse(d->index, "path", "it is longer than any path may be.", e);
    else if (memchr(buf_span(&text).p, '\0', text.n))
        bad = error_set(e, ERROR_ATTACHMENT_FORBIDDEN_PATH,
                        "attachments[%zu].path: it holds a NUL character.", d->index);
    else if (!is_line(buf_span(&text)))
        bad = refuse(d->index, "path", "it must be UTF-8 without control characters.", e);
    else
        a->path = xspandup(buf_span(&text));
    buf_free(&text);
    return bad;
}

static int take_data(const struct declared *d, struct attachment *a, struct error *e)
{
    struct span value = d->values[FIELD_DATA];
    if (json_type(value) != JSON_STRING)
        return refuse(d->index, "data", "it must be a string in base64.", e);
    a->value = json_inside(value);
    if (a->value.n >= 5 && strncasecmp(a->value.p, "data:", 5) == 0)
        return refuse(
            d->index, "data",
            "it begins as a data: URL, which states a media type. Give the base64 alone: the type is "
            "told from the bytes.",
            e);
    return 0;
}

static int take_content(const struct declared *d, struct attachment *a, struct error *e)
{
    struct span value = d->values[FIELD_CONTENT];
    enum json_type type = json_type(value);
    if (d->values[FIELD_TYPE].n == 0)
        return refuse(d->index, "type", "content needs a type, such as log or run_input.", e);
    if (value.n && type != JSON_STRING && type != JSON_ARRAY && type != JSON_OBJECT)
        return refuse(d->index, "content", "it must be a string, an array of lines or an object.", e);
    if (d->values[FIELD_HANDLING].n)
        return refuse(d->index, "handling", "it goes with path or data; content is text in any case.", e);
    a->value = value.n ? value : SPAN_LIT("\"\"");
    return take_string(d, FIELD_TYPE, LIMIT_ATTACHMENT_TYPE, &a->type, e);
}

static int take_handling(const struct declared *d, struct attachment *a, struct error *e)
{
    struct span value = d->values[FIELD_HANDLING];
    bool string = json_type(value) == JSON_STRING;
    if (value.n == 0)
        return 0;
    a->native = string && json_inside_is(json_inside(value), "native");
    if (a->native || (string && json_inside_is(json_inside(value), "preprocess")))
        return 0;
    return refuse(d->index, "handling", "it must be \"preprocess\" or \"native\".", e);
}

/* What is never taken, and which of the three sources it is. */
static int choose_source(const struct declared *d, struct attachment *a, struct error *e)
{
    bool path = d->values[FIELD_PATH].n, data = d->values[FIELD_DATA].n;
    bool content = d->values[FIELD_CONTENT].n || (d->content_null && !path && !data);
    if (d->values[FIELD_URL].n)
        return refuse(d->index, "url",
                      "addresses are not fetched, since the proxy would call wherever a caller tells it to. "
                      "Send the bytes as data.",
                      e);
    if (d->values[FIELD_STREAM].n)
        return refuse(d->index, "stream", "a stream cannot be read twice. Send the bytes as data.", e);
    if (path + data + content != 1)
        return error_set(e, ERROR_ATTACHMENT_INVALID,
                         "attachments[%zu]%s%s%s: exactly one of path, data and content must be given.",
                         d->index, a->name ? " (\"" : "", a->name ? a->name : "", a->name ? "\")" : "");
    if (!content && d->values[FIELD_TYPE].n)
        return refuse(d->index, "type",
                      "it goes with content only. What path and data are is told from their bytes.", e);
    a->source = path ? ATTACHMENT_PATH : data ? ATTACHMENT_DATA : ATTACHMENT_CONTENT;
    return 0;
}

void attachment_made_name(size_t index, char out[48])
{
    snprintf(out, 48, "attachment-%zu", index + 1);
}

/* Files without a name are called after their path, or by their place. */
static void name_file(struct attachment *a)
{
    char made[48];
    const char *slash = a->path ? strrchr(a->path, '/') : NULL;
    const char *last = slash ? slash + 1 : a->path;
    if (a->name)
        return;
    attachment_made_name(a->index, made);
    a->name = xstrdup(last && *last ? last : made);
}

static int declare_one(struct span object, size_t index, struct attachment *a, struct error *e)
{
    struct declared d = {.index = index};
    a->index = index;
    if (json_type(object) != JSON_OBJECT)
        return refuse(index, NULL, "it must be an object.", e);
    if (read_fields(object, &d, e) < 0 ||
        take_string(&d, FIELD_NAME, LIMIT_ATTACHMENT_NAME, &a->name, e) < 0 || choose_source(&d, a, e) < 0 ||
        take_handling(&d, a, e) < 0)
        return -1;
    if (a->source == ATTACHMENT_CONTENT)
        return take_content(&d, a, e);
    int bad = a->source == ATTACHMENT_PATH ? take_path(&d, a, e) : take_data(&d, a, e);
    if (!bad)
        name_file(a);
    return bad;
}

int attachments_declare(struct span value, struct attachments *out, struct error *e)
{
    struct json_iter it = json_iter(value);
    int more;
    if (value.n == 0 || json_type(value) == JSON_NULL)
        return 0;
    if (json_type(value) != JSON_ARRAY)
        return error_set(e, ERROR_BAD_REQUEST, "attachments must be an array of objects.");
    for (size_t index = 0; (more = json_next(&it)) == 1; index++) {
        struct attachment *a = attachments_add(out);
        if (!a)
            return error_set(e, ERROR_ATTACHMENT_INVALID, "attachments[%zu]: at most %d can be attached.",
                             index, LIMIT_ATTACHMENTS);
        if (declare_one(it.value, index, a, e) < 0) {
            a->decision = ATTACHMENT_REFUSED;
            return -1;
        }
    }
    return more;
}
