/* Trees of elements, made from expat's events. */
#include "attachments/xml.h"
#include "base/xalloc.h"

enum { SLOTS = 2 * XML_NAMES };

struct builder {
    struct extraction *x;
    struct arena *memory; /* of the tree */
    struct arena *names;  /* the tree's own memory, or what outlives each small tree */
    const char *slots[SLOTS];
    size_t n_names;
    struct xml_node *root, *at;
    struct buf text; /* a run that has not ended yet */
    /* When small trees are wanted: */
    const char *container;
    int (*unit)(void *user, const struct xml_node *node);
    void *user;
    bool inside, done;
    unsigned depth; /* below the container */
};

/* One copy of each different name. NULL: too many of them. */
static const char *intern(struct builder *b, const char *name)
{
    uint32_t hash = 2166136261u;
    for (const char *p = name; *p; p++)
        hash = (hash ^ (unsigned char)*p) * 16777619u;
    size_t i = hash % SLOTS;
    for (; b->slots[i]; i = (i + 1) % SLOTS)
        if (!strcmp(b->slots[i], name))
            return b->slots[i];
    if (b->n_names++ == XML_NAMES) {
        extraction_fail(b->x, RENDER_INVALID, "has more than %d kinds of elements; that is no document.",
                        XML_NAMES);
        return NULL;
    }
    return b->slots[i] = arena_copy(b->names, span_str(name)).p;
}

static struct xml_node *append(struct builder *b)
{
    struct xml_node *node = arena_take(b->memory, sizeof *node);
    node->parent = b->at;
    if (b->at && b->at->last)
        b->at->last->next = node;
    else if (b->at)
        b->at->first = node;
    if (b->at)
        b->at->last = node;
    return node;
}

static void flush_text(struct builder *b)
{
    if (b->text.n && b->at)
        append(b)->text = arena_copy(b->memory, buf_span(&b->text));
    buf_reset(&b->text);
}

/* Revision marks that Word puts on every paragraph and run, and that say nothing. */
static bool is_noise(const char *attribute)
{
    const char *local = xml_local(attribute);
    return !strncmp(local, "rsid", 4) || !strcmp(local, "paraId") || !strcmp(local, "textId");
}

static const char *const *copy_attributes(struct builder *b, const char *const *from)
{
    size_t n = 0, kept = 0;
    while (from[n])
        n += 2;
    const char **to = arena_take(b->memory, (n + 1) * sizeof *to);
    for (size_t i = 0; i < n; i += 2) {
        if (is_noise(from[i]))
            continue;
        if (!(to[kept] = intern(b, from[i])))
            return NULL;
        to[kept + 1] = arena_copy(b->memory, span_str(from[i + 1])).p;
        kept += 2;
    }
    to[kept] = NULL;
    return to;
}

static int on_open(void *user, const char *qualified, const char *const *attributes)
{
    struct builder *b = user;
    if (b->container) {
        if (!b->inside) {
            b->inside = !b->done && !strcmp(xml_local(qualified), b->container);
            return 0;
        }
        b->depth++;
    }
    flush_text(b);
    struct xml_node *node = append(b);
    node->qualified = intern(b, qualified);
    node->name = node->qualified ? intern(b, xml_local(node->qualified)) : NULL;
    node->attributes = node->name ? copy_attributes(b, attributes) : NULL;
    if (!node->attributes)
        return -1;
    b->at = node;
    if (!b->root)
        b->root = node;
    return 0;
}

static int on_close(void *user, const char *qualified)
{
    struct builder *b = user;
    (void)qualified;
    if (b->container && !b->inside)
        return 0;
    if (b->container && b->depth == 0) {
        b->inside = false;
        b->done = true;
        return 0;
    }
    flush_text(b);
    b->at = b->at->parent;
    if (!b->container || --b->depth > 0)
        return 0;
    struct xml_node *node = b->root;
    b->root = NULL;
    int answer = b->unit(b->user, node);
    arena_reset(b->memory);
    return answer;
}

static int on_text(void *user, struct span text)
{
    struct builder *b = user;
    return b->at ? buf_add(&b->text, text) : 0;
}

static const struct xml_handlers handlers = {.open = on_open, .close = on_close, .text = on_text};

static struct builder *begin(struct arena *memory, struct arena *names, struct extraction *x)
{
    struct builder *b = xcalloc(1, sizeof *b);
    b->x = x;
    b->memory = memory;
    b->names = names;
    buf_init(&b->text, EXTRACT_PART);
    return b;
}

static int end(struct builder *b, int answer, struct xml_node **root)
{
    if (root)
        *root = answer == 0 ? b->root : NULL;
    buf_free(&b->text);
    xfree(b);
    return answer;
}

int xml_tree(struct span bytes, const char *part, struct arena *memory, struct xml_node **root,
             struct extraction *x)
{
    struct builder *b = begin(memory, memory, x);
    return end(b, xml_scan(bytes, part, &handlers, b, x), root);
}

int xml_tree_part(struct archive *a, const char *part, struct arena *memory, struct xml_node **root)
{
    struct builder *b = begin(memory, memory, archive_extraction(a));
    return end(b, xml_scan_part(a, part, &handlers, b), root);
}

int xml_units(struct archive *a, const char *part, const char *container,
              int (*unit)(void *user, const struct xml_node *node), void *user)
{
    struct arena memory = {0}, names = {0};
    struct builder *b = begin(&memory, &names, archive_extraction(a));
    b->container = container;
    b->unit = unit;
    b->user = user;
    int answer = end(b, xml_scan_part(a, part, &handlers, b), NULL);
    arena_free(&memory);
    arena_free(&names);
    return answer;
}

const char *xml_get(const struct xml_node *node, const char *local)
{
    return node ? xml_attribute(node->attributes, local) : NULL;
}

const char *xml_get_prefixed(const struct xml_node *node, const char *local)
{
    for (const char *const *a = node ? node->attributes : NULL; a && a[0]; a += 2)
        if (xml_local(a[0]) != a[0] && !strcmp(xml_local(a[0]), local))
            return a[1];
    return NULL;
}

bool xml_is(const struct xml_node *node, const char *name)
{
    return node && node->name && !strcmp(node->name, name);
}

const struct xml_node *xml_at(const struct xml_node *node, const char *path)
{
    while (node && *path) {
        size_t n = strcspn(path, "/");
        const struct xml_node *child = node->first;
        while (child && !(child->name && strlen(child->name) == n && !memcmp(child->name, path, n)))
            child = child->next;
        node = child;
        path += n;
        path += *path == '/';
    }
    return node;
}

const struct xml_node *xml_find(const struct xml_node *node, const char *name)
{
    for (const struct xml_node *at = node ? node->first : NULL; at;) {
        if (xml_is(at, name))
            return at;
        const struct xml_node *next = at->first;
        for (; !next && at != node; at = at->parent)
            next = at->next;
        at = next;
    }
    return NULL;
}

void xml_text(const struct xml_node *node, struct buf *out)
{
    if (node && !node->name)
        buf_add(out, node->text);
    for (const struct xml_node *child = node ? node->first : NULL; child; child = child->next)
        xml_text(child, out);
}
