/* Presentations: how a source is taken apart into slides. */
#include "office_reader.h"

extern const struct renderer_ops render_pptx;

static struct made render(const char *source)
{
    struct made m;
    struct render_params params = {.format = "pptx", .title = "", .made_at = 1790000000};
    render_into(&render_pptx, span_str(source), &params, &m);
    return m;
}

static unsigned slides(struct made *m)
{
    unsigned n = 0;
    char name[64];
    do
        snprintf(name, sizeof name, "ppt/slides/slide%u.xml", ++n);
    while (part(m, name));
    return n - 1;
}

static void headings_and_rules_begin_slides(void **state)
{
    (void)state;
    static const struct {
        const char *source;
        unsigned slides;
    } cases[] = {
        {"", 0},
        {"text", 1},
        {"# A", 1},
        {"# A\nsub\n\n## B\n- x\n\n## C\n", 3},
        {"## A\n\n---\n\n## B\n", 2},
        {"## A\n\n### part\n\ntext\n", 1},
        {"### A\n\n### B\n", 2},
        {"a\n\n---\n\nb\n\n---\n", 2},
        {"{\"slides\":[{\"title\":\"A\"},{\"title\":\"B\",\"bullets\":[\"x\",{\"text\":\"y\",\"children\":["
         "\"z\"]}]}]}",
         2},
        {"{\"title\":\"T\",\"slides\":[{\"title\":\"A\"}]}", 2},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct made m = render(cases[i].source);
        assert_int_equal(m.status, cases[i].slides ? RENDER_OK : RENDER_INVALID);
        if (m.status == RENDER_OK)
            assert_int_equal(slides(&m), cases[i].slides);
        made_free(&m);
    }
}

static void slides_hold_what_the_source_says(void **state)
{
    (void)state;
    struct made m =
        render("# Title & co\n\nSub **title**\n\n## Points\n\n- one\n    - two\n\n3. three\n\n"
               "| a | b |\n|-|-|\n| 1 | <x> |\n\n```\ncode\n```\n\nNotes: say *this*\n\n- and that\n");
    assert_int_equal(m.status, RENDER_OK);
    const char *slide = part(&m, "ppt/slides/slide1.xml");
    assert_holds(slide, "type=\"ctrTitle\"");
    assert_holds(slide, "<a:t>Title &amp; co</a:t>");
    assert_holds(slide, "type=\"subTitle\"");
    slide = part(&m, "ppt/slides/slide2.xml");
    assert_holds(slide, "<p:ph type=\"title\"/>");
    assert_holds(slide, "lvl=\"1\"");
    assert_holds(slide, "<a:buAutoNum type=\"arabicPeriod\" startAt=\"3\"/>");
    assert_holds(slide, "<a:tbl>");
    assert_holds(slide, "<a:t>&lt;x&gt;</a:t>");
    assert_holds(slide, "typeface=\"Consolas\"");
    assert_lacks(slide, "say ");
    slide = part(&m, "ppt/notesSlides/notesSlide2.xml");
    assert_holds(slide, "<a:t>say </a:t>");
    assert_holds(slide, "<a:t>and that</a:t>");
    assert_lacks(slide, "Notes:");
    made_free(&m);
}

static void too_much_goes_on_the_next_slide(void **state)
{
    (void)state;
    struct buf source;
    buf_init(&source, 1 << 20);
    buf_adds(&source, "## Long\n\n");
    for (int i = 0; i < 60; i++)
        buf_printf(&source, "- point %d\n", i);
    buf_adds(&source, "\n## Table\n\n|n|\n|-|\n");
    for (int i = 0; i < 60; i++)
        buf_printf(&source, "|row %d|\n", i);
    struct made m = render(buf_cstr(&source));
    assert_int_equal(m.status, RENDER_OK);
    unsigned n = slides(&m), points = 0, rows = 0, continued = 0;
    assert_true(n > 4 && n < 20);
    for (unsigned i = 1; i <= n; i++) {
        char name[64];
        snprintf(name, sizeof name, "ppt/slides/slide%u.xml", i);
        const char *slide = part(&m, name);
        continued += strstr(slide, "<a:t> (2)</a:t>") != NULL;
        for (const char *at = slide; (at = strstr(at, "<a:t>point ")); at++)
            points++;
        for (const char *at = slide; (at = strstr(at, "<a:t>row ")); at++)
            rows++;
    }
    assert_int_equal(points, 60);
    assert_int_equal(rows, 60);
    assert_int_equal(continued, 2);
    made_free(&m);
    buf_free(&source);
}

/* Words are wrapped whole, so three of twelve letters each take three lines of a column that has room for
 * some twenty letters. */
static void rows_take_the_lines_of_their_words(void **state)
{
    struct buf long_words, short_words;
    (void)state;
    buf_init(&long_words, 1 << 16);
    buf_init(&short_words, 1 << 16);
    buf_adds(&long_words, "# T\n\n|a|b|c|d|e|f|\n|-|-|-|-|-|-|\n");
    buf_adds(&short_words, "# T\n\n|a|b|c|d|e|f|\n|-|-|-|-|-|-|\n");
    for (int i = 0; i < 40; i++) {
        buf_adds(&long_words, "| aaaaaaaaaaaa bbbbbbbbbbbb cccccccccccc |||||\n");
        buf_adds(&short_words, "| aaaaa bbbbb ccccc ddddd eeeee fffff gg |||||\n");
    }
    struct made m = render(buf_cstr(&long_words)), other = render(buf_cstr(&short_words));
    assert_int_equal(m.status, RENDER_OK);
    assert_true(slides(&m) > slides(&other)); /* as many letters */
    made_free(&m);
    made_free(&other);
    buf_free(&long_words);
    buf_free(&short_words);
}

static void json_without_slides_is_refused(void **state)
{
    (void)state;
    struct made m = render("{\"a\":1}");
    assert_int_equal(m.status, RENDER_INVALID);
    made_free(&m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(headings_and_rules_begin_slides),
        cmocka_unit_test(slides_hold_what_the_source_says),
        cmocka_unit_test(too_much_goes_on_the_next_slide),
        cmocka_unit_test(rows_take_the_lines_of_their_words),
        cmocka_unit_test(json_without_slides_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
