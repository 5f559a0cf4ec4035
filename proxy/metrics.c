#include "proxy/metrics.h"

#include <stdio.h>
#include <sys/mman.h>

#include "attachments/extract.h"
#include "base/clock.h"

/* Upper bounds in microseconds, from a tenth of a millisecond to five minutes. */
static const int64_t bounds[METRICS_BUCKETS] = {100,     250,     500,     1000,     2500,      5000,
                                                10000,   25000,   50000,   100000,   250000,    500000,
                                                1000000, 2500000, 5000000, 30000000, 120000000, 300000000};

const char *outcome_name(enum outcome outcome)
{
    static const char *const names[OUTCOMES] = {"completed", "interrupted", "client_gone", "error"};
    return names[outcome];
}

const char *not_passed_name(enum not_passed reason)
{
    static const char *const names[NOT_PASSED_REASONS] = {"unknown_type", "not_in_parent"};
    return names[reason];
}

struct metrics *metrics_create(const struct config *c)
{
    struct metrics *m = mmap(NULL, sizeof *m, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (m == MAP_FAILED)
        return NULL;
    m->started_ms = clock_wall_ms();
    m->nproviders = c->nproviders < METRICS_PROVIDERS ? c->nproviders : METRICS_PROVIDERS;
    for (size_t i = 0; i < m->nproviders; i++) {
        snprintf(m->providers[i].name, sizeof m->providers[i].name, "%s", c->providers[i].name);
        snprintf(m->providers[i].dialect, sizeof m->providers[i].dialect, "%s", c->providers[i].dialect);
    }
    return m;
}

struct metrics_provider *metrics_provider(struct metrics *m, const struct config_provider *p)
{
    for (size_t i = 0; p && i < m->nproviders; i++)
        if (strcmp(m->providers[i].name, p->name) == 0)
            return &m->providers[i];
    return &m->providers[METRICS_PROVIDERS];
}

void metrics_error(struct metrics *m, const struct config_provider *p, enum error_code code)
{
    metrics_provider(m, p)->errors[code]++;
}

void metrics_observe(struct histogram *h, int64_t us)
{
    size_t i = 0;
    while (i < METRICS_BUCKETS && us > bounds[i])
        i++;
    h->buckets[i]++;
    h->sum_us += us > 0 ? (uint64_t)us : 0;
}

void metrics_gauge_add(struct metrics *m, unsigned worker, enum metrics_gauge gauge, int64_t by)
{
    m->gauges[worker % METRICS_WORKERS][gauge] += by;
}

void metrics_gauge_set(struct metrics *m, unsigned worker, enum metrics_gauge gauge, int64_t value)
{
    m->gauges[worker % METRICS_WORKERS][gauge] = value;
}

void metrics_clear_worker(struct metrics *m, unsigned worker)
{
    for (int g = 0; g < GAUGES; g++)
        m->gauges[worker % METRICS_WORKERS][g] = 0;
}

/* The last one stands for all others. */
static const char *const formats[METRICS_FORMATS] = {"docx", "pdf", "xlsx", "pptx", "png", "svg", "other"};

void metrics_render(struct metrics *m, const char *format, enum render_job_outcome outcome, int64_t us)
{
    size_t i = 0;
    while (i + 1 < METRICS_FORMATS && strcmp(formats[i], format) != 0)
        i++;
    metrics_observe(&m->render[i], us);
    m->renders[outcome]++;
}

static const char *const conversions[METRICS_CONVERSIONS] = {"pdf",   "docx",  "xlsx",   "pptx", "odt",
                                                             "epub",  "html",  "csv",    "tsv",  "rtf",
                                                             "audio", "video", "remote", "other"};

void metrics_convert(struct metrics *m, const char *format, enum render_job_outcome outcome, int64_t us)
{
    size_t i = 0;
    if (extract_is_format(format))
        format += sizeof EXTRACT_PREFIX - 1;
    while (i + 1 < METRICS_CONVERSIONS && strcmp(conversions[i], format) != 0)
        i++;
    metrics_observe(&m->convert[i], us);
    m->conversions[outcome]++;
}

static void head(struct buf *out, const char *name, const char *type, const char *help)
{
    buf_printf(out, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, type);
}

static void print_histogram(const struct histogram *h, const char *name, const char *labels, struct buf *out)
{
    uint64_t count = 0;
    const char *comma = *labels ? "," : "";
    for (size_t i = 0; i < METRICS_BUCKETS; i++) {
        count += h->buckets[i];
        buf_printf(out, "%s_bucket{%s%sle=\"%g\"} %llu\n", name, labels, comma, (double)bounds[i] / 1e6,
                   (unsigned long long)count);
    }
    count += h->buckets[METRICS_BUCKETS];
    buf_printf(out, "%s_bucket{%s%sle=\"+Inf\"} %llu\n", name, labels, comma, (unsigned long long)count);
    buf_printf(out, "%s_sum{%s} %.6f\n%s_count{%s} %llu\n", name, labels, (double)h->sum_us / 1e6, name,
               labels, (unsigned long long)count);
}

static void print_gauge(const struct metrics *m, enum metrics_gauge gauge, const char *name, const char *help,
                        struct buf *out)
{
    int64_t sum = 0;
    for (size_t w = 0; w < METRICS_WORKERS; w++)
        sum += m->gauges[w][gauge];
    head(out, name, "gauge", help);
    buf_printf(out, "%s %lld\n", name, (long long)sum);
}

static void print_provider_histograms(const struct metrics *m, struct buf *out)
{
    static const char *const names[] = {"gen_ai_server_request_duration_seconds",
                                        "gen_ai_server_time_to_first_token_seconds"};
    static const char *const helps[] = {
        "Duration of consults, from the request's head to the reply's last byte.",
        "From the request's last byte to the reply's first body byte."};
    for (int which = 0; which < 2; which++) {
        head(out, names[which], "histogram", helps[which]);
        for (size_t i = 0; i < m->nproviders; i++) {
            const struct metrics_provider *p = &m->providers[i];
            char labels[200];
            snprintf(labels, sizeof labels, "gen_ai_operation_name=\"chat\",gen_ai_provider_name=\"%s\"",
                     p->name);
            print_histogram(which ? &p->first_token : &p->duration, names[which], labels, out);
        }
    }
}

static void print_errors(const struct metrics *m, struct buf *out)
{
    head(out, "penstock_errors_total", "counter", "Penstock's own errors by code.");
    for (size_t i = 0; i <= METRICS_PROVIDERS; i++) {
        const struct metrics_provider *p = &m->providers[i];
        for (int code = ERROR_NONE + 1; code < ERROR_CODES; code++)
            if (p->errors[code])
                buf_printf(out, "penstock_errors_total{code=\"%s\",level=\"%s\",provider=\"%s\"} %llu\n",
                           error_name((enum error_code)code),
                           error_level_name(error_level((enum error_code)code)), p->name,
                           (unsigned long long)p->errors[code]);
    }
}

static void print_consults(const struct metrics *m, struct buf *out)
{
    head(out, "penstock_consults_total", "counter", "Consults by how they ended.");
    for (size_t i = 0; i < m->nproviders; i++)
        for (int o = 0; o < OUTCOMES; o++)
            buf_printf(out, "penstock_consults_total{provider=\"%s\",outcome=\"%s\"} %llu\n",
                       m->providers[i].name, outcome_name((enum outcome)o),
                       (unsigned long long)m->providers[i].consults[o]);
    head(out, "penstock_relayed_requests_total", "counter", "Requests that were no consults.");
    for (size_t i = 0; i < m->nproviders; i++)
        buf_printf(out, "penstock_relayed_requests_total{provider=\"%s\"} %llu\n", m->providers[i].name,
                   (unsigned long long)m->providers[i].requests);
}

static void print_side_calls(const struct metrics *m, struct buf *out)
{
    static const char *const uploads[UPLOAD_OUTCOMES] = {"made", "reused", "failed", "deleted"};
    static const char *const transcripts[TRANSCRIPT_OUTCOMES] = {"made", "failed"};
    static const char *const sink[SINK_OUTCOMES] = {"sent", "failed", "dropped"};
    head(out, "penstock_uploads_total", "counter",
         "Files for a provider's files API: uploaded, used again without an upload, failed, deleted there.");
    for (size_t i = 0; i < m->nproviders; i++)
        for (int o = 0; o < UPLOAD_OUTCOMES; o++)
            if (m->providers[i].uploads[o])
                buf_printf(out, "penstock_uploads_total{provider=\"%s\",outcome=\"%s\"} %llu\n",
                           m->providers[i].name, uploads[o], (unsigned long long)m->providers[i].uploads[o]);
    head(out, "penstock_transcripts_total", "counter", "Transcripts asked of a provider.");
    for (size_t i = 0; i < m->nproviders; i++)
        for (int o = 0; o < TRANSCRIPT_OUTCOMES; o++)
            if (m->providers[i].transcripts[o])
                buf_printf(out, "penstock_transcripts_total{provider=\"%s\",outcome=\"%s\"} %llu\n",
                           m->providers[i].name, transcripts[o],
                           (unsigned long long)m->providers[i].transcripts[o]);
    head(out, "penstock_sink_events_total", "counter", "Events for the error sink.");
    for (int o = 0; o < SINK_OUTCOMES; o++)
        buf_printf(out, "penstock_sink_events_total{outcome=\"%s\"} %llu\n", sink[o],
                   (unsigned long long)m->sink[o]);
}

static void print_renders(const struct metrics *m, struct buf *out)
{
    char labels[64];
    head(out, "penstock_render_seconds", "histogram", "Life of a renderer's process, by the file's format.");
    for (size_t i = 0; i < METRICS_FORMATS; i++) {
        snprintf(labels, sizeof labels, "format=\"%s\"", formats[i]);
        print_histogram(&m->render[i], "penstock_render_seconds", labels, out);
    }
    head(out, "penstock_renders_total", "counter", "Renderings by how they ended.");
    for (int o = 0; o < RENDER_JOB_OUTCOMES; o++)
        buf_printf(out, "penstock_renders_total{outcome=\"%s\"} %llu\n",
                   render_job_outcome_name((enum render_job_outcome)o), (unsigned long long)m->renders[o]);
    head(out, "penstock_convert_seconds", "histogram",
         "Life of an extractor's process, by the attached document's format.");
    for (size_t i = 0; i < METRICS_CONVERSIONS; i++) {
        snprintf(labels, sizeof labels, "format=\"%s\"", conversions[i]);
        print_histogram(&m->convert[i], "penstock_convert_seconds", labels, out);
    }
    head(out, "penstock_conversions_total", "counter",
         "Conversions of attached documents to text by how they ended.");
    for (int o = 0; o < RENDER_JOB_OUTCOMES; o++)
        buf_printf(out, "penstock_conversions_total{outcome=\"%s\"} %llu\n",
                   render_job_outcome_name((enum render_job_outcome)o),
                   (unsigned long long)m->conversions[o]);
    head(out, "penstock_render_cache_hits_total", "counter",
         "Documents and charts that need not be drawn again.");
    buf_printf(out, "penstock_render_cache_hits_total %llu\n", (unsigned long long)m->render_cache_hits);
    print_gauge(m, GAUGE_RENDERS, "penstock_render_queue", "Renderings waiting or running.", out);
    head(out, "penstock_renderer_restarts_total", "counter",
         "Times that penstock-worker died and was replaced.");
    buf_printf(out, "penstock_renderer_restarts_total %llu\n", (unsigned long long)m->renderer_restarts);
}

void metrics_print(const struct metrics *m, struct buf *out)
{
    print_provider_histograms(m, out);
    head(out, "penstock_overhead_seconds", "histogram",
         "Time a consult spent in Penstock itself: preparing the request, and waiting for files at the end.");
    print_histogram(&m->overhead, "penstock_overhead_seconds", "", out);
    print_consults(m, out);
    print_errors(m, out);
    print_side_calls(m, out);
    print_renders(m, out);
    head(out, "penstock_artifacts_total", "counter", "Files made and stored.");
    buf_printf(out, "penstock_artifacts_total %llu\n", (unsigned long long)m->artifacts);
    head(out, "penstock_artifact_bytes_total", "counter", "Bytes of files made and stored.");
    buf_printf(out, "penstock_artifact_bytes_total %llu\n", (unsigned long long)m->artifact_bytes);
    head(out, "penstock_attachments_total", "counter", "Attachments that went to a model.");
    buf_printf(out, "penstock_attachments_total %llu\n", (unsigned long long)m->attachments);
    head(out, "penstock_attachment_bytes_total", "counter", "Bytes of attachments that went to a model.");
    buf_printf(out, "penstock_attachment_bytes_total %llu\n", (unsigned long long)m->attachment_bytes);
    head(out, "penstock_attachments_not_passed_total", "counter",
         "Attachments that did not go to the model although the request did, by reason.");
    for (int r = 0; r < NOT_PASSED_REASONS; r++)
        buf_printf(out, "penstock_attachments_not_passed_total{reason=\"%s\"} %llu\n",
                   not_passed_name((enum not_passed)r), (unsigned long long)m->not_passed[r]);
    head(out, "penstock_flags_total", "counter", "Flags raised on replies, by reason.");
    for (int f = FLAG_NONE + 1; f < FLAGS; f++)
        buf_printf(out, "penstock_flags_total{reason=\"%s\"} %llu\n", flag_name((enum flag)f),
                   (unsigned long long)m->flags[f]);
    print_gauge(m, GAUGE_OPEN_STREAMS, "penstock_open_streams", "Replies being relayed now.", out);
    print_gauge(m, GAUGE_CONNECTIONS, "penstock_connections", "Client connections open now.", out);
    print_gauge(m, GAUGE_HELD_BYTES, "penstock_held_bytes",
                "Reply bytes held back now, open directives included.", out);
    print_gauge(m, GAUGE_JOBS, "penstock_jobs", "Jobs waiting or running on disk and audit threads.", out);
    head(out, "penstock_worker_restarts_total", "counter", "Workers that died and were replaced.");
    buf_printf(out, "penstock_worker_restarts_total %llu\n", (unsigned long long)m->worker_restarts);
    head(out, "penstock_build_info", "gauge", "The version that runs.");
    buf_printf(out, "penstock_build_info{version=\"%s\"} 1\n", PENSTOCK_VERSION);
}
