#include "base/base64.h"

enum { NO_DIGIT = 64, BLANK = 65, PAD = 66, URL_DIGIT = 0x80 /* of the other alphabet */ };

struct digits {
    unsigned char of[256];
};

static void make_digits(struct digits *d)
{
    static const char alphabet[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    memset(d->of, NO_DIGIT, sizeof d->of);
    for (unsigned char i = 0; i < 64; i++)
        d->of[(unsigned char)alphabet[i]] = i;
    d->of['-'] = URL_DIGIT | 62;
    d->of['_'] = URL_DIGIT | 63;
    d->of[' '] = d->of['\t'] = d->of['\r'] = d->of['\n'] = BLANK;
    d->of['='] = PAD;
}

/* Groups of four plain digits, which is nearly all of it; answers how many characters were read. */
static size_t read_groups(const struct digits *d, struct span text, char *to, size_t *n)
{
    const unsigned char *p = (const unsigned char *)text.p;
    size_t i = 0;
    for (; i + 4 <= text.n; i += 4) {
        unsigned a = d->of[p[i]], b = d->of[p[i + 1]], c = d->of[p[i + 2]], e = d->of[p[i + 3]];
        if ((a | b | c | e) & ~63u)
            break;
        unsigned bits = a << 18 | b << 12 | c << 6 | e;
        to[*n] = (char)(bits >> 16);
        to[*n + 1] = (char)(bits >> 8);
        to[*n + 2] = (char)bits;
        *n += 3;
    }
    return i;
}

int base64_read(struct span text, struct buf *out, bool *canonical)
{
    struct digits d;
    unsigned bits = 0, have = 0, pad = 0;
    size_t n = 0;
    bool plain = true;
    make_digits(&d);
    char *to = buf_reserve(out, text.n / 4 * 3 + 3);
    if (!to)
        return -1;
    for (size_t i = 0; i < text.n; i++) {
        if (have == 0 && !pad) {
            i += read_groups(&d, span_from(text, i), to, &n);
            if (i == text.n)
                break;
        }
        unsigned digit = d.of[(unsigned char)text.p[i]];
        plain = plain && (digit < 64 || digit == PAD);
        if (digit == BLANK)
            continue;
        if (digit == PAD && have >= 2 && have + pad < 4) {
            pad++;
            continue;
        }
        if (digit == NO_DIGIT || digit == PAD || pad)
            return -1;
        bits = bits << 6 | (digit & 63);
        if (++have == 4) {
            to[n++] = (char)(bits >> 16);
            to[n++] = (char)(bits >> 8);
            to[n++] = (char)bits;
            have = bits = 0;
        }
    }
    if (have == 1 || (pad && have + pad != 4))
        return -1;
    if (have >= 2)
        to[n++] = (char)(bits >> (have == 2 ? 4 : 10));
    if (have == 3)
        to[n++] = (char)(bits >> 2);
    /* Digits may carry bits that belong to no byte. */
    bool rest = have == 2 ? bits & 15 : have == 3 ? bits & 3 : false;
    *canonical = plain && !rest && (have == 0 || have + pad == 4);
    buf_commit(out, n);
    return 0;
}

/* ---- as models write it ---- */

/* What follows "data:…;base64,". */
static struct span after_data_url(struct span text)
{
    while (text.n && strchr(" \t\r\n", text.p[0]))
        text = span_from(text, 1);
    if (text.n < 5 || strncasecmp(text.p, "data:", 5) != 0)
        return text;
    const char *comma = memchr(text.p, ',', text.n < 256 ? text.n : 256);
    return comma ? span_from(text, (size_t)(comma - text.p) + 1) : text;
}

static struct span without_padding(struct span text)
{
    while (text.n && strchr("= \t\r\n", text.p[text.n - 1]))
        text.n--;
    return text;
}

int base64_read_leniently(struct span text, struct buf *out)
{
    bool canonical;
    return base64_read(without_padding(after_data_url(text)), out, &canonical);
}

/* ---- as providers want it ---- */

/* Without a branch or a table, so that it becomes one of vectors. */
static bool is_alphabet(const unsigned char *p, size_t n)
{
    unsigned char bad = 0;
    for (size_t i = 0; i < n; i++) {
        unsigned char c = p[i];
        unsigned char letter = (unsigned char)((c | 32) - 'a') < 26, digit = (unsigned char)(c - '0') < 10;
        bad |= (unsigned char)!(letter | digit | (c == '+') | (c == '/'));
    }
    return !bad;
}

bool base64_is_canonical(struct span text, size_t *n)
{
    char last[4];
    struct buf end;
    bool canonical = false;
    if (text.n % 4 || !text.n || !is_alphabet((const unsigned char *)text.p, text.n - 4))
        return false;
    memcpy(last, text.p + text.n - 4, sizeof last);
    buf_init(&end, 8);
    if (base64_read(span_of(last, sizeof last), &end, &canonical))
        canonical = false;
    *n = (text.n - 4) / 4 * 3 + end.n;
    buf_free(&end);
    return canonical;
}
