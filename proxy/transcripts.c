#include "proxy/transcripts.h"

#include <errno.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/xalloc.h"
#include "proxy/progress.h"
#include "transcript/directory.h"
#include "transcript/disk.h"
#include "transcript/journal.h"
#include "transcript/text.h"
#include "transcript/time.h"

enum { JOURNALS_MOST = 4 << 20 };

static int complain(const char *message)
{
    fprintf(stderr, "penstock transcript: %s\n", message);
    return 1;
}

void transcripts_now(char text[32])
{
    time_t now = (time_t)(clock_wall_ms() / 1000);
    struct tm tm;
    gmtime_r(&now, &tm);
    strftime(text, 32, "%Y-%m-%dT%H:%M:%SZ", &tm);
}

/* ---- journals ---- */

/* The caller frees it; NULL after a line. */
static char *find_state_dir(const struct transcript_options *o)
{
    struct config_error e;
    if (o->state_dir)
        return xstrdup(o->state_dir);
    struct config *c = config_load(o->config_path, &e);
    if (!c) {
        complain(e.message);
        return NULL;
    }
    char *dir = xstrdup(c->state_dir);
    config_unref(c);
    return dir;
}

static int keep_thread(const struct transcript_options *o, struct transcripts_source *s)
{
    char name[THREAD_NAME];
    size_t kept = 0;
    threads_name(span_str(o->thread), name);
    for (size_t i = 0; i < s->n; i++)
        if (strcmp(s->list[i].name, name) == 0)
            s->list[kept++] = s->list[i];
    s->n = kept;
    if (kept)
        return 0;
    fprintf(stderr, "penstock transcript: there is no thread \"%.200s\"%s%s; see penstock transcript list\n",
            o->thread, o->org ? " in the organisation " : "", o->org ? o->org : "");
    return -1;
}

/* Threads of several organisations do not go into one directory. */
static int check_one_org(const struct transcripts_source *s)
{
    for (size_t i = 1; i < s->n; i++)
        if (strcmp(s->list[i].org, s->list[0].org) != 0) {
            fprintf(stderr,
                    "penstock transcript: several organisations have threads, %s and %s among them; choose "
                    "one with "
                    "--org\n",
                    s->list[0].org, s->list[i].org);
            return -1;
        }
    return 0;
}

int transcripts_source_open(const struct transcript_options *o, struct transcripts_source *s)
{
    struct error e;
    char *dir = find_state_dir(o);
    bool more = false;
    int status = -1;
    *s = (struct transcripts_source){.org = ""};
    if (!dir)
        return -1;
    s->threads = threads_open(dir, false, &e);
    if (!s->threads)
        fprintf(stderr,
                "penstock transcript: %s; --state-dir or --config say which directory the server uses\n",
                e.message);
    else if (threads_list(s->threads, o->org ? o->org : "", JOURNALS_MOST, &s->list, &s->n, &more))
        fprintf(stderr, "penstock transcript: the journals in %s cannot be read: %s\n", dir, strerror(errno));
    else if ((!o->thread || keep_thread(o, s) == 0) &&
             (o->action == TRANSCRIPT_LIST || check_one_org(s) == 0))
        status = 0;
    if (more)
        fprintf(stderr, "warning: only %d threads are looked at; name one, or an organisation with --org\n",
                JOURNALS_MOST);
    if (s->n)
        s->org = s->list[0].org;
    xfree(dir);
    if (status)
        transcripts_source_close(s);
    return status;
}

void transcripts_source_close(struct transcripts_source *s)
{
    threads_close(s->threads);
    xfree(s->list);
    *s = (struct transcripts_source){.org = ""};
}

int transcripts_source_read(const struct transcripts_source *s, const struct thread_entry *entry,
                            struct source *journal, char why[LIMIT_ERROR_TEXT])
{
    switch (threads_source(s->threads, entry->org, entry->name, journal)) {
    case THREADS_READ:
        if (journal->n <= TRANSCRIPT_DOCUMENT)
            return 0;
        threads_source_close(journal);
        snprintf(why, LIMIT_ERROR_TEXT, "its journal is larger than the %d bytes that can be read",
                 TRANSCRIPT_DOCUMENT);
        break;
    case THREADS_NONE:
        snprintf(why, LIMIT_ERROR_TEXT, "its journal is gone");
        break;
    case THREADS_FAILED:
        snprintf(why, LIMIT_ERROR_TEXT, "its journal cannot be read: %s", strerror(errno));
        break;
    }
    return -1;
}

int transcripts_source_summarize(const struct transcripts_source *s, const struct thread_entry *entry,
                                 struct journal_summary *summary, char why[LIMIT_ERROR_TEXT])
{
    struct source journal;
    *summary = (struct journal_summary){.skipped = 0};
    if (transcripts_source_read(s, entry, &journal, why))
        return -1;
    int status = journal_summarize(&journal, summary);
    if (status)
        snprintf(why, LIMIT_ERROR_TEXT, "its journal cannot be read to its end; try again");
    threads_source_close(&journal);
    return status;
}

static void list_one(const struct thread_entry *entry, const struct journal_summary *summary)
{
    struct buf line;
    buf_init(&line, 64 * 1024);
    if (!time_print(summary->last_us, &line) || summary->last_us == 0) {
        buf_reset(&line);
        buf_adds(&line, "-");
    }
    buf_printf(&line, "\t%s\t%s\t%u\t%u\t", entry->org, entry->name, summary->experts, summary->specialists);
    text_line(text_cut(text_first_line(text_trim(buf_span(&summary->title))), TEXT_TITLE), &line);
    printf("%s\n", buf_cstr(&line));
    buf_free(&line);
}

static int list(const struct transcript_options *o)
{
    struct transcripts_source s;
    struct progress bar;
    int status = 0;
    if (transcripts_source_open(o, &s))
        return 1;
    size_t most = o->limit && o->limit < s.n ? o->limit : s.n;
    progress_begin(&bar, "threads", isatty(STDOUT_FILENO) ? 0 : most);
    if (isatty(STDOUT_FILENO) && most)
        puts("LAST UPDATE\tORGANISATION\tTHREAD\tTURNS\tCONSULTS\tTITLE");
    for (size_t i = 0; i < most; i++) {
        struct journal_summary summary;
        char why[LIMIT_ERROR_TEXT];
        progress_step(&bar, i);
        if (transcripts_source_summarize(&s, &s.list[i], &summary, why)) {
            progress_clear(&bar);
            fprintf(stderr, "penstock transcript: thread %s: %s\n", s.list[i].name, why);
            status = 1;
        } else {
            list_one(&s.list[i], &summary);
        }
        journal_summary_free(&summary);
    }
    progress_clear(&bar);
    transcripts_source_close(&s);
    return status;
}

/* ---- documents ---- */

void transcripts_warn(const struct transcript *t, struct progress *bar)
{
    struct buf alert;
    buf_init(&alert, 64 * 1024);
    if (transcript_alert(t, &alert) == 0 && alert.n) {
        progress_clear(bar);
        fprintf(stderr, "warning: %s\n", buf_cstr(&alert));
    }
    buf_free(&alert);
    for (size_t i = 0; i < transcript_warnings(t); i++) {
        progress_clear(bar);
        fprintf(stderr, "warning: %.*s\n", (int)transcript_warning(t, i).n, transcript_warning(t, i).p);
    }
}

static int read_document(const char *path, struct buf *out)
{
    buf_init(out, TRANSCRIPT_DOCUMENT);
    if (disk_read(path, out) == 0)
        return 0;
    fprintf(stderr, "penstock transcript: cannot read %s: %s\n", path,
            errno == EFBIG    ? "it is larger than 128 MiB"
            : errno == EINVAL ? "it is no file"
                              : strerror(errno));
    return -1;
}

static int render_document(const struct transcript_options *o, struct span raw, struct span blocks)
{
    struct transcript *t;
    struct error e;
    char now[32];
    if (transcript_load(raw, blocks, &t, &e)) {
        fprintf(stderr, "penstock transcript: %s%s%s: %s\n", o->files[0], blocks.n ? " with " : "",
                blocks.n ? o->files[1] : "", e.message);
        return 1;
    }
    struct directory_index *index = directory_index_read(o->out);
    struct directory_report report;
    struct progress no_bar = {.total = 0};
    directory_report_init(&report);
    transcripts_now(now);
    int failed = directory_export(o->out, t, raw, blocks, span_str(now),
                                  directory_index_find(index, transcript_entry(t).id), &report, &e);
    if (failed)
        complain(e.message);
    else
        printf("%s: %u turn%s, %u file%s written\n", report.path, transcript_entry(t).turns,
               transcript_entry(t).turns == 1 ? "" : "s", report.written, report.written == 1 ? "" : "s");
    transcripts_warn(t, &no_bar);
    directory_report_free(&report);
    directory_index_destroy(index);
    transcript_destroy(t);
    return failed ? 1 : 0;
}

static int render(const struct transcript_options *o)
{
    struct buf raw, blocks;
    buf_init(&blocks, 0);
    int status = 1;
    if (read_document(o->files[0], &raw) == 0 && (!o->files[1] || read_document(o->files[1], &blocks) == 0))
        status = render_document(o, buf_span(&raw), buf_span(&blocks));
    buf_free(&raw);
    buf_free(&blocks);
    return status;
}

static int rerender(const struct transcript_options *o)
{
    size_t counts[DIRECTORY_CHANGED + 1] = {0}, n;
    struct progress bar;
    struct error e;
    char **paths;
    if (directory_list(o->directory, &paths, &n, &e))
        return complain(e.message);
    size_t most = o->limit && o->limit < n ? o->limit : n;
    progress_begin(&bar, "directories", o->dry_run ? 0 : most);
    for (size_t i = 0; i < most; i++) {
        struct directory_report report;
        if (o->dry_run) {
            puts(paths[i]);
            continue;
        }
        progress_step(&bar, i);
        directory_report_init(&report);
        enum directory_rendered rendered = directory_rerender(paths[i], o->thread_json, &report, &e);
        counts[rendered]++;
        if (rendered == DIRECTORY_FAILED) {
            progress_clear(&bar);
            complain(e.message);
        }
        directory_report_free(&report);
    }
    progress_clear(&bar);
    directory_list_free(paths, n);
    if (o->dry_run)
        printf("%zu directories would be drawn anew\n", most);
    else
        printf(
            "%zu directories: %zu changed, %zu unchanged, %zu skipped without raw_thread.json, %zu failed\n",
            most, counts[DIRECTORY_CHANGED], counts[DIRECTORY_SAME], counts[DIRECTORY_SKIPPED],
            counts[DIRECTORY_FAILED]);
    return counts[DIRECTORY_FAILED] ? 1 : 0;
}

int transcripts_run(const struct transcript_options *o)
{
    int status = 1;
    switch (o->action) {
    case TRANSCRIPT_EXPORT:
        status = transcripts_export(o);
        break;
    case TRANSCRIPT_RENDER:
        status = render(o);
        break;
    case TRANSCRIPT_RERENDER:
        status = rerender(o);
        break;
    case TRANSCRIPT_LIST:
        status = list(o);
        break;
    }
    if (fflush(stdout) || ferror(stdout))
        status = complain("cannot write to standard output");
    return status;
}
