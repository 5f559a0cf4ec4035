#include "proxy/uploads.h"

#include <openssl/evp.h>
#include <stdio.h>

#include "artifacts/artifact.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/xalloc.h"
#include "proxy/side_call.h"
#include "proxy/side_words.h"

enum {
    ANSWER_MOST = 1024 * 1024,
    TEXT_MOST = 32 * 1024 * 1024, /* of a document; that it is too long is found when it is counted */
    POLL_MS = 500,
    BUSY_MS = 200,
    GRACE_MS = 5 * 60 * 1000, /* at most, between the last use and the deletion: requests under way */
    AGAIN_MS = 5 * 60 * 1000,
    TRIES = 3,
    DUE_MOST = 8,
    DELETIONS_MOST = 10000 /* that one process sees to */
};

struct upload_wait {
    struct upload_wait *next;
    struct upload *upload;
    struct upload_file file;
    const char *consult;
    bool joined; /* an upload that another request had begun */
    uploads_done done;
    void *arg;
};

/* Who pays, for one upload or one deletion. */
struct account {
    struct config *config;
    const struct config_provider *provider;
    bool own_key;
    struct buf lines;
    char *key;
};

/*
 *   TAKE --found--------------------------------+
 *    | ^ busy, a while later                    v
 *    | +---<                      +--> [CONTENT] --> over
 *    +--claimed--> SEND --> [DATA] --> [STATE …] --+
 *
 * `call`, `timer` or `jobs` says what is waited for.
 */
struct upload {
    struct uploads *owner;
    struct upload *next;
    struct upload_wait *waits;
    struct account account;
    struct upload_row row;
    struct side_call *call;
    struct event *timer;
    void (*later)(struct upload *); /* what the timer is for */
    unsigned jobs;                  /* of its own, under way */
    int64_t began_ms, until_ms;     /* monotonic */
    int64_t bytes;
    bool text, claimed, reused, again, ending;
    char media_type[96];
};

/* A file that is to be deleted. */
struct deletion {
    struct uploads *owner;
    struct deletion *next;
    struct account account;
    struct upload_row row;
    struct side_call *call;
    unsigned tries;
};

struct uploads {
    struct event_base *base;
    struct http_client *client;
    struct job_queue *queue;
    struct upload_store *records;
    const struct store *store;
    struct metrics *metrics;
    struct upload *list;
    struct deletion *deletions;
    size_t ndeletions;
    bool stopped;
};

enum job_kind { JOB_TAKE, JOB_PUT, JOB_DROP };

struct upload_job {
    struct job job; /* first: the queue gives this back */
    struct uploads *owner;
    struct upload *upload; /* of JOB_TAKE */
    enum job_kind kind;
    struct upload_row row;
    int64_t now_ms, claim_ms;
    enum upload_found found;
    struct upload_row due[DUE_MOST];
    int ndue;
};

static void take(struct upload *u);
static void content(struct upload *u);

/* ---- accounts ---- */

static void account_copy(struct account *a, struct config *config, const struct config_provider *provider,
                         bool own_key, struct span lines, const char *key)
{
    a->config = config_ref(config);
    a->provider = provider;
    a->own_key = own_key;
    buf_init(&a->lines, lines.n + 1);
    buf_add(&a->lines, lines);
    a->key = key ? xstrdup(key) : NULL;
}

static void account_finish(struct account *a)
{
    if (a->lines.n)
        explicit_bzero(a->lines.data, a->lines.room);
    buf_free(&a->lines);
    if (a->key)
        explicit_bzero(a->key, strlen(a->key));
    xfree(a->key);
    config_unref(a->config);
}

static void write_hex(const unsigned char digest[32], char out[UPLOAD_STORE_DIGEST])
{
    for (int i = 0; i < 32; i++)
        snprintf(out + 2 * i, 3, "%02x", digest[i]);
}

/* What makes an upload the same as another one. */
static void name_row(const struct uploads *u, const struct upload_wanted *w, struct upload_row *row)
{
    unsigned char digest[EVP_MAX_MD_SIZE];
    unsigned n = 0;
    struct buf text;
    store_key(u->store, w->account, digest);
    write_hex(digest, row->account);
    snprintf(row->provider, sizeof row->provider, "%s", w->provider->name);
    buf_init(&text, LIMIT_READ);
    buf_printf(&text, "%s\n%s\n%s\n%s\n%d\n", w->provider->name, w->provider->base_url, row->account,
               w->sha256, w->text);
    buf_add(&text, w->file.media_type);
    EVP_Digest(buf_span(&text).p, text.n, digest, &n, EVP_sha256(), NULL);
    write_hex(digest, row->key);
    buf_free(&text);
}

/* ---- the records' thread ---- */

static void job_work(struct job *job)
{
    struct upload_job *j = (struct upload_job *)job;
    struct upload_store *s = j->owner->records;
    j->found = UPLOAD_STORE_FAILED;
    if (!s)
        return;
    switch (j->kind) {
    case JOB_TAKE:
        j->found = upload_store_take(s, &j->row, j->now_ms, j->claim_ms);
        j->ndue = upload_store_due(s, j->row.provider, j->row.account, j->now_ms, AGAIN_MS, j->due, DUE_MOST);
        break;
    case JOB_PUT:
        if (upload_store_put(s, &j->row) < 0)
            log_warning("upload.not_remembered", log_str("provider", j->row.provider));
        break;
    default:
        if (upload_store_drop(s, j->row.key, j->row.id) < 0)
            log_warning("upload.not_forgotten", log_str("provider", j->row.provider));
    }
}

static void on_taken(struct upload_job *j);

static void job_done(struct job *job)
{
    struct upload_job *j = (struct upload_job *)job;
    if (j->upload)
        on_taken(j);
    xfree(j);
}

static int submit(struct uploads *u, enum job_kind kind, const struct upload_row *row, struct upload *upload)
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
static void note(struct uploads *u, enum job_kind kind, const struct upload_row *row)
{
    if (submit(u, kind, row, NULL) < 0 && !u->stopped)
        log_warning("upload.not_remembered", log_str("provider", row->provider));
}

/* ---- ends ---- */

static void upload_free(struct upload *u)
{
    struct upload **at = &u->owner->list;
    while (*at != u)
        at = &(*at)->next;
    *at = u->next;
    side_call_cancel(u->call);
    if (u->timer)
        event_free(u->timer);
    account_finish(&u->account);
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
        note(u->owner, JOB_DROP, &claim);
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
    upload_free(u);
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

/* ---- calls ---- */

struct request {
    enum upload_step step;
    struct span target; /* empty: as the step has it */
    size_t answer_most;
};

static struct side_call *start_call(struct uploads *u, const struct account *a, const struct upload_row *row,
                                    const struct upload_file *file, const struct request *r, side_done done,
                                    void *arg)
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

static void step(struct upload *u, enum upload_step what, struct span target, side_done done)
{
    const struct request r = {
        .step = what, .target = target, .answer_most = what == UPLOAD_CONTENT ? TEXT_MOST : ANSWER_MOST};
    bool bytes = what == UPLOAD_SEND || what == UPLOAD_DATA;
    struct error e;
    if (bytes && !u->waits) { /* nobody is left who has them */
        over(u, NULL, (struct span){0});
        return;
    }
    u->call = start_call(u->owner, &u->account, &u->row, bytes ? &u->waits->file : NULL, &r, done, u);
    if (u->call)
        return;
    error_set(&e, ERROR_ATTACHMENT_UNSUPPORTED, "%.64s takes no uploads of this file.",
              u->account.provider->name);
    fail(u, &e);
}

/* ---- deletions ---- */

static void deletion_free(struct deletion *d)
{
    struct deletion **at = &d->owner->deletions;
    while (*at != d)
        at = &(*at)->next;
    *at = d->next;
    d->owner->ndeletions--;
    side_call_cancel(d->call);
    account_finish(&d->account);
    xfree(d);
}

static void delete_later(struct uploads *u, const struct account *a, const struct upload_row *row)
{
    if (u->ndeletions == DELETIONS_MOST) /* the next request of the account sees to it */
        return;
    struct deletion *d = xcalloc(1, sizeof *d);
    d->owner = u;
    d->row = *row;
    account_copy(&d->account, a->config, a->provider, a->own_key, buf_span(&a->lines), a->key);
    d->next = u->deletions;
    u->deletions = d;
    u->ndeletions++;
}

static void on_deleted(void *arg, const struct side_answer *answer)
{
    struct deletion *d = arg;
    bool gone =
        !answer->failed && ((answer->status >= 200 && answer->status <= 299) || answer->status == 404);
    d->call = NULL;
    if (gone) {
        metrics_provider(d->owner->metrics, d->account.provider)->uploads[UPLOADS_DELETED]++;
        note(d->owner, JOB_DROP, &d->row);
    } else if (++d->tries < TRIES) {
        d->row.delete_ms = clock_wall_ms() + AGAIN_MS;
        return;
    } else {
        log_warning("upload.not_deleted", log_str("provider", d->account.provider->name),
                    log_int("status", answer->status));
    }
    deletion_free(d);
}

void uploads_tick(struct uploads *u, int64_t now_ms)
{
    static const struct request r = {.step = UPLOAD_DELETE, .answer_most = ANSWER_MOST};
    for (struct deletion *d = u->deletions; d; d = d->next)
        if (!d->call && now_ms >= d->row.delete_ms)
            d->call = start_call(u, &d->account, &d->row, NULL, &r, on_deleted, d);
}

/* ---- steps ---- */

/* The file is at the provider and known to us. */
static void ready(struct upload *u, const struct upload_reply *reply)
{
    int64_t now = clock_wall_ms(), ttl = u->account.config->timeouts.upload_ttl;
    struct upload_row *row = &u->row;
    row->good_until_ms = now + ttl;
    row->delete_ms = row->good_until_ms + (ttl < GRACE_MS ? ttl : GRACE_MS);
    if (reply->expires_s && row->good_until_ms > reply->expires_s * 1000 - GRACE_MS)
        row->good_until_ms = reply->expires_s * 1000 - GRACE_MS;
    u->claimed = false;
    note(u->owner, JOB_PUT, row);
    delete_later(u->owner, &u->account, row);
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
        wait_for(u, POLL_MS, ask_state);
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
        note(u->owner, JOB_DROP, &u->row);
        u->row.id[0] = '\0';
        take(u);
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

static void on_taken(struct upload_job *j)
{
    struct upload *u = j->upload;
    u->jobs--;
    for (int i = 0; i < j->ndue; i++)
        delete_later(u->owner, &u->account, &j->due[i]);
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
        wait_for(u, BUSY_MS, take);
        break;
    default:
        step(u, UPLOAD_SEND, (struct span){0}, on_sent);
    }
}

static void take(struct upload *u)
{
    struct error e;
    if (submit(u->owner, JOB_TAKE, &u->row, u) == 0) {
        u->jobs++;
        return;
    }
    error_set(&e, ERROR_OVERLOADED, "%.64s: too many uploads wait at this moment.",
              u->account.provider->name);
    fail(u, &e);
}

/* ---- callers ---- */

static struct upload *find(struct uploads *u, const char *key)
{
    for (struct upload *at = u->list; at; at = at->next)
        if (!at->ending && strcmp(at->row.key, key) == 0)
            return at;
    return NULL;
}

static struct upload *upload_create(struct uploads *u, const struct upload_wanted *w,
                                    const struct upload_row *row)
{
    struct upload *at = xcalloc(1, sizeof *at);
    at->owner = u;
    at->row = *row;
    at->text = w->text;
    at->bytes = (int64_t)w->file.bytes.n;
    at->began_ms = clock_mono_ms();
    at->until_ms = at->began_ms + w->config->timeouts.first_byte;
    snprintf(at->media_type, sizeof at->media_type, "%.*s", (int)w->file.media_type.n, w->file.media_type.p);
    account_copy(&at->account, w->config, w->provider, w->own_key, w->account, w->key);
    at->next = u->list;
    u->list = at;
    return at;
}

struct upload_wait *uploads_want(struct uploads *u, const struct upload_wanted *wanted, uploads_done done,
                                 void *arg, struct error *e)
{
    struct upload_row row = {0};
    name_row(u, wanted, &row);
    struct upload *at = find(u, row.key);
    if (!at) {
        at = upload_create(u, wanted, &row);
        if (submit(u, JOB_TAKE, &row, at) < 0) {
            upload_free(at);
            error_set(e, ERROR_OVERLOADED, "%.64s: too many uploads wait at this moment.",
                      wanted->provider->name);
            return NULL;
        }
        at->jobs++;
    }
    struct upload_wait *w = xcalloc(1, sizeof *w);
    w->upload = at;
    w->file = wanted->file;
    w->consult = wanted->consult;
    w->done = done;
    w->arg = arg;
    w->joined = at->waits != NULL || at->call;
    w->next = at->waits;
    at->waits = w;
    return w;
}

void uploads_leave(struct upload_wait *wait)
{
    if (!wait)
        return;
    struct upload_wait **at = &wait->upload->waits;
    while (*at != wait)
        at = &(*at)->next;
    *at = wait->next;
    xfree(wait);
}

struct uploads *uploads_create(struct event_base *base, struct http_client *client, struct job_queue *queue,
                               struct upload_store *records, const struct store *store,
                               struct metrics *metrics)
{
    struct uploads *u = xcalloc(1, sizeof *u);
    u->base = base;
    u->client = client;
    u->queue = queue;
    u->records = records;
    u->store = store;
    u->metrics = metrics;
    return u;
}

void uploads_stop(struct uploads *u)
{
    if (u)
        u->stopped = true;
}

void uploads_destroy(struct uploads *u)
{
    if (!u)
        return;
    while (u->list)
        upload_free(u->list);
    while (u->deletions)
        deletion_free(u->deletions);
    xfree(u);
}
