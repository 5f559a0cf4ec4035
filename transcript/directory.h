#ifndef TRANSCRIPT_DIRECTORY_H
#define TRANSCRIPT_DIRECTORY_H
/*
 * A thread's files on disk: <out>/<author>/<mode>/<date>_<title>_<id>/ with
 *   raw_thread.json, raw_blocks.json   the input, byte for byte; the second for a dump of two files
 *   sources.json, sources.md, conversation.md, turns/turn_0001.md …
 *   thread.json                        written last
 * A file whose bytes would not change is not written; others are written under another name and renamed.
 * Called by commands, one process a directory; blocking.
 */
#include "base/error.h"
#include "transcript/transcript.h"

struct directory_report {
    char *path; /* the thread's directory */
    unsigned written, removed;
    char *moved_from;   /* the directory of an older date that went into it; or NULL */
    struct buf clashes; /* names that were in both with different bytes, a line each, the first 20: these
                           stayed as they are in the new one */
};
void directory_report_init(struct directory_report *r);
void directory_report_free(struct directory_report *r);

/* Which threads have a directory below `out`; only such with a thread.json that names its thread. */
struct directory_index;
struct directory_index *directory_index_read(const char *out);
void directory_index_destroy(struct directory_index *index);
/* NULL: none. */
const char *directory_index_find(const struct directory_index *index, struct span thread);

/*
 * Writes everything. `old` is where the thread was exported to before, or NULL: what is in it goes to the new
 * directory unless that has it, and it is removed; if anything fails, it stays. blocks: empty, or the second
 * file. -1 with an error that names the path.
 */
int directory_export(const char *out, const struct transcript *t, struct span raw, struct span blocks,
                     struct span exported_at, const char *old, struct directory_report *r,
                     struct error *e) MUST_USE;

/* The same of a journal, whose raw document is written as it is made. */
int directory_export_journal(const char *out, const struct transcript *t, const struct journal *j,
                             struct span exported_at, const char *old, struct directory_report *r,
                             struct error *e) MUST_USE;

enum directory_rendered {
    DIRECTORY_FAILED,
    DIRECTORY_SKIPPED, /* there is no raw document in it */
    DIRECTORY_SAME,
    DIRECTORY_CHANGED
};
/* Draws anew what is drawn: conversation.md and turns/, and with thread_json the interruptions in
 * thread.json. */
enum directory_rendered directory_rerender(const char *path, bool thread_json, struct directory_report *r,
                                           struct error *e) MUST_USE;
/* Appends the paths of all directories at <out>/<author>/<mode>/, in sorted order. `out` may be such a
 * directory itself. The list and its strings are the caller's. -1: cannot be read. */
int directory_list(const char *out, char ***paths, size_t *n, struct error *e) MUST_USE;
void directory_list_free(char **paths, size_t n);

#endif
