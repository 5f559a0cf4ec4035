/* Comma text from each form of its source. */
#include "office_reader.h"

extern const struct renderer_ops render_csv;

static struct made render(const char *source, const char *options)
{
    struct made m;
    struct render_params params = {.format = "csv", .title = "", .options = span_str(options)};
    render_into(&render_csv, span_str(source), &params, &m);
    return m;
}

static void every_form_is_taken(void **state)
{
    (void)state;
    static const char *const cases[][2] = {
        {"m,v\njan,3", "m,v\r\njan,3\r\n"},
        {"\xef\xbb\xbfm,v\r\njan,3\r\n\r\n", "m,v\r\njan,3\r\n"},
        {"a;b\n1,5;2\n", "a,b\r\n\"1,5\",2\r\n"},
        {"a\tb\n1\t\"2 \"\n", "a,b\r\n1,\"2 \"\r\n"},
        {"a|b\n1|2\n", "a,b\r\n1,2\r\n"},
        {"a,b,c\n\"x, y\",\"say \"\"hi\"\"\",\"l1\nl2\"\nshort\n",
         "a,b,c\r\n\"x, y\",\"say \"\"hi\"\"\",\"l1\nl2\"\r\nshort,,\r\n"},
        {"Here:\n\n| a | b |\n|:-:|--|\n| **x** | 1\\|2 |\n", "a,b\r\nx,1|2\r\n"},
        {"[{\"a\":1,\"b\":\"x;y\"},{\"b\":null,\"c\":true,}]", "a,b,c\r\n1,\"x;y\",\r\n,,true\r\n"},
        {"{\"columns\":[\"a\",\"b\"],\"rows\":[[1.50,\"007\"],[\"x\"]]}", "a,b\r\n1.50,007\r\nx,\r\n"},
        {"[[\"a\"],[-3.5]]", "a\r\n-3.5\r\n"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct made m = render(cases[i][0], "");
        if (m.status != RENDER_OK)
            print_message("%s: %s\n", cases[i][0], m.sentence);
        assert_int_equal(m.status, RENDER_OK);
        assert_string_equal(buf_cstr(&m.bytes), cases[i][1]);
        struct made again = render(buf_cstr(&m.bytes), ""); /* its own output is such a form */
        assert_string_equal(buf_cstr(&again.bytes), cases[i][1]);
        made_free(&again);
        made_free(&m);
    }
    struct made m = render("a\n1", "{\"bom\":true}");
    assert_string_equal(buf_cstr(&m.bytes), "\xef\xbb\xbf"
                                            "a\r\n1\r\n");
    made_free(&m);
}

static void no_cell_is_a_formula(void **state)
{
    (void)state;
    static const char *const cases[][2] = {
        {"name,value\n=cmd|'/c echo hi'!B1,1\n+1+1,-3.5\n@SUM(A1),\t=2\n\"\u200b=HYPERLINK(\"\"h\"\")\",-7",
         "name,value\r\n'=cmd|'/c echo "
         "hi'!B1,1\r\n'+1+1,-3.5\r\n'@SUM(A1),'=2\r\n\"'\u200b=HYPERLINK(\"\"h\"\")\",-7\r\n"},
        {"a;b\n1;=2\n-3;\"=4,5\"", "a,b\r\n1,'=2\r\n-3,\"'=4,5\"\r\n"},
        {"[[\"a\"],[\"=1+1\"],[{\"formula\":\"SUM(A1:A2)\"}],[\"\\t=1\"]]",
         "a\r\n'=1+1\r\n'=SUM(A1:A2)\r\n\"'\t=1\"\r\n"},
        {"| a |\n|---|\n| =1+1 |\n| @x |", "a\r\n'=1+1\r\n'@x\r\n"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct made m = render(cases[i][0], "");
        assert_int_equal(m.status, RENDER_OK);
        assert_string_equal(buf_cstr(&m.bytes), cases[i][1]);
        made_free(&m);
    }
}

static void what_is_no_table_is_refused(void **state)
{
    (void)state;
    static const char *const cases[][2] = {
        {"", "empty"},
        {" \r\n\n", "empty"},
        {"{\"a\":[", "not valid JSON"},
        {"## A\n\n| a |\n|---|\n| 1 |\n\n## B\n\n| b |\n|---|\n| 2 |\n", "2 tables"},
        {"=== A ===\na,b\n1,2\n=== B ===\nc\n3\n", "2 tables"},
        {"{\"A\":[[1]],\"B\":[[2]]}", "2 tables"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct made m = render(cases[i][0], "");
        assert_int_equal(m.status, RENDER_INVALID);
        assert_holds(m.sentence, cases[i][1]);
        made_free(&m);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_form_is_taken),
        cmocka_unit_test(no_cell_is_a_formula),
        cmocka_unit_test(what_is_no_table_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
