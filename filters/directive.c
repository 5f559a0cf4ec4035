/*
 * The directive filter. The grammar's automata are in filters/marker.c; here is what becomes of the text.
 *
 *   TEXT   an opening marker: LOOK
 *   LOOK   a `{`: OPEN; something else: the marker is stray, and TEXT again
 *   OPEN   a closing marker: AFTER; another opening marker at a line's start: the first is unterminated, and
 * OPEN afresh AFTER  all that goes with the directive is gone: TEXT; something else: TEXT again
 *
 * Text that is not decided yet stays as raw bytes between `hold` and `at` of a run; when a feed ends it is
 * copied to `held`. When what it was held for does not come, the run goes back to `hold` and reads it again
 * as text ("again"), so that it is searched for markers too. That happens at most once for each marker that
 * was removed, over at most some 100 characters, so the work stays linear. Everything goes through run_keep
 * or run_drop once and in order.
 *
 * The join rule (product.md §3): `out` is a second marker automaton that runs over what is passed on; the
 * character with which it would find a marker is dropped. Before the first removal it cannot find any, since
 * `in` finds them first.
 *
 * Choices where product.md §3 says nothing:
 * - Whether a directive begins at a line's start is told from the text that is passed on, so that what was
 * removed before it does not count: `\n<directive><directive>\n` leaves `\n`. A line's start is the text's
 * start, or behind a line feed.
 * - A fence line goes when its directive starts, also when that is never closed: a fence is no prose, and an
 * open one would swallow the rest of the reply. The closing fence may stand behind a directive that follows
 * at once, or that cut off the first one.
 * - The information string of a fence line holds neither backticks nor `<` or `>`. The fence line behind an
 * opening marker need not be at a line's start.
 * - The `{` is one of the first 64 characters behind the marker; \n, \r, \t are two characters each there.
 * - An opening marker at a line's start inside a directive begins another, whatever follows it: if that is no
 * metadata, the text up to the closing marker is the invalid directive's, and no byte of it is passed on.
 * - A blank is a space or a tab. Zero-width characters and no-break spaces in a marker make it plain text.
 * - Line breaks are LF and CRLF. Lines in a directive are also escaped line breaks, when its metadata is
 * escaped.
 * - Blanks behind a directive go only if a line break follows within 64 characters.
 * - `>>` behind `</HW_ATTACHMENT>`, and what makes `>>>HW_ATTACHMENT` an ordinary closing marker as well, go
 * with it.
 */
#include "filters/directive.h"

#include <stdint.h>

#include "base/xalloc.h"
#include "filters/body.h"
#include "filters/character.h"
#include "filters/marker.h"

enum {
    HELD_RAW = 8192, /* more than all that can be held, every character spelt \uXXXX, and a piece */
    PIECE = 256,     /* bytes read at a time while something is held */
};

enum mode { MODE_TEXT, MODE_LOOK, MODE_OPEN, MODE_AFTER };

struct directive_filter {
    const struct directive_callbacks *callbacks;
    void *arg;
    struct buf held; /* raw text not decided yet */
    struct body body;
    struct marker in, out;
    union {
        struct marker_lookahead look;
        struct marker_inside inside;
        struct marker_after after;
    };
    struct marker_fence fence;
    uint16_t done;       /* bytes of `held` that the automata have seen */
    uint16_t units;      /* characters between hold and at */
    uint16_t high;       /* the last character decided, if it was a high surrogate */
    uint8_t marker;      /* characters of the opening marker that is looked behind */
    uint8_t fence_units; /* of the fence line before it */
    uint8_t mode;
    bool line;   /* what was passed on ends at a line's start */
    bool fenced; /* a fence line was removed, and nothing passed on since */
    bool rest; /* the text ended since the directive, or its marker, began: nothing is handed out any more */
};

/* One pass over contiguous raw text. [emit, hold) is passed on but not handed out yet (empty unless
 * fate_kept), [hold, at) is held. */
struct run {
    const char *emit, *hold, *at, *end;
    bool last; /* nothing follows: an escape that is not complete will not be */
    bool fate_kept;
    size_t fate, fate_points;
};

/* ---- what becomes of a character ---- */

static void run_flush(struct directive_filter *f, struct run *r)
{
    if (r->hold != r->emit)
        f->callbacks->text(f->arg, span_of(r->emit, (size_t)(r->hold - r->emit)));
    r->emit = r->hold;
    if (r->fate && f->callbacks->fate)
        f->callbacks->fate(f->arg, r->fate, r->fate_points, r->fate_kept);
    r->fate = r->fate_points = 0;
}

static void run_fate(struct directive_filter *f, struct run *r, size_t bytes, size_t points, bool kept)
{
    if (r->fate_kept != kept)
        run_flush(f, r);
    r->fate_kept = kept;
    r->fate += bytes;
    r->fate_points += points;
}

static void run_fate_one(struct directive_filter *f, struct run *r, uint32_t c, bool kept)
{
    run_fate(f, r, character_length(c, f->high != 0),
             f->callbacks->count_points && !character_continues(c, f->high != 0), kept);
}

static size_t count_points(const struct directive_filter *f, const char *p, size_t n)
{
    return f->callbacks->count_points ? character_points(p, n) : 0;
}

static void run_drop_one(struct directive_filter *f, struct run *r, struct character ch)
{
    run_fate_one(f, r, ch.c, false);
    r->hold += ch.raw;
    r->emit = r->hold;
    f->high = character_is_high(ch.c) ? (uint16_t)ch.c : 0;
}

/* Takes the first n held characters out. */
static void run_drop(struct directive_filter *f, struct run *r, unsigned n)
{
    struct character ch;
    f->units = (uint16_t)(f->units - n);
    while (n-- && character_read(r->hold, r->end, r->last, &ch))
        run_drop_one(f, r, ch);
}

static void run_stray(struct directive_filter *f, struct run *r)
{
    run_flush(f, r);
    f->callbacks->stray_marker(f->arg);
}

/* Passes the first n held characters on. */
static void run_keep(struct directive_filter *f, struct run *r, unsigned n)
{
    struct character ch;
    f->units = (uint16_t)(f->units - n);
    while (n-- && character_read(r->hold, r->end, r->last, &ch)) {
        struct marker next = f->out;
        if (marker_step(&next, ch.c) != MARKER_NONE) {
            run_drop_one(f, r, ch);
            run_stray(f, r);
            continue;
        }
        f->out = next;
        f->line = ch.c == '\n';
        f->fenced = false;
        run_fate_one(f, r, ch.c, true);
        f->high = character_is_high(ch.c) ? (uint16_t)ch.c : 0;
        r->hold += ch.raw;
    }
}

/* What is held will be read again. */
static void run_again(struct directive_filter *f, struct run *r, enum mode mode)
{
    r->at = r->hold;
    f->units = 0;
    f->mode = (uint8_t)mode;
}

/* ---- an open directive ---- */

static void open_start(struct directive_filter *f, unsigned escaping)
{
    body_init(&f->body, f->body.max);
    f->inside = (struct marker_inside){.escaping = (uint8_t)escaping};
}

/* Hands the directive out without its last `marker` bytes. */
static void open_end(struct directive_filter *f, struct run *r, size_t marker, enum directive_end how)
{
    body_close(&f->body, marker, how == DIRECTIVE_COMPLETE);
    if (how == DIRECTIVE_COMPLETE && f->body.too_large)
        how = DIRECTIVE_TOO_LARGE;
    run_flush(f, r);
    if (!f->rest)
        f->callbacks->directive(f->arg, &f->body.text, how);
    f->rest = false;
    body_free(&f->body);
}

/* An opening marker at a line's start: what stands behind it begins the second directive. */
static void open_second(struct directive_filter *f, struct run *r)
{
    char behind[BODY_LAST];
    unsigned n, length = marker_inside_length(&f->inside, &n);
    unsigned escaping = f->inside.escaping; /* they stand in the same string */
    memcpy(behind, body_last(&f->body, n).p, n);
    open_end(f, r, length, DIRECTIVE_UNTERMINATED);
    open_start(f, escaping);
    body_add(&f->body, behind, n);
}

static void open_step(struct directive_filter *f, struct run *r, struct character ch)
{
    enum marker_end end = marker_inside_step(&f->inside, ch.c);
    if (end == END_SECOND) {
        open_second(f, r);
        end = marker_inside_step(&f->inside, ch.c);
    }
    body_add_character(&f->body, ch.c, f->high);
    f->units++;
    run_drop(f, r, 1);
    if (end == END_OPEN)
        return;
    unsigned behind, length = marker_inside_length(&f->inside, &behind);
    open_end(f, r, length, DIRECTIVE_COMPLETE);
    marker_after_start(&f->after, end, f->line, f->fenced);
    f->mode = marker_after_over(&f->after) ? MODE_TEXT : MODE_AFTER;
}

/* ---- behind an opening marker ---- */

static void look_start(struct directive_filter *f)
{
    f->marker = (uint8_t)marker_live(&f->in);
    f->fence_units = f->fence.state == FENCE_WHOLE ? f->fence.units : 0;
    f->in = (struct marker){0};
    f->fence = (struct marker_fence){0};
    f->look = (struct marker_lookahead){0};
    f->mode = MODE_LOOK;
}

/* No directive starts here: the marker goes, and what is behind it is text. */
static void look_stray(struct directive_filter *f, struct run *r)
{
    if (f->rest) { /* it went at the text's end */
        f->rest = false;
        run_again(f, r, MODE_TEXT);
        return;
    }
    run_keep(f, r, f->fence_units);
    run_drop(f, r, (unsigned)f->marker + f->look.belongs);
    run_stray(f, r);
    run_again(f, r, MODE_TEXT);
}

static void look_step(struct directive_filter *f, struct run *r, uint32_t c)
{
    f->units++;
    enum marker_start start = marker_lookahead_step(&f->look, c);
    if (start == START_NONE) {
        look_stray(f, r);
    } else if (start == START_DIRECTIVE) {
        unsigned escaping = f->look.escaped ? ESCAPING_YES : ESCAPING_UNKNOWN;
        f->fenced |= f->fence_units > 0;
        run_drop(f, r, f->rest ? f->units - 1u : (unsigned)f->fence_units + f->marker + f->look.belongs);
        open_start(f, escaping);
        run_again(f, r, MODE_OPEN);
    }
}

/* ---- behind a directive ---- */

static void after_did(struct directive_filter *f, struct run *r, enum marker_taken taken)
{
    bool over = marker_after_over(&f->after);
    if (taken == AFTER_TAKEN) {
        run_drop(f, r, f->units);
        f->fenced = f->after.fenced;
    }
    if (taken == AFTER_NOT)
        run_again(f, r, over ? MODE_TEXT : MODE_AFTER);
    else if (over)
        f->mode = MODE_TEXT;
}

static void after_step(struct directive_filter *f, struct run *r, uint32_t c)
{
    f->units++;
    after_did(f, r, marker_after_step(&f->after, c));
}

/* ---- running text ---- */

/* A closing marker that closes nothing; it has just become complete. */
static void text_stray(struct directive_filter *f, struct run *r)
{
    unsigned length = marker_live(&f->in);
    f->in = (struct marker){0};
    f->fence = (struct marker_fence){0};
    run_keep(f, r, f->units - length);
    run_drop(f, r, length);
    run_stray(f, r);
}

static void text_step(struct directive_filter *f, struct run *r, uint32_t c)
{
    f->units++;
    enum marker_event event = marker_step(&f->in, c);
    if (event == MARKER_OPENS) {
        look_start(f);
        return;
    }
    if (event == MARKER_CLOSES) {
        text_stray(f, r);
        return;
    }
    unsigned live = marker_live(&f->in);
    if (f->fence.state == FENCE_WHOLE) {
        /* The marker must stand directly behind it. */
        if (live && f->units == f->fence.units + live)
            return;
        f->fence.state = FENCE_NONE;
    } else if (f->fence.state != FENCE_NONE && marker_fence_step(&f->fence, c)) {
        return;
    }
    if (c == '`') {
        run_keep(f, r, f->units - 1u);
        if (f->line) {
            marker_fence_start(&f->fence);
            return;
        }
    }
    run_keep(f, r, f->units - live);
}

/* ---- a run ---- */

/* Escapes that change no automaton that is idle. */
static bool is_plain(struct character ch)
{
    bool letter = ch.c == '<' || (ch.c | 0x20) == 'h' || ch.c == '`';
    return ch.raw > 1 && !letter && (ch.c < 0xd800 || ch.c > 0xdfff);
}

/* Passes over text that changes no automaton, as one span. */
static void plain_text(struct directive_filter *f, struct run *r)
{
    const char *p = r->at;
    size_t bytes = 0, points = 0;
    bool line = f->line;
    while (p < r->end && !(line && *p == '`')) {
        struct character ch;
        size_t n = character_plain(p, (size_t)(r->end - p));
        if (n) {
            line = false;
            bytes += n;
            points += count_points(f, p, n);
            p += n;
        }
        if (p == r->end || !character_read(p, r->end, r->last, &ch) || !is_plain(ch))
            break;
        line = ch.c == '\n';
        bytes += character_length(ch.c, false);
        points += f->callbacks->count_points;
        p += ch.raw;
    }
    if (p == r->at)
        return;
    run_fate(f, r, bytes, points, true);
    f->line = line;
    f->fenced = false;
    f->high = 0;
    r->hold = r->at = p;
}

/* The same inside a directive. */
static void plain_inside(struct directive_filter *f, struct run *r)
{
    size_t n = character_plain(r->at, (size_t)(r->end - r->at));
    if (n == 0)
        return;
    run_fate(f, r, n, count_points(f, r->at, n), false);
    body_add(&f->body, r->at, n);
    r->emit = r->hold = r->at = r->at + n;
}

static void run_all(struct directive_filter *f, struct run *r)
{
    struct character ch;
    for (;;) {
        if (f->units == 0 && r->at < r->end) {
            if (f->mode == MODE_TEXT && marker_idle(&f->in) && marker_idle(&f->out))
                plain_text(f, r);
            else if (f->mode == MODE_OPEN && marker_inside_idle(&f->inside) && !f->high)
                plain_inside(f, r);
        }
        if (r->at >= r->end || !character_read(r->at, r->end, r->last, &ch))
            break;
        r->at += ch.raw;
        switch ((enum mode)f->mode) {
        case MODE_TEXT:
            text_step(f, r, ch.c);
            break;
        case MODE_LOOK:
            look_step(f, r, ch.c);
            break;
        case MODE_OPEN:
            open_step(f, r, ch);
            break;
        case MODE_AFTER:
            after_step(f, r, ch.c);
            break;
        }
    }
    run_flush(f, r);
}

static struct run run_of(struct span s, size_t done)
{
    return (struct run){.emit = s.p, .hold = s.p, .at = s.p + done, .end = s.p + s.n};
}

/* ---- the interface ---- */

static void restart(struct directive_filter *f)
{
    buf_free(&f->held);
    body_free(&f->body);
    f->in = f->out = (struct marker){0};
    f->fence = (struct marker_fence){0};
    f->done = f->units = f->high = 0;
    f->mode = MODE_TEXT;
    f->line = true;
    f->fenced = f->rest = false;
}

struct directive_filter *directive_filter_create(const struct directive_callbacks *callbacks, void *arg,
                                                 size_t max)
{
    struct directive_filter *f = xcalloc(1, sizeof *f);
    f->callbacks = callbacks;
    f->arg = arg;
    body_init(&f->body, max);
    buf_init(&f->held, HELD_RAW);
    restart(f);
    return f;
}

void directive_filter_destroy(struct directive_filter *f)
{
    if (!f)
        return;
    buf_free(&f->held);
    body_free(&f->body);
    xfree(f);
}

/* Nothing is held: reads the input where it stands, and copies only what is held at its end. */
static void feed_direct(struct directive_filter *f, struct span s)
{
    struct run r = run_of(s, 0);
    run_all(f, &r);
    f->done = (uint16_t)(r.at - r.hold);
    if (r.hold < r.end)
        (void)buf_addn(&f->held, r.hold, (size_t)(r.end - r.hold));
}

/* Most tokens: nothing is held, and nothing in them stops anybody. */
static bool feed_plain(struct directive_filter *f, struct span s)
{
    if (f->mode != MODE_TEXT || f->held.n || !marker_idle(&f->in) || !marker_idle(&f->out))
        return false;
    if (s.n == 0 || (f->line && *s.p == '`') || character_plain(s.p, s.n) != s.n)
        return false;
    f->line = f->fenced = false;
    f->high = 0;
    f->callbacks->text(f->arg, s);
    if (f->callbacks->fate)
        f->callbacks->fate(f->arg, s.n, count_points(f, s.p, s.n), true);
    return true;
}

void directive_filter_feed(struct directive_filter *f, struct span escaped)
{
    if (feed_plain(f, escaped))
        return;
    while (escaped.n) {
        if (f->held.n == 0) {
            feed_direct(f, escaped);
            return;
        }
        size_t n = escaped.n < PIECE ? escaped.n : PIECE;
        (void)buf_addn(&f->held, escaped.p, n);
        escaped = span_from(escaped, n);
        struct run r = run_of(buf_span(&f->held), f->done);
        const char *start = r.hold;
        run_all(f, &r);
        f->done = (uint16_t)(r.at - r.hold);
        buf_consume(&f->held, (size_t)(r.hold - start));
        if (f->held.n == 0)
            buf_free(&f->held);
    }
}

/* Leaves the last bytes, which may begin the closing marker, for what may still come. */
static void finish_open(struct directive_filter *f, struct run *r)
{
    char last[BODY_LAST];
    body_add_lone(&f->body, f->high);
    f->high = 0;
    if (marker_inside_second(&f->inside))
        open_second(f, r);
    size_t n = f->body.text.n < BODY_LAST ? f->body.text.n : BODY_LAST;
    if (n)
        memcpy(last, body_last(&f->body, n).p, n);
    open_end(f, r, 0, DIRECTIVE_UNTERMINATED);
    body_init(&f->body, f->body.max);
    body_add(&f->body, last, n);
}

void directive_filter_finish(struct directive_filter *f)
{
    struct run r = run_of(buf_span(&f->held), f->done);
    struct marker_lookahead look = {0};
    bool looking = false;
    r.last = true;
    run_all(f, &r);
    while (f->mode == MODE_LOOK || f->mode == MODE_AFTER) {
        if (f->mode == MODE_LOOK) {
            looking = true;
            look = f->look;
            look_stray(f, &r);
        } else {
            after_did(f, &r, marker_after_end(&f->after));
        }
        run_all(f, &r);
    }
    bool inside = f->mode == MODE_OPEN, line = f->line, fenced = f->fenced;
    if (inside)
        finish_open(f, &r);
    run_keep(f, &r, f->units);
    run_flush(f, &r);
    struct body body = f->body;
    if (inside)
        body_init(&f->body, f->body.max);
    restart(f);
    if (inside) {
        f->body = body;
        f->mode = MODE_OPEN;
        f->line = line;
        f->fenced = fenced;
    } else if (looking) {
        f->look = look;
        f->mode = MODE_LOOK;
        f->marker = f->fence_units = 0;
    }
    f->rest = inside || looking;
}

bool directive_filter_holding(const struct directive_filter *f)
{
    return f->held.n > 0 || (f->mode == MODE_OPEN && !f->rest);
}

bool directive_filter_inside(const struct directive_filter *f)
{
    return f->mode == MODE_OPEN;
}

bool directive_marked(struct span escaped)
{
    const char *p = escaped.p, *end = escaped.n ? p + escaped.n : p;
    struct marker m = {0};
    struct character ch;
    while (p < end) {
        if (marker_idle(&m))
            p += character_plain(p, (size_t)(end - p));
        if (p == end || !character_read(p, end, true, &ch))
            break;
        if (marker_step(&m, ch.c) != MARKER_NONE)
            return true;
        p += ch.raw;
    }
    return false;
}

size_t directive_filter_held_bytes(const struct directive_filter *f)
{
    return f->rest ? 0 : f->body.text.room;
}
