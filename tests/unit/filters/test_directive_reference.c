/*
 * The directive filter against a second implementation of product.md §3, which has the whole text at once and
 * looks for things with plain searches: on all short sequences of fragments of markers, and on many long
 * ones.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "tests/unit/filters/directive_run.h"

/* ---- looking at one place of the text: each answers where what begins at p ends, or NULL ---- */

struct text {
    const char *start, *end;
};

static const char *literal(const char *p, const char *end, const char *s)
{
    size_t n = strlen(s);
    return (size_t)(end - p) >= n && strncasecmp(p, s, n) == 0 ? p + n : NULL;
}

static const char *some(const char *p, const char *end, const char *set, int most)
{
    while (most-- > 0 && p < end && *p && strchr(set, *p))
        p++;
    return p;
}

static const char *suffix(const char *p, const char *end)
{
    return some(p, end, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_", 8);
}

static const char *closing(const char *p, const char *end)
{
    p = literal(p, end, "HW_ATTACHMENT");
    return p ? literal(some(suffix(p, end), end, " \t", 4), end, ">>>") : NULL;
}

/* Without `>>>` behind it. */
static const char *opening(const char *p, const char *end)
{
    p = literal(p, end, "<<<");
    p = p ? literal(some(p, end, " \t", 4), end, "HW_ATTACHMENT") : NULL;
    return p ? suffix(p, end) : NULL;
}

static const char *line_break(const char *p, const char *end)
{
    const char *q = literal(p, end, "\r\n");
    return q ? q : literal(p, end, "\n");
}

static const char *fence_line(const char *p, const char *end)
{
    p = literal(p, end, "```");
    for (int i = 0; p && i <= 20 && p < end; i++, p++) {
        if (line_break(p, end))
            return line_break(p, end);
        if (strchr("`<>\r", *p) || (unsigned char)*p >= 0x80) /* the texts here are ASCII */
            return NULL;
    }
    return NULL;
}

static const char *escaped_space(const char *p, const char *end)
{
    return end - p >= 2 && p[0] == '\\' && (p[1] == 'n' || p[1] == 'r' || p[1] == 't') ? p + 2 : NULL;
}

/* A fence line whose line break may be escaped. */
static const char *loose_fence_line(const char *p, const char *end)
{
    int n = 0;
    for (p = literal(p, end, "```"); p && p < end; n++) {
        const char *q = p;
        if (end - q >= 2 && (*q == '\r' || literal(q, end, "\\r"))) {
            q += *q == '\r' ? 1 : 2;
            return *q == '\n' ? q + 1 : q < end ? literal(q, end, "\\n") && q[1] == 'n' ? q + 2 : NULL : NULL;
        }
        if (*q == '\n')
            return q + 1;
        if (escaped_space(q, end) && q[1] == 'n')
            return q + 2;
        if (n == 20 || strchr("`<>", *q) || (*q == '\\' && !(escaped_space(q, end) && q[1] == 't')))
            return NULL;
        p = *q == '\\' ? q + 2 : q + 1;
    }
    return NULL;
}

/* Whether a directive starts behind the marker that ends at p. */
static bool starts(const char *p, const char *end, bool *escaped)
{
    const char *within = end - p > 64 ? p + 64 : end;
    bool fence = false;
    *escaped = false;
    while (p < within && *p != '{') {
        const char *q = escaped_space(p, within), *line = fence ? NULL : loose_fence_line(p, within);
        if (q)
            *escaped = true;
        else if (strchr(" \t\n\r\v\f", *p))
            q = p + 1;
        if (line) {
            fence = true;
            q = line;
            *escaped |= line[-1] == 'n' || (line[-2] == 'r');
        }
        if (!q)
            return false;
        p = q;
    }
    return p < within;
}

/* ---- the text that is passed on ---- */

struct reference {
    struct outcome o;
    bool fence_open; /* a fence line was removed and nothing kept since */
};

static void keep(struct reference *r, const char *p, const char *end)
{
    for (; p < end; p++) {
        buf_addc(&r->o.out, *p);
        const char *out = r->o.out.data, *last = out + r->o.out.n;
        bool joined = false;
        for (const char *q = last - out > 40 ? last - 40 : out; q < last; q++)
            joined |= run_marker_at(q, last);
        if (joined) {
            buf_cut(&r->o.out, r->o.out.n - 1);
            r->o.stray++;
        } else {
            r->fence_open = false;
        }
    }
}

static bool at_line_start(const struct reference *r)
{
    return r->o.out.n == 0 || r->o.out.data[r->o.out.n - 1] == '\n';
}

/* ---- a directive ---- */

static void give(struct reference *r, char how, const char *p, const char *end)
{
    buf_addc(&r->o.directives, how);
    buf_addc(&r->o.directives, '[');
    buf_addn(&r->o.directives, p, (size_t)(end - p));
    buf_addc(&r->o.directives, ']');
}

static const char *trim(const char *p, const char *end)
{
    static const char *const left[] = {"<<</", "<<<END_", "<<<END ", "<<<END"};
    for (int i = 0; i < 4; i++)
        if (end - p >= (long)strlen(left[i]) && literal(end - strlen(left[i]), end, left[i]))
            return end - strlen(left[i]);
    for (int blanks = 0; blanks <= 4 && end - blanks - 3 >= p; blanks++)
        if (literal(end - blanks - 3, end, "<<<") && some(end - blanks, end, " \t", 4) == end)
            return end - blanks - 3;
    return end;
}

static bool inside_line_start(const char *start, const char *p, bool escaped)
{
    if (p > start && p[-1] == '\n')
        return true;
    if (!escaped || p - start < 2 || p[-1] != 'n')
        return false;
    int backslashes = 0;
    for (const char *q = p - 1; q > start && q[-1] == '\\'; q--)
        backslashes++;
    return backslashes % 2 == 1;
}

/* What may come behind the two closing markers that are only recognised at a line's start. */
static const char *rest_of_marker(const char *name, const char *p, const char *end, bool slash)
{
    const char *q = slash ? literal(p, end, ">>") : closing(name, end);
    return q ? q : p;
}

static const char *after(struct reference *r, const char *p, const char *end, bool line)
{
    const char *q = some(p, end, " \t", 64), *cr = q < end && *q == '\r' ? q + 1 : q;
    if (!line || cr - p > 64 || !line_break(q, end))
        return p;
    p = line_break(q, end);
    if (!r->fence_open)
        return p;
    q = literal(p, end, "```");
    q = q ? some(q, end, " \t", 20) : NULL;
    if (!q || (q < end && !line_break(q, end)))
        return p;
    r->fence_open = false;
    return q < end ? line_break(q, end) : q;
}

/* Whether the metadata, which begins at the first brace, is escaped. */
static bool is_escaped(const char *start, const char *end)
{
    const char *brace = memchr(start, '{', (size_t)(end - start));
    const char *first = brace ? some(brace + 1, end, " \t\r\n\v\f", RUN_MAX) : end;
    return first < end && *first == '\\';
}

/* From behind its opening marker; answers where the text goes on. */
static const char *directive(struct reference *r, const char *start, const char *end, bool escaped)
{
    bool line = at_line_start(r);
    for (const char *p = start; p < end; p++) {
        bool here = inside_line_start(start, p, escaped);
        const char *open = here ? opening(p, end) : NULL, *name = open, *to;
        if (open) {
            name = some(p + 3, end, " \t", 4);
            to = closing(name, end);
            if (!to) {
                give(r, 'U', start, p);
                return directive(r, open, end, escaped);
            }
            give(r, 'C', start, p);
            return after(r, to, end, line);
        }
        to = closing(p, end);
        if (to) {
            give(r, 'C', start, trim(start, p));
            return after(r, to, end, line);
        }
        bool slash = here && literal(p, end, "</HW_ATTACHMENT>");
        if (slash || (here && literal(p, end, ">>>HW_ATTACHMENT"))) {
            give(r, 'C', start, trim(start, p));
            return after(r, rest_of_marker(p + 3, p + 16, end, slash), end, line);
        }
    }
    give(r, 'U', start, end);
    return end;
}

/* The fence line that ends at `marker`, if it stands at a line's start; `from` is where the text not looked
 * at yet begins. */
static const char *fence_before(const struct reference *r, const char *from, const char *marker)
{
    for (const char *p = marker; p-- > from;)
        if ((p > from ? p[-1] == '\n' : at_line_start(r)) && fence_line(p, marker) == marker)
            return p;
    return NULL;
}

static void reference(struct reference *r, struct span text)
{
    const char *from = text.p, *end = text.p + text.n;
    for (const char *p = from; p < end;) {
        const char *to = closing(p, end), *open = opening(p, end);
        if (to) {
            keep(r, from, p);
            r->o.stray++;
            from = p = to;
        } else if (open) {
            bool escaped;
            const char *behind = literal(open, end, ">>>") ? open + 3 : open;
            if (starts(behind, end, &escaped)) {
                const char *fence = fence_before(r, from, p);
                keep(r, from, fence ? fence : p);
                r->fence_open |= fence != NULL;
                from = p = directive(r, behind, end, escaped || is_escaped(behind, end));
            } else {
                keep(r, from, p);
                r->o.stray++;
                from = p = behind;
            }
        } else {
            p++;
        }
    }
    keep(r, from, end);
}

/* ---- comparing ---- */

struct comparison {
    struct directive_filter *filter;
    struct outcome o;
    uint32_t seed;
    size_t texts;
};

static void compare(struct comparison *c, struct span text, bool spelt)
{
    struct reference r = {0};
    struct buf raw, got;
    outcome_init(&r.o);
    buf_init(&raw, RUN_MAX);
    buf_init(&got, RUN_MAX);
    reference(&r, text);
    run_escape(text, spelt ? &c->seed : NULL, &raw);
    run_feed(c->filter, buf_span(&raw), 1 + run_random(&c->seed) % 30);
    directive_filter_finish(c->filter);
    directive_filter_destroy(c->filter); /* behind an open directive the text would go on */
    c->filter = directive_filter_create(&outcome_callbacks, &c->o, RUN_MAX);
    run_unescape(buf_span(&c->o.out), &got);
    bool same =
        got.n == r.o.out.n && (got.n == 0 || memcmp(got.data, r.o.out.data, got.n) == 0) &&
        c->o.directives.n == r.o.directives.n && c->o.stray == r.o.stray &&
        (r.o.directives.n == 0 || memcmp(c->o.directives.data, r.o.directives.data, r.o.directives.n) == 0);
    if (!same)
        fail_msg("text: %.*s\n---- filter, %u stray: %s\n%s\n---- reference, %u stray: %s\n%s", (int)text.n,
                 text.p, c->o.stray, buf_cstr(&got), buf_cstr(&c->o.directives), r.o.stray,
                 buf_cstr(&r.o.out), buf_cstr(&r.o.directives));
    assert_int_equal(c->o.kept, got.n);
    assert_int_equal(c->o.kept + c->o.removed, text.n);
    assert_false(run_has_marker(buf_span(&got)));
    outcome_finish(&r.o);
    outcome_finish(&c->o);
    outcome_init(&c->o);
    buf_free(&raw);
    buf_free(&got);
    c->texts++;
}

static int setup(void **state)
{
    static struct comparison c;
    c = (struct comparison){.seed = 20};
    outcome_init(&c.o);
    c.filter = directive_filter_create(&outcome_callbacks, &c.o, RUN_MAX);
    *state = &c;
    return 0;
}

static int teardown(void **state)
{
    struct comparison *c = *state;
    directive_filter_destroy(c->filter);
    outcome_finish(&c->o);
    return 0;
}

static void compare_sequences(struct comparison *c, const char *const *fragments, unsigned n, unsigned length)
{
    unsigned at[16] = {0};
    for (;;) {
        struct buf text;
        buf_init(&text, RUN_MAX);
        for (unsigned i = 0; i < length; i++)
            buf_adds(&text, fragments[at[i]]);
        compare(c, buf_span(&text), false);
        buf_free(&text);
        unsigned i = 0;
        while (i < length && ++at[i] == n)
            at[i++] = 0;
        if (i == length)
            return;
    }
}

#define NAME "HW_ATTACHMENT"

/* Every sequence of up to five of these. */
static void test_short(void **state)
{
    static const char *const fragments[] = {"<",   "<<<", NAME, ">>>",          ">",  "\n", "{",
                                            "```", " ",   "H",  "W_ATTACHMENT", "</", "x"};
    for (unsigned length = 1; length <= 4; length++)
        compare_sequences(*state, fragments, sizeof fragments / sizeof *fragments, length);
}

/* Every sequence of up to six of larger ones. */
static void test_directives(void **state)
{
    static const char *const fragments[] = {"<<<" NAME, "{}", NAME ">>>", "\n", "```\n", " "};
    for (unsigned length = 1; length <= 6; length++)
        compare_sequences(*state, fragments, sizeof fragments / sizeof *fragments, length);
}

/* And every one of what may stand behind an opening directive. */
static void test_closings(void **state)
{
    static const char *const fragments[] = {
        "<<<" NAME "{\n", "\n</" NAME ">", ("\n>>>" NAME), ">>>", "\n<<<", NAME, "\n", "\\n"};
    for (unsigned length = 1; length <= 4; length++)
        compare_sequences(*state, fragments, sizeof fragments / sizeof *fragments, length);
}

static const char *const all[] = {
    "<",
    "<<",
    "<<<",
    "<<<<",
    ">",
    ">>",
    ">>>",
    "HW_",
    "HW_ATT",
    "ACHMENT",
    "hw_attach",
    "ment",
    NAME,
    NAME,
    NAME ">>>",
    "<<<" NAME,
    "<<<" NAME,
    "<<<" NAME "{",
    "<<<" NAME "\n{}\n",
    NAME ">>>\n",
    "\n<<<" NAME,
    " ",
    "  ",
    "    ",
    "\t",
    "\n",
    "\n",
    "\r\n",
    "\r",
    "```",
    "```\n",
    "\n```js\n",
    "`",
    "{",
    "}",
    "\\n",
    "\\",
    "\\\"",
    "\\r",
    "S",
    "_2",
    "12345678",
    "123456789",
    "END",
    "<<<END_",
    "<<</",
    "\n</" NAME ">",
    "\n>>>" NAME,
    "</",
    "x",
    "text ",
    "\\n{\\\"",
    "---\n",
    "H",
    "                    ",
    "\n                                                            ",
    "T",
    "\\n```\\n",
    "n",
    "xxxxxxxxxxxxxxxxxxxxx",
    "W_ATTACHMENT",
    "<HW",
    "he ",
};

static void test_random(void **state)
{
    struct comparison *c = *state;
    for (int i = 0; i < 40000; i++) {
        struct buf text;
        buf_init(&text, RUN_MAX);
        /* A few fragments at a time, so that they meet again and again. */
        unsigned few = 2 + run_random(&c->seed) % 12, n = 1 + run_random(&c->seed) % 24, choice[16];
        for (unsigned k = 0; k < few; k++)
            choice[k] = run_random(&c->seed) % (sizeof all / sizeof *all);
        for (unsigned k = 0; k < n; k++)
            buf_adds(&text, all[choice[run_random(&c->seed) % few]]);
        compare(c, buf_span(&text), i % 3 == 0);
        buf_free(&text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_short),
        cmocka_unit_test(test_directives),
        cmocka_unit_test(test_closings),
        cmocka_unit_test(test_random),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
