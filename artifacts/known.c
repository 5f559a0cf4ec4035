/*
 * Directives of which the file is there already: a provider that keeps a reply gives its directives out again
 * with it, and they must not be made into files once more. A note is a record beside those of artifacts,
 * under an id that only this store can make from whose directive it was and what it said; it names the
 * artifact, and expires with it.
 */
#include <jansson.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <stdio.h>

#include "artifacts/store.h"
#include "base/clock.h"

enum { CHARACTERS = 24, NOTE = 512 };

static const char id_prefix[] = "file-hw-";

void store_known_id(const struct store *s, const struct owner *owner, struct span text, unsigned again,
                    char out[ARTIFACT_ID])
{
    static const char alphabet[] = "0123456789abcdefghijklmnopqrstuvwxyz";
    unsigned char purpose[DIGEST], digest[DIGEST], mac[DIGEST];
    struct buf said;
    unsigned n = DIGEST;
    HMAC(EVP_sha256(), s->secret, STORE_SECRET, (const unsigned char *)"directive", 9, purpose, &n);
    EVP_Digest(text.p, text.n, digest, &n, EVP_sha256(), NULL);
    buf_init(&said, sizeof owner->org + 2 * DIGEST + 32);
    buf_printf(&said, "%s %u %d ", owner->org, again, owner->has_key);
    buf_addn(&said, owner->key, DIGEST);
    buf_addn(&said, digest, DIGEST);
    n = DIGEST;
    HMAC(EVP_sha256(), purpose, DIGEST, (const unsigned char *)buf_span(&said).p, said.n, mac, &n);
    buf_free(&said);
    explicit_bzero(purpose, sizeof purpose);
    size_t at = sizeof id_prefix - 1;
    memcpy(out, id_prefix, at);
    for (size_t i = 0; i < CHARACTERS; i++)
        out[at++] = alphabet[mac[i] % 36];
    out[at] = '\0';
}

static void note_key(struct span id, char out[STORE_KEY])
{
    const char *random = id.p + sizeof id_prefix - 1;
    snprintf(out, STORE_KEY, "files/%.2s/%.*s.json", random, (int)id.n, id.p);
}

int store_put_known(struct store *s, const char *known, const struct artifact *a)
{
    char key[STORE_KEY];
    struct buf note;
    buf_init(&note, NOTE);
    note_key(span_str(known), key);
    buf_printf(&note, "{\"artifact\":\"%s\",\"expires_at\":%lld}\n", a->id, (long long)a->expires_at);
    int failed = buf_full(&note) || s->ops->put(s->backend, key, buf_span(&note));
    buf_free(&note);
    return failed ? -1 : 0;
}

/* -1: no note under that id. */
static int load(struct store *s, struct span known, char artifact[ARTIFACT_ID], int64_t *expires_at)
{
    char key[STORE_KEY];
    struct buf text;
    json_error_t error;
    if (!store_id_valid(known))
        return -1;
    note_key(known, key);
    buf_init(&text, STORE_RECORD);
    json_t *note =
        s->ops->get(s->backend, key, &text) ? NULL : json_loadb(buf_span(&text).p, text.n, 0, &error);
    const char *id = json_string_value(json_object_get(note, "artifact"));
    bool found = id && store_id_valid(span_str(id));
    if (found)
        snprintf(artifact, ARTIFACT_ID, "%s", id);
    *expires_at = json_integer_value(json_object_get(note, "expires_at"));
    json_decref(note);
    buf_free(&text);
    return found ? 0 : -1;
}

int store_find_known(struct store *s, const char *known, char artifact[ARTIFACT_ID])
{
    int64_t expires_at;
    return load(s, span_str(known), artifact, &expires_at) || expires_at <= clock_wall_ms() / 1000 ? -1 : 0;
}

void store_sweep_known(struct store *s, struct span known, int64_t now_s)
{
    char artifact[ARTIFACT_ID], key[STORE_KEY];
    int64_t expires_at;
    if (load(s, known, artifact, &expires_at) || expires_at > now_s)
        return;
    note_key(known, key);
    (void)s->ops->remove(s->backend, key);
}
