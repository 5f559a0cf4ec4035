#ifndef ARTIFACTS_FILES_API_H
#define ARTIFACTS_FILES_API_H
/*
 * The Files API as clients know it (product.md §5.3): which paths are Penstock's own, the bodies in OpenAI's
 * and in Anthropic's shape, and the conditions and ranges of a download (RFC 9110, sections 13 and 14). Pure
 * functions.
 */
#include <stdint.h>

#include "artifacts/artifact.h"

enum files_shape { FILES_OPENAI, FILES_ANTHROPIC };

/* ---- paths ---- */

struct files_path {
    struct span id;
    bool content; /* …/content */
};

/*
 * /v1/files/{id}, /v1/files/{id}/content, /v1/containers/{c}/files/{id}, …/content, each with anything before
 * /v1 (a provider's prefix). false: another path, or an id that does not begin with "file-hw-". The id is not
 * checked further (store_find does). `path` has no query.
 */
bool files_path_parse(struct span path, struct files_path *out);

/* ---- bodies ---- */

void files_object(enum files_shape shape, const struct artifact *a, struct buf *out);
void files_deleted(enum files_shape shape, struct span id, struct buf *out);
/* A list of n files; `more`: there are others behind them. */
void files_list(enum files_shape shape, const struct artifact *list, size_t n, bool more, struct buf *out);

/* ---- downloads ---- */

/* The values of a request's fields; empty when absent. */
struct files_conditions {
    struct span range, if_range, if_match, if_none_match, if_modified_since, if_unmodified_since;
};

enum files_status {
    FILES_OK = 200,
    FILES_PARTIAL = 206,
    FILES_NOT_MODIFIED = 304,
    FILES_PRECONDITION = 412,
    FILES_RANGE = 416
};

struct files_answer {
    enum files_status status;
    uint64_t from, n; /* the bytes to send; n = 0 for a status without a body */
};

/* What a GET or HEAD of the content is answered with. Several ranges in one request are answered with the
 * whole. */
struct files_answer files_decide(const struct artifact *a, const struct files_conditions *c);
/* The quoted entity tag, from the digest. */
void files_etag(const struct artifact *a, struct buf *out);
/* "Sun, 06 Nov 1994 08:49:37 GMT" */
void files_http_date(int64_t seconds, struct buf *out);
/* Content-Range's value for FILES_PARTIAL and FILES_RANGE. */
void files_content_range(const struct artifact *a, const struct files_answer *answer, struct buf *out);

#endif
