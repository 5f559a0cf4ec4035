/*
 * base/sse: a stream in one piece and the same stream cut as the input says give the same blocks, which one
 * after the other are the stream; each block's fields lie inside of it, and joined data has its size and its
 * bytes. Input: a count of cuts, the sizes of the pieces, the stream.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/buf.h"
#include "base/sse.h"
#include "base/xalloc.h"

enum { CAP = 1 << 24 };

#define CHECK(condition)                                                                                     \
    do {                                                                                                     \
        if (!(condition)) {                                                                                  \
            fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition);                                  \
            abort();                                                                                         \
        }                                                                                                    \
    } while (0)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_fields(struct span block, bool first)
{
    struct sse_fields fields;
    sse_parse(block, first, &fields);
    const struct span spans[] = {fields.name, fields.id, fields.data};
    for (size_t i = 0; i < 3; i++)
        if (spans[i].p)
            CHECK(spans[i].p >= block.p && spans[i].p + spans[i].n <= block.p + block.n);
    CHECK((fields.data_lines > 0) == (fields.data.p != NULL));
    CHECK(!fields.name.n ||
          (!memchr(fields.name.p, '\n', fields.name.n) && !memchr(fields.name.p, '\r', fields.name.n)));
    char *room = xmalloc(fields.data.n);
    sse_join(fields.data, room);
    unsigned lines = 1;
    for (size_t i = 0; i < fields.data.n; i++) {
        lines += room[i] == '\n';
        CHECK(room[i] == fields.data.p[i] || room[i] == ' ' || room[i] == '\n');
        CHECK(room[i] != '\r');
    }
    if (fields.data_lines)
        CHECK(lines == fields.data_lines);
    xfree(room);
}

/* The ends of the blocks, as offsets in the stream. `pieces` NULL: all at once. */
static void note_blocks(struct span stream, const uint8_t *pieces, size_t n, struct buf *ends)
{
    struct sse_scan scan = {0};
    size_t start = 0, arrived = 0;
    for (size_t i = 0; i <= n; i++) {
        bool last = i == n;
        arrived = last || pieces[i] > stream.n - arrived ? stream.n : arrived + pieces[i];
        /* Exactly what has arrived, so that a read beyond it is found. */
        char *copy = xmalloc(arrived - start);
        if (arrived > start)
            memcpy(copy, stream.p + start, arrived - start);
        size_t got, done = 0;
        while ((got = sse_block(&scan, span_of(copy + done, arrived - start - done), last)) > 0) {
            CHECK(got <= arrived - start - done);
            check_fields(span_of(copy + done, got), start + done == 0);
            done += got;
            size_t end = start + done;
            buf_addn(ends, &end, sizeof end);
        }
        start += done;
        xfree(copy);
    }
    CHECK(start == stream.n);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 1 || size - 1 < data[0])
        return 0;
    size_t n = data[0];
    struct span stream = span_of((const char *)data + 1 + n, size - 1 - n);
    struct buf whole, cut;
    buf_init(&whole, CAP);
    buf_init(&cut, CAP);
    note_blocks(stream, NULL, 0, &whole);
    note_blocks(stream, data + 1, n, &cut);
    CHECK(whole.n == cut.n && (whole.n == 0 || memcmp(whole.data, cut.data, whole.n) == 0));
    buf_free(&whole);
    buf_free(&cut);
    return 0;
}
