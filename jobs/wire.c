#include "jobs/wire.h"

#include <errno.h>
#include <sys/socket.h>
#include <unistd.h>

struct head {
    uint32_t magic;
    uint16_t version, type;
    uint64_t id;
    uint64_t length; /* of what follows */
};

_Static_assert(sizeof(struct head) == WIRE_HEAD, "the head has no holes");

enum field { FIELD_U32 = 0x31, FIELD_U64, FIELD_TEXT };

/* ---- writing ---- */

void wire_begin(struct buf *out, enum wire_type type, uint64_t id)
{
    struct head h = {.magic = WIRE_MAGIC, .version = WIRE_VERSION, .type = (uint16_t)type, .id = id};
    buf_addn(out, &h, sizeof h);
}

void wire_add_u32(struct buf *out, uint32_t v)
{
    buf_addc(out, FIELD_U32);
    buf_addn(out, &v, sizeof v);
}

void wire_add_u64(struct buf *out, uint64_t v)
{
    buf_addc(out, FIELD_U64);
    buf_addn(out, &v, sizeof v);
}

void wire_add_text(struct buf *out, struct span text)
{
    uint32_t n = (uint32_t)text.n;
    if (text.n > UINT32_MAX) {
        out->over = true;
        return;
    }
    buf_addc(out, FIELD_TEXT);
    buf_addn(out, &n, sizeof n);
    buf_add(out, text);
}

int wire_end(struct buf *out)
{
    if (buf_full(out) || out->n < WIRE_HEAD)
        return -1;
    uint64_t length = out->n - WIRE_HEAD;
    memcpy(out->data + out->start + offsetof(struct head, length), &length, sizeof length);
    return 0;
}

/* ---- reading ---- */

int wire_open(struct span message, uint32_t *type, uint64_t *id, struct wire_in *in)
{
    struct head h;
    *in = (struct wire_in){.bad = true};
    if (message.n < sizeof h)
        return -1;
    memcpy(&h, message.p, sizeof h);
    if (h.magic != WIRE_MAGIC || h.version != WIRE_VERSION || h.length != message.n - sizeof h)
        return -1;
    *type = h.type;
    *id = h.id;
    *in = (struct wire_in){.rest = span_from(message, sizeof h)};
    return 0;
}

/* The next n bytes, or NULL. */
static const char *take(struct wire_in *in, size_t n)
{
    if (in->bad || in->rest.n < n) {
        in->bad = true;
        return NULL;
    }
    const char *p = in->rest.p;
    in->rest = span_from(in->rest, n);
    return p;
}

static bool take_field(struct wire_in *in, enum field field)
{
    const char *p = take(in, 1);
    if (p && *p != (char)field)
        in->bad = true;
    return !in->bad;
}

static void take_number(struct wire_in *in, enum field field, void *out, size_t n)
{
    const char *p = take_field(in, field) ? take(in, n) : NULL;
    if (p)
        memcpy(out, p, n);
}

uint32_t wire_get_u32(struct wire_in *in)
{
    uint32_t v = 0;
    take_number(in, FIELD_U32, &v, sizeof v);
    return v;
}

uint64_t wire_get_u64(struct wire_in *in)
{
    uint64_t v = 0;
    take_number(in, FIELD_U64, &v, sizeof v);
    return v;
}

struct span wire_get_text(struct wire_in *in, size_t max)
{
    uint32_t n = 0;
    take_number(in, FIELD_TEXT, &n, sizeof n);
    const char *p = n <= max ? take(in, n) : NULL;
    if (!p || (n && memchr(p, 0, n))) {
        in->bad = true;
        return span_of("", 0);
    }
    return span_of(p, n);
}

void wire_get_string(struct wire_in *in, char *out, size_t room)
{
    struct span s = wire_get_text(in, room - 1);
    memcpy(out, s.p, s.n);
    out[s.n] = '\0';
}

int wire_close(const struct wire_in *in)
{
    return in->bad || in->rest.n ? -1 : 0;
}

/* ---- sockets ---- */

union control {
    struct cmsghdr head; /* for its alignment */
    char room[CMSG_SPACE(WIRE_FDS * sizeof(int))];
};

int wire_send(int fd, struct span message, const int *fds, size_t n)
{
    union control control = {.room = {0}};
    struct iovec bytes = {.iov_base = (void *)message.p, .iov_len = message.n};
    struct msghdr m = {.msg_iov = &bytes, .msg_iovlen = 1};
    ssize_t sent;
    if (n > WIRE_FDS) {
        errno = EINVAL;
        return -1;
    }
    if (n) {
        m.msg_control = control.room;
        m.msg_controllen = CMSG_SPACE(n * sizeof(int));
        control.head.cmsg_level = SOL_SOCKET;
        control.head.cmsg_type = SCM_RIGHTS;
        control.head.cmsg_len = CMSG_LEN(n * sizeof(int));
        memcpy(CMSG_DATA(&control.head), fds, n * sizeof(int));
    }
    do
        sent = sendmsg(fd, &m, MSG_NOSIGNAL);
    while (sent < 0 && errno == EINTR);
    return sent < 0 ? -1 : 0;
}

/* Every descriptor that came is either handed out or closed. */
static int take_descriptors(struct msghdr *m, int fds[WIRE_FDS])
{
    size_t n = 0, surplus = 0;
    for (struct cmsghdr *c = CMSG_FIRSTHDR(m); c; c = CMSG_NXTHDR(m, c)) {
        if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS)
            continue;
        size_t many = (c->cmsg_len - CMSG_LEN(0)) / sizeof(int);
        for (size_t i = 0; i < many; i++) {
            int one;
            memcpy(&one, CMSG_DATA(c) + i * sizeof one, sizeof one);
            if (n < WIRE_FDS) {
                fds[n++] = one;
            } else {
                close(one);
                surplus++;
            }
        }
    }
    return surplus ? -1 : 0;
}

int wire_receive(int fd, struct buf *out, int fds[WIRE_FDS])
{
    union control control;
    char *room;
    ssize_t n;
    for (size_t i = 0; i < WIRE_FDS; i++)
        fds[i] = -1;
    buf_reset(out);
    room = buf_reserve(out, WIRE_MESSAGE);
    if (!room) {
        errno = ENOBUFS;
        return -1;
    }
    struct iovec bytes = {.iov_base = room, .iov_len = WIRE_MESSAGE};
    struct msghdr m = {.msg_iov = &bytes,
                       .msg_iovlen = 1,
                       .msg_control = control.room,
                       .msg_controllen = sizeof control.room};
    do
        n = recvmsg(fd, &m, MSG_CMSG_CLOEXEC);
    while (n < 0 && errno == EINTR);
    if (n < 0)
        return -1;
    if (take_descriptors(&m, fds) || (m.msg_flags & (MSG_TRUNC | MSG_CTRUNC))) {
        for (size_t i = 0; i < WIRE_FDS; i++) {
            if (fds[i] >= 0)
                close(fds[i]);
            fds[i] = -1;
        }
        errno = EPROTO;
        return -1;
    }
    buf_commit(out, (size_t)n);
    return n > 0;
}
