#ifndef JOBS_JOB_H
#define JOBS_JOB_H
/*
 * Blocking work off the event loop: one thread a queue (disk, records), so that work of one kind keeps its
 * order. The loop watches job_queue_fd and calls job_queue_reap, which runs the `done` callbacks on the loop.
 * Nothing is shared but the job itself.
 *
 * Owner: after a successful job_submit the queue owns the job until its `done` callback, which gets it back.
 * job_submit answers -1 when the queue is full; the job is then still the caller's.
 */
#include <stdbool.h>
#include <stddef.h>

#include "base/span.h"

struct job {
    void (*work)(struct job *job); /* in the thread; touches nothing but the job and what it alone owns */
    void (*done)(struct job *job); /* on the loop; frees the job */
    bool
        cancelled; /* set by job_cancel: the result is not wanted (work may be running); `done` still comes */
    struct job *next; /* the queue's */
};

struct job_queue;

/* NULL with a log line when the thread cannot be made. `limit`: jobs that may wait. */
struct job_queue *job_queue_create(const char *name, size_t limit) MUST_USE;
/* Finishes what waits, then ends the thread and runs the last `done` callbacks. NULL is fine. */
void job_queue_destroy(struct job_queue *q);
int job_submit(struct job_queue *q, struct job *job) MUST_USE;
void job_cancel(struct job *job);
/* An eventfd that is readable while finished jobs wait. */
int job_queue_fd(const struct job_queue *q);
void job_queue_reap(struct job_queue *q);
/* Jobs submitted and not reaped. */
size_t job_queue_length(const struct job_queue *q);

#endif
