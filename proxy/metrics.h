#ifndef PROXY_METRICS_H
#define PROXY_METRICS_H
/*
 * Counters of all workers in one page of shared memory, made by the master before it forks. Each is an atomic
 * number; nobody waits for anybody. Gauges are kept a worker, so that those of a worker that was killed can
 * be cleared. Names follow OpenTelemetry's GenAI conventions where these have one, with underscores; the rest
 * begins with penstock_.
 */
#include <stdatomic.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/error.h"
#include "base/flag.h"
#include "config/config.h"
#include "jobs/render_job.h"

enum {
    METRICS_PROVIDERS = 64,
    METRICS_WORKERS = 64,
    METRICS_BUCKETS = 18,
    METRICS_FORMATS = 7,
    METRICS_CONVERSIONS = 14
};

enum metrics_gauge {
    GAUGE_CONNECTIONS,
    GAUGE_OPEN_STREAMS,
    GAUGE_HELD_BYTES,
    GAUGE_JOBS,
    GAUGE_RENDERS,
    GAUGES
};

/* How a consult ended. */
enum outcome { OUTCOME_COMPLETED, OUTCOME_INTERRUPTED, OUTCOME_CLIENT_GONE, OUTCOME_ERROR, OUTCOMES };
const char *outcome_name(enum outcome outcome);

/* Why something attached did not go to the model, though the request did. */
enum not_passed { NOT_PASSED_UNKNOWN_TYPE, NOT_PASSED_NOT_IN_PARENT, NOT_PASSED_REASONS };
const char *not_passed_name(enum not_passed reason);

/* What became of files on their way to a provider's files API. */
enum upload_outcome { UPLOADS_MADE, UPLOADS_REUSED, UPLOADS_FAILED, UPLOADS_DELETED, UPLOAD_OUTCOMES };
/* Transcripts made by a provider. */
enum transcript_outcome { TRANSCRIPTS_MADE, TRANSCRIPTS_FAILED, TRANSCRIPT_OUTCOMES };
/* Events for the error sink. */
enum sink_outcome { SINK_SENT, SINK_FAILED, SINK_DROPPED, SINK_OUTCOMES };

struct histogram {
    _Atomic uint64_t buckets[METRICS_BUCKETS + 1];
    _Atomic uint64_t sum_us;
};

struct metrics_provider {
    char name[65], dialect[33];
    _Atomic uint64_t requests; /* that were no consults */
    _Atomic uint64_t consults[OUTCOMES];
    _Atomic uint64_t errors[ERROR_CODES];
    _Atomic uint64_t uploads[UPLOAD_OUTCOMES];
    _Atomic uint64_t transcripts[TRANSCRIPT_OUTCOMES];
    struct histogram duration, first_token;
};

struct metrics {
    struct metrics_provider providers[METRICS_PROVIDERS + 1]; /* the last one: no provider */
    size_t nproviders;
    struct histogram overhead;
    struct histogram render[METRICS_FORMATS]; /* by the place in metrics.c's list of formats */
    _Atomic uint64_t renders[RENDER_JOB_OUTCOMES];
    struct histogram convert[METRICS_CONVERSIONS]; /* likewise */
    _Atomic uint64_t conversions[RENDER_JOB_OUTCOMES];
    _Atomic uint64_t renderer_restarts, render_cache_hits;
    _Atomic uint64_t artifacts, artifact_bytes;
    _Atomic uint64_t attachments, attachment_bytes;
    _Atomic uint64_t not_passed[NOT_PASSED_REASONS];
    _Atomic uint64_t sink[SINK_OUTCOMES];
    _Atomic uint64_t flags[FLAGS];
    _Atomic uint64_t worker_restarts;
    _Atomic int64_t gauges[METRICS_WORKERS][GAUGES];
    int64_t started_ms;
};

/* Shared anonymous memory; NULL: none to be had. */
struct metrics *metrics_create(const struct config *c) MUST_USE;
/* The provider's place; NULL: that of no provider. */
struct metrics_provider *metrics_provider(struct metrics *m, const struct config_provider *p);
void metrics_error(struct metrics *m, const struct config_provider *p, enum error_code code);
void metrics_observe(struct histogram *h, int64_t us);
/* A rendering that has ended, and how long its process lived. */
void metrics_render(struct metrics *m, const char *format, enum render_job_outcome outcome, int64_t us);
/* Likewise the conversion of a document to text. `format` with its prefix (attachments/extract.h). */
void metrics_convert(struct metrics *m, const char *format, enum render_job_outcome outcome, int64_t us);
void metrics_gauge_add(struct metrics *m, unsigned worker, enum metrics_gauge gauge, int64_t by);
void metrics_gauge_set(struct metrics *m, unsigned worker, enum metrics_gauge gauge, int64_t value);
/* After a worker died: its gauges are nobody's. */
void metrics_clear_worker(struct metrics *m, unsigned worker);
/* The Prometheus text format, version 0.0.4. */
void metrics_print(const struct metrics *m, struct buf *out);

#endif
