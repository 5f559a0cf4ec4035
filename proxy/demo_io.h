#ifndef PROXY_DEMO_IO_H
#define PROXY_DEMO_IO_H
/* Sockets and files of the demo: blocking, with deadlines, and given up at once on Ctrl-C. */
#include <stdint.h>
#include <sys/types.h>

#include "base/buf.h"
#include "base/error.h"
#include "base/span.h"

enum { DEMO_PATH = 4096, DEMO_FILE = 16 * 1024 * 1024 };

/* `signals`: a signalfd for those that end the demo; -1: none. */
struct demo_io {
    int signals;
    bool interrupted; /* one has come */
};

/* Sends all of it. -1 with `why`. */
int demo_io_send(struct demo_io *io, int fd, struct span bytes, char why[LIMIT_ERROR_TEXT]) MUST_USE;
/* Reads at most `room` bytes; 0 at the end, -1 with `why`, also after `timeout_ms` without a byte. */
ssize_t demo_io_receive(struct demo_io *io, int fd, char *to, size_t room, int timeout_ms,
                        char why[LIMIT_ERROR_TEXT]) MUST_USE;
/* A connection to that port on this machine. -1 with `why`. */
int demo_io_connect(uint16_t port, char why[LIMIT_ERROR_TEXT]) MUST_USE;
/* A socket bound to that port on this machine, 0 for one that is free; *port is the one it got. -1 with
 * errno. */
int demo_io_bind(uint16_t *port) MUST_USE;
/* Waits; false when the demo is to end. */
bool demo_io_pause(struct demo_io *io, int ms);

/* "dir/name". -1: too long. */
int demo_io_path(char out[DEMO_PATH], const char *dir, const char *name) MUST_USE;
/* Replaces the file. -1 with errno. */
int demo_io_write_file(const char *path, struct span bytes) MUST_USE;
/* Appends the file's bytes. -1: cannot be read, or over the buffer's cap. */
int demo_io_read_file(const char *path, struct buf *out) MUST_USE;

#endif
