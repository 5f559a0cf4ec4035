/* Deadlines, cancelling, queues, and whose turn it is. */
#include "render_service.h"

enum { MOST = 64, FLOOD = 12 };

static void a_deadline_is_kept(void **state)
{
    struct ended e;
    int64_t before = clock_mono_ms();
    assert_non_null(submit(*state, "plain", "sleep", 300, &e));
    await(*state, &e);
    assert_int_equal(e.outcome, RENDER_JOB_TIMEOUT);
    assert_true(clock_mono_ms() - before < 2500);
}

static void others_go_on_while_one_loops(void **state)
{
    struct ended looping, e;
    assert_non_null(submit(*state, "plain", "sleep", LONG_MS, &looping));
    for (int i = 0; i < 5; i++) {
        run(*state, "plain", "echo", &e);
        assert_int_equal(looping.times, 0);
    }
    await(*state, &looping);
    assert_int_equal(looping.outcome, RENDER_JOB_TIMEOUT);
}

/* It is the host that has no time, not the document that takes too much. */
static void what_waits_until_its_deadline_finds_the_host_busy(void **state)
{
    struct service *s = *state;
    static struct ended running[LIMIT];
    struct render_job *jobs[LIMIT];
    struct ended waiting, e;
    long most = sysconf(_SC_NPROCESSORS_ONLN); /* there is a child for each */
    int n = most < LIMIT - 1 ? (int)most : LIMIT - 1;
    for (int i = 0; i < n; i++)
        jobs[i] = submit(s, "plain", "sleep", LONG_MS, &running[i]);
    assert_non_null(submit(s, "plain", "echo", 300, &waiting));
    await(s, &waiting);
    assert_int_equal(waiting.outcome, RENDER_JOB_BUSY);
    for (int i = 0; i < n; i++)
        if (!running[i].times)
            render_cancel(jobs[i]);
    run(s, "plain", "echo", &e);
    assert_int_equal(e.outcome, RENDER_JOB_DONE);
}

static void a_cancelled_job_is_never_heard_of(void **state)
{
    struct service *s = *state;
    struct ended many[8], e;
    struct render_job *jobs[8];
    for (int i = 0; i < 8; i++) /* some run, some wait */
        jobs[i] = submit(s, "plain", "sleep", LONG_MS, &many[i]);
    turn(s);
    for (int i = 0; i < 8; i++)
        render_cancel(jobs[i]);
    assert_int_equal(render_pool_length(s->pool), 0);
    int64_t before = clock_mono_ms();
    run(s, "plain", "echo", &e); /* and keeps no child busy */
    assert_true(clock_mono_ms() - before < 2500);
    for (int i = 0; i < 8; i++)
        assert_int_equal(many[i].times, 0);
}

static void what_cannot_be_made_is_refused(void **state)
{
    struct service *s = *state;
    struct ended e;
    const char *why = NULL;
    assert_null(submit(s, "absent", "echo", LONG_MS, &e));      /* its warm-up failed */
    assert_null(submit(s, "text:absent", "echo", LONG_MS, &e)); /* its program is not installed */
    assert_null(submit(s, "pptx", "echo", LONG_MS, &e));
    assert_null(render_submit(s->pool, &(struct render_order){"pptx", -1, 0, 0}, on_done, &e, &why));
    assert_string_equal(why, "its format cannot be made here");
}

static void the_queue_has_an_end(void **state)
{
    struct service *s = *state;
    static struct ended many[LIMIT + 1];
    struct render_job *jobs[LIMIT];
    for (size_t i = 0; i < LIMIT; i++) {
        jobs[i] = submit(s, "plain", "sleep", LONG_MS, &many[i]);
        assert_non_null(jobs[i]);
    }
    assert_null(submit(s, "plain", "sleep", LONG_MS, &many[LIMIT]));
    unsigned busy = 0;
    for (int i = 0; i < 20 && !busy; i++) {
        turn(s);
        for (size_t k = 0; k < LIMIT; k++)
            busy += many[k].times && many[k].outcome == RENDER_JOB_BUSY;
    }
    assert_true(busy > 0);
    for (size_t i = 0; i < LIMIT; i++)
        if (!many[i].times)
            render_cancel(jobs[i]);
    struct ended e;
    run(s, "plain", "echo", &e);
    assert_int_equal(e.outcome, RENDER_JOB_DONE);
}

/* ---- owners take turns ---- */

/* As many as there are children, all of one owner, that never end by themselves. */
static int occupy(struct service *s, uint64_t owner, struct ended *e, struct render_job **jobs)
{
    long cores = sysconf(_SC_NPROCESSORS_ONLN); /* there is a child for each */
    int n = cores < MOST ? (int)cores : MOST;
    for (int i = 0; i < n; i++)
        assert_non_null(jobs[i] = submit_of(s, "sleep", owner, &e[i]));
    return n;
}

/* Who sends many documents waits for himself: another one's is next, however late it came. */
static void one_owner_does_not_starve_another(void **state)
{
    struct service *s = *state;
    static struct ended running[MOST], many[FLOOD], one;
    struct render_job *jobs[MOST];
    int n = occupy(s, 1, running, jobs);
    for (int i = 0; i < FLOOD; i++)
        assert_non_null(submit_of(s, "echo", 1, &many[i]));
    assert_non_null(submit_of(s, "echo", 2, &one));
    for (int i = 0; i < 4; i++)
        turn(s);
    assert_int_equal(one.times, 0);
    render_cancel(jobs[0]); /* one child is free */
    await(s, &one);
    unsigned before = 0;
    for (int i = 0; i < FLOOD; i++)
        before += many[i].times;
    assert_true(before <=
                2); /* results come together when the machine is slow; without turns it would be all */
    for (int i = 0; i < FLOOD; i++)
        await(s, &many[i]);
    for (int i = 1; i < n; i++)
        if (!running[i].times)
            render_cancel(jobs[i]);
}

/* Half of the room is left to others, here and in the queue of the spawner. */
static void one_owner_does_not_fill_the_room(void **state)
{
    struct service *s = *state;
    static struct ended many[LIMIT], one;
    static struct render_job *jobs[LIMIT];
    int n = 0;
    while (n < LIMIT && (jobs[n] = submit_of(s, "sleep", 1, &many[n])))
        n++;
    assert_int_equal(n, LIMIT / 2);
    assert_non_null(submit_of(s, "echo", 2, &one));
    for (int i = 0; i < n; i += 2) /* those that are left are some that run, and some that wait */
        if (!many[i].times) {
            render_cancel(jobs[i]);
            many[i].times = 1;
        }
    await(s, &one);
    assert_int_equal(one.outcome, RENDER_JOB_DONE);
    for (int i = 0; i < n; i++)
        if (!many[i].times)
            render_cancel(jobs[i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_deadline_is_kept),
        cmocka_unit_test(others_go_on_while_one_loops),
        cmocka_unit_test(what_waits_until_its_deadline_finds_the_host_busy),
        cmocka_unit_test(a_cancelled_job_is_never_heard_of),
        cmocka_unit_test(what_cannot_be_made_is_refused),
        cmocka_unit_test(the_queue_has_an_end),
        cmocka_unit_test(one_owner_does_not_starve_another),
        cmocka_unit_test(one_owner_does_not_fill_the_room),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
