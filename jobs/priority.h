#ifndef JOBS_PRIORITY_H
#define JOBS_PRIORITY_H
/*
 * Whose the processor is. Streams come first: a document is made while no stream wants the processor
 * (SCHED_IDLE, sched(7)), so that none waits for the end of a document's turn. On a machine that is busy for
 * long, documents would get next to nothing that way (a weight of 3 against 1024); once one has, those that
 * are begun within the next minute share the processor instead, with about a tenth of it. A child cannot be
 * raised later: going back from SCHED_IDLE takes privileges that the spawner does not have.
 */
#include <stdbool.h>
#include <stdint.h>

struct priority {
    int64_t share_until_ms; /* monotonic; zeroed: not yet */
};

/* In the spawner: what a document's child took. */
void priority_note(struct priority *p, int64_t now_ms, uint64_t wall_us, uint64_t cpu_us);
/* Whether one that begins now shares the processor. */
bool priority_shares(const struct priority *p, int64_t now_ms);
/* In the child, before its cage. */
void priority_take(bool shares);

#endif
