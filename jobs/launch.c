#include "jobs/launch.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/xalloc.h"

enum { SOCKET = 3, BACKLOG = 256, PATH = 4096 };

static char *find_program(void)
{
    static const char name[] = "penstock-worker";
    char path[PATH + sizeof name];
    const char *said = getenv("PENSTOCK_WORKER");
    if (said && *said)
        return xstrdup(said);
    ssize_t n = readlink("/proc/self/exe", path, PATH);
    while (n > 0 && path[n - 1] != '/')
        n--;
    if (n <= 0)
        return NULL;
    memcpy(path + n, name, sizeof name);
    return xstrdup(path);
}

/* An address of the kernel's choice, without a file. */
static int open_socket(struct launch *l)
{
    sa_family_t family = AF_UNIX;
    l->fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
    if (l->fd < 0 || bind(l->fd, (struct sockaddr *)&family, sizeof family) || listen(l->fd, BACKLOG))
        return -1;
    l->address.n = sizeof l->address.socket;
    return getsockname(l->fd, (struct sockaddr *)&l->address.socket, &l->address.n);
}

int launch_init(struct launch *l, bool required, char why[256])
{
    *l = (struct launch){.fd = -1, .required = required};
    l->program = find_program();
    if (!l->program || access(l->program, X_OK)) {
        snprintf(why, 256, "%s cannot be run: %s", l->program ? l->program : "penstock-worker",
                 strerror(errno));
        return -1;
    }
    if (open_socket(l)) {
        snprintf(why, 256, "no socket for the renderers: %s", strerror(errno));
        l->address.n = 0;
        return -1;
    }
    return 0;
}

/* In the child: the socket, standard error, and nothing else of this process; no environment but where the
 * program's own errors would go. */
static _Noreturn void run(const struct launch *l, int parent)
{
    char *const arguments[] = {l->program,
                               l->required ? (char *)"--sandbox=required" : (char *)"--sandbox=off",
                               l->quiet ? (char *)"--quiet" : NULL, NULL};
    char *const environment[] = {(char *)"LANG=C.UTF-8", (char *)"TZ=UTC0", NULL};
    int nothing = open("/dev/null", O_RDWR);
    sigset_t none;
    sigemptyset(&none);
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    if (getppid() != parent || nothing < 0)
        _exit(1);
    dup2(nothing, STDIN_FILENO);
    dup2(nothing, STDOUT_FILENO);
    if (l->fd == SOCKET)
        fcntl(SOCKET, F_SETFD, 0);
    else if (dup2(l->fd, SOCKET) < 0)
        _exit(1);
    close_range(SOCKET + 1, ~0U, 0);
    sigprocmask(SIG_SETMASK, &none, NULL);
    execve(l->program, arguments, environment);
    _exit(127);
}

int launch_start(struct launch *l)
{
    int parent = getpid();
    l->started_ms = clock_mono_ms();
    pid_t pid = fork();
    if (pid == 0)
        run(l, parent);
    l->pid = pid > 0 ? pid : 0;
    return pid > 0 ? 0 : -1;
}

void launch_finish(struct launch *l)
{
    if (l->fd >= 0)
        close(l->fd);
    l->fd = -1;
    xfree(l->program);
    l->program = NULL;
    l->address.n = 0;
}
