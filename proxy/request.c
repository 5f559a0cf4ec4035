/* What goes upstream: a request relayed as it comes, or a consult's body with its splices (product.md §2). */
#include <stdio.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/xalloc.h"
#include "proxy/body_read.h"
#include "proxy/exchange_state.h"
#include "proxy/forward.h"
#include "proxy/thread.h"

/* Room for what is added to a forwarded head: framing and Accept-Encoding. */
enum { HEAD_REST = 128 };
/* … and for what a dialect writes around the protocol's text. */
enum { PROTOCOL_REST = 128 };

static void call_start(struct exchange *ex)
{
    ex->target = (struct dial_target){.host = ex->provider->host,
                                      .port = ex->provider->port,
                                      .tls = ex->provider->tls,
                                      .timeout_ms = ex->config->timeouts.connect};
    exchange_enter(ex, EX_SEND);
    ex->call = http_call_start(ex->worker->client, &ex->target, ex->head_method, &relay_sink, ex);
}

/* From now on the provider is waited for. */
static void sent_all(struct exchange *ex)
{
    if (!ex->call)
        return;
    http_call_sent_all(ex->call);
    if (ex->state == EX_SEND)
        ex->deadline_ms = clock_mono_ms() + ex->config->timeouts.first_byte;
}

/* ---- relayed as it comes ---- */

static void pass_begin(struct exchange *ex, const struct http_head *head, bool body_follows)
{
    struct buf *r = &ex->request;
    ex->request_chunked = body_follows && !head->has_length;
    if (ex->request_chunked)
        buf_adds(r, "Transfer-Encoding: chunked\r\n");
    else if (head->has_length)
        buf_printf(r, "Content-Length: %llu\r\n", (unsigned long long)head->length);
    buf_adds(r, "\r\n");
    metrics_provider(ex->worker->metrics, ex->provider)->requests++;
    call_start(ex);
    http_call_give(ex->call, r);
    if (body_follows)
        conn_continue(ex->conn);
    else
        sent_all(ex);
}

static void pass_body(struct exchange *ex, struct span bytes)
{
    char line[24];
    if (!ex->call)
        return;
    if (ex->request_chunked) {
        int n = snprintf(line, sizeof line, "%zx\r\n", bytes.n);
        http_call_write(ex->call, span_of(line, (size_t)n));
    }
    http_call_write(ex->call, bytes);
    if (ex->request_chunked)
        http_call_write(ex->call, SPAN_LIT("\r\n"));
    if (http_call_unsent(ex->call) > ex->config->limits.stream_buffer)
        conn_pause_body(ex->conn, true);
}

static void pass_end(struct exchange *ex)
{
    if (!ex->call)
        return;
    if (ex->request_chunked) {
        http_call_write(ex->call, SPAN_LIT("0\r\n"));
        http_call_write(ex->call, buf_span(&ex->trailers));
        http_call_write(ex->call, SPAN_LIT("\r\n"));
    }
    sent_all(ex);
}

void request_room(struct exchange *ex)
{
    if (ex->conn)
        conn_pause_body(ex->conn, false);
}

/* ---- a consult ---- */

/* What the body says about the consult itself. -1 with *e; ex->consult is final afterwards. */
static int read_body(struct exchange *ex, const struct request_facts *facts, struct error *e)
{
    ex->wants_stream = ex->wants_stream || facts->stream; /* the path may have said it */
    ex->choices = facts->choices;
    ex->kept = facts->kept;
    exchange_note_model(ex, facts->model);
    if (facts->hw.n && caller_read_body(&ex->caller, facts->hw, e) < 0)
        return -1;
    if (ex->config->tenancy == TENANCY_HEADER)
        exchange_set_org(ex, caller_org(&ex->caller));
    if (ex->tentative)
        ex->consult = ex->caller.consult == MARK_ON;
    else if (ex->caller.consult == MARK_OFF)
        ex->consult = false;
    return 0;
}

static bool wants_protocol(const struct exchange *ex, const struct request_facts *facts)
{
    return ex->consult && facts->root.n && !ex->caller.inject_off && !facts->explains_protocol &&
           (!facts->machine_read || ex->caller.consult == MARK_ON);
}

static void add_protocol(struct exchange *ex, const struct request_facts *facts, struct buf *room,
                         struct edits *edits)
{
    bool images = exchange_makes_images(ex);
    struct span protocol = buf_span(&ex->worker->protocol[images]);
    char *grown = buf_reserve(room, protocol.n + PROTOCOL_REST); /* once, not by doubling */
    (void)grown;
    ex->protocol_added[images] = true;
    ex->dialect->add_protocol(buf_span(&ex->body), facts, protocol, room, edits);
}

void request_head(struct span head, bool consult, size_t length, struct buf *out)
{
    if (consult)
        forward_ask_identity(head, out);
    else
        buf_add(out, head);
    buf_adds(out, "Content-Length: ");
    buf_add_number(out, length);
    buf_adds(out, "\r\n\r\n");
}

void request_send(struct exchange *ex, struct buf *bytes, const struct http_loan *loan)
{
    thread_begin(ex);
    buf_free(&ex->request);
    call_start(ex);
    if (loan)
        http_call_lend(ex->call, loan);
    else
        http_call_give(ex->call, bytes);
    sent_all(ex);
    ex->overhead_us = clock_mono_us() - ex->body_end_us;
}

/* A short one, with nothing that must be made ready: head and body in one. */
static void send_short(struct exchange *ex, const struct edits *edits)
{
    struct buf out;
    struct span head = buf_span(&ex->request), body = buf_span(&ex->body);
    size_t length = edits_length(edits, body.n);
    buf_init(&out, SIZE_MAX / 2); /* both parts were capped when they came in */
    char *room = buf_reserve(&out, head.n + length + HEAD_REST); /* grows once, not by doubling */
    (void)room;
    request_head(head, ex->consult, length, &out);
    if (edits_apply(edits, body, &out) < 0)
        log_error("request.splice", log_str("consult", ex->consult_id));
    request_send(ex, &out, NULL);
    buf_free(&ex->body);
}

/* What is attached, and what of a parent's is wanted as well. 1: there is something; -1 with *e. */
static int check_attachments(struct exchange *ex, const struct body_read *r, struct error *e)
{
    bool forward = ex->caller.forward_all || ex->caller.nforward;
    if (r->facts.repeated) /* one of the two would be dropped in silence */
        return error_set(e, ERROR_BAD_REQUEST, "%s is given more than once; give it once.",
                         r->facts.repeated);
    if (r->refused) {
        *e = r->error;
        attach_note(ex, &r->list, e);
        return -1;
    }
    if (forward && !ex->caller.names[CALLER_PARENT])
        return error_set(e, ERROR_BAD_REQUEST,
                         "hw.forward needs a parent: name the consult whose attachments are meant in "
                         "X-HW-Parent or hw.parent.");
    return r->list.n || forward;
}

/* One that a header of it has already failed: what the body says of how to tell is all that is wanted. */
static void tell_failure(struct exchange *ex, const struct request_facts *facts)
{
    struct error ignored;
    const struct error e = *ex->failure;
    ex->wants_stream = ex->wants_stream || facts->stream;
    exchange_note_model(ex, facts->model);
    if (facts->hw.n && caller_read_body(&ex->caller, facts->hw, &ignored) < 0)
        log_debug("request.failed_twice", log_str("message", ignored.message));
    exchange_fail(ex, &e);
}

void request_body_known(struct exchange *ex, struct body_read *r)
{
    const struct request_facts *facts = &r->facts;
    struct buf room;
    struct error e;
    bool marked = true;
    int attached = 0;
    if (ex->failure) {
        tell_failure(ex, facts);
        return;
    }
    buf_init(&room, 2 * LIMIT_READ);
    if (facts->root.n ==
        0) /* no JSON, or another shape: untouched, and the provider says what it thinks of it */
        marked = !ex->tentative;
    else if (read_body(ex, facts, &e) < 0)
        goto fail;
    ex->consult = ex->consult && marked;
    exchange_name_consult(ex);
    thread_start(ex);
    if (facts->root.n && ex->consult)
        attached = check_attachments(ex, r, &e);
    if (attached < 0)
        goto fail;
    if (wants_protocol(ex, facts))
        add_protocol(ex, facts, &room, &r->edits);
    else if (!ex->consult && ex->tentative)
        edits_reset(
            &r->edits); /* not marked where only marked requests are consults: nothing of it is ours */
    if (attached || ex->body.n > LIMIT_BODY_ON_LOOP)
        attach_start(ex, r, &room);
    else
        send_short(ex, &r->edits);
    goto out;
fail:
    exchange_fail(ex, &e);
out:
    buf_free(&room);
}

static void consult_body_end(struct exchange *ex)
{
    struct body_read r = {0};
    ex->body_end_us = clock_mono_us();
    if (ex->body.n > LIMIT_BODY_ON_LOOP && !ex->stored && body_read_later(ex) == 0)
        return;
    if (!ex->stored)
        body_read(ex->dialect, buf_span(&ex->body), &r);
    request_body_known(ex, &r);
    body_read_finish(&r);
}

/* ---- both ---- */

void request_begin(struct exchange *ex, const struct http_head *head, const struct route *route,
                   bool body_follows)
{
    struct forward_request f = {
        .provider = ex->provider,
        .rest = route->rest,
        .api_key = ex->config->tenancy == TENANCY_KEYS ? ex->provider->api_key : NULL,
    };
    struct error e;
    forward_request_head(head, &f, &ex->request);
    if (!ex->consult && !ex->tentative) {
        pass_begin(ex, head, body_follows);
        return;
    }
    if (head->has_length && head->length > ex->config->limits.request_body) {
        error_set(&e, ERROR_REQUEST_TOO_LARGE,
                  "The request's body has %llu bytes; at most %zu are accepted (limits.request_body). Send "
                  "less of the conversation, or smaller files.",
                  (unsigned long long)head->length, ex->config->limits.request_body);
        exchange_fail(ex, &e);
        return;
    }
    exchange_enter(ex, EX_COLLECT);
    char *room = head->has_length ? buf_reserve(&ex->body, (size_t)head->length)
                                  : NULL; /* grows once, not by doubling */
    (void)room;
    if (body_follows)
        conn_continue(ex->conn);
    else
        exchange_body_end(ex);
}

void exchange_body(struct exchange *ex, struct span bytes)
{
    struct error e;
    ex->bytes_in += bytes.n;
    if (ex->state != EX_COLLECT) {
        pass_body(ex, bytes);
    } else if (buf_add(&ex->body, bytes) < 0) {
        error_set(&e, ERROR_REQUEST_TOO_LARGE,
                  "The request's body has more than %zu bytes (limits.request_body). Send less of the "
                  "conversation, or smaller files.",
                  ex->config->limits.request_body);
        exchange_fail(ex, &e);
    }
}

void exchange_trailer(struct exchange *ex, struct span name, struct span value)
{
    if (forward_is_own_field(name))
        return;
    buf_add(&ex->trailers, name);
    buf_adds(&ex->trailers, ": ");
    buf_add(&ex->trailers, value);
    buf_adds(&ex->trailers, "\r\n");
}

void exchange_body_end(struct exchange *ex)
{
    if (ex->state == EX_COLLECT)
        consult_body_end(ex);
    else
        pass_end(ex);
}
