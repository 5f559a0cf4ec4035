#include "proxy/sockets.h"

#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/log.h"
#include "base/xalloc.h"
#include "proxy/listen.h"

/* The admin page's place among the listeners. */
#define ADMIN SIZE_MAX

/* Sockets of one address, one a worker (or one for all, for Unix sockets and the admin page). */
struct bound {
    char *text;
    char *path; /* of a Unix socket's file, which goes with it; NULL: another address */
    dev_t device;
    ino_t inode;
    size_t place;
    uint16_t port;
    int *fds;
    unsigned n, n_before; /* n_before: when sockets_bind began */
    bool shared_by_all, keep;
};

/* `place`: the listener's number, or ADMIN. It tells addresses apart whose port the kernel chooses. */
static struct bound *find_bound(struct sockets *s, const struct config_address *a, size_t place)
{
    for (size_t i = 0; i < s->nbound; i++)
        if (strcmp(s->bound[i].text, a->text) == 0 && (s->bound[i].place == ADMIN) == (place == ADMIN) &&
            (a->port || a->is_unix || s->bound[i].place == place))
            return &s->bound[i];
    return NULL;
}

/* The file of a Unix socket that was just bound, so as to know it again. */
static void note_file(struct bound *b, const char *path)
{
    struct stat st;
    if (stat(path, &st) < 0)
        return;
    b->path = xstrdup(path);
    b->device = st.st_dev;
    b->inode = st.st_ino;
}

/* Unless another one has taken its place. */
static void remove_file(const struct bound *b)
{
    struct stat st;
    if (b->path && lstat(b->path, &st) == 0 && st.st_dev == b->device && st.st_ino == b->inode)
        unlink(b->path);
}

/* Sockets that share a port do so with another server's as well, which would get some of the connections: a
 * socket of its own tells. */
static int refuse_taken(const struct config_address *a, uint16_t port, struct error *e)
{
    int fd = listen_open(a, false, &port, e);
    if (fd < 0)
        return -1;
    close(fd);
    return 0;
}

static int bind_address(struct sockets *s, const struct config_address *a, size_t place, unsigned want,
                        struct error *e)
{
    struct bound *b = find_bound(s, a, place);
    bool one_for_all = place == ADMIN || a->is_unix;
    if (!b) {
        s->bound = xrealloc(s->bound, (s->nbound + 1) * sizeof *s->bound);
        b = &s->bound[s->nbound++];
        *b = (struct bound){.text = xstrdup(a->text), .place = place, .shared_by_all = one_for_all};
    }
    b->keep = true;
    if (b->n == 0 && !one_for_all && refuse_taken(a, b->port, e))
        return -1;
    while (b->n < (one_for_all ? 1 : want)) {
        int fd = listen_open(a, !one_for_all, &b->port, e);
        if (fd < 0)
            return -1;
        b->fds = xrealloc(b->fds, (b->n + 1) * sizeof *b->fds);
        b->fds[b->n++] = fd;
        if (a->is_unix)
            note_file(b, a->host);
    }
    return 0;
}

static void close_beyond(struct bound *b, unsigned n)
{
    for (; b->n > n; b->n--)
        if (b->fds[b->n - 1] >= 0)
            close(b->fds[b->n - 1]);
}

static void free_bound(struct bound *b)
{
    close_beyond(b, 0);
    xfree(b->fds);
    xfree(b->path);
    xfree(b->text);
}

/* Nobody is to connect to it any more. */
static void close_bound(struct bound *b)
{
    remove_file(b);
    free_bound(b);
}

static int bind_each(struct sockets *s, const struct config *c, struct error *e)
{
    for (size_t i = 0; i < c->nlisteners; i++)
        if (bind_address(s, &c->listeners[i].address, i, c->workers, e) < 0)
            return -1;
    return c->admin.host ? bind_address(s, &c->admin, ADMIN, 1, e) : 0;
}

void sockets_settle(struct sockets *s, const struct config *c, bool undo)
{
    size_t kept = 0;
    for (size_t i = 0; i < s->nbound; i++) {
        struct bound *b = &s->bound[i];
        if (undo)
            close_beyond(b, b->n_before);
        else if (!b->shared_by_all)
            close_beyond(b, c->workers);
        if (undo ? b->n_before > 0 : b->keep)
            s->bound[kept++] = *b;
        else
            close_bound(b);
    }
    s->nbound = kept;
}

int sockets_bind(struct sockets *s, const struct config *c, struct error *e)
{
    for (size_t i = 0; i < s->nbound; i++) {
        s->bound[i].keep = false;
        s->bound[i].n_before = s->bound[i].n;
    }
    if (bind_each(s, c, e) == 0)
        return 0;
    sockets_settle(s, c, true);
    return -1;
}

void sockets_log(const struct sockets *s)
{
    for (size_t i = 0; i < s->nbound; i++)
        log_info("listening", log_str("for", s->bound[i].place == ADMIN ? "admin" : "clients"),
                 log_str("address", s->bound[i].text), log_int("port", s->bound[i].port));
}

int *sockets_take(struct sockets *s, const struct config *c, unsigned index)
{
    int *fds = xcalloc(c->nlisteners + 1, sizeof *fds);
    for (size_t i = 0; i <= c->nlisteners; i++) {
        const struct config_address *a = i < c->nlisteners ? &c->listeners[i].address : &c->admin;
        struct bound *b = a->host ? find_bound(s, a, i < c->nlisteners ? i : ADMIN) : NULL;
        unsigned mine = b && !b->shared_by_all ? index : 0;
        fds[i] = b ? b->fds[mine] : -1;
        if (b)
            b->fds[mine] = -1;
    }
    return fds;
}

unsigned sockets_port(struct sockets *s, const struct config_address *first)
{
    const struct bound *b = find_bound(s, first, 0);
    return b ? b->port : first->port;
}

void sockets_close(struct sockets *s)
{
    for (size_t i = 0; i < s->nbound; i++)
        close_bound(&s->bound[i]);
    s->nbound = 0;
}

void sockets_free(struct sockets *s)
{
    for (size_t i = 0; i < s->nbound; i++)
        free_bound(&s->bound[i]);
    xfree(s->bound);
    *s = (struct sockets){.bound = NULL};
}
