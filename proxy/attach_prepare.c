/* Documents that become text in caged extractors, all those of a request at the same time. */
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include "attachments/extract.h"
#include "base/clock.h"
#include "base/log.h"
#include "proxy/attach_job.h"
#include "proxy/conversion.h"
#include "proxy/transcription.h"
#include "proxy/uploads.h"

/* ---- in the thread ---- */

int attach_prepare_documents(struct attach_job *j)
{
    for (size_t i = 0; i < j->list.n; i++) {
        struct attachment *a = &j->list.list[i];
        if (!a->conversion)
            continue;
        /* Where a provider writes down what is said, it does so for films as well. */
        bool apart = strcmp(a->conversion->format, EXTRACT_PARTS) == 0 && j->config->transcription.provider &&
                     conversion_offered(j->renders, EXTRACT_FRAMES);
        const char *format = apart ? EXTRACT_FRAMES : a->conversion->format;
        struct preparation *p = &j->preparations[j->npreparations++];
        *p = (struct preparation){.job = j,
                                  .attachment = a,
                                  .format = format,
                                  .document = conversion_document(a, format),
                                  .fd = -1};
        if (p->document < 0)
            return error_set(&j->error, ERROR_OVERLOADED, "There is no memory to convert documents in.");
    }
    return 0;
}

void attach_prepare_free(struct attach_job *j)
{
    for (size_t i = 0; i < j->npreparations; i++) {
        struct preparation *p = &j->preparations[i];
        if (p->document >= 0)
            close(p->document);
        if (p->fd >= 0)
            close(p->fd);
        p->document = p->fd = -1;
        buf_free(&p->transcript);
    }
}

int attach_prepare_read(struct attach_job *j)
{
    int failed = 0;
    for (size_t i = 0; i < j->npreparations && !failed; i++) {
        struct preparation *p = &j->preparations[i];
        if (p->kind != PREPARE_CONVERSION)
            continue;
        failed = conversion_read(p->attachment, p->fd, p->bytes, buf_span(&p->transcript), &j->error);
    }
    attach_prepare_free(j);
    return failed;
}

/* ---- on the loop ---- */

static void stop_others(struct attach_job *j)
{
    for (size_t i = 0; i < j->npreparations; i++) {
        struct preparation *p = &j->preparations[i];
        if (!p->render && !p->upload && !p->transcription)
            continue;
        if (p->render)
            render_cancel(p->render);
        uploads_leave(p->upload);
        transcription_cancel(p->transcription);
        p->render = NULL;
        p->upload = NULL;
        p->transcription = NULL;
        j->pending--;
    }
}

void attach_prepare_fail(struct preparation *p, const struct error *e)
{
    struct attach_job *j = p->job;
    char place[ATTACHMENT_PLACE];
    if (j->failed)
        return;
    j->failed = true;
    p->attachment->decision = ATTACHMENT_REFUSED;
    attachment_place(p->attachment, place);
    error_set(&j->error, e->code, "%s: %.380s", place, e->message);
    j->error.status = e->status;
    stop_others(j);
}

/* The first one counts, and ends the others. */
void attach_prepare_refuse(struct preparation *p, const struct render_result *r)
{
    struct attach_job *j = p->job;
    if (!j->failed)
        conversion_refused(p->attachment, r, &j->error);
    j->failed = true;
    stop_others(j);
}

static void on_converted(void *arg, const struct render_result *r)
{
    struct preparation *p = arg;
    struct attach_job *j = p->job;
    struct attachment *a = p->attachment;
    p->render = NULL;
    p->fd = r->fd;
    p->bytes = r->bytes;
    snprintf(a->converter, sizeof a->converter, "%s %s", r->renderer, r->version);
    metrics_convert(j->exchange->worker->metrics, a->conversion->format, r->outcome, (int64_t)r->wall_us);
    if (r->outcome != RENDER_JOB_DONE) {
        log_warning("convert.failed", log_str("consult", j->consult), log_str("format", p->format),
                    log_str("outcome", render_job_outcome_name(r->outcome)),
                    log_int("ms", (int64_t)(r->wall_us / 1000)),
                    log_int("peak_kib", (int64_t)(r->peak_bytes / 1024)));
        attach_prepare_refuse(p, r);
    } else if (strcmp(p->format, EXTRACT_FRAMES) == 0 && attach_provider_sound(p) == 1)
        return;
    attach_prepared(j);
}

void attach_prepare_start(struct attach_job *j)
{
    struct render_pool *pool = j->exchange->worker->renders;
    int64_t now_ms = clock_mono_ms();
    for (size_t i = 0; i < j->npreparations; i++) {
        struct preparation *p = &j->preparations[i];
        const char *why;
        if (p->kind != PREPARE_CONVERSION) {
            if (attach_provider_start(p) < 0)
                return;
            j->pending++;
            continue;
        }
        /* A copy: whoever closes the last one gives many MiB back, and that is done in the thread. */
        const struct render_order order = {p->format, fcntl(p->document, F_DUPFD_CLOEXEC, 0),
                                           now_ms + conversion_most_ms(j->config, p->format),
                                           render_owner(j->org)};
        p->render = order.document < 0 ? NULL : render_submit(pool, &order, on_converted, p, &why);
        if (!p->render) {
            attach_prepare_refuse(p, &(struct render_result){.outcome = RENDER_JOB_BUSY});
            return;
        }
        j->pending++;
    }
}

void attach_prepare_stop(struct attach_job *j)
{
    stop_others(j);
}
