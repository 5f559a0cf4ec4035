#ifndef PROXY_TRANSCRIPTS_H
#define PROXY_TRANSCRIPTS_H
/*
 * `penstock transcript`: threads as files to read. export takes the journals that the server wrote, render a
 * raw thread document of any origin, rerender what lies in a directory; list says what there is. Errors go to
 * standard error, a line each; what was made and the counts to standard output.
 */
#include "artifacts/threads.h"
#include "proxy/cli.h"
#include "proxy/progress.h"
#include "transcript/journal.h"
#include "transcript/transcript.h"

/* The exit status: 0 when all is well, 1 when something could not be read or written. */
int transcripts_run(const struct transcript_options *options);

/* ---- for transcripts_export.c ---- */

/* The journals of one organisation, or of one thread of it. */
struct transcripts_source {
    struct threads *threads;
    struct thread_entry *list;
    size_t n;
    const char *org; /* of the list, or "" for an empty one */
};
/* -1: a line on standard error says why. */
int transcripts_source_open(const struct transcript_options *options, struct transcripts_source *s) MUST_USE;
void transcripts_source_close(struct transcripts_source *s);
/* The journal, given back with threads_source_close. -1: a clause in `why`. */
int transcripts_source_read(const struct transcripts_source *s, const struct thread_entry *entry,
                            struct source *journal, char why[LIMIT_ERROR_TEXT]) MUST_USE;
/* What it says of itself; the summary is the caller's also when it failed. -1: a clause in `why`. */
int transcripts_source_summarize(const struct transcripts_source *s, const struct thread_entry *entry,
                                 struct journal_summary *summary, char why[LIMIT_ERROR_TEXT]) MUST_USE;
/* Says on standard error what did not end well in a thread and what is odd about it, below the bar. */
void transcripts_warn(const struct transcript *t, struct progress *bar);
/* "2035-12-26T00:00:00Z", the time of now. */
void transcripts_now(char text[32]);
int transcripts_export(const struct transcript_options *options);

#endif
