#include "base/log.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/limits.h"

enum {
    VALUE_MAX = 1024, /* bytes of one text value, before escaping */
    MASK_MIN = 8,     /* a shorter run of characters behind "sk-" or "key=" is no key */
};

static const char TRUNCATED[] = ",\"truncated\":true";

/* One line in the making. What does not fit is refused, field by field, so that the line is always whole
 * JSON. */
struct line {
    char text[LIMIT_LOG_LINE];
    size_t n, max;
    bool over;
};

static _Atomic int least = LOG_INFO;

static const char *const levels[] = {"debug", "info", "warning", "error"};

enum { LEVELS = sizeof levels / sizeof levels[0] };

void log_set_level(enum log_level level)
{
    atomic_store_explicit(&least, (int)level, memory_order_relaxed);
}

bool log_enabled(enum log_level level)
{
    return (int)level >= atomic_load_explicit(&least, memory_order_relaxed);
}

int log_level_parse(struct span name, enum log_level *out)
{
    for (int i = 0; i < LEVELS; i++) {
        if (span_is(name, levels[i])) {
            *out = (enum log_level)i;
            return 0;
        }
    }
    return -1;
}

static void put(struct line *line, const char *p, size_t n)
{
    if (line->over || n > line->max - line->n) {
        line->over = true;
        return;
    }
    memcpy(line->text + line->n, p, n);
    line->n += n;
}

static void put_str(struct line *line, const char *s)
{
    put(line, s, strlen(s));
}

/* Bytes of the well-formed UTF-8 character at p (Unicode, table 3-7), 0: there is none. */
static size_t utf8_length(const char *p, const char *end)
{
    const unsigned char *s = (const unsigned char *)p;
    size_t n = s[0] < 0x80 ? 1 : s[0] < 0xc2 ? 0 : s[0] < 0xe0 ? 2 : s[0] < 0xf0 ? 3 : s[0] < 0xf5 ? 4 : 0;
    if (n == 0 || (size_t)(end - p) < n)
        return 0;
    for (size_t i = 1; i < n; i++)
        if ((s[i] & 0xc0) != 0x80)
            return 0;
    if ((s[0] == 0xe0 && s[1] < 0xa0) || (s[0] == 0xed && s[1] > 0x9f) || (s[0] == 0xf0 && s[1] < 0x90) ||
        (s[0] == 0xf4 && s[1] > 0x8f))
        return 0;
    return n;
}

/* Control characters, C1 included: a terminal that shows the log must not act on them. */
static void put_control(struct line *line, unsigned char c)
{
    char code[8];
    snprintf(code, sizeof code, "\\u%04x", c);
    put(line, code, 6);
}

/* The character at *p, escaped; steps over it. */
static void put_char(struct line *line, const char **p, const char *end)
{
    size_t n = utf8_length(*p, end);
    unsigned char c = (unsigned char)**p;
    if (n == 0)
        put_str(line, "\xef\xbf\xbd");
    else if (c == '"' || c == '\\')
        put(line, (char[]){'\\', (char)c}, 2);
    else if (c < 0x20 || c == 0x7f)
        put_control(line, c);
    else if (c == 0xc2 && (unsigned char)(*p)[1] < 0xa0)
        put_control(line, (unsigned char)(*p)[1]);
    else
        put(line, *p, n);
    *p += n ? n : 1;
}

static bool is_letter_or_digit(char c)
{
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/* What keys and tokens are made of. */
static bool is_token(char c)
{
    return is_letter_or_digit(c) || (c && strchr("-_.~+/=%", c));
}

/* How secrets begin. `word`: only where a word begins ("disk-…" is no key). `kept`: how much of the match,
 * which is the introduction and not the secret, is shown. */
static const struct mask {
    const char *text;
    size_t kept, least;
    bool word;
} masks[] = {
    {"sk-", 3, MASK_MIN, true},      {"bearer ", 7, 1, true},      {"basic ", 6, MASK_MIN, true},
    {"aiza", 4, MASK_MIN, true},     {"key=", 4, MASK_MIN, false}, {"token=", 6, MASK_MIN, false},
    {"secret=", 7, MASK_MIN, false},
};

/* Whether any entry of `masks` begins so: nearly all of a line is told apart here. */
static bool may_begin_secret(char c)
{
    switch (c | 0x20) {
    case 'a':
    case 'b':
    case 'k':
    case 's':
    case 't':
        return true;
    default:
        return false;
    }
}

/* The end of the secret that begins at p, and how much of its beginning may be shown; NULL: no secret. */
static const char *find_secret(const char *text, const char *p, const char *end, size_t *kept)
{
    if (!may_begin_secret(*p))
        return NULL;
    for (size_t i = 0; i < sizeof masks / sizeof masks[0]; i++) {
        if ((*p | 0x20) != masks[i].text[0])
            continue;
        size_t n = strlen(masks[i].text);
        if ((size_t)(end - p) < n || strncasecmp(p, masks[i].text, n) != 0)
            continue;
        if (masks[i].word && p > text && is_letter_or_digit(p[-1]))
            continue;
        const char *secret = p + n, *after;
        while (secret < end && *secret == ' ')
            secret++;
        for (after = secret; after < end && is_token(*after);)
            after++;
        if ((size_t)(after - secret) < masks[i].least)
            continue;
        *kept = masks[i].kept;
        return after;
    }
    return NULL;
}

void log_mask(struct span text, struct buf *out)
{
    const char *p = text.p, *end = text.n ? p + text.n : p;
    while (p < end) {
        size_t kept = 0;
        const char *after = find_secret(text.p, p, end, &kept);
        buf_addn(out, p, after ? kept : 1);
        buf_adds(out, after ? "***" : "");
        p = after ? after : p + 1;
    }
}

/* How much from p on is ASCII that stands for itself and begins no secret. */
static size_t plain_run(const char *p, const char *stop)
{
    const char *from = p;
    while (p < stop && *p >= 0x20 && *p < 0x7f && *p != '"' && *p != '\\' && !may_begin_secret(*p))
        p++;
    return (size_t)(p - from);
}

static void put_value(struct line *line, struct span value)
{
    const char *p = value.p, *end = value.n ? p + value.n : p, *stop = end;
    if (value.n > VALUE_MAX)
        stop = p + VALUE_MAX;
    put_str(line, "\"");
    while (p < stop && !line->over) {
        size_t kept = 0, run = plain_run(p, stop);
        put(line, p, run);
        p += run;
        if (p == stop)
            break;
        const char *after = find_secret(value.p, p, end, &kept);
        if (after) {
            put(line, p, kept);
            put_str(line, "***");
            p = after;
        } else {
            put_char(line, &p, end);
        }
    }
    if (p < end)
        put_str(line, "\xe2\x80\xa6");
    put_str(line, "\"");
}

static void put_field(struct line *line, const struct log_field *field)
{
    char number[32];
    put_str(line, ",\"");
    put_str(line, field->key);
    put_str(line, "\":");
    switch (field->type) {
    case LOG_FIELD_TEXT:
        put_value(line, field->text);
        break;
    case LOG_FIELD_INT:
        snprintf(number, sizeof number, "%lld", (long long)field->number);
        put_str(line, number);
        break;
    case LOG_FIELD_BOOL:
        put_str(line, field->number ? "true" : "false");
        break;
    }
}

static void put_time(struct line *line, int64_t now_ms)
{
    char text[64];
    time_t seconds = (time_t)(now_ms / 1000);
    struct tm tm;
    if (!gmtime_r(&seconds, &tm))
        memset(&tm, 0, sizeof tm);
    size_t n = strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%S", &tm);
    snprintf(text + n, sizeof text - n, ".%03dZ", (int)(now_ms % 1000));
    put_str(line, text);
}

void log_event(enum log_level level, const char *event, const struct log_field *fields, size_t n)
{
    if (!log_enabled(level))
        return;
    int saved = errno;
    struct line line;
    line.n = 0;
    line.over = false;
    line.max = sizeof line.text - sizeof TRUNCATED - sizeof "}\n";
    put_str(&line, "{\"time\":\"");
    put_time(&line, clock_wall_ms());
    put_str(&line, "\",\"level\":\"");
    put_str(&line, levels[level]);
    put_str(&line, "\",\"event\":");
    put_value(&line, span_str(event));

    bool truncated = false;
    for (size_t i = 0; i < n; i++) {
        size_t before = line.n;
        put_field(&line, &fields[i]);
        if (line.over) {
            /* A later, shorter field may still fit. */
            line.n = before;
            line.over = false;
            truncated = true;
        }
    }
    line.max = sizeof line.text;
    if (truncated)
        put_str(&line, TRUNCATED);
    put_str(&line, "}\n");
    /* A log that cannot be written is no reason to stop serving. */
    while (write(STDERR_FILENO, line.text, line.n) < 0 && errno == EINTR) {
    }
    errno = saved;
}
