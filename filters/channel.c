#include "filters/reply_state.h"

#include "base/xalloc.h"
#include "filters/character.h"
#include "filters/recorder.h"

static bool is_buffered(const struct reply *r)
{
    return r->settings.mode == REPLY_BUFFER && !r->event.whole;
}

/* Whether escaped text is white space alone. A unit that may be half of something visible is not. */
static bool is_blank(struct span escaped)
{
    static const char *const blanks[] = {" ",       "\\n",     "\\r",     "\\t",     "\\f",
                                         "\\u0020", "\\u000a", "\\u000A", "\\u000d", "\\u000D",
                                         "\\u0009", "\\u00a0", "\\u00A0", "\xc2\xa0"};
    enum { BLANKS = sizeof blanks / sizeof blanks[0] };
    while (escaped.n) {
        size_t i = 0;
        while (i < BLANKS && !span_starts(escaped, blanks[i]))
            i++;
        if (i == BLANKS)
            return false;
        escaped = span_from(escaped, strlen(blanks[i]));
    }
    return true;
}

/* ---- what the directive filter says ---- */

static void on_text(void *arg, struct span escaped)
{
    struct channel *c = arg;
    struct reply *r = c->reply;
    if (!c->visible && !is_blank(escaped))
        c->visible = true;
    if (r->settings.recorder)
        recorder_text(r->settings.recorder, c->number, escaped);
    if (c->muted)
        return;
    if (c->held && is_buffered(r)) {
        if (buf_add(&c->held->pending, escaped) < 0)
            r->failed = true;
        return;
    }
    if (r->same && buf_add(&r->scratch, r->feeding) < 0)
        r->failed = true;
    r->same = r->scratch.n == r->feeding_from && escaped.p == r->feeding.p && escaped.n == r->feeding.n;
    if (r->same)
        return;
    if (buf_add(&r->scratch, escaped) < 0)
        r->failed = true;
}

/* Beyond this many a directive is not even kept. */
static unsigned most_directives(const struct reply *r)
{
    return r->settings.directives > UINT32_MAX - LIMIT_FLAGS ? UINT32_MAX
                                                             : r->settings.directives + LIMIT_FLAGS;
}

static void on_directive(void *arg, struct buf *text, enum directive_end how)
{
    struct channel *c = arg;
    struct reply *r = c->reply;
    enum flag refused = FLAG_NONE;
    c->directives++;
    c->reported = true;
    r->totals.directives++;
    size_t left = r->settings.directive_total - r->directive_bytes;
    if (how == DIRECTIVE_UNTERMINATED)
        refused = FLAG_UNTERMINATED;
    else if (r->totals.directives > r->settings.directives)
        refused = FLAG_TOO_MANY;
    else if (how == DIRECTIVE_TOO_LARGE || text->n > left)
        refused = FLAG_TOO_LARGE;
    if (r->report.n >= most_directives(r)) {
        r->report.surplus++;
        r->totals.flags[FLAG_TOO_MANY]++;
        return;
    }
    r->directive_bytes += text->n < left ? text->n : left;
    unsigned number =
        report_open(&r->report, c->number, c->position - (c->removals ? c->removals->total : 0));
    r->callbacks.directive(r->arg, number, text, refused);
}

static void on_stray_marker(void *arg)
{
    struct channel *c = arg;
    c->reported = true;
    c->reply->report.strays++;
    c->reply->totals.flags[FLAG_STRAY_MARKER]++;
}

static void on_fate(void *arg, size_t bytes, size_t points, bool kept)
{
    struct channel *c = arg;
    enum offset_unit unit = c->reply->settings.dialect.offsets;
    c->decided += bytes;
    if (unit != OFFSETS_NONE)
        offsets_fate(c, unit == OFFSETS_POINTS ? points : bytes, kept);
    if (c->tokens)
        tokens_fate(c->tokens, bytes, kept);
}

static const struct directive_callbacks callbacks = {
    .text = on_text,
    .directive = on_directive,
    .stray_marker = on_stray_marker,
    .fate = on_fate,
};

static const struct directive_callbacks counting_callbacks = {
    .text = on_text,
    .directive = on_directive,
    .stray_marker = on_stray_marker,
    .fate = on_fate,
    .count_points = true,
};

/* ---- */

struct channel *channel_find(const struct reply *r, uint32_t number)
{
    struct channel *c = r->channels;
    while (c && c->number != number)
        c = c->next;
    return c;
}

/* Each channel may hold an open directive: what they may hold together is kept near the limit for the
 * reply. */
static size_t directive_max(const struct reply *r)
{
    unsigned open = 0;
    for (const struct channel *c = r->channels; c; c = c->next)
        open += c->open || !r->settings.dialect.parts;
    size_t max = r->settings.directive_total / (open + 1);
    return max < r->settings.directive_max ? max : r->settings.directive_max;
}

static struct channel *channel_create(struct reply *r, uint32_t number)
{
    struct channel *c = xcalloc(1, sizeof *c);
    bool count = r->settings.dialect.offsets == OFFSETS_POINTS;
    c->reply = r;
    c->number = number;
    c->midway = r->midway;
    c->filter = directive_filter_create(count ? &counting_callbacks : &callbacks, c, directive_max(r));
    return c;
}

struct channel *channel_get(struct reply *r, uint32_t number)
{
    struct channel **link = &r->channels;
    unsigned n = 0, max = r->settings.dialect.parts ? LIMIT_PARTS : LIMIT_CHANNELS;
    if (r->latest && r->latest->number == number)
        return r->latest;
    for (; *link && (*link)->number != number; link = &(*link)->next)
        n++;
    if (!*link && n == max)
        return NULL;
    if (!*link)
        *link = channel_create(r, number);
    return r->latest = *link;
}

static void drop_held(struct channel *c)
{
    if (!c->held)
        return;
    buf_free(&c->held->shape);
    buf_free(&c->held->pending);
    xfree(c->held);
    c->held = NULL;
}

void channel_destroy(struct channel *c)
{
    directive_filter_destroy(c->filter);
    drop_held(c);
    if (c->tokens)
        tokens_finish(c->tokens);
    xfree(c->tokens);
    offsets_finish(c);
    xfree(c->added);
    xfree(c);
}

bool channel_needs_sentence(const struct channel *c)
{
    if (!c->directives || c->visible)
        return false;
    for (const struct channel *b = c->reply->channels; c->reply->settings.dialect.parts && b != c;
         b = b->next)
        if (b->visible || b->shown)
            return false;
    return true;
}

static void keep_shape(struct channel *c)
{
    enum { LONGEST_SHAPE = 64 * 1024 };
    struct reply *r = c->reply;
    if (c->held || r->event.whole)
        return;
    c->held = xcalloc(1, sizeof *c->held);
    buf_init(&c->held->shape, LONGEST_SHAPE);
    buf_init(&c->held->pending, r->settings.event_max);
    r->settings.dialect.keep_shape(&r->event, c->number, &c->held->shape);
}

static void miss(struct channel *c, const struct delta *d)
{
    struct reply *r = c->reply;
    c->missed += tokens_text_length(span_of(r->event.raw.p + d->at, d->n));
    rewrite_change(r, d->at, d->n, r->scratch.n, 0);
    keep_shape(c);
}

void channel_resume(struct channel *c, struct span text)
{
    size_t length = tokens_text_length(text);
    size_t seen = character_offset(text, length > c->missed ? length - c->missed : 0);
    c->midway = false;
    c->open = c->muted = true;
    offsets_restart(c);
    directive_filter_feed(c->filter, span_of(text.p, seen));
    c->muted = false;
    c->late = span_from(text, seen);
}

void channel_feed(struct channel *c, const struct delta *d)
{
    struct reply *r = c->reply;
    struct span text = span_of(r->event.raw.p + d->at, d->n);
    c->place = d->at + d->n;
    if (text.n == 0)
        return;
    if (c->midway) {
        miss(c, d);
        return;
    }
    if (is_buffered(r))
        keep_shape(c);
    size_t from = r->scratch.n;
    bool was_holding = directive_filter_holding(c->filter);
    r->feeding = text;
    r->feeding_from = from;
    r->same = false;
    c->decided = 0;
    if (!c->open)
        offsets_restart(c);
    c->open = true;
    directive_filter_feed(c->filter, text);

    bool holding = directive_filter_holding(c->filter);
    size_t length = holding || c->tokens ? tokens_text_length(text) : 0;
    size_t known = c->undecided + length;
    c->length += length;
    c->undecided = holding && known > c->decided ? known - c->decided : 0;
    size_t made = r->scratch.n - from;
    if (!is_buffered(r) &&
        (r->same || (made == text.n && memcmp(buf_span(&r->scratch).p + from, text.p, made) == 0))) {
        buf_cut(&r->scratch, from);
        made = text.n;
    } else {
        c->changed = true;
        rewrite_change(r, d->at, d->n, from, made);
        keep_shape(c);
    }
    if (was_holding || holding)
        keep_shape(c);
    c->text_out += made;
    r->text_out += made;
}

void channel_end(struct channel *c)
{
    struct reply *r = c->reply;
    size_t from = r->scratch.n;
    r->feeding = (struct span){0};
    r->feeding_from = from;
    r->same = false;
    c->decided = 0;
    if (c->late.n)
        directive_filter_feed(c->filter, c->late);
    c->late = (struct span){0};
    directive_filter_finish(c->filter);
    c->undecided = 0;
    c->tail = from;
    c->tail_n = r->scratch.n - from;
    c->ending = true;
}

void channel_start_tokens(struct channel *c)
{
    struct reply *r = c->reply;
    if (c->tokens || c->midway)
        return;
    c->tokens = xcalloc(1, sizeof *c->tokens);
    tokens_init(c->tokens, r->settings.event_max);
    if (c->undecided && tokens_take(c->tokens, span_of("", 0), c->undecided) < 0)
        r->failed = true;
}

void channel_tokens(struct channel *c, const struct delta *d)
{
    struct reply *r = c->reply;
    struct tokens *t = c->tokens;
    struct span entries = d ? span_of(r->event.raw.p + d->at, d->n) : span_of("", 0);
    bool holding = directive_filter_holding(c->filter);
    c->tokens_read = true;
    if (!c->changed && !holding && !tokens_any(t)) {
        tokens_pass(t);
        r->tokens_out += entries.n;
        return;
    }
    if (tokens_take(t, entries, c->length) < 0)
        r->failed = true;
    c->length = 0; /* a second place of the same channel has nothing more */
    tokens_settle(t, !holding);
    if (!d)
        return;
    /* Entries go where their text goes: with buffered text, and when nothing but the tail is left, in an
     * event of its own. */
    bool later = !r->event.whole && (is_buffered(r) || (c->ending && c->text_out == 0 && c->tail_n));
    size_t from = r->scratch.n;
    if (!later) {
        if (buf_add(&r->scratch, buf_span(&t->ready)) < 0)
            r->failed = true;
        buf_free(&t->ready);
    }
    rewrite_change(r, d->at, d->n, from, r->scratch.n - from);
    r->tokens_out += r->scratch.n - from;
}

void channel_rest(struct channel *c)
{
    if (c->held && !c->reported && !c->midway && !c->held->pending.n &&
        !directive_filter_holding(c->filter) && !(c->tokens && tokens_any(c->tokens)))
        drop_held(c);
}

size_t channel_held_bytes(const struct channel *c)
{
    return directive_filter_held_bytes(c->filter) + (c->held ? c->held->pending.n : 0);
}
