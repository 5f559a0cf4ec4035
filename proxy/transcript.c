#include "proxy/transcript.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/json.h"
#include "base/multipart.h"

static const struct {
    const char *type, *extension;
} types[] = {
    {"audio/mpeg", ".mp3"}, {"audio/mp3", ".mp3"},   {"audio/wav", ".wav"},   {"audio/x-wav", ".wav"},
    {"audio/mp4", ".m4a"},  {"audio/x-m4a", ".m4a"}, {"audio/m4a", ".m4a"},   {"audio/webm", ".webm"},
    {"video/mp4", ".mp4"},  {"video/mpeg", ".mpeg"}, {"video/webm", ".webm"},
};

static const char *extension_of(struct span media_type)
{
    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++)
        if (span_is_nocase(media_type, types[i].type))
            return types[i].extension;
    return NULL;
}

bool transcript_takes(struct span media_type)
{
    return extension_of(media_type) != NULL;
}

/* ---- the request ---- */

void transcript_request(const char *model, const struct transcript_file *file, const char *boundary,
                        struct buf *out)
{
    const char *extension = extension_of(file->media_type);
    bool times = span_starts(span_str(model), "whisper"); /* the later ones refuse the format that has them */
    struct buf name;
    buf_init(&name, LIMIT_ATTACHMENT_NAME + 64);
    buf_add(&name, file->name.n ? file->name : SPAN_LIT("audio"));
    if (extension && !span_ends(buf_span(&name), extension)) /* the type is told by the name */
        buf_adds(&name, extension);
    multipart_field(boundary, "model", span_str(model), out);
    multipart_field(boundary, "response_format", times ? SPAN_LIT("verbose_json") : SPAN_LIT("json"), out);
    multipart_file(boundary, "file", buf_span(&name), file->media_type, file->bytes, out);
    multipart_end(boundary, out);
    buf_free(&name);
}

/* ---- the answer ---- */

/* Seconds: a number, or, of some, one in quotes. Negative: none. */
static double read_seconds(struct span object, const char *name)
{
    char digits[32] = "";
    struct span value;
    if (!json_member(object, name, &value))
        return -1;
    if (json_type(value) == JSON_STRING)
        value = json_inside(value);
    else if (json_type(value) != JSON_NUMBER)
        return -1;
    if (!value.n || value.n >= sizeof digits)
        return -1;
    memcpy(digits, value.p, value.n);
    char *end;
    double seconds = strtod(digits, &end);
    return *end || !isfinite(seconds) || seconds < 0 || seconds > 1e7 ? -1 : seconds;
}

/* 4:12, 1:04:12 */
static void write_duration(double seconds, struct buf *out)
{
    unsigned long s = (unsigned long)(seconds + 0.5);
    if (s >= 3600)
        buf_printf(out, "%lu:%02lu:%02lu", s / 3600, s / 60 % 60, s % 60);
    else
        buf_printf(out, "%lu:%02lu", s / 60, s % 60);
}

/* A line of text: no line breaks, no blanks around it. -1: no valid text. */
static int add_line(struct span escaped, struct buf *out)
{
    struct buf plain;
    size_t from = 0, n;
    buf_init(&plain, escaped.n + 1);
    int bad = json_unescape(escaped, &plain);
    char *p = plain.n ? plain.data + plain.start : NULL;
    for (size_t i = 0; i < plain.n; i++)
        if ((unsigned char)p[i] < ' ')
            p[i] = ' ';
    n = plain.n;
    while (from < n && p[from] == ' ')
        from++;
    while (n > from && p[n - 1] == ' ')
        n--;
    if (!bad && n > from)
        buf_addn(out, p + from, n - from);
    buf_free(&plain);
    return bad;
}

static int add_segments(struct span list, struct buf *out)
{
    struct json_iter it = json_iter(list);
    int bad = 0;
    while (!bad && json_next(&it) == 1) {
        struct span text;
        if (json_type(it.value) != JSON_OBJECT || !json_member(it.value, "text", &text) ||
            json_type(text) != JSON_STRING)
            return -1;
        double start = read_seconds(it.value, "start");
        unsigned long s = start < 0 ? 0 : (unsigned long)start;
        if (start >= 0)
            buf_printf(out, "[%02lu:%02lu:%02lu] ", s / 3600, s / 60 % 60, s % 60);
        bad = add_line(json_inside(text), out);
        buf_addc(out, '\n');
    }
    return bad;
}

static void write_head(struct span name, double seconds, const char *engine, struct buf *out)
{
    buf_adds(out, "### Audio transcript (");
    for (size_t i = 0; i < name.n; i++)
        buf_addc(out, (unsigned char)name.p[i] < ' ' ? ' ' : name.p[i]);
    buf_adds(out, ", ");
    if (seconds >= 0) {
        write_duration(seconds, out);
        buf_adds(out, ", ");
    }
    buf_printf(out, "%s)\n\n", engine);
}

/* Some models write only blanks for silence. */
static bool is_blank(struct span escaped)
{
    struct buf line;
    buf_init(&line, escaped.n + 1);
    bool blank = add_line(escaped, &line) == 0 && line.n == 0;
    buf_free(&line);
    return blank;
}

int transcript_read(struct span body, struct span name, const char *engine, struct buf *out,
                    char why[LIMIT_ERROR_TEXT])
{
    struct span object, text, segments;
    size_t before = out->n;
    int bad = 0;
    snprintf(why, LIMIT_ERROR_TEXT, "its answer holds no text");
    if (!json_document(body, &object) || !json_member(object, "text", &text) ||
        json_type(text) != JSON_STRING)
        return -1;
    write_head(name, read_seconds(object, "duration"), engine, out);
    bool some = json_member(object, "segments", &segments) && json_type(segments) == JSON_ARRAY;
    if (some) {
        struct json_iter it = json_iter(segments);
        some = json_next(&it) == 1;
    }
    if (is_blank(json_inside(text)))
        buf_adds(out, "(no speech found)\n");
    else if (some)
        bad = add_segments(segments, out);
    else
        bad = json_unescape(json_inside(text), out) || buf_addc(out, '\n');
    if (!bad && !buf_full(out))
        return 0;
    if (buf_full(out))
        snprintf(why, LIMIT_ERROR_TEXT, "its answer is too long");
    buf_cut(out, before);
    return -1;
}
