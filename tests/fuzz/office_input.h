#ifndef TESTS_OFFICE_INPUT_H
#define TESTS_OFFICE_INPUT_H
/*
 * Inputs of the readers of documents that are archives. Bytes that begin like a ZIP are the file. Anything
 * else is the text of its parts, one after the other, parted by a line `====`: a fuzzer gets nowhere when it
 * has to guess checksums.
 */
#include <stdint.h>

#include "../unit/extract/zip_made.h"
#include "jobs/renderer.h"

static inline void office_input(const struct renderer_ops *ops, const uint8_t *data, size_t size,
                                const char *const *parts)
{
    struct span input = span_of((const char *)data, size);
    struct render_params params = {.filename = "f"};
    struct zip_member members[8];
    char sentence[RENDER_SENTENCE] = "";
    struct buf zip, out;
    size_t n = 0;
    buf_init(&zip, 1 << 26);
    buf_init(&out, ops->limits.out_bytes);
    if (!span_starts(input, "PK")) {
        for (struct span rest = input; parts[n]; n++) {
            const char *end = rest.n ? memmem(rest.p, rest.n, "\n====\n", 6) : NULL;
            size_t length = end ? (size_t)(end - rest.p) : rest.n;
            members[n] = (struct zip_member){.name = parts[n], .bytes = span_of(rest.p, length)};
            rest = span_from(rest, end ? length + 6 : length);
            if (!end) {
                n++;
                break;
            }
        }
        zip_make(&zip, members, n);
        input = buf_span(&zip);
    }
    enum render_status status = ops->render(input, &params, &out, sentence);
    if (status == RENDER_FAILED || (status != RENDER_OK && !sentence[0]))
        __builtin_trap();
    buf_free(&zip);
    buf_free(&out);
}

#endif
