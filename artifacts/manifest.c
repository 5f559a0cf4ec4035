#include "artifacts/manifest.h"

#include <jansson.h>

#include "base/clock.h"

static json_t *new_manifest(const struct store *s, const char *org, const char *consult)
{
    int64_t now_s = clock_wall_ms() / 1000;
    return json_pack("{s:s,s:s,s:I,s:I,s:[],s:[],s:[]}", "consult", consult, "org", org, "created",
                     (json_int_t)now_s, "expires", (json_int_t)(now_s + s->retention_s), "inbound",
                     "outbound", "quarantine");
}

static json_t *load(struct store *s, const char *key, struct buf *text)
{
    json_error_t error;
    return s->ops->get(s->backend, key, text) ? NULL : json_loadb(buf_span(text).p, text->n, 0, &error);
}

json_t *manifest_read(struct store *s, const char *org, const char *consult)
{
    char key[STORE_KEY];
    struct buf text;
    if (store_workspace_key(org, consult, "manifest.json", key))
        return NULL;
    buf_init(&text, STORE_MANIFEST);
    json_t *manifest = load(s, key, &text);
    buf_free(&text);
    return manifest;
}

/* Read, changed and written under a lock, since a DELETE of another process may change it too. A manifest
 * that cannot be read is begun again. */
static int read_and_write(struct store *s, const char *org, const char *consult,
                          void (*change)(json_t *manifest, void *arg), void *arg, bool durable)
{
    char key[STORE_KEY];
    struct buf text;
    int failed = -1;
    if (store_workspace_key(org, consult, "manifest.json", key))
        return -1;
    buf_init(&text, STORE_MANIFEST);
    json_t *manifest = load(s, key, &text);
    if (!json_is_object(manifest)) {
        json_decref(manifest);
        manifest = new_manifest(s, org, consult);
    }
    change(manifest, arg);
    buf_reset(&text);
    if (json_dump_callback(manifest, buf_sink, &text, JSON_INDENT(2)) == 0)
        failed =
            durable ? s->ops->put(s->backend, key, buf_span(&text)) : store_put_soon(s, key, buf_span(&text));
    json_decref(manifest);
    buf_free(&text);
    return failed;
}

int manifest_lock_key(const char *org, const char *consult, char out[STORE_KEY])
{
    if (store_workspace_key(org, consult, "", out))
        return -1;
    out[strlen(out) - 1] = '\0';
    return 0;
}

int manifest_change(struct store *s, const char *org, const char *consult,
                    void (*change)(json_t *manifest, void *arg), void *arg)
{
    char folder[STORE_KEY];
    if (manifest_lock_key(org, consult, folder))
        return -1;
    int token = s->ops->lock(s->backend, folder);
    if (token < 0)
        return -1;
    int failed = read_and_write(s, org, consult, change, arg, true);
    s->ops->unlock(s->backend, token);
    return failed;
}

int manifest_change_soon(struct store *s, const char *org, const char *consult,
                         void (*change)(json_t *manifest, void *arg), void *arg)
{
    return read_and_write(s, org, consult, change, arg, false);
}

static void mark_deleted(json_t *manifest, void *arg)
{
    const struct artifact *a = arg;
    size_t i;
    json_t *entry;
    json_array_foreach(json_object_get(manifest, "outbound"), i, entry)
    {
        const char *id = json_string_value(json_object_get(entry, "id"));
        if (id && strcmp(id, a->id) == 0)
            json_object_set_new(entry, "deleted", json_integer(clock_wall_ms() / 1000));
    }
}

int manifest_mark_deleted(struct store *s, const struct artifact *a)
{
    return manifest_change(s, a->owner.org, a->consult, mark_deleted, (void *)a);
}
