/* Renderers that do what a renderer which was taken over would do. Each answers RENDER_OK with the word
 * "free" when it got out, and "held" when it did not. */
#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include "jobs/program.h"
#include "jobs/renderer.h"
#include "jobs/sandbox.h"
#include "jobs/wire.h"

enum { WITH_PROGRAM = SANDBOX_FIRST_CLOSED + 1 + 2 * 3 /* the input, and three of each run */ };

static enum render_status say(bool free_, struct buf *out)
{
    buf_adds(out, free_ ? "free" : "held");
    return RENDER_OK;
}

static bool is(const struct render_params *p, const char *what)
{
    return !strcmp(p->title, what);
}

static volatile int never;

static void spin(void)
{
    while (!never)
        ;
}

static void sleep_for_ever(void)
{
    static int word;
    for (;;)
        syscall(SYS_futex, &word, FUTEX_WAIT, 0, NULL, NULL, 0);
}

static bool try_fork(void)
{
    long pid = syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);
    if (pid == 0)
        _exit(0);
    return pid > 0 || fork() > 0;
}

static bool try_open(const char *path, int flags)
{
    return open(path, flags, 0600) >= 0;
}

static bool try_exec(void)
{
    char *const arguments[] = {(char *)"/bin/sh", (char *)"-c", (char *)"echo out >/tmp/hostile", NULL};
    execve(arguments[0], arguments, NULL);
    return false;
}

static bool try_signals(void)
{
    return kill(getppid(), 0) == 0 || kill(1, 0) == 0 || kill(-1, 0) == 0 ||
           syscall(SYS_tgkill, getppid(), getppid(), 0) == 0 || fcntl(SANDBOX_CONTROL, F_SETOWN, 1) == 0;
}

static bool try_memory(void)
{
    void *p = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    int here = 0;
    struct iovec local = {&here, sizeof here}, remote = {(void *)(uintptr_t)&here, sizeof here};
    return mprotect(p, 4096, PROT_READ | PROT_EXEC) == 0 ||
           process_vm_readv(getppid(), &local, 1, &remote, 1, 0) > 0 ||
           ptrace(PTRACE_ATTACH, getppid(), 0, 0) == 0 || memfd_create("x", 0) >= 0;
}

/* Takes until nothing is left; what it got, in MiB, is its answer. */
static enum render_status take_memory(struct buf *out)
{
    unsigned n = 0;
    while (n < 8192) {
        char *p = mmap(NULL, 1 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (p == MAP_FAILED)
            break;
        n++;
    }
    buf_printf(out, "%u", n);
    return RENDER_OK;
}

/* The document, the output and everything beside them. */
static bool try_descriptors(int first)
{
    for (int fd = first; fd < 4096; fd++)
        if (fcntl(fd, F_GETFD) >= 0)
            return true;
    return write(SANDBOX_IN, "x", 1) > 0 || ftruncate(SANDBOX_IN, 0) == 0 ||
           ftruncate(SANDBOX_OUT, 1 << 20) == 0 || pwrite(SANDBOX_OUT, "x", 1, 1 << 20) > 0;
}

static void *in_thread(void *arg)
{
    return arg;
}

static bool try_thread(void)
{
    pthread_t t;
    return pthread_create(&t, NULL, in_thread, NULL) == 0 && pthread_join(t, NULL) == 0;
}

static void lie(enum wire_type type, uint32_t status, uint64_t bytes, size_t more)
{
    struct buf m;
    buf_init(&m, WIRE_MESSAGE);
    wire_begin(&m, type, 7);
    wire_add_u32(&m, status);
    wire_add_u64(&m, bytes);
    wire_add_text(&m, SPAN_LIT("a lie"));
    for (size_t i = 0; i < more; i++)
        wire_add_u32(&m, 0);
    if (wire_end(&m) == 0)
        (void)!write(SANDBOX_CONTROL, buf_span(&m).p, m.n);
    buf_free(&m);
}

static enum render_status tell_lies(const struct render_params *p)
{
    if (is(p, "lie-bytes"))
        lie(WIRE_DONE, RENDER_OK, 1ULL << 40, 0);
    else if (is(p, "lie-status"))
        lie(WIRE_DONE, 99, 0, 0);
    else if (is(p, "lie-type"))
        lie(WIRE_HELLO, 0, 0, 0);
    else if (is(p, "lie-more"))
        lie(WIRE_DONE, RENDER_OK, 0, 1);
    else if (is(p, "lie-nothing"))
        (void)!write(SANDBOX_CONTROL, "nothing that anybody reads", 26);
    else if (is(p, "lie-twice")) {
        lie(WIRE_DONE, RENDER_OK, 0, 0);
        return RENDER_OK;
    }
    _exit(0);
}

static enum render_status hold(const struct render_params *p, struct span source, struct buf *out)
{
    if (is(p, "socket"))
        return say(socket(AF_INET, SOCK_STREAM, 0) >= 0 || socket(AF_UNIX, SOCK_DGRAM, 0) >= 0, out);
    if (is(p, "open"))
        return say(try_open("/etc/passwd", O_RDONLY) || try_open("/", O_RDONLY) ||
                       try_open("/proc/self/maps", O_RDONLY) || try_open("/proc/self/mem", O_RDWR) ||
                       try_open("/tmp/hostile", O_WRONLY | O_CREAT) || try_open("/dev/null", O_WRONLY) ||
                       symlink("/etc/passwd", "/tmp/hostile-link") == 0 || unlink("/tmp/hostile") == 0,
                   out);
    if (is(p, "fonts"))
        return say(try_open("/usr/share/fonts", O_RDONLY | O_DIRECTORY), out);
    if (is(p, "folder"))
        return say(try_open("/usr/share", O_RDONLY | O_DIRECTORY), out);
    if (is(p, "folder-write"))
        return say(try_open("/usr/share/hostile", O_WRONLY | O_CREAT) || try_open("/usr/share", O_RDWR), out);
    if (is(p, "exec"))
        return say(try_exec(), out);
    if (is(p, "fork"))
        return say(try_fork(), out);
    if (is(p, "thread"))
        return say(try_thread(), out);
    if (is(p, "signal"))
        return say(try_signals(), out);
    if (is(p, "memory"))
        return say(try_memory(), out);
    if (is(p, "descriptors"))
        return say(try_descriptors(!strcmp(p->format, "text:program") ? WITH_PROGRAM : SANDBOX_FIRST_CLOSED),
                   out);
    if (is(p, "environment")) /* what it holds of its parent's is written there by execve */
        return say(getenv("PENSTOCK_SECRET") || getenv("PATH") || getuid() == 0 || geteuid() == 0, out);
    buf_add(out, source);
    return RENDER_OK;
}

static enum render_status render(struct span source, const struct render_params *p, struct buf *out,
                                 char sentence[RENDER_SENTENCE])
{
    if (is(p, "spin"))
        spin();
    if (is(p, "sleep"))
        sleep_for_ever();
    if (is(p, "crash"))
        __builtin_trap();
    if (is(p, "exit"))
        _exit(3);
    if (is(p, "take-memory"))
        return take_memory(out);
    if (is(p, "too-long"))
        while (buf_addc(out, 'x') == 0)
            ;
    if (span_starts(span_str(p->title), "lie-"))
        return tell_lies(p);
    if (is(p, "invalid")) {
        snprintf(sentence, RENDER_SENTENCE, "line 3 is no table");
        return RENDER_INVALID;
    }
    if (is(p, "failed"))
        return RENDER_FAILED;
    return hold(p, source, out);
}

/* Runs tests/fakes/hostile_program.c, to do what the title says; "twice" and "spent" are about runs. */
static enum render_status run(struct span source, const struct render_params *p, struct buf *out,
                              char sentence[RENDER_SENTENCE])
{
    (void)sentence;
    static const char *const ends[] = {"ended", "killed", "too much", "absent"};
    const char *const arguments[] = {p->title, NULL}, *const again[] = {"input", NULL};
    struct program_result r;
    bool more = is(p, "twice") || is(p, "spent");
    program_run(more ? again : arguments, source, program_take_buf, out, &r);
    for (int i = 0; more && i < (is(p, "spent") ? 2 : 1); i++)
        program_run(again, span_of("", 0), program_take_buf, out, &r);
    if (r.end == PROGRAM_ENDED && r.status == 0)
        return RENDER_OK;
    buf_free(out);
    buf_printf(out, "%s %d %d %zu %.10s", ends[r.end], r.status, r.signal, strlen(r.said), r.said);
    return RENDER_OK;
}

/* A child that has a program is held as any other. */
static enum render_status beside_program(struct span source, const struct render_params *p, struct buf *out,
                                         char sentence[RENDER_SENTENCE])
{
    struct render_params inner = *p;
    if (!span_starts(span_str(p->title), "child-"))
        return run(source, p, out, sentence);
    inner.title = p->title + 6;
    return hold(&inner, source, out);
}

static int broken(void)
{
    return -1;
}

enum { MIB = 1 << 20 };

static const struct renderer_ops plain = {.name = "plain",
                                          .version = "1",
                                          .formats = (const char *const[]){"plain", "docx", NULL},
                                          .limits = {.source_bytes = 65536,
                                                     .out_bytes = 65536,
                                                     .memory_bytes = 64 * MIB,
                                                     .cpu_s = 1,
                                                     .wall_ms = 3000},
                                          .render = render};
static const struct renderer_ops with_fonts = {.name = "with-fonts",
                                               .version = "2",
                                               .formats = (const char *const[]){"fonts", NULL},
                                               .limits = {.source_bytes = 65536,
                                                          .out_bytes = 65536,
                                                          .memory_bytes = 64 * MIB,
                                                          .cpu_s = 1,
                                                          .wall_ms = 3000},
                                               .fonts = true,
                                               .render = render};
static const struct renderer_ops with_folder = {
    .name = "with-folder",
    .version = "1",
    .formats = (const char *const[]){"folder", NULL},
    .limits =
        {.source_bytes = 65536, .out_bytes = 65536, .memory_bytes = 64 * MIB, .cpu_s = 1, .wall_ms = 3000},
    .reads = (const char *const[]){"/usr/share", "/nowhere", NULL},
    .render = render};
static const struct renderer_ops absent = {.name = "absent",
                                           .version = "1",
                                           .formats = (const char *const[]){"absent", NULL},
                                           .warm = broken,
                                           .render = render};

static const struct program program = {
    .name = HOSTILE_PROGRAM, .runs = 2, .memory_bytes = 64 * MIB, .cpu_s = 1};
static const struct program no_program = {
    .name = "penstock-no-such-program", .runs = 1, .memory_bytes = 64 * MIB, .cpu_s = 1};
static const struct renderer_ops with_program = {.name = "with-program",
                                                 .version = "1",
                                                 .formats = (const char *const[]){"text:program", NULL},
                                                 .limits = {.source_bytes = 65536,
                                                            .out_bytes = 65536,
                                                            .memory_bytes = 64 * MIB,
                                                            .cpu_s = 1,
                                                            .wall_ms = 20000},
                                                 .program = &program,
                                                 .render = beside_program};
static const struct renderer_ops without_program = {.name = "without-program",
                                                    .version = "1",
                                                    .formats = (const char *const[]){"text:absent", NULL},
                                                    .program = &no_program,
                                                    .render = beside_program};

const struct renderer_ops *const renderer_list[] = {&plain, &with_fonts, &with_folder, &absent, NULL};

const struct renderer_ops *const extractor_list[] = {&with_program, &without_program, NULL};

const struct renderer_ops *renderer_find(const char *format)
{
    for (size_t i = 0; renderer_list[i]; i++)
        for (size_t k = 0; renderer_list[i]->formats[k]; k++)
            if (!strcmp(renderer_list[i]->formats[k], format))
                return renderer_list[i];
    return NULL;
}
