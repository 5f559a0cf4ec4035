#include "artifacts/inbound.h"

#include <jansson.h>
#include <stdio.h>

#include "artifacts/manifest.h"
#include "base/log.h"

struct kept_inbound {
    const struct inbound_item *items;
    size_t n;
    int64_t until_s;
};

static int key_of(const char *org, const char *consult, size_t number, char out[STORE_KEY])
{
    char rest[32];
    snprintf(rest, sizeof rest, "inbound/%02zu", number);
    return store_workspace_key(org, consult, rest, out);
}

static void set_string(json_t *entry, const char *key, const char *value)
{
    if (value && *value)
        json_object_set_new(entry, key, json_string(value));
}

static void append_inbound(json_t *manifest, void *arg)
{
    const struct kept_inbound *k = arg;
    json_t *list = json_array();
    for (size_t i = 0; i < k->n; i++) {
        const struct inbound_item *item = &k->items[i];
        char file[32];
        snprintf(file, sizeof file, "inbound/%02zu", i);
        json_t *entry = json_pack("{s:s,s:I,s:I}", "file", file, "bytes", (json_int_t)item->bytes.n,
                                  "expires_at", (json_int_t)k->until_s);
        set_string(entry, "name", item->name);
        set_string(entry, "path", item->path);
        set_string(entry, "type", item->type);
        set_string(entry, "media_type", item->media_type);
        set_string(entry, "sha256", item->sha256);
        set_string(entry, "handling", item->type ? NULL : item->native ? "native" : "preprocess");
        json_array_append_new(list, entry);
    }
    json_object_set_new(manifest, "inbound", list);
}

int inbound_begin(struct store *s, const char *org, const char *consult)
{
    char key[STORE_KEY];
    return manifest_lock_key(org, consult, key) ? -1 : s->ops->lock(s->backend, key);
}

void inbound_give_up(struct store *s, int token)
{
    if (token >= 0)
        s->ops->unlock(s->backend, token);
}

int inbound_keep(struct store *s, int token, const char *org, const char *consult,
                 const struct inbound_item *items, size_t n, int64_t until_s)
{
    struct kept_inbound k = {.items = items, .until_s = until_s};
    char key[STORE_KEY];
    while (token >= 0 && k.n < n && key_of(org, consult, k.n, key) == 0 &&
           store_put_soon(s, key, items[k.n].bytes) == 0)
        k.n++;
    bool all = token >= 0 && manifest_change_soon(s, org, consult, append_inbound, &k) == 0 && k.n == n;
    if (!all)
        log_error("inbound.keep_failed", log_str("consult", consult), log_int("kept", (int64_t)k.n),
                  log_int("of", (int64_t)n));
    inbound_give_up(s, token);
    return all ? 0 : -1;
}

enum inbound_found inbound_find(struct store *s, const char *org, const char *consult, int64_t now_s,
                                int (*each)(void *arg, const struct inbound_item *item, const char *key),
                                void *arg)
{
    char folder[STORE_KEY];
    int token = manifest_lock_key(org, consult, folder) ? -1 : s->ops->lock_found(s->backend, folder);
    json_t *manifest = token < 0 ? NULL : manifest_read(s, org, consult), *entry;
    json_t *list = json_object_get(manifest, "inbound");
    enum inbound_found found = json_array_size(list) ? INBOUND_THERE : INBOUND_NONE;
    size_t i;
    json_array_foreach(list, i, entry)
    {
        char key[STORE_KEY];
        const char *handling = json_string_value(json_object_get(entry, "handling"));
        struct inbound_item item = {
            .name = json_string_value(json_object_get(entry, "name")),
            .path = json_string_value(json_object_get(entry, "path")),
            .type = json_string_value(json_object_get(entry, "type")),
            .media_type = json_string_value(json_object_get(entry, "media_type")),
            .sha256 = json_string_value(json_object_get(entry, "sha256")),
            .native = handling && strcmp(handling, "native") == 0,
        };
        if (json_integer_value(json_object_get(entry, "expires_at")) <= now_s) {
            found = INBOUND_EXPIRED;
            break;
        }
        if (key_of(org, consult, i, key) || each(arg, &item, key) < 0)
            break;
    }
    json_decref(manifest);
    inbound_give_up(s, token);
    return found;
}

int inbound_read(struct store *s, const char *key, struct buf *out)
{
    return s->ops->get(s->backend, key, out);
}
