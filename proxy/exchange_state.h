#ifndef PROXY_EXCHANGE_STATE_H
#define PROXY_EXCHANGE_STATE_H
/*
 * What an exchange knows, for the files that make one up: exchange.c (life and states), request.c (what goes
 * upstream), relay.c (what comes back), files.c (Penstock's own files), audit.c (the record). Nobody else
 * includes this.
 *
 *             +--> LOCAL ------------------------------------------+
 *             |    a file is looked for                            |
 *   NEW ------+--> COLLECT ----> SEND ----> RELAY ----> SETTLE ----+--> OVER
 *             |    body of a  |  ^          reply       directives |
 *             |    consult    |  | reply's  flows       are being  |
 *             |               v  | head is              stored ----+
 *             |            ATTACH  awaited
 *             |            attachments  ^
 *             |            are prepared |
 *             +-- (no consult) ---------+
 *
 * exchange_enter is the only writer of `state` and knows which ways there are. RELAY goes to OVER directly
 * when nothing is to be settled. The client may leave in any state; in SETTLE nobody may be left to wait, but
 * files and record are still finished.
 */
#include <stdint.h>

#include "attachments/attachment.h"
#include "filters/reply.h"
#include "net/decode.h"
#include "providers/dialect.h"
#include "proxy/caller.h"
#include "proxy/conn.h"
#include "proxy/exchange.h"
#include "proxy/route.h"

enum exchange_state {
    EX_NEW,
    EX_LOCAL,
    EX_COLLECT,
    EX_ATTACH,
    EX_SEND,
    EX_RELAY,
    EX_SETTLE,
    EX_OVER,
    EX_STATES
};

/* How the reply's end is told to the client. */
enum body_framing { BODY_NONE, BODY_LENGTH, BODY_CHUNKED, BODY_CLOSE };

/* What is done with the reply. */
enum treatment { TREAT_PASS, TREAT_STREAM, TREAT_WHOLE };

/* Files of one consult; shared with the jobs that work on them. Only the disk thread looks inside
 * `workspace`. */
struct consult_files {
    unsigned refs; /* loop only */
    struct store *store;
    struct owner owner;
    char consult[CONSULT_ID];
    bool image_generation;
    bool remember, recall; /* as in workspace_know */
    struct workspace *workspace;
};

struct body_read; /* proxy/body_read.h */

struct exchange {
    struct worker *worker;
    struct conn *conn; /* NULL: the client has gone, or has its whole reply */
    struct config *config;
    enum exchange_state state;
    const struct config_provider *provider;
    enum api api;
    const struct dialect *dialect;
    struct http_call *call;
    struct dial_target target;
    struct exchange *prev, *next;

    /* request */
    bool consult;   /* its reply is filtered, and it is recorded */
    bool tentative; /* whether it is a consult is told by its body (consults: marked) */
    bool stored;    /* a stored reply is fetched again */
    bool head_method, wants_stream, request_chunked;
    bool kept;              /* the provider keeps the reply, so that it can be fetched again */
    bool protocol_added[2]; /* without, with image generation */
    unsigned choices;
    struct caller caller;
    char consult_id[CONSULT_ID];
    struct owner owner; /* its key is filled in by exchange_owner */
    char *api_key;      /* the caller's, as sent; NULL: none. Never logged; wiped at the end */
    char *model;
    struct exchange_thread *thread; /* proxy/thread.h; NULL: it is not recorded in one */
    struct buf request;             /* forwarded head without framing */
    struct buf body;                /* a consult's body as it arrived */
    struct buf trailers;

    /* reply */
    enum treatment treatment;
    enum body_framing framing;
    enum reply_framing events; /* how the provider frames its events */
    int status;
    struct buf head; /* the reply's head until it is sent */
    bool head_sent, upstream_ended, upstream_clean, waiting, draining;
    bool unseen; /* no visible byte of a reply that is to be taken whole has come yet */
    struct reply *reply;
    struct decoder *decoder;
    bool decoder_more;
    size_t decoded;        /* bytes that the decoder gave in this loop turn */
    bool stalled;          /* it gave enough for one: the rest has its turn when the client has room */
    struct event *turn;    /* NULL: was never needed */
    struct buf stash;      /* body bytes that came while the reply waited or was stalled */
    struct error *failure; /* why it failed, or why the upstream ended when not clean; NULL: neither */
    struct consult_files *files;
    unsigned jobs; /* of this exchange, in the disk queue */
    struct artifact_job *job_list;
    struct attach_job *attach; /* under way in ATTACH; NULL: none */
    struct buf artifacts;      /* for the record: entries, comma separated */
    struct buf reasons;        /* for the record */
    struct buf attachments;    /* for the record: a JSON array, or empty */
    struct buf not_passed;     /* for the record: entries, comma separated */

    /* time: monotonic, in milliseconds where not said otherwise */
    int64_t deadline_ms, last_sent_ms, wait_since_ms, drain_until_ms;
    bool observed;       /* it is answered, counted and logged */
    int64_t duration_us; /* until then */
    int64_t began_us, body_end_us, first_byte_us, overhead_us, began_wall_ms;
    uint64_t bytes_in, bytes_out, drained;
    enum outcome outcome;
    enum error_code error; /* of our own, for the record */
};

/* ---- exchange.c ---- */
void exchange_enter(struct exchange *ex, enum exchange_state state);
/* Answers with an error of Penstock's own, as far as that is still possible, and ends the exchange. */
void exchange_fail(struct exchange *ex, const struct error *e);
/* Counts and reports an error of Penstock's own. */
void exchange_note_error(struct exchange *ex, const struct error *e);
/* Copies it to ex->failure. */
void exchange_keep_failure(struct exchange *ex, const struct error *e);
/* The client has all it will get. Ends the exchange, after what must be settled. */
void exchange_answered(struct exchange *ex);
/* Ends it when nothing is left to do. */
void exchange_try_over(struct exchange *ex);
/* Gives a consult its id, and takes it from what turns out to be none. */
void exchange_name_consult(struct exchange *ex);
void exchange_set_org(struct exchange *ex, const char *org);
/* Whose the consult is, with the key's digest, which few exchanges need. */
const struct owner *exchange_owner(struct exchange *ex);
/* Which model was asked, for the record. An empty name says nothing. */
void exchange_note_model(struct exchange *ex, struct span model);
/* Whether format image is on for the consult's organisation (product.md §2.4). */
bool exchange_makes_images(const struct exchange *ex);
bool exchange_error_shape(const struct exchange *ex, const struct error *e, struct buf *out);

/* ---- request.c ---- */
/* Starts to relay it as it comes, or to collect a consult's body. */
void request_begin(struct exchange *ex, const struct http_head *head, const struct route *route,
                   bool body_follows);
/* What was unsent has gone upstream. */
void request_room(struct exchange *ex);
/* What the body says is known: goes on with it. Takes over what it needs of `r`; *r stays the caller's. */
void request_body_known(struct exchange *ex, struct body_read *r);
/* The head as it goes upstream, with a body of that length. Any thread. */
void request_head(struct span head, bool consult, size_t length, struct buf *out);
/* Sends the request: bytes, which are taken over, or what is lent; the other is NULL. */
void request_send(struct exchange *ex, struct buf *bytes, const struct http_loan *loan);

/* ---- attach.c ---- */
/*
 * Off the loop: reads what the caller attached and what it wants forwarded, adds it to the request, composes
 * that, and then sends it or fails the exchange. For requests with something of either, and for those that
 * are too long to be composed on the loop. Takes over list, edits and their room.
 */
void attach_start(struct exchange *ex, struct body_read *r, struct buf *room);
/* The client has gone: nothing is made ready for it any more. May end the exchange. */
void attach_stop(struct exchange *ex);
/* Notes for the record what was declared when that is refused. */
void attach_note(struct exchange *ex, const struct attachments *list, const struct error *e);

/* ---- relay.c ---- */
extern const struct http_call_sink relay_sink;
/* All directives are settled. */
void relay_settled(struct exchange *ex);
/* Room again at the client. */
void relay_room(struct exchange *ex);
void relay_tick(struct exchange *ex, int64_t now_ms);
/* What the client gets when the upstream failed after the reply's head was sent. */
void relay_cut(struct exchange *ex, const struct error *e);

/* ---- artifacts_job.c ---- */
/* For struct reply_callbacks. */
void artifact_job_start(void *arg, unsigned number, struct buf *text, enum flag refused);
/* Nothing more of the reply comes before its directives are settled: what waits for a picture waits for those
 * at work alone. */
void artifact_jobs_text_over(struct exchange *ex);
/* Ends what takes too long of calls to others. */
void artifact_jobs_tick(struct exchange *ex, int64_t now_ms);
/* Settles what is not done with `render_timeout`; its jobs go on alone, its calls to others end. */
void artifact_jobs_expire(struct exchange *ex);
/* The worker ends: no call to others goes on. */
void artifact_jobs_give_up(struct exchange *ex);
/* The exchange ends: jobs that still run no longer know it. */
void artifact_jobs_forget(struct exchange *ex);
void consult_files_unref(struct worker *w, struct consult_files *f);

/* ---- files.c ---- */
/* Whether the request is for one of Penstock's own files; then it is taken. */
bool files_request(struct exchange *ex, const struct http_head *head, const struct route *route);

/* ---- audit.c ---- */
/* Counts and logs a consult that is answered; the second call does nothing. */
void audit_observe(struct exchange *ex);
/* Writes its record, when nothing of it is under way any more. */
void audit_write(struct exchange *ex);

#endif
