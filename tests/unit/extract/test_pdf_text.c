/* What becomes of pdftotext's pages: columns, blanks, hyphens, and text that is none. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "attachments/pdf_text.h"

enum { ROOM = 1 << 16 };

static void expect(const char *laid_out, const char *in_order, const char *wanted)
{
    struct buf out;
    buf_init(&out, ROOM);
    pdf_text_write(span_str(laid_out), span_str(in_order), &out);
    assert_string_equal(buf_cstr(&out), wanted);
    buf_free(&out);
}

static void pages_and_blanks(void **state)
{
    (void)state;
    expect("Invoice 7741\n\f", "", "Invoice 7741");
    expect("one\n\n\ftwo  \n\f", "", "one\n\n<!-- Page 2 -->\n\ntwo");
    expect("one\n\f\fthree\n\f", "",
           "one\n\n<!-- Page 2 -->\n\n(no text on this page)\n\n<!-- Page 3 -->\n\nthree");
    expect("Name          Ann\nAge   7\n\f", "", "Name    Ann\nAge   7");
    expect("a\n\n\n\n\nb\n\f", "", "a\n\nb");
    expect("no form feed", "", "no form feed");
    expect("", "", "");
}

static void characters(void **state)
{
    (void)state;
    expect("Donau\xc2\xad\ndampf\xc2\xadschiff\n\f", "", "Donaudampfschiff");
    expect("Donau\xc2\xad\n   dampf\n\f", "", "Donaudampf");
    expect("end\xc2\xad\n\nnew\n\f", "", "end\n\nnew");
    expect("a\x01\x1b[31mb\x7f\xc2\x85\n\f", "", "a[31mb");
    expect("\xff\xfe ok \xc3", "", "\xef\xbf\xbd\xef\xbf\xbd ok \xef\xbf\xbd");
    expect("\xed\xa0\x80", "", "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd"); /* a surrogate */
    expect("\xe2\x82\xac \xf0\x9f\x98\x80", "", "\xe2\x82\xac \xf0\x9f\x98\x80");
}

static void visible(void **state)
{
    (void)state;
    assert_false(pdf_text_visible(SPAN_LIT(" \n\f\t\xc2\xa0\xe2\x80\x8b\xc2\xad\x01")));
    assert_false(pdf_text_visible(SPAN_LIT("")));
    assert_false(pdf_text_visible(SPAN_LIT("\xff\xff")));
    assert_true(pdf_text_visible(SPAN_LIT("\f\f .")));
}

#define L "the left column has a line of prose "
#define R "   and so has the right one of these\n"
static const char two_columns[] = "                A title over both\n\n" L R L R L R L R L R L R "\f";

static void columns(void **state)
{
    (void)state;
    assert_true(pdf_text_has_columns(SPAN_LIT(two_columns)));
    /* A form, a table of three columns, and too few lines are read as they are laid out. */
    assert_false(pdf_text_has_columns(
        SPAN_LIT("Name:      Ann\nAge:       7\nTown:      Ulm\nStreet:    B\nNo:        "
                 "1\nPhone:     2\nMail:      3\n\f")));
    assert_false(pdf_text_has_columns(
        SPAN_LIT("a long first cell of it   a long second cell of it   a long third cell\n"
                 "a long first cell of it   a long second cell of it   a long third cell\n"
                 "a long first cell of it   a long second cell of it   a long third cell\n"
                 "a long first cell of it   a long second cell of it   a long third cell\n"
                 "a long first cell of it   a long second cell of it   a long third cell\n"
                 "a long first cell of it   a long second cell of it   a long third cell\n\f")));
    assert_false(pdf_text_has_columns(SPAN_LIT(L R L R "\f")));
    expect(two_columns, "in reading order\n\f", "in reading order");
    expect(two_columns, "of another\n\flength\n\f",
           "    A title over both\n\n" L R L R L R L R L R L "   and so has the right one of these");
}
#undef L
#undef R

/* Cut anywhere, what is written is text, and no longer than what came in but for the marks. */
static void cut_anywhere(void **state)
{
    static const char text[] =
        "One \xc2\xad\n\xe2\x82\xac   \xf0\x9f\x98\x80\f\f  two \xff\n\n\n\x02 three\f";
    (void)state;
    for (size_t n = 0; n <= sizeof text - 1; n++) {
        struct buf out;
        buf_init(&out, ROOM);
        pdf_text_write(span_of(text, n), span_of(text, n / 2), &out);
        for (size_t i = 0; i < out.n; i++)
            assert_true((unsigned char)buf_span(&out).p[i] >= 0x20 || buf_span(&out).p[i] == '\n');
        buf_free(&out);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pages_and_blanks), cmocka_unit_test(characters),   cmocka_unit_test(visible),
        cmocka_unit_test(columns),          cmocka_unit_test(cut_anywhere),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
