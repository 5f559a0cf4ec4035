#ifndef JOBS_WIRE_H
#define JOBS_WIRE_H
/*
 * Messages between the proxy, the spawner of penstock-worker and its children, over SOCK_SEQPACKET: a fixed
 * head (magic, version, type, id, length), then typed fields, each of them preceded by its type, in the order
 * of the message. Whoever reads must consume a message whole; one byte less or more and it is not taken.
 * Documents never travel in messages but as sealed memfds beside them. The numbers are the host's own: both
 * ends run on one machine.
 *
 *   proxy -> spawner   RENDER  text format, u32 wall_ms, u64 owner; descriptors: document, output
 *                      CANCEL
 *   spawner -> proxy   HELLO   u32 layers missing, u32 formats, for each: text format, text renderer,
 *                              text version, u64 out_bytes
 *                      STARTED; a child has the document
 *                      RESULT  u32 outcome, u64 bytes, text sentence, u64 wall_us, u64 cpu_us, u64 peak_bytes
 *   child -> spawner   PROVEN  u32 layers
 *                      DONE    u32 enum render_status, u64 bytes, text sentence
 *   in a document      DOCUMENT (jobs/document.h)
 */
#include <stdint.h>

#include "base/buf.h"

enum { WIRE_MAGIC = 0x50535457, WIRE_VERSION = 3, WIRE_HEAD = 24, WIRE_MESSAGE = 16 * 1024, WIRE_FDS = 2 };

enum wire_type {
    WIRE_HELLO = 1,
    WIRE_RENDER,
    WIRE_CANCEL,
    WIRE_RESULT,
    WIRE_PROVEN,
    WIRE_DONE,
    WIRE_DOCUMENT,
    WIRE_STARTED
};

/* How a document ended, in RESULT. */
enum wire_outcome {
    WIRE_RENDERED,
    WIRE_INVALID, /* the renderer's sentence says what is wrong with the content */
    WIRE_LIMIT,   /* likewise, what is too large */
    WIRE_FAILED,  /* the renderer gave up */
    WIRE_DIED,    /* the child was ended by a signal or broke its protocol */
    WIRE_TIMEOUT,
    WIRE_BUSY,   /* the queue is full; nothing was tried */
    WIRE_UNSAFE, /* the child could not prove its cage */
    WIRE_OUTCOMES
};

/* ---- writing ---- */

/* Begins a message in an empty buffer. */
void wire_begin(struct buf *out, enum wire_type type, uint64_t id);
void wire_add_u32(struct buf *out, uint32_t v);
void wire_add_u64(struct buf *out, uint64_t v);
void wire_add_text(struct buf *out, struct span text);
/* Fills in the length. -1: something did not fit. */
int wire_end(struct buf *out) MUST_USE;

/* ---- reading ---- */

struct wire_in {
    struct span rest;
    bool bad; /* a field was not there, or not what was asked for; every read after it answers zero */
};

/* Checks the head: -1 for another magic, version or length than the message has. `type` may be one that the
 * reader does not know. */
int wire_open(struct span message, uint32_t *type, uint64_t *id, struct wire_in *in) MUST_USE;
uint32_t wire_get_u32(struct wire_in *in);
uint64_t wire_get_u64(struct wire_in *in);
/* Borrowed from the message; at most `max` bytes, none of them zero. */
struct span wire_get_text(struct wire_in *in, size_t max);
/* Likewise copied and terminated; `room` counts the terminator. */
void wire_get_string(struct wire_in *in, char *out, size_t room);
/* -1 unless everything was read and nothing was bad. */
int wire_close(const struct wire_in *in) MUST_USE;

/* ---- sockets ---- */

/* One message with up to WIRE_FDS descriptors, which stay the caller's. -1 with errno. Never waits, on a
 * non-blocking socket. */
int wire_send(int fd, struct span message, const int *fds, size_t n) MUST_USE;
/* One message into `out` (emptied first) and its descriptors, which are now the caller's; those that were
 * not sent are -1. 1: a message; 0: the peer closed; -1 with errno (EPROTO: longer than WIRE_MESSAGE, or more
 * descriptors than fit; they are closed). */
int wire_receive(int fd, struct buf *out, int fds[WIRE_FDS]) MUST_USE;

#endif
