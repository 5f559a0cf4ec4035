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

struct sandbox {
    struct filter plain, fonts;
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
    SCMP_SYS(exit),
    SCMP_SYS(exit_group),
};

static const int font_calls[] = {
    SCMP_SYS(access),     SCMP_SYS(faccessat),  SCMP_SYS(faccessat2), SCMP_SYS(readlink),
    SCMP_SYS(readlinkat), SCMP_SYS(getdents64), SCMP_SYS(stat),       SCMP_SYS(lstat),
    SCMP_SYS(statx),      SCMP_SYS(statfs),     SCMP_SYS(getcwd),
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

static int allow_fonts(scmp_filter_ctx f)
{
    const uint64_t thread = CLONE_VM | CLONE_THREAD | CLONE_SIGHAND;
    return allow_each(f, font_calls, sizeof font_calls / sizeof font_calls[0]) |
           allow_if(f, SCMP_SYS(openat), 2, WRITING, O_RDONLY) |
           allow_if(f, SCMP_SYS(open), 1, WRITING, O_RDONLY) |
           allow_if(f, SCMP_SYS(clone), 0, thread | NOT_OF_A_THREAD, thread);
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

static int compile(bool fonts, struct filter *out)
{
    scmp_filter_ctx f = seccomp_init(SCMP_ACT_ERRNO(EPERM));
    int fd = memfd_create("filter", MFD_CLOEXEC);
    int failed = -1;
    if (f && fd >= 0 && !allow_each(f, calls, sizeof calls / sizeof calls[0]) && !allow_narrow(f) &&
        (!fonts || !allow_fonts(f)) && !seccomp_export_bpf(f, fd))
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
    if (compile(false, &s->plain) == 0 && compile(true, &s->fonts) == 0)
        return s;
    sandbox_destroy(s);
    return NULL;
}

void sandbox_destroy(struct sandbox *s)
{
    if (!s)
        return;
    xfree(s->plain.rules);
    xfree(s->fonts.rules);
    xfree(s);
}

static bool enter_seccomp(const struct sandbox *s, bool fonts)
{
    const struct filter *f = !s ? NULL : fonts ? &s->fonts : &s->plain;
    if (!f)
        return false;
    struct sock_fprog program = {.len = (unsigned short)f->n, .filter = f->rules};
    return syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program) == 0;
}

/* ---- landlock ---- */

/* As of its sixth version; older kernels are given the part that they know. */
struct ruleset {
    uint64_t handled_access_fs, handled_access_net, scoped;
};

static const char *const font_folders[] = {"/usr/share/fonts",      "/usr/local/share/fonts",
                                           "/usr/share/fontconfig", "/etc/fonts",
                                           "/var/cache/fontconfig", NULL};

static int add_folders(int ruleset)
{
    for (size_t i = 0; font_folders[i]; i++) {
        struct landlock_path_beneath_attr below = {.allowed_access = LANDLOCK_ACCESS_FS_READ_FILE |
                                                                     LANDLOCK_ACCESS_FS_READ_DIR,
                                                   .parent_fd = open(font_folders[i], O_PATH | O_CLOEXEC)};
        if (below.parent_fd < 0)
            continue; /* not on this machine */
        long failed = syscall(SYS_landlock_add_rule, ruleset, LANDLOCK_RULE_PATH_BENEATH, &below, 0);
        close(below.parent_fd);
        if (failed)
            return -1;
    }
    return 0;
}

static bool enter_landlock(bool fonts)
{
    long abi = syscall(SYS_landlock_create_ruleset, NULL, 0, LANDLOCK_CREATE_RULESET_VERSION);
    if (abi < 1)
        return false;
    unsigned rights = abi >= 5 ? 16 : abi >= 3 ? 15 : abi >= 2 ? 14 : 13;
    struct ruleset r = {.handled_access_fs = (1ULL << rights) - 1, .handled_access_net = 3, .scoped = 3};
    size_t n = abi >= 6 ? sizeof r : abi >= 4 ? 2 * sizeof(uint64_t) : sizeof(uint64_t);
    int ruleset = (int)syscall(SYS_landlock_create_ruleset, &r, n, 0);
    if (ruleset < 0)
        return false;
    bool entered =
        (!fonts || add_folders(ruleset) == 0) && syscall(SYS_landlock_restrict_self, ruleset, 0) == 0;
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

static bool enter_rlimits(const struct render_limits *l, bool fonts)
{
    bool ok = set_limit(RLIMIT_CPU, l->cpu_s, l->cpu_s + 1) &&
              set_limit(RLIMIT_FSIZE, l->out_bytes, l->out_bytes) && set_limit(RLIMIT_CORE, 0, 0) &&
              set_limit(RLIMIT_NOFILE, FILES, FILES) && set_limit(RLIMIT_MEMLOCK, 0, 0) &&
              set_limit(RLIMIT_MSGQUEUE, 0, 0);
    if (!fonts) /* pango starts a thread, which counts */
        ok = ok && set_limit(RLIMIT_NPROC, 0, 0);
    if (LIMIT_MEMORY && l->memory_bytes) {
        uint64_t most = address_space() + l->memory_bytes;
        ok = ok && set_limit(RLIMIT_AS, most, most);
    }
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

static bool has_more_descriptors(void)
{
    for (int fd = SANDBOX_FIRST_CLOSED; fd < 1024; fd++)
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

unsigned sandbox_enter(const struct sandbox *s, const struct render_limits *limits, bool fonts, int parent)
{
    unsigned layers = 0;
    signal(SIGXFSZ, SIG_IGN); /* a write over the limit fails and is reported as one */
    if (close_range(SANDBOX_FIRST_CLOSED, ~0U, 0) == 0 && !has_more_descriptors())
        layers |= SANDBOX_DESCRIPTORS;
    if (enter_rlimits(limits, fonts))
        layers |= SANDBOX_RLIMITS;
    if (enter_privileges(parent))
        layers |= SANDBOX_PRIVILEGES;
    if (enter_landlock(fonts))
        layers |= SANDBOX_LANDLOCK;
    if (enter_seccomp(s, fonts))
        layers |= SANDBOX_SECCOMP;
    const unsigned all = SANDBOX_ALL & ~(unsigned)SANDBOX_PROVEN;
    if (layers == all && prove(parent))
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
