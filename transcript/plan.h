#ifndef TRANSCRIPT_PLAN_H
#define TRANSCRIPT_PLAN_H
/* What an export has to do: the threads that there are, against what was done before. Pure. */
#include "base/buf.h"

/* What earlier exports did: {"<thread>": {"status": "ok", "lastUpdated": "…", "bytes": …}, …}. */
struct plan_state;
struct plan_state *plan_state_create(void);
/* NULL: the text is no JSON object. */
struct plan_state *plan_state_parse(struct span text);
void plan_state_destroy(struct plan_state *s);
/* status: "ok", "error", "expired" or "deleted". bytes: the journal's length; 0: not known. */
void plan_state_set(struct plan_state *s, struct span thread, const char *status, struct span last_updated,
                    uint64_t bytes);
int plan_state_print(const struct plan_state *s, struct buf *out) MUST_USE;

enum plan_action { PLAN_NEW, PLAN_UPDATED, PLAN_DONE, PLAN_EXPIRED, PLAN_DELETED };
const char *plan_action_name(enum plan_action a);

struct plan_thread {
    struct span id, last_updated; /* borrowed */
    uint64_t bytes;               /* the journal's length; 0: not known */
    size_t number;                /* the caller's */
    enum plan_action action;
};

/*
 * A thread is done when it was exported with this last update and, if both are known, this length: after a
 * clock was set back, or when workers write at once, a line may be older than others before it.
 *
 * Sorts the threads by their last update, the newest first, and says of each what is to be done. Without
 * full and force the tail of which nothing is to be done is cut off: answers how many threads are left. force
 * exports unchanged ones too, but none that has expired or was deleted.
 */
size_t plan_threads(struct plan_thread *threads, size_t n, const struct plan_state *state, bool full,
                    bool force);
/* Times are the same but for zeros at the end of their fractions. ".0" and no fraction differ. */
bool plan_same_time(struct span a, struct span b);

#endif
