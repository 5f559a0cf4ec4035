/* The program's start and end: what a worker that cannot start leaves behind, and the files of Unix sockets.
 */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/log.h"
#include "proxy/serve.h"

enum { WAIT_MS = 10000, STEP_MS = 10 };

struct place {
    char folder[64], socket[96], state[96], file[96];
};

/* `listener`: more keys of the listener. */
static void make_place(struct place *p, const char *listener)
{
    snprintf(p->folder, sizeof p->folder, "/tmp/penstock-serve-XXXXXX");
    assert_non_null(mkdtemp(p->folder));
    snprintf(p->socket, sizeof p->socket, "%s/socket", p->folder);
    snprintf(p->state, sizeof p->state, "%s/state", p->folder);
    snprintf(p->file, sizeof p->file, "%s/penstock.yaml", p->folder);
    FILE *f = fopen(p->file, "w");
    assert_non_null(f);
    fprintf(f,
            "workers: 1\nstate_dir: %s\nlisten: [{address: \"unix:%s\"%s}]\nadmin: {address: 127.0.0.1:0}\n"
            "public_url: http://localhost\ndefault_provider: a\n"
            "providers: [{name: a, dialect: openai, base_url: \"http://127.0.0.1:9\"}]\n",
            p->state, p->socket, listener);
    fclose(f);
}

static void remove_place(const struct place *p)
{
    char command[160];
    pid_t pid = fork();
    snprintf(command, sizeof command, "%s", p->folder);
    if (pid == 0)
        execlp("rm", "rm", "-rf", command, (char *)NULL);
    waitpid(pid, NULL, 0);
}

static pid_t start(const struct place *p)
{
    struct serve_options options = {.config_path = p->file};
    fflush(NULL);
    pid_t pid = fork();
    if (pid == 0) {
        struct config *c = cli_load(&options, stderr);
        exit(c ? serve_run(c, &options) : 99);
    }
    assert_true(pid > 0);
    return pid;
}

static bool answers(const struct place *p)
{
    struct sockaddr_un a = {.sun_family = AF_UNIX};
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    snprintf(a.sun_path, sizeof a.sun_path, "%s", p->socket);
    bool open = connect(fd, (const struct sockaddr *)&a, sizeof a) == 0;
    close(fd);
    return open;
}

static bool exists(const char *path)
{
    struct stat st;
    return lstat(path, &st) == 0;
}

/* The exit status; -1: it has none after that time, or died otherwise. */
static int end_of(pid_t pid)
{
    int status;
    for (int ms = 0; ms < WAIT_MS; ms += STEP_MS) {
        if (waitpid(pid, &status, WNOHANG) == pid)
            return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
        usleep(STEP_MS * 1000);
    }
    kill(pid, SIGKILL);
    waitpid(pid, &status, 0);
    return -1;
}

static void start_and_wait(const struct place *p, pid_t *pid)
{
    *pid = start(p);
    for (int ms = 0; ms < WAIT_MS && !answers(p); ms += STEP_MS)
        usleep(STEP_MS * 1000);
    assert_true(answers(p));
}

static void socket_goes_at_the_end(void **state)
{
    (void)state;
    struct place p;
    pid_t pid;
    make_place(&p, "");
    start_and_wait(&p, &pid);
    kill(pid, SIGTERM);
    assert_int_equal(end_of(pid), 0);
    assert_false(exists(p.socket));
    remove_place(&p);
}

static void socket_of_another_stays(void **state)
{
    (void)state;
    struct place p;
    pid_t pid;
    make_place(&p, "");
    start_and_wait(&p, &pid);
    assert_int_equal(unlink(p.socket), 0);
    FILE *f = fopen(p.socket, "w");
    assert_non_null(f);
    fclose(f);
    kill(pid, SIGTERM);
    assert_int_equal(end_of(pid), 0);
    assert_true(exists(p.socket));
    remove_place(&p);
}

/* A worker that cannot start exits with 1, also where leaks are looked for, and the program with it. */
static void worker_that_does_not_start(void **state)
{
    (void)state;
    struct place p;
    make_place(&p, ", tls: {certificate: /dev/null, key: /dev/null}"); /* there, but no certificate */
    assert_int_equal(end_of(start(&p)), 1);
    assert_false(exists(p.socket));
    remove_place(&p);
}

int main(void)
{
    log_set_level(LOG_ERROR);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(socket_goes_at_the_end),
        cmocka_unit_test(socket_of_another_stays),
        cmocka_unit_test(worker_that_does_not_start),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
