/* penstock transcript export: the journals of threads that changed, one after the other. */
#include <dirent.h>
#include <errno.h>
#include <stdio.h>

#include "base/clock.h"
#include "base/xalloc.h"
#include "proxy/progress.h"
#include "proxy/transcripts.h"
#include "transcript/directory.h"
#include "transcript/disk.h"
#include "transcript/journal.h"
#include "transcript/plan.h"
#include "transcript/time.h"

enum {
    STATE = 256 << 20,
    SMALL_STATE = 64 << 10, /* is saved after every thread */
    SAVE_MS = 1000,         /* a larger one not more often */
    TIME = 40,
};

/* One file a directory, with the organisation in its name: threads of two would be mixed up. */
static const char state_begin[] = ".penstock-threads-", state_end[] = ".json";

struct export
{
    const struct transcript_options *options;
    struct transcripts_source source;
    struct plan_state *state;
    struct plan_thread *plan; /* number: of the source's list */
    char(*times)[TIME];       /* of the source's threads: their last update, or "" */
    size_t planned;
    struct directory_index *index; /* read when it is needed */
    char *state_path;
    struct progress bar;
    int64_t saved_ms;
    size_t exported, failed, written;
};

static void say(struct export *x, const char *thread, const char *what)
{
    progress_clear(&x->bar);
    fprintf(stderr, "penstock transcript: thread %s: %s\n", thread, what);
}

/* ---- the state ---- */

static int check_org(const struct export *x)
{
    DIR *dir = opendir(x->options->out);
    int status = 0;
    for (struct dirent *d; dir && (d = readdir(dir));) {
        struct span name = span_str(d->d_name);
        if (!span_starts(name, state_begin) || !span_ends(name, state_end))
            continue;
        struct span org = span_from(name, sizeof state_begin - 1);
        org.n -= sizeof state_end - 1;
        if (span_is(org, x->source.org))
            continue;
        fprintf(
            stderr,
            "penstock transcript: %s holds threads of the organisation %.*s; export those of %s to another "
            "directory\n",
            x->options->out, (int)org.n, org.p, x->source.org);
        status = -1;
        break;
    }
    if (dir)
        closedir(dir);
    return status;
}

/* What cannot be read is put aside, and everything is exported anew. */
static void put_aside(struct export *x)
{
    struct buf aside;
    char now[32];
    transcripts_now(now);
    buf_init(&aside, strlen(x->state_path) + 64);
    buf_printf(&aside, "%s.corrupt-%s", x->state_path, now);
    if (rename(x->state_path, buf_cstr(&aside)) == 0)
        fprintf(stderr, "warning: %s cannot be read; it is now %s\n", x->state_path, buf_cstr(&aside));
    buf_free(&aside);
}

static int open_state(struct export *x)
{
    struct buf name, text;
    struct error e;
    if (disk_make(x->options->out, &e)) {
        fprintf(stderr, "penstock transcript: %s\n", e.message);
        return -1;
    }
    if (check_org(x))
        return -1;
    buf_init(&name, 256);
    buf_printf(&name, "%s%s%s", state_begin, x->source.org, state_end);
    x->state_path = disk_join(x->options->out, buf_cstr(&name));
    buf_free(&name);
    buf_init(&text, STATE);
    if (disk_read(x->state_path, &text) == 0) {
        x->state = plan_state_parse(buf_span(&text));
        if (!x->state)
            put_aside(x);
    }
    if (!x->state)
        x->state = plan_state_create();
    buf_free(&text);
    return 0;
}

static int save_state(struct export *x, bool last)
{
    struct buf text;
    struct error e;
    int status = 0;
    buf_init(&text, STATE);
    if (!last && clock_mono_ms() - x->saved_ms < SAVE_MS)
        return 0;
    if (plan_state_print(x->state, &text) == 0 && disk_write(x->state_path, buf_span(&text), &e) < 0) {
        progress_clear(&x->bar);
        fprintf(stderr, "penstock transcript: %s\n", e.message);
        status = -1;
    }
    x->saved_ms = text.n <= SMALL_STATE ? 0 : clock_mono_ms();
    buf_free(&text);
    return status;
}

/* ---- what there is ---- */

static void read_times(struct export *x)
{
    struct transcripts_source *s = &x->source;
    x->plan = xcalloc(s->n + 1, sizeof *x->plan);
    x->times = xcalloc(s->n + 1, sizeof *x->times);
    progress_begin(&x->bar, "threads looked at", s->n);
    for (size_t i = 0; i < s->n; i++) {
        struct journal_summary summary;
        struct buf time;
        char why[LIMIT_ERROR_TEXT];
        progress_step(&x->bar, i);
        buf_init(&time, TIME);
        /* One that cannot be read is told about when it is exported. */
        if (transcripts_source_summarize(s, &s->list[i], &summary, why) == 0 && summary.last_us > 0 &&
            time_print(summary.last_us, &time))
            snprintf(x->times[i], TIME, "%s", buf_cstr(&time));
        journal_summary_free(&summary);
        buf_free(&time);
        x->plan[i] = (struct plan_thread){.id = span_str(s->list[i].name),
                                          .last_updated = span_str(x->times[i]),
                                          .bytes = s->list[i].bytes,
                                          .number = i};
    }
    progress_clear(&x->bar);
}

/* ---- one thread ---- */

/* It has another date now. Files that were in both directories are said in one line. */
static void tell_moved(struct export *x, const struct directory_report *r)
{
    struct span names = buf_span(&r->clashes);
    progress_clear(&x->bar);
    fprintf(stderr, "%s: moved from %s", r->path, r->moved_from);
    for (const char *comma = "; newer ones replaced "; names.n; comma = ", ") {
        size_t n = (size_t)((const char *)memchr(names.p, '\n', names.n) - names.p);
        fprintf(stderr, "%s%.*s", comma, (int)n, names.p);
        names = span_from(names, n + 1);
    }
    fputc('\n', stderr);
}

static void tell(struct export *x, const struct transcript *t, const struct directory_report *r)
{
    transcripts_warn(t, &x->bar);
    if (r->moved_from)
        tell_moved(x, r);
}

static int write_thread(struct export *x, const struct transcript *t, const struct journal *j,
                        struct error *e)
{
    struct directory_report report;
    char now[32];
    transcripts_now(now);
    directory_report_init(&report);
    if (!x->index)
        x->index = directory_index_read(x->options->out);
    int failed = directory_export_journal(x->options->out, t, j, span_str(now),
                                          directory_index_find(x->index, transcript_entry(t).id), &report, e);
    if (!failed) {
        x->written += report.written;
        tell(x, t, &report);
    }
    directory_report_free(&report);
    return failed;
}

/* -1 with an error; *live: something in it still runs. */
static int export_thread(struct export *x, const struct thread_entry *entry, bool *live, struct error *e)
{
    const struct journal_live is_live = {.is_running = threads_is_live, .arg = x->source.threads};
    struct transcript *t = NULL;
    struct journal *j = NULL;
    struct source source;
    char why[LIMIT_ERROR_TEXT];
    int status = -1;
    if (transcripts_source_read(&x->source, entry, &source, why))
        return error_set(e, ERROR_BAD_REQUEST, "%s", why);
    if (journal_open(&source, span_str(entry->name), &is_live, &j, e))
        goto out;
    *live = journal_runs(j);
    if (journal_skipped(j)) {
        snprintf(why, sizeof why, "%zu lines of its journal are damaged and were left out",
                 journal_skipped(j));
        say(x, entry->name, why);
    }
    if (transcript_load_journal(j, &t, e) == 0 && write_thread(x, t, j, e) == 0)
        status = 0;
out:
    transcript_destroy(t);
    journal_close(j);
    threads_source_close(&source);
    return status;
}

static int export_planned(struct export *x)
{
    progress_begin(&x->bar, "threads", x->planned);
    for (size_t i = 0; i < x->planned; i++) {
        const struct plan_thread *p = &x->plan[i];
        const struct thread_entry *entry = &x->source.list[p->number];
        bool live = false;
        struct error e;
        progress_step(&x->bar, i);
        if (p->action != PLAN_NEW && p->action != PLAN_UPDATED)
            continue;
        if (export_thread(x, entry, &live, &e)) {
            say(x, entry->name, e.message);
            plan_state_set(x->state, p->id, "error", p->last_updated, p->bytes);
            x->failed++;
        } else {
            /* What runs may end without a trace: it is looked at again. */
            plan_state_set(x->state, p->id, "ok", live ? SPAN_LIT("") : p->last_updated, p->bytes);
            x->exported++;
        }
        if (save_state(x, false))
            return -1;
    }
    progress_clear(&x->bar);
    return save_state(x, true);
}

int transcripts_export(const struct transcript_options *o)
{
    struct export x = {.options = o};
    int status = 1;
    if (transcripts_source_open(o, &x.source))
        return 1;
    if (x.source.n == 0) {
        fputs("penstock transcript: there are no threads; clients name theirs with the header X-HW-Thread\n",
              stderr);
        status = 0;
        goto out;
    }
    if (open_state(&x))
        goto out;
    read_times(&x);
    x.planned = plan_threads(x.plan, x.source.n, x.state, o->full, o->force);
    if (export_planned(&x) == 0 && !x.failed)
        status = 0;
    printf("%zu thread%s: %zu exported, %zu unchanged, %zu failed; %zu file%s written\n", x.source.n,
           x.source.n == 1 ? "" : "s", x.exported, x.source.n - x.exported - x.failed, x.failed, x.written,
           x.written == 1 ? "" : "s");
out:
    directory_index_destroy(x.index);
    plan_state_destroy(x.state);
    xfree(x.state_path);
    xfree(x.plan);
    xfree(x.times);
    transcripts_source_close(&x.source);
    return status;
}
