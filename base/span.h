#ifndef BASE_SPAN_H
#define BASE_SPAN_H
/*
 * A borrowed run of bytes: a pointer and a length. A span never owns what it points to and is not
 * terminated. Used everywhere instead of C strings for whatever came over the network.
 */
#include <stdbool.h>
#include <stddef.h>
#include <string.h>
#include <strings.h>

#define MUST_USE __attribute__((warn_unused_result))

struct span {
    const char *p;
    size_t n;
};

/* A span over a string literal. */
#define SPAN_LIT(s) ((struct span){(s), sizeof(s) - 1})

static inline struct span span_of(const char *p, size_t n)
{
    return (struct span){p, n};
}

/* s may be NULL: the empty span. */
static inline struct span span_str(const char *s)
{
    return (struct span){s, s ? strlen(s) : 0};
}

static inline bool span_is(struct span a, const char *s)
{
    size_t n = strlen(s);
    return a.n == n && (n == 0 || memcmp(a.p, s, n) == 0);
}

/* Without regard to the case of ASCII letters. Names that are compared are short and mostly differ in length
 * or in their first letter. */
static inline bool span_is_nocase(struct span a, const char *s)
{
    size_t n = strlen(s);
    if (a.n != n)
        return false;
    for (size_t i = 0; i < n; i++) {
        unsigned char x = (unsigned char)a.p[i], y = (unsigned char)s[i];
        if (x != y && ((x ^ y) != 0x20 || (x | 0x20) < 'a' || (x | 0x20) > 'z'))
            return false;
    }
    return true;
}

static inline bool span_starts(struct span a, const char *s)
{
    size_t n = strlen(s);
    return a.n >= n && (n == 0 || memcmp(a.p, s, n) == 0);
}

static inline bool span_ends(struct span a, const char *s)
{
    size_t n = strlen(s);
    return a.n >= n && (n == 0 || memcmp(a.p + a.n - n, s, n) == 0);
}

static inline struct span span_from(struct span a, size_t at)
{
    return (struct span){a.p + at, a.n - at};
}

#endif
