#ifndef PROXY_EXCHANGE_H
#define PROXY_EXCHANGE_H
/*
 * One request and its reply. Created by a connection when a request's head is complete; lives until the reply
 * is out, the files it made are settled and its record is written, which may be after the client has gone.
 * Freed after the loop turn.
 */
#include "net/http_head.h"
#include "proxy/conn.h"

struct exchange;

/*
 * A request head: `head` is valid during the call. `body_follows`: body bytes come through exchange_body,
 * then exchange_body_end. The exchange may answer at once. The connection's `exchange` is set when this
 * returns, unless the request is answered already.
 */
void exchange_begin(struct conn *c, const struct http_head *head, bool body_follows);
void exchange_body(struct exchange *ex, struct span bytes);
void exchange_trailer(struct exchange *ex, struct span name, struct span value);
void exchange_body_end(struct exchange *ex);
/* The request's body did not come in time, or its framing broke. */
void exchange_body_failed(struct exchange *ex, const struct error *e);
/* What was unsent to the client has gone out. */
void exchange_drained(struct exchange *ex);
/* The client closed; the connection is dead afterwards. */
void exchange_client_gone(struct exchange *ex);
void exchange_tick(struct exchange *ex, int64_t now_ms);
/* The worker ends: what waits for others does so no longer. */
void exchange_give_up(struct exchange *ex);
void exchange_free(struct exchange *ex);
/* The next in the worker's list it is in. */
struct exchange *exchange_next(const struct exchange *ex);
/* Sends the records that wait for company to the audit thread. */
void audit_flush(struct worker *w);
/* Reply bytes held back now. */
size_t exchange_held_bytes(const struct exchange *ex);

#endif
