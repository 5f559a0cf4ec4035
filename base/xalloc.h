#ifndef BASE_XALLOC_H
#define BASE_XALLOC_H
/*
 * The only place that calls malloc and free. These abort when memory is exhausted, so they are for
 * objects of a fixed, small size and for sizes that base/limits.h or the configuration has already
 * capped. Anything that grows with a peer's bytes goes through struct buf (base/buf.h), which has a cap.
 * Everything returned here is given back with xfree (NULL is fine).
 */
#include "base/span.h"

void *xcalloc(size_t count, size_t size) MUST_USE __attribute__((returns_nonnull));
void *xmalloc(size_t size) MUST_USE __attribute__((returns_nonnull));
void *xrealloc(void *p, size_t size) MUST_USE __attribute__((returns_nonnull));
char *xstrdup(const char *s) MUST_USE __attribute__((returns_nonnull));
/* A terminated copy of a span. */
char *xspandup(struct span s) MUST_USE __attribute__((returns_nonnull));
void xfree(void *p);

#endif
