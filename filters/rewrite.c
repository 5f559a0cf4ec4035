#include <stdlib.h>

#include "base/xalloc.h"
#include "filters/recorder.h"
#include "filters/reply_state.h"

enum { SCRATCH_KEPT = 16 * 1024 }; /* bytes of the scratch buffer that stay allocated between events */

void rewrite_change(struct reply *r, size_t at, size_t cut, size_t from, size_t n)
{
    if (r->nchanges == r->changes_room) {
        r->changes_room = r->changes_room ? r->changes_room * 2 : 4;
        r->changes = xrealloc(r->changes, r->changes_room * sizeof *r->changes);
    }
    r->changes[r->nchanges++] = (struct change){.at = at, .cut = cut, .from = from, .n = n};
}

/* The channel with its notes about this event. NULL: not known, or too many when it is to be made. */
static struct channel *channel_of(struct reply *r, const struct delta *d, bool make)
{
    struct channel *c = make ? channel_get(r, d->channel) : channel_find(r, d->channel);
    if (!c) {
        r->failed = r->failed || make;
        return NULL;
    }
    if (c->event != r->serial) {
        c->event = r->serial;
        c->length = c->place = c->text_out = c->tail = c->tail_n = 0;
        c->changed = c->ending = c->tokens_read = false;
    }
    return c;
}

static void read_texts(struct reply *r)
{
    const struct reply_event *e = &r->event;
    for (size_t i = 0; i < e->n && !r->failed; i++)
        if (e->deltas[i].kind == DELTA_TOKENS && e->deltas[i].n) {
            struct channel *c = channel_of(r, &e->deltas[i], true);
            if (c)
                channel_start_tokens(c);
        }
    for (size_t i = 0; i < e->n && !r->failed; i++)
        if (e->deltas[i].kind == DELTA_TEXT) {
            struct channel *c = channel_of(r, &e->deltas[i], e->deltas[i].n > 0);
            if (c)
                channel_feed(c, &e->deltas[i]);
        }
}

static void read_ends(struct reply *r)
{
    struct reply_event *e = &r->event;
    if (r->closing || e->goes_on || (e->ends_reply && !e->whole && r->settings.dialect.parts))
        for (struct channel *c = r->channels; c; c = c->next)
            if (c->open)
                reply_event_delta(e, DELTA_CHANNEL_END, c->number, (struct span){0});
    for (size_t i = 0; i < e->n; i++)
        if (e->deltas[i].kind == DELTA_CHANNEL_END) {
            struct channel *c = channel_of(r, &e->deltas[i], false);
            if (c && c->open && !c->ending)
                channel_end(c);
        }
}

static void read_tokens(struct reply *r)
{
    const struct reply_event *e = &r->event;
    for (size_t i = 0; i < e->n && !r->failed; i++)
        if (e->deltas[i].kind == DELTA_TOKENS) {
            struct channel *c = channel_of(r, &e->deltas[i], false);
            if (c && c->tokens)
                channel_tokens(c, &e->deltas[i]);
        }
    for (size_t i = 0; i < e->n && !r->failed; i++)
        if (e->deltas[i].kind != DELTA_TOKENS) {
            struct channel *c = channel_of(r, &e->deltas[i], false);
            if (c && c->tokens && !c->tokens_read)
                channel_tokens(c, NULL);
        }
}

void rewrite_read(struct reply *r)
{
    r->serial++;
    r->nchanges = 0;
    r->text_out = r->tokens_out = 0;
    r->drop = r->own = false;
    if (r->midway && r->event.opens) {
        r->midway = false;
        r->partial = !r->event.begins;
    }
    if (r->event.more)
        repeat_read(r);
    read_texts(r);
    if (!r->failed)
        read_ends(r);
    if (!r->failed)
        read_tokens(r);
}

bool rewrite_must_wait(const struct reply *r)
{
    const struct reply_event *e = &r->event;
    if (r->report.pending == 0)
        return false;
    if (e->ends_reply || r->closing)
        return true;
    for (const struct channel *c = r->channels; c; c = c->next)
        if (c->event == r->serial && c->ending &&
            (channel_needs_sentence(c) || (c->directives && r->settings.links)))
            return true;
    return false;
}

static void copy_within(struct buf *b, size_t from, size_t n)
{
    char *to = n ? buf_reserve(b, n) : NULL;
    if (to) {
        memcpy(to, buf_span(b).p + from, n);
        buf_commit(b, n);
    }
}

/* What is told at the end of a text. Links stay out of the record: whoever has one may open the file. */
static void add_at_end(struct reply *r, struct channel *c)
{
    size_t from = r->scratch.n;
    bool sentence = channel_needs_sentence(c);
    if (sentence)
        report_sentence(&r->report, c->number, &r->scratch);
    size_t recorded = r->scratch.n - from;
    if (c->directives && r->settings.links)
        report_links(&r->report, c->number, &r->scratch);
    c->shown = c->shown || c->visible || sentence;
    xfree(c->added);
    c->added = NULL;
    c->added_n = r->scratch.n - from;
    if (!c->added_n)
        return;
    struct span added = span_from(buf_span(&r->scratch), from);
    c->added = xspandup(added);
    if (r->settings.recorder && recorded)
        recorder_text(r->settings.recorder, c->number, span_of(added.p, recorded));
}

/* The channel's end: what was held, and what is told at the end of a text. It joins the text that the event
 * brings, or goes before the event. */
static void write_end(struct reply *r, struct channel *c, struct buf *out)
{
    size_t from = r->scratch.n;
    if (c->held && c->held->pending.n) {
        buf_add(&r->scratch, buf_span(&c->held->pending));
        buf_free(&c->held->pending);
    }
    copy_within(&r->scratch, c->tail, c->tail_n);
    add_at_end(r, c);
    size_t n = r->scratch.n - from;
    c->open = c->visible = c->ending = false;
    c->directives = 0;

    struct buf *ready = c->tokens && c->tokens->ready.n ? &c->tokens->ready : NULL;
    if (n && c->place && (r->event.whole || c->text_out || !ready)) {
        rewrite_change(r, c->place, 0, from, n);
        r->text_out += n;
    } else if (n && c->held) {
        reply_own_event(r, out);
        r->settings.dialect.text_event(buf_span(&c->held->shape), c->number, rewrite_next_number(r),
                                       span_of(buf_span(&r->scratch).p + from, n),
                                       ready ? buf_span(ready) : (struct span){0}, out);
        reply_own_end(r, out);
    }
    if (ready)
        buf_free(ready);
}

/* The event that stands in for the one that ends a reply, when that did not come. */
static void write_report_event(struct reply *r, struct buf *out)
{
    struct span shape = buf_span(&r->frame);
    struct buf members;
    for (const struct channel *c = r->channels; c && r->frame.n == 0; c = c->next)
        if (c->held && c->held->shape.n)
            shape = buf_span(&c->held->shape);
    buf_init(&members, out->max);
    report_members(&r->report, &members);
    r->report.sent = true;
    reply_own_event(r, out);
    r->settings.dialect.report_event(shape, rewrite_next_number(r), buf_span(&members),
                                     r->totals.provider_error || (r->ending && !r->clean), out);
    reply_own_end(r, out);
    buf_free(&members);
}

static void add_report(struct reply *r)
{
    const struct reply_event *e = &r->event;
    size_t from = r->scratch.n;
    if (!e->report_first)
        buf_addc(&r->scratch, ',');
    report_members(&r->report, &r->scratch);
    r->report.sent = true;
    rewrite_change(r, e->report_at, 0, from, r->scratch.n - from);
}

static int by_place(const void *a, const void *b)
{
    const struct change *x = a, *y = b;
    return (x->at > y->at) - (x->at < y->at);
}

/* No two changes begin at the same place: texts, arrays of log probabilities and the report lie apart. */
static void write_changed(struct reply *r, struct buf *out)
{
    struct span raw = r->event.raw;
    const char *scratch = buf_span(&r->scratch).p;
    size_t done = 0;
    if (r->nchanges > 1)
        qsort(r->changes, r->nchanges, sizeof *r->changes, by_place);
    for (size_t i = 0; i < r->nchanges; i++) {
        const struct change *change = &r->changes[i];
        buf_addn(out, raw.p + done, change->at - done);
        buf_addn(out, scratch + change->from, change->n);
        done = change->at + change->cut;
    }
    buf_addn(out, raw.p + done, raw.n - done);
}

int64_t rewrite_next_number(struct reply *r)
{
    return r->numbered ? ++r->number : -1;
}

/* The provider's number of the event. */
static int64_t read_number(const struct reply_event *e)
{
    int64_t number = 0;
    for (size_t i = 0; i < e->number_n; i++)
        number = number * 10 + (e->raw.p[e->number_at + i] - '0');
    return number;
}

/* Notes the number that the event gets; goes: it gets none, but the first event tells where counting begins.
 */
static void write_number(struct reply *r, bool goes)
{
    enum { DIGITS = 15 }; /* of a number that anybody counts to */
    const struct reply_event *e = &r->event;
    if (e->number_n == 0 || e->number_n > DIGITS || r->shift > INT64_MAX / 4)
        return;
    int64_t number = read_number(e), its = number + r->shift;
    if (!r->numbered)
        r->number = number - 1;
    r->numbered = true;
    if (goes)
        return;
    if (its <= r->number) {
        its = r->number + 1;
        r->shift = its - number;
    }
    r->number = its;
    if (its == number)
        return;
    size_t from = r->scratch.n;
    buf_add_number(&r->scratch, (uint64_t)its);
    rewrite_change(r, e->number_at, e->number_n, from, r->scratch.n - from);
}

void rewrite_plain(struct reply *r, struct buf *out)
{
    r->nchanges = 0;
    write_number(r, false);
    write_changed(r, out);
}

/* Nothing is left for which it would be sent. */
static bool is_emptied(const struct reply *r)
{
    const struct reply_event *e = &r->event;
    return r->drop ||
           (r->nchanges && e->bare && !e->whole && !e->ends_reply && r->text_out + r->tokens_out == 0);
}

/* An item goes; the bracket before the first one stays. */
static void drop_item(struct reply *r, struct buf *out)
{
    if (r->settings.framing != REPLY_ARRAY || !r->lead_opens)
        return;
    reply_flush(r, out);
    buf_addn(out, r->event.raw.p, r->lead);
    r->array_open = true;
}

/* An item before which all others went needs no comma. */
static void place_item(struct reply *r)
{
    if (r->lead_comma && !r->array_items)
        rewrite_change(r, 0, r->lead, r->scratch.n, 0);
    r->array_open = r->array_open || r->lead_opens;
    r->array_items = r->array_items || r->event.raw.n > r->lead;
}

/*
 * Clients see an error that is no event only where it begins a read of theirs. Behind an event of Penstock's
 * own it does not, so it becomes one.
 */
static void write_bare(const struct reply *r, struct buf *out)
{
    struct span json = r->event.raw;
    while (json.n && (json.p[json.n - 1] == '\n' || json.p[json.n - 1] == '\r'))
        json.n--;
    buf_adds(out, "data: ");
    for (size_t i = 0; i < json.n; i++)
        buf_addc(out, json.p[i] == '\n' || json.p[i] == '\r' ? ' ' : json.p[i]);
    buf_adds(out, "\r\n\r\n");
}

static void write_event(struct reply *r, struct buf *out)
{
    const struct reply_event *e = &r->event;
    bool goes = is_emptied(r);
    if (e->number_n)
        write_number(r, goes);
    if (goes) {
        drop_item(r, out);
        return;
    }
    if (r->settings.framing == REPLY_ARRAY && e->raw.n)
        place_item(r);
    if (r->bare && r->own) {
        reply_flush(r, out);
        write_bare(r, out);
    } else if (r->nchanges) {
        reply_flush(r, out);
        write_changed(r, out);
    } else if (r->run.p && r->run.p + r->run.n == e->raw.p) {
        r->run.n += e->raw.n;
    } else {
        reply_flush(r, out);
        r->run = e->raw;
    }
    r->totals.events_out += e->raw.n > 0;
}

void rewrite_write(struct reply *r, struct buf *out)
{
    const struct reply_event *e = &r->event;
    for (size_t i = 0; i < e->n; i++)
        if (e->deltas[i].kind == DELTA_CHANNEL_END) {
            struct channel *c = channel_find(r, e->deltas[i].channel);
            if (c && c->event == r->serial && c->ending)
                write_end(r, c, out);
        }
    if (e->more) {
        repeat_write(r);
        offsets_write(r);
    }
    if (report_due(&r->report)) {
        if (e->ends_reply)
            add_report(r);
        else if (r->closing)
            write_report_event(r, out);
    }
    write_event(r, out);
    if (e->begins && r->frame.n == 0)
        r->settings.dialect.keep_shape(e, 0, &r->frame);
    if (buf_full(&r->scratch))
        r->failed = true;
    if (r->scratch.room > SCRATCH_KEPT)
        buf_free(&r->scratch);
    else
        buf_reset(&r->scratch);
    for (struct channel *c = r->channels; c; c = c->next)
        channel_rest(c);
}
