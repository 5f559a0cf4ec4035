#include "jobs/spawner.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/xalloc.h"
#include "jobs/child.h"
#include "jobs/priority.h"
#include "jobs/program_cage.h"
#include "jobs/task_queue.h"
#include "jobs/wire.h"

enum {
    CONNECTIONS = 256,
    QUEUE = 256,
    CHILDREN_MOST = 64,
    RENDERERS = 32,
    TRIAL_MS = 5000,
    SLOW_MS = 60000 /* what may take longer leaves a child for everything else */
};

struct task {
    struct queued place; /* must be the first; `next` links those that run, too */
    int peer;            /* index of the connection; -1: nobody waits any more */
    uint64_t id;
    const struct renderer_ops *renderer;
    unsigned wall_ms;
    int in, out, control;
    pid_t pid; /* 0: queued */
    int64_t started_us, deadline_ms;
    bool late;
};

struct spawner {
    struct spawner_options options;
    struct sandbox *sandbox;
    unsigned missing;                                /* layers */
    const struct renderer_ops *renderers[RENDERERS]; /* that work here */
    size_t nrenderers;
    int signals;
    pid_t parent;
    int peers[CONNECTIONS]; /* -1: free */
    struct task_queue queue;
    struct task *running;
    unsigned nrunning, nslow; /* of them */
    struct priority priority;
    struct buf in, out; /* one message each */
};

/* ---- answers ---- */

static void drop_peer(struct spawner *s, int peer);

/* A peer that does not read is given up: it connects again and asks again. */
static void send_out(struct spawner *s, int peer)
{
    if (wire_end(&s->out) || wire_send(s->peers[peer], buf_span(&s->out), NULL, 0))
        drop_peer(s, peer);
}

struct outcome {
    enum wire_outcome what;
    uint64_t bytes;
    char sentence[RENDER_SENTENCE];
    uint64_t wall_us, cpu_us, peak_bytes;
};

static void answer(struct spawner *s, const struct task *t, const struct outcome *o)
{
    if (t->peer < 0)
        return;
    buf_reset(&s->out);
    wire_begin(&s->out, WIRE_RESULT, t->id);
    wire_add_u32(&s->out, o->what);
    wire_add_u64(&s->out, o->bytes);
    wire_add_text(&s->out, span_str(o->sentence));
    wire_add_u64(&s->out, o->wall_us);
    wire_add_u64(&s->out, o->cpu_us);
    wire_add_u64(&s->out, o->peak_bytes);
    send_out(s, t->peer);
}

static void say_started(struct spawner *s, const struct task *t)
{
    buf_reset(&s->out);
    wire_begin(&s->out, WIRE_STARTED, t->id);
    send_out(s, t->peer);
}

static void hello(struct spawner *s, int peer)
{
    uint32_t n = 0;
    bool offers = !s->options.required || !s->missing;
    for (size_t i = 0; offers && i < s->nrenderers; i++)
        for (size_t k = 0; s->renderers[i]->formats[k]; k++)
            n++;
    buf_reset(&s->out);
    wire_begin(&s->out, WIRE_HELLO, 0);
    wire_add_u32(&s->out, s->missing);
    wire_add_u32(&s->out, n);
    for (size_t i = 0; offers && i < s->nrenderers; i++) {
        const struct renderer_ops *r = s->renderers[i];
        for (size_t k = 0; r->formats[k]; k++) {
            wire_add_text(&s->out, span_str(r->formats[k]));
            wire_add_text(&s->out, span_str(r->name));
            wire_add_text(&s->out, span_str(r->version));
            wire_add_u64(&s->out, r->limits.out_bytes);
        }
    }
    send_out(s, peer);
}

/* ---- tasks ---- */

static void close_if(int fd)
{
    if (fd >= 0)
        close(fd);
}

static void free_task(struct task *t)
{
    close_if(t->in);
    close_if(t->out);
    close_if(t->control);
    xfree(t);
}

static struct task *task_of(struct queued *place)
{
    return (struct task *)(void *)place;
}

static struct task *next_of(const struct task *t)
{
    return task_of(t->place.next);
}

/* Of one peer: all of them, or the one of that id. Queued ones go, running ones are killed and go when they
 * have ended. */
static void cancel(struct spawner *s, int peer, bool all, uint64_t id)
{
    for (struct task *t = task_of(s->queue.first), *next; t; t = next) {
        next = next_of(t);
        if (t->peer != peer || (!all && t->id != id))
            continue;
        task_queue_remove(&s->queue, &t->place);
        free_task(t);
    }
    for (struct task *t = s->running; t; t = next_of(t))
        if (t->peer == peer && (all || t->id == id)) {
            t->peer = -1;
            kill(t->pid, SIGKILL);
        }
}

static void drop_peer(struct spawner *s, int peer)
{
    if (s->peers[peer] < 0)
        return;
    close(s->peers[peer]);
    s->peers[peer] = -1;
    cancel(s, peer, true, 0);
}

static pid_t fork_child(const struct spawner *s, const struct child_start *start)
{
    struct child_start c = *start;
    c.sandbox = s->sandbox;
    c.required = s->options.required;
    c.parent = getpid();
    pid_t pid = fork();
    if (pid == 0)
        child_run(&c);
    return pid;
}

static int start_task(struct spawner *s, struct task *t)
{
    int pair[2];
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, pair))
        return -1;
    struct child_start c = {.renderer = t->renderer,
                            .fonts = t->renderer->fonts,
                            .program = t->renderer->program,
                            .shares = priority_shares(&s->priority, clock_mono_ms()),
                            .in = t->in,
                            .out = t->out,
                            .control = pair[1]};
    t->started_us = clock_mono_us();
    t->deadline_ms = t->started_us / 1000 + t->wall_ms;
    t->pid = fork_child(s, &c);
    close(pair[1]);
    t->control = pair[0];
    return t->pid < 0 ? -1 : 0;
}

static void refuse(struct spawner *s, struct task *t, enum wire_outcome why)
{
    struct outcome o = {.what = why};
    answer(s, t, &o);
    free_task(t);
}

static unsigned running_of(const void *user, uint64_t owner)
{
    const struct spawner *s = user;
    unsigned n = 0;
    for (const struct task *t = s->running; t; t = next_of(t))
        n += t->place.owner == owner;
    return n;
}

static struct task *take_next(struct spawner *s)
{
    unsigned slow = s->options.children > 1 ? s->options.children - 1 : 1;
    return s->nrunning < s->options.children
               ? task_of(task_queue_take(&s->queue, running_of, s, s->nslow < slow))
               : NULL;
}

static void start_queued(struct spawner *s)
{
    for (struct task *t; (t = take_next(s));) {
        if (start_task(s, t)) {
            log_error("renderer.fork", log_int("errno", errno));
            refuse(s, t, WIRE_BUSY);
            continue;
        }
        t->place.next = s->running ? &s->running->place : NULL;
        s->running = t;
        s->nrunning++;
        s->nslow += t->place.slow;
        say_started(s, t);
    }
}

/* ---- what a child said ---- */

/* PROVEN. -1: something else. */
static int hear_proven(struct spawner *s, int control, uint32_t *layers)
{
    int fds[WIRE_FDS];
    struct wire_in in;
    uint32_t type;
    uint64_t id;
    if (wire_receive(control, &s->in, fds) != 1 || wire_open(buf_span(&s->in), &type, &id, &in) ||
        type != WIRE_PROVEN)
        return -1;
    *layers = wire_get_u32(&in);
    return wire_close(&in);
}

static const enum wire_outcome by_status[] = {[RENDER_OK] = WIRE_RENDERED,
                                              [RENDER_INVALID] = WIRE_INVALID,
                                              [RENDER_LIMIT] = WIRE_LIMIT,
                                              [RENDER_FAILED] = WIRE_FAILED};

/* DONE, and nothing behind it. -1: a lie. Descriptors cannot come from a child that cannot send them, but are
 * closed all the same. */
static int hear_done(struct spawner *s, const struct task *t, struct outcome *o)
{
    int fds[WIRE_FDS];
    struct wire_in in;
    uint32_t type;
    uint64_t id;
    if (wire_receive(t->control, &s->in, fds) != 1 || wire_open(buf_span(&s->in), &type, &id, &in) ||
        type != WIRE_DONE)
        return -1;
    uint32_t status = wire_get_u32(&in);
    o->bytes = wire_get_u64(&in);
    wire_get_string(&in, o->sentence, sizeof o->sentence);
    if (wire_close(&in) || status > RENDER_FAILED || o->bytes > t->renderer->limits.out_bytes ||
        (status != RENDER_OK && o->bytes))
        return -1;
    o->what = by_status[status];
    return wire_receive(t->control, &s->in, fds) == 0 ? 0 : -1;
}

static bool is_late(const struct task *t, int status)
{
    return t->late || (WIFSIGNALED(status) && WTERMSIG(status) == SIGXCPU);
}

static void judge(struct spawner *s, const struct task *t, int status, const struct rusage *used,
                  struct outcome *o)
{
    uint32_t layers = 0;
    *o = (struct outcome){
        .what = WIRE_DIED,
        .wall_us = (uint64_t)(clock_mono_us() - t->started_us),
        .cpu_us = (uint64_t)(used->ru_utime.tv_sec + used->ru_stime.tv_sec) * 1000000 +
                  (uint64_t)(used->ru_utime.tv_usec + used->ru_stime.tv_usec),
        .peak_bytes = (uint64_t)used->ru_maxrss * 1024,
    };
    if (is_late(t, status)) {
        o->what = WIRE_TIMEOUT;
        return;
    }
    if (hear_proven(s, t->control, &layers))
        return;
    if (s->options.required && layers != SANDBOX_ALL) {
        o->what = WIRE_UNSAFE;
        return;
    }
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0 || hear_done(s, t, o)) {
        o->what = WIRE_DIED;
        o->bytes = 0;
        o->sentence[0] = '\0';
    }
}

static void child_ended(struct spawner *s, pid_t pid, int status, const struct rusage *used)
{
    struct outcome o;
    for (struct task *t = s->running, *before = NULL; t; before = t, t = next_of(t)) {
        if (t->pid != pid)
            continue;
        if (before)
            before->place.next = t->place.next;
        else
            s->running = next_of(t);
        s->nrunning--;
        s->nslow -= t->place.slow;
        judge(s, t, status, used, &o);
        priority_note(&s->priority, clock_mono_ms(), o.wall_us, o.cpu_us);
        answer(s, t, &o);
        free_task(t);
        return;
    }
}

static void reap(struct spawner *s)
{
    struct rusage used;
    int status;
    for (pid_t pid; (pid = wait4(-1, &status, WNOHANG, &used)) > 0;)
        child_ended(s, pid, status, &used);
}

/* ---- requests ---- */

static void enqueue(struct spawner *s, struct task *t)
{
    struct queued *ousted;
    if (task_queue_add(&s->queue, &t->place, QUEUE, &ousted))
        refuse(s, t, WIRE_BUSY);
    else if (ousted)
        refuse(s, task_of(ousted), WIRE_BUSY);
}

static const struct renderer_ops *find_working(const struct spawner *s, const char *format)
{
    for (size_t i = 0; i < s->nrenderers; i++)
        for (size_t k = 0; s->renderers[i]->formats[k]; k++)
            if (!strcmp(s->renderers[i]->formats[k], format))
                return s->renderers[i];
    return NULL;
}

/* -1: not such a message; the descriptors are still the caller's. */
static int take_request(struct spawner *s, int peer, uint64_t id, struct wire_in *in, const int fds[WIRE_FDS])
{
    char format[RENDER_NAME];
    wire_get_string(in, format, sizeof format);
    unsigned wall_ms = wire_get_u32(in);
    uint64_t owner = wire_get_u64(in);
    if (wire_close(in) || fds[0] < 0 || fds[1] < 0)
        return -1;
    struct task *t = xcalloc(1, sizeof *t);
    *t = (struct task){.place.owner = owner,
                       .peer = peer,
                       .id = id,
                       .renderer = find_working(s, format),
                       .in = fds[0],
                       .out = fds[1],
                       .control = -1};
    bool refused = s->options.required && s->missing;
    if (!t->renderer || refused) {
        refuse(s, t, refused ? WIRE_UNSAFE : WIRE_FAILED);
        return 0;
    }
    unsigned most = t->renderer->limits.wall_ms;
    t->wall_ms = wall_ms && wall_ms < most ? wall_ms : most;
    t->place.slow = t->wall_ms > SLOW_MS;
    enqueue(s, t);
    return 0;
}

/* -1: the peer is gone or speaks another language. */
static int hear_peer(struct spawner *s, int peer)
{
    int fds[WIRE_FDS];
    struct wire_in in;
    uint32_t type;
    uint64_t id;
    int got = wire_receive(s->peers[peer], &s->in, fds), failed = -1;
    if (got < 0)
        return errno == EAGAIN ? 0 : -1;
    if (got == 1 && wire_open(buf_span(&s->in), &type, &id, &in) == 0) {
        if (type == WIRE_RENDER) {
            failed = take_request(s, peer, id, &in, fds);
            if (failed == 0)
                return 0;
        } else if (type == WIRE_CANCEL && wire_close(&in) == 0) {
            cancel(s, peer, false, id);
            failed = 0;
        }
    }
    close_if(fds[0]);
    close_if(fds[1]);
    return failed;
}

/* Whoever runs as somebody else has no business here. */
static bool is_ours(int fd)
{
    struct ucred peer;
    socklen_t n = sizeof peer;
    return getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &n) == 0 && peer.uid == geteuid();
}

static void accept_peer(struct spawner *s)
{
    int fd = accept4(SPAWNER_SOCKET, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
    if (fd < 0)
        return;
    for (int i = 0; i < CONNECTIONS; i++)
        if (s->peers[i] < 0 && is_ours(fd)) {
            s->peers[i] = fd;
            hello(s, i);
            return;
        }
    close(fd);
}

/* ---- the loop ---- */

static int wait_ms(struct spawner *s)
{
    int64_t now = clock_mono_ms(), next = -1;
    for (struct task *t = s->running; t; t = next_of(t))
        if (!t->late && (next < 0 || t->deadline_ms < next))
            next = t->deadline_ms;
    return next < 0 ? -1 : next <= now ? 0 : (int)(next - now);
}

static void kill_late(struct spawner *s)
{
    int64_t now = clock_mono_ms();
    for (struct task *t = s->running; t; t = next_of(t))
        if (!t->late && now >= t->deadline_ms) {
            t->late = true;
            kill(t->pid, SIGKILL);
        }
}

/*
 * True when the end is wanted: by the parent, or because it has died. A service manager sends SIGTERM to
 * every process of a service at once, and the streams that finish then may still have documents to be drawn.
 */
static bool take_signals(struct spawner *s)
{
    struct signalfd_siginfo info;
    bool end = false;
    while (read(s->signals, &info, sizeof info) == (ssize_t)sizeof info)
        end = end ||
              (info.ssi_signo == SIGTERM && (info.ssi_pid == (uint32_t)s->parent || getppid() != s->parent));
    reap(s);
    return end;
}

static void loop(struct spawner *s)
{
    struct pollfd fds[CONNECTIONS + 2];
    for (;;) {
        fds[0] = (struct pollfd){.fd = s->signals, .events = POLLIN};
        fds[1] = (struct pollfd){.fd = SPAWNER_SOCKET, .events = POLLIN};
        for (int i = 0; i < CONNECTIONS; i++)
            fds[i + 2] = (struct pollfd){.fd = s->peers[i], .events = POLLIN};
        if (poll(fds, CONNECTIONS + 2, wait_ms(s)) < 0 && errno != EINTR)
            return;
        if (fds[0].revents && take_signals(s))
            return;
        kill_late(s);
        for (int i = 0; i < CONNECTIONS; i++)
            if (fds[i + 2].revents && s->peers[i] == fds[i + 2].fd && hear_peer(s, i))
                drop_peer(s, i);
        if (fds[1].revents)
            accept_peer(s);
        start_queued(s);
    }
}

/* ---- start and end ---- */

/* A child that does nothing but enter the cage: what it could not enter is missing. */
static unsigned try_cage(struct spawner *s, bool fonts, const struct program *program)
{
    int pair[2];
    uint32_t layers = 0;
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair))
        return SANDBOX_ALL;
    struct timeval most = {.tv_sec = TRIAL_MS / 1000};
    setsockopt(pair[0], SOL_SOCKET, SO_RCVTIMEO, &most, sizeof most);
    struct child_start c = {.fonts = fonts, .program = program, .in = -1, .out = -1, .control = pair[1]};
    pid_t pid = fork_child(s, &c);
    close(pair[1]);
    if (pid > 0 && hear_proven(s, pair[0], &layers))
        layers = 0;
    close(pair[0]);
    if (pid > 0) {
        kill(pid, SIGKILL);
        waitpid(pid, NULL, 0);
    }
    return SANDBOX_ALL & ~layers;
}

static bool has_program(const struct renderer_ops *r)
{
    char path[256];
    return !r->program || program_find(r->program, path) == 0;
}

static void warm_one(struct spawner *s, const struct renderer_ops *r)
{
    int missing = r->warm ? r->warm() : 0;
    if (missing > 0)
        log_info("renderer.not_installed", log_str("renderer", r->name));
    else if (missing < 0)
        log_error("renderer.warm", log_str("renderer", r->name));
    else
        s->renderers[s->nrenderers++] = r;
}

static void warm(struct spawner *s, const struct renderer_ops *const *list)
{
    for (; *list && s->nrenderers < RENDERERS; list++)
        if (!has_program(*list))
            log_info("renderer.program_missing", log_str("renderer", (*list)->name),
                     log_str("program", (*list)->program->name));
        else
            warm_one(s, *list);
}

/* One whose program cannot be caged as everything else can is not offered. */
static void try_programs(struct spawner *s)
{
    size_t kept = 0;
    char names[64];
    for (size_t i = 0; i < s->nrenderers; i++) {
        const struct renderer_ops *r = s->renderers[i];
        unsigned missing = r->program ? try_cage(s, false, r->program) & ~s->missing : 0;
        sandbox_names(missing, names);
        if (missing)
            log_error("sandbox.program_missing", log_str("renderer", r->name), log_str("layers", names));
        if (!missing || !s->options.required)
            s->renderers[kept++] = r;
    }
    s->nrenderers = kept;
}

static unsigned cores(void)
{
    cpu_set_t set;
    CPU_ZERO(&set);
    int n = sched_getaffinity(0, sizeof set, &set) ? 1 : CPU_COUNT(&set);
    return n < 1 ? 1 : n > CHILDREN_MOST ? CHILDREN_MOST : (unsigned)n;
}

static int open_signals(void)
{
    sigset_t mine;
    sigemptyset(&mine);
    sigaddset(&mine, SIGCHLD);
    sigaddset(&mine, SIGTERM);
    sigprocmask(SIG_SETMASK, &mine, NULL);
    signal(SIGINT, SIG_IGN); /* the terminal sends it to all; the parent says when to end */
    signal(SIGHUP, SIG_IGN);
    return signalfd(-1, &mine, SFD_CLOEXEC | SFD_NONBLOCK);
}

/* Every task holds two descriptors, and a child of it three. */
static void raise_file_limit(void)
{
    struct rlimit r;
    if (getrlimit(RLIMIT_NOFILE, &r) == 0 && r.rlim_cur < r.rlim_max) {
        r.rlim_cur = r.rlim_max;
        setrlimit(RLIMIT_NOFILE, &r);
    }
}

static void report_cage(const struct spawner *s)
{
    char names[64];
    if (!s->missing)
        return;
    sandbox_names(s->missing, names);
    if (s->options.required)
        log_error("sandbox.missing", log_str("layers", names),
                  log_str("why",
                          "this host cannot cage renderers, so documents are not rendered; see sandbox "
                          "in the configuration"));
    else
        log_warning("sandbox.missing", log_str("layers", names),
                    log_str("why", "sandbox is off: documents are rendered without these layers"));
}

static void finish(struct spawner *s)
{
    for (int i = 0; i < CONNECTIONS; i++)
        drop_peer(s, i);
    while (s->running) {
        struct task *t = s->running;
        s->running = next_of(t);
        waitpid(t->pid, NULL, 0);
        free_task(t);
    }
    close_if(s->signals);
    sandbox_destroy(s->sandbox);
    buf_free(&s->in);
    buf_free(&s->out);
}

int spawner_run(const struct spawner_options *options)
{
    struct spawner s = {.options = *options, .parent = getppid()};
    for (int i = 0; i < CONNECTIONS; i++)
        s.peers[i] = -1;
    if (!s.options.children || s.options.children > CHILDREN_MOST)
        s.options.children = cores();
    buf_init(&s.in, WIRE_MESSAGE);
    buf_init(&s.out, WIRE_MESSAGE);
    s.signals = open_signals();
    prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); /* of a child that was killed, its program ends here */
    raise_file_limit();
    fcntl(SPAWNER_SOCKET, F_SETFD, FD_CLOEXEC);
    fcntl(SPAWNER_SOCKET, F_SETFL, O_NONBLOCK);
    for (size_t i = 0; options->lists[i]; i++)
        warm(&s, options->lists[i]);
    s.sandbox = sandbox_create();
    s.missing = try_cage(&s, false, NULL) | try_cage(&s, true, NULL);
    try_programs(&s);
    report_cage(&s);
    log_info("spawner.started", log_int("children", s.options.children), log_bool("caged", !s.missing));
    if (s.signals >= 0)
        loop(&s);
    finish(&s);
    return 0;
}
