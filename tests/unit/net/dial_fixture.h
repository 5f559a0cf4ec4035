#ifndef TESTS_UNIT_NET_DIAL_FIXTURE_H
#define TESTS_UNIT_NET_DIAL_FIXTURE_H
/* A dialer, and servers for it to reach, in one event loop. */
#include <event2/event.h>
#include <fcntl.h>

#include "base/xalloc.h"
#include "net/dial_parts.h"
#include "net/tls.h"
#include "tls_fixture.h"

enum { CONNECTIONS = 64 };

/* What a server does with each connection: optionally it reads a request's head and answers `answer` (a
 * proxy), then speaks TLS, then sends "hi". */
struct server {
    struct event_base *base;
    int fd;
    uint16_t port;
    struct event *readable;
    SSL_CTX *tls;
    const char *answer; /* NULL: no proxy */
    bool by_bytes;      /* the answer's bytes one at a time */
    const char *greeting;
    bool silent;        /* accepts and says nothing */
    char request[4096]; /* what the last client of a proxy sent */
    size_t request_n;
    bool sni; /* the last TLS client named a host */
    unsigned accepted;
    struct peer {
        struct server *server;
        struct stream s;
        struct event *event;
        bool answered, greeted;
        size_t sent;
    } peers[CONNECTIONS];
};

static inline void peer_end(struct peer *p)
{
    if (p->event)
        event_free(p->event);
    p->event = NULL;
    stream_close(&p->s, false);
}

/* Whether the proxy's part is over. */
static inline bool peer_as_proxy(struct peer *p)
{
    static const struct timeval pause = {.tv_usec = 200};
    struct server *s = p->server;
    if (!s->answer || p->answered)
        return true;
    if (p->sent == 0) {
        ssize_t n =
            recv(p->s.fd, s->request + s->request_n, sizeof s->request - 1 - s->request_n, MSG_DONTWAIT);
        if (n <= 0) {
            peer_end(p);
            return false;
        }
        s->request_n += (size_t)n;
        s->request[s->request_n] = '\0';
        if (!strstr(s->request, "\r\n\r\n"))
            return false;
    }
    size_t n = strlen(s->answer);
    ssize_t sent = send(p->s.fd, s->answer + p->sent, s->by_bytes ? 1 : n, MSG_NOSIGNAL);
    if (sent <= 0) {
        peer_end(p);
        return false;
    }
    p->sent += (size_t)sent;
    p->answered = p->sent == n;
    if (!p->answered) {
        event_add(p->event, &pause);
        return false;
    }
    event_remove_timer(p->event);
    if (!strstr(s->answer, " 2"))
        peer_end(p);
    return p->s.fd >= 0;
}

static inline void on_peer(evutil_socket_t fd, short what, void *arg)
{
    struct peer *p = arg;
    struct server *s = p->server;
    char room[256];
    (void)fd;
    (void)what;
    if (s->silent || !peer_as_proxy(p))
        return;
    if (s->tls && !p->s.ssl)
        p->s.ssl = tls_accept(s->tls, p->s.fd);
    ssize_t n = stream_read(&p->s, room, sizeof room);
    if (n == STREAM_EOF || n == STREAM_BROKEN) {
        peer_end(p);
        return;
    }
    if (p->s.ssl)
        s->sni = SSL_get_servername(p->s.ssl, TLSEXT_NAMETYPE_host_name) != NULL;
    if (!p->greeted && (!p->s.ssl || SSL_is_init_finished(p->s.ssl)))
        p->greeted = stream_write(&p->s, s->greeting, strlen(s->greeting)) > 0;
}

static inline void on_connection(evutil_socket_t fd, short what, void *arg)
{
    struct server *s = arg;
    (void)what;
    int at = accept4(fd, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
    if (at < 0)
        return;
    assert_true(s->accepted < CONNECTIONS);
    struct peer *p = &s->peers[s->accepted++];
    *p = (struct peer){.server = s, .s = {.fd = at}};
    p->event = event_new(s->base, at, EV_READ | EV_PERSIST, on_peer, p);
    event_add(p->event, NULL);
    if (!s->tls && !s->answer)
        event_active(p->event, EV_READ, 0);
}

/* On 127.0.0.`last` and the port, 0: any. */
static inline void server_start_at(struct server *s, struct event_base *base, uint8_t last, uint16_t port)
{
    struct sockaddr_in at = {
        .sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK - 1 + last)}, .sin_port = htons(port)};
    socklen_t n = sizeof at;
    int on = 1;
    *s = (struct server){.base = base, .greeting = "hi"};
    s->fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    assert_int_equal(setsockopt(s->fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on), 0);
    assert_int_equal(bind(s->fd, (struct sockaddr *)&at, sizeof at), 0);
    assert_int_equal(listen(s->fd, 64), 0);
    assert_int_equal(getsockname(s->fd, (struct sockaddr *)&at, &n), 0);
    s->port = ntohs(at.sin_port);
    s->readable = event_new(base, s->fd, EV_READ | EV_PERSIST, on_connection, s);
    event_add(s->readable, NULL);
}

static inline void server_start(struct server *s, struct event_base *base, const char *certificate)
{
    server_start_at(s, base, 1, 0);
    if (certificate) {
        char pem[32], key[32];
        struct error e;
        snprintf(pem, sizeof pem, "%s.pem", certificate);
        snprintf(key, sizeof key, "%s.key", certificate);
        s->tls = tls_server_context(fixture_path(pem), fixture_path(key), &e);
        assert_non_null(s->tls);
    }
}

static inline void server_end(struct server *s)
{
    for (unsigned i = 0; i < s->accepted; i++)
        peer_end(&s->peers[i]);
    event_free(s->readable);
    close(s->fd);
    SSL_CTX_free(s->tls);
}

/* A port of 127.0.0.1 where nobody listens. */
static inline uint16_t closed_port(void)
{
    struct sockaddr_in at;
    int fd = fixture_listen(&at);
    close(fd);
    return ntohs(at.sin_port);
}

/* ---- the caller's side ---- */

struct outcome {
    struct event_base *base;
    unsigned calls;
    struct stream s;
    struct error e;
};

static inline void on_dialled(void *arg, const struct stream *s, const struct error *e)
{
    struct outcome *o = arg;
    o->calls++;
    if (s)
        o->s = *s;
    else
        o->e = *e;
    event_base_loopbreak(o->base);
}

static inline struct outcome outcome_of(struct event_base *base)
{
    return (struct outcome){.base = base, .s = stream_closed()};
}

/* Runs the loop for so long, or until somebody breaks it. */
static inline void turn(struct event_base *base, int ms)
{
    struct timeval limit = {.tv_sec = ms / 1000, .tv_usec = ms % 1000 * 1000};
    event_base_loopexit(base, &limit);
    event_base_dispatch(base);
}

static inline struct outcome dial_for(struct dialer *d, const char *host, uint16_t port, bool tls, int64_t ms)
{
    struct outcome o = outcome_of(d->base);
    struct dial_target target = {host, port, tls, ms};
    assert_non_null(dial_start(d, &target, on_dialled, &o));
    assert_int_equal(o.calls, 0);
    turn(d->base, 8000);
    assert_int_equal(o.calls, 1);
    return o;
}

static inline struct outcome dial_to(struct dialer *d, const char *host, uint16_t port, bool tls)
{
    return dial_for(d, host, port, tls, 5000);
}

/* Reads the server's "hi"; closes. */
static inline void expect_greeting(struct event_base *base, struct outcome *o)
{
    char room[16];
    ssize_t n = STREAM_AGAIN;
    if (o->s.fd < 0)
        print_error("%s\n", o->e.message);
    assert_true(o->s.fd >= 0);
    for (int i = 0; i < 100 && n == STREAM_AGAIN; i++) {
        turn(base, 20);
        n = stream_read(&o->s, room, sizeof room);
    }
    assert_int_equal(n, 2);
    assert_memory_equal(room, "hi", 2);
    stream_close(&o->s, false);
}

static inline void expect_failure(const struct outcome *o, enum error_code code, const char *part)
{
    assert_int_equal(o->s.fd, -1);
    if (!strstr(o->e.message, part))
        print_error("no '%s' in: %s\n", part, o->e.message);
    assert_non_null(strstr(o->e.message, part));
    assert_int_equal(o->e.code, code);
}

static inline struct event_base *loop_create(void)
{
    static const char *const variables[] = {"http_proxy", "HTTP_PROXY", "https_proxy", "HTTPS_PROXY",
                                            "no_proxy",   "NO_PROXY",   "ALL_PROXY",   "all_proxy"};
    for (size_t i = 0; i < sizeof variables / sizeof variables[0]; i++)
        unsetenv(variables[i]);
    assert_int_equal(setenv("SSL_CERT_FILE", fixture_path("ca.pem"), 1), 0);
    assert_int_equal(setenv("SSL_CERT_DIR", "/nonexistent", 1), 0);
    struct event_base *base = event_base_new();
    assert_non_null(base);
    return base;
}

static inline void loop_destroy(struct event_base *base)
{
    turn(base, 10);
    event_base_free(base);
}

#endif
