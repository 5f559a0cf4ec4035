/* jobs/job.h: order, limit, cancellation, the descriptor, the end. */
#include <poll.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/xalloc.h"
#include "jobs/job.h"

enum { JOBS = 200 };

struct trace {
    int worked[JOBS], done[JOBS];
    size_t n_worked, n_done;
    pthread_t worker, loop;
};

struct numbered {
    struct job job; /* first: jobs are cast back */
    int number;
    struct trace *trace;
    pthread_mutex_t *gate;
};

static void work(struct job *job)
{
    struct numbered *n = (struct numbered *)job;
    if (n->gate) {
        pthread_mutex_lock(n->gate);
        pthread_mutex_unlock(n->gate);
    }
    n->trace->worker = pthread_self();
    n->trace->worked[n->trace->n_worked++] = n->number;
}

static void done(struct job *job)
{
    struct numbered *n = (struct numbered *)job;
    n->trace->loop = pthread_self();
    n->trace->done[n->trace->n_done++] = n->number;
    xfree(n);
}

static struct job *make(int number, struct trace *trace, pthread_mutex_t *gate)
{
    struct numbered *n = xcalloc(1, sizeof *n);
    *n = (struct numbered){
        .job = {.work = work, .done = done}, .number = number, .trace = trace, .gate = gate};
    return &n->job;
}

static void keeps_order_and_wakes_the_loop(void **state)
{
    (void)state;
    struct trace trace = {0};
    struct job_queue *q = job_queue_create("test", JOBS);
    assert_non_null(q);
    for (int i = 0; i < JOBS; i++)
        assert_int_equal(job_submit(q, make(i, &trace, NULL)), 0);
    while (trace.n_done < JOBS) {
        struct pollfd p = {.fd = job_queue_fd(q), .events = POLLIN};
        assert_int_equal(poll(&p, 1, 5000), 1);
        job_queue_reap(q);
    }
    assert_int_equal(job_queue_length(q), 0);
    struct pollfd quiet = {.fd = job_queue_fd(q), .events = POLLIN};
    assert_int_equal(poll(&quiet, 1, 0), 0);
    for (int i = 0; i < JOBS; i++) {
        assert_int_equal(trace.worked[i], i);
        assert_int_equal(trace.done[i], i);
    }
    assert_true(pthread_equal(trace.loop, pthread_self()));
    assert_false(pthread_equal(trace.worker, pthread_self()));
    job_queue_destroy(q);
}

static void refuses_over_the_limit(void **state)
{
    (void)state;
    struct trace trace = {0};
    pthread_mutex_t gate = PTHREAD_MUTEX_INITIALIZER;
    pthread_mutex_lock(&gate);
    struct job_queue *q = job_queue_create("test", 2);
    assert_non_null(q);
    int taken = 0;
    struct job *refused = NULL;
    for (int i = 0; i < 4 && !refused; i++) {
        struct job *job = make(i, &trace, &gate);
        if (job_submit(q, job) == 0)
            taken++;
        else
            refused = job;
    }
    assert_non_null(refused); /* one may be in work, two wait, the fourth finds no room */
    assert_in_range(taken, 2, 3);
    assert_int_equal(job_queue_length(q), taken);
    pthread_mutex_unlock(&gate);
    xfree(refused); /* still ours */
    job_queue_destroy(q);
    assert_int_equal(trace.n_done, taken);
}

static void destroy_finishes_what_waits_and_cancelled_comes_back(void **state)
{
    (void)state;
    struct trace trace = {0};
    struct job_queue *q = job_queue_create("a name longer than sixteen bytes", 8);
    assert_non_null(q);
    for (int i = 0; i < 5; i++) {
        struct job *job = make(i, &trace, NULL);
        job_cancel(job);
        assert_true(job->cancelled);
        assert_int_equal(job_submit(q, job), 0);
    }
    job_queue_destroy(q);
    assert_int_equal(trace.n_worked, 5);
    assert_int_equal(trace.n_done, 5);
    job_queue_destroy(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(keeps_order_and_wakes_the_loop),
        cmocka_unit_test(refuses_over_the_limit),
        cmocka_unit_test(destroy_finishes_what_waits_and_cancelled_comes_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
