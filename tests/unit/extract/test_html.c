/* HTML as Markdown: what is left out, what becomes of each element, and what hostile pages do. */
#include "extract_run.h"

#include "attachments/extract.h"

#define HTML(source, text) expect_text(&extract_html_ops, "text:html", SPAN_LIT(source), text)

static void blocks(void **state)
{
    (void)state;
    HTML("<h1>A <b>b</b></h1><p>one<p>two<br>lines <b>bold <strong>twice</strong></b> <em>it</em> <s>off</s>",
         "# A b\n\none\n\ntwo  \nlines **bold twice** *it* ~~off~~\n");
    HTML("<ul><li>one<ul><li>deep</ul><li><p>two</p><p>more</p></ul><ol start=3><li>x<li>y</ol>",
         "- one\n    - deep\n- two\n\n    more\n\n3. x\n4. y\n");
    HTML("<pre><code>a  b\n\tc\n</code></pre><blockquote>q</blockquote><hr><dl><dt>t<dd>d</dl>",
         "```\na  b\n\tc\n```\n\n> q\n\n---\n\nt\n\n: d\n");
    HTML("x<sup>2</sup> H<sub>2</sub>O <code>c</code> <q>said</q> &amp; &euro; <input type=checkbox "
         "checked>done",
         "x<sup>2</sup> H<sub>2</sub>O `c` “said” & € [x] done\n");
}

static void tables(void **state)
{
    (void)state;
    HTML("<table><caption>Cap</caption><tr><th>A<th colspan=2>B<tr><td "
         "rowspan=2>1<td>2<td>3|x<tr><td>4<td>5</table>",
         "Cap\n\n| A | B | B |\n| --- | --- | --- |\n| 1 | 2 | 3\\|x |\n| 1 | 4 | 5 |\n");
    HTML("<table><tr><td>a<table><tr><td>A1<td>B1<tr><td>C1</table><td>z</table>",
         "| a<br>A1 \\| B1<br>C1 | z |\n| --- | --- |\n");
    HTML("<table role=presentation><tr><td>left<td>right</table>", "left\n\nright\n");
    HTML("<td>stray</td><tr>row</tr>", "stray\n\nrow\n");
}

static void links_and_pictures(void **state)
{
    (void)state;
    HTML("<a href=' https://e.test/x '>go</a> <a href='mailto:a@b.test'>mail</a> <a "
         "href='javascript:x()'>js</a> "
         "<a href='/rel'>rel</a>",
         "[go](https://e.test/x) [mail](mailto:a@b.test) js rel\n");
    HTML("<a href='https://e.test'><h3>Head</h3><p>text</p></a>after",
         "### [Head](https://e.test)\n\n[text](https://e.test)\n\nafter\n");
    HTML("<img src='a/b/c.png' alt='pic'> <img src='data:image/png;base64,AAAA' alt=d> <img "
         "src='https://e.test/i.png'>",
         "![pic](c.png) ![d](data:…) ![](https://e.test/i.png)\n");
}

static void what_is_not_seen_is_left_out(void **state)
{
    (void)state;
    HTML("<title>T</title><style>s</style><nav>n</nav><p>seen<script>j</script><template>t</template>"
         "<p hidden>h<p aria-hidden=TRUE>a<p style='color:red; display : none'>d<svg><text>v</text></svg>"
         "<iframe>f</iframe><noscript>ns</noscript><dialog>dlg</dialog><p>end",
         "seen\n\nend\n");
    HTML("<div>menu</div><main>text</main><footer>foot</footer>", "text\n");
    HTML("<div>menu</div><article>long text</article>", "long text\n");
    /* An article that is a small part of the page is no reason to leave out the rest. */
    HTML("<p>a long text that matters</p><article>ad</article>", "a long text that matters\n\nad\n");
    HTML("<main></main><p>all of it is here", "all of it is here\n");
    expect_refusal(&extract_html_ops, "text:html", SPAN_LIT("<script>app()</script>"), RENDER_INVALID,
                   "has no visible text; what a script writes into it is not there.");
}

static void encodings(void **state)
{
    (void)state;
    HTML("<meta charset=windows-1252><p>caf\xe9", "café\n");
    HTML("<meta http-equiv=content-type content='text/html; charset=Shift_JIS'><p>\x93\x8c\x8b\x9e",
         "東京\n");
    HTML("<p>caf\xc3\xa9<meta charset=windows-1251>", "café\n"); /* valid UTF-8 is UTF-8 */
    HTML("\xff\xfe<\0p\0>\0\xe9\0", "é\n");
    HTML("a\0b", "a b\n");
    HTML("<p>it&#146;s &#128;5 &#x96; &#169; \xc3\x82\xc2\x80 &#129;.", "it’s €5 – © Â€ \xef\xbf\xbd.\n");
    HTML("<label>Name</label><input value=Bob><input type=submit value=Send>.", "Name Bob Send .\n");
}

static void repeat(struct buf *b, const char *text, size_t n)
{
    for (size_t i = 0; i < n; i++)
        buf_adds(b, text);
}

static void deep_nesting_loses_no_text(void **state)
{
    (void)state;
    struct buf page;
    buf_init(&page, 4 << 20);
    repeat(&page, "<div>", 200000); /* 1 MB */
    buf_adds(&page, "deep <b>text</b>");
    repeat(&page, "</div>", 200000);
    buf_adds(&page, "<p>after");
    expect_text(&extract_html_ops, "text:html", buf_span(&page), "deep text\n\nafter\n");
    buf_reset(&page);
    repeat(&page, "<ul><li>x", 3000);
    struct extracted e = extract(&extract_html_ops, "text:html", buf_span(&page));
    assert_int_equal(e.status, RENDER_OK);
    size_t seen = 0;
    for (size_t i = 0; i < e.out.n; i++)
        seen += buf_span(&e.out).p[i] == 'x';
    assert_int_equal(seen, 3000);
    buf_free(&e.out);
    buf_free(&page);
}

static void too_many_elements_are_refused(void **state)
{
    (void)state;
    struct buf page;
    buf_init(&page, 4 << 20);
    repeat(&page, "<b>x", 500001);
    expect_refusal(&extract_html_ops, "text:html", buf_span(&page), RENDER_LIMIT,
                   "has more than 500000 elements.");
    buf_free(&page);
}

static void cut_anywhere(void **state)
{
    (void)state;
    cut_everywhere(
        &extract_html_ops, "text:html",
        SPAN_LIT("\xef\xbb\xbf<!doctype html><!-- c --><html><meta charset=utf-8><main><h2>A<b>b</h2>"
                 "<ul><li>x<a href=\"http://e\">l</a></ul><table><tr><td colspan=2>c&eacute;<td>"
                 "<table><tr><th>d</table></table><pre>p\n</pre><script>var x = '<b>'</script>caf\xc3\xa9"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(blocks),
        cmocka_unit_test(tables),
        cmocka_unit_test(links_and_pictures),
        cmocka_unit_test(what_is_not_seen_is_left_out),
        cmocka_unit_test(encodings),
        cmocka_unit_test(deep_nesting_loses_no_text),
        cmocka_unit_test(too_many_elements_are_refused),
        cmocka_unit_test(cut_anywhere),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
