#ifndef ARTIFACTS_ZIP_H
#define ARTIFACTS_ZIP_H
/*
 * An archive between its source and its file: zip_read.c finds the parts, render_zip.c makes their bytes and
 * writes them. Two forms: lines `=== path ===`, each with the part's text below it, up to the next such line;
 *   JSON: {"files":[{"path":"a/b.txt","content":"…"},{"path":"c.png","base64":"…"}]}, the list alone, or an
 * object of contents by path. Used in the worker alone. Pure.
 */
#include "base/arena.h"
#include "jobs/renderer.h"

enum {
    ZIP_PARTS = 100,
    ZIP_PATH = 240, /* bytes of a part's path */
    ZIP_DEPTH = 16, /* folders of a path */
};

struct zip_part {
    struct span path; /* as asked for */
    struct span content;
    bool base64; /* said so, in JSON */
};

struct zip_parts {
    struct zip_part list[ZIP_PARTS];
    size_t n;
    struct arena arena;
};

/* The spans point into the source or the arena. To be freed in any case. */
enum render_status zip_read(struct span source, struct zip_parts *out,
                            char sentence[RENDER_SENTENCE]) MUST_USE;
void zip_parts_free(struct zip_parts *parts);

#endif
