#ifndef JOBS_CHILD_H
#define JOBS_CHILD_H
/*
 * One document in a process of its own. The spawner forks and calls child_run in the child, which enters its
 * cage, proves it, says so, renders and ends. It speaks twice: PROVEN, then DONE.
 */
#include "jobs/sandbox.h"

struct child_start {
    const struct sandbox *sandbox;       /* NULL: no seccomp on this machine */
    const struct renderer_ops *renderer; /* NULL: only the proof, for the spawner's own test at start */
    bool required;                       /* ends without DONE unless every layer is in force */
    bool fonts;
    bool shares;                   /* the processor (jobs/priority.h) */
    const struct program *program; /* that it may run (jobs/program.h); NULL: none */
    int in, out, control; /* the document, the output, the spawner; -1 for the first two without a renderer */
    int parent;           /* the spawner's pid */
};

_Noreturn void child_run(const struct child_start *start);

#endif
