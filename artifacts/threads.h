#ifndef ARTIFACTS_THREADS_H
#define ARTIFACTS_THREADS_H
/*
 * Where the journals of threads lie (what is in one: transcript/journal.h):
 *   <state_dir>/orgs/<org>/threads/<thread>.jsonl    one JSON object a line, appended
 *   <state_dir>/threads.lock                         who is alive, see threads_run
 *
 * A line is one write at the file's end, under a lock on the file, so that several workers may write one
 * journal. What was written survives the death of the process; it is not flushed to the disk a line at a
 * time, so that a loss of power may take what the kernel had not yet written back. A line that was cut off by
 * that is taken away before the next one is added.
 *
 * Blocking; may be called from any thread and by several processes.
 */
#include <stdint.h>

#include "base/buf.h"
#include "base/error.h"
#include "base/limits.h"
#include "base/source.h"

enum { THREAD_NAME = 129 };

struct threads;

/* `keep`: it is for a process that writes, whose runs are alive as long as it is. */
struct threads *threads_open(const char *state_dir, bool keep, struct error *e) MUST_USE;
/* NULL is fine. */
void threads_close(struct threads *t);
/* The number under which this process writes; goes into its lines as `run`. 0: not for writing. */
uint64_t threads_run(const struct threads *t);
/* Whether the process with this number lives, on this machine. */
bool threads_run_lives(const struct threads *t, uint64_t run);

/* A thread's name as a file's: letters, digits, '-' and '_', at most 128; of anything else the first 32
 * hexadecimal digits of its SHA-256. */
void threads_name(struct span said, char name[THREAD_NAME]);

/* Adds a line (with its line end); `first` goes before it when the journal is new. -1 with errno set: it is
 * not there, or not all of it. */
int threads_append(struct threads *t, const char *org, const char *name, struct span first,
                   struct span line) MUST_USE;
enum threads_read { THREADS_READ, THREADS_NONE, THREADS_FAILED };
/* The journal as it is now, to be read piece by piece. THREADS_READ: give it back with threads_source_close.
 */
enum threads_read threads_source(const struct threads *t, const char *org, const char *name,
                                 struct source *out) MUST_USE;
/* NULL in its arg is fine. */
void threads_source_close(struct source *s);

struct thread_entry {
    char org[LIMIT_ORG + 1], name[THREAD_NAME];
    uint64_t bytes;
    int64_t changed_us; /* when a line was last added */
};
/* All journals of an organisation, or of every one with an empty name; the newest first. The list is the
 * caller's (xfree); *more: there are others beyond `most`, which were not looked at. -1: cannot be read. */
int threads_list(const struct threads *t, const char *org, size_t most, struct thread_entry **list, size_t *n,
                 bool *more) MUST_USE;
/* Removes the journals to which nothing was added since then; answers how many. */
unsigned threads_sweep(struct threads *t, int64_t before_s);

/* For struct journal_live (transcript/journal.h), whose arg is the struct threads. */
bool threads_is_live(void *threads, int64_t run);

#endif
