#include "proxy/uploads.h"

#include <openssl/evp.h>
#include <stdio.h>

#include "base/clock.h"
#include "base/hex.h"
#include "base/log.h"
#include "base/xalloc.h"
#include "proxy/side_words.h"
#include "proxy/uploads_parts.h"

/* ---- accounts ---- */

void uploads_account_copy(struct upload_account *a, struct config *config,
                          const struct config_provider *provider, bool own_key, struct span lines,
                          const char *key)
{
    a->config = config_ref(config);
    a->provider = provider;
    a->own_key = own_key;
    buf_init(&a->lines, lines.n + 1);
    buf_add(&a->lines, lines);
    a->key = key ? xstrdup(key) : NULL;
}

void uploads_account_finish(struct upload_account *a)
{
    if (a->lines.n)
        explicit_bzero(a->lines.data, a->lines.room);
    buf_free(&a->lines);
    if (a->key)
        explicit_bzero(a->key, strlen(a->key));
    xfree(a->key);
    config_unref(a->config);
}

/* What makes an upload the same as another one. */
static void name_row(const struct uploads *u, const struct upload_wanted *w, struct upload_row *row)
{
    unsigned char digest[EVP_MAX_MD_SIZE];
    unsigned n = 0;
    struct buf text;
    store_key(u->store, w->account, digest);
    hex_write(digest, 32, row->account);
    snprintf(row->provider, sizeof row->provider, "%s", w->provider->name);
    buf_init(&text, LIMIT_READ);
    buf_printf(&text, "%s\n%s\n%s\n%s\n%d\n", w->provider->name, w->provider->base_url, row->account,
               w->sha256, w->text);
    buf_add(&text, w->file.media_type);
    EVP_Digest(buf_span(&text).p, text.n, digest, &n, EVP_sha256(), NULL);
    hex_write(digest, 32, row->key);
    buf_free(&text);
}

/* ---- callers ---- */

static struct upload *find(struct uploads *u, const char *key)
{
    for (struct upload *at = u->list; at; at = at->next)
        if (!at->ending && strcmp(at->row.key, key) == 0)
            return at;
    return NULL;
}

static struct upload *upload_create(struct uploads *u, const struct upload_wanted *w,
                                    const struct upload_row *row)
{
    struct upload *at = xcalloc(1, sizeof *at);
    at->owner = u;
    at->row = *row;
    at->text = w->text;
    at->bytes = (int64_t)w->file.bytes.n;
    at->began_ms = clock_mono_ms();
    at->until_ms = at->began_ms + w->config->timeouts.first_byte;
    snprintf(at->media_type, sizeof at->media_type, "%.*s", (int)w->file.media_type.n, w->file.media_type.p);
    uploads_account_copy(&at->account, w->config, w->provider, w->own_key, w->account, w->key);
    at->next = u->list;
    u->list = at;
    return at;
}

struct upload_wait *uploads_want(struct uploads *u, const struct upload_wanted *wanted, uploads_done done,
                                 void *arg, struct error *e)
{
    struct upload_row row = {0};
    name_row(u, wanted, &row);
    struct upload *at = find(u, row.key);
    if (!at) {
        at = upload_create(u, wanted, &row);
        if (uploads_job_submit(u, UPLOAD_TAKE, &row, at) < 0) {
            uploads_free(at);
            error_set(e, ERROR_OVERLOADED, "%.64s: too many uploads wait at this moment.",
                      wanted->provider->name);
            return NULL;
        }
        at->jobs++;
    }
    struct upload_wait *w = xcalloc(1, sizeof *w);
    w->upload = at;
    w->file = wanted->file;
    w->consult = wanted->consult;
    w->done = done;
    w->arg = arg;
    w->joined = at->waits != NULL || at->call;
    w->next = at->waits;
    at->waits = w;
    return w;
}

void uploads_leave(struct upload_wait *wait)
{
    if (!wait)
        return;
    struct upload_wait **at = &wait->upload->waits;
    while (*at != wait)
        at = &(*at)->next;
    *at = wait->next;
    xfree(wait);
}

struct uploads *uploads_create(struct event_base *base, struct http_client *client, struct job_queue *queue,
                               struct upload_store *records, const struct store *store,
                               struct metrics *metrics)
{
    struct uploads *u = xcalloc(1, sizeof *u);
    u->base = base;
    u->client = client;
    u->queue = queue;
    u->records = records;
    u->store = store;
    u->metrics = metrics;
    return u;
}

void uploads_stop(struct uploads *u)
{
    if (u)
        u->stopped = true;
}

void uploads_destroy(struct uploads *u)
{
    if (!u)
        return;
    while (u->list)
        uploads_free(u->list);
    while (u->deletions)
        uploads_deletion_free(u->deletions);
    xfree(u);
}
