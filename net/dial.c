/*
 * The steps of one dial. Each is left through enter(), which is also the only place that arms the dial's
 * event.
 *
 *   BEGIN -> LOOKUP -> CONNECT -> PROXY_ASK -> PROXY_ANSWER -> TLS -> done
 *
 * LOOKUP is left out for an address that is known, the PROXY steps without a proxy, TLS for an http target.
 *
 * Any of them ends in failure, by the one timer of the whole dial in UPSTREAM_TIMEOUT. BEGIN exists so that
 * nothing is called back from inside of dial_start. Whoever ends a dial does so as the last thing in its
 * callback.
 */
#include "net/dial.h"

#include <errno.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/xalloc.h"
#include "net/dial_parts.h"
#include "net/dial_race.h"

enum step { STEP_BEGIN, STEP_LOOKUP, STEP_CONNECT, STEP_PROXY_ASK, STEP_PROXY_ANSWER, STEP_TLS };

struct dial {
    struct dialer *dialer;
    struct dial *next, **link; /* in dialer->dials */
    struct dial_target target;
    dial_cb done;
    void *arg;

    enum step step;
    struct event *timer; /* of the whole dial */
    struct event *io;    /* of the current step; in BEGIN activated by hand */
    struct dial_proxy proxy;
    char *hop; /* who is connected to: the proxy or the target */
    struct dial_lookup *lookup;
    struct dial_race race;
    struct stream stream;
    struct buf bytes; /* what is left to send to the proxy, then what it has answered */
};

static void on_step(evutil_socket_t fd, short what, void *arg);

struct dialer *dialer_create(struct event_base *base)
{
    struct dialer *d = xcalloc(1, sizeof *d);
    d->base = base;
    d->dns = dial_dns_create(base);
    d->tls = dial_tls_create();
    dial_proxy_environment(&d->proxies);
    return d;
}

void dialer_destroy(struct dialer *d)
{
    if (!d)
        return;
    while (d->dials)
        dial_cancel(d->dials);
    dial_dns_destroy(d->dns);
    dial_tls_destroy(d->tls);
    dial_proxy_settings_free(&d->proxies);
    xfree(d);
}

static void dial_free(struct dial *d)
{
    *d->link = d->next;
    if (d->next)
        d->next->link = d->link;
    if (d->timer)
        event_free(d->timer);
    if (d->io)
        event_free(d->io);
    dial_dns_cancel(d->lookup);
    dial_race_finish(&d->race);
    stream_close(&d->stream, true);
    buf_free(&d->bytes);
    xfree(d->hop);
    xfree(d);
}

void dial_cancel(struct dial *dial)
{
    if (dial)
        dial_free(dial);
}

static void fail(struct dial *d, const struct error *e)
{
    dial_cb done = d->done;
    void *arg = d->arg;
    dial_free(d);
    done(arg, NULL, e);
}

static void fail_because(struct dial *d, const char *why)
{
    struct error e;
    error_set(
        &e, ERROR_UPSTREAM_UNREACHABLE,
        "cannot connect to %.*s:%u%s: %s. Check that it runs and that its provider's base_url is right.",
        DIAL_NAME, d->target.host, d->target.port,
        d->proxy.host.n ? " through the proxy that the environment names" : "", why);
    fail(d, &e);
}

static void succeed(struct dial *d)
{
    dial_cb done = d->done;
    void *arg = d->arg;
    struct stream s = d->stream;
    d->stream = stream_closed();
    dial_free(d);
    done(arg, &s, NULL);
}

/* The next step's wait: for `what` on the connected socket. */
static void enter(struct dial *d, enum step step, short what)
{
    d->step = step;
    if (d->io && event_get_events(d->io) == what) {
        if (event_add(d->io, NULL) == 0)
            return;
    } else {
        if (d->io)
            event_free(d->io);
        d->io = event_new(d->dialer->base, d->stream.fd, what, on_step, d);
        if (d->io && event_add(d->io, NULL) == 0)
            return;
    }
    fail_because(d, "out of memory");
}

static void on_timer(evutil_socket_t fd, short what, void *arg)
{
    static const char *const waits_for[] = {
        [STEP_BEGIN] = "nothing was begun",
        [STEP_LOOKUP] = "its name was not found",
        [STEP_CONNECT] = "no connection was accepted",
        [STEP_PROXY_ASK] = "the proxy did not answer",
        [STEP_PROXY_ANSWER] = "the proxy did not answer",
        [STEP_TLS] = "the TLS handshake did not end",
    };
    (void)fd;
    (void)what;
    struct dial *d = arg;
    struct error e;
    error_set(&e, ERROR_UPSTREAM_TIMEOUT, "cannot connect to %.*s:%u: %s within %lld ms", DIAL_NAME,
              d->target.host, d->target.port, waits_for[d->step], (long long)d->target.timeout_ms);
    fail(d, &e);
}

/* ---- TLS ---- */

static void tls_go_on(struct dial *d)
{
    const char *why = NULL;
    switch (dial_tls_step(d->stream.ssl, &why)) {
    case DIAL_TLS_DONE:
        succeed(d);
        return;
    case DIAL_TLS_WANT_READ:
        enter(d, STEP_TLS, EV_READ);
        return;
    case DIAL_TLS_WANT_WRITE:
        enter(d, STEP_TLS, EV_WRITE);
        return;
    case DIAL_TLS_FAILED:
        break;
    }
    struct error e;
    error_set(&e, ERROR_UPSTREAM_UNREACHABLE, "no TLS connection to %.*s:%u: %s", DIAL_NAME, d->target.host,
              d->target.port, why);
    fail(d, &e);
}

/* The way to the target stands. */
static void way_open(struct dial *d)
{
    const char *why = NULL;
    if (!d->target.tls) {
        succeed(d);
        return;
    }
    d->stream.ssl = dial_tls_start(d->dialer->tls, d->stream.fd, d->target.host, d->target.port, &why);
    if (d->stream.ssl)
        tls_go_on(d);
    else
        fail_because(d, why);
}

/* ---- the proxy ---- */

static void proxy_ask(struct dial *d)
{
    struct span rest = buf_span(&d->bytes);
    ssize_t sent = stream_write(&d->stream, rest.p, rest.n);
    if (sent == STREAM_BROKEN) {
        fail_because(d, "the proxy closed the connection");
        return;
    }
    if (sent > 0)
        buf_consume(&d->bytes, (size_t)sent);
    if (d->bytes.n)
        enter(d, STEP_PROXY_ASK, EV_WRITE);
    else
        enter(d, STEP_PROXY_ANSWER, EV_READ);
}

static void proxy_refused(struct dial *d, int status)
{
    char why[64];
    if (status == 407)
        snprintf(why, sizeof why, "the proxy wants other credentials (407)");
    else
        snprintf(why, sizeof why, "the proxy answered %d", status);
    fail_because(d, why);
}

static void proxy_answer(struct dial *d)
{
    size_t head = 0;
    /* Never more than the cap together; the head is small, and nothing may come behind it before we speak. */
    size_t room = DIAL_PROXY_REPLY - d->bytes.n;
    char *to = buf_reserve(&d->bytes, room);
    ssize_t got = to ? stream_read(&d->stream, to, room) : STREAM_BROKEN;
    if (got == STREAM_AGAIN) {
        enter(d, STEP_PROXY_ANSWER, EV_READ);
        return;
    }
    if (got <= 0) {
        fail_because(d, "the proxy closed the connection");
        return;
    }
    buf_commit(&d->bytes, (size_t)got);
    int status = dial_proxy_reply(buf_span(&d->bytes), &head);
    if (status == 0) {
        enter(d, STEP_PROXY_ANSWER, EV_READ);
    } else if (status < 0) {
        fail_because(d, "the proxy's answer is not HTTP");
    } else if (status < 200 || status > 299) {
        proxy_refused(d, status);
    } else if (head != d->bytes.n) {
        fail_because(d, "the proxy sent more than its answer");
    } else {
        buf_free(&d->bytes);
        way_open(d);
    }
}

/* ---- name and connection ---- */

static void on_connected(void *arg, int fd, const union dial_address *winner, int failure)
{
    struct dial *d = arg;
    if (fd < 0) {
        fail_because(d, strerror(failure));
        return;
    }
    d->stream.fd = fd;
    dial_dns_prefer(d->dialer->dns, d->hop, winner);
    if (!d->proxy.host.n) {
        way_open(d);
        return;
    }
    if (dial_proxy_request(&d->proxy, d->target.host, d->target.port, &d->bytes) != 0) {
        fail_because(d, "the host's name, or the proxy's user or password, cannot be sent to the proxy");
        return;
    }
    proxy_ask(d);
}

static void connect_to(struct dial *d, const struct dial_addresses *addresses)
{
    d->step = STEP_CONNECT;
    dial_race_start(&d->race, d->dialer->base, addresses, d->proxy.host.n ? d->proxy.port : d->target.port,
                    on_connected, d);
}

static void on_found(void *arg, const struct dial_addresses *found, const char *why)
{
    struct dial *d = arg;
    d->lookup = NULL;
    if (found)
        connect_to(d, found);
    else
        fail_because(d, why);
}

static void begin(struct dial *d)
{
    struct dial_addresses known;
    const char *why = NULL;
    if (dial_proxy_choose(&d->dialer->proxies, d->target.host, d->target.port, d->target.tls, &d->proxy,
                          &why)) {
        d->proxy = (struct dial_proxy){0};
        struct error e;
        error_set(&e, ERROR_UPSTREAM_UNREACHABLE, "%s in the environment: %s",
                  dial_proxy_variable(&d->dialer->proxies, d->target.tls), why);
        fail(d, &e);
        return;
    }
    d->hop = d->proxy.host.n ? xspandup(d->proxy.host) : xstrdup(d->target.host);
    if (dial_dns_known(d->dialer->dns, d->hop, &known)) {
        connect_to(d, &known);
        return;
    }
    d->step = STEP_LOOKUP;
    d->lookup = dial_dns_ask(d->dialer->dns, d->hop, on_found, d);
    if (!d->lookup)
        fail_because(d, "the name could not be looked up");
}

static void on_step(evutil_socket_t fd, short what, void *arg)
{
    (void)fd;
    (void)what;
    struct dial *d = arg;
    switch (d->step) {
    case STEP_BEGIN:
        event_free(d->io); /* it belongs to no socket */
        d->io = NULL;
        begin(d);
        return;
    case STEP_PROXY_ASK:
        proxy_ask(d);
        return;
    case STEP_PROXY_ANSWER:
        proxy_answer(d);
        return;
    case STEP_TLS:
        tls_go_on(d);
        return;
    case STEP_LOOKUP:
    case STEP_CONNECT:
        return;
    }
}

struct dial *dial_start(struct dialer *dialer, const struct dial_target *target, dial_cb done, void *arg)
{
    struct dial *d = xcalloc(1, sizeof *d);
    int64_t ms = target->timeout_ms > 0 ? target->timeout_ms : 1;
    struct timeval limit = {.tv_sec = ms / 1000, .tv_usec = ms % 1000 * 1000};
    d->dialer = dialer;
    d->target = *target;
    d->done = done;
    d->arg = arg;
    d->stream = stream_closed();
    buf_init(&d->bytes, DIAL_PROXY_REPLY);
    d->next = dialer->dials;
    d->link = &dialer->dials;
    if (d->next)
        d->next->link = &d->next;
    dialer->dials = d;
    d->timer = evtimer_new(dialer->base, on_timer, d);
    d->io = event_new(dialer->base, -1, 0, on_step, d);
    if (!d->timer || !d->io || event_add(d->timer, &limit) != 0) {
        dial_free(d);
        return NULL;
    }
    event_active(d->io, EV_TIMEOUT, 0);
    return d;
}
