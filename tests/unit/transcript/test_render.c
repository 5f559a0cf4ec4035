/* Single rules of loading and drawing, and documents that are nothing of what they should be. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "base/xalloc.h"
#include "transcript/thread.h"

enum { MOST = 64 << 20 };

static struct transcript *load_two(const char *plain, const char *blocks)
{
    struct transcript *t;
    struct error e = {0};
    if (transcript_load(span_str(plain), span_str(blocks), &t, &e)) {
        print_error("%s\n", e.message);
        fail();
    }
    return t;
}

static struct transcript *load(const char *text)
{
    return load_two(text, "");
}

/* conversation.md and all turns, behind each other; the caller frees it. */
static char *draw(const struct transcript *t)
{
    struct buf out;
    buf_init(&out, MOST);
    assert_int_equal(transcript_draw(t, TRANSCRIPT_CONVERSATION, &out), 0);
    for (unsigned i = 1; i <= t->nturns; i++)
        assert_int_equal(transcript_turn(t, i, &out), 0);
    char *text = xspandup(buf_span(&out));
    buf_free(&out);
    return text;
}

static char *show_text(const char *document)
{
    struct transcript *t = load(document);
    char *text = draw(t);
    transcript_destroy(t);
    return text;
}

static void assert_has(const char *text, const char *piece)
{
    if (strstr(text, piece))
        return;
    fprintf(stderr, "%s\nlacks\n%s\n", text, piece);
    fail();
}

static void assert_draws(const char *document, const char *piece)
{
    char *text = show_text(document);
    assert_has(text, piece);
    xfree(text);
}

/* A turn with one step that has these items. */
#define STEP(items)                                                                                          \
    "{\"entries\":[{\"query_str\":\"Q\",\"blocks\":[{\"workflow_block\":{\"status\":\"\",\"steps\":[{"       \
    "\"items\":[" items "]}]}}]}]}"
#define TEXT(members) "{\"type\":\"WORKFLOW_ITEM_TEXT\",\"payload\":{\"text_payload\":{" members "}}}"
/* A folded block with these items. */
#define NESTED(items)                                                                                        \
    "{\"type\":\"WORKFLOW_ITEM_WORKFLOW\",\"payload\":{\"workflow_payload\":{\"id\":\"n\",\"headline\":"     \
    "\"N\",\"steps\":"                                                                                       \
    "[{\"items\":[" items "]}]}}}"

static void test_items(void **state)
{
    (void)state;
    assert_draws(STEP(TEXT("\"chunks\":[\"a\",1,\"b\"]")), "### Step 1\n\nab\n\n## Answer");
    assert_draws(STEP(TEXT("\"text\":\"x\\n\\ny\",\"variant\":\"thinking\"")), "\n> x\n>\n> y\n");
    assert_draws(STEP(TEXT("\"text\":\"x \\n\",\"header\":\"Output\"")), "\n```\nx\n```\n");
    assert_draws(STEP(TEXT("\"text\":\"<summary>\"")), "\n<summary>\n");
    assert_draws(STEP(NESTED(TEXT("\"text\":\"a</details>\""))), "\n\na&lt;/details>\n\n</details>\n");
    assert_draws(STEP(NESTED(TEXT("\"text\":\"a</details>\",\"is_mono\":true"))),
                 "\n```\na</details>\n```\n");
    assert_draws(STEP("{\"type\":\"ODD_<ONE>\"}"), "\n(ODD_&lt;ONE&gt;)\n");
    assert_draws(STEP("{}"), "\n(unknown)\n");
    assert_draws(STEP("{\"type\":\"WORKFLOW_ITEM_WORKFLOW\"}"), "\n(WORKFLOW_ITEM_WORKFLOW)\n");
    assert_draws(
        STEP("{\"type\":\"WORKFLOW_ITEM_QUERIES\",\"payload\":{\"queries_payload\":{\"queries\":[\"a\\nb\","
             "{\"query\":\"c\"},7]}}}"),
        "\n**Queries:**\n\n- a b\n- c\n\n");
    assert_draws(
        STEP("{\"type\":\"WORKFLOW_ITEM_TODO_LIST\",\"payload\":{\"todo_list_payload\":{\"items\":[{"
             "\"status\":"
             "\"completed\",\"description\":\"a\"},{\"status\":\"TODO_IN_PROGRESS\",\"description\":\"b\"},"
             "{\"status\":\"in "
             "progress\",\"description\":\"c\"},{\"status\":\"incomplete\",\"description\":\"d\"},"
             "{\"description\":\"e\"}]}}}"),
        "\n**Tasks**\n\n- [x] a\n- [/] b\n- [/] c\n- [ ] d\n- [ ] e\n\n");
}

static void test_tables(void **state)
{
    (void)state;
#define TABLE(payload)                                                                                       \
    STEP("{\"type\":\"WORKFLOW_ITEM_TABLE\",\"payload\":{\"table_payload\":{" payload "}}}")
    assert_draws(TABLE("\"columns\":[\"a\",{\"name\":\"b\"}],\"rows\":[{\"cells\":{\"b\":{\"value\":1.5},"
                       "\"a\":\"x|y\"}},"
                       "[1,2,3],{\"cells\":{\"a\":null,\"b\":true,\"c\":{\"k\":0.1}}}]"),
                 "\n| a | b | c |\n| --- | --- | --- |\n| x｜y | 1.5 |  |\n| 1 | 2 | 3 |\n|  | true | "
                 "{\"k\":0.1} |\n\n");
    assert_draws(TABLE("\"rows\":[[\"a\",\"b\"]]"), "\n|  |  |\n| --- | --- |\n| a | b |\n");
    assert_draws(TABLE(""), "\n(WORKFLOW_ITEM_TABLE)\n");
}

#define SOURCES(list)                                                                                        \
    "{\"type\":\"WORKFLOW_ITEM_SOURCES\",\"payload\":{\"sources_payload\":{\"sources\":[" list "]}}}"

static void test_sources(void **state)
{
    static const char two[] =
        "{\"name\":\"A\",\"url\":\"https://a\"},{\"title\":\"B\",\"url\":\"https://b\"},"
        "{\"name\":\"again\",\"url\":\"https://a\"},{\"name\":\"none\"},7";
    char document[2048];
    struct buf out;
    (void)state;
    snprintf(document, sizeof document, STEP(SOURCES("%s")), two);
    assert_draws(document, "\n\n**Sources:**\n\n- [A](https://a)\n- [B](https://b)\n\n## Answer");
    snprintf(document, sizeof document, STEP(NESTED(SOURCES("%s"))), two);
    assert_draws(
        document,
        "<summary>🧩 Nested workflow: N (1 step · no conclusion · 2 sources)</summary>\n\n"
        "(no work steps recorded)\n\n**Sources:**\n\n- [A](https://a)\n- [B](https://b)\n\n</details>");
    snprintf(document, sizeof document,
             "{\"entries\":[{\"query\":\"q\",\"sources\":[%s]}],\"background_entries\":[{\"sources\":[{"
             "\"url\":\"https://c\","
             "\"snippet\":\"s\"}]}]}",
             two);
    struct transcript *t = load(document);
    buf_init(&out, MOST);
    assert_int_equal(transcript_draw(t, TRANSCRIPT_SOURCES_MD, &out), 0);
    assert_string_equal(buf_cstr(&out), "1. [A](https://a)\n2. [B](https://b)\n3. [https://c](https://c)\n");
    buf_reset(&out);
    assert_int_equal(transcript_draw(t, TRANSCRIPT_SOURCES_JSON, &out), 0);
    assert_has(buf_cstr(&out),
               "{\n \"count\": 3,\n \"sources\": [\n  {\n   \"name\": \"A\",\n   \"url\": \"https://a\",\n"
               "   \"snippet\": \"\",\n   \"timestamp\": \"\"\n  },\n");
    assert_int_equal(transcript_entry(t).sources, 3);
    buf_free(&out);
    transcript_destroy(t);
    assert_draws(document, "## Turn sources\n\n- [A](https://a)\n- [B](https://b)\n");
}

/* The answer of each, in the order of the rule. */
static void test_answers(void **state)
{
#define ANSWERED(text, block)                                                                                \
    "{\"entries\":[{\"text\":" text ",\"blocks\":[{\"workflow_block\":{\"steps\":[{\"items\":[" block        \
    "]}]}}]}]}"
#define FINAL(answer) "{\"step_type\":\"FINAL\",\"content\":{\"answer\":" answer "}}"
    static const struct {
        const char *document, *answer;
    } rows[] = {
        {ANSWERED("[" FINAL("\"a\"") "," FINAL("\"b\"") "]", ""), "b"},
        {ANSWERED("[" FINAL("\"a\"") "," FINAL("\" \"") "]", ""), "a"},
        {ANSWERED("\"[{\\\"step_type\\\":\\\"FINAL\\\",\\\"content\\\":{\\\"answer\\\":\\\"in text\\\"}}]\"",
                  ""),
         "in text"},
        {ANSWERED("[" FINAL("{\"answer\":\"obj\"}") "]", ""), "obj"},
        {ANSWERED("[" FINAL("\"{\\\"answer\\\":\\\"inner\\\"}\"") "]", ""), "inner"},
        {ANSWERED("[" FINAL("\"a\"") "," FINAL("\"{\\\"snapshots\\\":[]}\"") "]", ""), "a"},
        {ANSWERED("[" FINAL("\"{no json\"") "]", ""), "{no json"},
        {ANSWERED("[" FINAL("7") "]",
                  TEXT("\"text\":\"one\",\"variant\":\"answer\"") "," TEXT(
                      "\"text\":\"two\",\"variant\":\"answer\"") "," TEXT("\"text\":\" \",\"variant\":"
                                                                          "\"answer\"")),
         "two"},
        {ANSWERED("\"plain\"", ""), "(none)"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char wanted[128];
        snprintf(wanted, sizeof wanted, "\n### Answer\n%s\n", rows[i].answer);
        assert_draws(rows[i].document, wanted);
    }
    /* What was recorded is the model's own text, whatever it looks like. */
    assert_draws("{\"entries\":[{\"end\":{\"cause\":\"finish\"},\"text\":[" FINAL(
                     "\"{\\\"answer\\\":\\\"x\\\",\\\"n\\\":1}\"") "]}]}",
                 "\n### Answer\n{\"answer\":\"x\",\"n\":1}\n");
    /* An anchored consult's conclusion, when the turn has no answer. */
    assert_draws(
        "{\"entries\":[{\"blocks\":[{\"workflow_block\":{\"steps\":[{\"id\":\"c:workflow\",\"tool_name\":"
        "\"run_subagent\"}]}}]}],\"background_entries\":[{\"blocks\":[{\"workflow_block\":{\"steps\":[{"
        "\"items\":[{"
        "\"type\":\"WORKFLOW_ITEM_WORKFLOW\",\"payload\":{\"workflow_payload\":{\"id\":\"c\",\"headline\":"
        "\"H\"}}}]}]"
        "}}],\"text\":[" FINAL("\"its answer\"") "]}]}",
        "### Answer\nits answer\n");
}

static void test_turn_parts(void **state)
{
    assert_draws(
        "{\"entries\":[{\"query_str\":\"Q\",\"created_us\":\"2051319840000000\",\"reasoning\":\"because\","
        "\"attachments\":[{\"name\":\"a\\nb.csv\",\"type\":\"file\",\"media_type\":\"text/csv\",\"bytes\":7},"
        "{\"type\":\"log\",\"characters\":812},7,{}],\"artifacts\":[{\"filename\":\"x.pdf\",\"bytes\":9}]}]}",
        "# Turn 1 — 2035-01-02 03:04 UTC\n\n## Query\n\nQ\n\n## Attachments\n\n- a b.csv · text/csv · 7 "
        "bytes\n"
        "- log · 812 characters\n- unnamed\n\n## Rationale\n\n> because\n\n## Answer\n\n(none)\n\n## "
        "Files\n\n"
        "- x.pdf · 9 bytes\n");
    (void)state;
}

static void test_titles_and_modes(void **state)
{
    static const struct {
        const char *document, *title, *mode;
    } rows[] = {
        {"{\"title\":\" T \",\"mode\":\"own\"}", "T", "own"},
        {"{\"metadata\":{\"title\":\"older\"}}", "older", "consult"},
        {"{\"thread_metadata\":{\"title\":\"meta\"},\"entries\":[{\"query\":\"q\"}]}", "meta", "consult"},
        {"{\"entries\":[{\"query\":\" \"},{\"query\":\" \\n first "
         "line\\nsecond\",\"search_mode\":\"SEARCH\"},"
         "{\"search_mode\":\"ASI\"},{\"search_mode\":\"STUDY\"}]}",
         "first line", "computer"},
        {"{\"entries\":[{\"search_mode\":\"STUDIO\"}]}", "untitled", "search"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct transcript *t = load(rows[i].document);
        struct transcript_entry entry = transcript_entry(t);
        assert_true(span_is(entry.title, rows[i].title));
        assert_true(span_is(entry.mode, rows[i].mode));
        transcript_destroy(t);
    }
}

/* Modes without background work have neither anchors nor an appendix. */
static void test_modes_without_waterfall(void **state)
{
    static const char document[] = "{\"mode\":\"%s\",\"background_entries\":[{\"query\":\"side\"}]}";
    char text[256];
    (void)state;
    snprintf(text, sizeof text, document, "search");
    struct transcript *t = load(text);
    assert_int_equal(t->nrecords, 0);
    assert_int_equal(transcript_entry(t).interruptions, 0);
    transcript_destroy(t);
    snprintf(text, sizeof text, document, "council");
    assert_draws(text, "🤖 Background task: side (0 steps");
}

static void test_two_files(void **state)
{
    static const char plain[] =
        "{\"thread_id\":\"t\",\"entries\":[{\"uuid\":\"a\",\"query_str\":\"plain\",\"text\":[" FINAL(
            "\"A\"") "]},{\"uuid\":\"p\","
                     "\"query_str\":\"only "
                     "plain\"}],\"background_entries\":[{\"uuid\":\"b\",\"query_str\":\"side\"}]}";
    static const char blocks[] = "{\"title\":\"From "
                                 "blocks\",\"entries\":[{\"uuid\":\"a\",\"query_str\":\"blocks\",\"trigger\":"
                                 "\"x\",\"locked_reason\":\"l\","
                                 "\"blocks\":[{\"workflow_block\":{\"status\":\"WORKFLOW_CANCELED\"}}]},{"
                                 "\"uuid\":\"q\",\"query_str\":\"only blocks\"}],"
                                 "\"background_entries\":[{\"uuid\":\"b\",\"blocks\":[{\"workflow_block\":{"
                                 "\"status\":\"WORKFLOW_ODD\"}}]}]}";
    (void)state;
    struct transcript *t = load_two(plain, blocks), *turned = load_two(blocks, plain);
    char *text = draw(t), *same = draw(turned);
    assert_string_equal(text, same);
    assert_has(text, "# From blocks\n");
    assert_has(text, "### Query\nplain\n\n### Answer\nA\n");
    assert_has(text, "only plain");
    assert_has(text, "only blocks");
    assert_has(text, "> Status: `WORKFLOW_ODD`");
    assert_has(text, "## Work process (0 steps · WORKFLOW_CANCELED · ⛔ canceled)");
    assert_int_equal(t->nturns, 3);
    assert_true(span_is(t->turns[0].locked, "l"));
    xfree(text);
    xfree(same);
    transcript_destroy(t);
    transcript_destroy(turned);
}

/* ---- places ---- */

#define PAYLOAD(members, items)                                                                              \
    "{\"type\":\"WORKFLOW_ITEM_WORKFLOW\",\"payload\":{\"workflow_payload\":{" members                       \
    ",\"steps\":[{\"items\":[" items "]}]}}}"
#define ENTRY(items)                "{\"blocks\":[{\"workflow_block\":{\"steps\":[{\"items\":[" items "]}]}}]}"
#define THREAD(entries, background) "{\"entries\":[" entries "],\"background_entries\":[" background "]}"
#define RECORD(id, text)                                                                                     \
    ENTRY(PAYLOAD("\"id\":\"" id "\",\"headline\":\"R " id "\"", TEXT("\"text\":\"" text "\"")))
#define ANCHOR(id) "\"id\":\"" id "\",\"headline\":\"A " id "\",\"is_background_anchor\":true"

/* A turn that has its own copy of a record is where the record is; a second copy says where. */
static void test_own_copies(void **state)
{
    static const char copy[] = PAYLOAD("\"id\":\"x\",\"headline\":\"C\"", TEXT("\"text\":\"own copy\""));
    char document[4096];
    (void)state;
    snprintf(document, sizeof document, THREAD(ENTRY("%s") "," ENTRY("%s"), RECORD("x", "background")), copy,
             copy);
    char *text = show_text(document);
    assert_has(text, "<summary>🧩 Nested workflow: C (1 step · no conclusion)</summary>\n\nown copy\n");
    assert_has(text, "### Step 1\n\n(subagent C: recorded under turn 1)\n");
    assert_null(strstr(text, "Background tasks"));
    assert_null(strstr(text, "background"));
    xfree(text);
}

/* An anchor of which the background knows nothing shows what the turn knows. */
static void test_anchor_without_record(void **state)
{
    (void)state;
    assert_draws(
        THREAD(ENTRY(PAYLOAD(ANCHOR("x"), TEXT("\"text\":\"work\"") "," TEXT("\"text\":\"end\",\"variant\":"
                                                                             "\"answer\""))),
               ""),
        "### Step 1 · 🤖 Subagent: A x\n\n**Subagent work:**\n\nwork\n\n**Subagent "
        "conclusion:**\n\nend\n\n"
        "## Answer\n\nend\n");
}

/* Anchors in payloads, in copies of anchors, in records. */
static void test_nested_anchors(void **state)
{
    (void)state;
    assert_draws(THREAD(ENTRY(PAYLOAD("\"id\":\"n\",\"headline\":\"N\"", PAYLOAD(ANCHOR("x"), ""))),
                        RECORD("x", "rx")),
                 "<summary>🧩 Nested workflow: N (1 step · no "
                 "conclusion)</summary>\n\n<details>\n<summary>🤖 Subagent: "
                 "A x (1 step · no conclusion)</summary>\n\nrx\n\n</details>\n\n</details>\n");
    assert_draws(THREAD(ENTRY(PAYLOAD(ANCHOR("x"), PAYLOAD(ANCHOR("y"), ""))),
                        RECORD("x", "rx") "," RECORD("y", "ry")),
                 "**Subagent work:**\n\nrx\n\n<details>\n<summary>🤖 Subagent: A y (1 step · no "
                 "conclusion)</summary>"
                 "\n\nry\n");
    char *text = show_text(THREAD(
        ENTRY(PAYLOAD(ANCHOR("x"), "")) "," ENTRY(PAYLOAD(ANCHOR("y"), "")),
        ENTRY(PAYLOAD("\"id\":\"x\"", PAYLOAD(ANCHOR("y"), "") "," PAYLOAD(ANCHOR("z"), "") "," PAYLOAD(
                                          ANCHOR("none"), ""))) "," RECORD("y", "ry") "," RECORD("z", "rz")));
    assert_has(
        text,
        "(subagent A y: recorded under turn 2)\n\n(subagent A z: recorded under the background tasks)\n\n"
        "(subagent A none)\n");
    assert_has(text, "<summary>🤖 Background task: R z");
    xfree(text);
}

/* A step that stands for a consult only by its name. */
static void test_steps_without_payload(void **state)
{
    (void)state;
    assert_draws(
        "{\"entries\":[{\"blocks\":[{\"workflow_block\":{\"steps\":[{\"id\":\"x:workflow\",\"title\":\"T\","
        "\"tool_name\":\"run_subagent\",\"started_at\":\"2035-01-02T03:04:05Z\",\"completed_at\":"
        "\"2035-01-02T03:04:06.5Z\",\"items\":[" TEXT(
            "\"text\":\"beside\"") "]}]}}]}],\"background_entries\":[" RECORD("x", "rx") "]}",
        "### Step 1 · 🤖 Subagent: T — 2035-01-02 03:04:05 → 2035-01-02 03:04:06\n\n**Subagent "
        "work:**\n\nrx\n\n"
        "beside\n");
}

/* A whole entry without a payload is a record by its query. */
static void test_entry_without_payload(void **state)
{
    (void)state;
    assert_draws(
        "{\"background_entries\":[{\"query_str\":\"Look\\nup\",\"locked_reason\":\"rate_limited\",\"updated_"
        "us\":"
        "2051319840000000,\"sources\":[{\"url\":\"https://a\"}],\"text\":[" FINAL(
            "\"It is.\"") "],\"blocks\":[{"
                          "\"workflow_block\":{\"status\":\"WORKFLOW_AWAITING_NEXT_STEPS\",\"steps\":[{"
                          "\"title\":\"one\"},{"
                          "\"tool_name\":\"two\"}]}}]}]}",
        "> Status: `WORKFLOW_AWAITING_NEXT_STEPS` · ⏸ interrupted, pending continuation · locked_reason: "
        "`rate_limited` · Time: ? → 2035-01-02 03:04:00\n\n<details>\n<summary>🤖 Background task: Look "
        "(2 "
        "steps · "
        "has conclusion · 1 source · ⏸ interrupted, pending continuation)</summary>\n\n- one\n- "
        "(`two`)\n\n"
        "**Conclusion:**\n\nIt is.\n\n**Sources:**\n\n- [https://a](https://a)\n\n</details>\n");
}

/* ---- what is nothing of what it should be ---- */

static void test_wrong_types(void **state)
{
    static const char *const values[] = {"null",
                                         "7",
                                         "-1.5e3",
                                         "\"text\"",
                                         "[]",
                                         "{}",
                                         "[null,7,\"x\",[],{}]",
                                         "true",
                                         "{\"steps\":7,\"items\":{},\"payload\":[]}"};
    static const char *const forms[] = {
        "{\"entries\":%s,\"background_entries\":%s,\"title\":%s,\"thread_id\":%s,\"lastUpdated\":%s,\"thread_"
        "metadata\":%s}",
        "{\"entries\":[{\"uuid\":%s,\"query_str\":%s,\"created_us\":%s,\"text\":%s,\"sources\":%s,\"blocks\":"
        "%s}]}",
        "{\"entries\":[{\"blocks\":[{\"workflow_block\":{\"status\":%s,\"steps\":%s}},%s]},{\"blocks\":[{"
        "\"workflow_block\":"
        "{\"steps\":[{\"id\":%s,\"items\":%s,\"title\":%s}]}}]}]}",
        "{\"background_entries\":[{\"uuid\":%s,\"blocks\":[{\"workflow_block\":{\"steps\":[{\"items\":[{"
        "\"type\":"
        "\"WORKFLOW_ITEM_WORKFLOW\",\"payload\":{\"workflow_payload\":{\"id\":%s,\"steps\":%s,\"objective_"
        "chunks\":%s}}}]},"
        "%s]}}]},%s]}",
        "{\"entries\":[{\"text\":[{\"step_type\":\"FINAL\",\"content\":{\"answer\":%s}}],\"attachments\":[%s]"
        ",\"reasoning\":%s,"
        "\"trigger\":%s,\"locked_reason\":%s,\"artifacts\":%s}]}",
    };
    (void)state;
    for (size_t f = 0; f < sizeof forms / sizeof forms[0]; f++)
        for (size_t v = 0; v < sizeof values / sizeof values[0]; v++) {
            char document[2048];
            const char *x = values[v];
            snprintf(document, sizeof document, forms[f], x, x, x, x, x, x);
            xfree(show_text(document));
        }
}

static void test_no_document(void **state)
{
    static const char *const texts[] = {"", "x", "[]", "7", "{\"a\":", "{\"entries\":[}"};
    (void)state;
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        struct transcript *t;
        struct error e = {0};
        assert_int_equal(transcript_load(span_str(texts[i]), (struct span){0}, &t, &e), -1);
        assert_non_null(strstr(e.message, "thread document"));
    }
}

/* What other writers of JSON let through. */
static void test_loose_json(void **state)
{
    char *text = show_text(
        "\xef\xbb\xbf{\"title\":\"a\\ud83d\\ude00\\ud800 \\u0000\x01\xff\",\"n\":NaN,\"m\":-Infinity,"
        "\"k\":123456789012345678901234567890,\"r\":1e999,\"entries\":[]}");
    (void)state;
    assert_has(text, "# a😀\xef\xbf\xbd \xef\xbf\xbd \xef\xbf\xbd\n");
    xfree(text);
}

/* Payloads in payloads, 10,000 deep, and one that holds its own id. */
static void test_recursion(void **state)
{
    enum { DEPTH = 10000 };
    static const char before[] =
        "{\"type\":\"WORKFLOW_ITEM_WORKFLOW\",\"payload\":{\"workflow_payload\":{\"id\":\"n%d\","
        "\"headline\":\"level %d\",\"steps\":[{\"items\":[";
    static const char after[] = "]}]}}}";
    static const char *const frames[][2] = {
        {"{\"entries\":[{\"blocks\":[{\"workflow_block\":{\"steps\":[{\"items\":[", "]}]}}]}]}"},
        {"{\"background_entries\":[{\"blocks\":[{\"workflow_block\":{\"steps\":[{\"items\":[", "]}]}}]}]}"}};
    (void)state;
    for (size_t f = 0; f < 2; f++) {
        struct buf document;
        buf_init(&document, MOST);
        buf_adds(&document, frames[f][0]);
        for (int i = 0; i < DEPTH; i++)
            buf_printf(&document, before, i, i);
        for (int i = 0; i < DEPTH; i++)
            buf_adds(&document, after);
        buf_adds(&document, frames[f][1]);
        char *text = show_text(buf_cstr(&document));
        assert_has(text, "(nested workflow: level 2, recursion limit reached)");
        assert_null(strstr(text, "level 3"));
        xfree(text);
        buf_free(&document);
    }
    assert_draws(
        STEP(NESTED(NESTED(TEXT("\"text\":\"deep\"")))),
        "(1 step · no conclusion)</summary>\n\n(nested workflow: N, recursion limit reached)\n\n</details>");
}

static void test_headlines(void **state)
{
    enum { LONG = 10 * 1024 };
    struct buf document;
    char *many = xcalloc(LONG + 1, 1), *text;
    (void)state;
    memset(many, 'x', LONG);
    buf_init(&document, MOST);
    buf_printf(&document,
               "{\"background_entries\":[{\"blocks\":[{\"workflow_block\":{\"steps\":[{\"items\":[{\"type\":"
               "\"WORKFLOW_ITEM_WORKFLOW\",\"payload\":{\"workflow_payload\":{\"headline\":\"a\\n</"
               "summary>%s\"}}}]}]"
               "}}]}]}",
               many);
    text = show_text(buf_cstr(&document));
    assert_has(text, "<summary>🤖 Background task: a &lt;/summary&gt;xxx");
    assert_has(text, many);
    xfree(text);
    xfree(many);
    buf_free(&document);
}

/* The largest times: no overflow, no date. */
static void test_far_times(void **state)
{
    struct transcript *t = load(
        "{\"entries\":[{\"created_us\":9223372036854775807,\"trigger\":\"subagent_result\"},{\"created_us\":"
        "-9223372036854775808,\"query\":\"early\"},{\"created_us\":\"99999999999999999999\"}],\"background_"
        "entries\":[{"
        "\"updated_us\":-9223372036854775808,\"query\":\"side\"},{\"updated_us\":9223372036854775807,"
        "\"query\":\"near\"}]}");
    (void)state;
    assert_int_equal(t->turns[0].entry, 1);
    assert_int_equal(t->nmatches, 1);
    assert_int_equal(t->nappendix, 1);
    char *text = draw(t);
    assert_has(text, "## Turn 3\n\n### Query\n(empty)");
    assert_int_equal(transcript_entry(t).last_updated.n, 0);
    xfree(text);
    transcript_destroy(t);
}

/* A buffer that is too small is an answer, not an end. */
static void test_full_buffers(void **state)
{
    static const char document[] =
        STEP(NESTED(TEXT("\"text\":\"some text\"") "," SOURCES("{\"url\":\"https://a\"}")));
    struct transcript *t = load(document);
    struct buf whole;
    (void)state;
    buf_init(&whole, MOST);
    assert_int_equal(transcript_turn(t, 1, &whole), 0);
    for (size_t cap = 0; cap < whole.n; cap++) {
        struct buf out;
        buf_init(&out, cap);
        assert_int_equal(transcript_turn(t, 1, &out), -1);
        buf_free(&out);
        buf_init(&out, cap);
        assert_true(cap > 150 || transcript_draw(t, TRANSCRIPT_CONVERSATION, &out) == -1 || out.n <= cap);
        buf_free(&out);
    }
    assert_int_equal(transcript_turn(t, 2, &whole), -1);
    assert_int_equal(transcript_turn(t, 0, &whole), -1);
    buf_free(&whole);
    transcript_destroy(t);
}

/* Numbers keep their spelling, text its characters, keys their order. */
static void test_thread_json(void **state)
{
    struct transcript *t =
        load("{\"thread_id\":\"i\",\"title\":\"\\u00fc\",\"thread_metadata\":{\"z\":1.50,\"a\":[],"
             "\"big\":12345678901234567890123,\"s\":\"\\u00fc\\u0001\\/\"}}");
    struct buf out;
    (void)state;
    buf_init(&out, MOST);
    assert_int_equal(transcript_thread_json(t, SPAN_LIT("now"), &out), 0);
    assert_string_equal(
        buf_cstr(&out),
        "{\n \"thread_id\": \"i\",\n \"title\": \"ü\",\n \"mode\": \"consult\",\n \"author\": \"\",\n"
        " \"lastUpdated\": \"\",\n \"n_turns\": 0,\n \"n_sources\": 0,\n \"metadata\": {\n  \"z\": 1.50,\n"
        "  \"a\": [],\n  \"big\": 12345678901234567890123,\n  \"s\": \"ü\\u0001/\"\n },\n"
        " \"exported_at\": \"now\"\n}\n");
    buf_reset(&out);
    assert_int_equal(
        transcript_update_thread_json(t, SPAN_LIT("{\"x\":1.0,\"interruptions\":[1],\"y\":2}"), &out), 0);
    assert_string_equal(buf_cstr(&out), "{\n \"x\": 1.0,\n \"y\": 2\n}\n");
    assert_int_equal(transcript_update_thread_json(t, SPAN_LIT("[]"), &out), -1);
    assert_int_equal(transcript_update_thread_json(t, SPAN_LIT("{"), &out), -1);
    buf_free(&out);
    transcript_destroy(t);
}

/* 100,000 background entries and 1,000 notices, through the whole way. */
static void test_many_entries(void **state)
{
    enum { NOTICES = 200, RUNS = 20000 }; /* test_plan has the full numbers, without documents */
    struct buf document;
    (void)state;
    buf_init(&document, MOST);
    buf_adds(&document, "{\"entries\":[");
    for (int i = 0; i < NOTICES; i++)
        buf_printf(&document, "%s{\"created_us\":%d,\"trigger\":\"subagent_result\"}", i ? "," : "",
                   i * 5000 + 1);
    buf_adds(&document, "],\"background_entries\":[");
    for (int i = 0; i < RUNS; i++)
        buf_printf(&document, "%s{\"updated_us\":%d}", i ? "," : "", i * 50 + 1);
    buf_adds(&document, "]}");
    struct transcript *t = load(buf_cstr(&document));
    assert_int_equal(t->nmatches, RUNS);
    for (size_t i = 0; i < t->nmatches; i++) /* each notice's nearest ones come first */
        assert_true(i == 0 || t->matches[i - 1].stub < t->matches[i].stub ||
                    t->matches[i - 1].distance <= t->matches[i].distance);
    xfree(draw(t));
    transcript_destroy(t);
    buf_free(&document);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_items),
        cmocka_unit_test(test_tables),
        cmocka_unit_test(test_sources),
        cmocka_unit_test(test_answers),
        cmocka_unit_test(test_turn_parts),
        cmocka_unit_test(test_titles_and_modes),
        cmocka_unit_test(test_modes_without_waterfall),
        cmocka_unit_test(test_two_files),
        cmocka_unit_test(test_own_copies),
        cmocka_unit_test(test_anchor_without_record),
        cmocka_unit_test(test_nested_anchors),
        cmocka_unit_test(test_steps_without_payload),
        cmocka_unit_test(test_entry_without_payload),
        cmocka_unit_test(test_wrong_types),
        cmocka_unit_test(test_no_document),
        cmocka_unit_test(test_loose_json),
        cmocka_unit_test(test_recursion),
        cmocka_unit_test(test_headlines),
        cmocka_unit_test(test_far_times),
        cmocka_unit_test(test_full_buffers),
        cmocka_unit_test(test_thread_json),
        cmocka_unit_test(test_many_entries),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
