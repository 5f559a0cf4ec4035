#include "jobs/child.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/write_all.h"
#include "jobs/document.h"
#include "jobs/priority.h"
#include "jobs/program_cage.h"
#include "jobs/wire.h"

enum { SEALS = F_SEAL_WRITE | F_SEAL_GROW | F_SEAL_SHRINK, ABOVE_ALL = 64 };

/* Of the program's own making, for a child that only proves its cage. */
static const struct render_limits trial = {
    .out_bytes = 4096, .memory_bytes = 64 << 20, .cpu_s = 2, .wall_ms = 5000};

/* ---- descriptors ---- */

/* Moves each first above all, since one may sit on another's number. */
static int place_descriptors(const struct child_start *c)
{
    const int from[] = {c->in, c->out, c->control}, to[] = {SANDBOX_IN, SANDBOX_OUT, SANDBOX_CONTROL};
    int high[3], nothing = open("/dev/null", O_RDWR);
    for (size_t i = 0; i < 3; i++)
        high[i] = fcntl(from[i] >= 0 ? from[i] : nothing, F_DUPFD, ABOVE_ALL);
    for (int fd = 0; fd < SANDBOX_IN; fd++)
        if (dup2(nothing, fd) < 0)
            return -1;
    for (size_t i = 0; i < 3; i++)
        if (high[i] < 0 || dup2(high[i], to[i]) < 0)
            return -1;
    return 0;
}

/* ---- what it says ---- */

static int say(struct buf *message)
{
    struct span m = buf_span(message);
    int failed = wire_end(message) || write(SANDBOX_CONTROL, m.p, m.n) != (ssize_t)m.n;
    buf_free(message);
    return failed ? -1 : 0;
}

static int say_proven(unsigned layers)
{
    struct buf m;
    buf_init(&m, WIRE_MESSAGE);
    wire_begin(&m, WIRE_PROVEN, 0);
    wire_add_u32(&m, layers);
    return say(&m);
}

static int say_done(enum render_status status, uint64_t bytes, const char *sentence)
{
    struct buf m;
    buf_init(&m, WIRE_MESSAGE);
    wire_begin(&m, WIRE_DONE, 0);
    wire_add_u32(&m, status);
    wire_add_u64(&m, bytes);
    wire_add_text(&m, span_of(sentence, strnlen(sentence, RENDER_SENTENCE - 1)));
    return say(&m);
}

/* ---- the document ---- */

static enum render_status write_out(struct span bytes, char sentence[RENDER_SENTENCE])
{
    if (write_all(SANDBOX_OUT, bytes) == 0)
        return RENDER_OK;
    snprintf(sentence, RENDER_SENTENCE, "the file would be larger than it may be");
    return RENDER_LIMIT;
}

static enum render_status render(const struct renderer_ops *r, struct document *d, uint64_t *n,
                                 char sentence[RENDER_SENTENCE])
{
    struct buf out;
    if (d->source.n > r->limits.source_bytes) {
        snprintf(sentence, RENDER_SENTENCE, "its source is larger than %llu KiB",
                 (unsigned long long)(r->limits.source_bytes >> 10));
        return RENDER_LIMIT;
    }
    buf_init(&out, (size_t)r->limits.out_bytes);
    enum render_status status = r->render(d->source, &d->params, &out, sentence);
    if (status == RENDER_OK && buf_full(&out)) {
        snprintf(sentence, RENDER_SENTENCE, "the file would be larger than it may be");
        status = RENDER_LIMIT;
    }
    if (status == RENDER_OK)
        status = write_out(buf_span(&out), sentence);
    *n = status == RENDER_OK ? out.n : 0;
    buf_free(&out);
    return status;
}

/* -1: what is in the descriptor is no sealed document. */
static int map_document(struct span *out)
{
    struct stat st;
    int seals = fcntl(SANDBOX_IN, F_GET_SEALS);
    if (seals < 0 || (seals & SEALS) != SEALS || fstat(SANDBOX_IN, &st) || st.st_size <= 0)
        return -1;
    void *p = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, SANDBOX_IN, 0);
    if (p == MAP_FAILED)
        return -1;
    *out = span_of(p, (size_t)st.st_size);
    return 0;
}

static int take_document(const struct renderer_ops *r)
{
    struct document d;
    struct span bytes;
    char sentence[RENDER_SENTENCE] = "";
    uint64_t n = 0;
    if (map_document(&bytes) || document_read(bytes, &d))
        return 1;
    enum render_status status = render(r, &d, &n, sentence);
    return say_done(status, n, sentence) ? 1 : 0;
}

/* Ends without what a program does at its end: there is nothing to tidy up, and the cage forbids most of it.
 */
_Noreturn void child_run(const struct child_start *start)
{
    const struct program *program = start->program;
    struct sandbox_entry entry = {.sandbox = start->sandbox,
                                  .first_closed = program_first_closed(program),
                                  .parent = start->parent,
                                  .limits = start->renderer ? &start->renderer->limits : &trial,
                                  .fonts = start->fonts,
                                  .reads = start->renderer ? start->renderer->reads : NULL};
    sigset_t none;
    priority_take(start->shares);
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    signal(SIGTERM, SIG_DFL);
    if (place_descriptors(start) || (program && program_prepare(program, start->sandbox)))
        _exit(1);
    unsigned layers = sandbox_enter(&entry);
    if (program)
        layers &= program_layers(program);
    if (say_proven(layers) || (start->required && layers != SANDBOX_ALL) || !start->renderer)
        _exit(1);
    _exit(take_document(start->renderer));
}
