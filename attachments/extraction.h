#ifndef ATTACHMENTS_EXTRACTION_H
#define ATTACHMENTS_EXTRACTION_H
/*
 * One document that is being turned into text, in penstock-worker's cage: what it has cost so far and why it
 * cannot go on. Everything that reads part of it holds on to the same struct extraction. The first failure
 * stays; a sentence is a predicate whose subject is the attachment's name, with a full stop: "is damaged:
 * word/document.xml is missing." It may hold short names of the document's parts and nothing else of it.
 */
#include <stdint.h>

#include "attachments/extract.h"
#include "base/span.h"

enum {
    EXTRACT_NODES = 500000,               /* XML elements of one document that is no workbook */
    EXTRACT_SHEET_NODES = 4000000,        /* XML elements of a workbook, which are not kept */
    EXTRACT_PART = 128 * 1024 * 1024,     /* inflated bytes of one member of an archive */
    EXTRACT_INFLATED = 256 * 1024 * 1024, /* inflated bytes of all members that are read */
    EXTRACT_MEMORY = 512 * 1024 * 1024,   /* address space of the child */
    EXTRACT_CPU_S = 10,
    EXTRACT_WALL_MS = 15000 /* of the child */
};

/* Of every reader that needs no more than this. */
#define EXTRACT_LIMITS                                                                                       \
    {                                                                                                        \
        .source_bytes = RENDER_SOURCE, .out_bytes = EXTRACT_TEXT, .memory_bytes = EXTRACT_MEMORY,            \
        .cpu_s = EXTRACT_CPU_S, .wall_ms = EXTRACT_WALL_MS                                                   \
    }

struct extraction {
    enum render_status status; /* RENDER_OK so far */
    char *sentence;            /* RENDER_SENTENCE bytes, the caller's */
    uint64_t nodes, max_nodes; /* XML elements seen, allowed */
    uint64_t inflated;         /* bytes got out of the archive */
};

void extraction_init(struct extraction *x, char sentence[RENDER_SENTENCE], uint64_t max_nodes);
/* Answers -1. Only the first failure counts. */
int extraction_fail(struct extraction *x, enum render_status status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* Copies a name out of the document for a sentence: at most 60 bytes, printable ASCII, others become '?'. */
struct extraction_name {
    char text[64];
};
struct extraction_name extraction_name(struct span name);

#endif
