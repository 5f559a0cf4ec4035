/* What a reply's directives came to, as the client is told. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>

#include <cmocka.h>

#include "filters/report.h"

static const char *said(void (*say)(const struct report *, struct buf *), const struct report *p,
                        struct buf *out)
{
    buf_reset(out);
    say(p, out);
    return buf_cstr(out);
}

static void settle(struct report *p, unsigned number, const char *entry, const char *name, enum flag flag,
                   const char *sentence)
{
    struct reply_artifact a = {.entry = span_str(entry),
                               .filename = span_str(name),
                               .url = span_str(entry ? "http://x/(1) 2" : NULL),
                               .flag = flag,
                               .sentence = span_str(sentence)};
    assert_true(report_settle(p, number, &a));
    assert_false(report_settle(p, number, &a));
}

static void test_order_and_reasons(void **state)
{
    (void)state;
    struct report p = {0};
    struct buf out;
    buf_init(&out, 1 << 16);
    assert_false(report_due(&p));
    for (unsigned i = 0; i < 5; i++)
        assert_int_equal(report_open(&p, 0, 0), i);
    assert_true(report_due(&p));
    assert_int_equal(p.pending, 5);
    settle(&p, 3, "{\n\"n\":3}", "d", FLAG_NONE, NULL);
    settle(&p, 0, "{\"n\":0}", "a", FLAG_NONE, NULL);
    settle(&p, 1, NULL, "b", FLAG_INVALID_CONTENT, "line \"2\"; column 3\n");
    settle(&p, 2, NULL, NULL, FLAG_TOO_MANY, NULL);
    settle(&p, 4, NULL, NULL, FLAG_TOO_MANY, NULL);
    assert_int_equal(p.pending, 0);
    struct reply_artifact none = {.flag = FLAG_NONE};
    assert_false(report_settle(&p, 5, &none));
    p.surplus = 7;
    p.strays = 2;
    assert_string_equal(said(report_members, &p, &out),
                        "\"outbound_artifacts\":[{\"n\":0},{ \"n\":3}],\"flagForReview\":true,\"reason\":\""
                        "invalid_content: line \\\"2\\\", column 3 ; "
                        "too_many: the reply has more files than are allowed; "
                        "stray_marker: a marker that belonged to no file was taken out of the text\"");
    p.sent = true;
    assert_false(report_due(&p));
    report_finish(&p);
    buf_free(&out);
}

static void test_no_more_reasons_than_the_limit(void **state)
{
    (void)state;
    struct report p = {0};
    struct buf out;
    buf_init(&out, 1 << 16);
    for (unsigned i = 0; i < 2 * LIMIT_FLAGS; i++) {
        char sentence[20];
        snprintf(sentence, sizeof sentence, "number %u", i);
        assert_int_equal(report_open(&p, 0, 0), i);
        settle(&p, i, NULL, NULL, FLAG_RENDER_FAILED, sentence);
    }
    report_reasons(&p, false, &out);
    unsigned n = 1;
    for (const char *at = buf_cstr(&out); (at = strstr(at, "; ")); at++)
        n++;
    assert_int_equal(n, LIMIT_FLAGS);
    report_finish(&p);
    buf_free(&out);
}

static void test_sentence_and_links(void **state)
{
    (void)state;
    struct report p = {0};
    struct buf out;
    buf_init(&out, 1 << 16);
    assert_int_equal(report_open(&p, 0, 0), 0);
    assert_int_equal(report_open(&p, 1, 0), 1);
    assert_int_equal(report_open(&p, 0, 0), 2);
    assert_int_equal(report_open(&p, 0, 0), 3);
    settle(&p, 0, "{}", "a \"b\".md", FLAG_NONE, NULL);
    settle(&p, 1, "{}", "other.md", FLAG_NONE, NULL);
    settle(&p, 2, "{}", "c[1]&.md", FLAG_NONE, NULL);
    settle(&p, 3, NULL, NULL, FLAG_STORAGE_FAILED, "The file \"d\" could not be made: the disk is full.");
    assert_int_equal(report_open(&p, 0, 0), 4);
    settle(&p, 4, NULL, NULL, FLAG_STORAGE_FAILED, "no room for it.");
    report_sentence(&p, 0, &out);
    assert_string_equal(buf_cstr(&out),
                        "Attached: a \\\"b\\\".md, c[1]&.md. The file \\\"d\\\" could not be made: "
                        "the disk is full. A file could not be made: no room for it.");
    buf_reset(&out);
    report_links(&p, 0, &out);
    assert_string_equal(buf_cstr(&out), "\\n\\n[a \\\"b\\\".md](http://x/%281%29%202)"
                                        "\\n[c&#91;1&#93;&#38;.md](http://x/%281%29%202)");
    buf_reset(&out);
    report_links(&p, 2, &out);
    assert_int_equal(out.n, 0);
    report_finish(&p);
    buf_free(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_order_and_reasons),
        cmocka_unit_test(test_no_more_reasons_than_the_limit),
        cmocka_unit_test(test_sentence_and_links),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
