#ifndef PROXY_ATTACH_JOB_H
#define PROXY_ATTACH_JOB_H
/*
 * Attachments on their way into the request (product.md §6), for the files that do it: attach.c (stages and
 * ends), attach_forward.c (a parent's), attach_prepare.c (conversions), attach_provider.c (what providers
 * make ready), attach_place.c (placing, and what is kept). The job owns the request's body meanwhile, since
 * everything points into it; nothing of the exchange is touched in the thread. A long request takes the same
 * way without attachments, so that no loop turn is spent on its many bytes, which are
 * never copied: pieces of what came and of what is added go upstream from where they are.
 *
 *   RESOLVE (thread)        what is forwarded, reading, decoding, sniffing, hashing; documents for conversion
 *      |
 *   PREPARE (loop)          conversions, all at once, each a `preparation`; the first that fails ends all
 *      |
 *   PLACE (thread)          texts are read and counted, everything is placed, the request is made of pieces
 *      |
 *    sent (loop)            or failed at any stage; a client that leaves ends PREPARE at once
 *      |
 *   KEEP (thread)           when there were any: while the provider works: digests for the record, originals
 *                         for consults that this one may start, which wait for it (artifacts/inbound.h)
 *      |
 *   FREE (thread)           what may be large, once it is sent; the exchange may be over
 */
#include "artifacts/artifact.h"
#include "attachments/attachment.h"
#include "jobs/job.h"
#include "jobs/render_job.h"
#include "providers/placing.h"
#include "providers/words.h"
#include "proxy/exchange_state.h"

enum attach_stage { ATTACH_RESOLVE, ATTACH_PREPARE, ATTACH_PLACE, ATTACH_KEEP, ATTACH_FREE };

/* One attachment that is made ready by others. */
enum preparation_kind {
    PREPARE_CONVERSION, /* a caged extractor makes text of it */
    PREPARE_UPLOAD,     /* it goes to the provider's files API, for its id or for its text */
    PREPARE_TRANSCRIPT  /* a provider writes down what is said in it */
};

struct preparation {
    struct attach_job *job;
    struct attachment *attachment;
    enum preparation_kind kind;
    struct upload_wait *upload; /* under way, as the next one */
    struct transcription_call *transcription;
    const char *format;        /* of the extractor */
    struct buf transcript;     /* of a film's sound, which a provider wrote down */
    int document;              /* for the extractor, which gets a copy of the descriptor; -1: none */
    struct render_job *render; /* under way */
    int fd;                    /* the text, sealed; -1: none */
    uint64_t bytes;
};

struct attach_job {
    struct job job; /* first: the queue gives this back */
    enum attach_stage stage;
    struct exchange *exchange; /* until the job is `kept` */
    struct job_queue *queue;   /* of the disk, or without attachments that of bodies */
    struct config *config;
    struct store *store;
    const struct render_pool *renders; /* in the thread for its formats alone */
    char org[LIMIT_ORG + 1], consult[CONSULT_ID];
    char *parent; /* NULL: nothing is to be forwarded */
    bool forward_all, fields;
    char **forward;                /* the exchange's, which outlives the job */
    bool found[LIMIT_ATTACHMENTS]; /* of `forward` */
    size_t nforward;
    struct attachments list;
    struct preparation preparations[LIMIT_ATTACHMENTS];
    size_t npreparations;
    unsigned pending;      /* preparations under way */
    size_t inline_most;    /* bytes of the request above which files are uploaded; 0: there is no such size */
    bool identity;         /* the provider is asked for a reply without compression */
    struct buf head, body; /* of the request as it came */
    struct buf new_head;
    struct span *pieces; /* the request as it goes */
    size_t npieces;
    bool lent, kept;            /* the pieces are being sent; all else is done */
    struct request_facts facts; /* of the body */
    struct place_request place;
    struct edits edits;
    struct buf protocol_room, room; /* what the edits point into */
    struct buf *texts;              /* what is placed and was made for it */
    size_t ntexts;
    struct buf not_passed; /* entries for the record */
    unsigned counts[NOT_PASSED_REASONS];
    bool recorded; /* in a thread's journal */
    bool words_read;
    struct request_words words; /* for that */
    int keeping;                /* inbound_begin's token; -1: none */
    bool failed;
    struct error error;
};

/* ---- attach.c ---- */

/* Notes that something did not go to the model, though the request does. */
void attach_not_passed(struct attach_job *j, enum not_passed reason, const char *key, const char *value);
/* On the loop: a preparation is over; after the last one the next stage begins, and the job may be gone. */
void attach_prepared(struct attach_job *j);

/* ---- attach_forward.c: in the thread ---- */

/* Adds what is wanted of the parent's; sets `failed` and `error`. */
void attach_take_parents(struct attach_job *j);

/* ---- attach_prepare.c ---- */

/* In the thread, after resolving: what an extractor is given. -1 with j->error. */
int attach_prepare_documents(struct attach_job *j) MUST_USE;
/* On the loop: starts all of them. attach_prepared comes for each that could be started, never from inside.
 * A failure is in j->failed and j->error, and then nothing more is started. */
void attach_prepare_start(struct attach_job *j);
/* On the loop: ends what is under way; nothing is pending afterwards. */
void attach_prepare_stop(struct attach_job *j);
/* In the thread: the texts. -1 with j->error. */
int attach_prepare_read(struct attach_job *j) MUST_USE;
void attach_prepare_free(struct attach_job *j);

/* Ends a preparation whose render job failed. */
void attach_prepare_refuse(struct preparation *p, const struct render_result *r);
/* Ends a preparation with an error that is this attachment's; the first one counts, and ends the others. */
void attach_prepare_fail(struct preparation *p, const struct error *e);

/* ---- attach_provider.c ---- */

/* In the thread, before anything else is prepared: whether everything can go there at all, and which files
 * the request is too large with. Adds preparations; -1 with j->error. */
int attach_provider_plan(struct attach_job *j) MUST_USE;
/* On the loop: starts one of PREPARE_UPLOAD or PREPARE_TRANSCRIPT. -1: it has failed, j->error says why. */
int attach_provider_start(struct preparation *p) MUST_USE;
/* On the loop, when the frames of a film have come: asks a provider to write down its sound. 1:
 * attach_prepared comes once more; 0: there is none; -1: it has failed, j->error says why. */
int attach_provider_sound(struct preparation *p) MUST_USE;
/* For struct attachment_settings; `job` is the struct attach_job. Whether this host has the extractor;
 * whether a configured provider would transcribe audio of that media type, made into MP3 first where it takes
 * no other; whether the request's provider takes a file of that media type as it is. */
bool attach_provider_converts(const void *job, const char *format);
bool attach_provider_transcribes(const void *job, const char *media_type);
bool attach_provider_takes(const void *job, const char *media_type);

/* ---- attach_place.c: in the thread ---- */

/* Counts all text and makes the splices. -1 with j->error. */
int attach_place(struct attach_job *j) MUST_USE;
/* For consults that this one may start: says that they will be kept, and keeps them. */
void attach_promise_originals(struct attach_job *j);
void attach_keep_originals(struct attach_job *j);

#endif
