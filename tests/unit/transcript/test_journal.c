/* Journals: whole, cut at every byte, damaged, running. The examples have their raw documents byte for byte.
 */
#include "transcript/journal.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>

#include <cmocka.h>

#include "base/json.h"
#include "base/xalloc.h"
#include "transcript/transcript.h"

enum { MOST = 1 << 20 };

static const char whole[] =
    "{\"ev\":\"thread\",\"thread\":\"t\",\"author\":\"ana\"}\n"
    "{\"ev\":\"begin\",\"id\":\"r1\",\"role\":\"expert\",\"at_us\":2051319840000000,\"query\":\"Find\\nit\"}"
    "\n"
    "{\"ev\":\"begin\",\"id\":\"s1\",\"role\":\"specialist\",\"at_us\":2051319841000000,\"consult_id\":"
    "\"c\\u0031\","
    "\"headline\":\"H\",\"query\":\"\"}\n"
    "{\"ev\":\"end\",\"id\":\"s1\",\"at_us\":2051319842000000,\"text\":\"Half "
    "a\",\"reasoning\":\"why\",\"tool_calls\":"
    "[{\"id\":\"x\",\"name\":\"ls\",\"arguments\":{\"a\":\"\\\"b\\\"\"}}],\"end\":{\"cause\":\"upstream_"
    "closed\"}}\n"
    "{\"ev\":\"end\",\"id\":\"r1\",\"at_us\":2051319843000000,\"text\":\"Done.\",\"tool_calls\":[{\"id\":"
    "\"c\\u0031\","
    "\"name\":\"ask\",\"arguments\":\"find\"},{\"id\":\"y\",\"name\":\"cat\",\"arguments\":\"f\"},7],"
    "\"citations\":"
    "[{\"url\":\"https://h/"
    "\"}],\"artifacts\":[{\"filename\":\"a.txt\",\"bytes\":3}],\"end\":{\"cause\":\"finish\"}}\n";

/* The document; it is the caller's. */
static char *to_raw(struct span journal, const struct journal_live *live, size_t skipped)
{
    struct journal *j;
    struct error e;
    struct buf raw;
    char *tight = xmalloc(journal.n + 1);
    buf_init(&raw, MOST);
    memcpy(tight, journal.p, journal.n);
    const struct span lines = span_of(tight, journal.n);
    const struct source source = source_text(&lines);
    assert_int_equal(journal_open(&source, SPAN_LIT("na\"me"), live, &j, &e), 0);
    assert_int_equal(journal_to_raw(j, &raw, &e), 0);
    if (journal_skipped(j) != skipped)
        print_error("skipped %zu: %.*s\n", journal_skipped(j), (int)journal.n, journal.p);
    assert_int_equal(journal_skipped(j), skipped);
    assert_int_equal(journal_runs(j), strstr(buf_cstr(&raw), "WORKFLOW_RUNNING") != NULL);
    journal_close(j);
    struct span document;
    assert_true(json_document(buf_span(&raw), &document));
    char *text = xspandup(buf_span(&raw));
    buf_free(&raw);
    xfree(tight);
    return text;
}

static void assert_has(const char *text, const char *piece)
{
    if (strstr(text, piece))
        return;
    print_error("%s\nlacks\n%s\n", text, piece);
    fail();
}

static void test_whole(void **state)
{
    (void)state;
    char *raw = to_raw(SPAN_LIT(whole), NULL, 0);
    assert_has(raw, "{\"thread_id\":\"t\",\"author\":\"ana\",\"mode\":\"consult\",\n\"entries\":[\n");
    /* The anchor knows the call's arguments when the consult has no query of its own. */
    assert_has(raw, "{\"id\":\"c\\u0031\",\"headline\":\"H\",\"status\":\"\",\"is_background_anchor\":true,"
                    "\"objective_chunks\":[\"find\"],\"steps\":[]}");
    assert_has(
        raw, "{\"id\":\"y\",\"tool_name\":\"cat\",\"title\":\"\",\"items\":[{\"type\":\"WORKFLOW_ITEM_TEXT\","
             "\"payload\":{\"text_payload\":{\"text\":\"f\",\"is_mono\":true}}}]}");
    assert_has(raw,
               "\"artifacts\":[{\"filename\":\"a.txt\",\"bytes\":3}],\"sources\":[{\"url\":\"https://h/\"}],"
               "\"end\":{\"cause\":\"finish\"}");
    /* Arguments that are an object become its text; what did not finish is no answer. */
    assert_has(raw,
               "{\"id\":\"s1:reasoning\",\"title\":\"Reasoning\",\"items\":[{\"type\":\"WORKFLOW_ITEM_TEXT\","
               "\"payload\":{\"text_payload\":{\"text\":\"why\",\"variant\":\"thought\"}}}]},{\"id\":\"x\","
               "\"tool_name\":\"ls\",\"title\":\"\",\"items\":[{\"type\":\"WORKFLOW_ITEM_TEXT\",\"payload\":"
               "{\"text_payload\":{\"text\":\"{\\\"a\\\":\\\"\\\\\\\"b\\\\\\\"\\\"}\",\"is_mono\":true}}}]}");
    assert_has(raw, "{\"text_payload\":{\"text\":\"Half a\"}}");
    xfree(raw);
}

/* Every beginning of it is a journal, and the line that is cut is left out with one warning. */
static void test_cut_anywhere(void **state)
{
    size_t lines = 0;
    (void)state;
    for (size_t n = 0; n < sizeof whole; n++) {
        bool between = n == 0 || whole[n - 1] == '\n' || whole[n] == '\n';
        xfree(to_raw(span_of(whole, n), NULL, between ? 0 : 1));
        lines += n > 0 && whole[n - 1] == '\n';
    }
    assert_int_equal(lines, 5);
}

/* A program died in the middle of a line, and the next one went on behind it. */
static void test_torn_and_continued(void **state)
{
    static const char first[] = "{\"ev\":\"begin\",\"id\":\"a\",\"query\":\"{\\\"ev\\\":1}\"}";
    static const char second[] = "{\"ev\":\"begin\",\"id\":\"b\",\"query\":\"two\"}\n";
    (void)state;
    for (size_t n = 0; n < sizeof first; n++) {
        struct buf journal;
        buf_init(&journal, MOST);
        buf_addn(&journal, first, n);
        buf_adds(&journal, second);
        char *raw = to_raw(buf_span(&journal), NULL, 0);
        assert_has(raw, "\"query_str\":\"two\"");
        buf_free(&journal);
        xfree(raw);
    }
}

static void test_damaged(void **state)
{
    static const char journal[] =
        "\n[]\n7\n{}\n{\"ev\":\"else\"}\n{\"ev\":\"begin\"}\n{\"ev\":\"begin\",\"id\":7}\n"
        "{\"ev\":\"end\",\"id\":\"nobody\"}\n"
        "{\"ev\":\"end\",\"id\":\"r\",\"at_us\":\"x\",\"text\":[],\"tool_calls\":{},\"end\":[]}\n"
        "{\"ev\":\"begin\",\"id\":\"r\",\"role\":5,\"at_us\":1.5,\"query\":null,\"attachments\":\"no\"}\n"
        "{\"ev\":\"begin\",\"id\":\"r\",\"query\":\"again\"}\n   \n";
    (void)state;
    char *raw = to_raw(SPAN_LIT(journal), NULL, 6);
    assert_has(
        raw,
        "{\"thread_id\":\"na\\\"me\",\"mode\":\"consult\",\n\"entries\":[\n {\"uuid\":\"r\",\"created_us\":0,"
        "\"entry_created_datetime\":\"1970-01-01T00:00:00.000000Z\",\"updated_us\":0,"
        "\"entry_updated_datetime\":\"1970-01-01T00:00:00.000000Z\",\"query_str\":\"\",\"blocks\":"
        "[{\"workflow_block\":{\"status\":\"WORKFLOW_AWAITING_NEXT_STEPS\",\"steps\":[]}}]}],\n"
        "\"background_entries\":[]}\n");
    xfree(raw);
}

static bool is_running(void *arg, int64_t run)
{
    return run == *(const int64_t *)arg;
}

static void test_running(void **state)
{
    static const char journal[] =
        "{\"ev\":\"begin\",\"id\":\"a\",\"query\":\"\",\"run\":6}\n"
        "{\"ev\":\"begin\",\"id\":\"b\",\"query\":\"\",\"run\":7}\n"
        "{\"ev\":\"begin\",\"id\":\"c\",\"query\":\"\",\"run\":7}\n"
        "{\"ev\":\"begin\",\"id\":\"d\",\"query\":\"\"}\n{\"ev\":\"end\",\"id\":\"c\"}\n";
    int64_t running = 7;
    struct journal_live live = {.is_running = is_running, .arg = &running};
    (void)state;
    char *raw = to_raw(SPAN_LIT(journal), &live, 0);
    const char *b = strstr(raw, "\"uuid\":\"b\"");
    assert_non_null(b);
    assert_has(b, "\"end\":{\"cause\":\"running\"},\"query_str\":\"\",\"blocks\":[{\"workflow_block\":"
                  "{\"status\":\"WORKFLOW_RUNNING\"");
    const char *first = strstr(raw, "running");
    assert_true(first > b);
    assert_null(strstr(first + 1, "running"));
    assert_has(raw, "WORKFLOW_AWAITING_NEXT_STEPS");
    xfree(raw);
}

static void test_parent(void **state)
{
    static const char journal[] =
        "{\"ev\":\"begin\",\"id\":\"e\",\"query\":\"Q\",\"at_us\":5}\n"
        "{\"ev\":\"begin\",\"id\":\"s\",\"role\":\"specialist\",\"parent\":\"e\",\"headline\":\"Side\","
        "\"query\":\"do\"}\n"
        "{\"ev\":\"end\",\"id\":\"e\",\"text\":\"A\",\"end\":{\"cause\":\"finish\"}}\n";
    (void)state;
    char *raw = to_raw(SPAN_LIT(journal), NULL, 0);
    struct transcript *t;
    struct error e;
    struct buf turn;
    buf_init(&turn, MOST);
    assert_int_equal(transcript_load(span_str(raw), (struct span){0}, &t, &e), 0);
    assert_int_equal(transcript_turn(t, 1, &turn), 0);
    assert_has(buf_cstr(&turn),
               "### Step 1 · 🤖 Subagent: Side · ⏸ interrupted, pending continuation\n\n**Prompt:**"
               "\n\n> do\n");
    transcript_destroy(t);
    buf_free(&turn);
    xfree(raw);
}

static void test_caps(void **state)
{
    const struct span text = SPAN_LIT(whole), long_text = span_of(whole, (size_t)TRANSCRIPT_DOCUMENT + 1);
    const struct source source = source_text(&text), long_source = source_text(&long_text);
    struct error e = {0};
    struct journal *j;
    struct buf raw;
    (void)state;
    assert_int_equal(journal_open(&source, SPAN_LIT(""), NULL, &j, &e), 0);
    for (size_t most = 0, good = 0; !good; most++) { /* whatever the cap is, no more than it */
        buf_init(&raw, most);
        good = journal_to_raw(j, &raw, &e) == 0;
        assert_true(raw.n <= most && most < MOST);
        assert_true(good || (e.code == ERROR_REQUEST_TOO_LARGE && strstr(e.message, " bytes")));
        buf_free(&raw);
    }
    journal_close(j);
    assert_int_equal(journal_open(&long_source, SPAN_LIT(""), NULL, &j, &e), -1);
}

/* A file of which a part cannot be read, before and after it was looked through. */
struct failing {
    struct span text;
    size_t good; /* bytes from here on cannot be read */
};

static int read_failing(void *arg, size_t at, size_t n, struct buf *out)
{
    const struct failing *f = arg;
    return at + n > f->good ? -1 : buf_addn(out, f->text.p + at, n);
}

static void test_cannot_be_read(void **state)
{
    struct failing f;
    struct source source = {.read = read_failing, .arg = &f};
    struct journal_summary summary;
    struct transcript *t;
    struct journal *j;
    struct error e;
    struct buf text, out;
    (void)state;
    buf_init(&text, MOST);
    buf_init(&out, MOST);
    buf_adds(&text, whole);
    for (unsigned i = 0; i < 20; i++)
        buf_printf(&text, "{\"ev\":\"begin\",\"id\":\"more%u\",\"query\":\"Q\"}\n", i);
    f = (struct failing){.text = buf_span(&text)};
    source.n = text.n;
    assert_int_equal(journal_open(&source, SPAN_LIT(""), NULL, &j, &e), -1);
    assert_int_equal(journal_summarize(&source, &summary), -1);
    journal_summary_free(&summary);
    f.good = text.n;
    assert_int_equal(journal_open(&source, SPAN_LIT(""), NULL, &j, &e), 0);
    assert_int_equal(transcript_load_journal(j, &t, &e), 0);
    f.good = 0;
    assert_int_equal(journal_to_raw(j, &out, &e), -1);
    assert_non_null(strstr(e.message, "try again"));
    assert_false(transcript_failed(t));
    assert_int_equal(transcript_turn(t, 3, &out), 0); /* one that is not remembered */
    assert_true(transcript_failed(t));
    transcript_destroy(t);
    assert_int_equal(transcript_load_journal(j, &t, &e), -1);
    journal_close(j);
    buf_free(&text);
    buf_free(&out);
}

static void test_summary(void **state)
{
    struct journal_summary s;
    (void)state;
    struct span text = SPAN_LIT(whole);
    struct source source = source_text(&text);
    assert_int_equal(journal_summarize(&source, &s), 0);
    assert_string_equal(buf_cstr(&s.id), "t");
    assert_string_equal(buf_cstr(&s.title), "Find");
    assert_string_equal(buf_cstr(&s.author), "ana");
    assert_true(s.last_us == 2051319843000000);
    assert_int_equal(s.experts, 1);
    assert_int_equal(s.specialists, 1);
    assert_int_equal(s.skipped, 0);
    journal_summary_free(&s);
    text = SPAN_LIT("{\"ev\":\"thread\",\"title\":\"T\"}\nx\n");
    source = source_text(&text);
    assert_int_equal(journal_summarize(&source, &s), 0);
    assert_string_equal(buf_cstr(&s.title), "T");
    assert_int_equal(s.skipped, 1);
    assert_true(s.last_us == 0);
    journal_summary_free(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_whole),
        cmocka_unit_test(test_cut_anywhere),
        cmocka_unit_test(test_torn_and_continued),
        cmocka_unit_test(test_damaged),
        cmocka_unit_test(test_running),
        cmocka_unit_test(test_parent),
        cmocka_unit_test(test_caps),
        cmocka_unit_test(test_cannot_be_read),
        cmocka_unit_test(test_summary),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
