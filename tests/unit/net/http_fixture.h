#ifndef TESTS_UNIT_NET_HTTP_FIXTURE_H
#define TESTS_UNIT_NET_HTTP_FIXTURE_H
/* A scripted server and a caller of http_client, in one event loop. */
#include "dial_fixture.h"
#include "net/http_client.h"

enum { MAX_REQUEST = 1 << 23, MAX_ACTIONS = 8 };

/* ---- the server: what it does is told beforehand, connection by connection ---- */

/* Reads `reads` bytes, or up to an empty line (0), then sends, then perhaps ends. */
struct action {
    size_t reads;
    const char *send;
    enum {
        STAY,
        CLOSE,
        RESET,
        CLOSE_AT_ONCE
    } then;         /* CLOSE_AT_ONCE: in the same turn, before the client looks */
    unsigned times; /* 0: once */
};

struct script {
    struct event_base *base;
    int fd;
    uint16_t port;
    struct event *readable;
    struct action actions[MAX_ACTIONS];
    size_t nactions, at;
    unsigned accepted, ended; /* connections; of them, those that the client closed */
    struct buf got;           /* all bytes of all connections */
    struct guest {
        struct script *script;
        struct stream s;
        struct event *event;
        struct buf request; /* since the last action */
    } guests[CONNECTIONS];
};

static inline void guest_end(struct guest *g, bool reset)
{
    if (g->event)
        event_free(g->event);
    g->event = NULL;
    buf_free(&g->request);
    stream_close(&g->s, reset);
}

static inline bool request_there(const struct guest *g, const struct action *a)
{
    struct span s = buf_span(&g->request);
    return a->reads ? s.n >= a->reads : memmem(s.p, s.n, "\r\n\r\n", 4) != NULL;
}

/* One action of the script, if its request is there. */
static inline void guest_act(struct guest *g)
{
    struct script *s = g->script;
    if (s->at == s->nactions || !request_there(g, &s->actions[s->at]))
        return;
    struct action *a = &s->actions[s->at];
    if (a->times > 1)
        a->times--;
    else
        s->at++;
    buf_reset(&g->request);
    if (a->send)
        assert_int_equal(send(g->s.fd, a->send, strlen(a->send), MSG_NOSIGNAL), strlen(a->send));
    if (a->then != STAY)
        guest_end(g, a->then == RESET);
}

static inline void on_guest(evutil_socket_t fd, short what, void *arg)
{
    struct guest *g = arg;
    static char room[1 << 16];
    (void)fd;
    (void)what;
    ssize_t n = stream_read(&g->s, room, sizeof room);
    if (n == STREAM_AGAIN)
        return;
    if (n <= 0) {
        g->script->ended++;
        guest_end(g, false);
        return;
    }
    buf_addn(&g->script->got, room, (size_t)n);
    buf_addn(&g->request, room, (size_t)n);
    guest_act(g);
}

static inline void on_guest_connection(evutil_socket_t fd, short what, void *arg)
{
    struct script *s = arg;
    (void)what;
    int at = accept4(fd, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
    assert_true(at >= 0);
    assert_true(s->accepted < CONNECTIONS);
    struct guest *g = &s->guests[s->accepted++];
    *g = (struct guest){.script = s, .s = {.fd = at}};
    buf_init(&g->request, MAX_REQUEST);
    g->event = event_new(s->base, at, EV_READ | EV_PERSIST, on_guest, g);
    event_add(g->event, NULL);
}

static inline void script_start(struct script *s, struct event_base *base)
{
    struct sockaddr_in at;
    int room = 16 * 1024; /* so that large requests do not fit into it */
    *s = (struct script){.base = base};
    s->fd = fixture_listen(&at);
    s->port = ntohs(at.sin_port);
    evutil_make_socket_nonblocking(s->fd);
    assert_int_equal(setsockopt(s->fd, SOL_SOCKET, SO_RCVBUF, &room, sizeof room), 0);
    buf_init(&s->got, 4 * MAX_REQUEST);
    s->readable = event_new(base, s->fd, EV_READ | EV_PERSIST, on_guest_connection, s);
    event_add(s->readable, NULL);
}

static inline void script_end(struct script *s)
{
    for (unsigned i = 0; i < s->accepted; i++)
        guest_end(&s->guests[i], false);
    event_free(s->readable);
    close(s->fd);
    buf_free(&s->got);
}

static inline void script_add(struct script *s, struct action a)
{
    assert_true(s->nactions < MAX_ACTIONS);
    s->actions[s->nactions++] = a;
}

/* How often a text came to the server. */
static inline unsigned got_times(const struct script *s, const char *text)
{
    struct span all = buf_span(&s->got);
    unsigned n = 0;
    for (const char *at; (at = memmem(all.p, all.n, text, strlen(text))); n++)
        all = span_from(all, (size_t)(at - all.p) + 1);
    return n;
}

/* ---- the caller ---- */

enum moment { NEVER, CONNECTED, INTERIM, HEAD, BODY, TRAILER, READ_END, WRITABLE };

struct caller {
    struct event_base *base;
    struct http_call *call;
    struct buf events; /* what was called, in a line */
    struct buf body;
    enum moment cancel_at, pause_at;
    unsigned done;
    struct error e;                              /* code 0: it came whole */
    struct http_call *(*again)(struct caller *); /* from inside of done */
};

static inline void note(struct caller *c, enum moment m, const char *text)
{
    assert_int_equal(c->done, 0);
    assert_non_null(c->call);
    buf_adds(&c->events, text);
    if (c->pause_at == m)
        http_call_pause(c->call, true);
    if (c->cancel_at == m) {
        http_call_cancel(c->call);
        http_call_write(c->call, SPAN_LIT("not any more"));
        c->call = NULL;
        event_base_loopbreak(c->base);
    }
}

static inline void on_connected(void *arg)
{
    note(arg, CONNECTED, "connected ");
}

static inline void on_interim(void *arg, const struct http_head *head)
{
    char text[32];
    snprintf(text, sizeof text, "interim:%d ", head->status);
    note(arg, INTERIM, text);
}

static inline void on_head(void *arg, const struct http_head *head)
{
    char text[32];
    snprintf(text, sizeof text, "head:%d ", head->status);
    note(arg, HEAD, text);
}

static inline void on_body(void *arg, struct span bytes)
{
    struct caller *c = arg;
    buf_add(&c->body, bytes);
    note(c, BODY, "body ");
}

static inline void on_trailer(void *arg, struct span name, struct span value)
{
    char text[64];
    snprintf(text, sizeof text, "%.*s=%.*s ", (int)name.n, name.p, (int)value.n, value.p);
    note(arg, TRAILER, text);
}

static inline void on_read_end(void *arg)
{
    note(arg, READ_END, "end ");
}

static inline void on_writable(void *arg)
{
    note(arg, WRITABLE, "writable ");
}

static inline void on_done(void *arg, const struct error *e)
{
    struct caller *c = arg;
    assert_int_equal(c->done, 0);
    assert_non_null(c->call);
    c->done++;
    c->call = NULL;
    if (e)
        c->e = *e;
    buf_adds(&c->events, e ? "failed" : "done");
    event_base_loopbreak(c->base);
    if (c->again) {
        struct http_call *(*again)(struct caller *) = c->again;
        c->again = NULL;
        c->call = again(c);
    }
}

static const struct http_call_sink all = {on_connected, on_interim,  on_head,     on_body,
                                          on_trailer,   on_read_end, on_writable, on_done};
/* Only what must be there. */
static const struct http_call_sink few = {
    .head = on_head, .body = on_body, .read_end = on_read_end, .done = on_done};

/* ---- both, in one loop ---- */

struct world {
    struct event_base *base;
    struct dialer *dialer;
    struct http_client *client;
    struct script server;
    struct caller caller;
    struct dial_target target;
    char room[LIMIT_READ];
};

static inline struct world *world_create(void)
{
    struct world *w = xcalloc(1, sizeof *w);
    w->base = loop_create();
    w->dialer = dialer_create(w->base);
    w->client = http_client_create(w->base, w->dialer, w->room, 4);
    script_start(&w->server, w->base);
    w->target = (struct dial_target){"127.0.0.1", w->server.port, false, 20000};
    w->caller = (struct caller){.base = w->base};
    buf_init(&w->caller.events, 1 << 16);
    buf_init(&w->caller.body, 1 << 20);
    return w;
}

static inline void world_destroy(struct world *w)
{
    http_client_destroy(w->client);
    script_end(&w->server);
    dialer_destroy(w->dialer);
    loop_destroy(w->base);
    buf_free(&w->caller.events);
    buf_free(&w->caller.body);
    xfree(w);
}

#define GET "GET /a HTTP/1.1\r\nHost: h\r\n\r\n"

static inline void caller_reset(struct caller *c)
{
    buf_reset(&c->events);
    buf_reset(&c->body);
    c->done = 0;
    c->e = (struct error){0};
    c->cancel_at = c->pause_at = NEVER;
}

static inline void start_with(struct world *w, const struct http_call_sink *sink, const char *request,
                              bool no_body, bool sent_all)
{
    caller_reset(&w->caller);
    w->caller.call = http_call_start(w->client, &w->target, no_body, sink, &w->caller);
    if (request)
        http_call_write(w->caller.call, span_str(request));
    if (sent_all)
        http_call_sent_all(w->caller.call);
    assert_int_equal(w->caller.events.n, 0);
}

static inline void start(struct world *w)
{
    start_with(w, &all, GET, false, true);
}

static inline void finish(struct world *w)
{
    for (int i = 0; i < 1000 && !w->caller.done; i++)
        turn(w->base, 20);
    assert_int_equal(w->caller.done, 1);
}

/* Lets everything happen that is under way. */
static inline void settle(struct world *w)
{
    for (int i = 0; i < 5; i++)
        turn(w->base, 10);
}

static inline void expect_events(struct world *w, const char *events)
{
    assert_string_equal(buf_cstr(&w->caller.events), events);
}

static inline void expect_body(struct world *w, const char *body)
{
    assert_string_equal(buf_cstr(&w->caller.body), body);
}

#define OK2 "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"

#endif
