/* RTF as Markdown: characters in any of its ways, paragraphs, lists, tables, fields, notes. */
#include "extract_run.h"

#include "attachments/extract.h"
#include "attachments/rtf.h"

#define RTF(source, text)                                                                                    \
    expect_text(&extract_rtf_ops, "text:rtf", SPAN_LIT("{\\rtf1\\ansi\\ansicpg1252 " source "}"), text)

static void characters(void **state)
{
    (void)state;
    RTF("\\uc1 \\u8364?5 caf\\'e9 \\{x\\} a\\~b \\ldblquote q\\rdblquote\\emdash",
        "€5 café {x} a\u00a0b “q”—\n");
    RTF("\\uc2\\u-10179\\'3f?\\u-8704\\'3f?!\\uc0\\u233 e", "\U0001f600!ée\n");
    RTF("\\u8364\\'80\\'80", "€€\n");
    RTF("{\\uc3 \\u1080abc}x{\\u1080?y}", "иxиy\n"); /* \uc belongs to its group */
    RTF("\\u55357?x", "\xef\xbf\xbdx\n");
    RTF("\\u1080 {y}", "иy\n"); /* a group's end is the fallback's */
    RTF("{\\fonttbl{\\f0\\fcharset0 A;}{\\f1\\fcharset204 B;}{\\f2\\fcharset128 C;}}\\f1 \\'cf\\'f0\\f2 "
        "\\'93\\'8c\\'8b\\'9e\\f0 \\'e9",
        "Пр東京é\n");
    RTF("{\\upr{ansi}{\\*\\ud{\\u233?}}}", "é\n");
    expect_text(&extract_rtf_ops, "text:rtf", SPAN_LIT("{\\rtf1\\mac \\'8e}"), "é\n");
    RTF("a\r\nb\\\nc\\bin5 }}{{\\d", "ab\n\ncd\n");
}

static void looks(void **state)
{
    (void)state;
    RTF("plain {\\b bold {\\i both}} \\i it\\i0  x{\\super 2}{\\sub n}\\strike s\\strike0  \\plain p",
        "plain **bold *both*** *it* x<sup>2</sup><sub>n</sub>~~s~~ p\n");
    RTF("H{\\dn6 2}O m{\\up8 3}{\\up0 .}", "H<sub>2</sub>O m<sup>3</sup>.\n");
    RTF("seen{\\v hidden}{\\deleted gone}{\\revised added}", "seenadded\n");
    RTF("{\\stylesheet{\\s0 Normal;}{\\s1 heading 1;}{\\s2\\outlinelevel1 Mine;}{\\*\\cs3 x;}}\\pard\\s1 "
        "One\\par\\pard\\s2 Two\\par\\pard\\s0 "
        "text\\line more\\par\\pard\\outlinelevel2 Three",
        "# One\n\n## Two\n\ntext  \nmore\n\n### Three\n");
}

static void lists(void **state)
{
    (void)state;
    RTF("\\pard{\\listtext\\'b7\\tab}\\ilvl0 one\\par{\\listtext 1.\\tab}\\ilvl1 "
        "deep\\par{\\pntext\\'b7\\tab}\\ilvl0 two\\par\\pard after",
        "- one\n    1. deep\n- two\n\nafter\n");
}

static void numbers_of_headings(void **state)
{
    (void)state;
    RTF("{\\stylesheet{\\s1 heading 1;}}\\pard{\\listtext 1.2\\tab}\\s1 "
        "Scope\\par{\\listtext\\'b7\\tab}Goals\\par\\pard "
        "text",
        "# 1.2 Scope\n\n# Goals\n\ntext\n");
}

/* Cells that reach across columns of other rows have no word for it: they end further to the right. */
static void wide_cells(void **state)
{
    (void)state;
    RTF("\\trowd\\cellx800\\cellx1800\\intbl Wide\\cell C\\cell\\row"
        "\\trowd\\clvmgf\\cellx400\\cellx796\\cellx1800\\intbl R\\cell 1\\cell 2\\cell\\row"
        "\\trowd\\clvmrg\\cellx400\\cellx1805\\intbl\\cell both\\cell\\row"
        "\\trowd\\cellx400\\intbl short\\cell\\row\\pard",
        "| Wide | Wide | C |\n| --- | --- | --- |\n| R | 1 | 2 |\n| R | both | both |\n| short |  |  |\n");
    /* Merged from above by column, not by place. */
    RTF("\\trowd\\cellx100\\cellx200\\cellx300\\intbl a\\cell b\\cell c\\cell\\row"
        "\\trowd\\cellx200\\clvmrg\\cellx300\\intbl d\\cell\\cell\\row\\pard",
        "| a | b | c |\n| --- | --- | --- |\n| d | d | c |\n");
    /* Edges out of order, or none: by place. */
    RTF("\\trowd\\cellx300\\cellx200\\intbl a\\cell b\\cell\\row\\trowd\\cellx100\\intbl c\\cell "
        "d\\cell\\row\\pard",
        "| a | b |\n| --- | --- |\n| c | d |\n");
}

static void a_list_in_a_cell_ends_with_it(void **state)
{
    (void)state;
    RTF("\\trowd\\cellx100\\intbl{\\listtext\\'b7\\tab}x\\cell\\row\\pard after",
        "| x |\n| --- |\n\nafter\n");
}

static void tables(void **state)
{
    (void)state;
    RTF("\\trowd\\cellx1\\cellx2\\pard\\intbl A\\cell B|\\cell\\row\\trowd\\cellx1\\cellx2\\pard\\intbl "
        "one\\par two\\cell\\cell\\row\\pard after",
        "| A | B\\| |\n| --- | --- |\n| one<br>two |  |\n\nafter\n");
    RTF("\\trowd\\clmgf\\cellx1\\clmrg\\cellx2\\pard\\intbl wide\\cell\\cell\\row"
        "\\trowd\\cellx1\\cellx2\\pard\\intbl a\\cell "
        "b\\cell\\row\\trowd\\clvmrg\\cellx1\\cellx2\\pard\\intbl\\cell c\\cell\\row",
        "| wide | wide |\n| --- | --- |\n| a | b |\n| a | c |\n");
}

static void fields_pictures_notes(void **state)
{
    (void)state;
    RTF("{\\field{\\*\\fldinst{ HYPERLINK \"https://e.test/x\" }}{\\fldrslt{\\ul link}}} "
        "{\\field{\\*\\fldinst PAGE}{\\fldrslt 3}} "
        "{\\field{\\*\\fldinst HYPERLINK \"file:///x\"}{\\fldrslt local}}",
        "[link](https://e.test/x) 3 local\n");
    RTF("a{\\*\\shppict{\\pict\\pngblip 89504e47}}{\\nonshppict{\\pict\\wmetafile8 0100}}b",
        "a![](image1.png)b\n");
    RTF("text{\\super\\chftn}{\\footnote\\pard\\plain the {\\b note}\\par} on{\\*\\atnid X}{\\*\\atnauthor "
        "Ann}{\\*\\annotation why?}",
        "text[^1] on\n\n[^1]: the note\n\n> Comment (Ann): why?\n");
}

static void what_is_no_text_is_left_out(void **state)
{
    (void)state;
    RTF("{\\info{\\title T}}{\\colortbl;\\red1;}{\\*\\generator G;}{\\header H}{\\footer F}{\\*\\unknown "
        "u{\\b v}}{\\unknown kept}"
        "{\\shp{\\*\\shpinst{\\sp{\\sn n}{\\sv v}}{\\shptxt box}}{\\shprslt old}}",
        "keptbox\n");
    expect_refusal(&extract_rtf_ops, "text:rtf", SPAN_LIT("{\\rtf1 {\\*\\x y}}"), RENDER_INVALID,
                   "has no text.");
    expect_refusal(&extract_rtf_ops, "text:rtf", SPAN_LIT("text"), RENDER_INVALID, "is no RTF document.");
}

static void headers_are_left_out(void **state)
{
    (void)state;
    RTF("{\\headerl Secret\\par}{\\headerr {\\b Secret}}{\\footer \\u8211? 3 \\u8211?}a{\\footnote n}\\par"
        "{\\*\\atnauthor Ann}{\\*\\annotation c}",
        "a[^1]\n\n[^1]: n\n\n> Comment (Ann): c\n");
}

static void deep_groups_lose_no_text(void **state)
{
    (void)state;
    struct buf b;
    buf_init(&b, 4 << 20);
    buf_adds(&b, "{\\rtf1 ");
    for (int i = 0; i < 1000000; i++)
        buf_adds(&b, "{");
    buf_adds(&b, "deep{\\*\\gone gone}{\\footnote note}");
    for (int i = 0; i < 1000000; i++)
        buf_adds(&b, "}");
    buf_adds(&b, " after}");
    expect_text(&extract_rtf_ops, "text:rtf", buf_span(&b), "deep after\n");
    buf_reset(&b);
    buf_adds(&b, "{\\rtf1 x");
    while (b.n < 1 << 20)
        buf_adds(&b, "}\\row\\cell{\\footnote");
    struct extracted e = extract(&extract_rtf_ops, "text:rtf", buf_span(&b));
    assert_int_not_equal(e.status, RENDER_FAILED);
    buf_free(&e.out);
    buf_free(&b);
}

static void words_are_sorted(void **state)
{
    static const char *const some[] = {"annotation", "atnref", "bullet", "column", "fldrslt",    "listtext",
                                       "nosupersub", "pntext", "rxe",    "sect",   "stylesheet", "super",
                                       "trowd",      "upr",    "v",      "xe"};
    (void)state;
    for (size_t i = 0; i < sizeof some / sizeof some[0]; i++)
        assert_non_null(rtf_word_find(some[i]));
    assert_null(rtf_word_find("nothing"));
}

static void cut_short(void **state)
{
    (void)state;
    expect_refusal(&extract_rtf_ops, "text:rtf", SPAN_LIT("{\\rtf1 a\\bin2147483647 xyz}"), RENDER_INVALID,
                   "is damaged: it announces 214748364 bytes of a picture or an object, and ends after 4.");
    expect_refusal(&extract_rtf_ops, "text:rtf", SPAN_LIT("{\\rtf1 {\\b most of it} and"), RENDER_INVALID,
                   "is damaged: it ends within a group, so a part of it is missing.");
}

static void cut_anywhere(void **state)
{
    (void)state;
    cut_everywhere(
        &extract_rtf_ops, "text:rtf",
        SPAN_LIT(
            "{\\rtf1\\ansi{\\fonttbl{\\f1\\fcharset128 A;}}{\\stylesheet{\\s1 heading 1;}}\\pard\\s1 T\\par"
            "\\trowd\\clmgf\\cellx1\\clmrg\\cellx2\\intbl a\\cell\\cell\\row\\pard{\\listtext "
            "1.\\tab}\\u-10179?\\u-8704?"
            "{\\field{\\*\\fldinst HYPERLINK \"http://e\"}{\\fldrslt l}}\\f1\\'93\\'8c{\\footnote "
            "n}{\\*\\annotation c}"
            "{\\pict\\bin4 }}}}}}"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(characters),
        cmocka_unit_test(looks),
        cmocka_unit_test(lists),
        cmocka_unit_test(tables),
        cmocka_unit_test(wide_cells),
        cmocka_unit_test(a_list_in_a_cell_ends_with_it),
        cmocka_unit_test(numbers_of_headings),
        cmocka_unit_test(fields_pictures_notes),
        cmocka_unit_test(what_is_no_text_is_left_out),
        cmocka_unit_test(headers_are_left_out),
        cmocka_unit_test(deep_groups_lose_no_text),
        cmocka_unit_test(words_are_sorted),
        cmocka_unit_test(cut_short),
        cmocka_unit_test(cut_anywhere),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
