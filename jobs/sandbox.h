#ifndef JOBS_SANDBOX_H
#define JOBS_SANDBOX_H
/*
 * The cage of a child of penstock-worker (product.md §5; Linux). None of it needs a privilege, so it holds in
 * a container too. Prepared once in the spawner, entered and proven in each child before it reads a byte of
 * its document.
 *
 *   descriptors   0-2 /dev/null, 3 the document, 4 the output, 5 the spawner; all others are closed
 *   user          root becomes nobody; no capability is left
 *   rlimits       address space, CPU, file size, descriptors, processes, no core
 *   privileges    no_new_privs, not dumpable, killed when the spawner dies
 *   landlock      no path at all, or reading below the font directories alone; no TCP; no signal or abstract
 *                 socket outside
 *   seccomp       an allow list; everything else fails with EPERM. No socket, exec, process, signal, ptrace,
 *                 executable memory; open only for reading and only with `fonts`; threads only with `fonts`
 * A program that a child runs is in a cage of the same kind, with what is said in jobs/program.h. A child
 * that has one lacks Landlock's hold on signals: the kernel takes the program's end with its child for one.
 */
#include "jobs/program.h"
#include "jobs/renderer.h"

enum sandbox_layer {
    SANDBOX_PRIVILEGES = 1,
    SANDBOX_RLIMITS = 2,
    SANDBOX_LANDLOCK = 4,
    SANDBOX_SECCOMP = 8,
    SANDBOX_DESCRIPTORS = 16,
    SANDBOX_PROVEN = 32, /* what the cage forbids was tried and failed */
    SANDBOX_ALL = 63
};

enum { SANDBOX_IN = 3, SANDBOX_OUT = 4, SANDBOX_CONTROL = 5, SANDBOX_FIRST_CLOSED = 6 };

struct sandbox;

/* NULL: the kernel or the library cannot filter system calls. */
struct sandbox *sandbox_create(void) MUST_USE;
void sandbox_destroy(struct sandbox *s);

struct sandbox_entry {
    const struct sandbox *sandbox; /* NULL: no seccomp */
    int first_closed;              /* descriptors below it are in place, all others are closed */
    int parent;                    /* the pid whose end is this one's end */
    /* Of a child: */
    const struct render_limits *limits;
    bool fonts;
    /* Of a program's runner, with its file, and where in memory execve will find that path: */
    const struct program *program; /* NULL: a child */
    const char *path, *hidden;
};

/*
 * Enters every layer that is to be had and then tries to get out. Answers the layers that are in force. Never
 * returns when the parent is gone.
 */
unsigned sandbox_enter(const struct sandbox_entry *e);
/* The names of layers, for a log line: "landlock, seccomp". */
void sandbox_names(unsigned layers, char out[64]);

#endif
