#include "artifacts/utf8.h"

uint32_t utf8_next(const char *p, const char *end, size_t *n)
{
    const unsigned char *u = (const unsigned char *)p;
    size_t left = (size_t)(end - p);
    unsigned need = u[0] < 0x80   ? 0
                    : u[0] < 0xc2 ? 9
                    : u[0] < 0xe0 ? 1
                    : u[0] < 0xf0 ? 2
                    : u[0] < 0xf5 ? 3
                                  : 9;
    *n = 1;
    if (need == 0)
        return u[0];
    if (need == 9 || left <= need)
        return UTF8_INVALID;
    uint32_t c = u[0] & (0x3fu >> need);
    for (unsigned i = 1; i <= need; i++) {
        if ((u[i] & 0xc0) != 0x80)
            return UTF8_INVALID;
        c = c << 6 | (u[i] & 0x3f);
    }
    if ((need == 2 && (c < 0x800 || (c >= 0xd800 && c < 0xe000))) ||
        (need == 3 && (c < 0x10000 || c > 0x10ffff)))
        return UTF8_INVALID;
    *n = need + 1;
    return c;
}

bool utf8_valid(struct span text)
{
    const char *p = text.p, *end = p + text.n;
    while (p < end) {
        if ((unsigned char)*p < 0x80) {
            p++;
            continue;
        }
        size_t n;
        if (utf8_next(p, end, &n) == UTF8_INVALID && n == 1)
            return false;
        p += n;
    }
    return true;
}

size_t utf8_put(uint32_t c, char out[UTF8_MAX])
{
    if (c < 0x80) {
        out[0] = (char)c;
        return 1;
    }
    if (c < 0x800) {
        out[0] = (char)(0xc0 | c >> 6);
        out[1] = (char)(0x80 | (c & 0x3f));
        return 2;
    }
    if ((c >= 0xd800 && c < 0xe000) || c > 0x10ffff)
        c = UTF8_INVALID;
    if (c < 0x10000) {
        out[0] = (char)(0xe0 | c >> 12);
        out[1] = (char)(0x80 | (c >> 6 & 0x3f));
        out[2] = (char)(0x80 | (c & 0x3f));
        return 3;
    }
    out[0] = (char)(0xf0 | c >> 18);
    out[1] = (char)(0x80 | (c >> 12 & 0x3f));
    out[2] = (char)(0x80 | (c >> 6 & 0x3f));
    out[3] = (char)(0x80 | (c & 0x3f));
    return 4;
}

size_t utf8_cut(struct span text, size_t max)
{
    if (text.n <= max)
        return text.n;
    size_t n = max;
    while (n && max - n < UTF8_MAX && ((unsigned char)text.p[n] & 0xc0) == 0x80)
        n--;
    return n;
}

bool utf8_invisible(uint32_t c)
{
    return c < 0x20 || (c >= 0x7f && c < 0xa0) || c == 0xad || c == 0x61c || c == 0x180e ||
           (c >= 0x200b && c <= 0x200f) || (c >= 0x2028 && c <= 0x202e) || (c >= 0x2060 && c <= 0x206f) ||
           (c >= 0xfe00 && c <= 0xfe0f) || c == 0xfeff || (c >= 0xfff9 && c <= 0xfffb) ||
           (c >= 0xe0000 && c <= 0xe0fff);
}

bool utf8_blank(uint32_t c)
{
    return c == ' ' || c == '\t' || c == 0xa0 || c == 0x1680 || (c >= 0x2000 && c <= 0x200a) || c == 0x202f ||
           c == 0x205f || c == 0x3000;
}
