#include "proxy/body_read.h"

#include "base/xalloc.h"
#include "jobs/job.h"

void body_read(const struct dialect *dialect, struct span body, struct body_read *out)
{
    static const char *const ours[] = {"hw", "attachments"};
    *out = (struct body_read){0};
    struct request_facts *facts = &out->facts;
    dialect->request(body, facts);
    if (!facts->root.n)
        return;
    out->refused = !facts->repeated && attachments_declare(facts->attachments, &out->list, &out->error) < 0;
    if (facts->hw_whole.n || facts->attachments_whole.n)
        json_remove_members(body, facts->root, ours, 2, &out->edits);
}

void body_read_finish(struct body_read *r)
{
    attachments_free(&r->list);
    edits_free(&r->edits);
}

/* ---- in the thread for bodies ---- */

struct read_job {
    struct job job; /* first: the queue gives this back */
    struct exchange *exchange;
    const struct dialect *dialect;
    struct buf body; /* the exchange's meanwhile */
    struct body_read read;
};

static void work(struct job *job)
{
    struct read_job *j = (struct read_job *)job;
    body_read(j->dialect, buf_span(&j->body), &j->read);
}

static void done(struct job *job)
{
    struct read_job *j = (struct read_job *)job;
    struct exchange *ex = j->exchange;
    ex->jobs--;
    if (ex->conn) {
        buf_move(&ex->body, &j->body);
        request_body_known(ex, &j->read);
    } else {
        exchange_try_over(ex);
    }
    body_read_finish(&j->read);
    buf_free(&j->body);
    xfree(j);
}

int body_read_later(struct exchange *ex)
{
    struct read_job *j = xcalloc(1, sizeof *j);
    j->job.work = work;
    j->job.done = done;
    j->exchange = ex;
    j->dialect = ex->dialect;
    buf_init(&j->body, ex->body.max);
    buf_move(&j->body, &ex->body);
    if (job_submit(ex->worker->queues[QUEUE_BODIES].jobs, &j->job) == 0) {
        ex->jobs++;
        return 0;
    }
    buf_move(&ex->body, &j->body);
    xfree(j);
    return -1;
}
