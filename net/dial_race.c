#include "net/dial_race.h"

#include <errno.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

static void attempt_end(struct dial_attempt *a)
{
    if (a->writable)
        event_free(a->writable);
    if (a->fd >= 0)
        close(a->fd);
    a->writable = NULL;
    a->fd = -1;
}

void dial_race_finish(struct dial_race *race)
{
    if (race->head_start)
        event_free(race->head_start);
    race->head_start = NULL;
    /* Of the others, none was begun. */
    for (unsigned i = 0; i < race->next; i++)
        attempt_end(&race->attempts[i]);
    race->running = 0;
}

/* A refusal says more than a family that this machine has no route for. */
static void note_failure(struct dial_race *race, int failure)
{
    switch (race->failure) {
    case 0:
    case ENETUNREACH:
    case EHOSTUNREACH:
    case EADDRNOTAVAIL:
    case EAFNOSUPPORT:
        race->failure = failure;
    }
}

static void win(struct dial_race *race, struct dial_attempt *a)
{
    int fd = a->fd;
    union dial_address winner = race->addresses.list[a - race->attempts];
    a->fd = -1;
    dial_race_finish(race);
    race->done(race->arg, fd, &winner, 0);
}

/* 1: connected, 0: under way, -1: errno says why not. */
static int attempt_begin(struct dial_attempt *a, const union dial_address *to, event_callback_fn writable)
{
    int on = 1;
    socklen_t n = to->any.sa_family == AF_INET ? sizeof to->v4 : sizeof to->v6;
    a->fd = socket(to->any.sa_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (a->fd < 0)
        return -1;
    (void)setsockopt(a->fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    if (connect(a->fd, &to->any, n) == 0)
        return 1;
    if (errno != EINPROGRESS && errno != EINTR)
        return -1;
    a->writable = event_new(a->race->base, a->fd, EV_WRITE, writable, a);
    if (!a->writable || event_add(a->writable, NULL) != 0) {
        errno = ENOMEM;
        return -1;
    }
    return 0;
}

static void on_writable(evutil_socket_t fd, short what, void *arg);

/* Begins the next attempt that does not fail at once; ends the race when one stands or none is left. */
static void go_on(struct dial_race *race)
{
    static const struct timeval head_start = {.tv_usec = DIAL_HEAD_START_MS * 1000};
    while (race->next < race->addresses.n) {
        unsigned i = race->next++;
        struct dial_attempt *a = &race->attempts[i];
        *a = (struct dial_attempt){.fd = -1, .race = race};
        int began = attempt_begin(a, &race->addresses.list[i], on_writable);
        if (began > 0) {
            win(race, a);
            return;
        }
        if (began == 0) {
            race->running++;
            if (race->next < race->addresses.n)
                (void)event_add(race->head_start, &head_start);
            return;
        }
        note_failure(race, errno);
        attempt_end(a);
    }
    if (race->running == 0) {
        int failure = race->failure;
        dial_race_finish(race);
        race->done(race->arg, -1, NULL, failure);
    }
}

static void on_head_start(evutil_socket_t fd, short what, void *arg)
{
    (void)fd;
    (void)what;
    go_on(arg);
}

static void on_writable(evutil_socket_t fd, short what, void *arg)
{
    (void)what;
    struct dial_attempt *a = arg;
    struct dial_race *race = a->race;
    int failure = 0;
    socklen_t n = sizeof failure;
    if (getsockopt(fd, SOL_SOCKET, SO_ERROR, &failure, &n) != 0)
        failure = errno;
    if (failure == 0) {
        win(race, a);
        return;
    }
    note_failure(race, failure);
    attempt_end(a);
    race->running--;
    (void)event_del(race->head_start);
    go_on(race);
}

void dial_race_start(struct dial_race *race, struct event_base *base, const struct dial_addresses *addresses,
                     uint16_t port, dial_race_cb done, void *arg)
{
    *race = (struct dial_race){.base = base, .done = done, .arg = arg, .addresses = *addresses};
    for (unsigned i = 0; i < addresses->n; i++) {
        union dial_address *a = &race->addresses.list[i];
        if (a->any.sa_family == AF_INET)
            a->v4.sin_port = htons(port);
        else
            a->v6.sin6_port = htons(port);
    }
    race->head_start = evtimer_new(base, on_head_start, race);
    if (!race->head_start) {
        done(arg, -1, NULL, ENOMEM);
        return;
    }
    go_on(race);
}
