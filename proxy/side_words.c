#include "proxy/side_words.h"

#include <stdio.h>

#include "artifacts/utf8.h"
#include "base/json.h"
#include "base/log.h"

enum {
    REFUSAL_READ = 64 * 1024, /* a longer error body is not looked into */
    SAID_MOST = 200           /* bytes of a provider's words that are shown */
};

/* ---- words ---- */

/* A provider's words, made fit to stand in a clause of one line that may be shown to a model's reader: valid
 * UTF-8, single blanks, nothing invisible, nothing that could be a marker. */
static void clean(struct span text, struct buf *out)
{
    const char *p = text.p, *end = text.n ? p + text.n : p;
    bool blank = false;
    while (p < end) {
        size_t n;
        uint32_t c = utf8_next(p, end, &n);
        bool hidden = utf8_invisible(c) || c == UTF8_INVALID || c == '<' || c == '>';
        if (hidden || utf8_blank(c)) {
            blank = true;
        } else {
            if (blank && out->n)
                buf_addc(out, ' ');
            blank = false;
            buf_addn(out, p, n);
        }
        p += n;
    }
}

/* Appends the text with every occurrence of the key replaced. */
static void without_key(struct span text, const char *key, struct buf *out)
{
    size_t n = key ? strlen(key) : 0;
    while (text.n) {
        const char *at = n ? memmem(text.p, text.n, key, n) : NULL;
        size_t plain = at ? (size_t)(at - text.p) : text.n;
        buf_addn(out, text.p, plain);
        if (at)
            buf_adds(out, "***");
        text = span_from(text, plain + (at ? n : 0));
    }
}

/* The words of an error in one of the shapes that are about: {"error":{"message":…}}, {"error":…},
 * {"message":…},
 * {"detail":…}. Empty: none. */
static struct span find_words(struct span body)
{
    static const char *const keys[] = {"error", "message", "detail"};
    struct span document, value, inner;
    if (body.n > REFUSAL_READ || !json_document(body, &document))
        return (struct span){0};
    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++) {
        if (!json_member(document, keys[i], &value))
            continue;
        if (json_type(value) == JSON_OBJECT && json_member(value, "message", &inner))
            value = inner;
        if (json_type(value) == JSON_STRING && json_inside(value).n)
            return json_inside(value);
    }
    return (struct span){0};
}

void side_words(struct span body, const char *key, char why[LIMIT_ERROR_TEXT])
{
    struct span words = find_words(body);
    struct buf plain, keyless, masked, line;
    buf_init(&plain, REFUSAL_READ);
    buf_init(&keyless, 4 * REFUSAL_READ);
    buf_init(&masked, 8 * REFUSAL_READ);
    buf_init(&line, 8 * REFUSAL_READ);
    if (words.n && json_unescape(words, &plain) == 0) {
        without_key(buf_span(&plain), key, &keyless);
        log_mask(buf_span(&keyless), &masked);
        clean(buf_span(&masked), &line);
    }
    struct span said = buf_span(&line);
    bool cut = said.n > SAID_MOST;
    said.n = utf8_cut(said, SAID_MOST);
    while (said.n && strchr(". ", said.p[said.n - 1]))
        said.n--;
    size_t n = strlen(why);
    if (said.n)
        snprintf(why + n, LIMIT_ERROR_TEXT - n, ": %.*s%s", (int)said.n, said.p, cut ? " \u2026" : "");
    buf_free(&plain);
    buf_free(&keyless);
    buf_free(&masked);
    buf_free(&line);
}

/* ---- refusals ---- */

int side_failed(const struct config_provider *provider, const char *doing, const struct error *failed,
                bool given_up, struct error *e)
{
    return error_set(e, failed->code, given_up ? "%.64s: %s failed: %.300s." : "%.64s: %s failed. %.300s",
                     provider->name, doing, failed->message);
}

void side_refusal(const struct config_provider *provider, bool own_key, const char *key, const char *verb,
                  int status, struct span body, struct error *e)
{
    char why[LIMIT_ERROR_TEXT];
    enum error_code code = ERROR_UPSTREAM_INVALID;
    bool given = true; /* the status goes on as it is */
    if (status == 401)
        code = own_key ? ERROR_AUTH_ERROR : ERROR_UNKNOWN_KEY;
    else if (status == 403)
        code = own_key ? ERROR_FORBIDDEN : ERROR_KEY_FORBIDDEN;
    else if (status == 402 || status == 429)
        code = own_key ? ERROR_RATE_LIMIT : ERROR_KEY_LIMITED;
    else
        given = false;
    if (status == 400 || status == 413 || status == 415 || status == 422)
        code = ERROR_ATTACHMENT_INVALID;
    snprintf(why, sizeof why, "%.64s %s with status %d", provider->name, verb, status);
    side_words(body, key, why);
    error_set(e, code, "%.400s.", why);
    if (given)
        e->status = status;
}

/* ---- addresses ---- */

void side_base_path(const struct config_provider *provider, const char *version, struct buf *out)
{
    buf_adds(out, provider->base_path);
    if (!span_ends(span_str(provider->base_path), version))
        buf_adds(out, version);
}

/* Whether that is the provider's host and port as a URL names them; the scheme is known to be its own. */
static bool is_own_host(struct span authority, const struct config_provider *provider)
{
    struct span own = span_str(provider->host_header);
    const char *usual = provider->tls ? ":443" : ":80";
    if (authority.n > own.n && provider->port == (provider->tls ? 443 : 80) && span_ends(authority, usual))
        authority.n -= strlen(usual);
    return authority.n == own.n && strncasecmp(authority.p, own.p, own.n) == 0;
}

int side_own_target(struct span url, const struct config_provider *provider, struct buf *target)
{
    const char *scheme = provider->tls ? "https://" : "http://";
    for (size_t i = 0; i < url.n; i++) {
        if (url.p[i] <= ' ' || url.p[i] >= 0x7f || url.p[i] == '\\')
            return -1;
        if (url.p[i] == '#')
            url.n = i;
    }
    if (url.n >= strlen(scheme) && strncasecmp(url.p, scheme, strlen(scheme)) == 0) {
        url = span_from(url, strlen(scheme));
        size_t n = 0;
        while (n < url.n && url.p[n] != '/' && url.p[n] != '?')
            n++;
        if (!is_own_host(span_of(url.p, n), provider))
            return -1;
        url = span_from(url, n);
        if (!url.n || url.p[0] == '?')
            buf_addc(target, '/');
    } else if (!span_starts(url, "/") || span_starts(url, "//")) {
        return -1;
    }
    buf_add(target, url);
    return buf_full(target) ? -1 : 0;
}
