/* Directives on their way through the disk thread and back to the reply (product.md §4.2, §5). */
#include <stdio.h>

#include "base/json.h"
#include "base/log.h"
#include "base/xalloc.h"
#include "proxy/exchange_state.h"

struct artifact_job {
    struct job job; /* first: the queue gives this back */
    struct worker *worker;
    struct exchange *exchange; /* NULL: nobody waits any more */
    struct consult_files *files;
    unsigned number;
    struct buf text;
    enum flag refused;
    size_t max;
    struct made made;
    bool settled; /* the reply did not wait for it */
    struct artifact_job *next;
};

/* ---- the consult's files ---- */

struct files_end {
    struct job job;
    struct workspace *workspace;
};

static void files_end_work(struct job *job)
{
    workspace_destroy(((struct files_end *)job)->workspace);
}

static void files_end_done(struct job *job)
{
    xfree(job);
}

void consult_files_unref(struct worker *w, struct consult_files *f)
{
    if (!f || --f->refs)
        return;
    if (f->workspace) {
        struct files_end *end = xcalloc(1, sizeof *end);
        end->job.work = files_end_work;
        end->job.done = files_end_done;
        end->workspace = f->workspace;
        if (job_submit(w->disk, &end->job) < 0) { /* no job of this consult is left, so nobody else uses it */
            files_end_work(&end->job);
            files_end_done(&end->job);
        }
    }
    xfree(f);
}

static struct consult_files *files_of(struct exchange *ex)
{
    if (!ex->files) {
        struct consult_files *f = xcalloc(1, sizeof *f);
        f->refs = 1;
        f->store = ex->worker->store;
        f->owner = *exchange_owner(ex);
        f->image_generation = ex->config->image_generation.provider && !ex->caller.image_generation_off;
        f->remember = ex->kept || ex->stored;
        f->recall = ex->stored;
        if (ex->consult_id[0])
            snprintf(f->consult, sizeof f->consult, "%s", ex->consult_id);
        else /* a stored reply that is fetched again is no consult of its own, but its files need a place */
            store_new_id("hwc-", f->consult, sizeof f->consult);
        ex->files = f;
    }
    ex->files->refs++;
    return ex->files;
}

/* ---- a directive ---- */

static void job_work(struct job *job)
{
    struct artifact_job *a = (struct artifact_job *)job;
    struct consult_files *f = a->files;
    if (!f->workspace) {
        f->workspace = workspace_create(f->store, &f->owner, f->consult, f->image_generation);
        workspace_know(f->workspace, f->remember, f->recall);
    }
    workspace_take(f->workspace, a->number, buf_span(&a->text), a->refused, a->max, &a->made);
    buf_free(&a->text);
}

/* For the record: what was made, without the links that open it. */
static void note_for_record(struct exchange *ex, const struct artifact *a)
{
    struct buf *out = &ex->artifacts;
    struct buf name;
    buf_init(&name, 8 * LIMIT_FILENAME);
    if (json_escape(span_str(a->filename), &name) == 0)
        buf_printf(out, "%s{\"id\":\"%s\",\"filename\":\"%.*s\",\"media_type\":\"%s\",\"bytes\":%llu,\"sha256\":\"%s\"}",
                   out->n ? "," : "", a->id, (int)name.n, buf_span(&name).p, a->media_type, (unsigned long long)a->bytes,
                   a->sha256);
    buf_free(&name);
}

static void settle(struct artifact_job *a, struct exchange *ex)
{
    const struct made *m = &a->made;
    struct metrics *metrics = a->worker->metrics;
    struct reply_artifact result = {
        .entry = m->stored ? buf_span(&m->entry) : (struct span){0},
        .filename = span_str(m->filename),
        .url = m->stored ? buf_span(&m->url) : (struct span){0},
        .flag = m->flag,
        .sentence = span_str(m->sentence),
    };
    if (m->stored) {
        metrics->artifacts++;
        metrics->artifact_bytes += m->artifact.bytes;
        note_for_record(ex, &m->artifact);
        log_info("artifact.stored", log_str("consult", a->files->consult), log_str("id", m->artifact.id),
                 log_str("format", m->artifact.format), log_int("bytes", (int64_t)m->artifact.bytes));
    } else {
        log_warning("directive.failed", log_str("consult", a->files->consult), log_str("reason", flag_name(m->flag)));
    }
    if (!a->settled)
        reply_settle(ex->reply, a->number, &result);
    a->settled = true;
}

static void unlink_job(struct artifact_job *a)
{
    for (struct artifact_job **at = &a->exchange->job_list; *at; at = &(*at)->next)
        if (*at == a) {
            *at = a->next;
            return;
        }
}

static void job_done(struct job *job)
{
    struct artifact_job *a = (struct artifact_job *)job;
    struct exchange *ex = a->exchange;
    struct worker *w = a->worker;
    if (ex) {
        unlink_job(a);
        ex->jobs--;
        settle(a, ex);
    }
    consult_files_unref(w, a->files);
    made_free(&a->made);
    buf_free(&a->text);
    xfree(a);
    if (ex) {
        relay_settled(ex);
        exchange_try_over(ex);
    }
}

void artifact_job_start(void *arg, unsigned number, struct buf *text, enum flag refused)
{
    struct exchange *ex = arg;
    struct artifact_job *a = xcalloc(1, sizeof *a);
    a->job.work = job_work;
    a->job.done = job_done;
    a->worker = ex->worker;
    a->exchange = ex;
    a->files = files_of(ex);
    a->number = number;
    a->refused = refused;
    a->max = ex->config->limits.directive;
    buf_init(&a->text, text->max);
    buf_move(&a->text, text);
    a->next = ex->job_list;
    ex->job_list = a;
    ex->jobs++;
    if (job_submit(ex->worker->disk, &a->job) == 0)
        return;
    a->made.flag = FLAG_STORAGE_FAILED;
    snprintf(a->made.sentence, sizeof a->made.sentence, "Too many files are being stored at this moment.");
    unlink_job(a);
    ex->jobs--;
    settle(a, ex);
    consult_files_unref(ex->worker, a->files);
    buf_free(&a->text);
    xfree(a);
}

void artifact_jobs_expire(struct exchange *ex)
{
    struct reply_artifact late = {
        .flag = FLAG_RENDER_TIMEOUT,
        .sentence = SPAN_LIT("The file was not ready in time."),
    };
    for (struct artifact_job *a = ex->job_list; a; a = a->next) {
        if (!a->settled)
            reply_settle(ex->reply, a->number, &late);
        a->settled = true;
    }
    relay_settled(ex);
}

void artifact_jobs_forget(struct exchange *ex)
{
    for (struct artifact_job *a = ex->job_list; a; a = a->next)
        a->exchange = NULL;
    ex->job_list = NULL;
}
