#include "base/arena.h"

#include <stdint.h>

#include "base/xalloc.h"

enum { CHUNK = 64 * 1024, ALIGN = 16 };

struct arena_chunk {
    _Alignas(ALIGN) struct arena_chunk *next;
    _Alignas(ALIGN) char bytes[];
};

void *arena_take(struct arena *a, size_t n)
{
    n = (n + ALIGN - 1) / ALIGN * ALIGN;
    if (!a->chunks || n > a->room - a->used) {
        size_t room = n > CHUNK ? n : CHUNK;
        struct arena_chunk *chunk = xcalloc(1, sizeof *chunk + room);
        chunk->next = a->chunks;
        a->chunks = chunk;
        a->used = 0;
        a->room = room;
    }
    void *p = a->chunks->bytes + a->used;
    a->used += n;
    return p;
}

struct span arena_copy(struct arena *a, struct span s)
{
    char *p = arena_take(a, s.n + 1);
    if (s.n)
        memcpy(p, s.p, s.n);
    return span_of(p, s.n);
}

void arena_free(struct arena *a)
{
    while (a->chunks) {
        struct arena_chunk *next = a->chunks->next;
        xfree(a->chunks);
        a->chunks = next;
    }
    a->used = a->room = 0;
}

void arena_reset(struct arena *a)
{
    if (!a->chunks)
        return;
    for (struct arena_chunk *chunk = a->chunks->next, *next; chunk; chunk = next) {
        next = chunk->next;
        xfree(chunk);
    }
    a->chunks->next = NULL;
    memset(a->chunks->bytes, 0, a->used);
    a->used = 0;
}
