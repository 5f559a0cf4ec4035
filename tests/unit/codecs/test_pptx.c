/* Presentations: how a source is taken apart into slides. */
#include "office_reader.h"

#include "artifacts/pptx.h"

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
        {"[{title:'A', bullets:['x',],}, {'title':'B'}] // two", 2},
        {"{\"slides\":[{\"title\":\"A\"", 0},
        {"[see](https://h.test) this", 1},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct made m = render(cases[i].source);
        if ((m.status == RENDER_OK) != (cases[i].slides > 0))
            print_message("%s: %s\n", cases[i].source, m.sentence);
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

/* A chart is drawn where its block stands, in Markdown and in JSON; what is no chart stays code. */
static void charts_are_drawn_in_place(void **state)
{
    (void)state;
    static const char *const sources[] = {
        "## A\n\n```chart\n{\"type\":\"bar\",\"labels\":[\"a\"],\"datasets\":[{\"data\":[1]}]}\n```\n",
        "{\"slides\":[{\"title\":\"A\",\"chart\":{\"type\":\"bar\",\n\"labels\":[\"a\"],\"datasets\":[{"
        "\"data\":[1]}]}}]}"};
    for (size_t i = 0; i < 2; i++) {
        struct made m = render(sources[i]);
        assert_int_equal(m.status, RENDER_OK);
        assert_holds(part(&m, "ppt/slides/slide1.xml"), "<p:pic>");
        assert_lacks(part(&m, "ppt/slides/slide1.xml"), "Consolas");
        assert_memory_equal(part(&m, "ppt/media/image1.png"), "\x89PNG", 4);
        made_free(&m);
    }
    struct made m = render("## A\n\n```chart\n{\"type\":\"bar\"}\n```\n");
    assert_int_equal(m.status, RENDER_OK);
    assert_holds(part(&m, "ppt/slides/slide1.xml"), "{&quot;type&quot;:&quot;bar&quot;}");
    made_free(&m);
}

static void more_than_a_hundred_slides_are_refused(void **state)
{
    (void)state;
    struct buf source;
    buf_init(&source, 1 << 16);
    for (int i = 0; i < 100; i++)
        buf_printf(&source, "## %d\n\n", i);
    struct made m = render(buf_cstr(&source));
    assert_int_equal(m.status, RENDER_OK);
    assert_int_equal(slides(&m), 100);
    made_free(&m);
    buf_adds(&source, "## one more\n");
    m = render(buf_cstr(&source));
    assert_int_equal(m.status, RENDER_LIMIT);
    assert_holds(m.sentence, "more than 100 slides");
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

/* A slide's table in each of the forms in which models write one. */
static void json_tables(void **state)
{
    static const char *const tables[] = {
        "[[\"Region\",\"Total\"],[\"North\",12]]",
        "{\"rows\":[[\"Region\",\"Total\"],[\"North\",12]]}",
        "{\"columns\":[\"Region\",\"Total\"],\"rows\":[[\"North\",12]]}",
        "{\"headers\":[\"Region\",\"Total\"],\"data\":[[\"North\",12]]}",
    };
    (void)state;
    for (size_t i = 0; i < sizeof tables / sizeof tables[0]; i++) {
        struct buf source, out;
        buf_init(&source, 1024);
        buf_init(&out, 4096);
        buf_printf(&source, "{\"slides\":[{\"title\":\"T\",\"table\":%s}]}", tables[i]);
        assert_true(pptx_json(buf_span(&source), &out));
        assert_non_null(strstr(buf_cstr(&out), "\n| Region | Total |\n| --- | --- |\n| North | 12 |\n"));
        buf_free(&source);
        buf_free(&out);
    }
}

/* What is no table is shown, not lost. */
static void json_tables_of_another_kind(void **state)
{
    static const char *const tables[] = {"[{\"Region\":\"North\"}]",       "[1,[2]]",
                                         "{\"rows\":\"North\"}",           "{}",
                                         "{\"columns\":2,\"rows\":[[1]]}", "\"North 12\""};
    (void)state;
    for (size_t i = 0; i < sizeof tables / sizeof tables[0]; i++) {
        struct buf source, out, block;
        buf_init(&source, 1024);
        buf_init(&out, 4096);
        buf_init(&block, 1024);
        buf_printf(&source, "{\"slides\":[{\"table\":%s}]}", tables[i]);
        buf_printf(&block, "\n```json\n%s\n```\n", tables[i]);
        assert_true(pptx_json(buf_span(&source), &out));
        assert_non_null(strstr(buf_cstr(&out), buf_cstr(&block)));
        buf_free(&source);
        buf_free(&out);
        buf_free(&block);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(headings_and_rules_begin_slides),
        cmocka_unit_test(slides_hold_what_the_source_says),
        cmocka_unit_test(too_much_goes_on_the_next_slide),
        cmocka_unit_test(rows_take_the_lines_of_their_words),
        cmocka_unit_test(json_without_slides_is_refused),
        cmocka_unit_test(json_tables),
        cmocka_unit_test(json_tables_of_another_kind),
        cmocka_unit_test(charts_are_drawn_in_place),
        cmocka_unit_test(more_than_a_hundred_slides_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
