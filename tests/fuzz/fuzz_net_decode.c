/* A list of codings, the sizes of pieces and rooms, then a body: decoded in pieces and at once, the text must
 * be the same. */
#include <stdint.h>
#include <stdlib.h>

#include "net/decode.h"

enum { OUTPUT = 1 << 20 };

/* Answers the last result; the output stops at its cap. */
static int decode(struct span codings, struct span in, size_t piece, size_t room, struct buf *out,
                  bool *complete)
{
    struct span unknown;
    struct decoder *d = decoder_create(codings, &unknown);
    int result = 0;
    if (!d) {
        if (unknown.p < codings.p || unknown.p + unknown.n > codings.p + codings.n + unknown.n)
            abort();
        return -2;
    }
    while (in.n && result == 0) {
        struct span part = span_of(in.p, in.n < piece ? in.n : piece);
        in = span_from(in, part.n);
        do {
            size_t used = 0, before = out->n;
            result = decoder_feed(d, part, room, &used, out);
            if (used > part.n || out->n - before > room || buf_full(out))
                abort();
            if (result == 0 && used != part.n)
                abort();
            part = span_from(part, used);
        } while (result == 1 && out->n < out->max);
    }
    *complete = decoder_complete(d);
    decoder_destroy(d);
    return result;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 3 || size < 3u + data[0])
        return 0;
    struct span all = span_of((const char *)data, size);
    struct span codings = span_of(all.p + 1, data[0]);
    size_t piece = 1u + data[1 + codings.n], room = 1u + 16u * data[2 + codings.n];
    struct span in = span_from(all, 3 + codings.n);
    struct buf a, b;
    bool a_complete = false, b_complete = false;
    buf_init(&a, OUTPUT);
    buf_init(&b, OUTPUT);
    int first = decode(codings, in, piece, room, &a, &a_complete);
    int second = decode(codings, in, in.n, OUTPUT, &b, &b_complete);
    /* At the cap it depends on the cuts whether what is wrong behind it is seen. */
    bool capped = a.n == OUTPUT || b.n == OUTPUT;
    if (!capped && (first != second || (first == 0 && a_complete != b_complete)))
        abort();
    if (!capped && first == 0 && (a.n != b.n || memcmp(buf_span(&a).p, buf_span(&b).p, a.n) != 0))
        abort();
    buf_free(&a);
    buf_free(&b);
    return 0;
}
