#include "proxy/worker.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

#include "artifacts/threads.h"
#include "attachments/extract.h"
#include "base/clock.h"
#include "base/json.h"
#include "base/log.h"
#include "base/xalloc.h"
#include "jobs/render_job.h"
#include "providers/dialect.h"
#include "proxy/conn.h"
#include "proxy/exchange.h"
#include "proxy/render_cache.h"
#include "proxy/sentry.h"
#include "proxy/thread.h"
#include "proxy/uploads.h"

/* Files at a provider whose account has not come back to have them deleted: they have expired there, or
 * belong to a key that is used no more. */
static const int64_t UPLOADS_FORGOTTEN_MS = INT64_C(30) * 86400000;

enum {
    SWEEP_MS = 200,
    STORE_SWEEP_MS = 60000,
    ACCEPT_BURST = 64, /* connections taken a wake-up, so that streams are not kept waiting */
    IDLE_UPSTREAMS = 512,
    BODIES_QUEUE = 4096,
    DISK_QUEUE = 4096,
    LOGO_MOST = 1 << 20,
    RENDER_QUEUE = 256,      /* documents of one worker at a time; half of them of one organisation */
    RENDER_START_MS = 10000, /* how long a start waits to learn what can be rendered */
    AUDIT_QUEUE = 65536,
    JOURNAL_QUEUE = 65536,
    OUT_MAX = 0x7fffffff /* one reply and its report; limits.reply_body caps it before */
};

/* ---- ends ---- */

static void on_reap(evutil_socket_t fd, short what, void *arg)
{
    struct worker *w = arg;
    (void)fd;
    (void)what;
    while (w->dead_exchanges) {
        struct exchange *ex = w->dead_exchanges;
        w->dead_exchanges = exchange_next(ex);
        exchange_free(ex);
    }
    while (w->dead_conns) {
        struct conn *c = w->dead_conns;
        w->dead_conns = c->next;
        conn_free(c);
    }
    worker_check_drained(w);
}

void worker_reap_later(struct worker *w)
{
    event_active(&w->reap, EV_TIMEOUT, 0);
}

static size_t open_jobs(const struct worker *w)
{
    size_t n = 0;
    for (int q = 0; q < QUEUES; q++)
        n += job_queue_length(w->queues[q].jobs);
    return n;
}

void worker_check_drained(struct worker *w)
{
    if (w->draining && !w->conns && !w->exchanges)
        audit_flush(w);
    if (w->draining && !w->conns && !w->exchanges && open_jobs(w) == 0 &&
        render_pool_length(w->renders) == 0 && !sentry_is_busy(w->sentry))
        event_base_loopbreak(w->base);
}

void worker_out_reset(struct buf *out)
{
    char *room;
    buf_reset(out);
    room = buf_reserve(out, LIMIT_READ + LIMIT_READ / 4);
    if (room)
        out->start = CHUNK_ROOM;
}

/* ---- accepting ---- */

/* Whether there may be more. */
static bool accept_burst(struct worker_listener *l)
{
    for (int i = 0; i < ACCEPT_BURST; i++) {
        struct sockaddr_storage peer = {0};
        socklen_t n = sizeof peer;
        int client = accept4(l->fd, (struct sockaddr *)&peer, &n, SOCK_NONBLOCK | SOCK_CLOEXEC);
        if (client >= 0) {
            conn_start(l->worker, client, &peer, l);
        } else if (errno != EINTR && errno != ECONNABORTED) {
            if (errno != EAGAIN && errno != EWOULDBLOCK)
                log_error("accept.failed", log_str("why", strerror(errno)));
            return false;
        }
    }
    return true;
}

static void on_accept(evutil_socket_t fd, short what, void *arg)
{
    (void)fd;
    (void)what;
    (void)accept_burst(arg);
}

/* ---- draining ---- */

/* Nobody listens there any more, unless the master has given it to another worker: who waits is let in first.
 */
static void stop_listening(struct worker_listener *l)
{
    while (accept_burst(l) && l->worker->nconns < l->worker->config->limits.connections)
        ;
    event_del(&l->on_accept);
    close(l->fd);
    l->fd = -1;
}

static void begin_drain(struct worker *w)
{
    if (w->draining)
        return;
    w->draining = true;
    w->drain_until_ms = clock_mono_ms() + w->config->timeouts.drain;
    log_info("worker.draining", log_int("worker", w->index), log_int("connections", (int64_t)w->nconns));
    for (size_t i = 0; i < w->nlisteners; i++)
        stop_listening(&w->listeners[i]);
    for (struct conn *c = w->conns, *next; c; c = next) {
        next = c->next;
        conn_drain(c);
    }
    worker_check_drained(w);
}

static void on_terminate(evutil_socket_t fd, short what, void *arg)
{
    (void)fd;
    (void)what;
    begin_drain(arg);
}

/* ---- jobs ---- */

static void on_jobs(evutil_socket_t fd, short what, void *arg)
{
    struct worker *w = arg;
    (void)what;
    for (int q = 0; q < QUEUES; q++)
        if (job_queue_fd(w->queues[q].jobs) == fd)
            job_queue_reap(w->queues[q].jobs);
    worker_check_drained(w);
}

static void on_render(evutil_socket_t fd, short what, void *arg)
{
    struct worker *w = arg;
    (void)fd;
    (void)what;
    render_pool_process(w->renders);
    worker_check_drained(w);
}

struct sweep_job {
    struct job job;
    struct store *store;
    struct records *records;
    struct upload_store *uploads;
    int64_t retention_ms;
};

static void store_sweep_work(struct job *job)
{
    struct sweep_job *s = (struct sweep_job *)job;
    unsigned n = store_sweep(s->store, clock_wall_ms() / 1000);
    if (n)
        log_info("artifacts.expired", log_int("count", n));
}

static void records_sweep_work(struct job *job)
{
    struct sweep_job *s = (struct sweep_job *)job;
    if (records_sweep(s->records, clock_wall_ms() - s->retention_ms) < 0)
        log_warning("audit.sweep_failed", log_int("retention_ms", s->retention_ms));
    if (upload_store_sweep(s->uploads, clock_wall_ms() - UPLOADS_FORGOTTEN_MS) < 0)
        log_warning("uploads.sweep_failed", log_int("after_ms", UPLOADS_FORGOTTEN_MS));
}

static void sweep_done(struct job *job)
{
    xfree(job);
}

static void submit_sweep(struct worker *w, struct job_queue *queue, void (*work)(struct job *))
{
    struct sweep_job *s = xcalloc(1, sizeof *s);
    s->job.work = work;
    s->job.done = sweep_done;
    s->store = w->store;
    s->records = w->records;
    s->uploads = w->upload_store;
    s->retention_ms = w->config->artifacts.retention_s * 1000;
    if (job_submit(queue, &s->job) < 0)
        xfree(s);
}

/* ---- time ---- */

static void on_sweep(evutil_socket_t fd, short what, void *arg)
{
    struct worker *w = arg;
    int64_t now = clock_mono_ms();
    int64_t held = 0;
    w->now_ms = now;
    (void)fd;
    (void)what;
    for (struct exchange *ex = w->exchanges, *next; ex; ex = next) {
        next = exchange_next(ex);
        held += (int64_t)exchange_held_bytes(ex);
        exchange_tick(ex, now);
    }
    for (struct conn *c = w->conns, *next; c; c = next) {
        next = c->next;
        conn_tick(c, now);
    }
    http_client_sweep(w->client, now);
    render_pool_tick(w->renders, now);
    uploads_tick(w->uploads, clock_wall_ms());
    worker_check_drained(w);
    audit_flush(w);
    metrics_gauge_set(w->metrics, w->index, GAUGE_HELD_BYTES, held);
    metrics_gauge_set(w->metrics, w->index, GAUGE_JOBS, (int64_t)open_jobs(w));
    metrics_gauge_set(w->metrics, w->index, GAUGE_RENDERS, (int64_t)render_pool_length(w->renders));
    if (w->index == 0 && now >= w->next_store_sweep_ms && !w->draining) {
        w->next_store_sweep_ms = now + STORE_SWEEP_MS;
        submit_sweep(w, w->queues[QUEUE_DISK].jobs, store_sweep_work);
        if (w->records)
            submit_sweep(w, w->queues[QUEUE_AUDIT].jobs, records_sweep_work);
        threads_submit_sweep(w);
    }
    if (w->draining && now >= w->drain_until_ms) {
        log_warning("worker.drain_timeout", log_int("worker", w->index),
                    log_int("connections", (int64_t)w->nconns));
        event_base_loopbreak(w->base);
    }
}

static void open_listeners(struct worker *w, const int *fds, SSL_CTX *const *tls)
{
    const struct config *c = w->config;
    w->listeners = xcalloc(c->nlisteners + 1, sizeof *w->listeners);
    for (size_t i = 0; i <= c->nlisteners; i++) {
        if (fds[i] < 0)
            continue;
        struct worker_listener *l = &w->listeners[w->nlisteners++];
        l->worker = w;
        l->fd = fds[i];
        l->admin = i == c->nlisteners;
        if (!l->admin) {
            l->proxy_protocol = c->listeners[i].proxy_protocol;
            l->tls = tls[i];
        }
        event_assign(&l->on_accept, w->base, l->fd, EV_READ | EV_PERSIST, on_accept, l);
        event_add(&l->on_accept, NULL);
    }
}

/* ---- start and end ---- */

static const struct {
    const char *name; /* of the thread */
    size_t limit;     /* jobs that may wait */
} queues[QUEUES] = {[QUEUE_BODIES] = {"bodies", BODIES_QUEUE},
                    [QUEUE_DISK] = {"disk", DISK_QUEUE},
                    [QUEUE_AUDIT] = {"audit", AUDIT_QUEUE},
                    [QUEUE_JOURNALS] = {"journals", JOURNAL_QUEUE}};

static int open_stores(struct worker *w)
{
    const struct config *c = w->config;
    struct error e;
    struct store_settings s = {.state_dir = c->state_dir,
                               .retention_s = c->artifacts.retention_s,
                               .link_ttl_s = c->artifacts.link_ttl_s,
                               .inbound_ttl_s = c->timeouts.forward_ttl / 1000,
                               .public_url = c->public_url};
    w->store = store_open(&s, &e);
    if (!w->store) {
        log_error("store.open", log_str("why", e.message));
        return -1;
    }
    w->records = records_open(c->state_dir, &e);
    if (!w->records) {
        log_error("records.open", log_str("why", e.message));
        return -1;
    }
    w->upload_store = upload_store_open(c->state_dir, &e);
    if (!w->upload_store) {
        log_error("uploads.open", log_str("why", e.message));
        return -1;
    }
    w->threads = threads_open(c->state_dir, true, &e);
    if (!w->threads) {
        log_error("threads.open", log_str("why", e.message));
        return -1;
    }
    for (int q = 0; q < QUEUES; q++) {
        w->queues[q].jobs = job_queue_create(queues[q].name, queues[q].limit);
        if (!w->queues[q].jobs)
            return -1;
    }
    return 0;
}

/* Anything but a picture of a sane size is left out, with a line in the log. */
static void read_logo(struct worker *w, const char *path)
{
    char *room;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t n = -1;
    buf_init(&w->logo, LOGO_MOST);
    if (fd >= 0 && (room = buf_reserve(&w->logo, LOGO_MOST))) {
        n = read(fd, room, LOGO_MOST);
        buf_commit(&w->logo, n > 0 ? (size_t)n : 0);
    }
    if (fd >= 0)
        close(fd);
    const struct format *format = n > 0 && n < LOGO_MOST ? image_format(buf_span(&w->logo)) : NULL;
    if (format && (strcmp(format->name, "png") == 0 || strcmp(format->name, "jpg") == 0))
        w->rendered.brand.logo = buf_span(&w->logo);
    else
        log_warning("brand.logo", log_str("path", path), log_str("why", "no PNG or JPEG of less than 1 MiB"));
}

/* Borrowed from the configuration, which the worker holds to its end. */
static void take_brand(struct worker *w)
{
    const struct config *c = w->config;
    w->rendered.brand = (struct render_brand){.font = c->brand.font,
                                              .heading_font = c->brand.heading_font,
                                              .colour = c->brand.colour,
                                              .header = c->brand.header,
                                              .footer = c->brand.footer};
    if (c->brand.logo)
        read_logo(w, c->brand.logo);
}

static void open_renders(struct worker *w, const struct render_address *renderers)
{
    size_t n;
    w->renders = render_pool_open(renderers, RENDER_QUEUE, RENDER_START_MS);
    const struct render_format *list = render_pool_formats(w->renders, &n);
    for (size_t i = 0; i < n && i < RENDERED_FORMATS; i++)
        if (!extract_is_format(list[i].format))
            memcpy(w->rendered.formats[w->rendered.n++], list[i].format, sizeof w->rendered.formats[0]);
    if (renderers->n && !n)
        log_warning("renderers.none", log_int("worker", w->index),
                    log_str("why", "they offer nothing, or did not answer in time; no documents are made"));
    take_brand(w);
    w->render_cache = render_cache_create();
}

static void make_protocol(struct worker *w)
{
    struct buf formats, text;
    buf_init(&formats, LIMIT_READ);
    buf_init(&text, LIMIT_READ);
    formats_offered(&w->rendered, &formats);
    for (int images = 0; images < 2; images++) {
        buf_reset(&text);
        protocol_text(buf_span(&formats), images, &text);
        buf_init(&w->protocol[images], LIMIT_READ);
        if (json_escape(buf_span(&text), &w->protocol[images]) < 0)
            log_error("protocol.escape", log_int("images", images));
    }
    buf_free(&formats);
    buf_free(&text);
}

/* libevent's own words, such as a name server that does not answer, as a line of ours. */
static void log_libevent(int severity, const char *message)
{
    if (severity >= EVENT_LOG_WARN)
        log_warning("libevent", log_str("message", message));
}

static struct event_base *make_base(void)
{
    event_set_log_callback(log_libevent);
    struct event_config *ec = event_config_new();
    event_config_set_flag(ec, EVENT_BASE_FLAG_NOLOCK);
    struct event_base *base = event_base_new_with_config(ec);
    event_config_free(ec);
    return base;
}

static void add_events(struct worker *w)
{
    struct timeval every = {0, SWEEP_MS * 1000};
    event_assign(&w->reap, w->base, -1, EV_PERSIST, on_reap, w);
    event_assign(&w->sweep, w->base, -1, EV_PERSIST, on_sweep, w);
    event_add(&w->sweep, &every);
    for (int q = 0; q < QUEUES; q++) {
        struct worker_queue *one = &w->queues[q];
        event_assign(&one->done, w->base, job_queue_fd(one->jobs), EV_READ | EV_PERSIST, on_jobs, w);
        event_add(&one->done, NULL);
    }
    event_assign(&w->render_done, w->base, render_pool_fd(w->renders), EV_READ | EV_PERSIST, on_render, w);
    event_add(&w->render_done, NULL);
    event_assign(&w->terminate, w->base, SIGTERM, EV_SIGNAL | EV_PERSIST, on_terminate, w);
    event_add(&w->terminate, NULL);
}

/* What is still open when the loop has ended is given up. */
static void give_up(struct worker *w)
{
    while (w->conns) {
        struct conn *c = w->conns;
        struct exchange *ex = c->exchange;
        conn_abort(c, true);
        if (ex)
            exchange_client_gone(ex);
    }
    for (struct exchange *ex = w->exchanges, *next; ex; ex = next) {
        next = exchange_next(ex);
        exchange_give_up(ex);
    }
    on_reap(-1, 0, w);
}

/* One that was set up; a worker that does not start may have none yet. */
static void stop_event(struct event *e)
{
    if (event_initialized(e))
        event_del(e);
}

/* Also of a worker that did not come to its loop. */
static void worker_end(struct worker *w)
{
    for (size_t i = 0; i < w->nlisteners; i++)
        stop_event(&w->listeners[i].on_accept);
    w->draining = false; /* nothing is left to end */
    w->ended = true;
    give_up(w);
    render_pool_close(w->renders);
    job_queue_destroy(w->queues[QUEUE_BODIES].jobs);
    job_queue_destroy(w->queues[QUEUE_DISK].jobs);
    render_cache_destroy(w->render_cache);
    on_reap(-1, 0, w);
    audit_flush(w);
    uploads_stop(w->uploads);
    job_queue_destroy(w->queues[QUEUE_AUDIT].jobs);
    job_queue_destroy(w->queues[QUEUE_JOURNALS].jobs);
    uploads_destroy(w->uploads);
    sentry_destroy(w->sentry);
    stop_event(&w->sweep);
    for (int q = 0; q < QUEUES; q++)
        stop_event(&w->queues[q].done);
    stop_event(&w->render_done);
    stop_event(&w->terminate);
    stop_event(&w->reap);
    http_client_destroy(w->client);
    dialer_destroy(w->dialer);
    records_close(w->records);
    upload_store_close(w->upload_store);
    threads_close(w->threads);
    store_close(w->store);
    event_base_free(w->base);
    for (int i = 0; i < 2; i++)
        buf_free(&w->protocol[i]);
    buf_free(&w->logo);
    buf_free(&w->out);
    buf_free(&w->decoded);
    xfree(w->listeners);
    xfree(w->read_room);
    config_unref(w->config);
    xfree(w);
}

static int worker_start(struct worker *w, const int *fds, SSL_CTX *const *tls,
                        const struct render_address *renderers)
{
    if (open_stores(w) < 0)
        return -1;
    open_renders(w, renderers);
    make_protocol(w);
    w->dialer = dialer_create(w->base);
    w->client = http_client_create(w->base, w->dialer, w->read_room, IDLE_UPSTREAMS);
    w->uploads = uploads_create(w->base, w->client, w->queues[QUEUE_AUDIT].jobs, w->upload_store, w->store,
                                w->metrics);
    w->sentry = sentry_create(w);
    add_events(w);
    open_listeners(w, fds, tls);
    return 0;
}

int worker_run(unsigned index, struct config *config, const int *fds, SSL_CTX *const *tls,
               struct metrics *metrics, const struct render_address *renderers, int ready)
{
    struct worker *w = xcalloc(1, sizeof *w);
    int status = 1;
    w->index = index;
    w->config = config;
    w->metrics = metrics;
    w->base = make_base();
    w->read_room = xmalloc(LIMIT_READ);
    buf_init(&w->out, OUT_MAX);
    worker_out_reset(&w->out);
    w->now_ms = clock_mono_ms();
    buf_init(&w->decoded, 2 * LIMIT_READ);
    if (worker_start(w, fds, tls, renderers) < 0)
        goto out;
    log_info("worker.started", log_int("worker", index));
    if (ready >= 0) {
        if (write(ready, "", 1) < 0)
            log_warning("worker.ready", log_str("why", strerror(errno)));
        close(ready);
    }
    event_base_dispatch(w->base);
    log_info("worker.ended", log_int("worker", index));
    status = 0;
out:
    worker_end(w);
    return status;
}
