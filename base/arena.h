#ifndef BASE_ARENA_H
#define BASE_ARENA_H
/* Memory of one document, given back all at once. Zeroed to start. The caller caps what it asks for. */
#include "base/span.h"

struct arena_chunk;

struct arena {
    struct arena_chunk *chunks; /* newest first */
    size_t used, room;          /* of the newest */
};

/* Zeroed and aligned for any type; n may be 0. */
void *arena_take(struct arena *a, size_t n) MUST_USE __attribute__((returns_nonnull));
/* A copy of the bytes, terminated. */
struct span arena_copy(struct arena *a, struct span s);
/* Empties it but keeps some of the memory, for the next of many small documents. */
void arena_reset(struct arena *a);
void arena_free(struct arena *a);

#endif
