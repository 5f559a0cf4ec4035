#ifndef TRANSCRIPT_JOURNAL_H
#define TRANSCRIPT_JOURNAL_H
/*
 * The reader's side of a thread's journal: one JSON object a line, appended while consults run.
 *
 *   {"ev":"thread","thread",title?,author?}
 *   {"ev":"begin","id","role","at_us",query,trigger?,consult_id?,parent?,headline?,attachments?,model?,
 *    provider?,run?}
 *   {"ev":"end","id","at_us",text?,reasoning?,tool_calls?,citations?,artifacts?,end}
 *
 * consult_id: the id of the Expert's call of a tool that asked for this consult. parent: in its place, the id
 * of the Expert's request that did; the consult is then drawn in that turn, behind its calls of tools. run:
 * which process began it. An end may come again: the last one counts.
 *
 * role: "expert" (also when it is missing) or "specialist"; tool_calls: [{id,name,arguments}]; end: see
 * transcript/ending.h. attachments: [{name?,type?,media_type?,bytes?,characters?}]; artifacts:
 * [{filename,media_type,bytes,…}] as a reply reports them. Members that are not named here are ignored.
 *
 * A begin without an end is legal: the program stopped. A last line that is cut off is ignored; what was
 * appended to a line that had been cut off is read nevertheless. Values are copied, never printed anew.
 *
 * A journal may be far larger than what anyone wants in memory. It is read once, line by line, for what
 * belongs together; of its lines only their places are kept, and an entry's lines are read again when the
 * entry is asked for.
 */
#include "base/error.h"
#include "base/source.h"

/* Whether a begin without an end is still running, by the run that the line says (0: none). */
struct journal_live {
    bool (*is_running)(void *arg, int64_t run);
    void *arg;
};

/* A journal whose lines were looked at. */
struct journal;
/* `thread` is the id that the file's name says; it counts when the thread's own line is lost, and may be
 * empty. `live` may be NULL: nothing runs. The source must stay. -1: larger than TRANSCRIPT_DOCUMENT, or it
 * cannot be read. An empty journal makes an empty thread. */
int journal_open(const struct source *s, struct span thread, const struct journal_live *live,
                 struct journal **out, struct error *e) MUST_USE;
void journal_close(struct journal *j);
/* Lines that are no event, a cut one included. */
size_t journal_skipped(const struct journal *j);
/* Whether something in it still runs. */
bool journal_runs(const struct journal *j);

/* ---- the raw thread document, or its parts ---- */

/* Entries of the list "entries", or of "background_entries". */
size_t journal_entries(const struct journal *j, bool background);
/* Appends one of them, a JSON object. -1: its lines cannot be read any more, or the buffer is full. */
int journal_add_entry(const struct journal *j, bool background, size_t i, struct buf *out) MUST_USE;
/* Appends the document without the two lists, a JSON object. */
void journal_add_head(const struct journal *j, struct buf *out);
/* The whole document, an entry at a time. -1 with an error: larger than `most` bytes or than
 * TRANSCRIPT_DOCUMENT (ERROR_REQUEST_TOO_LARGE), or it cannot be read any more, or the sink wanted no more
 * (which sets no error). */
int journal_print(const struct journal *j, size_t most, const struct sink *to, struct error *e) MUST_USE;
/* The same into a buffer, whose cap counts. */
int journal_to_raw(const struct journal *j, struct buf *raw, struct error *e) MUST_USE;

/* What a list shows, without making the document: linear, and nothing is kept but the fields. */
struct journal_summary {
    struct buf id, title, author; /* the title: as the thread's line says, or else the first query's first
                                     line; empty if there is none */
    int64_t last_us;              /* the newest time in it; 0: none */
    unsigned experts, specialists;
    size_t skipped;
};
/* `out` need not be initialised; give it back with journal_summary_free. -1: the journal cannot be read to
 * its end. */
int journal_summarize(const struct source *s, struct journal_summary *out) MUST_USE;
void journal_summary_free(struct journal_summary *s);

#endif
