#ifndef PROXY_IMAGE_H
#define PROXY_IMAGE_H
/*
 * Calls to the image-generation API (product.md §§2.4, 5.1), on the loop. A call keeps what it needs of the
 * configuration, so it does not depend on the exchange that began it.
 */
#include "artifacts/artifact.h"

struct exchange;
struct image_call;

/* How a call ends, once and never from inside image_ask or image_fetch: with the body of a good answer, which
 * the callee may take with buf_move, or with a flag and a clause that says why. The call is gone afterwards.
 */
typedef void (*image_done)(void *arg, struct buf *body, enum flag failed, const char *why);

/* Asks for a picture. NULL, with a clause in `why`: there is no API key to ask with. */
struct image_call *image_ask(const struct exchange *ex, const struct image_wanted *wanted, image_done done,
                             void *arg, char why[LIMIT_ERROR_TEXT]) MUST_USE;
/* Fetches one that lies on the provider's own host; `target` is path and query. */
struct image_call *image_fetch(const struct exchange *ex, struct span target, image_done done, void *arg,
                               char why[LIMIT_ERROR_TEXT]) MUST_USE;
/* No callback comes afterwards. NULL is fine. */
void image_call_cancel(struct image_call *call);

#endif
