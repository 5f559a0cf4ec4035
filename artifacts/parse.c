/*
 * A directive's text, from behind its opening marker to before its closing marker, taken apart (product.md
 * §3):
 *
 *   [escaped once more]  blanks  [fence line]  {metadata}  [fence line]  line break  [separator line]  [fence
 * line] content [fence line]
 *
 * Every step looks at each byte a fixed number of times.
 */
#include <ctype.h>
#include <jansson.h>
#include <stdio.h>

#include "artifacts/artifact.h"
#include "artifacts/metadata.h"
#include "artifacts/utf8.h"

enum { FENCE_MIN = 3, EXTENSION_MAX = 16 };

static bool is_space(char c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

/* ---- lines ---- */

/* The first line of `text` without its end; *whole is its length with it (LF, CR LF or CR). */
static struct span first_line(struct span text, size_t *whole)
{
    size_t n = 0;
    while (n < text.n && text.p[n] != '\n' && text.p[n] != '\r')
        n++;
    *whole = n;
    if (n < text.n)
        *whole += text.p[n] == '\r' && n + 1 < text.n && text.p[n + 1] == '\n' ? 2 : 1;
    return span_of(text.p, n);
}

static struct span trim(struct span s)
{
    while (s.n && is_space(s.p[0]))
        s = span_from(s, 1);
    while (s.n && is_space(s.p[s.n - 1]))
        s.n--;
    return s;
}

/* Three or more of one of `-`, `*`, `=`, `—` and nothing else but blanks. */
static bool is_separator(struct span line)
{
    static const char *const marks[] = {"-", "*", "=", "\u2014"};
    line = trim(line);
    for (size_t i = 0; i < sizeof marks / sizeof marks[0]; i++) {
        size_t n = strlen(marks[i]), count = 0;
        while (span_starts(span_from(line, count * n), marks[i]))
            count++;
        if (count >= 3 && count * n == line.n)
            return true;
    }
    return false;
}

struct fence {
    char mark;
    size_t n;
    struct span info; /* its first word */
};

static bool read_fence(struct span line, struct fence *f)
{
    line = trim(line);
    f->mark = line.n ? line.p[0] : 0;
    if (f->mark != '`' && f->mark != '~')
        return false;
    for (f->n = 0; f->n < line.n && line.p[f->n] == f->mark;)
        f->n++;
    f->info = trim(span_from(line, f->n));
    if (f->n < FENCE_MIN || (f->mark == '`' && f->info.n && memchr(f->info.p, '`', f->info.n)))
        return false;
    for (size_t i = 0; i < f->info.n; i++)
        if (is_space(f->info.p[i]) || f->info.p[i] == '{')
            f->info.n = i;
    return true;
}

static bool closes(struct span line, const struct fence *open)
{
    struct fence f;
    return read_fence(line, &f) && f.mark == open->mark && f.n >= open->n && !f.info.n;
}

/* ---- one level of escapes ---- */

static bool is_escape(struct span text, size_t at, const char *letters)
{
    return at + 1 < text.n && text.p[at] == '\\' && text.p[at + 1] && strchr(letters, text.p[at + 1]);
}

/* Whether the whole text is written in escapes: before the metadata or behind its brace they stand where line
 * breaks and quotes should. */
static bool is_escaped(struct span text)
{
    size_t i = 0;
    bool escapes = false;
    for (;;) {
        if (i < text.n && (text.p[i] == ' ' || text.p[i] == '\t'))
            i++;
        else if (!is_escape(text, i, "nrt"))
            break;
        else
            escapes = true, i += 2;
    }
    if (i < text.n && text.p[i] == '{') {
        for (i++; i < text.n && text.p[i] == ' ';)
            i++;
        if (is_escape(text, i, "\"nrt"))
            return true;
    }
    return escapes && !memchr(text.p, '\n', text.n);
}

static int hex4(struct span s, size_t at, uint32_t *out)
{
    uint32_t v = 0;
    if (s.n < at + 4)
        return -1;
    for (size_t i = at; i < at + 4; i++) {
        unsigned char c = (unsigned char)s.p[i];
        if (!isxdigit(c))
            return -1;
        v = v << 4 | (uint32_t)(isdigit(c) ? c - '0' : tolower(c) - 'a' + 10);
    }
    *out = v;
    return 0;
}

/* \uXXXX, of a pair both; answers the bytes read, 0: not one. */
static size_t undo_unicode(struct span s, struct buf *out)
{
    uint32_t c, low;
    char bytes[UTF8_MAX];
    size_t n = 6;
    if (hex4(s, 2, &c))
        return 0;
    if (c >= 0xd800 && c < 0xdc00 && s.n >= 12 && s.p[6] == '\\' && s.p[7] == 'u' && hex4(s, 8, &low) == 0 &&
        low >= 0xdc00 && low < 0xe000) {
        c = 0x10000 + ((c - 0xd800) << 10) + (low - 0xdc00);
        n = 12;
    }
    buf_addn(out, bytes, utf8_put(c, bytes));
    return n;
}

/* What is no escape of JSON stays as it is. */
static void undo_escapes(struct span text, struct buf *out)
{
    static const char from[] = "\"\\/bfnrt", to[] = "\"\\/\b\f\n\r\t";
    size_t i = 0;
    while (i < text.n) {
        const char *slash = memchr(text.p + i, '\\', text.n - i);
        size_t plain = slash ? (size_t)(slash - text.p) - i : text.n - i;
        buf_addn(out, text.p + i, plain);
        i += plain;
        if (i + 1 >= text.n) {
            buf_addn(out, text.p + i, text.n - i);
            return;
        }
        char c = text.p[i + 1];
        const char *known = c ? strchr(from, c) : NULL;
        size_t n = c == 'u' ? undo_unicode(span_from(text, i), out) : 0;
        if (known)
            buf_addc(out, to[known - from]);
        else if (!n)
            buf_addn(out, text.p + i, 2);
        i += n ? n : 2;
    }
}

/* ---- the metadata's values ---- */

/* Copies without NULs, cut at a character, with the extension kept when `extension` says so. */
static void copy_text(struct span from, bool extension, char *to, size_t room)
{
    struct span tail = {NULL, 0};
    if (extension && from.n >= room) {
        for (size_t i = from.n; i > 0 && from.n - i <= EXTENSION_MAX && !tail.n; i--)
            if (from.p[i - 1] == '.')
                tail = span_from(from, i - 1);
        for (size_t i = from.n; i > 0; i--)
            if (from.p[i - 1] == '/' || from.p[i - 1] == '\\') {
                from = span_from(from, i);
                break;
            }
        if (tail.n >= from.n)
            tail.n = 0;
    }
    size_t n = 0, cut = from.n < room ? from.n : utf8_cut(from, room - 1 - tail.n);
    for (size_t i = 0; i < cut; i++)
        if (from.p[i])
            to[n++] = from.p[i];
    for (size_t i = 0; cut < from.n && i < tail.n; i++)
        if (tail.p[i])
            to[n++] = tail.p[i];
    to[n] = '\0';
}

static int invalid(char sentence[LIMIT_ERROR_TEXT], const char *why)
{
    snprintf(sentence, LIMIT_ERROR_TEXT, "%s", why);
    return -1;
}

/* A text value; absent and null leave `out` empty. */
static int take_text(json_t *object, const char *key, char *out, size_t room, char sentence[LIMIT_ERROR_TEXT])
{
    json_t *v = json_object_get(object, key);
    out[0] = '\0';
    if (!v || json_is_null(v))
        return 0;
    if (!json_is_string(v)) {
        snprintf(sentence, LIMIT_ERROR_TEXT, "\"%s\" in its metadata is not a text", key);
        return -1;
    }
    copy_text(span_of(json_string_value(v), json_string_length(v)), strcmp(key, "filename") == 0, out, room);
    return 0;
}

static int take_encoding(json_t *object, bool *base64, char sentence[LIMIT_ERROR_TEXT])
{
    static const char *const plain[] = {"", "text", "utf-8", "utf8", "plain", "none", "raw"};
    char word[16];
    if (take_text(object, "encoding", word, sizeof word, sentence))
        return -1;
    *base64 = strcasecmp(word, "base64") == 0;
    for (size_t i = 0; i < sizeof plain / sizeof plain[0]; i++)
        if (*base64 || strcasecmp(word, plain[i]) == 0)
            return 0;
    return invalid(sentence, "\"encoding\" in its metadata is neither text nor base64");
}

/* The format that the metadata or the file's extension names, in lower case, without a dot and blanks around
 * it. */
static int settle_format(struct directive_parts *p, char sentence[LIMIT_ERROR_TEXT])
{
    struct span word = trim(span_str(p->format));
    if (!word.n) {
        struct span name = trim(span_str(p->filename));
        const char *dot = name.n ? memrchr(name.p, '.', name.n) : NULL;
        if (dot)
            word = trim(span_from(name, (size_t)(dot - name.p) + 1));
        if (!word.n || word.n > EXTENSION_MAX || memchr(word.p, '/', word.n) || memchr(word.p, '\\', word.n))
            return invalid(sentence, "its metadata names no format");
    }
    while (word.n && (word.p[0] == '.' || is_space(word.p[0])))
        word = span_from(word, 1);
    char lower[sizeof p->format];
    size_t n = word.n < sizeof lower ? word.n : sizeof lower - 1;
    for (size_t i = 0; i < n; i++)
        lower[i] = word.p[i] >= 'A' && word.p[i] <= 'Z' ? (char)(word.p[i] | 0x20) : word.p[i];
    lower[n] = '\0';
    memcpy(p->format, lower, n + 1);
    return n ? 0 : invalid(sentence, "its metadata names no format");
}

static int read_values(json_t *object, struct directive_parts *p, char sentence[LIMIT_ERROR_TEXT])
{
    /* The name first: a sentence about the rest can then say it. */
    int failed = take_text(object, "filename", p->filename, sizeof p->filename, sentence);
    failed = failed || take_text(object, "title", p->title, sizeof p->title, sentence);
    failed = failed || take_text(object, "description", p->description, sizeof p->description, sentence);
    failed = failed || take_text(object, "format", p->format, sizeof p->format, sentence);
    failed = failed || take_encoding(object, &p->base64, sentence);
    return failed ? -1 : settle_format(p, sentence);
}

/* ---- the metadata's place ---- */

/* Strict first, then repaired. Answers the object's length in `text`, which begins with `{`; 0: none. */
static size_t read_object(struct span text, struct buf *strict, json_t **object)
{
    size_t flags = JSON_ALLOW_NUL, room = text.n < LIMIT_METADATA ? text.n : LIMIT_METADATA;
    json_error_t error;
    *object = json_loadb(text.p, room, flags | JSON_DISABLE_EOF_CHECK, &error);
    if (*object) {
        buf_addn(strict, text.p, (size_t)error.position);
        return (size_t)error.position;
    }
    size_t n = metadata_repair(span_of(text.p, room), strict);
    struct span json = buf_span(strict);
    *object = n ? json_loadb(json.p, json.n, flags, &error) : NULL;
    return *object ? n : 0;
}

/* Best effort, for the sentence: the text behind `filename` in metadata that cannot be read. Looks no further
 * than the first separator line. */
static void guess_name(struct span text, struct directive_parts *p)
{
    size_t end = 0, whole;
    while (end < text.n && end < LIMIT_METADATA) {
        struct span line = first_line(span_from(text, end), &whole);
        if (is_separator(line))
            break;
        end += whole;
    }
    const char *key = end ? memmem(text.p, end, "filename", 8) : NULL;
    if (!key)
        return;
    struct span s = span_of(key + 8, end - (size_t)(key + 8 - text.p));
    while (s.n && strchr("\"'\\: \t=", s.p[0]) && s.p[0])
        s = span_from(s, 1);
    size_t n = 0;
    while (n < s.n && s.p[n] && !strchr("\"'\\,{}\r\n", s.p[n]))
        n++;
    copy_text(span_of(s.p, n), true, p->filename, sizeof p->filename);
}

struct cursor {
    struct span rest;
    bool fenced; /* a fence line stood before the metadata and has not been closed */
    struct fence fence;
};

/* To the `{`: blanks, byte order marks, `>>>` of an opening marker that is written like a closing one, at
 * most one fence line. */
static bool find_object(struct cursor *c)
{
    for (bool marker = true; c->rest.n;) {
        size_t n;
        uint32_t first = utf8_next(c->rest.p, c->rest.p + c->rest.n, &n);
        if (first == '\r' || first == '\n' || utf8_blank(first) || first == 0xfeff) {
            c->rest = span_from(c->rest, n);
        } else if (is_escape(c->rest, 0, "nrt")) {
            c->rest = span_from(c->rest, 2);
        } else if (marker && first == '>' && span_starts(c->rest, ">>>")) {
            c->rest = span_from(c->rest, 3);
            marker = false;
        } else if (!c->fenced && (first == '`' || first == '~')) {
            size_t whole;
            if (!read_fence(first_line(c->rest, &whole), &c->fence))
                return false;
            c->fenced = true;
            c->rest = span_from(c->rest, whole);
        } else {
            return first == '{';
        }
    }
    return false;
}

/* From behind the metadata to the content's first byte. false: something else stands on the metadata's line.
 */
static bool find_content(struct cursor *c)
{
    size_t whole;
    struct span line = first_line(c->rest, &whole);
    bool ended = whole > line.n;
    if (is_separator(line)) {
        c->rest = span_from(c->rest, whole);
        return true;
    }
    if (trim(line).n || !ended)
        return false;
    c->rest = span_from(c->rest, whole);
    for (struct span after = c->rest; c->fenced;) { /* the fence's end, perhaps after empty lines */
        line = first_line(after, &whole);
        if (closes(line, &c->fence)) {
            c->fenced = false;
            c->rest = span_from(after, whole);
        } else if (trim(line).n || !after.n) {
            break;
        }
        after = span_from(after, whole);
    }
    line = first_line(c->rest, &whole);
    if (is_separator(line))
        c->rest = span_from(c->rest, whole);
    return true;
}

/* ---- fences around the content ---- */

static void drop_line_break(struct span *s)
{
    if (s->n && s->p[s->n - 1] == '\n')
        s->n--, s->n -= s->n && s->p[s->n - 1] == '\r';
    else if (s->n && s->p[s->n - 1] == '\r')
        s->n--;
}

/* Where the last line begins that is not blank. */
static size_t last_line(struct span s)
{
    while (s.n && is_space(s.p[s.n - 1]))
        s.n--;
    while (s.n && s.p[s.n - 1] != '\n' && s.p[s.n - 1] != '\r')
        s.n--;
    return s.n;
}

/* Whether the fence that opens the content is closed by its last line and not before; inner fences with an
 * info string nest. */
static bool encloses(struct span inside, size_t last, const struct fence *open)
{
    unsigned depth = 1;
    for (size_t at = 0, whole; at < last; at += whole) {
        struct span line = first_line(span_from(inside, at), &whole);
        struct fence f;
        if (line.n < open->n || !read_fence(line, &f) || f.mark != open->mark || f.n < open->n)
            continue;
        if (f.info.n)
            depth++;
        else if (--depth == 0)
            return false;
    }
    return depth == 1;
}

static struct span take_off_fence(struct span content, const struct directive_parts *p)
{
    struct span s = content;
    struct fence open;
    size_t whole;
    for (;;) { /* empty lines before it */
        struct span line = first_line(s, &whole);
        if (trim(line).n || !s.n)
            break;
        s = span_from(s, whole);
    }
    struct span line = first_line(s, &whole);
    if (!read_fence(line, &open) || whole == line.n)
        return content;
    bool ours =
        format_fence(open.info, span_str(p->format)) || (p->base64 && span_is_nocase(open.info, "base64"));
    struct span inside = span_from(s, whole);
    size_t last = last_line(inside);
    if (!ours || !closes(span_from(inside, last), &open) || !encloses(inside, last, &open))
        return content;
    inside.n = last;
    drop_line_break(&inside);
    return inside;
}

static void take_content(struct cursor *c, struct directive_parts *p)
{
    struct span content = c->rest;
    drop_line_break(&content);
    if (c->fenced) { /* one fence around metadata and content */
        size_t last = last_line(content);
        if (closes(span_from(content, last), &c->fence)) {
            content.n = last;
            drop_line_break(&content);
        }
    } else {
        content = take_off_fence(content, p);
    }
    buf_add(&p->content, content);
}

static enum flag refuse(struct span text, struct directive_parts *p, char sentence[LIMIT_ERROR_TEXT],
                        const char *why)
{
    if (!p->filename[0])
        guess_name(text, p);
    invalid(sentence, why);
    return FLAG_INVALID_METADATA;
}

enum flag directive_parse(struct span text, size_t max, struct directive_parts *out,
                          char sentence[LIMIT_ERROR_TEXT])
{
    struct buf plain;
    struct cursor c = {.rest = text};
    json_t *object = NULL;
    enum flag flag = FLAG_NONE;
    *out = (struct directive_parts){.base64 = false};
    sentence[0] = '\0';
    buf_init(&out->metadata, LIMIT_METADATA * (size_t)6);
    buf_init(&out->content, max);
    buf_init(&plain, text.n);
    if (is_escaped(text)) {
        undo_escapes(text, &plain);
        c.rest = text = buf_span(&plain);
    }
    if (!find_object(&c)) {
        flag = refuse(text, out, sentence, "its metadata is not a JSON object");
        goto out;
    }
    size_t n = read_object(c.rest, &out->metadata, &object);
    if (!json_is_object(object)) {
        flag = refuse(c.rest, out, sentence, "its metadata is not a JSON object");
        goto out;
    }
    if (read_values(object, out, sentence)) {
        flag = FLAG_INVALID_METADATA;
        goto out;
    }
    c.rest = span_from(c.rest, n);
    if (!find_content(&c)) {
        flag = refuse(text, out, sentence, "no line break follows its metadata");
        goto out;
    }
    take_content(&c, out);
    if (buf_full(&out->content)) {
        invalid(sentence, "it is larger than the limit");
        flag = FLAG_TOO_LARGE;
    }
out:
    json_decref(object);
    buf_free(&plain);
    return flag;
}

void directive_parts_free(struct directive_parts *p)
{
    buf_free(&p->metadata);
    buf_free(&p->content);
}
