#ifndef ATTACHMENTS_SNIFF_PARTS_H
#define ATTACHMENTS_SNIFF_PARTS_H
/* What the files of sniff.h share: looking at bytes without leaving them. */
#include <stdint.h>

#include "attachments/sniff.h"

static inline bool has(struct span b, size_t at, const char *magic, size_t n)
{
    return b.n >= n && at <= b.n - n && memcmp(b.p + at, magic, n) == 0;
}

#define HAS(b, at, magic) has(b, at, magic, sizeof(magic) - 1)

static inline bool holds(struct span b, const char *what, size_t n)
{
    return b.n >= n && memmem(b.p, b.n, what, n) != NULL;
}

static inline struct span head_of(struct span b, size_t n)
{
    return span_of(b.p, b.n < n ? b.n : n);
}

/* The n bytes from `at` on must be there. */
static inline uint64_t number(struct span b, size_t at, unsigned n, bool big)
{
    uint64_t v = 0;
    for (unsigned i = 0; i < n; i++)
        v = v << 8 | (unsigned char)b.p[big ? at + i : at + n - 1 - i];
    return v;
}

#define LITTLE(b, at, n) ((size_t)number(b, at, n, false))

static inline struct media media(enum media_kind kind, const char *type, const char *word)
{
    return (struct media){kind, type, word};
}

/* By the names of their parts; the bytes begin with the signature of a ZIP or an OLE2 file. */
struct media sniff_zip(struct span b);
struct media sniff_ole(struct span b);
/* Of valid UTF-8 without control characters. */
struct media sniff_text(struct span b, struct span name);
/* Text that is not UTF-8, but that a reader of such files gets out: UTF-16 with its mark, and HTML, CSV or
 * TSV in an older encoding. False: it is not. */
bool sniff_encoded(struct span b, struct span name, struct media *out);

#endif
