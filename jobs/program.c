#include "jobs/program.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/write_all.h"
#include "jobs/program_cage.h"

enum { READ = 64 * 1024 };

struct run {
    int arguments, out, errors;
    pid_t pid;
    program_take take;
    void *arg;
    struct program_result *result;
    size_t said;
    bool enough;
};

int program_take_buf(void *buf, struct span piece)
{
    return buf_add(buf, piece);
}

/* The first that was not used. */
static int find_run(struct run *r)
{
    if (fcntl(PROGRAM_FILE, F_GET_SEALS) < 0)
        return -1; /* no memory file, so nothing here is ours */
    for (int i = 0; i < PROGRAM_RUNS; i++) {
        int first = PROGRAM_FIRST + PROGRAM_EACH * i;
        if (fcntl(first, F_GETFD) < 0)
            continue;
        r->arguments = first;
        r->out = first + 1;
        r->errors = first + 2;
        return 0;
    }
    return -1;
}

/* Its process id, behind the layers that were read before; then what it is to do. */
static int start(struct run *r, const char *const *arguments, struct span input)
{
    char text[PROGRAM_ARGUMENT_BYTES];
    uint32_t pid = 0;
    size_t n = 0;
    if (read(r->out, &pid, sizeof pid) != sizeof pid)
        return -1;
    for (size_t i = 0; arguments[i]; i++) {
        size_t length = strlen(arguments[i]) + 1;
        if (i >= PROGRAM_ARGUMENTS - 2 || n + length >= sizeof text)
            return -1;
        memcpy(text + n, arguments[i], length);
        n += length;
    }
    r->pid = (pid_t)pid;
    if (write_all(PROGRAM_FILE, input) || write_all(r->arguments, span_of(text, n)))
        return -1;
    return close(r->arguments);
}

/* False: its end. */
static bool take_output(struct run *r, char *room)
{
    ssize_t n = read(r->out, room, READ);
    if (n < 0 && errno == EINTR)
        return true;
    if (n > 0 && r->take(r->arg, span_of(room, (size_t)n)))
        r->enough = true;
    return n > 0;
}

/* All of it is read, so that the program does not wait; the beginning is kept. */
static bool take_errors(struct run *r, char *room)
{
    ssize_t n = read(r->errors, room, READ);
    if (n < 0 && errno == EINTR)
        return true;
    size_t left = PROGRAM_SAID - 1 - r->said, some = n > 0 ? (size_t)n : 0;
    some = some < left ? some : left;
    memcpy(r->result->said + r->said, room, some);
    r->said += some;
    return n > 0;
}

static void listen_to(struct run *r)
{
    char room[READ];
    struct pollfd fds[] = {{.fd = r->out, .events = POLLIN}, {.fd = r->errors, .events = POLLIN}};
    while (!r->enough && (fds[0].fd >= 0 || fds[1].fd >= 0)) {
        if (poll(fds, 2, -1) < 0 && errno != EINTR)
            break;
        if (fds[0].fd >= 0 && fds[0].revents && !take_output(r, room))
            fds[0].fd = -1;
        if (fds[1].fd >= 0 && fds[1].revents && !take_errors(r, room))
            fds[1].fd = -1;
    }
}

static void judge(struct run *r)
{
    struct program_result *result = r->result;
    int status = 0;
    if (r->enough) {
        result->end = PROGRAM_TOO_MUCH;
        return;
    }
    while (waitpid(r->pid, &status, 0) < 0)
        if (errno != EINTR) {
            result->end = PROGRAM_KILLED;
            return;
        }
    result->end = WIFEXITED(status) ? PROGRAM_ENDED : PROGRAM_KILLED;
    result->status = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    result->signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
}

void program_run(const char *const *arguments, struct span input, program_take take, void *arg,
                 struct program_result *result)
{
    struct run r = {.take = take, .arg = arg, .result = result};
    *result = (struct program_result){.end = PROGRAM_ABSENT, .status = -1};
    if (find_run(&r))
        return;
    if (start(&r, arguments, input) == 0) {
        listen_to(&r);
        judge(&r);
    } else {
        close(r.arguments);
    }
    close(r.out);
    close(r.errors);
}
