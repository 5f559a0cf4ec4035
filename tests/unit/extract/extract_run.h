#ifndef TESTS_EXTRACT_RUN_H
#define TESTS_EXTRACT_RUN_H
/* Runs an extractor on bytes, outside of any cage. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "jobs/renderer.h"

struct extracted {
    enum render_status status;
    char sentence[RENDER_SENTENCE];
    struct buf out;
};

static struct extracted extract(const struct renderer_ops *ops, const char *format, struct span bytes)
{
    struct extracted e = {.status = RENDER_FAILED};
    struct render_params params = {.format = format, .filename = "file.bin"};
    /* In memory of just its size, so that the sanitizer sees a read behind the end. */
    char *copy = malloc(bytes.n ? bytes.n : 1);
    assert_non_null(copy);
    if (bytes.n)
        memcpy(copy, bytes.p, bytes.n);
    buf_init(&e.out, (size_t)ops->limits.out_bytes);
    e.status = ops->render(span_of(copy, bytes.n), &params, &e.out, e.sentence);
    free(copy);
    return e;
}

static void expect_text(const struct renderer_ops *ops, const char *format, struct span bytes,
                        const char *text)
{
    struct extracted e = extract(ops, format, bytes);
    if (e.status != RENDER_OK)
        print_message("%s\n", e.sentence);
    assert_int_equal(e.status, RENDER_OK);
    assert_string_equal(buf_cstr(&e.out), text);
    buf_free(&e.out);
}

static void expect_refusal(const struct renderer_ops *ops, const char *format, struct span bytes,
                           enum render_status status, const char *sentence)
{
    struct extracted e = extract(ops, format, bytes);
    assert_int_equal(e.status, status);
    assert_string_equal(e.sentence, sentence);
    buf_free(&e.out);
}

/* Whatever is cut off, it is text or a refusal with a sentence. */
static inline void cut_everywhere(const struct renderer_ops *ops, const char *format, struct span bytes)
{
    for (size_t n = 0; n <= bytes.n; n++) {
        struct extracted e = extract(ops, format, span_of(bytes.p, n));
        assert_int_not_equal(e.status, RENDER_FAILED);
        assert_true((e.status == RENDER_OK) == (e.sentence[0] == '\0'));
        buf_free(&e.out);
    }
}

#endif
