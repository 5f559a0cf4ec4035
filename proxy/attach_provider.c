/* What providers make of attachments before the request itself: uploads, and transcripts of audio. */
#include <stdio.h>

#include "attachments/attachment.h"
#include "attachments/extract.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/xalloc.h"
#include "jobs/document.h"
#include "providers/place.h"
#include "proxy/attach_job.h"
#include "proxy/conversion.h"
#include "proxy/forward.h"
#include "proxy/local_renders.h"
#include "proxy/transcription.h"
#include "proxy/uploads.h"

/* ---- in the thread ---- */

/* Sound that is on no endpoint's list, but that libsndfile reads. */
static bool is_decodable(const char *media_type)
{
    static const char *const types[] = {"audio/ogg", "audio/flac", "audio/aiff", "audio/basic",
                                        "audio/x-caf"};
    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++)
        if (strcmp(types[i], media_type) == 0)
            return true;
    return false;
}

bool attach_provider_converts(const void *job, const char *format)
{
    return conversion_offered(((const struct attach_job *)job)->renders, format);
}

bool attach_provider_transcribes(const void *job, const char *media_type)
{
    return transcript_takes(span_str(media_type)) ||
           (is_decodable(media_type) && attach_provider_converts(job, EXTRACT_MP3));
}

bool attach_provider_takes(const void *job, const char *media_type)
{
    return place_takes(&((const struct attach_job *)job)->place, span_str(media_type));
}

/* Whether it would become text if it were not to go as it is. */
static bool would_convert(const struct attach_job *j, const struct attachment *a)
{
    const struct conversion *c = extract_conversion(a->media.type);
    return c && attach_provider_converts(j, c->format);
}

/* A file that goes as it is. */
static bool is_file(const struct attachment *a)
{
    return a->source != ATTACHMENT_CONTENT && !attachment_is_text(a);
}

static int check_files(struct attach_job *j)
{
    for (size_t i = 0; i < j->list.n; i++) {
        struct attachment *a = &j->list.list[i];
        const struct place_item item = {.media_type = span_str(a->media.type),
                                        .name = span_str(a->name),
                                        .index = a->index,
                                        .converts = would_convert(j, a)};
        if (is_file(a) && place_check(&j->place, &item, &j->error) < 0) {
            a->decision = ATTACHMENT_REFUSED;
            return -1;
        }
    }
    return 0;
}

static struct preparation *prepare(struct attach_job *j, struct attachment *a, enum preparation_kind kind)
{
    struct preparation *p = &j->preparations[j->npreparations++];
    *p = (struct preparation){.job = j, .attachment = a, .kind = kind, .document = -1, .fd = -1};
    return p;
}

/* -1 with j->error: no memory. */
static int prepare_transcript(struct attach_job *j, struct attachment *a)
{
    static const struct render_params params = {.format = EXTRACT_MP3, .filename = ""};
    struct preparation *p = prepare(j, a, PREPARE_TRANSCRIPT);
    if (transcript_takes(span_str(a->media.type)))
        return 0;
    p->document = document_create(buf_span(&a->bytes), &params);
    return p->document >= 0
               ? 0
               : error_set(&j->error, ERROR_OVERLOADED, "There is no memory to convert documents in.");
}

static bool is_prepared(const struct attach_job *j, const struct attachment *a)
{
    for (size_t i = 0; i < j->npreparations; i++)
        if (j->preparations[i].attachment == a)
            return true;
    return false;
}

/* Of the files that still go in the request and could go by an id, the largest; NULL: none. */
static struct attachment *largest_file(struct attach_job *j)
{
    struct attachment *largest = NULL;
    for (size_t i = 0; i < j->list.n; i++) {
        struct attachment *a = &j->list.list[i];
        if (is_file(a) && !is_prepared(j, a) && (!largest || a->size > largest->size) &&
            place_upload_of(&j->place, span_str(a->media.type)) == PLACE_BY_ID)
            largest = a;
    }
    return largest;
}

static size_t inline_bytes(const struct attachment *a)
{
    return (size_t)a->size / 3 * 4 + 4;
}

int attach_provider_plan(struct attach_job *j)
{
    size_t most = j->inline_most, bytes = j->body.n;
    struct attachment *large;
    if (check_files(j) < 0)
        return -1;
    for (size_t i = 0; i < j->list.n; i++) {
        struct attachment *a = &j->list.list[i];
        if (a->by_provider && prepare_transcript(j, a) < 0)
            return -1;
        if (a->by_provider)
            continue;
        if (is_file(a) && place_upload_of(&j->place, span_str(a->media.type)) == PLACE_BY_TEXT)
            prepare(j, a, PREPARE_UPLOAD);
        else if (is_file(a) && !a->base64.n) /* else it is in the body already */
            bytes += inline_bytes(a);
    }
    while (most && bytes > most && (large = largest_file(j))) {
        size_t saved = inline_bytes(large);
        prepare(j, large, PREPARE_UPLOAD);
        bytes -= bytes < saved ? bytes : saved;
    }
    return 0;
}

/* ---- on the loop ---- */

static void on_transcript(void *arg, struct buf *text, const struct error *e)
{
    struct preparation *p = arg;
    struct attachment *a = p->attachment;
    p->transcription = NULL;
    if (e) {
        attach_prepare_fail(p, e);
    } else if (p->kind == PREPARE_CONVERSION) { /* of a film; its frames are in p->fd */
        size_t n = strlen(a->converter);
        snprintf(a->converter + n, sizeof a->converter - n, ", %.40s", p->job->config->transcription.model);
        buf_init(&p->transcript, text->max);
        buf_move(&p->transcript, text);
    } else {
        snprintf(a->converter, sizeof a->converter, "%.60s", p->job->config->transcription.model);
        buf_init(&a->text, text->max);
        buf_move(&a->text, text);
    }
    attach_prepared(p->job);
}

/* What a provider made of a file is no more trusted than the file. */
static int take_text(struct preparation *p, const struct upload_result *r, struct error *e)
{
    struct attachment *a = p->attachment;
    if (!sniff_is_text(r->text))
        return error_set(e, ERROR_UPSTREAM_INVALID,
                         "%.64s answered with something else than the file's text.",
                         p->job->exchange->provider->name);
    a->by_provider = true;
    buf_init(&a->text, r->text.n + 1);
    buf_add(&a->text, r->text);
    return 0;
}

static void on_uploaded(void *arg, const struct upload_result *r)
{
    struct preparation *p = arg;
    struct attachment *a = p->attachment;
    struct error e;
    p->upload = NULL;
    if (r->failed) {
        attach_prepare_fail(p, r->failed);
    } else if (place_upload_of(&p->job->place, span_str(a->media.type)) == PLACE_BY_TEXT) {
        a->upload = r->reused ? ATTACHMENT_UPLOAD_REUSED : ATTACHMENT_UPLOADED;
        if (take_text(p, r, &e) < 0)
            attach_prepare_fail(p, &e);
    } else {
        a->upload = r->reused ? ATTACHMENT_UPLOAD_REUSED : ATTACHMENT_UPLOADED;
        a->uploaded = xspandup(r->uri);
    }
    attach_prepared(p->job);
}

/* With what the request itself is paid for: a file belongs to an account. */
static int start_upload(struct preparation *p, struct error *e)
{
    struct attach_job *j = p->job;
    struct exchange *ex = j->exchange;
    const struct attachment *a = p->attachment;
    struct buf account;
    buf_init(&account, 2 * LIMIT_HTTP_HEAD);
    bool own_key = j->config->tenancy == TENANCY_KEYS && ex->provider->api_key;
    const char *key = own_key ? ex->provider->api_key : ex->api_key;
    if (!forward_account(buf_span(&ex->request), &account) && key)
        forward_add_key(&account, ex->provider, key);
    const struct upload_wanted wanted = {
        .config = j->config,
        .provider = ex->provider,
        .own_key = own_key,
        .account = buf_span(&account),
        .key = key,
        .consult = j->consult,
        .sha256 = a->sha256,
        .text = place_upload_of(&j->place, span_str(a->media.type)) == PLACE_BY_TEXT,
        .file = {.name = span_str(attachment_title(a)),
                 .media_type = span_str(a->media.type),
                 .bytes = buf_span(&a->bytes),
                 .ttl_s = j->config->timeouts.upload_ttl / 1000},
    };
    p->upload = uploads_want(ex->worker->uploads, &wanted, on_uploaded, p, e);
    if (account.n)
        explicit_bzero(account.data, account.room);
    buf_free(&account);
    return p->upload ? 0 : -1;
}

static int start_transcript(struct preparation *p, struct span media_type, struct span bytes, struct error *e)
{
    const struct transcript_file file = {
        .name = span_str(attachment_title(p->attachment)), .media_type = media_type, .bytes = bytes};
    p->transcription = transcription_start(p->job->exchange, &file, on_transcript, p, e);
    return p->transcription ? 0 : -1;
}

/* It is an MP3 now, or none. */
static void on_recoded(void *arg, const struct render_result *r)
{
    struct preparation *p = arg;
    struct buf mp3;
    struct error e;
    p->render = NULL;
    p->fd = r->fd;
    buf_init(&mp3, r->bytes + 1);
    metrics_convert(p->job->exchange->worker->metrics, EXTRACT_MP3, r->outcome, (int64_t)r->wall_us);
    if (r->outcome != RENDER_JOB_DONE || local_render_read(r->fd, r->bytes, &mp3) < 0)
        attach_prepare_refuse(p, r);
    else if (start_transcript(p, SPAN_LIT("audio/mpeg"), buf_span(&mp3), &e) < 0)
        attach_prepare_fail(p, &e);
    buf_free(&mp3);
    if (!p->transcription)
        attach_prepared(p->job);
}

int attach_provider_sound(struct preparation *p)
{
    struct buf mp3;
    struct error e;
    int answer = 0;
    buf_init(&mp3, p->bytes + 1);
    if (conversion_sound(p->fd, p->bytes, &mp3)) {
        error_set(&e, ERROR_ATTACHMENT_INVALID, "what its conversion made is no film.");
        attach_prepare_fail(p, &e);
        answer = -1;
    } else if (mp3.n) {
        answer = start_transcript(p, SPAN_LIT("audio/mpeg"), buf_span(&mp3), &e) ? -1 : 1;
        if (answer < 0)
            attach_prepare_fail(p, &e);
    }
    buf_free(&mp3);
    return answer;
}

static int start_recoding(struct preparation *p, struct error *e)
{
    const char *why;
    const struct render_order order = {EXTRACT_MP3, p->document,
                                       clock_mono_ms() + conversion_most_ms(p->job->config, EXTRACT_MP3),
                                       render_owner(p->job->org)};
    p->document = -1;
    p->render = render_submit(p->job->exchange->worker->renders, &order, on_recoded, p, &why);
    return p->render ? 0 : error_set(e, ERROR_OVERLOADED, "too many documents are being converted now.");
}

int attach_provider_start(struct preparation *p)
{
    const struct attachment *a = p->attachment;
    struct error e;
    int failed;
    if (p->kind == PREPARE_UPLOAD)
        failed = start_upload(p, &e);
    else if (p->document >= 0)
        failed = start_recoding(p, &e);
    else
        failed = start_transcript(p, span_str(a->media.type), buf_span(&a->bytes), &e);
    if (failed)
        attach_prepare_fail(p, &e);
    return failed;
}
