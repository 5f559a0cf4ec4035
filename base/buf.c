#include "base/buf.h"

#include <stdio.h>

#include "base/xalloc.h"

enum { FIRST_ROOM = 256 };

void buf_init(struct buf *b, size_t max)
{
    *b = (struct buf){.max = max};
}

void buf_free(struct buf *b)
{
    xfree(b->data);
    buf_init(b, b->max);
}

void buf_reset(struct buf *b)
{
    b->start = b->n = 0;
    b->over = false;
}

/* One byte more than asked for is always there, for buf_cstr. */
char *buf_reserve(struct buf *b, size_t n)
{
    if (b->over || n > b->max - b->n) {
        b->over = true;
        return NULL;
    }
    /* Moved only when at least as much was consumed as is moved: else a long queue would move with every
     * append. */
    if (b->start && b->start >= b->n && b->start + b->n + n + 1 > b->room) {
        memmove(b->data, b->data + b->start, b->n);
        b->start = 0;
    }
    if (b->start + b->n + n + 1 > b->room) {
        size_t room = b->room ? b->room : FIRST_ROOM;
        while (room < b->start + b->n + n + 1)
            room *= 2;
        b->data = xrealloc(b->data, room);
        b->room = room;
    }
    return b->data + b->start + b->n;
}

void buf_commit(struct buf *b, size_t n)
{
    b->n += n;
}

int buf_add_grow(struct buf *b, const void *p, size_t n)
{
    if (n == 0)
        return b->over ? -1 : 0;
    char *to = buf_reserve(b, n);
    if (!to)
        return -1;
    memcpy(to, p, n);
    b->n += n;
    return 0;
}

int buf_sink(const char *p, size_t n, void *b)
{
    return buf_addn(b, p, n);
}

int buf_add_number(struct buf *b, uint64_t n)
{
    char digits[20];
    size_t at = sizeof digits;
    do {
        digits[--at] = (char)('0' + n % 10);
        n /= 10;
    } while (n);
    return buf_addn(b, digits + at, sizeof digits - at);
}

int buf_printf(struct buf *b, const char *format, ...)
{
    va_list args, again;
    va_start(args, format);
    va_copy(again, args);
    int n = vsnprintf(NULL, 0, format, args);
    va_end(args);
    char *to = n < 0 ? NULL : buf_reserve(b, (size_t)n);
    if (to) {
        vsnprintf(to, (size_t)n + 1, format, again);
        b->n += (size_t)n;
    }
    va_end(again);
    return to ? 0 : -1;
}

void buf_consume(struct buf *b, size_t n)
{
    b->start += n;
    b->n -= n;
    if (b->n == 0)
        b->start = 0;
}

void buf_cut(struct buf *b, size_t n)
{
    if (n < b->n)
        b->n = n;
}

void buf_move(struct buf *to, struct buf *from)
{
    size_t max = to->max;
    xfree(to->data);
    *to = *from;
    to->max = max;
    *from = (struct buf){.max = from->max};
}

const char *buf_cstr(struct buf *b)
{
    if (!b->data)
        return "";
    b->data[b->start + b->n] = '\0';
    return b->data + b->start;
}
