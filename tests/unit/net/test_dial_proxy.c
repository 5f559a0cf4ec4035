/* Which proxy the environment names, whom NO_PROXY exempts, and CONNECT with good and bad answers. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "dial_fixture.h"

static void exempt(void **state)
{
    (void)state;
    static const struct {
        const char *list, *host;
        uint16_t port;
        bool direct;
    } table[] = {
        {"", "example.com", 443, false},
        {"*", "example.com", 443, true},
        {"example.com", "example.com", 443, true},
        {"example.com", "EXAMPLE.com.", 443, true},
        {"example.com", "api.example.com", 443, true},
        {"example.com", "badexample.com", 443, false},
        {"example.com", "example.com.evil.test", 443, false},
        {"example.com", "com", 443, false},
        {".example.com", "example.com", 443, true},
        {".example.com", "api.example.com", 443, true},
        {"*.example.com", "api.example.com", 443, true},
        {"*.example.com", "badexample.com", 443, false},
        {".", "example.com", 443, false},
        {"a.test, b.test\tc.test ,,d.test", "c.test", 443, true},
        {"a.test, b.test\tc.test ,,d.test", "d.test", 443, true},
        {"a.test, b.test\tc.test ,,d.test", "e.test", 443, false},
        {"example.com:443", "example.com", 443, true},
        {"example.com:8443", "example.com", 443, false},
        {"example.com:0", "example.com", 443, false},
        {"example.com:", "example.com", 443, false},
        {"example.com:99999", "example.com", 443, false},
        {"10.0.0.0/8", "10.200.3.4", 443, true},
        {"10.0.0.0/8", "11.0.0.1", 443, false},
        {"10.1.2.3/31", "10.1.2.2", 443, true},
        {"10.1.2.3/31", "10.1.2.4", 443, false},
        {"0.0.0.0/0", "203.0.113.9", 443, true},
        {"0.0.0.0/0", "::1", 443, false},
        {"10.0.0.0/33", "10.0.0.0", 443, false},
        {"10.0.0.0/", "10.0.0.0", 443, false},
        {"10.0.0.0/8:443", "10.0.0.1", 443, true},
        {"10.0.0.0/8:80", "10.0.0.1", 443, false},
        {"10.0.0.0/8", "10.example.com", 443, false},
        {"127.0.0.1", "127.0.0.1", 443, true},
        {"127.0.0.1:443", "127.0.0.1", 443, true},
        {"127.0.0.1:80", "127.0.0.1", 443, false},
        {"0.1", "127.0.0.1", 443, false},
        {"::1", "::1", 443, true},
        {"::1", "[::1]", 443, true},
        {"[::1]", "::1", 443, true},
        {"[::1]:443", "0:0::1", 443, true},
        {"[::1]:80", "::1", 443, false},
        {"[::1", "::1", 443, false},
        {"fd00::/8", "fd12:3456::1", 443, true},
        {"fd00::/8", "fe80::1", 443, false},
        {"2001:db8::/33", "2001:db8:8000::1", 443, false},
        {"localhost", "localhost", 443, true},
        {"localhost", "127.0.0.1", 443, false},
    };
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
        bool direct = dial_proxy_exempt(span_str(table[i].list), span_str(table[i].host), table[i].port);
        if (direct != table[i].direct)
            print_error("'%s' for %s:%u\n", table[i].list, table[i].host, table[i].port);
        assert_int_equal(direct, table[i].direct);
    }
}

static void choice(void **state)
{
    (void)state;
    static const struct {
        const char *url, *host; /* host NULL: refused */
        unsigned port;
        const char *userinfo;
    } table[] = {
        {"http://proxy.test:3128", "proxy.test", 3128, ""},
        {"HTTP://proxy.test:3128/", "proxy.test", 3128, ""},
        {"proxy.test", "proxy.test", 1080, ""},
        {"proxy.test:8080", "proxy.test", 8080, ""},
        {"http://u:p%40@proxy.test:1/path", "proxy.test", 1, "u:p%40"},
        {"http://u:p@q@proxy.test:1", "proxy.test", 1, "u:p@q"},
        {"http://[::1]:3128", "::1", 3128, ""},
        {"http://u@[::1]", "::1", 1080, "u"},
        {"https://proxy.test:3128", NULL, 0, ""},
        {"socks5://proxy.test:3128", NULL, 0, ""},
        {"http://", NULL, 0, ""},
        {"http://:3128", NULL, 0, ""},
        {"http://proxy.test:0", NULL, 0, ""},
        {"http://proxy.test:x", NULL, 0, ""},
        {"http://proxy.test:70000", NULL, 0, ""},
        {"http://[::1", NULL, 0, ""},
        {"http://[::1]x", NULL, 0, ""},
    };
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
        struct dial_proxy_settings s = {.https = xstrdup(table[i].url)};
        struct dial_proxy p;
        const char *why = NULL;
        int result = dial_proxy_choose(&s, "api.test", 443, true, &p, &why);
        if (result != (table[i].host ? 0 : -1))
            print_error("%s\n", table[i].url);
        assert_int_equal(result, table[i].host ? 0 : -1);
        if (table[i].host) {
            assert_true(span_is(p.host, table[i].host));
            assert_int_equal(p.port, table[i].port);
            assert_true(span_is(p.userinfo, table[i].userinfo));
        } else {
            assert_non_null(why);
        }
        assert_int_equal(dial_proxy_choose(&s, "api.test", 80, false, &p, &why), 0);
        assert_int_equal(p.host.n, 0);
        dial_proxy_settings_free(&s);
    }
}

static void environment(void **state)
{
    (void)state;
    struct event_base *base = loop_create();
    struct dial_proxy_settings s;
    setenv("HTTP_PROXY", "http://evil.test:1", 1);
    setenv("HTTPS_PROXY", "http://upper.test:1", 1);
    setenv("NO_PROXY", "a.test", 1);
    dial_proxy_environment(&s);
    assert_null(s.http);
    assert_string_equal(s.https, "http://upper.test:1");
    assert_string_equal(s.none, "a.test");
    dial_proxy_settings_free(&s);
    setenv("http_proxy", "http://lower.test:1", 1);
    setenv("https_proxy", "http://lower.test:2", 1);
    setenv("no_proxy", "b.test", 1);
    dial_proxy_environment(&s);
    assert_string_equal(s.http, "http://lower.test:1");
    assert_string_equal(s.https, "http://lower.test:2");
    assert_string_equal(s.none, "b.test");
    dial_proxy_settings_free(&s);
    loop_destroy(base);
}

static void requests(void **state)
{
    (void)state;
    static const struct {
        const char *userinfo, *host, *text; /* NULL: refused */
    } table[] = {
        {"", "api.test", "CONNECT api.test:443 HTTP/1.1\r\nHost: api.test:443\r\n\r\n"},
        {"", "::1", "CONNECT [::1]:443 HTTP/1.1\r\nHost: [::1]:443\r\n\r\n"},
        {"", "[::1]", "CONNECT [::1]:443 HTTP/1.1\r\nHost: [::1]:443\r\n\r\n"},
        {"user:p%40ss", "a",
         "CONNECT a:443 HTTP/1.1\r\nHost: a:443\r\nProxy-Authorization: Basic dXNlcjpwQHNz\r\n\r\n"},
        {"user", "a", "CONNECT a:443 HTTP/1.1\r\nHost: a:443\r\nProxy-Authorization: Basic dXNlcjo=\r\n\r\n"},
        {"u:a:b", "a",
         "CONNECT a:443 HTTP/1.1\r\nHost: a:443\r\nProxy-Authorization: Basic dTphOmI=\r\n\r\n"},
        {"u%3a:p", "a", NULL},
        {"u:%4", "a", NULL},
        {"u:%zz", "a", NULL},
        {"", "a\r\nX: y", NULL},
        {"", "a b", NULL},
    };
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
        struct dial_proxy p = {.host = SPAN_LIT("p"), .port = 1, .userinfo = span_str(table[i].userinfo)};
        struct buf out;
        buf_init(&out, DIAL_PROXY_REPLY);
        assert_int_equal(dial_proxy_request(&p, table[i].host, 443, &out), table[i].text ? 0 : -1);
        if (table[i].text)
            assert_string_equal(buf_cstr(&out), table[i].text);
        buf_free(&out);
    }
}

static void replies(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        int status;
    } table[] = {
        {"HTTP/1.1 200 Connection established\r\n\r\n", 200},
        {"HTTP/1.0 200\r\n\r\n", 200},
        {"HTTP/1.1 200 \r\nA: b\r\nC:\r\n\r\n", 200},
        {"HTTP/1.1 407 No\r\nProxy-Authenticate: Basic realm=x\r\n\r\n", 407},
        {"HTTP/2 200\r\n\r\n", -1},
        {"HTTP/1.1 99 x\r\n\r\n", -1},
        {"HTTP/1.1 600 x\r\n\r\n", -1},
        {"HTTP/1.1 2000\r\n\r\n", -1},
        {"HTTP/1.1  200\r\n\r\n", -1},
        {"HTTP/1.1 200 OK\n\n", -1},
        {"HTTP/1.1 200 OK\r\nA: b\n\r\n", -1},
        {"HTTP/1.1 200 OK\r\n A: b\r\n\r\n", -1},
        {"HTTP/1.1 200 OK\r\nA : b\r\n\r\n", -1},
        {"HTTP/1.1 200 OK\r\nnonsense\r\n\r\n", -1},
        {"\r\nHTTP/1.1 200 OK\r\n\r\n", -1},
        {"SSH-2.0-x\r\n", -1},
    };
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
        size_t head = 0, n = strlen(table[i].text);
        int status = dial_proxy_reply(span_of(table[i].text, n), &head);
        if (status != table[i].status)
            print_error("%d: %s\n", status, table[i].text);
        assert_int_equal(status, table[i].status);
        for (size_t cut = 0; table[i].status > 0 && cut < n; cut++)
            assert_int_equal(dial_proxy_reply(span_of(table[i].text, cut), &head), 0);
        if (status > 0)
            assert_int_equal(head, n);
    }
    char large[DIAL_PROXY_REPLY];
    size_t head;
    memset(large, 'a', sizeof large);
    memcpy(large, "HTTP/1.1 200 OK\r\nA:", 19);
    assert_int_equal(dial_proxy_reply(span_of(large, sizeof large - 1), &head), 0);
    assert_int_equal(dial_proxy_reply(span_of(large, sizeof large), &head), -1);
}

static void through_a_proxy(void **state)
{
    (void)state;
    struct event_base *base = loop_create();
    struct server s;
    char url[64];
    server_start(&s, base, "right");
    s.answer = "HTTP/1.1 200 Connection established\r\nVia: test\r\n\r\n";
    snprintf(url, sizeof url, "http://me:s%%3acret@127.0.0.1:%u", s.port);
    setenv("HTTPS_PROXY", url, 1);
    setenv("http_proxy", url, 1);
    setenv("NO_PROXY", "direct.good.test", 1);
    struct dialer *d = dialer_create(base);
    for (int by_bytes = 0; by_bytes < 2; by_bytes++) {
        s.by_bytes = by_bytes;
        s.request_n = 0;
        /* No name is looked up here: that is the proxy's business. */
        struct outcome o = dial_to(d, "api.good.test", 443, true);
        expect_greeting(base, &o);
        assert_true(s.sni);
        assert_string_equal(s.request, "CONNECT api.good.test:443 HTTP/1.1\r\nHost: api.good.test:443\r\n"
                                       "Proxy-Authorization: Basic bWU6czpjcmV0\r\n\r\n");
    }
    /* The name is verified against the target, not the proxy. */
    s.request_n = 0;
    struct outcome o = dial_to(d, "api.bad.test", 443, true);
    expect_failure(&o, ERROR_UPSTREAM_UNREACHABLE, "ostname mismatch");
    /* An http target goes through CONNECT too; a loopback target is no exception. */
    SSL_CTX *tls = s.tls;
    s.tls = NULL;
    s.request_n = 0;
    o = dial_to(d, "127.0.0.1", 11434, false);
    assert_true(o.s.fd >= 0);
    assert_non_null(strstr(s.request, "CONNECT 127.0.0.1:11434 HTTP/1.1\r\n"));
    stream_close(&o.s, false);
    s.tls = tls;
    s.answer = NULL;
    struct dial_addresses a = {.n = 1};
    assert_true(dial_address_parse(SPAN_LIT("127.0.0.1"), &a.list[0]));
    dial_dns_remember(d->dns, "direct.good.test", &a, 60000);
    o = dial_to(d, "direct.good.test", s.port, true);
    expect_greeting(base, &o);
    server_end(&s);
    dialer_destroy(d);
    loop_destroy(base);
}

static void bad_proxies(void **state)
{
    (void)state;
    static const struct {
        const char *answer, *failure;
    } table[] = {
        {"HTTP/1.1 407 Proxy Authentication Required\r\n\r\n", "wants other credentials (407)"},
        {"HTTP/1.1 503 No\r\nContent-Length: 0\r\n\r\n", "the proxy answered 503"},
        {"HTTP/1.1 302 Found\r\nLocation: http://x/\r\n\r\n", "the proxy answered 302"},
        {"SSH-2.0-OpenSSH\r\n", "the proxy's answer is not HTTP"},
        {"HTTP/1.1 200 OK\r\n\r\nmore", "the proxy sent more than its answer"},
        {"HTTP/1.1 ", "the proxy closed the connection"},
    };
    struct event_base *base = loop_create();
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
        struct server s;
        char url[64];
        server_start(&s, base, "right");
        s.answer = table[i].answer;
        snprintf(url, sizeof url, "http://secret-user:secret@127.0.0.1:%u", s.port);
        setenv("https_proxy", url, 1);
        struct dialer *d = dialer_create(base);
        struct outcome o = dial_to(d, "api.good.test", 443, true);
        expect_failure(&o, ERROR_UPSTREAM_UNREACHABLE, table[i].failure);
        expect_failure(&o, ERROR_UPSTREAM_UNREACHABLE, "api.good.test:443");
        assert_null(strstr(o.e.message, "secret"));
        server_end(&s);
        dialer_destroy(d);
    }
    setenv("https_proxy", "socks5://secret@127.0.0.1:1", 1);
    struct dialer *d = dialer_create(base);
    struct outcome o = dial_to(d, "api.good.test", 443, true);
    expect_failure(&o, ERROR_UPSTREAM_UNREACHABLE, "only http:// proxies can be used");
    expect_failure(&o, ERROR_UPSTREAM_UNREACHABLE, "https_proxy in the environment");
    assert_null(strstr(o.e.message, "secret"));
    dialer_destroy(d);
    /* Named is the one that was set. */
    unsetenv("https_proxy");
    setenv("HTTPS_PROXY", "socks5://secret@127.0.0.1:1", 1);
    d = dialer_create(base);
    o = dial_to(d, "api.good.test", 443, true);
    expect_failure(&o, ERROR_UPSTREAM_UNREACHABLE, "HTTPS_PROXY in the environment");
    unsetenv("HTTPS_PROXY");
    dialer_destroy(d);
    loop_destroy(base);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(exempt),      cmocka_unit_test(choice),  cmocka_unit_test(environment),
        cmocka_unit_test(requests),    cmocka_unit_test(replies), cmocka_unit_test(through_a_proxy),
        cmocka_unit_test(bad_proxies),
    };
    return cmocka_run_group_tests(tests, fixture_start, fixture_end);
}
