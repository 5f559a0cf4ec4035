#ifndef PROXY_SIDE_WORDS_H
#define PROXY_SIDE_WORDS_H
/*
 * What a provider says to calls of Penstock's own (side_call.h), made fit to be shown: the words of an error,
 * and addresses that it sends us to. Pure; any thread may call it.
 */
#include "base/buf.h"
#include "base/error.h"
#include "config/config.h"

/* Appends ": " and the words of an error body, as far as there are some, to the clause in `why`: without
 * `key` (NULL: none) and what looks like a secret, markers and control characters, and shortened. */
void side_words(struct span body, const char *key, char why[LIMIT_ERROR_TEXT]);
/* Of a call that has failed (struct side_answer): "<provider>: <doing> failed: …". Always -1. */
int side_failed(const struct config_provider *provider, const char *doing, const struct error *failed,
                bool given_up, struct error *e);
/* What an answer other than 2xx to a call of Penstock's own about an attachment means for the request: the
 * code, its status, and the sentence "<provider> <verb> with status N: words." The key's fault is ours to
 * mend when the key is (`own_key`), else the caller's; of the file itself: ATTACHMENT_INVALID. */
void side_refusal(const struct config_provider *provider, bool own_key, const char *key, const char *verb,
                  int status, struct span body, struct error *e);
/* Appends path and query of a URL on the provider's own host, the scheme being its own too, or of a path
 * alone. -1: it is elsewhere, or not fit for a request line: nothing is sent to addresses that others choose.
 */
int side_own_target(struct span url, const struct config_provider *provider, struct buf *target) MUST_USE;
/* Appends the provider's base path and `/v1`, unless the base path ends with that version already
 * (https://host/api/v1). `version` is "/v1" or the like. */
void side_base_path(const struct config_provider *provider, const char *version, struct buf *out);

#endif
