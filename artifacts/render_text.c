/* From a directive's parts to the bytes of a file, for every format whose content is the file itself, and for
 * base64. */
#include <stdio.h>

#include "artifacts/artifact.h"
#include "artifacts/metadata.h"
#include "artifacts/render.h"
#include "artifacts/sniff.h"
#include "artifacts/utf8.h"
#include "base/base64.h"
#include "base/json.h"

static bool begins(struct span text, const char *word)
{
    if (span_starts(text, "\xef\xbb\xbf"))
        text = span_from(text, 3);
    while (text.n && (text.p[0] == ' ' || text.p[0] == '\t' || text.p[0] == '\r' || text.p[0] == '\n'))
        text = span_from(text, 1);
    size_t n = strlen(word);
    return text.n >= n && strncasecmp(text.p, word, n) == 0;
}

static bool is_json(const struct format *format)
{
    return strcmp(format->name, "json") == 0 || strcmp(format->name, "ipynb") == 0 ||
           strcmp(format->name, "geojson") == 0;
}

/* As it is, or after one pass of repair: comments, commas, quotes. */
static const char *add_json(struct span text, struct buf *out)
{
    struct span value;
    struct buf repaired;
    const char *wrong = NULL;
    if (json_document(text, &value)) {
        buf_add(out, text);
        return NULL;
    }
    buf_init(&repaired, text.n * 2 + 1024);
    if (metadata_repair_document(text, &repaired) || !json_document(buf_span(&repaired), &value))
        wrong = "it is not valid JSON";
    else
        buf_add(out, buf_span(&repaired));
    buf_free(&repaired);
    return wrong;
}

/* NULL, or what is wrong with the text as content of that format. */
static const char *check_text(struct span text, const struct format *format)
{
    const char *name = format->name;
    if (strcmp(name, "xml") == 0 || strcmp(name, "gpx") == 0 || strcmp(name, "kml") == 0)
        return xml_check(text, NULL);
    if (strcmp(name, "svg") == 0)
        return begins(text, "{") ? "charts are not drawn here" : svg_check(text);
    if (strcmp(name, "yaml") == 0)
        return yaml_check(text);
    if (strcmp(name, "ics") == 0 && text.n)
        return begins(text, "BEGIN:VCALENDAR") ? NULL : "it does not begin with BEGIN:VCALENDAR";
    if (strcmp(name, "vcf") == 0 && text.n)
        return begins(text, "BEGIN:VCARD") ? NULL : "it does not begin with BEGIN:VCARD";
    return NULL;
}

static enum flag refuse(char sentence[LIMIT_ERROR_TEXT], enum flag flag, const struct format *format,
                        const char *why)
{
    snprintf(sentence, LIMIT_ERROR_TEXT, "its content does not fit the format %s: %s", format->name, why);
    return flag;
}

static enum flag render_text(struct span text, const struct format *format, struct buf *out,
                             char sentence[LIMIT_ERROR_TEXT])
{
    bool tab = strcmp(format->name, "tsv") == 0, csv = strcmp(format->name, "csv") == 0,
         json = is_json(format);
    const char *wrong = json ? add_json(text, out) : check_text(text, format);
    if (wrong)
        return refuse(sentence, FLAG_INVALID_CONTENT, format, wrong);
    if (csv || tab)
        (void)!csv_make_inert(text, tab, out); /* the buffer remembers */
    else if (!json)
        buf_add(out, text);
    return buf_full(out) ? refuse(sentence, FLAG_TOO_LARGE, format, "it is larger than the limit")
                         : FLAG_NONE;
}

static enum flag render_base64(struct span text, const struct format *format, struct buf *out,
                               char sentence[LIMIT_ERROR_TEXT])
{
    struct buf bytes;
    enum flag flag = FLAG_INVALID_CONTENT;
    bool binary = format_find_binary(span_str(format->name)) == format;
    buf_init(&bytes, text.n + 4 < LIMIT_BASE64 ? text.n + 4 : LIMIT_BASE64);
    if (base64_read_leniently(text, &bytes)) {
        flag = buf_full(&bytes) ? FLAG_TOO_LARGE : flag;
        refuse(sentence, flag, format,
               buf_full(&bytes) ? "its base64 is larger than the limit" : "it is not valid base64");
        goto out;
    }
    const char *sniffed = sniff_extension(buf_span(&bytes));
    if (binary && sniffed && sniff_fits(sniffed, format))
        flag = buf_add(out, buf_span(&bytes)) ? FLAG_TOO_LARGE : FLAG_NONE;
    else if (binary || sniffed || !utf8_valid(buf_span(&bytes)))
        refuse(sentence, flag, format, "its bytes are of another type");
    else
        flag = render_text(buf_span(&bytes), format, out, sentence);
    if (flag == FLAG_TOO_LARGE)
        refuse(sentence, flag, format, "it is larger than the limit");
out:
    buf_free(&bytes);
    return flag;
}

enum flag artifact_render(const struct directive_parts *parts, const struct format *format, struct buf *out,
                          char sentence[LIMIT_ERROR_TEXT])
{
    struct span text = buf_span(&parts->content);
    sentence[0] = '\0';
    if (parts->base64)
        return render_base64(text, format, out, sentence);
    if (format_find_binary(span_str(format->name)) != format)
        return render_text(text, format, out, sentence);
    /* Models forget to say base64 for a picture: bytes that are one count. Anything else would need a
     * renderer. */
    if (render_base64(text, format, out, sentence) == FLAG_NONE)
        return FLAG_NONE;
    snprintf(sentence, LIMIT_ERROR_TEXT, "the format %s cannot be made here", format->name);
    return FLAG_UNSUPPORTED_FORMAT;
}
