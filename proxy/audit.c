/* One record a consult, written from the audit thread (product.md §6 "Record", §8). */
#include <stdio.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/xalloc.h"
#include "proxy/exchange_state.h"

/*
 * Records wait for each other for up to a sweep's time, and go to the thread and into the file together: a
 * transaction and a thread's wake-up a consult would cost more than relaying it.
 */
enum { BATCH = 256, TEXT_MAX = 64 * 1024 * 1024 };

struct audit_batch {
    struct job job; /* first: the queue gives this back */
    struct records *records;
    size_t n;
    struct record_row list[BATCH];
    /* What the rows' strings and texts are in, one behind the other: their pointers are set when nothing more
     * is added, since it moves while it grows. */
    struct buf text;
    struct {
        size_t id, org, record; /* where each begins; the record ends with the next row's id */
    } places[BATCH + 1];
};

static void audit_work(struct job *job)
{
    struct audit_batch *b = (struct audit_batch *)job;
    const char *text = buf_span(&b->text).p;
    b->places[b->n].id = b->text.n;
    for (size_t i = 0; i < b->n; i++) {
        b->list[i].id = text + b->places[i].id;
        b->list[i].org = text + b->places[i].org;
        b->list[i].text = span_of(text + b->places[i].record, b->places[i + 1].id - b->places[i].record);
    }
    if (records_add(b->records, b->list, b->n) < 0)
        log_error("audit.failed", log_str("first", b->list[0].id), log_int("records", (int64_t)b->n));
}

static void audit_done(struct job *job)
{
    struct audit_batch *b = (struct audit_batch *)job;
    buf_free(&b->text);
    xfree(b);
}

void audit_flush(struct worker *w)
{
    struct audit_batch *b = w->audit_batch;
    w->audit_batch = NULL;
    if (b && job_submit(w->queues[QUEUE_AUDIT].jobs, &b->job) < 0) {
        log_error("audit.dropped", log_int("records", (int64_t)b->n));
        audit_done(&b->job);
    }
}

static struct audit_batch *batch_of(struct worker *w)
{
    struct audit_batch *b = w->audit_batch;
    if (!b) {
        b = xmalloc(sizeof *b); /* the rows are written before they are read */
        b->job = (struct job){0};
        b->n = 0;
        b->job.work = audit_work;
        b->job.done = audit_done;
        b->records = w->records;
        buf_init(&b->text, TEXT_MAX);
        w->audit_batch = b;
    }
    return b;
}

/* A string with its end; answers its place. */
static size_t keep(struct buf *text, const char *s)
{
    size_t at = text->n;
    buf_addn(text, s, strlen(s) + 1);
    return at;
}

/* As the batch's next row. */
static void audit_keep(struct audit_batch *b, const struct consult_record *c)
{
    size_t before = b->text.n;
    b->places[b->n].id = keep(&b->text, c->id);
    b->places[b->n].org = keep(&b->text, c->org);
    b->places[b->n].record = b->text.n;
    b->list[b->n].started_ms = c->started_ms;
    if (record_write(c, &b->text) == 0) {
        b->n++;
        return;
    }
    log_error("audit.dropped", log_int("records", 1));
    buf_cut(&b->text, before);
}

void audit_observe(struct exchange *ex)
{
    struct metrics_provider *p = metrics_provider(ex->worker->metrics, ex->provider);
    const struct reply_totals *totals = ex->reply ? reply_totals(ex->reply) : NULL;
    if (ex->observed)
        return;
    ex->observed = true;
    ex->duration_us = clock_mono_us() - ex->began_us;
    p->consults[ex->outcome]++;
    metrics_observe(&p->duration, ex->duration_us);
    if (ex->first_byte_us >= 0)
        metrics_observe(&p->first_token, ex->first_byte_us - ex->body_end_us);
    metrics_observe(&ex->worker->metrics->overhead, ex->overhead_us);
    log_info("consult", log_str("consult", ex->consult_id), log_str("org", ex->owner.org),
             log_str("provider", ex->provider->name), log_str("api", api_name(ex->api)),
             log_int("status", ex->status), log_str("outcome", outcome_name(ex->outcome)),
             log_bool("streamed", ex->treatment == TREAT_STREAM), log_int("ms", ex->duration_us / 1000),
             log_int("bytes_in", (int64_t)ex->bytes_in), log_int("bytes_out", (int64_t)ex->bytes_out),
             log_int("directives", totals ? totals->directives : 0));
}

void audit_write(struct exchange *ex)
{
    const struct reply_totals *totals = ex->reply ? reply_totals(ex->reply) : NULL;
    if (!ex->worker->records)
        return;
    const char *const *names = (const char *const *)ex->caller.names;
    struct span attachments = buf_span(&ex->attachments); /* an array */
    const struct consult_record record = {
        .id = ex->consult_id,
        .org = ex->owner.org,
        .thread = names[CALLER_THREAD],
        .turn = names[CALLER_TURN],
        .parent = names[CALLER_PARENT],
        .provider = ex->provider->name,
        .api = api_name(ex->api),
        .model = ex->model,
        .started_ms = ex->began_wall_ms,
        .duration_ms = ex->duration_us / 1000,
        .first_byte_ms = ex->first_byte_us >= 0 ? (ex->first_byte_us - ex->body_end_us) / 1000 : -1,
        .status = ex->status,
        .outcome = outcome_name(ex->outcome),
        .error = ex->error ? error_name(ex->error) : NULL,
        .streamed = ex->treatment == TREAT_STREAM,
        .bytes_in = ex->bytes_in,
        .bytes_out = ex->bytes_out,
        .directives = totals ? totals->directives : 0,
        .reason = buf_span(&ex->reasons),
        .artifacts = buf_span(&ex->artifacts),
        .attachments = attachments.n > 2 ? span_of(attachments.p + 1, attachments.n - 2) : SPAN_LIT(""),
        .attachments_not_passed = buf_span(&ex->not_passed),
    };
    audit_keep(batch_of(ex->worker), &record);
    if (ex->worker->audit_batch->n == BATCH || ex->worker->audit_batch->text.n > TEXT_MAX / 2)
        audit_flush(ex->worker);
}
