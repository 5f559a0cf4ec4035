/* Renders with one renderer and reads the parts of what it made: for the tests of Office documents. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>
#include <zlib.h>

#include "jobs/renderer.h"
#include "tests/font_leaks.h"

struct made {
    enum render_status status;
    struct buf bytes, part;
    char sentence[RENDER_SENTENCE];
};

__attribute__((unused)) static void render_into(const struct renderer_ops *ops, struct span source,
                                                const struct render_params *params, struct made *m)
{
    m->sentence[0] = '\0';
    buf_init(&m->bytes, ops->limits.out_bytes);
    buf_init(&m->part, 1 << 26);
    m->status = ops->render(source, params, &m->bytes, m->sentence);
}

__attribute__((unused)) static void made_free(struct made *m)
{
    buf_free(&m->bytes);
    buf_free(&m->part);
}

static unsigned little(const char *p, int n)
{
    unsigned v = 0;
    while (n--)
        v = v << 8 | (unsigned char)p[n];
    return v;
}

/* The text of a part, by the archive's directory; NULL: there is none of that name. Checks what the local
 * header says and the part's sum. */
__attribute__((unused)) static const char *part(struct made *m, const char *name)
{
    struct span zip = buf_span(&m->bytes);
    const char *end = zip.p + zip.n - 22, *at = zip.p + little(end + 16, 4);
    assert_memory_equal(end, "PK\5\6", 4);
    for (unsigned i = 0; i < little(end + 10, 2); i++) {
        unsigned packed = little(at + 20, 4), size = little(at + 24, 4), n = little(at + 28, 2);
        const char *local = zip.p + little(at + 42, 4);
        assert_memory_equal(at, "PK\1\2", 4);
        if (n != strlen(name) || memcmp(at + 46, name, n) != 0) {
            at += 46 + n;
            continue;
        }
        assert_memory_equal(local, "PK\3\4", 4);
        assert_memory_equal(local + 6, at + 8, 20);
        buf_reset(&m->part);
        char *to = buf_reserve(&m->part, size + 1);
        assert_non_null(to);
        if (little(at + 10, 2)) {
            z_stream z = {.next_in = (Bytef *)local + 30 + n,
                          .avail_in = packed,
                          .next_out = (Bytef *)to,
                          .avail_out = size + 1};
            assert_int_equal(inflateInit2(&z, -MAX_WBITS), Z_OK);
            assert_int_equal(inflate(&z, Z_FINISH), Z_STREAM_END);
            assert_int_equal(z.total_out, size);
            inflateEnd(&z);
        } else {
            memcpy(to, local + 30 + n, size);
        }
        assert_int_equal(crc32(0, (Bytef *)to, size), little(at + 16, 4));
        buf_commit(&m->part, size);
        return buf_cstr(&m->part);
    }
    return NULL;
}

#define assert_holds(text, words)                                                                            \
    do {                                                                                                     \
        if (!strstr(text, words))                                                                            \
            print_message("not there: %s\nin: %.4000s\n", words, text);                                      \
        assert_non_null(strstr(text, words));                                                                \
    } while (0)
#define assert_lacks(text, words) assert_null(strstr(text, words))
