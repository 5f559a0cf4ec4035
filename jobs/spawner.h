#ifndef JOBS_SPAWNER_H
#define JOBS_SPAWNER_H
/*
 * The spawner: the main loop of penstock-worker. A single thread without network and secrets; takes requests
 * of the proxy's workers from a listening socket (SOCK_SEQPACKET), forks one child a document, kills it at
 * its deadline and says what became of it. It never looks into a document, and what a child says is as
 * hostile as the document that it read.
 *
 *   request: QUEUED --(a child is free)--> RUNNING --(the child has ended)--> RESULT
 *              |  CANCEL: forgotten          |  CANCEL: killed, no RESULT
 *              +-- the queue is full: RESULT busy
 */
#include <stdbool.h>

struct renderer_ops;

enum { SPAWNER_SOCKET = 3 }; /* the listening socket, as inherited */

struct spawner_options {
    const struct renderer_ops *const *const *lists; /* of renderers, see jobs/renderer.h; NULL at the end */
    bool required;                                  /* no document is rendered unless the cage is whole */
    unsigned children;                              /* at a time; 0: as many as there are cores */
};

/* Until the parent sends SIGTERM (anybody else's is ignored), or dies. The exit status. */
int spawner_run(const struct spawner_options *options);

#endif
