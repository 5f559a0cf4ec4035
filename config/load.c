#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/xalloc.h"
#include "config/address.h"
#include "config/config.h"
#include "config/keys.h"
#include "config/read.h"
#include "config/record.h"
#include "config/tree.h"

enum { FILE_MOST = 1 << 20, NAME_MOST = 128 };

static struct config *parse(struct span yaml, const char *name, bool resolve, struct config_error *e)
{
    const struct source source = {.name = name, .resolve = resolve, .error = e};
    struct tree_error bad;
    struct config *c = NULL;
    e->message[0] = '\0';
    struct node *root = tree_parse(yaml, &bad);
    if (!root) {
        read_refuse(&source, NULL, bad.line, "%s", bad.message);
        return NULL;
    }
    c = xcalloc(1, sizeof *c);
    c->refs = 1;
    c->file = xstrdup(name);
    if (read_map(&source, NULL, root, &keys_root, c) || read_finish(&source, root, c)) {
        config_unref(c);
        c = NULL;
    }
    tree_destroy(root);
    return c;
}

struct config *config_parse(struct span yaml, const char *name, struct config_error *e)
{
    const struct source source = {.name = name, .error = e};
    if (yaml.n > FILE_MOST) {
        read_refuse(&source, NULL, 0, "larger than 1 MiB, which no configuration is");
        return NULL;
    }
    return parse(yaml, name, false, e);
}

static int read_file(const char *path, struct buf *text, struct config_error *e)
{
    const struct source source = {.name = path, .error = e};
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
    ssize_t got = fd < 0 ? -1 : 1;
    while (got > 0 && text->n <= FILE_MOST) {
        char *to = buf_reserve(text, 65536);
        got = to ? read(fd, to, 65536) : -1;
        if (got < 0 && errno == EINTR)
            got = 1;
        else if (got > 0)
            buf_commit(text, (size_t)got);
    }
    if (got < 0)
        read_refuse(&source, NULL, 0, "cannot be read: %s", strerror(errno));
    else if (text->n > FILE_MOST)
        got = read_refuse(&source, NULL, 0, "larger than 1 MiB, which no configuration is");
    if (fd >= 0)
        close(fd);
    return got < 0 ? -1 : 0;
}

/* "limits.directive" → PENSTOCK_LIMITS_DIRECTIVE */
static void variable_name(const char *key, char name[NAME_MOST])
{
    snprintf(name, NAME_MOST, "PENSTOCK_%s", key);
    for (char *p = name; *p; p++)
        *p = (char)(*p == '.' ? '_' : *p >= 'a' && *p <= 'z' ? *p - 'a' + 'A' : *p);
}

/* The list of listeners with nothing but addresses. */
static struct node *listen_tree(struct span addresses)
{
    struct node *list = tree_create(NODE_LIST, span_str(""));
    for (bool more = true; more;) {
        const char *comma = memchr(addresses.p, ',', addresses.n);
        struct span one = span_of(addresses.p, comma ? (size_t)(comma - addresses.p) : addresses.n);
        struct node *map = tree_create(NODE_MAP, span_str(""));
        tree_add(map, "address", 0, tree_create(NODE_TEXT, one));
        tree_add(list, NULL, 0, map);
        more = comma;
        if (comma)
            addresses = span_from(addresses, one.n + 1);
    }
    return list;
}

/* The single value of that full name; NULL: there is none. */
static const struct key *single_key(struct span name, const char **map)
{
    const struct key_table *table = &keys_root;
    const char *dot = memchr(name.p, '.', name.n);
    *map = NULL;
    if (dot) {
        const struct key *k = keys_find(table, span_of(name.p, (size_t)(dot - name.p)));
        if (!k || k->type != KEY_MAP)
            return NULL;
        *map = k->name;
        table = k->inside;
        name = span_from(name, (size_t)(dot - name.p) + 1);
    }
    const struct key *k = keys_find(table, name);
    return k && k->type != KEY_MAP && k->type != KEY_LIST ? k : NULL;
}

static int set_single(const struct source *s, struct config *c, const char *name, const char *value)
{
    const char *map;
    const struct key *k = single_key(span_str(name), &map);
    const struct where up = {.key = map}, here = {.up = map ? &up : NULL, .key = k ? k->name : name};
    if (!k)
        return read_refuse(s, &here, 0, "there is no such key with a single value");
    if (k->absent)
        return read_refuse(s, &here, 0, "%s", k->absent);
    struct node *text = tree_create(NODE_TEXT, span_str(value));
    int failed = read_value(s, &here, text, k, c);
    tree_destroy(text);
    if (!failed && strcmp(name, "public_url") == 0)
        c->public_url_given = true;
    if (!failed && strcmp(name, "workspace_root") == 0)
        c->workspace_root_given = true;
    return failed;
}

static int override(const struct source *s, struct config *c, const char *key, const char *value)
{
    if (strcmp(key, "admin") == 0)
        return set_single(s, c, "admin.address", value);
    if (strcmp(key, "listen") != 0)
        return set_single(s, c, key, value);
    const struct where here = {.key = key};
    struct node *list = listen_tree(span_str(value));
    int failed = read_value(s, &here, list, keys_find(&keys_root, span_str(key)), c);
    tree_destroy(list);
    return failed;
}

int config_override(struct config *c, const char *key, const char *value, struct config_error *e)
{
    const struct source source = {.resolve = true, .error = e};
    e->message[0] = '\0';
    return override(&source, c, key, value) || read_settle(&source, NULL, c) ? -1 : 0;
}

struct environment {
    struct config *config;
    struct config_error *error;
    bool found;
    int failed;
};

static void apply_variable(struct environment *env, const char *key)
{
    char variable[NAME_MOST], name[NAME_MOST + 32];
    variable_name(key, variable);
    const char *value = getenv(variable);
    if (env->failed || !value || !*value)
        return;
    snprintf(name, sizeof name, "environment variable %s", variable);
    const struct source source = {.name = name, .resolve = true, .error = env->error};
    env->found = true;
    env->failed = override(&source, env->config, key, value);
}

static void apply_key(const char *name, void *arg)
{
    const char *map;
    if (!strchr(name, '[') && single_key(span_str(name), &map))
        apply_variable(arg, name);
}

/* Off, no, 0 and false are off in any case, anything else is on, unset and empty say nothing. */
static void apply_switch(struct config *c)
{
    static const char *const off[] = {"false", "0", "no", "off"};
    struct span word = span_str(getenv("HW_ATTACHMENT_ENABLED"));
    while (word.n && strchr(" \t\r\n", word.p[0]))
        word = span_from(word, 1);
    while (word.n && strchr(" \t\r\n", word.p[word.n - 1]))
        word.n--;
    if (word.n == 0)
        return;
    c->enabled = true;
    for (size_t i = 0; i < sizeof off / sizeof off[0]; i++)
        if (span_is_nocase(word, off[i]))
            c->enabled = false;
}

static int apply_environment(struct config *c, struct config_error *e)
{
    const struct source source = {.name = "the environment", .resolve = true, .error = e};
    struct environment env = {.config = c, .error = e};
    apply_variable(&env, "listen");
    apply_variable(&env, "admin");
    config_keys(apply_key, &env);
    apply_switch(c);
    return env.failed || (env.found && read_finish(&source, NULL, c)) ? -1 : 0;
}

struct config *config_load(const char *path, struct config_error *e)
{
    struct buf text;
    struct config *c = NULL;
    e->message[0] = '\0';
    buf_init(&text, FILE_MOST + 2 * 65536);
    if (path && read_file(path, &text, e))
        goto out;
    c = parse(buf_span(&text), path ? path : "the defaults", true, e);
    if (!c)
        goto out;
    if (apply_environment(c, e)) {
        config_unref(c);
        c = NULL;
    }
out:
    buf_free(&text);
    return c;
}

struct config *config_ref(struct config *c)
{
    c->refs++;
    return c;
}

void config_unref(struct config *c)
{
    if (!c || --c->refs)
        return;
    xfree(c->file);
    xfree(c->state_dir);
    record_destroy_listeners(c->listeners, c->nlisteners);
    address_finish(&c->admin);
    xfree(c->public_url);
    record_destroy_providers(c->providers, c->nproviders);
    xfree(c->default_provider_name);
    record_finish_service(&c->image_generation);
    record_finish_service(&c->transcription);
    xfree(c->sentry.source);
    xfree(c->sentry.host);
    xfree(c->sentry.host_header);
    xfree(c->sentry.path);
    xfree(c->sentry.key);
    xfree(c->brand.font);
    xfree(c->brand.heading_font);
    xfree(c->brand.colour);
    xfree(c->brand.header);
    xfree(c->brand.footer);
    xfree(c->brand.logo);
    record_destroy_organisations(c->organisations, c->norganisations);
    xfree(c->workspace_root);
    xfree(c);
}

const struct config_provider *config_provider_find(const struct config *c, struct span name)
{
    for (size_t i = 0; i < c->nproviders; i++)
        if (span_is(name, c->providers[i].name))
            return &c->providers[i];
    return NULL;
}
