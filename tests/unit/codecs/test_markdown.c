/* Markdown's tree, written out in a short form: blocks as names with their runs and children in parentheses.
 */
#include "office_reader.h"

#include "artifacts/markdown.h"
#include "artifacts/office_xml.h"

static void put_runs(struct buf *out, const struct markdown_run *runs)
{
    for (const struct markdown_run *run = runs; run; run = run->next) {
        if (run->type == RUN_BREAK)
            buf_adds(out, "/");
        else if (run->type == RUN_NOTE)
            buf_printf(out, "^%u", run->note);
        else if (run->style || run->href.n || run->type == RUN_IMAGE)
            buf_printf(out, "{%s%u%.*s%.*s:%.*s}", run->type == RUN_IMAGE ? "img " : "", run->style,
                       (int)run->href.n, run->href.p, (int)run->source.n, run->source.p, (int)run->text.n,
                       run->text.p);
        else
            buf_add(out, run->text);
    }
}

static void put_block(struct buf *out, const struct markdown_block *b)
{
    static const char *const names[] = {"doc", "quote", "list", "item", "table", "row", "note",
                                        "h",   "p",     "cell", "code", "rule",  "page"};
    buf_adds(out, names[b->type]);
    if (b->type == MARKDOWN_HEADING)
        buf_printf(out, "%u", b->level);
    if (b->type == MARKDOWN_LIST && b->ordered)
        buf_printf(out, "#%u", b->start);
    if (b->type == MARKDOWN_ITEM && b->task)
        buf_adds(out, b->task == TASK_DONE ? "x" : "o");
    buf_addc(out, '(');
    put_runs(out, b->runs);
    buf_add(out, b->code);
    for (const struct markdown_block *inner = b->first; inner; inner = inner->next)
        put_block(out, inner);
    buf_addc(out, ')');
}

static void sources_become_trees(void **state)
{
    (void)state;
    static const struct {
        const char *source, *tree;
    } cases[] = {
        {"", "doc()"},
        {"# A *b*\nc\nd  \ne", "doc(h1(A {2:b})p(c d/e))"},
        {"a&amp;&copy;&#x41;&nope;&#0;", "doc(p(a&\xc2\xa9"
                                         "A&nope;&#0;))"},
        {"- a\n- b\n  - c", "doc(list(item(p(a))item(p(b)list(item(p(c))))))"},
        {"- a\n\n  b\n- [x] c\n- [ ] d", "doc(list(item(p(a)p(b))itemx(p(c))itemo(p(d))))"},
        {"3. a", "doc(list#3(item(p(a))))"},
        {"> a\n> > b", "doc(quote(p(a)quote(p(b))))"},
        {"```c\na\n  b\n```", "doc(code(a\n  b\n))"},
        {"a\n\n---\n\nb", "doc(p(a)rule()p(b))"},
        {"[a](http://x.test) <http://y.test> http://z.test",
         "doc(p({0http://x.test:a} {0http://y.test:http://y.test} {0http://z.test:http://z.test}))"},
        {"![w **x**](p.png)", "doc(p({img 0p.png:w x}))"},
        {"a ![w](p.png)\n![v](q.png)", "doc(p(a {img 0p.png:w} {img 0q.png:v}))"},
        /* tables */
        {"|a|b|\n|-|:-:|\n|1|2|", "doc(table(row(cell(a)cell(b))row(cell(1)cell(2))))"},
        {"|a|b|c|\n|-|-|-|\n|1||3|", "doc(table(row(cell(a)cell(b)cell(c))row(cell(1)cell()cell(3))))"},
        {"|a|\n|-|\n|`x\\|y`|", "doc(table(row(cell(a))row(cell({8:x|y}))))"},
        {"```\n|a|\n|-|\n```", "doc(code(|a|\n|-|\n))"},
        /* HTML */
        {"a<br>b<b>c</b><!-- x -->d<span>e</span>", "doc(p(a/b{1:c}de))"},
        {"List<String> a < b <foo@", "doc(p(List<String> a < b <foo@))"},
        {"<div>\n**a**\n</div>", "doc(p({1:a}))"},
        {"<a href='http://x.test'>t</a>", "doc(p({0http://x.test:t}))"},
        {"a\n\n<!-- pagebreak -->\n\nb", "doc(p(a)page()p(b))"},
        {"\\newpage\n\nb", "doc(page()p(b))"},
        /* pages */
        {"<!DOCTYPE html>\n<html><head><title>t</title><style>p{}</style></head><body>\n<h1>A &amp; b</h1>\n"
         "<p>c <strong>d</strong>\n  *e* <br>f</p><hr/></body></html>\n",
         "doc(h1(A & b)p(c {1:d} *e*/f)rule())"},
        {"<h2>x</h2><ul><li>one</li><li><p>two</p><p>more</p><ol><li>a<li>b</ol></li></ul><p>end</p>",
         "doc(h2(x)list(item(p(one))item(p(two)p(more)list#1(item(p(a))item(p(b)))))p(end))"},
        {"<blockquote><p>a</p><ul><li>b</li></ul></blockquote><p>c</p>",
         "doc(quote(p(a)list(item(p(b))))p(c))"},
        {"<table><tr><th>A</th><th>b|c</th></tr><tr><td>1<td><p>x</p><ul><li>y</li></ul></td></tr></"
         "table><p>z</p>",
         "doc(table(row(cell(A)cell(b|c))row(cell(1)cell(x y)))p(z))"},
        {"<body><pre><code>if (a &lt; b)\n  *x*;\n</code></pre><p>1. a</p><p>- b # "
         "c</p><script>x()</script></body>",
         "doc(code(if (a < b)\n  *x*;\n\n)p(1. a)p(- b # c))"},
        {"<html><p>a</p><!-- pagebreak --><p><img src='p.png' alt=\"w\"> <a "
         "href=\"http://x.test\">t</a></p></html>",
         "doc(p(a)page()p({img 0p.png:w} {0http://x.test:t}))"},
        {"<html>a <b c < d", "doc(p(a <b c < d))"},
        /* footnotes */
        {"a[^x] b[^y][^x]\n\n[^x]: X\n[^y]: Y", "doc(p(a^1 b^2^1))note(p(X))note(p(Y))"},
        {"a[^x]\n\n[^x]: X\n    more\n\n    para\n\nend", "doc(p(a^1)p(end))note(p(X more)p(para))"},
        {"a `[^x]` [^z]\n\n[^x]: X", "doc(p(a {8:[^x]} [^z])p([^x]:)p(X))"},
        /* front matter */
        {"---\ntitle: T\nauthor: 'A'\n---\nb", "doc(p(b))"},
        {"---\nnot front matter\n---\n", "doc(rule()h2(not front matter))"},
        /* bytes */
        {"a\x01\x7f"
         "b\xff\r\nc\xc2\x85",
         "doc(p(ab\xef\xbf\xbd c))"},
        {"\xe4\xb8\xad\n\xe6\x96\x87 x", "doc(p(\xe4\xb8\xad\xe6\x96\x87 x))"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const char *wrong;
        struct buf tree;
        buf_init(&tree, 1 << 20);
        struct markdown *m = markdown_parse(span_str(cases[i].source), &wrong);
        assert_non_null(m);
        put_block(&tree, m->document);
        for (unsigned n = 0; n < m->notes_n; n++)
            put_block(&tree, m->notes[n]);
        if (strcmp(buf_cstr(&tree), cases[i].tree) != 0)
            print_message("%s\n", cases[i].source);
        assert_string_equal(buf_cstr(&tree), cases[i].tree);
        buf_free(&tree);
        markdown_free(m);
    }
}

/* What has no end is read as text, in linear time. */
static void broken_pages_are_read(void **state)
{
    (void)state;
    static const char *const pieces[] = {"<a",   "<a \"",    "<ul>", "</li>", "<table><td>",
                                         "<!--", "<script>", "&",    "<pre>", "<blockquote><li>",
                                         "<td>x"};
    for (size_t i = 0; i < sizeof pieces / sizeof pieces[0]; i++) {
        struct buf source;
        const char *wrong;
        buf_init(&source, 1 << 20);
        buf_adds(&source, "<!doctype html>");
        for (int k = 0; k < 20000; k++)
            buf_adds(&source, pieces[i]);
        struct markdown *m = markdown_parse(buf_span(&source), &wrong);
        assert_true(m || wrong);
        markdown_free(m);
        buf_free(&source);
    }
}

static unsigned depth_of(const struct markdown_block *b)
{
    unsigned deepest = 0;
    for (const struct markdown_block *inner = b->first; inner; inner = inner->next) {
        unsigned depth = depth_of(inner);
        deepest = depth > deepest ? depth : deepest;
    }
    return deepest + 1;
}

static void what_is_too_deep_is_flattened(void **state)
{
    (void)state;
    const char *wrong;
    struct buf source, text;
    buf_init(&source, 1 << 20);
    buf_init(&text, 1 << 20);
    for (int i = 0; i < 3000; i++)
        buf_adds(&source, "> ");
    buf_adds(&source, "word\n\n");
    for (int i = 0; i < 60; i++)
        buf_printf(&source, "%*s- item%d\n", i * 2, "", i);
    struct markdown *m = markdown_parse(buf_span(&source), &wrong);
    assert_non_null(m);
    assert_true(depth_of(m->document) <= MARKDOWN_DEPTH + 3);
    put_block(&text, m->document);
    assert_holds(buf_cstr(&text), "word");
    assert_holds(buf_cstr(&text), "item59");
    markdown_free(m);
    buf_free(&source);
    buf_free(&text);
}

static void limits_are_kept(void **state)
{
    (void)state;
    const char *wrong = NULL;
    struct buf source;
    buf_init(&source, MARKDOWN_SOURCE * 2);
    for (int i = 0; i <= MARKDOWN_NODES / 2; i++)
        buf_adds(&source, "a\n\n");
    assert_null(markdown_parse(buf_span(&source), &wrong));
    assert_string_equal(wrong, "has too many parts");
    buf_reset(&source);
    while (source.n <= MARKDOWN_SOURCE)
        buf_adds(&source, "words and words and words ");
    assert_null(markdown_parse(buf_span(&source), &wrong));
    assert_string_equal(wrong, "is larger than the limit");
    /* More columns than a table may have: all words stay. */
    buf_reset(&source);
    for (int row = 0; row < 3; row++) {
        for (int i = 0; i < 100; i++)
            buf_printf(&source, row == 1 ? "|-" : "|w%d", i);
        buf_adds(&source, "|\n");
    }
    struct markdown *m = markdown_parse(buf_span(&source), &wrong);
    assert_non_null(m);
    struct buf text;
    buf_init(&text, 1 << 20);
    put_block(&text, m->document);
    assert_int_equal(m->document->first->columns, MARKDOWN_COLUMNS);
    assert_holds(buf_cstr(&text), "w63 w64 ");
    assert_holds(buf_cstr(&text), "w99");
    markdown_free(m);
    buf_free(&text);
    buf_free(&source);
}

static void front_matter_is_read(void **state)
{
    (void)state;
    const char *wrong;
    struct markdown *m = markdown_parse(
        span_str("---\ntitle: \"A: b\"\nauthor: C\ndate: 2026-01-02\ntags:\n- x\n---\n# D\n"), &wrong);
    assert_non_null(m);
    assert_true(span_is(m->title, "A: b") && span_is(m->author, "C") && span_is(m->date, "2026-01-02"));
    markdown_free(m);
    m = markdown_parse(span_str("text\n\n# The *title*\n"), &wrong);
    assert_non_null(m);
    assert_true(span_is(m->title, "The title"));
    markdown_free(m);
}

static void entities_are_found(void **state)
{
    (void)state;
    assert_int_equal(markdown_entity(span_str("&AElig;")), 198);
    assert_int_equal(markdown_entity(span_str("&zwnj;")), 0x200c);
    assert_int_equal(markdown_entity(span_str("&euro;")), 0x20ac);
    assert_int_equal(markdown_entity(span_str("&#128512;")), 128512);
    assert_int_equal(markdown_entity(span_str("&#xD800;")), 0);
    assert_int_equal(markdown_entity(span_str("&;")), 0);
    assert_int_equal(markdown_entity(span_str("&eur;")), 0);
}

static void directions_and_widths(void **state)
{
    (void)state;
    assert_true(office_is_rtl(span_str("1. \xd7\xa9 a")));
    assert_false(office_is_rtl(span_str("a \xd7\xa9")));
    assert_int_equal(office_width(span_str("a\xe4\xb8\xad"
                                           "e\xcc\x81")),
                     4);
    assert_int_equal(office_units(span_str("a\xf0\x9f\x98\x80")), 3);
    assert_int_equal(office_cut_units(span_str("a\xf0\x9f\x98\x80"), 2).n, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sources_become_trees),          cmocka_unit_test(broken_pages_are_read),
        cmocka_unit_test(what_is_too_deep_is_flattened), cmocka_unit_test(limits_are_kept),
        cmocka_unit_test(front_matter_is_read),          cmocka_unit_test(entities_are_found),
        cmocka_unit_test(directions_and_widths),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
