#include "providers/upload.h"

#include <stdio.h>
#include <time.h>

#include "base/json.h"
#include "base/multipart.h"
#include "providers/placing.h"

enum {
    HOUR_S = 3600,
    DAY_S = 24 * HOUR_S,
    KEPT_LEAST_S = HOUR_S, /* what OpenAI's expires_after takes: an hour to thirty days */
    KEPT_MOST_S = 30 * DAY_S,
    PATH_MOST = 4096,
    FIELDS_MOST = 2048,
    BODY_REST = 8 * 1024 /* of a body beside the file */
};

enum kind { KIND_NONE, KIND_OPENAI, KIND_ANTHROPIC, KIND_GEMINI, KIND_MOONSHOT };

/* Sizes are those of the documentation, in powers of ten as the smaller reading of "MB". */
static const struct {
    const char *dialect;
    enum kind kind;
    size_t inline_most;
} kinds[] = {
    {"openai", KIND_OPENAI, 50 * 1000 * 1000},
    {"anthropic", KIND_ANTHROPIC, 32 * 1000 * 1000},
    {"gemini", KIND_GEMINI, 20 * 1000 * 1000},
    {"moonshot", KIND_MOONSHOT, 100 * 1000 * 1000},
};

static size_t row_of(const char *dialect)
{
    size_t i = 0;
    while (i < sizeof kinds / sizeof kinds[0] && strcmp(kinds[i].dialect, dialect) != 0)
        i++;
    return i;
}

static enum kind kind_of(const char *dialect)
{
    size_t i = row_of(dialect);
    return i < sizeof kinds / sizeof kinds[0] ? kinds[i].kind : KIND_NONE;
}

size_t upload_inline_most(const char *dialect)
{
    size_t i = row_of(dialect);
    return i < sizeof kinds / sizeof kinds[0] ? kinds[i].inline_most : 0;
}

static bool is_family(struct span type, const char *family)
{
    size_t n = strlen(family);
    return type.n > n && span_is_nocase(span_of(type.p, n), family);
}

bool upload_is_for_text(const char *dialect, struct span media_type)
{
    return kind_of(dialect) == KIND_MOONSHOT && !is_family(media_type, "image/") &&
           !is_family(media_type, "video/");
}

/* ---- the request ---- */

static const char *purpose_of(enum kind kind, struct span media_type)
{
    bool image = is_family(media_type, "image/");
    if (kind == KIND_OPENAI)
        return image ? "vision" : "user_data";
    return image ? "image" : is_family(media_type, "video/") ? "video" : "file-extract";
}

static const char *extension_of(struct span media_type)
{
    static const struct {
        const char *type, *extension;
    } list[] = {
        {"image/png", ".png"}, {"image/jpeg", ".jpg"},  {"image/gif", ".gif"}, {"image/webp", ".webp"},
        {"video/mp4", ".mp4"}, {"video/webm", ".webm"}, {"audio/wav", ".wav"}, {"audio/mpeg", ".mp3"},
    };
    const char *extension = place_extension(media_type);
    for (size_t i = 0; i < sizeof list / sizeof list[0] && !extension; i++)
        if (span_is_nocase(media_type, list[i].type))
            extension = list[i].extension;
    return extension;
}

/* Providers tell a file's type by its name. */
static void write_name(const struct upload_file *file, struct buf *out)
{
    const char *extension = extension_of(file->media_type);
    struct span name = file->name.n ? file->name : SPAN_LIT("attachment");
    size_t n = extension ? strlen(extension) : 0;
    buf_add(out, name);
    if (n && (name.n <= n || !span_is_nocase(span_from(name, name.n - n), extension)))
        buf_adds(out, extension);
}

/* How long a provider that deletes by itself is told to keep it: longer than it is used, so that it is
 * deleted by us when all goes well, and by it when not. */
static int64_t kept_s(int64_t ttl_s)
{
    int64_t s = ttl_s + HOUR_S;
    return s < KEPT_LEAST_S ? KEPT_LEAST_S : s > KEPT_MOST_S ? KEPT_MOST_S : s;
}

static void write_form(enum kind kind, const struct upload_file *file, const char *boundary,
                       struct upload_message *m)
{
    struct buf name, text;
    char seconds[24];
    buf_init(&name, LIMIT_ATTACHMENT_NAME + 64);
    buf_init(&text, sizeof m->content_type - 1);
    write_name(file, &name);
    snprintf(seconds, sizeof seconds, "%lld", (long long)kept_s(file->ttl_s));
    if (kind == KIND_OPENAI || kind == KIND_MOONSHOT)
        multipart_field(boundary, "purpose", span_str(purpose_of(kind, file->media_type)), &m->body);
    if (kind == KIND_OPENAI) {
        multipart_field(boundary, "expires_after[anchor]", SPAN_LIT("created_at"), &m->body);
        multipart_field(boundary, "expires_after[seconds]", span_str(seconds), &m->body);
    }
    if (kind == KIND_ANTHROPIC)
        multipart_field(boundary, "expires_in_seconds", span_str(seconds), &m->body);
    multipart_file(boundary, "file", buf_span(&name), file->media_type, file->bytes, &m->body);
    multipart_end(boundary, &m->body);
    multipart_type(boundary, &text);
    snprintf(m->content_type, sizeof m->content_type, "%s", buf_cstr(&text));
    buf_free(&name);
    buf_free(&text);
}

static void write_announcement(const struct upload_file *file, struct upload_message *m)
{
    struct buf name;
    buf_init(&name, LIMIT_ATTACHMENT_NAME + 64);
    write_name(file, &name);
    buf_adds(&m->fields, "X-Goog-Upload-Protocol: resumable\r\nX-Goog-Upload-Command: start\r\n");
    buf_printf(&m->fields, "X-Goog-Upload-Header-Content-Length: %zu\r\n", file->bytes.n);
    buf_adds(&m->fields, "X-Goog-Upload-Header-Content-Type: ");
    buf_add(&m->fields, place_gemini_type(file->media_type));
    buf_adds(&m->fields, "\r\n");
    buf_adds(&m->body, "{\"file\":{\"displayName\":\"");
    if (json_escape(buf_span(&name), &m->body) < 0)
        m->body.over = true;
    buf_adds(&m->body, "\"}}");
    snprintf(m->content_type, sizeof m->content_type, "application/json");
    buf_free(&name);
}

static void write_data(const struct upload_file *file, struct upload_message *m)
{
    buf_adds(&m->fields, "X-Goog-Upload-Command: upload, finalize\r\nX-Goog-Upload-Offset: 0\r\n");
    buf_add(&m->body, file->bytes);
    snprintf(m->content_type, sizeof m->content_type, "application/octet-stream");
}

/* The base path without a version at its end, and what follows. */
static void write_base(const char *base_path, enum kind kind, enum upload_step step, struct buf *path)
{
    const char *version = kind == KIND_GEMINI ? "/v1beta" : "/v1";
    struct span base = span_str(base_path);
    if (span_ends(base, version))
        base.n -= strlen(version);
    buf_add(path, base);
    buf_adds(path, kind == KIND_GEMINI && step == UPLOAD_SEND ? "/upload" : "");
    buf_adds(path, version);
}

int upload_write(const char *dialect, const char *base_path, enum upload_step step,
                 const struct upload_file *file, const char *id, const char *boundary,
                 struct upload_message *out)
{
    enum kind kind = kind_of(dialect);
    *out = (struct upload_message){.method = step == UPLOAD_DELETE  ? "DELETE"
                                             : step >= UPLOAD_STATE ? "GET"
                                                                    : "POST"};
    buf_init(&out->path, PATH_MOST);
    buf_init(&out->fields, FIELDS_MOST);
    buf_init(&out->body, (file ? file->bytes.n : 0) + BODY_REST);
    if (kind == KIND_NONE || (step == UPLOAD_DATA && kind != KIND_GEMINI) ||
        (step == UPLOAD_CONTENT && kind != KIND_MOONSHOT))
        return -1;
    if (kind == KIND_ANTHROPIC)
        buf_adds(&out->fields, "anthropic-version: 2023-06-01\r\n");
    if (step != UPLOAD_DATA)
        write_base(base_path, kind, step, &out->path);
    switch (step) {
    case UPLOAD_SEND:
        buf_adds(&out->path, "/files");
        if (kind == KIND_GEMINI)
            write_announcement(file, out);
        else
            write_form(kind, file, boundary, out);
        break;
    case UPLOAD_DATA:
        write_data(file, out);
        break;
    default: /* Gemini's ids begin with "files/" */
        buf_printf(&out->path, "%s%s%s", kind == KIND_GEMINI ? "/" : "/files/", id,
                   step == UPLOAD_CONTENT ? "/content" : "");
    }
    return buf_full(&out->path) || buf_full(&out->fields) || buf_full(&out->body) ? -1 : 0;
}

void upload_message_finish(struct upload_message *m)
{
    buf_free(&m->path);
    buf_free(&m->fields);
    buf_free(&m->body);
}

/* ---- the answer ---- */

/* A member's text, if it is one that can stand in a path and in a JSON string as it is. */
static int read_word(struct span object, const char *name, bool uri, char *out, size_t room)
{
    static const char allowed[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_./:";
    struct span value;
    struct buf text;
    int bad = -1;
    buf_init(&text, room - 1);
    if (json_member(object, name, &value) && json_type(value) == JSON_STRING &&
        json_unescape(json_inside(value), &text) == 0 && text.n) {
        const char *s = buf_cstr(&text);
        size_t fits = strspn(s, allowed);
        if (uri)
            for (fits = 0; s[fits] > ' ' && s[fits] < 0x7f && s[fits] != '"' && s[fits] != '\\';)
                fits++;
        bad = fits == text.n && (uri || !strstr(s, "..")) ? 0 : -1;
        if (!bad)
            memcpy(out, s, text.n + 1);
    }
    buf_free(&text);
    return bad;
}

/* "2026-11-30T12:00:00.123456Z"; 0: something else. */
static int64_t read_time(const char *text)
{
    struct tm tm = {0};
    const char *rest = strptime(text, "%Y-%m-%dT%H:%M:%S", &tm);
    return rest && (*rest == 'Z' || *rest == '.' || *rest == '+') ? (int64_t)timegm(&tm) : 0;
}

/* Seconds since 1970, as a number or a date; 0: neither, or no time that can be meant. */
static int64_t read_expiry(struct span object, const char *name)
{
    static const int64_t most = INT64_C(100000000000);
    struct span value;
    char text[64];
    int64_t s = 0;
    if (!json_member(object, name, &value))
        return 0;
    if (!json_int(value, &s))
        s = read_word(object, name, true, text, sizeof text) == 0 ? read_time(text) : 0;
    return s > 0 && s < most ? s : 0;
}

/* Gemini says state, the others of the OpenAI family status, Anthropic neither. What is not known to be
 * unfinished or broken is there. */
static enum upload_state read_state(struct span object)
{
    static const char *const waiting[] = {"PROCESSING", "STATE_UNSPECIFIED", "pending", "processing",
                                          "uploading"};
    static const char *const broken[] = {"FAILED", "failed", "error", "invalid"};
    char word[32] = "";
    if (read_word(object, "state", false, word, sizeof word) < 0 &&
        read_word(object, "status", false, word, sizeof word) < 0)
        return UPLOAD_READY;
    for (size_t i = 0; i < sizeof waiting / sizeof waiting[0]; i++)
        if (strcmp(word, waiting[i]) == 0)
            return UPLOAD_WAIT;
    for (size_t i = 0; i < sizeof broken / sizeof broken[0]; i++)
        if (strcmp(word, broken[i]) == 0)
            return UPLOAD_FAILED;
    return UPLOAD_READY;
}

/* The id stands in paths, some of which are asked to be deleted: it may name a file, and nothing above it. */
static bool is_one_segment(bool gemini, const char *id)
{
    static const char files[] = "files/";
    if (gemini && strncmp(id, files, sizeof files - 1) != 0)
        return false;
    const char *segment = gemini ? id + sizeof files - 1 : id;
    return *segment && !strchr(segment, '/') && strcmp(segment, ".") != 0;
}

int upload_read(const char *dialect, struct span body, struct upload_reply *out, char why[LIMIT_ERROR_TEXT])
{
    bool gemini = kind_of(dialect) == KIND_GEMINI;
    struct span object, inner;
    *out = (struct upload_reply){0};
    if (!json_document(body, &object) || json_type(object) != JSON_OBJECT) {
        snprintf(why, LIMIT_ERROR_TEXT, "its answer is not a JSON object");
        return -1;
    }
    if (gemini && json_member(object, "file", &inner) && json_type(inner) == JSON_OBJECT)
        object = inner;
    if (read_word(object, gemini ? "name" : "id", false, out->id, sizeof out->id) < 0 ||
        !is_one_segment(gemini, out->id)) {
        snprintf(why, LIMIT_ERROR_TEXT, "its answer names no file");
        return -1;
    }
    if (!gemini)
        memcpy(out->uri, out->id, sizeof out->id);
    else if (read_word(object, "uri", true, out->uri, sizeof out->uri) < 0) {
        snprintf(why, LIMIT_ERROR_TEXT, "its answer names no address of the file");
        return -1;
    }
    out->state = read_state(object);
    out->expires_s = read_expiry(object, gemini ? "expirationTime" : "expires_at");
    return 0;
}
