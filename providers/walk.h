#ifndef PROVIDERS_WALK_H
#define PROVIDERS_WALK_H
/*
 * Reading JSON once, from front to back, going down only into the containers that matter: every byte is
 * looked at one time, where json_iter of a container inside a container looks at the inner one twice. For
 * events, which come by the token.
 *
 *   struct walk w = walk_text(text);
 *   struct span key;
 *   if (walk_enter(&w, '{'))
 *       while (walk_member(&w, &key))
 *           if (walk_key_is(&w, key, "choices") && walk_enter(&w, '[')) … else walk_skip(&w, &value);
 *   if (!walk_done(&w)) … the text was not one JSON value: forget what was found
 *
 * Each member or item must be consumed: entered and walked to its end, or skipped. A text that is not valid
 * stops the walk: everything answers false from then on.
 */
#ifdef __SSE2__
#include <emmintrin.h>
#endif

#include "base/json.h"
#include "base/reply_event.h"

struct walk {
    const char *at, *end;
    bool first; /* the container was just entered: no comma before the next member */
    bool bad;
    bool escaped; /* the last key holds a backslash */
    uint8_t how;  /* enum json_reading */
};

static inline struct walk walk_text(struct span text)
{
    return (struct walk){.at = text.p, .end = text.n ? text.p + text.n : text.p};
}

/* The JSON of a reply's event, with the leniency that its framing allows. */
static inline struct walk walk_event(const struct reply_event *e)
{
    return (struct walk){.at = e->json.p,
                         .end = e->json.n ? e->json.p + e->json.n : e->json.p,
                         .how = e->plain_strings ? JSON_NONFINITE : JSON_LENIENT};
}

static inline void walk_blank(struct walk *w)
{
    while (w->at < w->end && (*w->at == ' ' || *w->at == '\n' || *w->at == '\r' || *w->at == '\t'))
        w->at++;
}

/* The next value's first byte; 0 at the end of the text. */
static inline char walk_peek(struct walk *w)
{
    walk_blank(w);
    return w->at < w->end ? *w->at : '\0';
}

/* Goes into the container when the next value is one of that kind ('{' or '['); false: it is not, nothing
 * consumed. */
static inline bool walk_enter(struct walk *w, char bracket)
{
    if (walk_peek(w) != bracket)
        return false;
    w->at++;
    w->first = true;
    return true;
}

static inline bool walk_fail(struct walk *w)
{
    w->bad = true;
    w->at = w->end; /* so there is nothing to be seen any more */
    return false;
}

/* To the next value of the container just walked; false at its end (which is consumed) or when the text is
 * not valid. */
static inline bool walk_next(struct walk *w, char closing)
{
    char c = walk_peek(w);
    bool first = w->first;
    w->first = false;
    if (c == closing) {
        w->at++;
        return false;
    }
    if (first)
        return c ? true : walk_fail(w);
    if (c != ',')
        return walk_fail(w);
    w->at++;
    /* A closing bracket behind the comma is no value, so whoever reads on finds it. */
    return walk_peek(w) ? true : walk_fail(w);
}

/* The first quote, backslash or control character from p on, or end. Keys and most strings are shorter than
 * one step of it. */
static inline const char *walk_find_special(const char *p, const char *end)
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
#endif
    while (p < end && *p != '"' && *p != '\\' && (unsigned char)*p >= 0x20)
        p++;
    return p;
}

static inline bool walk_item(struct walk *w)
{
    return walk_next(w, ']');
}

static bool walk_any_member(struct walk *w, struct span *key)
{
    struct span whole;
    if (!walk_next(w, '}'))
        return false;
    if (*w->at != '"' || json_value_as(w->at, w->end, w->how, &whole) < 0)
        return walk_fail(w);
    *key = json_inside(whole);
    w->escaped = memchr(key->p, '\\', key->n) != NULL;
    w->at = whole.p + whole.n;
    if (walk_peek(w) != ':')
        return walk_fail(w);
    w->at++;
    return walk_peek(w) ? true : walk_fail(w);
}

/* `key`: the inside of its quotes, still escaped. Inlined whatever the compiler thinks of the caller's size:
 * a call a member is 3 % of an event. */
static inline __attribute__((always_inline)) bool walk_member(struct walk *w, struct span *key)
{
    /* As nearly everyone writes it: no white space, no escapes. */
    if (w->at < w->end && *w->at == '}') {
        w->at++;
        w->first = false;
        return false;
    }
    if (w->end - w->at > 6 && (w->first || *w->at == ',')) {
        const char *p = w->at + !w->first;
        p += !w->first && *p == ' ';
        if (*p != '"')
            return walk_any_member(w, key);
        const char *quote = walk_find_special(p + 1, w->end);
        size_t blank = w->end - quote > 3 && quote[2] == ' '; /* as Python and Google write it */
        if (w->end - quote > 3 && quote[0] == '"' && quote[1] == ':' && quote[2 + blank] > ' ') {
            *key = span_of(p + 1, (size_t)(quote - p) - 1);
            w->at = quote + 2 + blank;
            w->first = w->escaped = false;
            return true;
        }
    }
    return walk_any_member(w, key);
}

/* The end of a value that is simple to see: a string without escapes, null, a small whole number. NULL: let
 * json_value look. */
static inline const char *walk_simple_end(const char *p, const char *end)
{
    if (*p == '"') {
        p = walk_find_special(p + 1, end);
        return p < end && *p == '"' ? p + 1 : NULL;
    }
    if (end - p >= 5 && memcmp(p, "null", 4) == 0)
        return p + 4;
    if (*p < '0' || *p > '9')
        return NULL;
    bool zero = *p++ == '0'; /* nothing but a lone one begins with it */
    while (!zero && p < end && *p >= '0' && *p <= '9')
        p++;
    return p < end && (*p == ',' || *p == '}' || *p == ']') ? p : NULL;
}

/* Steps over the next value and answers its bytes; false, and an empty span: there is none. */
static inline bool walk_skip(struct walk *w, struct span *value)
{
    const char *end = walk_peek(w) ? walk_simple_end(w->at, w->end) : NULL;
    if (end) {
        *value = span_of(w->at, (size_t)(end - w->at));
    } else if (w->at == w->end || json_value_as(w->at, w->end, w->how, value) < 0) {
        *value = span_of("", 0);
        return walk_fail(w);
    }
    w->at = value->p + value->n;
    return true;
}

/* Of the key that walk_member answered last, before or after its value was skipped. Inlined always: names are
 * known there, and so are their lengths. */
static inline __attribute__((always_inline)) bool walk_key_is(const struct walk *w, struct span key,
                                                              const char *name)
{
    size_t n = strlen(name);
    return w->escaped ? json_inside_is(key, name) : key.n == n && memcmp(key.p, name, n) == 0;
}

/* Whether the whole text was one valid value and nothing but white space is left. */
static inline bool walk_done(struct walk *w)
{
    walk_blank(w);
    return !w->bad && w->at == w->end;
}

#endif
