#include "proxy/local_renders.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/xalloc.h"

enum { START_MS = 10000, READ = 64 * 1024 };

struct local_renders {
    struct launch launch;
    struct render_pool *pool;
    bool ended; /* the one that is waited for */
    struct render_result result;
};

struct local_renders *local_renders_create(const char *command, const char *what, bool sandbox_required)
{
    struct local_renders *r = xcalloc(1, sizeof *r);
    char why[256];
    int absent = launch_init(&r->launch, sandbox_required, why);
    r->launch.quiet = true;
    if (!absent && launch_start(&r->launch)) {
        absent = -1;
        snprintf(why, sizeof why, "%s", strerror(errno));
    }
    if (absent)
        fprintf(stderr, "penstock %s: %s: %s\n", command, what, why);
    r->pool = render_pool_open(&r->launch.address, 1, r->launch.pid ? START_MS : 0);
    return r;
}

void local_renders_destroy(struct local_renders *r)
{
    if (!r)
        return;
    render_pool_close(r->pool);
    if (r->launch.pid) {
        kill(r->launch.pid, SIGTERM);
        while (waitpid(r->launch.pid, NULL, 0) < 0 && errno == EINTR)
            ;
    }
    launch_finish(&r->launch);
    xfree(r);
}

const struct render_pool *local_renders_pool(const struct local_renders *r)
{
    return r->pool;
}

static void on_done(void *arg, const struct render_result *result)
{
    struct local_renders *r = arg;
    r->result = *result;
    r->ended = true;
}

const struct render_result *local_render(struct local_renders *r, const char *format, int document,
                                         int64_t longest_ms, const char **why)
{
    r->ended = false;
    const struct render_order order = {format, document, clock_mono_ms() + longest_ms, 0};
    if (!render_submit(r->pool, &order, on_done, r, why))
        return NULL;
    while (!r->ended) {
        struct pollfd one = {.fd = render_pool_fd(r->pool), .events = POLLIN};
        poll(&one, 1, 100);
        render_pool_process(r->pool);
        render_pool_tick(r->pool, clock_mono_ms());
        if (waitpid(r->launch.pid, NULL, WNOHANG) == r->launch.pid && launch_start(&r->launch))
            r->launch.pid = 0;
    }
    return &r->result;
}

int local_render_read(int fd, uint64_t n, struct buf *out)
{
    for (uint64_t at = 0; at < n;) {
        size_t want = n - at < READ ? (size_t)(n - at) : READ;
        char *room = buf_reserve(out, want);
        ssize_t got = room ? pread(fd, room, want, (off_t)at) : -1;
        if (got <= 0)
            return -1;
        buf_commit(out, (size_t)got);
        at += (uint64_t)got;
    }
    return 0;
}
