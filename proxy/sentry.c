#include "proxy/sentry.h"

#include <openssl/rand.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/hex.h"
#include "base/log.h"
#include "base/xalloc.h"
#include "proxy/sentry_event.h"
#include "proxy/side_call.h"
#include "proxy/worker.h"

enum {
    AT_ONCE = 4,     /* calls under way */
    WAITING = 32,    /* events that wait for one of them */
    BURST = 20,      /* events of a level in a row, and then … */
    EVERY_MS = 3000, /* … one in this time */
    TIMEOUT_MS = 5000,
    PAUSE_S = 60, /* after the sink said that it has had enough */
    PAUSE_MOST_S = 3600,
    EVENT_MOST = LIMIT_READ,
    ANSWER_MOST = LIMIT_READ
};

struct sending {
    struct sentry *sentry;
    struct side_call *call; /* NULL: free */
};

/* A rate: what may go now, in thousandths. */
struct rate {
    int64_t left, at_ms;
};

struct sentry {
    struct worker *worker;
    struct sending sending[AT_ONCE];
    struct buf waiting[WAITING]; /* a ring */
    size_t first, n;
    struct rate rates[2]; /* by level */
    int64_t paused_until_ms;
    bool failing;
    struct buf fields;
};

struct sentry *sentry_create(struct worker *w)
{
    if (!w->config->sentry.host)
        return NULL;
    struct sentry *s = xcalloc(1, sizeof *s);
    s->worker = w;
    for (int i = 0; i < 2; i++)
        s->rates[i] = (struct rate){BURST * 1000, clock_mono_ms()};
    for (int i = 0; i < WAITING; i++)
        buf_init(&s->waiting[i], EVENT_MOST);
    buf_init(&s->fields, LIMIT_READ);
    buf_printf(&s->fields,
               "X-Sentry-Auth: Sentry sentry_version=7, sentry_client=penstock/%s, sentry_key=%s\r\n",
               PENSTOCK_VERSION, w->config->sentry.key);
    return s;
}

void sentry_destroy(struct sentry *s)
{
    if (!s)
        return;
    for (int i = 0; i < AT_ONCE; i++)
        side_call_cancel(s->sending[i].call);
    for (int i = 0; i < WAITING; i++)
        buf_free(&s->waiting[i]);
    buf_free(&s->fields);
    xfree(s);
}

bool sentry_is_busy(const struct sentry *s)
{
    for (int i = 0; s && i < AT_ONCE; i++)
        if (s->sending[i].call)
            return true;
    return false;
}

/* ---- sending ---- */

static void send_next(struct sentry *s);

static void pause_for(struct sentry *s, struct span retry_after)
{
    long seconds = retry_after.n ? strtol(retry_after.p, NULL, 10) : PAUSE_S;
    seconds = seconds < 1 ? PAUSE_S : seconds > PAUSE_MOST_S ? PAUSE_MOST_S : seconds;
    s->paused_until_ms = clock_mono_ms() + seconds * 1000;
}

static void on_answer(void *arg, const struct side_answer *answer)
{
    struct sending *at = arg;
    struct sentry *s = at->sentry;
    struct metrics *m = s->worker->metrics;
    bool good = !answer->failed && answer->status >= 200 && answer->status <= 299;
    at->call = NULL;
    m->sink[good ? SINK_SENT : SINK_FAILED]++;
    if (!good && !s->failing)
        log_warning("sentry.failed", log_str("host", s->worker->config->sentry.host),
                    log_int("status", answer->status),
                    log_str("why", answer->failed ? answer->failed->message : "the sink refused the event"));
    s->failing = !good;
    if (!answer->failed && (answer->status == 429 || answer->status == 503))
        pause_for(s, answer->field);
    send_next(s);
}

static struct sending *free_sending(struct sentry *s)
{
    for (int i = 0; i < AT_ONCE; i++)
        if (!s->sending[i].call)
            return &s->sending[i];
    return NULL;
}

static void send_next(struct sentry *s)
{
    struct config *c = s->worker->config;
    struct sending *at;
    while (s->n && (at = free_sending(s))) {
        struct buf *event = &s->waiting[s->first];
        struct side_request r = {.config = c,
                                 .host = c->sentry.host,
                                 .port = c->sentry.port,
                                 .tls = c->sentry.tls,
                                 .host_header = c->sentry.host_header,
                                 .connect_ms = c->timeouts.connect,
                                 .timeout_ms = TIMEOUT_MS,
                                 .method = "POST",
                                 .target = span_str(c->sentry.path),
                                 .fields = buf_span(&s->fields),
                                 .content_type = "application/x-sentry-envelope",
                                 .body = event,
                                 .answer_most = ANSWER_MOST,
                                 .keep_field = "retry-after"};
        at->sentry = s;
        s->first = (s->first + 1) % WAITING;
        s->n--;
        at->call = side_call_start(s->worker->base, s->worker->client, &r, on_answer, at);
    }
}

/* ---- events ---- */

static bool may_go(struct rate *rate, int64_t now_ms)
{
    int64_t more = (now_ms - rate->at_ms) * 1000 / EVERY_MS;
    if (more > 0) {
        rate->left = rate->left + more > BURST * 1000 ? BURST * 1000 : rate->left + more;
        rate->at_ms = now_ms;
    }
    if (rate->left < 1000)
        return false;
    rate->left -= 1000;
    return true;
}

static void new_id(char out[33])
{
    unsigned char bytes[16] = {0};
    if (RAND_bytes(bytes, sizeof bytes) != 1)
        memset(bytes, 1, sizeof bytes);
    hex_write(bytes, sizeof bytes, out);
}

static void tell(struct sentry *s, const struct config_provider *provider, const char *api,
                 const char *consult, const struct error *e)
{
    int64_t now = clock_mono_ms();
    char id[33];
    if (s->n == WAITING || now < s->paused_until_ms || !may_go(&s->rates[error_level(e->code)], now)) {
        s->worker->metrics->sink[SINK_DROPPED]++;
        return;
    }
    new_id(id);
    const struct sentry_event event = {.error = e,
                                       .provider = provider ? provider->name : "",
                                       .api = api,
                                       .consult = consult,
                                       .id = id,
                                       .at_ms = clock_wall_ms()};
    struct buf *out = &s->waiting[(s->first + s->n++) % WAITING];
    buf_reset(out);
    sentry_event_write(&event, out);
    send_next(s);
}

void sentry_note(struct worker *w, const struct config_provider *provider, const char *api,
                 const char *consult, const struct error *e)
{
    metrics_error(w->metrics, provider, e->code);
    if (w->sentry)
        tell(w->sentry, provider, api, consult, e);
}
