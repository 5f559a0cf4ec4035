#ifndef TRANSCRIPT_JOURNAL_H
#define TRANSCRIPT_JOURNAL_H
/*
 * The reader's side of a thread's journal: one JSON object a line, appended while consults run.
 *
 *   {"ev":"thread","thread",title?,author?}
 *   {"ev":"begin","id","role","at_us",query,trigger?,consult_id?,parent?,headline?,attachments?,model?,
 *    provider?}
 *   {"ev":"end","id","at_us",text?,reasoning?,tool_calls?,citations?,artifacts?,end}
 *
 * consult_id: the id of the Expert's call of a tool that asked for this consult. parent: in its place, the id
 * of the Expert's request that did; the consult is then drawn in that turn, behind its calls of tools. An end
 * may come again: the last one counts.
 *
 * role: "expert" (also when it is missing) or "specialist"; tool_calls: [{id,name,arguments}]; end: see
 * transcript/ending.h. attachments: [{name?,type?,media_type?,bytes?,characters?}]; artifacts:
 * [{filename,media_type,bytes,…}] as a reply reports them. Members that are not named here are ignored.
 *
 * A begin without an end is legal: the program stopped. A last line that is cut off is ignored; what was
 * appended to a line that had been cut off is read nevertheless. Values are copied, never printed anew.
 */
#include "base/buf.h"
#include "base/error.h"

struct journal_report {
    size_t skipped; /* lines that are no event, a cut one included */
};

/* Whether a begin without an end is still running; NULL: none is. */
struct journal_live {
    bool (*is_running)(void *arg, struct span id);
    void *arg;
};

/*
 * Appends the raw thread document. `thread` is the id that the file's name says; it counts when the thread's
 * own line is lost, and may be empty. `live` and `report` may be NULL. -1: larger than TRANSCRIPT_DOCUMENT or
 * than the buffer's cap. An empty journal makes an empty thread.
 */
int journal_to_raw(struct span journal, struct span thread, const struct journal_live *live, struct buf *raw,
                   struct journal_report *report, struct error *e) MUST_USE;

/* What a list shows, without making the document: linear, and nothing is kept but the fields. */
struct journal_summary {
    struct buf id, title, author; /* the title: as the thread's line says, or else the first query's first
                                     line; empty if there is none */
    int64_t last_us;              /* the newest time in it; 0: none */
    unsigned experts, specialists;
    size_t skipped;
};
/* `out` need not be initialised; give it back with journal_summary_free. */
void journal_summarize(struct span journal, struct journal_summary *out);
void journal_summary_free(struct journal_summary *s);

#endif
