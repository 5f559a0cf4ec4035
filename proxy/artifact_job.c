/* Directives on their way through the disk thread and back to the reply (product.md §4.2, §5). */
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/json.h"
#include "base/log.h"
#include "base/xalloc.h"
#include "jobs/render_job.h"
#include "proxy/exchange_state.h"
#include "proxy/image.h"
#include "proxy/image_reply.h"
#include "proxy/render_cache.h"

/*
 *   TAKE --(most formats)-----------------------------------> settled
 *     |
 *     +--(image)--> call --> ANSWER --(the bytes, a fault)--> settled
 *                    ^          |
 *                    |          +--(an address)--> call --> PICTURE --> settled
 *     |              +-- a call that fails goes to PICTURE with a flag
 *     |
 *     |
 *     +--(a document that names a picture which is not there)--> parked --(another directive is settled)-->
 * TAKE |                                                            | | (no other is at work, and the text is
 * over: it is drawn without) |                                                            v
 *     |
 *     +--(documents, charts)--> a caged renderer --(the file, a fault)--> DRAWN --> settled
 *
 * TAKE, ANSWER, PICTURE and DRAWN run in the disk thread, calls on the loop, renderers in processes of their
 * own.
 */
enum artifact_step { STEP_TAKE, STEP_ANSWER, STEP_PICTURE, STEP_DRAWN };

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
    bool parked;
    bool last;  /* it is drawn, whatever it lacks */
    bool lacks; /* a picture that the document names is no file of the reply */
    enum artifact_step step;
    struct config *config;     /* of format image, its calls: */
    struct image_call *image;  /* under way */
    int64_t image_until_ms;    /* all calls together */
    struct buf answer;         /* body of the last one */
    struct buf address;        /* path and query to fetch the picture from */
    struct render_job *render; /* under way */
    char drawn_format[32];
    unsigned char drawn_digest[DIGEST];
    struct render_result drawn; /* what came of it */
    enum flag failed;
    char why[LIMIT_ERROR_TEXT];
    const char *cause; /* in words of our own, for the log; NULL: `step` tells */
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
        if (w->ended || job_submit(w->queues[QUEUE_DISK].jobs, &end->job) < 0) {
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

/* The file is read where it lies; a renderer that is gone can no longer change it. */
static void take_drawn(struct artifact_job *a)
{
    struct render_result *r = &a->drawn;
    char renderer[sizeof((struct artifact *)0)->renderer] = "";
    size_t n = (size_t)r->bytes;
    void *p = a->failed == FLAG_NONE && n ? mmap(NULL, n, PROT_READ, MAP_PRIVATE, r->fd, 0) : MAP_FAILED;
    if (a->failed == FLAG_NONE)
        snprintf(renderer, sizeof renderer, "%s %s", r->renderer, r->version);
    workspace_store_rendered(a->files->workspace, a->number, buf_span(&a->text), a->max,
                             p == MAP_FAILED ? span_of("", 0) : span_of(p, n), renderer, a->failed, a->why,
                             &a->made);
    if (p != MAP_FAILED)
        munmap(p, n);
    if (r->fd >= 0)
        close(r->fd);
    r->fd = -1;
}

static void job_work(struct job *job)
{
    struct artifact_job *a = (struct artifact_job *)job;
    struct consult_files *f = a->files;
    if (!f->workspace) {
        f->workspace =
            workspace_create(f->store, &f->owner, f->consult, f->image_generation, &a->worker->rendered);
        workspace_know(f->workspace, f->remember, f->recall);
    }
    if (a->step == STEP_TAKE)
        workspace_take(f->workspace, a->number, buf_span(&a->text), a->refused, a->max, &a->made);
    else if (a->step == STEP_DRAWN)
        take_drawn(a);
    else
        take_answer(a);
    if (!a->made.image.wanted && !a->made.render.wanted && !a->address.n)
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

/* Why it is our side's fault. The sentence for the client holds names, and words of renderers and providers
 * that may repeat what was asked of them: no log has those. */
static const char *cause_of(const struct artifact_job *a)
{
    enum flag flag = a->made.flag;
    if (flag == FLAG_STORAGE_FAILED)
        return a->cause ? a->cause : "it could not be stored";
    if (flag != FLAG_RENDER_FAILED && flag != FLAG_RENDER_TIMEOUT)
        return "";
    if (a->cause)
        return a->cause;
    return a->step == STEP_ANSWER || a->step == STEP_PICTURE ? "the image provider gave no picture"
                                                             : "what its renderer wrote is no such file";
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
                    log_str("reason", flag_name(m->flag)), log_str("cause", cause_of(a)));
    }
    char sentence[LIMIT_ERROR_TEXT];
    if (m->stored && a->lacks) {
        snprintf(
            sentence, sizeof sentence,
            "The file \"%s\" names a picture that is no file of this reply, so its words stand in its place.",
            m->filename);
        result.flag = FLAG_INVALID_CONTENT;
        result.sentence = span_str(sentence);
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
    if (a->drawn.fd >= 0)
        close(a->drawn.fd);
    xfree(a);
}

/* Whether nothing more of the reply comes before its directives are settled. */
static bool text_is_over(const struct exchange *ex)
{
    return ex->waiting || ex->upstream_ended || ex->state == EX_SETTLE || ex->state == EX_OVER;
}

/*
 * Lets documents that wait for a picture go on: to look again, since something was made, or, when nothing is
 * left that could make it, to be drawn without.
 */
static void release(struct exchange *ex, bool made)
{
    bool working = false;
    for (const struct artifact_job *a = ex->job_list; a; a = a->next)
        working |= !a->parked;
    bool last = !working && text_is_over(ex);
    for (struct artifact_job *a = ex->job_list; a && (made || last); a = a->next) {
        if (!a->parked)
            continue;
        a->last = last;
        if (job_submit(a->worker->queues[QUEUE_DISK].jobs, &a->job) == 0)
            a->parked = false; /* when the queue is full, the next one that ends tries again, or time does */
    }
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
        release(ex, true);
        relay_settled(ex);
        exchange_try_over(ex);
    }
}

static void queue_is_full(struct artifact_job *a)
{
    a->made.flag = FLAG_STORAGE_FAILED;
    a->cause = "too many files are being stored at this moment";
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
    if (job_submit(a->worker->queues[QUEUE_DISK].jobs, &a->job) == 0)
        return;
    queue_is_full(a);
    finish(a);
}

static void image_stop(struct artifact_job *a, enum flag failed, const char *why)
{
    image_call_cancel(a->image);
    a->cause = why;
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

/* ---- documents and charts ---- */

/* Back to the disk thread with the file, or with what went wrong. */
static void drawing_over(struct artifact_job *a, enum flag failed, const char *why)
{
    a->render = NULL;
    a->step = STEP_DRAWN;
    a->failed = failed;
    snprintf(a->why, sizeof a->why, "%s", why);
    if (job_submit(a->worker->queues[QUEUE_DISK].jobs, &a->job) == 0)
        return;
    queue_is_full(a);
    finish(a);
}

static void drawing_stop(struct artifact_job *a, enum flag failed, const char *why)
{
    render_cancel(a->render);
    a->cause = *why ? why : "it was not ready in time";
    a->parked = false;
    drawing_over(a, failed, why);
}

static enum flag flag_of(enum render_job_outcome outcome)
{
    switch (outcome) {
    case RENDER_JOB_DONE:
        return FLAG_NONE;
    case RENDER_JOB_INVALID:
        return FLAG_INVALID_CONTENT;
    case RENDER_JOB_LIMIT:
        return FLAG_TOO_LARGE;
    case RENDER_JOB_TIMEOUT:
        return FLAG_RENDER_TIMEOUT;
    default:
        return FLAG_RENDER_FAILED;
    }
}

static const char *cause_of_outcome(enum render_job_outcome outcome)
{
    switch (outcome) {
    case RENDER_JOB_FAILED:
        return "its renderer says that it cannot make it";
    case RENDER_JOB_DIED:
        return "its renderer ended before its time";
    case RENDER_JOB_TIMEOUT:
        return "its renderer took longer than timeouts.render";
    case RENDER_JOB_BUSY:
        return "too many files are being made at this moment";
    case RENDER_JOB_UNSAFE:
        return "its renderer cannot be caged on this host";
    default: /* the content's fault, or nobody's */
        return NULL;
    }
}

static const char *clause_of(const struct render_result *r)
{
    bool ours = r->outcome == RENDER_JOB_BUSY || r->outcome == RENDER_JOB_UNSAFE;
    return ours ? cause_of_outcome(r->outcome) : r->sentence;
}

static void on_drawn(void *arg, const struct render_result *r)
{
    struct artifact_job *a = arg;
    enum flag failed = flag_of(r->outcome);
    a->drawn = *r;
    a->cause = cause_of_outcome(r->outcome);
    metrics_render(a->worker->metrics, a->drawn_format, r->outcome, (int64_t)r->wall_us);
    if (failed != FLAG_NONE)
        log_warning("render.failed", log_str("consult", a->files->consult),
                    log_str("format", a->drawn_format),
                    log_str("outcome", render_job_outcome_name(r->outcome)),
                    log_int("ms", (int64_t)(r->wall_us / 1000)),
                    log_int("peak_kib", (int64_t)(r->peak_bytes / 1024)));
    if (failed == FLAG_NONE) {
        struct cached file = {.fd = r->fd, .bytes = r->bytes, .renderer = r->renderer, .version = r->version};
        render_cache_add(a->worker->render_cache, a->files->owner.org, a->drawn_digest, &file);
    }
    drawing_over(a, failed, clause_of(r));
}

static bool take_cached(struct artifact_job *a)
{
    struct cached file;
    if (!render_cache_find(a->worker->render_cache, a->files->owner.org, a->drawn_digest, &file))
        return false;
    a->worker->metrics->render_cache_hits++;
    a->drawn = (struct render_result){.outcome = RENDER_JOB_DONE,
                                      .fd = file.fd,
                                      .bytes = file.bytes,
                                      .renderer = file.renderer,
                                      .version = file.version};
    made_free(&a->made);
    drawing_over(a, FLAG_NONE, "");
    return true;
}

static void draw(struct artifact_job *a)
{
    const char *why = "nobody waits for it any more";
    int document = a->made.render.document;
    bool wanted = a->exchange && !a->settled && !a->worker->ended;
    memcpy(a->drawn_digest, a->made.render.digest, sizeof a->drawn_digest);
    memcpy(a->drawn_format, a->made.render.format, sizeof a->drawn_format);
    a->lacks =
        a->made.render.lacks && strcmp(a->drawn_format, "zip") != 0; /* that one may mean a file of its own */
    if (wanted && take_cached(a))
        return;
    if (wanted) {
        const struct render_order order = {a->drawn_format, document,
                                           clock_mono_ms() + a->exchange->config->timeouts.render,
                                           render_owner(a->files->owner.org)};
        a->made.render.wanted = false; /* the descriptor goes on */
        a->render = render_submit(a->worker->renders, &order, on_drawn, a, &why);
    }
    made_free(&a->made);
    a->cause = a->render ? NULL : why;
    if (!a->render)
        drawing_over(a, FLAG_RENDER_FAILED, why);
}

static void job_done(struct job *job)
{
    struct artifact_job *a = (struct artifact_job *)job;
    if (a->made.render.wanted && a->made.render.lacks && !a->settled && !a->last && a->exchange) {
        made_free(&a->made);
        a->parked = true;
        release(a->exchange, false);
    } else if (a->made.render.wanted) {
        draw(a);
    } else if (a->made.image.wanted || a->address.n) {
        ask_for_image(a);
    } else {
        finish(a);
    }
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
    a->drawn.fd = -1;
    a->max = ex->config->limits.directive;
    buf_init(&a->text, text->max);
    buf_move(&a->text, text);
    a->next = ex->job_list;
    ex->job_list = a;
    ex->jobs++;
    if (job_submit(ex->worker->queues[QUEUE_DISK].jobs, &a->job) == 0)
        return;
    queue_is_full(a);
    unlink_job(a);
    ex->jobs--;
    settle(a, ex);
    free_job(a);
}

/* Ends the renderings of the exchange; their own deadline is the renderers' to keep. */
static void stop_drawing(struct exchange *ex, enum flag failed, const char *why)
{
    for (struct artifact_job *a = ex->job_list, *next; a; a = next) {
        next = a->next;
        if (a->render || a->parked)
            drawing_stop(a, failed, why);
    }
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

void artifact_jobs_text_over(struct exchange *ex)
{
    release(ex, false);
}

void artifact_jobs_tick(struct exchange *ex, int64_t now_ms)
{
    stop_images(ex, now_ms, FLAG_RENDER_TIMEOUT, "the image provider took too long");
}

void artifact_jobs_give_up(struct exchange *ex)
{
    stop_images(ex, INT64_MAX, FLAG_RENDER_FAILED, "the proxy is ending");
    stop_drawing(ex, FLAG_RENDER_FAILED, "the proxy is ending");
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
    stop_drawing(ex, FLAG_RENDER_TIMEOUT, "");
    relay_settled(ex);
}

void artifact_jobs_forget(struct exchange *ex)
{
    for (struct artifact_job *a = ex->job_list, *next; a; a = next) {
        next = a->next;
        a->exchange = NULL;
        if (a->image) {
            image_stop(a, FLAG_RENDER_FAILED, "nobody waits for it any more");
        } else if (a->render || a->parked) {
            drawing_stop(a, FLAG_RENDER_FAILED, "nobody waits for it any more");
        }
    }
    ex->job_list = NULL;
}
