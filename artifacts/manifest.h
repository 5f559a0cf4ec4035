#ifndef ARTIFACTS_MANIFEST_H
#define ARTIFACTS_MANIFEST_H
/*
 * A workspace's manifest.json: one object with what the caller attached (`inbound`), what was made of the
 * reply
 * (`outbound`) and what could not be (`quarantine`). Several processes change it, each under the workspace's
 * lock. Beside the store; from any thread that may wait for a disk.
 */
#include "artifacts/store.h"

struct json_t;

/* The key under which a workspace is locked; -1: no such names. */
int manifest_lock_key(const char *org, const char *consult, char out[STORE_KEY]) MUST_USE;
/* The whole of it, which the caller releases with json_decref; NULL: there is none that can be read. By
 * whoever holds the lock. */
struct json_t *manifest_read(struct store *s, const char *org, const char *consult) MUST_USE;
/* Reads, changes and writes it under the lock, durably; begins one where there is none that can be read. */
int manifest_change(struct store *s, const char *org, const char *consult,
                    void (*change)(struct json_t *manifest, void *arg), void *arg) MUST_USE;
/* Likewise, with put_soon; by whoever holds the lock already. */
int manifest_change_soon(struct store *s, const char *org, const char *consult,
                         void (*change)(struct json_t *manifest, void *arg), void *arg) MUST_USE;
/* Marks an artifact as deleted. */
int manifest_mark_deleted(struct store *s, const struct artifact *a) MUST_USE;

#endif
