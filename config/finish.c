#include "config/read.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/xalloc.h"
#include "config/address.h"
#include "config/special.h"

/* The rules that span several keys, and values that are made from others. */

static size_t line_of_key(const struct node *root, const char *key)
{
    const struct member *m = tree_member(root, key);
    return m ? m->line : 0;
}

/* The line of list[index].key; of the item when the key is absent. */
static size_t line_in_list(const struct node *root, const char *list, size_t index, const char *key)
{
    const struct member *m = tree_member(root, list);
    const struct member *item = tree_item(m ? m->value : NULL, index);
    const struct member *inner = item ? tree_member(item->value, key) : NULL;
    return inner ? inner->line : item ? item->line : 0;
}

static int refuse_item(const struct source *s, const struct node *root, const char *list, size_t index,
                       const char *key, const char *message)
{
    const struct where top = {.key = list}, item = {.up = &top, .index = index},
                       here = {.up = &item, .key = key};
    return read_refuse(s, &here, line_in_list(root, list, index, key), "%s", message);
}

/* What is wrong with these files shows when they are loaded, and is then told with their lines. */
static void note_lines(const struct node *root, struct config *c)
{
    const struct member *list = tree_member(root, "listen");
    for (size_t i = 0; list && i < c->nlisteners; i++) {
        const struct member *item = tree_item(list->value, i);
        const struct member *tls = item ? tree_member(item->value, "tls") : NULL;
        if (!tls)
            continue;
        c->listeners[i].certificate_line = line_of_key(tls->value, "certificate");
        c->listeners[i].key_line = line_of_key(tls->value, "key");
    }
}

static int finish_listeners(const struct source *s, const struct node *root, struct config *c)
{
    note_lines(root, c);
    const struct where admin = {.key = "admin"}, address = {.up = &admin, .key = "address"};
    for (size_t i = 0; i < c->nlisteners; i++) {
        for (size_t j = 0; j < i; j++)
            if (address_same(&c->listeners[i].address, &c->listeners[j].address))
                return refuse_item(s, root, "listen", i, "address", "another listener has the same address");
        if (address_same(&c->listeners[i].address, &c->admin))
            return read_refuse(s, &address, line_of_key(root, "admin"), "a listener has the same address");
    }
    return 0;
}

static int finish_providers(const struct source *s, const struct node *root, struct config *c)
{
    for (size_t i = 0; i < c->nproviders; i++) {
        struct config_provider *p = &c->providers[i];
        if (!p->prefix) {
            size_t n = strlen(p->name) + 2;
            p->prefix = xmalloc(n);
            snprintf(p->prefix, n, "/%s", p->name);
        }
        for (size_t j = 0; j < i; j++) {
            if (strcmp(p->name, c->providers[j].name) == 0)
                return refuse_item(s, root, "providers", i, "name", "another provider has the same name");
            if (strcmp(p->prefix, c->providers[j].prefix) == 0)
                return refuse_item(s, root, "providers", i, "prefix", "another provider has the same prefix");
        }
    }
    return 0;
}

static int finish_default_provider(const struct source *s, const struct node *root, struct config *c)
{
    const struct where here = {.key = "default_provider"};
    if (!c->default_provider_name)
        c->default_provider_name = xstrdup(config_provider_find(c, SPAN_LIT("openai")) ? "openai" : "none");
    c->default_provider = config_provider_find(c, span_str(c->default_provider_name));
    if (c->default_provider || strcmp(c->default_provider_name, "none") == 0)
        return 0;
    return read_refuse(s, &here, line_of_key(root, "default_provider"),
                       "expected the name of one of the providers, or none, found \"%s\"",
                       c->default_provider_name);
}

static int finish_service(const struct source *s, const struct node *root, const struct config *c,
                          const char *key, struct config_service *service)
{
    const struct where up = {.key = key}, here = {.up = &up, .key = "provider"};
    const struct member *map = tree_member(root, key);
    const char *name = service->provider_name;
    const struct config_provider *p = name ? config_provider_find(c, span_str(name)) : NULL;
    size_t line = line_of_key(map ? map->value : NULL, "provider");
    char able[256];
    service->provider = p;
    if (!name || (p && special_dialect_is_openai(p->dialect)))
        return 0;
    if (!p)
        return read_refuse(s, &here, line, "expected the name of one of the providers, found \"%s\"", name);
    special_dialects_openai(able);
    return read_refuse(
        s, &here, line,
        "expected a provider with OpenAI's API for it, found \"%s\", whose dialect %s has none; "
        "these have: %s",
        name, p->dialect, able);
}

/* Settings that come one by one may leave half of it away. */
static int finish_whole(const struct source *s, const char *key, const struct config_service *service)
{
    const bool provider = service->provider_name, model = service->model;
    const struct where up = {.key = key}, here = {.up = &up, .key = provider ? "model" : "provider"};
    return provider == model ? 0 : read_refuse(s, &here, 0, "this key is missing");
}

/* One name, or one hash of a key, and whose it is. */
struct claim {
    const void *value;
    size_t organisation;
};

static int compare_names(const void *a, const void *b)
{
    const struct claim *x = a, *y = b;
    int order = strcmp(x->value, y->value);
    return order ? order : (x->organisation > y->organisation) - (x->organisation < y->organisation);
}

static int compare_hashes(const void *a, const void *b)
{
    const struct claim *x = a, *y = b;
    int order = memcmp(x->value, y->value, 32);
    return order ? order : (x->organisation > y->organisation) - (x->organisation < y->organisation);
}

/* The organisation that claims what an earlier one has; -1: none. */
static ssize_t second_claim(struct claim *claims, size_t n, int (*compare)(const void *, const void *),
                            bool names)
{
    qsort(claims, n, sizeof *claims, compare);
    for (size_t i = 1; i < n; i++)
        if (names ? strcmp(claims[i].value, claims[i - 1].value) == 0
                  : memcmp(claims[i].value, claims[i - 1].value, 32) == 0)
            return (ssize_t)claims[i].organisation;
    return -1;
}

static int finish_organisations(const struct source *s, const struct node *root, const struct config *c)
{
    size_t nkeys = 0, n = 0;
    int failed = 0;
    for (size_t i = 0; i < c->norganisations; i++)
        nkeys += c->organisations[i].nkeys;
    struct claim *claims = xcalloc(nkeys + c->norganisations + 1, sizeof *claims);
    for (size_t i = 0; i < c->norganisations; i++)
        claims[n++] = (struct claim){c->organisations[i].name, i};
    ssize_t second = second_claim(claims, n, compare_names, true);
    if (second >= 0)
        failed = refuse_item(s, root, "organisations", (size_t)second, "name",
                             "another organisation has the same name");
    n = 0;
    for (size_t i = 0; i < c->norganisations; i++)
        for (size_t j = 0; j < c->organisations[i].nkeys; j++)
            claims[n++] = (struct claim){c->organisations[i].keys[j], i};
    second = failed ? -1 : second_claim(claims, n, compare_hashes, false);
    if (second >= 0)
        failed =
            refuse_item(s, root, "organisations", (size_t)second, "key_sha256",
                        "one of these keys stands in the list already; a key belongs to one organisation");
    xfree(claims);
    return failed;
}

static int finish_tenancy(const struct source *s, const struct node *root, const struct config *c)
{
    const struct where here = {.key = "tenancy"};
    if (finish_organisations(s, root, c))
        return -1;
    if (c->tenancy != TENANCY_KEYS)
        return 0;
    if (c->norganisations == 0)
        return read_refuse(s, &here, line_of_key(root, "tenancy"),
                           "with keys, organisations must be listed: nobody could be told apart otherwise");
    for (size_t i = 0; i < c->norganisations; i++)
        if (c->organisations[i].nkeys == 0)
            return refuse_item(
                s, root, "organisations", i, "key_sha256",
                "this key is missing: with tenancy: keys an organisation is known by its API keys");
    return 0;
}

/* What a caller on this machine can reach the first TCP listener at. */
static char *listener_url(const struct config *c)
{
    struct buf url;
    buf_init(&url, 512);
    for (size_t i = 0; i < c->nlisteners && url.n == 0; i++) {
        const struct config_listener *l = &c->listeners[i];
        const char *host = l->address.host;
        if (l->address.is_unix)
            continue;
        if (strcmp(host, "::") == 0 || strcmp(host, "0.0.0.0") == 0)
            host = "127.0.0.1";
        bool v6 = strchr(host, ':');
        buf_printf(&url, "%s://%s%s%s:%u", l->certificate ? "https" : "http", v6 ? "[" : "", host,
                   v6 ? "]" : "", l->address.port);
    }
    if (url.n == 0)
        buf_adds(&url, "http://localhost");
    char *text = xspandup(buf_span(&url));
    buf_free(&url);
    return text;
}

static void derive(struct config *c)
{
    if (!c->public_url_given) {
        xfree(c->public_url);
        c->public_url = listener_url(c);
    }
    if (!c->workspace_root_given) {
        size_t n = strlen(c->state_dir), room;
        while (n > 1 && c->state_dir[n - 1] == '/')
            n--;
        room = n + sizeof "/workspace";
        xfree(c->workspace_root);
        c->workspace_root = xmalloc(room);
        snprintf(c->workspace_root, room, "%.*s%s", (int)n, c->state_dir,
                 n == 1 && c->state_dir[0] == '/' ? "workspace" : "/workspace");
    }
}

int read_settle(const struct source *s, const struct node *root, struct config *c)
{
    if (tree_member(root, "public_url"))
        c->public_url_given = true;
    if (tree_member(root, "workspace_root"))
        c->workspace_root_given = true;
    derive(c);
    if (finish_providers(s, root, c) || finish_default_provider(s, root, c) ||
        finish_service(s, root, c, "image_generation", &c->image_generation) ||
        finish_service(s, root, c, "transcription", &c->transcription))
        return -1;
    return finish_tenancy(s, root, c);
}

int read_finish(const struct source *s, const struct node *root, struct config *c)
{
    return read_settle(s, root, c) || finish_listeners(s, root, c) ||
                   finish_whole(s, "image_generation", &c->image_generation) ||
                   finish_whole(s, "transcription", &c->transcription)
               ? -1
               : 0;
}
