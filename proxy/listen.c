#include "proxy/listen.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/xalloc.h"

enum { BACKLOG = 4096 };

/* A socket file that nobody listens on any more is what a killed process left behind. */
static void remove_stale(const struct sockaddr_un *a)
{
    struct stat st;
    int fd;
    if (lstat(a->sun_path, &st) < 0 || !S_ISSOCK(st.st_mode))
        return;
    fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return;
    if (connect(fd, (const struct sockaddr *)a, sizeof *a) < 0 && errno == ECONNREFUSED)
        unlink(a->sun_path);
    close(fd);
}

static int open_unix(const struct config_address *address, struct error *e)
{
    struct sockaddr_un a = {.sun_family = AF_UNIX};
    int fd = -1;
    if (strlen(address->host) >= sizeof a.sun_path)
        return error_set(e, ERROR_BAD_REQUEST,
                         "%s: the path of a Unix socket may have %zu characters at most.", address->text,
                         sizeof a.sun_path - 1);
    snprintf(a.sun_path, sizeof a.sun_path, "%s", address->host);
    remove_stale(&a);
    fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd >= 0 && bind(fd, (struct sockaddr *)&a, sizeof a) == 0 && listen(fd, BACKLOG) == 0)
        return fd;
    error_set(e, ERROR_BAD_REQUEST, "cannot listen on %s: %s", address->text, strerror(errno));
    if (fd >= 0)
        close(fd);
    return -1;
}

static int open_one(const struct addrinfo *ai, bool share)
{
    int on = 1, off = 0;
    int fd = socket(ai->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0)
        return -1;
    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    if (share)
        setsockopt(fd, SOL_SOCKET, SO_REUSEPORT, &on, sizeof on);
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    if (ai->ai_family == AF_INET6)
        setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof off);
    if (bind(fd, ai->ai_addr, ai->ai_addrlen) == 0 && listen(fd, BACKLOG) == 0)
        return fd;
    int saved = errno;
    close(fd);
    errno = saved;
    return -1;
}

static uint16_t bound_port(int fd)
{
    struct sockaddr_storage a = {0};
    socklen_t n = sizeof a;
    getsockname(fd, (struct sockaddr *)&a, &n);
    return ntohs(a.ss_family == AF_INET6 ? ((struct sockaddr_in6 *)&a)->sin6_port
                                         : ((struct sockaddr_in *)&a)->sin_port);
}

int listen_open(const struct config_address *address, bool share, uint16_t *port, struct error *e)
{
    struct addrinfo hints = {
        .ai_family = AF_UNSPEC, .ai_socktype = SOCK_STREAM, .ai_flags = AI_PASSIVE | AI_NUMERICSERV};
    struct addrinfo *list = NULL;
    char service[8];
    int fd = -1;
    if (address->is_unix)
        return open_unix(address, e);
    snprintf(service, sizeof service, "%u", *port ? *port : address->port);
    int err = getaddrinfo(address->host && *address->host ? address->host : NULL, service, &hints, &list);
    if (err)
        return error_set(e, ERROR_BAD_REQUEST, "cannot listen on %s: %s", address->text, gai_strerror(err));
    for (struct addrinfo *ai = list; ai && fd < 0; ai = ai->ai_next)
        fd = open_one(ai, share);
    if (fd < 0)
        error_set(e, ERROR_BAD_REQUEST, "cannot listen on %s: %s", address->text, strerror(errno));
    else
        *port = bound_port(fd);
    freeaddrinfo(list);
    return fd;
}

SSL_CTX **listen_open_tls(const struct config *c, struct error *e)
{
    SSL_CTX **tls = xcalloc(c->nlisteners + 1, sizeof(SSL_CTX *));
    for (size_t i = 0; i < c->nlisteners; i++) {
        const struct config_listener *l = &c->listeners[i];
        struct error why;
        if (!l->certificate || !l->key || (tls[i] = tls_server_context(l->certificate, l->key, &why)))
            continue;
        size_t line = span_starts(span_str(why.message), "key ") ? l->key_line : l->certificate_line;
        error_set(e, ERROR_BAD_REQUEST, "%.150s:%zu: listen[%zu].tls.%s", c->file, line, i, why.message);
        listen_close_tls(tls, i);
        return NULL;
    }
    return tls;
}

void listen_close_tls(SSL_CTX **tls, size_t n)
{
    for (size_t i = 0; tls && i < n; i++)
        SSL_CTX_free(tls[i]);
    xfree(tls);
}
