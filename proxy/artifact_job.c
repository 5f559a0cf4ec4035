/* Directives on their way through the disk thread and back to the reply (product.md §4.2, §5). */
#include <stdio.h>

#include "base/clock.h"
#include "base/json.h"
#include "base/log.h"
#include "base/xalloc.h"
#include "proxy/exchange_state.h"
#include "proxy/image.h"
#include "proxy/image_reply.h"

/*
 *   TAKE --(most formats)-----------------------------------> settled
 *     |
 *     +--(image)--> call --> ANSWER --(the bytes, a fault)--> settled
 *                    ^          |
 *                    |          +--(an address)--> call --> PICTURE --> settled
 *                    +-- a call that fails goes to PICTURE with a flag
 *
 * TAKE, ANSWER and PICTURE run in the disk thread, calls on the loop.
 */
enum artifact_step { STEP_TAKE, STEP_ANSWER, STEP_PICTURE };

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
    enum artifact_step step;
    struct config *config;    /* of format image, its calls: */
    struct image_call *image; /* under way */
    int64_t image_until_ms;   /* all calls together */
    struct buf answer;        /* body of the last one */
    struct buf address;       /* path and query to fetch the picture from */
    enum flag failed;
    char why[LIMIT_ERROR_TEXT];
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
        /* No job of this consult is left, so nobody else uses it; and at the end there is no thread any more.
         */
        if (w->ended || job_submit(w->disk, &end->job) < 0) {
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
        f->image_generation = exchange_makes_images(ex);
        f->remember = ex->kept || ex->stored;
        f->recall = ex->stored;
        if (ex->consult_id[0])
            snprintf(f->consult, sizeof f->consult, "%s", ex->consult_id);
        else /* a stored reply that is fetched again is no consult of its own, but its files need a place */
            store_new_consult_id(&ex->worker->random, f->consult);
        ex->files = f;
    }
    ex->files->refs++;
    return ex->files;
}

/* ---- a directive ---- */

/* What the image provider said, or why it said nothing. Nothing is settled when the picture is still to be
 * fetched. */
static void take_answer(struct artifact_job *a)
{
    struct span answer = buf_span(&a->answer);
    struct buf picture;
    buf_init(&picture, answer.n + 4);
    if (a->failed == FLAG_NONE && a->step == STEP_ANSWER) {
        const struct config_provider *provider = a->config->image_generation.provider;
        enum image_answer said = image_reply_read(answer, provider, &picture, &a->address, a->why);
        if (said == IMAGE_AT_URL)
            goto out;
        a->failed = said == IMAGE_PICTURE ? FLAG_NONE : FLAG_RENDER_FAILED;
        answer = buf_span(&picture);
    }
    workspace_store(a->files->workspace, a->number, buf_span(&a->text), a->max, answer, a->failed, a->why,
                    &a->made);
out:
    buf_free(&picture);
    buf_free(&a->answer);
}

static void job_work(struct job *job)
{
    struct artifact_job *a = (struct artifact_job *)job;
    struct consult_files *f = a->files;
    if (!f->workspace) {
        f->workspace = workspace_create(f->store, &f->owner, f->consult, f->image_generation);
        workspace_know(f->workspace, f->remember, f->recall);
    }
    if (a->step == STEP_TAKE)
        workspace_take(f->workspace, a->number, buf_span(&a->text), a->refused, a->max, &a->made);
    else
        take_answer(a);
    if (!a->made.image.wanted && !a->address.n)
        buf_free(&a->text);
}

/* For the record: what was made, without the links that open it. */
static void note_for_record(struct exchange *ex, const struct artifact *a)
{
    struct buf *out = &ex->artifacts;
    struct buf name;
    buf_init(&name, 8 * LIMIT_FILENAME);
    if (json_escape(span_str(a->filename), &name) == 0)
        buf_printf(
            out,
            "%s{\"id\":\"%s\",\"filename\":\"%.*s\",\"media_type\":\"%s\",\"bytes\":%llu,\"sha256\":\"%s\"}",
            out->n ? "," : "", a->id, (int)name.n, buf_span(&name).p, a->media_type,
            (unsigned long long)a->bytes, a->sha256);
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
        log_warning("directive.failed", log_str("consult", a->files->consult),
                    log_str("reason", flag_name(m->flag)));
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

static void free_job(struct artifact_job *a)
{
    consult_files_unref(a->worker, a->files);
    config_unref(a->config);
    made_free(&a->made);
    buf_free(&a->text);
    buf_free(&a->answer);
    buf_free(&a->address);
    xfree(a);
}

static void finish(struct artifact_job *a)
{
    struct exchange *ex = a->exchange;
    if (ex) {
        unlink_job(a);
        ex->jobs--;
        settle(a, ex);
    }
    free_job(a);
    if (ex) {
        relay_settled(ex);
        exchange_try_over(ex);
    }
}

static void queue_is_full(struct artifact_job *a)
{
    a->made.flag = FLAG_STORAGE_FAILED;
    snprintf(a->made.sentence, sizeof a->made.sentence, "Too many files are being stored at this moment.");
}

/* ---- pictures ---- */

/* Back to the disk thread with what came of a call; an image_done. */
static void image_over(void *arg, struct buf *body, enum flag failed, const char *why)
{
    struct artifact_job *a = arg;
    a->image = NULL;
    a->failed = failed;
    snprintf(a->why, sizeof a->why, "%s", why);
    if (body) {
        buf_init(&a->answer, body->max);
        buf_move(&a->answer, body);
    }
    if (job_submit(a->worker->disk, &a->job) == 0)
        return;
    queue_is_full(a);
    finish(a);
}

static void image_stop(struct artifact_job *a, enum flag failed, const char *why)
{
    image_call_cancel(a->image);
    image_over(a, NULL, failed, why);
}

static void ask_for_image(struct artifact_job *a)
{
    struct exchange *ex = a->exchange;
    char why[LIMIT_ERROR_TEXT] = "nobody waits for it any more";
    bool fetch = a->address.n > 0, wanted = ex && !a->settled && !a->worker->ended;
    a->step = fetch ? STEP_PICTURE : STEP_ANSWER;
    if (wanted && fetch) {
        a->image = image_fetch(ex, buf_span(&a->address), image_over, a, why);
    } else if (wanted) {
        a->config = config_ref(ex->config);
        a->image_until_ms = clock_mono_ms() + ex->config->timeouts.render;
        a->image = image_ask(ex, &a->made.image, image_over, a, why);
    }
    buf_free(&a->address);
    made_free(&a->made);
    if (!a->image)
        image_over(a, NULL, FLAG_RENDER_FAILED, why);
}

static void job_done(struct job *job)
{
    struct artifact_job *a = (struct artifact_job *)job;
    if (a->made.image.wanted || a->address.n)
        ask_for_image(a);
    else
        finish(a);
}

/* ---- for the exchange ---- */

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
    queue_is_full(a);
    unlink_job(a);
    ex->jobs--;
    settle(a, ex);
    free_job(a);
}

/* Ends the calls of the exchange, or those that are late. */
static void stop_images(struct exchange *ex, int64_t now_ms, enum flag failed, const char *why)
{
    for (struct artifact_job *a = ex->job_list, *next; a; a = next) {
        next = a->next;
        if (a->image && now_ms >= a->image_until_ms)
            image_stop(a, failed, why);
    }
}

void artifact_jobs_tick(struct exchange *ex, int64_t now_ms)
{
    stop_images(ex, now_ms, FLAG_RENDER_TIMEOUT, "the image provider took too long");
}

void artifact_jobs_give_up(struct exchange *ex)
{
    stop_images(ex, INT64_MAX, FLAG_RENDER_FAILED, "the proxy is ending");
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
    stop_images(ex, INT64_MAX, FLAG_RENDER_TIMEOUT, "the image provider took too long");
    relay_settled(ex);
}

void artifact_jobs_forget(struct exchange *ex)
{
    for (struct artifact_job *a = ex->job_list, *next; a; a = next) {
        next = a->next;
        a->exchange = NULL;
        if (a->image)
            image_stop(a, FLAG_RENDER_FAILED, "nobody waits for it any more");
    }
    ex->job_list = NULL;
}
