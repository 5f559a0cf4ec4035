#ifndef PROXY_WORKER_H
#define PROXY_WORKER_H
/*
 * One event loop and all that its connections share. A worker process has exactly one; nothing in it is
 * shared with another worker but the stores and the metrics page. Everything here runs on the loop's thread.
 */
#include <event2/event.h>
#include <event2/event_struct.h>

#include "artifacts/artifact.h"
#include "artifacts/records.h"
#include "base/buf.h"
#include "config/config.h"
#include "jobs/job.h"
#include "net/dial.h"
#include "net/http_client.h"
#include "net/tls.h"
#include "proxy/metrics.h"

struct conn;
struct exchange;
struct audit_batch;
struct render_address;
struct render_cache;
struct render_pool;
struct sentry;
struct upload_store;
struct uploads;

/* Room in front of what one read produces, for the length line of a chunk. */
enum { CHUNK_ROOM = 16 };

/* A listening socket as a worker sees it. */
struct worker_listener {
    struct worker *worker;
    struct event on_accept;
    int fd;
    bool admin, proxy_protocol;
    SSL_CTX *tls;
};

/* A thread each, so that none of these waits for another. */
enum queue {
    QUEUE_BODIES,   /* long requests on their way: their clients wait */
    QUEUE_DISK,     /* files: the store, and what is attached */
    QUEUE_AUDIT,    /* records */
    QUEUE_JOURNALS, /* of threads */
    QUEUES
};

struct worker_queue {
    struct job_queue *jobs;
    struct event done; /* some of them are */
};

struct worker {
    unsigned index;
    struct event_base *base;
    struct config *config;
    struct dialer *dialer;
    struct http_client *client;
    struct worker_queue queues[QUEUES];
    struct audit_batch *audit_batch; /* records on their way to the audit thread; NULL: none */
    struct render_pool *renders;
    struct render_cache *render_cache;
    struct rendered rendered; /* what it makes; as at the start */
    struct buf logo;
    struct store *store;
    struct records *records;
    struct upload_store *upload_store;
    struct uploads *uploads;
    struct sentry *sentry;   /* NULL: there is no error sink */
    struct threads *threads; /* artifacts/threads.h */
    struct metrics *metrics;
    struct worker_listener *listeners;
    size_t nlisteners;
    char *read_room;    /* LIMIT_READ bytes, for the length of one read */
    struct buf out;     /* what one read produces for a client, behind CHUNK_ROOM; empty between callbacks */
    struct buf decoded; /* likewise, for encoded replies */
    struct http_head head;  /* likewise, for requests */
    struct buf protocol[2]; /* the attachment protocol without and with image generation, escaped for a JSON
                               string */
    struct conn *conns;     /* all client connections */
    size_t nconns;
    uint64_t conn_number; /* of the last one accepted */
    struct exchange *exchanges;
    struct conn *dead_conns; /* freed after the loop turn */
    struct exchange *dead_exchanges;
    struct random_pool random;
    struct event reap, sweep, render_done, terminate, child_gone;
    int64_t next_store_sweep_ms;
    int64_t now_ms;       /* monotonic, as of the last sweep: for deadlines that may be a sweep late */
    bool draining, ended; /* ended: the loop has ended */
    int64_t drain_until_ms;
};

/* Runs until it is told to end; the process's exit status. Takes over a reference to the configuration.
 * `fds`: one listening socket a configured listener, then the admin socket (-1: none). `tls`: of
 * listen_open_tls. `renderers`: where penstock-worker listens. `ready` (-1: nobody asks) gets a byte when all
 * is opened and connections are taken, and is closed. */
int worker_run(unsigned index, struct config *config, const int *fds, SSL_CTX *const *tls,
               struct metrics *metrics, const struct render_address *renderers, int ready);
/* Empties the shared output room, leaving room for a chunk's length line in front of what comes next. */
void worker_out_reset(struct buf *out);
/* Frees what has died after this loop turn. */
void worker_reap_later(struct worker *w);
/* Ends the loop when it is draining and nothing is left. */
void worker_check_drained(struct worker *w);

#endif
