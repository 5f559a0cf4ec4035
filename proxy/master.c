#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "artifacts/artifact.h"
#include "artifacts/records.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/xalloc.h"
#include "jobs/launch.h"
#include "proxy/listen.h"
#include "proxy/serve.h"
#include "proxy/worker.h"

enum {
    RESPAWN_MS = 500, /* a worker that ended sooner than this after its start is not replaced at once */
    START_MS = 3000,  /* a worker that gives up by itself so soon after the program's start says that nothing
                         will help */
    KILL_AFTER_MS = 2000, /* what is left so long after the drain time is killed */
    SAID_MOST = 1280      /* what is wrong with a configuration, with the option or file */
};

/* The admin page's place among the listeners. */
#define ADMIN SIZE_MAX

/* One worker's place: its sockets outlive the process that uses them. */
struct slot {
    pid_t pid; /* 0: none */
    int64_t started_ms, respawn_at_ms;
};

/* Sockets of one address, one a worker (or one for all, for Unix sockets and the admin page). */
struct bound {
    char *text;
    char *path; /* of a Unix socket's file, which goes with it; NULL: another address */
    dev_t device;
    ino_t inode;
    size_t place;
    uint16_t port;
    int *fds;
    unsigned n, n_before; /* n_before: when bind_all began */
    bool shared_by_all, keep;
};

struct master {
    struct config *config;
    SSL_CTX **tls; /* of its listeners */
    const struct serve_options *options;
    struct metrics *metrics;
    struct bound *bound;
    size_t nbound;
    struct slot *slots;
    unsigned nslots;
    pid_t *old; /* workers of an earlier configuration, draining */
    size_t nold;
    struct launch renderers;
    int64_t renderers_at_ms; /* when they are started again; 0: they run, or are not to be had */
    sigset_t signals;
    int64_t started_ms, kill_at_ms;
    bool ending, failed;
};

/* ---- sockets ---- */

/* `place`: the listener's number, or ADMIN. It tells addresses apart whose port the kernel chooses. */
static struct bound *find_bound(struct master *m, const struct config_address *a, size_t place)
{
    for (size_t i = 0; i < m->nbound; i++)
        if (strcmp(m->bound[i].text, a->text) == 0 && (m->bound[i].place == ADMIN) == (place == ADMIN) &&
            (a->port || a->is_unix || m->bound[i].place == place))
            return &m->bound[i];
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

static int bind_address(struct master *m, const struct config_address *a, size_t place, unsigned want,
                        struct error *e)
{
    struct bound *b = find_bound(m, a, place);
    bool one_for_all = place == ADMIN || a->is_unix;
    if (!b) {
        m->bound = xrealloc(m->bound, (m->nbound + 1) * sizeof *m->bound);
        b = &m->bound[m->nbound++];
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

static int bind_each(struct master *m, const struct config *c, struct error *e)
{
    for (size_t i = 0; i < c->nlisteners; i++)
        if (bind_address(m, &c->listeners[i].address, i, c->workers, e) < 0)
            return -1;
    return c->admin.host ? bind_address(m, &c->admin, ADMIN, 1, e) : 0;
}

/* Sockets for every address of this configuration, and no more of them than there will be workers: the kernel
 * spreads connections over all. On failure everything is as before. */
static int bind_all(struct master *m, const struct config *c, struct error *e)
{
    size_t kept = 0;
    for (size_t i = 0; i < m->nbound; i++) {
        m->bound[i].keep = false;
        m->bound[i].n_before = m->bound[i].n;
    }
    bool failed = bind_each(m, c, e) < 0;
    for (size_t i = 0; i < m->nbound; i++) {
        struct bound *b = &m->bound[i];
        if (failed)
            close_beyond(b, b->n_before);
        else if (!b->shared_by_all)
            close_beyond(b, c->workers);
        if (failed ? b->n_before > 0 : b->keep)
            m->bound[kept++] = *b;
        else
            close_bound(b);
    }
    m->nbound = kept;
    return failed ? -1 : 0;
}

static void log_listening(const struct master *m)
{
    for (size_t i = 0; i < m->nbound; i++)
        log_info("listening", log_str("for", m->bound[i].place == ADMIN ? "admin" : "clients"),
                 log_str("address", m->bound[i].text), log_int("port", m->bound[i].port));
}

/* ---- workers ---- */

/* As a worker needs it: the addresses stay bound. */
static void master_free(struct master *m)
{
    launch_finish(&m->renderers);
    for (size_t i = 0; i < m->nbound; i++)
        free_bound(&m->bound[i]);
    xfree(m->bound);
    xfree(m->slots);
    xfree(m->old);
    listen_close_tls(m->tls, m->config->nlisteners);
    config_unref(m->config);
}

/* The worker's own sockets; those of the others, and all that is the master's, are given back. */
static int *take_sockets(struct master *m, unsigned index)
{
    const struct config *c = m->config;
    int *fds = xcalloc(c->nlisteners + 1, sizeof *fds);
    for (size_t i = 0; i <= c->nlisteners; i++) {
        const struct config_address *a = i < c->nlisteners ? &c->listeners[i].address : &c->admin;
        struct bound *b = a->host ? find_bound(m, a, i < c->nlisteners ? i : ADMIN) : NULL;
        unsigned mine = b && !b->shared_by_all ? index : 0;
        fds[i] = b ? b->fds[mine] : -1;
        if (b)
            b->fds[mine] = -1;
    }
    return fds;
}

static int run_worker(struct master *m, unsigned index)
{
    int *fds = take_sockets(m, index);
    struct config *config = config_ref(m->config);
    size_t nlisteners = config->nlisteners;
    SSL_CTX **tls = m->tls;
    struct metrics *metrics = m->metrics;
    struct render_address renderers = m->renderers.address;
    sigset_t signals = m->signals;
    m->tls = NULL;
    master_free(m);
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    signal(SIGPIPE, SIG_IGN);
    signal(SIGHUP, SIG_IGN);
    signal(SIGINT, SIG_IGN); /* the terminal sends it to all; the master says when to end */
    sigprocmask(SIG_UNBLOCK, &signals, NULL);
    int status = worker_run(index, config, fds, tls, metrics, &renderers);
    listen_close_tls(tls, nlisteners);
    xfree(fds);
    return status;
}

static void spawn(struct master *m, unsigned index)
{
    struct slot *s = &m->slots[index];
    s->started_ms = clock_mono_ms();
    s->respawn_at_ms = 0;
    s->pid = fork();
    if (s->pid == 0)
        exit(run_worker(m, index));
    if (s->pid < 0) {
        log_error("worker.fork", log_str("why", strerror(errno)));
        s->pid = 0;
        s->respawn_at_ms = s->started_ms + RESPAWN_MS;
    }
}

static void spawn_all(struct master *m)
{
    m->nslots = m->config->workers;
    m->slots = xcalloc(m->nslots, sizeof *m->slots);
    for (unsigned i = 0; i < m->nslots; i++)
        spawn(m, i);
}

/* ---- renderers ---- */

/* Without them documents and charts are not offered; everything else works. */
static void start_renderers(struct master *m)
{
    char why[256];
    if (launch_init(&m->renderers, m->config->sandbox == SANDBOX_REQUIRED, why)) {
        log_warning("renderers.absent", log_str("why", why));
        return;
    }
    if (launch_start(&m->renderers))
        m->renderers_at_ms = clock_mono_ms() + RESPAWN_MS;
}

/* Workers connect again to the same socket. */
static void renderers_gone(struct master *m, int status)
{
    int64_t now = clock_mono_ms();
    m->renderers.pid = 0;
    if (m->ending)
        return;
    log_error("renderers.died", log_int("signal", WIFSIGNALED(status) ? WTERMSIG(status) : 0),
              log_int("status", WIFEXITED(status) ? WEXITSTATUS(status) : 0));
    m->metrics->renderer_restarts++;
    m->renderers_at_ms = now - m->renderers.started_ms < RESPAWN_MS ? now + RESPAWN_MS : now;
}

/* At the end they may be in the middle of something: nobody waits for it any more. */
static void end_renderers(struct master *m)
{
    if (m->renderers.pid <= 0)
        return;
    kill(m->renderers.pid, SIGTERM);
    while (waitpid(m->renderers.pid, NULL, 0) < 0 && errno == EINTR)
        ;
    m->renderers.pid = 0;
}

static size_t signal_all(struct master *m, int sig)
{
    size_t n = 0;
    for (unsigned i = 0; i < m->nslots; i++)
        if (m->slots[i].pid > 0 && ++n)
            kill(m->slots[i].pid, sig);
    for (size_t i = 0; i < m->nold; i++)
        if (m->old[i] > 0 && ++n)
            kill(m->old[i], sig);
    return n;
}

static size_t alive(const struct master *m)
{
    size_t n = 0;
    for (unsigned i = 0; i < m->nslots; i++)
        n += m->slots[i].pid > 0;
    for (size_t i = 0; i < m->nold; i++)
        n += m->old[i] > 0;
    return n;
}

static void close_all(struct master *m)
{
    for (size_t i = 0; i < m->nbound; i++)
        close_bound(&m->bound[i]);
    m->nbound = 0;
}

static void begin_end(struct master *m)
{
    if (m->ending)
        return;
    m->ending = true;
    close_all(m); /* the workers close theirs: who comes now is refused */
    m->kill_at_ms = clock_mono_ms() + m->config->timeouts.drain + KILL_AFTER_MS;
    signal_all(m, SIGTERM);
}

/* A worker that was not told to end is replaced; at once, unless it hardly lived. */
static void worker_gone(struct master *m, unsigned index, int status)
{
    struct slot *s = &m->slots[index];
    int64_t now = clock_mono_ms();
    bool quick = now - s->started_ms < RESPAWN_MS;
    s->pid = 0;
    metrics_clear_worker(m->metrics, index);
    if (m->ending)
        return;
    log_error("worker.died", log_int("worker", index),
              log_int("signal", WIFSIGNALED(status) ? WTERMSIG(status) : 0),
              log_int("status", WIFEXITED(status) ? WEXITSTATUS(status) : 0));
    m->metrics->worker_restarts++;
    if (WIFEXITED(status) && WEXITSTATUS(status) == 1 && now - m->started_ms < START_MS) {
        m->failed = true; /* it said why */
        begin_end(m);
    } else if (quick) {
        s->respawn_at_ms = now + RESPAWN_MS;
    } else {
        spawn(m, index);
    }
}

static void reap(struct master *m)
{
    int status;
    for (pid_t pid; (pid = waitpid(-1, &status, WNOHANG)) > 0;) {
        if (pid == m->renderers.pid)
            renderers_gone(m, status);
        for (unsigned i = 0; i < m->nslots; i++)
            if (m->slots[i].pid == pid)
                worker_gone(m, i, status);
        for (size_t i = 0; i < m->nold; i++)
            if (m->old[i] == pid)
                m->old[i] = 0;
    }
}

/* ---- reload ---- */

/* NULL: the configuration is not good, and a log line has said why. */
static struct config *load_again(const struct master *m)
{
    char said[SAID_MOST] = "";
    FILE *err = fmemopen(said, sizeof said - 1, "w");
    struct config *fresh = cli_load(m->options, err ? err : stderr);
    if (err)
        fclose(err);
    said[strcspn(said, "\n")] = '\0';
    if (!fresh)
        log_error("reload.refused", log_str("why", *said ? said : "the configuration is not good"),
                  log_str("in_force", "the old configuration"));
    return fresh;
}

/* The kernel chose the port, so only now it is known what artifact links start with. */
static void set_public_url(struct master *m, struct config *c)
{
    if (c->public_url_given || c->nlisteners == 0 || c->listeners[0].address.port != 0 ||
        c->listeners[0].address.is_unix)
        return;
    const struct config_listener *l = &c->listeners[0];
    const struct bound *b = find_bound(m, &l->address, 0);
    struct config_error e;
    char url[320];
    bool v6 = l->address.host && strchr(l->address.host, ':');
    snprintf(url, sizeof url, "%s://%s%s%s:%u", l->certificate ? "https" : "http", v6 ? "[" : "",
             l->address.host, v6 ? "]" : "", b->port);
    if (config_override(c, "public_url", url, &e) < 0)
        log_warning("public_url", log_str("why", e.message));
}

/* Whether workers will be able to keep files and records. They open the stores themselves; asked here so that
 * the answer is one line before anything changes, and not workers that die one after the other. */
static int check_stores(const struct config *c, struct error *e)
{
    struct store_settings settings = {.state_dir = c->state_dir,
                                      .retention_s = c->artifacts.retention_s,
                                      .link_ttl_s = c->artifacts.link_ttl_s,
                                      .public_url = c->public_url};
    struct store *store = store_open(&settings, e);
    struct records *records = store ? records_open(c->state_dir, e) : NULL;
    bool good = store && records;
    records_close(records);
    store_close(store);
    return good ? 0 : -1;
}

/* New workers with the new configuration; the old ones finish what they have. A bad configuration changes
 * nothing. */
static void reload(struct master *m)
{
    struct error e;
    struct config *fresh = load_again(m);
    if (!fresh)
        return;
    SSL_CTX **tls = listen_open_tls(fresh, &e);
    if (!tls || check_stores(fresh, &e) < 0 || bind_all(m, fresh, &e) < 0) {
        log_error("reload.refused", log_str("why", e.message), log_str("in_force", "the old configuration"));
        listen_close_tls(tls, fresh->nlisteners);
        config_unref(fresh);
        return;
    }
    set_public_url(m, fresh);
    m->old = xrealloc(m->old, (m->nold + m->nslots) * sizeof *m->old);
    for (unsigned i = 0; i < m->nslots; i++)
        if (m->slots[i].pid > 0) {
            kill(m->slots[i].pid, SIGTERM);
            m->old[m->nold++] = m->slots[i].pid;
        }
    xfree(m->slots);
    listen_close_tls(m->tls, m->config->nlisteners);
    config_unref(m->config);
    m->config = fresh;
    m->tls = tls;
    log_set_level(fresh->log.level);
    log_listening(m);
    spawn_all(m);
    log_info("reloaded", log_int("workers", m->nslots));
}

/* ---- the loop ---- */

static void tick(struct master *m)
{
    int64_t now = clock_mono_ms();
    for (unsigned i = 0; i < m->nslots; i++)
        if (!m->ending && m->slots[i].pid == 0 && m->slots[i].respawn_at_ms &&
            now >= m->slots[i].respawn_at_ms)
            spawn(m, i);
    if (!m->ending && m->renderers_at_ms && now >= m->renderers_at_ms)
        m->renderers_at_ms = launch_start(&m->renderers) ? now + RESPAWN_MS : 0;
    if (m->ending && now >= m->kill_at_ms)
        signal_all(m, SIGKILL);
}

static void loop(struct master *m)
{
    const struct timespec second = {.tv_nsec = 250000000};
    while (!m->ending || alive(m)) {
        int sig = sigtimedwait(&m->signals, NULL, &second);
        if (sig == SIGTERM || sig == SIGINT)
            begin_end(m);
        else if (sig == SIGHUP && !m->ending)
            reload(m);
        reap(m);
        tick(m);
    }
}

static void raise_file_limit(void)
{
    struct rlimit r;
    if (getrlimit(RLIMIT_NOFILE, &r) == 0 && r.rlim_cur < r.rlim_max) {
        r.rlim_cur = r.rlim_max;
        setrlimit(RLIMIT_NOFILE, &r);
    }
}

int serve_run(struct config *config, const struct serve_options *options)
{
    struct master m = {
        .config = config, .options = options, .renderers = {.fd = -1}, .started_ms = clock_mono_ms()};
    struct error e;
    int status = 1;
    log_set_level(config->log.level);
    raise_file_limit();
    sigemptyset(&m.signals);
    sigaddset(&m.signals, SIGTERM);
    sigaddset(&m.signals, SIGINT);
    sigaddset(&m.signals, SIGHUP);
    sigaddset(&m.signals, SIGCHLD);
    sigprocmask(SIG_BLOCK, &m.signals, NULL);
    signal(SIGPIPE, SIG_IGN);
    m.metrics = metrics_create(config);
    if (!m.metrics) {
        log_error("start.failed", log_str("why", "no shared memory for the metrics"));
        goto out;
    }
    m.tls = listen_open_tls(config, &e);
    if (!m.tls || check_stores(config, &e) < 0 || bind_all(&m, config, &e) < 0) {
        log_error("start.failed", log_str("why", e.message));
        goto out;
    }
    set_public_url(&m, config);
    log_info("started", log_str("version", PENSTOCK_VERSION), log_int("workers", config->workers),
             log_bool("enabled", config->enabled), log_str("state_dir", config->state_dir));
    log_listening(&m);
    start_renderers(&m);
    spawn_all(&m);
    loop(&m);
    end_renderers(&m);
    log_info("ended", log_bool("failed", m.failed));
    status = m.failed ? 1 : 0;
out:
    close_all(&m);
    master_free(&m);
    sigprocmask(SIG_UNBLOCK, &m.signals, NULL);
    return status;
}
