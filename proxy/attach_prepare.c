/* Documents that become text in caged extractors, all those of a request at the same time. */
#include <stdio.h>
#include <unistd.h>

#include "attachments/extract.h"
#include "base/clock.h"
#include "base/log.h"
#include "jobs/document.h"
#include "proxy/attach_job.h"

/* ---- in the thread ---- */

bool attach_converts(const void *arg, const char *format)
{
    size_t n;
    const struct render_format *list = render_pool_formats(arg, &n);
    for (size_t i = 0; i < n; i++)
        if (!strcmp(list[i].format, format))
            return true;
    return false;
}

int attach_prepare_documents(struct attach_job *j)
{
    for (size_t i = 0; i < j->list.n; i++) {
        struct attachment *a = &j->list.list[i];
        if (!a->conversion)
            continue;
        struct preparation *p = &j->preparations[j->npreparations++];
        struct render_params params = {.format = a->conversion->format, .filename = attachment_title(a)};
        *p = (struct preparation){
            .job = j, .attachment = a, .document = document_create(buf_span(&a->bytes), &params), .fd = -1};
        if (p->document < 0)
            return error_set(&j->error, ERROR_OVERLOADED, "There is no memory to convert documents in.");
    }
    return 0;
}

/* What a child wrote is as hostile as what it read. */
static int read_text(struct attachment *a, int fd, uint64_t n)
{
    buf_init(&a->text, EXTRACT_TEXT);
    while (a->text.n < n) {
        char *room = buf_reserve(&a->text, (size_t)n - a->text.n);
        ssize_t got = room ? pread(fd, room, (size_t)n - a->text.n, (off_t)a->text.n) : -1;
        if (got <= 0)
            return -1;
        buf_commit(&a->text, (size_t)got);
    }
    return sniff_is_text(buf_span(&a->text)) ? 0 : -1;
}

int attach_prepare_read(struct attach_job *j)
{
    char place[128];
    for (size_t i = 0; i < j->npreparations; i++) {
        struct preparation *p = &j->preparations[i];
        struct attachment *a = p->attachment;
        int failed = read_text(a, p->fd, p->bytes);
        close(p->fd);
        p->fd = -1;
        if (!failed)
            continue;
        a->decision = ATTACHMENT_REFUSED;
        attachment_place(a, place);
        return error_set(&j->error, ERROR_ATTACHMENT_INVALID,
                         "%s: what its conversion made is no text. Send it with handling: native, or in "
                         "another format.",
                         place);
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
    }
    j->npreparations = 0;
}

/* ---- what went wrong ---- */

static const char *reason_of(const struct render_result *r)
{
    if (r->sentence[0] && sniff_is_text(span_str(r->sentence)))
        return r->sentence;
    switch (r->outcome) {
    case RENDER_JOB_TIMEOUT:
        return "takes too long to convert to text (timeouts.render)";
    case RENDER_JOB_LIMIT:
        return "is larger than a conversion to text accepts";
    case RENDER_JOB_DIED:
        return "brings the conversion to text down; it may be damaged";
    default:
        return "cannot be converted to text";
    }
}

static enum error_code code_of(enum render_job_outcome outcome)
{
    return outcome == RENDER_JOB_BUSY     ? ERROR_OVERLOADED
           : outcome == RENDER_JOB_LIMIT  ? ERROR_ATTACHMENT_TOO_LARGE
           : outcome == RENDER_JOB_UNSAFE ? ERROR_ATTACHMENT_UNSUPPORTED
                                          : ERROR_ATTACHMENT_INVALID;
}

/* The first one counts. */
static void refuse(struct preparation *p, const struct render_result *r)
{
    struct attach_job *j = p->job;
    struct attachment *a = p->attachment;
    char place[128];
    if (j->failed)
        return;
    j->failed = true;
    a->decision = ATTACHMENT_REFUSED;
    if (r->outcome == RENDER_JOB_BUSY) {
        error_set(&j->error, ERROR_OVERLOADED, "Too many documents are being converted at this moment.");
        return;
    }
    const char *reason = reason_of(r);
    size_t n = strlen(reason);
    attachment_place(a, place);
    error_set(&j->error, code_of(r->outcome), "%s: it %s%s%s", place, reason,
              n && strchr(".!", reason[n - 1]) ? "" : ".",
              strstr(reason, "native") ? "" : " Send it with handling: native, or in another format.");
    if (r->outcome == RENDER_JOB_LIMIT && a->index != ATTACHMENT_FORWARDED)
        snprintf(j->error.details, sizeof j->error.details, "{\"index\":%zu}", a->index);
}

/* ---- on the loop ---- */

static void stop_others(struct attach_job *j)
{
    for (size_t i = 0; i < j->npreparations; i++) {
        struct preparation *p = &j->preparations[i];
        if (!p->render)
            continue;
        render_cancel(p->render);
        p->render = NULL;
        j->pending--;
    }
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
        log_warning("convert.failed", log_str("consult", j->consult),
                    log_str("format", a->conversion->format),
                    log_str("outcome", render_job_outcome_name(r->outcome)),
                    log_int("ms", (int64_t)(r->wall_us / 1000)),
                    log_int("peak_kib", (int64_t)(r->peak_bytes / 1024)));
        refuse(p, r);
        stop_others(j);
    }
    attach_prepared(j);
}

void attach_prepare_start(struct attach_job *j)
{
    struct render_pool *pool = j->exchange->worker->renders;
    int64_t until_ms = clock_mono_ms() + j->config->timeouts.render;
    for (size_t i = 0; i < j->npreparations; i++) {
        struct preparation *p = &j->preparations[i];
        const char *why;
        int document = p->document;
        p->document = -1;
        p->render =
            render_submit(pool, p->attachment->conversion->format, document, until_ms, on_converted, p, &why);
        if (!p->render) {
            refuse(p, &(struct render_result){.outcome = RENDER_JOB_BUSY});
            stop_others(j);
            return;
        }
        j->pending++;
    }
}

void attach_prepare_stop(struct attach_job *j)
{
    stop_others(j);
}
