#include "proxy/image_reply.h"

#include <stdio.h>

#include "base/base64.h"
#include "base/json.h"
#include "proxy/side_words.h"

enum { TARGET_MOST = 8 * 1024 };

/* ---- the request ---- */

void image_request_path(const struct config_provider *provider, struct buf *out)
{
    side_base_path(provider, "/v1", out);
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

void image_reply_refusal(int status, struct span body, const char *key, char why[LIMIT_ERROR_TEXT])
{
    snprintf(why, LIMIT_ERROR_TEXT, "the image provider answered with status %d", status);
    side_words(body, key, why);
}

/* ---- a picture ---- */

static enum image_answer none(char why[LIMIT_ERROR_TEXT], const char *what)
{
    snprintf(why, LIMIT_ERROR_TEXT, "%s", what);
    return IMAGE_NONE;
}

static enum image_answer read_base64(struct span text, struct buf *picture, char why[LIMIT_ERROR_TEXT])
{
    if (base64_read_leniently(text, picture))
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
    if (side_own_target(text, provider, target))
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
        side_words(body, NULL, why);
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
