/* What comes back: the provider's reply on its way to the client (product.md §4). */
#include <stdio.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/xalloc.h"
#include "proxy/exchange_state.h"
#include "proxy/forward.h"
#include "proxy/relay_parts.h"
#include "proxy/thread.h"

enum { DECODE_ROOM = 64 * 1024 };

static struct exchange *exchange_of(void *arg)
{
    return arg;
}

/* ---- the end ---- */

static void note_totals(struct exchange *ex)
{
    const struct reply_totals *t = ex->reply ? reply_totals(ex->reply) : NULL;
    for (int f = FLAG_NONE + 1; t && f < FLAGS; f++)
        if (t->flags[f])
            ex->worker->metrics->flags[f] += t->flags[f];
    if (ex->reply)
        reply_reasons(ex->reply, &ex->reasons);
    if (t && t->provider_error && ex->outcome == OUTCOME_COMPLETED)
        ex->outcome = OUTCOME_INTERRUPTED;
}

/* The provider's reply is dealt with to its last byte. */
static void relay_finish(struct exchange *ex)
{
    note_totals(ex);
    if (ex->treatment == TREAT_WHOLE)
        relay_send_whole(ex);
    else
        relay_flush(ex, true);
    exchange_answered(ex);
}

static void reply_failed(struct exchange *ex);

/* Goes on where the end of the upstream's bytes left off, once nothing is awaited. */
static void reply_over(struct exchange *ex)
{
    struct buf event;
    struct error e;
    buf_init(&event, 8 * LIMIT_ERROR_TEXT);
    if (ex->decoder && ex->upstream_clean && !decoder_complete(ex->decoder)) {
        ex->upstream_clean = false;
        error_set(&e, ERROR_UPSTREAM_INVALID, "The provider's reply ended inside its content coding.");
        exchange_keep_failure(ex, &e);
    }
    if (!ex->upstream_clean && ex->treatment == TREAT_WHOLE) {
        worker_out_reset(&ex->worker->out);
        exchange_fail(ex, ex->failure);
        return;
    }
    if (!ex->upstream_clean && ex->outcome == OUTCOME_COMPLETED) {
        ex->outcome = OUTCOME_INTERRUPTED;
        ex->error = ex->failure->code;
        exchange_note_error(ex, ex->failure);
        log_error("upstream.cut", log_str("consult", ex->consult_id),
                  log_str("code", error_name(ex->failure->code)), log_str("message", ex->failure->message));
        ex->dialect->error_event(ex->failure, false, &event);
    }
    enum reply_state state = reply_end(ex->reply, ex->upstream_clean, buf_span(&event), &ex->worker->out);
    if (state == REPLY_FAILED) /* the filter can say no more, but the client must see that this is no end */
        buf_add(&ex->worker->out, buf_span(&event));
    buf_free(&event);
    if (state == REPLY_FAILED && ex->upstream_clean) { /* by its last event */
        reply_failed(ex);
        return;
    }
    if (state == REPLY_WAITING) {
        ex->waiting = true;
        ex->wait_since_ms = clock_mono_ms();
        if (ex->treatment == TREAT_STREAM)
            relay_flush(ex, false);
        if (ex->state == EX_RELAY)
            exchange_enter(ex, EX_SETTLE);
        return;
    }
    relay_finish(ex);
}

/* The reply broke a limit or cannot be read: what is out is out, and the stream ends with an error. */
static void reply_failed(struct exchange *ex)
{
    struct error e;
    if (reply_unreadable(ex->reply))
        error_set(&e, ERROR_UPSTREAM_INVALID,
                  "The provider's reply is no JSON where it holds the text of an attachment.");
    else
        error_set(&e, ERROR_REPLY_TOO_LARGE,
                  "The provider's reply, or one event of it, is larger than %zu bytes (limits.reply_body).",
                  ex->config->limits.reply_body);
    if (ex->treatment == TREAT_WHOLE) {
        worker_out_reset(&ex->worker->out);
        exchange_fail(ex, &e);
        return;
    }
    ex->decoder_more = false; /* of what comes behind it nothing is wanted */
    relay_cut(ex, &e);
}

void relay_cut(struct exchange *ex, const struct error *e)
{
    if (ex->call)
        http_call_cancel(ex->call);
    ex->call = NULL;
    ex->upstream_ended = true;
    ex->upstream_clean = false;
    exchange_keep_failure(ex, e);
    if (ex->treatment == TREAT_PASS) { /* whoever reads must see that this is not the whole */
        struct conn *c = ex->conn;
        exchange_note_error(ex, e);
        ex->outcome = OUTCOME_INTERRUPTED;
        ex->error = e->code;
        relay_flush(ex, false);
        ex->conn = NULL;
        if (c)
            conn_abort(c, true);
        exchange_try_over(ex);
    } else if (!ex->waiting && !ex->stalled) {
        reply_over(ex);
    }
}

/* ---- through the filter ---- */

static bool take_state(struct exchange *ex, enum reply_state state)
{
    if (state == REPLY_WAITING) {
        ex->waiting = true;
        ex->wait_since_ms = clock_mono_ms();
        if (ex->call)
            http_call_pause(ex->call, true);
        artifact_jobs_text_over(ex);
        return false;
    }
    if (state == REPLY_FAILED) {
        reply_failed(ex);
        return false;
    }
    return true;
}

static void decode_failed(struct exchange *ex)
{
    struct error e;
    error_set(&e, ERROR_UPSTREAM_INVALID,
              "The provider's reply is not valid in the content coding that it names.");
    ex->decoder_more = false;
    if (ex->head_sent || ex->treatment == TREAT_STREAM)
        relay_cut(ex, &e);
    else
        exchange_fail(ex, &e);
}

/* A reply that its content type does not call a stream, but that begins like one: no JSON value begins with
 * the first letter of an SSE field, nor with the colon of a comment; and where events may come as one array,
 * no whole reply is an array. Told by the first visible byte. */
static void look_for_stream(struct exchange *ex, struct span bytes)
{
    while (bytes.n && strchr(" \t\r\n\xef\xbb\xbf", bytes.p[0]) && bytes.p[0])
        bytes = span_from(bytes, 1);
    if (bytes.n == 0)
        return;
    ex->unseen = false;
    bool array = bytes.p[0] == '[' && ex->dialect->untold_framing == FRAMING_ARRAY;
    if (!array && (!strchr("deir:", bytes.p[0]) || !bytes.p[0]))
        return;
    ex->treatment = TREAT_STREAM;
    ex->events = array ? REPLY_ARRAY : REPLY_SSE;
    buf_adds(&ex->head, "X-Accel-Buffering: no\r\n");
    relay_choose_framing(ex, NULL);
    reply_destroy(ex->reply);
    relay_create_reply(ex);
}

static enum reply_state feed(struct exchange *ex, struct span bytes)
{
    if (ex->unseen)
        look_for_stream(ex, bytes);
    return reply_feed(ex->reply, bytes, &ex->worker->out);
}

/* What the decoder has given is enough for this loop turn: others have theirs, and the client takes what is
 * there, before the rest is decoded. */
static void stall(struct exchange *ex, struct span bytes)
{
    ex->stalled = true;
    buf_add(&ex->stash, bytes);
    if (ex->call)
        http_call_pause(ex->call, true);
    if (ex->treatment == TREAT_STREAM)
        relay_flush(ex, false);
    relay_room(ex);
}

/* Body bytes as they came, through the content coding if there is one. Bytes that cannot be taken because the
 * reply waits, or has had its turn, are kept. */
static void filter_bytes(struct exchange *ex, struct span bytes)
{
    struct worker *w = ex->worker;
    const size_t most = ex->config->limits.stream_buffer;
    if (!ex->decoder) {
        take_state(ex, feed(ex, bytes));
        return;
    }
    for (;;) {
        size_t used = 0;
        buf_reset(&w->decoded);
        int more = decoder_feed(ex->decoder, bytes, DECODE_ROOM, &used, &w->decoded);
        if (more < 0) {
            decode_failed(ex);
            return;
        }
        bytes = span_from(bytes, used);
        ex->decoder_more = more == 1;
        ex->decoded += w->decoded.n;
        if (!take_state(ex, feed(ex, buf_span(&w->decoded)))) {
            buf_add(&ex->stash, bytes);
            return;
        }
        if (more == 0 && bytes.n == 0)
            return;
        if (ex->decoded >= most || w->out.n >= most) {
            stall(ex, bytes);
            return;
        }
    }
}

static bool client_has_room(const struct exchange *ex)
{
    return !ex->conn || conn_unsent(ex->conn) <= ex->config->limits.stream_buffer / 8;
}

/* Takes what was kept, and reads on when that was all. */
static void take_stash(struct exchange *ex)
{
    struct buf stash;
    buf_init(&stash, ex->stash.max);
    buf_move(&stash, &ex->stash);
    ex->decoded = 0;
    if (stash.n || ex->decoder_more)
        filter_bytes(ex, buf_span(&stash));
    buf_free(&stash);
    if (ex->state != EX_RELAY)
        return;
    if (ex->upstream_ended && !ex->waiting && !ex->stalled) {
        reply_over(ex);
        return;
    }
    if (ex->treatment == TREAT_STREAM)
        relay_flush(ex, false);
    if (ex->call && !ex->waiting && !ex->stalled && client_has_room(ex))
        http_call_pause(ex->call, false);
}

void relay_settled(struct exchange *ex)
{
    if (!ex->waiting || reply_pending(ex->reply) || (!ex->conn && !ex->draining))
        return;
    ex->waiting = false;
    ex->overhead_us += (clock_mono_ms() - ex->wait_since_ms) * 1000;
    bool ending = ex->upstream_ended && ex->stash.n == 0 && !ex->decoder_more && ex->state == EX_SETTLE;
    enum reply_state state = reply_resume(ex->reply, &ex->worker->out);
    if (ending && state == REPLY_DONE) {
        relay_finish(ex);
        return;
    }
    if (!take_state(ex, state)) {
        if (ex->treatment == TREAT_STREAM && ex->conn)
            relay_flush(ex, false);
        return;
    }
    take_stash(ex);
}

static void on_turn(evutil_socket_t fd, short what, void *arg)
{
    struct exchange *ex = exchange_of(arg);
    (void)fd;
    (void)what;
    if (!ex->stalled || ex->state != EX_RELAY || (!ex->conn && !ex->draining))
        return;
    ex->stalled = false;
    take_stash(ex);
}

/* Not at once, but in the loop's next turn, behind what the sockets have for others. */
static void next_turn(struct exchange *ex)
{
    const struct timeval now = {0};
    if (!ex->turn)
        ex->turn = event_new(ex->worker->base, -1, 0, on_turn, ex);
    if (ex->turn)
        event_add(ex->turn, &now);
}

void relay_room(struct exchange *ex)
{
    if (ex->waiting || ex->state != EX_RELAY || !client_has_room(ex))
        return;
    if (ex->stalled)
        next_turn(ex);
    else if (ex->call)
        http_call_pause(ex->call, false);
}

/* ---- from the upstream ---- */

static void on_interim(void *arg, const struct http_head *head)
{
    struct exchange *ex = exchange_of(arg);
    struct forward_reply f = {0};
    struct buf out;
    if (!ex->conn || ex->conn->http10)
        return;
    if (conn_unsent(ex->conn) > ex->config->limits.stream_buffer) /* any number of them may come */
        return;
    buf_init(&out, 2 * LIMIT_HTTP_HEAD);
    forward_reply_head(head, &f, &out);
    buf_adds(&out, "\r\n");
    conn_send_span(ex->conn, buf_span(&out));
    buf_free(&out);
}

/* A provider that refuses a key of Penstock's own: its reply goes through as any other, but somebody has to
 * mend it (product.md §7). */
static void note_refused_key(struct exchange *ex, int status)
{
    struct error e;
    enum error_code code = status == 401                    ? ERROR_AUTH_ERROR
                           : status == 403                  ? ERROR_FORBIDDEN
                           : status == 402 || status == 429 ? ERROR_RATE_LIMIT
                                                            : ERROR_NONE;
    if (code == ERROR_NONE || ex->config->tenancy != TENANCY_KEYS || !ex->provider->api_key)
        return;
    error_set(&e, code, "The provider refused the key that is configured for it.");
    e.status = status;
    exchange_note_error(ex, &e);
    log_error("provider.refused_key", log_str("consult", ex->consult_id),
              log_str("provider", ex->provider->name), log_int("status", status),
              log_str("code", error_name(code)));
}

static void on_head(void *arg, const struct http_head *head)
{
    struct exchange *ex = exchange_of(arg);
    ex->status = head->status;
    note_refused_key(ex, head->status);
    thread_reply(ex, head);
    ex->treatment = relay_choose_treatment(ex, head);
    if (ex->treatment != TREAT_PASS && relay_create_decoder(ex, head) < 0)
        return;
    exchange_enter(ex, EX_RELAY);
    ex->deadline_ms = clock_mono_ms() + ex->config->timeouts.idle;
    buf_free(&ex->trailers);
    struct forward_reply f = {
        .consult = ex->consult_id[0] ? ex->consult_id : NULL,
        .streamed = ex->treatment == TREAT_STREAM,
        .decoded = ex->decoder != NULL,
        .rewritten = ex->treatment != TREAT_PASS,
    };
    forward_reply_head(head, &f, &ex->head);
    if (ex->treatment != TREAT_WHOLE)
        relay_choose_framing(ex, head->has_length ? &head->length : NULL);
    if (ex->treatment != TREAT_PASS)
        relay_create_reply(ex);
    ex->unseen = ex->treatment == TREAT_WHOLE;
    ex->last_sent_ms = clock_mono_ms();
}

static void on_body(void *arg, struct span bytes)
{
    struct exchange *ex = exchange_of(arg);
    if (ex->first_byte_us < 0)
        ex->first_byte_us = clock_mono_us();
    ex->drained += ex->draining ? bytes.n : 0;
    if (ex->treatment == TREAT_PASS) {
        thread_error_bytes(ex, bytes);
        buf_add(&ex->worker->out, bytes);
    } else if (ex->waiting || ex->stalled) {
        buf_add(&ex->stash, bytes);
    } else {
        filter_bytes(ex, bytes);
    }
}

static void on_trailer(void *arg, struct span name, struct span value)
{
    exchange_trailer(exchange_of(arg), name, value);
}

static void on_read_end(void *arg)
{
    struct exchange *ex = exchange_of(arg);
    ex->deadline_ms = ex->worker->now_ms + ex->config->timeouts.idle;
    ex->decoded = 0;
    if (ex->treatment != TREAT_WHOLE)
        relay_flush(ex, false);
    if (ex->draining && ex->call && ex->drained > ex->config->limits.drain_bytes) {
        http_call_cancel(ex->call);
        ex->call = NULL;
        exchange_try_over(ex);
    }
}

static void on_writable(void *arg)
{
    request_room(exchange_of(arg));
}

static void on_done(void *arg, const struct error *e)
{
    struct exchange *ex = exchange_of(arg);
    ex->call = NULL;
    if (e && ex->state != EX_RELAY) {
        exchange_fail(ex, e);
        return;
    }
    if (e) {
        relay_cut(ex, e);
        return;
    }
    ex->upstream_ended = ex->upstream_clean = true;
    if (ex->treatment == TREAT_PASS)
        relay_finish(ex);
    else if (!ex->waiting && !ex->stalled)
        reply_over(ex);
    else if (ex->treatment == TREAT_STREAM)
        relay_flush(ex, false);
}

const struct http_call_sink relay_sink = {
    .interim = on_interim,
    .head = on_head,
    .body = on_body,
    .trailer = on_trailer,
    .read_end = on_read_end,
    .writable = on_writable,
    .done = on_done,
};

/* ---- time ---- */

/* What may stand between two events without saying anything; NULL or empty: nothing may. */
static const char *keep_alive_bytes(const struct exchange *ex)
{
    switch (ex->dialect ? ex->events : REPLY_WHOLE) {
    case REPLY_SSE:
        return ex->dialect->keep_alive;
    case REPLY_ARRAY: /* white space between the items of an array */
        return "\n";
    default:
        return NULL;
    }
}

/* While Penstock itself holds text back, the client hears from it all the same (product.md §4.2). */
static void keep_alive(struct exchange *ex, int64_t now_ms)
{
    const char *comment = keep_alive_bytes(ex);
    bool holding = ex->waiting || (ex->reply && reply_held_bytes(ex->reply) > 0);
    if (!holding || ex->treatment != TREAT_STREAM || !ex->conn || !comment || !*comment || !ex->head_sent ||
        now_ms - ex->last_sent_ms < ex->config->timeouts.comment || conn_unsent(ex->conn))
        return;
    if (span_starts(span_str(comment), "event:") && !reply_is_inside(ex->reply))
        return;
    if (!ex->waiting && !reply_between_events(ex->reply))
        return;
    buf_adds(&ex->worker->out, comment);
    relay_flush(ex, false);
}

static void upstream_timeout(struct exchange *ex)
{
    struct error e;
    if (ex->state == EX_SEND) {
        error_set(&e, ERROR_UPSTREAM_TIMEOUT,
                  "The provider did not answer within %lld ms (timeouts.first_byte).",
                  (long long)ex->config->timeouts.first_byte);
        exchange_fail(ex, &e);
        return;
    }
    error_set(&e, ERROR_UPSTREAM_TIMEOUT, "The provider sent nothing for %lld ms (timeouts.idle).",
              (long long)ex->config->timeouts.idle);
    if (ex->treatment == TREAT_WHOLE) {
        exchange_fail(ex, &e);
        return;
    }
    relay_cut(ex, &e);
}

void relay_tick(struct exchange *ex, int64_t now_ms)
{
    keep_alive(ex, now_ms);
    if (ex->waiting) {
        ex->deadline_ms = now_ms + ex->config->timeouts.idle;
        if (now_ms - ex->wait_since_ms >= ex->config->timeouts.render)
            artifact_jobs_expire(ex);
        return;
    }
    if (ex->draining && now_ms >= ex->drain_until_ms && ex->call) {
        http_call_cancel(ex->call);
        ex->call = NULL;
        exchange_try_over(ex);
        return;
    }
    bool client_is_slow = ex->conn && conn_unsent(ex->conn) > 0;
    if ((client_is_slow || ex->stalled) && ex->state == EX_RELAY)
        ex->deadline_ms = now_ms + ex->config->timeouts.idle;
    else if (ex->call && now_ms >= ex->deadline_ms)
        upstream_timeout(ex);
}
