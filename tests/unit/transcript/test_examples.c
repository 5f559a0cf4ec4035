/*
 * Whole threads with what is to become of them, in tests/data/transcript/<example>/: every file beside the
 * input is an output, and is compared with what the library makes.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "base/xalloc.h"
#include "transcript/journal.h"
#include "transcript/thread.h"

enum { FILE_MOST = 1 << 20, EXPORTED = 64 };

static const char exported_at[] = "2035-12-26T00:00:00Z";

/* False: there is none. */
static bool read_file(const char *example, const char *name, struct buf *out)
{
    char path[1024];
    snprintf(path, sizeof path, "%s/transcript/%s/%s", TEST_DATA, example, name);
    FILE *f = fopen(path, "rb");
    buf_init(out, FILE_MOST);
    if (!f)
        return false;
    char *room = buf_reserve(out, FILE_MOST);
    assert_non_null(room);
    buf_commit(out, fread(room, 1, FILE_MOST, f));
    fclose(f);
    return true;
}

static void assert_same(const char *what, struct span got, struct span wanted)
{
    if (got.n == wanted.n && memcmp(got.p, wanted.p, got.n) == 0)
        return;
    print_error("%s:\n---- got\n%.*s\n---- wanted\n%.*s\n", what, (int)got.n, got.p, (int)wanted.n, wanted.p);
    fail();
}

static void assert_same_json(const char *what, json_t *got, struct span wanted)
{
    json_t *tree = json_loadb(wanted.p, wanted.n, JSON_DECODE_ANY, NULL);
    assert_non_null(tree);
    if (!json_equal(got, tree)) {
        print_error("%s: got %s\n", what, json_dumps(got, JSON_ENCODE_ANY));
        fail();
    }
    json_decref(tree);
}

static const char *place_of(const struct record *r, char place[64])
{
    if (r->turn == 0)
        return "background_unassigned";
    snprintf(place, 64, "turn_%04u/%s", r->turn, r->owned ? "subagent" : "subagent_stub");
    return place;
}

static json_t *placement(const struct transcript *t)
{
    json_t *object = json_object();
    char place[64];
    for (size_t i = 0; i < t->nrecords; i++)
        json_object_setn_new(object, t->records[i].id.p, t->records[i].id.n,
                             json_string(place_of(&t->records[i], place)));
    return object;
}

static json_t *order_in(const struct transcript *t, size_t turn)
{
    json_t *list = json_array();
    for (size_t i = 0; i < t->turns[turn].matches; i++) {
        struct span id = t->records[t->matches[t->turns[turn].first_match + i].record].id;
        json_array_append_new(list, json_stringn(id.p, id.n));
    }
    return list;
}

static json_t *interruptions(const struct transcript *t)
{
    struct buf out;
    buf_init(&out, FILE_MOST);
    interruptions_add(t, &out);
    json_t *list = json_loadb(buf_span(&out).p, out.n, 0, NULL);
    buf_free(&out);
    return list;
}

/* The alert lists them as "location:kind; …". */
static void assert_alerted(const struct transcript *t, struct span wanted)
{
    json_t *list = json_loadb(wanted.p, wanted.n, 0, NULL), *item;
    struct buf got, line;
    size_t i;
    buf_init(&got, FILE_MOST);
    buf_init(&line, FILE_MOST);
    buf_printf(&line, "thread t1 \"Demo\": %zu unfinished workflows: ", json_array_size(list));
    json_array_foreach(list, i, item)
        buf_printf(&line, "%s%s:%s", i ? "; " : "", raw_str(item, "location").p, raw_str(item, "kind").p);
    assert_int_equal(transcript_alert(t, &got), 0);
    assert_same("alert", buf_span(&got), buf_span(&line));
    json_decref(list);
    buf_free(&got);
    buf_free(&line);
}

/* Every line stands in one of the turns. */
static void assert_lines_in_turns(const struct transcript *t, struct span lines)
{
    struct buf turns;
    buf_init(&turns, FILE_MOST);
    buf_addc(&turns, '\n');
    for (unsigned i = 1; i <= t->nturns; i++)
        assert_int_equal(transcript_turn(t, i, &turns), 0);
    while (lines.n) {
        char line[512];
        size_t n = (size_t)((const char *)memchr(lines.p, '\n', lines.n) - lines.p);
        snprintf(line, sizeof line, "\n%.*s\n", (int)n, lines.p);
        if (!strstr(buf_cstr(&turns), line)) {
            print_error("missing: %s\n", line);
            fail();
        }
        lines = span_from(lines, n + 1);
    }
    buf_free(&turns);
}

/* Compares one output; answers whether the example has it. */
static bool check(const struct transcript *t, const char *example, const char *name)
{
    struct buf wanted, got;
    json_t *tree = NULL;
    unsigned turn;
    if (!read_file(example, name, &wanted))
        return false;
    buf_init(&got, FILE_MOST);
    if (strcmp(name, "conversation.md") == 0) {
        assert_int_equal(transcript_draw(t, TRANSCRIPT_CONVERSATION, &got), 0);
    } else if (sscanf(name, "turn_%u.md", &turn) == 1) {
        assert_int_equal(transcript_turn(t, turn, &got), 0);
    } else if (strcmp(name, "thread.json") == 0) {
        assert_int_equal(transcript_thread_json(t, span_str(exported_at), &got), 0);
    } else if (strcmp(name, "alert.txt") == 0) {
        buf_adds(&got, "warning: ");
        assert_int_equal(transcript_alert(t, &got), 0);
        buf_addc(&got, '\n');
    } else if (strcmp(name, "appendix.md") == 0) {
        assert_int_equal(transcript_draw(t, TRANSCRIPT_CONVERSATION, &got), 0);
        const char *appendix = strstr(buf_cstr(&got), "## Background tasks");
        assert_non_null(appendix);
        buf_consume(&got, (size_t)(appendix - buf_cstr(&got)));
    } else if (strcmp(name, "placement.json") == 0) {
        tree = placement(t);
    } else if (strcmp(name, "order.json") == 0) {
        tree = order_in(t, 0);
    } else if (strcmp(name, "interruptions.json") == 0) {
        tree = interruptions(t);
    } else if (strcmp(name, "warnings.json") == 0) {
        tree = json_array();
        for (size_t i = 0; i < transcript_warnings(t); i++)
            json_array_append_new(tree, json_stringn(transcript_warning(t, i).p, transcript_warning(t, i).n));
    } else {
        if (strcmp(name, "anomalies.json") == 0)
            assert_alerted(t, buf_span(&wanted));
        else
            assert_lines_in_turns(t, buf_span(&wanted));
        buf_add(&got, buf_span(&wanted));
    }
    if (tree)
        assert_same_json(name, tree, buf_span(&wanted));
    else
        assert_same(name, buf_span(&got), buf_span(&wanted));
    json_decref(tree);
    buf_free(&got);
    buf_free(&wanted);
    return true;
}

/* The raw document of an example: its input, or what its journal becomes. */
static void read_input(const char *example, struct buf *raw)
{
    struct buf journal, wanted;
    struct error e;
    if (read_file(example, "input.json", raw))
        return;
    buf_init(raw, FILE_MOST);
    assert_true(read_file(example, "journal.jsonl", &journal));
    assert_true(read_file(example, "raw.json", &wanted));
    const struct span text = buf_span(&journal);
    const struct source source = source_text(&text);
    struct journal *j;
    assert_int_equal(journal_open(&source, SPAN_LIT(""), NULL, &j, &e), 0);
    assert_int_equal(journal_to_raw(j, raw, &e), 0);
    assert_same(example, buf_span(raw), buf_span(&wanted));
    journal_close(j);
    buf_free(&journal);
    buf_free(&wanted);
}

static const char *const outputs[] = {
    "conversation.md", "appendix.md",        "turn_0001.md",   "turn_0002.md", "thread.json",
    "placement.json",  "interruptions.json", "warnings.json",  "order.json",   "alert.txt",
    "headings.txt",    "step.txt",           "anomalies.json",
};

/* How many outputs each has. */
static const struct {
    const char *name;
    size_t outputs;
} examples[] = {{"e03", 3}, {"e04", 3}, {"e05", 3}, {"e06", 2}, {"e07", 1},
                {"e08", 2}, {"e09", 2}, {"e10", 2}, {"e11", 2}, {"e12", 4},
                {"e13", 3}, {"e14", 3}, {"e15", 1}, {"e16", 3}, {"e17", 4}};

static void test_examples(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof examples / sizeof examples[0]; i++) {
        struct transcript *t;
        struct error e;
        struct buf raw;
        size_t checked = 0;
        read_input(examples[i].name, &raw);
        assert_int_equal(transcript_load(buf_span(&raw), (struct span){0}, &t, &e), 0);
        for (size_t o = 0; o < sizeof outputs / sizeof outputs[0]; o++)
            checked += check(t, examples[i].name, outputs[o]);
        if (checked != examples[i].outputs)
            print_error("%s: %zu outputs\n", examples[i].name, checked);
        assert_int_equal(checked, examples[i].outputs);
        transcript_destroy(t);
        buf_free(&raw);
    }
}

static void test_kept_copy(void **state)
{
    struct transcript *t;
    struct error e;
    struct buf raw, headline;
    (void)state;
    read_input("e14", &raw);
    assert_true(read_file("e14", "headline.txt", &headline));
    assert_int_equal(transcript_load(buf_span(&raw), (struct span){0}, &t, &e), 0);
    size_t c1 = names_find(&t->record_ids, SPAN_LIT("c1"));
    assert_int_not_equal(c1, NAMES_NONE);
    buf_cut(&headline, headline.n - 1);
    assert_same("headline", t->records[c1].headline, buf_span(&headline));
    transcript_destroy(t);
    buf_free(&raw);
    buf_free(&headline);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_examples), cmocka_unit_test(test_kept_copy)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
