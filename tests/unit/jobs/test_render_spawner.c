/* What outlives whom: spawner, children, programs, clients, descriptors and memory. */
#include <dirent.h>
#include <sched.h>
#include <sys/resource.h>
#include <sys/socket.h>

#include "jobs/wire.h"
#include "render_service.h"

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
    int policy = -1;
    struct render_job *job = submit(s, "plain", "sleep", LONG_MS, &e);
    for (int i = 0; i < 300 && policy != SCHED_IDLE; i++) {
        usleep(10000);
        pid_t child = first_child(s->launch.pid);
        policy = child ? sched_getscheduler(child) : -1;
    }
    assert_int_equal(policy, SCHED_IDLE);
    render_cancel(job);
}

/* One that got next to nothing of it: those after it have a share. */
static void documents_that_starve_get_a_share(void **state)
{
    struct service *s = *state;
    struct ended e;
    int ours = getpriority(PRIO_PROCESS, (id_t)s->launch.pid), wanted = ours > 9 ? 19 : ours + 10, its = ours;
    assert_non_null(submit(s, "plain", "sleep", 1500, &e)); /* as one that waits for the processor */
    await(s, &e);
    assert_int_equal(e.outcome, RENDER_JOB_TIMEOUT);
    struct render_job *job = submit(s, "plain", "sleep", LONG_MS, &e);
    for (int i = 0; i < 300 && its != wanted; i++) {
        usleep(10000);
        pid_t child = first_child(s->launch.pid);
        if (child)
            its = getpriority(PRIO_PROCESS, (id_t)child);
    }
    assert_int_equal(its, wanted);
    assert_int_equal(sched_getscheduler(first_child(s->launch.pid)), SCHED_OTHER);
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
    assert_non_null(render_submit(
        s->pool, &(struct render_order){"plain", document_output_create(100), clock_mono_ms() + LONG_MS, 0},
        on_done, &e, &why));
    await(s, &e);
    assert_int_equal(e.outcome, RENDER_JOB_DIED);
}

int main(int argc, char **argv)
{
    if (argc > 1)
        many_jobs = (unsigned)strtoul(argv[1], NULL, 10);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_document_leaves_the_processor_to_streams), /* before any other that starves */
        cmocka_unit_test(documents_that_starve_get_a_share),
        cmocka_unit_test(nothing_is_left_behind),
        cmocka_unit_test(a_dead_spawner_costs_a_second_try),
        cmocka_unit_test(a_client_that_goes_takes_its_documents_along),
        cmocka_unit_test(a_program_ends_with_its_child),
        cmocka_unit_test(nonsense_ends_the_connection_alone),
        cmocka_unit_test(a_document_that_is_none_fails_alone),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
