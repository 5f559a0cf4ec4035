#ifndef PROXY_TRANSCRIPTION_H
#define PROXY_TRANSCRIPTION_H
/*
 * Transcripts of attached audio by the provider that `transcription` names (product.md §6), on the loop. A
 * call keeps what it needs of the configuration.
 */
#include "base/buf.h"
#include "base/error.h"
#include "proxy/transcript.h"

struct exchange;
struct transcription_call;

/* Once, never from inside transcription_start: with the text, which may be taken with buf_move, or with an
 * error whose message is a sentence that begins with the provider's name. The call is gone afterwards. */
typedef void (*transcription_done)(void *arg, struct buf *text, const struct error *e);

/* Whether a provider is configured for it. */
bool transcription_is_on(const struct exchange *ex);
/* Asks for one. NULL with *e: there is no key to ask with. The file's spans need not outlive it. */
struct transcription_call *transcription_start(const struct exchange *ex, const struct transcript_file *file,
                                               transcription_done done, void *arg, struct error *e) MUST_USE;
/* No callback comes afterwards. NULL is fine. */
void transcription_cancel(struct transcription_call *call);

#endif
