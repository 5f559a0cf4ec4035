#ifndef TESTS_EXTRACT_MADE_H
#define TESTS_EXTRACT_MADE_H
/* Runs an extractor on bytes, or on parts of an archive, and compares what it wrote. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "base/xalloc.h"
#include "jobs/renderer.h"
#include "tests/font_leaks.h"
#include "zip_made.h"

struct text {
    enum render_status status;
    struct buf out;
    char sentence[RENDER_SENTENCE];
};

/* What else is in an archive, NULL name at the end. */
struct part {
    const char *name, *xml;
};

__attribute__((unused)) static struct text extract_bytes(const struct renderer_ops *ops, struct span bytes)
{
    struct text t = {.sentence = ""};
    struct render_params params = {.filename = "f"};
    buf_init(&t.out, ops->limits.out_bytes);
    t.status = ops->render(bytes, &params, &t.out, t.sentence);
    if (t.status != RENDER_OK && !t.sentence[0])
        fail_msg("status %d without a sentence", t.status);
    return t;
}

__attribute__((unused)) static void pack(struct buf *zip, const struct part *parts)
{
    struct zip_member members[32];
    size_t n = 0;
    for (; parts[n].name; n++)
        members[n] = (struct zip_member){parts[n].name, span_str(parts[n].xml), 0, 0, 8};
    buf_init(zip, 1 << 28);
    zip_make(zip, members, n);
}

__attribute__((unused)) static void expect_text(const struct renderer_ops *ops, const struct part *parts,
                                                const char *expected)
{
    struct buf zip;
    pack(&zip, parts);
    struct text t = extract_bytes(ops, buf_span(&zip));
    assert_string_equal(t.sentence, "");
    assert_string_equal(buf_cstr(&t.out), expected);
    assert_int_equal(t.status, RENDER_OK);
    buf_free(&t.out);
    buf_free(&zip);
}

__attribute__((unused)) static void expect_refusal(const struct renderer_ops *ops, struct span bytes,
                                                   enum render_status status, const char *says)
{
    struct text t = extract_bytes(ops, bytes);
    if (t.status != status || !strstr(t.sentence, says))
        fail_msg("status %d, \"%s\" instead of status %d, \"%s\"", t.status, t.sentence, status, says);
    buf_free(&t.out);
}

/* Cut at every offset, an archive is refused with a sentence, or is whole but for what follows its end. */
__attribute__((unused)) static void expect_cuts_refused(const struct renderer_ops *ops,
                                                        const struct part *parts)
{
    struct buf zip;
    pack(&zip, parts);
    for (size_t n = 0; n < zip.n; n++) {
        char *copy = xmalloc(n ? n : 1);
        memcpy(copy, buf_span(&zip).p, n);
        struct text t = extract_bytes(ops, span_of(copy, n));
        assert_int_equal(t.status, RENDER_INVALID);
        buf_free(&t.out);
        xfree(copy);
    }
    buf_free(&zip);
}

#endif
