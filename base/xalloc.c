#include "base/xalloc.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void *or_die(void *p)
{
    if (!p) {
        fputs("penstock: out of memory\n", stderr);
        abort();
    }
    return p;
}

/* glibc's calloc goes past the thread's cache of small blocks, which malloc takes them from. */
enum { SMALL = 1024 };

void *xcalloc(size_t count, size_t size)
{
    if (count <= SMALL && size <= SMALL && count * size <= SMALL)
        return memset(xmalloc(count * size), 0, count * size);
    return or_die(calloc(count ? count : 1, size ? size : 1));
}

void *xmalloc(size_t size)
{
    return or_die(malloc(size ? size : 1));
}

void *xrealloc(void *p, size_t size)
{
    return or_die(realloc(p, size ? size : 1));
}

char *xstrdup(const char *s)
{
    return xspandup(span_str(s));
}

char *xspandup(struct span s)
{
    char *copy = xmalloc(s.n + 1);
    if (s.n)
        memcpy(copy, s.p, s.n);
    copy[s.n] = '\0';
    return copy;
}

void xfree(void *p)
{
    free(p);
}
