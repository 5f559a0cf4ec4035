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
enum { BATCH = 256, RECORD_TEXTS = 9, TEXT_MAX = 64 * 1024 * 1024 };

struct audit_batch {
    struct job job; /* first: the queue gives this back */
    struct records *records;
    size_t n;
    struct consult_record list[BATCH];
    /* What the records' strings point into: their places in it until nothing more is added, since it moves
     * while it grows. */
    struct buf text;
    size_t places[BATCH][RECORD_TEXTS];
};

/* Points the records' strings into the text. */
static void point(struct audit_batch *b)
{
    const char *t = buf_span(&b->text).p;
    for (size_t i = 0; i < b->n; i++) {
        struct consult_record *c = &b->list[i];
        const char **texts[RECORD_TEXTS] = {&c->id,       &c->org,   &c->thread, &c->turn,     &c->parent,
                                            &c->provider, &c->model, &c->reason, &c->artifacts};
        for (size_t k = 0; k < RECORD_TEXTS; k++)
            *texts[k] = t + b->places[i][k];
    }
}

static void audit_work(struct job *job)
{
    struct audit_batch *b = (struct audit_batch *)job;
    point(b);
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
    if (b && job_submit(w->audit, &b->job) < 0) {
        log_error("audit.dropped", log_int("records", (int64_t)b->n));
        audit_done(&b->job);
    }
}

static struct audit_batch *batch_of(struct worker *w)
{
    struct audit_batch *b = w->audit_batch;
    if (!b) {
        b = xcalloc(1, sizeof *b);
        b->job.work = audit_work;
        b->job.done = audit_done;
        b->records = w->records;
        buf_init(&b->text, TEXT_MAX);
        w->audit_batch = b;
    }
    return b;
}

/* Copies a string into the batch's text; answers its place. */
static size_t keep(struct buf *text, struct span s)
{
    size_t at = text->n;
    buf_add(text, s);
    buf_addc(text, '\0');
    return at;
}

/* The texts of the batch's next record, in the order of `point`. */
static void keep_texts(struct audit_batch *b, const struct exchange *ex)
{
    const char *const *names = (const char *const *)ex->caller.names;
    const struct span texts[RECORD_TEXTS - 1] = {
        span_str(ex->consult_id),     span_str(ex->owner.org),        span_str(names[CALLER_THREAD]),
        span_str(names[CALLER_TURN]), span_str(names[CALLER_PARENT]), span_str(ex->provider->name),
        span_str(ex->model),          buf_span(&ex->reasons),
    };
    size_t *places = b->places[b->n];
    for (size_t k = 0; k < RECORD_TEXTS - 1; k++)
        places[k] = keep(&b->text, texts[k]);
    places[RECORD_TEXTS - 1] = b->text.n;
    buf_addc(&b->text, '[');
    buf_add(&b->text, buf_span(&ex->artifacts));
    buf_addn(&b->text, "]", 2);
}

static void observe(const struct exchange *ex, int64_t duration_us)
{
    struct metrics_provider *p = metrics_provider(ex->worker->metrics, ex->provider);
    p->consults[ex->outcome]++;
    metrics_observe(&p->duration, duration_us);
    if (ex->first_byte_us >= 0)
        metrics_observe(&p->first_token, ex->first_byte_us - ex->body_end_us);
    metrics_observe(&ex->worker->metrics->overhead, ex->overhead_us);
}

void audit_write(struct exchange *ex)
{
    int64_t duration_us = clock_mono_us() - ex->began_us;
    const struct reply_totals *totals = ex->reply ? reply_totals(ex->reply) : NULL;
    observe(ex, duration_us);
    log_info("consult", log_str("consult", ex->consult_id), log_str("org", ex->owner.org),
             log_str("provider", ex->provider->name), log_str("api", api_name(ex->api)),
             log_int("status", ex->status), log_str("outcome", outcome_name(ex->outcome)),
             log_bool("streamed", ex->treatment == TREAT_STREAM), log_int("ms", duration_us / 1000),
             log_int("bytes_in", (int64_t)ex->bytes_in), log_int("bytes_out", (int64_t)ex->bytes_out),
             log_int("directives", totals ? totals->directives : 0));
    if (!ex->worker->records)
        return;
    struct audit_batch *b = batch_of(ex->worker);
    keep_texts(b, ex);
    b->list[b->n++] = (struct consult_record){
        .api = api_name(ex->api),
        .started_ms = ex->began_wall_ms,
        .duration_ms = duration_us / 1000,
        .first_byte_ms = ex->first_byte_us >= 0 ? (ex->first_byte_us - ex->body_end_us) / 1000 : -1,
        .status = ex->status,
        .outcome = outcome_name(ex->outcome),
        .error = ex->error ? error_name(ex->error) : "",
        .streamed = ex->treatment == TREAT_STREAM,
        .bytes_in = ex->bytes_in,
        .bytes_out = ex->bytes_out,
        .directives = totals ? totals->directives : 0,
        .attachments = "[]",
    };
    if (b->n == BATCH || b->text.n > TEXT_MAX / 2)
        audit_flush(ex->worker);
}
