/* Requests that are sent from where they are: what arrives, and when their owner has the bytes back. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "http_fixture.h"

enum { N = 6000000, PIECES = 40 };

#define POST "POST /b HTTP/1.1\r\nHost: h\r\nContent-Length: 6000000\r\n\r\n"
#define OK2  "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"

struct lent {
    char *bytes;
    struct span pieces[PIECES + 1];
    unsigned released;
};

static void on_released(void *arg)
{
    struct lent *l = arg;
    l->released++;
    memset(l->bytes, 0, N); /* nothing of it is needed any more */
}

/* Head and body in pieces of very different lengths. */
static void lent_init(struct lent *l)
{
    size_t at = 0;
    *l = (struct lent){.bytes = xmalloc(N)};
    for (size_t i = 0; i < N; i++)
        l->bytes[i] = (char)('a' + i % 23);
    l->pieces[0] = SPAN_LIT(POST);
    for (size_t i = 1; i < PIECES; i++) {
        size_t n = i % 3 ? i : 300000 + i;
        l->pieces[i] = span_of(l->bytes + at, n);
        at += n;
    }
    assert_true(at < N);
    l->pieces[PIECES] = span_of(l->bytes + at, N - at);
}

static void lend(struct world *w, struct lent *l)
{
    http_call_lend(w->caller.call, &(struct http_loan){l->pieces, PIECES + 1, on_released, l});
}

static void expect_request(struct world *w)
{
    size_t head = strlen(POST);
    struct span got = buf_span(&w->server.got);
    assert_int_equal(got.n, head + N);
    assert_memory_equal(got.p, POST, head);
    for (size_t i = 0; i < N; i++)
        assert_true(got.p[head + i] == (char)('a' + i % 23));
}

/* On a new connection and on one that is there already. */
static void arrives_whole(void **state)
{
    (void)state;
    struct world *w = world_create();
    for (unsigned i = 0; i < 2; i++) {
        struct lent l;
        lent_init(&l);
        w->server.nactions = w->server.at = 0;
        buf_reset(&w->server.got);
        script_add(&w->server, (struct action){.reads = strlen(POST) + N, .send = OK2});
        start_with(w, &all, NULL, false, false);
        lend(w, &l);
        assert_true(http_call_unsent(w->caller.call) > 0);
        assert_int_equal(l.released, 0);
        http_call_sent_all(w->caller.call);
        finish(w);
        assert_int_equal(w->caller.e.code, ERROR_NONE);
        assert_non_null(strstr(buf_cstr(&w->caller.events), "writable "));
        assert_int_equal(l.released, 1);
        expect_request(w);
        assert_int_equal(http_client_idle(w->client), 1);
        xfree(l.bytes);
    }
    assert_int_equal(w->server.accepted, 1);
    world_destroy(w);
}

/* A pooled connection that took nothing: all of it goes over another one. */
static void goes_over_a_second_connection(void **state)
{
    (void)state;
    struct world *w = world_create();
    struct lent l;
    lent_init(&l);
    script_add(&w->server, (struct action){.send = OK2});
    script_add(&w->server, (struct action){.reads = strlen(POST) + N, .send = OK2});
    start(w);
    finish(w);
    guest_end(&w->server.guests[0], true);
    usleep(20000); /* its reset is here, and the loop has not looked */
    buf_reset(&w->server.got);
    start_with(w, &all, NULL, false, false);
    lend(w, &l);
    http_call_sent_all(w->caller.call);
    finish(w);
    assert_int_equal(w->caller.e.code, ERROR_NONE);
    assert_int_equal(l.released, 1);
    expect_request(w);
    assert_int_equal(w->server.accepted, 2);
    xfree(l.bytes);
    world_destroy(w);
}

/* Before there is a connection, and in the middle of it. */
static void is_given_back_when_cancelled(void **state)
{
    (void)state;
    for (int turns = 0; turns < 4; turns++) {
        struct world *w = world_create();
        struct lent l;
        lent_init(&l);
        script_add(&w->server, (struct action){.reads = strlen(POST) + N, .send = OK2});
        start_with(w, &all, NULL, false, false);
        lend(w, &l);
        for (int i = 0; i < turns; i++)
            event_base_loop(w->base,
                            EVLOOP_ONCE | EVLOOP_NONBLOCK); /* in each of them a small part of it is sent */
        assert_int_equal(l.released, 0);
        http_call_cancel(w->caller.call);
        w->caller.call = NULL;
        assert_int_equal(l.released, 1);
        settle(w);
        assert_int_equal(l.released, 1);
        xfree(l.bytes);
        world_destroy(w);
    }
}

/* The server answers, or goes, and takes no more. */
static void is_given_back_when_nobody_takes_it(void **state)
{
    (void)state;
    static const char refusal[] = "HTTP/1.1 413 Too Large\r\nContent-Length: 2\r\n\r\nno";
    for (int how = 0; how < 3; how++) {
        struct world *w = world_create();
        struct lent l;
        lent_init(&l);
        script_add(&w->server, (struct action){.reads = 100000,
                                               .send = how ? refusal : NULL,
                                               .then = how == 1 ? STAY
                                                       : how    ? CLOSE
                                                                : RESET});
        start_with(w, &all, NULL, false, false);
        lend(w, &l);
        http_call_sent_all(w->caller.call);
        finish(w);
        assert_int_equal(w->caller.e.code, how ? ERROR_NONE : ERROR_UPSTREAM_UNREACHABLE);
        assert_int_equal(l.released, 1);
        assert_int_equal(http_client_idle(w->client), 0);
        settle(w);
        xfree(l.bytes);
        world_destroy(w);
    }
}

/* There is no server at all. */
static void is_given_back_when_nobody_is_there(void **state)
{
    (void)state;
    struct world *w = world_create();
    struct lent l;
    lent_init(&l);
    event_del(w->server.readable);
    close(w->server.fd);
    start_with(w, &all, NULL, false, false);
    lend(w, &l);
    http_call_sent_all(w->caller.call);
    finish(w);
    assert_int_equal(w->caller.e.code, ERROR_UPSTREAM_UNREACHABLE);
    assert_int_equal(l.released, 1);
    xfree(l.bytes);
    w->server.fd = dup(STDIN_FILENO);
    world_destroy(w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(arrives_whole),
        cmocka_unit_test(goes_over_a_second_connection),
        cmocka_unit_test(is_given_back_when_cancelled),
        cmocka_unit_test(is_given_back_when_nobody_takes_it),
        cmocka_unit_test(is_given_back_when_nobody_is_there),
    };
    return cmocka_run_group_tests(tests, fixture_start, fixture_end);
}
