#include "proxy/image.h"

#include <stdio.h>

#include "base/log.h"
#include "base/xalloc.h"
#include "proxy/exchange_state.h"
#include "proxy/forward.h"
#include "proxy/image_reply.h"
#include "proxy/sentry.h"
#include "proxy/side_call.h"

enum { ANSWER_MOST = 32 * 1024 * 1024 };

struct image_call {
    struct worker *worker;
    struct config *config;
    const struct config_provider *provider;
    char consult[CONSULT_ID];
    char *key; /* NULL: none; wiped at the end */
    struct side_call *call;
    image_done done;
    void *arg;
};

static void destroy(struct image_call *c)
{
    if (c->key)
        explicit_bzero(c->key, strlen(c->key));
    xfree(c->key);
    config_unref(c->config);
    xfree(c);
}

void image_call_cancel(struct image_call *c)
{
    if (!c)
        return;
    side_call_cancel(c->call);
    destroy(c);
}

/* ---- the answer ---- */

/* What the error is in the product's own words, when a key of Penstock's own was refused: ours to mend. */
static enum error_code refused_key(const struct image_call *c, int status)
{
    if (!c->provider->api_key)
        return ERROR_NONE;
    return status == 401   ? ERROR_AUTH_ERROR
           : status == 403 ? ERROR_FORBIDDEN
           : status == 429 ? ERROR_RATE_LIMIT
                           : ERROR_NONE;
}

static void fail(struct image_call *c, int status, enum error_code code, const char *why)
{
    struct error e;
    if (code != ERROR_NONE) {
        error_set(&e, code, "%s", why);
        sentry_note(c->worker, c->provider, "", c->consult, &e);
    }
    log_warning("image.failed", log_str("consult", c->consult), log_str("provider", c->provider->name),
                log_int("status", status), log_str("code", code == ERROR_NONE ? "" : error_name(code)));
    c->done(c->arg, NULL, FLAG_RENDER_FAILED, why);
    destroy(c);
}

static void on_answer(void *arg, const struct side_answer *answer)
{
    struct image_call *c = arg;
    const struct error *e = answer->failed;
    char why[LIMIT_ERROR_TEXT];
    if (e && answer->given_up) {
        snprintf(why, sizeof why, "the image provider: %.400s", e->message);
        fail(c, answer->status, e->code, why);
    } else if (e) {
        fail(c, answer->status, e->code,
             answer->status || e->code == ERROR_UPSTREAM_INVALID ? "the image provider's answer broke off"
                                                                 : "the image provider cannot be reached");
    } else if (answer->status < 200 || answer->status > 299) {
        image_reply_refusal(answer->status, buf_span(answer->body), c->key, why);
        fail(c, answer->status, refused_key(c, answer->status), why);
    } else {
        c->done(c->arg, answer->body, FLAG_NONE, "");
        destroy(c);
    }
}

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
    c->done = done;
    c->arg = arg;
    return c;
}

/* The time is the directive's, and is kept by whoever waits. */
static void start(struct image_call *c, const char *accept, struct span target, struct buf *body)
{
    struct buf fields;
    buf_init(&fields, 2 * LIMIT_KEY);
    if (c->key)
        forward_add_key(&fields, c->provider, c->key);
    struct side_request r = {.method = body ? "POST" : "GET",
                             .target = target,
                             .fields = buf_span(&fields),
                             .accept = accept,
                             .content_type = body ? "application/json" : NULL,
                             .body = body,
                             .answer_most = ANSWER_MOST};
    side_request_provider(&r, c->config, c->provider);
    c->call = side_call_start(c->worker->base, c->worker->client, &r, on_answer, c);
    if (fields.n)
        explicit_bzero(fields.data, fields.n);
    buf_free(&fields);
}

struct image_call *image_ask(const struct exchange *ex, const struct image_wanted *wanted, image_done done,
                             void *arg, char why[LIMIT_ERROR_TEXT])
{
    struct image_call *c = create(ex, done, arg, why);
    struct buf path, body;
    if (!c)
        return NULL;
    buf_init(&body, 6 * wanted->prompt.n + LIMIT_METADATA);
    image_request_body(c->config->image_generation.model, wanted, &body);
    buf_init(&path, LIMIT_HTTP_HEAD);
    image_request_path(c->provider, &path);
    start(c, "application/json", buf_span(&path), &body);
    buf_free(&path);
    return c;
}

struct image_call *image_fetch(const struct exchange *ex, struct span target, image_done done, void *arg,
                               char why[LIMIT_ERROR_TEXT])
{
    struct image_call *c = create(ex, done, arg, why);
    if (c)
        start(c, "image/*", target, NULL);
    return c;
}
