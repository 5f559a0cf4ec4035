#include "base/json.h"

#ifdef __SSE2__
#include <emmintrin.h>
#endif

#include "base/limits.h"

/* Nesting is remembered as one bit a level: set for an object, clear for an array. */
enum { LEVELS_PER_WORD = 64, LEVEL_WORDS = (LIMIT_JSON_DEPTH + LEVELS_PER_WORD - 1) / LEVELS_PER_WORD };

static bool is_special(char c)
{
    return c == '"' || c == '\\' || (unsigned char)c < 0x20;
}

/* The first quote, backslash or control character from p on, or end. */
static inline const char *find_special(const char *p, const char *end)
{
#ifdef __SSE2__
    const __m128i quote = _mm_set1_epi8('"'), backslash = _mm_set1_epi8('\\'), control = _mm_set1_epi8(0x1f);
    for (; end - p >= 16; p += 16) {
        __m128i v = _mm_loadu_si128((const __m128i *)(const void *)p);
        __m128i hit = _mm_or_si128(_mm_cmpeq_epi8(v, quote), _mm_cmpeq_epi8(v, backslash));
        hit = _mm_or_si128(hit, _mm_cmpeq_epi8(_mm_min_epu8(v, control), v));
        unsigned mask = (unsigned)_mm_movemask_epi8(hit);
        if (mask)
            return p + __builtin_ctz(mask);
    }
#else
    const uint64_t ones = UINT64_MAX / 255, high = ones * 0x80;
    for (; end - p >= 8; p += 8) {
        uint64_t v;
        memcpy(&v, p, sizeof v);
        uint64_t quote = v ^ ones * '"', backslash = v ^ ones * '\\';
        uint64_t hit =
            ((quote - ones) & ~quote) | ((backslash - ones) & ~backslash) | ((v - ones * 0x20) & ~v);
        if (hit & high)
            break;
    }
#endif
    while (p < end && !is_special(*p))
        p++;
    return p;
}

static inline const char *skip_blank(const char *p, const char *end)
{
    while (p < end && (*p == ' ' || *p == '\n' || *p == '\r' || *p == '\t'))
        p++;
    return p;
}

static int hex_digit(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    c = (char)(c | 0x20);
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* Four hexadecimal digits at p; -1 when they are not there. */
static int32_t read_hex4(const char *p, const char *end)
{
    int32_t value = 0;
    if (end - p < 4)
        return -1;
    for (int i = 0; i < 4; i++) {
        int digit = hex_digit(p[i]);
        if (digit < 0)
            return -1;
        value = value * 16 + digit;
    }
    return value;
}

/* What the one-letter escape \c stands for; -1: there is no such escape. */
static int escape_letter(char c)
{
    switch (c) {
    case '"':
    case '\\':
    case '/':
        return c;
    case 'b':
        return '\b';
    case 'f':
        return '\f';
    case 'n':
        return '\n';
    case 'r':
        return '\r';
    case 't':
        return '\t';
    default:
        return -1;
    }
}

/*
 * The skip functions take p at the first byte of what they skip (skip_string: behind the opening quote) and
 * answer the place behind it, or NULL when it is not complete and valid.
 */
static inline const char *skip_string(const char *p, const char *end, enum json_reading how)
{
    for (;;) {
        p = find_special(p, end);
        if (p == end)
            return NULL;
        if (*p == '"')
            return p + 1;
        if (*p != '\\' && how == JSON_LENIENT) {
            p++;
            continue;
        }
        if (*p != '\\' || end - p < 2)
            return NULL;
        if (p[1] == 'u') {
            if (read_hex4(p + 2, end) < 0)
                return NULL;
            p += 6;
        } else {
            if (escape_letter(p[1]) < 0)
                return NULL;
            p += 2;
        }
    }
}

static inline bool is_digit(const char *p, const char *end)
{
    return p < end && *p >= '0' && *p <= '9';
}

static const char *skip_digits(const char *p, const char *end)
{
    if (!is_digit(p, end))
        return NULL;
    while (is_digit(p, end))
        p++;
    return p;
}

static const char *skip_number(const char *p, const char *end)
{
    if (*p == '-')
        p++;
    if (p < end && *p == '0')
        p++;
    else if (!(p = skip_digits(p, end)))
        return NULL;
    if (p < end && *p == '.' && !(p = skip_digits(p + 1, end)))
        return NULL;
    if (p < end && (*p == 'e' || *p == 'E')) {
        p++;
        if (p < end && (*p == '+' || *p == '-'))
            p++;
        p = skip_digits(p, end);
    }
    return p;
}

static const char *skip_word(const char *p, const char *end, const char *word, size_t n)
{
    return (size_t)(end - p) >= n && memcmp(p, word, n) == 0 ? p + n : NULL;
}

/* What Python's json module writes for numbers that JSON cannot say, and what it reads. */
static const char *skip_nonfinite(const char *p, const char *end)
{
    if (*p == 'N')
        return skip_word(p, end, "NaN", 3);
    return skip_word(p + (*p == '-'), end, "Infinity", 8);
}

static const char *skip_scalar(const char *p, const char *end, enum json_reading how)
{
    const char *after;
    switch (*p) {
    case '"':
        return skip_string(p + 1, end, how);
    case 't':
        return skip_word(p, end, "true", 4);
    case 'f':
        return skip_word(p, end, "false", 5);
    case 'n':
        return skip_word(p, end, "null", 4);
    default:
        after = skip_number(p, end);
        return after || how == JSON_RFC ? after : skip_nonfinite(p, end);
    }
}

/* A key, the colon and the white space around it: to the first byte of the member's value. */
static inline const char *skip_key(const char *p, const char *end, enum json_reading how)
{
    if (p == end || *p != '"' || !(p = skip_string(p + 1, end, how)))
        return NULL;
    p = skip_blank(p, end);
    if (p == end || *p != ':')
        return NULL;
    return skip_blank(p + 1, end);
}

static const char *skip_value(const char *p, const char *end, enum json_reading how)
{
    uint64_t levels[LEVEL_WORDS];
    unsigned depth = 0;
    bool object = false; /* the innermost open container is one */

    for (;;) {
        if (p == end)
            return NULL;
        if (*p == '{' || *p == '[') {
            if (depth == LIMIT_JSON_DEPTH)
                return NULL;
            uint64_t bit = 1ULL << depth % LEVELS_PER_WORD, *word = &levels[depth / LEVELS_PER_WORD];
            if (depth % LEVELS_PER_WORD == 0)
                *word = 0;
            object = *p == '{';
            *word = object ? *word | bit : *word & ~bit;
            depth++;
            p = skip_blank(p + 1, end);
            if (p == end)
                return NULL;
            if (*p != (object ? '}' : ']')) {
                if (object && !(p = skip_key(p, end, how)))
                    return NULL;
                continue;
            }
            /* Empty: the loop below closes it. */
        } else if (!(p = skip_scalar(p, end, how))) {
            return NULL;
        }
        for (;;) {
            if (depth == 0)
                return p;
            p = skip_blank(p, end);
            if (p == end)
                return NULL;
            if (*p == ',') {
                p = skip_blank(p + 1, end);
                if (object && !(p = skip_key(p, end, how)))
                    return NULL;
                break;
            }
            if (*p++ != (object ? '}' : ']'))
                return NULL;
            depth--;
            object = depth && levels[(depth - 1) / LEVELS_PER_WORD] >> (depth - 1) % LEVELS_PER_WORD & 1;
        }
    }
}

int json_value_as(const char *p, const char *end, enum json_reading how, struct span *value)
{
    p = skip_blank(p, end);
    const char *after = skip_value(p, end, how);
    if (!after)
        return -1;
    *value = span_of(p, (size_t)(after - p));
    return 0;
}

int json_value(const char *p, const char *end, struct span *value)
{
    return json_value_as(p, end, JSON_RFC, value);
}

bool json_document_as(struct span text, enum json_reading how, struct span *value)
{
    const char *end = text.p + text.n;
    return text.n && json_value_as(text.p, end, how, value) == 0 &&
           skip_blank(value->p + value->n, end) == end;
}

bool json_document(struct span text, struct span *value)
{
    return json_document_as(text, JSON_RFC, value);
}

enum json_type json_type(struct span value)
{
    if (value.n == 0)
        return JSON_NONE;
    switch (value.p[0]) {
    case '{':
        return JSON_OBJECT;
    case '[':
        return JSON_ARRAY;
    case '"':
        return JSON_STRING;
    case 't':
        return JSON_TRUE;
    case 'f':
        return JSON_FALSE;
    case 'n':
        return JSON_NULL;
    default:
        return value.p[0] == '-' || is_digit(value.p, value.p + 1) ? JSON_NUMBER : JSON_NONE;
    }
}

/* `at` stands behind the last value (at first: on the opening bracket); it is NULL once the text proved
 * invalid, and `end` once the closing bracket was seen. */
struct json_iter json_iter(struct span container)
{
    enum json_type type = json_type(container);
    bool walkable = type == JSON_OBJECT || type == JSON_ARRAY;
    return (struct json_iter){
        .at = walkable ? container.p : NULL,
        .end = container.p ? container.p + container.n : NULL,
        .object = type == JSON_OBJECT,
    };
}

static int step_failed(struct json_iter *it)
{
    it->at = NULL;
    return -1;
}

int json_next(struct json_iter *it)
{
    const char *p = it->at, *end = it->end;
    if (!p)
        return -1;
    if (it->started && p == end)
        return 0;

    bool first = !it->started;
    it->started = true;
    p = skip_blank(first ? p + 1 : p, end);
    if (p == end)
        return step_failed(it);
    if (*p == (it->object ? '}' : ']')) {
        if (p + 1 != end)
            return step_failed(it);
        it->at = end;
        return 0;
    }
    if (!first) {
        if (*p != ',')
            return step_failed(it);
        p = skip_blank(p + 1, end);
    }

    const char *whole = p, *after;
    it->key = (struct span){0};
    if (it->object) {
        if (p == end || *p != '"' || !(after = skip_string(p + 1, end, JSON_LENIENT)))
            return step_failed(it);
        it->key = span_of(p + 1, (size_t)(after - p) - 2);
        p = skip_blank(after, end);
        if (p == end || *p != ':')
            return step_failed(it);
        p = skip_blank(p + 1, end);
    }
    /* The value must be followed by something, its container's end at the least. */
    after = skip_value(p, end, JSON_LENIENT);
    if (!after || after == end)
        return step_failed(it);
    it->value = span_of(p, (size_t)(after - p));
    it->whole = span_of(whole, (size_t)(after - whole));
    it->at = after;
    return 1;
}

bool json_key_is(const struct json_iter *it, const char *name)
{
    return json_inside_is(it->key, name);
}

bool json_member(struct span object, const char *name, struct span *value)
{
    bool found = false;
    struct json_iter it = json_iter(object);
    if (!it.object)
        return false;
    while (json_next(&it) == 1) {
        if (json_key_is(&it, name)) {
            *value = it.value;
            found = true;
        }
    }
    return found;
}

struct span json_inside(struct span string)
{
    return string.n < 2 ? span_of("", 0) : span_of(string.p + 1, string.n - 2);
}

static size_t put_utf8(int32_t code, char out[4])
{
    if (code < 0x80) {
        out[0] = (char)code;
        return 1;
    }
    if (code < 0x800) {
        out[0] = (char)(0xc0 | code >> 6);
        out[1] = (char)(0x80 | (code & 0x3f));
        return 2;
    }
    if (code < 0x10000) {
        out[0] = (char)(0xe0 | code >> 12);
        out[1] = (char)(0x80 | (code >> 6 & 0x3f));
        out[2] = (char)(0x80 | (code & 0x3f));
        return 3;
    }
    out[0] = (char)(0xf0 | code >> 18);
    out[1] = (char)(0x80 | (code >> 12 & 0x3f));
    out[2] = (char)(0x80 | (code >> 6 & 0x3f));
    out[3] = (char)(0x80 | (code & 0x3f));
    return 4;
}

/* The escape whose backslash *p stands on, as UTF-8; steps over it. Answers the number of bytes, 0: not
 * valid. */
static size_t decode_escape(const char **p, const char *end, char out[4])
{
    const char *at = *p;
    if (end - at < 2)
        return 0;
    if (at[1] != 'u') {
        int c = escape_letter(at[1]);
        if (c < 0)
            return 0;
        *p = at + 2;
        out[0] = (char)c;
        return 1;
    }
    int32_t code = read_hex4(at + 2, end);
    if (code < 0)
        return 0;
    at += 6;
    if (code >= 0xd800 && code <= 0xdfff) {
        int32_t low =
            code < 0xdc00 && end - at >= 6 && at[0] == '\\' && at[1] == 'u' ? read_hex4(at + 2, end) : -1;
        if (low >= 0xdc00 && low <= 0xdfff) {
            code = 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00);
            at += 6;
        } else {
            code = 0xfffd;
        }
    }
    *p = at;
    return put_utf8(code, out);
}

int json_unescape(struct span inside, struct buf *out)
{
    size_t before = out->n;
    const char *p = inside.p, *end = inside.n ? p + inside.n : p;
    while (p < end) {
        const char *special = find_special(p, end);
        if (buf_addn(out, p, (size_t)(special - p)) < 0)
            goto failed;
        p = special;
        if (p == end)
            break;
        char text[4];
        size_t n = *p == '\\' ? decode_escape(&p, end, text) : 0;
        if (n == 0 || buf_addn(out, text, n) < 0)
            goto failed;
    }
    return buf_full(out) ? -1 : 0;
failed:
    buf_cut(out, before);
    return -1;
}

bool json_inside_is(struct span inside, const char *text)
{
    size_t n = strlen(text);
    /* An escape is always longer than what it stands for. */
    if (inside.n <= n)
        return inside.n == n && (n == 0 || (memcmp(inside.p, text, n) == 0 && !memchr(text, '\\', n)));
    const char *p = inside.p, *end = p + inside.n;
    while (p < end) {
        char unit[4] = {*p};
        size_t got = 1;
        if (*p == '\\')
            got = decode_escape(&p, end, unit);
        else
            p++;
        if (got == 0 || got > n || memcmp(unit, text, got) != 0)
            return false;
        text += got;
        n -= got;
    }
    return n == 0;
}

int json_escape(struct span text, struct buf *out)
{
    static const char letters[] = "\b\f\n\r\t\"\\", names[] = "bfnrt\"\\", digits[] = "0123456789abcdef";
    size_t before = out->n;
    const char *p = text.p, *end = text.n ? p + text.n : p;
    while (p < end) {
        const char *special = find_special(p, end);
        int failed = buf_addn(out, p, (size_t)(special - p));
        p = special;
        if (p < end && !failed) {
            const char *letter = *p ? strchr(letters, *p) : NULL;
            char code[6] = {'\\', 'u', '0', '0', digits[*p >> 4 & 15], digits[*p & 15]};
            if (letter)
                code[1] = names[letter - letters];
            failed = buf_addn(out, code, letter ? 2 : 6);
            p++;
        }
        if (failed) {
            buf_cut(out, before);
            return -1;
        }
    }
    return buf_full(out) ? -1 : 0;
}

bool json_int(struct span value, int64_t *out)
{
    const char *p = value.p, *end = value.n ? p + value.n : p;
    bool minus = p < end && *p == '-';
    if (minus)
        p++;
    if (!is_digit(p, end) || (*p == '0' && end - p > 1))
        return false;
    int64_t n = 0; /* counted below zero, where there is room for one more */
    for (; is_digit(p, end); p++)
        if (__builtin_mul_overflow(n, 10, &n) || __builtin_sub_overflow(n, *p - '0', &n))
            return false;
    if (p != end || (!minus && n == INT64_MIN))
        return false;
    *out = minus ? n : -n;
    return true;
}
