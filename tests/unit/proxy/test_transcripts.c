/* `penstock transcript` on a state directory with journals: what is written, what is left alone, what is
 * said. */
#include "proxy/transcripts.h"

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/xalloc.h"
#include "transcript/directory.h"
#include "transcript/disk.h"

enum { MOST = 1 << 20, PATH = 256, TREE = 64 * 1024 };

struct place {
    char root[PATH], state[PATH], out[PATH];
    char *said, *complained; /* of the last run */
};

#define BEGIN(id, at, more)                                                                                  \
    "{\"ev\":\"begin\",\"id\":\"" id "\",\"role\":\"expert\",\"at_us\":" at ",\"query\":\"Ask " id "\"" more \
    "}\n"
#define END(id, at, cause)                                                                                   \
    "{\"ev\":\"end\",\"id\":\"" id "\",\"at_us\":" at ",\"text\":\"Answer " id                               \
    "\",\"end\":{\"cause\":\"" cause "\"}}\n"
#define FIRST(thread) "{\"ev\":\"thread\",\"thread\":\"" thread "\",\"author\":\"ana\"}\n"

static const char one[] =
    FIRST("one") BEGIN("r1", "2051319840000000", "") END("r1", "2051319841000000", "upstream_closed");
static const char two[] =
    FIRST("two") BEGIN("r2", "2051319850000000", "") END("r2", "2051319851000000", "finish");
static const char more[] = BEGIN("r3", "2051319860000000", "") END("r3", "2051319861000000", "finish");

static char *text_of(const char *path)
{
    struct buf text;
    buf_init(&text, MOST);
    char *copy = disk_read(path, &text) == 0 ? xspandup(buf_span(&text)) : NULL;
    buf_free(&text);
    return copy;
}

static void put_journal(const struct place *p, const char *org, const char *thread, const char *lines)
{
    struct error e;
    char path[2 * PATH];
    snprintf(path, sizeof path, "%s/orgs/%s/threads", p->state, org);
    assert_int_equal(disk_make(path, &e), 0);
    snprintf(path, sizeof path, "%s/orgs/%s/threads/%s.jsonl", p->state, org, thread);
    assert_true(disk_write(path, span_str(lines), &e) >= 0);
}

static int set_up(void **state)
{
    struct place *p = xcalloc(1, sizeof *p);
    snprintf(p->root, sizeof p->root, "/tmp/penstock-transcript-XXXXXX");
    if (!mkdtemp(p->root))
        return -1;
    snprintf(p->state, sizeof p->state, "%.200s/state", p->root);
    snprintf(p->out, sizeof p->out, "%.200s/out", p->root);
    put_journal(p, "default", "one", one);
    put_journal(p, "default", "two", two);
    *state = p;
    return 0;
}

static void remove_tree(const char *path)
{
    char **names, command[2 * PATH];
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
    for (size_t i = 0; i < 2; i++) { /* what begins with a dot */
        snprintf(command, sizeof command, "%s/.penstock-threads-%s.json", path, i ? "acme" : "default");
        unlink(command);
    }
    rmdir(path);
}

static int tear_down(void **state)
{
    struct place *p = *state;
    remove_tree(p->root);
    xfree(p->said);
    xfree(p->complained);
    xfree(p);
    return 0;
}

/* Runs with standard output and standard error in files. */
static int run(struct place *p, struct transcript_options options)
{
    char paths[2][PATH + 32];
    int kept[2];
    if (!options.state_dir && !options.config_path)
        options.state_dir = p->state;
    fflush(stdout);
    for (int i = 0; i < 2; i++) {
        snprintf(paths[i], sizeof paths[i], "%s/said-%d", p->root, i);
        FILE *f = fopen(paths[i], "w");
        assert_non_null(f);
        kept[i] = dup(i + 1);
        assert_true(dup2(fileno(f), i + 1) >= 0);
        fclose(f);
    }
    int status = transcripts_run(&options);
    for (int i = 0; i < 2; i++) {
        dup2(kept[i], i + 1);
        close(kept[i]);
    }
    xfree(p->said);
    xfree(p->complained);
    p->said = text_of(paths[0]);
    p->complained = text_of(paths[1]);
    return status;
}

static int export_all(struct place *p)
{
    return run(p, (struct transcript_options){.action = TRANSCRIPT_EXPORT, .out = p->out});
}

static void assert_said(const char *text, const char *piece)
{
    if (strstr(text, piece))
        return;
    print_error("%s\nlacks\n%s\n", text, piece);
    fail();
}

/* What is in a directory and when it was last written, as a text. */
static void look(const char *path, struct buf *out)
{
    char **names;
    size_t n;
    assert_int_equal(disk_list(path, &names, &n), 0);
    for (size_t i = 0; i < n; i++) {
        char *inner = disk_join(path, names[i]);
        struct stat st;
        assert_int_equal(lstat(inner, &st), 0);
        buf_printf(out, "%s %llu %lld.%09ld\n", inner, (unsigned long long)st.st_ino,
                   (long long)st.st_mtim.tv_sec, st.st_mtim.tv_nsec);
        if (S_ISDIR(st.st_mode))
            look(inner, out);
        xfree(inner);
    }
    disk_list_free(names, n);
}

static char *look_at(const char *path)
{
    struct buf out;
    buf_init(&out, TREE);
    look(path, &out);
    char *text = xspandup(buf_span(&out));
    buf_free(&out);
    return text;
}

/* ---- export ---- */

static void test_only_what_changed(void **state)
{
    struct place *p = *state;
    char first[2 * PATH], second[2 * PATH], json[3 * PATH];
    snprintf(first, sizeof first, "%s/ana/consult/2035-01-02_Ask-r1_one", p->out);
    snprintf(second, sizeof second, "%s/ana/consult/2035-01-02_Ask-r2_two", p->out);
    assert_int_equal(export_all(p), 0);
    assert_string_equal(p->said, "2 threads: 2 exported, 0 unchanged, 0 failed; 12 files written\n");
    assert_string_equal(p->complained,
                        "warning: thread one \"Ask r1\": 1 unfinished workflows: entry:r1:awaiting\n");
    char *before = look_at(p->out);
    assert_int_equal(export_all(p), 0);
    assert_string_equal(p->said, "2 threads: 0 exported, 2 unchanged, 0 failed; 0 files written\n");
    char *after = look_at(p->out);
    assert_string_equal(before, after);
    xfree(before);
    xfree(after);
    /* The interrupted turn is asked again. */
    char journal[sizeof one + sizeof more];
    snprintf(journal, sizeof journal, "%s%s", one, more);
    before = look_at(second);
    put_journal(p, "default", "one", journal);
    assert_int_equal(export_all(p), 0);
    assert_said(p->said, "2 threads: 1 exported, 1 unchanged");
    after = look_at(second);
    assert_string_equal(before, after);
    snprintf(json, sizeof json, "%s/thread.json", first);
    char *text = text_of(json);
    assert_said(text, "\"n_turns\": 2");
    assert_said(text, "\"lastUpdated\": \"2035-01-02T03:04:21.000000Z\"");
    xfree(text);
    xfree(before);
    xfree(after);
}

/* A clock that was set back, or a line that another worker wrote late, leaves the last update as it was. */
static void test_older_times(void **state)
{
    struct place *p = *state;
    char journal[sizeof two + sizeof one];
    assert_int_equal(export_all(p), 0);
    snprintf(journal, sizeof journal, "%s%s", two,
             BEGIN("r0", "2051319830000000", "") END("r0", "2051319831000000", "finish"));
    put_journal(p, "default", "two", journal);
    assert_int_equal(export_all(p), 0);
    assert_said(p->said, "2 threads: 1 exported, 1 unchanged");
    char *after = look_at(p->out);
    assert_said(after, "/turns/turn_0002.md");
    xfree(after);
    assert_int_equal(export_all(p), 0);
    assert_string_equal(p->said, "2 threads: 0 exported, 2 unchanged, 0 failed; 0 files written\n");
}

/* A turn that is cut and then ends well: its annotation goes, and only that thread is written. */
static void test_annotation_goes(void **state)
{
    struct place *p = *state;
    char path[2 * PATH];
    snprintf(path, sizeof path, "%s/ana/consult/2035-01-02_Ask-r1_one/thread.json", p->out);
    assert_int_equal(export_all(p), 0);
    char *text = text_of(path);
    assert_said(text, "\"kind\": \"awaiting\"");
    xfree(text);
    put_journal(p, "default", "one",
                FIRST("one") BEGIN("r1", "2051319840000000", "")
                    END("r1", "2051319841000000", "upstream_closed") END("r1", "2051319842000000", "finish"));
    assert_int_equal(export_all(p), 0);
    assert_string_equal(p->complained, "");
    assert_said(p->said, "1 exported");
    text = text_of(path);
    assert_null(strstr(text, "interruptions"));
    xfree(text);
}

/* A thread that goes on another day gets another directory, and keeps what lies in the old one. */
static void test_another_day(void **state)
{
    struct place *p = *state;
    struct error e;
    char old[2 * PATH], next[2 * PATH], path[3 * PATH];
    snprintf(old, sizeof old, "%s/ana/consult/2035-01-02_Ask-r1_one", p->out);
    snprintf(next, sizeof next, "%s/ana/consult/2035-01-03_Ask-r1_one", p->out);
    snprintf(path, sizeof path, "%s/notes.md", old);
    assert_int_equal(export_all(p), 0);
    assert_int_equal(disk_write(path, SPAN_LIT("mine"), &e), 1);
    put_journal(p, "default", "one",
                FIRST("one") BEGIN("r1", "2051319840000000", "") END("r1", "2051319841000000", "finish")
                    BEGIN("r4", "2051406240000000", "") END("r4", "2051406241000000", "finish"));
    assert_int_equal(export_all(p), 0);
    assert_said(p->complained, "2035-01-03_Ask-r1_one: moved from ");
    assert_said(p->complained,
                "; newer ones replaced conversation.md, raw_thread.json, thread.json, turn_0001.md\n");
    assert_false(disk_is_directory(old));
    snprintf(path, sizeof path, "%s/notes.md", next);
    char *notes = text_of(path);
    assert_string_equal(notes, "mine");
    xfree(notes);
    assert_int_equal(export_all(p), 0);
    assert_said(p->said, "2 threads: 0 exported, 2 unchanged");
}

static void test_one_thread(void **state)
{
    struct place *p = *state;
    struct transcript_options o = {.action = TRANSCRIPT_EXPORT, .out = p->out, .thread = "two"};
    assert_int_equal(run(p, o), 0);
    assert_string_equal(p->said, "1 thread: 1 exported, 0 unchanged, 0 failed; 6 files written\n");
    o.force = true;
    assert_int_equal(run(p, o), 0);
    assert_string_equal(p->said, "1 thread: 1 exported, 0 unchanged, 0 failed; 0 files written\n");
    o.thread = "three";
    assert_int_equal(run(p, o), 1);
    assert_said(p->complained, "there is no thread \"three\"; see penstock transcript list");
}

static void test_organisations(void **state)
{
    struct place *p = *state;
    put_journal(p, "acme", "one", one);
    assert_int_equal(export_all(p), 1);
    assert_said(p->complained, "choose one with --org");
    struct transcript_options o = {.action = TRANSCRIPT_EXPORT, .out = p->out, .org = "acme"};
    assert_int_equal(run(p, o), 0);
    assert_said(p->said, "1 thread: 1 exported");
    o.org = "default";
    assert_int_equal(run(p, o), 1);
    assert_said(p->complained,
                "holds threads of the organisation acme; export those of default to another directory");
    o.org = "nobody";
    assert_int_equal(run(p, o), 0);
    assert_said(p->complained, "there are no threads");
}

static void test_state_that_is_broken(void **state)
{
    struct place *p = *state;
    struct error e;
    char path[2 * PATH];
    assert_int_equal(export_all(p), 0);
    snprintf(path, sizeof path, "%s/.penstock-threads-default.json", p->out);
    assert_int_equal(disk_write(path, SPAN_LIT("{\"one\":"), &e), 1);
    assert_int_equal(export_all(p), 0);
    assert_said(p->complained, "cannot be read; it is now ");
    assert_string_equal(p->said, "2 threads: 2 exported, 0 unchanged, 0 failed; 0 files written\n");
    char *aside = strstr(p->complained, "it is now ") + strlen("it is now ");
    *strchr(aside, '\n') = '\0';
    char *kept = text_of(aside);
    assert_string_equal(kept, "{\"one\":");
    unlink(aside);
    xfree(kept);
}

static void test_journals_that_are_damaged(void **state)
{
    struct place *p = *state;
    char path[2 * PATH];
    put_journal(p, "default", "one",
                FIRST("one") "broken\n" BEGIN("r1", "2051319840000000", "") "{\"ev\":\"end\",\"id");
    snprintf(path, sizeof path, "%s/orgs/default/threads/wide.jsonl", p->state);
    FILE *f = fopen(path, "w"); /* larger than can be read, without taking the room */
    assert_non_null(f);
    assert_int_equal(ftruncate(fileno(f), (off_t)TRANSCRIPT_DOCUMENT + 1), 0);
    fclose(f);
    assert_int_equal(export_all(p), 1);
    assert_said(p->complained, "thread one: 2 lines of its journal are damaged and were left out\n");
    assert_said(p->complained,
                "thread wide: its journal is larger than the 134217728 bytes that can be read\n");
    assert_said(p->said, "3 threads: 2 exported, 0 unchanged, 1 failed");
    assert_int_equal(export_all(p), 1); /* it is tried again */
    assert_said(p->said, "3 threads: 0 exported, 2 unchanged, 1 failed");
}

static void test_places_that_are_wrong(void **state)
{
    struct place *p = *state;
    struct transcript_options o = {.action = TRANSCRIPT_EXPORT, .out = "/dev/null/x"};
    assert_int_equal(run(p, o), 1);
    assert_said(p->complained, "/dev/null");
    o = (struct transcript_options){.action = TRANSCRIPT_LIST, .state_dir = "/dev/null/x"};
    assert_int_equal(run(p, o), 1);
    assert_said(p->complained, "--state-dir or --config say which directory the server uses");
    o = (struct transcript_options){.action = TRANSCRIPT_LIST, .config_path = "/dev/null/x"};
    assert_int_equal(run(p, o), 1);
    assert_said(p->complained, "/dev/null/x");
}

/* ---- the others ---- */

static void test_list(void **state)
{
    struct place *p = *state;
    put_journal(p, "acme", "x",
                FIRST("x") "{\"ev\":\"begin\",\"id\":\"s\",\"role\":\"specialist\",\"query\":\"\"}\n");
    assert_int_equal(run(p, (struct transcript_options){.action = TRANSCRIPT_LIST}), 0);
    assert_said(p->said, "2035-01-02T03:04:01.000000Z\tdefault\tone\t1\t0\tAsk r1\n");
    assert_said(p->said, "-\tacme\tx\t0\t1\t\n");
    assert_int_equal(run(p, (struct transcript_options){.action = TRANSCRIPT_LIST, .org = "acme"}), 0);
    assert_string_equal(p->said, "-\tacme\tx\t0\t1\t\n");
    assert_string_equal(p->complained, "");
    /* The ones that changed last. */
    char path[2 * PATH];
    const struct timespec times[2] = {{.tv_sec = 1}, {.tv_sec = 1}};
    snprintf(path, sizeof path, "%s/orgs/default/threads/two.jsonl", p->state);
    assert_int_equal(utimensat(AT_FDCWD, path, times, 0), 0);
    assert_int_equal(run(p, (struct transcript_options){.action = TRANSCRIPT_LIST, .limit = 2}), 0);
    assert_said(p->said, "\tone\t");
    assert_said(p->said, "\tx\t");
    assert_null(strstr(p->said, "\ttwo\t"));
    assert_int_equal(run(p, (struct transcript_options){.action = TRANSCRIPT_LIST, .limit = 7}), 0);
    assert_said(p->said, "\ttwo\t");
}

static void test_render(void **state)
{
    struct place *p = *state;
    struct transcript_options o = {
        .action = TRANSCRIPT_RENDER, .out = p->out, .files = {TEST_DATA "/transcript/e14/input.json", NULL}};
    assert_int_equal(run(p, o), 0);
    assert_said(p->said, "/ana/consult/2035-01-02_Demo_t1: 3 turns, 8 files written\n");
    assert_string_equal(p->complained, "warning: duplicate_payload id=c1\n");
    o.files[0] = TEST_DATA "/transcript/e12/input.json";
    assert_int_equal(run(p, o), 0);
    assert_string_equal(p->complained, "warning: thread t1 \"Demo\": 2 unfinished workflows: "
                                       "entry:e1:limit_interrupted; background:b2:limit_interrupted\n");
    o.files[0] = TEST_DATA "/transcript/e14/input.json";
    o.files[1] = TEST_DATA "/transcript/e12/input.json";
    assert_int_equal(run(p, o), 0);
    o.files[1] = "/nowhere";
    assert_int_equal(run(p, o), 1);
    assert_said(p->complained, "cannot read /nowhere: No such file or directory");
    o.files[0] = TEST_DATA "/transcript/e14/headline.txt";
    o.files[1] = NULL;
    assert_int_equal(run(p, o), 1);
    assert_said(p->complained, "headline.txt: The thread document is not valid JSON");
    o.files[0] = "/";
    assert_int_equal(run(p, o), 1);
}

/* What the recorder's journal became is a document like any other. */
static void test_import_of_an_export(void **state)
{
    struct place *p = *state;
    char raw[3 * PATH];
    assert_int_equal(export_all(p), 0);
    char *before = look_at(p->out);
    snprintf(raw, sizeof raw, "%s/ana/consult/2035-01-02_Ask-r1_one/raw_thread.json", p->out);
    struct transcript_options o = {.action = TRANSCRIPT_RENDER, .out = p->out, .files = {raw, NULL}};
    assert_int_equal(run(p, o), 0);
    assert_said(p->said, "1 turn, 0 files written");
    char *after = look_at(p->out);
    assert_string_equal(before, after);
    xfree(before);
    xfree(after);
}

static void test_rerender(void **state)
{
    struct place *p = *state;
    struct transcript_options o = {
        .action = TRANSCRIPT_RERENDER, .directory = p->out, .dry_run = true, .limit = 1};
    assert_int_equal(export_all(p), 0);
    assert_int_equal(run(p, o), 0);
    assert_said(p->said, "2035-01-02_Ask-r1_one\n1 directories would be drawn anew\n");
    assert_null(strstr(p->said, "two"));
    o.dry_run = false;
    o.limit = 0;
    assert_int_equal(run(p, o), 0);
    assert_string_equal(
        p->said, "2 directories: 0 changed, 2 unchanged, 0 skipped without raw_thread.json, 0 failed\n");
    o.directory = "/nowhere";
    assert_int_equal(run(p, o), 1);
    assert_said(p->complained, "/nowhere is not a directory");
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(test_only_what_changed),
        TEST(test_older_times),
        TEST(test_annotation_goes),
        TEST(test_another_day),
        TEST(test_one_thread),
        TEST(test_organisations),
        TEST(test_state_that_is_broken),
        TEST(test_journals_that_are_damaged),
        TEST(test_places_that_are_wrong),
        TEST(test_list),
        TEST(test_render),
        TEST(test_import_of_an_export),
        TEST(test_rerender),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
