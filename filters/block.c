/* One block of a reply: what event it is, whether it is put off, and the event taken. */
#include "base/json.h"
#include "filters/recorder.h"
#include "filters/reply_state.h"

static const char BOM[] = "\xef\xbb\xbf";

struct span block_bare_json(struct span block)
{
    struct span value;
    if (block.n == 0 || block.p[0] != '{' || !json_document_as(block, JSON_LENIENT, &value))
        return span_of(block.p, 0);
    return block;
}

/* An item of an array; its end ends the stream. */
static void read_item(struct reply *r, struct span block)
{
    struct reply_event *e = &r->event;
    struct items_parts parts = items_parse(block);
    r->lead = parts.lead.n;
    r->lead_opens = parts.opens;
    r->lead_comma = parts.comma;
    e->json = parts.object;
    e->json_at = parts.lead.n;
    e->ends_stream = parts.object.n == 0 && parts.closes;
}

/* The field in which older versions of llama.cpp say an error. */
static const char error_field[] = "error:";

/* Its value, when that is JSON; the empty span for everything else. */
static struct span error_json(struct span block)
{
    struct span value = span_from(block, sizeof error_field - 1);
    while (value.n && value.p[0] == ' ')
        value = span_from(value, 1);
    return block_bare_json(value);
}

/* It is an error, or nothing: clients do not look at what is no event. `field`: it stands in the field of
 * errors, so that it is one whatever the dialect says of it. */
static void read_bare(struct reply *r, bool field)
{
    struct reply_event *e = &r->event;
    struct reply_ends before = r->ends;
    struct span block = e->raw;
    r->settings.dialect.event(e, r->settings.choices, &r->ends);
    bool error = field || e->error;
    size_t notes = e->nnotes;
    r->ends = before;
    reply_event_reset(e, block);
    e->error = error;
    r->bare = error && !field;
    e->nnotes = error ? notes : 0;
}

void block_read(struct reply *r, struct span block, struct buf *room)
{
    struct reply_event *e = &r->event;
    reply_event_reset(e, block);
    e->whole = r->settings.framing == REPLY_WHOLE;
    e->plain_strings = r->settings.framing == REPLY_NDJSON || r->settings.framing == REPLY_ARRAY;
    e->json_at = e->whole && span_starts(block, BOM) ? sizeof BOM - 1 : 0; /* browsers skip it too */
    e->json = span_from(block, e->json_at);
    r->bare = false;
    if (r->settings.framing == REPLY_ARRAY)
        read_item(r, block);
    if (r->settings.framing == REPLY_SSE) {
        struct sse_fields fields;
        (r->scan.lines == 1 ? sse_parse_line : sse_parse)(block, !r->first_done, &fields);
        r->first_done = true;
        e->error = fields.data_lines == 0 && span_starts(block, error_field);
        e->json = fields.data_lines ? fields.data : e->error ? error_json(block) : block_bare_json(block);
        r->bare = fields.data_lines == 0 && e->json.n;
        e->json_at = (size_t)(e->json.p - block.p);
        char *copy = fields.data_lines > 1 ? buf_reserve(room, e->json.n) : NULL;
        if (copy) {
            sse_join(e->json, copy);
            e->json.p = copy;
            e->plain_strings = true; /* no text goes on in the next line */
        }
    }
    if (r->bare)
        read_bare(r, e->error);
    else if (e->json.n)
        r->settings.dialect.event(e, r->settings.choices, &r->ends);
}

/* What is no JSON says nothing to the filter, but perhaps something to the client. */
static bool is_suspect(const struct reply *r)
{
    const struct reply_event *e = &r->event;
    struct span value, json = e->json;
    if (json_document_as(json, e->plain_strings ? JSON_NONFINITE : JSON_LENIENT, &value))
        return false; /* of another shape */
    while (json.n && strchr(" \t\r\n", json.p[0]) && json.p[0])
        json = span_from(json, 1);
    for (const struct channel *c = r->channels; c; c = c->next)
        if (directive_filter_inside(c->filter) && (span_starts(json, "{") || span_starts(json, "[")))
            return true;
    return directive_marked(json);
}

bool block_take_event(struct reply *r, struct buf *out)
{
    struct reply_event *e = &r->event;
    rewrite_read(r);
    if (r->failed)
        return true;
    if (rewrite_must_wait(r)) {
        reply_flush(r, out);
        r->waiting = true;
        return false;
    }
    rewrite_write(r, out);
    r->done_seen = r->done_seen || e->ends_stream;
    return true;
}

/*
 * Some providers say in every event of a channel that it is the last one. Where an event may be of that kind
 * it is put off until the next one, or the end, tells; and if the channel went on, its ends are none.
 */
enum verdict { VERDICT_OPEN, VERDICT_ENDS, VERDICT_GOES_ON };

static void put_off(struct reply *r, struct span block)
{
    const struct reply_event *e = &r->event;
    memset(r->later_ends, 0, sizeof r->later_ends);
    for (size_t i = 0; i < e->n; i++)
        if (e->deltas[i].kind == DELTA_CHANNEL_END && e->deltas[i].channel < LIMIT_CHANNELS)
            r->later_ends[e->deltas[i].channel / 64] |= 1ULL << e->deltas[i].channel % 64;
    if (buf_add(&r->later, block) < 0)
        r->failed = true;
}

static void drop_ends(struct reply *r, const struct reply_ends *before)
{
    struct reply_event *e = &r->event;
    size_t kept = 0;
    for (size_t i = 0; i < e->n; i++)
        if (e->deltas[i].kind != DELTA_CHANNEL_END)
            e->deltas[kept++] = e->deltas[i];
    e->n = kept;
    kept = 0;
    for (size_t i = 0; i < e->nnotes; i++)
        if (e->notes[i].kind != NOTE_FINISH)
            e->notes[kept++] = e->notes[i];
    e->nnotes = kept;
    e->ends_reply = false;
    memcpy(r->ends.seen, before->seen, sizeof r->ends.seen);
    r->ends.count = before->count;
    r->ends.repeated = true;
}

static bool take_judged(struct reply *r, struct span block, enum verdict verdict, struct buf *out)
{
    struct reply_event *e = &r->event;
    struct reply_ends before = r->ends;
    struct buf joined;
    bool written = true;
    buf_init(&joined, r->settings.event_max + REPLY_IN_ROOM);
    block_read(r, block, &joined);
    if (e->may_go_on && !e->whole && verdict == VERDICT_OPEN) {
        r->ends = before;
        put_off(r, block);
        goto out;
    }
    if (e->unreadable && is_suspect(r)) {
        r->failed = r->broken = r->unreadable = true;
        goto out;
    }
    if (verdict == VERDICT_GOES_ON)
        drop_ends(r, &before);
    r->totals.events_in++;
    r->totals.provider_error = r->totals.provider_error || e->error;
    r->totals.ended = r->totals.ended || e->ends_reply;
    r->closing = e->ends_stream || (e->error && !e->ends_reply && !e->goes_on && !e->whole);
    written = block_take_event(r, out);
    if (r->settings.recorder)
        recorder_event(r->settings.recorder, e);
out:
    buf_free(&joined);
    return written;
}

/* What the next block says of the event that was put off. One without data says nothing. */
static enum verdict judge(struct reply *r, struct span next)
{
    struct reply_ends before = r->ends;
    const struct reply_event *e = &r->event;
    enum verdict verdict = VERDICT_ENDS;
    struct buf joined;
    bool first = r->first_done;
    buf_init(&joined, r->settings.event_max + REPLY_IN_ROOM);
    block_read(r, next, &joined);
    buf_free(&joined);
    r->first_done = first;
    r->ends = before;
    if (e->json.n == 0 && !e->ends_stream && !e->error)
        return VERDICT_OPEN;
    for (size_t i = 0; i < e->n; i++)
        if (e->deltas[i].channel < LIMIT_CHANNELS &&
            r->later_ends[e->deltas[i].channel / 64] & 1ULL << e->deltas[i].channel % 64)
            verdict = VERDICT_GOES_ON;
    return verdict;
}

/* As block_take_later. */
static bool take_later(struct reply *r, enum verdict verdict, struct buf *out)
{
    if (!take_judged(r, buf_span(&r->later), verdict, out))
        return false;
    reply_flush(r, out);
    buf_free(&r->later);
    return true;
}

bool block_take(struct reply *r, struct span block, struct buf *out)
{
    enum verdict verdict = r->later.n ? judge(r, block) : VERDICT_OPEN;
    if (verdict != VERDICT_OPEN && !take_later(r, verdict, out))
        return false;
    return r->failed || take_judged(r, block, VERDICT_OPEN, out);
}

bool block_take_last(struct reply *r, struct buf *out)
{
    return take_later(r, VERDICT_ENDS, out);
}
