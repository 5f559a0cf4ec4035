/* What blocks, containers, emphasis and tables look like as Markdown. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "attachments/markup.h"

struct made {
    struct buf out;
    struct extraction x;
    char sentence[RENDER_SENTENCE];
    struct markup *m;
};

static struct markup *begin(struct made *made)
{
    buf_init(&made->out, EXTRACT_TEXT);
    extraction_init(&made->x, made->sentence, EXTRACT_NODES);
    made->sentence[0] = '\0';
    return made->m = markup_create(&made->out, &made->x);
}

static void expect(struct made *made, const char *text)
{
    assert_int_equal(markup_finish(made->m), 0);
    assert_string_equal(buf_cstr(&made->out), text);
    markup_destroy(made->m);
    buf_free(&made->out);
}

static void paragraph(struct markup *m, const char *text)
{
    markup_begin(m, MARKUP_PARAGRAPH, 0);
    markup_text(m, span_str(text), 0);
    markup_end(m);
}

static void blocks_are_parted_by_blank_lines(void **state)
{
    (void)state;
    struct made made;
    struct markup *m = begin(&made);
    markup_begin(m, MARKUP_HEADING, 2);
    markup_text(m, SPAN_LIT(" 1.2 "), 0);
    markup_text(m, SPAN_LIT("Scope "), MARKUP_BOLD);
    markup_break(m);
    markup_text(m, SPAN_LIT("of it"), MARKUP_ITALIC);
    markup_end(m);
    paragraph(m, "  \n ");
    paragraph(m, " one\ntwo\x01 ");
    markup_begin(m, MARKUP_CODE, 0);
    markup_text(m, SPAN_LIT("\n\tif (a)\n"), MARKUP_BOLD);
    markup_text(m, SPAN_LIT("```\n\n"), 0);
    markup_end(m);
    markup_line(m, "<!-- %s: %d -->", "Page", 2);
    expect(&made, "## 1.2 Scope of it\n\none two\n\n````\n\tif (a)\n```\n````\n\n<!-- Page: 2 -->\n");
    begin(&made);
    expect(&made, "");
}

static void emphasis_is_trimmed_and_merged(void **state)
{
    (void)state;
    static const struct {
        struct {
            const char *text;
            unsigned style;
        } runs[5];
        const char *expected;
    } cases[] = {
        {{{"a", 0}, {" b ", MARKUP_BOLD}, {"c", 0}}, "a **b** c\n"},
        {{{"a", MARKUP_BOLD}, {"b", MARKUP_BOLD}, {" ", MARKUP_BOLD}, {"c", MARKUP_BOLD}}, "**ab c**\n"},
        {{{"a ", MARKUP_BOLD}, {"b", MARKUP_BOLD | MARKUP_ITALIC}, {" c", MARKUP_BOLD}}, "**a *b* c**\n"},
        {{{"a", MARKUP_ITALIC}, {"b", MARKUP_BOLD | MARKUP_ITALIC}, {"c", MARKUP_BOLD}}, "*a**b*****c**\n"},
        {{{"a ", MARKUP_BOLD}, {"b", 0}}, "**a** b\n"},
        {{{"a", MARKUP_BOLD}, {" ", 0}, {"b", MARKUP_BOLD}}, "**a** **b**\n"},
        {{{"10", 0}, {"6", MARKUP_SUPER}, {" x", MARKUP_STRIKE}}, "10<sup>6</sup> ~~x~~\n"},
        {{{"use ", 0}, {"a`b", MARKUP_MONO}, {" now", 0}}, "use ``a`b`` now\n"},
        {{{" ", MARKUP_BOLD}, {"\t", MARKUP_ITALIC}}, ""},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct made made;
        struct markup *m = begin(&made);
        markup_begin(m, MARKUP_PARAGRAPH, 0);
        for (size_t k = 0; cases[i].runs[k].text; k++)
            markup_text(m, span_str(cases[i].runs[k].text), cases[i].runs[k].style);
        markup_end(m);
        expect(&made, cases[i].expected);
    }
}

static void links_hold_their_text(void **state)
{
    (void)state;
    struct made made;
    struct markup *m = begin(&made);
    markup_begin(m, MARKUP_PARAGRAPH, 0);
    markup_text(m, SPAN_LIT("see"), MARKUP_BOLD);
    markup_link(m, SPAN_LIT("http://x.test/a_(b)"));
    markup_text(m, SPAN_LIT(" here "), MARKUP_BOLD);
    markup_link_end(m);
    markup_text(m, SPAN_LIT("and"), 0);
    markup_link(m, SPAN_LIT("http://x.test/"));
    markup_text(m, SPAN_LIT(" "), 0);
    markup_link_end(m);
    markup_link(m, SPAN_LIT("x y"));
    markup_image(m, SPAN_LIT("a\npic"), SPAN_LIT("p.png"));
    markup_note(m, 3);
    markup_end(m);
    expect(&made, "**see** [**here**](http://x.test/a_(b)) and [![a pic](p.png)[^3]](<x y>)\n");
}

static void lists_are_indented(void **state)
{
    (void)state;
    struct made made;
    struct markup *m = begin(&made);
    paragraph(m, "before");
    markup_item(m, "-");
    paragraph(m, "a");
    paragraph(m, "more of a");
    markup_item(m, "1.");
    paragraph(m, "b");
    markup_leave(m);
    markup_leave(m);
    markup_item(m, "-");
    paragraph(m, "c");
    markup_quote(m);
    paragraph(m, "said");
    paragraph(m, "again");
    markup_leave(m);
    markup_leave(m);
    markup_item(m, NULL);
    markup_item(m, "-");
    paragraph(m, "deep");
    markup_leave(m);
    markup_leave(m);
    markup_quote(m);
    markup_item(m, "-");
    paragraph(m, "q");
    markup_leave(m);
    markup_item(m, "-");
    paragraph(m, "r");
    expect(&made, "before\n\n- a\n\n    more of a\n    1. b\n- c\n\n    > said\n    >\n    > again\n    - "
                  "deep\n\n> - q\n> - r\n");
}

static void cell(struct markup *m, const char *text, unsigned columns, unsigned rows)
{
    markup_cell(m, columns, rows);
    markup_text(m, span_str(text), 0);
    markup_cell_end(m);
}

static void tables_repeat_what_spans(void **state)
{
    (void)state;
    struct made made;
    struct markup *m = begin(&made);
    markup_table(m);
    markup_row(m);
    cell(m, "a|b", 2, 1);
    cell(m, "c", 1, 3);
    markup_row(m);
    cell(m, "d", 1, 2);
    cell(m, "e", 1, 1);
    markup_row(m);
    cell(m, "f", 1, 1);
    markup_row(m);
    cell(m, "g", 1, 1);
    markup_row(m);
    markup_cell_above(m, 1);
    cell(m, "h", 1, 1);
    markup_table_end(m);
    expect(&made, "| a\\|b | a\\|b | c |\n| --- | --- | --- |\n| d | e | c |\n| d | f | c |\n| g |  |  |\n| "
                  "g | h |  |\n");
}

static void a_cell_is_one_line(void **state)
{
    (void)state;
    struct made made;
    struct markup *m = begin(&made);
    markup_table(m);
    markup_row(m);
    markup_cell(m, 1, 1);
    paragraph(m, "p");
    markup_item(m, "-");
    paragraph(m, "i");
    markup_leave(m);
    markup_begin(m, MARKUP_HEADING, 1);
    markup_text(m, SPAN_LIT("h"), 0);
    markup_break(m);
    markup_text(m, SPAN_LIT("k"), 0);
    markup_end(m);
    markup_table(m);
    markup_row(m);
    cell(m, "A1", 1, 1);
    cell(m, "B1", 1, 1);
    markup_row(m);
    cell(m, "A2", 1, 1);
    cell(m, "B2", 1, 1);
    markup_table_end(m);
    markup_begin(m, MARKUP_CODE, 0);
    markup_text(m, SPAN_LIT("x\ny"), 0);
    markup_end(m);
    markup_cell_end(m);
    markup_table_end(m);
    paragraph(m, "after");
    expect(&made, "| p<br>- i<br>h k<br>A1 \\| B1<br>A2 \\| B2<br>x<br>y |\n| --- |\n\nafter\n");
}

static void a_box_in_a_paragraph_comes_first(void **state)
{
    (void)state;
    struct made made;
    struct markup *m = begin(&made);
    markup_begin(m, MARKUP_PARAGRAPH, 0);
    markup_text(m, SPAN_LIT("outer"), 0);
    paragraph(m, "inner");
    markup_table(m);
    cell(m, "t", 1, 1);
    markup_table_end(m);
    markup_text(m, SPAN_LIT(" still"), 0);
    markup_end(m);
    expect(&made, "inner\n\n| t |\n| --- |\n\nouter still\n");
}

static void white_space_collapses_when_asked(void **state)
{
    (void)state;
    struct made made;
    struct markup *m = begin(&made);
    markup_collapse(m, true);
    markup_text(m, SPAN_LIT("\n a \n"), 0);
    markup_text(m, SPAN_LIT("  b"), MARKUP_BOLD);
    markup_text(m, SPAN_LIT(" "), 0);
    markup_text(m, SPAN_LIT("   c\t\td"), 0);
    expect(&made, "a **b** c d\n");
}

static void misuse_and_depth_do_no_harm(void **state)
{
    (void)state;
    struct made made;
    struct markup *m = begin(&made);
    markup_end(m);
    markup_leave(m);
    markup_cell_end(m);
    markup_table_end(m);
    markup_link_end(m);
    for (int i = 0; i < 200; i++) {
        markup_table(m);
        markup_row(m);
        markup_cell(m, 1, 1);
        markup_item(m, "-");
        markup_begin(m, MARKUP_PARAGRAPH, 0);
        markup_text(m, SPAN_LIT("x"), 0);
    }
    for (int i = 0; i < 100; i++) {
        markup_end(m);
        markup_leave(m);
        markup_cell_end(m);
        markup_table_end(m);
    }
    assert_int_equal(markup_finish(m), 0);
    assert_true(made.out.n > 200);
    markup_destroy(m);
    buf_free(&made.out);
}

static void too_much_is_refused(void **state)
{
    (void)state;
    struct made made;
    struct markup *m = begin(&made);
    markup_table(m);
    for (int row = 0; row < 1001 && !markup_stopped(m); row++) {
        markup_row(m);
        cell(m, "", 4000000000u, 4000000000u);
    }
    assert_int_equal(markup_finish(m), -1);
    assert_int_equal(made.x.status, RENDER_LIMIT);
    markup_destroy(m);
    buf_free(&made.out);
    m = begin(&made);
    for (int i = 0; i < 1000000 && !markup_stopped(m); i++)
        paragraph(m, "twenty bytes of text");
    assert_int_equal(markup_finish(m), -1);
    assert_string_equal(made.sentence, "is longer than 8 MiB as text; split it.");
    markup_destroy(m);
    buf_free(&made.out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(blocks_are_parted_by_blank_lines),
        cmocka_unit_test(emphasis_is_trimmed_and_merged),
        cmocka_unit_test(links_hold_their_text),
        cmocka_unit_test(lists_are_indented),
        cmocka_unit_test(tables_repeat_what_spans),
        cmocka_unit_test(a_cell_is_one_line),
        cmocka_unit_test(a_box_in_a_paragraph_comes_first),
        cmocka_unit_test(white_space_collapses_when_asked),
        cmocka_unit_test(misuse_and_depth_do_no_harm),
        cmocka_unit_test(too_much_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
