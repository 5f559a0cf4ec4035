/* Format image (product.md §5.1): what to ask the image-generation API for, and what came back. */
#include <jansson.h>
#include <stdio.h>

#include "artifacts/artifact.h"
#include "artifacts/sniff.h"
#include "artifacts/utf8.h"

/* Sizes and qualities are words of the provider's own; this is what they are all made of. */
static bool is_word(struct span s)
{
    static const char allowed[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._:-";
    for (size_t i = 0; i < s.n; i++)
        if (!memchr(allowed, s.p[i], sizeof allowed - 1))
            return false;
    return s.n > 0;
}

/* A word of the metadata, without blanks and with x for a multiplication sign; absent and null leave it
 * empty. */
static int take_word(json_t *metadata, const char *key, char out[32], char sentence[LIMIT_ERROR_TEXT])
{
    static const char times[] = "\u00d7";
    json_t *v = json_object_get(metadata, key);
    struct span said = span_of(json_string_value(v), json_string_length(v));
    size_t n = 0;
    out[0] = '\0';
    if (!v || json_is_null(v))
        return 0;
    while (said.n && n < 31) {
        bool sign = span_starts(said, times);
        if (sign)
            out[n++] = 'x';
        else if (said.p[0] != ' ')
            out[n++] = said.p[0];
        said = span_from(said, sign ? sizeof times - 1 : 1);
    }
    if (!said.n && is_word(span_of(out, n))) {
        out[n] = '\0';
        return 0;
    }
    out[0] = '\0';
    snprintf(sentence, LIMIT_ERROR_TEXT, "\"%s\" in its metadata is not a word such as %s", key,
             strcmp(key, "size") == 0 ? "1024x1024" : "high");
    return -1;
}

static struct span trim(struct span s)
{
    while (s.n && strchr(" \t\r\n", s.p[0]) && s.p[0])
        s = span_from(s, 1);
    while (s.n && strchr(" \t\r\n", s.p[s.n - 1]) && s.p[s.n - 1])
        s.n--;
    return s;
}

enum flag image_wanted_read(const struct directive_parts *parts, struct image_wanted *out,
                            char sentence[LIMIT_ERROR_TEXT])
{
    struct span metadata = buf_span(&parts->metadata), prompt = trim(buf_span(&parts->content));
    json_error_t error;
    json_t *object = json_loadb(metadata.p, metadata.n, JSON_ALLOW_NUL, &error);
    enum flag flag = FLAG_INVALID_METADATA;
    *out = (struct image_wanted){.wanted = false};
    buf_init(&out->prompt, prompt.n);
    sentence[0] = '\0';
    if (take_word(object, "size", out->size, sentence) ||
        take_word(object, "quality", out->quality, sentence))
        goto out;
    flag = FLAG_INVALID_CONTENT;
    if (!prompt.n) {
        snprintf(sentence, LIMIT_ERROR_TEXT, "the prompt for its picture is empty");
    } else if (!utf8_valid(prompt)) {
        snprintf(sentence, LIMIT_ERROR_TEXT, "the prompt for its picture is not valid UTF-8");
    } else {
        buf_add(&out->prompt, prompt);
        out->wanted = true;
        flag = FLAG_NONE;
    }
out:
    json_decref(object);
    return flag;
}

void image_wanted_free(struct image_wanted *w)
{
    buf_free(&w->prompt);
    w->wanted = false;
}

const struct format *image_format(struct span bytes)
{
    const char *sniffed = sniff_extension(bytes);
    const struct format *format = sniffed ? format_find_binary(span_str(sniffed)) : NULL;
    return format && span_starts(span_str(format->media_type), "image/") ? format : NULL;
}
