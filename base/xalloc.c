#include "base/xalloc.h"

#include <stdio.h>
#include <stdlib.h>

static void *or_die(void *p)
{
    if (!p) {
        fputs("penstock: out of memory\n", stderr);
        abort();
    }
    return p;
}

void *xcalloc(size_t count, size_t size)
{
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
