#include "config/read.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/xalloc.h"
#include "config/value.h"

enum { MESSAGE_PART = 512 };

static void print_where(const struct where *w, struct buf *out)
{
    if (!w)
        return;
    print_where(w->up, out);
    if (w->key)
        buf_printf(out, "%s%s", w->up ? "." : "", w->key);
    else
        buf_printf(out, "[%zu]", w->index);
}

int read_refuse(const struct source *s, const struct where *w, size_t line, const char *format, ...)
{
    va_list args;
    char message[MESSAGE_PART];
    struct buf path;
    va_start(args, format);
    vsnprintf(message, sizeof message, format, args);
    va_end(args);
    buf_init(&path, MESSAGE_PART);
    if (s->name && line)
        buf_printf(&path, "%.400s:%zu: ", s->name, line);
    else if (s->name)
        buf_printf(&path, "%.400s: ", s->name);
    print_where(w, &path);
    buf_adds(&path, w ? ": " : "");
    snprintf(s->error->message, sizeof s->error->message, "%s%s", buf_cstr(&path), message);
    buf_free(&path);
    return -1;
}

static int refuse_found(const struct source *s, const struct where *w, const struct node *n,
                        const char *expected, bool secret)
{
    struct buf found;
    buf_init(&found, MESSAGE_PART);
    if (n->kind != NODE_TEXT)
        buf_adds(&found, n->kind == NODE_MAP ? "a map" : "a list");
    else if (tree_null(n) || n->text.n == 0)
        buf_adds(&found, "nothing");
    else if (secret)
        buf_adds(&found, "something else");
    else
        value_print_found(n->text, &found);
    read_refuse(s, w, n->line, "expected %s, found %s", expected, buf_cstr(&found));
    buf_free(&found);
    return -1;
}

/* Filling in what is expected is the callers' way to say -1. */
static int expect_range(const struct key *k, void (*print)(int64_t, struct buf *), const char *form,
                        const char *such, char expected[256])
{
    struct buf b;
    buf_init(&b, 250);
    buf_printf(&b, "a %s from ", form);
    print(k->min, &b);
    buf_adds(&b, " to ");
    print(k->max, &b);
    buf_adds(&b, such);
    snprintf(expected, 256, "%s", buf_cstr(&b));
    buf_free(&b);
    return -1;
}

static void print_count(int64_t n, struct buf *out)
{
    buf_printf(out, "%lld", (long long)n);
}

static int set_number(const struct key *k, struct span text, void *at, char expected[256])
{
    int64_t n = 0;
    bool size = k->type == KEY_SIZE, count = k->type == KEY_COUNT;
    int bad = size ? value_size(text, &n) : count ? value_count(text, &n) : value_milliseconds(text, &n);
    if (bad || n < k->min || n > k->max) {
        if (count)
            return expect_range(k, print_count, "whole number", "", expected);
        if (size)
            return expect_range(k, value_print_size, "size", ", such as 64KiB or 8MiB", expected);
        return expect_range(k, value_print_milliseconds, "duration", ", such as 500ms, 10s, 5m, 24h or 7d",
                            expected);
    }
    if (k->type == KEY_SECONDS && n % 1000) {
        snprintf(expected, 256, "a duration of whole seconds");
        return -1;
    }
    if (size || count)
        *(size_t *)at = (size_t)n;
    else
        *(int64_t *)at = k->type == KEY_SECONDS ? n / 1000 : n;
    return 0;
}

static int set_bool(const struct node *n, void *at, char expected[256])
{
    static const char *const others[] = {"yes", "no", "on", "off", "y", "n"};
    bool value;
    if (n->plain && value_bool(n->text, &value) == 0) {
        *(bool *)at = value;
        return 0;
    }
    snprintf(expected, 256, "true or false%s", n->plain ? "" : " without quotes");
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++)
        if (n->plain && span_is_nocase(n->text, others[i]))
            snprintf(expected, 256, "true or false (the words yes, no, on and off are not read as such)");
    return -1;
}

static int set_enum(const struct key *k, struct span text, void *at, char expected[256])
{
    size_t used = 0;
    for (unsigned i = 0; k->words[i]; i++)
        if (span_is(text, k->words[i])) {
            memcpy(at, &i, sizeof i);
            return 0;
        }
    for (size_t i = 0; k->words[i] && used < 200; i++)
        used += (size_t)snprintf(expected + used, 256 - used, "%s%s", i ? ", " : "one of ", k->words[i]);
    return -1;
}

static int set_text(const struct source *s, const struct where *w, const struct node *n, const struct key *k,
                    void *at)
{
    enum { LONGEST = 4096 };
    if (!value_printable(n->text) || n->text.n > LONGEST)
        return refuse_found(s, w, n, k->what, false);
    if (s->resolve && k->flags & KEY_FILE) {
        int fd = open(n->text.p, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
        if (fd < 0)
            return read_refuse(s, w, n->line, "the file \"%.200s\" cannot be read: %s", n->text.p,
                               strerror(errno));
        struct stat st;
        bool folder = fstat(fd, &st) == 0 && S_ISDIR(st.st_mode);
        close(fd);
        if (folder)
            return read_refuse(s, w, n->line, "\"%.200s\" is a directory; expected %s", n->text.p, k->what);
    }
    char **to = at;
    xfree(*to);
    *to = xspandup(n->text);
    return 0;
}

static int read_single(const struct source *s, const struct where *w, const struct node *n,
                       const struct key *k, void *at)
{
    struct setting setting = {.text = n->text, .resolve = s->resolve};
    int failed = 0;
    if (n->kind != NODE_TEXT || tree_null(n) || n->text.n == 0) {
        static const char *const forms[] = {
            [KEY_BOOL] = "true or false",
            [KEY_ENUM] = "a word",
            [KEY_SIZE] = "a size, such as 8MiB",
            [KEY_COUNT] = "a number",
            [KEY_MILLISECONDS] = "a duration, such as 10s",
            [KEY_SECONDS] = "a duration, such as 7d",
            [KEY_SPECIAL] = "a value",
        };
        const char *expected = k->type == KEY_TEXT ? k->what : forms[k->type];
        /* What a special key or an enum expects, it says itself. */
        setting.text = SPAN_LIT("?");
        if (k->type == KEY_ENUM && set_enum(k, setting.text, at, setting.expected))
            expected = setting.expected;
        if (k->type == KEY_SPECIAL && k->set(&setting, at) && !setting.sentence[0])
            expected = setting.expected;
        return refuse_found(s, w, n, expected, false);
    }
    switch (k->type) {
    case KEY_BOOL:
        failed = set_bool(n, at, setting.expected);
        break;
    case KEY_TEXT:
        return set_text(s, w, n, k, at);
    case KEY_ENUM:
        failed = set_enum(k, n->text, at, setting.expected);
        break;
    case KEY_SPECIAL:
        failed = k->set(&setting, at);
        break;
    default:
        failed = set_number(k, n->text, at, setting.expected);
    }
    if (failed && setting.sentence[0])
        return read_refuse(s, w, n->line, "%s", setting.sentence);
    return failed ? refuse_found(s, w, n, setting.expected, k->flags & KEY_SECRET) : 0;
}

static int read_list(const struct source *s, const struct where *w, const struct node *n,
                     const struct key_list *list, void *record)
{
    void *items, *items_at = (char *)record + list->items;
    size_t *count = (size_t *)(void *)((char *)record + list->count);
    if (n->kind != NODE_LIST)
        return refuse_found(s, w, n, list->inside ? "a list of maps (lines that begin with - )" : "a list",
                            list->item);
    if (n->n < list->least || n->n > list->most)
        return read_refuse(s, w, n->line, "expected a list with %zu to %zu entries, found %zu", list->least,
                           list->most, n->n);
    memcpy(&items, items_at, sizeof items);
    list->destroy(items, *count);
    items = xcalloc(n->n, list->size);
    memcpy(items_at, &items, sizeof items);
    *count = n->n;
    for (size_t i = 0; i < n->n; i++) {
        const struct where here = {.up = w, .index = i};
        char *item = (char *)items + i * list->size;
        if (list->inside ? read_map(s, &here, n->members[i].value, list->inside, item)
                         : read_single(s, &here, n->members[i].value, list->item, item))
            return -1;
    }
    return 0;
}

int read_value(const struct source *s, const struct where *w, const struct node *n, const struct key *k,
               void *record)
{
    if (k->type == KEY_MAP)
        return read_map(s, w, n, k->inside, record);
    if (k->type == KEY_LIST)
        return read_list(s, w, n, k->list, record);
    return read_single(s, w, n, k, (char *)record + k->at);
}

/* Values of tables are right by construction: a test reads them all. */
static int read_initial(const struct source *s, const struct where *w, const struct key *k, void *record)
{
    struct tree_error e;
    struct node *n = k->type == KEY_LIST ? tree_parse(span_str(k->initial), &e)
                                         : tree_create(NODE_TEXT, span_str(k->initial));
    int failed = n ? read_value(s, w, n, k, record) : read_refuse(s, w, 0, "%s", e.message);
    tree_destroy(n);
    return failed;
}

/* Where else a key of that name stands, for people who forgot the map around it. */
static const char *home_of(const struct key_table *table, struct span name)
{
    for (size_t i = 0; i < keys_root.n; i++) {
        const struct key *k = &keys_root.keys[i];
        const struct key *found = k->inside && k->inside != table ? keys_find(k->inside, name) : NULL;
        if (found && !found->absent)
            return k->name;
    }
    return table != &keys_root && keys_find(&keys_root, name) ? "the top level" : NULL;
}

static int refuse_unknown(const struct source *s, const struct where *up, const struct member *m,
                          const struct key_table *table)
{
    struct buf key;
    struct span name = span_str(m->key);
    buf_init(&key, MESSAGE_PART);
    value_print_found(name, &key);
    struct span shown = buf_span(&key);
    char *bare = xspandup(span_of(shown.p + 1, shown.n - 2));
    const struct where here = {.up = up, .key = bare};
    const char *nearest = keys_nearest(table, name);
    const char *home = home_of(table, name);
    if (home)
        read_refuse(s, &here, m->line, "unknown key here; it belongs under %s", home);
    else if (nearest)
        read_refuse(s, &here, m->line, "unknown key; did you mean %s?", nearest);
    else
        read_refuse(s, &here, m->line, "unknown key");
    xfree(bare);
    buf_free(&key);
    return -1;
}

/* Whether a map has no defaults; then the first of its keys is required. */
static bool has_required(const struct key *map)
{
    return map->inside->keys[0].flags & KEY_REQUIRED;
}

static int read_member(const struct source *s, const struct where *up, const struct member *m,
                       const struct key_table *table, uint64_t *seen, void *record)
{
    const struct key *k = keys_find(table, span_str(m->key));
    if (!k)
        return refuse_unknown(s, up, m, table);
    const struct where here = {.up = up, .key = k->name};
    uint64_t bit = UINT64_C(1) << (k - table->keys);
    if (*seen & bit)
        return read_refuse(s, &here, m->line, "this key stands here for the second time");
    if (k->absent)
        return read_refuse(s, &here, m->line, "%s", k->absent);
    /* A map or list with nothing in it, all its lines being comments, is as good as absent. */
    if ((k->type == KEY_LIST || (k->type == KEY_MAP && !has_required(k))) && tree_null(m->value))
        return 0;
    *seen |= bit;
    return read_value(s, &here, m->value, k, record);
}

static int read_absent(const struct source *s, const struct where *up, size_t line, const struct key *k,
                       void *record)
{
    static const struct node nothing = {.kind = NODE_MAP};
    const struct where here = {.up = up, .key = k->name};
    if (k->flags & KEY_REQUIRED)
        return read_refuse(s, &here, line, "this key is missing");
    if (k->initial)
        return read_initial(s, &here, k, record);
    if (k->type == KEY_MAP && !has_required(k))
        return read_map(s, &here, &nothing, k->inside, record);
    return 0;
}

/* Whether what stands in the place of such a map may be one of its secrets. */
static bool has_secret(const struct key_table *table)
{
    for (size_t i = 0; i < table->n; i++) {
        const struct key *k = &table->keys[i];
        if (k->flags & KEY_SECRET || (k->list && k->list->item && k->list->item->flags & KEY_SECRET))
            return true;
    }
    return false;
}

int read_map(const struct source *s, const struct where *w, const struct node *n,
             const struct key_table *table, void *record)
{
    uint64_t seen = 0;
    char expected[64];
    if (n->kind != NODE_MAP) {
        snprintf(expected, sizeof expected, "a map (%s: …)", table->keys[0].name);
        return refuse_found(s, w, n, expected, has_secret(table));
    }
    for (size_t i = 0; i < n->n; i++)
        if (read_member(s, w, &n->members[i], table, &seen, record))
            return -1;
    for (size_t i = 0; i < table->n; i++)
        if (!(seen & UINT64_C(1) << i) && read_absent(s, w, n->line, &table->keys[i], record))
            return -1;
    return 0;
}
