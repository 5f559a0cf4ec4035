#include "proxy/transcription.h"

#include "artifacts/artifact.h"
#include "attachments/sniff.h"
#include "base/log.h"
#include "base/multipart.h"
#include "base/xalloc.h"
#include "proxy/exchange_state.h"
#include "proxy/forward.h"
#include "proxy/side_call.h"
#include "proxy/side_words.h"

enum { ANSWER_MOST = 32 * 1024 * 1024, REQUEST_REST = 16 * 1024 };

struct transcription_call {
    struct worker *worker;
    struct config *config;
    const struct config_provider *provider;
    char consult[CONSULT_ID];
    char *key, *name;
    struct side_call *call;
    transcription_done done;
    void *arg;
};

static void destroy(struct transcription_call *c)
{
    if (c->key)
        explicit_bzero(c->key, strlen(c->key));
    xfree(c->key);
    xfree(c->name);
    config_unref(c->config);
    xfree(c);
}

void transcription_cancel(struct transcription_call *c)
{
    if (!c)
        return;
    side_call_cancel(c->call);
    destroy(c);
}

bool transcription_is_on(const struct exchange *ex)
{
    return ex->config->transcription.provider != NULL;
}

static int read_answer(struct transcription_call *c, const struct side_answer *answer, struct buf *text,
                       struct error *e)
{
    const char *name = c->provider->name;
    char why[LIMIT_ERROR_TEXT];
    if (answer->failed)
        return side_failed(c->provider, "the transcription", answer->failed, answer->given_up, e);
    if (answer->status < 200 || answer->status > 299) {
        side_refusal(c->provider, c->provider->api_key != NULL, c->key, "answered the transcription",
                     answer->status, buf_span(answer->body), e);
        return -1;
    }
    if (transcript_read(buf_span(answer->body), span_str(c->name), c->config->transcription.model, text, why))
        return error_set(e, ERROR_UPSTREAM_INVALID, "%.64s: the transcription failed: %.300s.", name, why);
    if (!sniff_is_text(buf_span(text))) /* it goes into a request, and is no more trusted than a file */
        return error_set(e, ERROR_UPSTREAM_INVALID, "%.64s: the transcription failed: its text is no text.",
                         name);
    return 0;
}

static void on_answer(void *arg, const struct side_answer *answer)
{
    struct transcription_call *c = arg;
    struct buf text;
    struct error e;
    buf_init(&text, 2 * ANSWER_MOST);
    int bad = read_answer(c, answer, &text, &e);
    metrics_provider(c->worker->metrics, c->provider)
        ->transcripts[bad ? TRANSCRIPTS_FAILED : TRANSCRIPTS_MADE]++;
    if (bad)
        log_warning("transcription.failed", log_str("consult", c->consult),
                    log_str("provider", c->provider->name), log_int("status", answer->status),
                    log_str("code", error_name(e.code)));
    c->done(c->arg, &text, bad ? &e : NULL);
    buf_free(&text);
    destroy(c);
}

static void start(struct transcription_call *c, const struct transcript_file *file)
{
    struct buf path, fields, body, type;
    char boundary[48];
    store_new_id("penstock-", boundary, sizeof boundary);
    buf_init(&path, LIMIT_HTTP_HEAD);
    buf_init(&fields, 2 * LIMIT_KEY);
    buf_init(&body, file->bytes.n + REQUEST_REST);
    buf_init(&type, 256);
    side_base_path(c->provider, "/v1", &path);
    buf_adds(&path, "/audio/transcriptions");
    if (c->key)
        forward_add_key(&fields, c->provider, c->key);
    transcript_request(c->config->transcription.model, file, boundary, &body);
    multipart_type(boundary, &type);
    struct side_request r = {.timeout_ms = c->config->timeouts.first_byte,
                             .method = "POST",
                             .target = buf_span(&path),
                             .fields = buf_span(&fields),
                             .accept = "application/json",
                             .content_type = buf_cstr(&type),
                             .body = &body,
                             .answer_most = ANSWER_MOST};
    side_request_provider(&r, c->config, c->provider);
    c->call = side_call_start(c->worker->base, c->worker->client, &r, on_answer, c);
    if (fields.n)
        explicit_bzero(fields.data, fields.room);
    buf_free(&path);
    buf_free(&fields);
    buf_free(&type);
}

struct transcription_call *transcription_start(const struct exchange *ex, const struct transcript_file *file,
                                               transcription_done done, void *arg, struct error *e)
{
    const struct config_provider *p = ex->config->transcription.provider;
    const char *key = p->api_key ? p->api_key : ex->provider == p ? ex->api_key : NULL;
    if (!key &&
        ex->provider != p) { /* the caller's own goes to no other provider than the one it was sent to */
        error_set(e, ERROR_ATTACHMENT_UNSUPPORTED,
                  "No API key is configured for %.64s, which writes down what is said (providers[].api_key).",
                  p->name);
        return NULL;
    }
    struct transcription_call *c = xcalloc(1, sizeof *c);
    c->worker = ex->worker;
    c->config = config_ref(ex->config);
    c->provider = p;
    memcpy(c->consult, ex->consult_id, sizeof c->consult);
    c->key = key ? xstrdup(key) : NULL;
    c->name = xspandup(file->name);
    c->done = done;
    c->arg = arg;
    start(c, file);
    return c;
}
