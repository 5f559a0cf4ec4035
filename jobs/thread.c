/* The thread behind a queue: jobs go in through a list under a lock, come back through another, and an
 * eventfd tells the loop. */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/log.h"
#include "base/xalloc.h"
#include "jobs/job.h"

struct job_list {
    struct job *first, **last;
};

struct job_queue {
    pthread_t thread;
    pthread_mutex_t lock; /* guards all below it but `fd` and `limit` */
    pthread_cond_t more;  /* a job was submitted, or the end is wanted */
    struct job_list waiting, finished;
    size_t n_waiting; /* of `waiting`: does not count the one being worked on */
    size_t n_open;    /* submitted and not reaped */
    bool stop;
    size_t limit;
    int fd;
};

static void list_init(struct job_list *l)
{
    l->first = NULL;
    l->last = &l->first;
}

static void list_append(struct job_list *l, struct job *job)
{
    job->next = NULL;
    *l->last = job;
    l->last = &job->next;
}

static struct job *list_take(struct job_list *l)
{
    struct job *job = l->first;
    if (job) {
        l->first = job->next;
        if (!l->first)
            l->last = &l->first;
        job->next = NULL;
    }
    return job;
}

/* The counter of an eventfd cannot overflow by ones; a signal is the only thing in the way. */
static void wake_loop(int fd)
{
    uint64_t one = 1;
    while (write(fd, &one, sizeof one) < 0 && errno == EINTR)
        ;
}

static void *run(void *arg)
{
    struct job_queue *q = arg;
    pthread_mutex_lock(&q->lock);
    for (;;) {
        while (!q->waiting.first && !q->stop)
            pthread_cond_wait(&q->more, &q->lock);
        struct job *job = list_take(&q->waiting);
        if (!job)
            break;
        q->n_waiting--;
        pthread_mutex_unlock(&q->lock);
        job->work(job);
        pthread_mutex_lock(&q->lock);
        bool first = !q->finished.first;
        list_append(&q->finished, job);
        if (first)
            wake_loop(q->fd);
    }
    pthread_mutex_unlock(&q->lock);
    return NULL;
}

/* The thread takes no signals: they are the loop's. */
static int start(struct job_queue *q, const char *name)
{
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int failed = pthread_create(&q->thread, NULL, run, q);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (failed)
        return failed;
    char cut[16]; /* the kernel's limit of a thread's name */
    size_t n = strnlen(name, sizeof cut - 1);
    memcpy(cut, name, n);
    cut[n] = '\0';
    pthread_setname_np(q->thread, cut);
    return 0;
}

struct job_queue *job_queue_create(const char *name, size_t limit)
{
    struct job_queue *q = xcalloc(1, sizeof *q);
    q->limit = limit;
    list_init(&q->waiting);
    list_init(&q->finished);
    pthread_mutex_init(&q->lock, NULL);
    pthread_cond_init(&q->more, NULL);
    q->fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    int failed = q->fd < 0 ? errno : start(q, name);
    if (failed) {
        log_error("jobs.start_failed", log_str("queue", name), log_int("errno", failed));
        if (q->fd >= 0)
            close(q->fd);
        pthread_cond_destroy(&q->more);
        pthread_mutex_destroy(&q->lock);
        xfree(q);
        return NULL;
    }
    return q;
}

void job_queue_destroy(struct job_queue *q)
{
    if (!q)
        return;
    pthread_mutex_lock(&q->lock);
    q->stop = true;
    pthread_cond_signal(&q->more);
    pthread_mutex_unlock(&q->lock);
    pthread_join(q->thread, NULL);
    job_queue_reap(q);
    close(q->fd);
    pthread_cond_destroy(&q->more);
    pthread_mutex_destroy(&q->lock);
    xfree(q);
}

int job_submit(struct job_queue *q, struct job *job)
{
    pthread_mutex_lock(&q->lock);
    bool room = q->n_waiting < q->limit && !q->stop;
    if (room) {
        list_append(&q->waiting, job);
        q->n_waiting++;
        q->n_open++;
        pthread_cond_signal(&q->more);
    }
    pthread_mutex_unlock(&q->lock);
    return room ? 0 : -1;
}

/* `work` may look at the flag at any moment, so both sides use atomic access. */
void job_cancel(struct job *job)
{
    __atomic_store_n(&job->cancelled, true, __ATOMIC_RELAXED);
}

int job_queue_fd(const struct job_queue *q)
{
    return q->fd;
}

/* The list is taken whole first, so that a `done` may submit again, and what finishes meanwhile waits for the
 * next turn of the loop. */
void job_queue_reap(struct job_queue *q)
{
    uint64_t count;
    struct job_list done;
    pthread_mutex_lock(&q->lock);
    while (read(q->fd, &count, sizeof count) < 0 && errno == EINTR)
        ;
    done.first = q->finished.first;
    list_init(&q->finished);
    for (struct job *job = done.first; job; job = job->next)
        q->n_open--;
    pthread_mutex_unlock(&q->lock);
    for (struct job *job = done.first, *next; job; job = next) {
        next = job->next;
        job->done(job);
    }
}

size_t job_queue_length(const struct job_queue *q)
{
    struct job_queue *open = (struct job_queue *)q; /* the lock alone changes */
    pthread_mutex_lock(&open->lock);
    size_t n = open->n_open;
    pthread_mutex_unlock(&open->lock);
    return n;
}
