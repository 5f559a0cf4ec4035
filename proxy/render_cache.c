#include "proxy/render_cache.h"

#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include "base/xalloc.h"

enum { ENTRIES = 64, BYTES_MOST = 32 * 1024 * 1024, ONE_MOST = 4 * 1024 * 1024 };

struct entry {
    struct cached file; /* fd -1: free */
    char org[LIMIT_ORG + 1];
    unsigned char digest[DIGEST];
    uint64_t used; /* when, by the cache's own count */
};

struct render_cache {
    struct entry entries[ENTRIES];
    uint64_t now, bytes;
};

struct render_cache *render_cache_create(void)
{
    struct render_cache *c = xcalloc(1, sizeof *c);
    for (size_t i = 0; i < ENTRIES; i++)
        c->entries[i].file.fd = -1;
    return c;
}

static void drop(struct render_cache *c, struct entry *e)
{
    if (e->file.fd < 0)
        return;
    close(e->file.fd);
    e->file.fd = -1;
    c->bytes -= e->file.bytes;
}

void render_cache_destroy(struct render_cache *c)
{
    if (!c)
        return;
    for (size_t i = 0; i < ENTRIES; i++)
        drop(c, &c->entries[i]);
    xfree(c);
}

static struct entry *find(struct render_cache *c, const char *org, const unsigned char digest[DIGEST])
{
    for (size_t i = 0; i < ENTRIES; i++) {
        struct entry *e = &c->entries[i];
        if (e->file.fd >= 0 && memcmp(e->digest, digest, DIGEST) == 0 && strcmp(e->org, org) == 0)
            return e;
    }
    return NULL;
}

bool render_cache_find(struct render_cache *c, const char *org, const unsigned char digest[DIGEST],
                       struct cached *out)
{
    struct entry *e = find(c, org, digest);
    if (!e)
        return false;
    *out = e->file;
    out->fd = fcntl(e->file.fd, F_DUPFD_CLOEXEC, 0);
    e->used = ++c->now;
    return out->fd >= 0;
}

/* A free place, or that of the one that was not asked for the longest. */
static struct entry *least_used(struct render_cache *c)
{
    struct entry *least = &c->entries[0];
    for (size_t i = 0; i < ENTRIES; i++) {
        struct entry *e = &c->entries[i];
        if (e->file.fd < 0)
            return e;
        if (e->used < least->used)
            least = e;
    }
    return least;
}

static struct entry *oldest(struct render_cache *c)
{
    struct entry *least = NULL;
    for (size_t i = 0; i < ENTRIES; i++) {
        struct entry *e = &c->entries[i];
        if (e->file.fd >= 0 && (!least || e->used < least->used))
            least = e;
    }
    return least;
}

void render_cache_add(struct render_cache *c, const char *org, const unsigned char digest[DIGEST],
                      const struct cached *file)
{
    if (file->bytes > ONE_MOST || find(c, org, digest))
        return;
    while (c->bytes + file->bytes > BYTES_MOST)
        drop(c, oldest(c));
    struct entry *e = least_used(c);
    drop(c, e);
    e->file = *file;
    e->file.fd = fcntl(file->fd, F_DUPFD_CLOEXEC, 0);
    if (e->file.fd < 0)
        return;
    c->bytes += file->bytes;
    snprintf(e->org, sizeof e->org, "%s", org);
    memcpy(e->digest, digest, DIGEST);
    e->used = ++c->now;
}
