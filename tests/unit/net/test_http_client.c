/* Calls to a scripted server over loopback, both in one event loop. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/clock.h"
#include "http_fixture.h"

static void pooled(void **state)
{
    (void)state;
    struct world *w = world_create();
    script_add(&w->server, (struct action){.send = OK2, .times = 3});
    start(w);
    assert_int_equal(http_call_unsent(w->caller.call), sizeof GET - 1);
    finish(w);
    expect_events(w, "connected head:200 body done");
    expect_body(w, "ok");
    assert_int_equal(w->caller.e.code, ERROR_NONE);
    assert_int_equal(http_client_idle(w->client), 1);
    settle(w);
    start(w);
    assert_int_equal(http_call_unsent(w->caller.call), 0);
    assert_int_equal(http_client_idle(w->client), 0);
    finish(w);
    expect_events(w, "head:200 body done"); /* no second connection */
    start_with(w, &few, GET, false, true);
    finish(w);
    assert_int_equal(w->server.accepted, 1);
    assert_int_equal(got_times(&w->server, "GET /a"), 3);
    world_destroy(w);
}

/* Connections belong to a host and a port. */
static void pools_apart(void **state)
{
    (void)state;
    struct world *w = world_create();
    script_add(&w->server, (struct action){.send = OK2, .times = 3});
    start(w);
    finish(w);
    w->target.host = "localhost";
    start(w);
    finish(w);
    expect_events(w, "connected head:200 body done");
    assert_int_equal(http_client_idle(w->client), 2);
    w->target.host = "127.0.0.1";
    start(w);
    finish(w);
    expect_events(w, "head:200 body done");
    assert_int_equal(w->server.accepted, 2);
    world_destroy(w);
}

static void pool_has_a_cap(void **state)
{
    (void)state;
    struct world *w = world_create();
    struct caller callers[6];
    script_add(&w->server, (struct action){.send = OK2, .times = 6});
    for (int i = 0; i < 6; i++) {
        callers[i] = (struct caller){.base = w->base};
        buf_init(&callers[i].events, 1000);
        buf_init(&callers[i].body, 1000);
        callers[i].call = http_call_start(w->client, &w->target, false, &all, &callers[i]);
        http_call_write(callers[i].call, SPAN_LIT(GET));
        http_call_sent_all(callers[i].call);
    }
    for (int i = 0; i < 6; i++) {
        for (int n = 0; n < 1000 && !callers[i].done; n++)
            turn(w->base, 20);
        assert_string_equal(buf_cstr(&callers[i].events), "connected head:200 body done");
        buf_free(&callers[i].events);
        buf_free(&callers[i].body);
    }
    settle(w);
    assert_int_equal(http_client_idle(w->client), 4);
    assert_int_equal(w->server.accepted, 6);
    assert_int_equal(w->server.ended, 2);
    world_destroy(w);
}

/* Replies after which the connection cannot be used again. */
static void not_reusable(void **state)
{
    (void)state;
    static const struct {
        const char *reply;
        bool then_close, unsent, no_body;
        const char *body;
    } rows[] = {
        {"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\nok", false, false, false, "ok"},
        {"HTTP/1.0 200 OK\r\nContent-Length: 2\r\n\r\nok", false, false, false, "ok"},
        {"HTTP/1.1 200 OK\r\n\r\nok", true, false, false, "ok"},
        {"HTTP/1.1 200 OK\r\nKeep-Alive: timeout=1\r\nContent-Length: 2\r\n\r\nok", false, false, false,
         "ok"},
        {"HTTP/1.1 200 OK\r\nKeep-Alive: timeout=0, max=5\r\nContent-Length: 2\r\n\r\nok", false, false,
         false, "ok"},
        {OK2 OK2, false, false, false, "ok"},
        {OK2 "\r\n", false, false, false, "ok"},
        {"HTTP/1.1 204 None\r\n\r\nok", false, false, false, ""},
        {OK2, false, false, true, ""}, /* a body after the reply to a HEAD */
        {OK2, false, true, false, "ok"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct world *w = world_create();
        script_add(&w->server,
                   (struct action){.send = rows[i].reply, .then = rows[i].then_close ? CLOSE : STAY});
        start_with(w, &all, GET, rows[i].no_body, !rows[i].unsent);
        finish(w);
        assert_int_equal(w->caller.e.code, ERROR_NONE);
        expect_body(w, rows[i].body);
        assert_int_equal(http_client_idle(w->client), 0);
        settle(w);
        if (!rows[i].then_close)
            assert_int_equal(w->server.ended, 1);
        world_destroy(w);
    }
}

static void reusable(void **state)
{
    (void)state;
    static const struct {
        const char *reply;
        bool no_body;
    } rows[] = {
        {"HTTP/1.1 204 None\r\n\r\n", false},
        {"HTTP/1.1 304 Not Modified\r\nContent-Length: 5\r\n\r\n", false},
        {"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", false},
        {"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n", true},
        {"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", false},
        {"HTTP/1.1 500 No\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n0\r\nA: b\r\n\r\n", false},
        {"HTTP/1.0 200 OK\r\nConnection: keep-alive\r\nContent-Length: 0\r\n\r\n", false},
        {"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Hints\r\nA: b\r\n\r\nHTTP/1.1 204 None\r\n\r\n", false},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct world *w = world_create();
        script_add(&w->server, (struct action){.send = rows[i].reply});
        start_with(w, &all, GET, rows[i].no_body, true);
        finish(w);
        assert_int_equal(w->caller.e.code, ERROR_NONE);
        assert_int_equal(http_client_idle(w->client), 1);
        world_destroy(w);
    }
}

static void parts_of_a_reply(void **state)
{
    (void)state;
    struct world *w = world_create();
    script_add(&w->server,
               (struct action){.send = "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nA: b\r\n\r\n"
                                       "HTTP/1.1 102 Processing\r\n\r\nHTTP/1.1 200 OK\r\n"
                                       "Transfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\nX-Sum: 1\r\n\r\n"});
    start(w);
    finish(w);
    expect_events(w, "connected interim:103 interim:102 head:200 body X-Sum=1 done");
    world_destroy(w);
}

/* Cut into every two pieces, and byte by byte. */
static void cut_replies(void **state)
{
    (void)state;
    static const char reply[] =
        "HTTP/1.1 103 Hints\r\nA: b\r\n\r\nHTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
        "2\r\nok\r\n3;x=y\r\nay!\r\n0\r\nX-Sum: 1\r\n\r\n";
    struct world *w = world_create();
    for (size_t first = 1; first < sizeof reply - 1; first++) {
        size_t step = first == 1 ? 1 : sizeof reply;
        start_with(w, &all, GET, false, true);
        while (w->server.accepted == 0 || got_times(&w->server, "GET /a") < first)
            turn(w->base, 2);
        int fd = w->server.guests[0].s.fd;
        for (size_t at = 0, n; at < sizeof reply - 1; at += n) {
            n = at ? step : first;
            n = n < sizeof reply - 1 - at ? n : sizeof reply - 1 - at;
            assert_int_equal(send(fd, reply + at, n, MSG_NOSIGNAL), n);
            event_base_loop(w->base, EVLOOP_NONBLOCK);
        }
        finish(w);
        assert_int_equal(w->caller.e.code, ERROR_NONE);
        expect_body(w, "okay!");
        assert_non_null(strstr(buf_cstr(&w->caller.events), "X-Sum=1 done"));
        assert_int_equal(http_client_idle(w->client), 1);
    }
    assert_int_equal(w->server.accepted, 1);
    world_destroy(w);
}

static void failures(void **state)
{
    (void)state;
    static const struct {
        const char *reply;
        int then;
        enum error_code code;
    } rows[] = {
        {NULL, CLOSE, ERROR_UPSTREAM_UNREACHABLE},
        {NULL, RESET, ERROR_UPSTREAM_UNREACHABLE},
        {"HTTP/1.1 20", CLOSE, ERROR_UPSTREAM_INVALID},
        {"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n", CLOSE, ERROR_UPSTREAM_INVALID},
        {"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n", CLOSE, ERROR_UPSTREAM_INVALID},
        {"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\no", CLOSE, ERROR_UPSTREAM_INVALID},
        {"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n", CLOSE, ERROR_UPSTREAM_INVALID},
        {"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n", CLOSE,
         ERROR_UPSTREAM_INVALID},
        {"HTTP/1.1 100 Continue\r\n\r\n", CLOSE, ERROR_UPSTREAM_UNREACHABLE},
        {"HTTP/1.1 200 OK\nContent-Length: 2\n\nok", STAY, ERROR_UPSTREAM_INVALID},
        {"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\nok", STAY, ERROR_UPSTREAM_INVALID},
        {"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\nok", STAY,
         ERROR_UPSTREAM_INVALID},
        {"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nxyz\r\n", STAY, ERROR_UPSTREAM_INVALID},
        {"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n0\r\nA : b\r\n\r\n", STAY,
         ERROR_UPSTREAM_INVALID},
        {"HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: h2c\r\n\r\n", STAY,
         ERROR_UPSTREAM_INVALID},
        {"220 smtp.test ESMTP\r\n\r\n", STAY, ERROR_UPSTREAM_INVALID},
        {"\r\n\r\n", STAY, ERROR_UPSTREAM_INVALID},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct world *w = world_create();
        struct action a = {.send = rows[i].reply};
        a.then = rows[i].then == CLOSE ? CLOSE : rows[i].then == RESET ? RESET : STAY;
        script_add(&w->server, a);
        start(w);
        finish(w);
        if (w->caller.e.code != rows[i].code)
            print_error("row %zu: %s\n", i, w->caller.e.message);
        assert_int_equal(w->caller.e.code, rows[i].code);
        settle(w);
        assert_int_equal(http_client_idle(w->client), 0);
        assert_int_equal(w->server.accepted, 1); /* and never again */
        assert_int_equal(got_times(&w->server, "GET /a"), 1);
        world_destroy(w);
    }
}

static void refused_connection(void **state)
{
    (void)state;
    struct world *w = world_create();
    w->target.port = closed_port();
    start(w);
    finish(w);
    expect_events(w, "failed");
    assert_int_equal(w->caller.e.code, ERROR_UPSTREAM_UNREACHABLE);
    assert_non_null(strstr(w->caller.e.message, "127.0.0.1"));
    world_destroy(w);
}

static void long_head(void **state)
{
    (void)state;
    struct world *w = world_create();
    char *reply = xmalloc(2 * LIMIT_HTTP_HEAD);
    int n = snprintf(reply, 100, "HTTP/1.1 200 OK\r\nA: ");
    memset(reply + n, 'a', (size_t)(2 * LIMIT_HTTP_HEAD - 1 - n));
    reply[2 * LIMIT_HTTP_HEAD - 1] = '\0';
    script_add(&w->server, (struct action){.send = reply});
    start(w);
    finish(w);
    expect_events(w, "connected failed");
    assert_int_equal(w->caller.e.code, ERROR_UPSTREAM_INVALID);
    xfree(reply);
    world_destroy(w);
}

/* ---- idle connections ---- */

static void server_closes_idle(void **state)
{
    (void)state;
    struct world *w = world_create();
    script_add(&w->server, (struct action){.send = OK2, .times = 2});
    start(w);
    finish(w);
    assert_int_equal(http_client_idle(w->client), 1);
    guest_end(&w->server.guests[0], false);
    settle(w);
    assert_int_equal(http_client_idle(w->client), 0);
    start(w);
    finish(w);
    expect_events(w, "connected head:200 body done");
    world_destroy(w);
}

/* A close that the loop has not seen yet. */
static void closed_unseen(void **state)
{
    (void)state;
    struct world *w = world_create();
    script_add(&w->server, (struct action){.send = OK2, .times = 2});
    start(w);
    finish(w);
    guest_end(&w->server.guests[0], false);
    assert_int_equal(http_client_idle(w->client), 1);
    start(w);
    finish(w);
    expect_events(w, "connected head:200 body done");
    assert_int_equal(got_times(&w->server, "GET /a"), 2);
    world_destroy(w);
}

/* A reply that answers nothing must not become the next request's. */
static void unasked_reply(void **state)
{
    (void)state;
    for (int seen = 0; seen < 2; seen++) {
        struct world *w = world_create();
        script_add(&w->server, (struct action){.send = OK2, .times = 2});
        start(w);
        finish(w);
        static const char evil[] = "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nevil";
        assert_int_equal(send(w->server.guests[0].s.fd, evil, sizeof evil - 1, MSG_NOSIGNAL),
                         sizeof evil - 1);
        if (seen)
            settle(w);
        assert_int_equal(http_client_idle(w->client), seen ? 0 : 1);
        start(w);
        finish(w);
        expect_events(w, "connected head:200 body done");
        expect_body(w, "ok");
        world_destroy(w);
    }
}

static void keep_alive_timeout(void **state)
{
    (void)state;
    static const struct {
        const char *field;
        int64_t ms; /* how long it may wait */
    } rows[] = {
        {"", 4000},
        {"Keep-Alive: timeout=2\r\n", 1000},
        {"Keep-Alive: max=10, timeout=31\r\n", 30000},
        {"Keep-Alive: timeout=99999999999999999999\r\n", 300000},
        {"Keep-Alive: nonsense\r\n", 4000},
        {"keep-alive: timeout=\r\n", -1},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct world *w = world_create();
        char reply[200];
        snprintf(reply, sizeof reply, "HTTP/1.1 200 OK\r\n%sContent-Length: 2\r\n\r\nok", rows[i].field);
        script_add(&w->server, (struct action){.send = reply});
        int64_t before = clock_mono_ms();
        start(w);
        finish(w);
        int64_t after = clock_mono_ms();
        assert_int_equal(http_client_idle(w->client), rows[i].ms > 0);
        http_client_sweep(w->client, before + rows[i].ms - 1);
        assert_int_equal(http_client_idle(w->client), rows[i].ms > 0);
        http_client_sweep(w->client, after + rows[i].ms);
        assert_int_equal(http_client_idle(w->client), 0);
        settle(w);
        assert_int_equal(w->server.ended, 1);
        world_destroy(w);
    }
}

/* ---- a request is never sent twice ---- */

static struct http_call *start_again(struct caller *c)
{
    struct world *w = (struct world *)((char *)c - offsetof(struct world, caller));
    caller_reset(c);
    usleep(5000); /* the server's close has come, and the loop has not seen it */
    struct http_call *call = http_call_start(w->client, &w->target, false, &all, c);
    struct buf request;
    buf_init(&request, MAX_REQUEST);
    buf_adds(&request, "POST /b HTTP/1.1\r\nHost: h\r\nContent-Length: 3000000\r\n\r\n");
    char *room = buf_reserve(&request, 3000000);
    memset(room, 'x', 3000000);
    buf_commit(&request, 3000000);
    http_call_give(call, &request);
    assert_int_equal(request.n, 0);
    http_call_sent_all(call);
    return call;
}

/* The server closes right behind its reply, without a word, and the next request is begun at once, before the
 * loop has looked at that connection again: it goes out on another one. */
static void closed_behind_its_reply(void **state)
{
    (void)state;
    struct world *w = world_create();
    script_add(&w->server, (struct action){.send = OK2, .then = CLOSE});
    script_add(&w->server, (struct action){.reads = 1000, .send = OK2});
    w->caller.again = start_again;
    start(w);
    for (int i = 0; i < 1000 && !(w->caller.done && got_times(&w->server, "GET /a") && !w->caller.call); i++)
        turn(w->base, 20);
    assert_int_equal(w->caller.done, 1);
    assert_int_equal(w->caller.e.code, ERROR_NONE);
    assert_int_equal(w->server.accepted, 2);
    world_destroy(w);
}

/* A pooled connection on which the request's beginning is gone already, and which breaks under the rest. */
static void broken_under_the_rest(void **state)
{
    (void)state;
    struct world *w = world_create();
    script_add(&w->server, (struct action){.send = OK2});
    script_add(&w->server, (struct action){.then = RESET});
    start(w);
    finish(w);
    start_with(w, &all, "POST /b HTTP/1.1\r\nHost: h\r\nContent-Length: 9\r\n\r\n", false, false);
    for (int i = 0; i < 100 && !w->caller.done; i++) {
        turn(w->base, 10);
        if (!w->caller.done)
            http_call_write(w->caller.call, SPAN_LIT("x"));
    }
    assert_int_equal(w->caller.done, 1);
    assert_int_equal(w->caller.e.code, ERROR_UPSTREAM_UNREACHABLE);
    settle(w);
    assert_int_equal(w->server.accepted, 1);
    assert_int_equal(got_times(&w->server, "POST /b"), 1);
    world_destroy(w);
}

/* The answer comes, and the connection goes, while the request is still being sent. */
static void answered_early(void **state)
{
    (void)state;
    static const char reply[] = "HTTP/1.1 413 Too Large\r\nContent-Length: 2\r\n\r\nno";
    for (int closes = 0; closes < 2; closes++) {
        struct world *w = world_create();
        script_add(&w->server, (struct action){.send = reply, .then = closes ? CLOSE : STAY});
        start_with(w, &all, "POST /b HTTP/1.1\r\nHost: h\r\nContent-Length: 100\r\n\r\n", false, false);
        finish(w);
        expect_events(w, "connected head:413 body done");
        expect_body(w, "no");
        assert_int_equal(http_client_idle(w->client), 0);
        settle(w);
        assert_int_equal(w->server.accepted, 1);
        world_destroy(w);
    }
}

/* ---- sending ---- */

static void large_request(void **state)
{
    (void)state;
    enum { N = 6000000 };
    struct world *w = world_create();
    char *bytes = xmalloc(N);
    for (int by_write = 0; by_write < 2; by_write++) {
        struct buf give;
        for (size_t i = 0; i < N; i++)
            bytes[i] = (char)('a' + i % 23);
        w->server.nactions = w->server.at = 0;
        buf_reset(&w->server.got);
        script_add(&w->server, (struct action){.reads = N, .send = OK2});
        start_with(w, &all, NULL, false, false);
        if (by_write) {
            http_call_write(w->caller.call, span_of(bytes, N / 3));
            http_call_write(w->caller.call, span_of(bytes + N / 3, N - N / 3));
        } else {
            buf_init(&give, N);
            for (int part = 0; part < 3; part++) {
                buf_addn(&give, bytes + part * (N / 3), N / 3);
                http_call_give(w->caller.call, &give);
                assert_int_equal(give.n, 0);
            }
        }
        memset(bytes, 0, N); /* nothing is borrowed */
        assert_true(http_call_unsent(w->caller.call) > 0);
        http_call_sent_all(w->caller.call);
        finish(w);
        assert_int_equal(w->caller.e.code, ERROR_NONE);
        assert_non_null(strstr(buf_cstr(&w->caller.events), "writable "));
        assert_int_equal(w->server.got.n, N);
        struct span got = buf_span(&w->server.got);
        for (size_t i = 0; i < N; i++)
            assert_true(got.p[i] == (char)('a' + i % 23));
        assert_int_equal(http_client_idle(w->client), 1);
    }
    assert_int_equal(w->server.accepted, 1);
    xfree(bytes);
    world_destroy(w);
}

/* ---- pausing ---- */

static void pausing(void **state)
{
    (void)state;
    struct world *w = world_create();
    script_add(&w->server, (struct action){.send = "HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nab"});
    start(w);
    w->caller.pause_at = HEAD;
    for (int i = 0; i < 1000 && w->server.at == 0; i++)
        turn(w->base, 10);
    settle(w);
    expect_events(w, "connected head:200 body end "); /* what was read is delivered */
    assert_int_equal(send(w->server.guests[0].s.fd, "cd", 2, MSG_NOSIGNAL), 2);
    settle(w);
    expect_body(w, "ab");
    http_call_pause(w->caller.call, true);
    w->caller.pause_at = NEVER;
    http_call_pause(w->caller.call, false);
    http_call_pause(w->caller.call, false);
    settle(w);
    expect_body(w, "abcd");
    http_call_pause(w->caller.call, true);
    http_call_pause(w->caller.call, false);
    assert_int_equal(send(w->server.guests[0].s.fd, "ef", 2, MSG_NOSIGNAL), 2);
    finish(w);
    expect_body(w, "abcdef");
    /* paused in the read that ends the reply: the connection is watched again in the pool */
    w->server.nactions = w->server.at = 0;
    script_add(&w->server, (struct action){.send = OK2, .times = 2});
    start(w);
    w->caller.pause_at = BODY;
    finish(w);
    assert_int_equal(http_client_idle(w->client), 1);
    start(w);
    finish(w);
    expect_events(w, "head:200 body done");
    guest_end(&w->server.guests[0], false);
    settle(w);
    assert_int_equal(http_client_idle(w->client), 0);
    world_destroy(w);
}

/* ---- cancelling ---- */

static void cancelled_outside(void **state)
{
    (void)state;
    for (int when = 0; when < 5; when++) {
        struct world *w = world_create();
        http_call_cancel(NULL);
        if (when == 0) { /* before the loop has run at all */
            start(w);
        } else if (when == 1) { /* connected, request out, nothing came */
            start(w);
            for (int i = 0; i < 1000 && !got_times(&w->server, "GET /a"); i++)
                turn(w->base, 10);
        } else if (when == 2) { /* in the middle of a head */
            script_add(&w->server, (struct action){.send = "HTTP/1.1 200 OK\r\nCont"});
            start(w);
            for (int i = 0; i < 1000 && !w->server.at; i++)
                turn(w->base, 10);
            settle(w);
        } else if (when == 3) { /* in the middle of a body, paused */
            script_add(&w->server, (struct action){.send = "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nok"});
            start(w);
            w->caller.pause_at = BODY;
            for (int i = 0; i < 1000 && !w->caller.body.n; i++)
                turn(w->base, 10);
        } else { /* on a pooled connection, unsent bytes behind it */
            script_add(&w->server, (struct action){.send = OK2});
            start(w);
            finish(w);
            start(w);
        }
        unsigned accepted = w->server.accepted;
        w->caller.cancel_at = NEVER;
        struct http_call *call = w->caller.call;
        w->caller.call = NULL; /* any callback fails the test from here on */
        http_call_cancel(call);
        settle(w);
        assert_int_equal(w->caller.done, 0);
        assert_int_equal(http_client_idle(w->client), 0);
        if (when)
            assert_int_equal(w->server.ended, accepted);
        world_destroy(w);
    }
}

static void cancelled_inside(void **state)
{
    (void)state;
    static const char reply[] =
        "HTTP/1.1 103 Hints\r\n\r\nHTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
        "2\r\nok\r\n2\r\nok\r\n0\r\nA: 1\r\nB: 2\r\n\r\n";
    static const struct {
        enum moment at;
        const char *events;
    } rows[] = {
        {CONNECTED, "connected "},
        {INTERIM, "connected interim:103 "},
        {HEAD, "connected interim:103 head:200 "},
        {BODY, "connected interim:103 head:200 body "},
        {TRAILER, "connected interim:103 head:200 body body A=1 "},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct world *w = world_create();
        script_add(&w->server, (struct action){.send = reply});
        script_add(&w->server, (struct action){.send = OK2});
        start(w);
        w->caller.cancel_at = rows[i].at;
        for (int n = 0; n < 1000 && w->caller.call; n++)
            turn(w->base, 10);
        expect_events(w, rows[i].events);
        w->server.at = 1;
        settle(w);
        expect_events(w, rows[i].events);
        assert_int_equal(w->caller.done, 0);
        assert_int_equal(http_client_idle(w->client), 0);
        start(w); /* as if nothing had been */
        finish(w);
        expect_events(w, "connected head:200 body done");
        world_destroy(w);
    }
}

static void cancelled_at_read_end_or_writable(void **state)
{
    (void)state;
    struct world *w = world_create();
    script_add(&w->server, (struct action){.send = "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nok"});
    start(w);
    w->caller.cancel_at = READ_END;
    for (int n = 0; n < 1000 && w->caller.call; n++)
        turn(w->base, 10);
    expect_events(w, "connected head:200 body end ");
    start_with(w, &all, NULL, false, false);
    struct buf large;
    buf_init(&large, MAX_REQUEST);
    char *room = buf_reserve(&large, MAX_REQUEST);
    memset(room, 'x', MAX_REQUEST);
    buf_commit(&large, MAX_REQUEST);
    http_call_give(w->caller.call, &large);
    w->caller.cancel_at = WRITABLE;
    for (int n = 0; n < 1000 && w->caller.call; n++)
        turn(w->base, 10);
    expect_events(w, "connected writable ");
    settle(w);
    assert_int_equal(w->server.ended, 2);
    world_destroy(w);
}

/* The client goes while connections wait and calls are dead. */
static void destroyed(void **state)
{
    (void)state;
    struct world *w = world_create();
    script_add(&w->server, (struct action){.send = OK2, .times = 2});
    start(w);
    finish(w);
    start(w);
    http_call_cancel(w->caller.call);
    world_destroy(w);
    http_client_destroy(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pooled),
        cmocka_unit_test(pools_apart),
        cmocka_unit_test(pool_has_a_cap),
        cmocka_unit_test(not_reusable),
        cmocka_unit_test(reusable),
        cmocka_unit_test(parts_of_a_reply),
        cmocka_unit_test(cut_replies),
        cmocka_unit_test(failures),
        cmocka_unit_test(refused_connection),
        cmocka_unit_test(long_head),
        cmocka_unit_test(server_closes_idle),
        cmocka_unit_test(closed_unseen),
        cmocka_unit_test(unasked_reply),
        cmocka_unit_test(keep_alive_timeout),
        cmocka_unit_test(closed_behind_its_reply),
        cmocka_unit_test(broken_under_the_rest),
        cmocka_unit_test(answered_early),
        cmocka_unit_test(large_request),
        cmocka_unit_test(pausing),
        cmocka_unit_test(cancelled_outside),
        cmocka_unit_test(cancelled_inside),
        cmocka_unit_test(cancelled_at_read_end_or_writable),
        cmocka_unit_test(destroyed),
    };
    return cmocka_run_group_tests(tests, fixture_start, fixture_end);
}
