/* Calls of Penstock's own: what goes out, and how each may end. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "tests/unit/net/http_fixture.h"

#include "proxy/side_call.h"

struct ended {
    struct event_base *base;
    unsigned times;
    int status;
    bool failed, given_up;
    enum error_code code;
    char message[LIMIT_ERROR_TEXT], field[SIDE_FIELD], body[4096];
};

static void on_side(void *arg, const struct side_answer *answer)
{
    struct ended *e = arg;
    e->times++;
    e->status = answer->status;
    e->failed = answer->failed != NULL;
    e->given_up = answer->given_up;
    if (answer->failed) {
        e->code = answer->failed->code;
        snprintf(e->message, sizeof e->message, "%s", answer->failed->message);
    }
    snprintf(e->field, sizeof e->field, "%.*s", (int)answer->field.n, answer->field.p ? answer->field.p : "");
    snprintf(e->body, sizeof e->body, "%s", buf_cstr(answer->body));
    event_base_loopbreak(e->base);
}

/* One call against a server that answers that; `close`: and then goes away. */
static struct ended run(struct world *w, const char *answer, bool close, int64_t timeout_ms, bool cancel)
{
    struct ended e = {.base = w->base};
    struct buf body;
    script_add(&w->server, (struct action){.send = answer, .then = close ? CLOSE : STAY});
    buf_init(&body, 64);
    buf_adds(&body, "B\r\nD");
    const struct side_request r = {.host = "127.0.0.1",
                                   .port = w->server.port,
                                   .host_header = "h:1",
                                   .connect_ms = 20000,
                                   .timeout_ms = timeout_ms,
                                   .method = "POST",
                                   .target = SPAN_LIT("/a?b=c"),
                                   .fields = SPAN_LIT("X-Key: k\r\n"),
                                   .accept = "a/b",
                                   .content_type = "c/d",
                                   .body = &body,
                                   .answer_most = 8,
                                   .keep_field = "X-Where"};
    struct side_call *call = side_call_start(w->base, w->client, &r, on_side, &e);
    assert_int_equal(e.times, 0);
    assert_int_equal(body.n, 0);
    if (cancel) {
        side_call_cancel(call);
        event_base_loop(w->base, EVLOOP_NONBLOCK);
    } else {
        event_base_dispatch(w->base);
    }
    return e;
}

static void test_whole(void **state)
{
    (void)state;
    struct world *w = world_create();
    struct ended e =
        run(w, "HTTP/1.1 404 No\r\nX-Where: here\r\nContent-Length: 8\r\n\r\n12345678", false, 60000, false);
    assert_int_equal(e.times, 1);
    assert_int_equal(e.status, 404);
    assert_false(e.failed);
    assert_string_equal(e.field, "here");
    assert_string_equal(e.body, "12345678");
    static const char want[] =
        "POST /a?b=c HTTP/1.1\r\nHost: h:1\r\nX-Key: k\r\nUser-Agent: penstock/" PENSTOCK_VERSION
        "\r\nAccept-Encoding: identity\r\nAccept: a/b\r\nContent-Type: c/d\r\n"
        "Content-Length: 4\r\n\r\nB\r\nD";
    assert_string_equal(buf_cstr(&w->server.got), want);
    world_destroy(w);
}

static void test_failures(void **state)
{
    (void)state;
    static const struct {
        const char *answer;
        bool close;
        int64_t timeout_ms;
        bool given_up;
        enum error_code code;
        const char *message; /* in it */
    } table[] = {
        {"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n123456789", false, 60000, true, ERROR_UPSTREAM_INVALID,
         "the answer has more than 8 bytes"},
        {"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n9\r\n123456789\r\n", false, 60000, true,
         ERROR_UPSTREAM_INVALID, "the answer has more than 8 bytes"},
        {"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 1\r\n\r\nx", false, 60000, true,
         ERROR_UPSTREAM_INVALID, "content coding"},
        {"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n12", true, 60000, false, ERROR_UPSTREAM_INVALID,
         "in the middle"},
        {"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n12", false, 100, true, ERROR_UPSTREAM_TIMEOUT,
         "no whole answer within 100 ms"},
        {"no HTTP at all\r\n\r\n", false, 60000, false, ERROR_UPSTREAM_INVALID, ""},
    };
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
        struct world *w = world_create();
        struct ended e = run(w, table[i].answer, table[i].close, table[i].timeout_ms, false);
        assert_int_equal(e.times, 1);
        assert_true(e.failed);
        assert_int_equal(e.given_up, table[i].given_up);
        if (e.code != table[i].code || !strstr(e.message, table[i].message))
            fail_msg("%zu: %s: %s", i, error_name(e.code), e.message);
        world_destroy(w);
    }
}

static void test_cancelled(void **state)
{
    (void)state;
    struct world *w = world_create();
    struct ended e = run(w, "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", false, 60000, true);
    assert_int_equal(e.times, 0);
    side_call_cancel(NULL);
    world_destroy(w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_whole), cmocka_unit_test(test_failures),
                                       cmocka_unit_test(test_cancelled)};
    return cmocka_run_group_tests(tests, fixture_start, fixture_end);
}
