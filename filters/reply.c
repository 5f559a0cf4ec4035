#include "filters/reply.h"

#include "base/json.h"
#include "base/xalloc.h"
#include "filters/reply_state.h"

enum { STEP = 2048 };

struct reply *reply_create(const struct reply_settings *settings, const struct reply_callbacks *callbacks,
                           void *arg)
{
    struct reply *r = xcalloc(1, sizeof *r);
    r->settings = *settings;
    r->callbacks = *callbacks;
    r->arg = arg;
    if (r->settings.event_max > SIZE_MAX / 4)
        r->settings.event_max = SIZE_MAX / 4;
    buf_init(&r->in, r->settings.event_max + REPLY_IN_ROOM);
    /* A whole body's text, what its ends add to it, and the report. */
    buf_init(&r->scratch, 2 * r->settings.event_max + REPLY_IN_ROOM);
    buf_init(&r->error_event, LIMIT_READ);
    r->midway = r->partial = settings->resumed;
    r->event.noting = settings->recorder != NULL;
    buf_init(&r->frame, LIMIT_READ);
    buf_init(&r->later, r->settings.event_max + REPLY_IN_ROOM);
    for (int i = 0; i < 2; i++)
        buf_init(&r->echoes[i], r->settings.echoes[i].n);
    return r;
}

void reply_destroy(struct reply *r)
{
    if (!r)
        return;
    while (r->channels) {
        struct channel *c = r->channels;
        r->channels = c->next;
        channel_destroy(c);
    }
    repeat_finish(r);
    buf_free(&r->frame);
    buf_free(&r->later);
    report_finish(&r->report);
    reply_event_free(&r->event);
    xfree(r->changes);
    buf_free(&r->in);
    buf_free(&r->scratch);
    buf_free(&r->error_event);
    xfree(r);
}

void reply_flush(struct reply *r, struct buf *out)
{
    if (r->run.n)
        buf_add(out, r->run);
    r->run = (struct span){0};
}

void reply_own_event(struct reply *r, struct buf *out)
{
    reply_flush(r, out);
    for (; r->open_end; r->open_end--)
        buf_addc(out, '\n');
    if (r->settings.framing == REPLY_ARRAY) {
        buf_adds(out, r->array_items ? ",\r\n" : r->array_open ? "" : "[");
        r->array_open = r->array_items = true;
    }
    r->own_from = out->n;
    r->own = true;
    r->totals.events_out++;
}

/* Dialects frame their events for an event stream, or as their API does. In an array an item is the data
 * alone, and a line is the data and its end. */
void reply_own_end(struct reply *r, struct buf *out)
{
    bool array = r->settings.framing == REPLY_ARRAY;
    if ((!array && r->settings.framing != REPLY_NDJSON) || out->n <= r->own_from)
        return;
    struct sse_fields fields;
    sse_parse(span_from(buf_span(out), r->own_from), false, &fields);
    if (fields.data_lines != 1)
        return;
    memmove(out->data + out->start + r->own_from, fields.data.p, fields.data.n);
    buf_cut(out, r->own_from + fields.data.n);
    if (!array)
        buf_addc(out, '\n');
}

/* ---- bytes into blocks ---- */

/* Length of the first whole block, or 0. */
static size_t next_block(struct reply *r, struct span bytes, bool last)
{
    if (r->settings.framing == REPLY_SSE)
        return sse_block(&r->scan, bytes, last);
    if (r->settings.framing == REPLY_ARRAY) {
        size_t n = items_block(&r->items, bytes);
        if (n || !last)
            return n;
        r->items = (struct items_scan){0};
        return bytes.n;
    }
    size_t seen = r->scan.seen; /* no line ends in these bytes of the unfinished line */
    const char *end = memchr(bytes.p + seen, '\n', bytes.n - seen);
    r->scan.seen = end || last ? 0 : bytes.n;
    if (end)
        return (size_t)(end - bytes.p) + 1;
    return last ? bytes.n : 0;
}

static enum reply_state state_of(struct reply *r, const struct buf *out)
{
    if (r->failed || buf_full(out)) {
        r->failed = true;
        return REPLY_FAILED;
    }
    if (r->waiting)
        return REPLY_WAITING;
    return r->done ? REPLY_DONE : REPLY_GOING;
}

/* The event at the front of `in` waits; what is behind it must not be lost. */
static void keep_waiting(struct reply *r, size_t block, struct span rest)
{
    struct buf behind;
    size_t waiting = block;
    buf_cut(&r->in, block);
    if (buf_add(&r->in, rest) < 0)
        r->failed = true;
    if (r->later.n) {
        waiting = r->later.n;
        buf_init(&behind, r->in.max);
        buf_move(&behind, &r->in);
        buf_move(&r->in, &r->later);
        if (buf_add(&r->in, buf_span(&behind)) < 0)
            r->failed = true;
        buf_free(&behind);
    }
    r->event.raw = span_of(buf_span(&r->in).p, waiting);
}

/* Completes the unfinished block in `in`; false: it is still unfinished, or waits. */
static bool complete_block(struct reply *r, struct span *bytes, struct buf *out)
{
    while (bytes->n) {
        size_t had = r->in.n, n = bytes->n < STEP ? bytes->n : STEP;
        if (had + n > r->settings.event_max + STEP || buf_addn(&r->in, bytes->p, n) < 0) {
            r->failed = r->broken = true;
            return false;
        }
        size_t block = next_block(r, buf_span(&r->in), false);
        if (block == 0) {
            *bytes = span_from(*bytes, n);
            continue;
        }
        *bytes = span_from(*bytes, block - had);
        if (!block_take(r, span_of(buf_span(&r->in).p, block), out)) {
            keep_waiting(r, block, *bytes);
            return false;
        }
        reply_flush(r, out);
        buf_free(&r->in);
        return true;
    }
    return false;
}

static void take_bytes(struct reply *r, struct span bytes, struct buf *out)
{
    if (r->in.n && !complete_block(r, &bytes, out))
        return;
    while (bytes.n && !r->failed) {
        size_t block = next_block(r, bytes, false);
        if (block == 0) {
            if (bytes.n > r->settings.event_max || buf_add(&r->in, bytes) < 0)
                r->failed = r->broken = true;
            break;
        }
        if (!block_take(r, span_of(bytes.p, block), out)) {
            if (buf_add(&r->in, span_of(bytes.p, block)) < 0)
                r->failed = true;
            keep_waiting(r, block, span_from(bytes, block));
            break;
        }
        bytes = span_from(bytes, block);
    }
    reply_flush(r, out);
}

enum reply_state reply_feed(struct reply *r, struct span bytes, struct buf *out)
{
    if (r->failed || r->ending)
        return state_of(r, out);
    if (r->waiting || r->settings.framing == REPLY_WHOLE) {
        size_t max = r->settings.event_max + (r->waiting ? (size_t)REPLY_IN_ROOM : 0);
        if (bytes.n > max || r->in.n > max - bytes.n || buf_add(&r->in, bytes) < 0)
            r->failed = true;
        /* The memory may have moved under the event that waits. */
        if (r->waiting)
            r->event.raw.p = buf_span(&r->in).p;
        return state_of(r, out);
    }
    take_bytes(r, bytes, out);
    return state_of(r, out);
}

/* ---- the end ---- */

/* Line ends that must follow this block before another one can. */
static unsigned missing_line_ends(struct span block)
{
    unsigned found = 0;
    while (block.n && found < 2) {
        size_t n =
            span_ends(block, "\r\n") ? 2 : block.p[block.n - 1] == '\n' || block.p[block.n - 1] == '\r';
        if (n == 0)
            break;
        block.n -= n;
        found++;
    }
    return 2 - found;
}

/* The same in the reply's framing: an event stream has an empty line between two blocks, lines have none. */
static unsigned open_end(const struct reply *r, struct span block)
{
    unsigned missing = missing_line_ends(block);
    switch (r->settings.framing) {
    case REPLY_SSE:
        return missing;
    case REPLY_NDJSON:
        return missing == 2;
    default:
        return 0;
    }
}

/* A block that was cut short is of use only when its data is whole. */
static bool is_of_use(const struct reply *r, struct span block)
{
    struct sse_fields fields;
    struct span value;
    if (r->settings.framing == REPLY_ARRAY)
        return items_parse(block).closes;
    if (r->settings.framing != REPLY_SSE)
        return json_document_as(block, JSON_LENIENT, &value);
    sse_parse(block, !r->first_done, &fields);
    if (fields.data_lines == 0)
        return block_bare_json(block).n > 0;
    return fields.data_lines == 1 &&
           (json_document_as(fields.data, JSON_LENIENT, &value) || span_is(fields.data, "[DONE]"));
}

static void end_whole(struct reply *r, struct buf *out)
{
    r->closed = true;
    /* Half a body cannot be filtered, and nobody could read it. */
    if (!r->clean) {
        r->failed = true;
        return;
    }
    if (!block_take(r, buf_span(&r->in), out))
        r->event.raw = buf_span(&r->in);
    reply_flush(r, out);
}

static void end_stream(struct reply *r, struct buf *out)
{
    struct span block = buf_span(&r->in);
    if (block.n) {
        size_t n = next_block(r, block, true);
        block.n = n ? n : block.n;
        if (r->clean || missing_line_ends(block) == 0 || is_of_use(r, block)) {
            if (!block_take(r, block, out)) {
                keep_waiting(r, block.n, span_of("", 0));
                return;
            }
            reply_flush(r, out);
            if (r->failed)
                return;
            r->open_end = open_end(r, block);
        }
        buf_free(&r->in);
    }
    if (r->later.n && !block_take_last(r, out)) {
        keep_waiting(r, 0, span_of("", 0));
        return;
    }
    if (!r->closed) {
        r->closed = r->closing = true;
        reply_event_reset(&r->event, span_of("", 0));
        r->lead = 0;
        r->lead_opens = r->lead_comma = r->bare = false;
        block_take_event(r, out);
        reply_flush(r, out);
    }
}

/* With the number that is its turn. */
static void write_error_event(struct reply *r, struct buf *out)
{
    struct span event = buf_span(&r->error_event);
    struct buf joined;
    if (!r->numbered) {
        buf_add(out, event);
        return;
    }
    buf_init(&joined, LIMIT_READ);
    block_read(r, event, &joined);
    buf_free(&joined);
    rewrite_plain(r, out);
}

static enum reply_state end(struct reply *r, struct buf *out)
{
    if (r->settings.framing != REPLY_WHOLE)
        end_stream(r, out);
    else if (!r->closed)
        end_whole(r, out);
    if (r->waiting || r->failed)
        return state_of(r, out);
    if (r->error_event.n && !r->done_seen && !r->totals.provider_error) {
        reply_own_event(r, out);
        write_error_event(r, out);
        reply_own_end(r, out);
        if (r->settings.framing == REPLY_ARRAY)
            buf_addc(out, ']');
    }
    buf_free(&r->error_event);
    buf_free(&r->in);
    r->done = true;
    return state_of(r, out);
}

enum reply_state reply_end(struct reply *r, bool clean, struct span error_event, struct buf *out)
{
    if (r->broken && !clean && r->settings.framing != REPLY_WHOLE) { /* the stream ends before that event */
        r->failed = r->broken = r->ending = false;
        buf_free(&r->in);
        r->scan = (struct sse_scan){.started = true};
    }
    if (r->failed || r->ending)
        return state_of(r, out);
    r->ending = true;
    r->clean = clean;
    buf_add(&r->error_event, error_event);
    return r->waiting ? REPLY_WAITING : end(r, out);
}

enum reply_state reply_resume(struct reply *r, struct buf *out)
{
    if (r->failed || !r->waiting || r->report.pending)
        return state_of(r, out);
    size_t block = r->event.raw.n;
    struct buf rest;
    r->waiting = false;
    rewrite_write(r, out);
    r->done_seen = r->done_seen || r->event.ends_stream;
    reply_flush(r, out);
    buf_init(&rest, r->in.max);
    buf_move(&rest, &r->in);
    /* The last block of a stream may have waited; only then is there no more. */
    if (r->ending && block && block == rest.n)
        r->open_end = open_end(r, buf_span(&rest));
    if (rest.n > block)
        take_bytes(r, span_from(buf_span(&rest), block), out);
    buf_free(&rest);
    return r->ending && !r->waiting && !r->failed ? end(r, out) : state_of(r, out);
}

/* ---- */

bool reply_unreadable(const struct reply *r)
{
    return r->unreadable;
}

unsigned reply_pending(const struct reply *r)
{
    return r->report.pending;
}

void reply_settle(struct reply *r, unsigned number, const struct reply_artifact *a)
{
    if (!report_settle(&r->report, number, a))
        return;
    r->totals.artifacts += a->entry.n > 0;
    if (a->flag != FLAG_NONE)
        r->totals.flags[a->flag]++;
}

void reply_reasons(const struct reply *r, struct buf *out)
{
    report_reasons(&r->report, false, out);
}

size_t reply_held_bytes(const struct reply *r)
{
    size_t n = r->in.n + r->later.n;
    for (const struct channel *c = r->channels; c; c = c->next)
        n += channel_held_bytes(c);
    return n;
}

bool reply_between_events(const struct reply *r)
{
    return r->settings.framing != REPLY_WHOLE && r->open_end == 0;
}

bool reply_is_inside(const struct reply *r)
{
    return r->totals.events_out > 0 && !r->done_seen;
}

const struct reply_totals *reply_totals(const struct reply *r)
{
    return &r->totals;
}
