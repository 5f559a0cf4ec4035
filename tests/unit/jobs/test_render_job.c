/* The whole way of a document, and what a renderer can do in its cage. */
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#include "jobs/sandbox.h"
#include "render_service.h"

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
    bool sent = render_submit(s.pool, &(struct render_order){"plain", fd, clock_mono_ms() + LONG_MS, 0},
                              on_done, &e, &refused);
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

int main(void)
{
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
        cmocka_unit_test(a_cage_with_a_gap_is_refused_unless_it_is_off),
        cmocka_unit_test(without_the_program_nothing_is_offered),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
