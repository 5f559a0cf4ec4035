#include "proxy/image.h"

#include <stdio.h>

#include "base/log.h"
#include "base/xalloc.h"
#include "proxy/exchange_state.h"
#include "proxy/forward.h"
#include "proxy/image_reply.h"

enum { ANSWER_MOST = 32 * 1024 * 1024, REQUEST_HEAD = 2 * LIMIT_HTTP_HEAD };

struct image_call {
    struct worker *worker;
    struct config *config;
    const struct config_provider *provider;
    char consult[CONSULT_ID];
    char *key; /* NULL: none; wiped at the end */
    struct dial_target target;
    struct http_call *call;
    int status;
    struct buf body;
    image_done done;
    void *arg;
};

static void destroy(struct image_call *c)
{
    if (c->key)
        explicit_bzero(c->key, strlen(c->key));
    xfree(c->key);
    buf_free(&c->body);
    config_unref(c->config);
    xfree(c);
}

void image_call_cancel(struct image_call *c)
{
    if (!c)
        return;
    http_call_cancel(c->call);
    destroy(c);
}

/* ---- the answer ---- */

/* What the error is in the product's own words, when a key of Penstock's own was refused: ours to mend. */
static enum error_code refused_key(const struct image_call *c)
{
    if (!c->provider->api_key)
        return ERROR_NONE;
    return c->status == 401   ? ERROR_AUTH_ERROR
           : c->status == 403 ? ERROR_FORBIDDEN
           : c->status == 429 ? ERROR_RATE_LIMIT
                              : ERROR_NONE;
}

static void fail(struct image_call *c, enum error_code code, const char *why)
{
    if (code != ERROR_NONE)
        metrics_error(c->worker->metrics, c->provider, code);
    log_warning("image.failed", log_str("consult", c->consult), log_str("provider", c->provider->name),
                log_int("status", c->status), log_str("code", code == ERROR_NONE ? "" : error_name(code)));
    c->done(c->arg, NULL, FLAG_RENDER_FAILED, why);
    destroy(c);
}

/* Gives up what is still coming. */
static void give_up(struct image_call *c, const char *why)
{
    http_call_cancel(c->call);
    fail(c, ERROR_UPSTREAM_INVALID, why);
}

static void on_head(void *arg, const struct http_head *head)
{
    struct image_call *c = arg;
    const struct http_field *coding = http_head_find(head, "content-encoding");
    c->status = head->status;
    if (coding && coding->value.n && !span_is_nocase(coding->value, "identity"))
        give_up(c, "the image provider's answer has a content coding, which was not asked for");
    else if (head->has_length && head->length > ANSWER_MOST)
        give_up(c, "the image provider's answer is larger than 32 MiB");
}

static void on_body(void *arg, struct span bytes)
{
    struct image_call *c = arg;
    if (buf_add(&c->body, bytes) < 0)
        give_up(c, "the image provider's answer is larger than 32 MiB");
}

static void on_read_end(void *arg)
{
    (void)arg;
}

static void on_done(void *arg, const struct error *e)
{
    struct image_call *c = arg;
    char why[LIMIT_ERROR_TEXT];
    if (e) {
        fail(c, e->code,
             c->status || e->code == ERROR_UPSTREAM_INVALID ? "the image provider's answer broke off"
                                                            : "the image provider cannot be reached");
        return;
    }
    if (c->status < 200 || c->status > 299) {
        image_reply_refusal(c->status, buf_span(&c->body), c->key, why);
        fail(c, refused_key(c), why);
        return;
    }
    c->done(c->arg, &c->body, FLAG_NONE, "");
    destroy(c);
}

static const struct http_call_sink sink = {
    .head = on_head,
    .body = on_body,
    .read_end = on_read_end,
    .done = on_done,
};

/* ---- the request ---- */

/* The provider's own key where one is configured; else the caller's, which goes to no other provider than the
 * one that the caller sent it to. */
static struct image_call *create(const struct exchange *ex, image_done done, void *arg,
                                 char why[LIMIT_ERROR_TEXT])
{
    const struct config_provider *p = ex->config->image_generation.provider;
    const char *key = p->api_key ? p->api_key : ex->provider == p ? ex->api_key : NULL;
    if (!key && ex->provider != p) {
        snprintf(why, LIMIT_ERROR_TEXT, "no API key is configured for the image provider %s", p->name);
        return NULL;
    }
    struct image_call *c = xcalloc(1, sizeof *c);
    c->worker = ex->worker;
    c->config = config_ref(ex->config);
    c->provider = p;
    snprintf(c->consult, sizeof c->consult, "%s", ex->consult_id);
    c->key = key ? xstrdup(key) : NULL;
    c->target = (struct dial_target){
        .host = p->host, .port = p->port, .tls = p->tls, .timeout_ms = c->config->timeouts.connect};
    c->done = done;
    c->arg = arg;
    buf_init(&c->body, ANSWER_MOST);
    return c;
}

static void add_fields(const struct image_call *c, const char *accept, struct buf *out)
{
    buf_printf(out, "Host: %s\r\n", c->provider->host_header);
    if (c->key)
        forward_add_key(out, c->provider, c->key);
    buf_printf(out, "User-Agent: penstock/%s\r\nAccept: %s\r\nAccept-Encoding: identity\r\n",
               PENSTOCK_VERSION, accept);
}

static void start(struct image_call *c, struct buf *request)
{
    c->call = http_call_start(c->worker->client, &c->target, false, &sink, c);
    http_call_give(c->call, request);
    http_call_sent_all(c->call);
}

struct image_call *image_ask(const struct exchange *ex, const struct image_wanted *wanted, image_done done,
                             void *arg, char why[LIMIT_ERROR_TEXT])
{
    struct image_call *c = create(ex, done, arg, why);
    struct buf request, body;
    if (!c)
        return NULL;
    buf_init(&body, 6 * wanted->prompt.n + LIMIT_METADATA);
    image_request_body(c->config->image_generation.model, wanted, &body);
    buf_init(&request, body.n + REQUEST_HEAD);
    buf_adds(&request, "POST ");
    image_request_path(c->provider, &request);
    buf_adds(&request, " HTTP/1.1\r\n");
    add_fields(c, "application/json", &request);
    buf_printf(&request, "Content-Type: application/json\r\nContent-Length: %zu\r\n\r\n", body.n);
    buf_add(&request, buf_span(&body));
    buf_free(&body);
    start(c, &request);
    return c;
}

struct image_call *image_fetch(const struct exchange *ex, struct span target, image_done done, void *arg,
                               char why[LIMIT_ERROR_TEXT])
{
    struct image_call *c = create(ex, done, arg, why);
    struct buf request;
    if (!c)
        return NULL;
    buf_init(&request, target.n + REQUEST_HEAD);
    buf_adds(&request, "GET ");
    buf_add(&request, target);
    buf_adds(&request, " HTTP/1.1\r\n");
    add_fields(c, "image/*", &request);
    buf_adds(&request, "\r\n");
    start(c, &request);
    return c;
}
