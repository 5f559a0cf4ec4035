#ifndef PROXY_RELAY_PARTS_H
#define PROXY_RELAY_PARTS_H
/*
 * The files of which relaying a reply is made: relay.c (from the upstream's bytes to the filter, and how it
 * all ends), relay_head.c (what the head decides), relay_out.c (to the client). Nobody else includes this.
 *
 * What one read of the upstream produces gathers in worker->out, which is empty between two of the loop's
 * callbacks; whoever produces it ends with relay_flush.
 */
#include "proxy/exchange_state.h"

/* ---- relay_head.c ---- */
/* Which replies the filter looks into: those of a consult that went well, unless they are no text at all.
 * Sets ex->events. */
enum treatment relay_choose_treatment(struct exchange *ex, const struct http_head *head) MUST_USE;
/* Makes ex->decoder when the body has a content coding. -1: the coding is not known; the exchange has
 * failed. */
int relay_create_decoder(struct exchange *ex, const struct http_head *head) MUST_USE;
/* Makes ex->reply for the framing in ex->events. */
void relay_create_reply(struct exchange *ex);
/* How the client is told where the body ends: sets ex->framing and completes ex->head. `length`: the
 * provider's Content-Length, NULL when it gave none. Not for a reply that is taken whole, see
 * relay_send_whole. */
void relay_choose_framing(struct exchange *ex, const uint64_t *length);

/* ---- relay_out.c ---- */
/* Sends the head when it has not gone yet, and what is in worker->out; `last`: and the body's end. A client
 * that has too much unsent pauses the upstream. */
void relay_flush(struct exchange *ex, bool last);
/* The whole body is in worker->out and its head still here: sets the length and sends both. */
void relay_send_whole(struct exchange *ex);

#endif
