#ifndef ARTIFACTS_MARKDOWN_SOURCE_H
#define ARTIFACTS_MARKDOWN_SOURCE_H
/* The lines of a Markdown source before its blocks are read; for markdown.c alone. Pure. */
#include "artifacts/markdown.h"

/* A footnote's definition. */
struct markdown_definition {
    struct span id;
    struct span text; /* Markdown; its continuation lines without their indentation */
    size_t at, n;     /* where that is in `notes` */
    unsigned number;  /* from 1, once it was mentioned */
};

struct markdown_source {
    struct buf clean; /* valid UTF-8, lines end with a line feed */
    struct buf text;  /* for the parser: without front matter and definitions */
    struct buf notes;
    struct markdown_definition *definitions; /* by id */
    size_t n, room;
    struct span title, author, date; /* in `clean` */
};

/* -1: over a limit. Given back with markdown_source_finish in any case. */
int markdown_source_init(struct markdown_source *s, struct span source) MUST_USE;
void markdown_source_finish(struct markdown_source *s);
struct markdown_definition *markdown_definition_find(const struct markdown_source *s, struct span id);
/* The id of a mention "[^id]" that begins at `at`, empty if none does. */
struct span markdown_mention(struct span text, size_t at);

#endif
