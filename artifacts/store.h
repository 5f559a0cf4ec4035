#ifndef ARTIFACTS_STORE_H
#define ARTIFACTS_STORE_H
/*
 * Where artifacts lie. store.c knows what is kept under which key and what the records of it say; a backend
 * only keeps bytes under keys. Keys are paths of safe components ("orgs/acme/hwc-…/outbound/a.txt",
 * "files/ab/file-hw-….json").
 *
 * All functions may be called from any thread and by several processes on one store.
 */
#include <pthread.h>

#include "artifacts/artifact.h"

enum { STORE_SECRET = 32, STORE_KEY = 256, STORE_RECORD = 64 * 1024, STORE_MANIFEST = 1024 * 1024 };

struct store_ops {
    const char *name;
    /* Whole or not at all, and durable when it answers 0. */
    int (*put)(void *backend, const char *key, struct span bytes);
    /* Likewise whole or not at all, and there for every process when it answers 0; but it may be gone after a
     * power cut. NULL: the backend has nothing cheaper than put. */
    int (*put_soon)(void *backend, const char *key, struct span bytes);
    /* Appends the object; -1: none, or larger than the buffer's cap. */
    int (*get)(void *backend, const char *key, struct buf *out);
    /* A descriptor to read from, which the caller closes; -1. */
    int (*open)(void *backend, const char *key);
    bool (*exists)(void *backend, const char *key);
    /* 0 also when there was none. */
    int (*remove)(void *backend, const char *key);
    /* One writer at a time for what lies under the key; answers a token for unlock, or -1. */
    int (*lock)(void *backend, const char *key);
    void (*unlock)(void *backend, int token);
    /* Likewise where something lies under the key already; -1 also when nothing does. */
    int (*lock_found)(void *backend, const char *key);
    /* Bounded; goes on where the last call stopped. Calls `record` with the id of every record that may be
     * due, and `workspace` for every workspace that was not changed for `retention_s`; these remove what is.
     * Removes what lies in inbound/ when nothing was added to it for `inbound_s`. One call at a time. */
    void (*sweep)(void *backend, int64_t now_s, int64_t retention_s, int64_t inbound_s,
                  void (*record)(void *arg, struct span id),
                  void (*workspace)(void *arg, const char *org, const char *consult), void *arg);
    /* Removes what is left of a consult's workspace. */
    void (*drop)(void *backend, const char *org, const char *consult);
    void (*close)(void *backend);
};

struct store {
    const struct store_ops *ops;
    void *backend;
    unsigned char secret[STORE_SECRET];
    int64_t retention_s, link_ttl_s, inbound_ttl_s;
    char *public_url; /* without a slash at the end */
    pthread_mutex_t sweeping;
};

extern const struct store_ops store_file_ops;
/* The backend of store_file_ops; reads the secret or makes it. */
void *store_file_open(const char *state_dir, unsigned char secret[STORE_SECRET], struct error *e) MUST_USE;

/* ---- store.c ---- */

/* ops->put_soon, or put where there is none. */
int store_put_soon(struct store *s, const char *key, struct span bytes) MUST_USE;

bool store_org_valid(const char *org);
bool store_consult_valid(const char *consult);
bool store_id_valid(struct span id);
/* "orgs/<org>/<consult>/<rest>". -1: a part is not valid or it is too long. */
int store_workspace_key(const char *org, const char *consult, const char *rest, char out[STORE_KEY]) MUST_USE;
/* Stores the bytes under outbound/<filename> and then the record. Fills nothing in. */
int store_put_artifact(struct store *s, const struct artifact *a, struct span bytes) MUST_USE;

/* ---- known.c ---- */

/* The id of the note on a directive of that text and owner; `again` counts equal ones of one reply, from 0.
 */
void store_known_id(const struct store *s, const struct owner *owner, struct span text, unsigned again,
                    char out[ARTIFACT_ID]);
int store_put_known(struct store *s, const char *known, const struct artifact *a) MUST_USE;
/* The id of the artifact that was made of it, which may be gone; -1: nothing is known. */
int store_find_known(struct store *s, const char *known, char artifact[ARTIFACT_ID]) MUST_USE;
/* Removes the note under that id if there is one and it has expired. */
void store_sweep_known(struct store *s, struct span known, int64_t now_s);

#endif
