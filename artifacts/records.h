#ifndef ARTIFACTS_RECORDS_H
#define ARTIFACTS_RECORDS_H
/*
 * The audit: one record a consult, in SQLite under state_dir/records.db (WAL; several workers may write).
 * Blocking: used from the records thread only. Holds facts, never content or keys.
 */
#include <stdint.h>

#include "base/buf.h"
#include "base/error.h"

struct records;

struct consult_record {
    const char *id, *org, *thread, *turn, *parent; /* NULL or empty when not said */
    const char *provider, *api, *model;
    int64_t started_ms; /* wall clock */
    int64_t duration_ms;
    int64_t first_byte_ms; /* from the request's end to the reply's first byte; -1: none */
    int status;            /* sent to the client */
    const char *outcome;   /* completed | interrupted | client_gone | error */
    const char *error;     /* code of our own error, or empty */
    bool streamed;
    uint64_t bytes_in, bytes_out;
    unsigned directives;
    struct span reason; /* flags as in the reply */
    /* JSON objects, comma separated; may be empty. */
    struct span artifacts;              /* id, filename, media_type, bytes, sha256 */
    struct span attachments;            /* name or path, media_type, bytes, sha256, handling, decision */
    struct span attachments_not_passed; /* type or name, reason */
};

/* A record as it is kept: its text, and what it is found by. */
struct record_row {
    const char *id, *org;
    int64_t started_ms; /* for an id that does not begin with a time */
    struct span text;   /* from record_write */
};

/* Appends the record's text, a JSON object. -1: over the buffer's cap; then nothing was appended. Pure. */
int record_write(const struct consult_record *c, struct buf *out) MUST_USE;

struct records *records_open(const char *state_dir, struct error *e) MUST_USE;
void records_close(struct records *r);
/* All of them in one transaction: a commit costs far more than a row. -1: none of them is there. */
int records_add(struct records *r, const struct record_row *rows, size_t n) MUST_USE;
/* Newest first, by the time that the ids begin with. Appends {"data":[…],"has_more":…}; `org` and `id` may be
 * empty (all), limit 1..1000, `before_ms` 0 for now. */
int records_list(struct records *r, const char *org, const char *id, int64_t before_ms, int limit,
                 struct buf *out) MUST_USE;
/* Removes what is older. */
int records_sweep(struct records *r, int64_t before_ms) MUST_USE;

#endif
