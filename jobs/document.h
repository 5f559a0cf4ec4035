#ifndef JOBS_DOCUMENT_H
#define JOBS_DOCUMENT_H
/*
 * What a renderer is given, as the bytes of a memfd: a DOCUMENT message (jobs/wire.h) with the parameters and
 * the lengths of what follows, then the source, the logo and the other files one after another. Written by
 * whoever wants a file, sealed, and read in the child alone.
 */
#include "jobs/renderer.h"

/* A memfd that nobody can write to or resize any more. -1 with errno: no memory, or longer than its parts may
 * be. Blocking work: it copies the source. */
int document_create(struct span source, const struct render_params *params) MUST_USE;

struct document {
    struct span source;
    struct render_params params;
    struct render_asset assets[RENDER_ASSETS];
    char *strings; /* what the parameters point to */
};

/* Borrows from `bytes`. -1: not such a document, or not whole. Finish with document_finish in any case. */
int document_read(struct span bytes, struct document *out) MUST_USE;
void document_finish(struct document *d);

/* An empty memfd of n bytes for the output: it can be written but neither grow nor shrink. -1 with errno. */
int document_output_create(uint64_t n) MUST_USE;
/* Once the writer is gone: -1 unless `fd` can be made read-only and holds at least n bytes. */
int document_output_seal(int fd, uint64_t n) MUST_USE;

#endif
