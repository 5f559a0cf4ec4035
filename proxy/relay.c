/* What comes back: the provider's reply on its way to the client (product.md §4). */
#include <stdio.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/xalloc.h"
#include "proxy/exchange_state.h"
#include "proxy/forward.h"

enum {
    DECODE_ROOM = 64 * 1024,
    JOINED_MAX = 4096,    /* so much is copied behind the head, since one piece is sent for less than two */
    OUT_KEPT = 256 * 1024 /* the shared output room is given back when one reply made it larger */
};

static void create_reply(struct exchange *ex);
static void choose_framing(struct exchange *ex, const struct http_head *head);

static struct exchange *exchange_of(void *arg)
{
    return arg;
}

/* ---- to the client ---- */

/* A client that reads slowly slows the upstream down (product.md §4.5). */
static void apply_watermark(struct exchange *ex)
{
    if (ex->conn && ex->call && conn_unsent(ex->conn) > ex->config->limits.stream_buffer / 8)
        http_call_pause(ex->call, true);
}

/* The chunk's length, in front of its bytes. */
static void add_length_line(struct buf *out, size_t length)
{
    char line[CHUNK_ROOM];
    size_t at = sizeof line;
    line[--at] = '\n';
    line[--at] = '\r';
    do {
        line[--at] = "0123456789abcdef"[length & 15];
        length >>= 4;
    } while (length && at);
    size_t n = sizeof line - at;
    if (out->start < n) { /* the buffer has moved what it holds over the room */
        char *room = buf_reserve(out, n);
        if (!room)
            return;
        memmove(out->data + out->start + n, out->data + out->start, out->n);
        out->start += n;
    }
    out->start -= n;
    out->n += n;
    memcpy(out->data + out->start, line + at, n);
}

/* What ends a chunked body. */
static void add_tail(const struct exchange *ex, struct buf *out)
{
    buf_adds(out, "0\r\n");
    buf_add(out, buf_span(&ex->trailers));
    buf_adds(out, "\r\n");
}

/*
 * One write for what one read has produced: the head when it has not gone yet, and `out` with its chunk's
 * length line, for which worker_out_reset left room in front. `out` is used up.
 */
static void send_out(struct exchange *ex, struct buf *out, bool last)
{
    struct iovec pieces[2];
    int n = 0;
    size_t body = out->n;
    if (ex->framing == BODY_CHUNKED && body) {
        buf_adds(out, "\r\n");
        add_length_line(out, body);
    }
    if (ex->framing == BODY_CHUNKED && last)
        add_tail(ex, out);
    bool with_head = !ex->head_sent && ex->head.n;
    bool joined = with_head && out->n <= JOINED_MAX && buf_add(&ex->head, buf_span(out)) == 0;
    if (with_head)
        pieces[n++] = (struct iovec){(void *)(uintptr_t)buf_span(&ex->head).p, ex->head.n};
    ex->head_sent = true;
    if (out->n && !joined)
        pieces[n++] = (struct iovec){(void *)(uintptr_t)buf_span(out).p, out->n};
    ex->bytes_out += body;
    if (n && ex->conn) {
        conn_send(ex->conn, pieces, n);
        ex->last_sent_ms = ex->worker->now_ms;
    }
    buf_free(&ex->head);
    if (out->room > OUT_KEPT)
        buf_free(out);
    worker_out_reset(out);
}

static void flush(struct exchange *ex, bool last)
{
    struct buf *out = &ex->worker->out;
    if (out->n || last || !ex->head_sent)
        send_out(ex, out, last);
    if (!last)
        apply_watermark(ex);
}

/* ---- the end ---- */

/* The whole body is in worker->out and its head still here: sets the length and sends both. */
static void send_whole(struct exchange *ex)
{
    struct buf *out = &ex->worker->out;
    buf_adds(&ex->head, "Content-Length: ");
    buf_add_number(&ex->head, out->n);
    buf_adds(&ex->head, ex->conn && conn_will_close(ex->conn) ? "\r\nConnection: close\r\n\r\n" : "\r\n\r\n");
    ex->framing = BODY_LENGTH;
    flush(ex, true);
}

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
        send_whole(ex);
    else
        flush(ex, true);
    exchange_answered(ex);
}

static void reply_failed(struct exchange *ex);

/* Goes on where the end of the upstream's bytes left off, once nothing is awaited. */
static void reply_over(struct exchange *ex)
{
    struct buf event;
    buf_init(&event, 8 * LIMIT_ERROR_TEXT);
    if (ex->decoder && ex->upstream_clean && !decoder_complete(ex->decoder)) {
        ex->upstream_clean = false;
        error_set(&ex->failure, ERROR_UPSTREAM_INVALID,
                  "The provider's reply ended inside its content coding.");
    }
    if (!ex->upstream_clean && ex->treatment == TREAT_WHOLE) {
        worker_out_reset(&ex->worker->out);
        exchange_fail(ex, &ex->failure);
        return;
    }
    if (!ex->upstream_clean && ex->outcome == OUTCOME_COMPLETED) {
        ex->outcome = OUTCOME_INTERRUPTED;
        ex->error = ex->failure.code;
        exchange_note_error(ex, &ex->failure);
        log_error("upstream.cut", log_str("consult", ex->consult_id),
                  log_str("code", error_name(ex->failure.code)), log_str("message", ex->failure.message));
        ex->dialect->error_event(&ex->failure, false, &event);
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
            flush(ex, false);
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
    ex->failure = *e;
    if (ex->treatment == TREAT_PASS) { /* whoever reads must see that this is not the whole */
        struct conn *c = ex->conn;
        exchange_note_error(ex, e);
        ex->outcome = OUTCOME_INTERRUPTED;
        ex->error = e->code;
        flush(ex, false);
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
 * the first letter of an SSE field, nor with the colon of a comment. Told by the first visible byte. */
static void look_for_stream(struct exchange *ex, struct span bytes)
{
    const struct http_head head = {.status = ex->status};
    while (bytes.n && (strchr(" \t\r\n\xef\xbb\xbf", bytes.p[0]) && bytes.p[0]))
        bytes = span_from(bytes, 1);
    if (bytes.n == 0)
        return;
    ex->unseen = false;
    if (!strchr("deir:", bytes.p[0]) || !bytes.p[0])
        return;
    ex->treatment = TREAT_STREAM;
    ex->events = REPLY_SSE;
    buf_adds(&ex->head, "X-Accel-Buffering: no\r\n");
    choose_framing(ex, &head);
    reply_destroy(ex->reply);
    create_reply(ex);
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
        flush(ex, false);
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
        flush(ex, false);
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
            flush(ex, false);
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

static bool contains(struct span s, const char *word)
{
    size_t n = strlen(word);
    for (size_t i = 0; i + n <= s.n; i++)
        if ((s.p[i] | 0x20) == word[0] && strncasecmp(s.p + i, word, n) == 0)
            return true;
    return false;
}

/* By the content type that the reply really has; where that says nothing of a stream, as the API frames one
 * that was asked for. */
static enum reply_framing find_framing(const struct exchange *ex, struct span type)
{
    if (contains(type, "event-stream"))
        return REPLY_SSE;
    if (contains(type, "ndjson") || contains(type, "jsonl"))
        return REPLY_NDJSON;
    switch (ex->wants_stream ? ex->dialect->untold_framing : FRAMING_WHOLE) {
    case FRAMING_NDJSON:
        return REPLY_NDJSON;
    case FRAMING_ARRAY:
        return REPLY_ARRAY;
    default:
        return REPLY_WHOLE;
    }
}

/* Which replies the filter looks into: those of a consult that went well, unless they are no text at all. */
static enum treatment choose_treatment(struct exchange *ex, const struct http_head *head)
{
    const struct http_field *field = http_head_find(head, "content-type");
    struct span type = field ? field->value : span_of("", 0);
    if (!ex->consult || ex->head_method || head->status < 200 || head->status > 299 || head->status == 204)
        return TREAT_PASS;
    ex->events = find_framing(ex, type);
    /* octet-stream is what servers say that do not know */
    if (ex->events == REPLY_WHOLE && type.n && !contains(type, "json") && !contains(type, "text/") &&
        !contains(type, "octet-stream"))
        return TREAT_PASS;
    return ex->events == REPLY_WHOLE ? TREAT_WHOLE : TREAT_STREAM;
}

static void create_reply(struct exchange *ex)
{
    const struct config_limits *l = &ex->config->limits;
    const struct dialect *d = ex->dialect;
    struct reply_settings s = {
        .dialect = {.event = d->event,
                    .keep_shape = d->keep_shape,
                    .text_event = d->text_event,
                    .report_event = d->report_event,
                    .citation = d->citation,
                    .offsets = d->offsets,
                    .parts = d->parts},
        .framing = ex->events,
        .mode = ex->caller.stream_buffer ? REPLY_BUFFER : REPLY_SUPPRESS,
        .choices = ex->choices,
        .links = ex->caller.links_markdown,
        .directive_max = l->directive,
        .directive_total = l->directive_total,
        .directives = (unsigned)l->directives,
        .event_max = l->reply_body,
        .resumed = ex->stored && ex->treatment == TREAT_STREAM,
    };
    for (int images = 0; images < 2; images++)
        if (ex->stored || ex->protocol_added[images]) /* of a stored reply it is not known which */
            s.echoes[images] = buf_span(&ex->worker->protocol[images]);
    static const struct reply_callbacks callbacks = {.directive = artifact_job_start};
    ex->reply = reply_create(&s, &callbacks, ex);
}

/* All codings, in the order in which they were applied; several fields make one list (RFC 9110 §5.3). */
static void read_codings(const struct http_head *head, struct buf *out)
{
    for (size_t i = 0; i < head->n; i++)
        if (span_is_nocase(head->fields[i].name, "content-encoding") && head->fields[i].value.n) {
            if (out->n)
                buf_addc(out, ',');
            buf_add(out, head->fields[i].value);
        }
}

/* -1: the coding is not known; the exchange has failed. */
static int create_decoder(struct exchange *ex, const struct http_head *head)
{
    struct span unknown = {0};
    struct buf codings;
    struct error e;
    int status = 0;
    buf_init(&codings, LIMIT_HTTP_HEAD);
    read_codings(head, &codings);
    if (codings.n == 0 || span_is_nocase(buf_span(&codings), "identity"))
        goto out;
    ex->decoder = decoder_create(buf_span(&codings), &unknown);
    if (ex->decoder)
        goto out;
    error_set(&e, ERROR_UPSTREAM_INVALID,
              "The provider answered in the content coding \"%.*s\", which cannot be read here, although "
              "identity was asked for.",
              (int)(unknown.n > 40 ? 40 : unknown.n), unknown.p);
    exchange_fail(ex, &e);
    status = -1;
out:
    buf_free(&codings);
    return status;
}

static void choose_framing(struct exchange *ex, const struct http_head *head)
{
    bool none = ex->head_method || head->status == 204 || head->status == 304;
    if (none || (ex->treatment == TREAT_PASS && head->has_length)) {
        ex->framing = none ? BODY_NONE : BODY_LENGTH;
        if (head->has_length)
            buf_printf(&ex->head, "Content-Length: %llu\r\n", (unsigned long long)head->length);
    } else if (ex->conn && ex->conn->http10) {
        ex->framing = BODY_CLOSE;
        ex->conn->close_after = true;
    } else {
        ex->framing = BODY_CHUNKED;
        buf_adds(&ex->head, "Transfer-Encoding: chunked\r\n");
    }
    if (ex->conn && conn_will_close(ex->conn))
        buf_adds(&ex->head, "Connection: close\r\n");
    else if (ex->conn && ex->conn->http10)
        buf_adds(&ex->head, "Connection: keep-alive\r\n");
    buf_adds(&ex->head, "\r\n");
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
    ex->treatment = choose_treatment(ex, head);
    if (ex->treatment != TREAT_PASS && create_decoder(ex, head) < 0)
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
        choose_framing(ex, head);
    if (ex->treatment != TREAT_PASS)
        create_reply(ex);
    ex->unseen = ex->treatment == TREAT_WHOLE;
    ex->last_sent_ms = clock_mono_ms();
}

static void on_body(void *arg, struct span bytes)
{
    struct exchange *ex = exchange_of(arg);
    if (ex->first_byte_us < 0)
        ex->first_byte_us = clock_mono_us();
    ex->drained += ex->draining ? bytes.n : 0;
    if (ex->treatment == TREAT_PASS)
        buf_add(&ex->worker->out, bytes);
    else if (ex->waiting || ex->stalled)
        buf_add(&ex->stash, bytes);
    else
        filter_bytes(ex, bytes);
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
        flush(ex, false);
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
        flush(ex, false);
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
    flush(ex, false);
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
