#ifndef JOBS_PROGRAM_CAGE_H
#define JOBS_PROGRAM_CAGE_H
/* The runners of a child's program (jobs/program.h): made before the child enters its own cage. */
#include "jobs/program.h"
#include "jobs/sandbox.h"

/* Descriptors in the child, behind those of jobs/sandbox.h: the input, and three for each run. Those of a run
 * are closed when it was used. */
enum {
    PROGRAM_FILE = SANDBOX_FIRST_CLOSED,
    PROGRAM_FIRST, /* of the first run: arguments, then output, then errors */
    PROGRAM_EACH = 3
};

static inline int program_first_closed(const struct program *p)
{
    return p ? PROGRAM_FIRST + PROGRAM_EACH * (int)p->runs : SANDBOX_FIRST_CLOSED;
}

/* The program's file, a regular one that may be run. -1: there is none. */
int program_find(const struct program *p, char path[256]) MUST_USE;

/*
 * In the child, descriptors 3 to 5 in place and all others free from PROGRAM_FILE on: makes the input and
 * forks the runners. -1: it could not; the child is to end.
 */
int program_prepare(const struct program *p, const struct sandbox *s) MUST_USE;
/* Waits until every runner has entered its cage; answers the layers that hold in all of them. */
unsigned program_layers(const struct program *p);

#endif
