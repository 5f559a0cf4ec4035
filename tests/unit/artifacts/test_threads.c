/* Journals on disk: lines of several writers, lines that were cut off, who is alive, what is too old. */
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "artifacts/threads.h"
#include "base/xalloc.h"

struct place {
    char dir[64];
    struct threads *threads;
};

static int open_place(void **state)
{
    struct place *p = xcalloc(1, sizeof *p);
    struct error e;
    snprintf(p->dir, sizeof p->dir, "/tmp/penstock-threads-XXXXXX");
    assert_non_null(mkdtemp(p->dir));
    p->threads = threads_open(p->dir, true, &e);
    assert_non_null(p->threads);
    *state = p;
    return 0;
}

static int remove_one(const char *path, const struct stat *st, int kind, struct FTW *at)
{
    (void)st;
    (void)kind;
    (void)at;
    return remove(path);
}

static int close_place(void **state)
{
    struct place *p = *state;
    threads_close(p->threads);
    assert_int_equal(nftw(p->dir, remove_one, 8, FTW_DEPTH | FTW_PHYS), 0);
    xfree(p);
    return 0;
}

static void path_of(const struct place *p, const char *org, const char *name, char path[256])
{
    snprintf(path, 256, "%s/orgs/%s/threads/%s.jsonl", p->dir, org, name);
}

static struct buf journal_of(const struct place *p, const char *org, const char *name)
{
    struct source source;
    struct buf out;
    buf_init(&out, 1 << 24);
    assert_int_equal(threads_source(p->threads, org, name, &source), THREADS_READ);
    assert_int_equal(source_read(&source, 0, source.n, &out), 0);
    threads_source_close(&source);
    return out;
}

static void test_names(void **state)
{
    (void)state;
    char name[THREAD_NAME], long_name[140];
    memset(long_name, 'a', sizeof long_name);
    threads_name(SPAN_LIT("th_9-Z"), name);
    assert_string_equal(name, "th_9-Z");
    threads_name(span_of(long_name, 128), name);
    assert_int_equal(strlen(name), 128);
    /* The first 32 digits of the SHA-256, as `printf a/b | sha256sum` says. */
    threads_name(SPAN_LIT("a/b"), name);
    assert_string_equal(name, "c14cddc033f64b9dea80ea675cf280a0");
    threads_name(span_of(long_name, 129), name);
    assert_int_equal(strlen(name), 32);
    threads_name(SPAN_LIT(".."), name);
    assert_int_equal(strlen(name), 32);
    threads_name(SPAN_LIT(""), name);
    assert_string_equal(name, "e3b0c44298fc1c149afbf4c8996fb924");
}

static void test_lines(void **state)
{
    struct place *p = *state;
    struct stat st;
    char path[256];
    assert_int_equal(threads_append(p->threads, "acme", "t", SPAN_LIT("first\n"), SPAN_LIT("one\n")), 0);
    assert_int_equal(threads_append(p->threads, "acme", "t", SPAN_LIT("first\n"), SPAN_LIT("two\n")), 0);
    struct buf journal = journal_of(p, "acme", "t");
    assert_string_equal(buf_cstr(&journal), "first\none\ntwo\n");
    buf_free(&journal);
    path_of(p, "acme", "t", path);
    assert_int_equal(stat(path, &st), 0);
    assert_int_equal(st.st_mode & 0777, 0600);

    /* A reader has what was there when it began, piece by piece; what was taken away is an error. */
    struct source source;
    assert_int_equal(threads_source(p->threads, "acme", "t", &source), THREADS_READ);
    assert_int_equal(threads_append(p->threads, "acme", "t", SPAN_LIT(""), SPAN_LIT("three\n")), 0);
    assert_int_equal(source.n, 14);
    buf_init(&journal, 5);
    assert_int_equal(source_read(&source, 6, 3, &journal), 0);
    assert_string_equal(buf_cstr(&journal), "one");
    assert_int_equal(source_read(&source, 6, 3, &journal), -1); /* more than the buffer may have */
    buf_reset(&journal);
    assert_int_equal(source_read(&source, 12, 3, &journal), -1);
    assert_int_equal(truncate(path, 8), 0);
    assert_int_equal(source_read(&source, 6, 3, &journal), -1);
    buf_free(&journal);
    threads_source_close(&source);

    assert_int_equal(threads_source(p->threads, "acme", "other", &source), THREADS_NONE);
    assert_int_equal(threads_source(p->threads, "other", "t", &source), THREADS_NONE);
    assert_int_equal(threads_source(p->threads, "..", "t", &source), THREADS_NONE);
    assert_int_equal(threads_source(p->threads, "acme", "../t", &source), THREADS_NONE);
    assert_int_equal(threads_append(p->threads, "..", "t", SPAN_LIT(""), SPAN_LIT("x\n")), -1);
    assert_int_equal(threads_append(p->threads, "acme", "../t", SPAN_LIT(""), SPAN_LIT("x\n")), -1);
}

/* Whatever a writer's death left of a line goes before the next one is added. */
static void test_torn_line(void **state)
{
    struct place *p = *state;
    static const char line[] = "{\"ev\":\"end\",\"id\":\"x\"}\n";
    char path[256];
    path_of(p, "acme", "t", path);
    for (size_t n = 0; n < sizeof line; n++) {
        assert_int_equal(threads_append(p->threads, "acme", "t", SPAN_LIT("first\n"), SPAN_LIT("one\n")), 0);
        int fd = open(path, O_WRONLY | O_APPEND);
        assert_int_equal(write(fd, line, n), n);
        close(fd);
        assert_int_equal(threads_append(p->threads, "acme", "t", SPAN_LIT("first\n"), SPAN_LIT("two\n")), 0);
        struct buf journal = journal_of(p, "acme", "t");
        assert_true(span_starts(buf_span(&journal),
                                n == sizeof line - 1 ? "first\none\n{\"ev" : "first\none\ntwo\n"));
        assert_true(span_ends(buf_span(&journal), "two\n"));
        buf_free(&journal);
        unlink(path);
    }
    /* a long one, and one that is all there is */
    char *torn = xmalloc(20000);
    memset(torn, 'x', 20000);
    int fd = open(path, O_WRONLY | O_CREAT, 0600);
    assert_int_equal(write(fd, torn, 20000), 20000);
    close(fd);
    xfree(torn);
    assert_int_equal(threads_append(p->threads, "acme", "t", SPAN_LIT("first\n"), SPAN_LIT("two\n")), 0);
    struct buf journal = journal_of(p, "acme", "t");
    assert_string_equal(buf_cstr(&journal), "first\ntwo\n");
    buf_free(&journal);
}

enum { WRITERS = 6, LINES = 60, LONG = 30000 };

static void write_many(const char *dir, int writer)
{
    struct error e;
    struct threads *t = threads_open(dir, true, &e);
    char *line = xmalloc(LONG + 2);
    for (int i = 0; t && i < LINES; i++) {
        size_t n = (size_t)(i * 499 % LONG) + 1;
        memset(line, 'a' + writer, n);
        line[n] = '\n';
        if (threads_append(t, "acme", "many", SPAN_LIT("first\n"), span_of(line, n + 1)) < 0)
            _exit(1);
    }
    _exit(t ? 0 : 1);
}

static void test_many_writers(void **state)
{
    struct place *p = *state;
    pid_t pids[WRITERS];
    size_t counts[WRITERS] = {0}, lines = 0;
    for (int i = 0; i < WRITERS; i++) {
        pids[i] = fork();
        if (pids[i] == 0)
            write_many(p->dir, i);
    }
    for (int i = 0; i < WRITERS; i++) {
        int status;
        assert_int_equal(waitpid(pids[i], &status, 0), pids[i]);
        assert_int_equal(status, 0);
    }
    struct buf journal = journal_of(p, "acme", "many");
    struct span rest = buf_span(&journal);
    assert_true(span_starts(rest, "first\n"));
    rest = span_from(rest, 6);
    for (; rest.n; lines++) {
        const char *lf = memchr(rest.p, '\n', rest.n);
        assert_non_null(lf);
        for (const char *c = rest.p; c < lf; c++)
            assert_int_equal(*c, rest.p[0]); /* of one writer */
        counts[rest.p[0] - 'a']++;
        rest = span_from(rest, (size_t)(lf - rest.p) + 1);
    }
    for (int i = 0; i < WRITERS; i++)
        assert_int_equal(counts[i], LINES);
    buf_free(&journal);
}

/* A process lives as long as it lives, also when it is killed. */
static void test_runs(void **state)
{
    struct place *p = *state;
    struct error e;
    int pipes[2];
    uint64_t run = 0;
    assert_int_equal(pipe(pipes), 0);
    pid_t pid = fork();
    if (pid == 0) {
        struct threads *t = threads_open(p->dir, true, &e);
        run = t ? threads_run(t) : 0;
        if (write(pipes[1], &run, sizeof run) != sizeof run)
            _exit(1);
        pause();
        _exit(0);
    }
    assert_int_equal(read(pipes[0], &run, sizeof run), sizeof run);
    struct threads *reader = threads_open(p->dir, false, &e);
    assert_non_null(reader);
    assert_int_equal(threads_run(reader), 0);
    assert_true(run != 0 && run != threads_run(p->threads));
    assert_true(threads_run_lives(p->threads, run) && threads_run_lives(reader, run));
    assert_true(threads_run_lives(p->threads, threads_run(p->threads)));
    assert_true(threads_run_lives(reader, threads_run(p->threads)));
    assert_false(threads_run_lives(reader, run + 1));
    assert_false(threads_run_lives(reader, 0));
    assert_false(threads_run_lives(reader, UINT64_MAX));

    assert_true(threads_is_live(reader, (int64_t)run));
    assert_true(threads_is_live(reader, (int64_t)threads_run(p->threads)));
    assert_false(threads_is_live(reader, 0) || threads_is_live(reader, -1) || threads_is_live(reader, 1));
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
    assert_false(threads_is_live(reader, (int64_t)run));
    assert_true(threads_is_live(reader, (int64_t)threads_run(p->threads)));
    threads_close(reader);
    close(pipes[0]);
    close(pipes[1]);
}

static void set_time(const struct place *p, const char *org, const char *name, int64_t s)
{
    char path[256];
    const struct timespec times[2] = {{.tv_sec = s}, {.tv_sec = s}};
    path_of(p, org, name, path);
    assert_int_equal(utimensat(AT_FDCWD, path, times, 0), 0);
}

static void test_list_and_sweep(void **state)
{
    struct place *p = *state;
    static const struct {
        const char *org, *name;
        int64_t changed_s;
    } journals[] = {{"acme", "old", 1000}, {"acme", "new", 3000}, {"other", "middle", 2000}};
    struct thread_entry *list;
    size_t n;
    bool more;
    assert_int_equal(threads_list(p->threads, "", 10, &list, &n, &more), 0);
    assert_int_equal(n, 0);
    for (size_t i = 0; i < 3; i++) {
        assert_int_equal(
            threads_append(p->threads, journals[i].org, journals[i].name, SPAN_LIT(""), SPAN_LIT("x\n")), 0);
        set_time(p, journals[i].org, journals[i].name, journals[i].changed_s);
    }
    assert_int_equal(threads_list(p->threads, "", 10, &list, &n, &more), 0);
    assert_int_equal(n, 3);
    assert_string_equal(list[0].name, "new");
    assert_string_equal(list[1].name, "middle");
    assert_string_equal(list[1].org, "other");
    assert_int_equal(list[2].changed_us, 1000 * 1000000ll);
    assert_int_equal(list[2].bytes, 2);
    assert_false(more);
    xfree(list);
    assert_int_equal(threads_list(p->threads, "other", 10, &list, &n, &more), 0);
    assert_int_equal(n, 1);
    xfree(list);
    assert_int_equal(threads_list(p->threads, "", 2, &list, &n, &more), 0);
    assert_true(n == 2 && more);
    xfree(list);

    assert_int_equal(threads_sweep(p->threads, 1000), 0);
    assert_int_equal(threads_sweep(p->threads, 2001), 2);
    assert_int_equal(threads_list(p->threads, "", 10, &list, &n, &more), 0);
    assert_int_equal(n, 1);
    assert_string_equal(list[0].name, "new");
    xfree(list);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_names),
        cmocka_unit_test_setup_teardown(test_lines, open_place, close_place),
        cmocka_unit_test_setup_teardown(test_torn_line, open_place, close_place),
        cmocka_unit_test_setup_teardown(test_many_writers, open_place, close_place),
        cmocka_unit_test_setup_teardown(test_runs, open_place, close_place),
        cmocka_unit_test_setup_teardown(test_list_and_sweep, open_place, close_place),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
