#include "filters/tokens.h"

#include "base/json.h"
#include "base/xalloc.h"

struct token_run {
    size_t bytes;
    bool kept;
};

struct token_item {
    size_t length; /* bytes of text not decided yet */
    size_t entry;  /* bytes of its entry in `entries`; 0: text without one */
    bool removed;  /* some of its text was taken out */
};

void tokens_init(struct tokens *t, size_t max)
{
    *t = (struct tokens){0};
    buf_init(&t->entries, max);
    buf_init(&t->ready, max);
}

void tokens_finish(struct tokens *t)
{
    xfree(t->runs);
    xfree(t->items);
    buf_free(&t->entries);
    buf_free(&t->ready);
    *t = (struct tokens){0};
}

void tokens_fate(struct tokens *t, size_t bytes, bool kept)
{
    if (bytes == 0)
        return;
    if (t->nruns && t->runs[t->nruns - 1].kept == kept) {
        t->runs[t->nruns - 1].bytes += bytes;
        return;
    }
    if (t->nruns == t->runs_room) {
        t->runs_room = t->runs_room ? t->runs_room * 2 : 4;
        t->runs = xrealloc(t->runs, t->runs_room * sizeof *t->runs);
    }
    t->runs[t->nruns++] = (struct token_run){.bytes = bytes, .kept = kept};
}

static int push(struct tokens *t, size_t length, struct span entry)
{
    if (t->first + t->n == t->room) {
        if (t->n)
            memmove(t->items, t->items + t->first, t->n * sizeof *t->items);
        t->first = 0;
        if (t->n * 2 >= t->room) {
            t->room = t->room ? t->room * 2 : 8;
            t->items = xrealloc(t->items, t->room * sizeof *t->items);
        }
    }
    t->items[t->first + t->n++] = (struct token_item){.length = length, .entry = entry.n};
    return buf_add(&t->entries, entry);
}

/* The code unit of the \u escape at p; 0: there is none. */
static unsigned code_unit(const char *p, const char *end)
{
    unsigned value = 0;
    if (end - p < 6 || p[0] != '\\' || p[1] != 'u')
        return 0;
    for (int i = 2; i < 6; i++) {
        char c = (char)(p[i] | 0x20);
        value = value * 16 + ((unsigned)(c >= 'a' ? c - 'a' + 10 : c - '0') & 15);
    }
    return value;
}

static bool is_high(unsigned unit)
{
    return unit >= 0xd800 && unit < 0xdc00;
}

static bool is_low(unsigned unit)
{
    return unit >= 0xdc00 && unit < 0xe000;
}

size_t tokens_text_length(struct span escaped)
{
    const char *p = escaped.p, *end = escaped.n ? p + escaped.n : p;
    size_t n = 0;
    while (p < end) {
        const char *escape = memchr(p, '\\', (size_t)(end - p));
        if (!escape)
            return n + (size_t)(end - p);
        n += (size_t)(escape - p);
        p = escape + 2;
        if (p > end || escape[1] != 'u') {
            n++;
            continue;
        }
        unsigned unit = code_unit(escape, end);
        p = escape + 6;
        if (is_high(unit) && is_low(code_unit(p, end))) {
            n += 4;
            p += 6;
        } else {
            n += unit < 0x80 ? 1 : unit < 0x800 ? 2 : 3;
        }
    }
    return n;
}

static size_t entry_length(struct span entry)
{
    struct span bytes, token;
    if (json_member(entry, "bytes", &bytes) && json_type(bytes) == JSON_ARRAY) {
        struct json_iter it = json_iter(bytes);
        size_t n = 0;
        while (json_next(&it) == 1)
            n++;
        return n;
    }
    if (json_member(entry, "token", &token) && json_type(token) == JSON_STRING)
        return tokens_text_length(json_inside(token));
    return 0;
}

/* The next entry of an array's inside, without the comma before it; false at the end. */
static bool next_entry(struct span *rest, struct span *entry)
{
    const char *end = rest->n ? rest->p + rest->n : rest->p, *p = rest->p;
    while (p < end && (*p == ',' || *p == ' ' || *p == '\n' || *p == '\r' || *p == '\t'))
        p++;
    if (p == end || json_value(p, end, entry) < 0)
        return false;
    p = entry->p + entry->n;
    *rest = span_of(p, (size_t)(end - p));
    return true;
}

int tokens_take(struct tokens *t, struct span entries, size_t length)
{
    struct span entry;
    while (next_entry(&entries, &entry)) {
        size_t n = entry_length(entry);
        if (n > length)
            n = length;
        length -= n;
        if (push(t, n, entry) < 0)
            return -1;
    }
    return length ? push(t, length, span_of("", 0)) : 0;
}

/* The first item is decided. */
static void pop(struct tokens *t, bool removed)
{
    struct token_item *item = &t->items[t->first];
    if (item->entry && !removed && !item->removed) {
        if (t->ready.n)
            buf_addc(&t->ready, ',');
        buf_addn(&t->ready, buf_span(&t->entries).p, item->entry);
    }
    buf_consume(&t->entries, item->entry);
    t->first++;
    t->n--;
}

void tokens_settle(struct tokens *t, bool all)
{
    bool removed = false; /* what became of the text before the item */
    for (size_t i = 0; i < t->nruns; i++) {
        size_t bytes = t->runs[i].bytes;
        while (bytes && t->n) {
            struct token_item *item = &t->items[t->first];
            if (item->length == 0) {
                pop(t, removed);
                continue;
            }
            size_t n = item->length < bytes ? item->length : bytes;
            item->length -= n;
            bytes -= n;
            removed = !t->runs[i].kept;
            item->removed = item->removed || removed;
            if (item->length == 0)
                pop(t, removed);
        }
    }
    t->nruns = 0;
    while (t->n && (all || t->items[t->first].length == 0))
        pop(t, removed);
    if (t->n == 0) {
        t->first = 0;
        buf_free(&t->entries);
    }
}

void tokens_pass(struct tokens *t)
{
    t->nruns = 0;
}

bool tokens_any(const struct tokens *t)
{
    return t->n || t->ready.n;
}
