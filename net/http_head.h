#ifndef NET_HTTP_HEAD_H
#define NET_HTTP_HEAD_H
/*
 * Heads of HTTP/1 messages, checked strictly before anything is believed (product.md §8; RFC 9112): what two
 * implementations could read in two ways is refused. Pure; spans point into the bytes that were parsed.
 */
#include <stdint.h>
#include <sys/types.h>

#include "base/buf.h"
#include "base/error.h"
#include "base/limits.h"
#include "base/span.h"

struct http_field {
    struct span name, value; /* value without white space around it */
};

struct http_head {
    struct span method, target; /* of a request */
    int status;                 /* of a reply */
    struct span reason;
    int minor; /* HTTP/1.minor */
    bool chunked;
    bool has_length;
    uint64_t length;
    bool keep_alive; /* the connection may be used again afterwards */
    bool connection; /* a Connection field names more than close or keep-alive */
    size_t n;
    struct http_field fields[LIMIT_HTTP_FIELDS];
};

/*
 * Length of the head at the start of `bytes`, its empty line included; 0: not complete; -1: a bare CR or LF,
 * or over LIMIT_HTTP_HEAD. *scanned remembers where to go on when more bytes have come; start with 0.
 */
ssize_t http_head_length(struct span bytes, size_t *scanned) MUST_USE;

/* The rules that the parser behind (llhttp) does not enforce: a field name that is no token, an obsolete
 * fold, control characters, a missing or second Host (requests), two lengths, a length beside a transfer
 * coding, a coding other than chunked, the method CONNECT (what follows it is no HTTP). -1 with *e
 * (BAD_REQUEST). Fills in everything of `out` but keep_alive.
 */
int http_head_read(struct span head, bool request, struct http_head *out, struct error *e) MUST_USE;
/* The fields behind a chunked body, their empty line included, by the same rules: into out->fields. */
int http_head_read_trailers(struct span section, struct http_head *out, struct error *e) MUST_USE;

/* The first field of that name; NULL. */
const struct http_field *http_head_find(const struct http_head *h, const char *name);
/* Appends all content codings, in the order in which they were applied; several fields make one list (RFC
 * 9110 §5.3). */
void http_head_codings(const struct http_head *h, struct buf *out);
/* Whether a comma-separated field (Connection …) holds that token, over all its lines. */
bool http_head_has_token(const struct http_head *h, const char *name, const char *token);
/* Hop-by-hop fields (RFC 9110 §7.6.1) and those that Connection names: not to be forwarded. */
bool http_head_is_hop(const struct http_head *h, struct span name);

#endif
