/* What is kept of an artifact, and under which keys; ids and secrets. */
#include "artifacts/store.h"

#include <errno.h>
#include <jansson.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <stdio.h>
#include <sys/random.h>
#include <unistd.h>

#include "artifacts/manifest.h"
#include "base/clock.h"
#include "base/hex.h"
#include "base/log.h"
#include "base/xalloc.h"

enum { RANDOM_CHARACTERS = 24 };

static const char id_prefix[] = "file-hw-";

/* ---- what is valid ---- */

static bool is_name(const char *s, size_t max)
{
    size_t n = 0;
    for (; s[n]; n++)
        if (n == max || !((s[n] >= '0' && s[n] <= '9') || ((s[n] | 0x20) >= 'a' && (s[n] | 0x20) <= 'z') ||
                          s[n] == '-' || s[n] == '_'))
            return false;
    return n > 0;
}

bool store_org_valid(const char *org)
{
    return is_name(org, LIMIT_ORG);
}

/* The journals of an organisation's threads lie beside its workspaces (threads.h), and are none. */
bool store_consult_valid(const char *consult)
{
    return is_name(consult, CONSULT_ID - 1) && strcmp(consult, "threads") != 0;
}

bool store_id_valid(struct span id)
{
    if (id.n != sizeof id_prefix - 1 + RANDOM_CHARACTERS || !span_starts(id, id_prefix))
        return false;
    for (size_t i = sizeof id_prefix - 1; i < id.n; i++)
        if (!((id.p[i] >= '0' && id.p[i] <= '9') || (id.p[i] >= 'a' && id.p[i] <= 'z')))
            return false;
    return true;
}

int store_workspace_key(const char *org, const char *consult, const char *rest, char out[STORE_KEY])
{
    if (!store_org_valid(org) || !store_consult_valid(consult))
        return -1;
    int n = snprintf(out, STORE_KEY, "orgs/%s/%s/%s", org, consult, rest);
    return n < 0 || n >= STORE_KEY ? -1 : 0;
}

static int content_key(const struct artifact *a, char out[STORE_KEY])
{
    char rest[sizeof "outbound/" + LIMIT_FILENAME];
    if (!a->filename[0] || strchr(a->filename, '/'))
        return -1;
    snprintf(rest, sizeof rest, "outbound/%s", a->filename);
    return store_workspace_key(a->owner.org, a->consult, rest, out);
}

/* The caller has checked the id. */
static void record_key(struct span id, char out[STORE_KEY])
{
    const char *random = id.p + sizeof id_prefix - 1;
    snprintf(out, STORE_KEY, "files/%.2s/%.*s.json", random, (int)id.n, id.p);
}

/* ---- ids and secrets ---- */

static const char alphabet[] = "0123456789abcdefghijklmnopqrstuvwxyz";

static unsigned char random_byte(struct random_pool *pool)
{
    while (pool->left == 0) {
        ssize_t got = getrandom(pool->bytes, sizeof pool->bytes, 0);
        pool->left = got > 0 ? (size_t)got : 0;
    }
    unsigned char byte = pool->bytes[--pool->left];
    pool->bytes[pool->left] = 0; /* what was given out is nobody else's to see */
    return byte;
}

static void add_random(struct random_pool *pool, char *out, size_t n, size_t room, size_t left)
{
    while (left && n + 1 < room) {
        unsigned char byte = random_byte(pool);
        if (byte >= 252) /* 7 × 36: the rest would favour some characters */
            continue;
        out[n++] = alphabet[byte % 36];
        left--;
    }
    out[n] = '\0';
}

void store_new_id(const char *prefix, char *out, size_t room)
{
    struct random_pool pool = {.left = 0};
    size_t n = strnlen(prefix, room - 1);
    memcpy(out, prefix, n);
    add_random(&pool, out, n, room, RANDOM_CHARACTERS);
}

void store_new_consult_id(struct random_pool *pool, char out[CONSULT_ID])
{
    enum { PREFIX = 4, TIME = 9 };
    int64_t ms = clock_wall_ms();
    memcpy(out, "hwc-", PREFIX);
    for (size_t i = PREFIX + TIME; i-- > PREFIX; ms /= 36)
        out[i] = alphabet[ms % 36];
    add_random(pool, out, PREFIX + TIME, CONSULT_ID, RANDOM_CHARACTERS - TIME);
}

void store_key(const struct store *s, struct span api_key, unsigned char out[DIGEST])
{
    unsigned char purpose[DIGEST]; /* a secret of its own for each use */
    unsigned n = DIGEST;
    HMAC(EVP_sha256(), s->secret, STORE_SECRET, (const unsigned char *)"key", 3, purpose, &n);
    HMAC(EVP_sha256(), purpose, DIGEST, (const unsigned char *)(api_key.n ? api_key.p : ""), api_key.n, out,
         &n);
    explicit_bzero(purpose, sizeof purpose);
}

/* ---- records ---- */

static int write_record(const struct artifact *a, struct buf *out)
{
    json_t *r = json_pack("{s:s,s:s,s:s,s:I,s:s,s:s,s:s,s:s,s:s,s:I,s:I}", "id", a->id, "consult", a->consult,
                          "org", a->owner.org, "bytes", (json_int_t)a->bytes, "sha256", a->sha256, "format",
                          a->format, "media_type", a->media_type, "filename", a->filename, "title", a->title,
                          "created_at", (json_int_t)a->created_at, "expires_at", (json_int_t)a->expires_at);
    if (r && a->owner.has_key) {
        char key[2 * DIGEST + 1];
        hex_write(a->owner.key, DIGEST, key);
        json_object_set_new(r, "key", json_string(key));
    }
    int failed = !r || json_dump_callback(r, buf_sink, out, JSON_COMPACT) || buf_adds(out, "\n");
    json_decref(r);
    return failed ? -1 : 0;
}

int store_put_soon(struct store *s, const char *key, struct span bytes)
{
    return (s->ops->put_soon ? s->ops->put_soon : s->ops->put)(s->backend, key, bytes);
}

int store_put_artifact(struct store *s, const struct artifact *a, struct span bytes)
{
    char key[STORE_KEY];
    struct buf record;
    int failed = -1;
    buf_init(&record, STORE_RECORD);
    if (!store_id_valid(span_str(a->id)) || content_key(a, key) || write_record(a, &record))
        goto out;
    if (s->ops->put(s->backend, key, bytes))
        goto out;
    char at[STORE_KEY];
    record_key(span_str(a->id), at);
    failed = s->ops->put(s->backend, at, buf_span(&record));
    if (failed)
        (void)s->ops->remove(s->backend, key);
out:
    buf_free(&record);
    return failed;
}

static int take(json_t *record, const char *name, char *out, size_t room)
{
    json_t *v = json_object_get(record, name);
    size_t n = json_string_length(v);
    if (!json_is_string(v) || n >= room)
        return -1;
    memcpy(out, json_string_value(v), n + 1);
    return 0;
}

static int take_key(json_t *record, struct owner *o)
{
    char text[2 * DIGEST + 1];
    o->has_key = json_object_get(record, "key") != NULL;
    if (!o->has_key)
        return 0;
    if (take(record, "key", text, sizeof text) || strlen(text) != 2 * DIGEST)
        return -1;
    for (size_t i = 0; i < DIGEST; i++) {
        unsigned v;
        if (sscanf(text + 2 * i, "%2x", &v) != 1)
            return -1;
        o->key[i] = (unsigned char)v;
    }
    return 0;
}

static int read_record(struct span text, struct artifact *a)
{
    json_error_t error;
    json_t *r = json_loadb(text.p, text.n, 0, &error);
    *a = (struct artifact){.bytes = 0};
    bool bad =
        take(r, "id", a->id, sizeof a->id) || take(r, "consult", a->consult, sizeof a->consult) ||
        take(r, "org", a->owner.org, sizeof a->owner.org) || take_key(r, &a->owner) ||
        take(r, "sha256", a->sha256, sizeof a->sha256) || take(r, "format", a->format, sizeof a->format) ||
        take(r, "media_type", a->media_type, sizeof a->media_type) ||
        take(r, "filename", a->filename, sizeof a->filename) || take(r, "title", a->title, sizeof a->title);
    a->bytes = (uint64_t)json_integer_value(json_object_get(r, "bytes"));
    a->created_at = json_integer_value(json_object_get(r, "created_at"));
    a->expires_at = json_integer_value(json_object_get(r, "expires_at"));
    json_decref(r);
    return bad || !store_org_valid(a->owner.org) || !store_consult_valid(a->consult) ? -1 : 0;
}

/* Whether or not it has expired. */
static int load(struct store *s, struct span id, struct artifact *out)
{
    char key[STORE_KEY];
    struct buf text;
    if (!store_id_valid(id))
        return -1;
    record_key(id, key);
    buf_init(&text, STORE_RECORD);
    int failed =
        s->ops->get(s->backend, key, &text) || read_record(buf_span(&text), out) || !span_is(id, out->id);
    buf_free(&text);
    return failed ? -1 : 0;
}

int store_find(struct store *s, struct span id, struct artifact *out)
{
    return load(s, id, out) || out->expires_at <= clock_wall_ms() / 1000 ? -1 : 0;
}

int store_open_content(struct store *s, const struct artifact *a)
{
    char key[STORE_KEY];
    return content_key(a, key) ? -1 : s->ops->open(s->backend, key);
}

/* The content first: a record without content answers nobody, content without its record would lie there for
 * ever. */
static int remove_artifact(struct store *s, const struct artifact *a)
{
    char key[STORE_KEY], at[STORE_KEY];
    if (!store_id_valid(span_str(a->id)) || content_key(a, key))
        return -1;
    record_key(span_str(a->id), at);
    return s->ops->remove(s->backend, key) || s->ops->remove(s->backend, at) ? -1 : 0;
}

int store_delete(struct store *s, const struct artifact *a)
{
    if (remove_artifact(s, a))
        return -1;
    if (manifest_mark_deleted(s, a)) /* the file is gone all the same */
        log_warning("store.manifest_failed", log_str("consult", a->consult), log_str("artifact", a->id));
    return 0;
}

/* ---- sweeping ---- */

struct sweep {
    struct store *store;
    int64_t now_s;
    unsigned removed;
};

static void sweep_record(void *arg, struct span id)
{
    struct sweep *sweep = arg;
    struct artifact a;
    if (load(sweep->store, id, &a))
        store_sweep_known(sweep->store, id, sweep->now_s);
    else if (a.expires_at <= sweep->now_s && remove_artifact(sweep->store, &a) == 0)
        sweep->removed++;
}

/* A workspace goes when no artifact that its manifest names is left. */
static void sweep_workspace(void *arg, const char *org, const char *consult)
{
    struct sweep *sweep = arg;
    struct store *s = sweep->store;
    struct artifact a;
    char key[STORE_KEY];
    struct buf text;
    json_error_t error;
    size_t i;
    json_t *item;
    bool live = false;
    if (store_workspace_key(org, consult, "manifest.json", key))
        return;
    buf_init(&text, STORE_MANIFEST);
    json_t *manifest =
        s->ops->get(s->backend, key, &text) ? NULL : json_loadb(buf_span(&text).p, text.n, 0, &error);
    json_array_foreach(json_object_get(manifest, "outbound"), i, item)
    {
        const char *id = json_string_value(json_object_get(item, "id"));
        live = live || (id && load(s, span_str(id), &a) == 0 && a.expires_at > sweep->now_s);
    }
    json_decref(manifest);
    buf_free(&text);
    if (!live)
        s->ops->drop(s->backend, org, consult);
}

unsigned store_sweep(struct store *s, int64_t now_s)
{
    struct sweep sweep = {.store = s, .now_s = now_s};
    pthread_mutex_lock(&s->sweeping);
    s->ops->sweep(s->backend, now_s, s->retention_s, s->inbound_ttl_s, sweep_record, sweep_workspace, &sweep);
    pthread_mutex_unlock(&s->sweeping);
    return sweep.removed;
}

/* ---- opening ---- */

struct store *store_open(const struct store_settings *settings, struct error *e)
{
    struct store *s = xcalloc(1, sizeof *s);
    struct span url = span_str(settings->public_url);
    while (url.n && url.p[url.n - 1] == '/')
        url.n--;
    s->ops = &store_file_ops;
    s->backend = store_file_open(settings->state_dir, s->secret, e);
    if (!s->backend) {
        xfree(s);
        return NULL;
    }
    s->retention_s = settings->retention_s;
    s->link_ttl_s = settings->link_ttl_s;
    s->inbound_ttl_s = settings->inbound_ttl_s ? settings->inbound_ttl_s : settings->retention_s;
    s->public_url = xspandup(url);
    pthread_mutex_init(&s->sweeping, NULL);
    return s;
}

void store_close(struct store *s)
{
    if (!s)
        return;
    s->ops->close(s->backend);
    pthread_mutex_destroy(&s->sweeping);
    explicit_bzero(s->secret, sizeof s->secret);
    xfree(s->public_url);
    xfree(s);
}
