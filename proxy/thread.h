#ifndef PROXY_THREAD_H
#define PROXY_THREAD_H
/*
 * A consult that belongs to a thread, on its way into the thread's journal: one line when its request is
 * complete, one when its stream is over, both written by the threads' job queue. An exchange has one when the
 * caller named a thread, and calls these functions with it; for all others nothing happens here.
 *
 * A reply that is made in the background is left running, and ends when it is fetched, ready, failed or
 * cancelled, with a request that names the same thread; likewise one that was cut on its way here.
 *
 * Also the pages of the admin listener that show threads.
 */
#include "providers/words.h"
#include "proxy/exchange_state.h"

/* The body has been read and it is a consult of a thread: from now on it is recorded. */
void thread_start(struct exchange *ex);
/* What the request says, read by those who have its body; emptied. Else the first line's job reads it. */
void thread_give_words(struct exchange *ex, struct request_words *words);
/* The request goes out, or never will: writes the first line. Takes the body over. */
void thread_begin(struct exchange *ex);
/* NULL: nobody records. */
struct recorder *thread_recorder(const struct exchange *ex);
/* The provider's reply began. */
void thread_reply(struct exchange *ex, const struct http_head *head);
/* Bytes of a reply that is an error, as they came and as far as they are needed. */
void thread_error_bytes(struct exchange *ex, struct span bytes);
/* Either side ends first, or what it said before decides. */
void thread_client_gone(struct exchange *ex);
/* The exchange is over: writes the last line. */
void thread_end(struct exchange *ex);
void thread_free(struct exchange *ex);

/* GET /threads…; `path` begins with that, without query. False: it is another path. */
bool threads_page(struct conn *c, struct span path, struct span query, bool head_only);
/* Submits the removal of journals that are too old. */
void threads_submit_sweep(struct worker *w);

#endif
