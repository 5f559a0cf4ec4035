/* Streams over a socket pair, plain and with TLS on both sides of it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

#include "net/stream.h"
#include "net/tls.h"
#include "tls_fixture.h"

static void pair(struct stream *a, struct stream *b)
{
    int fds[2];
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, fds), 0);
    *a = (struct stream){.fd = fds[0]};
    *b = (struct stream){.fd = fds[1]};
}

static void tcp_pair(struct stream *a, struct stream *b)
{
    struct sockaddr_in at;
    int listener = fixture_listen(&at);
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    assert_int_equal(connect(fd, (struct sockaddr *)&at, sizeof at), 0);
    *a = (struct stream){.fd = fd};
    *b = (struct stream){.fd = accept(listener, NULL, NULL)};
    close(listener);
}

static void plain_bytes(void **state)
{
    (void)state;
    struct stream a, b;
    char room[16];
    pair(&a, &b);
    assert_int_equal(stream_read(&b, room, sizeof room), STREAM_AGAIN);
    assert_int_equal(stream_write(&a, "hello", 5), 5);
    assert_int_equal(stream_write(&a, "", 0), 0);
    struct iovec v[] = {{(char *)"", 0}, {(char *)"ab", 2}, {(char *)"", 0}, {(char *)"cd", 2}};
    assert_int_equal(stream_writev(&a, v, 4), 4);
    assert_int_equal(stream_writev(&a, v, 1), 0);
    assert_int_equal(stream_read(&b, room, sizeof room), 9);
    assert_memory_equal(room, "helloabcd", 9);
    assert_false(stream_pending(&b));
    stream_close(&a, false);
    assert_int_equal(a.fd, -1);
    assert_int_equal(stream_read(&b, room, sizeof room), STREAM_EOF);
    stream_close(&b, false);
    stream_close(&b, false);
}

/* The process would die of SIGPIPE here. */
static void writing_to_nobody(void **state)
{
    (void)state;
    struct stream a, b;
    struct iovec v[] = {{(char *)"ab", 2}, {(char *)"cd", 2}};
    assert_true(signal(SIGPIPE, SIG_DFL) != SIG_ERR);
    pair(&a, &b);
    stream_close(&b, false);
    assert_int_equal(stream_write(&a, "x", 1), STREAM_BROKEN);
    assert_int_equal(stream_writev(&a, v, 2), STREAM_BROKEN);
    stream_close(&a, false);
}

static void a_full_socket(void **state)
{
    (void)state;
    static char block[1 << 16], room[1 << 16];
    struct stream a, b;
    size_t sent = 0, got = 0;
    ssize_t n;
    pair(&a, &b);
    while ((n = stream_write(&a, block, sizeof block)) > 0)
        sent += (size_t)n;
    assert_int_equal(n, STREAM_AGAIN);
    while ((n = stream_read(&b, room, sizeof room)) > 0)
        got += (size_t)n;
    assert_int_equal(n, STREAM_AGAIN);
    assert_int_equal(sent, got);
    stream_close(&a, false);
    stream_close(&b, false);
}

static void reset_or_end(void **state)
{
    (void)state;
    for (int reset = 0; reset < 2; reset++) {
        struct stream a, b;
        char room[4];
        tcp_pair(&a, &b);
        stream_close(&a, reset);
        assert_int_equal(stream_read(&b, room, sizeof room), reset ? STREAM_BROKEN : STREAM_EOF);
        stream_close(&b, false);
    }
}

struct secure {
    SSL_CTX *server_context, *client_context;
    struct stream client, server;
};

static void secure_start(struct secure *s)
{
    struct error e;
    pair(&s->client, &s->server);
    s->server_context = tls_server_context(fixture_path("right.pem"), fixture_path("right.key"), &e);
    assert_non_null(s->server_context);
    s->client_context = SSL_CTX_new(TLS_client_method());
    s->server.ssl = tls_accept(s->server_context, s->server.fd);
    s->client.ssl = fixture_client(s->client_context, s->client.fd);
}

/* Both ends read until the handshake is over. */
static void secure_handshake(struct secure *s)
{
    char room[64];
    secure_start(s);
    for (int i = 0; i < 10; i++) {
        assert_int_equal(stream_read(&s->client, room, sizeof room), STREAM_AGAIN);
        assert_int_equal(stream_read(&s->server, room, sizeof room), STREAM_AGAIN);
    }
    assert_true(SSL_is_init_finished(s->client.ssl) && SSL_is_init_finished(s->server.ssl));
}

static void secure_finish(struct secure *s)
{
    stream_close(&s->client, false);
    stream_close(&s->server, false);
    SSL_CTX_free(s->client_context);
    SSL_CTX_free(s->server_context);
}

static void tls_bytes(void **state)
{
    (void)state;
    struct secure s;
    char room[64];
    secure_handshake(&s);
    struct iovec v[] = {{(char *)"", 0}, {(char *)"first", 5}, {(char *)"second", 6}};
    assert_int_equal(stream_writev(&s.server, v, 3), 5);
    assert_int_equal(stream_read(&s.client, room, 2), 2);
    assert_true(stream_pending(&s.client));
    assert_int_equal(stream_read(&s.client, room, sizeof room), 3);
    assert_memory_equal(room, "rst", 3);
    assert_false(stream_pending(&s.client));
    assert_int_equal(stream_read(&s.client, room, sizeof room), STREAM_AGAIN);
    assert_false(s.client.wants_write);
    stream_close(&s.server, false);
    assert_int_equal(stream_read(&s.client, room, sizeof room), STREAM_EOF);
    secure_finish(&s);
}

/* Half a record is nothing that could be read now. */
static void tls_half_a_record(void **state)
{
    (void)state;
    struct secure s;
    char record[128], room[64];
    int fds[2];
    secure_handshake(&s);
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, fds), 0);
    int kept = dup(s.client.fd);
    assert_int_equal(stream_write(&s.server, "text", 4), 4);
    ssize_t n = recv(kept, record, sizeof record, MSG_DONTWAIT);
    assert_true(n > 10);
    assert_int_equal(dup2(fds[0], s.client.fd), s.client.fd);
    assert_int_equal(write(fds[1], record, 9), 9);
    assert_int_equal(stream_read(&s.client, room, sizeof room), STREAM_AGAIN);
    assert_false(stream_pending(&s.client));
    assert_int_equal(write(fds[1], record + 9, (size_t)n - 9), n - 9);
    assert_int_equal(stream_read(&s.client, room, sizeof room), 4);
    close(kept);
    close(fds[0]);
    close(fds[1]);
    secure_finish(&s);
}

/* Full in the midst of it; goes on from another address with the same bytes. */
static void tls_full_socket(void **state)
{
    (void)state;
    enum { TOTAL = 2 << 20 };
    static char block[TOTAL], moved[TOTAL], room[1 << 14];
    struct secure s;
    size_t sent = 0, got = 0;
    bool was_full = false;
    for (size_t i = 0; i < TOTAL; i++)
        moved[i] = block[i] = (char)(i * 31 >> 3);
    secure_handshake(&s);
    while (got < TOTAL) {
        const char *from = was_full ? moved : block;
        ssize_t n = sent < TOTAL ? stream_write(&s.server, from + sent, TOTAL - sent) : STREAM_AGAIN;
        if (n > 0) {
            sent += (size_t)n;
            continue;
        }
        assert_int_equal(n, STREAM_AGAIN);
        assert_false(s.server.wants_read);
        was_full = !was_full;
        while ((n = stream_read(&s.client, room, sizeof room)) > 0) {
            assert_memory_equal(room, block + got, (size_t)n);
            got += (size_t)n;
        }
        assert_int_equal(n, STREAM_AGAIN);
    }
    assert_int_equal(sent, TOTAL);
    secure_finish(&s);
}

/* An end without close_notify may be an attacker's. */
static void tls_cut_short(void **state)
{
    (void)state;
    struct secure s;
    char room[64];
    assert_true(signal(SIGPIPE, SIG_DFL) != SIG_ERR);
    secure_handshake(&s);
    assert_int_equal(stream_write(&s.server, "part", 4), 4);
    stream_close(&s.server, true);
    assert_int_equal(stream_read(&s.client, room, sizeof room), 4);
    assert_int_equal(stream_read(&s.client, room, sizeof room), STREAM_BROKEN);
    assert_int_equal(stream_write(&s.client, "more", 4), STREAM_BROKEN);
    secure_finish(&s);
}

static void tls_writing_to_nobody(void **state)
{
    (void)state;
    struct secure s;
    assert_true(signal(SIGPIPE, SIG_DFL) != SIG_ERR);
    secure_handshake(&s);
    stream_close(&s.server, false);
    assert_int_equal(stream_write(&s.client, "more", 4), STREAM_BROKEN);
    secure_finish(&s);
}

static void tls_not_spoken(void **state)
{
    (void)state;
    struct secure s;
    char room[64];
    secure_start(&s);
    assert_int_equal(write(s.client.fd, "GET / HTTP/1.1\r\n\r\n", 18), 18);
    assert_int_equal(stream_read(&s.server, room, sizeof room), STREAM_BROKEN);
    secure_finish(&s);
}

/* The key again, with a passphrase. */
static void lock_key(const char *from, const char *to)
{
    FILE *f = fopen(fixture_path(from), "r");
    assert_non_null(f);
    EVP_PKEY *key = PEM_read_PrivateKey(f, NULL, NULL, NULL);
    fclose(f);
    assert_non_null(key);
    f = fopen(fixture_path(to), "w");
    assert_non_null(f);
    assert_int_equal(PEM_write_PrivateKey(f, key, EVP_aes_128_cbc(), NULL, 0, NULL, (void *)"secret"), 1);
    fclose(f);
    EVP_PKEY_free(key);
}

static void server_context_files(void **state)
{
    (void)state;
    static const char garbage[] = "garbage.pem", locked[] = "locked.key", nowhere[] = "nowhere.pem";
    const struct {
        const char *certificate, *key, *said;
    } rows[] = {
        {nowhere, "right.key", "certificate %s/nowhere.pem: No such file or directory"},
        {"right.pem", nowhere, "key %s/nowhere.pem: No such file or directory"},
        {"", "right.key", "certificate %s/: is a directory"},
        {"right.pem", "", "key %s/: is a directory"},
        {garbage, "right.key", "certificate %s/garbage.pem: holds no certificate in PEM form"},
        {"right.key", "right.pem", "certificate %s/right.key: holds no certificate in PEM form"},
        {"right.pem", garbage, "key %s/garbage.pem: holds no private key in PEM form"},
        {"right.pem", "right.pem", "key %s/right.pem: holds no private key in PEM form"},
        {"right.pem", locked,
         "key %s/locked.key: has a passphrase, which is not supported; store it without one"},
        {"right.pem", "wrong.key", "key %s/wrong.key: does not belong to the certificate"},
    };
    FILE *f = fopen(fixture_path(garbage), "w");
    assert_non_null(f);
    fputs("garbage\n", f);
    fclose(f);
    lock_key("right.key", locked);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct error e;
        char wanted[512];
        assert_null(tls_server_context(fixture_path(rows[i].certificate), fixture_path(rows[i].key), &e));
        const char *slot = strstr(rows[i].said, "%s");
        snprintf(wanted, sizeof wanted, "%.*s%s%s", (int)(slot - rows[i].said), rows[i].said, fixture_folder,
                 slot + 2);
        assert_string_equal(e.message, wanted);
    }
    unlink(fixture_path(garbage));
    unlink(fixture_path(locked));
}

/* http/1.1 out of several; a client that wants h2 alone is refused. */
static void server_alpn(void **state)
{
    (void)state;
    static const unsigned char both[] = "\x02h2\x08http/1.1", h2[] = "\x02h2";
    for (int only_h2 = 0; only_h2 < 2; only_h2++) {
        struct secure s;
        char room[64];
        const unsigned char *chosen;
        unsigned n;
        secure_start(&s);
        assert_int_equal(
            SSL_set_alpn_protos(s.client.ssl, only_h2 ? h2 : both, only_h2 ? sizeof h2 - 1 : sizeof both - 1),
            0);
        ssize_t client = 0;
        for (int i = 0; i < 4 && client != STREAM_BROKEN; i++) {
            client = stream_read(&s.client, room, sizeof room);
            (void)!stream_read(&s.server, room, sizeof room);
        }
        assert_int_equal(client, only_h2 ? STREAM_BROKEN : STREAM_AGAIN);
        if (!only_h2) {
            SSL_get0_alpn_selected(s.client.ssl, &chosen, &n);
            assert_int_equal(n, 8);
            assert_memory_equal(chosen, "http/1.1", 8);
        }
        secure_finish(&s);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(plain_bytes),
        cmocka_unit_test(writing_to_nobody),
        cmocka_unit_test(a_full_socket),
        cmocka_unit_test(reset_or_end),
        cmocka_unit_test(tls_bytes),
        cmocka_unit_test(tls_half_a_record),
        cmocka_unit_test(tls_full_socket),
        cmocka_unit_test(tls_cut_short),
        cmocka_unit_test(tls_writing_to_nobody),
        cmocka_unit_test(tls_not_spoken),
        cmocka_unit_test(server_context_files),
        cmocka_unit_test(server_alpn),
    };
    return cmocka_run_group_tests(tests, fixture_start, fixture_end);
}
