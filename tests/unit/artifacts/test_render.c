/* formats, artifact_render, base64 and what bytes are. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "artifacts/artifact.h"
#include "artifacts/sniff.h"
#include "artifacts/utf8.h"

struct row {
    const char *format, *content;
    enum flag flag;
    const char *bytes; /* NULL: the content as it is */
};

static void check(const struct row *r, bool base64)
{
    struct directive_parts p = {.base64 = base64};
    struct buf out;
    char sentence[LIMIT_ERROR_TEXT];
    const struct format *format = format_find_any(span_str(r->format));
    assert_non_null(format);
    buf_init(&p.content, 1 << 20);
    buf_init(&p.metadata, 1);
    buf_init(&out, 1 << 20);
    buf_adds(&p.content, r->content);
    enum flag flag = artifact_render(&p, format, &out, sentence);
    if (flag != r->flag)
        fail_msg("%s [%s]: %s (%s)", r->format, r->content, flag_name(flag), sentence);
    assert_int_equal(flag == FLAG_NONE, sentence[0] == '\0');
    if (flag == FLAG_NONE && strcmp(buf_cstr(&out), r->bytes ? r->bytes : r->content) != 0)
        fail_msg("%s [%s] became [%s]", r->format, r->content, buf_cstr(&out));
    buf_free(&out);
    directive_parts_free(&p);
}

static void text_formats(void **state)
{
    (void)state;
    static const struct row rows[] = {
        {"md", "# A", FLAG_NONE, NULL},
        {"markdown", "", FLAG_NONE, NULL},
        {"txt", "x\r\n\ty ", FLAG_NONE, NULL},
        {"python", "print(1)", FLAG_NONE, NULL},
        {"html", "<script>x()</script>", FLAG_NONE, NULL},
        {"json", "{\"a\": [1, 1e3, 123456789012345678901234567890]}\n", FLAG_NONE, NULL},
        {"json", "7", FLAG_NONE, NULL},
        {"json", "{\"open\": [1,", FLAG_INVALID_CONTENT, NULL},
        {"json", "{} {}", FLAG_INVALID_CONTENT, NULL},
        {"json", "", FLAG_INVALID_CONTENT, NULL},
        {"yaml", "a: 1\nb: [x, y]\n", FLAG_NONE, NULL},
        {"yml", "a: [1\n", FLAG_INVALID_CONTENT, NULL},
        {"xml",
         "<?xml version=\"1.0\"?>\n<!DOCTYPE a [<!ENTITY b \">\">]>\n<!-- c --><a x='1' "
         "y=\">\"><b/><![CDATA[<]]>t</a>\n",
         FLAG_NONE, NULL},
        {"xml", "<a><b></a></b>", FLAG_INVALID_CONTENT, NULL},
        {"xml", "<a/><b/>", FLAG_INVALID_CONTENT, NULL},
        {"xml", "<a x=1/>", FLAG_INVALID_CONTENT, NULL},
        {"xml", "<a>", FLAG_INVALID_CONTENT, NULL},
        {"xml", "text", FLAG_INVALID_CONTENT, NULL},
        {"xml", "", FLAG_INVALID_CONTENT, NULL},
        {"svg", "<svg xmlns=\"http://www.w3.org/2000/svg\"><path d=\"M0 0\"/></svg>", FLAG_NONE, NULL},
        {"svg", "<svg:svg></svg:svg>", FLAG_NONE, NULL},
        {"svg", "<html></html>", FLAG_INVALID_CONTENT, NULL},
        {"svg", "{\"type\":\"bar\"}", FLAG_INVALID_CONTENT, NULL},
        {"ics", "BEGIN:VCALENDAR\nEND:VCALENDAR", FLAG_NONE, NULL},
        {"ics", "lunch at one", FLAG_INVALID_CONTENT, NULL},
        {"vcf", "begin:vcard\nEND:VCARD", FLAG_NONE, NULL},
        {"docx", "# A", FLAG_UNSUPPORTED_FORMAT, NULL},
        {"png", "{\"type\":\"bar\"}", FLAG_UNSUPPORTED_FORMAT, NULL},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        check(&rows[i], false);
}

static void json_is_repaired_once(void **state)
{
    (void)state;
    static const struct row rows[] = {
        {"json", "{'a': 1, 'b': [1, 2,],} // done", FLAG_NONE, "{\"a\":1,\"b\":[1,2]}"},
        {"json", "[{\"a\":\"x\",},\n # note\n 1e300, 12345678901234567890123]", FLAG_NONE,
         "[{\"a\":\"x\"},1e300,12345678901234567890123]"},
        {"json", "{\"a\":1} {\"b\":2,}", FLAG_INVALID_CONTENT, NULL},
        {"json", "[1, 2,] // two", FLAG_NONE, "[1,2]"},
        {"json", "[1, 2", FLAG_INVALID_CONTENT, NULL},
        {"json", "x, y", FLAG_INVALID_CONTENT, NULL},
        {"geojson", "{\"type\":\"Point\",\"coordinates\":[1,2,]}", FLAG_NONE,
         "{\"type\":\"Point\",\"coordinates\":[1,2]}"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        check(&rows[i], false);
}

/* The inside of an <svg> element. */
static void drawings_only_draw(void **state)
{
    (void)state;
    static const char *const good[] = {
        "<defs><linearGradient id=\"g\"><stop offset=\"0\"/></linearGradient></defs><rect fill=\"url(#g)\"/>",
        "<use xlink:href=\"#a\"/><a href=\"#top\"><text>x &lt; y</text></a>",
        "<image href=\"data:image/png;base64,iVBORw0KGgo=\"/><image href=' DATA:image/jpeg;base64,/9j/'/>",
        "<style>.a{fill:url('#g')} .b > .c {stroke:red}</style><style><![CDATA[.a{fill:red}]]></style>",
        "<metadata><rdf:RDF xmlns:rdf=\"http://www.w3.org/1999/02/22-rdf-syntax-ns#\"/></metadata>",
        "<sodipodi:namedview/><text>javascript:</text><text aria-label=\"C:\\x\">on</text>",
        "<animate attributeName=\"x\" from=\"0\" to=\"9\" dur=\"1s\"/>",
    };
    static const char *const bad[] = {
        "<script>x()</script>",
        "<svg:SCRIPT/>",
        "<x:script xmlns:x=\"http://www.w3.org/1999/xhtml\"/>",
        "<x:b xmlns:x=\"http://www.w3.org/1999/&#120;html\"/>",
        "<foreignObject><p/></foreignObject>",
        "<p>x</p>",
        "<x:iframe/>",
        "<rect onclick=\"x()\"/>",
        "<rect ONLOAD='x'/>",
        "<a href=\"https://h.test/\"><rect/></a>",
        "<a xlink:href=\"javascript:x()\"/>",
        "<use href=\"other.svg#a\"/>",
        "<image href=\"data:image/svg+xml;base64,AAAA\"/>",
        "<image href=\"//h.test/a.png\"/>",
        "<rect fill=\"url(http://h.test/a)\"/>",
        "<rect fill=\"&#117;RL( 'http://h.test/a')\"/>",
        "<rect fill=\"&#x75;rl(//h.test)\"/>",
        "<rect style=\"fill:\\75rl(//h.test)\"/>",
        "<style>@import 'x.css';</style>",
        "<style>a{b:c}<![CDATA[@IMPORT 'x']]></style>",
        "<style>@&#105;mport 'x'</style>",
        "<style>@\\69mport 'x'</style>",
        "<style>a{background:url(//h.test/x)}</style>",
        "<set attributeName=\"href\" to=\"javascript:x()\"/>",
        "<set attributeName=\"onclick\" to=\"x()\"/>",
        "<?xml-stylesheet href=\"http://h.test/a.css\"?>",
    };
    char text[512];
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
        snprintf(text, sizeof text, "<svg xmlns=\"http://www.w3.org/2000/svg\">%s</svg>", good[i]);
        check(&(struct row){"svg", text, FLAG_NONE, NULL}, false);
    }
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        snprintf(text, sizeof text, "<svg xmlns=\"http://www.w3.org/2000/svg\">%s</svg>", bad[i]);
        check(&(struct row){"svg", text, FLAG_INVALID_CONTENT, NULL}, false);
    }
    check(&(struct row){"svg", "<!DOCTYPE svg [<!ENTITY a \"x\">]><svg/>", FLAG_INVALID_CONTENT, NULL},
          false);
    check(&(struct row){"svg", "<?xml-stylesheet href='a.css'?><svg/>", FLAG_INVALID_CONTENT, NULL}, false);
    check(&(struct row){"svg", "<svg onload=\"x()\"/>", FLAG_INVALID_CONTENT, NULL}, false);
    check(&(struct row){"svg",
                        "<?xml version='1.0'?><!DOCTYPE svg PUBLIC \"-//W3C//DTD SVG 1.1//EN\" \"x\"><svg/>",
                        FLAG_NONE, NULL},
          false);
}

static void tables_run_no_formula(void **state)
{
    (void)state;
    static const struct row rows[] = {
        {"csv", "m,v\njan,3", FLAG_NONE, NULL},
        {"csv", "a,b\r\n\"x, y\",-3.5\r\n-7,+1.5e3\r\n-,12%\r\n", FLAG_NONE, NULL},
        {"csv", "a\n=1+1", FLAG_NONE, "a\n'=1+1"},
        {"csv", "a,b\n=cmd|'/c echo hi'!B1,1\n+1+1,-3.5\n@SUM(A1),\t=2\n\"\u200b=HYPERLINK(\"\"h\"\")\",-7",
         FLAG_NONE,
         "a,b\n'=cmd|'/c echo hi'!B1,1\n'+1+1,-3.5\n'@SUM(A1),'\t'=2\n\"'\u200b=HYPERLINK(\"\"h\"\")\",-7"},
        {"csv", "a,b\n  =1, \"=2\"\n\"\n=3\",\"x\"", FLAG_NONE, "a,b\n'  =1, \"'=2\"\n\"'\n=3\",\"x\""},
        {"csv", "a,b\n\uff1d1,\uff0b1", FLAG_NONE, "a,b\n'\uff1d1,'\uff0b1"},
        {"csv", "a;b\n1;=2\n-3;4", FLAG_NONE, "a;b\n1;'=2\n-3;4"},
        {"csv", "a,b\nx;=2,well; then", FLAG_NONE, "a,b\nx;'=2,well; then"},
        {"csv", "a,b\n\"x;=2\",-1-1", FLAG_NONE, "a,b\n\"x;=2\",'-1-1"},
        {"csv", "a,\"b", FLAG_NONE, NULL},
        {"csv", "a,b\n\"\"=1+1,\" \"\"\"=2,\"-\"1", FLAG_NONE, "a,b\n\"'\"=1+1,\"' \"\"\"=2,\"'-\"1"},
        {"csv", "a,b\n\"x\"=1,\"\" ,\"-1\" ", FLAG_NONE, NULL},
        {"csv", "a,b\nx\t=1+1,y\t-2", FLAG_NONE, "a,b\nx\t'=1+1,y\t-2"},
        {"csv", "", FLAG_NONE, NULL},
        {"tsv", "a\tb\n=1\t-2\n\t@x", FLAG_NONE, "a\tb\n'=1\t-2\n\t'@x"},
        {"txt", "=1+1", FLAG_NONE, NULL},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        check(&rows[i], false);
}

static void base64_content(void **state)
{
    (void)state;
    static const struct row rows[] = {
        {"txt", "aGVsbG8=", FLAG_NONE, "hello"},
        {"txt", "aGVs\nbG8", FLAG_NONE, "hello"},
        {"txt", "data:text/plain;base64,aGVsbG8=", FLAG_NONE, "hello"},
        {"txt", "hello world!", FLAG_INVALID_CONTENT, NULL},
        {"txt", "a", FLAG_INVALID_CONTENT, NULL},
        {"txt", "iVBORw0KGgo=", FLAG_INVALID_CONTENT, NULL},
        {"txt", "/////w==", FLAG_INVALID_CONTENT, NULL},
        {"csv", "PTErMQ==", FLAG_NONE, "'=1+1"},
        {"json", "ew==", FLAG_INVALID_CONTENT, NULL},
        {"png", "iVBORw0KGgo=", FLAG_NONE, "\x89PNG\r\n\x1a\n"},
        {"jpg", "iVBORw0KGgo=", FLAG_INVALID_CONTENT, NULL},
        {"pdf", "JVBERi0xLjQK", FLAG_NONE, "%PDF-1.4\n"},
        {"docx", "JVBERi0xLjQK", FLAG_INVALID_CONTENT, NULL},
        {"zip", "aGVsbG8=", FLAG_INVALID_CONTENT, NULL},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        check(&rows[i], true);
    check(&(struct row){"png", "iVBORw0KGgo=", FLAG_NONE, "\x89PNG\r\n\x1a\n"}, false); /* forgot to say so */
}

static void finds_formats(void **state)
{
    (void)state;
    assert_string_equal(format_find(SPAN_LIT("Markdown"))->name, "md");
    assert_string_equal(format_find(SPAN_LIT(".YML"))->name, "yaml");
    assert_string_equal(format_find(SPAN_LIT("text/csv; charset=utf-8"))->name, "csv");
    assert_string_equal(format_find(SPAN_LIT("c++"))->name, "cpp");
    assert_string_equal(format_find(SPAN_LIT("md"))->media_type, "text/markdown; charset=utf-8");
    assert_null(format_find(SPAN_LIT("docx")));
    assert_null(format_find(SPAN_LIT("image")));
    assert_null(format_find_any(SPAN_LIT("image")));
    assert_null(format_find_any(SPAN_LIT("")));
    assert_null(format_find_any(SPAN_LIT("no-such-format")));
    assert_string_equal(format_find_binary(SPAN_LIT("jpeg"))->name, "jpg");
    struct buf out;
    buf_init(&out, 1024);
    formats_offered(NULL, &out);
    assert_string_equal(buf_cstr(&out), "md, txt, html, json, yaml, xml, svg, ics, vcf, csv, tsv, log");
    buf_free(&out);
}

/* A ZIP with one stored member, as office programs begin theirs. */
static void sniffs(void **state)
{
    (void)state;
    static const char odt[] = "PK\3\4\x14\0\0\0\0\0\0\0\0\0\0\0\0\0\x27\0\0\0\x27\0\0\0\x08\0\0\0mimetype"
                              "application/vnd.oasis.opendocument.text";
    assert_string_equal(sniff_extension(SPAN_LIT(odt)), "odt");
    assert_string_equal(sniff_extension(SPAN_LIT("PK\3\4")), "zip");
    assert_string_equal(sniff_extension(SPAN_LIT("GIF89a...")), "gif");
    assert_string_equal(sniff_extension(SPAN_LIT("RIFF\0\0\0\0WEBPVP8 ")), "webp");
    assert_string_equal(sniff_extension(SPAN_LIT("\0\0\0\x18"
                                                 "ftypM4A ")),
                        "m4a");
    assert_null(sniff_extension(SPAN_LIT("hello")));
    assert_null(sniff_extension(SPAN_LIT("")));
    assert_true(sniff_fits("docx", format_find_binary(SPAN_LIT("zip"))));
    assert_false(sniff_fits("zip", format_find_binary(SPAN_LIT("docx"))));
}

static void utf8_validity(void **state)
{
    (void)state;
    assert_true(utf8_valid(SPAN_LIT("a\u00fc\u20ac\U0001f600\ufffd")));
    assert_false(utf8_valid(SPAN_LIT("\xc0\x80")));
    assert_false(utf8_valid(SPAN_LIT("\xed\xa0\x80")));
    assert_false(utf8_valid(SPAN_LIT("\xf4\x90\x80\x80")));
    assert_false(utf8_valid(SPAN_LIT("\xe2\x82")));
    assert_int_equal(utf8_cut(SPAN_LIT("a\u20ac"), 3), 1);
    assert_int_equal(utf8_cut(SPAN_LIT("a\u20ac"), 4), 4);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(text_formats),
        cmocka_unit_test(json_is_repaired_once),
        cmocka_unit_test(drawings_only_draw),
        cmocka_unit_test(tables_run_no_formula),
        cmocka_unit_test(base64_content),
        cmocka_unit_test(finds_formats),
        cmocka_unit_test(sniffs),
        cmocka_unit_test(utf8_validity),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
