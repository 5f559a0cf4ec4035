#ifndef PROXY_BODY_READ_H
#define PROXY_BODY_READ_H
/*
 * What a consult's body says, as far as it can be told from the body alone: everything that takes a pass over
 * its bytes. So a long body is read in a thread (QUEUE_BODIES), and the streams of others go on meanwhile.
 */
#include "attachments/attachment.h"
#include "base/json.h"
#include "proxy/exchange_state.h"

struct body_read {
    struct request_facts facts; /* points into the body, as does the list */
    struct attachments list;    /* what is declared, as far as it was good */
    bool refused;               /* what is declared is not good, and `error` says why */
    struct error error;
    struct edits edits; /* takes Penstock's own keys out */
};

/* Any thread. */
void body_read(const struct dialect *dialect, struct span body, struct body_read *out);
void body_read_finish(struct body_read *r);

/* The same for an exchange's body in the thread; request_body_known(ex, r) comes on the loop, unless the
 * client has gone. -1: the queue is full. */
int body_read_later(struct exchange *ex) MUST_USE;

#endif
