#ifndef PROXY_RENDER_CACHE_H
#define PROXY_RENDER_CACHE_H
/*
 * Files that were drawn a while ago, so that the same source of the same organisation is not drawn again: a
 * model that is asked again often writes the same document. A worker's own, on the loop; bounded in number
 * and bytes, the least used goes first. It holds sealed memfds, which whoever asks gets a descriptor of.
 */
#include "artifacts/artifact.h"

struct render_cache;

struct render_cache *render_cache_create(void) MUST_USE;
/* NULL is fine. */
void render_cache_destroy(struct render_cache *c);

struct cached {
    int fd; /* the callee's to close */
    uint64_t bytes;
    const char *renderer, *version;
};
/* False: it is not there. */
bool render_cache_find(struct render_cache *c, const char *org, const unsigned char digest[DIGEST],
                       struct cached *out);
/* Keeps a descriptor of its own; `renderer` and `version` outlive the cache. Large files are not kept. */
void render_cache_add(struct render_cache *c, const char *org, const unsigned char digest[DIGEST],
                      const struct cached *file);

#endif
