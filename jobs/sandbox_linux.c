#include "jobs/sandbox.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/capability.h>
#include <linux/filter.h>
#include <linux/landlock.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <seccomp.h>
#include <signal.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <termios.h>
#include <unistd.h>

#include "base/xalloc.h"

/* AddressSanitizer's shadow takes terabytes of address space. */
#if defined(__SANITIZE_ADDRESS__)
enum { LIMIT_MEMORY = 0 };
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
enum { LIMIT_MEMORY = 0 };
#else
enum { LIMIT_MEMORY = 1 };
#endif
#else
enum { LIMIT_MEMORY = 1 };
#endif

enum { NOBODY = 65534, FILES = 64, FILTER_MOST = 64 * 1024 };

/* Compiled once; a child only loads them. */
struct filter {
    struct sock_filter *rules;
    size_t n;
};

enum kind { KIND_PLAIN, KIND_FONTS, KIND_PROGRAM, KIND_THREADED_PROGRAM, KINDS };

struct sandbox {
    struct filter filters[KINDS];
};

/* ---- seccomp: the lists ---- */

static const int calls[] = {
    SCMP_SYS(read),
    SCMP_SYS(pread64),
    SCMP_SYS(readv),
    SCMP_SYS(write),
    SCMP_SYS(pwrite64),
    SCMP_SYS(writev),
    SCMP_SYS(lseek),
    SCMP_SYS(close),
    SCMP_SYS(fstat),
    SCMP_SYS(newfstatat),
    SCMP_SYS(fstatfs),
    SCMP_SYS(fadvise64),
    SCMP_SYS(ftruncate),
    SCMP_SYS(munmap),
    SCMP_SYS(mremap),
    SCMP_SYS(madvise),
    SCMP_SYS(brk),
    SCMP_SYS(futex),
    SCMP_SYS(getrandom),
    SCMP_SYS(sysinfo),
    SCMP_SYS(getrlimit),
    SCMP_SYS(getrusage),
    SCMP_SYS(getpid),
    SCMP_SYS(gettid),
    SCMP_SYS(getuid),
    SCMP_SYS(geteuid),
    SCMP_SYS(getgid),
    SCMP_SYS(getegid),
    SCMP_SYS(uname),
    SCMP_SYS(clock_gettime),
    SCMP_SYS(clock_getres),
    SCMP_SYS(gettimeofday),
    SCMP_SYS(time),
    SCMP_SYS(rt_sigaction),
    SCMP_SYS(rt_sigprocmask),
    SCMP_SYS(rt_sigreturn),
    SCMP_SYS(sigaltstack),
    SCMP_SYS(sched_yield),
    SCMP_SYS(sched_getaffinity),
    SCMP_SYS(set_tid_address),
    SCMP_SYS(set_robust_list),
    SCMP_SYS(rseq),
    SCMP_SYS(membarrier),
    SCMP_SYS(restart_syscall),
    SCMP_SYS(poll),
    SCMP_SYS(ppoll),
    SCMP_SYS(wait4),
    SCMP_SYS(exit),
    SCMP_SYS(exit_group),
};

/* Reading by path, of those who may open anything at all. */
static const int path_calls[] = {
    SCMP_SYS(access),     SCMP_SYS(faccessat),  SCMP_SYS(faccessat2), SCMP_SYS(readlink),
    SCMP_SYS(readlinkat), SCMP_SYS(getdents64), SCMP_SYS(stat),       SCMP_SYS(lstat),
    SCMP_SYS(statx),      SCMP_SYS(statfs),     SCMP_SYS(getcwd),
};

/* Of programs and their loader. execve is narrowed once more by guard_exec. */
static const int program_calls[] = {
    SCMP_SYS(execve),   SCMP_SYS(arch_prctl), SCMP_SYS(select),
    SCMP_SYS(pselect6), SCMP_SYS(nanosleep),  SCMP_SYS(clock_nanosleep),
};

enum { WRITING = O_ACCMODE | O_CREAT | O_TRUNC | O_APPEND | (O_TMPFILE & ~O_DIRECTORY) };

static int allow_each(scmp_filter_ctx f, const int *list, size_t n)
{
    int failed = 0;
    for (size_t i = 0; i < n; i++)
        if (list[i] != __NR_SCMP_ERROR)
            failed |= seccomp_rule_add_array(f, SCMP_ACT_ALLOW, list[i], 0, NULL);
    return failed;
}

/* Only where the bits of `mask` in that argument are those of `value`. */
static int allow_if(scmp_filter_ctx f, int call, unsigned argument, uint64_t mask, uint64_t value)
{
    struct scmp_arg_cmp c = {.arg = argument, .op = SCMP_CMP_MASKED_EQ, .datum_a = mask, .datum_b = value};
    return seccomp_rule_add_array(f, SCMP_ACT_ALLOW, call, 1, &c);
}

/* The kernel looks at the lower half of an int. */
static int allow_word(scmp_filter_ctx f, int call, unsigned argument, unsigned value)
{
    return allow_if(f, call, argument, UINT32_MAX, value);
}

/* Memory may be written or run, not both, and nothing that was not code at the start becomes code. */
static int allow_memory(scmp_filter_ctx f)
{
    return allow_if(f, SCMP_SYS(mmap), 2, PROT_EXEC, 0) | allow_if(f, SCMP_SYS(mprotect), 2, PROT_EXEC, 0);
}

/* Loaders map code from files, which never is memory that can be written. */
static int allow_code(scmp_filter_ctx f)
{
    static const struct scmp_arg_cmp code[] = {
        {.arg = 2, .op = SCMP_CMP_MASKED_EQ, .datum_a = PROT_EXEC | PROT_WRITE, .datum_b = PROT_EXEC},
        {.arg = 3, .op = SCMP_CMP_MASKED_EQ, .datum_a = MAP_ANONYMOUS, .datum_b = 0}};
    return seccomp_rule_add_array(f, SCMP_ACT_ALLOW, SCMP_SYS(mmap), 2, code);
}

static int allow_narrow(scmp_filter_ctx f)
{
    static const unsigned descriptor[] = {F_GETFD, F_SETFD, F_GETFL, F_DUPFD_CLOEXEC, F_GET_SEALS};
    static const struct scmp_arg_cmp own_limit[] = {
        {.arg = 0, .op = SCMP_CMP_MASKED_EQ, .datum_a = UINT32_MAX, .datum_b = 0},
        {.arg = 2, .op = SCMP_CMP_MASKED_EQ, .datum_a = UINT64_MAX, .datum_b = 0}};
    int failed = allow_memory(f);
    for (size_t i = 0; i < sizeof descriptor / sizeof descriptor[0]; i++)
        failed |= allow_word(f, SCMP_SYS(fcntl), 1, descriptor[i]);
    failed |= allow_word(f, SCMP_SYS(ioctl), 1, TCGETS);
    failed |= allow_word(f, SCMP_SYS(prctl), 0, PR_SET_NAME);
    /* Asking for a limit of one's own, not setting one. */
    failed |= seccomp_rule_add_array(f, SCMP_ACT_ALLOW, SCMP_SYS(prlimit64), 2, own_limit);
    /* glibc takes this answer for an old kernel and uses clone, whose flags can be seen here. */
    failed |= seccomp_rule_add_array(f, SCMP_ACT_ERRNO(ENOSYS), SCMP_SYS(clone3), 0, NULL);
    return failed;
}

enum {
    NOT_OF_A_THREAD = CLONE_NEWNS | CLONE_NEWCGROUP | CLONE_NEWUTS | CLONE_NEWIPC | CLONE_NEWUSER |
                      CLONE_NEWPID | CLONE_NEWNET | CLONE_PTRACE | CLONE_VFORK
};

static int allow_paths(scmp_filter_ctx f)
{
    return allow_each(f, path_calls, sizeof path_calls / sizeof path_calls[0]) |
           allow_if(f, SCMP_SYS(openat), 2, WRITING, O_RDONLY) |
           allow_if(f, SCMP_SYS(open), 1, WRITING, O_RDONLY);
}

static int allow_threads(scmp_filter_ctx f)
{
    const uint64_t thread = CLONE_VM | CLONE_THREAD | CLONE_SIGHAND;
    return allow_if(f, SCMP_SYS(clone), 0, thread | NOT_OF_A_THREAD, thread);
}

static int allow_kind(scmp_filter_ctx f, enum kind kind)
{
    int failed = kind == KIND_PLAIN ? 0 : allow_paths(f);
    if (kind == KIND_FONTS || kind == KIND_THREADED_PROGRAM)
        failed |= allow_threads(f);
    if (kind == KIND_PROGRAM || kind == KIND_THREADED_PROGRAM)
        failed |=
            allow_code(f) | allow_each(f, program_calls, sizeof program_calls / sizeof program_calls[0]);
    return failed;
}

/* ---- seccomp: compiling and loading ---- */

static int read_filter(int fd, struct filter *out)
{
    struct stat st;
    if (fstat(fd, &st) || st.st_size <= 0 || st.st_size > FILTER_MOST)
        return -1;
    size_t n = (size_t)st.st_size;
    out->rules = xmalloc(n);
    out->n = n / sizeof *out->rules;
    return pread(fd, out->rules, n, 0) == (ssize_t)n ? 0 : -1;
}

static int compile(enum kind kind, struct filter *out)
{
    scmp_filter_ctx f = seccomp_init(SCMP_ACT_ERRNO(EPERM));
    int fd = memfd_create("filter", MFD_CLOEXEC);
    int failed = -1;
    if (f && fd >= 0 && !allow_each(f, calls, sizeof calls / sizeof calls[0]) && !allow_narrow(f) &&
        !allow_kind(f, kind) && !seccomp_export_bpf(f, fd))
        failed = read_filter(fd, out);
    if (fd >= 0)
        close(fd);
    if (f)
        seccomp_release(f);
    return failed;
}

struct sandbox *sandbox_create(void)
{
    struct sandbox *s = xcalloc(1, sizeof *s);
    for (int kind = 0; kind < KINDS; kind++)
        if (compile((enum kind)kind, &s->filters[kind])) {
            sandbox_destroy(s);
            return NULL;
        }
    return s;
}

void sandbox_destroy(struct sandbox *s)
{
    if (!s)
        return;
    for (int kind = 0; kind < KINDS; kind++)
        xfree(s->filters[kind].rules);
    xfree(s);
}

static bool load(struct sock_filter *rules, size_t n)
{
    struct sock_fprog program = {.len = (unsigned short)n, .filter = rules};
    return syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program) == 0;
}

#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
enum { LOWER_HALF = 0, UPPER_HALF = 4 };
#else
enum { LOWER_HALF = 4, UPPER_HALF = 0 };
#endif

/* execve only with the path at this one address, which is gone and forgotten once the program runs. */
static bool guard_exec(const char *hidden)
{
    const uint64_t at = (uintptr_t)hidden;
    const unsigned first = offsetof(struct seccomp_data, args[0]);
    struct sock_filter rules[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (unsigned)SYS_execve, 0, 4),
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, first + LOWER_HALF),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (unsigned)at, 0, 3),
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, first + UPPER_HALF),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (unsigned)(at >> 32), 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
    };
    return load(rules, sizeof rules / sizeof rules[0]);
}

static bool enter_seccomp(const struct sandbox_entry *e)
{
    enum kind kind = !e->program           ? e->fonts ? KIND_FONTS : KIND_PLAIN
                     : e->program->threads ? KIND_THREADED_PROGRAM
                                           : KIND_PROGRAM;
    if (!e->sandbox || (e->program && !guard_exec(e->hidden)))
        return false;
    const struct filter *f = &e->sandbox->filters[kind];
    return load(f->rules, f->n);
}

/* ---- landlock ---- */

/* Whether it is a child that runs a program. */
static bool has_runners(const struct sandbox_entry *e)
{
    return !e->program && e->first_closed > SANDBOX_FIRST_CLOSED;
}

/* Scopes of the sixth version. */
enum { SCOPE_ABSTRACT_SOCKETS = 1, SCOPE_SIGNALS = 2 };

/* As of its sixth version; older kernels are given the part that they know. */
struct ruleset {
    uint64_t handled_access_fs, handled_access_net, scoped;
};

static const char *const font_folders[] = {"/usr/share/fonts",      "/usr/local/share/fonts",
                                           "/usr/share/fontconfig", "/etc/fonts",
                                           "/var/cache/fontconfig", NULL};

/* What a program's loader needs: libraries and their index. */
static const char *const library_folders[] = {"/lib",           "/lib64",           "/usr/lib", "/usr/lib64",
                                              "/usr/local/lib", "/etc/ld.so.cache", NULL};
/* The loaders themselves, which the kernel runs for the program. */
static const char *const loaders[] = {"/lib64/ld-linux-x86-64.so.2", "/lib/ld-linux-aarch64.so.1",
                                      "/lib/ld-linux-armhf.so.3",    "/lib/ld-musl-x86_64.so.1",
                                      "/lib/ld-musl-aarch64.so.1",   NULL};

enum {
    MAY_READ = LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_READ_DIR,
    MAY_READ_FILE = LANDLOCK_ACCESS_FS_READ_FILE,
    MAY_RUN = LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_EXECUTE
};

/* What is not on this machine needs no right. A file has no right that only a folder can have. */
static int add_path(int ruleset, const char *path, unsigned rights)
{
    struct stat st;
    struct landlock_path_beneath_attr below = {.parent_fd = open(path, O_PATH | O_CLOEXEC)};
    if (below.parent_fd < 0)
        return 0;
    bool folder = fstat(below.parent_fd, &st) == 0 && S_ISDIR(st.st_mode);
    below.allowed_access = folder ? rights : rights & ~(unsigned)LANDLOCK_ACCESS_FS_READ_DIR;
    long failed = syscall(SYS_landlock_add_rule, ruleset, LANDLOCK_RULE_PATH_BENEATH, &below, 0);
    close(below.parent_fd);
    return failed ? -1 : 0;
}

static int add_paths(int ruleset, const char *const *paths, unsigned rights)
{
    int failed = 0;
    for (size_t i = 0; paths && paths[i]; i++)
        failed |= add_path(ruleset, paths[i], rights);
    return failed;
}

static int add_program(int ruleset, const struct sandbox_entry *e)
{
    return add_path(ruleset, e->path, MAY_RUN) | add_paths(ruleset, loaders, MAY_RUN) |
           add_paths(ruleset, library_folders, MAY_READ) | add_paths(ruleset, e->program->reads, MAY_READ);
}

static bool enter_landlock(const struct sandbox_entry *e)
{
    long abi = syscall(SYS_landlock_create_ruleset, NULL, 0, LANDLOCK_CREATE_RULESET_VERSION);
    if (abi < 1)
        return false;
    unsigned rights = abi >= 5 ? 16 : abi >= 3 ? 15 : abi >= 2 ? 14 : 13;
    struct ruleset r = {
        .handled_access_fs = (1ULL << rights) - 1, .handled_access_net = 3, .scoped = SCOPE_ABSTRACT_SOCKETS};
    /* A program dies with its child by a signal that counts as the child's own; seccomp holds back all
     * others. */
    r.scoped |= has_runners(e) ? 0 : SCOPE_SIGNALS;
    size_t n = abi >= 6 ? sizeof r : abi >= 4 ? 2 * sizeof(uint64_t) : sizeof(uint64_t);
    int ruleset = (int)syscall(SYS_landlock_create_ruleset, &r, n, 0);
    if (ruleset < 0)
        return false;
    bool entered = (!e->fonts || add_paths(ruleset, font_folders, MAY_READ) == 0) &&
                   (!e->program || add_program(ruleset, e) == 0) &&
                   syscall(SYS_landlock_restrict_self, ruleset, 0) == 0;
    close(ruleset);
    return entered;
}

/* ---- limits and privileges ---- */

static bool set_limit(unsigned which, rlim_t soft, rlim_t hard)
{
    struct rlimit now, wanted = {.rlim_cur = soft, .rlim_max = hard};
    if (getrlimit(which, &now))
        return false;
    if (now.rlim_max < wanted.rlim_max)
        wanted.rlim_max = now.rlim_max;
    if (wanted.rlim_cur > wanted.rlim_max)
        wanted.rlim_cur = wanted.rlim_max;
    return setrlimit(which, &wanted) == 0;
}

/* What the program takes already, in bytes of address space. */
static uint64_t address_space(void)
{
    char text[64] = "";
    uint64_t pages = 0;
    int fd = open("/proc/self/statm", O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return 0;
    ssize_t n = read(fd, text, sizeof text - 1);
    close(fd);
    for (ssize_t i = 0; i < n && text[i] >= '0' && text[i] <= '9'; i++)
        pages = pages * 10 + (uint64_t)(text[i] - '0');
    return pages * (uint64_t)sysconf(_SC_PAGESIZE);
}

struct limits {
    uint64_t cpu_s, file_bytes, memory_bytes; /* memory 0: any */
    bool threads;
};

/* A program begins with an empty address space; a child has its spawner's already, and writes its program's
 * input beside its output. */
static struct limits limits_of(const struct sandbox_entry *e)
{
    const struct render_limits *l = e->limits;
    if (e->program)
        return (struct limits){.cpu_s = e->program->cpu_s,
                               .memory_bytes = e->program->memory_bytes,
                               .threads = e->program->threads};
    return (struct limits){
        .cpu_s = l->cpu_s,
        .file_bytes = has_runners(e) && l->source_bytes > l->out_bytes ? l->source_bytes : l->out_bytes,
        .memory_bytes = l->memory_bytes ? address_space() + l->memory_bytes : 0,
        .threads = e->fonts, /* pango starts one */
    };
}

static bool enter_rlimits(const struct sandbox_entry *e)
{
    struct limits l = limits_of(e);
    bool ok = set_limit(RLIMIT_CPU, l.cpu_s, l.cpu_s + 1) &&
              set_limit(RLIMIT_FSIZE, l.file_bytes, l.file_bytes) && set_limit(RLIMIT_CORE, 0, 0) &&
              set_limit(RLIMIT_NOFILE, FILES, FILES) && set_limit(RLIMIT_MEMLOCK, 0, 0) &&
              set_limit(RLIMIT_MSGQUEUE, 0, 0);
    if (!l.threads) /* they count */
        ok = ok && set_limit(RLIMIT_NPROC, 0, 0);
    if (LIMIT_MEMORY && l.memory_bytes)
        ok = ok && set_limit(RLIMIT_AS, l.memory_bytes, l.memory_bytes);
    return ok;
}

/* In a namespace that knows no nobody the user stays, without its capabilities. */
static void drop_user(void)
{
    struct __user_cap_header_struct head = {.version = _LINUX_CAPABILITY_VERSION_3};
    struct __user_cap_data_struct none[_LINUX_CAPABILITY_U32S_3] = {{0}};
    if (geteuid() == 0 && setgroups(0, NULL) == 0 && setresgid(NOBODY, NOBODY, NOBODY) == 0)
        (void)!setresuid(NOBODY, NOBODY, NOBODY);
    (void)syscall(SYS_capset, &head, none);
}

static bool has_capabilities(void)
{
    struct __user_cap_header_struct head = {.version = _LINUX_CAPABILITY_VERSION_3};
    struct __user_cap_data_struct mine[_LINUX_CAPABILITY_U32S_3];
    if (syscall(SYS_capget, &head, mine))
        return true;
    for (size_t i = 0; i < _LINUX_CAPABILITY_U32S_3; i++)
        if (mine[i].effective || mine[i].permitted)
            return true;
    return false;
}

static bool enter_privileges(int parent)
{
    drop_user();
    bool ok = prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 && prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) == 0 &&
              prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0) == 0;
    if (getppid() != parent)
        _exit(1); /* it died before it could have told */
    return ok && prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) == 1 && !has_capabilities();
}

/* ---- proof ---- */

static bool opens(const char *path, int flags)
{
    int fd = (int)syscall(SYS_openat, AT_FDCWD, path, flags, 0600);
    if (fd >= 0)
        close(fd);
    return fd >= 0;
}

static bool forks(void)
{
    long pid = syscall(SYS_clone, (long)SIGCHLD, 0L, 0L, 0L, 0L);
    if (pid == 0)
        _exit(1);
    return pid > 0;
}

static bool connects(void)
{
    static const int families[] = {AF_INET, AF_INET6, AF_UNIX, AF_NETLINK};
    int pair[2];
    for (size_t i = 0; i < sizeof families / sizeof families[0]; i++)
        if (socket(families[i], SOCK_STREAM, 0) >= 0 || socket(families[i], SOCK_DGRAM, 0) >= 0)
            return true;
    return socketpair(AF_UNIX, SOCK_STREAM, 0, pair) == 0;
}

static bool has_more_descriptors(int first)
{
    for (int fd = first; fd < 1024; fd++)
        if (fcntl(fd, F_GETFD) >= 0)
            return true;
    return false;
}

/* True when everything that must fail did. A file that can be run would end the proof by running it. */
static bool prove(int parent)
{
    char *const none[] = {NULL};
    if (opens("/", O_RDONLY | O_DIRECTORY) || opens("/etc/passwd", O_RDONLY) ||
        opens("/proc/self/environ", O_RDONLY) || opens("/tmp", O_RDWR | O_TMPFILE) ||
        opens("/tmp/penstock-cage", O_WRONLY | O_CREAT) || opens("/usr/share/fonts/x", O_WRONLY | O_CREAT))
        return false;
    if (connects() || forks() || kill(parent, 0) == 0 || ptrace(PTRACE_TRACEME, 0, NULL, NULL) == 0)
        return false;
    if (mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) !=
        MAP_FAILED)
        return false;
    execve("/bin/true", none, none);
    return errno == EPERM || errno == EACCES;
}

/* ---- all of it ---- */

/* The user changes before the limits: whoever becomes somebody that has as many processes as he may can start
 * no program. */
unsigned sandbox_enter(const struct sandbox_entry *e)
{
    unsigned layers = 0;
    signal(SIGXFSZ, SIG_IGN); /* a write over the limit fails and is reported as one */
    if (close_range((unsigned)e->first_closed, ~0U, 0) == 0 && !has_more_descriptors(e->first_closed))
        layers |= SANDBOX_DESCRIPTORS;
    if (enter_privileges(e->parent))
        layers |= SANDBOX_PRIVILEGES;
    if (enter_rlimits(e))
        layers |= SANDBOX_RLIMITS;
    if (enter_landlock(e))
        layers |= SANDBOX_LANDLOCK;
    if (enter_seccomp(e))
        layers |= SANDBOX_SECCOMP;
    const unsigned all = SANDBOX_ALL & ~(unsigned)SANDBOX_PROVEN;
    if (layers == all && prove(e->parent))
        layers |= SANDBOX_PROVEN;
    return layers;
}

void sandbox_names(unsigned layers, char out[64])
{
    static const char *const names[] = {"privileges", "rlimits",     "landlock",
                                        "seccomp",    "descriptors", "proof"};
    size_t n = 0;
    out[0] = '\0';
    for (size_t i = 0; i < sizeof names / sizeof names[0] && n < 64; i++)
        if (layers & (1U << i))
            n += (size_t)snprintf(out + n, 64 - n, "%s%s", n ? ", " : "", names[i]);
}
