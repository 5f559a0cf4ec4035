#ifndef NET_DIAL_RACE_H
#define NET_DIAL_RACE_H
/*
 * TCP connections to several addresses, one after the other with a head start of 250 ms each; one that fails
 * lets the next begin at once (RFC 8305, 5). The first that stands wins, the others are closed.
 */
#include "net/dial_dns.h"

enum { DIAL_HEAD_START_MS = 250 };

/* Exactly one call, as the race's last act, perhaps from inside of dial_race_start. A connected, non-blocking
 * socket with TCP_NODELAY that the callee now owns and the address it is connected to, or -1 and the errno
 * that says most. */
typedef void (*dial_race_cb)(void *arg, int fd, const union dial_address *winner, int failure);

struct dial_attempt {
    int fd; /* -1: not running */
    struct event *writable;
    struct dial_race *race;
};

struct dial_race {
    struct event_base *base;
    dial_race_cb done;
    void *arg;
    struct dial_addresses addresses;
    unsigned next, running;
    int failure;
    struct event *head_start;
    struct dial_attempt attempts[DIAL_ADDRESSES];
};

void dial_race_start(struct dial_race *race, struct event_base *base, const struct dial_addresses *addresses,
                     uint16_t port, dial_race_cb done, void *arg);
/* Closes what runs. A race that is zeroed, was started, or has ended may be given. */
void dial_race_finish(struct dial_race *race);

#endif
