#ifndef ARTIFACTS_UPLOAD_STORE_H
#define ARTIFACTS_UPLOAD_STORE_H
/*
 * Which files lie at a provider already: SQLite, under state_dir/uploads.db (WAL; several workers share it),
 * so that ids outlive the process. Blocking: used from the records thread only. Holds ids, digests and times,
 * never a key, a name or content. The key of a row is a digest over what makes an upload the same as another
 * one (provider, account, content, purpose); an account is a digest of the API key that pays.
 */
#include <stdint.h>

#include "base/error.h"

enum { UPLOAD_STORE_DIGEST = 65, UPLOAD_STORE_ID = 256, UPLOAD_STORE_URI = 1024, UPLOAD_STORE_PROVIDER = 65 };

struct upload_store;

struct upload_row {
    char key[UPLOAD_STORE_DIGEST];
    char provider[UPLOAD_STORE_PROVIDER], account[UPLOAD_STORE_DIGEST];
    char id[UPLOAD_STORE_ID], uri[UPLOAD_STORE_URI]; /* as providers/upload.h has them */
    int64_t good_until_ms;                           /* wall clock: may be used until then … */
    int64_t delete_ms;                               /* … and is to be deleted then */
};

enum upload_found {
    UPLOAD_STORE_FOUND,   /* the row is filled in */
    UPLOAD_STORE_CLAIMED, /* there is none that is good; the caller makes one, and others wait for it until
                             then */
    UPLOAD_STORE_BUSY,    /* another process is making it */
    UPLOAD_STORE_FAILED /* the database cannot be used: upload without remembering it; a log line says why */
};

struct upload_store *upload_store_open(const char *state_dir, struct error *e) MUST_USE;
void upload_store_close(struct upload_store *s);
/* Looks for row->key; row->provider and row->account must be filled in for a claim, which holds for
 * `claim_ms`. */
enum upload_found upload_store_take(struct upload_store *s, struct upload_row *row, int64_t now_ms,
                                    int64_t claim_ms) MUST_USE;
/* What came of a claim: the row as a whole. */
int upload_store_put(struct upload_store *s, const struct upload_row *row) MUST_USE;
/* The upload failed, or the file is gone. `id`: only a row with that id; empty: only a claim. */
int upload_store_drop(struct upload_store *s, const char *key, const char *id) MUST_USE;
/* Rows of that account which are due for deletion, at most `most`; each is given to one caller in `again_ms`.
 * Answers how many; -1. */
int upload_store_due(struct upload_store *s, const char *provider, const char *account, int64_t now_ms,
                     int64_t again_ms, struct upload_row *rows, size_t most) MUST_USE;
/* Forgets rows whose deletion was due before that time and did not come to pass: nobody has come with the
 * account's key. */
int upload_store_sweep(struct upload_store *s, int64_t before_ms) MUST_USE;

#endif
