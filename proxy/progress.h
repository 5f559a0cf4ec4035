#ifndef PROXY_PROGRESS_H
#define PROXY_PROGRESS_H
/* A bar on standard error while a command works, if that is a terminal; nothing otherwise. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct progress {
    const char *what; /* "threads" */
    size_t total;
    bool shown;
    int64_t last_ms;
};

void progress_begin(struct progress *p, const char *what, size_t total);
/* `done` of the total are done. Draws a few times a second. */
void progress_step(struct progress *p, size_t done);
/* Takes the bar away, so that a line can be written; the next step brings it back. */
void progress_clear(struct progress *p);

#endif
