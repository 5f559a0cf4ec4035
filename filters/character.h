#ifndef FILTERS_CHARACTER_H
#define FILTERS_CHARACTER_H
/*
 * Reading the escaped inside of a JSON string (RFC 8259 §7) a character at a time, without decoding what
 * nobody needs. A character is what one escape or one byte stands for: an ASCII character, a code point below
 * 0x10000, a surrogate half (two escapes, perhaps in two pieces of text, make one code point), or one byte of
 * a UTF-8 sequence.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#if defined(__SSE2__)
#include <emmintrin.h>
#endif

#include "base/span.h"

enum { CHARACTER_BYTE = 0x1000000 }; /* added to a byte of 0x80 or more that stands there unescaped */

struct character {
    uint32_t c;
    uint8_t raw; /* bytes of its spelling */
};

static inline bool character_is_high(uint32_t c)
{
    return c >= 0xd800 && c <= 0xdbff;
}

static inline bool character_is_low(uint32_t c)
{
    return c >= 0xdc00 && c <= 0xdfff;
}

/* One that goes on with the code point begun by the one before it. */
static inline bool character_continues(uint32_t c, bool after_high)
{
    return (c & ~0x3fu) == (CHARACTER_BYTE | 0x80) || (after_high && character_is_low(c));
}

/* Bytes of UTF-8 that it stands for. A surrogate half counts 3, as U+FFFD does; the low half of a pair the
 * fourth byte. */
static inline size_t character_length(uint32_t c, bool after_high)
{
    if (c < 0x80 || c >= CHARACTER_BYTE)
        return 1;
    if (c < 0x800)
        return 2;
    return after_high && character_is_low(c) ? 1 : 3;
}

/* Bytes of these eight that go on with a UTF-8 sequence. */
static inline size_t character_continuations(uint64_t eight)
{
    const uint64_t ones = 0x0101010101010101;
    return (size_t)(((eight >> 7 & ~(eight >> 6) & ones) * ones) >> 56);
}

/* Code points that begin in n bytes of text without escapes. */
static inline size_t character_points(const char *p, size_t n)
{
    size_t points = n;
    uint64_t eight = 0;
    for (; n >= sizeof eight; p += sizeof eight, n -= sizeof eight) {
        memcpy(&eight, p, sizeof eight);
        points -= character_continuations(eight);
    }
    eight = 0;
    if (n >= 4) { /* the bytes that both halves hold count once: they are ORed onto themselves */
        uint32_t first, last;
        memcpy(&first, p, sizeof first);
        memcpy(&last, p + n - sizeof last, sizeof last);
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
        eight = first | (uint64_t)last << 8 * (n - sizeof last);
#else
        eight = (uint64_t)first << 32 | (uint64_t)last << 8 * (8 - n);
#endif
        return points - character_continuations(eight);
    }
    for (size_t i = 0; i < n; i++)
        points -= ((unsigned char)p[i] & 0xc0) == 0x80;
    return points;
}

static inline int character_hex(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    char lower = (char)(c | 0x20);
    return lower >= 'a' && lower <= 'f' ? lower - 'a' + 10 : -1;
}

/* The four digits of \uXXXX. 1: read; 0: more are needed; -1: no such escape. */
static inline int character_digits(const char *p, const char *end, uint32_t *c)
{
    *c = 0;
    for (int i = 0; i < 4; i++) {
        if (p + i >= end)
            return 0;
        int digit = character_hex(p[i]);
        if (digit < 0)
            return -1;
        *c = *c << 4 | (uint32_t)digit;
    }
    return 1;
}

/* An escape; p is at its backslash. False: it goes on behind `end`. What is no escape (no valid JSON) is a
 * backslash. */
static inline bool character_escape(const char *p, const char *end, bool last, struct character *ch)
{
    *ch = (struct character){'\\', 1};
    if (p + 1 >= end)
        return last;
    if (p[1] == 'u') {
        uint32_t c;
        int got = character_digits(p + 2, end, &c);
        if (got == 1)
            *ch = (struct character){c, 6};
        return got != 0 || last;
    }
    static const char meant[128] = {['"'] = '"',  ['\\'] = '\\', ['/'] = '/',  ['b'] = '\b',
                                    ['f'] = '\f', ['n'] = '\n',  ['r'] = '\r', ['t'] = '\t'};
    unsigned char letter = (unsigned char)p[1];
    if (letter < sizeof meant && meant[letter])
        *ch = (struct character){(unsigned char)meant[letter], 2};
    return true;
}

/* The character at p < end. False: its escape is not complete; `last`: it will not be, so take the bytes one
 * by one. */
static inline bool character_read(const char *p, const char *end, bool last, struct character *ch)
{
    unsigned char byte = (unsigned char)*p;
    if (byte == '\\')
        return character_escape(p, end, last, ch);
    *ch = (struct character){byte < 0x80 ? byte : CHARACTER_BYTE | byte, 1};
    return true;
}

/* Where, in the escaped inside of a string, the character stands that begins `bytes` bytes of text behind its
 * start. */
static inline size_t character_offset(struct span inside, size_t bytes)
{
    const char *p = inside.p, *end = inside.n ? p + inside.n : p;
    bool high = false;
    struct character ch;
    while (p < end && bytes && character_read(p, end, true, &ch)) {
        size_t n = character_length(ch.c, high);
        high = character_is_high(ch.c);
        bytes -= n < bytes ? n : bytes;
        p += ch.raw;
    }
    return (size_t)(p - inside.p);
}

static inline bool character_begins(char c)
{
    return c == '<' || (c | 0x20) == 'h';
}

/* Whether a byte, with the one after it, may be of interest to the automata. A `<` or an H is not when
 * neither the marker that it begins can go on behind it, nor another marker begin, whose removal would let it
 * go on later. */
static inline bool character_stops(char c, char next)
{
    bool more = character_begins(next) || (next | 0x20) == 'w' || next == '\\';
    return (character_begins(c) && more) || c == '\\' || c == '\n';
}

#if defined(__SSE2__)
/* A bit for each of 16 bytes at p that stops; reads 17. */
static inline unsigned character_stops16(const char *p)
{
    __m128i v = _mm_loadu_si128((const __m128i *)(const void *)p);
    __m128i next = _mm_loadu_si128((const __m128i *)(const void *)(p + 1));
    __m128i backslash = _mm_set1_epi8('\\'), less = _mm_set1_epi8('<'), small = _mm_set1_epi8(0x20);
    __m128i h = _mm_set1_epi8('h'), lower = _mm_or_si128(next, small);
    __m128i begins = _mm_or_si128(_mm_cmpeq_epi8(v, less), _mm_cmpeq_epi8(_mm_or_si128(v, small), h));
    __m128i more = _mm_or_si128(_mm_cmpeq_epi8(next, less), _mm_cmpeq_epi8(lower, h));
    more = _mm_or_si128(more, _mm_cmpeq_epi8(lower, _mm_set1_epi8('w')));
    more = _mm_or_si128(more, _mm_cmpeq_epi8(next, backslash));
    __m128i lone = _mm_or_si128(_mm_cmpeq_epi8(v, backslash), _mm_cmpeq_epi8(v, _mm_set1_epi8('\n')));
    return (unsigned)_mm_movemask_epi8(_mm_or_si128(lone, _mm_and_si128(begins, more)));
}

/* As it, of n <= 16 bytes; what follows them is not known. */
static inline unsigned character_stops_last(const char *p, size_t n)
{
    char copy[24];
    memset(copy, '\\', sizeof copy);
    if (n >= 8) {
        memcpy(copy, p, 8);
        memcpy(copy + n - 8, p + n - 8, 8);
    } else if (n >= 4) {
        memcpy(copy, p, 4);
        memcpy(copy + n - 4, p + n - 4, 4);
    } else {
        for (size_t i = 0; i < n; i++)
            copy[i] = p[i];
    }
    return character_stops16(copy) | 1u << n;
}
#endif

/* How many bytes from p on stop nobody: no backslash, no line feed, no `<` or H that may begin a marker. */
static inline size_t character_plain(const char *p, size_t n)
{
    size_t i = 0;
#if defined(__SSE2__)
    for (; i + 17 <= n; i += 16) {
        unsigned mask = character_stops16(p + i);
        if (mask)
            return i + (size_t)__builtin_ctz(mask);
    }
    if (n - i <= 16)
        return i + (size_t)__builtin_ctz(character_stops_last(p + i, n - i));
#endif
    while (i < n && !character_stops(p[i], i + 1 < n ? p[i + 1] : '\\'))
        i++;
    return i;
}

#endif
