/* The whole way of a document, with a spawner whose renderers are hostile (tests/fakes/hostile_worker.c). */
#include <dirent.h>
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/clock.h"
#include "jobs/document.h"
#include "jobs/render_job.h"
#include "jobs/sandbox.h"
#include "jobs/wire.h"

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

static int start(struct service *s, bool required)
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

static void stop(struct service *s)
{
    int status = -1;
    render_pool_close(s->pool);
    kill(s->launch.pid, SIGTERM);
    waitpid(s->launch.pid, &status, 0);
    launch_finish(&s->launch);
    assert_int_equal(status, 0); /* a sanitizer's complaint about leaks would make it another */
}

static int setup(void **state)
{
    static struct service s;
    *state = &s;
    assert_int_equal(start(&s, true), FORMATS);
    return 0;
}

static int teardown(void **state)
{
    stop(*state);
    return 0;
}

static void on_done(void *arg, const struct render_result *r)
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

static struct render_job *submit(struct service *s, const char *format, const char *title, int64_t ms,
                                 struct ended *e)
{
    const char *why = NULL;
    struct render_params p = {.format = format, .filename = "a", .title = title};
    int fd = document_create(span_str("the source"), &p);
    assert_true(fd >= 0);
    *e = (struct ended){.times = 0};
    return render_submit(s->pool, format, fd, clock_mono_ms() + ms, on_done, e, &why);
}

static void turn(struct service *s)
{
    struct pollfd one = {.fd = render_pool_fd(s->pool), .events = POLLIN};
    poll(&one, 1, 50);
    render_pool_process(s->pool);
    render_pool_tick(s->pool, clock_mono_ms());
}

static void await(struct service *s, struct ended *e)
{
    int64_t until = clock_mono_ms() + 30000;
    while (!e->times && clock_mono_ms() < until)
        turn(s);
    assert_int_equal(e->times, 1);
}

static void run(struct service *s, const char *format, const char *title, struct ended *e)
{
    assert_non_null(submit(s, format, title, LONG_MS, e));
    assert_int_equal(e->times, 0); /* never from inside */
    await(s, e);
}

/* ---- tests ---- */

static void a_document_is_rendered(void **state)
{
    struct ended e;
    run(*state, "plain", "echo", &e);
    assert_int_equal(e.outcome, RENDER_JOB_DONE);
    assert_string_equal(e.text, "the source");
    assert_int_equal(e.bytes, 10);
    assert_true(e.wall_us > 0);
    run(*state, "fonts", "echo", &e);
    assert_string_equal(e.text, "the source");
}

/* As a service manager does that ends all processes of a service at once. */
static void only_the_parent_ends_the_worker(void **state)
{
    struct service *s = *state;
    struct ended e;
    int status = -1;
    pid_t pid = fork();
    if (pid == 0)
        _exit(kill(s->launch.pid, SIGTERM) ? 1 : 0);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(status, 0);
    run(s, "plain", "echo", &e);
    assert_int_equal(e.outcome, RENDER_JOB_DONE);
}

static void what_is_tried_in_the_cage_fails(void **state)
{
    static const char *const tries[] = {"socket",      "open",   "exec",        "fork",  "signal",
                                        "descriptors", "memory", "environment", "calls", "symlink"};
    static const char *const cages[] = {"plain", "fonts", "folder"};
    struct ended e;
    for (size_t i = 0; i < sizeof tries / sizeof tries[0]; i++)
        for (size_t k = 0; k < sizeof cages / sizeof cages[0]; k++) {
            run(*state, cages[k], tries[i], &e);
            if (e.outcome != RENDER_JOB_DONE || strcmp(e.text, "held"))
                fail_msg("%s: %s, %s", tries[i], render_job_outcome_name(e.outcome), e.text);
        }
}

/* Threads and font files: only where a renderer needs them. */
static void fonts_are_the_exception(void **state)
{
    struct ended e;
    run(*state, "plain", "thread", &e);
    assert_string_equal(e.text, "held");
    run(*state, "plain", "fonts", &e);
    assert_string_equal(e.text, "held");
    run(*state, "fonts", "thread", &e);
    assert_string_equal(e.text, "free");
    if (access("/usr/share/fonts", F_OK) == 0) {
        run(*state, "fonts", "fonts", &e);
        assert_string_equal(e.text, "free");
    }
}

/* Reading what a renderer names: nothing else, no writing there, and no threads for it. */
static void folders_that_are_named_can_be_read(void **state)
{
    struct ended e;
    run(*state, "plain", "folder", &e);
    assert_string_equal(e.text, "held");
    run(*state, "folder", "folder", &e);
    assert_string_equal(e.text, "free");
    run(*state, "folder", "folder-write", &e);
    assert_string_equal(e.text, "held");
    run(*state, "folder", "thread", &e);
    assert_string_equal(e.text, "held");
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

static void memory_has_an_end(void **state)
{
    struct ended e;
    run(*state, "plain", "take-memory", &e);
    assert_int_equal(e.outcome, RENDER_JOB_DONE);
#if !defined(SANITIZED)
    assert_in_range(strtol(e.text, NULL, 10), 1, 64);
#endif
}

/* A program beside a child, and the child beside it. */
static void what_a_program_tries_fails(void **state)
{
    static const char *const tries[] = {
        "open",       "exec",       "fork",         "thread",       "signal",       "memory",
        "socket",     "limits",     "environment",  "descriptors",  "child-socket", "child-open",
        "child-exec", "child-fork", "child-thread", "child-signal", "child-memory", "child-descriptors",
    };
    struct ended e;
    for (size_t i = 0; i < sizeof tries / sizeof tries[0]; i++) {
        run(*state, "text:program", tries[i], &e);
        const char *held = span_starts(span_str(tries[i]), "child-") ? "held" : "held\n";
        if (e.outcome != RENDER_JOB_DONE || strcmp(e.text, held))
            fail_msg("%s: %s, %s", tries[i], render_job_outcome_name(e.outcome), e.text);
    }
    run(*state, "text:program", "take-memory", &e);
#if !defined(SANITIZED)
    assert_in_range(strtol(e.text, NULL, 10), 1, 64);
#endif
}

static void a_program_reads_its_input_and_is_heard_out(void **state)
{
    static const struct {
        const char *title, *text;
    } rows[] = {
        {"input", "ended 7 0 11 said aside"},
        {"twice", "ended 7 0 11 said aside"},
        {"spent", "absent -1 0 0 "},
        {"crash", "killed -1 11 0 "}, /* abort cannot signal and takes the way of last resort */
        {"spin", "killed -1 24 0 "},  /* SIGXCPU */
        {"too-long", "too much -1 0 0 "},
        {"aside", "held\n"}, /* standard error has no end, but is read */
    };
    struct ended e;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        run(*state, "text:program", rows[i].title, &e);
        if (e.outcome != RENDER_JOB_DONE || strcmp(e.text, rows[i].text))
            fail_msg("%s: %s, %s", rows[i].title, render_job_outcome_name(e.outcome), e.text);
    }
}

static void outcomes_are_told_apart(void **state)
{
    static const struct {
        const char *title;
        enum render_job_outcome outcome;
        const char *sentence;
    } rows[] = {
        {"invalid", RENDER_JOB_INVALID, "line 3 is no table"},
        {"failed", RENDER_JOB_FAILED, ""},
        {"too-long", RENDER_JOB_LIMIT, "the file would be larger than it may be"},
        {"crash", RENDER_JOB_DIED, ""},
        {"exit", RENDER_JOB_DIED, ""},
        {"lie-bytes", RENDER_JOB_DIED, ""},
        {"lie-status", RENDER_JOB_DIED, ""},
        {"lie-type", RENDER_JOB_DIED, ""},
        {"lie-more", RENDER_JOB_DIED, ""},
        {"lie-nothing", RENDER_JOB_DIED, ""},
        {"lie-twice", RENDER_JOB_DIED, ""},
        {"spin", RENDER_JOB_TIMEOUT, ""},
        {"sleep", RENDER_JOB_TIMEOUT, ""},
    };
    struct ended e;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        run(*state, "plain", rows[i].title, &e);
        if (e.outcome != rows[i].outcome || strcmp(e.sentence, rows[i].sentence) || e.bytes)
            fail_msg("%s: %s, %s", rows[i].title, render_job_outcome_name(e.outcome), e.sentence);
    }
    run(*state, "plain", "echo", &e); /* nothing of it is left */
    assert_string_equal(e.text, "the source");
}

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
    assert_null(render_submit(s->pool, "pptx", -1, 0, on_done, &e, &why));
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

static unsigned open_descriptors(pid_t pid)
{
    char path[64];
    unsigned n = 0;
    snprintf(path, sizeof path, "/proc/%d/fd", (int)pid);
    DIR *d = opendir(path);
    assert_non_null(d);
    while (readdir(d))
        n++;
    closedir(d);
    return n;
}

/* 0: it has none. */
static pid_t first_child(pid_t pid)
{
    char path[64], text[64] = "";
    snprintf(path, sizeof path, "/proc/%d/task/%d/children", (int)pid, (int)pid);
    FILE *f = fopen(path, "re");
    if (f && !fgets(text, sizeof text, f))
        text[0] = '\0';
    if (f)
        fclose(f);
    return (pid_t)strtol(text, NULL, 10);
}

static bool has_children(pid_t pid)
{
    return first_child(pid) != 0;
}

/* KiB of memory that are the process's own. */
static long memory_of(pid_t pid)
{
    char path[64], line[128];
    long kib = -1;
    snprintf(path, sizeof path, "/proc/%d/status", (int)pid);
    FILE *f = fopen(path, "re");
    assert_non_null(f);
    while (fgets(line, sizeof line, f))
        if (!strncmp(line, "RssAnon:", 8))
            kib = strtol(line + 8, NULL, 10);
    fclose(f);
    return kib;
}

static unsigned many_jobs = 200; /* as many as the first argument of the program says */

static void nothing_is_left_behind(void **state)
{
    struct service *s = *state;
    static const char *const titles[] = {"echo", "crash", "invalid", "lie-twice"};
    struct ended e;
    for (int i = 0; i < 200 && has_children(s->launch.pid); i++) /* of the tests before */
        turn(s);
    for (int i = 0; i < 8; i++)
        run(s, "plain", titles[i % 4], &e);
    unsigned ours = open_descriptors(getpid()), theirs = open_descriptors(s->launch.pid);
    long before = memory_of(s->launch.pid), mine = memory_of(getpid());
    for (unsigned i = 0; i < many_jobs; i++)
        run(s, i % 8 ? "plain" : "fonts", titles[i % 4], &e);
    for (int i = 0; i < 40; i++)
        render_cancel(submit(s, "plain", "sleep", LONG_MS, &e));
    run(s, "plain", "echo", &e);
    assert_true(open_descriptors(getpid()) <= ours);
    for (int i = 0; i < 100 && open_descriptors(s->launch.pid) > theirs; i++)
        turn(s);
    assert_true(open_descriptors(s->launch.pid) <= theirs); /* less: of what the tests before left */
    print_message(
        "%u jobs: the spawner had %ld KiB and has %ld, its client %ld and %ld; %u and %u descriptors\n",
        many_jobs, before, memory_of(s->launch.pid), mine, memory_of(getpid()), theirs,
        open_descriptors(s->launch.pid));
#if !defined(SANITIZED)
    assert_true(memory_of(s->launch.pid) <= before + 256);
    assert_true(memory_of(getpid()) <= mine + 256);
#endif
}

static void restart(struct service *s)
{
    kill(s->launch.pid, SIGKILL);
    waitpid(s->launch.pid, NULL, 0);
    assert_int_equal(launch_start(&s->launch), 0);
}

/* One that is lost twice may be what killed the spawner. */
static void a_dead_spawner_costs_a_second_try(void **state)
{
    struct service *s = *state;
    struct ended first, second;
    assert_non_null(submit(s, "plain", "sleep", LONG_MS, &first));
    turn(s);
    restart(s);
    run(s, "plain", "echo", &second);
    assert_int_equal(second.outcome, RENDER_JOB_DONE);
    assert_int_equal(first.times, 0);
    restart(s);
    await(s, &first);
    assert_int_equal(first.outcome, RENDER_JOB_DIED);
    run(s, "plain", "echo", &second);
    assert_int_equal(second.outcome, RENDER_JOB_DONE);
}

static void a_client_that_goes_takes_its_documents_along(void **state)
{
    struct service *s = *state;
    struct ended e;
    struct render_pool *other = render_pool_open(&s->launch.address, 4, 5000);
    struct service one = {.launch = s->launch, .pool = other};
    assert_non_null(submit(&one, "plain", "sleep", LONG_MS, &e));
    for (int i = 0; i < 100 && !has_children(s->launch.pid); i++)
        usleep(10000);
    assert_true(has_children(s->launch.pid));
    render_pool_close(other);
    assert_int_equal(e.times, 1);
    assert_int_equal(e.outcome, RENDER_JOB_DIED);
    for (int i = 0; i < 200 && has_children(s->launch.pid); i++)
        usleep(10000);
    assert_false(has_children(s->launch.pid));
}

static void a_document_leaves_the_processor_to_streams(void **state)
{
    struct service *s = *state;
    struct ended e;
    int ours = getpriority(PRIO_PROCESS, (id_t)s->launch.pid), wanted = ours > 9 ? 19 : ours + 10, its = ours;
    struct render_job *job = submit(s, "plain", "sleep", LONG_MS, &e);
    for (int i = 0; i < 300 && its != wanted; i++) {
        usleep(10000);
        pid_t child = first_child(s->launch.pid);
        if (child)
            its = getpriority(PRIO_PROCESS, (id_t)child);
    }
    assert_int_equal(its, wanted);
    render_cancel(job);
}

/* Neither the child nor its program, whatever ends them. */
static void a_program_ends_with_its_child(void **state)
{
    struct service *s = *state;
    struct ended e, other;
    assert_non_null(submit(s, "text:program", "sleep", 300, &e));
    await(s, &e);
    assert_int_equal(e.outcome, RENDER_JOB_TIMEOUT);
    struct render_job *job = submit(s, "text:program", "sleep", LONG_MS, &other);
    for (int i = 0; i < 100 && !has_children(s->launch.pid); i++)
        usleep(10000);
    render_cancel(job);
    run(s, "text:program", "input", &e);                         /* of it one runner is left unused */
    for (int i = 0; i < 300 && has_children(s->launch.pid); i++) /* programs become the spawner's */
        usleep(10000);
    assert_false(has_children(s->launch.pid));
}

/* Whatever a client says, the spawner lives on. */
static void nonsense_ends_the_connection_alone(void **state)
{
    struct service *s = *state;
    struct ended e;
    struct buf m;
    char room[4096];
    buf_init(&m, WIRE_MESSAGE);
    for (int i = 0; i < 5; i++) {
        int fd = socket(AF_UNIX, SOCK_SEQPACKET, 0), null = STDIN_FILENO;
        int fds[2] = {null, null};
        assert_int_equal(connect(fd, (struct sockaddr *)&s->launch.address.socket, s->launch.address.n), 0);
        assert_true(read(fd, room, sizeof room) > 0); /* HELLO */
        buf_reset(&m);
        wire_begin(&m, i < 3 ? WIRE_RENDER : (enum wire_type)(40 + i), 1);
        if (i == 1 || i == 2)
            wire_add_text(&m, SPAN_LIT("plain"));
        if (i == 2)
            wire_add_u32(&m, 1000);
        assert_int_equal(wire_end(&m), 0);
        assert_int_equal(wire_send(fd, buf_span(&m), fds, i == 1 ? 2 : 0), 0);
        assert_int_equal(read(fd, room, sizeof room), 0);
        close(fd);
    }
    buf_free(&m);
    run(s, "plain", "echo", &e);
    assert_int_equal(e.outcome, RENDER_JOB_DONE);
}

/* What stands in for a document may be anything; the child ends without a word. */
static void a_document_that_is_none_fails_alone(void **state)
{
    struct service *s = *state;
    const char *why;
    struct ended e = {.times = 0};
    assert_non_null(render_submit(s->pool, "plain", document_output_create(100), clock_mono_ms() + LONG_MS,
                                  on_done, &e, &why));
    await(s, &e);
    assert_int_equal(e.outcome, RENDER_JOB_DIED);
}

/* As a kernel without Landlock would answer, from here on and for every process begun from here. */
static int forget_landlock(void)
{
    struct sock_filter rules[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_landlock_create_ruleset, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSYS),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog program = {.len = 4, .filter = rules};
    return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
}

/* What a host without Landlock makes: 0 with the right layers named, formats offered and document made or
 * not; else a number that says what was wrong. Runs in a process of its own, outside of cmocka. */
static int try_without_landlock(bool required)
{
    struct service s;
    struct ended e = {.times = 0};
    char why[256];
    const char *refused = NULL;
    size_t n;
    if (forget_landlock() || launch_init(&s.launch, required, why) || launch_start(&s.launch))
        return 1;
    s.pool = render_pool_open(&s.launch.address, 4, 30000);
    render_pool_formats(s.pool, &n);
    if (render_pool_missing(s.pool) != (SANDBOX_LANDLOCK | SANDBOX_PROVEN) || n != (required ? 0 : FORMATS))
        return 2;
    struct render_params p = {.format = "plain", .filename = "a", .title = "echo"};
    int fd = document_create(SPAN_LIT("the source"), &p);
    bool sent = render_submit(s.pool, "plain", fd, clock_mono_ms() + LONG_MS, on_done, &e, &refused);
    if (sent == required)
        return 3;
    for (int i = 0; sent && !e.times && i < 600; i++)
        turn(&s);
    if (sent && (e.outcome != RENDER_JOB_DONE || strcmp(e.text, "the source")))
        return 4;
    stop(&s);
    return 0;
}

static void a_cage_with_a_gap_is_refused_unless_it_is_off(void **state)
{
    (void)state;
    for (int required = 0; required < 2; required++) {
        int status = -1;
        pid_t pid = fork();
        if (pid == 0)
            _exit(try_without_landlock(required));
        waitpid(pid, &status, 0);
        assert_true(WIFEXITED(status));
        assert_int_equal(WEXITSTATUS(status), 0);
    }
}

static void without_the_program_nothing_is_offered(void **state)
{
    struct launch l;
    char why[256];
    size_t n;
    (void)state;
    setenv("PENSTOCK_WORKER", "/nowhere/penstock-worker", 1);
    assert_int_equal(launch_init(&l, true, why), -1);
    assert_non_null(strstr(why, "/nowhere/penstock-worker"));
    struct render_pool *p = render_pool_open(&l.address, 4, 100);
    render_pool_formats(p, &n);
    assert_int_equal(n, 0);
    render_pool_tick(p, clock_mono_ms());
    render_pool_process(p);
    render_pool_close(p);
    launch_finish(&l);
}

int main(int argc, char **argv)
{
    if (argc > 1)
        many_jobs = (unsigned)strtoul(argv[1], NULL, 10);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_document_is_rendered),
        cmocka_unit_test(only_the_parent_ends_the_worker),
        cmocka_unit_test(what_is_tried_in_the_cage_fails),
        cmocka_unit_test(fonts_are_the_exception),
        cmocka_unit_test(folders_that_are_named_can_be_read),
        cmocka_unit_test(memory_has_an_end),
        cmocka_unit_test(what_a_program_tries_fails),
        cmocka_unit_test(a_program_reads_its_input_and_is_heard_out),
        cmocka_unit_test(outcomes_are_told_apart),
        cmocka_unit_test(a_deadline_is_kept),
        cmocka_unit_test(others_go_on_while_one_loops),
        cmocka_unit_test(what_waits_until_its_deadline_finds_the_host_busy),
        cmocka_unit_test(a_cancelled_job_is_never_heard_of),
        cmocka_unit_test(what_cannot_be_made_is_refused),
        cmocka_unit_test(the_queue_has_an_end),
        cmocka_unit_test(nothing_is_left_behind),
        cmocka_unit_test(a_dead_spawner_costs_a_second_try),
        cmocka_unit_test(a_client_that_goes_takes_its_documents_along),
        cmocka_unit_test(a_document_leaves_the_processor_to_streams),
        cmocka_unit_test(a_program_ends_with_its_child),
        cmocka_unit_test(nonsense_ends_the_connection_alone),
        cmocka_unit_test(a_document_that_is_none_fails_alone),
        cmocka_unit_test(a_cage_with_a_gap_is_refused_unless_it_is_off),
        cmocka_unit_test(without_the_program_nothing_is_offered),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
