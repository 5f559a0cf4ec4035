#include "attachments/context.h"

#include <stdio.h>

#include "base/xalloc.h"

/* A new type needs one line here and nothing else. */
static const struct {
    const char *type, *field;
} fields_of[] = {
    {"log", "run_logs"},           {"input_dataclip", "input"}, {"run_input", "input"},
    {"output_dataclip", "output"}, {"run_output", "output"},
};

static const char *const field_order[] = {"input", "output", "run_logs"};

const char *context_field(const char *type)
{
    for (size_t i = 0; i < sizeof fields_of / sizeof fields_of[0]; i++)
        if (strcmp(fields_of[i].type, type) == 0)
            return fields_of[i].field;
    return NULL;
}

static bool is_blank(struct span text)
{
    for (size_t i = 0; i < text.n; i++)
        if (!strchr(" \t\r\n\f\v", text.p[i]) || !text.p[i])
            return false;
    return true;
}

size_t context_decide(struct attachments *a, bool fields)
{
    size_t not_passed = 0;
    for (size_t i = 0; i < a->n; i++) {
        struct attachment *at = &a->list[i];
        if (at->source != ATTACHMENT_CONTENT)
            continue;
        if (is_blank(buf_span(&at->text))) {
            at->decision = ATTACHMENT_BLANK;
        } else if (fields && !context_field(at->type)) {
            at->decision = ATTACHMENT_NOT_PASSED;
            not_passed++;
        }
    }
    return not_passed;
}

/* ---- tags ---- */

/* A number at `at` that is a suffix as written by us ("-2"), or 0. Large ones are never used. */
static size_t suffix_at(struct span text, size_t at)
{
    size_t n = 0, i = at + 1;
    if (at >= text.n || text.p[at] != '-')
        return 0;
    for (; i < text.n && text.p[i] >= '0' && text.p[i] <= '9'; i++) {
        if (i == at + 1 && text.p[i] == '0')
            return 0;
        if (n < SIZE_MAX / 16)
            n = n * 10 + (size_t)(text.p[i] - '0');
    }
    return n;
}

/* The next "</name" from `at` on, without regard to case; text.n: none. */
static size_t find_close(struct span text, const char *name, size_t at)
{
    size_t n = strlen(name);
    while (text.n >= n + 2 && at <= text.n - n - 2) {
        const char *found = memchr(text.p + at, '<', text.n - at);
        if (!found)
            break;
        at = (size_t)(found - text.p);
        if (text.n - at >= n + 2 && found[1] == '/' && strncasecmp(found + 2, name, n) == 0)
            return at;
        at++;
    }
    return text.n;
}

/*
 * The smallest suffix from 2 on that no closing tag in the text has; 0: there is no closing tag, and none is
 * needed. Of n closing tags one of the numbers 2 to n + 2 is free, so that one pass over the text does.
 */
static size_t free_suffix(struct span text, const char *name)
{
    size_t n = 0, after = strlen(name) + 2, suffix = 2;
    for (size_t at = find_close(text, name, 0); at < text.n; at = find_close(text, name, at + 1))
        n++;
    if (n == 0)
        return 0;
    bool *used = xcalloc(n + 3, sizeof *used);
    for (size_t at = find_close(text, name, 0); at < text.n; at = find_close(text, name, at + 1)) {
        size_t number = suffix_at(text, at + after);
        if (number <= n + 2)
            used[number] = true;
    }
    while (used[suffix])
        suffix++;
    xfree(used);
    return suffix;
}

struct tag {
    char name[48];
};

static struct tag tag_for(struct span text, const char *name)
{
    struct tag t;
    size_t suffix = free_suffix(text, name);
    if (suffix)
        snprintf(t.name, sizeof t.name, "%s-%zu", name, suffix);
    else
        snprintf(t.name, sizeof t.name, "%s", name);
    return t;
}

static void add_attribute(const char *text, struct buf *out)
{
    for (; *text; text++) {
        if (*text == '"')
            buf_adds(out, "&quot;");
        else if (*text == '<')
            buf_adds(out, "&lt;");
        else if (*text == '>')
            buf_adds(out, "&gt;");
        else if (*text == '&')
            buf_adds(out, "&amp;");
        else
            buf_addc(out, *text);
    }
}

/* <name key="value">, the text, </name>, each tag on its own line. */
static void add_block(const char *name, const char *key, const char *value, struct span text, struct buf *out)
{
    struct tag t = tag_for(text, name);
    buf_printf(out, "<%s", t.name);
    if (key) {
        buf_printf(out, " %s=\"", key);
        add_attribute(value, out);
        buf_addc(out, '"');
    }
    buf_adds(out, ">\n");
    buf_add(out, text);
    buf_printf(out, "\n</%s>", t.name);
}

/* ---- the two forms ---- */

static bool belongs(const struct attachment *a, const char *field)
{
    const char *own = a->source == ATTACHMENT_CONTENT ? context_field(a->type) : NULL;
    return a->decision == ATTACHMENT_PASSED && own && strcmp(own, field) == 0;
}

static void write_field(const struct attachments *a, const char *field, struct buf *out)
{
    struct buf joined;
    size_t sources = 0, said = 0;
    buf_init(&joined, out->max);
    for (size_t i = 0; i < a->n; i++)
        sources += belongs(&a->list[i], field);
    for (size_t i = 0; i < a->n; i++) {
        if (!belongs(&a->list[i], field))
            continue;
        if (sources > 1)
            buf_printf(&joined, "%s[%s]\n", said++ ? "\n\n" : "", a->list[i].type);
        buf_add(&joined, buf_span(&a->list[i].text));
    }
    if (sources) {
        if (out->n)
            buf_addc(out, '\n');
        add_block(field, NULL, NULL, buf_span(&joined), out);
    }
    buf_free(&joined);
}

static void write_attachments(const struct attachments *a, struct buf *out)
{
    struct buf blocks;
    buf_init(&blocks, out->max);
    for (size_t i = 0; i < a->n; i++) {
        const struct attachment *at = &a->list[i];
        if (at->source != ATTACHMENT_CONTENT || at->decision != ATTACHMENT_PASSED)
            continue;
        if (blocks.n)
            buf_addc(&blocks, '\n');
        add_block("attachment", "type", at->type, buf_span(&at->text), &blocks);
    }
    if (blocks.n)
        add_block("attachments", NULL, NULL, buf_span(&blocks), out);
    buf_free(&blocks);
}

void context_write(const struct attachments *a, bool fields, struct buf *out)
{
    if (!fields) {
        write_attachments(a, out);
        return;
    }
    struct buf all;
    buf_init(&all, out->max);
    for (size_t i = 0; i < sizeof field_order / sizeof field_order[0]; i++)
        write_field(a, field_order[i], &all);
    buf_add(out, buf_span(&all));
    buf_free(&all);
}

void context_document(const struct attachment *a, struct buf *out)
{
    context_document_part(a, attachment_text(a), out);
}

void context_document_part(const struct attachment *a, struct span text, struct buf *out)
{
    add_block("document", "name", attachment_title(a), text, out);
}
