#ifndef PROXY_UPLOADS_H
#define PROXY_UPLOADS_H
/*
 * Files that go to a model by way of an upload to its provider (product.md §6): once per content, account and
 * provider, the id reused until `timeouts.upload_ttl` has passed, and the file deleted afterwards. One a
 * worker, on its loop. Requests for the same file share one upload, those of other workers wait for it
 * (upload_store.h); ids outlive the process.
 *
 * An account is the header lines with which the request itself is paid for; they are held in memory while a
 * file waits for its deletion, and are never stored: what a process did not delete is deleted when the next
 * request of the same account comes, or by the provider.
 */
#include <event2/event.h>

#include "artifacts/upload_store.h"
#include "config/config.h"
#include "jobs/job.h"
#include "net/http_client.h"
#include "providers/upload.h"
#include "proxy/metrics.h"

struct uploads;
struct upload_wait;
struct store;

struct upload_wanted {
    struct config *config; /* of which the provider is; a reference is held as long as needed */
    const struct config_provider *provider;
    bool own_key;            /* the account's key is Penstock's own, not the caller's */
    struct span account;     /* header lines; copied */
    const char *key;         /* the key in them, which no message may show; NULL. Copied */
    const char *consult;     /* for log lines; outlives the wait */
    const char *sha256;      /* of the bytes, as hexadecimal digits; copied */
    bool text;               /* the text that the provider makes of it is wanted */
    struct upload_file file; /* its spans must outlive the wait */
};

struct upload_result {
    const struct error *failed; /* NULL: it is there. Else its message is a clause that begins with the
                                   provider's name; whoever shows it says which attachment is meant */
    bool reused;                /* no bytes went out for this request */
    struct span uri;            /* what a request names it by; valid during the call */
    struct span text;           /* as wanted; valid during the call */
};

/* Once, never from inside uploads_want; the wait is gone afterwards. */
typedef void (*uploads_done)(void *arg, const struct upload_result *result);

/* `store` keeps the secret that accounts are hashed with, `records` the rows (NULL: nothing is remembered),
 * which are asked for on `queue`. All outlive it. */
struct uploads *uploads_create(struct event_base *base, struct http_client *client, struct job_queue *queue,
                               struct upload_store *records, const struct store *store,
                               struct metrics *metrics) MUST_USE;
/* The process ends: nothing goes to the queue any more, which can be ended then. NULL is fine. */
void uploads_stop(struct uploads *u);
/* Cancels what goes on; its queue must have ended. No wait may be left. NULL is fine. */
void uploads_destroy(struct uploads *u);
/* NULL with *e: OVERLOADED. */
struct upload_wait *uploads_want(struct uploads *u, const struct upload_wanted *wanted, uploads_done done,
                                 void *arg, struct error *e) MUST_USE;
/* No callback comes any more. An upload that has begun goes on to its end, for the next one who asks. */
void uploads_leave(struct upload_wait *wait);
/* Deletes what is due; call about once a second. `now_ms` is the wall clock. */
void uploads_tick(struct uploads *u, int64_t now_ms);

#endif
