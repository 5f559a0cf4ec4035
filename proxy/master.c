#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/resource.h>
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
#include "proxy/sockets.h"
#include "proxy/worker.h"

enum {
    RESPAWN_MS = 500, /* a worker that ended sooner than this after its start is not replaced at once */
    START_MS = 3000,  /* a worker that gives up by itself so soon after the program's start says that nothing
                         will help */
    TRIAL_MS = 10000, /* for the first worker of a new configuration to be ready */
    KILL_AFTER_MS = 2000, /* what is left so long after the drain time is killed */
    SAID_MOST = 1280      /* what is wrong with a configuration, with the option or file */
};

/* One worker's place: its sockets outlive the process that uses them. */
struct slot {
    pid_t pid; /* 0: none */
    int64_t started_ms, respawn_at_ms;
};

/* What a configuration and its workers are made of. */
struct set {
    struct config *config;
    SSL_CTX **tls;
    struct slot *slots;
    unsigned nslots;
};

struct master {
    struct config *config;
    SSL_CTX **tls; /* of its listeners */
    const struct serve_options *options;
    struct metrics *metrics;
    struct sockets sockets;
    struct slot *slots;
    unsigned nslots;
    pid_t *old; /* workers of an earlier configuration, draining */
    size_t nold;
    struct launch renderers;
    int64_t renderers_at_ms; /* when they are started again; 0: they run, or are not to be had */
    sigset_t signals;
    int64_t started_ms, kill_at_ms;
    struct set before; /* in force until the first worker of a new configuration serves; config NULL: none */
    int trial[2];      /* pipe on which that worker says so; -1: none */
    bool ending, failed, reloaded;
};

/* ---- workers ---- */

static void free_set(struct set *s)
{
    xfree(s->slots);
    listen_close_tls(s->tls, s->config->nlisteners);
    config_unref(s->config);
}

static void close_trial(struct master *m)
{
    for (int i = 0; i < 2; i++) {
        if (m->trial[i] >= 0)
            close(m->trial[i]);
        m->trial[i] = -1;
    }
}

/* As a worker needs it: the addresses stay bound. */
static void master_free(struct master *m)
{
    launch_finish(&m->renderers);
    sockets_free(&m->sockets);
    free_set(&(struct set){m->config, m->tls, m->slots, m->nslots});
    if (m->before.config)
        free_set(&m->before);
    close_trial(m);
    xfree(m->old);
}

static int run_worker(struct master *m, unsigned index)
{
    int *fds = sockets_take(&m->sockets, m->config, index);
    struct config *config = config_ref(m->config);
    size_t nlisteners = config->nlisteners;
    SSL_CTX **tls = m->tls;
    int ready = m->trial[1];
    struct metrics *metrics = m->metrics;
    struct render_address renderers = m->renderers.address;
    sigset_t signals = m->signals;
    m->tls = NULL;
    m->trial[1] = -1;
    master_free(m);
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    signal(SIGPIPE, SIG_IGN);
    signal(SIGHUP, SIG_IGN);
    signal(SIGINT, SIG_IGN); /* the terminal sends it to all; the master says when to end */
    sigprocmask(SIG_UNBLOCK, &signals, NULL);
    int status = worker_run(index, config, fds, tls, metrics, &renderers, ready);
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

static void make_slots(struct master *m)
{
    m->nslots = m->config->workers;
    m->slots = xcalloc(m->nslots, sizeof *m->slots);
}

static void spawn_from(struct master *m, unsigned first)
{
    for (unsigned i = first; i < m->nslots; i++)
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

static void begin_end(struct master *m)
{
    if (m->ending)
        return;
    m->ending = true;
    sockets_close(&m->sockets); /* the workers close theirs: who comes now is refused */
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
    if (WIFEXITED(status) && WEXITSTATUS(status) == 1 && !m->reloaded && now - m->started_ms < START_MS) {
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

static void refuse_reload(const char *why)
{
    log_error("reload.refused", log_str("why", why), log_str("in_force", "the old configuration"));
}

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
        refuse_reload(*said ? said : "the configuration is not good");
    return fresh;
}

/* The kernel chose the port, so only now it is known what artifact links start with. */
static void set_public_url(struct master *m, struct config *c)
{
    if (c->public_url_given || c->nlisteners == 0 || c->listeners[0].address.port != 0 ||
        c->listeners[0].address.is_unix)
        return;
    const struct config_listener *l = &c->listeners[0];
    unsigned port = sockets_port(&m->sockets, &l->address);
    struct config_error e;
    char url[320];
    bool v6 = l->address.host && strchr(l->address.host, ':');
    snprintf(url, sizeof url, "%s://%s%s%s:%u", l->certificate ? "https" : "http", v6 ? "[" : "",
             l->address.host, v6 ? "]" : "", port);
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

static struct set put_in_force(struct master *m, struct set next)
{
    struct set before = {m->config, m->tls, m->slots, m->nslots};
    m->config = next.config;
    m->tls = next.tls;
    m->slots = next.slots;
    m->nslots = next.nslots;
    return before;
}

/* Starts the first of the new workers and waits until it takes connections. NULL, or why it does not; then it
 * is gone. */
static const char *try_worker(struct master *m)
{
    const char *why = NULL;
    char byte;
    if (pipe2(m->trial, O_CLOEXEC) < 0)
        return strerror(errno);
    spawn(m, 0);
    close(m->trial[1]);
    m->trial[1] = -1;
    struct pollfd p = {.fd = m->trial[0], .events = POLLIN};
    pid_t pid = m->slots[0].pid;
    if (poll(&p, 1, TRIAL_MS) != 1)
        why = "a worker that was started with it was not ready to serve within 10 s";
    else if (read(p.fd, &byte, 1) != 1)
        why = "a worker that was started with it could not serve, as the lines before say";
    close_trial(m);
    if (why && pid > 0) {
        kill(pid, SIGKILL);
        while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
            ;
    }
    return why;
}

/* The old workers finish what they have. */
static void end_before(struct master *m)
{
    const struct set *b = &m->before;
    m->old = xrealloc(m->old, (m->nold + b->nslots) * sizeof *m->old);
    for (unsigned i = 0; i < b->nslots; i++)
        if (b->slots[i].pid > 0) {
            kill(b->slots[i].pid, SIGTERM);
            m->old[m->nold++] = b->slots[i].pid;
        }
    free_set(&m->before);
    m->before = (struct set){.config = NULL};
}

/* New workers with the new configuration. Nothing is given up before the first of them serves: a
 * configuration that is bad, or with which workers cannot start, changes nothing. */
static void reload(struct master *m)
{
    struct error e;
    struct config *fresh = load_again(m);
    if (!fresh)
        return;
    SSL_CTX **tls = listen_open_tls(fresh, &e);
    if (!tls || check_stores(fresh, &e) < 0 || sockets_bind(&m->sockets, fresh, &e) < 0) {
        refuse_reload(e.message);
        listen_close_tls(tls, fresh->nlisteners);
        config_unref(fresh);
        return;
    }
    set_public_url(m, fresh);
    m->before = put_in_force(m, (struct set){.config = fresh, .tls = tls});
    make_slots(m);
    log_set_level(fresh->log.level); /* which workers inherit */
    const char *why = try_worker(m);
    if (why) {
        struct set tried = put_in_force(m, m->before);
        m->before = (struct set){.config = NULL};
        sockets_settle(&m->sockets, m->config, true);
        free_set(&tried);
        log_set_level(m->config->log.level);
        refuse_reload(why);
        return;
    }
    sockets_settle(&m->sockets, fresh, false);
    end_before(m);
    m->reloaded = true;
    sockets_log(&m->sockets);
    spawn_from(m, 1);
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
    struct master m = {.config = config,
                       .options = options,
                       .renderers = {.fd = -1},
                       .trial = {-1, -1},
                       .started_ms = clock_mono_ms()};
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
    if (!m.tls || check_stores(config, &e) < 0 || sockets_bind(&m.sockets, config, &e) < 0) {
        log_error("start.failed", log_str("why", e.message));
        goto out;
    }
    sockets_settle(&m.sockets, config, false);
    set_public_url(&m, config);
    log_info("started", log_str("version", PENSTOCK_VERSION), log_int("workers", config->workers),
             log_bool("enabled", config->enabled), log_str("state_dir", config->state_dir));
    sockets_log(&m.sockets);
    start_renderers(&m);
    make_slots(&m);
    spawn_from(&m, 0);
    loop(&m);
    end_renderers(&m);
    log_info("ended", log_bool("failed", m.failed));
    status = m.failed ? 1 : 0;
out:
    sockets_close(&m.sockets);
    master_free(&m);
    sigprocmask(SIG_UNBLOCK, &m.signals, NULL);
    return status;
}
