#ifndef PROXY_EXTRACT_RENDER_H
#define PROXY_EXTRACT_RENDER_H
/* Documents and charts for `penstock extract`: the same caged renderers that `penstock serve` uses, one file
 * after another, waited for. */
#include "artifacts/artifact.h"

struct extract_renders;

/* A file of this reply that was written. */
struct extract_file {
    char name[LIMIT_FILENAME + 1];    /* by which the reply knows it */
    char on_disk[LIMIT_FILENAME + 1]; /* differs where the directory had a file of that name before */
};

/* Starts the renderers and waits for them; where there are none, nothing is rendered. Never NULL.
 * `longest_ms`: for one file. */
struct extract_renders *extract_renders_create(bool sandbox_required, int64_t longest_ms) MUST_USE;
/* NULL is fine. */
void extract_renders_destroy(struct extract_renders *r);
const struct rendered *extract_renders_formats(const struct extract_renders *r);
/* The file's bytes into `bytes` (emptied first, with a cap as the format needs it). `files` are those in
 * `dir` that the source may name. FLAG_NONE, or a flag with a clause in `why` that may be empty. */
enum flag extract_render(struct extract_renders *r, const struct directive_parts *parts,
                         const struct format *format, const char *filename, const char *dir,
                         const struct extract_file *files, size_t nfiles, struct buf *bytes,
                         char why[LIMIT_ERROR_TEXT]);

#endif
