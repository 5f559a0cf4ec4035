/* Which files are at a provider already: rows of uploads, on the records' thread. */
#include "base/clock.h"
#include "base/log.h"
#include "base/xalloc.h"
#include "proxy/side_words.h"
#include "proxy/uploads_parts.h"

static void job_work(struct job *job)
{
    struct upload_job *j = (struct upload_job *)job;
    struct upload_store *s = j->owner->records;
    j->found = UPLOAD_STORE_FAILED;
    if (!s)
        return;
    switch (j->kind) {
    case UPLOAD_TAKE:
        j->found = upload_store_take(s, &j->row, j->now_ms, j->claim_ms);
        j->ndue = upload_store_due(s, j->row.provider, j->row.account, j->now_ms, UPLOAD_AGAIN_MS, j->due,
                                   UPLOAD_DUE);
        break;
    case UPLOAD_PUT:
        if (upload_store_put(s, &j->row) < 0)
            log_warning("upload.not_remembered", log_str("provider", j->row.provider));
        break;
    default:
        if (upload_store_drop(s, j->row.key, j->row.id) < 0)
            log_warning("upload.not_forgotten", log_str("provider", j->row.provider));
    }
}

static void job_done(struct job *job)
{
    struct upload_job *j = (struct upload_job *)job;
    if (j->upload)
        uploads_taken(j);
    xfree(j);
}

int uploads_job_submit(struct uploads *u, enum upload_job_kind kind, const struct upload_row *row,
                       struct upload *upload)
{
    if (u->stopped)
        return -1;
    struct upload_job *j = xcalloc(1, sizeof *j);
    j->job.work = job_work;
    j->job.done = job_done;
    j->owner = u;
    j->upload = upload;
    j->kind = kind;
    j->row = *row;
    j->now_ms = clock_wall_ms();
    j->claim_ms = upload ? upload->account.config->timeouts.first_byte : 0;
    if (job_submit(u->queue, &j->job) == 0)
        return 0;
    xfree(j);
    return -1;
}

/* Nothing depends on whether it can be remembered. */
void uploads_job_note(struct uploads *u, enum upload_job_kind kind, const struct upload_row *row)
{
    if (uploads_job_submit(u, kind, row, NULL) < 0 && !u->stopped)
        log_warning("upload.not_remembered", log_str("provider", row->provider));
}
