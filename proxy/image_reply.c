#include "proxy/image_reply.h"

#include <stdio.h>

#include "artifacts/sniff.h"
#include "artifacts/utf8.h"
#include "base/json.h"
#include "base/log.h"

enum {
    REFUSAL_READ = 64 * 1024, /* a longer error body is not looked into */
    SAID_MOST = 200,          /* bytes of a provider's words that are shown */
    TARGET_MOST = 8 * 1024
};

/* ---- the request ---- */

/* A base URL may end with the version already (https://host/api/v1). */
void image_request_path(const struct config_provider *provider, struct buf *out)
{
    buf_adds(out, provider->base_path);
    if (!span_ends(span_str(provider->base_path), "/v1"))
        buf_adds(out, "/v1");
    buf_adds(out, "/images/generations");
}

static void add_member(struct buf *out, const char *key, struct span text)
{
    buf_printf(out, ",\"%s\":\"", key);
    if (json_escape(text, out) == 0) /* it always is: the caller's cap is above what the text can become */
        buf_addc(out, '"');
}

void image_request_body(const char *model, const struct image_wanted *wanted, struct buf *out)
{
    buf_adds(out, "{\"n\":1");
    add_member(out, "model", span_str(model));
    add_member(out, "prompt", buf_span(&wanted->prompt));
    if (wanted->size[0])
        add_member(out, "size", span_str(wanted->size));
    if (wanted->quality[0])
        add_member(out, "quality", span_str(wanted->quality));
    /* These models answer with an address elsewhere otherwise; the later ones refuse the key. */
    if (span_starts(span_str(model), "dall-e"))
        add_member(out, "response_format", SPAN_LIT("b64_json"));
    buf_adds(out, "}");
}

/* ---- a refusal ---- */

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

/* Appends the words to the clause in `why`. */
static void say(struct span words, const char *key, char why[LIMIT_ERROR_TEXT])
{
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

void image_reply_refusal(int status, struct span body, const char *key, char why[LIMIT_ERROR_TEXT])
{
    snprintf(why, LIMIT_ERROR_TEXT, "the image provider answered with status %d", status);
    say(find_words(body), key, why);
}

/* ---- a picture ---- */

static enum image_answer none(char why[LIMIT_ERROR_TEXT], const char *what)
{
    snprintf(why, LIMIT_ERROR_TEXT, "%s", what);
    return IMAGE_NONE;
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

/* Path and query of a URL on the provider's own host, the scheme being its own too, or of a path alone; -1:
 * it is elsewhere, or not fit for a request line. */
static int find_target(struct span url, const struct config_provider *provider, struct buf *target)
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

static enum image_answer read_base64(struct span text, struct buf *picture, char why[LIMIT_ERROR_TEXT])
{
    if (base64_decode(text, picture))
        return none(why, "the image provider's picture is not valid base64");
    return IMAGE_PICTURE;
}

/* One of b64_json and url. */
static enum image_answer read_value(bool is_url, struct span text, const struct config_provider *provider,
                                    struct buf *picture, struct buf *target, char why[LIMIT_ERROR_TEXT])
{
    if (!is_url || (text.n > 5 && strncasecmp(text.p, "data:", 5) == 0))
        return read_base64(text, picture, why);
    buf_init(target, TARGET_MOST);
    if (find_target(text, provider, target))
        return none(why, "the image provider's picture lies on another host, from which nothing is fetched");
    return IMAGE_AT_URL;
}

/* The first member of that name in the items of `data` that holds a text. */
static struct span find_text(struct span data, const char *name)
{
    struct json_iter it = json_iter(data);
    struct span value;
    if (json_type(data) == JSON_ARRAY)
        while (json_next(&it) == 1)
            if (json_type(it.value) == JSON_OBJECT && json_member(it.value, name, &value) &&
                json_type(value) == JSON_STRING && json_inside(value).n)
                return json_inside(value);
    return (struct span){0};
}

enum image_answer image_reply_read(struct span body, const struct config_provider *provider,
                                   struct buf *picture, struct buf *target, char why[LIMIT_ERROR_TEXT])
{
    struct span document, data = {0};
    struct buf plain;
    enum image_answer answer = IMAGE_NONE;
    why[0] = '\0';
    if (!json_document(body, &document) || json_type(document) != JSON_OBJECT)
        return none(why, "the image provider's answer is not a JSON object");
    if (!json_member(document, "data", &data))
        data = (struct span){0};
    struct span text = find_text(data, "b64_json");
    bool is_url = !text.n;
    if (is_url)
        text = find_text(data, "url");
    if (!text.n) {
        none(why, "the image provider's answer holds no picture");
        say(find_words(body), NULL, why);
        return IMAGE_NONE;
    }
    buf_init(&plain, text.n + 1);
    if (!memchr(text.p, '\\', text.n))
        answer = read_value(is_url, text, provider, picture, target, why);
    else if (json_unescape(text, &plain) == 0)
        answer = read_value(is_url, buf_span(&plain), provider, picture, target, why);
    else
        none(why, "the image provider's answer cannot be read");
    buf_free(&plain);
    return answer;
}
