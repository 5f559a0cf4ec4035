/* Archives that say what is not true, and some that do. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "attachments/archive.h"

#include "base/xalloc.h"
#include "zip_made.h"

static struct extraction x;
static char sentence[RENDER_SENTENCE];

static struct archive *open_made(struct buf *zip, const struct zip_member *members, size_t n)
{
    buf_init(zip, 1 << 28);
    zip_make(zip, members, n);
    sentence[0] = '\0';
    extraction_init(&x, sentence, EXTRACT_NODES);
    return archive_open(buf_span(zip), &x);
}

static void members_are_found_and_read(void **state)
{
    (void)state;
    static const struct zip_member members[] = {
        {.name = "word/document.xml", .bytes = {"hello hello hello", 17}, .method = 8},
        {.name = "A.txt", .bytes = {"a", 1}},
        {.name = "word\\other.xml", .bytes = {"o", 1}},
        {.name = "empty", .bytes = {"", 0}},
    };
    struct buf zip, out;
    struct archive *a = open_made(&zip, members, 4);
    assert_non_null(a);
    buf_init(&out, 100);
    assert_int_equal(archive_count(a), 4);
    assert_string_equal(archive_name(a, 0), "A.txt");
    assert_string_equal(archive_find(a, "Word/Document.XML"), "word/document.xml");
    assert_null(archive_find(a, "word/document.xm"));
    assert_int_equal(archive_load(a, "word/document.xml", &out), 0);
    assert_int_equal(archive_load(a, "word/other.xml", &out), 0);
    assert_int_equal(archive_load(a, "empty", &out), 0);
    assert_string_equal(buf_cstr(&out), "hello hello helloo");
    assert_int_equal(x.inflated, 18);
    assert_int_equal(archive_load(a, "none", &out), -1);
    assert_string_equal(sentence, "is damaged: none is missing.");
    archive_close(a);
    buf_free(&out);
    buf_free(&zip);
}

static void refused(const struct zip_member *members, size_t n, enum render_status status, const char *says)
{
    struct buf zip, out;
    struct archive *a = open_made(&zip, members, n);
    buf_init(&out, 1 << 28);
    if (a)
        assert_int_equal(archive_load(a, "a", &out), -1);
    assert_int_equal(x.status, status);
    if (!strstr(sentence, says))
        fail_msg("%s: says %s", says, sentence);
    archive_close(a);
    buf_free(&out);
    buf_free(&zip);
}

static void lies_are_refused(void **state)
{
    (void)state;
    static const struct span text = {"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", 54};
    const struct {
        struct zip_member members[2];
        enum render_status status;
        const char *says;
    } cases[] = {
        {{{"a", text, 10, 0, 8}, {"b", text, 0, 0, 0}}, RENDER_INVALID, "does not have the 10 bytes"},
        {{{"a", text, 1000, 0, 8}, {"b", text, 0, 0, 0}}, RENDER_INVALID, "is damaged: a "},
        {{{"a", text, 200 << 20, 0, 8}, {"b", text, 0, 0, 0}},
         RENDER_LIMIT,
         "has 209715200 bytes; at most 134217728"},
        {{{"a", text, 0, 1, 0}, {"b", text, 0, 0, 0}}, RENDER_INVALID, "is encrypted; remove the password"},
        {{{"a", text, 0, 0, 12}, {"b", text, 0, 0, 0}}, RENDER_INVALID, "method 12"},
        {{{"a", text, 0, 0, 0}, {"a", text, 0, 0, 0}}, RENDER_INVALID, "two files of the name a."},
        {{{"a", text, 0, 0, 0}, {"x/../../b", text, 0, 0, 0}}, RENDER_INVALID, "leads out of it: x/../../b."},
        {{{"a", text, 0, 0, 0}, {"/etc/b", text, 0, 0, 0}}, RENDER_INVALID, "leads out of it: /etc/b."},
        {{{"a", text, 0, 0, 0}, {"", text, 0, 0, 0}}, RENDER_INVALID, "without a proper name"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        refused(cases[i].members, 2, cases[i].status, cases[i].says);
}

static void a_bomb_is_stopped_by_count(void **state)
{
    (void)state;
    char *zeros = xcalloc(1, 120 << 20);
    struct zip_member members[3];
    struct buf zip;
    for (int i = 0; i < 3; i++)
        members[i] = (struct zip_member){i == 0 ? "a" : i == 1 ? "b" : "c", {zeros, 120 << 20}, 0, 0, 8};
    struct archive *a = open_made(&zip, members, 3);
    assert_non_null(a);
    assert_true(zip.n < 1 << 20);
    struct buf out;
    for (int i = 0; i < 3; i++) {
        buf_init(&out, 1 << 28);
        assert_int_equal(archive_load(a, members[i].name, &out), i == 2 ? -1 : 0);
        buf_free(&out);
    }
    assert_int_equal(x.status, RENDER_LIMIT);
    archive_close(a);
    buf_free(&zip);
    xfree(zeros);
}

static void what_is_no_archive_is_refused(void **state)
{
    (void)state;
    static const char package[] = "\xd0\xcf\x11\xe0....E\0n\0c\0r\0y\0p\0t\0e\0d\0P\0a\0c\0k\0a\0g\0e\0";
    const struct {
        struct span bytes;
        const char *says;
    } cases[] = {
        {{package, sizeof package}, "is encrypted"},
        {{package, 20}, "old binary kind"},
        {{"PK\3\4 and nothing more", 20}, "directory is missing"},
        {{"", 0}, "directory is missing"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        extraction_init(&x, sentence, EXTRACT_NODES);
        assert_null(archive_open(cases[i].bytes, &x));
        assert_int_equal(x.status, RENDER_INVALID);
        assert_non_null(strstr(sentence, cases[i].says));
    }
}

static void every_cut_is_refused(void **state)
{
    (void)state;
    static const struct zip_member members[] = {{"a", {"text", 4}, 0, 0, 8}, {"b", {"more", 4}, 0, 0, 0}};
    struct buf zip, out;
    struct archive *a = open_made(&zip, members, 2);
    archive_close(a);
    for (size_t n = 0; n < zip.n; n++) {
        extraction_init(&x, sentence, EXTRACT_NODES);
        buf_init(&out, 100);
        a = archive_open(span_of(buf_span(&zip).p, n), &x);
        assert_true(!a || archive_load(a, "a", &out) == 0 || x.status == RENDER_INVALID);
        archive_close(a);
        buf_free(&out);
    }
    buf_free(&zip);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(members_are_found_and_read), cmocka_unit_test(lies_are_refused),
        cmocka_unit_test(a_bomb_is_stopped_by_count), cmocka_unit_test(what_is_no_archive_is_refused),
        cmocka_unit_test(every_cut_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
