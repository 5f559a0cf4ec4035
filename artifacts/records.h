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
    const char *id, *org, *thread, *turn, *parent; /* empty when not said */
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
    const char *reason;    /* flags as in the reply, or empty */
    const char *artifacts; /* JSON array text: id, filename, media_type, bytes, sha256 */
    const char
        *attachments; /* JSON array text: name or path, media_type, bytes, sha256, handling, decision */
    const char *attachments_not_passed; /* JSON array text: type or name, reason */
};

struct records *records_open(const char *state_dir, struct error *e) MUST_USE;
void records_close(struct records *r);
/* All of them in one transaction: a commit costs far more than a row. -1: none of them is there. */
int records_add(struct records *r, const struct consult_record *list, size_t n) MUST_USE;
/* Newest first, by the time that the ids begin with. Appends {"data":[…],"has_more":…}; `org` and `id` may be
 * empty (all), limit 1..1000, `before_ms` 0 for now. */
int records_list(struct records *r, const char *org, const char *id, int64_t before_ms, int limit,
                 struct buf *out) MUST_USE;
/* Removes what is older. */
int records_sweep(struct records *r, int64_t before_ms) MUST_USE;

#endif
