#ifndef JOBS_RENDER_JOB_H
#define JOBS_RENDER_JOB_H
/*
 * Documents on their way to the renderers and back, as the loop sees them. A pool is one connection to
 * penstock-worker; everything here runs on one thread and never waits, but for render_pool_open.
 *
 *                    +--(no connection)--> WAITING --+
 *   render_submit ---+                               +--> SENT --(RESULT)--> done
 *                    +-------------------------------+      |
 *        WAITING or SENT: the deadline has passed --> done (RENDER_JOB_TIMEOUT, and RENDER_JOB_BUSY when the
 *        document was still waiting for a child, which is not its fault)
 *        SENT, the connection broke: WAITING once more, then done (RENDER_JOB_DIED)
 *        WAITING or SENT, render_cancel: gone without a callback; a child at work is killed
 *
 * `done` is called from render_pool_process, render_pool_tick and render_pool_close alone, never from inside
 * render_submit.
 */
#include "jobs/launch.h"
#include "jobs/renderer.h"

enum render_job_outcome {
    RENDER_JOB_DONE,
    RENDER_JOB_INVALID, /* the content; the sentence says what about it */
    RENDER_JOB_LIMIT,
    RENDER_JOB_FAILED, /* the renderer says that it cannot; the sentence may say why */
    RENDER_JOB_DIED,   /* the renderer's process ended before its time */
    RENDER_JOB_TIMEOUT,
    RENDER_JOB_BUSY,
    RENDER_JOB_UNSAFE, /* no cage, so nothing was rendered */
    RENDER_JOB_OUTCOMES
};
/* "done", "invalid" …, for logs and metrics. */
const char *render_job_outcome_name(enum render_job_outcome outcome);

struct render_result {
    enum render_job_outcome outcome;
    int fd; /* the file: sealed, from its beginning; the callback's to close. -1 unless RENDER_JOB_DONE */
    uint64_t bytes;
    char sentence[RENDER_SENTENCE]; /* as the renderer said it: untrusted text, may be empty */
    const char *renderer, *version; /* valid as long as the pool */
    uint64_t wall_us, cpu_us, peak_bytes;
};
typedef void (*render_done)(void *arg, const struct render_result *result);

/* What can be rendered; read-only and valid as long as the pool. */
struct render_format {
    char format[32], renderer[32], version[32];
    uint64_t out_bytes;
};

struct render_pool;
struct render_job;

/*
 * Connects and waits at most `wait_ms` for the renderers to say what they can do, which takes them a moment
 * after their start. Never NULL: without an address or an answer it is a pool that makes nothing.
 * `limit`: jobs at a time.
 */
struct render_pool *render_pool_open(const struct render_address *address, size_t limit,
                                     int wait_ms) MUST_USE;
/* Every job left is done with RENDER_JOB_DIED. NULL is fine. */
void render_pool_close(struct render_pool *p);
/* The formats, n of them. They stay as they were at the start. */
const struct render_format *render_pool_formats(const struct render_pool *p, size_t *n);
/* SANDBOX layers that this host does not have (jobs/sandbox.h). */
unsigned render_pool_missing(const struct render_pool *p);
/* Readable when render_pool_process has something to do; the same as long as the pool. */
int render_pool_fd(const struct render_pool *p);
void render_pool_process(struct render_pool *p);
/* Now and then: deadlines, and a connection that was lost. */
void render_pool_tick(struct render_pool *p, int64_t now_ms);
/* Jobs that are not done. */
size_t render_pool_length(const struct render_pool *p);

struct render_order {
    const char *format;
    int document; /* from document_create (jobs/document.h), taken in any case */
    int64_t until_ms;
    uint64_t owner; /* render_owner; 0: nobody in particular. Owners take turns (jobs/task_queue.h) */
};
/* Stands for an organisation; never 0. */
uint64_t render_owner(const char *organisation);
/* NULL with a reason: too many jobs, of all together or of this owner, who gets half of the room at most; no
 * such format; no memory. Then there is no callback. */
struct render_job *render_submit(struct render_pool *p, const struct render_order *order, render_done done,
                                 void *arg, const char **why) MUST_USE;
/* No callback comes afterwards. NULL is fine. */
void render_cancel(struct render_job *job);

#endif
