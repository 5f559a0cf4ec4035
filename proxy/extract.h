#ifndef PROXY_EXTRACT_H
#define PROXY_EXTRACT_H
/*
 * `penstock extract`: the directive filter and the renderers without a network. A reply's text goes in;
 * standard output gets what a client would have seen of it (product.md §3), the directory `out` the files,
 * and its quarantine/ the raw text of what could not be made. The text is read piece by piece, so that it may
 * have any length; the limits on directives are those of the configuration's defaults and of the environment.
 */
#include "proxy/cli.h"

/*
 * The exit status: 0 when all is well, 3 when something is flagged (each flag is a line on standard error), 1
 * when something cannot be read or written. Files that are there already are never overwritten; directories
 * are made when there is something to put into them.
 */
int extract_run(const struct extract_options *options);

#endif
