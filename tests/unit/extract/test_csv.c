/* CSV and TSV as a Markdown table, in any of the encodings in which they come. */
#include "extract_run.h"

#include <iconv.h>

#include "attachments/charset.h"
#include "attachments/extract.h"

#define CSV(source, text) expect_text(&extract_csv_ops, "text:csv", SPAN_LIT(source), text)

static void rows(void **state)
{
    (void)state;
    CSV("a,b\n1,2\n", "| a | b |\n| --- | --- |\n| 1 | 2 |\n");
    /* Short records are padded, a long one widens all. */
    CSV("a,b\r\n1\r\n\r\n1,2,3", "| a | b |  |\n| --- | --- | --- |\n| 1 |  |  |\n| 1 | 2 | 3 |\n");
    CSV("k,v\n\"x \"\"q\"\", y\",\"two\r\nlines\"\n\"\",a|b\n",
        "| k | v |\n| --- | --- |\n| x \"q\", y | two<br>lines |\n|  | a\\|b |\n");
    CSV("a,b,\n1,2,\n", "| a | b |  |\n| --- | --- | --- |\n| 1 | 2 |  |\n");
    CSV("a,b\n1,2,", "| a | b |  |\n| --- | --- | --- |\n| 1 | 2 |  |\n");
    CSV("\"a\"x,b\n", "| ax | b |\n| --- | --- |\n");
    CSV("one\ntwo\n", "| one |\n| --- |\n| two |\n");
    CSV("\n\n", "(empty)\n");
    /* A quotation mark without an end does not swallow the rest. */
    CSV("a,b\n\"open,1\n2,3\n", "| a | b |\n| --- | --- |\n| \"open | 1 |\n| 2 | 3 |\n");
}

static void delimiters(void **state)
{
    (void)state;
    CSV("Name;Wert\nx;1,5\ny;2,5\n", "| Name | Wert |\n| --- | --- |\n| x | 1,5 |\n| y | 2,5 |\n");
    CSV("1,5;2,5\n3,5;4,5\n", "| 1,5 | 2,5 |\n| --- | --- |\n| 3,5 | 4,5 |\n");
    CSV("a|b\n1|2,3\n", "| a | b |\n| --- | --- |\n| 1 | 2,3 |\n");
    CSV("a\tb, c\n1\t2\n", "| a | b, c |\n| --- | --- |\n| 1 | 2 |\n");
    CSV("a,b\nx; y,1\nz,2\n", "| a | b |\n| --- | --- |\n| x; y | 1 |\n| z | 2 |\n");
    CSV("sep=;\r\na,b;c\n", "| a,b | c |\n| --- | --- |\n");
    CSV("\"a;b;c\",1\n\"d;e;f\",2\n", "| a;b;c | 1 |\n| --- | --- |\n| d;e;f | 2 |\n");
    expect_text(&extract_csv_ops, "text:tsv", SPAN_LIT("a;b\tc;d\n"), "| a;b | c;d |\n| --- | --- |\n");
    expect_text(&extract_csv_ops, "text:tsv", SPAN_LIT("a,b\n1,2\n"),
                "| a | b |\n| --- | --- |\n| 1 | 2 |\n");
}

static void encodings(void **state)
{
    (void)state;
    CSV("\xef\xbb\xbf\xc3\xa9,b\n", "| é | b |\n| --- | --- |\n");
    CSV("\xff\xfe\xe9\0\t\0\x31\0\n\0", "| é | 1 |\n| --- | --- |\n");
    CSV("\xfe\xff\0\xe9\0;\0\x31", "| é | 1 |\n| --- | --- |\n");
    CSV("Name;Stra\xdf"
        "e\nM\xfcller;Gr\xf6\xdf"
        "e 5 \x80\n",
        "| Name | Straße |\n| --- | --- |\n| Müller | Größe 5 € |\n");
    CSV("\x96\xbc\x91\x4f,\x92\x6c\n\x82\xb1\x82\xea\x82\xcd\x83\x65\x83\x58\x83\x67,1\n",
        "| 名前 | 値 |\n| --- | --- |\n| これはテスト | 1 |\n");
    CSV("\xd0\xd5\xc3\xfb,\xd6\xb5\n\xd5\xe2\xca\xc7\xb2\xe2\xca\xd4\xce\xc4\xb5\xb5,1\n",
        "| 姓名 | 值 |\n| --- | --- |\n| 这是测试文档 | 1 |\n");
    /* A long run of letters over ASCII is of an alphabet that is not told from its look. */
    expect_refusal(&extract_csv_ops, "text:csv", SPAN_LIT("\x81\xff\xfe\xff\x81\xff,\xff\xff\xff\n"),
                   RENDER_INVALID, "is text in an encoding that was not recognised; save it as UTF-8.");
}

static void guesses(void **state)
{
    static const struct {
        const char *charset, *text; /* in UTF-8; the guess must name the encoding that it is put into */
    } rows[] = {
        {"CP1252", "Les élèves ont mangé à la cantine; ça coûte 3 € déjà"},
        {"CP1252", "¿Cómo está usted? El niño comió piña."},
        {"CP1252", "Übergrößenträger äußern sich über Öl"},
        {"CP932", "日本語の文章です。東京は日本の首都である。"},
        {"CP932", "カタカナとひらがなと漢字"},
        {"GB18030", "中华人民共和国，北京市。价格：一百元"},
        {"GB18030", "我们今天去公园"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char bytes[512], *from = (char *)(uintptr_t)rows[i].text, *to = bytes;
        size_t left = strlen(from), room = sizeof bytes;
        iconv_t table = iconv_open(rows[i].charset, "UTF-8");
        assert_int_equal(iconv(table, &from, &left, &to, &room), 0);
        iconv_close(table);
        const char *guess = charset_guess(span_of(bytes, sizeof bytes - room));
        if (!guess || strcmp(guess, rows[i].charset) != 0)
            fail_msg("%s: %s", rows[i].text, guess ? guess : "none");
    }
}

static void labels(void **state)
{
    (void)state;
    assert_string_equal(charset_find(SPAN_LIT(" Shift_JIS\"")), "CP932");
    assert_string_equal(charset_find(SPAN_LIT("ISO-8859-1")), "CP1252");
    assert_string_equal(charset_find(SPAN_LIT("gb2312")), "GB18030");
    assert_null(charset_find(SPAN_LIT("klingon")));
    assert_int_equal(charset_warm(), 0);
}

static void too_much_is_refused_with_counts(void **state)
{
    (void)state;
    struct buf file;
    buf_init(&file, 8 << 20);
    for (int i = 0; i < 999999; i++)
        buf_adds(&file, "x,");
    buf_adds(&file, "x\n");
    expect_refusal(&extract_csv_ops, "text:csv", buf_span(&file), RENDER_LIMIT,
                   "has 1000000 columns; at most 16384 can be converted.");
    buf_reset(&file);
    for (int i = 0; i < 999; i++)
        buf_adds(&file, "x,");
    for (int i = 0; i < 1001; i++)
        buf_adds(&file, "\nx,x");
    expect_refusal(&extract_csv_ops, "text:csv", buf_span(&file), RENDER_LIMIT,
                   "has 1002 rows of up to 1000 columns; at most 1000000 cells can be converted.");
    buf_free(&file);
}

static void cut_anywhere(void **state)
{
    (void)state;
    cut_everywhere(&extract_csv_ops, "text:csv",
                   SPAN_LIT("\xef\xbb\xbfsep=,\r\na,\"b \"\"c\"\"\r\nd\",\xc3\xa9\r\n1,,3\n"));
    cut_everywhere(&extract_csv_ops, "text:tsv", SPAN_LIT("\xff\xfe\x3d\xd8\x00\xde\t\0b\0\n\0"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows),         cmocka_unit_test(delimiters),
        cmocka_unit_test(encodings),    cmocka_unit_test(guesses),
        cmocka_unit_test(labels),       cmocka_unit_test(too_much_is_refused_with_counts),
        cmocka_unit_test(cut_anywhere),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
