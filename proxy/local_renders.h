#ifndef PROXY_LOCAL_RENDERS_H
#define PROXY_LOCAL_RENDERS_H
/*
 * Renderers and extractors for commands that serve nobody: the same caged ones that `penstock serve` uses,
 * started for the command, one document after another, each waited for.
 */
#include "jobs/render_job.h"

struct local_renders;

/* Starts penstock-worker and waits for it. Without it, after a line on standard error that begins with
 * "penstock COMMAND: " and says `what` cannot be done, nothing is offered. Never NULL. */
struct local_renders *local_renders_create(const char *command, const char *what,
                                           bool sandbox_required) MUST_USE;
/* NULL is fine. */
void local_renders_destroy(struct local_renders *r);
const struct render_pool *local_renders_pool(const struct local_renders *r);
/* Takes `document` (jobs/document.h). The result is valid until the next call, its `fd` the caller's. NULL
 * with a reason: it could not be begun. */
const struct render_result *local_render(struct local_renders *r, const char *format, int document,
                                         int64_t longest_ms, const char **why) MUST_USE;
/* Appends n bytes of what is in the descriptor, from its beginning. -1: not all of them. */
int local_render_read(int fd, uint64_t n, struct buf *out) MUST_USE;

#endif
