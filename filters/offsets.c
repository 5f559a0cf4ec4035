/*
 * What points into a channel's text (annotations, citations) when some of the text was taken out: offsets
 * behind a removal are shifted, and an item that points into one goes. The files of the channel are noted in
 * the same lists.
 */
#include "base/xalloc.h"
#include "filters/reply_state.h"

void offsets_finish(struct channel *c)
{
    if (!c->removals)
        return;
    xfree(c->removals->list);
    xfree(c->removals);
    c->removals = NULL;
}

void offsets_restart(struct channel *c)
{
    c->position = 0;
    offsets_finish(c);
}

void offsets_fate(struct channel *c, size_t n, bool kept)
{
    size_t at = c->position;
    c->position += n;
    if (kept || n == 0)
        return;
    if (!c->removals)
        c->removals = xcalloc(1, sizeof *c->removals);
    struct removals *all = c->removals;
    struct removal *last = all->n ? &all->list[all->n - 1] : NULL;
    if (last && last->at + last->n == at) {
        last->n += n;
    } else {
        if (all->n == all->room) {
            all->room = all->room ? all->room * 2 : 4;
            all->list = xrealloc(all->list, all->room * sizeof *all->list);
        }
        all->list[all->n++] = (struct removal){.at = at, .n = n, .before = all->total};
    }
    all->total += n;
}

/* The last removal that begins at or before `at`; NULL: none does. */
static const struct removal *removal_before(const struct channel *c, size_t at)
{
    size_t low = 0, high = c->removals ? c->removals->n : 0;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (c->removals->list[middle].at <= at)
            low = middle + 1;
        else
            high = middle;
    }
    return low ? &c->removals->list[low - 1] : NULL;
}

/* Where the character at this offset stands now; false: it was taken out, or is about to be. */
static bool moved(const struct channel *c, size_t at, size_t *to)
{
    const struct removal *r = removal_before(c, at);
    if (r && at < r->at + r->n)
        return false;
    if (c->open && at >= c->position && directive_filter_held_bytes(c->filter))
        return false;
    *to = r ? at - r->before - r->n : at;
    return true;
}

static bool read_number(struct span digits, size_t *value)
{
    enum { DIGITS = 15 };
    *value = 0;
    if (digits.n == 0 || digits.n > DIGITS)
        return false;
    for (size_t i = 0; i < digits.n; i++) {
        if (digits.p[i] < '0' || digits.p[i] > '9')
            return false;
        *value = *value * 10 + (size_t)(digits.p[i] - '0');
    }
    return true;
}

/* Deltas of the item at `i`, without it. */
static size_t item_offsets(const struct reply_event *e, size_t i)
{
    size_t n = 0;
    while (i + 1 + n < e->n && e->deltas[i + 1 + n].kind == DELTA_OFFSET)
        n++;
    return n;
}

/* The offset behind a range's last character stays directly behind it. */
static bool moved_offset(const struct reply *r, const struct channel *c, const struct delta *d, bool end,
                         size_t *from, size_t *to)
{
    if (!read_number(span_of(r->event.raw.p + d->at, d->n), from)) {
        *from = *to = 0; /* no number that can be an offset */
        return true;
    }
    if (!end || *from == 0)
        return moved(c, *from, to);
    if (!moved(c, *from - 1, to))
        return false;
    ++*to;
    return true;
}

/* Deltas of excerpts behind those. */
static size_t item_excerpts(const struct reply_event *e, size_t i)
{
    size_t n = 0;
    while (i < e->n && e->deltas[i].kind == DELTA_EXCERPT) {
        i++;
        n++;
    }
    return n;
}

/* The item's text that says the channel's again, without directives. `done`: what of the item was written to
 * `out`; false: it stands in what is written already. */
static bool write_excerpt(struct reply *r, const struct delta *d, bool changes, struct buf *out, size_t *done)
{
    size_t from = r->scratch.n;
    if (d->n == 0 || !repeat_clean(r, d))
        return true;
    size_t n = r->scratch.n - from;
    if (changes) {
        rewrite_change(r, d->at, d->n, from, n);
        return true;
    }
    bool ahead = d->at >= *done;
    if (out && ahead) {
        buf_addn(out, r->event.raw.p + *done, d->at - *done);
        buf_addn(out, buf_span(&r->scratch).p + from, n);
        *done = d->at + d->n;
    }
    buf_cut(&r->scratch, from);
    return ahead;
}

/* Whether the item stays. `changes`: notes its new offsets in the event; out: or writes the item with them.
 */
static bool write_item(struct reply *r, const struct channel *c, size_t i, bool changes, struct buf *out)
{
    const struct delta *item = &r->event.deltas[i];
    const char *raw = r->event.raw.p;
    size_t n = item_offsets(&r->event, i), done = item->at, from, to;
    for (size_t k = 0; k < n; k++) {
        const struct delta *d = &r->event.deltas[i + 1 + k];
        if (!moved_offset(r, c, d, k == 1, &from, &to))
            return false;
    }
    for (size_t k = 0; k < n; k++) {
        const struct delta *d = &r->event.deltas[i + 1 + k];
        moved_offset(r, c, d, k == 1, &from, &to);
        if (from == to)
            continue;
        size_t at = r->scratch.n;
        if (changes) {
            buf_add_number(&r->scratch, to);
            rewrite_change(r, d->at, d->n, at, r->scratch.n - at);
        } else if (out && d->at >= done) {
            buf_addn(out, raw + done, d->at - done);
            buf_add_number(out, to);
            done = d->at + d->n;
        }
    }
    for (size_t k = i + 1 + n, last = k + item_excerpts(&r->event, k); k < last && (changes || out); k++)
        if (!write_excerpt(r, &r->event.deltas[k], changes, out, &done))
            return false;
    if (out)
        buf_addn(out, raw + done, item->at + item->n - done);
    return true;
}

/* The index behind the list's items. */
static size_t list_end(const struct reply_event *e, size_t i)
{
    size_t end = i + 1;
    while (end < e->n && (e->deltas[end].kind == DELTA_OFFSET || e->deltas[end].kind == DELTA_EXCERPT ||
                          (e->deltas[end].kind == DELTA_ITEM && e->deltas[end].n)))
        end++;
    return end;
}

/* Whether an item must go. */
static bool loses_items(struct reply *r, const struct channel *c, size_t i, size_t end)
{
    for (size_t k = i + 1; k < end; k++)
        if (r->event.deltas[k].kind == DELTA_ITEM && !write_item(r, c, k, false, NULL))
            return true;
    return false;
}

/* The list made anew: the items that stay, and the channel's files. */
static void rebuild_list(struct reply *r, const struct channel *c, size_t i, size_t end, bool files)
{
    const struct delta *list = &r->event.deltas[i];
    size_t from = r->scratch.n;
    struct buf items;
    buf_init(&items, r->scratch.max);
    for (size_t k = i + 1; k < end; k++) {
        size_t before = items.n;
        if (r->event.deltas[k].kind != DELTA_ITEM)
            continue;
        if (before)
            buf_addc(&items, ',');
        if (!write_item(r, c, k, false, &items))
            buf_cut(&items, before);
    }
    if (files) {
        if (items.n)
            buf_addc(&items, ',');
        report_citations(&r->report, c->number, r->settings.dialect.citation, &items);
    }
    if (buf_add(&r->scratch, buf_span(&items)) < 0 || buf_full(&items))
        r->failed = true;
    buf_free(&items);
    rewrite_change(r, list->at, list->n, from, r->scratch.n - from);
}

static size_t write_list(struct reply *r, size_t i)
{
    const struct reply_event *e = &r->event;
    const struct channel *c = channel_find(r, e->deltas[i].channel);
    size_t end = list_end(e, i);
    if (!c)
        return end;
    bool files = e->ends_reply && r->settings.dialect.citation && report_has_files(&r->report, c->number);
    if (files || (c->removals && loses_items(r, c, i, end))) {
        rebuild_list(r, c, i, end, files);
    } else if (c->removals) {
        for (size_t k = i + 1; k < end; k++)
            if (e->deltas[k].kind == DELTA_ITEM)
                write_item(r, c, k, true, NULL);
    }
    return end;
}

void offsets_write(struct reply *r)
{
    const struct reply_event *e = &r->event;
    for (size_t i = 0; i < e->n && !r->failed;) {
        const struct delta *d = &e->deltas[i];
        if (d->kind == DELTA_LIST) {
            i = write_list(r, i);
            continue;
        }
        const struct channel *c = d->kind == DELTA_ITEM ? channel_find(r, d->channel) : NULL;
        if (c && !write_item(r, c, i, true, NULL))
            r->drop = true;
        i++;
    }
}
