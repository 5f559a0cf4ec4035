#include "base/sse.h"

#ifdef __SSE2__
#include <emmintrin.h>
#endif

static const char BOM[] = "\xef\xbb\xbf";

enum { BOM_SIZE = sizeof BOM - 1 };

/* The first CR or LF from p on, or end. One pass for both: a search for LF alone would read on and on through
 * a stream that ends its lines with CR. */
static inline const char *find_line_end(const char *p, const char *end)
{
#ifdef __SSE2__
    const __m128i lf = _mm_set1_epi8('\n'), cr = _mm_set1_epi8('\r');
    for (; end - p >= 16; p += 16) {
        __m128i v = _mm_loadu_si128((const __m128i *)(const void *)p);
        __m128i hit = _mm_or_si128(_mm_cmpeq_epi8(v, lf), _mm_cmpeq_epi8(v, cr));
        unsigned mask = (unsigned)_mm_movemask_epi8(hit);
        if (mask)
            return p + __builtin_ctz(mask);
    }
#else
    const uint64_t ones = UINT64_MAX / 255, high = ones * 0x80;
    for (; end - p >= 8; p += 8) {
        uint64_t v;
        memcpy(&v, p, sizeof v);
        uint64_t lf = v ^ ones * '\n', cr = v ^ ones * '\r';
        if ((((lf - ones) & ~lf) | ((cr - ones) & ~cr)) & high)
            break;
    }
#endif
    while (p < end && *p != '\n' && *p != '\r')
        p++;
    return p;
}

/*
 * The same by the library's search, which takes far bigger steps: LF first, then whether a CR stands before
 * it. Looks so far only, or a stream without LF would be read to its end for each line.
 */
static inline const char *find_line_end_fast(const char *p, const char *end)
{
    enum { WINDOW = 2048 };
    size_t n = end - p < WINDOW ? (size_t)(end - p) : WINDOW;
    const char *lf = memchr(p, '\n', n);
    if (!lf)
        return find_line_end(p, end);
    const char *cr = memchr(p, '\r', (size_t)(lf - p));
    return cr ? cr : lf;
}

static size_t block_ended(struct sse_scan *scan, size_t n)
{
    *scan = (struct sse_scan){.started = true, .lines = scan->lines};
    return n;
}

size_t sse_block(struct sse_scan *scan, struct span bytes, bool last)
{
    size_t i = scan->seen;
    if (i >= bytes.n)
        return last && bytes.n ? block_ended(scan, bytes.n) : 0;
    if (i == 0) {
        scan->line_empty = true;
        scan->after_cr = false;
        scan->lines = 0;
        if (!scan->started) {
            size_t n = bytes.n < BOM_SIZE ? bytes.n : BOM_SIZE;
            bool begins = memcmp(bytes.p, BOM, n) == 0;
            if (begins && n == BOM_SIZE)
                i = BOM_SIZE;
            else if (begins && !last)
                return 0;
        }
    }

    while (i < bytes.n) {
        char c = bytes.p[i];
        if (c == '\n') {
            if (scan->after_cr)
                scan->after_cr = false; /* the other half of that line's end */
            else if (scan->line_empty)
                return block_ended(scan, i + 1);
            scan->lines += !scan->line_empty;
            scan->line_empty = true;
            i++;
        } else if (c == '\r') {
            if (scan->line_empty) {
                if (i + 1 < bytes.n)
                    return block_ended(scan, i + 1 + (bytes.p[i + 1] == '\n'));
                break; /* this CR is looked at again */
            }
            scan->line_empty = scan->after_cr = true;
            scan->lines++;
            i++;
        } else {
            scan->line_empty = scan->after_cr = false;
            i = (size_t)(find_line_end_fast(bytes.p + i + 1, bytes.p + bytes.n) - bytes.p);
        }
    }
    scan->seen = i;
    return last ? block_ended(scan, bytes.n) : 0;
}

struct line {
    struct span field, value; /* value.p is the line's end when there is no colon */
    const char *next;         /* behind the line's end */
};

static struct line parse_line(const char *p, const char *end)
{
    struct line line;
    const char *stop = find_line_end(p, end);
    const char *colon = memchr(p, ':', (size_t)(stop - p));
    const char *value = colon ? colon + 1 : stop;
    if (value < stop && *value == ' ')
        value++;
    line.field = span_of(p, (size_t)((colon ? colon : stop) - p));
    line.value = span_of(value, (size_t)(stop - value));
    line.next = stop == end ? end : stop + 1 + (*stop == '\r' && stop + 1 < end && stop[1] == '\n');
    return line;
}

void sse_parse(struct span block, bool first_of_stream, struct sse_fields *out)
{
    *out = (struct sse_fields){0};
    const char *p = block.p, *end = block.n ? p + block.n : p;
    if (first_of_stream && span_starts(block, BOM))
        p += BOM_SIZE;
    while (p < end) {
        struct line line = parse_line(p, end);
        if (span_is(line.field, "data")) {
            if (out->data_lines++ == 0)
                out->data.p = line.value.p;
            out->data.n = (size_t)(line.value.p + line.value.n - out->data.p);
        } else if (span_is(line.field, "event")) {
            out->name = line.value;
        } else if (span_is(line.field, "id") &&
                   (!line.value.n || !memchr(line.value.p, '\0', line.value.n))) {
            out->id = line.value;
        }
        p = line.next;
    }
}

void sse_parse_line(struct span block, bool first_of_stream, struct sse_fields *out)
{
    struct span line = block;
    while (line.n && (line.p[line.n - 1] == '\n' || line.p[line.n - 1] == '\r'))
        line.n--;
    if (first_of_stream || line.n < 6 || memcmp(line.p, "data:", 5) != 0) {
        sse_parse(block, first_of_stream, out);
        return;
    }
    line = span_from(line, line.p[5] == ' ' ? 6 : 5);
    *out = (struct sse_fields){.data = line, .data_lines = 1};
}

void sse_join(struct span data, char *room)
{
    const char *p = data.p, *end = data.n ? p + data.n : p;
    if (data.n == 0)
        return;
    memset(room, ' ', data.n);
    const char *stop = find_line_end(p, end);
    memcpy(room, p, (size_t)(stop - p));
    /* The LF before a data line stands where the line end before it stood; lines of other fields leave none.
     */
    const char *joint = stop;
    p = stop == end ? end : stop + 1 + (*stop == '\r' && stop + 1 < end && stop[1] == '\n');
    while (joint < end) {
        struct line line = parse_line(p, end);
        if (span_is(line.field, "data")) {
            room[joint - data.p] = '\n';
            memcpy(room + (line.value.p - data.p), line.value.p, line.value.n);
            joint = line.value.p + line.value.n;
        }
        if (p >= end)
            break;
        p = line.next;
    }
}
