#ifndef PROXY_SENTRY_H
#define PROXY_SENTRY_H
/*
 * Penstock's own errors, counted and told to whoever runs it: the metrics, and the error sink of `sentry_dsn`
 * (product.md §7). What goes to the sink goes by itself, a few at a time and at a bounded rate: it delays no
 * request, and what it cannot take is dropped and counted. Errors do not wait for callers' faults (level
 * warning), which have a rate of their own. That the sink fails is logged once, until it works again.
 */
#include "base/error.h"
#include "config/config.h"

struct sentry;
struct worker;

/* NULL: there is no sink. */
struct sentry *sentry_create(struct worker *w);
/* What has not gone out is dropped. NULL is fine. */
void sentry_destroy(struct sentry *s);
/* Whether something is on its way. */
bool sentry_is_busy(const struct sentry *s);

/* Every error of Penstock's own passes here, once. `provider` may be NULL; `api` and `consult` may be empty.
 */
void sentry_note(struct worker *w, const struct config_provider *provider, const char *api,
                 const char *consult, const struct error *e);

#endif
