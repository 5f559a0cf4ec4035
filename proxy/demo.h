#ifndef PROXY_DEMO_H
#define PROXY_DEMO_H
/*
 * `penstock demo`: one consult through a proxy of its own, shown from both sides. A child process plays the
 * Specialist (nothing leaves the machine), another runs the proxy, and this one is the client. With `live`
 * the Specialist is OpenAI's API with the key in OPENAI_API_KEY, the model in OPENAI_MODEL (default
 * gpt-4o-mini) and, where it is set, the address in OPENAI_BASE_URL.
 *
 * Under the directory `out`: downloads/ (the files, as a client gets them), state/ (the proxy's state_dir,
 * where they are stored), client.sse and, not with `live`, provider.sse and provider.request.json (the bytes
 * of both sides), and penstock.log. All but the state are those of the last run.
 */
#include "proxy/cli.h"

/*
 * The exit status: 0 when everything that is checked at the end is true (a file came, its bytes are right, no
 * byte of a marker reached the client …); 1 after a sentence on standard error; 130 after SIGINT, SIGTERM or
 * SIGHUP, which stay blocked. No child is left in any case.
 */
int demo_run(const struct demo_options *options);

#endif
