#ifndef FILTERS_REPORT_H
#define FILTERS_REPORT_H
/*
 * What a reply's directives came to: the artifacts in their order, the flags, and what is said of them to the
 * client (product.md §§3, 4.4, 5.2). Part of the reply filter; knows nothing of events. Memory only once
 * there is something to say.
 */
#include <stdint.h>

#include "base/buf.h"
#include "base/flag.h"
#include "filters/reply.h"

struct report_entry;

struct report {
    struct report_entry *list; /* by number */
    unsigned n, room;
    unsigned pending; /* handed out and not settled */
    unsigned strays;  /* markers taken out that belonged to no directive */
    unsigned surplus; /* directives so far over the limit that they are not even kept */
    bool sent;
};

void report_finish(struct report *p);
/* A directive of that channel, and where it stood in the text that is left; answers its number. */
unsigned report_open(struct report *p, uint32_t channel, size_t at) MUST_USE;
/* False: no such directive, or it is settled already; then nothing was taken. */
bool report_settle(struct report *p, unsigned number, const struct reply_artifact *a) MUST_USE;
/* Whether a report is owed to the client: a directive or a marker was seen, and it was not told yet. */
bool report_due(const struct report *p);
/* Appends "outbound_artifacts":[…] and, when something went wrong, ,"flagForReview":true,"reason":"…". */
void report_members(const struct report *p, struct buf *out);
/* Appends the reasons as they stand in the report, as the inside of a JSON string or plain; nothing when
 * nothing went wrong. */
void report_reasons(const struct report *p, bool escaped, struct buf *out);
/* Appends, as the inside of a JSON string, the sentence that stands in for a reply of which nothing was left:
 * which files that channel's directives made, or which could not be made and why. */
void report_sentence(const struct report *p, uint32_t channel, struct buf *out);
/* Appends, as the inside of a JSON string, an empty line and one Markdown link a line for each file of that
 * channel; nothing when there are none. */
void report_links(const struct report *p, uint32_t channel, struct buf *out);
/* Whether that channel has files, and appends a note for each, comma separated. */
bool report_has_files(const struct report *p, uint32_t channel);
void report_citations(const struct report *p, uint32_t channel,
                      void (*citation)(struct span entry, size_t at, struct buf *out), struct buf *out);

#endif
