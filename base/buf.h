#ifndef BASE_BUF_H
#define BASE_BUF_H
/*
 * A growing run of bytes with a mandatory cap (curl's dynbuf is the model). The owner embeds a struct buf,
 * names its cap once with buf_init (caps come from base/limits.h or the configuration), and gives the
 * memory back with buf_free. An append that would pass the cap takes nothing, marks the buffer as full
 * (buf_full) and answers -1, as do all appends after it; so a run of appends may be checked once at its end.
 * buf_consume drops bytes at the front without moving memory until the front is more than half.
 */
#include <stdarg.h>
#include <stdint.h>

#include "base/span.h"

struct buf {
    char *data;
    size_t start; /* first byte in use */
    size_t n;     /* bytes in use */
    size_t room;  /* allocated */
    size_t max;   /* cap of n */
    bool over;    /* an append was refused */
};

void buf_init(struct buf *b, size_t max);
/* Gives the memory back and leaves an empty, usable buffer with the same cap. */
void buf_free(struct buf *b);
/* Empties it but keeps the memory. */
void buf_reset(struct buf *b);

/* buf_addn when the room must grow. */
int buf_add_grow(struct buf *b, const void *p, size_t n);

static inline int buf_addn(struct buf *b, const void *p, size_t n)
{
    if (n > b->max - b->n || b->start + b->n + n >= b->room || b->over || n == 0)
        return buf_add_grow(b, p, n);
    memcpy(b->data + b->start + b->n, p, n);
    b->n += n;
    return 0;
}

static inline int buf_add(struct buf *b, struct span s)
{
    return buf_addn(b, s.p, s.n);
}

static inline int buf_adds(struct buf *b, const char *s)
{
    return buf_addn(b, s, strlen(s));
}

static inline int buf_addc(struct buf *b, char c)
{
    return buf_addn(b, &c, 1);
}

/* buf_addn for a library that hands its output to a function (jansson's json_dump_callback): `b` is the
 * struct buf. */
int buf_sink(const char *p, size_t n, void *b);
/* In decimal; far cheaper than buf_printf. */
int buf_add_number(struct buf *b, uint64_t n);
int buf_printf(struct buf *b, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Room for n bytes at the end, to be filled by the caller and then counted with buf_commit; NULL: over the
 * cap. */
char *buf_reserve(struct buf *b, size_t n) MUST_USE;
void buf_commit(struct buf *b, size_t n);
/* Drops n bytes at the front. */
void buf_consume(struct buf *b, size_t n);
/* Cuts the buffer to its first n bytes. */
void buf_cut(struct buf *b, size_t n);
/* Moves the contents of `from` into `to` (which is freed first); `from` is left empty. Caps stay. */
void buf_move(struct buf *to, struct buf *from);
/* A terminated string; the terminator is not counted. The memory stays the buffer's. */
const char *buf_cstr(struct buf *b);

static inline struct span buf_span(const struct buf *b)
{
    return span_of(b->data ? b->data + b->start : "", b->n);
}

static inline bool buf_full(const struct buf *b)
{
    return b->over;
}

#endif
