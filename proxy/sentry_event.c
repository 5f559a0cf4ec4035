#include "proxy/sentry_event.h"

#include <stdio.h>
#include <time.h>

#include "base/json.h"

static void add_text(const char *key, const char *text, struct buf *out)
{
    buf_printf(out, "%s\"%s\":\"", buf_span(out).p[out->n - 1] == '{' ? "" : ",", key);
    if (json_escape(span_str(text), out) < 0)
        out->over = true;
    buf_addc(out, '"');
}

/* Only numbers: what else there is may be words of a caller's. */
static void add_numbers(struct span object, struct buf *out)
{
    struct json_iter it = json_iter(object);
    while (json_type(object) == JSON_OBJECT && json_next(&it) == 1) {
        bool nested = json_type(it.value) == JSON_OBJECT;
        if (!nested && json_type(it.value) != JSON_NUMBER)
            continue;
        if (buf_span(out).p[out->n - 1] != '{')
            buf_addc(out, ',');
        buf_addc(out, '"');
        buf_add(out, it.key);
        buf_adds(out, nested ? "\":{" : "\":");
        if (nested)
            add_numbers(it.value, out);
        else
            buf_add(out, it.value);
        if (nested)
            buf_addc(out, '}');
    }
}

static void write_payload(const struct sentry_event *event, struct buf *out)
{
    const struct error *e = event->error;
    const char *name = error_name(e->code);
    struct span details;
    buf_addc(out, '{');
    add_text("event_id", event->id, out);
    buf_printf(out, ",\"timestamp\":%lld.%03d", (long long)(event->at_ms / 1000), (int)(event->at_ms % 1000));
    add_text("platform", "native", out);
    add_text("logger", "penstock", out);
    add_text("release", "penstock@" PENSTOCK_VERSION, out);
    add_text("level", error_level_name(error_level(e->code)), out);
    add_text("message", name, out);
    buf_adds(out, ",\"fingerprint\":[\"penstock\",\"");
    buf_adds(out, name);
    buf_adds(out, "\"],\"tags\":{");
    add_text("penstock_error_type", name, out);
    if (event->provider[0])
        add_text("provider", event->provider, out);
    if (event->api[0])
        add_text("api", event->api, out);
    if (event->consult[0])
        add_text("consult", event->consult, out);
    buf_printf(out, "},\"contexts\":{\"penstock_error\":{\"code\":%d", e->status);
    if (json_document(span_str(e->details), &details))
        add_numbers(details, out);
    buf_adds(out, "}}}");
}

void sentry_event_write(const struct sentry_event *event, struct buf *out)
{
    struct buf payload;
    struct tm tm;
    time_t s = (time_t)(event->at_ms / 1000);
    char sent[32];
    buf_init(&payload, LIMIT_READ);
    write_payload(event, &payload);
    gmtime_r(&s, &tm);
    strftime(sent, sizeof sent, "%Y-%m-%dT%H:%M:%SZ", &tm);
    buf_printf(out, "{\"event_id\":\"%s\",\"sent_at\":\"%s\"}\n{\"type\":\"event\",\"length\":%zu}\n",
               event->id, sent, payload.n);
    buf_add(out, buf_span(&payload));
    buf_addc(out, '\n');
    buf_free(&payload);
}
