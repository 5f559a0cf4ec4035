/* Directories of threads: what is written, what is left alone, and what becomes of older ones. */
#include "transcript/directory.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/xalloc.h"
#include "transcript/disk.h"

enum { MOST = 1 << 20 };

static char *make_place(void)
{
    char path[] = "/tmp/transcript-directory-XXXXXX";
    assert_non_null(mkdtemp(path));
    return xstrdup(path);
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

/* A file's text below a directory; NULL: there is none. The caller frees it. */
static char *text_of(const char *dir, const char *name)
{
    struct buf text;
    char *path = disk_join(dir, name), *copy = NULL;
    buf_init(&text, MOST);
    if (disk_read(path, &text) == 0)
        copy = xspandup(buf_span(&text));
    buf_free(&text);
    xfree(path);
    return copy;
}

static void assert_text(const char *dir, const char *name, const char *wanted)
{
    char *text = text_of(dir, name);
    assert_non_null(text);
    assert_string_equal(text, wanted);
    xfree(text);
}

static void put_text(const char *dir, const char *name, const char *text)
{
    struct error e;
    char *path = disk_join(dir, name);
    assert_true(disk_write(path, span_str(text), &e) >= 0);
    xfree(path);
}

static bool is_there(const char *dir, const char *name)
{
    struct stat st;
    char *path = disk_join(dir, name);
    bool there = lstat(path, &st) == 0;
    xfree(path);
    return there;
}

static const char exported_at[] = "2035-12-26T00:00:00Z";

static int try_export(const char *out, const char *raw, const char *blocks, const char *old,
                      struct directory_report *r, struct error *e)
{
    struct transcript *t;
    directory_report_init(r);
    assert_int_equal(transcript_load(span_str(raw), span_str(blocks), &t, e), 0);
    int status = directory_export(out, t, span_str(raw), span_str(blocks), span_str(exported_at), old, r, e);
    transcript_destroy(t);
    return status;
}

/* The thread's directory; the caller frees it. */
static char *export(const char *out, const char *raw, const char *old, unsigned *written)
{
    struct directory_report r;
    struct error e;
    assert_int_equal(try_export(out, raw, "", old, &r, &e), 0);
    char *path = xstrdup(r.path);
    if (written)
        *written = r.written;
    directory_report_free(&r);
    return path;
}

#define THREAD(more, entries)                                                                                \
    "{\"thread_id\":\"t1\",\"title\":\"Demo\",\"author\":\"ana\"," more "\"entries\":[" entries "]}"
#define TURN(query) "{\"query_str\":\"" query "\",\"created_us\":2051319845000000}"

static void test_layout(void **state)
{
    char *out = make_place();
    unsigned written;
    (void)state;
    char *path = export(out, THREAD("", TURN("one") "," TURN("two")), NULL, &written);
    assert_string_equal(path + strlen(out), "/ana/consult/2035-01-02_Demo_t1");
    assert_int_equal(written, 7);
    assert_text(path, "raw_thread.json", THREAD("", TURN("one") "," TURN("two")));
    assert_text(path, "sources.json", "{\n \"count\": 0,\n \"sources\": []\n}\n");
    assert_text(path, "sources.md", "(none)\n");
    assert_true(is_there(path, "conversation.md") && is_there(path, "turns/turn_0002.md"));
    assert_false(is_there(path, "raw_blocks.json"));
    xfree(path);
    remove_tree(out);
    xfree(out);
}

/* Fewer turns than before: what was drawn of the others goes, what is somebody's own stays. */
static void test_turns_that_are_gone(void **state)
{
    static const char *const own[] = {"turns/turn_x.md", "turns/turn_0009.txt", "turns/notes.md",
                                      "turns/turn_.md", "turns/turn_0001.md"};
    char *out = make_place();
    (void)state;
    char *path = export(out, THREAD("", TURN("one") "," TURN("two")), NULL, NULL);
    for (size_t i = 0; i + 1 < sizeof own / sizeof own[0]; i++)
        put_text(path, own[i], "mine");
    put_text(path, "turns/turn_12345.md", "old");
    xfree(export(out, THREAD("", TURN("one")), path, NULL));
    for (size_t i = 0; i < sizeof own / sizeof own[0]; i++)
        assert_true(is_there(path, own[i]));
    assert_false(is_there(path, "turns/turn_0002.md"));
    assert_false(is_there(path, "turns/turn_12345.md"));
    xfree(path);
    remove_tree(out);
    xfree(out);
}

/* That a thread was exported again is no change. */
static void test_unchanged(void **state)
{
    char *out = make_place();
    unsigned written;
    (void)state;
    char *path = export(out, THREAD("", TURN("one")), NULL, NULL);
    put_text(
        path, "thread.json",
        "{\n \"thread_id\": \"t1\",\n \"title\": \"Demo\",\n \"mode\": \"consult\",\n \"author\": \"ana\",\n"
        " \"lastUpdated\": \"2035-01-02T03:04:05.000000Z\",\n \"n_turns\": 1,\n \"n_sources\": 0,\n"
        " \"exported_at\": \"2030-01-01T00:00:00Z\"\n}\n");
    xfree(export(out, THREAD("", TURN("one")), path, &written));
    assert_int_equal(written, 0);
    char *json = text_of(path, "thread.json");
    assert_non_null(strstr(json, "2030-01-01"));
    xfree(json);
    xfree(export(out, THREAD("", TURN("other")), path, &written));
    assert_int_equal(written, 3); /* raw, conversation, turn; thread.json says the same */
    xfree(path);
    remove_tree(out);
    xfree(out);
}

/* Names from a document do not lead out of the directory. */
static void test_names(void **state)
{
    static const struct {
        const char *raw, *path;
    } rows[] = {
        {"{\"thread_id\":\"../../x\",\"author\":\"..\",\"mode\":\"a/b\",\"lastUpdated\":\"../../../../"
         "etc\",\"title\":\"../t\"}",
         "/unknown/a_b/.._.._.._._t_.._.._x"},
        {"{\"author\":\" \",\"mode\":\"..\",\"lastUpdated\":\"2035-01-02T\"}",
         "/unknown/unknown/2035-01-02_untitled_thread"},
        {"{\"thread_id\":\"a\\u0000b/\\n\",\"author\":\"x\\u0007y\"}", "/x_y/consult/_untitled_a_b_"},
    };
    char *out = make_place();
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char *path = export(out, rows[i].raw, NULL, NULL);
        assert_string_equal(path + strlen(out), rows[i].path);
        xfree(path);
    }
    remove_tree(out);
    xfree(out);
}

/* Two threads whose ids begin alike do not share a directory. */
static void test_ids_that_begin_alike(void **state)
{
    char *out = make_place();
    (void)state;
    char *first = export(out, "{\"thread_id\":\"thread-001\",\"title\":\"T\"}", NULL, NULL);
    char *second = export(out, "{\"thread_id\":\"thread-002\",\"title\":\"T\"}", NULL, NULL);
    char *again = export(out, "{\"thread_id\":\"thread-001\",\"title\":\"T\"}", NULL, NULL);
    assert_string_equal(first + strlen(out), "/unknown/consult/_T_thread-0");
    assert_string_equal(second + strlen(out), "/unknown/consult/_T_thread-002");
    assert_string_equal(first, again);
    xfree(first);
    xfree(second);
    xfree(again);
    remove_tree(out);
    xfree(out);
}

static void test_two_files(void **state)
{
    struct directory_report r;
    struct error e;
    char *out = make_place();
    (void)state;
    assert_int_equal(
        try_export(out, "{\"entries\":[{\"uuid\":\"a\",\"query_str\":\"q\"}]}",
                   "{\"entries\":[{\"uuid\":\"a\",\"blocks\":[{\"workflow_block\":{\"status\":\"ODD\"}}]}]}",
                   NULL, &r, &e),
        0);
    assert_true(is_there(r.path, "raw_blocks.json"));
    char *before = text_of(r.path, "turns/turn_0001.md");
    assert_non_null(strstr(before, "· ODD)"));
    struct directory_report again;
    directory_report_init(&again);
    assert_int_equal(directory_rerender(r.path, true, &again, &e), DIRECTORY_SAME);
    assert_text(r.path, "turns/turn_0001.md", before);
    xfree(before);
    directory_report_free(&again);
    directory_report_free(&r);
    remove_tree(out);
    xfree(out);
}

/* A thread that comes in one file after it came in two: what was in the second is not drawn into it. */
static void test_second_file_goes(void **state)
{
    static const char plain[] = THREAD("", "{\"uuid\":\"a\",\"query_str\":\"q\"}");
    static const char blocks[] =
        "{\"entries\":[{\"uuid\":\"a\",\"blocks\":[{\"workflow_block\":{\"status\":\"ODD\"}}]}]}";
    struct directory_report r, again;
    struct error e;
    char *out = make_place(), *old;
    (void)state;
    for (unsigned moves = 0; moves < 2; moves++) {
        assert_int_equal(try_export(out, plain, blocks, NULL, &r, &e), 0);
        assert_true(is_there(r.path, "raw_blocks.json"));
        old = xstrdup(r.path);
        directory_report_free(&r);
        const char *raw = moves ? THREAD("\"lastUpdated\":\"2035-01-03T\",", TURN("q")) : plain;
        assert_int_equal(try_export(out, raw, "", old, &r, &e), 0);
        assert_int_equal(strcmp(r.path, old) != 0, moves);
        assert_false(is_there(r.path, "raw_blocks.json"));
        directory_report_init(&again);
        assert_int_equal(directory_rerender(r.path, true, &again, &e), DIRECTORY_SAME);
        directory_report_free(&again);
        directory_report_free(&r);
        xfree(old);
    }
    remove_tree(out);
    xfree(out);
}

/* ---- a thread that moved ---- */

static void test_older_directory(void **state)
{
    char *out = make_place();
    struct directory_report r;
    struct error e;
    (void)state;
    char *old = export(out, THREAD("\"lastUpdated\":\"2035-01-02T\",", TURN("one")), NULL, NULL);
    put_text(old, "notes.md", "mine");
    struct directory_index *index = directory_index_read(out);
    assert_string_equal(directory_index_find(index, SPAN_LIT("t1")), old);
    assert_null(directory_index_find(index, SPAN_LIT("t2")));
    directory_index_destroy(index);
    assert_int_equal(try_export(out, THREAD("\"lastUpdated\":\"2035-01-03T\",", TURN("one") "," TURN("two")),
                                "", old, &r, &e),
                     0);
    assert_string_equal(r.path + strlen(out), "/ana/consult/2035-01-03_Demo_t1");
    assert_string_equal(r.moved_from, old);
    assert_text(r.path, "notes.md", "mine");
    assert_non_null(strstr(buf_cstr(&r.clashes), "thread.json\n"));
    assert_null(strstr(buf_cstr(&r.clashes), "sources.md\n"));
    assert_false(is_there(old, ""));
    xfree(old);
    directory_report_free(&r);
    remove_tree(out);
    xfree(out);
}

/* Somebody else's, a broken one, one with something in it that is no file: all stay. */
static void test_directories_that_stay(void **state)
{
    static const char *const jsons[] = {"{\"thread_id\":\"t2\"}", "{", "[]", "{\"thread_id\":7}"};
    char *out = make_place(), *old = disk_join(out, "old");
    struct error e;
    (void)state;
    assert_int_equal(disk_make(old, &e), 0);
    put_text(old, "notes.md", "mine");
    for (size_t i = 0; i <= sizeof jsons / sizeof jsons[0]; i++) {
        struct directory_report r;
        if (i < sizeof jsons / sizeof jsons[0]) {
            put_text(old, "thread.json", jsons[i]);
        } else {
            char *link = disk_join(old, "z");
            put_text(old, "thread.json", "{\"thread_id\":\"t1\"}");
            assert_int_equal(symlink("/dev/null", link), 0);
            xfree(link);
        }
        assert_int_equal(try_export(out, THREAD("", TURN("one")), "", old, &r, &e), 0);
        assert_null(r.moved_from);
        assert_true(is_there(old, "thread.json") && is_there(old, "notes.md"));
        directory_report_free(&r);
    }
    xfree(old);
    remove_tree(out);
    xfree(out);
}

static void test_what_cannot_be_written(void **state)
{
    struct directory_report r;
    struct error e = {0};
    char *out = make_place(), *file = disk_join(out, "file");
    (void)state;
    put_text(out, "file", "");
    assert_int_equal(try_export(file, THREAD("", TURN("one")), "", NULL, &r, &e), -1);
    assert_non_null(strstr(e.message, file));
    directory_report_free(&r);
    xfree(file);
    remove_tree(out);
    xfree(out);
}

/* ---- drawing anew ---- */

#define CONTINUED(status, more)                                                                              \
    "{\"thread_id\":\"t1\",\"title\":\"Demo\",\"author\":\"ana\",\"lastUpdated\":\"%s\",\"entries\":[{"      \
    "\"query_str\":\"Write it\","                                                                            \
    "\"created_us\":2051319845000000" more ",\"blocks\":[{\"workflow_block\":{\"status\":\"" status          \
    "\"}}]}]}"

static char *example(const char *name)
{
    return text_of(TEST_DATA "/transcript/e18", name);
}

/* A thread that was interrupted is continued and finished. */
/* A journal's file that shrinks while it is drawn. */
struct shrinking {
    struct span text;
    unsigned reads; /* that are still answered */
};

static int read_shrinking(void *arg, size_t at, size_t n, struct buf *out)
{
    struct shrinking *s = arg;
    if (s->reads == 0)
        return -1;
    s->reads--;
    return buf_addn(out, s->text.p + at, n);
}

/* Exports as far as that many reads go; answers whether that was all. */
static bool export_shrinking(const char *out, struct span text, unsigned reads)
{
    enum { ENOUGH = 1000 };
    struct shrinking s = {.text = text, .reads = ENOUGH};
    const struct source source = {.n = text.n, .read = read_shrinking, .arg = &s};
    struct directory_report report;
    struct transcript *t;
    struct journal *j;
    struct error e = {0};
    directory_report_init(&report);
    assert_int_equal(journal_open(&source, SPAN_LIT("t1"), NULL, &j, &e), 0);
    assert_int_equal(transcript_load_journal(j, &t, &e), 0);
    s.reads = reads;
    bool good = directory_export_journal(out, t, j, span_str(exported_at), NULL, &report, &e) == 0;
    assert_true(good || strstr(e.message, "try again"));
    char *turn = text_of(report.path, "turns/turn_0002.md");
    assert_true(!turn || strstr(turn, "## Query\n\nAsk 2\n"));
    assert_int_equal(is_there(report.path, "conversation.md"), good);
    assert_false(is_there(report.path, "conversation.md.0.new"));
    assert_false(is_there(report.path, "raw_thread.json.0.new"));
    xfree(turn);
    directory_report_free(&report);
    transcript_destroy(t);
    journal_close(j);
    return good;
}

/* However far it comes, no file says less than the journal did; and the next time all is well. */
static void test_journal_that_shrinks(void **state)
{
    enum { TURNS = 9 };
    char *out = make_place();
    struct buf text;
    unsigned reads = 0;
    (void)state;
    buf_init(&text, MOST);
    for (unsigned i = 1; i <= TURNS; i++)
        buf_printf(&text,
                   "{\"ev\":\"begin\",\"id\":\"r%u\",\"at_us\":205131984%u000000,\"query\":\"Ask %u\"}\n", i,
                   i, i);
    while (!export_shrinking(out, buf_span(&text), reads))
        assert_true(++reads < 100);
    assert_true(reads > TURNS); /* for the document, and for some of the turns */
    buf_free(&text);
    remove_tree(out);
    xfree(out);
}

static void test_continuation(void **state)
{
    char *out = make_place(), *first = example("first.json"), *second = example("second.json");
    char before[1024], after[1024];
    struct directory_report r;
    struct error e;
    (void)state;
    snprintf(before, sizeof before,
             CONTINUED("WORKFLOW_AWAITING_NEXT_STEPS", ",\"locked_reason\":\"spending_limit_exceeded\""),
             "2035-01-02T03:04:20.000000Z");
    snprintf(after, sizeof after, CONTINUED("WORKFLOW_COMPLETED", ""), "2035-01-03T00:00:00.000000Z");
    char *path = export(out, before, NULL, NULL);
    assert_text(path, "thread.json", first);
    put_text(path, "raw_thread.json", after);
    directory_report_init(&r);
    assert_int_equal(directory_rerender(path, true, &r, &e), DIRECTORY_CHANGED);
    assert_int_equal(r.written, 2); /* conversation.md does not show it */
    assert_text(path, "thread.json", second);
    char *turn = text_of(path, "turns/turn_0001.md");
    assert_null(strstr(turn, "⏸"));
    directory_report_free(&r);
    directory_report_init(&r);
    assert_int_equal(directory_rerender(path, true, &r, &e), DIRECTORY_SAME);
    directory_report_free(&r);
    /* And back: the key comes at the end again. */
    put_text(path, "raw_thread.json", before);
    directory_report_init(&r);
    assert_int_equal(directory_rerender(path, true, &r, &e), DIRECTORY_CHANGED);
    assert_text(path, "thread.json", first);
    directory_report_free(&r);
    xfree(turn);
    xfree(path);
    xfree(first);
    xfree(second);
    remove_tree(out);
    xfree(out);
}

static void test_rerender_leaves_the_rest(void **state)
{
    char *out = make_place();
    struct directory_report r;
    struct error e = {0};
    (void)state;
    char *path = export(out, THREAD("", TURN("one")), NULL, NULL);
    put_text(path, "thread.json", "{\"mine\":true}");
    put_text(path, "sources.md", "mine");
    put_text(path, "conversation.md", "changed");
    directory_report_init(&r);
    assert_int_equal(directory_rerender(path, false, &r, &e), DIRECTORY_CHANGED);
    assert_int_equal(r.written, 1);
    assert_text(path, "thread.json", "{\"mine\":true}");
    assert_text(path, "sources.md", "mine");
    directory_report_free(&r);
    put_text(path, "raw_thread.json", "{");
    directory_report_init(&r);
    assert_int_equal(directory_rerender(path, false, &r, &e), DIRECTORY_FAILED);
    assert_non_null(strstr(e.message, path));
    directory_report_free(&r);
    char *raw = disk_join(path, "raw_thread.json");
    unlink(raw);
    directory_report_init(&r);
    assert_int_equal(directory_rerender(path, false, &r, &e), DIRECTORY_SKIPPED);
    directory_report_free(&r);
    xfree(raw);
    xfree(path);
    remove_tree(out);
    xfree(out);
}

static void test_list(void **state)
{
    char *out = make_place(), **paths;
    struct error e = {0};
    size_t n;
    (void)state;
    char *b = export(out, "{\"thread_id\":\"b\",\"author\":\"z\"}", NULL, NULL);
    char *a = export(out, "{\"thread_id\":\"a\",\"author\":\"ana\"}", NULL, NULL);
    assert_int_equal(directory_list(out, &paths, &n, &e), 0);
    assert_int_equal(n, 2);
    assert_string_equal(paths[0], a);
    assert_string_equal(paths[1], b);
    directory_list_free(paths, n);
    assert_int_equal(directory_list(a, &paths, &n, &e), 0);
    assert_int_equal(n, 1);
    assert_string_equal(paths[0], a);
    directory_list_free(paths, n);
    /* An author may begin with a dot; what else is hidden is somebody's own. */
    char *hidden = export(out, "{\"thread_id\":\"c\",\"author\":\".c\"}", NULL, NULL);
    char *git = disk_join(out, ".git/objects/ab");
    assert_string_equal(hidden + strlen(out), "/.c/consult/_untitled_c");
    assert_int_equal(disk_make(git, &e), 0);
    assert_int_equal(directory_list(out, &paths, &n, &e), 0);
    assert_int_equal(n, 3);
    assert_string_equal(paths[0], hidden);
    directory_list_free(paths, n);
    static const char *const dots[] = {".c", ".git"};
    for (size_t i = 0; i < 2; i++) {
        char *dot = disk_join(out, dots[i]);
        remove_tree(dot);
        xfree(dot);
    }
    xfree(hidden);
    xfree(git);
    assert_int_equal(directory_list("/nowhere/at/all", &paths, &n, &e), -1);
    assert_non_null(strstr(e.message, "/nowhere/at/all"));
    xfree(a);
    xfree(b);
    remove_tree(out);
    xfree(out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_layout),
        cmocka_unit_test(test_turns_that_are_gone),
        cmocka_unit_test(test_unchanged),
        cmocka_unit_test(test_names),
        cmocka_unit_test(test_ids_that_begin_alike),
        cmocka_unit_test(test_two_files),
        cmocka_unit_test(test_second_file_goes),
        cmocka_unit_test(test_older_directory),
        cmocka_unit_test(test_directories_that_stay),
        cmocka_unit_test(test_what_cannot_be_written),
        cmocka_unit_test(test_journal_that_shrinks),
        cmocka_unit_test(test_continuation),
        cmocka_unit_test(test_rerender_leaves_the_rest),
        cmocka_unit_test(test_list),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
