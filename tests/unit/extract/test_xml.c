/* XML as events, trees and small trees; what is refused. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "attachments/xml.h"
#include "zip_made.h"

static struct extraction x;
static char sentence[RENDER_SENTENCE];
static struct arena memory;

static struct xml_node *tree(struct span bytes)
{
    struct xml_node *root;
    sentence[0] = '\0';
    extraction_init(&x, sentence, 1000);
    arena_free(&memory);
    return xml_tree(bytes, "part.xml", &memory, &root, &x) ? NULL : root;
}

static void a_tree_is_walked_by_local_names(void **state)
{
    (void)state;
    struct xml_node *root =
        tree(SPAN_LIT("<?xml version='1.0'?><w:p xmlns:w='u' w:rsidR='1' id='2' r:id='3'>a&amp;b"
                      "<w:pPr><q><r v='x'/></q></w:pPr><w:t> </w:t>c<![CDATA[<d>]]></w:p>"));
    assert_non_null(root);
    assert_string_equal(root->name, "p");
    assert_string_equal(root->qualified, "w:p");
    assert_null(xml_get(root, "rsidR"));
    assert_string_equal(xml_get(root, "id"), "2");
    assert_string_equal(xml_get_prefixed(root, "id"), "3");
    assert_string_equal(xml_get(xml_at(root, "pPr/q/r"), "v"), "x");
    assert_null(xml_at(root, "pPr/r"));
    assert_ptr_equal(xml_find(root, "r"), xml_at(root, "pPr/q/r"));
    assert_null(xml_find(root, "z"));
    assert_null(xml_find(xml_at(root, "t"), "r"));
    struct buf text;
    buf_init(&text, 100);
    xml_text(root, &text);
    assert_string_equal(buf_cstr(&text), "a&b c<d>");
    buf_free(&text);
}

static void what_is_hostile_is_refused(void **state)
{
    (void)state;
    static const struct {
        const char *xml, *says;
    } cases[] = {
        {"<!DOCTYPE a [<!ENTITY b 'c'>]><a>&b;</a>", "declares a document type (DTD) in part.xml"},
        {"<!DOCTYPE a SYSTEM 'file:///etc/passwd'><a/>", "declares a document type"},
        {"<a>&b;</a>", "not well-formed XML (line 1: undefined entity)"},
        {"<a><b></a>", "line 1: mismatched tag"},
        {"<a", "is damaged: part.xml is not well-formed"},
        {"", "no element found"},
        {"<a>\x01</a>", "not well-formed"},
        {"<a>\xff</a>", "not well-formed"},
        {"<?xml version='1.0' encoding='x-none'?><a/>", "unknown encoding"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        assert_null(tree(span_str(cases[i].xml)));
        assert_int_equal(x.status, RENDER_INVALID);
        if (!strstr(sentence, cases[i].says))
            fail_msg("%s: says %s", cases[i].xml, sentence);
    }
}

static void depth_and_number_are_capped(void **state)
{
    (void)state;
    struct buf deep;
    buf_init(&deep, 1 << 24);
    for (int i = 0; i < 300; i++)
        buf_adds(&deep, "<a>");
    assert_null(tree(buf_span(&deep)));
    assert_string_equal(sentence, "nests elements too deeply in part.xml: more than 256.");
    assert_int_equal(x.status, RENDER_INVALID);
    buf_reset(&deep);
    buf_adds(&deep, "<a>");
    for (int i = 0; i < 1000; i++)
        buf_adds(&deep, "<b/>");
    buf_adds(&deep, "</a>");
    assert_null(tree(buf_span(&deep)));
    assert_string_equal(sentence, "has more than 1000 elements; split it.");
    assert_int_equal(x.status, RENDER_LIMIT);
    buf_free(&deep);
}

static int count(void *user, const struct xml_node *node)
{
    struct buf *seen = user;
    buf_printf(seen, "%s(", node->name);
    xml_text(node, seen);
    buf_adds(seen, ")");
    return 0;
}

static void units_come_one_at_a_time(void **state)
{
    (void)state;
    static const char document[] = "<d><z><p>no</p></z><w:body> "
                                   "<p>a<b>b</b></p>loose<p/><tbl>c</tbl></w:body><body><p>no</p></body></d>";
    const struct zip_member member = {"d", {document, sizeof document - 1}, 0, 0, 8};
    struct buf zip, seen;
    buf_init(&zip, 1 << 20);
    buf_init(&seen, 1 << 20);
    zip_make(&zip, &member, 1);
    extraction_init(&x, sentence, 1000);
    struct archive *a = archive_open(buf_span(&zip), &x);
    assert_int_equal(xml_units(a, "d", "body", count, &seen), 0);
    assert_string_equal(buf_cstr(&seen), "p(ab)p()tbl(c)");
    archive_close(a);
    buf_free(&zip);
    buf_free(&seen);
}

static void every_cut_is_refused(void **state)
{
    (void)state;
    static const char document[] = "<a b='c'>d<e f=\"g&lt;\">\xc3\xa4</e><!-- i --><k/></a>";
    for (size_t n = 0; n < sizeof document - 1; n++) {
        assert_null(tree(span_of(document, n)));
        assert_int_equal(x.status, RENDER_INVALID);
    }
    assert_non_null(tree(span_of(document, sizeof document - 1)));
}

static int finish(void **state)
{
    (void)state;
    arena_free(&memory);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_tree_is_walked_by_local_names),
        cmocka_unit_test(what_is_hostile_is_refused),
        cmocka_unit_test(depth_and_number_are_capped),
        cmocka_unit_test(units_come_one_at_a_time),
        cmocka_unit_test(every_cut_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, finish);
}
