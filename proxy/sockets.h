#ifndef PROXY_SOCKETS_H
#define PROXY_SOCKETS_H
/* The listening sockets that the master keeps over reloads and the deaths of workers: one an address and
 * worker, or one an address for Unix sockets and the admin page. */
#include "base/error.h"
#include "config/config.h"

struct bound;

struct sockets {
    struct bound *bound;
    size_t nbound;
};

/* Opens what this configuration needs beside what is open; sockets_settle then decides what stays. -1 with *e
 * naming the address: everything is as before. */
int sockets_bind(struct sockets *s, const struct config *c, struct error *e) MUST_USE;
/* After sockets_bind: closes what it opened (`undo`), or else what its configuration does not need: no more
 * sockets than there will be workers, since the kernel spreads connections over all. */
void sockets_settle(struct sockets *s, const struct config *c, bool undo);
/* Says in the log what is listened on. */
void sockets_log(const struct sockets *s);
/* In a worker's process: its own sockets, one a listener and then the admin page's (-1: none), which are no
 * longer of `s`. Free the array with xfree. */
int *sockets_take(struct sockets *s, const struct config *c, unsigned index) MUST_USE;
/* The port that the first listener has got. */
unsigned sockets_port(struct sockets *s, const struct config_address *first);
/* Nobody is to connect any more: Unix sockets' files go, too. */
void sockets_close(struct sockets *s);
/* In this process alone: addresses stay bound for others that have the sockets. */
void sockets_free(struct sockets *s);

#endif
