#ifndef JOBS_LAUNCH_H
#define JOBS_LAUNCH_H
/*
 * Starting penstock-worker. The listening socket is made once and outlives the program behind it: when that
 * dies, whoever holds the `launch` starts another, and clients connect again to the same address; what they
 * ask meanwhile waits in the socket's backlog. Used where nothing but the calling thread runs.
 */
#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>
#include <sys/types.h>
#include <sys/un.h>

#include "base/span.h"

/* Where the renderers listen; copied freely. */
struct render_address {
    struct sockaddr_un socket;
    socklen_t n; /* 0: there are none */
};

struct launch {
    struct render_address address;
    char *program;
    int fd;
    bool required;
    bool quiet; /* logs warnings and errors alone; may be set before launch_start */
    pid_t pid;  /* 0: not running */
    int64_t started_ms;
};

/*
 * Finds the program ($PENSTOCK_WORKER, or penstock-worker beside the running one) and makes the socket. -1:
 * there is no such program or no socket, with the reason in `why`; documents cannot be rendered then. Finish
 * with launch_finish in any case.
 */
int launch_init(struct launch *l, bool required, char why[256]) MUST_USE;
/* Starts it. -1 with errno. The caller waits for the pid as for its other children. */
int launch_start(struct launch *l) MUST_USE;
/* Gives the socket back. Does not end the program: kill(l->pid, SIGTERM) does. */
void launch_finish(struct launch *l);

#endif
