#ifndef PROXY_DEMO_CLIENT_H
#define PROXY_DEMO_CLIENT_H
/*
 * The demo's client: what any program that speaks OpenAI's API does, over plain sockets: ask for a streamed
 * reply, read its events, download the files that its last event names.
 */
#include "base/buf.h"
#include "base/sse.h"
#include "proxy/demo_io.h"

enum { DEMO_TEXT = 4 * 1024 * 1024, DEMO_FILES = 64, DEMO_CUTS = 64 * 1024 };

/* One entry of outbound_artifacts. */
struct demo_artifact {
    char filename[256], format[32], sha256[65], title[256], url[2048];
    int64_t bytes;
};

/* A streamed chat completion, from either side. */
struct demo_stream {
    void (*show)(struct span text); /* each piece of text as it comes; NULL */
    struct buf raw;                 /* the body's bytes */
    struct buf text;                /* all text so far */
    size_t *cuts;                   /* where in `text` each event's piece ends; at most DEMO_CUTS */
    size_t ncuts, room;
    struct demo_artifact *artifacts; /* at most DEMO_FILES */
    size_t nartifacts;
    bool reported; /* outbound_artifacts was there */
    bool done;     /* [DONE] came */
    char reason[1024], error[LIMIT_ERROR_TEXT];
    size_t framed; /* of raw: bytes of complete events */
    struct sse_scan scan;
};

struct demo_reply {
    int status;
    char consult[64]; /* X-HW-Consult-Id */
};

void demo_stream_init(struct demo_stream *s);
void demo_stream_finish(struct demo_stream *s);
/* Bytes of the body as they come; `last`: there are no more. -1: over a cap. */
int demo_stream_feed(struct demo_stream *s, struct span bytes, bool last) MUST_USE;

/*
 * One request to a port of this machine on a connection of its own: `request` is the whole message. The
 * body's bytes go to `data`, which answers -1 to give up. -1 with `why`.
 */
int demo_client_request(struct demo_io *io, uint16_t port, struct span request,
                        int (*data)(void *arg, struct span bytes), void *arg, int idle_ms,
                        struct demo_reply *reply, char why[LIMIT_ERROR_TEXT]) MUST_USE;
/* GET; the body is appended. -1 with `why`; any status is a success. */
int demo_client_get(struct demo_io *io, uint16_t port, const char *target, struct buf *body, int *status,
                    char why[LIMIT_ERROR_TEXT]) MUST_USE;
/* Asks `question` of `model` and feeds the reply to the stream. `key` NULL: none. -1 with `why`. */
int demo_client_consult(struct demo_io *io, uint16_t port, const char *model, const char *key,
                        const char *question, struct demo_stream *s, struct demo_reply *reply,
                        char why[LIMIT_ERROR_TEXT]) MUST_USE;

#endif
