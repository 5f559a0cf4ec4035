/* Dialling: addresses, races, names, TLS and its failures, the timer, and being cancelled at any time. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <netinet/tcp.h>

#include "base/clock.h"
#include "dial_fixture.h"
#include "net/dial_race.h"

static void plain(void **state)
{
    (void)state;
    struct event_base *base = loop_create();
    struct dialer *d = dialer_create(base);
    struct server s;
    int on = 0;
    socklen_t n = sizeof on;
    server_start(&s, base, NULL);
    static const char *const hosts[] = {"127.0.0.1", "localhost", "LOCALHOST", "api.localhost", "localhost."};
    for (size_t i = 0; i < sizeof hosts / sizeof hosts[0]; i++) {
        struct outcome o = dial_to(d, hosts[i], s.port, false);
        assert_true(o.s.fd >= 0);
        assert_null(o.s.ssl);
        assert_int_equal(getsockopt(o.s.fd, IPPROTO_TCP, TCP_NODELAY, &on, &n), 0);
        assert_true(on);
        assert_true(fcntl(o.s.fd, F_GETFL) & O_NONBLOCK);
        assert_true(fcntl(o.s.fd, F_GETFD) & FD_CLOEXEC);
        expect_greeting(base, &o);
    }
    server_end(&s);
    dialer_destroy(d);
    loop_destroy(base);
}

static void refused(void **state)
{
    (void)state;
    struct event_base *base = loop_create();
    struct dialer *d = dialer_create(base);
    uint16_t port = closed_port();
    char place[32];
    struct outcome o = dial_to(d, "127.0.0.1", port, true);
    snprintf(place, sizeof place, "127.0.0.1:%u:", port);
    expect_failure(&o, ERROR_UPSTREAM_UNREACHABLE, "Connection refused");
    expect_failure(&o, ERROR_UPSTREAM_UNREACHABLE, place);
    o = dial_to(d, "localhost", port, false);
    expect_failure(&o, ERROR_UPSTREAM_UNREACHABLE, "Connection refused");
    o = dial_to(d, "", port, false);
    expect_failure(&o, ERROR_UPSTREAM_UNREACHABLE, "could not be looked up");
    dialer_destroy(d);
    loop_destroy(base);
}

static void v4(union dial_address *a, uint8_t last)
{
    *a = (union dial_address){.v4 = {.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK - 1 + last)}}};
}

/* A listener whose backlog is full: who connects there waits. */
struct hole {
    int listener, clients[4];
};

static void hole_start(struct hole *h, uint8_t last, uint16_t port)
{
    struct sockaddr_in at = {
        .sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK - 1 + last)}, .sin_port = htons(port)};
    h->listener = socket(AF_INET, SOCK_STREAM, 0);
    assert_int_equal(bind(h->listener, (struct sockaddr *)&at, sizeof at), 0);
    assert_int_equal(listen(h->listener, 0), 0);
    for (size_t i = 0; i < 4; i++) {
        h->clients[i] = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
        (void)!connect(h->clients[i], (struct sockaddr *)&at, sizeof at);
    }
}

static void hole_end(struct hole *h)
{
    for (size_t i = 0; i < 4; i++)
        close(h->clients[i]);
    close(h->listener);
}

static void second_address(void **state)
{
    (void)state;
    struct event_base *base = loop_create();
    struct dialer *d = dialer_create(base);
    struct server s;
    struct dial_addresses a = {.n = 3};
    server_start_at(&s, base, 2, 0);
    a.list[0].v6 = (struct sockaddr_in6){.sin6_family = AF_INET6};
    inet_pton(AF_INET6, "100::1", &a.list[0].v6.sin6_addr); /* no route, or refused */
    v4(&a.list[1], 1);                                      /* nobody listens here */
    v4(&a.list[2], 2);
    dial_dns_remember(d->dns, "two.test", &a, 60000);
    struct outcome o = dial_to(d, "two.test", s.port, false);
    expect_greeting(base, &o);
    /* The one that worked goes first from now on. */
    struct dial_addresses now;
    assert_true(dial_dns_known(d->dns, "TWO.test", &now));
    assert_true(dial_address_same(&now.list[0], &a.list[2]));
    assert_true(dial_address_same(&now.list[1], &a.list[0]));
    assert_int_equal(now.n, 3);
    server_end(&s);
    dialer_destroy(d);
    loop_destroy(base);
}

static void head_start(void **state)
{
    (void)state;
    struct event_base *base = loop_create();
    struct dialer *d = dialer_create(base);
    struct server s;
    struct hole h;
    struct dial_addresses a = {.n = 2};
    server_start_at(&s, base, 2, 0);
    hole_start(&h, 3, s.port);
    v4(&a.list[0], 3);
    v4(&a.list[1], 2);
    dial_dns_remember(d->dns, "slow.test", &a, 60000);
    int64_t began = clock_mono_ms();
    struct outcome o = dial_to(d, "slow.test", s.port, false);
    int64_t took = clock_mono_ms() - began;
    assert_in_range(took, DIAL_HEAD_START_MS - 5, 900);
    expect_greeting(base, &o);
    /* Everything hangs: the timer. */
    a.n = 1;
    dial_dns_remember(d->dns, "hole.test", &a, 60000);
    o = dial_for(d, "hole.test", s.port, false, 120);
    expect_failure(&o, ERROR_UPSTREAM_TIMEOUT, "no connection was accepted within 120 ms");
    /* The last failure ends the race although the head start of the next has long begun. */
    v4(&a.list[0], 4);
    v4(&a.list[1], 5);
    a.n = 2;
    dial_dns_remember(d->dns, "none.test", &a, 60000);
    o = dial_to(d, "none.test", s.port, false);
    expect_failure(&o, ERROR_UPSTREAM_UNREACHABLE, "Connection refused");
    hole_end(&h);
    server_end(&s);
    dialer_destroy(d);
    loop_destroy(base);
}

static void remember(struct dialer *d, const char *name)
{
    struct dial_addresses a = {.n = 1};
    v4(&a.list[0], 1);
    dial_dns_remember(d->dns, name, &a, 60000);
}

static void tls_names(void **state)
{
    (void)state;
    static const struct {
        const char *certificate, *host, *failure; /* NULL: good */
    } table[] = {
        {"right", "localhost", NULL},
        {"right", "localhost.", NULL},
        {"right", "127.0.0.1", NULL},
        {"right", "a.good.test", NULL},
        {"right", "a.b.good.test", "ostname mismatch"},
        {"right", "good.test", "ostname mismatch"},
        {"wrong", "localhost", "ostname mismatch"},
        {"wrong", "127.0.0.1", "IP address mismatch"},
        {"expired", "localhost", "certificate has expired"},
        {"self", "localhost", "self-signed certificate"},
        {NULL, "localhost", "wrong version number"},
    };
    struct event_base *base = loop_create();
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
        struct dialer *d = dialer_create(base);
        struct server s;
        server_start(&s, base, table[i].certificate);
        if (!table[i].certificate)
            s.greeting = "HTTP/1.1 400 Bad Request\r\n\r\n";
        if (strstr(table[i].host, ".test"))
            remember(d, table[i].host);
        struct outcome o = dial_to(d, table[i].host, s.port, true);
        if (table[i].failure) {
            expect_failure(&o, ERROR_UPSTREAM_UNREACHABLE, table[i].failure);
            expect_failure(&o, ERROR_UPSTREAM_UNREACHABLE, "no TLS connection to");
        } else {
            const unsigned char *alpn;
            unsigned n;
            assert_true(o.s.fd >= 0 && o.s.ssl);
            SSL_get0_alpn_selected(o.s.ssl, &alpn, &n);
            assert_int_equal(n, 8);
            expect_greeting(base, &o);
            assert_int_equal(s.sni, strcmp(table[i].host, "127.0.0.1") != 0);
        }
        server_end(&s);
        dialer_destroy(d);
    }
    loop_destroy(base);
}

static void tls_session(void **state)
{
    (void)state;
    struct event_base *base = loop_create();
    struct dialer *d = dialer_create(base);
    struct server s, other;
    server_start(&s, base, "right");
    server_start(&other, base, "right");
    for (int i = 0; i < 3; i++) {
        struct outcome o = dial_to(d, "localhost", s.port, true);
        assert_true(o.s.fd >= 0);
        assert_int_equal(SSL_session_reused(o.s.ssl), i > 0);
        expect_greeting(base, &o);
    }
    /* Another origin has none of it. */
    struct outcome o = dial_to(d, "localhost", other.port, true);
    assert_int_equal(SSL_session_reused(o.s.ssl), 0);
    /* A connection may outlive its dialer. */
    dialer_destroy(d);
    expect_greeting(base, &o);
    server_end(&s);
    server_end(&other);
    loop_destroy(base);
}

static int choose_h2(SSL *ssl, const unsigned char **out, unsigned char *n, const unsigned char *in,
                     unsigned in_n, void *arg)
{
    (void)ssl;
    (void)in;
    (void)in_n;
    (void)arg;
    *out = (const unsigned char *)"h2";
    *n = 2;
    return SSL_TLSEXT_ERR_OK;
}

static void tls_another_protocol(void **state)
{
    (void)state;
    struct event_base *base = loop_create();
    struct dialer *d = dialer_create(base);
    struct server s;
    server_start(&s, base, "right");
    SSL_CTX_set_alpn_select_cb(s.tls, choose_h2, NULL);
    struct outcome o = dial_to(d, "localhost", s.port, true);
    expect_failure(&o, ERROR_UPSTREAM_UNREACHABLE, "no TLS connection to");
    /* No ALPN at all is fine. */
    SSL_CTX_set_alpn_select_cb(s.tls, NULL, NULL);
    o = dial_to(d, "localhost", s.port, true);
    expect_greeting(base, &o);
    /* Nothing older than 1.2. */
    SSL_CTX_set_min_proto_version(s.tls, TLS1_VERSION);
    SSL_CTX_set_max_proto_version(s.tls, TLS1_1_VERSION);
    o = dial_to(d, "localhost", s.port, true);
    expect_failure(&o, ERROR_UPSTREAM_UNREACHABLE, "no TLS connection to");
    server_end(&s);
    dialer_destroy(d);
    loop_destroy(base);
}

static void tls_silence(void **state)
{
    (void)state;
    struct event_base *base = loop_create();
    struct dialer *d = dialer_create(base);
    struct server s;
    server_start(&s, base, "right");
    s.silent = true;
    struct outcome o = dial_for(d, "localhost", s.port, true, 100);
    expect_failure(&o, ERROR_UPSTREAM_TIMEOUT, "the TLS handshake did not end within 100 ms");
    server_end(&s);
    dialer_destroy(d);
    loop_destroy(base);
}

/* ---- a name server ---- */

struct names {
    int fd;
    uint16_t port;
    struct event *readable;
    unsigned questions;
    bool silent;
};

/* A for good.test: 127.0.0.1; nothing else exists. */
static void on_question(evutil_socket_t fd, short what, void *arg)
{
    static const uint8_t answer[] = {0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 60, 0, 4, 127, 0, 0, 1};
    static const uint8_t known[] = "\4good\4test";
    struct names *names = arg;
    struct sockaddr_in from;
    socklen_t from_n = sizeof from;
    uint8_t q[512 + sizeof answer];
    (void)what;
    ssize_t n = recvfrom(fd, q, 512, 0, (struct sockaddr *)&from, &from_n);
    if (n < 12 + (ssize_t)sizeof known + 4)
        return;
    names->questions++;
    if (names->silent)
        return;
    bool exists = strncasecmp((char *)q + 12, (const char *)known, sizeof known) == 0;
    bool a = q[12 + sizeof known + 1] == 1;
    n = 12 + (ssize_t)sizeof known + 4;
    if (!exists) {
        const uint8_t *end = memchr(q + 12, 0, 256);
        n = end - q + 5;
    }
    q[2] = 0x81;
    q[3] = exists ? 0x80 : 0x83;
    memset(q + 6, 0, 6);
    if (exists && a) {
        q[7] = 1;
        memcpy(q + n, answer, sizeof answer);
        n += (ssize_t)sizeof answer;
    }
    (void)!sendto(fd, q, (size_t)n, 0, (struct sockaddr *)&from, from_n);
}

static void names_start(struct names *names, struct dialer *d)
{
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
    socklen_t n = sizeof at;
    char text[32];
    *names = (struct names){.fd = socket(AF_INET, SOCK_DGRAM | SOCK_NONBLOCK, 0)};
    assert_int_equal(bind(names->fd, (struct sockaddr *)&at, sizeof at), 0);
    assert_int_equal(getsockname(names->fd, (struct sockaddr *)&at, &n), 0);
    names->port = ntohs(at.sin_port);
    names->readable = event_new(d->base, names->fd, EV_READ | EV_PERSIST, on_question, names);
    event_add(names->readable, NULL);
    snprintf(text, sizeof text, "127.0.0.1:%u", names->port);
    dial_dns_use_server(d->dns, text);
}

static void names_end(struct names *names)
{
    event_free(names->readable);
    close(names->fd);
}

static void names_looked_up(void **state)
{
    (void)state;
    struct event_base *base = loop_create();
    struct dialer *d = dialer_create(base);
    struct names names;
    struct server s;
    names_start(&names, d);
    server_start(&s, base, NULL);
    struct outcome others[3], o;
    struct dial_target target = {"Good.test", s.port, false, 5000};
    for (int i = 0; i < 3; i++) {
        others[i] = outcome_of(base);
        assert_non_null(dial_start(d, &target, on_dialled, &others[i]));
    }
    o = dial_to(d, "good.test", s.port, false);
    expect_greeting(base, &o);
    for (int i = 0; i < 3; i++) {
        turn(base, 50);
        assert_int_equal(others[i].calls, 1);
        stream_close(&others[i].s, false);
    }
    assert_int_equal(names.questions, 2); /* A and AAAA, for all of them */
    o = dial_to(d, "GOOD.test", s.port, false);
    expect_greeting(base, &o);
    assert_int_equal(names.questions, 2);
    o = dial_to(d, "nonexistent.example.test", s.port, false);
    expect_failure(&o, ERROR_UPSTREAM_UNREACHABLE, "name not found");
    names.silent = true;
    o = dial_for(d, "silent.example.test", s.port, false, 150);
    expect_failure(&o, ERROR_UPSTREAM_TIMEOUT, "its name was not found within 150 ms");
    /* The query of the last one is still under way here. */
    server_end(&s);
    dialer_destroy(d);
    turn(base, 50);
    names_end(&names);
    loop_destroy(base);
}

/* After any number of loop turns, by hand or with the dialer, and with everything on the way: name, proxy,
 * TLS. */
static void cancelled_at_any_time(void **state)
{
    (void)state;
    bool ended = false;
    for (int turns = 0; !ended; turns++) {
        assert_in_range(turns, 0, 200);
        for (int with_dialer = 0; with_dialer < 2; with_dialer++) {
            struct event_base *base = loop_create();
            struct dialer *d = dialer_create(base);
            struct names names;
            struct server s;
            struct outcome o = outcome_of(base);
            struct dial_target target = {"localhost", 443, true, 5000};
            char proxy[64];
            names_start(&names, d);
            server_start(&s, base, "right");
            s.answer = "HTTP/1.1 200 OK\r\n\r\n";
            s.by_bytes = true;
            snprintf(proxy, sizeof proxy, "http://u:p@good.test:%u", s.port);
            d->proxies.https = xstrdup(proxy);
            struct dial *dial = dial_start(d, &target, on_dialled, &o);
            assert_non_null(dial);
            for (int i = 0; i < turns && !o.calls; i++)
                event_base_loop(base, EVLOOP_ONCE);
            if (o.calls) {
                ended = true;
                assert_true(o.s.fd >= 0);
                stream_close(&o.s, false);
            } else if (!with_dialer) {
                dial_cancel(dial);
                turn(base, 3);
                assert_int_equal(o.calls, 0);
            }
            unsigned calls = o.calls;
            dialer_destroy(d);
            turn(base, 3);
            assert_int_equal(o.calls, calls);
            names_end(&names);
            server_end(&s);
            loop_destroy(base);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(plain),
        cmocka_unit_test(refused),
        cmocka_unit_test(second_address),
        cmocka_unit_test(head_start),
        cmocka_unit_test(tls_names),
        cmocka_unit_test(tls_session),
        cmocka_unit_test(tls_another_protocol),
        cmocka_unit_test(tls_silence),
        cmocka_unit_test(names_looked_up),
        cmocka_unit_test(cancelled_at_any_time),
    };
    return cmocka_run_group_tests(tests, fixture_start, fixture_end);
}
