/* From declared attachments to bytes that are known. */
#include <errno.h>
#include <openssl/evp.h>
#include <stdio.h>
#include <unistd.h>

#include "attachments/attachment.h"
#include "attachments/extract.h"
#include "attachments/paths.h"
#include "base/base64.h"
#include "base/hex.h"
#include "base/json.h"
#include "base/xalloc.h"

enum { TEXT_SLACK = 64 * 1024 /* of content that is over the limit anyway, so that none is cut unseen */ };

/* ---- the list ---- */

void attachments_free(struct attachments *a)
{
    for (size_t i = 0; i < a->n; i++) {
        struct attachment *at = &a->list[i];
        xfree(at->name);
        xfree(at->path);
        xfree(at->type);
        xfree(at->uploaded);
        buf_free(&at->bytes);
        buf_free(&at->text);
        buf_free(&at->parts);
    }
    xfree(a->list);
    *a = (struct attachments){0};
}

struct attachment *attachments_add(struct attachments *a)
{
    if (a->n == LIMIT_ATTACHMENTS)
        return NULL;
    if (!a->list)
        a->list = xcalloc(LIMIT_ATTACHMENTS, sizeof *a->list);
    return &a->list[a->n++];
}

bool attachment_is_text(const struct attachment *a)
{
    return a->source == ATTACHMENT_CONTENT || a->conversion || a->by_provider ||
           (a->media.kind == MEDIA_TEXT && !a->native);
}

struct span attachment_text(const struct attachment *a)
{
    if (a->source == ATTACHMENT_CONTENT || a->conversion || a->by_provider)
        return buf_span(&a->text);
    struct span bytes = buf_span(&a->bytes);
    bool marked =
        bytes.n >= 3 && memcmp(bytes.p, "\xef\xbb\xbf", 3) == 0; /* names the encoding, is no text */
    return marked ? span_from(bytes, 3) : bytes;
}

const char *attachment_title(const struct attachment *a)
{
    return a->name ? a->name : a->path ? a->path : a->type ? a->type : "";
}

bool attachment_in_array(const struct attachment *a)
{
    return a->index < ATTACHMENT_ALONE;
}

/* ` ("scan.pdf")`, cut between characters; empty for who has no name but the one made from its place. */
static void put_name(const struct attachment *a, char out[96])
{
    enum { SHOWN = 60 };
    char made[48];
    const char *name = attachment_title(a);
    size_t n = strlen(name);
    attachment_made_name(a->index, made);
    if (n > SHOWN)
        for (n = SHOWN; n && ((unsigned char)name[n] & 0xc0) == 0x80; n--)
            ;
    if (n == 0 || strcmp(name, made) == 0)
        out[0] = '\0';
    else
        snprintf(out, 96, " (\"%.*s\")", (int)n, name);
}

static void put_place(const struct attachment *a, const char *field, char out[ATTACHMENT_PLACE])
{
    char name[96];
    put_name(a, name);
    if (attachment_in_array(a))
        snprintf(out, ATTACHMENT_PLACE, "attachments[%zu]%s%s%s", a->index, *field ? "." : "", field, name);
    else if (a->index == ATTACHMENT_ALONE)
        snprintf(out, ATTACHMENT_PLACE, "%.120s", attachment_title(a));
    else
        snprintf(out, ATTACHMENT_PLACE, "The forwarded attachment%s", name);
}

void attachment_place(const struct attachment *a, char out[ATTACHMENT_PLACE])
{
    put_place(a, "", out);
}

static int refuse(const struct attachment *a, enum error_code code, const char *field, const char *why,
                  struct error *e)
{
    char place[ATTACHMENT_PLACE];
    put_place(a, field, place);
    return error_set(e, code, "%s: it %s.", place, why);
}

/* ---- bytes ---- */

static enum error_code code_of(enum path_result result)
{
    switch (result) {
    case PATH_NOT_FOUND:
    case PATH_FAILED:
        return ERROR_ATTACHMENT_NOT_FOUND;
    case PATH_EMPTY:
        return ERROR_ATTACHMENT_INVALID;
    default:
        return ERROR_ATTACHMENT_FORBIDDEN_PATH;
    }
}

/* 1: there is more than the buffer may hold; -1: it cannot be read. */
static int read_all(int fd, size_t size, struct buf *out)
{
    enum { MORE = 64 * 1024 };
    for (size_t want = size + 1;; want = MORE) { /* one more, to see the end in the first read */
        size_t left = out->max - out->n;
        char *to = buf_reserve(out, want < left ? want : left);
        if (left == 0)
            return 1;
        ssize_t n = to ? read(fd, to, want < left ? want : left) : -1;
        if (n < 0 && to && errno == EINTR)
            continue;
        if (n <= 0)
            return (int)n;
        buf_commit(out, (size_t)n);
    }
}

/* Read once: what happens to the file later has no effect. */
static int read_path(struct attachment *a, const struct attachment_settings *s, struct error *e)
{
    int fd = -1;
    size_t size = 0;
    enum path_result result = paths_open(s->workspace_root, s->org, span_str(a->path), &fd, &size);
    if (result != PATH_OK)
        return refuse(a, code_of(result), "path", paths_reason(result), e);
    int bad = 0;
    buf_init(&a->bytes, s->file_max + 1);
    if (size > s->file_max)
        bad = limits_file(a, size, s->file_max, e);
    else if (read_all(fd, size, &a->bytes) < 0)
        bad = refuse(a, ERROR_ATTACHMENT_NOT_FOUND, "path", "could not be read to its end", e);
    close(fd);
    return bad;
}

static int read_data(struct attachment *a, struct error *e)
{
    struct buf plain;
    struct span text = a->value;
    bool canonical = false, escaped = text.n && memchr(text.p, '\\', text.n);
    int bad = 0;
    buf_init(&plain, text.n + 1);
    if (escaped) {
        bad = json_unescape(text, &plain);
        text = buf_span(&plain);
    }
    buf_init(&a->bytes, text.n / 4 * 3 + 4);
    bad = bad || base64_read(text, &a->bytes, &canonical);
    if (bad)
        bad = refuse(a, ERROR_ATTACHMENT_INVALID, "data", "is not base64", e);
    else if (canonical && !escaped)
        a->base64 = a->value;
    buf_free(&plain);
    return bad;
}

static void fill_digest(struct span bytes, char out[65])
{
    unsigned char digest[EVP_MAX_MD_SIZE];
    unsigned n = 0;
    EVP_Digest(bytes.p, bytes.n, digest, &n, EVP_sha256(), NULL);
    hex_write(digest, n, out);
}

/* ---- one of them ---- */

static const char *field_of(const struct attachment *a)
{
    return a->source == ATTACHMENT_PATH ? "path" : "data";
}

/* What is neither text nor an image needs an extractor; text for which there is none goes as it is. */
static int choose_conversion(struct attachment *a, const struct attachment_settings *s, struct error *e)
{
    char place[ATTACHMENT_PLACE], why[160] = "Files of this type cannot be converted to text";
    if (a->native || a->media.kind == MEDIA_IMAGE)
        return 0;
    if (s->transcribes && a->media.kind == MEDIA_AUDIO && s->transcribes(s->arg, a->media.type)) {
        a->by_provider = true;
        return 0;
    }
    bool plain = a->media.kind == MEDIA_TEXT && strcmp(a->media.type, "text/plain") == 0;
    const struct conversion *c =
        plain || a->media.kind == MEDIA_OTHER ? NULL : extract_conversion(a->media.type);
    if (c && s->converts && s->converts(s->arg, c->format))
        a->conversion = c;
    if (a->conversion || a->media.kind == MEDIA_TEXT)
        return 0;
    if (c && a->media.kind == MEDIA_AUDIO && !s->transcribes)
        snprintf(why, sizeof why,
                 "To write down what is said, the proxy needs the setting transcription, or "
                 "an offline recogniser, and has neither");
    else if (c && c->needs)
        snprintf(why, sizeof why, "To convert it to text the proxy's host needs %s, which it has not",
                 c->needs);
    else if (c && s->converts && s->converts(s->arg, "text:docx"))
        snprintf(why, sizeof why, "This version of the proxy cannot convert it to text");
    else if (c)
        snprintf(why, sizeof why,
                 "Converting it to text needs penstock-worker, which does not run on the proxy's host");
    else if (strcmp(a->media.type, "application/octet-stream") == 0)
        snprintf(why, sizeof why, "If it is text, it must be UTF-8, or UTF-16 with its byte order mark");
    attachment_place(a, place);
    return error_set(
        e, ERROR_ATTACHMENT_UNSUPPORTED, "%s: it is %s (%s). %s; %s.", place, a->media.word, a->media.type,
        why,
        !s->takes ? "send it in another format, or with handling: native where the provider can take it"
        : s->takes(s->arg, a->media.type)
            ? "send it with handling: native, which this provider takes, or in another format"
            : "send it in another format, since this provider does not take it with handling: native "
              "either");
}

/*
 * An image whose base64 goes on as it came: nothing of it but its beginning is looked at before the request
 * is sent.
 */
static bool leave_for_later(struct attachment *a, const struct attachment_settings *s)
{
    enum { BEGINNING = 8192 /* letters of base64 */ };
    struct span text = a->value, first = span_of(text.p, text.n < BEGINNING ? text.n : BEGINNING);
    struct buf beginning;
    size_t n = 0;
    bool canonical = false;
    if (!s->hash_later || a->source != ATTACHMENT_DATA || text.n <= BEGINNING ||
        !base64_is_canonical(text, &n))
        return false;
    buf_init(&beginning, first.n);
    if (base64_read(first, &beginning, &canonical) == 0)
        a->media = sniff_media(buf_span(&beginning), span_str(a->name));
    buf_free(&beginning);
    if (!canonical || a->media.kind != MEDIA_IMAGE)
        return false;
    a->base64 = text;
    a->size = n;
    return true;
}

static int resolve_file(struct attachment *a, const struct attachment_settings *s, struct error *e)
{
    int bad = 0;
    if (leave_for_later(a, s))
        return a->size > s->file_max ? limits_file(a, a->size, s->file_max, e) : 0;
    if (a->source == ATTACHMENT_PATH)
        bad = read_path(a, s, e);
    else if (a->value.n || !a->bytes.n)
        bad = read_data(a, e);
    a->size = a->bytes.n;
    if (bad)
        return -1;
    struct span bytes = buf_span(&a->bytes);
    if (bytes.n > s->file_max)
        return limits_file(a, bytes.n, s->file_max, e);
    if (bytes.n == 0)
        return refuse(a, ERROR_ATTACHMENT_INVALID, field_of(a), "is empty", e);
    if (!s->hash_later)
        fill_digest(bytes, a->sha256);
    a->media = sniff_media(bytes, span_str(a->name));
    if (choose_conversion(a, s, e) < 0)
        return -1;
    bool text = attachment_is_text(a);
    if (text && !a->conversion && !a->by_provider && attachment_text(a).n == 0)
        return refuse(a, ERROR_ATTACHMENT_INVALID, field_of(a), "is empty but for a byte order mark", e);
    a->characters = text ? limits_characters(attachment_text(a)) : 0;
    return 0;
}

static int resolve_content(struct attachment *a, const struct attachment_settings *s, struct error *e)
{
    struct span value = a->value;
    /* What was kept on a disk need not be what was put there. */
    if (value.n == 0 && !json_document(buf_span(&a->bytes), &value))
        return refuse(a, ERROR_ATTACHMENT_NOT_FOUND, "content", "cannot be read any more", e);
    a->media = (struct media){MEDIA_TEXT, "text/plain", "text"};
    buf_init(&a->text, 4 * s->characters_max + TEXT_SLACK);
    a->characters = content_render(value, &a->text);
    a->size = a->text.n;
    if (!buf_full(&a->text))
        fill_digest(buf_span(&a->text), a->sha256);
    return 0;
}

static int resolve_one(struct attachment *a, const struct attachment_settings *s, size_t *total,
                       struct error *e)
{
    if (a->source == ATTACHMENT_CONTENT)
        return resolve_content(a, s, e);
    if (resolve_file(a, s, e) < 0)
        return -1;
    *total += a->size; /* each is at most a setting, and there are few */
    if (*total > s->total_max)
        return error_set(e, ERROR_ATTACHMENT_TOO_LARGE,
                         "The attached files have more than %zu bytes together (limits.request_body).",
                         s->total_max);
    return 0;
}

int attachments_check_text(struct attachments *a, size_t max, struct error *e)
{
    size_t largest = 0;
    for (size_t i = 0; i < a->n; i++)
        if (a->list[i].characters > a->list[largest].characters)
            largest = i;
    if (limits_check(a, max, e) == 0)
        return 0;
    a->list[largest].decision = ATTACHMENT_REFUSED;
    return -1;
}

int attachments_resolve(struct attachments *a, const struct attachment_settings *s, struct error *e)
{
    size_t total = 0;
    for (size_t i = 0; i < a->n; i++) {
        if (resolve_one(&a->list[i], s, &total, e) < 0) {
            a->list[i].decision = ATTACHMENT_REFUSED;
            return -1;
        }
    }
    return attachments_check_text(a, s->characters_max, e);
}

void attachments_hash(struct attachments *a)
{
    struct error ignored; /* what is canonical can be read */
    for (size_t i = 0; i < a->n; i++) {
        struct attachment *at = &a->list[i];
        if (at->source == ATTACHMENT_CONTENT || at->sha256[0] || !at->size)
            continue;
        if (at->bytes.n || read_data(at, &ignored) == 0)
            fill_digest(buf_span(&at->bytes), at->sha256);
    }
}

/* ---- the record ---- */

static void add_member(const char *key, const char *text, struct buf *out)
{
    if (!text || !*text)
        return;
    buf_printf(out, "%s\"%s\":\"", buf_span(out).p[out->n - 1] == '{' ? "" : ",", key);
    if (json_escape(span_str(text), out) < 0)
        return; /* the buffer is full, and says so */
    buf_addc(out, '"');
}

static const char *decision_name(enum attachment_decision decision)
{
    static const char *const names[] = {"passed", "blank", "not_passed", "refused"};
    return names[decision];
}

void attachments_record(const struct attachments *a, const char *refused, struct buf *out)
{
    buf_addc(out, '[');
    for (size_t i = 0; i < a->n; i++) {
        const struct attachment *at = &a->list[i];
        buf_adds(out, i ? ",{" : "{");
        add_member("name", at->name, out);
        add_member("path", at->path, out);
        add_member("type", at->type, out);
        add_member("media_type", at->media.type, out);
        if (at->size)
            buf_printf(out, "%s\"bytes\":%llu", buf_span(out).p[out->n - 1] == '{' ? "" : ",",
                       (unsigned long long)at->size);
        add_member("sha256", at->sha256, out);
        if (at->upload != ATTACHMENT_INLINE)
            add_member("upload", at->upload == ATTACHMENT_UPLOADED ? "new" : "reused", out);
        if (at->source != ATTACHMENT_CONTENT)
            add_member("handling", at->native ? "native" : "preprocess", out);
        if (at->index == ATTACHMENT_FORWARDED)
            buf_adds(out, ",\"forwarded\":true");
        add_member("converter", at->converter, out);
        add_member("decision",
                   refused && at->decision == ATTACHMENT_PASSED ? "not_sent" : decision_name(at->decision),
                   out);
        if (at->decision == ATTACHMENT_REFUSED)
            add_member("reason", refused, out);
        buf_addc(out, '}');
    }
    buf_addc(out, ']');
}
