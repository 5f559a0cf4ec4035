#include "transcript/print.h"

#include "base/json.h"

void print_string(struct span text, struct buf *out)
{
    buf_addc(out, '"');
    if (json_escape(text, out) == 0)
        buf_addc(out, '"');
}

static void print_line(unsigned level, struct buf *out)
{
    buf_addc(out, '\n');
    for (unsigned i = 0; i < level; i++)
        buf_addc(out, ' ');
}

/* Escapes come in many forms; the shortest is printed. */
static int print_inside(struct span inside, struct buf *out)
{
    struct buf text;
    int failed;
    buf_init(&text, 2 * inside.n + 1);
    failed = json_unescape(inside, &text);
    if (!failed)
        print_string(buf_span(&text), out);
    buf_free(&text);
    return failed;
}

static int print_key(struct span key, struct buf *out)
{
    int failed = print_inside(key, out);
    buf_adds(out, ": ");
    return failed;
}

int print_json(struct span value, unsigned level, struct buf *out)
{
    enum json_type type = json_type(value);
    struct json_iter it = json_iter(value);
    bool any = false;
    int got, failed = 0;
    if (type == JSON_STRING)
        return print_inside(json_inside(value), out);
    if (type != JSON_OBJECT && type != JSON_ARRAY) {
        buf_add(out, value);
        return buf_full(out) ? -1 : 0;
    }
    buf_addc(out, type == JSON_OBJECT ? '{' : '[');
    while (!failed && (got = json_next(&it)) != 0) {
        if (got < 0 || buf_full(out))
            return -1;
        if (any)
            buf_addc(out, ',');
        print_line(level + 1, out);
        if (type == JSON_OBJECT)
            failed = print_key(it.key, out);
        failed = failed || print_json(it.value, level + 1, out);
        any = true;
    }
    if (any)
        print_line(level, out);
    buf_addc(out, type == JSON_OBJECT ? '}' : ']');
    return failed || buf_full(out) ? -1 : 0;
}

bool print_find(struct span document, const char *name, struct span *value)
{
    struct span root;
    return document.n && json_document(document, &root) && json_member(root, name, value);
}

static int print_member(const char *name, struct span value, bool *any, struct buf *out)
{
    buf_adds(out, *any ? ",\n " : "\n ");
    *any = true;
    print_string(span_str(name), out);
    buf_adds(out, ": ");
    return print_json(value, 1, out);
}

int print_with(struct span document, const char *name, struct span value, struct buf *out)
{
    struct span root;
    bool any = false, set = value.n == 0;
    int failed = 0;
    if (!json_document(document, &root) || json_type(root) != JSON_OBJECT)
        return -1;
    struct json_iter it = json_iter(root);
    buf_addc(out, '{');
    while (!failed && json_next(&it) == 1) {
        if (!json_key_is(&it, name)) {
            buf_adds(out, any ? ",\n " : "\n ");
            any = true;
            failed = print_key(it.key, out) || print_json(it.value, 1, out);
        } else if (!set) {
            failed = print_member(name, value, &any, out);
            set = true;
        }
    }
    if (!set)
        failed = failed || print_member(name, value, &any, out);
    buf_adds(out, any ? "\n}\n" : "}\n");
    return failed || buf_full(out) ? -1 : 0;
}

bool print_same_without(struct span a, struct span b, const char *name)
{
    struct buf x, y;
    buf_init(&x, 8 * a.n + 64 * 1024);
    buf_init(&y, 8 * b.n + 64 * 1024);
    bool same = print_with(a, name, (struct span){0}, &x) == 0 &&
                print_with(b, name, (struct span){0}, &y) == 0 && x.n == y.n &&
                memcmp(buf_span(&x).p, buf_span(&y).p, x.n) == 0;
    buf_free(&x);
    buf_free(&y);
    return same;
}
