/*
 * Signed links: /v1/files/<id>/content?expires=<seconds>&signature=<64 hexadecimal digits>. The signature is
 * an HMAC-SHA256 of "<id> <expires>" with a key made from the store's secret for this use alone.
 */
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <stdio.h>

#include "artifacts/store.h"
#include "base/hex.h"

enum { SIGNATURE = 2 * DIGEST, DIGITS = 12 };

static void sign(const struct store *s, struct span id, struct span expires, char out[SIGNATURE + 1])
{
    unsigned char purpose[DIGEST], mac[DIGEST];
    char text[ARTIFACT_ID + DIGITS + 2];
    unsigned n = DIGEST;
    int length = snprintf(text, sizeof text, "%.*s %.*s", (int)id.n, id.p, (int)expires.n, expires.p);
    HMAC(EVP_sha256(), s->secret, STORE_SECRET, (const unsigned char *)"link", 4, purpose, &n);
    HMAC(EVP_sha256(), purpose, DIGEST, (const unsigned char *)text, (size_t)length, mac, &n);
    hex_write(mac, DIGEST, out);
    explicit_bzero(purpose, sizeof purpose);
}

void store_url(const struct store *s, const struct artifact *a, int64_t now_s, struct buf *out)
{
    char signature[SIGNATURE + 1], expires[DIGITS + 12];
    int64_t until = s->link_ttl_s < a->expires_at - now_s ? now_s + s->link_ttl_s : a->expires_at;
    snprintf(expires, sizeof expires, "%lld", (long long)until);
    sign(s, span_str(a->id), span_str(expires), signature);
    buf_printf(out, "%s/v1/files/%s/content?expires=%s&signature=%s", s->public_url, a->id, expires,
               signature);
}

/* One decimal spelling a number: digits without a leading zero. */
static bool parse_seconds(struct span text, int64_t *out)
{
    int64_t v = 0;
    if (!text.n || text.n > DIGITS || text.p[0] == '0')
        return false;
    for (size_t i = 0; i < text.n; i++) {
        if (text.p[i] < '0' || text.p[i] > '9')
            return false;
        v = v * 10 + (text.p[i] - '0');
    }
    *out = v;
    return true;
}

/* Exactly these two parameters, each once, in either order. */
static bool parse_query(struct span query, struct span *expires, struct span *signature)
{
    *expires = *signature = (struct span){NULL, 0};
    while (query.n) {
        const char *and = memchr(query.p, '&', query.n);
        struct span one = span_of(query.p, and? (size_t)(and-query.p) : query.n);
        struct span *to = span_starts(one, "expires=")     ? expires
                          : span_starts(one, "signature=") ? signature
                                                           : NULL;
        if (!to || to->p || (and&&one.n + 1 == query.n))
            return false;
        *to = span_from(one, to == expires ? 8 : 10);
        query = span_from(query, one.n + (and? 1 : 0));
    }
    return expires->p && signature->p;
}

bool store_signed(const struct store *s, struct span id, struct span query, int64_t now_s)
{
    struct span expires, signature;
    char right[SIGNATURE + 1];
    int64_t until;
    if (!store_id_valid(id) || !parse_query(query, &expires, &signature) || !parse_seconds(expires, &until))
        return false;
    sign(s, id, expires, right);
    return signature.n == SIGNATURE && CRYPTO_memcmp(signature.p, right, SIGNATURE) == 0 && now_s < until;
}
