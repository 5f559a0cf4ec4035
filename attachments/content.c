/*
 * Content items as text. JSON is printed again from its own bytes in one pass, however deep it is: numbers
 * keep their spelling and keys their order. Indenting makes text grow with depth, so what is counted may be
 * far more than what is kept.
 */
#include "attachments/attachment.h"
#include "base/json.h"

struct printer {
    struct buf *out;
    struct buf plain, escaped; /* room for one string */
    uint64_t characters;
};

static void print(struct printer *p, struct span text)
{
    p->characters += limits_characters(text);
    buf_add(p->out, text);
}

static void print_blanks(struct printer *p, size_t n)
{
    static const char blanks[] = "                                                                ";
    p->characters += n;
    while (n && !buf_full(p->out)) {
        size_t part = n < sizeof blanks - 1 ? n : sizeof blanks - 1;
        buf_addn(p->out, blanks, part);
        n -= part;
    }
}

static void print_line(struct printer *p, size_t depth, bool indent)
{
    if (!indent)
        return;
    print(p, SPAN_LIT("\n"));
    print_blanks(p, 2 * depth);
}

/* A string's text, or the string as JSON in which only what must be is escaped. */
static void print_string(struct printer *p, struct span inside, bool quoted)
{
    buf_reset(&p->plain);
    buf_reset(&p->escaped);
    if (json_unescape(inside, &p->plain))
        return; /* not of a valid value */
    if (!quoted) {
        print(p, buf_span(&p->plain));
        return;
    }
    if (json_escape(buf_span(&p->plain), &p->escaped))
        return;
    print(p, SPAN_LIT("\""));
    print(p, buf_span(&p->escaped));
    print(p, SPAN_LIT("\""));
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

/* Where the string that begins at `at` ends: behind its closing quote. */
static size_t string_end(struct span text, size_t at)
{
    for (size_t i = at + 1; i < text.n; i++) {
        if (text.p[i] == '\\')
            i++;
        else if (text.p[i] == '"')
            return i + 1;
    }
    return text.n;
}

static size_t word_end(struct span text, size_t at)
{
    while (at < text.n && !is_blank(text.p[at]) && !strchr(",:]}", text.p[at]))
        at++;
    return at;
}

/* An opening bracket; an empty container stays as one pair. Answers where to go on. */
static size_t print_open(struct printer *p, struct span text, size_t at, size_t *depth, bool indent)
{
    char close = text.p[at] == '{' ? '}' : ']';
    size_t next = at + 1;
    while (next < text.n && is_blank(text.p[next]))
        next++;
    print(p, span_of(text.p + at, 1));
    if (next < text.n && text.p[next] == close) {
        print(p, span_of(&close, 1));
        return next + 1;
    }
    print_line(p, ++*depth, indent);
    return next;
}

static void print_json(struct printer *p, struct span text, bool indent)
{
    size_t depth = 0, at = 0, end;
    while (at < text.n) {
        char c = text.p[at];
        if (c == '{' || c == '[') {
            at = print_open(p, text, at, &depth, indent);
            continue;
        }
        end = at + 1;
        if (c == '}' || c == ']') {
            print_line(p, depth ? --depth : 0, indent);
            print(p, span_of(&c, 1));
        } else if (c == ',') {
            print(p, SPAN_LIT(","));
            print_line(p, depth, indent);
        } else if (c == ':') {
            print(p, indent ? SPAN_LIT(": ") : SPAN_LIT(":"));
        } else if (c == '"') {
            end = string_end(text, at);
            print_string(p, span_of(text.p + at + 1, end - at - 2), true);
        } else if (!is_blank(c)) {
            end = word_end(text, at);
            print(p, span_of(text.p + at, end - at));
        }
        at = end > at ? end : at + 1;
    }
}

/* An array of lines. */
static void print_lines(struct printer *p, struct span array)
{
    struct json_iter it = json_iter(array);
    for (bool first = true; json_next(&it) == 1; first = false) {
        enum json_type type = json_type(it.value);
        if (!first)
            print(p, SPAN_LIT("\n"));
        if (type == JSON_STRING)
            print_string(p, json_inside(it.value), false);
        else if (type != JSON_NULL)
            print_json(p, it.value, false);
    }
}

uint64_t content_render(struct span value, struct buf *out)
{
    struct printer p = {.out = out};
    buf_init(&p.plain, value.n + 1);
    buf_init(&p.escaped, 6 * value.n + 1);
    switch (json_type(value)) {
    case JSON_STRING:
        print_string(&p, json_inside(value), false);
        break;
    case JSON_ARRAY:
        print_lines(&p, value);
        break;
    case JSON_OBJECT:
        print_json(&p, value, true);
        break;
    default:
        break;
    }
    buf_free(&p.plain);
    buf_free(&p.escaped);
    return p.characters;
}
