#ifndef JOBS_TASK_QUEUE_H
#define JOBS_TASK_QUEUE_H
/*
 * Documents that wait for a child of the spawner. Whoever sends many waits for himself: owners take turns,
 * and who has the fewest documents at work comes first. A full queue makes room for an owner who has few in
 * it, at the cost of the one who has most. Pure; one thread. Costs a walk over the queue for each document,
 * which is short (SPAWNER's own cap).
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The beginning of whatever is queued. */
struct queued {
    struct queued *next;
    uint64_t owner; /* any number that stands for one; those of 0 are one owner as well */
    bool slow;      /* may take minutes */
};

struct task_queue {
    struct queued *first;
    size_t n;
};

/* 0: it is in; *ousted is what had to go for it, the caller's now, or NULL. -1: the queue has `max` already,
 * and its owner's share of it. */
int task_queue_add(struct task_queue *q, struct queued *item, size_t max, struct queued **ousted);
/* Takes out whose turn it is; NULL: nobody's. `running` answers how many of an owner are at work.
 * `slow_too`: one that is slow may be taken. */
struct queued *task_queue_take(struct task_queue *q, unsigned (*running)(const void *user, uint64_t owner),
                               const void *user, bool slow_too);
/* It must be in the queue. */
void task_queue_remove(struct task_queue *q, struct queued *item);

#endif
