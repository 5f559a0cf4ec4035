/* What is asked of providers for an upload, and the deletion of what was uploaded. */
#include <stdio.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/xalloc.h"
#include "proxy/side_words.h"
#include "proxy/uploads_parts.h"

struct side_call *uploads_call(struct uploads *u, const struct upload_account *a,
                               const struct upload_row *row, const struct upload_file *file,
                               const struct upload_request *r, side_done done, void *arg)
{
    struct upload_message m;
    struct side_call *call = NULL;
    struct buf fields;
    char boundary[48];
    store_new_id("penstock-", boundary, sizeof boundary);
    buf_init(&fields, a->lines.n + LIMIT_READ);
    if (upload_write(a->provider->dialect, a->provider->base_path, r->step, file, row->id, boundary, &m) ==
        0) {
        buf_add(&fields, buf_span(&a->lines));
        buf_add(&fields, buf_span(&m.fields));
        bool body = m.content_type[0];
        struct side_request request = {.timeout_ms = a->config->timeouts.first_byte,
                                       .method = m.method,
                                       .target = r->target.n ? r->target : buf_span(&m.path),
                                       .fields = buf_span(&fields),
                                       .accept = "*/*",
                                       .content_type = body ? m.content_type : NULL,
                                       .body = body ? &m.body : NULL,
                                       .answer_most = r->answer_most,
                                       .keep_field = UPLOAD_ADDRESS_FIELD};
        side_request_provider(&request, a->config, a->provider);
        call = side_call_start(u->base, u->client, &request, done, arg);
    }
    if (fields.n)
        explicit_bzero(fields.data, fields.room);
    buf_free(&fields);
    upload_message_finish(&m);
    return call;
}

/* ---- deletions ---- */

void uploads_deletion_free(struct upload_deletion *d)
{
    struct upload_deletion **at = &d->owner->deletions;
    while (*at != d)
        at = &(*at)->next;
    *at = d->next;
    d->owner->ndeletions--;
    side_call_cancel(d->call);
    uploads_account_finish(&d->account);
    xfree(d);
}

void uploads_delete_later(struct uploads *u, const struct upload_account *a, const struct upload_row *row)
{
    if (u->ndeletions == UPLOAD_DELETIONS) /* the next request of the account sees to it */
        return;
    struct upload_deletion *d = xcalloc(1, sizeof *d);
    d->owner = u;
    d->row = *row;
    uploads_account_copy(&d->account, a->config, a->provider, a->own_key, buf_span(&a->lines), a->key);
    d->next = u->deletions;
    u->deletions = d;
    u->ndeletions++;
}

static void on_deleted(void *arg, const struct side_answer *answer)
{
    struct upload_deletion *d = arg;
    bool gone =
        !answer->failed && ((answer->status >= 200 && answer->status <= 299) || answer->status == 404);
    d->call = NULL;
    if (gone) {
        metrics_provider(d->owner->metrics, d->account.provider)->uploads[UPLOADS_DELETED]++;
        uploads_job_note(d->owner, UPLOAD_DROP, &d->row);
    } else if (++d->tries < UPLOAD_TRIES) {
        d->row.delete_ms = clock_wall_ms() + UPLOAD_AGAIN_MS;
        return;
    } else {
        log_warning("upload.not_deleted", log_str("provider", d->account.provider->name),
                    log_int("status", answer->status));
    }
    uploads_deletion_free(d);
}

void uploads_tick(struct uploads *u, int64_t now_ms)
{
    static const struct upload_request r = {.step = UPLOAD_DELETE, .answer_most = UPLOAD_ANSWER};
    for (struct upload_deletion *d = u->deletions; d; d = d->next)
        if (!d->call && now_ms >= d->row.delete_ms)
            d->call = uploads_call(u, &d->account, &d->row, NULL, &r, on_deleted, d);
}
