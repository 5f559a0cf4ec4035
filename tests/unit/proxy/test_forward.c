/* Heads as they are passed on: everything as it came, but for what belongs to one connection or to Penstock.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "proxy/forward.h"

static const struct config_provider plain = {.name = "p",
                                             .dialect = "openai",
                                             .host = "up.test",
                                             .port = 8080,
                                             .host_header = "up.test:8080",
                                             .base_path = "/base"};

static void read_head(const char *bytes, bool request, struct http_head *head)
{
    struct error e;
    if (http_head_read(span_str(bytes), request, head, &e) < 0)
        fail_msg("%s: %s", bytes, e.message);
}

static void requests(void **state)
{
    (void)state;
    static const struct {
        const char *head, *rest, *key, *out;
    } rows[] = {
        {"GET /p/v1/models HTTP/1.1\r\nHost: me\r\nAccept:  */*\r\n\r\n", "/v1/models", NULL,
         "GET /base/v1/models HTTP/1.1\r\nHost: up.test:8080\r\nAccept: */*\r\n"},
        /* names, order and values stay, repeated and empty ones too */
        {"POST / HTTP/1.1\r\nZ: 1\r\nhOsT: me\r\na: 2\r\nZ: 3\r\nEmpty:\r\nUTF: \xc3\xa9\r\n\r\n", "/", NULL,
         "POST /base/ HTTP/1.1\r\nZ: 1\r\nhOsT: up.test:8080\r\na: 2\r\nZ: 3\r\nEmpty: \r\nUTF: "
         "\xc3\xa9\r\n"},
        /* hop by hop, framing, ours */
        {"POST / HTTP/1.1\r\nHost: me\r\nConnection: keep-alive, X-Mine\r\nX-Mine: 1\r\nKeep-Alive: "
         "timeout=5\r\n"
         "TE: trailers\r\nTrailer: X\r\nUpgrade: h2c\r\nProxy-Connection: x\r\nProxy-Authorization: x\r\n"
         "Content-Length: 5\r\nExpect: 100-continue\r\nX-HW-Org: acme\r\nx-hw-unknown: 1\r\nX-HWKeep: "
         "1\r\n\r\n",
         "/", NULL, "POST /base/ HTTP/1.1\r\nHost: up.test:8080\r\nX-HWKeep: 1\r\n"},
        {"POST / HTTP/1.1\r\nHost: me\r\nTransfer-Encoding: chunked\r\nContent-Type: a/b\r\n\r\n", "/", NULL,
         "POST /base/ HTTP/1.1\r\nHost: up.test:8080\r\nContent-Type: a/b\r\n"},
        /* a caller of HTTP/1.0, without Host; Connection may name even Host */
        {"GET / HTTP/1.0\r\nA: b\r\n\r\n", "/?q=1", NULL,
         "GET /base/?q=1 HTTP/1.1\r\nA: b\r\nHost: up.test:8080\r\n"},
        {"GET / HTTP/1.1\r\nHost: me\r\nConnection: host, a\r\nA: b\r\n\r\n", "/", NULL,
         "GET /base/ HTTP/1.1\r\nHost: up.test:8080\r\n"},
        /* the caller's key in the query */
        {"GET / HTTP/1.1\r\nHost: me\r\n\r\n", "/x?a=1&key=mine&b=key=2&&keys=3&key=", "k",
         "GET /base/x?a=1&b=key=2&&keys=3 HTTP/1.1\r\nHost: up.test:8080\r\nAuthorization: Bearer k\r\n"},
        {"GET / HTTP/1.1\r\nHost: me\r\n\r\n", "/x?key=mine", "k",
         "GET /base/x HTTP/1.1\r\nHost: up.test:8080\r\nAuthorization: Bearer k\r\n"},
        {"GET / HTTP/1.1\r\nHost: me\r\n\r\n", "/x?", "k",
         "GET /base/x? HTTP/1.1\r\nHost: up.test:8080\r\nAuthorization: Bearer k\r\n"},
        {"GET / HTTP/1.1\r\nHost: me\r\n\r\n", "/x?key=mine&a", NULL,
         "GET /base/x?key=mine&a HTTP/1.1\r\nHost: up.test:8080\r\n"},
        /* a rest that is no path of its own */
        {"GET /p HTTP/1.1\r\nHost: me\r\n\r\n", "", NULL, "GET /base/ HTTP/1.1\r\nHost: up.test:8080\r\n"},
        {"GET /p?a=/b HTTP/1.1\r\nHost: me\r\n\r\n", "?a=/b", NULL,
         "GET /base/?a=/b HTTP/1.1\r\nHost: up.test:8080\r\n"},
        /* the caller's key goes through, unless there is one of ours */
        {"GET / HTTP/1.1\r\nHost: me\r\nAuthorization: Bearer a\r\nX-Api-Key: b\r\n\r\n", "/", NULL,
         "GET /base/ HTTP/1.1\r\nHost: up.test:8080\r\nAuthorization: Bearer a\r\nX-Api-Key: b\r\n"},
        {"GET / HTTP/1.1\r\nHost: me\r\nAUTHORIZATION: Bearer a\r\nX-Api-Key: b\r\napi-key: "
         "c\r\nX-Goog-Api-Key: d\r\n"
         "Authorizations: e\r\n\r\n",
         "/", "sk-ours",
         "GET /base/ HTTP/1.1\r\nHost: up.test:8080\r\nAuthorizations: e\r\nAuthorization: Bearer "
         "sk-ours\r\n"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        static struct http_head head;
        struct buf out;
        struct forward_request f = {
            .provider = &plain, .rest = span_str(rows[i].rest), .api_key = rows[i].key};
        buf_init(&out, 4096);
        read_head(rows[i].head, true, &head);
        forward_request_head(&head, &f, &out);
        assert_string_equal(buf_cstr(&out), rows[i].out);
        buf_free(&out);
    }
}

static void keys_of_dialects(void **state)
{
    (void)state;
    static const char *const rows[][2] = {
        {"openai", "Authorization: Bearer k\r\n"}, {"anthropic", "x-api-key: k\r\n"},
        {"gemini", "x-goog-api-key: k\r\n"},       {"azure", "api-key: k\r\n"},
        {"ollama", "Authorization: Bearer k\r\n"}, {"vllm", "Authorization: Bearer k\r\n"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct config_provider p = plain;
        struct buf out;
        char dialect[16];
        snprintf(dialect, sizeof dialect, "%s", rows[i][0]);
        p.dialect = dialect;
        buf_init(&out, 100);
        forward_add_key(&out, &p, "k");
        assert_string_equal(buf_cstr(&out), rows[i][1]);
        buf_free(&out);
    }
}

static void identity(void **state)
{
    (void)state;
    static const char *const rows[][2] = {
        {"", "Accept-Encoding: identity\r\n"},
        {"GET / HTTP/1.1\r\nA: b\r\n", "GET / HTTP/1.1\r\nA: b\r\nAccept-Encoding: identity\r\n"},
        {"GET / HTTP/1.1\r\naccept-ENCODING: gzip, br\r\nA: b\r\n",
         "GET / HTTP/1.1\r\naccept-ENCODING: identity\r\nA: b\r\n"},
        {"GET / HTTP/1.1\r\nAccept-Encoding: \r\n", "GET / HTTP/1.1\r\nAccept-Encoding: identity\r\n"},
        {"GET / HTTP/1.1\r\nAccept-Encoding: gzip\r\nA: b\r\nAccept-Encoding: br\r\nB: c\r\n",
         "GET / HTTP/1.1\r\nAccept-Encoding: identity\r\nA: b\r\nB: c\r\n"},
        {"GET /accept-encoding: HTTP/1.1\r\nX-Accept-Encoding: gzip\r\nB: accept-encoding: br\r\n",
         "GET /accept-encoding: HTTP/1.1\r\nX-Accept-Encoding: gzip\r\nB: accept-encoding: br\r\n"
         "Accept-Encoding: identity\r\n"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct buf out;
        buf_init(&out, 4096);
        forward_ask_identity(span_str(rows[i][0]), &out);
        assert_string_equal(buf_cstr(&out), rows[i][1]);
        buf_free(&out);
    }
}

static void replies(void **state)
{
    (void)state;
    static const struct {
        const char *head;
        struct forward_reply f;
        const char *out;
    } rows[] = {
        {"HTTP/1.1 200 OK\r\nServer: x\r\nETag: \"1\"\r\nContent-Encoding: gzip\r\n\r\n",
         {0},
         "HTTP/1.1 200 OK\r\nServer: x\r\nETag: \"1\"\r\nContent-Encoding: gzip\r\n"},
        {"HTTP/1.0 429 Too  Many\r\nRetry-After: 7\r\nx-ratelimit-remaining: 0\r\nSet-Cookie: "
         "a\r\nSet-Cookie: b\r\n\r\n",
         {0},
         "HTTP/1.1 429 Too  Many\r\nRetry-After: 7\r\nx-ratelimit-remaining: 0\r\nSet-Cookie: "
         "a\r\nSet-Cookie: b\r\n"},
        {"HTTP/1.1 204\r\n\r\n", {0}, "HTTP/1.1 204 \r\n"},
        {"HTTP/1.1 200 OK\r\nContent-Length: 5\r\nConnection: close, x-hop\r\nX-Hop: 1\r\nKeep-Alive: "
         "timeout=5\r\n"
         "Proxy-Authenticate: x\r\nTrailer: y\r\nX-HW-Consult-Id: evil\r\nA: b\r\n\r\n",
         {0},
         "HTTP/1.1 200 OK\r\nA: b\r\n"},
        {"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nA: b\r\n\r\n",
         {.consult = "hw-1"},
         "HTTP/1.1 200 OK\r\nA: b\r\nX-HW-Consult-Id: hw-1\r\n"},
        {"HTTP/1.1 200 OK\r\nX-HW-Consult-Id: evil\r\n\r\n",
         {.consult = "hw-1", .streamed = true},
         "HTTP/1.1 200 OK\r\nX-Accel-Buffering: no\r\nX-HW-Consult-Id: hw-1\r\n"},
        {"HTTP/1.1 200 OK\r\nx-accel-buffering: yes\r\nA: b\r\nX-Accel-Buffering: yes\r\n\r\n",
         {.streamed = true},
         "HTTP/1.1 200 OK\r\nx-accel-buffering: no\r\nA: b\r\n"},
        {"HTTP/1.1 200 OK\r\nX-Accel-Buffering: yes\r\n\r\n",
         {0},
         "HTTP/1.1 200 OK\r\nX-Accel-Buffering: yes\r\n"},
        {"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nETag: \"1\"\r\n\r\n",
         {.decoded = true},
         "HTTP/1.1 200 OK\r\nETag: \"1\"\r\n"},
        {"HTTP/1.1 200 OK\r\nContent-MD5: x\r\nDigest: x\r\nContent-Digest: x\r\nRepr-Digest: x\r\netag: "
         "\"1\"\r\n"
         "Content-Encoding: br\r\nLast-Modified: x\r\n\r\n",
         {.rewritten = true},
         "HTTP/1.1 200 OK\r\nContent-Encoding: br\r\nLast-Modified: x\r\n"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        static struct http_head head;
        struct buf out;
        buf_init(&out, 4096);
        read_head(rows[i].head, false, &head);
        forward_reply_head(&head, &rows[i].f, &out);
        assert_string_equal(buf_cstr(&out), rows[i].out);
        buf_free(&out);
    }
}

/* A head of the largest size that is read fits into twice that. */
static void large_heads(void **state)
{
    (void)state;
    static struct http_head head;
    struct buf in, out;
    buf_init(&in, LIMIT_HTTP_HEAD);
    buf_init(&out, 2 * LIMIT_HTTP_HEAD);
    buf_adds(&in, "GET / HTTP/1.1\r\nHost: me\r\n");
    for (int i = 0; i < LIMIT_HTTP_FIELDS - 1; i++)
        buf_printf(&in, "A%d:%0300d\r\n", i, i);
    buf_adds(&in, "\r\n");
    assert_false(buf_full(&in));
    read_head(buf_cstr(&in), true, &head);
    struct forward_request f = {.provider = &plain, .rest = SPAN_LIT("/")};
    forward_request_head(&head, &f, &out);
    assert_false(buf_full(&out));
    assert_int_equal(out.n,
                     in.n - 2 + (LIMIT_HTTP_FIELDS - 1) + strlen("/base") + strlen("up.test:8080") - 2);
    buf_free(&in);
    buf_free(&out);
}

/* Who pays, and nothing else. */
static void accounts(void **state)
{
    (void)state;
    static const struct {
        const char *head, *out;
        bool key;
    } rows[] = {
        {"POST /v1/x HTTP/1.1\r\nHost: h\r\nAuthorization: Bearer a\r\nA: b\r\nOpenAI-Project: p\r\n",
         "Authorization: Bearer a\r\nOpenAI-Project: p\r\n", true},
        {"POST /v1/x HTTP/1.1\r\nx-api-key: k\r\nanthropic-version: 1\r\nanthropic-workspace-id: w\r\n",
         "x-api-key: k\r\nanthropic-workspace-id: w\r\n", true},
        {"POST /?authorization: HTTP/1.1\r\nx-goog-user-project: p\r\n", "x-goog-user-project: p\r\n", false},
        {"", "", false},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct buf out;
        buf_init(&out, 4096);
        assert_int_equal(forward_account(span_str(rows[i].head), &out), rows[i].key);
        assert_string_equal(buf_cstr(&out), rows[i].out);
        buf_free(&out);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(requests), cmocka_unit_test(accounts), cmocka_unit_test(keys_of_dialects),
        cmocka_unit_test(identity), cmocka_unit_test(replies),  cmocka_unit_test(large_heads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
