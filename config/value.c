#include "config/value.h"

#include <limits.h>

struct unit {
    const char *name;
    int64_t factor;
};

/* Largest first; printing takes the first that divides. */
static const struct unit size_units[] = {
    {"GiB", 1 << 30}, {"MiB", 1 << 20}, {"KiB", 1 << 10}, {"B", 1}, {NULL, 0},
};
static const struct unit time_units[] = {
    {"d", 86400000}, {"h", 3600000}, {"m", 60000}, {"s", 1000}, {"ms", 1}, {NULL, 0},
};

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/* The number at the front; *rest is what follows it. */
static int leading_number(struct span text, int64_t *out, struct span *rest)
{
    int64_t n = 0;
    size_t i = 0;
    for (; i < text.n && is_digit(text.p[i]); i++)
        if (__builtin_mul_overflow(n, 10, &n) || __builtin_add_overflow(n, text.p[i] - '0', &n))
            return -1;
    *out = n;
    *rest = span_from(text, i);
    return i ? 0 : -1;
}

static int number_with_unit(struct span text, const struct unit *units, int64_t *out)
{
    int64_t n;
    struct span rest;
    if (leading_number(text, &n, &rest))
        return -1;
    for (; units->name; units++)
        if (span_is(rest, units->name))
            return __builtin_mul_overflow(n, units->factor, out) ? -1 : 0;
    return -1;
}

int value_count(struct span text, int64_t *out)
{
    struct span rest;
    return leading_number(text, out, &rest) || rest.n ? -1 : 0;
}

int value_size(struct span text, int64_t *out)
{
    return value_count(text, out) == 0 ? 0 : number_with_unit(text, size_units, out);
}

int value_milliseconds(struct span text, int64_t *out)
{
    return number_with_unit(text, time_units, out);
}

int value_bool(struct span text, bool *out)
{
    *out = span_is(text, "true");
    return *out || span_is(text, "false") ? 0 : -1;
}

static int hex_digit(char c)
{
    if (is_digit(c))
        return c - '0';
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

int value_hash(struct span text, unsigned char out[32])
{
    if (text.n != 64)
        return -1;
    for (size_t i = 0; i < 32; i++) {
        int high = hex_digit(text.p[2 * i]), low = hex_digit(text.p[2 * i + 1]);
        if (high < 0 || low < 0)
            return -1;
        out[i] = (unsigned char)(high * 16 + low);
    }
    return 0;
}

/* Bytes of the well-formed UTF-8 character at the front (RFC 3629), 0: none. */
static size_t utf8_character(const unsigned char *p, size_t n, uint32_t *code)
{
    static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
    size_t length = p[0] < 0x80   ? 1
                    : p[0] < 0xc0 ? 0
                    : p[0] < 0xe0 ? 2
                    : p[0] < 0xf0 ? 3
                    : p[0] < 0xf8 ? 4
                                  : 0;
    if (length == 0 || length > n)
        return 0;
    uint32_t c = length == 1 ? p[0] : p[0] & (0x7fu >> length);
    for (size_t i = 1; i < length; i++) {
        if ((p[i] & 0xc0) != 0x80)
            return 0;
        c = c << 6 | (p[i] & 0x3fu);
    }
    *code = c;
    return c < least[length] || c > 0x10ffff || (c >= 0xd800 && c <= 0xdfff) ? 0 : length;
}

bool value_printable(struct span text)
{
    for (size_t at = 0, n; at < text.n; at += n) {
        uint32_t c;
        n = utf8_character((const unsigned char *)text.p + at, text.n - at, &c);
        if (n == 0 || c < 0x20 || (c >= 0x7f && c < 0xa0) || c == 0x2028 || c == 0x2029 || c == 0xfeff ||
            (c & 0xfffe) == 0xfffe)
            return false;
    }
    return true;
}

bool value_word(struct span text, bool lower)
{
    for (size_t i = 0; i < text.n; i++) {
        char c = text.p[i];
        if (!is_letter(c) && !is_digit(c) && c != '-' && c != '_')
            return false;
        if (lower && c >= 'A' && c <= 'Z')
            return false;
    }
    return text.n >= 1 && text.n <= 64;
}

static void print_unit(int64_t number, const struct unit *units, struct buf *out)
{
    while (number % units->factor || (number == 0 && units->factor != 1))
        units++;
    buf_printf(out, "%lld%s", (long long)(number / units->factor), units->name);
}

void value_print_size(int64_t bytes, struct buf *out)
{
    print_unit(bytes, size_units, out);
}

void value_print_milliseconds(int64_t ms, struct buf *out)
{
    print_unit(ms, time_units, out);
}

/* Whether the text can stand without quotes and no YAML reader would take it for something else than text. */
static bool is_plain(struct span text)
{
    static const char *const taken[] = {"true", "false", "null", "yes", "no", "on", "off", "y", "n"};
    if (text.n == 0 || (!is_letter(text.p[0]) && text.p[0] != '/'))
        return false;
    for (size_t i = 0; i < sizeof taken / sizeof taken[0]; i++)
        if (span_is_nocase(text, taken[i]))
            return false;
    for (size_t i = 0; i < text.n; i++) {
        char c = text.p[i];
        bool inner_colon = c == ':' && i + 1 < text.n;
        if (!is_letter(c) && !is_digit(c) && !inner_colon && !memchr("_./-", c, 4))
            return false;
    }
    return true;
}

void value_print_text(struct span text, struct buf *out)
{
    if (is_plain(text)) {
        buf_add(out, text);
        return;
    }
    buf_addc(out, '"');
    for (size_t i = 0; i < text.n; i++) {
        if (text.p[i] == '"' || text.p[i] == '\\')
            buf_addc(out, '\\');
        buf_addc(out, text.p[i]);
    }
    buf_addc(out, '"');
}

void value_print_found(struct span text, struct buf *out)
{
    enum { SHOWN = 60 };
    size_t at = 0;
    buf_addc(out, '"');
    while (at < text.n) {
        uint32_t code;
        size_t n = utf8_character((const unsigned char *)text.p + at, text.n - at, &code);
        struct span character = span_of(text.p + at, n ? n : 1);
        if (at + character.n > SHOWN)
            break;
        if (n && value_printable(character))
            buf_add(out, character);
        else
            buf_addc(out, '?');
        at += character.n;
    }
    buf_adds(out, at < text.n ? "…\"" : "\"");
}

unsigned value_distance(struct span a, struct span b)
{
    enum { LONGEST = 32 };
    unsigned row[LONGEST + 1];
    if (a.n > LONGEST || b.n > LONGEST)
        return UINT_MAX;
    for (unsigned j = 0; j <= b.n; j++)
        row[j] = j;
    for (unsigned i = 1; i <= a.n; i++) {
        unsigned diagonal = row[0];
        row[0] = i;
        for (unsigned j = 1; j <= b.n; j++) {
            unsigned replaced = diagonal + (a.p[i - 1] != b.p[j - 1]);
            unsigned other = (row[j] < row[j - 1] ? row[j] : row[j - 1]) + 1;
            diagonal = row[j];
            row[j] = replaced < other ? replaced : other;
        }
    }
    return row[b.n];
}
