#include "jobs/render_job.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/xalloc.h"
#include "jobs/document.h"
#include "jobs/wire.h"

enum { FORMATS = 64, TRIES = 2, RECONNECT_MS = 200 };

struct render_job {
    struct render_job *next;
    struct render_pool *pool;
    uint64_t id, owner;
    const struct render_format *format;
    int document, out; /* -1: nothing left to ask for, or to receive */
    int64_t until_ms;
    bool sent, started; /* to the renderers; by one of them */
    unsigned tries;
    render_done done;
    void *arg;
};

struct render_pool {
    struct render_address address;
    size_t limit, n;
    int epoll, fd; /* fd -1: not connected */
    bool greeted;  /* HELLO came over this connection */
    bool blocked;  /* the socket is full: what waits is sent when it is not */
    int64_t connect_at_ms;
    struct render_format formats[FORMATS];
    size_t nformats;
    bool known; /* the formats are settled */
    unsigned missing;
    uint64_t last_id;
    struct render_job *jobs; /* oldest first */
    struct buf in, out;
};

const char *render_job_outcome_name(enum render_job_outcome outcome)
{
    static const char *const names[RENDER_JOB_OUTCOMES] = {
        [RENDER_JOB_DONE] = "done",     [RENDER_JOB_INVALID] = "invalid", [RENDER_JOB_LIMIT] = "limit",
        [RENDER_JOB_FAILED] = "failed", [RENDER_JOB_DIED] = "died",       [RENDER_JOB_TIMEOUT] = "timeout",
        [RENDER_JOB_BUSY] = "busy",     [RENDER_JOB_UNSAFE] = "unsafe",
    };
    return names[outcome];
}

/* ---- jobs ---- */

static void close_if(int fd)
{
    if (fd >= 0)
        close(fd);
}

static void unlink_job(struct render_job *job)
{
    for (struct render_job **at = &job->pool->jobs; *at; at = &(*at)->next)
        if (*at == job) {
            *at = job->next;
            job->pool->n--;
            return;
        }
}

static void free_job(struct render_job *job)
{
    close_if(job->document);
    close_if(job->out);
    xfree(job);
}

/* The callback may do anything to the pool but close it. */
static void finish(struct render_job *job, struct render_result *r)
{
    unlink_job(job);
    r->fd = -1;
    r->renderer = job->format->renderer;
    r->version = job->format->version;
    if (r->outcome == RENDER_JOB_DONE) {
        r->fd = job->out;
        job->out = -1;
    }
    job->done(job->arg, r);
    free_job(job);
}

static void finish_with(struct render_job *job, enum render_job_outcome outcome)
{
    struct render_result r = {.outcome = outcome};
    finish(job, &r);
}

/* ---- the connection ---- */

static void watch(struct render_pool *p, int how)
{
    struct epoll_event e = {.events = EPOLLIN | (p->blocked ? EPOLLOUT : 0U)};
    (void)!epoll_ctl(p->epoll, how, p->fd, &e);
}

/* What was on its way is asked for again, but not for ever: it may be what killed the renderers. */
static void disconnect(struct render_pool *p)
{
    if (p->fd < 0)
        return;
    close(p->fd);
    p->fd = -1;
    p->greeted = p->blocked = false;
    p->connect_at_ms = clock_mono_ms() + RECONNECT_MS;
    for (struct render_job *job = p->jobs; job; job = job->next)
        job->sent = job->started = false;
}

static void connect_pool(struct render_pool *p)
{
    if (!p->address.n)
        return;
    p->connect_at_ms = clock_mono_ms() + RECONNECT_MS;
    p->fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (p->fd < 0)
        return;
    if (connect(p->fd, (const struct sockaddr *)&p->address.socket, p->address.n)) {
        close(p->fd);
        p->fd = -1;
        return;
    }
    watch(p, EPOLL_CTL_ADD);
}

static int send_out(struct render_pool *p, const int *fds, size_t n)
{
    if (wire_end(&p->out) || p->fd < 0)
        return -1;
    return wire_send(p->fd, buf_span(&p->out), fds, n);
}

/* -1: the socket is full or broken. */
static int send_job(struct render_pool *p, struct render_job *job)
{
    const int fds[WIRE_FDS] = {job->document, job->out};
    int64_t left = job->until_ms - clock_mono_ms();
    buf_reset(&p->out);
    wire_begin(&p->out, WIRE_RENDER, job->id);
    wire_add_text(&p->out, span_str(job->format->format));
    wire_add_u32(&p->out, left < 1 ? 1 : left > INT32_MAX ? INT32_MAX : (uint32_t)left);
    wire_add_u64(&p->out, job->owner);
    if (send_out(p, fds, WIRE_FDS) == 0) {
        job->sent = true;
        job->tries++;
        return 0;
    }
    p->blocked = errno == EAGAIN;
    if (p->blocked)
        watch(p, EPOLL_CTL_MOD);
    else
        disconnect(p);
    return -1;
}

static void send_waiting(struct render_pool *p)
{
    for (struct render_job *job = p->jobs; job && p->fd >= 0 && p->greeted && !p->blocked; job = job->next)
        if (!job->sent && job->tries < TRIES && send_job(p, job))
            return;
}

/* Jobs that were lost with a connection for the last time. */
static void give_up_lost(struct render_pool *p)
{
    for (struct render_job *job = p->jobs, *next; job; job = next) {
        next = job->next;
        if (!job->sent && job->tries >= TRIES) {
            finish_with(job, RENDER_JOB_DIED);
            next = p->jobs; /* the callback may have changed the list */
        }
    }
}

/* ---- what comes back ---- */

static int hear_hello(struct render_pool *p, struct wire_in *in)
{
    struct render_format formats[FORMATS];
    unsigned missing = wire_get_u32(in);
    size_t n = wire_get_u32(in);
    if (n > FORMATS)
        return -1;
    for (size_t i = 0; i < n; i++) {
        wire_get_string(in, formats[i].format, sizeof formats[i].format);
        wire_get_string(in, formats[i].renderer, sizeof formats[i].renderer);
        wire_get_string(in, formats[i].version, sizeof formats[i].version);
        formats[i].out_bytes = wire_get_u64(in);
    }
    if (wire_close(in))
        return -1;
    p->greeted = true;
    if (!p->known) { /* jobs point to them, so the first word counts */
        memcpy(p->formats, formats, n * sizeof formats[0]);
        p->nformats = n;
        p->missing = missing;
        p->known = true;
    }
    return 0;
}

static const enum render_job_outcome by_wire[WIRE_OUTCOMES] = {
    [WIRE_RENDERED] = RENDER_JOB_DONE, [WIRE_INVALID] = RENDER_JOB_INVALID,
    [WIRE_LIMIT] = RENDER_JOB_LIMIT,   [WIRE_FAILED] = RENDER_JOB_FAILED,
    [WIRE_DIED] = RENDER_JOB_DIED,     [WIRE_TIMEOUT] = RENDER_JOB_TIMEOUT,
    [WIRE_BUSY] = RENDER_JOB_BUSY,     [WIRE_UNSAFE] = RENDER_JOB_UNSAFE,
};

static struct render_job *find_job(struct render_pool *p, uint64_t id)
{
    for (struct render_job *job = p->jobs; job; job = job->next)
        if (job->id == id && job->sent)
            return job;
    return NULL;
}

/* One of an unknown id is of a job that was cancelled meanwhile. */
static int hear_result(struct render_pool *p, uint64_t id, struct wire_in *in)
{
    struct render_result r = {.fd = -1};
    uint32_t outcome = wire_get_u32(in);
    r.bytes = wire_get_u64(in);
    wire_get_string(in, r.sentence, sizeof r.sentence);
    r.wall_us = wire_get_u64(in);
    r.cpu_us = wire_get_u64(in);
    r.peak_bytes = wire_get_u64(in);
    if (wire_close(in) || outcome >= WIRE_OUTCOMES)
        return -1;
    struct render_job *job = find_job(p, id);
    if (!job)
        return 0;
    r.outcome = by_wire[outcome];
    if (r.outcome == RENDER_JOB_DONE &&
        (r.bytes > job->format->out_bytes || document_output_seal(job->out, r.bytes)))
        r.outcome = RENDER_JOB_DIED;
    if (r.outcome != RENDER_JOB_DONE)
        r.bytes = 0;
    finish(job, &r);
    return 0;
}

static int hear_started(struct render_pool *p, uint64_t id, const struct wire_in *in)
{
    struct render_job *job = find_job(p, id);
    if (wire_close(in))
        return -1;
    if (job)
        job->started = true;
    return 0;
}

/* 1: a message was taken; 0: none is there; -1: the other side is gone or cannot be understood. */
static int hear(struct render_pool *p)
{
    int fds[WIRE_FDS];
    struct wire_in in;
    uint32_t type;
    uint64_t id;
    int got = wire_receive(p->fd, &p->in, fds);
    if (got < 0 && errno == EAGAIN)
        return 0;
    for (size_t i = 0; i < WIRE_FDS; i++)
        close_if(fds[i]);
    if (got <= 0 || wire_open(buf_span(&p->in), &type, &id, &in))
        return -1;
    if (type == WIRE_HELLO)
        return hear_hello(p, &in) ? -1 : 1;
    if (type == WIRE_STARTED)
        return hear_started(p, id, &in) ? -1 : 1;
    return type == WIRE_RESULT && hear_result(p, id, &in) == 0 ? 1 : -1;
}

void render_pool_process(struct render_pool *p)
{
    int got = 1;
    if (p->blocked && p->fd >= 0) {
        p->blocked = false;
        watch(p, EPOLL_CTL_MOD);
    }
    while (p->fd >= 0 && got == 1)
        got = hear(p);
    if (got < 0) {
        log_warning("renderers.lost", log_int("jobs", (int64_t)p->n));
        disconnect(p);
        give_up_lost(p);
    }
    send_waiting(p);
}

void render_pool_tick(struct render_pool *p, int64_t now_ms)
{
    if (p->fd < 0 && now_ms >= p->connect_at_ms)
        connect_pool(p);
    for (struct render_job *job = p->jobs, *next; job; job = next) {
        next = job->next;
        if (now_ms < job->until_ms)
            continue;
        /* What no renderer has begun with cannot take too long. */
        struct render_result r = {.outcome = job->started ? RENDER_JOB_TIMEOUT : RENDER_JOB_BUSY};
        void *arg = job->arg;
        render_done done = job->done;
        r.renderer = job->format->renderer;
        r.version = job->format->version;
        r.fd = -1;
        render_cancel(job);
        done(arg, &r);
        next = p->jobs; /* the callback may have changed the list */
    }
    give_up_lost(p);
    send_waiting(p);
}

/* ---- for the submitter ---- */

static const struct render_format *find_format(const struct render_pool *p, const char *format)
{
    for (size_t i = 0; i < p->nformats; i++)
        if (!strcmp(p->formats[i].format, format))
            return &p->formats[i];
    return NULL;
}

uint64_t render_owner(const char *organisation)
{
    uint64_t hash = 14695981039346656037u; /* FNV-1a; two that share a number share a turn */
    for (const char *p = organisation; *p; p++)
        hash = (hash ^ (unsigned char)*p) * 1099511628211u;
    return hash ? hash : 1;
}

static const char *no_room(const struct render_pool *p, uint64_t owner)
{
    size_t own = 0;
    for (const struct render_job *job = p->jobs; owner && job; job = job->next)
        own += job->owner == owner;
    return p->n >= p->limit            ? "too many files are being made at this moment"
           : own >= (p->limit + 1) / 2 ? "too many files of its organisation are being made at this moment"
                                       : NULL;
}

struct render_job *render_submit(struct render_pool *p, const struct render_order *order, render_done done,
                                 void *arg, const char **why)
{
    const struct render_format *f = find_format(p, order->format);
    *why = f ? no_room(p, order->owner) : "its format cannot be made here";
    int out = *why ? -1 : document_output_create(f->out_bytes);
    if (out < 0) {
        if (!*why)
            *why = "there is no memory to make it in";
        close_if(order->document);
        return NULL;
    }
    struct render_job *job = xcalloc(1, sizeof *job), **end = &p->jobs;
    *job = (struct render_job){.pool = p,
                               .id = ++p->last_id,
                               .format = f,
                               .owner = order->owner,
                               .document = order->document,
                               .out = out,
                               .until_ms = order->until_ms,
                               .done = done,
                               .arg = arg};
    while (*end)
        end = &(*end)->next;
    *end = job;
    p->n++;
    send_waiting(p);
    return job;
}

void render_cancel(struct render_job *job)
{
    if (!job)
        return;
    struct render_pool *p = job->pool;
    if (job->sent && p->fd >= 0) {
        buf_reset(&p->out);
        wire_begin(&p->out, WIRE_CANCEL, job->id);
        if (send_out(p, NULL, 0)) /* a connection that is closed cancels all of its own */
            disconnect(p);
    }
    unlink_job(job);
    free_job(job);
}

/* ---- start and end ---- */

struct render_pool *render_pool_open(const struct render_address *address, size_t limit, int wait_ms)
{
    struct render_pool *p = xcalloc(1, sizeof *p);
    int64_t until = clock_mono_ms() + wait_ms, left;
    p->address = *address;
    p->limit = limit;
    p->fd = -1;
    p->epoll = epoll_create1(EPOLL_CLOEXEC);
    buf_init(&p->in, WIRE_MESSAGE);
    buf_init(&p->out, WIRE_MESSAGE);
    connect_pool(p);
    while (p->fd >= 0 && !p->greeted && (left = until - clock_mono_ms()) > 0) {
        struct pollfd one = {.fd = p->fd, .events = POLLIN};
        if (poll(&one, 1, (int)left) > 0)
            render_pool_process(p);
    }
    p->known = true; /* what is offered does not change while the program runs */
    return p;
}

void render_pool_close(struct render_pool *p)
{
    if (!p)
        return;
    while (p->jobs)
        finish_with(p->jobs, RENDER_JOB_DIED);
    close_if(p->fd);
    close_if(p->epoll);
    buf_free(&p->in);
    buf_free(&p->out);
    xfree(p);
}

const struct render_format *render_pool_formats(const struct render_pool *p, size_t *n)
{
    *n = p->nformats;
    return p->formats;
}

unsigned render_pool_missing(const struct render_pool *p)
{
    return p->missing;
}

int render_pool_fd(const struct render_pool *p)
{
    return p->epoll;
}

size_t render_pool_length(const struct render_pool *p)
{
    return p->n;
}
