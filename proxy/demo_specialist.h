#ifndef PROXY_DEMO_SPECIALIST_H
#define PROXY_DEMO_SPECIALIST_H
/*
 * The demo's Specialist: a small HTTP server that answers every POST …/chat/completions with the same
 * streamed reply, as OpenAI's API would send it, with two directives in it. It writes what it was asked and
 * what it sends to files, so that both can be shown.
 */
#include "base/buf.h"

/* Files under the demo's directory. */
#define DEMO_PROVIDER_REQUEST "provider.request.json"
#define DEMO_PROVIDER_STREAM  "provider.sse"

/* Serves on a listening socket, one connection after the other, until it is ended by a signal. */
void demo_specialist_run(int listener, const char *dir) __attribute__((noreturn));
/* Appends what a client has to get of the reply's text. */
void demo_specialist_expected(struct buf *out);
/* What the Expert asks. */
const char *demo_specialist_question(void);

#endif
