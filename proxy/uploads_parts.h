#ifndef PROXY_UPLOADS_PARTS_H
#define PROXY_UPLOADS_PARTS_H
/* What the files of proxy/uploads.h share. Everything is on the loop but upload_job's work. */
#include "artifacts/artifact.h"
#include "base/buf.h"
#include "proxy/side_call.h"
#include "proxy/uploads.h"

enum {
    UPLOAD_ANSWER = 1024 * 1024,
    UPLOAD_TEXT = 32 * 1024 * 1024, /* of a document; that it is too long is found when it is counted */
    UPLOAD_POLL_MS = 500,
    UPLOAD_BUSY_MS = 200,
    UPLOAD_GRACE_MS = 5 * 60 * 1000, /* at most, between the last use and the deletion: requests under way */
    UPLOAD_AGAIN_MS = 5 * 60 * 1000,
    UPLOAD_TRIES = 3,
    UPLOAD_DUE = 8,
    UPLOAD_DELETIONS = 10000 /* that one process sees to */
};

struct upload_wait {
    struct upload_wait *next;
    struct upload *upload;
    struct upload_file file;
    const char *consult;
    bool joined; /* an upload that another request had begun */
    uploads_done done;
    void *arg;
};

/* Who pays, for one upload or one deletion. */
struct upload_account {
    struct config *config;
    const struct config_provider *provider;
    bool own_key;
    struct buf lines;
    char *key;
};

/*
 *   TAKE --found--------------------------------+
 *    | ^ busy, a while later                    v
 *    | +---<                      +--> [CONTENT] --> over
 *    +--claimed--> SEND --> [DATA] --> [STATE …] --+
 *
 * `call`, `timer` or `jobs` says what is waited for.
 */
struct upload {
    struct uploads *owner;
    struct upload *next;
    struct upload_wait *waits;
    struct upload_account account;
    struct upload_row row;
    struct side_call *call;
    struct event *timer;
    void (*later)(struct upload *); /* what the timer is for */
    unsigned jobs;                  /* of its own, under way */
    int64_t began_ms, until_ms;     /* monotonic */
    int64_t bytes;
    bool text, claimed, reused, again, ending;
    char media_type[96];
};

/* A file that is to be deleted. */
struct upload_deletion {
    struct uploads *owner;
    struct upload_deletion *next;
    struct upload_account account;
    struct upload_row row;
    struct side_call *call;
    unsigned tries;
};

struct uploads {
    struct event_base *base;
    struct http_client *client;
    struct job_queue *queue;
    struct upload_store *records;
    const struct store *store;
    struct metrics *metrics;
    struct upload *list;
    struct upload_deletion *deletions;
    size_t ndeletions;
    bool stopped;
};

enum upload_job_kind { UPLOAD_TAKE, UPLOAD_PUT, UPLOAD_DROP };

struct upload_job {
    struct job job; /* first: the queue gives this back */
    struct uploads *owner;
    struct upload *upload; /* of UPLOAD_TAKE */
    enum upload_job_kind kind;
    struct upload_row row;
    int64_t now_ms, claim_ms;
    enum upload_found found;
    struct upload_row due[UPLOAD_DUE];
    int ndue;
};

/* ---- uploads.c ---- */

/* Who pays: a reference to the configuration, and copies. */
void uploads_account_copy(struct upload_account *a, struct config *config,
                          const struct config_provider *provider, bool own_key, struct span lines,
                          const char *key);
void uploads_account_finish(struct upload_account *a);

/* ---- uploads_job.c: rows, on the records' thread ---- */

/* -1: the queue is full, or the process ends. `upload`: of UPLOAD_TAKE. */
int uploads_job_submit(struct uploads *u, enum upload_job_kind kind, const struct upload_row *row,
                       struct upload *upload);
/* Likewise, when nobody waits for it. */
void uploads_job_note(struct uploads *u, enum upload_job_kind kind, const struct upload_row *row);

/* ---- uploads_call.c: what is asked of providers, and deletions ---- */

struct upload_request {
    enum upload_step step;
    struct span target; /* empty: as the step has it */
    size_t answer_most;
};

/* NULL: there is nothing to ask with or for. */
struct side_call *uploads_call(struct uploads *u, const struct upload_account *a,
                               const struct upload_row *row, const struct upload_file *file,
                               const struct upload_request *r, side_done done, void *arg);
/* When nobody has used it for its time. */
void uploads_delete_later(struct uploads *u, const struct upload_account *a, const struct upload_row *row);
void uploads_deletion_free(struct upload_deletion *d);

/* ---- uploads_steps.c: an upload from its beginning to its end ---- */

/* Asks the records whether the file is there, or may be sent. */
void uploads_take(struct upload *u);
/* What they said. */
void uploads_taken(struct upload_job *j);
/* Nobody may wait for it. */
void uploads_free(struct upload *u);

#endif
