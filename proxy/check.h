#ifndef PROXY_CHECK_H
#define PROXY_CHECK_H
/* `penstock check`: whether a configuration file is good, and what it means. */
#include <stdio.h>

#include "proxy/cli.h"

/* The exit status: 0 after a summary to `out`, 1 after one line to `err` that names file, line and key. */
int check_run(const struct check_options *options, FILE *out, FILE *err);

#endif
