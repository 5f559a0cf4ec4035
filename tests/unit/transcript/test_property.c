/*
 * Random threads: background runs with and without ids, doubled, nested, anchored, copied, matched or left
 * over. Of each, every record must be drawn exactly once, whatever the thread looks like; drawing is
 * repeatable; a healthy thread shows nothing of interruptions. The generator is seeded: a fault names its
 * thread's number.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/xalloc.h"
#include "transcript/directory.h"
#include "transcript/disk.h"
#include "transcript/thread.h"

enum { THREADS = 20000, ON_DISK = 150, MOST = 1 << 20, IDS = 5, NAME = 64 };

#define BASE_US 2051319840000000

struct generator {
    uint64_t seed;
    struct buf *out;
    unsigned marks;
    bool healthy;
};

static unsigned pick(struct generator *g, unsigned n)
{
    g->seed ^= g->seed << 13;
    g->seed ^= g->seed >> 7;
    g->seed ^= g->seed << 17;
    return (unsigned)((g->seed >> 11) % n);
}

static bool chance(struct generator *g, unsigned percent)
{
    return pick(g, 100) < percent;
}

static const char *status(struct generator *g)
{
    static const char *const list[] = {"WORKFLOW_COMPLETED", "", "WORKFLOW_CANCELED",
                                       "WORKFLOW_AWAITING_NEXT_STEPS", "WORKFLOW_ODD"};
    return g->healthy ? list[0] : list[pick(g, 5)];
}

static void put_id(struct generator *g, bool maybe_none)
{
    if (!maybe_none || chance(g, 85))
        buf_printf(g->out, "\"id\":\"p%u\",", pick(g, IDS));
}

static void put_text(struct generator *g, const char *kind, const char *id)
{
    buf_printf(g->out,
               "{\"type\":\"WORKFLOW_ITEM_TEXT\",\"payload\":{\"text_payload\":{\"text\":\"%s:%s:%u;\"}}}",
               kind, id, g->marks++);
}

static void put_payload(struct generator *g, const char *kind, unsigned depth, bool anchors);

/* Items of a step: a text marked with `kind`, and perhaps payloads in it, which are `inner`. */
static void put_items(struct generator *g, const char *kind, const char *inner, const char *id,
                      unsigned depth, bool anchors)
{
    buf_adds(g->out, "\"items\":[");
    put_text(g, kind, id);
    for (unsigned i = pick(g, 3); i > 0 && depth < 3 && chance(g, 80); i--) {
        buf_addc(g->out, ',');
        put_payload(g, inner, depth + 1, anchors);
    }
    buf_addc(g->out, ']');
}

/* A WORKFLOW item: an anchor, or a payload with steps whose text says what it is and of which id. */
static void put_payload(struct generator *g, const char *kind, unsigned depth, bool anchors)
{
    char id[NAME] = "";
    if (chance(g, 85))
        snprintf(id, sizeof id, "p%u", pick(g, IDS));
    buf_adds(g->out, "{\"type\":\"WORKFLOW_ITEM_WORKFLOW\",\"payload\":{\"workflow_payload\":{");
    if (*id)
        buf_printf(g->out, "\"id\":\"%s\",", id);
    bool anchor = anchors && chance(g, 50);
    if (anchor)
        buf_adds(g->out,
                 chance(g, 50) ? "\"objective_chunks\":[\"do \",\"it\"]," : "\"is_background_anchor\":true,");
    buf_printf(g->out, "\"headline\":\"head %u\",\"status\":\"%s\",\"steps\":[", pick(g, 9), status(g));
    if (chance(g, anchor ? 40 : 80)) {
        buf_addc(g->out, '{');
        put_items(g, anchor ? "anchor" : kind, kind, id, depth, anchors);
        buf_addc(g->out, '}');
    }
    buf_adds(g->out, "]}}}");
}

static void put_time(struct generator *g, const char *key)
{
    buf_printf(g->out, "\"%s\":\"2035-01-02T03:04:%02u.%uZ\",", key, pick(g, 60), pick(g, 10));
}

static void put_turn(struct generator *g, unsigned number)
{
    bool notice = chance(g, 35);
    buf_printf(g->out, "%s\n{\"uuid\":\"e%u\",", number ? "," : "", number);
    if (chance(g, 95))
        buf_printf(g->out, "\"created_us\":%lld,", (long long)BASE_US + pick(g, 60) * 1000000ll);
    if (notice)
        buf_adds(g->out, "\"trigger\":\"subagent_result\",");
    buf_printf(g->out, "\"query_str\":\"%s\",\"blocks\":[", notice ? "" : "Ask\\n# Turn 9");
    for (unsigned w = 0, n = notice && chance(g, 80) ? 0 : pick(g, 3); w < n; w++) {
        buf_printf(g->out, "%s{\"workflow_block\":{\"status\":\"%s\",\"steps\":[", w ? "," : "", status(g));
        for (unsigned s = 0, steps = pick(g, 4); s < steps; s++) {
            buf_adds(g->out, s ? ",{" : "{");
            if (chance(g, 60))
                buf_printf(g->out, "\"id\":\"p%u:workflow\",", pick(g, IDS));
            if (chance(g, 40))
                buf_adds(g->out, "\"tool_name\":\"run_subagent\",");
            if (chance(g, 15))
                buf_adds(g->out, "\"items\":null}");
            else {
                put_items(g, "main", "copy", "", 0, true);
                buf_addc(g->out, '}');
            }
        }
        buf_adds(g->out, "]}}");
    }
    buf_adds(g->out, "]}");
}

/* The text of a record's own step is "rec:<number>". */
static void put_background(struct generator *g, unsigned number)
{
    buf_printf(g->out, "%s\n{\"uuid\":\"b%u\",", number ? "," : "", number);
    if (chance(g, 50))
        put_time(g, "entry_updated_datetime");
    if (!g->healthy && chance(g, 30))
        buf_adds(g->out, "\"locked_reason\":\"spending_limit_exceeded\",");
    buf_printf(g->out,
               "\"query_str\":\"side\",\"blocks\":[{\"workflow_block\":{\"status\":\"%s\",\"steps\":[",
               status(g));
    for (unsigned s = 0, n = pick(g, 4); s < n; s++) {
        buf_adds(g->out, s ? ",{" : "{");
        if (chance(g, 30)) { /* the entry's own work */
            put_items(g, "rec", "", "own", 3, false);
            buf_addc(g->out, '}');
            continue;
        }
        if (chance(g, 50))
            buf_printf(g->out, "\"tool_name\":\"run_subagent\",\"id\":\"p%u:workflow\",", pick(g, IDS));
        buf_adds(g->out,
                 "\"items\":[{\"type\":\"WORKFLOW_ITEM_WORKFLOW\",\"payload\":{\"workflow_payload\":{");
        put_id(g, true);
        if (chance(g, 70))
            put_time(g, "completed_at");
        buf_printf(g->out, "\"headline\":\"run\",\"status\":\"%s\",\"steps\":[{", status(g));
        put_items(g, "rec", "nested", "own", 0, true);
        buf_adds(g->out, "}]}}}]}");
    }
    buf_adds(g->out, "]}}]}");
}

static void generate(struct generator *g)
{
    buf_reset(g->out);
    g->healthy = chance(g, 20);
    buf_printf(g->out, "{\"thread_id\":\"t%u\",\"title\":\"Random %u\",\"author\":\"ana\",\"entries\":[",
               pick(g, 1000), pick(g, 10));
    for (unsigned i = 0, n = pick(g, 7); i < n; i++)
        put_turn(g, i);
    buf_adds(g->out, "],\"background_entries\":[");
    for (unsigned i = 0, n = pick(g, 7); i < n; i++)
        put_background(g, i);
    buf_adds(g->out, "]}");
}

/* ---- what must hold ---- */

static unsigned count(struct span text, const char *piece)
{
    unsigned n = 0;
    size_t length = strlen(piece);
    for (const char *p; (p = memmem(text.p, text.n, piece, length)); n++)
        text = span_from(text, (size_t)(p - text.p) + length);
    return n;
}

/* The mark in a record's own first text; false: it has none. */
static bool find_mark(const struct transcript *t, const struct record *r, char mark[NAME])
{
    struct record_trees trees = record_open(t, r);
    json_t *steps = raw_list(trees.payload, "steps"), *step, *item;
    size_t s, i;
    bool found = false;
    json_array_foreach(steps, s, step) json_array_foreach(raw_list(step, "items"), i, item)
    {
        struct span text = raw_str(raw_obj(raw_obj(item, "payload"), "text_payload"), "text");
        if (!found && span_starts(text, "rec:")) {
            snprintf(mark, NAME, "%.*s", (int)text.n, text.p);
            found = true;
        }
    }
    record_close(&trees);
    return found;
}

static void draw(const struct transcript *t, struct buf *out)
{
    buf_reset(out);
    assert_int_equal(transcript_draw(t, TRANSCRIPT_CONVERSATION, out), 0);
    for (unsigned i = 1; i <= t->nturns; i++)
        assert_int_equal(transcript_turn(t, i, out), 0);
    assert_int_equal(transcript_thread_json(t, SPAN_LIT("now"), out), 0);
}

/* Once in all: by itself, or by the one copy that a turn has of it. */
static bool is_drawn_once(const struct transcript *t, const struct record *r, struct span text)
{
    char mark[NAME], copy[NAME];
    snprintf(copy, sizeof copy, "copy:%.*s:", (int)r->id.n, r->id.p);
    unsigned copies = r->owned ? count(text, copy) : 0;
    return !find_mark(t, r, mark) || count(text, mark) + copies == 1;
}

static void check(const struct transcript *t, const struct generator *g, struct span text, unsigned number)
{
    for (size_t i = 0; i < t->nrecords; i++)
        if (!is_drawn_once(t, &t->records[i], text)) {
            fprintf(stderr, "thread %u: record %.*s is not drawn once\n%.*s\n%s\n", number,
                    (int)t->records[i].id.n, t->records[i].id.p, (int)g->out->n, buf_span(g->out).p, text.p);
            fail();
        }
    if (g->healthy) {
        assert_int_equal(count(text, "⏸"), 0);
        assert_int_equal(count(text, "⛔"), 0);
        assert_int_equal(count(text, "\"interruptions\""), t->nappendix > 0);
    }
    assert_int_equal(count(text, "<details>"), count(text, "</details>"));
}

static void test_every_record_once(void **state)
{
    struct generator g = {.seed = 0x9e3779b97f4a7c15};
    struct buf raw, first, second;
    unsigned records = 0, anchored = 0, matched = 0, left = 0;
    (void)state;
    buf_init(&raw, MOST);
    buf_init(&first, 8 * MOST);
    buf_init(&second, 8 * MOST);
    g.out = &raw;
    for (unsigned i = 0; i < THREADS; i++) {
        struct transcript *t;
        struct error e;
        generate(&g);
        assert_int_equal(transcript_load(buf_span(&raw), (struct span){0}, &t, &e), 0);
        draw(t, &first);
        buf_cstr(&first);
        check(t, &g, buf_span(&first), i);
        if (i % 4 == 0) {
            draw(t, &second);
            assert_int_equal(first.n, second.n);
            assert_memory_equal(buf_span(&first).p, buf_span(&second).p, first.n);
        }
        records += (unsigned)t->nrecords;
        matched += (unsigned)t->nmatches;
        left += (unsigned)t->nappendix;
        anchored += (unsigned)(t->nrecords - t->nmatches - t->nappendix);
        transcript_destroy(t);
    }
    print_message("%u records: %u anchored or copied, %u matched, %u left over\n", records, anchored, matched,
                  left);
    /* The generator must reach all three levels. */
    assert_true(records > 2 * THREADS && anchored > THREADS / 2 && matched > THREADS / 8 &&
                left > THREADS / 2);
    buf_free(&raw);
    buf_free(&first);
    buf_free(&second);
}

/* ---- on disk ---- */

static void export_thread(const char *out, struct span raw, const char *old, struct directory_report *report)
{
    struct transcript *t;
    struct error e;
    directory_report_init(report);
    assert_int_equal(transcript_load(raw, (struct span){0}, &t, &e), 0);
    assert_int_equal(
        directory_export(out, t, raw, (struct span){0}, SPAN_LIT("2035-12-26T00:00:00Z"), old, report, &e),
        0);
    transcript_destroy(t);
}

static void assert_rerender_changes(const char *out, size_t wanted)
{
    struct error e;
    char **paths;
    size_t n, changed = 0;
    assert_int_equal(directory_list(out, &paths, &n, &e), 0);
    for (size_t i = 0; i < n; i++) {
        struct directory_report report;
        directory_report_init(&report);
        enum directory_rendered rendered = directory_rerender(paths[i], true, &report, &e);
        assert_true(rendered == DIRECTORY_SAME || rendered == DIRECTORY_CHANGED);
        changed += rendered == DIRECTORY_CHANGED;
        directory_report_free(&report);
    }
    assert_true(n > ON_DISK / 2);
    assert_int_equal(changed, wanted);
    directory_list_free(paths, n);
}

static void remove_tree(const char *path)
{
    char **names;
    size_t n;
    assert_int_equal(disk_list(path, &names, &n), 0);
    for (size_t i = 0; i < n; i++) {
        char *inner = disk_join(path, names[i]);
        if (disk_is_directory(inner))
            remove_tree(inner);
        else
            unlink(inner);
        xfree(inner);
    }
    disk_list_free(names, n);
    rmdir(path);
}

/* Exported twice, nothing is written; drawn anew, nothing changes. */
static void test_exports_are_stable(void **state)
{
    char out[] = "/tmp/transcript-property-XXXXXX";
    struct generator g = {.seed = 0x2545f4914f6cdd1d};
    struct buf raw;
    (void)state;
    assert_non_null(mkdtemp(out));
    buf_init(&raw, MOST);
    g.out = &raw;
    for (unsigned i = 0; i < ON_DISK; i++) {
        struct directory_report first, second;
        generate(&g);
        export_thread(out, buf_span(&raw), NULL, &first);
        export_thread(out, buf_span(&raw), first.path, &second);
        assert_string_equal(first.path, second.path);
        assert_true(first.written > 0);
        assert_int_equal(second.written + second.removed, 0);
        directory_report_free(&first);
        directory_report_free(&second);
    }
    assert_rerender_changes(out, 0);
    buf_free(&raw);
    remove_tree(out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_every_record_once),
                                       cmocka_unit_test(test_exports_are_stable)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
