/*
 * Text that a reply says again (repeats, excerpts), and the request's prompt where it comes back (echoes).
 *
 * A repeat goes through a directive filter of its own, from which nothing is rendered: the same text gives
 * the same cleaned text, so nothing of a channel's text need be kept. What was added at the channel's end is
 * added here too. The same goes for text so far, of which what is undecided is left out.
 */
#include "base/json.h"
#include "filters/character.h"
#include "filters/reply_state.h"

enum { NEVER_CAME = 0x80000000 }; /* numbers of channels that are known from their repeats alone */

/* What the filter for repeats works on. */
struct pass {
    struct reply *reply;
    struct tokens *tokens; /* NULL: none go with this text */
};

static void on_text(void *arg, struct span escaped)
{
    struct reply *r = ((struct pass *)arg)->reply;
    if (buf_add(&r->scratch, escaped) < 0)
        r->failed = true;
}

static void on_directive(void *arg, struct buf *text, enum directive_end how)
{
    (void)arg, (void)text, (void)how;
}

static void on_stray_marker(void *arg)
{
    (void)arg;
}

static void on_fate(void *arg, size_t bytes, size_t points, bool kept)
{
    struct pass *pass = arg;
    (void)points;
    if (pass->tokens)
        tokens_fate(pass->tokens, bytes, kept);
}

static const struct directive_callbacks callbacks = {
    .text = on_text,
    .directive = on_directive,
    .stray_marker = on_stray_marker,
    .fate = on_fate,
};

void repeat_finish(struct reply *r)
{
    for (int i = 0; i < 2; i++)
        buf_free(&r->echoes[i]);
}

/* ---- which channel ---- */

static struct channel *nth_channel(const struct reply *r, uint32_t n)
{
    struct channel *c = r->channels;
    while (c && n--)
        c = c->next;
    return c;
}

static bool is_about_channel(enum delta_kind kind)
{
    return kind > DELTA_CHANNEL_END && kind != DELTA_EXCERPT && kind != DELTA_ECHO;
}

/* A repeat of what never came is the text. */
static void adopt(struct reply_event *e, size_t i)
{
    e->deltas[i].kind = DELTA_TEXT;
    if (i + 1 < e->n && e->deltas[i + 1].kind == DELTA_REPEAT_TOKENS)
        e->deltas[i + 1].kind = DELTA_TOKENS;
    reply_event_delta(e, DELTA_CHANNEL_END, e->deltas[i].channel, (struct span){0});
}

void repeat_read(struct reply *r)
{
    struct reply_event *e = &r->event;
    size_t n = e->n;
    for (size_t i = 0; i < n; i++) {
        struct delta *d = &e->deltas[i];
        if (d->nth && is_about_channel(d->kind)) {
            /* Of a stream that began somewhere the first ones may be missing. */
            const struct channel *c = r->partial ? NULL : nth_channel(r, d->channel);
            d->channel = c ? c->number : NEVER_CAME | d->channel;
            d->nth = false;
        }
        if (d->kind != DELTA_REPEAT || !d->n)
            continue;
        struct channel *c = channel_find(r, d->channel);
        if (c && c->midway)
            channel_resume(c, span_of(e->raw.p + d->at, d->n));
        else if (!c && !r->partial)
            adopt(e, i);
    }
}

/* ---- cleaning ---- */

static bool is_same(const struct reply *r, const struct delta *d, size_t from)
{
    return r->scratch.n - from == d->n &&
           (d->n == 0 || memcmp(buf_span(&r->scratch).p + from, r->event.raw.p + d->at, d->n) == 0);
}

/* The text of `d` without directives goes to the scratch buffer. */
static void clean(struct reply *r, const struct delta *d, struct tokens *tokens)
{
    enum { BODY = 1024 }; /* nobody reads it */
    struct pass pass = {r, tokens};
    struct directive_filter *f = directive_filter_create(&callbacks, &pass, BODY);
    directive_filter_feed(f, span_of(r->event.raw.p + d->at, d->n));
    directive_filter_finish(f);
    directive_filter_destroy(f);
}

bool repeat_clean(struct reply *r, const struct delta *d)
{
    size_t from = r->scratch.n;
    clean(r, d, NULL);
    if (!is_same(r, d, from))
        return true;
    buf_cut(&r->scratch, from);
    return false;
}

static void write_tokens(struct reply *r, const struct delta *d, struct tokens *t)
{
    tokens_settle(t, true);
    size_t from = r->scratch.n;
    if (buf_add(&r->scratch, buf_span(&t->ready)) < 0)
        r->failed = true;
    rewrite_change(r, d->at, d->n, from, r->scratch.n - from);
}

static void write_repeat(struct reply *r, const struct delta *d, const struct delta *entries)
{
    const struct channel *c = d->kind == DELTA_REPEAT ? channel_find(r, d->channel) : NULL;
    size_t from = r->scratch.n;
    struct tokens tokens;
    if (entries) {
        tokens_init(&tokens, r->settings.event_max);
        struct span list = span_of(r->event.raw.p + entries->at, entries->n);
        if (tokens_take(&tokens, list, tokens_text_length(span_of(r->event.raw.p + d->at, d->n))) < 0)
            r->failed = true;
    }
    clean(r, d, entries ? &tokens : NULL);
    bool same = is_same(r, d, from);
    if (c && c->added && buf_addn(&r->scratch, c->added, c->added_n) < 0)
        r->failed = true;
    if (is_same(r, d, from))
        buf_cut(&r->scratch, from);
    else
        rewrite_change(r, d->at, d->n, from, r->scratch.n - from);
    if (entries) {
        if (!same)
            write_tokens(r, entries, &tokens);
        tokens_finish(&tokens);
    }
}

/*
 * The text up to here: what the channel holds back, or has taken out, goes from it as well. Nothing is handed
 * out for it. Answers how many deltas it is in.
 */
static size_t write_so_far(struct reply *r, size_t first)
{
    enum { BODY = 1024 };
    const struct reply_event *e = &r->event;
    const struct delta *d = &e->deltas[first];
    const struct channel *c = channel_find(r, d->channel);
    bool seen = d->channel < LIMIT_CHANNELS && r->ends.seen[d->channel / 64] >> d->channel % 64 & 1;
    bool over = seen && !(c && c->open), early = r->settings.mode == REPLY_BUFFER && !over;
    struct pass pass = {r, NULL};
    struct directive_filter *f = directive_filter_create(&callbacks, &pass, BODY);
    size_t n = 0;
    bool last = false;
    for (; !last; n++, d++) {
        size_t from = r->scratch.n;
        last = first + n + 1 == e->n || d[1].kind != DELTA_SO_FAR || d[1].channel != d->channel;
        directive_filter_feed(f, span_of(r->event.raw.p + d->at, d->n));
        if (last && over)
            directive_filter_finish(f);
        if (last && over && c && c->added && buf_addn(&r->scratch, c->added, c->added_n) < 0)
            r->failed = true;
        if (early)
            buf_cut(&r->scratch, from);
        if (is_same(r, d, from))
            buf_cut(&r->scratch, from);
        else
            rewrite_change(r, d->at, d->n, from, r->scratch.n - from);
    }
    directive_filter_destroy(f);
    return n;
}

/* ---- echoes ---- */

static const struct buf *echo_text(struct reply *r, int i)
{
    if (r->echoes[i].n == 0 && r->settings.echoes[i].n)
        if (json_unescape(r->settings.echoes[i], &r->echoes[i]) < 0)
            return NULL;
    return r->echoes[i].n ? &r->echoes[i] : NULL;
}

/* Where in the text the echo stands, with the blank line before it when it is the end. */
static bool find_echo(struct span text, struct span echo, size_t *from, size_t *to)
{
    if (echo.n > text.n)
        return false;
    if (memcmp(text.p + text.n - echo.n, echo.p, echo.n) == 0) {
        *from = text.n - echo.n;
        *to = text.n;
        if (*from >= 2 && memcmp(text.p + *from - 2, "\n\n", 2) == 0)
            *from -= 2;
        return true;
    }
    const char *at = memmem(text.p, text.n, echo.p, echo.n);
    if (!at)
        return false;
    *from = (size_t)(at - text.p);
    *to = *from + echo.n;
    return true;
}

static bool cut_echo(struct reply *r, const struct delta *d, struct span text, const struct buf *echo)
{
    size_t from, to;
    if (!echo || !find_echo(text, buf_span(echo), &from, &to))
        return false;
    if (from == 0 && to == text.n && text.n == echo->n) {
        size_t at = r->scratch.n;
        buf_adds(&r->scratch, "null");
        rewrite_change(r, d->at, d->n, at, r->scratch.n - at);
        return true;
    }
    struct span inside = span_of(r->event.raw.p + d->at + 1, d->n - 2);
    size_t begin = character_offset(inside, from);
    size_t end = begin + character_offset(span_from(inside, begin), to - from);
    rewrite_change(r, d->at + 1 + begin, end - begin, r->scratch.n, 0);
    return true;
}

static void write_echo(struct reply *r, const struct delta *d)
{
    if (r->settings.echoes[0].n + r->settings.echoes[1].n == 0 || d->n < 2)
        return;
    struct buf text;
    buf_init(&text, r->settings.event_max + LIMIT_READ);
    if (json_unescape(span_of(r->event.raw.p + d->at + 1, d->n - 2), &text) == 0)
        for (int i = 0; i < 2; i++)
            if (cut_echo(r, d, buf_span(&text), echo_text(r, i)))
                break;
    buf_free(&text);
}

/* ---- what cannot be cleaned ---- */

static void write_null(struct reply *r, const struct delta *d)
{
    size_t from = r->scratch.n;
    buf_adds(&r->scratch, "null");
    rewrite_change(r, d->at, d->n, from, r->scratch.n - from);
}

static bool is_holding(const struct reply *r)
{
    for (const struct channel *c = r->channels; c; c = c->next)
        if (directive_filter_holding(c->filter))
            return true;
    return false;
}

static void write_withheld(struct reply *r, const struct delta *d)
{
    bool added = r->settings.echoes[0].n + r->settings.echoes[1].n > 0;
    bool removed = r->report.n || r->report.strays || r->report.surplus;
    if (added || removed || is_holding(r))
        write_null(r, d);
}

static void write_beside(struct reply *r, const struct delta *d)
{
    const struct channel *c = channel_find(r, d->channel);
    bool changed = c && c->event == r->serial && c->changed;
    if (changed || (c && directive_filter_holding(c->filter)))
        write_null(r, d);
}

/* An excerpt of an item stays or goes with it. */
static bool is_of_item(const struct reply_event *e, size_t i)
{
    while (i && e->deltas[i].kind == DELTA_EXCERPT)
        i--;
    return e->deltas[i].kind == DELTA_OFFSET || e->deltas[i].kind == DELTA_ITEM;
}

void repeat_write(struct reply *r)
{
    const struct reply_event *e = &r->event;
    for (size_t i = 0; i < e->n && !r->failed; i++) {
        const struct delta *d = &e->deltas[i];
        const struct delta *next = i + 1 < e->n ? &e->deltas[i + 1] : NULL;
        if (d->kind == DELTA_SO_FAR)
            i += write_so_far(r, i) - 1;
        else if (d->kind == DELTA_REPEAT)
            write_repeat(r, d, next && next->kind == DELTA_REPEAT_TOKENS ? next : NULL);
        else if (d->kind == DELTA_EXCERPT && d->n && !is_of_item(e, i))
            write_repeat(r, d, NULL);
        else if (d->kind == DELTA_ECHO)
            write_echo(r, d);
        else if (d->kind == DELTA_WITHHELD)
            write_withheld(r, d);
        else if (d->kind == DELTA_BESIDE)
            write_beside(r, d);
    }
}
