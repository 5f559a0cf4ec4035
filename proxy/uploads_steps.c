/* An upload, a step after the other. */
#include <stdio.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/xalloc.h"
#include "proxy/side_words.h"
#include "proxy/uploads_parts.h"

static void content(struct upload *u);

/* ---- ends ---- */

void uploads_free(struct upload *u)
{
    struct upload **at = &u->owner->list;
    while (*at != u)
        at = &(*at)->next;
    *at = u->next;
    side_call_cancel(u->call);
    if (u->timer)
        event_free(u->timer);
    uploads_account_finish(&u->account);
    xfree(u);
}

/* Tells everybody, of whom each may leave others, and ends it. */
static void over(struct upload *u, const struct error *e, struct span text)
{
    struct metrics_provider *m = metrics_provider(u->owner->metrics, u->account.provider);
    u->ending = true;
    if (u->claimed) { /* and did not come to an id */
        struct upload_row claim = u->row;
        claim.id[0] = '\0';
        uploads_job_note(u->owner, UPLOAD_DROP, &claim);
    }
    while (u->waits) {
        struct upload_wait *w = u->waits;
        const struct upload_result result = {
            .failed = e, .reused = u->reused || w->joined, .uri = span_str(u->row.uri), .text = text};
        u->waits = w->next;
        m->uploads[UPLOADS_REUSED] += !e && result.reused;
        w->done(w->arg, &result);
        xfree(w);
    }
    uploads_free(u);
}

static void fail(struct upload *u, const struct error *e)
{
    metrics_provider(u->owner->metrics, u->account.provider)->uploads[UPLOADS_FAILED]++;
    log_warning("upload.failed", log_str("consult", u->waits ? u->waits->consult : ""),
                log_str("provider", u->account.provider->name), log_str("code", error_name(e->code)),
                log_int("status", e->status));
    over(u, e, (struct span){0});
}

/* 0: a good answer; -1: the upload has failed. */
static int check_answer(struct upload *u, const struct side_answer *answer, const char *doing)
{
    struct error e;
    u->call = NULL;
    if (answer->failed) {
        side_failed(u->account.provider, doing, answer->failed, answer->given_up, &e);
    } else if (answer->status < 200 || answer->status > 299) {
        char verb[64];
        snprintf(verb, sizeof verb, "answered %s", doing);
        side_refusal(u->account.provider, u->account.own_key, u->account.key, verb, answer->status,
                     buf_span(answer->body), &e);
    } else {
        return 0;
    }
    fail(u, &e);
    return -1;
}

static void fail_unreadable(struct upload *u, const char *why)
{
    struct error e;
    error_set(&e, ERROR_UPSTREAM_INVALID, "%.64s: the upload failed: %.300s.", u->account.provider->name,
              why);
    fail(u, &e);
}

/* ---- waiting ---- */

static void on_timer(evutil_socket_t fd, short what, void *arg)
{
    struct upload *u = arg;
    (void)fd;
    (void)what;
    u->later(u);
}

static void wait_for(struct upload *u, int ms, void (*later)(struct upload *))
{
    struct timeval after = {0, ms * 1000};
    struct error e;
    if (clock_mono_ms() >= u->until_ms) {
        error_set(&e, ERROR_UPSTREAM_TIMEOUT, "%.64s has not finished with the uploaded file in time.",
                  u->account.provider->name);
        fail(u, &e);
        return;
    }
    u->later = later;
    if (!u->timer)
        u->timer = evtimer_new(u->owner->base, on_timer, u);
    evtimer_add(u->timer, &after);
}

static void step(struct upload *u, enum upload_step what, struct span target, side_done done)
{
    const struct upload_request r = {
        .step = what, .target = target, .answer_most = what == UPLOAD_CONTENT ? UPLOAD_TEXT : UPLOAD_ANSWER};
    bool bytes = what == UPLOAD_SEND || what == UPLOAD_DATA;
    struct error e;
    if (bytes && !u->waits) { /* nobody is left who has them */
        over(u, NULL, (struct span){0});
        return;
    }
    u->call = uploads_call(u->owner, &u->account, &u->row, bytes ? &u->waits->file : NULL, &r, done, u);
    if (u->call)
        return;
    error_set(&e, ERROR_ATTACHMENT_UNSUPPORTED, "%.64s takes no uploads of this file.",
              u->account.provider->name);
    fail(u, &e);
}

/* ---- steps ---- */

/* The file is at the provider and known to us. */
static void ready(struct upload *u, const struct upload_reply *reply)
{
    int64_t now = clock_wall_ms(), ttl = u->account.config->timeouts.upload_ttl;
    struct upload_row *row = &u->row;
    row->good_until_ms = now + ttl;
    row->delete_ms = row->good_until_ms + (ttl < UPLOAD_GRACE_MS ? ttl : UPLOAD_GRACE_MS);
    if (reply->expires_s && row->good_until_ms > reply->expires_s * 1000 - UPLOAD_GRACE_MS)
        row->good_until_ms = reply->expires_s * 1000 - UPLOAD_GRACE_MS;
    u->claimed = false;
    uploads_job_note(u->owner, UPLOAD_PUT, row);
    uploads_delete_later(u->owner, &u->account, row);
    metrics_provider(u->owner->metrics, u->account.provider)->uploads[UPLOADS_MADE]++;
    log_info("upload.made", log_str("consult", u->waits ? u->waits->consult : ""),
             log_str("provider", u->account.provider->name), log_str("media_type", u->media_type),
             log_int("bytes", u->bytes), log_int("ms", clock_mono_ms() - u->began_ms));
    content(u);
}

static void on_state(void *arg, const struct side_answer *answer);

static void ask_state(struct upload *u)
{
    step(u, UPLOAD_STATE, (struct span){0}, on_state);
}

static void read_reply(struct upload *u, const struct side_answer *answer)
{
    struct upload_reply reply;
    struct error e;
    char why[LIMIT_ERROR_TEXT];
    if (upload_read(u->account.provider->dialect, buf_span(answer->body), &reply, why) < 0) {
        fail_unreadable(u, why);
        return;
    }
    snprintf(u->row.id, sizeof u->row.id, "%s", reply.id);
    snprintf(u->row.uri, sizeof u->row.uri, "%s", reply.uri);
    switch (reply.state) {
    case UPLOAD_READY:
        ready(u, &reply);
        break;
    case UPLOAD_WAIT:
        wait_for(u, UPLOAD_POLL_MS, ask_state);
        break;
    default:
        error_set(&e, ERROR_ATTACHMENT_INVALID, "%.64s took the upload, but cannot use the file.",
                  u->account.provider->name);
        fail(u, &e);
    }
}

static void on_state(void *arg, const struct side_answer *answer)
{
    if (check_answer(arg, answer, "the question for the uploaded file") == 0)
        read_reply(arg, answer);
}

static void on_bytes(void *arg, const struct side_answer *answer)
{
    if (check_answer(arg, answer, "the upload") == 0)
        read_reply(arg, answer);
}

static void on_sent(void *arg, const struct side_answer *answer)
{
    struct upload *u = arg;
    struct buf target;
    if (check_answer(u, answer, "the upload") < 0)
        return;
    if (!answer->field.n || strcmp(u->account.provider->dialect, "gemini") != 0) {
        read_reply(u, answer);
        return;
    }
    buf_init(&target, SIDE_FIELD);
    if (side_own_target(answer->field, u->account.provider, &target) == 0)
        step(u, UPLOAD_DATA, buf_span(&target), on_bytes);
    else
        fail_unreadable(u, "it wants the bytes at an address that is not its own");
    buf_free(&target);
}

static void on_content(void *arg, const struct side_answer *answer)
{
    struct upload *u = arg;
    struct error e;
    if (!answer->failed && answer->status == 404 && u->reused && !u->again) { /* deleted behind our back */
        u->call = NULL;
        u->again = true;
        u->reused = false;
        uploads_job_note(u->owner, UPLOAD_DROP, &u->row);
        u->row.id[0] = '\0';
        uploads_take(u);
        return;
    }
    if (check_answer(u, answer, "the question for the file's text") < 0)
        return;
    struct span text = buf_span(answer->body);
    if (text.n) {
        over(u, NULL, text);
        return;
    }
    error_set(&e, ERROR_ATTACHMENT_INVALID, "%.64s found no text in the file.", u->account.provider->name);
    fail(u, &e);
}

static void content(struct upload *u)
{
    if (u->waits && u->text)
        step(u, UPLOAD_CONTENT, (struct span){0}, on_content);
    else /* for nobody when it was only brought to its end */
        over(u, NULL, (struct span){0});
}

void uploads_taken(struct upload_job *j)
{
    struct upload *u = j->upload;
    u->jobs--;
    for (int i = 0; i < j->ndue; i++)
        uploads_delete_later(u->owner, &u->account, &j->due[i]);
    u->claimed = j->found == UPLOAD_STORE_CLAIMED;
    if (!u->waits) {
        over(u, NULL, (struct span){0});
        return;
    }
    switch (j->found) {
    case UPLOAD_STORE_FOUND:
        u->row = j->row;
        u->reused = true;
        content(u);
        break;
    case UPLOAD_STORE_BUSY:
        wait_for(u, UPLOAD_BUSY_MS, uploads_take);
        break;
    default:
        step(u, UPLOAD_SEND, (struct span){0}, on_sent);
    }
}

void uploads_take(struct upload *u)
{
    struct error e;
    if (uploads_job_submit(u->owner, UPLOAD_TAKE, &u->row, u) == 0) {
        u->jobs++;
        return;
    }
    error_set(&e, ERROR_OVERLOADED, "%.64s: too many uploads wait at this moment.",
              u->account.provider->name);
    fail(u, &e);
}
