#ifndef TESTS_DIRECTIVE_RUN_H
#define TESTS_DIRECTIVE_RUN_H
/* Running the directive filter over a text in pieces, and writing down all that came of it. For tests and the
 * fuzzer. */
#include <assert.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "filters/directive.h"

enum { RUN_MAX = 1 << 24 };

struct outcome {
    struct buf out;        /* escaped, as it was passed on */
    struct buf directives; /* C[text], U[text] or L[text] for each: complete, unterminated, too large */
    unsigned stray;
    size_t kept, removed;
    size_t kept_points, removed_points;
};

static inline void outcome_init(struct outcome *o)
{
    *o = (struct outcome){0};
    buf_init(&o->out, RUN_MAX);
    buf_init(&o->directives, RUN_MAX);
}

static inline void outcome_finish(struct outcome *o)
{
    buf_free(&o->out);
    buf_free(&o->directives);
}

static void on_text(void *arg, struct span escaped)
{
    struct outcome *o = arg;
    assert(escaped.n > 0);
    buf_add(&o->out, escaped);
}

static void on_directive(void *arg, struct buf *text, enum directive_end how)
{
    struct outcome *o = arg;
    buf_addc(&o->directives, "CUL"[how]);
    buf_addc(&o->directives, '[');
    buf_add(&o->directives, buf_span(text));
    buf_addc(&o->directives, ']');
}

static void on_stray(void *arg)
{
    struct outcome *o = arg;
    o->stray++;
}

static void on_fate(void *arg, size_t bytes, size_t points, bool kept)
{
    struct outcome *o = arg;
    assert(bytes > 0 && points <= bytes);
    *(kept ? &o->kept : &o->removed) += bytes;
    *(kept ? &o->kept_points : &o->removed_points) += points;
}

static const struct directive_callbacks outcome_callbacks = {on_text, on_directive, on_stray, on_fate, true};

static inline uint32_t run_random(uint32_t *state)
{
    *state = *state * 1664525u + 1013904223u;
    return *state >> 8;
}

/* Appends text as the inside of a JSON string; with a seed, characters are spelt \uXXXX at random. */
static inline void run_escape(struct span text, uint32_t *seed, struct buf *out)
{
    static const char special[] = "\"\\\n\r\t\b\f";
    for (size_t i = 0; i < text.n; i++) {
        unsigned char c = (unsigned char)text.p[i];
        const char *at = c ? strchr(special, c) : NULL;
        uint32_t choice = seed ? run_random(seed) % 4 : 3;
        if (c < 0x80 && choice == 0)
            buf_printf(out, "\\u%04x", c);
        else if (c < 0x80 && choice == 1 && (c > 'a' || c == '<'))
            buf_printf(out, "\\u%04X", c);
        else if (c == '/' && choice == 2)
            buf_adds(out, "\\/");
        else if (at)
            buf_printf(out, "\\%c", "\"\\nrtbf"[at - special]);
        else if (c < 0x20)
            buf_printf(out, "\\u%04x", c);
        else
            buf_addc(out, (char)c);
    }
}

static inline void run_utf8(struct buf *out, uint32_t c)
{
    if (c < 0x80) {
        buf_addc(out, (char)c);
    } else if (c < 0x800) {
        buf_addc(out, (char)(0xc0 | c >> 6));
        buf_addc(out, (char)(0x80 | (c & 63)));
    } else if (c < 0x10000) {
        buf_addc(out, (char)(0xe0 | c >> 12));
        buf_addc(out, (char)(0x80 | (c >> 6 & 63)));
        buf_addc(out, (char)(0x80 | (c & 63)));
    } else {
        buf_addc(out, (char)(0xf0 | c >> 18));
        buf_addc(out, (char)(0x80 | (c >> 12 & 63)));
        buf_addc(out, (char)(0x80 | (c >> 6 & 63)));
        buf_addc(out, (char)(0x80 | (c & 63)));
    }
}

static inline int run_digits(struct span s, size_t at, uint32_t *c)
{
    *c = 0;
    if (at + 6 > s.n || s.p[at] != '\\' || s.p[at + 1] != 'u')
        return -1;
    for (size_t i = at + 2; i < at + 6; i++) {
        const char *digits = "0123456789abcdef0123456789ABCDEF", *d = s.p[i] ? strchr(digits, s.p[i]) : NULL;
        if (!d)
            return -1;
        *c = *c << 4 | (uint32_t)((d - digits) & 15);
    }
    return 0;
}

/* Appends what an escaped text stands for; what is no escape stays as it is, a lone surrogate becomes U+FFFD.
 */
static inline void run_unescape(struct span s, struct buf *out)
{
    static const char letters[] = "\"\\/bfnrt";
    for (size_t i = 0; i < s.n;) {
        uint32_t c, low;
        const char *at = s.p[i] == '\\' && i + 1 < s.n && s.p[i + 1] ? strchr(letters, s.p[i + 1]) : NULL;
        if (at) {
            buf_addc(out, "\"\\/\b\f\n\r\t"[at - letters]);
            i += 2;
        } else if (run_digits(s, i, &c) == 0) {
            i += 6;
            if (c >= 0xd800 && c < 0xdc00 && run_digits(s, i, &low) == 0 && low >= 0xdc00 && low < 0xe000) {
                c = 0x10000 + ((c - 0xd800) << 10) + (low - 0xdc00);
                i += 6;
            }
            run_utf8(out, c >= 0xd800 && c < 0xe000 ? 0xfffd : c);
        } else {
            buf_addc(out, s.p[i++]);
        }
    }
}

/* Feeds pieces of the given size; the last one may be shorter. Each piece lies in memory of its own, so that
 * a sanitizer sees a read outside it, or after the call. */
static inline void run_feed(struct directive_filter *f, struct span s, size_t piece)
{
    for (size_t at = 0; at < s.n; at += piece) {
        size_t n = s.n - at < piece ? s.n - at : piece;
        char *copy = malloc(n);
        assert(copy);
        memcpy(copy, s.p + at, n);
        directive_filter_feed(f, span_of(copy, n));
        free(copy);
    }
}

/* A marker in (unescaped) text, as a client would look for one. */
static inline bool run_marker_at(const char *p, const char *end)
{
    const char *name = "HW_ATTACHMENT", *q = p;
    int i;
    if (end - p >= 3 && memcmp(p, "<<<", 3) == 0) {
        q = p + 3;
        for (i = 0; i < 4 && q < end && (*q == ' ' || *q == '\t'); i++)
            q++;
        return end - q >= 13 && strncasecmp(q, name, 13) == 0;
    }
    if (end - p < 16 || strncasecmp(p, name, 13) != 0)
        return false;
    q = p + 13;
    for (i = 0; i < 8 && q < end &&
                (*q == '_' || (*q >= '0' && *q <= '9') || ((*q | 32) >= 'a' && (*q | 32) <= 'z'));
         i++)
        q++;
    for (i = 0; i < 4 && q < end && (*q == ' ' || *q == '\t'); i++)
        q++;
    return end - q >= 3 && memcmp(q, ">>>", 3) == 0;
}

static inline bool run_has_marker(struct span text)
{
    for (size_t i = 0; i < text.n; i++)
        if (run_marker_at(text.p + i, text.p + text.n))
            return true;
    return false;
}

#endif
