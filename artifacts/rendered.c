/* Directives whose files a caged renderer draws (product.md §5.1): what to ask it for, and what came back. */
#include <ctype.h>
#include <errno.h>
#include <openssl/evp.h>
#include <stdio.h>
#include <unistd.h>

#include "artifacts/artifact.h"
#include "artifacts/render.h"
#include "artifacts/sniff.h"
#include "artifacts/utf8.h"
#include "base/base64.h"
#include "base/xalloc.h"
#include "jobs/document.h"

enum { HEAD = 64 };

/* Models forget to say base64 for a file that they write themselves. Looks at no more than its beginning. */
static bool is_file_itself(struct span text, const struct format *format)
{
    struct buf bytes;
    size_t n = 0;
    bool is;
    while (n < text.n && n < HEAD && (isalnum((unsigned char)text.p[n]) || strchr("+/=", text.p[n])))
        n++;
    if (n < text.n && n < HEAD) /* a line that long and without a blank is in no source */
        return false;
    buf_init(&bytes, text.n + 4);
    const char *sniffed = base64_read_leniently(text, &bytes) == 0 ? sniff_extension(buf_span(&bytes)) : NULL;
    is = sniffed && sniff_fits(sniffed, format);
    buf_free(&bytes);
    return is;
}

static char first_letter(struct span text)
{
    if (span_starts(text, "\xef\xbb\xbf"))
        text = span_from(text, 3);
    while (text.n && strchr(" \t\r\n", text.p[0]) && text.p[0])
        text = span_from(text, 1);
    return text.n ? text.p[0] : '\0';
}

bool render_is_wanted(const struct rendered *r, const struct directive_parts *parts,
                      const struct format *format)
{
    struct span text = buf_span(&parts->content);
    if (parts->base64 || !rendered_makes(r, format->name))
        return false;
    if (format_find_binary(span_str(format->name)) == format)
        return !is_file_itself(text, format);
    /* svg: a drawing, or what a chart is made from */
    return strcmp(format->name, "svg") != 0 || first_letter(text) != '<';
}

static void digest_part(EVP_MD_CTX *c, struct span part)
{
    uint64_t n = part.n; /* so that no two lists of parts are one */
    EVP_DigestUpdate(c, &n, sizeof n);
    EVP_DigestUpdate(c, part.p, part.n);
}

/* The brand is the worker's, and so is what the digest is for. */
static int digest(struct span source, const struct render_params *p, unsigned char out[DIGEST])
{
    EVP_MD_CTX *c = EVP_MD_CTX_new();
    int failed = !c || !EVP_DigestInit_ex(c, EVP_sha256(), NULL);
    if (!failed) {
        digest_part(c, span_str(p->format));
        digest_part(c, span_str(p->filename));
        digest_part(c, span_str(p->title));
        digest_part(c, p->options);
        digest_part(c, source);
        for (size_t i = 0; i < p->n_assets; i++) {
            digest_part(c, span_str(p->assets[i].name));
            digest_part(c, p->assets[i].bytes);
        }
        failed = !EVP_DigestFinal_ex(c, out, NULL);
    }
    EVP_MD_CTX_free(c);
    return failed ? -1 : 0;
}

enum flag render_wanted_read(const struct rendered *r, const struct directive_parts *parts,
                             const struct format *format, const char *filename, int64_t made_at,
                             const struct rendered_asset *assets, size_t n_assets, struct render_wanted *out,
                             char sentence[LIMIT_ERROR_TEXT])
{
    struct render_asset list[RENDER_ASSETS];
    struct render_params params = {.format = format->name,
                                   .filename = filename,
                                   .title = parts->title,
                                   .options = buf_span(&parts->metadata),
                                   .made_at = made_at,
                                   .brand = r->brand,
                                   .assets = list};
    for (size_t i = 0; i < n_assets && i < RENDER_ASSETS; i++, params.n_assets++)
        list[i] = (struct render_asset){
            .name = assets[i].name, .media_type = assets[i].media_type, .bytes = buf_span(&assets[i].bytes)};
    sentence[0] = '\0';
    errno = 0;
    if (!utf8_valid(buf_span(&parts->content))) {
        snprintf(sentence, LIMIT_ERROR_TEXT, "its content is not valid UTF-8");
        return FLAG_INVALID_CONTENT;
    }
    int fd = digest(buf_span(&parts->content), &params, out->digest)
                 ? -1
                 : document_create(buf_span(&parts->content), &params);
    if (fd < 0) {
        if (errno == EFBIG)
            return FLAG_TOO_LARGE;
        snprintf(sentence, LIMIT_ERROR_TEXT, "there is no memory to make it in");
        return FLAG_RENDER_FAILED;
    }
    snprintf(out->format, sizeof out->format, "%s", format->name);
    out->document = fd;
    out->wanted = true;
    return FLAG_NONE;
}

void render_wanted_free(struct render_wanted *w)
{
    if (w->wanted && w->document >= 0)
        close(w->document);
    w->wanted = false;
}

void render_clause(const struct format *format, const char *said, char out[LIMIT_ERROR_TEXT])
{
    struct buf clean;
    const char *end = said + strlen(said);
    buf_init(&clean, LIMIT_ERROR_TEXT - 1);
    buf_printf(&clean, "the format %s: ", format->name);
    while (said < end) {
        size_t n;
        char room[UTF8_MAX];
        uint32_t c = utf8_next(said, end, &n);
        said += n;
        if (utf8_invisible(c) || c < ' ' || c == 0x7f)
            c = ' ';
        buf_addn(&clean, room, utf8_put(c, room));
    }
    while (clean.n && strchr(" .;", buf_span(&clean).p[clean.n - 1]))
        buf_cut(&clean, clean.n - 1);
    snprintf(out, LIMIT_ERROR_TEXT, "%s", buf_cstr(&clean));
    buf_free(&clean);
}

int render_check(const struct format *format, struct span bytes)
{
    if (strcmp(format->name, "svg") == 0)
        return xml_check(bytes, "svg") ? -1 : 0;
    const char *sniffed = sniff_extension(bytes);
    if (format_find(span_str(format->name)) == format) /* csv, ics */
        return sniffed || !utf8_valid(bytes) ? -1 : 0;
    return sniffed && sniff_fits(sniffed, format) ? 0 : -1;
}
