#include "proxy/demo_io.h"

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/write_all.h"

enum { SEND_MS = 30000, READ = 64 * 1024 };

/* 1: ready; 0: the time is over; -1: the demo is to end. `fd` -1: only the time is waited for. */
static int wait_for(struct demo_io *io, int fd, short events, int ms)
{
    struct pollfd fds[2] = {{.fd = fd, .events = events}, {.fd = io->signals, .events = POLLIN}};
    int n;
    do
        n = poll(fds, 2, ms);
    while (n < 0 && errno == EINTR);
    if (fds[1].revents)
        io->interrupted = true;
    return n < 0 || io->interrupted ? -1 : fds[0].revents ? 1 : 0;
}

static int explain(struct demo_io *io, int waited, char why[LIMIT_ERROR_TEXT])
{
    snprintf(why, LIMIT_ERROR_TEXT, "%s",
             io->interrupted ? "interrupted"
             : waited == 0   ? "nothing came for too long"
                             : strerror(errno));
    return -1;
}

int demo_io_send(struct demo_io *io, int fd, struct span bytes, char why[LIMIT_ERROR_TEXT])
{
    while (bytes.n) {
        int ready = wait_for(io, fd, POLLOUT, SEND_MS);
        if (ready <= 0)
            return explain(io, ready, why);
        ssize_t n = send(fd, bytes.p, bytes.n, MSG_NOSIGNAL | MSG_DONTWAIT);
        if (n < 0 && errno != EINTR && errno != EAGAIN)
            return explain(io, 1, why);
        if (n > 0)
            bytes = span_from(bytes, (size_t)n);
    }
    return 0;
}

ssize_t demo_io_receive(struct demo_io *io, int fd, char *to, size_t room, int timeout_ms,
                        char why[LIMIT_ERROR_TEXT])
{
    for (;;) {
        int ready = wait_for(io, fd, POLLIN, timeout_ms);
        if (ready <= 0)
            return explain(io, ready, why);
        ssize_t n = recv(fd, to, room, MSG_DONTWAIT);
        if (n >= 0)
            return n;
        if (errno != EINTR && errno != EAGAIN)
            return explain(io, 1, why);
    }
}

bool demo_io_pause(struct demo_io *io, int ms)
{
    return wait_for(io, -1, 0, ms) == 0;
}

static struct sockaddr_in loopback(uint16_t port)
{
    return (struct sockaddr_in){
        .sin_family = AF_INET, .sin_port = htons(port), .sin_addr = {htonl(INADDR_LOOPBACK)}};
}

int demo_io_connect(uint16_t port, char why[LIMIT_ERROR_TEXT])
{
    struct sockaddr_in a = loopback(port);
    int on = 1;
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd >= 0 && connect(fd, (struct sockaddr *)&a, sizeof a) == 0) {
        setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
        return fd;
    }
    snprintf(why, LIMIT_ERROR_TEXT, "%s", strerror(errno));
    if (fd >= 0)
        close(fd);
    return -1;
}

int demo_io_bind(uint16_t *port)
{
    struct sockaddr_in a = loopback(*port);
    socklen_t n = sizeof a;
    int on = 1;
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return -1;
    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    if (bind(fd, (struct sockaddr *)&a, n) == 0 && getsockname(fd, (struct sockaddr *)&a, &n) == 0) {
        *port = ntohs(a.sin_port);
        return fd;
    }
    int why = errno;
    close(fd);
    errno = why;
    return -1;
}

int demo_io_path(char out[DEMO_PATH], const char *dir, const char *name)
{
    bool slash = *dir && dir[strlen(dir) - 1] == '/';
    int n = snprintf(out, DEMO_PATH, "%s%s%s", dir, slash ? "" : "/", name);
    return n < DEMO_PATH ? 0 : -1;
}

int demo_io_write_file(const char *path, struct span bytes)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    return fd < 0 ? -1 : write_all_and_close(fd, bytes);
}

int demo_io_read_file(const char *path, struct buf *out)
{
    ssize_t n = -1;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return -1;
    for (char *room; (room = buf_reserve(out, READ));) {
        n = read(fd, room, READ);
        if (n <= 0)
            break;
        buf_commit(out, (size_t)n);
        n = -1;
    }
    close(fd);
    return n == 0 ? 0 : -1;
}
