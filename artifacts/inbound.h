#ifndef ARTIFACTS_INBOUND_H
#define ARTIFACTS_INBOUND_H
/*
 * What a caller attached to a consult, kept in the consult's workspace for a while, byte for byte, so that
 * consults which it starts may be given the same (product.md §6, "Forwarding to a Specialist"):
 *   orgs/<org>/<consult>/inbound/<nn>   a file's bytes, or the JSON text of a content item
 *   …/manifest.json                     under `inbound`, what each is, and until when it may be had
 * Kept for processes, not for power cuts: a copy that a crash of the machine takes is as one that has
 * expired. Blocking; runs in a job's thread.
 */
#include "artifacts/artifact.h"

/* One that is to be kept; a NULL or an empty span is not said. */
struct inbound_item {
    const char *name, *path, *type; /* type: of a content item */
    const char *media_type, *sha256;
    bool native;
    struct span bytes;
};

/*
 * Before anybody can know of the consult: from now on inbound_find, in any process, waits for inbound_keep.
 * Answers a token, -1 when there is no such lock to be had (and then nobody waits). Organisation and consult
 * are those of the consult itself.
 */
int inbound_begin(struct store *s, const char *org, const char *consult);
/* Gives the token back, whether all is kept or not. -1 with a log line: not all of them are. */
int inbound_keep(struct store *s, int token, const char *org, const char *consult,
                 const struct inbound_item *items, size_t n, int64_t until_s) MUST_USE;
/* Gives the token back: nothing will be kept. -1 is fine. */
void inbound_give_up(struct store *s, int token);

enum inbound_found {
    INBOUND_NONE,    /* nothing is known of that consult in that organisation, or it had no attachments */
    INBOUND_EXPIRED, /* it had some, but they are kept no longer */
    INBOUND_THERE
};
/*
 * Calls `each` for what the consult came with, in the order of the request; `key` is for inbound_read and
 * valid during the call, as the item is (its bytes are not set). Stops when `each` answers -1. The consult's
 * id may be any string.
 */
enum inbound_found inbound_find(struct store *s, const char *org, const char *consult, int64_t now_s,
                                int (*each)(void *arg, const struct inbound_item *item, const char *key),
                                void *arg) MUST_USE;
/* Appends the bytes; -1: they are gone, or larger than the buffer's cap. */
int inbound_read(struct store *s, const char *key, struct buf *out) MUST_USE;

#endif
