/*
 * The directive filter: the same escaped text whole and in pieces. Input: a byte of settings, then bytes that
 * say where to cut, up to a zero byte; the rest is the text. Aborts when the results differ, when a marker
 * was passed on, when something that was taken out does not add up, or when more is held than may be.
 */
#include "tests/unit/filters/directive_run.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(bool right)
{
    if (!right)
        abort();
}

static bool same(const struct buf *a, const struct buf *b)
{
    return a->n == b->n && (a->n == 0 || memcmp(a->data, b->data, a->n) == 0);
}

/* `fed` is what the filter has seen; a cut may lie inside an escape or a surrogate pair. */
static void check_held(const struct outcome *o, struct span fed)
{
    enum { ESCAPE = 6, UTF8 = 4 };
    struct buf text;
    buf_init(&text, RUN_MAX);
    run_unescape(fed, &text);
    size_t decided = o->kept + o->removed;
    check(decided <= text.n + ESCAPE);
    check(text.n <= decided + UTF8 * (LIMIT_HELD_TEXT + LIMIT_HELD_BLANK) + ESCAPE);
    buf_free(&text);
}

static void check_kept(const struct outcome *o, struct span raw)
{
    struct buf text, whole;
    buf_init(&text, RUN_MAX);
    buf_init(&whole, RUN_MAX);
    run_unescape(buf_span(&o->out), &text);
    run_unescape(raw, &whole);
    check(!run_has_marker(buf_span(&text)));
    check(o->kept + o->removed == whole.n);
    buf_free(&text);
    buf_free(&whole);
}

/* The text as the inside of a JSON string: a backslash that begins no escape becomes a slash. */
static void repair(struct span s, struct buf *out)
{
    for (size_t i = 0; i < s.n; i++) {
        uint32_t c;
        bool letter = s.p[i] == '\\' && i + 1 < s.n && s.p[i + 1] && strchr("\"\\/bfnrt", s.p[i + 1]);
        if (letter)
            buf_addc(out, s.p[i++]);
        else if (s.p[i] == '\\' && run_digits(span_from(s, i), 0, &c) != 0) {
            buf_addc(out, '/');
            continue;
        }
        buf_addc(out, s.p[i]);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const uint8_t *zero = size > 1 ? memchr(data + 1, 0, size - 1) : NULL;
    if (!zero || size > 1 << 16)
        return 0;
    size_t cuts = (size_t)(zero - data) - 1, max = data[0] & 1 ? 1u << 20 : data[0];
    struct buf repaired;
    buf_init(&repaired, RUN_MAX);
    repair(span_of((const char *)zero + 1, size - cuts - 2), &repaired);
    struct span raw = buf_span(&repaired);
    struct outcome whole, cut;
    outcome_init(&whole);
    outcome_init(&cut);
    struct directive_filter *f = directive_filter_create(&outcome_callbacks, &whole, max);
    run_feed(f, raw, raw.n + 1);
    directive_filter_finish(f);
    directive_filter_destroy(f);
    f = directive_filter_create(&outcome_callbacks, &cut, max);
    for (size_t at = 0, i = 0; at < raw.n; i++) {
        size_t n = cuts ? data[1 + i % cuts] : 1;
        n = n < raw.n - at ? n : raw.n - at;
        run_feed(f, span_of(raw.p + at, n), n);
        at += n;
        if (raw.n < 1024)
            check_held(&cut, span_of(raw.p, at));
    }
    directive_filter_finish(f);
    directive_filter_destroy(f);
    check(same(&whole.out, &cut.out) && same(&whole.directives, &cut.directives) && whole.stray == cut.stray);
    check(whole.kept == cut.kept && whole.removed == cut.removed);
    check_kept(&whole, raw);
    outcome_finish(&whole);
    outcome_finish(&cut);
    buf_free(&repaired);
    return 0;
}
