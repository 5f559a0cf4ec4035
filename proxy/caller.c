#include "proxy/caller.h"

#include <stddef.h>
#include <stdio.h>

#include "artifacts/utf8.h"
#include "base/xalloc.h"
#include "proxy/forward.h"

enum setting {
    SET_CONSULT,
    SET_STREAM,
    SET_LINKS,
    SET_ERRORS,
    SET_INJECT,
    SET_CONTEXT,
    SET_IMAGES,
    SET_AGENT_CONTEXT,
    SET_FORWARD,
    SET_NAMES
};

/* A word setting: its two values, the first being false. */
static const struct word {
    const char *header, *key;
    const char *values[2];
    size_t field; /* offset of a bool in struct caller */
    enum setting setting;
} words[] = {
    {"X-HW-Stream", "stream", {"suppress", "buffer"}, offsetof(struct caller, stream_buffer), SET_STREAM},
    {"X-HW-Links", "links", {"none", "markdown"}, offsetof(struct caller, links_markdown), SET_LINKS},
    {"X-HW-Errors", "errors", {"http", "event"}, offsetof(struct caller, errors_event), SET_ERRORS},
    {"X-HW-Inject", "inject", {"on", "off"}, offsetof(struct caller, inject_off), SET_INJECT},
    {"X-HW-Context",
     "context",
     {"fields", "attachments"},
     offsetof(struct caller, context_attachments),
     SET_CONTEXT},
    {"X-HW-Image-Generation", NULL, {"on", "off"}, offsetof(struct caller, image_generation_off), SET_IMAGES},
};

static const struct {
    const char *header, *key;
} names[CALLER_NAMES] = {
    [CALLER_ORG] = {"X-HW-Org", "org"},
    [CALLER_THREAD] = {"X-HW-Thread", "thread"},
    [CALLER_TURN] = {"X-HW-Turn", "turn"},
    [CALLER_PARENT] = {"X-HW-Parent", "parent"},
    [CALLER_TRIGGER] = {"X-HW-Trigger", "trigger"},
    [CALLER_HEADLINE] = {"X-HW-Headline", "headline"},
};

enum { WORDS = sizeof words / sizeof words[0] };

void caller_init(struct caller *c, const struct config *config)
{
    *c = (struct caller){
        .stream_buffer = config->stream == STREAM_BUFFER,
        .links_markdown = config->links == LINKS_MARKDOWN,
        .context_attachments = config->context == CONTEXT_ATTACHMENTS,
    };
}

void caller_finish(struct caller *c)
{
    for (int i = 0; i < CALLER_NAMES; i++)
        xfree(c->names[i]);
    for (size_t i = 0; i < c->nforward; i++)
        xfree(c->forward[i]);
    xfree(c->forward);
}

const char *caller_org(const struct caller *c)
{
    return c->names[CALLER_ORG] ? c->names[CALLER_ORG] : "default";
}

static int take_word(struct caller *c, const struct word *w, struct span value, const char *said,
                     struct error *e)
{
    for (int i = 0; i < 2; i++)
        if (span_is_nocase(value, w->values[i])) {
            *(bool *)((char *)c + w->field) = i == 1;
            return 0;
        }
    return error_set(e, ERROR_BAD_REQUEST, "%s must be \"%s\" or \"%s\".", said, w->values[0], w->values[1]);
}

static int take_consult(struct caller *c, struct span value, const char *said, struct error *e)
{
    if (span_is_nocase(value, "on"))
        c->consult = MARK_ON;
    else if (span_is_nocase(value, "off"))
        c->consult = MARK_OFF;
    else
        return error_set(e, ERROR_BAD_REQUEST, "%s must be \"on\" or \"off\".", said);
    return 0;
}

static bool is_text(enum caller_name which)
{
    return which == CALLER_THREAD || which == CALLER_HEADLINE;
}

/* Their bytes go into records and journals as JSON strings. */
static int take_text(struct caller *c, enum caller_name which, struct span value, const char *said,
                     struct error *e)
{
    const size_t most = which == CALLER_THREAD ? LIMIT_THREAD : LIMIT_THREAD_WORD;
    bool good = value.n > 0 && value.n <= most && utf8_valid(value);
    for (size_t i = 0; good && i < value.n; i++)
        good = (unsigned char)value.p[i] >= 0x20 && value.p[i] != 0x7f;
    if (!good)
        return error_set(e, ERROR_BAD_REQUEST,
                         "%s must be 1 to %zu bytes of UTF-8 without control characters.", said, most);
    xfree(c->names[which]);
    c->names[which] = xspandup(value);
    return 0;
}

/* Organisations become folder names; the others are written to logs and records as they are. */
static int take_name(struct caller *c, enum caller_name which, struct span value, const char *said,
                     struct error *e)
{
    if (is_text(which))
        return take_text(c, which, value, said, e);
    bool good = value.n > 0 && value.n <= LIMIT_ORG;
    for (size_t i = 0; good && i < value.n; i++) {
        char ch = value.p[i];
        bool plain = (ch >= '0' && ch <= '9') || (ch >= 'a' && ch <= 'z') || (ch >= 'A' && ch <= 'Z') ||
                     ch == '-' || ch == '_';
        good = plain || (which != CALLER_ORG && (ch == '.' || ch == ':'));
    }
    if (!good)
        return error_set(e, ERROR_BAD_REQUEST, "%s must be 1 to %d letters, digits, '-' or '_'%s.", said,
                         LIMIT_ORG, which == CALLER_ORG ? "" : ", '.' or ':'");
    xfree(c->names[which]);
    c->names[which] = xspandup(value);
    return 0;
}

/* A second field could only be dropped in silence; and whoever sets the organisation for others must not be
 * overruled by one. */
static int note_header(struct caller *c, unsigned setting, const char *header, struct error *e)
{
    if (c->from_header & 1u << setting)
        return error_set(e, ERROR_BAD_REQUEST, "%s must be given once.", header);
    c->from_header |= 1u << setting;
    return 0;
}

static int read_header(struct caller *c, struct span name, struct span value, struct error *e)
{
    if (span_is_nocase(name, "X-HW-Consult"))
        return note_header(c, SET_CONSULT, "X-HW-Consult", e) < 0 ? -1
                                                                  : take_consult(c, value, "X-HW-Consult", e);
    for (int w = 0; w < WORDS; w++)
        if (span_is_nocase(name, words[w].header))
            return note_header(c, words[w].setting, words[w].header, e) < 0
                       ? -1
                       : take_word(c, &words[w], value, words[w].header, e);
    for (int n = 0; n < CALLER_NAMES; n++)
        if (span_is_nocase(name, names[n].header))
            return note_header(c, SET_NAMES + (unsigned)n, names[n].header, e) < 0
                       ? -1
                       : take_name(c, (enum caller_name)n, value, names[n].header, e);
    return 0;
}

int caller_read_head(struct caller *c, const struct http_head *head, struct error *e)
{
    struct error later;
    int status = 0;
    for (size_t i = 0; i < head->n; i++) {
        struct span name = head->fields[i].name, value = head->fields[i].value;
        if (forward_is_own_field(name) && read_header(c, name, value, status ? &later : e) < 0)
            status = -1; /* how it is to be said may stand in one of the next */
    }
    return status;
}

/* {"image_generation_enabled": false} */
static int read_agent_context(struct caller *c, struct span value, struct error *e)
{
    struct json_iter it = json_iter(value);
    int more;
    bool seen = false;
    if (json_type(value) != JSON_OBJECT)
        return error_set(e, ERROR_BAD_REQUEST, "hw.agent_context must be an object.");
    while ((more = json_next(&it)) == 1) {
        enum json_type type = json_type(it.value);
        if (!json_key_is(&it, "image_generation_enabled"))
            return error_set(e, ERROR_BAD_REQUEST,
                             "hw.agent_context has no key \"%.*s\"; it knows image_generation_enabled.",
                             (int)(it.key.n > 64 ? 64 : it.key.n), it.key.p);
        if (seen)
            return error_set(
                e, ERROR_BAD_REQUEST,
                "hw.agent_context.image_generation_enabled is given more than once; give it once.");
        seen = true;
        if (type != JSON_TRUE && type != JSON_FALSE && type != JSON_NULL)
            return error_set(e, ERROR_BAD_REQUEST,
                             "hw.agent_context.image_generation_enabled must be true or false.");
        if (!(c->from_header & 1u << SET_IMAGES))
            c->image_generation_off = type == JSON_FALSE;
    }
    return more;
}

/* A type or a name: a string that says something. */
static int add_forward(struct caller *c, struct span value, struct error *e)
{
    struct buf text;
    buf_init(&text, LIMIT_ATTACHMENT_NAME);
    bool good = json_type(value) == JSON_STRING && json_unescape(json_inside(value), &text) == 0 && text.n &&
                !memchr(buf_span(&text).p, '\0', text.n);
    if (good && c->nforward < LIMIT_ATTACHMENTS) {
        if (!c->forward)
            c->forward = xcalloc(LIMIT_ATTACHMENTS, sizeof *c->forward);
        c->forward[c->nforward++] = xspandup(buf_span(&text));
    } else if (good) {
        error_set(e, ERROR_BAD_REQUEST, "hw.forward may name at most %d attachments.", LIMIT_ATTACHMENTS);
        good = false;
    } else {
        error_set(e, ERROR_BAD_REQUEST,
                  "hw.forward must be \"all\", or a list of types or names of the parent's attachments.");
    }
    buf_free(&text);
    return good ? 0 : -1;
}

/* "all", or a list; one string stands for a list of one. */
static int read_forward(struct caller *c, struct span value, struct error *e)
{
    struct json_iter it = json_iter(value);
    int more;
    if (json_type(value) == JSON_NULL)
        return 0;
    if (json_type(value) == JSON_STRING && json_inside_is(json_inside(value), "all")) {
        c->forward_all = true;
        return 0;
    }
    if (json_type(value) != JSON_ARRAY)
        return add_forward(c, value, e);
    while ((more = json_next(&it)) == 1)
        if (add_forward(c, it.value, e) < 0)
            return -1;
    return more;
}

static int take_name_of_body(struct caller *c, enum caller_name which, struct span value, const char *said,
                             struct error *e)
{
    struct buf plain;
    bool string = json_type(value) == JSON_STRING;
    bool counted = which == CALLER_TURN && json_type(value) == JSON_NUMBER;
    if (!string && !counted)
        return error_set(e, ERROR_BAD_REQUEST, "%s must be a string.", said);
    if (!is_text(which))
        return take_name(c, which, string ? json_inside(value) : value, said, e);
    buf_init(&plain, LIMIT_LOG_LINE);
    int status = json_unescape(json_inside(value), &plain) < 0
                     ? error_set(e, ERROR_BAD_REQUEST, "%s is too long.", said)
                     : take_name(c, which, buf_span(&plain), said, e);
    buf_free(&plain);
    return status;
}

/* Of two, one would be dropped in silence. Answers whether the key counts: 1, 0 when a header has said it,
 * -1 with *e. */
static int note_key(struct caller *c, unsigned setting, const char *key, struct error *e)
{
    if (c->from_body & 1u << setting)
        return error_set(e, ERROR_BAD_REQUEST, "hw.%s is given more than once; give it once.", key);
    c->from_body |= 1u << setting;
    return !(c->from_header & 1u << setting);
}

static int read_key(struct caller *c, const struct json_iter *it, struct error *e)
{
    struct span value = json_type(it->value) == JSON_STRING ? json_inside(it->value) : it->value;
    const bool said_nothing = json_type(it->value) == JSON_NULL;
    char said[48];
    int counts;
    if (json_key_is(it, "agent_context")) /* looks at the header itself */
        return (counts = note_key(c, SET_AGENT_CONTEXT, "agent_context", e)) < 0 || said_nothing
                   ? counts
                   : read_agent_context(c, it->value, e);
    if (json_key_is(it, "forward"))
        return note_key(c, SET_FORWARD, "forward", e) < 0 ? -1 : read_forward(c, it->value, e);
    if (json_key_is(it, "consult")) {
        counts = note_key(c, SET_CONSULT, "consult", e);
        return counts == 1 && !said_nothing ? take_consult(c, value, "hw.consult", e) : counts;
    }
    for (int w = 0; w < WORDS; w++)
        if (words[w].key && json_key_is(it, words[w].key)) {
            snprintf(said, sizeof said, "hw.%s", words[w].key);
            counts = note_key(c, words[w].setting, words[w].key, e);
            return counts == 1 && !said_nothing ? take_word(c, &words[w], value, said, e) : counts;
        }
    for (int n = 0; n < CALLER_NAMES; n++)
        if (json_key_is(it, names[n].key)) {
            snprintf(said, sizeof said, "hw.%s", names[n].key);
            counts = note_key(c, SET_NAMES + (unsigned)n, names[n].key, e);
            return counts == 1 && !said_nothing
                       ? take_name_of_body(c, (enum caller_name)n, it->value, said, e)
                       : counts;
        }
    return error_set(
        e, ERROR_BAD_REQUEST,
        "hw has no key \"%.*s\". It knows consult, org, thread, turn, parent, trigger, headline, "
        "agent_context, stream, links, errors, inject, context and forward.",
        (int)(it->key.n > 64 ? 64 : it->key.n), it->key.p);
}

int caller_read_body(struct caller *c, struct span hw, struct error *e)
{
    struct json_iter it = json_iter(hw);
    struct error later;
    int more, status = 0;
    if (json_type(hw) != JSON_OBJECT)
        return error_set(e, ERROR_BAD_REQUEST, "hw must be an object.");
    if (hw.n > LIMIT_HW)
        return error_set(e, ERROR_BAD_REQUEST,
                         "hw has %zu bytes; at most %d are read. Files go into attachments.", hw.n, LIMIT_HW);
    while ((more = json_next(&it)) == 1)
        if (read_key(c, &it, status ? &later : e) < 0)
            status = -1; /* how it is to be said may stand in one of the next */
    return more < 0 ? more : status;
}

static struct span query_value(struct span query, const char *name)
{
    size_t n = strlen(name);
    while (query.n) {
        const char *amp = memchr(query.p, '&', query.n);
        size_t len = amp ? (size_t)(amp - query.p) : query.n;
        if (len > n && query.p[n] == '=' && memcmp(query.p, name, n) == 0)
            return span_of(query.p + n + 1, len - n - 1);
        query = span_from(query, amp ? len + 1 : len);
    }
    return (struct span){0};
}

struct span caller_api_key(const struct http_head *head, struct span query)
{
    static const char *const plain[] = {"x-api-key", "api-key", "x-goog-api-key"};
    const struct http_field *f = http_head_find(head, "authorization");
    if (f) {
        struct span v = f->value;
        if (v.n > 7 && strncasecmp(v.p, "Bearer ", 7) == 0) {
            v = span_from(v, 7);
            while (v.n && v.p[0] == ' ')
                v = span_from(v, 1);
        }
        if (v.n)
            return v;
    }
    for (size_t i = 0; i < sizeof plain / sizeof plain[0]; i++)
        if ((f = http_head_find(head, plain[i])) && f->value.n)
            return f->value;
    return query_value(query, "key");
}
