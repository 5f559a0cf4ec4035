#ifndef PROXY_CONVERT_H
#define PROXY_CONVERT_H
/*
 * `penstock convert`: what a model would be given for a document (product.md §6, "Bytes"), without a network.
 * Every file is sniffed, checked against the limits of the configuration's defaults and of the environment,
 * and converted in the same caged extractors that `penstock serve` uses.
 */
#include "proxy/cli.h"

/*
 * Standard output gets each text between the tags in which a model sees it; with a directory, each becomes a
 * file NAME.md of its own there, without tags, and is never overwritten. A file that goes to a model as it is
 * (a picture) is named on standard error. The exit status: 0 when all is well, 3 when something would be
 * refused (with the reason on standard error), 1 when something cannot be read or written.
 */
int convert_run(const struct convert_options *options);

#endif
