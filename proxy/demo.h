#ifndef PROXY_DEMO_H
#define PROXY_DEMO_H
/*
 * `penstock demo`: one consult through a proxy of its own, shown from both sides. A child process plays the
 * Specialist (nothing leaves the machine), another runs the proxy, and this one is the client. With `live`
 * the Specialist is OpenAI's API, with the key in OPENAI_API_KEY and the model in OPENAI_MODEL (default
 * gpt-4o-mini).
 *
 * Under the directory `out`: provider.sse and client.sse (the bytes of both sides), penstock.log, and the
 * proxy's state with the files that were made.
 */
#include "proxy/cli.h"

/* The exit status: 0 when a file came and no byte of a marker reached the client, 1 otherwise, after a
 * sentence on standard error. */
int demo_run(const struct demo_options *options);

#endif
