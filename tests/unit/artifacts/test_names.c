/* File names: what is safe, what is the same, how they are sent. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "artifacts/artifact.h"

static void names(void **state)
{
    (void)state;
    static const struct {
        const char *asked, *title, *format, *name;
    } rows[] = {
        {"q3-report.md", "", "md", "q3-report.md"},
        {"../../outside/a.txt", "", "txt", "a.txt"},
        {"sub/dir/b.txt", "", "txt", "b.txt"},
        {"./..//c.txt", "", "txt", "c.txt"},
        {"C:\\temp\\d.txt", "", "txt", "d.txt"},
        {"C:d.txt", "", "txt", "C_d.txt"},
        {"dir/", "", "txt", "dir.txt"},
        {"..", "", "txt", "attachment.txt"},
        {"/", "", "txt", "attachment.txt"},
        {"", "", "md", "attachment.md"},
        {"", "Q3 report", "md", "Q3 report.md"},
        {"", "2024/25: v1.2", "md", "2024_25_ v1.2.md"},
        {"", "Notes on foo.py", "md", "Notes on foo.py.md"},
        {"", "Plan.md", "md", "Plan.md"},
        {".csv", "Sales", "csv", "Sales.csv"},
        {".gitignore", "", "txt", "gitignore.txt"},
        {"a.docx", "", "md", "a.md"},
        {"a.yml", "", "yaml", "a.yml"},
        {"a.JPEG", "", "jpg", "a.JPEG"},
        {"report.v2", "", "md", "report.v2.md"},
        {"script", "", "py", "script.py"},
        {"safe.txt\a.html\n", "", "txt", "safe.txt"},
        {"invoice_\u202egnp.exe", "", "txt", "invoice_gnp.exe.txt"},
        {"a<b>|c?*\".txt", "", "txt", "a_b__c___.txt"},
        {"<<<HW_ATTACHMENT.txt", "", "txt", "___HW_ATTACHMENT.txt"},
        {"con.txt", "", "txt", "_con.txt"},
        {"LPT1", "", "txt", "_LPT1.txt"},
        {"aux .a.txt", "", "txt", "_aux .a.txt"},
        {"console.txt", "", "txt", "console.txt"},
        {" . a . .txt", "", "txt", "a.txt"},
        {"bad\xff\xc3.txt", "", "txt", "bad__.txt"},
        {"\u200b\u200b", "", "txt", "attachment.txt"},
        {"\u043e\u0442\u0447\u0451\u0442 10%.txt", "", "txt", "\u043e\u0442\u0447\u0451\u0442 10%.txt"},
        {"q.zzz", "", NULL, "q.zzz"},
        {"a.docx", "", NULL, "a.docx"},
        {"a", "", NULL, "a"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char name[LIMIT_FILENAME + 1];
        const struct format *f = rows[i].format ? format_find_any(span_str(rows[i].format)) : NULL;
        artifact_name(span_str(rows[i].asked), span_str(rows[i].title), f, name);
        if (strcmp(name, rows[i].name) != 0)
            fail_msg("%s / %s as %s: [%s], wanted [%s]", rows[i].asked, rows[i].title, rows[i].format, name,
                     rows[i].name);
    }
}

static void long_names_are_cut_at_a_character(void **state)
{
    (void)state;
    char asked[1024] = "x", name[LIMIT_FILENAME + 1];
    for (int i = 0; i < 300; i++)
        strncat(asked, "\u00fc", sizeof asked - strlen(asked) - 1);
    strncat(asked, ".csv", sizeof asked - strlen(asked) - 1);
    artifact_name(span_str(asked), SPAN_LIT(""), format_find(SPAN_LIT("csv")), name);
    assert_int_equal(strlen(name), LIMIT_FILENAME - 1); /* one byte is left over beside two-byte letters */
    assert_true(span_ends(span_str(name), "\u00fc.csv"));
}

struct given {
    char names[4][LIMIT_FILENAME + 1];
    size_t n;
};

static bool taken(void *arg, const char *name)
{
    struct given *g = arg;
    for (size_t i = 0; i < g->n; i++)
        if (artifact_name_same(g->names[i], name))
            return true;
    return false;
}

static void equal_names_are_numbered(void **state)
{
    (void)state;
    struct given g = {.names = {"a.txt", "a (2).txt", "plain"}, .n = 3};
    char name[LIMIT_FILENAME + 1] = "A.TXT", other[LIMIT_FILENAME + 1] = "plain";
    artifact_name_unique(name, taken, &g);
    assert_string_equal(name, "A (3).TXT");
    artifact_name_unique(other, taken, &g);
    assert_string_equal(other, "plain (2)");
    char longest[LIMIT_FILENAME + 1];
    memset(longest, 'x', LIMIT_FILENAME);
    longest[LIMIT_FILENAME] = '\0';
    memcpy(longest + LIMIT_FILENAME - 4, ".txt", 4);
    memcpy(g.names[3], longest, sizeof longest);
    g.n = 4;
    artifact_name_unique(longest, taken, &g);
    assert_int_equal(strlen(longest), LIMIT_FILENAME);
    assert_true(span_ends(span_str(longest), "x (2).txt"));
}

static void same_names(void **state)
{
    (void)state;
    static const char *const same[][2] = {
        {"A.txt", "a.TXT"},
        {"\u00fcber.md", "U\u0308BER.md"},
        {"Stra\u00dfe", "STRASSE"},
        {"\u041e\u0422\u0427\u0401\u0422", "\u043e\u0442\u0447\u0451\u0442"},
        {"\u0439", "\u0438\u0306"},
        {"\u039f\u03a3", "\u03bf\u03c2"},
        {"\u1ebf", "E\u0302\u0301"},
        {"\ufb01", "FI"},
        {"\u0130", "i"},
        {"\u01c5", "DZ\u030c"},
        {"\u0152", "\u0153"},
    };
    for (size_t i = 0; i < sizeof same / sizeof same[0]; i++)
        if (!artifact_name_same(same[i][0], same[i][1]))
            fail_msg("%s and %s differ", same[i][0], same[i][1]);
    assert_false(artifact_name_same("a", "b"));
    assert_false(artifact_name_same("\u043f\u043b\u0430\u043d", "\u043e\u0442\u0447\u0435\u0442"));
    assert_false(artifact_name_same("\u4e2d", "\u65e5"));
}

static void disposition(void **state)
{
    (void)state;
    struct buf out;
    buf_init(&out, 4096);
    artifact_disposition("\u043e\u0442\u0447\u0451\u0442 10%.txt", &out);
    assert_string_equal(buf_cstr(&out), "attachment; filename=\"_____ 10_.txt\"; "
                                        "filename*=UTF-8''%D0%BE%D1%82%D1%87%D1%91%D1%82%2010%25.txt");
    buf_reset(&out);
    artifact_disposition("a'b(1)\".txt", &out);
    assert_string_equal(buf_cstr(&out),
                        "attachment; filename=\"a'b(1)_.txt\"; filename*=UTF-8''a%27b%281%29%22.txt");
    buf_free(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names),       cmocka_unit_test(long_names_are_cut_at_a_character),
        cmocka_unit_test(same_names),  cmocka_unit_test(equal_names_are_numbered),
        cmocka_unit_test(disposition),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
