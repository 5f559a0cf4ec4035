#ifndef TESTS_RENDER_SERVICE_H
#define TESTS_RENDER_SERVICE_H
/* A spawner whose renderers are hostile (tests/fakes/hostile_worker.c), a connection to it, and what came
 * back. */
#include <errno.h>
#include <poll.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/clock.h"
#include "jobs/document.h"
#include "jobs/render_job.h"

enum { LIMIT = 600, LONG_MS = 60000, FORMATS = 5 };

struct service {
    struct launch launch;
    struct render_pool *pool;
};

struct ended {
    unsigned times;
    enum render_job_outcome outcome;
    char text[256], sentence[RENDER_SENTENCE];
    uint64_t bytes, wall_us, cpu_us;
};

static inline int start(struct service *s, bool required)
{
    char why[256];
    setenv("PENSTOCK_WORKER", HOSTILE_WORKER, 1);
    setenv("PENSTOCK_SECRET", "x", 1);
    assert_int_equal(launch_init(&s->launch, required, why), 0);
    assert_int_equal(launch_start(&s->launch), 0);
    s->pool = render_pool_open(&s->launch.address, LIMIT, 30000);
    size_t n;
    render_pool_formats(s->pool, &n);
    return (int)n;
}

static inline void stop(struct service *s)
{
    int status = -1;
    render_pool_close(s->pool);
    kill(s->launch.pid, SIGTERM);
    waitpid(s->launch.pid, &status, 0);
    launch_finish(&s->launch);
    assert_int_equal(status, 0); /* a sanitizer's complaint about leaks would make it another */
}

static inline int setup(void **state)
{
    static struct service s;
    *state = &s;
    assert_int_equal(start(&s, true), FORMATS);
    return 0;
}

static inline int teardown(void **state)
{
    stop(*state);
    return 0;
}

static inline void on_done(void *arg, const struct render_result *r)
{
    struct ended *e = arg;
    e->times++;
    e->outcome = r->outcome;
    e->bytes = r->bytes;
    e->wall_us = r->wall_us;
    e->cpu_us = r->cpu_us;
    snprintf(e->sentence, sizeof e->sentence, "%s", r->sentence);
    if (r->outcome != RENDER_JOB_DONE) {
        assert_int_equal(r->fd, -1);
        return;
    }
    ssize_t n = pread(r->fd, e->text, r->bytes < sizeof e->text ? r->bytes : sizeof e->text - 1, 0);
    e->text[n < 0 ? 0 : n] = '\0';
    assert_int_equal(pwrite(r->fd, "x", 1, 0), -1);
    close(r->fd);
}

static inline struct render_job *submit_of(struct service *s, const char *title, uint64_t owner,
                                           struct ended *e)
{
    const char *why = NULL;
    struct render_params p = {.format = "plain", .filename = "a", .title = title};
    int fd = document_create(span_str("the source"), &p);
    assert_true(fd >= 0);
    *e = (struct ended){.times = 0};
    return render_submit(s->pool, &(struct render_order){"plain", fd, clock_mono_ms() + LONG_MS, owner},
                         on_done, e, &why);
}

static inline struct render_job *submit(struct service *s, const char *format, const char *title, int64_t ms,
                                        struct ended *e)
{
    const char *why = NULL;
    struct render_params p = {.format = format, .filename = "a", .title = title};
    int fd = document_create(span_str("the source"), &p);
    assert_true(fd >= 0);
    *e = (struct ended){.times = 0};
    return render_submit(s->pool, &(struct render_order){format, fd, clock_mono_ms() + ms, 0}, on_done, e,
                         &why);
}

static inline void turn(struct service *s)
{
    struct pollfd one = {.fd = render_pool_fd(s->pool), .events = POLLIN};
    poll(&one, 1, 50);
    render_pool_process(s->pool);
    render_pool_tick(s->pool, clock_mono_ms());
}

static inline void await(struct service *s, struct ended *e)
{
    int64_t until = clock_mono_ms() + 30000;
    while (!e->times && clock_mono_ms() < until)
        turn(s);
    assert_int_equal(e->times, 1);
}

static inline void run(struct service *s, const char *format, const char *title, struct ended *e)
{
    assert_non_null(submit(s, format, title, LONG_MS, e));
    assert_int_equal(e->times, 0); /* never from inside */
    await(s, e);
}

/* AddressSanitizer maps far more than any cap, so a sanitized child has none; gcc and clang say it in their
 * own ways. */
#if defined(__SANITIZE_ADDRESS__)
#define SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define SANITIZED 1
#endif
#endif

#endif
