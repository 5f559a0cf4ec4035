#include "transcript/document.h"

#include "base/xalloc.h"
#include "transcript/raw.h"
#include "transcript/scan.h"
#include "transcript/transcript.h"

enum { CACHED = 4, CACHED_BYTES = 1 << 20 };

/* An entry that was asked for a moment ago: a turn is drawn in two files, a record's answer behind its work.
 */
struct cached {
    json_t *tree; /* NULL: empty */
    enum side side;
    size_t i, bytes;
};

struct list {
    json_t *trees;      /* all of them, or NULL */
    struct span *texts; /* or their texts, or NULL */
    size_t n;
    json_t **kept; /* NULL until one is */
};

struct document {
    json_t *head;
    const struct journal *journal; /* or NULL */
    struct list lists[SIDES];
    struct cached cache[CACHED]; /* the newest first */
    bool failed;
};

static const char *const names[SIDES] = {"entries", "background_entries"};

/* ---- opening ---- */

static json_t *read_trees(struct span plain, struct span blocks, struct error *e)
{
    json_t *root = raw_parse(plain, e);
    if (!root || blocks.n == 0)
        return root;
    json_t *second = raw_parse(blocks, e);
    if (second)
        return raw_merge(root, second);
    json_decref(root);
    return NULL;
}

static struct document *open_trees(struct span plain, struct span blocks, struct error *e)
{
    json_t *root = read_trees(plain, blocks, e);
    if (!root)
        return NULL;
    struct document *d = xcalloc(1, sizeof *d);
    d->head = root;
    for (unsigned s = 0; s < SIDES; s++) {
        d->lists[s].trees = raw_list(root, names[s]);
        d->lists[s].n = json_array_size(d->lists[s].trees);
    }
    return d;
}

struct document *document_open(struct span plain, struct span blocks, struct error *e)
{
    struct scan_list lists[SIDES];
    struct buf head;
    if (blocks.n || plain.n > TRANSCRIPT_DOCUMENT)
        return open_trees(plain, blocks, e);
    buf_init(&head, plain.n + 2);
    struct document *d = NULL;
    if (scan_lists(plain, names, SIDES, lists, &head)) {
        d = xcalloc(1, sizeof *d);
        d->head = raw_parse_value(buf_span(&head));
        for (unsigned s = 0; s < SIDES; s++)
            d->lists[s] = (struct list){.texts = lists[s].texts, .n = lists[s].n};
    }
    buf_free(&head);
    return d ? d : open_trees(plain, blocks, e);
}

struct document *document_open_journal(const struct journal *j)
{
    struct document *d = xcalloc(1, sizeof *d);
    struct buf head;
    buf_init(&head, TRANSCRIPT_DOCUMENT);
    journal_add_head(j, &head);
    d->head = raw_parse_value(buf_span(&head));
    buf_free(&head);
    d->journal = j;
    for (unsigned s = 0; s < SIDES; s++)
        d->lists[s].n = journal_entries(j, s == SIDE_BACKGROUND);
    return d;
}

void document_close(struct document *d)
{
    if (!d)
        return;
    for (unsigned s = 0; s < SIDES; s++) {
        for (size_t i = 0; i < d->lists[s].n && d->lists[s].kept; i++)
            json_decref(d->lists[s].kept[i]);
        xfree(d->lists[s].kept);
        xfree(d->lists[s].texts);
    }
    for (unsigned c = 0; c < CACHED; c++)
        json_decref(d->cache[c].tree);
    json_decref(d->head);
    xfree(d);
}

/* ---- entries ---- */

const json_t *document_head(const struct document *d)
{
    return d->head;
}

size_t document_entries(const struct document *d, enum side side)
{
    return d->lists[side].n;
}

static json_t *parse(struct span text)
{
    json_t *value = raw_parse_value(text);
    return value ? value : json_null();
}

static json_t *read_entry(struct document *d, enum side side, size_t i, size_t *bytes)
{
    json_t *value;
    struct buf text;
    if (!d->journal) {
        *bytes = d->lists[side].texts[i].n;
        return parse(d->lists[side].texts[i]);
    }
    buf_init(&text, TRANSCRIPT_DOCUMENT);
    if (journal_add_entry(d->journal, side == SIDE_BACKGROUND, i, &text) < 0) {
        d->failed = true;
        value = json_null();
    } else {
        value = parse(buf_span(&text));
    }
    *bytes = text.n;
    buf_free(&text);
    return value;
}

/* A large entry does not stay beside the next one. */
static void drop_large(struct document *d)
{
    for (unsigned c = 0; c < CACHED; c++)
        if (d->cache[c].bytes > CACHED_BYTES) {
            json_decref(d->cache[c].tree);
            d->cache[c] = (struct cached){.tree = NULL};
        }
}

static void remember(struct document *d, const struct cached *newest)
{
    size_t bytes = newest->bytes;
    for (unsigned c = 0; c < CACHED; c++) {
        bytes += d->cache[c].bytes;
        if (c < CACHED - 1 && bytes <= CACHED_BYTES)
            continue;
        json_decref(d->cache[c].tree);
        d->cache[c] = (struct cached){.tree = NULL};
    }
    memmove(&d->cache[1], &d->cache[0], (CACHED - 1) * sizeof d->cache[0]);
    d->cache[0] = *newest;
    json_incref(newest->tree);
}

json_t *document_entry(struct document *d, enum side side, size_t i)
{
    struct list *l = &d->lists[side];
    if (l->trees)
        return json_incref(json_array_get(l->trees, i));
    if (l->kept && l->kept[i])
        return json_incref(l->kept[i]);
    for (unsigned c = 0; c < CACHED; c++)
        if (d->cache[c].tree && d->cache[c].side == side && d->cache[c].i == i)
            return json_incref(d->cache[c].tree);
    drop_large(d);
    struct cached entry = {.side = side, .i = i};
    entry.tree = read_entry(d, side, i, &entry.bytes);
    remember(d, &entry);
    return entry.tree;
}

void document_keep(struct document *d, enum side side, size_t i)
{
    struct list *l = &d->lists[side];
    if (l->trees)
        return;
    if (!l->kept)
        l->kept = xcalloc(l->n, sizeof(json_t *));
    if (!l->kept[i])
        l->kept[i] = document_entry(d, side, i);
}

bool document_failed(const struct document *d)
{
    return d->failed;
}
