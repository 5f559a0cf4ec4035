#include "proxy/side_call.h"

#include <stdio.h>

#include "base/xalloc.h"

enum { REQUEST_HEAD = 2 * LIMIT_HTTP_HEAD };

struct side_call {
    struct config *config; /* NULL: none is held */
    struct dial_target target;
    struct http_call *call;
    struct event *timer; /* NULL: the caller sees to the time */
    int64_t timeout_ms;
    size_t answer_most;
    const char *keep_field;
    int status;
    char field[SIDE_FIELD];
    struct buf body;
    side_done done;
    void *arg;
};

static void destroy(struct side_call *c)
{
    if (c->timer)
        event_free(c->timer);
    buf_free(&c->body);
    config_unref(c->config);
    xfree(c);
}

void side_call_cancel(struct side_call *c)
{
    if (!c)
        return;
    http_call_cancel(c->call);
    destroy(c);
}

/* ---- the answer ---- */

static void finish(struct side_call *c, const struct error *failed, bool given_up)
{
    const struct side_answer answer = {.failed = failed,
                                       .given_up = given_up,
                                       .status = c->status,
                                       .body = &c->body,
                                       .field = span_str(c->field)};
    c->done(c->arg, &answer);
    destroy(c);
}

/* Gives up what is still coming. */
static void give_up(struct side_call *c, const struct error *failed)
{
    http_call_cancel(c->call);
    finish(c, failed, true);
}

static void give_up_large(struct side_call *c)
{
    struct error e;
    error_set(&e, ERROR_UPSTREAM_INVALID, "the answer has more than %zu bytes", c->answer_most);
    give_up(c, &e);
}

static void on_timer(evutil_socket_t fd, short what, void *arg)
{
    struct side_call *c = arg;
    struct error e;
    (void)fd;
    (void)what;
    error_set(&e, ERROR_UPSTREAM_TIMEOUT, "there was no whole answer within %lld ms",
              (long long)c->timeout_ms);
    give_up(c, &e);
}

static void on_head(void *arg, const struct http_head *head)
{
    struct side_call *c = arg;
    const struct http_field *coding = http_head_find(head, "content-encoding");
    const struct http_field *kept = c->keep_field ? http_head_find(head, c->keep_field) : NULL;
    struct error e;
    c->status = head->status;
    if (kept && kept->value.n < sizeof c->field) {
        memcpy(c->field, kept->value.p, kept->value.n);
        c->field[kept->value.n] = '\0';
    }
    if (coding && coding->value.n && !span_is_nocase(coding->value, "identity")) {
        error_set(&e, ERROR_UPSTREAM_INVALID, "the answer has a content coding, which was not asked for");
        give_up(c, &e);
    } else if (head->has_length && head->length > c->answer_most) {
        give_up_large(c);
    }
}

static void on_body(void *arg, struct span bytes)
{
    struct side_call *c = arg;
    if (buf_add(&c->body, bytes) < 0)
        give_up_large(c);
}

static void on_read_end(void *arg)
{
    (void)arg;
}

static void on_done(void *arg, const struct error *e)
{
    finish(arg, e, false);
}

static const struct http_call_sink sink = {
    .head = on_head,
    .body = on_body,
    .read_end = on_read_end,
    .done = on_done,
};

/* ---- the request ---- */

void side_request_provider(struct side_request *r, struct config *config,
                           const struct config_provider *provider)
{
    r->config = config;
    r->host = provider->host;
    r->port = provider->port;
    r->tls = provider->tls;
    r->host_header = provider->host_header;
    r->connect_ms = config->timeouts.connect;
}

static void write_request(const struct side_request *r, struct buf *out)
{
    size_t body = r->body ? r->body->n : 0;
    buf_printf(out, "%s ", r->method);
    buf_add(out, r->target);
    buf_printf(out, " HTTP/1.1\r\nHost: %s\r\n", r->host_header);
    buf_add(out, r->fields);
    buf_printf(out, "User-Agent: penstock/%s\r\nAccept-Encoding: identity\r\n", PENSTOCK_VERSION);
    if (r->accept)
        buf_printf(out, "Accept: %s\r\n", r->accept);
    if (r->content_type)
        buf_printf(out, "Content-Type: %s\r\nContent-Length: %zu\r\n", r->content_type, body);
    buf_adds(out, "\r\n");
    if (r->body)
        buf_add(out, buf_span(r->body));
}

struct side_call *side_call_start(struct event_base *base, struct http_client *client,
                                  const struct side_request *r, side_done done, void *arg)
{
    struct side_call *c = xcalloc(1, sizeof *c);
    struct buf request;
    c->config = r->config ? config_ref(r->config) : NULL;
    c->target =
        (struct dial_target){.host = r->host, .port = r->port, .tls = r->tls, .timeout_ms = r->connect_ms};
    c->timeout_ms = r->timeout_ms;
    c->answer_most = r->answer_most;
    c->keep_field = r->keep_field;
    c->done = done;
    c->arg = arg;
    buf_init(&c->body, r->answer_most);
    buf_init(&request, (r->body ? r->body->n : 0) + r->target.n + r->fields.n + REQUEST_HEAD);
    write_request(r, &request);
    if (r->body)
        buf_free(r->body);
    if (r->timeout_ms) {
        struct timeval after = {r->timeout_ms / 1000, r->timeout_ms % 1000 * 1000};
        c->timer = evtimer_new(base, on_timer, c);
        evtimer_add(c->timer, &after);
    }
    c->call = http_call_start(client, &c->target, false, &sink, c);
    http_call_give(c->call, &request);
    http_call_sent_all(c->call);
    return c;
}
