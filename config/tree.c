#include "config/tree.h"

#include <stdint.h>
#include <stdio.h>
#include <yaml.h>

#include "base/xalloc.h"

/* The configuration's own depth is five. */
enum { DEPTH = 16, NODES = 100000 };

struct builder {
    yaml_parser_t parser;
    struct tree_error *error;
    size_t nodes;
};

static struct node *refuse(struct builder *b, size_t line, const char *message)
{
    b->error->line = line;
    snprintf(b->error->message, sizeof b->error->message, "%s", message);
    return NULL;
}

static size_t line_of(const yaml_event_t *event)
{
    return event->start_mark.line + 1;
}

static bool next(struct builder *b, yaml_event_t *event)
{
    if (yaml_parser_parse(&b->parser, event))
        return true;
    b->error->line = b->parser.problem_mark.line + 1;
    snprintf(b->error->message, sizeof b->error->message, "not valid YAML: %s",
             b->parser.problem ? b->parser.problem : "it cannot be read");
    return false;
}

struct node *tree_create(enum node_kind kind, struct span text)
{
    struct node *n = xcalloc(1, sizeof *n);
    n->kind = kind;
    if (kind == NODE_TEXT)
        n->text = span_of(xspandup(text), text.n);
    n->plain = kind == NODE_TEXT;
    return n;
}

void tree_add(struct node *parent, const char *key, size_t line, struct node *value)
{
    if (parent->n == parent->room) {
        parent->room = parent->room ? 2 * parent->room : 8;
        parent->members = xrealloc(parent->members, parent->room * sizeof *parent->members);
    }
    parent->members[parent->n++] = (struct member){key ? xstrdup(key) : NULL, line, value};
}

void tree_destroy(struct node *n)
{
    if (!n)
        return;
    for (size_t i = 0; i < n->n; i++) {
        xfree(n->members[i].key);
        tree_destroy(n->members[i].value);
    }
    xfree(n->members);
    if (n->kind == NODE_TEXT)
        xfree((void *)(uintptr_t)n->text.p);
    xfree(n);
}

static struct node *build(struct builder *b, yaml_event_t *event, unsigned depth);

static struct node *build_text(struct builder *b, const yaml_event_t *event)
{
    struct span text = span_of((const char *)event->data.scalar.value, event->data.scalar.length);
    if (event->data.scalar.tag)
        return refuse(b, line_of(event), "tags (!…) are not read here");
    if (memchr(text.p, '\0', text.n))
        return refuse(b, line_of(event), "a NUL character cannot stand in a value");
    struct node *n = tree_create(NODE_TEXT, text);
    n->line = line_of(event);
    n->plain = event->data.scalar.style == YAML_PLAIN_SCALAR_STYLE;
    return n;
}

/* The key of a map's next entry; NULL with *end: there is none. */
static char *build_key(struct builder *b, yaml_event_t *event, bool *end)
{
    struct node *key = NULL;
    char *name = NULL;
    *end = event->type == YAML_MAPPING_END_EVENT;
    if (*end)
        return NULL;
    if (event->type != YAML_SCALAR_EVENT)
        return (char *)refuse(b, line_of(event), "a key must be a word");
    if (event->data.scalar.anchor)
        return (char *)refuse(b, line_of(event), "anchors and aliases (& and *) are not read here");
    key = build_text(b, event);
    if (key)
        name = xspandup(key->text);
    tree_destroy(key);
    return name;
}

static struct node *build_inside(struct builder *b, struct node *n, unsigned depth)
{
    yaml_event_t event;
    for (;;) {
        char *key = NULL;
        bool end;
        if (!next(b, &event))
            goto failed;
        size_t line = line_of(&event);
        if (n->kind == NODE_MAP) {
            key = build_key(b, &event, &end);
            yaml_event_delete(&event);
            if (end)
                return n;
            if (!key)
                goto failed;
            if (!next(b, &event)) {
                xfree(key);
                goto failed;
            }
        } else if (event.type == YAML_SEQUENCE_END_EVENT) {
            yaml_event_delete(&event);
            return n;
        }
        struct node *value = build(b, &event, depth + 1);
        yaml_event_delete(&event);
        if (value)
            tree_add(n, key, line, value);
        xfree(key);
        if (!value)
            goto failed;
    }
failed:
    tree_destroy(n);
    return NULL;
}

/* The node that begins with this event, which stays the caller's. */
static struct node *build(struct builder *b, yaml_event_t *event, unsigned depth)
{
    const yaml_char_t *anchor = NULL, *tag = NULL;
    struct node *n = NULL;
    size_t line = line_of(event);
    if (depth > DEPTH)
        return refuse(b, line, "nested too deeply");
    if (++b->nodes > NODES)
        return refuse(b, line, "too many values");
    if (event->type == YAML_SCALAR_EVENT)
        anchor = event->data.scalar.anchor;
    else if (event->type == YAML_MAPPING_START_EVENT)
        anchor = event->data.mapping_start.anchor, tag = event->data.mapping_start.tag;
    else if (event->type == YAML_SEQUENCE_START_EVENT)
        anchor = event->data.sequence_start.anchor, tag = event->data.sequence_start.tag;
    if (anchor || event->type == YAML_ALIAS_EVENT)
        return refuse(b, line, "anchors and aliases (& and *) are not read here");
    if (tag)
        return refuse(b, line, "tags (!…) are not read here");
    if (event->type == YAML_SCALAR_EVENT)
        return build_text(b, event);
    n = tree_create(event->type == YAML_MAPPING_START_EVENT ? NODE_MAP : NODE_LIST, span_str(""));
    n->line = line;
    return build_inside(b, n, depth);
}

/* After STREAM-START: nothing, or one document. */
static struct node *build_document(struct builder *b)
{
    yaml_event_t event;
    struct node *n = NULL;
    if (!next(b, &event))
        return NULL;
    if (event.type == YAML_STREAM_END_EVENT) {
        yaml_event_delete(&event);
        n = tree_create(NODE_MAP, span_str(""));
        n->line = 1;
        return n;
    }
    yaml_event_delete(&event); /* DOCUMENT-START */
    if (!next(b, &event))
        return NULL;
    n = build(b, &event, 0);
    yaml_event_delete(&event);
    if (n && next(b, &event)) { /* DOCUMENT-END */
        yaml_event_delete(&event);
        if (next(b, &event)) {
            bool more = event.type != YAML_STREAM_END_EVENT;
            if (more)
                refuse(b, line_of(&event), "a second document (---) begins; there can be only one");
            yaml_event_delete(&event);
            if (!more)
                return n;
        }
    }
    tree_destroy(n);
    return NULL;
}

struct node *tree_parse(struct span yaml, struct tree_error *e)
{
    struct builder b = {.error = e};
    yaml_event_t event;
    struct node *n = NULL;
    if (!yaml_parser_initialize(&b.parser))
        return refuse(&b, 0, "out of memory");
    yaml_parser_set_input_string(&b.parser, (const unsigned char *)(yaml.n ? yaml.p : ""), yaml.n);
    if (next(&b, &event)) {
        yaml_event_delete(&event);
        n = build_document(&b);
    }
    yaml_parser_delete(&b.parser);
    if (n && tree_null(n)) {
        n->kind = NODE_MAP;
        xfree((void *)(uintptr_t)n->text.p);
        n->text = span_str("");
    }
    return n;
}

const struct member *tree_member(const struct node *n, const char *key)
{
    for (size_t i = 0; n && n->kind == NODE_MAP && i < n->n; i++)
        if (strcmp(n->members[i].key, key) == 0)
            return &n->members[i];
    return NULL;
}

const struct member *tree_item(const struct node *n, size_t index)
{
    return n && n->kind == NODE_LIST && index < n->n ? &n->members[index] : NULL;
}

bool tree_null(const struct node *n)
{
    return n->kind == NODE_TEXT && n->plain &&
           (n->text.n == 0 || span_is(n->text, "~") || span_is_nocase(n->text, "null"));
}
