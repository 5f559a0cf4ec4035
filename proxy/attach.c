/* Attachments on their way through the disk thread, through those who make them ready, and into the request:
 * the stages of proxy/attach_job.h. */
#include "proxy/attach_job.h"

#include <stdio.h>

#include "artifacts/inbound.h"
#include "attachments/context.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/xalloc.h"
#include "providers/upload.h"
#include "proxy/body_read.h"
#include "proxy/conversion.h"
#include "proxy/thread.h"

/* ---- what did not go ---- */

void attach_not_passed(struct attach_job *j, enum not_passed reason, const char *key, const char *value)
{
    struct buf *out = &j->not_passed;
    buf_printf(out, "%s{\"%s\":\"", out->n ? "," : "", key);
    if (json_escape(span_str(value), out) < 0)
        return; /* full */
    buf_printf(out, "\",\"reason\":\"%s\"}", not_passed_name(reason));
    j->counts[reason]++;
}

/* ---- in the thread ---- */

static int resolve(struct attach_job *j)
{
    const struct config_limits *l = &j->config->limits;
    struct attachment_settings s = {
        .workspace_root = j->config->workspace_root,
        .org = j->org,
        .file_max = l->attachment_file,
        .total_max = l->request_body,
        .characters_max = l->attachment_characters,
        .converts = attach_provider_converts,
        .transcribes = j->config->transcription.provider ? attach_provider_transcribes : NULL,
        .takes = attach_provider_takes,
        .arg = j,
        .hash_later = true,
    };
    if (j->parent)
        attach_take_parents(j);
    if (j->failed || attachments_resolve(&j->list, &s, &j->error) < 0)
        return -1;
    context_decide(&j->list, j->fields);
    for (size_t i = 0; i < j->list.n; i++)
        if (j->list.list[i].decision == ATTACHMENT_NOT_PASSED)
            attach_not_passed(j, NOT_PASSED_UNKNOWN_TYPE, "type", j->list.list[i].type);
    return attach_provider_plan(j) < 0 ? -1 : attach_prepare_documents(j);
}

/* The request as it goes upstream. */
static int make_pieces(struct attach_job *j)
{
    size_t length = edits_length(&j->edits, j->body.n);
    request_head(buf_span(&j->head), j->identity, length, &j->new_head);
    j->pieces = xcalloc(2 * j->edits.n + 2, sizeof *j->pieces);
    j->pieces[0] = buf_span(&j->new_head);
    int n = edits_pieces(&j->edits, buf_span(&j->body), j->pieces + 1);
    j->npieces = (size_t)(n + 1);
    return n < 0 ? error_set(&j->error, ERROR_BAD_REQUEST, "Nothing can be added to this request.") : 0;
}

static int place(struct attach_job *j)
{
    if (attach_prepare_read(j) < 0 || attach_place(j) < 0 || make_pieces(j) < 0)
        return -1;
    attach_promise_originals(j);
    return 0;
}

/* What needs no preparation is placed in the same turn. Digests are for the record and for uploads, so the
 * request waits for them only where these need them, or the first line of its thread's journal. */
static void work(struct attach_job *j)
{
    if (j->stage == ATTACH_RESOLVE) {
        if (j->recorded)
            request_words(j->place.api, j->facts.root, &j->words);
        j->words_read = true;
        j->failed = resolve(j) < 0;
        if (j->failed || j->npreparations)
            return;
        j->stage = ATTACH_PLACE;
    }
    j->failed = place(j) < 0;
}

/* All that may be large, or hold a file: to give many MiB back takes a while. */
static void free_parts(struct attach_job *j)
{
    attach_prepare_free(j);
    attachments_free(&j->list);
    edits_free(&j->edits);
    xfree(j->pieces);
    for (size_t i = 0; i < j->ntexts; i++)
        buf_free(&j->texts[i]);
    xfree(j->texts);
    buf_free(&j->protocol_room);
    buf_free(&j->room);
    buf_free(&j->head);
    buf_free(&j->new_head);
    buf_free(&j->body);
    buf_free(&j->words.text);
    buf_free(&j->not_passed);
}

static void job_work(struct job *job)
{
    struct attach_job *j = (struct attach_job *)job;
    bool keep = j->stage == ATTACH_KEEP;
    if (j->stage == ATTACH_FREE) {
        free_parts(j);
        return;
    }
    if (!keep)
        work(j);
    if (keep || j->failed || j->npreparations || j->recorded)
        attachments_hash(&j->list);
    if (keep)
        attach_keep_originals(j);
}

/* ---- back on the loop ---- */

static void free_job(struct attach_job *j)
{
    config_unref(j->config);
    xfree(j->parent);
    xfree(j);
}

void attach_note(struct exchange *ex, const struct attachments *list, const struct error *e)
{
    if (!list->n)
        return;
    buf_reset(&ex->attachments);
    attachments_record(list, e ? error_name(e->code) : NULL, &ex->attachments);
    if (!buf_full(&ex->attachments))
        return;
    log_error("attachments.record_too_large", log_str("consult", ex->consult_id));
    buf_free(&ex->attachments);
}

static void count(struct exchange *ex, const struct attach_job *j)
{
    struct metrics *m = ex->worker->metrics;
    for (size_t i = 0; i < j->list.n && !j->failed && ex->conn; i++)
        if (j->list.list[i].decision == ATTACHMENT_PASSED) {
            m->attachments++;
            m->attachment_bytes += j->list.list[i].size;
        }
    for (int r = 0; r < NOT_PASSED_REASONS; r++) {
        m->not_passed[r] += j->counts[r];
        if (j->counts[r])
            log_warning("attachments.not_passed", log_str("consult", ex->consult_id),
                        log_str("reason", not_passed_name((enum not_passed)r)),
                        log_int("attachments", j->counts[r]));
    }
}

/* The exchange may be over. */
static void discard(struct attach_job *j)
{
    j->stage = ATTACH_FREE;
    if (job_submit(j->queue, &j->job) == 0)
        return;
    free_parts(j);
    free_job(j);
}

static void end(struct attach_job *j)
{
    struct exchange *ex = j->exchange;
    ex->jobs--;
    attach_note(ex, &j->list, j->failed ? &j->error : NULL);
    inbound_give_up(j->store, j->keeping);
    j->kept = true;
    if (!j->lent)
        discard(j);
}

static void released(void *arg)
{
    struct attach_job *j = arg;
    j->lent = false;
    if (j->kept)
        discard(j);
}

/* In the queue before the client can hear of the consult, and so before anything that asks for it. */
static void keep(struct attach_job *j)
{
    j->stage = ATTACH_KEEP;
    if (job_submit(j->queue, &j->job) == 0)
        return;
    log_error("inbound.keep_failed", log_str("consult", j->consult), log_str("why", "the queue is full"));
    end(j);
}

/* What was made goes upstream, or what went wrong to the client. */
static void finish(struct attach_job *j)
{
    struct exchange *ex = j->exchange;
    ex->attach = NULL;
    count(ex, j);
    buf_add(&ex->not_passed, buf_span(&j->not_passed));
    if (j->words_read)
        thread_give_words(ex, &j->words);
    else
        buf_move(&ex->body, &j->body);
    if (ex->conn && !j->failed) {
        if (j->recorded)
            attach_note(ex, &j->list, NULL);
        const struct http_loan loan = {.pieces = j->pieces, .n = j->npieces, .released = released, .arg = j};
        j->lent = true;
        request_send(ex, NULL, &loan);
        if (j->list.n)
            keep(j);
        else
            end(j);
        return;
    }
    struct error e = j->error;
    bool failed = j->failed && ex->conn;
    end(j);
    if (failed)
        exchange_fail(ex, &e);
    else /* the client has gone: nobody is asked */
        exchange_try_over(ex);
}

static void overload(struct attach_job *j)
{
    j->failed = true;
    error_set(&j->error, ERROR_OVERLOADED,
              "Too many files and long requests are being read and stored at this moment.");
}

void attach_prepared(struct attach_job *j)
{
    if (--j->pending)
        return;
    j->stage = ATTACH_PLACE;
    if (!j->failed && job_submit(j->queue, &j->job) == 0)
        return;
    if (!j->failed)
        overload(j);
    finish(j);
}

static void job_done(struct job *job)
{
    struct attach_job *j = (struct attach_job *)job;
    struct exchange *ex = j->exchange; /* with ATTACH_FREE it may be gone */
    if (j->stage == ATTACH_FREE) {
        free_job(j);
        return;
    }
    if (j->stage == ATTACH_KEEP) {
        end(j);
        exchange_try_over(ex);
        return;
    }
    if (j->stage == ATTACH_RESOLVE && !j->failed && ex->conn) {
        j->stage = ATTACH_PREPARE;
        j->pending = 1; /* this function's own, so that none of them is the last one from inside */
        attach_prepare_start(j);
        attach_prepared(j);
        return;
    }
    finish(j);
}

void attach_stop(struct exchange *ex)
{
    struct attach_job *j = ex->attach;
    if (!j || j->stage != ATTACH_PREPARE)
        return;
    attach_prepare_stop(j);
    finish(j);
}

void attach_start(struct exchange *ex, struct body_read *r, struct buf *room)
{
    struct attach_job *j = xcalloc(1, sizeof *j);
    bool forward = ex->caller.forward_all || ex->caller.nforward;
    j->job.work = job_work;
    j->job.done = job_done;
    j->exchange = ex;
    j->keeping = -1;
    j->recorded = ex->thread != NULL;
    j->config = config_ref(ex->config);
    j->store = ex->worker->store;
    j->renders = ex->worker->renders;
    snprintf(j->org, sizeof j->org, "%s", ex->owner.org);
    snprintf(j->consult, sizeof j->consult, "%s", ex->consult_id);
    j->parent = forward ? xstrdup(ex->caller.names[CALLER_PARENT]) : NULL;
    j->forward_all = ex->caller.forward_all;
    j->forward = ex->caller.forward;
    j->nforward = ex->caller.nforward;
    j->fields = !ex->caller.context_attachments;
    j->identity = ex->consult;
    if (ex->consult && r->facts.root.n) {
        j->list = r->list;
        r->list = (struct attachments){0};
    }
    /* One without files does not wait for those who write some. */
    j->queue = ex->worker->queues[j->list.n || forward ? QUEUE_DISK : QUEUE_BODIES].jobs;
    j->edits = r->edits;
    r->edits = (struct edits){0};
    buf_init(&j->head, ex->request.max);
    buf_move(&j->head, &ex->request);
    buf_init(&j->protocol_room, room->max);
    buf_move(&j->protocol_room, room);
    buf_init(&j->body, ex->body.max);
    buf_move(&j->body, &ex->body);
    buf_init(&j->new_head, ex->request.max + LIMIT_READ);
    buf_init(&j->words.text, LIMIT_THREAD_TEXT);
    buf_init(&j->not_passed, LIMIT_READ);
    j->facts = r->facts;
    j->place = (struct place_request){.body = buf_span(&j->body),
                                      .facts = &j->facts,
                                      .api = ex->api,
                                      .dialect = ex->provider->dialect,
                                      .provider = ex->provider->name};
    j->inline_most =
        ex->provider->inline_size ? ex->provider->inline_size : upload_inline_most(ex->provider->dialect);
    exchange_enter(ex, EX_ATTACH);
    ex->attach = j;
    ex->jobs++;
    if (job_submit(j->queue, &j->job) == 0)
        return;
    overload(j);
    finish(j);
}
