#ifndef PROXY_SERVE_H
#define PROXY_SERVE_H
/*
 * The master: binds, starts one process a worker, starts another when one dies, reloads on SIGHUP, drains on
 * SIGTERM and SIGINT. It reads no network traffic. Listening sockets stay open in it, so a connection that a
 * dead worker had not accepted yet waits for the next one.
 */
#include "proxy/cli.h"

/* Takes the configuration. `options` say what SIGHUP reads again. The exit status. */
int serve_run(struct config *config, const struct serve_options *options);

#endif
