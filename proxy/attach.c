/*
 * Attachments on their way through the disk thread and into the request (product.md §6). The job owns the
 * request's body meanwhile, since everything points into it; nothing of the exchange is touched in the
 * thread.
 */
#include <stdio.h>

#include "artifacts/inbound.h"
#include "attachments/context.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/xalloc.h"
#include "providers/place.h"
#include "providers/placing.h"
#include "proxy/exchange_state.h"

struct attach_job {
    struct job job; /* first: the queue gives this back */
    struct exchange *exchange;
    struct config *config;
    struct store *store;
    char org[LIMIT_ORG + 1], consult[CONSULT_ID];
    char *parent; /* NULL: nothing is to be forwarded */
    bool forward_all, fields;
    char **forward;                /* the exchange's, which outlives the job */
    bool found[LIMIT_ATTACHMENTS]; /* of `forward` */
    size_t nforward;
    struct attachments list;
    struct buf body;
    struct request_facts facts; /* of the body */
    struct place_request place;
    struct edits edits;
    struct buf protocol_room, room; /* what the edits point into */
    struct buf texts[LIMIT_ATTACHMENTS + 1];
    size_t ntexts;
    struct buf not_passed; /* entries for the record */
    unsigned counts[NOT_PASSED_REASONS];
    bool failed;
    struct error error;
};

/* ---- what did not go ---- */

static void note_not_passed(struct attach_job *j, enum not_passed reason, const char *key, const char *value)
{
    struct buf *out = &j->not_passed;
    buf_printf(out, "%s{\"%s\":\"", out->n ? "," : "", key);
    if (json_escape(span_str(value), out) < 0)
        return; /* full */
    buf_printf(out, "\",\"reason\":\"%s\"}", not_passed_name(reason));
    j->counts[reason]++;
}

/* ---- forwarded from the parent ---- */

static bool wants(struct attach_job *j, const struct inbound_item *item)
{
    bool wanted = j->forward_all;
    for (size_t i = 0; i < j->nforward; i++)
        if ((item->type && strcmp(j->forward[i], item->type) == 0) ||
            (item->name && strcmp(j->forward[i], item->name) == 0))
            wanted = j->found[i] = true;
    return wanted;
}

static int take_forwarded(void *arg, const struct inbound_item *item, const char *key)
{
    struct attach_job *j = arg;
    const struct config_limits *l = &j->config->limits;
    if (!wants(j, item))
        return 0;
    struct attachment *a = attachments_add(&j->list);
    if (!a) {
        j->failed = true;
        return error_set(&j->error, ERROR_ATTACHMENT_INVALID,
                         "attachments and hw.forward: at most %d can be attached together.",
                         LIMIT_ATTACHMENTS);
    }
    a->index = ATTACHMENT_FORWARDED;
    a->source = item->type ? ATTACHMENT_CONTENT : ATTACHMENT_DATA;
    a->native = item->native;
    a->name = item->name ? xstrdup(item->name) : NULL;
    a->path = item->path ? xstrdup(item->path) : NULL;
    a->type = item->type ? xstrdup(item->type) : NULL;
    buf_init(&a->bytes, item->type ? l->request_body : l->attachment_file);
    if (inbound_read(j->store, key, &a->bytes) == 0)
        return 0;
    a->decision = ATTACHMENT_REFUSED;
    j->failed = true;
    return error_set(&j->error, ERROR_ATTACHMENT_NOT_FOUND,
                     "The forwarded attachment \"%.80s\" cannot be read any more. Attach it again.",
                     attachment_title(a));
}

static void take_parents(struct attach_job *j)
{
    enum inbound_found found =
        inbound_find(j->store, j->org, j->parent, clock_wall_ms() / 1000, take_forwarded, j);
    if (j->failed)
        return;
    if (found == INBOUND_EXPIRED) {
        j->failed = true;
        error_set(
            &j->error, ERROR_ATTACHMENT_NOT_FOUND,
            "hw.forward: the attachments of the parent are kept no longer (timeouts.forward_ttl). Attach "
            "them again.");
        return;
    }
    for (size_t i = 0; i < j->nforward; i++)
        if (!j->found[i])
            note_not_passed(j, NOT_PASSED_NOT_IN_PARENT, "name", j->forward[i]);
    if (j->forward_all && found == INBOUND_NONE)
        note_not_passed(j, NOT_PASSED_NOT_IN_PARENT, "name", "all");
}

/* ---- into the request ---- */

static struct span add_text(struct attach_job *j, const struct attachment *a)
{
    struct buf *out = &j->texts[j->ntexts++];
    buf_init(out, SIZE_MAX / 2); /* made of text that was counted */
    if (a)
        context_document(a, out);
    else
        context_write(&j->list, j->fields, out);
    return buf_span(out);
}

/* Native text for which the provider's own shape is text. */
static bool ends_as_text(const struct attach_job *j, const struct attachment *a)
{
    if (a->media.kind != MEDIA_TEXT || !a->native)
        return false;
    enum place_shape shape = place_shape_of(j->place.api, j->place.dialect, span_str(a->media.type));
    return shape == SHAPE_TEXT || shape == SHAPE_PLAIN;
}

/* Text is counted as such whatever way it goes. */
static int count_native(struct attach_job *j)
{
    bool some = false;
    for (size_t i = 0; i < j->list.n; i++) {
        struct attachment *a = &j->list.list[i];
        if (!ends_as_text(j, a))
            continue;
        a->characters = limits_characters(buf_span(&a->bytes));
        some = true;
    }
    return some ? limits_check(&j->list, j->config->limits.attachment_characters, &j->error) : 0;
}

static struct place_item item_of(struct attach_job *j, const struct attachment *a)
{
    struct place_item item = {.index = a->index};
    if (attachment_is_text(a)) {
        item.text = add_text(j, a);
        return item;
    }
    item.media_type = span_str(a->media.type);
    item.bytes = buf_span(&a->bytes);
    item.base64 = a->base64;
    item.name = span_str(a->name);
    return item;
}

/* Files in the array's order, then what is said about the run. */
static int place_all(struct attach_job *j)
{
    struct place_item items[LIMIT_ATTACHMENTS + 1];
    size_t n = 0, inserted = 4 * LIMIT_READ;
    for (size_t i = 0; i < j->list.n; i++) {
        struct attachment *a = &j->list.list[i];
        if (a->source == ATTACHMENT_CONTENT)
            continue;
        items[n] = item_of(j, a);
        if (place_check(&j->place, &items[n++], &j->error) < 0) {
            a->decision = ATTACHMENT_REFUSED;
            return -1;
        }
        inserted += 2 * a->bytes.n;
    }
    struct span context = add_text(j, NULL);
    if (context.n)
        items[n++] = (struct place_item){.text = context, .index = ATTACHMENT_FORWARDED};
    for (size_t i = 0; i < j->ntexts; i++)
        inserted += 6 * j->texts[i].n;
    buf_init(&j->room, inserted);
    return place_attachments(&j->place, items, n, &j->room, &j->edits, &j->error);
}

/* For consults that this one may start. What was forwarded stays with the parent alone. */
static void keep_originals(struct attach_job *j)
{
    struct inbound_item items[LIMIT_ATTACHMENTS];
    size_t n = 0;
    for (size_t i = 0; i < j->list.n; i++) {
        const struct attachment *a = &j->list.list[i];
        if (a->index == ATTACHMENT_FORWARDED)
            continue;
        items[n++] = (struct inbound_item){
            .name = a->name,
            .path = a->path,
            .type = a->type,
            .media_type = a->media.type,
            .sha256 = a->sha256,
            .native = a->native,
            .bytes = a->source == ATTACHMENT_CONTENT ? a->value : buf_span(&a->bytes),
        };
    }
    int64_t until_s = (clock_wall_ms() + j->config->timeouts.forward_ttl) / 1000;
    /* The consult itself does not depend on it, and a log line says so. */
    if (n && inbound_keep(j->store, j->org, j->consult, items, n, until_s) < 0)
        return;
}

static void job_work(struct job *job)
{
    struct attach_job *j = (struct attach_job *)job;
    const struct config_limits *l = &j->config->limits;
    struct attachment_settings s = {
        .workspace_root = j->config->workspace_root,
        .org = j->org,
        .file_max = l->attachment_file,
        .total_max = l->request_body,
        .characters_max = l->attachment_characters,
    };
    if (j->parent)
        take_parents(j);
    j->failed = j->failed || attachments_resolve(&j->list, &s, &j->error) < 0;
    if (j->failed)
        return;
    context_decide(&j->list, j->fields);
    for (size_t i = 0; i < j->list.n; i++)
        if (j->list.list[i].decision == ATTACHMENT_NOT_PASSED)
            note_not_passed(j, NOT_PASSED_UNKNOWN_TYPE, "type", j->list.list[i].type);
    j->failed = count_native(j) < 0 || place_all(j) < 0;
    if (!j->failed)
        keep_originals(j);
}

/* ---- back on the loop ---- */

static void free_job(struct attach_job *j)
{
    attachments_free(&j->list);
    edits_free(&j->edits);
    buf_free(&j->body);
    buf_free(&j->protocol_room);
    buf_free(&j->room);
    for (size_t i = 0; i < j->ntexts; i++)
        buf_free(&j->texts[i]);
    buf_free(&j->not_passed);
    xfree(j->parent);
    config_unref(j->config);
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

static void job_done(struct job *job)
{
    struct attach_job *j = (struct attach_job *)job;
    struct exchange *ex = j->exchange;
    ex->jobs--;
    count(ex, j);
    attach_note(ex, &j->list, j->failed ? &j->error : NULL);
    buf_add(&ex->not_passed, buf_span(&j->not_passed));
    if (!ex->conn) { /* the client has gone: nobody is asked */
        exchange_try_over(ex);
    } else if (j->failed) {
        exchange_fail(ex, &j->error);
    } else {
        buf_move(&ex->body, &j->body);
        request_send(ex, &j->edits);
        ex->overhead_us = clock_mono_us() - ex->body_end_us;
    }
    free_job(j);
}

void attach_start(struct exchange *ex, const struct request_facts *facts, struct attachments *list,
                  struct edits *edits, struct buf *room)
{
    struct attach_job *j = xcalloc(1, sizeof *j);
    bool forward = ex->caller.forward_all || ex->caller.nforward;
    struct error e;
    j->job.work = job_work;
    j->job.done = job_done;
    j->exchange = ex;
    j->config = config_ref(ex->config);
    j->store = ex->worker->store;
    snprintf(j->org, sizeof j->org, "%s", ex->owner.org);
    snprintf(j->consult, sizeof j->consult, "%s", ex->consult_id);
    j->parent = forward ? xstrdup(ex->caller.names[CALLER_PARENT]) : NULL;
    j->forward_all = ex->caller.forward_all;
    j->forward = ex->caller.forward;
    j->nforward = ex->caller.nforward;
    j->fields = !ex->caller.context_attachments;
    j->list = *list;
    *list = (struct attachments){0};
    j->edits = *edits;
    *edits = (struct edits){0};
    buf_init(&j->protocol_room, room->max);
    buf_move(&j->protocol_room, room);
    buf_init(&j->body, ex->body.max);
    buf_move(&j->body, &ex->body);
    buf_init(&j->not_passed, LIMIT_READ);
    j->facts = *facts;
    j->place = (struct place_request){.body = buf_span(&j->body),
                                      .facts = &j->facts,
                                      .api = ex->api,
                                      .dialect = ex->provider->dialect,
                                      .provider = ex->provider->name};
    exchange_enter(ex, EX_ATTACH);
    ex->jobs++;
    if (job_submit(ex->worker->disk, &j->job) == 0)
        return;
    ex->jobs--;
    free_job(j);
    error_set(&e, ERROR_OVERLOADED, "Too many files are being read and stored at this moment.");
    exchange_fail(ex, &e);
}
