/*
 * What a document costs on its whole way through the cage:
 *
 *   PENSTOCK_WORKER=… bench_render [-n TIMES] FORMAT FILE …
 *
 * renders each source so many times, one after another, and prints a line for each: what the renderers report
 * of their child (wall and processor time, peak memory), and the time until the answer is there.
 */
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/log.h"
#include "jobs/document.h"
#include "jobs/render_job.h"

enum { MOST = 1000, SOURCE = 64 << 20, WAIT_MS = 60000 };

struct sample {
    double answer, wall, cpu; /* ms */
    double peak;              /* MiB */
};

struct run {
    bool ended;
    struct render_result result;
};

static double now_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

static void on_done(void *arg, const struct render_result *r)
{
    struct run *run = arg;
    run->ended = true;
    run->result = *r;
    if (r->fd >= 0)
        close(r->fd);
}

static int render_one(struct render_pool *pool, const char *format, struct span source, struct sample *out,
                      struct run *run)
{
    const char *why = "";
    struct render_params params = {.format = format, .filename = "a", .made_at = 1790000000};
    int document = document_create(source, &params);
    *run = (struct run){.ended = false};
    double before = now_ms();
    if (document < 0 ||
        !render_submit(pool, &(struct render_order){format, document, clock_mono_ms() + WAIT_MS, 0}, on_done,
                       run, &why)) {
        fprintf(stderr, "%s: %s\n", format, why);
        return -1;
    }
    while (!run->ended) {
        struct pollfd one = {.fd = render_pool_fd(pool), .events = POLLIN};
        poll(&one, 1, 1000);
        render_pool_process(pool);
        render_pool_tick(pool, clock_mono_ms());
    }
    *out = (struct sample){now_ms() - before, (double)run->result.wall_us / 1e3,
                           (double)run->result.cpu_us / 1e3, (double)run->result.peak_bytes / (1 << 20)};
    return 0;
}

static int by_cpu(const void *a, const void *b)
{
    double x = ((const struct sample *)a)->cpu, y = ((const struct sample *)b)->cpu;
    return x < y ? -1 : x > y;
}

static int measure(struct render_pool *pool, unsigned times, const char *format, const char *path)
{
    static struct sample samples[MOST];
    struct buf source;
    struct run run;
    double answer = 0, wall = 0, best = 1e9, peak = 0;
    int fd = open(path, O_RDONLY | O_CLOEXEC), failed = 0;
    buf_init(&source, SOURCE);
    for (char *to; fd >= 0 && (to = buf_reserve(&source, 65536));) {
        ssize_t n = read(fd, to, 65536);
        if (n <= 0)
            break;
        buf_commit(&source, (size_t)n);
    }
    if (fd < 0) {
        perror(path);
        return -1;
    }
    close(fd);
    for (unsigned i = 0; i <= times && !failed; i++) { /* the first one does not count */
        struct sample *s = &samples[i ? i - 1 : 0];
        failed = render_one(pool, format, buf_span(&source), s, &run);
        if (failed || !i)
            continue;
        answer += s->answer / times;
        wall += s->wall / times;
        best = s->answer < best ? s->answer : best;
        peak = s->peak > peak ? s->peak : peak;
    }
    qsort(samples, times, sizeof samples[0], by_cpu);
    const char *name = strrchr(path, '/');
    printf("| %-5s | %-16s | %8s | %9llu | %8.1f | %8.1f | %8.1f | %8.1f | %6.1f |\n", format,
           name ? name + 1 : path, render_job_outcome_name(run.result.outcome),
           (unsigned long long)run.result.bytes, answer, best, samples[times / 2].cpu, samples[0].cpu, peak);
    fflush(stdout);
    buf_free(&source);
    return failed;
}

int main(int argc, char **argv)
{
    struct launch launch;
    char why[256];
    unsigned times = 50;
    int at = 1, failed = 0;
    log_set_level(LOG_ERROR);
    if (argc > 2 && !strcmp(argv[1], "-n")) {
        times = (unsigned)strtoul(argv[2], NULL, 10);
        at = 3;
    }
    if (argc < at + 2 || times < 1 || times > MOST || launch_init(&launch, true, why)) {
        fprintf(stderr, "usage: PENSTOCK_WORKER=... bench_render [-n TIMES] FORMAT FILE ...\n");
        return 2;
    }
    launch.quiet = true;
    if (launch_start(&launch)) {
        perror("bench_render");
        return 2;
    }
    struct render_pool *pool = render_pool_open(&launch.address, 4, WAIT_MS);
    for (; at + 1 < argc && !failed; at += 2)
        failed = measure(pool, times, argv[at], argv[at + 1]);
    render_pool_close(pool);
    kill(launch.pid, SIGTERM);
    waitpid(launch.pid, NULL, 0);
    launch_finish(&launch);
    return failed ? 1 : 0;
}
