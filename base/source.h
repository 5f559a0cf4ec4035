#ifndef BASE_SOURCE_H
#define BASE_SOURCE_H
/*
 * Bytes that are read, and written, piece by piece, so that a large file need not be in memory: what reads
 * them asks for a place and a length, and does not know where they come from. Nothing here keeps more than
 * the longest line.
 */
#include "base/buf.h"

struct source {
    size_t n; /* bytes in all; what is added behind them later is not seen */
    /* Appends the n bytes from `at` on, which lie within the source. -1: they cannot be read (any more), or
     * the buffer is full; what was appended is the caller's to cut. */
    int (*read)(void *arg, size_t at, size_t n, struct buf *out);
    void *arg;
};

/* Where bytes go as they are made. */
struct sink {
    int (*write)(void *arg, struct span bytes); /* -1: no more are wanted; the arg knows why */
    void *arg;
};

/* A text in memory, which must stay there with its span. */
struct source source_text(const struct span *text);
/* Appends a part of it. -1: not all of it is there. */
int source_read(const struct source *s, size_t at, size_t n, struct buf *out) MUST_USE;

/* Its lines, in order. */
struct source_lines {
    const struct source *source;
    struct buf window; /* what has been read and was not given yet, the line given last included */
    size_t at, given;  /* where the window begins; bytes of it that the last line took */
    bool failed;       /* it could not be read to its end */
};
/* max: the longest line, in bytes; a longer one ends the walk as failed. */
void source_lines_init(struct source_lines *l, const struct source *s, size_t max);
void source_lines_free(struct source_lines *l);
/* The next line without its line break, valid until the next call, and where it begins; false: there are no
 * more. The last one may have no line break. */
bool source_next_line(struct source_lines *l, struct span *line, size_t *at) MUST_USE;

#endif
