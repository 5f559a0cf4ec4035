/* The directive filter: exact results for texts as models write them, however they are cut and escaped. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "tests/unit/filters/directive_run.h"

#define OPEN  "<<<HW_ATTACHMENT"
#define CLOSE "HW_ATTACHMENT>>>"
#define META  "\n{\"format\":\"md\"}\n---\n"
#define BODY  META "# A\n"
#define DIR   OPEN BODY CLOSE
#define DONE  "C[" BODY "]"
#define ESC   "\\n{\\\"format\\\":\\\"md\\\"}\\n---\\n# A\\n"
#define X20   "xxxxxxxxxxxxxxxxxxxx"
#define S10   "          "
#define S60   S10 S10 S10 S10 S10 S10

struct row {
    const char *in, *out, *directives;
    unsigned stray;
};

static const struct row rows[] = {
    /* no marker */
    {"", "", "", 0},
    {"plain text, \xc3\xbc, \xf0\x9f\x98\x80, \"quoted\" \\ back/slash\n\ttab", NULL, "", 0},
    {"if a < b and c << 2: cat <<<EOF; x <<< y; <<<<< end <", NULL, "", 0},
    {"a << HW_ATTACHMENT b >> HW_ATTACHMENT >> c", NULL, "", 0},
    {"mid </HW_ATTACHMENT> and >>>HW_ATTACHMENT stay\n>>>HW_ATTACHMENT x\n</HW_ATTACHMENT>", NULL, "", 0},
    {"value <<<HW_ATTACHMEN", NULL, "", 0},
    {"<<<     HW_ATTACHMENT", NULL, "", 0},
    {"HW_ATTACHMENTnineletter>>>", NULL, "", 0},
    {"HW_ATTACHMENT     >>>", NULL, "", 0},
    {"HW_ATTACHMENT >> >", NULL, "", 0},
    {"HW_ATTACHMENT\n>>> &lt;&lt;&lt;HW_ATTACHMENT", NULL, "", 0},
    {"```\ncode\n```\n```js\nmore\n```", NULL, "", 0},
    {"``` \n`` ` ```", NULL, "", 0},
    /* a zero-width or a no-break space in a marker makes it text */
    {"<<<\xe2\x80\x8bHW_ATTACHMENT\n{}\n---\nz\nHW_ATTACHMENT\xe2\x80\x8b>>> R", NULL, "", 0},
    {"<<<\xc2\xa0HW_ATTACHMENT <<<HW_\xe2\x81\xa0"
     "ATTACHMENT",
     NULL, "", 0},

    /* directives in a line */
    {"s " DIR " e", "s  e", DONE, 0},
    {"Done: " DIR, "Done: ", DONE, 0},
    {"A" DIR "B", "AB", DONE, 0},
    {DIR " tail", " tail", DONE, 0},
    {DIR DIR, "", DONE DONE, 0},
    {DIR " " DIR " " DIR " end", "   end", DONE DONE DONE, 0},
    {"s <<<hw_Attachment" BODY "Hw_ATTACHMENT>>> e", "s  e", DONE, 0},
    {"s <<<    HW_ATTACHMENT" BODY CLOSE " e", "s  e", DONE, 0},
    {"s <<<\t HW_ATTACHMENT_2345678" BODY "HW_ATTACHMENT_2345678 \t  >>> e", "s  e", DONE, 0},
    {"s " OPEN ">>>" BODY CLOSE " e", "s  e", DONE, 0},
    {"s " OPEN " {\"a\":1}\n---\nx " CLOSE " e", "s  e", "C[ {\"a\":1}\n---\nx ]", 0},
    {"s " OPEN "{}" CLOSE " e", "s  e", "C[{}]", 0},
    {"s " OPEN "\r\n{}\r\n---\r\nx\r\n" CLOSE " e", "s  e", "C[\r\n{}\r\n---\r\nx\r\n]", 0},
    {"s " OPEN "\n```json\n{}\n```\n---\nx\n" CLOSE " e", "s  e", "C[\n```json\n{}\n```\n---\nx\n]", 0},
    {"s " OPEN " \n ```json {a}\r\n\t{}\n" CLOSE " e", "s  e", "C[ \n ```json {a}\r\n\t{}\n]", 0},
    {"<<<<<"
     "HW_ATTACHMENT" BODY CLOSE "y",
     "<<y", DONE, 0},
    /* the { within 64 characters */
    {"s " OPEN S60 "  \n{}" CLOSE " e", "s  e", "C[" S60 "  \n{}]", 0},
    {"s " OPEN S60 "   \n{}" CLOSE " e", "s " S60 "   \n{} e", "", 2},

    /* closing markers inside a directive */
    {"s " OPEN BODY "<<<" CLOSE " e", "s  e", DONE, 0},
    {"s " OPEN BODY "<<<  HW_ATTACHMENT_x >>> e", "s  e", DONE, 0},
    {"s " OPEN BODY "<<</" CLOSE " e", "s  e", DONE, 0},
    {"s " OPEN BODY "<<<END" CLOSE " e", "s  e", DONE, 0},
    {"s " OPEN BODY "<<<end_" CLOSE " e", "s  e", DONE, 0},
    {"s " OPEN BODY "<<<END " CLOSE " e", "s  e", DONE, 0},
    {"s " OPEN META "x <<<" CLOSE " e", "s  e", "C[" META "x ]", 0},
    {"s " OPEN BODY "</HW_ATTACHMENT> e", "s  e", DONE, 0},
    {"s " OPEN BODY "</hw_attachment>>> e", "s  e", DONE, 0},
    {"s " OPEN BODY "</HW_ATTACHMENT>> e", "s > e", DONE, 0},
    {"s " OPEN META "x </HW_ATTACHMENT> \n" CLOSE " e", "s  e", "C[" META "x </HW_ATTACHMENT> \n]", 0},
    {"s " OPEN BODY ">>>HW_ATTACHMENT e", "s  e", DONE, 0},
    {"s " OPEN BODY ">>>HW_ATTACHMENT>>> e", "s  e", DONE, 0},
    {"s " OPEN BODY ">>>HW_ATTACHMENT_2 >>> e", "s  e", DONE, 0},
    {"s " OPEN BODY ">>>HW_ATTACHMENT_2 >> e", "s _2 >> e", DONE, 0},
    {"s " OPEN META "x >>>HW_ATTACHMENT \n>>> HW_ATTACHMENT\n" CLOSE " e", "s  e",
     "C[" META "x >>>HW_ATTACHMENT \n>>> HW_ATTACHMENT\n]", 0},
    {"s " OPEN META "HW_ATTACHMENTHW_ATTACHMENT>>> e", "s  e", "C[" META "HW_ATTACHMENT]", 0},
    {"s " OPEN META "HW_ATTACHW_ATTACHMENT>>> e", "s  e", "C[" META "HW_ATTAC]", 0},
    {"s " OPEN META "HW_ATTACHMENT_nine_more>>>" CLOSE " e", "s  e", "C[" META "HW_ATTACHMENT_nine_more>>>]",
     0},
    {OPEN META "see <<<HW_ATTACHMENT mid-line\n" CLOSE "\nz", "z",
     "C[" META "see <<<HW_ATTACHMENT mid-line\n]", 0},
    {OPEN META "x\n<<<     HW_ATTACHMENT\n" CLOSE "\nz", "z", "C[" META "x\n<<<     HW_ATTACHMENT\n]", 0},
    {OPEN META "x\n</HW_ATTACHMENTS> </HW_ATTACHMENT >\n" CLOSE "\nz", "z",
     "C[" META "x\n</HW_ATTACHMENTS> </HW_ATTACHMENT >\n]", 0},
    {OPEN META "<<<<HW_ATTACHMENT\n" CLOSE "\nz", "z", "C[" META "<<<<HW_ATTACHMENT\n]", 0},

    /* never closed */
    {"Here. " OPEN META "1,", "Here. ", "U[" META "1,]", 0},
    {"Here. " OPEN META "1\nHW_ATTACHMENT>>", "Here. ", "U[" META "1\nHW_ATTACHMENT>>]", 0},
    {"```\n" OPEN META "1", "", "U[" META "1]", 0},
    {"a\n" OPEN META "no end\n" DIR "\nz", "a\nz", "U[" META "no end\n]" DONE, 0},
    {"s " OPEN META "no end\n" DIR "\nz", "s \nz", "U[" META "no end\n]" DONE, 0},
    {"a " OPEN META "no\n<<<HW_ATTACHMENT_12345678" META "x" CLOSE " z", "a  z",
     "U[" META "no\n]C[8" META "x]", 0},
    {"a " OPEN META "no\n<<<HW_ATTACHMENT >> " CLOSE " z", "a  z", "U[" META "no\n]C[ >> ]", 0},
    {"a " OPEN META "no\n<<<HW_ATTACHMENT", "a ", "U[" META "no\n]U[]", 0},
    {"a\n```\n" OPEN META "no\n" DIR "\n```\nz", "a\nz", "U[" META "no\n]" DONE, 0},

    /* stray markers */
    {"the <<<HW_ATTACHMENT marker", "the  marker", "", 1},
    {"the <<<HW_ATTACHMENT>>> marker", "the  marker", "", 1},
    {"the HW_ATTACHMENT>>> marker", "the  marker", "", 1},
    {"the hw_attachment_12 \t>>>marker", "the marker", "", 1},
    {"a <<<HW_ATTACHMENTABCDEFGHIJ b", "a IJ b", "", 1},
    {"a <<<HW_ATTACHMENT>> b", "a >> b", "", 1},
    {"a <<<HW_ATTACHMENT", "a ", "", 1},
    {"a <<<HW_ATTACHMENT\n", "a \n", "", 1},
    {"a <<<HW_ATTACHMENT\n```js\n", "a \n```js\n", "", 1},
    {"a <<<HW_ATTACHMENT>>", "a >>", "", 1},
    {"a <<<HW_ATTACHMENT\\n x", "a \\n x", "", 1},
    {"a <<<HW_ATTACHMENT\\{}", "a \\{}", "", 1},
    {"a <<<HW_ATTACHMENT\n```\n```\n{} b", "a \n```\n```\n{} b", "", 1},
    {"a <<<HW_ATTACHMENT\n```" X20 "x\n{} b", "a \n```" X20 "x\n{} b", "", 1},
    {"Before. " OPEN "\nno metadata\n---\nraw\n" CLOSE " After.", "Before. \nno metadata\n---\nraw\n After.",
     "", 2},
    {"<<<HW_ATTACHMENT<<<HW_ATTACHMENT x", " x", "", 2},
    {"<<<HW_ATTACHMENT\n" DIR "\nz", "\nz", DONE, 1},
    {"<<<HW_ATTACHMENT\n```js\n" DIR "\n```\nz", "\nz", DONE, 1},
    {"<<<HW_ATTACHMENT ```HW_ATTACHMENT>>>z", " ```z", "", 2},
    {"<<<HW_ATTACHMENTHW_ATTACHMENT>>>z", "HMENT>>>z", "", 1},
    {"<<<END_HW_ATTACHMENT>>>z", "<<<END_z", "", 1},
    {"HW_ATTACHMENTHW_ATTACHMENT>>>z", "HW_ATTACHMENTz", "", 1},
    {"<<<HW_ATT<<<HW_ATTACHMENT z", "<<<HW_ATT z", "", 1},

    /* what a removal would join */
    {"<<<HW_ATT" DIR "ACHMENT z", "<<<HW_ATTACHMEN z", DONE, 1},
    {"x <<" OPEN BODY CLOSE "<HW_ATTACHMENT y", "x <<<HW_ATTACHMEN y", DONE, 1},
    {"HW_ATTACHMENT>>" DIR "> y", "HW_ATTACHMENT>> y", DONE, 1},
    {"HW_ATTACHMENT>>" DIR ">> y", "HW_ATTACHMENT>> y", DONE, 2},
    {"HW_ATTACH" DIR "MENT>>> y", "HW_ATTACHMENT>> y", DONE, 1},
    {"HW_ATT" CLOSE "ACHMENT_2  >>> y", "HW_ATTACHMENT_2  >> y", "", 2},
    {"<<<HW_ATT" OPEN ">>>ACHMENTT z", "<<<HW_ATTACHMEN z", "", 3},
    {"HW_ATTACHMENT" DIR " \n>>> y", "HW_ATTACHMENT \n>>> y", DONE, 0},
    {"HW_ATTACHMENT" DIR "nineletter>>> y", "HW_ATTACHMENTnineletter>>> y", DONE, 0},
    {DIR CLOSE " b", " b", DONE, 1},
    {"a H" DIR "W_ATTACHMENT>>> b", "a HW_ATTACHMENT>> b", DONE, 1},
    {"a H" CLOSE "W_ATTACHMENT>>> b", "a HW_ATTACHMENT>> b", "", 2},
    {"a <" CLOSE "<<"
     "HW_ATTACHMENT b",
     "a <<<HW_ATTACHMEN b", "", 2},
    {"<" DIR "<" DIR "<" DIR "hw_attachment", "<<<hw_attachmen", DONE DONE DONE, 1},

    /* at a line's start */
    {"Here:\n\n" DIR "\n\nBye", "Here:\n\n\nBye", DONE, 0},
    {"a\n" DIR "\n" DIR "\nz", "a\nz", DONE DONE, 0},
    {DIR "\n" DIR "\n\nz", "\nz", DONE DONE, 0},
    {"a\n" DIR DIR "\nz", "a\nz", DONE DONE, 0},
    {"a\n" DIR " \t\r\nz", "a\nz", DONE, 0},
    {"a\n" DIR " \t\rz", "a\n \t\rz", DONE, 0},
    {"a\n" DIR "  ", "a\n  ", DONE, 0},
    {"a\n" DIR S60 "    \nz", "a\nz", DONE, 0},
    {"a\n" DIR S60 "     \nz", "a\n" S60 "     \nz", DONE, 0},
    {"x  \n  " DIR "  \ny", "x  \n    \ny", DONE, 0},
    {"a\n" CLOSE DIR "\nz", "a\nz", DONE, 1},
    {"a\n" OPEN BODY "</HW_ATTACHMENT>>> \nz", "a\nz", DONE, 0},
    {"a\n" OPEN BODY "</HW_ATTACHMENT>\nz", "a\nz", DONE, 0},
    {"a\n" OPEN BODY ">>>HW_ATTACHMENT \nz", "a\nz", DONE, 0},

    /* in a code fence */
    {"Example:\n```\n" DIR "\n```\nUse it.", "Example:\nUse it.", DONE, 0},
    {"```markdown\n" DIR "\n```", "", DONE, 0},
    {"x\n```text\n" DIR "  \n```  \n\ny", "x\n\ny", DONE, 0},
    {"x\n```text\r\n" DIR "\r\n```\r\ny", "x\ny", DONE, 0},
    {"```\n" DIR "\nno closing fence here", "no closing fence here", DONE, 0},
    {"```\n\n" DIR "\n```\nend", "```\n\n```\nend", DONE, 0},
    {"x ```\n" DIR "\n```\nend", "x ```\n```\nend", DONE, 0},
    {"```\ncode\n```\n" DIR "\n```\ncode\n```\n", "```\ncode\ncode\n```\n", DONE, 0},
    {"a `" DIR "` b", "a `` b", DONE, 0},
    {"```" X20 "\n" DIR "\n```\nz", "z", DONE, 0},
    {"```" X20 "x\n" DIR "\n```\nz", "```" X20 "x\n```\nz", DONE, 0},
    {"```\xc3\xbc\xf0\x9f\x98\x80"
     "xxxxxxxxxxxxxxxxxx\n" DIR "\nz",
     "z", DONE, 0},
    {"````\n" DIR "\n````\nz", "````\n````\nz", DONE, 0},
    {"```a`b\n" DIR "\nz", "```a`b\nz", DONE, 0},
    {"Text\n\n```\n" DIR "\n```", "Text\n\n", DONE, 0},
    {"```\n" DIR "\n```js\n" DIR "\n```\nz", "z", DONE DONE, 0},
    {"```\n" DIR "\n" DIR "\n```\nz", "z", DONE DONE, 0},
    {"```\n" DIR "```\nz", "```\nz", DONE, 0},
    {"```\n" DIR "\n```" S10 S10 "\r\nz", "z", DONE, 0},
    {"```\n" DIR "\n```" S10 S10 " \r\nz", "```" S10 S10 " \r\nz", DONE, 0},
    {"```\n" DIR "\nx\n" DIR "\n```\nz", "x\n```\nz", DONE DONE, 0},
    {"```\n" DIR "\n`\n" DIR "\n```\nz", "`\n```\nz", DONE DONE, 0},
    {"```\n" DIR "\n<\n" DIR "\n```\nz", "<\n```\nz", DONE DONE, 0},
    {"```\n" DIR "\n```" X20 "\nz", "```" X20 "\nz", DONE, 0},
    {"```\n<" OPEN BODY CLOSE "\nz", "```\n<\nz", DONE, 0},
    {"```\nx" DIR "\nz", "```\nx\nz", DONE, 0},
    {"```\n```\n" DIR "\n```\nz", "```\nz", DONE, 0},
    {"```\n<<<HW_ATTACHMENT x\nz", "```\n x\nz", "", 1},
    {"```HW_ATTACHMENT>>>\nz", "```\nz", "", 1},
    {"```HW_ATTACHMENT\n" DIR "z", "z", DONE, 0},

    /* in a JSON string */
    {"{\"r\":\"ok " OPEN ESC CLOSE " done\"}", "{\"r\":\"ok  done\"}", "C[" ESC "]", 0},
    {"{\"r\":\"L\\n\\n" OPEN ESC CLOSE "\\nbye\"}", "{\"r\":\"L\\n\\n\\nbye\"}", "C[" ESC "]", 0},
    {"\"" OPEN ESC "</HW_ATTACHMENT> x\"", "\" x\"", "C[" ESC "]", 0},
    {"\"" OPEN " {\\\"a\\\":1}\\n>>>HW_ATTACHMENT x\"", "\" x\"", "C[ {\\\"a\\\":1}\\n]", 0},
    {"\"" OPEN ESC "no\\n" OPEN ESC CLOSE "\"", "\"\"", "U[" ESC "no\\n]C[" ESC "]", 0},
    {"\"" OPEN ESC "no\\\\n</HW_ATTACHMENT>" CLOSE "\"", "\"\"", "C[" ESC "no\\\\n</HW_ATTACHMENT>]", 0},
    {OPEN META "no\\n</HW_ATTACHMENT>" CLOSE, "", "C[" META "no\\n</HW_ATTACHMENT>]", 0},
    {"\"" OPEN "\\r\\n```json\\r\\n\\t{}\\n" CLOSE "\"", "\"\"", "C[\\r\\n```json\\r\\n\\t{}\\n]", 0},
};

static void assert_outcome(const struct row *row, struct span raw, const struct outcome *o)
{
    struct buf got, whole;
    const char *want = row->out ? row->out : row->in;
    buf_init(&got, RUN_MAX);
    buf_init(&whole, RUN_MAX);
    run_unescape(buf_span(&o->out), &got);
    run_unescape(raw, &whole);
    if (!span_is(buf_span(&got), want) || !span_is(buf_span(&o->directives), row->directives) ||
        o->stray != row->stray)
        fail_msg("%s\n  wanted: %s\n  got:    %s\n  wanted: %s\n  got:    %.*s\n  stray:  %u, %u", row->in,
                 want, buf_cstr(&got), row->directives, (int)o->directives.n,
                 o->directives.n ? o->directives.data : "", row->stray, o->stray);
    assert_int_equal(o->kept, got.n);
    assert_int_equal(o->kept + o->removed, whole.n);
    assert_false(run_has_marker(buf_span(&got)));
    buf_free(&got);
    buf_free(&whole);
}

/* Ends the text; the filter is a new one then, for the next. */
static void assert_row(struct directive_filter **f, struct outcome *o, const struct row *row, struct span raw)
{
    directive_filter_finish(*f);
    assert_false(directive_filter_holding(*f));
    assert_int_equal(directive_filter_held_bytes(*f), 0);
    directive_filter_destroy(*f);
    *f = directive_filter_create(&outcome_callbacks, o, RUN_MAX);
    assert_outcome(row, raw, o);
    outcome_finish(o);
    outcome_init(o);
}

static void test_rows(void **state)
{
    (void)state;
    struct outcome o;
    outcome_init(&o);
    struct directive_filter *f = directive_filter_create(&outcome_callbacks, &o, RUN_MAX);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct buf raw;
        uint32_t seed = (uint32_t)i;
        buf_init(&raw, RUN_MAX);
        run_escape(span_str(rows[i].in), NULL, &raw);
        struct span s = buf_span(&raw);
        for (size_t piece = 1; piece <= 7; piece++) {
            run_feed(f, s, piece);
            assert_row(&f, &o, &rows[i], s);
        }
        for (size_t at = 0; at <= s.n; at++) {
            run_feed(f, span_of(s.p, at), s.n + 1);
            run_feed(f, span_from(s, at), s.n + 1);
            assert_row(&f, &o, &rows[i], s);
        }
        for (int n = 0; n < 20; n++) {
            buf_reset(&raw);
            run_escape(span_str(rows[i].in), &seed, &raw);
            run_feed(f, buf_span(&raw), 1 + run_random(&seed) % 40);
            assert_row(&f, &o, &rows[i], buf_span(&raw));
        }
        buf_free(&raw);
    }
    directive_filter_destroy(f);
    outcome_finish(&o);
}

/* More text after an end: `|` in the input is one. */
static void test_going_on(void **state)
{
    (void)state;
    static const struct row ends[] = {
        {"a|b<<|<HW_ATTACHMENT x", "ab<<<HW_ATTACHMENT x", "", 0},
        {"s " DIR "|e", "s e", DONE, 0},
        {"s " OPEN META "one|two " CLOSE " e", "s  e", "U[" META "one]", 0},
        {"s\n" OPEN META "one|two\n" CLOSE "\ne", "s\ne", "U[" META "one]", 0},
        {"s " OPEN META "one|two|three", "s ", "U[" META "one]", 0},
        {"s " OPEN META "one HW_ATT|ACHMENT>>> e", "s  e", "U[" META "one HW_ATT]", 0},
        {"s " OPEN META "one\n<|/HW_ATT|ACHMENT> e", "s  e", "U[" META "one\n<]", 0},
        {"s " OPEN META "one\n|</HW_ATTACHMENT>\ne", "s \ne", "U[" META "one\n]", 0},
        {"s " OPEN META "one|two\n" DIR " e", "s  e", "U[" META "one]" DONE, 0},
        {"s " OPEN META "one\n<<<HW_|ATTACHMENT" BODY CLOSE " e", "s  e", "U[" META "one\n<<<HW_]" DONE, 0},
        {"s " OPEN META "one|two " CLOSE " e " DIR "|" OPEN BODY "|x", "s  e ",
         "U[" META "one]" DONE "U[" BODY "]", 0},
        {"s " OPEN "|" BODY CLOSE " e", "s  e", "", 1},
        {"s " OPEN ">>|>\n|{}x " CLOSE " e", "s >>>\n e", "", 1},
        {"s " OPEN ">>|>\n{}x " CLOSE " e", "s >> e", "", 1},
        {"s " OPEN "\n|and e", "s \nand e", "", 1},
        {"s " OPEN "|| " OPEN BODY CLOSE " e", "s   e", DONE, 1},
        {"```\n" OPEN BODY "|x\n" CLOSE "\n```\ne", "e", "U[" BODY "]", 0},
    };
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++)
        for (size_t piece = 1; piece <= 40; piece++) {
            struct outcome o;
            struct buf got;
            outcome_init(&o);
            buf_init(&got, RUN_MAX);
            struct directive_filter *f = directive_filter_create(&outcome_callbacks, &o, RUN_MAX);
            const char *p = ends[i].in, *end;
            for (;; p = end + 1) {
                struct buf raw;
                end = strchrnul(p, '|');
                buf_init(&raw, RUN_MAX);
                run_escape(span_of(p, (size_t)(end - p)), NULL, &raw);
                run_feed(f, buf_span(&raw), piece);
                buf_free(&raw);
                directive_filter_finish(f);
                assert_false(directive_filter_holding(f));
                if (!*end)
                    break;
            }
            run_unescape(buf_span(&o.out), &got);
            assert_string_equal(buf_cstr(&got), ends[i].out);
            assert_string_equal(buf_cstr(&o.directives), ends[i].directives);
            assert_int_equal(o.stray, ends[i].stray);
            directive_filter_destroy(f);
            outcome_finish(&o);
            buf_free(&got);
        }
}

static void test_marked(void **state)
{
    (void)state;
    static const char *const marked[] = {
        "{\"a\":[NAN,\"<<<HW_ATTACHMENT\"", "x hw_attachment>>>", "\\u003c<\\u003CHW\\u005fATTACHMENT x",
        "<<< \\u0068w_attachmen\\u0054",    "<<<<<HW_ATTACHMENT", "\tHW_HW_ATTACHMENT_2 >>>",
    };
    static const char *const not [] = {"", "HW_ATTACHMENT", "<<<HW_ATTACHMEN", "<<<HW_\\nATTACHMENT", "\\"};
    for (size_t i = 0; i < sizeof marked / sizeof *marked; i++)
        assert_true(directive_marked(span_str(marked[i])));
    for (size_t i = 0; i < sizeof not / sizeof *not ; i++)
        assert_false(directive_marked(span_str(not [i])));
}

/* Text without a marker keeps its own spelling. */
static void test_spelling(void **state)
{
    (void)state;
    static const char raw[] = "hi \\ud83d\\ude00! \\ud83d x \\ude00 \\u00e9\\/ \\u003c\\u003C< \\u0048W_ATT "
                              "\\u0060``\\n\\u0000 \\\"";
    struct buf text;
    buf_init(&text, RUN_MAX);
    run_unescape(SPAN_LIT(raw), &text);
    for (size_t piece = 1; piece < sizeof raw; piece++) {
        struct outcome o;
        outcome_init(&o);
        struct directive_filter *f = directive_filter_create(&outcome_callbacks, &o, RUN_MAX);
        run_feed(f, SPAN_LIT(raw), piece);
        directive_filter_finish(f);
        assert_string_equal(buf_cstr(&o.out), raw);
        assert_int_equal(o.removed, 0);
        assert_int_equal(o.kept, text.n);
        directive_filter_destroy(f);
        outcome_finish(&o);
    }
    buf_free(&text);
}

/* A surrogate pair in two pieces, lone halves and a NUL inside a directive. */
static void test_unescaping(void **state)
{
    (void)state;
    struct outcome o;
    outcome_init(&o);
    struct directive_filter *f = directive_filter_create(&outcome_callbacks, &o, RUN_MAX);
    directive_filter_feed(f, SPAN_LIT("\\u003c<<H\\u0057_ATTACHMENT{\\ud83d"));
    directive_filter_feed(f, SPAN_LIT("\\ude00\\ud83d\\ud83d x\\ude00\\u0000\\u00e9\\u20ac\\/\xe2"));
    directive_filter_feed(f, SPAN_LIT("\x82\xac\\ud800HW_ATTACHMENT\\u003e>>"));
    static const char want[] =
        "C[{\xf0\x9f\x98\x80\xef\xbf\xbd\xef\xbf\xbd x\xef\xbf\xbd\0\xc3\xa9\xe2\x82\xac/"
        "\xe2\x82\xac\xef\xbf\xbd]";
    assert_int_equal(o.directives.n, sizeof want - 1);
    assert_memory_equal(o.directives.data, want, sizeof want - 1);
    assert_int_equal(o.out.n, 0);
    directive_filter_destroy(f);
    outcome_finish(&o);
}

/* Everything that is decided has been passed on at the end of a feed, and not before. */
static void test_timing(void **state)
{
    (void)state;
    static const struct {
        const char *feed, *out;
        bool holding;
    } steps[] = {
        {"ab", "ab", false},
        {"c <", "abc ", true},
        {"<", "abc ", true},
        {"< ", "abc ", true},
        {"x", "abc <<< x", false},
        {" H", "abc <<< x ", true},
        {"e", "abc <<< x He", false},
        {"\\n", "abc <<< x He\\n", false},
        {"``", "abc <<< x He\\n", true},
        {"`js\\n<<<HW", "abc <<< x He\\n", true},
        {"x", "abc <<< x He\\n```js\\n<<<HWx", false},
        {"<<<HW_ATTACHMENT", "abc <<< x He\\n```js\\n<<<HWx", true},
        {"\\n{}", "abc <<< x He\\n```js\\n<<<HWx", true},
        {"HW_ATTACHMENT>>>", "abc <<< x He\\n```js\\n<<<HWx", false},
        {"\\n", "abc <<< x He\\n```js\\n<<<HWx\\n", false},
        {"<<<HW_ATTACHMENT{}HW_ATTACHMENT>>>", "abc <<< x He\\n```js\\n<<<HWx\\n", false},
        {"  ", "abc <<< x He\\n```js\\n<<<HWx\\n", true},
        {"\\n", "abc <<< x He\\n```js\\n<<<HWx\\n", false},
        {"z", "abc <<< x He\\n```js\\n<<<HWx\\nz", false},
    };
    struct outcome o;
    outcome_init(&o);
    struct directive_filter *f = directive_filter_create(&outcome_callbacks, &o, RUN_MAX);
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
        directive_filter_feed(f, span_str(steps[i].feed));
        assert_string_equal(buf_cstr(&o.out), steps[i].out);
        assert_int_equal(directive_filter_holding(f), steps[i].holding);
    }
    directive_filter_destroy(f);
    outcome_finish(&o);
}

/* After each character of whatever table text: at most so many characters are neither passed on nor taken
 * out. */
static void test_bounds(void **state)
{
    (void)state;
    static const char *const longest[] = {
        "```" X20 "\r\n<<<    HW_ATTACHMENT_1234567>>>" S60 "            x",
        "```" X20 "\r\n<<<    HW_ATTACHMENT_1234567>>>\n```" X20 "\r\n" S60 "     x",
        "```\n" DIR S60 S60 "\nx",
        "```\n" DIR S60 "   \r\n```" S60 "\nx",
        "HW_ATTACHMENT_1234567    >>HW_ATTACHMENT_1234567    >>",
        "```HW_ATTACHMENT_123456 >>",
        OPEN BODY ">>>HW_ATTACHMENT_1234567    >> x",
    };
    size_t most = 0, texts = sizeof rows / sizeof *rows;
    for (size_t i = 0; i < texts + sizeof longest / sizeof *longest; i++) {
        struct outcome o;
        outcome_init(&o);
        struct directive_filter *f = directive_filter_create(&outcome_callbacks, &o, RUN_MAX);
        const char *text = i < texts ? rows[i].in : longest[i - texts];
        for (size_t at = 0; text[at]; at++) {
            struct buf raw;
            buf_init(&raw, RUN_MAX);
            run_escape(span_of(text + at, 1), NULL, &raw);
            directive_filter_feed(f, buf_span(&raw));
            buf_free(&raw);
            size_t held = at + 1 - o.kept - o.removed;
            assert_true(held <= LIMIT_HELD_TEXT + LIMIT_HELD_BLANK);
            most = held > most ? held : most;
        }
        directive_filter_destroy(f);
        outcome_finish(&o);
    }
    assert_int_equal(most, 3 + 20 + 2 + 7 + 13 + 8 + 3 + 63);
}

/* Bytes that are no UTF-8 do not make a fence line endless. */
static void test_no_utf8(void **state)
{
    (void)state;
    struct outcome o;
    outcome_init(&o);
    struct directive_filter *f = directive_filter_create(&outcome_callbacks, &o, RUN_MAX);
    directive_filter_feed(f, SPAN_LIT("```"));
    for (int i = 0; i < 10000; i++)
        directive_filter_feed(f, SPAN_LIT("\x80"));
    assert_int_equal(o.out.n, 10003);
    for (int i = 0; i < 10000; i++)
        directive_filter_feed(f, SPAN_LIT("\\ude00"));
    assert_int_equal(o.out.n, 70003);
    directive_filter_destroy(f);
    outcome_finish(&o);
}

static void test_too_large(void **state)
{
    (void)state;
    static const struct {
        size_t max, length;
        const char *end;
        char how;
    } cases[] = {
        {100, 100, CLOSE, 'C'},
        {100, 101, CLOSE, 'L'},
        {100, 100, "<<<END_HW_ATTACHMENT_1234567    >>>", 'C'},
        {100, 1000, CLOSE, 'L'},
        {100, 230, CLOSE, 'L'},
        {0, 5, CLOSE, 'L'},
        {100, 1000, "", 'U'},
        {1000, 100000, CLOSE, 'L'},
        {100, 100, "", 'U'},
        {SIZE_MAX, 5000, CLOSE, 'C'},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (size_t piece = 1; piece <= 512; piece *= 8) {
            struct outcome o;
            struct buf raw;
            outcome_init(&o);
            buf_init(&raw, RUN_MAX);
            buf_adds(&raw, OPEN "{");
            for (size_t n = 1; n < cases[i].length; n++)
                buf_addc(&raw, n % 7 && piece < 10 ? 'h' : 'x');
            buf_adds(&raw, cases[i].end);
            buf_adds(&raw, cases[i].how == 'U' ? "" : " e");
            struct directive_filter *f = directive_filter_create(&outcome_callbacks, &o, cases[i].max);
            run_feed(f, buf_span(&raw), piece);
            directive_filter_finish(f);
            assert_string_equal(buf_cstr(&o.out), cases[i].how == 'U' ? "" : " e");
            size_t fits = cases[i].length < cases[i].max ? cases[i].length : cases[i].max;
            assert_int_equal(o.directives.n, fits + 3);
            assert_int_equal(o.directives.data[0], cases[i].how);
            if (fits)
                assert_memory_equal(o.directives.data + 2, raw.data + sizeof OPEN - 1, fits);
            directive_filter_destroy(f);
            buf_free(&raw);
            outcome_finish(&o);
        }
}

/* The cap does not hide where another directive begins, nor leave half a character. */
static void test_too_large_second(void **state)
{
    (void)state;
    struct outcome o;
    outcome_init(&o);
    struct directive_filter *f = directive_filter_create(&outcome_callbacks, &o, 10);
    directive_filter_feed(f, SPAN_LIT(OPEN "{1234567\xc3\xbc\xe2\x82\xac"));
    for (int i = 0; i < 100; i++)
        directive_filter_feed(f, SPAN_LIT("abcdefghi\\n"));
    directive_filter_feed(f, SPAN_LIT(OPEN "S {}" CLOSE));
    directive_filter_feed(f, SPAN_LIT(OPEN "{23456789\xf0\x9f\x98\x80 and more" CLOSE));
    assert_string_equal(buf_cstr(&o.directives), "U[{1234567\xc3\xbc]C[ {}]L[{23456789]");
    assert_int_equal(o.out.n, 0);
    directive_filter_destroy(f);
    outcome_finish(&o);
}

/* Nothing is allocated while nothing is held; the callee may take the text. */
static void take_text(void *arg, struct buf *text, enum directive_end how)
{
    assert_int_equal(how, DIRECTIVE_COMPLETE);
    buf_move(arg, text);
}

static void ignore_text(void *arg, struct span escaped)
{
    (void)arg;
    (void)escaped;
}

static void test_taking(void **state)
{
    (void)state;
    static const struct directive_callbacks callbacks = {.text = ignore_text, .directive = take_text};
    struct buf text;
    buf_init(&text, 1000);
    struct directive_filter *f = directive_filter_create(&callbacks, &text, 1000);
    assert_int_equal(directive_filter_held_bytes(f), 0);
    directive_filter_feed(f, SPAN_LIT("x " OPEN " {"));
    assert_true(directive_filter_held_bytes(f) > 0);
    directive_filter_feed(f, SPAN_LIT("}" CLOSE " y"));
    assert_string_equal(buf_cstr(&text), " {}");
    assert_int_equal(directive_filter_held_bytes(f), 0);
    directive_filter_destroy(f);
    directive_filter_destroy(NULL);
    buf_free(&text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rows),       cmocka_unit_test(test_going_on),
        cmocka_unit_test(test_marked),     cmocka_unit_test(test_spelling),
        cmocka_unit_test(test_unescaping), cmocka_unit_test(test_timing),
        cmocka_unit_test(test_bounds),     cmocka_unit_test(test_no_utf8),
        cmocka_unit_test(test_too_large),  cmocka_unit_test(test_too_large_second),
        cmocka_unit_test(test_taking),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
