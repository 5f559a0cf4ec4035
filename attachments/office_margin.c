#include "attachments/office_margin.h"

#include "attachments/charset.h"

/* Letters of any script, that is, more than a number and what stands around it. */
static bool says_something(struct span text)
{
    for (size_t i = 0, n; i < text.n; i += n) {
        uint32_t c = charset_next(text.p + i, text.p + text.n, &n);
        bool mark = c < 0xc0 || (c >= 0x2000 && c < 0x2c00); /* blanks, dashes, signs */
        if (!mark || ((c | 0x20) >= 'a' && (c | 0x20) <= 'z'))
            return true;
    }
    return false;
}

static uint64_t hash_of(struct span text)
{
    uint64_t hash = 14695981039346656037u;
    for (size_t i = 0; i < text.n; i++)
        hash = (hash ^ (unsigned char)text.p[i]) * 1099511628211u;
    return hash;
}

/* Sections have their own, which say the same most of the time. */
static bool is_new(struct buf *seen, struct span text)
{
    uint64_t hash = hash_of(text), other;
    for (size_t at = 0; at + sizeof other <= seen->n; at += sizeof other) {
        memcpy(&other, seen->data + seen->start + at, sizeof other);
        if (other == hash)
            return false;
    }
    return buf_addn(seen, &hash, sizeof hash) == 0;
}

void office_margin_write(struct markup *m, struct buf *seen, const char *name, struct span text)
{
    while (text.n && (unsigned char)text.p[text.n - 1] <= ' ')
        text.n--;
    while (text.n && (unsigned char)text.p[0] <= ' ')
        text = span_from(text, 1);
    if (!says_something(text) || !is_new(seen, text))
        return;
    markup_quote(m);
    if (memchr(text.p, '\n', text.n)) {
        markup_line(m, "%s:", name);
        markup_raw(m, text);
    } else {
        struct buf line;
        buf_init(&line, EXTRACT_TEXT);
        buf_printf(&line, "%s: ", name);
        buf_add(&line, text);
        markup_raw(m, buf_span(&line));
        buf_free(&line);
    }
    markup_leave(m);
}
