#include "proxy/exchange.h"

#include <openssl/sha.h>
#include <stdio.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/xalloc.h"
#include "proxy/exchange_state.h"
#include "proxy/sentry.h"
#include "proxy/thread.h"

enum { ATTACHMENT_RECORD = 512 * 1024 /* of which a record has room for one */ };

static const char *const state_names[EX_STATES] = {"new",  "local", "collect", "attach",
                                                   "send", "relay", "settle",  "over"};

/* From each state, a bit for each state that may follow; see the drawing in exchange_state.h. */
static const unsigned ways[EX_STATES] = {
    [EX_NEW] = 1u << EX_LOCAL | 1u << EX_COLLECT | 1u << EX_SEND | 1u << EX_OVER,
    [EX_LOCAL] = 1u << EX_OVER,
    [EX_COLLECT] = 1u << EX_ATTACH | 1u << EX_SEND | 1u << EX_OVER,
    [EX_ATTACH] = 1u << EX_SEND | 1u << EX_OVER,
    [EX_SEND] = 1u << EX_RELAY | 1u << EX_SETTLE | 1u << EX_OVER,
    [EX_RELAY] = 1u << EX_SETTLE | 1u << EX_OVER,
    [EX_SETTLE] = 1u << EX_OVER,
};

void exchange_enter(struct exchange *ex, enum exchange_state state)
{
    struct worker *w = ex->worker;
    if (!(ways[ex->state] & 1u << state)) {
        log_error("exchange.state", log_str("from", state_names[ex->state]),
                  log_str("to", state_names[state]));
        return;
    }
    log_debug("exchange.state", log_str("consult", ex->consult_id), log_str("from", state_names[ex->state]),
              log_str("to", state_names[state]));
    if (ex->state == EX_RELAY)
        metrics_gauge_add(w->metrics, w->index, GAUGE_OPEN_STREAMS, -1);
    ex->state = state;
    if (state == EX_RELAY)
        metrics_gauge_add(w->metrics, w->index, GAUGE_OPEN_STREAMS, 1);
    if (state == EX_SETTLE)
        artifact_jobs_text_over(ex);
    if (state != EX_OVER)
        return;
    if (ex->prev)
        ex->prev->next = ex->next;
    else
        w->exchanges = ex->next;
    if (ex->next)
        ex->next->prev = ex->prev;
    ex->prev = NULL;
    ex->next = w->dead_exchanges;
    w->dead_exchanges = ex;
    worker_reap_later(w);
}

void exchange_free(struct exchange *ex)
{
    artifact_jobs_forget(ex);
    reply_destroy(ex->reply);
    decoder_destroy(ex->decoder);
    if (ex->turn)
        event_free(ex->turn);
    consult_files_unref(ex->worker, ex->files);
    thread_free(ex);
    caller_finish(&ex->caller);
    buf_free(&ex->request);
    buf_free(&ex->body);
    buf_free(&ex->trailers);
    buf_free(&ex->head);
    buf_free(&ex->stash);
    buf_free(&ex->artifacts);
    buf_free(&ex->reasons);
    buf_free(&ex->attachments);
    buf_free(&ex->not_passed);
    config_unref(ex->config);
    if (ex->api_key)
        explicit_bzero(ex->api_key, strlen(ex->api_key));
    xfree(ex->api_key);
    xfree(ex->model);
    xfree(ex->failure);
    xfree(ex);
}

static struct exchange *exchange_create(struct conn *c)
{
    struct worker *w = c->worker;
    struct exchange *ex = xcalloc(1, sizeof *ex);
    ex->worker = w;
    ex->conn = c;
    ex->config = config_ref(w->config);
    ex->choices = 1;
    ex->deadline_ms = INT64_MAX;
    ex->began_us = clock_mono_us();
    ex->first_byte_us = -1;
    caller_init(&ex->caller, ex->config);
    buf_init(&ex->request, 2 * LIMIT_HTTP_HEAD);
    buf_init(&ex->body, ex->config->limits.request_body);
    buf_init(&ex->trailers, LIMIT_HTTP_TRAILERS);
    buf_init(&ex->head, 2 * LIMIT_HTTP_HEAD);
    buf_init(&ex->stash, ex->config->limits.stream_buffer + LIMIT_READ);
    buf_init(&ex->artifacts, LIMIT_READ);
    buf_init(&ex->reasons, LIMIT_READ);
    buf_init(&ex->attachments, ATTACHMENT_RECORD);
    buf_init(&ex->not_passed, LIMIT_READ);
    ex->next = w->exchanges;
    if (w->exchanges)
        w->exchanges->prev = ex;
    w->exchanges = ex;
    c->exchange = ex;
    return ex;
}

/* ---- ends ---- */

void exchange_try_over(struct exchange *ex)
{
    bool recorded = ex->consult && !ex->stored;
    if (ex->conn || ex->call || ex->state == EX_OVER)
        return;
    if (recorded) /* before jobs that nobody waits for: whoever has the reply finds it counted */
        audit_observe(ex);
    if (ex->jobs)
        return;
    if (recorded)
        audit_write(ex);
    thread_end(ex);
    exchange_enter(ex, EX_OVER);
}

void exchange_answered(struct exchange *ex)
{
    struct conn *c = ex->conn;
    ex->conn = NULL;
    if (ex->call) { /* an answer before the upstream's */
        http_call_cancel(ex->call);
        ex->call = NULL;
    }
    if (c)
        conn_reply_done(c);
    if (ex->jobs && ex->state != EX_SETTLE)
        exchange_enter(ex, EX_SETTLE);
    exchange_try_over(ex);
}

void exchange_note_model(struct exchange *ex, struct span model)
{
    enum { LONGEST_MODEL = 200 };
    if (!model.n)
        return;
    xfree(ex->model);
    ex->model = xspandup(span_of(model.p, model.n < LONGEST_MODEL ? model.n : LONGEST_MODEL));
}

/* The body of an error of ours, or false with the event of it when the caller wants that. */
bool exchange_error_shape(const struct exchange *ex, const struct error *e, struct buf *out)
{
    bool event = ex->caller.errors_event && ex->wants_stream && ex->dialect;
    if (event)
        ex->dialect->error_event(e, true, out);
    else if (ex->dialect)
        ex->dialect->error_body(e, out);
    else
        dialect_plain_error(e, out);
    return event;
}

void exchange_note_error(struct exchange *ex, const struct error *e)
{
    sentry_note(ex->worker, ex->provider, ex->api == API_NONE ? "" : api_name(ex->api), ex->consult_id, e);
}

void exchange_keep_failure(struct exchange *ex, const struct error *e)
{
    if (e == ex->failure)
        return;
    if (!ex->failure)
        ex->failure = xmalloc(sizeof *ex->failure);
    *ex->failure = *e;
}

void exchange_fail(struct exchange *ex, const struct error *e)
{
    struct conn *c = ex->conn;
    exchange_note_error(ex, e);
    ex->outcome = OUTCOME_ERROR;
    ex->error = e->code;
    exchange_keep_failure(ex, e);
    ex->status = e->status;
    log_event(error_level(e->code) == LEVEL_WARNING ? LOG_WARNING : LOG_ERROR, "request.failed",
              (const struct log_field[]){log_str("consult", ex->consult_id),
                                         log_str("code", error_name(e->code)), log_int("status", e->status),
                                         log_str("message", e->message),
                                         log_str("provider", ex->provider ? ex->provider->name : "")},
              5);
    if (ex->call) {
        http_call_cancel(ex->call);
        ex->call = NULL;
    }
    worker_out_reset(&ex->worker->out); /* what this read produced until then is not sent */
    if (!c) {
        exchange_try_over(ex);
        return;
    }
    struct buf body;
    char extra[160] = "";
    buf_init(&body, 8 * LIMIT_ERROR_TEXT);
    bool event = exchange_error_shape(ex, e, &body);
    if (event)
        ex->status = 200;
    if (ex->consult_id[0])
        snprintf(extra, sizeof extra, "X-HW-Consult-Id: %s\r\n%s%s", ex->consult_id,
                 event ? "X-Accel-Buffering: no\r\nCache-Control: no-cache\r\n" : "",
                 e->code == ERROR_OVERLOADED ? "Retry-After: 1\r\n" : "");
    if (ex->jobs && ex->state != EX_SETTLE)
        exchange_enter(ex, EX_SETTLE);
    ex->conn = NULL;
    conn_reply(c, event ? 200 : e->status, event ? "text/event-stream" : "application/json", extra,
               buf_span(&body), ex->head_method);
    buf_free(&body);
    exchange_try_over(ex);
}

void exchange_body_failed(struct exchange *ex, const struct error *e)
{
    exchange_fail(ex, e);
}

void exchange_client_gone(struct exchange *ex)
{
    ex->conn = NULL;
    ex->outcome = OUTCOME_CLIENT_GONE;
    thread_client_gone(ex);
    log_info("client.gone", log_str("consult", ex->consult_id), log_str("state", state_names[ex->state]));
    bool drain = ex->config->disconnect == DISCONNECT_DRAIN && ex->consult && (ex->call || ex->stalled) &&
                 ex->state == EX_RELAY;
    if (drain) {
        ex->draining = true;
        ex->drain_until_ms = clock_mono_ms() + ex->config->timeouts.drain_time;
        relay_room(ex);
        return;
    }
    attach_stop(ex);
    if (ex->call)
        http_call_cancel(ex->call);
    ex->call = NULL;
    if (ex->jobs && (ex->state == EX_RELAY || ex->state == EX_SEND))
        exchange_enter(ex, EX_SETTLE);
    exchange_try_over(ex);
}

/* ---- the beginning ---- */

static const struct config_organisation *find_organisation(const struct config *c, struct span key)
{
    unsigned char digest[32];
    SHA256((const unsigned char *)key.p, key.n, digest);
    for (size_t i = 0; i < c->norganisations; i++)
        for (size_t k = 0; k < c->organisations[i].nkeys; k++)
            if (memcmp(c->organisations[i].keys[k], digest, sizeof digest) == 0)
                return &c->organisations[i];
    return NULL;
}

void exchange_set_org(struct exchange *ex, const char *org)
{
    size_t n = strnlen(org, sizeof ex->owner.org - 1);
    memcpy(ex->owner.org, org, n);
    ex->owner.org[n] = '\0';
}

/* Whose request this is: organisation and key (product.md §2.3, §5.3). -1: tenancy is by key, and the key is
 * nobody's. */
static int find_owner(struct exchange *ex, const struct http_head *head, struct span query)
{
    struct span key = caller_api_key(head, query);
    const char *org = caller_org(&ex->caller);
    if (ex->config->tenancy == TENANCY_KEYS) {
        const struct config_organisation *o =
            key.n && key.n <= LIMIT_KEY ? find_organisation(ex->config, key) : NULL;
        if (!o)
            return -1;
        org = o->name;
    }
    exchange_set_org(ex, org);
    ex->owner.has_key = key.n > 0;
    if (key.n)
        ex->api_key = xspandup(key);
    return 0;
}

bool exchange_makes_images(const struct exchange *ex)
{
    const struct config *c = ex->config;
    if (!c->image_generation.provider || ex->caller.image_generation_off)
        return false;
    for (size_t i = 0; i < c->norganisations; i++)
        if (strcmp(c->organisations[i].name, ex->owner.org) == 0)
            return c->organisations[i].image_generation;
    return true;
}

const struct owner *exchange_owner(struct exchange *ex)
{
    static const unsigned char none[DIGEST];
    if (ex->owner.has_key && memcmp(ex->owner.key, none, DIGEST) == 0)
        store_key(ex->worker->store, span_str(ex->api_key), ex->owner.key);
    return &ex->owner;
}

void exchange_name_consult(struct exchange *ex)
{
    if (!ex->consult || ex->stored)
        ex->consult_id[0] = '\0';
    else if (!ex->consult_id[0])
        store_new_consult_id(&ex->worker->random, ex->consult_id);
}

/* Whether this is a consult as far as head and configuration tell; `tentative` when its body decides
 * (product.md §2.2). */
static void decide_consult(struct exchange *ex, const struct route *route)
{
    bool on = ex->config->enabled && ex->provider->consults != CONSULTS_OFF && ex->dialect;
    ex->stored = route->stored;
    ex->consult = on && ex->caller.consult != MARK_OFF;
    if (ex->consult && !ex->stored && ex->provider->consults == CONSULTS_MARKED &&
        ex->caller.consult == MARK_NONE) {
        ex->consult = false;
        ex->tentative = true;
    }
    exchange_name_consult(ex);
}

static int check_caller(struct exchange *ex, const struct http_head *head, const struct route *route,
                        struct error *e)
{
    bool ours = route->api != API_NONE && ex->config->enabled && ex->dialect;
    bool off = ex->provider && ex->provider->consults == CONSULTS_OFF;
    /* What is only relayed is relayed, whatever else is said of it. */
    bool wrong = caller_read_head(&ex->caller, head, e) < 0 && ours && !off && ex->caller.consult != MARK_OFF;
    if (find_owner(ex, head, route->query) < 0 && (ours || (ex->provider && ex->provider->api_key)))
        return error_set(e, ERROR_UNKNOWN_KEY, "This API key belongs to no organisation of this proxy.");
    return wrong ? -1 : 0;
}

/* What path and query say of the request. */
static void read_target(struct exchange *ex, const struct route *route)
{
    struct request_target t = {0};
    if (!ex->dialect || !ex->dialect->target)
        return;
    ex->dialect->target(route->path, route->query, &t);
    ex->wants_stream = t.stream;
    exchange_note_model(ex, t.model);
}

/* A header of ours is wrong. How that is to be said (X-HW-Errors, hw.errors) depends on whether the request
 * asks for a stream, which its body tells; so that is read first, within its limit. */
static void refuse_caller(struct exchange *ex, const struct http_head *head, const struct route *route,
                          bool body_follows, const struct error *e)
{
    bool too_large = head->has_length && head->length > ex->config->limits.request_body;
    if (e->code == ERROR_BAD_REQUEST && ex->provider)
        decide_consult(ex, route);
    if (e->code != ERROR_BAD_REQUEST || !ex->provider || route->stored || !body_follows || too_large) {
        exchange_fail(ex, e);
        return;
    }
    exchange_keep_failure(ex, e);
    exchange_enter(ex, EX_COLLECT);
    conn_continue(ex->conn);
}

void exchange_begin(struct conn *c, const struct http_head *head, bool body_follows)
{
    struct exchange *ex = exchange_create(c);
    struct route route;
    struct error e;
    ex->head_method = span_is(head->method, "HEAD");
    ex->began_wall_ms = clock_wall_ms();
    if (route_find(ex->config, head->method, head->target, &route) < 0) {
        error_set(&e, ERROR_BAD_REQUEST, "The request target must be a path.");
        exchange_fail(ex, &e);
        return;
    }
    ex->provider = route.provider;
    ex->api = route.api;
    ex->dialect = dialect_find(route.api);
    read_target(ex, &route);
    if (check_caller(ex, head, &route, &e) < 0) {
        refuse_caller(ex, head, &route, body_follows, &e);
        return;
    }
    if (files_request(ex, head, &route))
        return;
    if (!ex->provider) {
        error_set(&e, ERROR_NOT_FOUND,
                  "No provider answers for this path, and there is no default_provider. Begin the path with "
                  "a provider's prefix, such as %s/.",
                  ex->config->providers[0].prefix);
        exchange_fail(ex, &e);
        return;
    }
    decide_consult(ex, &route);
    request_begin(ex, head, &route, body_follows);
}

void exchange_drained(struct exchange *ex)
{
    if (ex->state == EX_LOCAL)
        exchange_answered(ex); /* a file is out to its last byte */
    else
        relay_room(ex);
}

void exchange_tick(struct exchange *ex, int64_t now_ms)
{
    artifact_jobs_tick(ex, now_ms);
    relay_tick(ex, now_ms);
}

void exchange_give_up(struct exchange *ex)
{
    artifact_jobs_give_up(ex);
}

struct exchange *exchange_next(const struct exchange *ex)
{
    return ex->next;
}

size_t exchange_held_bytes(const struct exchange *ex)
{
    return ex->reply ? reply_held_bytes(ex->reply) : 0;
}
