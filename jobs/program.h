#ifndef JOBS_PROGRAM_H
#define JOBS_PROGRAM_H
/*
 * A program that a caged child may run beside it: pdftotext, ffmpeg. Such programs are started, never linked:
 * their licences and their faults stay their own. A renderer names one in its ops and calls program_run.
 *
 *   spawner --fork--> child --(before its cage: one fork a run)--> runner, in the program's own cage
 *                       |                                             | waits for its arguments
 *                       | its own cage: no fork, no exec              |
 *                       | program_run --- arguments ----------------> exec, once
 *                       |             <-- standard output, error ---- | reads the input: a file of its own
 *                       ends, is killed, or its spawner dies -------> killed
 *
 * The program's cage (jobs/sandbox.h) is that of a child, but for this:
 *   descriptors   0 the input: read only, can be sought in, can be opened again as PROGRAM_INPUT;
 *                 1 and 2 pipes to the child
 *   rlimits       its own memory and CPU time; it can write no file at all
 *   landlock      reads below the library folders and what `reads` names; executes itself and the loader
 *   seccomp       also execve, from one address that the program does not know, so that it cannot start
 *                 another, nor itself again; opening for reading; code mapped from files; threads only with
 *                 `threads`
 * Its environment is LANG=C.UTF-8 and TZ=UTC0. What it says is as untrusted as the document. A program that
 * would write files writes to its standard output. What works with ffmpeg (threads, 1 GiB):
 *   -nostdin -v error -protocol_whitelist file,pipe -f DEMUXER -i file:/proc/self/fd/0 …
 *   -f image2pipe -c:v mjpeg pipe:1     or     -ac 1 -ar 16000 -f s16le pipe:1
 */
#include <stdint.h>

#include "base/buf.h"
#include "base/span.h"

enum {
    PROGRAM_RUNS = 4,              /* of one document, at most */
    PROGRAM_ARGUMENTS = 64,        /* of one run, with the NULL at the end */
    PROGRAM_ARGUMENT_BYTES = 4096, /* of one run, with terminators */
    PROGRAM_SAID = 4096,           /* what is kept of standard error, with its terminator */
};

/* A path under which the program can open its input as a file. */
#define PROGRAM_INPUT "/proc/self/fd/0"

struct program {
    /* "pdftotext": in /usr/local/bin, /usr/bin or /bin. With a slash: a path. Where it is not to be found,
     * the renderer's formats are not offered. */
    const char *name;
    const char *const *reads; /* files and folders beside its libraries, NULL at the end; may be NULL */
    unsigned runs;            /* how often a document may run it, 1 to PROGRAM_RUNS; each costs a process */
    uint64_t memory_bytes;    /* RLIMIT_AS */
    unsigned cpu_s;           /* RLIMIT_CPU of one run; the wall time is the renderer's for all of it */
    bool threads;
};

enum program_end {
    PROGRAM_ENDED,    /* `status` is its exit status */
    PROGRAM_KILLED,   /* by a signal; SIGXCPU, SIGKILL: out of time; others: it broke */
    PROGRAM_TOO_MUCH, /* `take` wanted no more; it is left to die */
    PROGRAM_ABSENT,   /* no run is left, or this is no caged child */
};

struct program_result {
    enum program_end end;
    int status, signal;
    char said[PROGRAM_SAID]; /* the beginning of its standard error */
};

/* A piece of standard output as it comes; not 0: that is enough. */
typedef int (*program_take)(void *arg, struct span piece);

/*
 * In the child, from a renderer's `render`: one run, waited for. `arguments` follow the program's name, NULL
 * at the end; none of them may come from the document. `input` becomes the input with the first run; later
 * runs read the same and pass an empty span.
 */
void program_run(const char *const *arguments, struct span input, program_take take, void *arg,
                 struct program_result *result);
/* A `take` that appends to a struct buf, up to its cap. */
int program_take_buf(void *buf, struct span piece);

#endif
