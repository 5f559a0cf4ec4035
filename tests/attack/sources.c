/* Kinds of hostile sources become sources, and sources become mutants. */
#include "tests/attack/attack.h"

#include <string.h>

uint64_t dice_throw(struct dice *d)
{
    uint64_t z = d->state += 0x9e3779b97f4a7c15ULL;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ULL;
    z = (z ^ z >> 27) * 0x94d049bb133111ebULL;
    return z ^ z >> 31;
}

size_t dice_below(struct dice *d, size_t n)
{
    return (size_t)(dice_throw(d) % n);
}

static const char *const numbers[] = {
    "0",
    "-0",
    "1",
    "-1",
    "1e308",
    "-1e308",
    "1.7976931348623157e308",
    "1e309",
    "-1e999999",
    "5e-324",
    "1e-400",
    "NaN",
    "Infinity",
    "-Infinity",
    "null",
    "0x7fff",
    "007",
    "2147483648",
    "-9223372036854775809",
    "1e",
    "--1",
    "1.2.3",
    "18446744073709551616",
    "1,5",
    "\"1e308\"",
    "true",
    "0.1e-1",
    "12.4%",
    "2026-02-30",
    "0001-01-01",
    "9999-12-31T23:59:60Z",
    "999999999999999999999999999999999999999999999999999999999999999999999999",
};
static const char *const texts[] = {
    "\u202e\u202dturned\u2066\u2067",              /* overrides and isolates that are never closed */
    "e\u0301\u0301\u0301\u0301\u0301\u0301\u0489", /* marks upon marks */
    "\xed\xa0\x80\xed\xb0\x80",                    /* surrogates, which are no UTF-8 */
    "\xc0\xaf\xf8\x88\x80\x80\x80\xff\xfe",        /* longer than needed, and what never occurs */
    "\xe2\x82",                                    /* the beginning of a character */
    "\U0001f468\u200d\U0001f469\u200d\U0001f467\u200d\U0001f466\ufe0f",
    "\U0001f1e9\U0001f1ea\U0001f1eb",     /* a flag and a half */
    "\ufffe\uffff\U0010ffff\ufeff",       /* characters that are none */
    "\1\2\3\x0b\x0c\x1b[31m\x7f\xc2\x85", /* control characters; the first ones stand for themselves */
    "]]></w:t></a:t></t><!--",
    "&#0;&#xD800;&#x110000;&lt;&nbsp;&bogus;",
    ") /S /JavaScript /JS (app.alert(1)) /X (",
    "\\u0000\\ud800\\x",
    "_x0000_ _x005F_ _x0041_",
    "\u05e9\u05dc\u05d5\u05dd abc \u0645\u0631\u062d\u0628\u0627 123",
    "\u0e01\u0e33\u0e49\u0e33 \u0928\u094d\u0924\u094d\u0930\u093f",
    "\u2028\u2029\u00ad\u200b\u200f\u2060",
    "=HYPERLINK(\"http://e.example\")",
    "@SUM(1)|cmd",
    "../../etc/passwd",
    "%s%n%x",
    "\"'`|,;\t",
};
enum { N_NUMBERS = sizeof numbers / sizeof *numbers, N_TEXTS = sizeof texts / sizeof *texts };

static void expand(const char *pattern, size_t n, size_t i, struct dice *d, struct buf *out)
{
    for (; *pattern; pattern++)
        switch (*pattern) {
        case 1:
            buf_add_number(out, i);
            break;
        case 2:
            buf_addc(out, '\0');
            break;
        case 3:
            buf_adds(out, numbers[dice_below(d, N_NUMBERS)]);
            break;
        case 4:
            buf_adds(out, texts[dice_below(d, N_TEXTS)]);
            break;
        case 5:
            buf_addc(out, (char)dice_throw(d));
            break;
        case 6:
            for (size_t k = 0; k < n; k++)
                buf_addc(out, (char)('a' + k % 26));
            break;
        default:
            buf_addc(out, *pattern);
        }
}

static unsigned count(const struct kind *kinds)
{
    unsigned n = 0;
    while (kinds[n].name)
        n++;
    return n;
}

unsigned hostile_count(const struct kind *kinds)
{
    unsigned n = 4 * count(kinds);
    return n < ATTACK_HOSTILE ? ATTACK_HOSTILE : n;
}

const char *hostile_source(const struct kind *kinds, unsigned n, size_t most, struct buf *out)
{
    static const size_t sizes[] = {1, 40, 700, 9000, 150000};
    struct dice d = {n};
    unsigned many = count(kinds);
    const struct kind *k = &kinds[n % many];
    size_t size = sizes[n / many < 5 ? n / many : 4];
    if (k->most && (size > k->most || size == sizes[4]))
        size = k->most;
    if (size > most)
        size = most;
    buf_reset(out);
    expand(k->before, size, 0, &d, out);
    for (size_t i = 0; i < size; i++)
        expand(k->unit, size, i, &d, out);
    expand(k->behind, size, size, &d, out);
    return k->name;
}

/* ---- mutants ---- */

static const char *const tokens[] = {
    "\n",
    "\n\n",
    "|",
    "| --- |\n",
    "```",
    "```chart\n",
    "> ",
    "- ",
    "1. ",
    "    ",
    "#",
    "*",
    "**",
    "_",
    "~~",
    "[^1]",
    "[^1]: ",
    "![x](a.png)",
    "[",
    "](",
    ")",
    "\\",
    "<",
    "<!--",
    "&#",
    ";",
    "{",
    "}",
    "[]",
    ":",
    ",",
    "\"",
    "'",
    "=",
    "\t",
    "\r",
    "---\n",
    "Notes:",
    "<br>",
    "\"type\":",
    "\"data\":",
    "\"rows\":",
    "\"sheets\":",
    "\"columns\":",
    "\"formula\":",
    "\"labels\":",
};
enum { N_TOKENS = sizeof tokens / sizeof *tokens };

/* A part of `s` of at most `most` bytes. */
static struct span part_of(struct span s, size_t most, struct dice *d)
{
    if (!s.n)
        return s;
    size_t at = dice_below(d, s.n), n = 1 + dice_below(d, most);
    return span_of(s.p + at, n < s.n - at ? n : s.n - at);
}

/* What comes in place of a part. */
static void put(struct span part, struct span other, struct dice *d, struct buf *out)
{
    switch (dice_below(d, 9)) {
    case 0:
        break; /* it is gone */
    case 1:
        for (size_t k = 0; k < part.n; k++)
            buf_addc(out, (char)(part.p[k] ^ 1 << dice_below(d, 8)));
        break;
    case 2:
        buf_addc(out, (char)dice_throw(d));
        break;
    case 3:
        for (size_t k = 2 + dice_below(d, dice_below(d, 16) ? 8 : 400); k; k--)
            buf_add(out, part);
        break;
    case 4:
        buf_add(out, part_of(other, 300, d));
        break;
    case 5:
        buf_adds(out, numbers[dice_below(d, N_NUMBERS)]);
        break;
    case 6:
        buf_adds(out, texts[dice_below(d, N_TEXTS)]);
        break;
    case 7:
        buf_adds(out, tokens[dice_below(d, N_TOKENS)]);
        buf_add(out, part);
        break;
    default:
        buf_add(out, part);
        buf_adds(out, tokens[dice_below(d, N_TOKENS)]);
        buf_add(out, part);
    }
}

void mutate(struct span source, struct span other, struct dice *d, struct buf *out)
{
    struct buf now, next;
    buf_init(&now, ATTACK_MUTANT);
    buf_init(&next, ATTACK_MUTANT);
    buf_add(&now, span_of(source.p, source.n < ATTACK_MUTANT ? source.n : ATTACK_MUTANT));
    for (size_t edits = 1 + dice_below(d, 8); edits; edits--) {
        struct span s = buf_span(&now), part = part_of(s, dice_below(d, 4) ? 12 : 400, d);
        size_t at = (size_t)(part.p - s.p);
        buf_reset(&next);
        buf_addn(&next, s.p, at);
        put(part, other, d, &next);
        if (!buf_full(&next))
            buf_addn(&next, s.p + at + part.n, s.n - at - part.n);
        if (!buf_full(&next))
            buf_move(&now, &next);
    }
    buf_reset(out);
    buf_add(out, buf_span(&now));
    buf_free(&now);
    buf_free(&next);
}
