#include "filters/body.h"

#include "filters/character.h"

enum {
    SLACK = 128,     /* room over the cap */
    LEFT_BLANKS = 4, /* after <<< */
};

void body_init(struct body *b, size_t max)
{
    buf_init(&b->text, max > SIZE_MAX - SLACK ? SIZE_MAX : max + SLACK);
    b->max = max;
    b->too_large = false;
}

void body_free(struct body *b)
{
    buf_free(&b->text);
}

void body_add(struct body *b, const char *p, size_t n)
{
    struct buf *text = &b->text;
    if (n <= text->max - text->n) {
        (void)buf_addn(text, p, n);
        return;
    }
    b->too_large = true;
    if (n > BODY_LAST) {
        buf_cut(text, b->max);
        (void)buf_addn(text, p, b->max - text->n);
        return;
    }
    char last[BODY_LAST];
    memcpy(last, body_last(b, BODY_LAST).p, BODY_LAST);
    buf_cut(text, b->max);
    (void)buf_addn(text, last, BODY_LAST);
    (void)buf_addn(text, p, n);
}

static void add_code(struct body *b, uint32_t c)
{
    char utf8[4];
    size_t n = 0;
    if (c < 0x80) {
        utf8[n++] = (char)c;
    } else if (c < 0x800) {
        utf8[n++] = (char)(0xc0 | c >> 6);
        utf8[n++] = (char)(0x80 | (c & 0x3f));
    } else if (c < 0x10000) {
        utf8[n++] = (char)(0xe0 | c >> 12);
        utf8[n++] = (char)(0x80 | (c >> 6 & 0x3f));
        utf8[n++] = (char)(0x80 | (c & 0x3f));
    } else {
        utf8[n++] = (char)(0xf0 | c >> 18);
        utf8[n++] = (char)(0x80 | (c >> 12 & 0x3f));
        utf8[n++] = (char)(0x80 | (c >> 6 & 0x3f));
        utf8[n++] = (char)(0x80 | (c & 0x3f));
    }
    body_add(b, utf8, n);
}

void body_add_lone(struct body *b, uint32_t high)
{
    if (high)
        add_code(b, 0xfffd);
}

void body_add_character(struct body *b, uint32_t c, uint32_t high)
{
    if (high && character_is_low(c)) {
        add_code(b, 0x10000u + ((high - 0xd800u) << 10) + (c - 0xdc00u));
        return;
    }
    body_add_lone(b, high);
    if (character_is_high(c))
        return;
    if (c >= CHARACTER_BYTE)
        body_add(b, (char[]){(char)(c & 0xff)}, 1);
    else
        add_code(b, character_is_low(c) ? 0xfffd : c);
}

struct span body_last(const struct body *b, size_t n)
{
    return span_from(buf_span(&b->text), b->text.n - n);
}

static void trim(struct buf *text)
{
    static const char *const left[] = {"<<</", "<<<END", "<<<END_", "<<<END "};
    struct span s = buf_span(text);
    for (size_t i = 0; i < sizeof left / sizeof *left; i++) {
        size_t n = strlen(left[i]);
        if (s.n >= n && span_is_nocase(span_from(s, s.n - n), left[i])) {
            buf_cut(text, s.n - n);
            return;
        }
    }
    for (int i = 0; i < LEFT_BLANKS && s.n && (s.p[s.n - 1] == ' ' || s.p[s.n - 1] == '\t'); i++)
        s.n--;
    if (span_ends(s, "<<<"))
        buf_cut(text, s.n - 3);
}

/* Cuts a UTF-8 sequence off that is not complete. */
static void cut_incomplete(struct buf *text)
{
    struct span s = buf_span(text);
    for (size_t back = 1; back <= 3 && back <= s.n; back++) {
        unsigned char byte = (unsigned char)s.p[s.n - back];
        if (byte >= 0xc0) {
            size_t length = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : 2;
            buf_cut(text, length > back ? s.n - back : s.n);
        }
        if (byte < 0x80 || byte >= 0xc0)
            return;
    }
}

void body_close(struct body *b, size_t n, bool closed)
{
    buf_cut(&b->text, b->text.n - n);
    if (closed && !b->too_large)
        trim(&b->text);
    if (b->text.n <= b->max && !b->too_large)
        return;
    b->too_large = true;
    buf_cut(&b->text, b->max);
    cut_incomplete(&b->text);
}
