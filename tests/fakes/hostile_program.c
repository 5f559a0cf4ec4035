/* A program that does what one which a document took over would do. Its argument says what; it prints "free"
 * when it got out, and "held" when it did not. Built without sanitizers, which need more than its cage
 * allows. */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

static volatile int never;

static bool try_open(const char *path, int flags)
{
    return open(path, flags, 0600) >= 0;
}

static bool try_opens(void)
{
    return try_open("/etc/passwd", O_RDONLY) || try_open("/", O_RDONLY) ||
           try_open("/proc/self/maps", O_RDONLY) || try_open("/proc/1/environ", O_RDONLY) ||
           try_open("/usr/share", O_RDONLY) || try_open("/tmp/hostile", O_WRONLY | O_CREAT) ||
           try_open("/tmp", O_RDWR | O_TMPFILE) || try_open("/dev/null", O_WRONLY) ||
           try_open("/proc/self/fd/0", O_RDWR) || try_open("/proc/self/fd/0", O_WRONLY | O_TRUNC) ||
           write(0, "x", 1) > 0 || ftruncate(0, 0) == 0 || symlink("/etc/passwd", "/tmp/hostile-link") == 0 ||
           unlink("/tmp/hostile") == 0;
}

static bool try_exec(const char *self)
{
    char *const shell[] = {(char *)"/bin/sh", (char *)"-c", (char *)"echo free", NULL};
    char *const again[] = {(char *)self, (char *)"say-free", NULL};
    execve(shell[0], shell, NULL);
    execve(again[0], again, NULL);
    int fd = open(self, O_RDONLY);
    syscall(SYS_execveat, fd, "", again, NULL, AT_EMPTY_PATH);
    return false;
}

static bool try_fork(void)
{
    long pid = syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);
    if (pid == 0)
        _exit(0);
    return pid > 0 || fork() > 0 || vfork() > 0;
}

static void *in_thread(void *arg)
{
    return arg;
}

static bool try_thread(void)
{
    pthread_t t;
    return pthread_create(&t, NULL, in_thread, NULL) == 0;
}

static bool try_signals(void)
{
    return kill(getppid(), 0) == 0 || kill(1, 0) == 0 || kill(-1, 0) == 0 || kill(getpid(), 0) == 0 ||
           ptrace(PTRACE_ATTACH, getppid(), 0, 0) == 0 || fcntl(1, F_SETOWN, 1) == 0;
}

static bool try_memory(void)
{
    void *p = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return mprotect(p, 4096, PROT_READ | PROT_EXEC) == 0 ||
           mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) != MAP_FAILED ||
           mmap(NULL, 4096, PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) != MAP_FAILED ||
           syscall(SYS_memfd_create, "x", 0) >= 0;
}

static bool try_sockets(void)
{
    int pair[2];
    return socket(AF_INET, SOCK_STREAM, 0) >= 0 || socket(AF_UNIX, SOCK_DGRAM, 0) >= 0 ||
           socketpair(AF_UNIX, SOCK_STREAM, 0, pair) == 0;
}

static bool try_limits(void)
{
    struct rlimit more = {RLIM_INFINITY, RLIM_INFINITY}, cpu;
    getrlimit(RLIMIT_CPU, &cpu);
    return setrlimit(RLIMIT_CPU, &more) == 0 || setrlimit(RLIMIT_AS, &more) == 0 ||
           cpu.rlim_cur == RLIM_INFINITY;
}

static bool has_more_descriptors(void)
{
    for (int fd = 3; fd < 4096; fd++)
        if (fcntl(fd, F_GETFD) >= 0)
            return true;
    return false;
}

static unsigned take_memory(void)
{
    unsigned n = 0;
    while (n < 8192 &&
           mmap(NULL, 1 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) != MAP_FAILED)
        n++;
    return n;
}

/* Twice: as it is, and opened as a file. */
static int read_input(void)
{
    char text[64];
    for (int i = 0; i < 2; i++) {
        FILE *f = i ? fopen("/proc/self/fd/0", "r") : stdin;
        size_t n = f ? fread(text, 1, sizeof text, f) : 0;
        if (!f || fseek(f, 0, SEEK_SET) != 0)
            return 1;
        fwrite(text, 1, n, stdout);
        putchar('|');
    }
    fputs("said aside\n", stderr);
    return 7;
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "";
    bool is_free = false;
    if (strcmp(what, "input") == 0)
        return read_input();
    if (strcmp(what, "spin") == 0)
        while (!never)
            ;
    if (strcmp(what, "sleep") == 0)
        for (;;)
            sleep(1000);
    if (strcmp(what, "crash") == 0)
        abort();
    if (strcmp(what, "too-long") == 0)
        for (;;)
            if (puts("more and more and more") < 0)
                return 1;
    if (strcmp(what, "aside") == 0)
        for (int i = 0; i < 100000; i++)
            fputs("more and more and more\n", stderr);
    if (strcmp(what, "take-memory") == 0)
        return printf("%u", take_memory()) < 0;
    if (strcmp(what, "open") == 0)
        is_free = try_opens();
    else if (strcmp(what, "exec") == 0)
        is_free = try_exec(argv[0]);
    else if (strcmp(what, "fork") == 0)
        is_free = try_fork();
    else if (strcmp(what, "thread") == 0)
        is_free = try_thread();
    else if (strcmp(what, "signal") == 0)
        is_free = try_signals();
    else if (strcmp(what, "memory") == 0)
        is_free = try_memory();
    else if (strcmp(what, "socket") == 0)
        is_free = try_sockets();
    else if (strcmp(what, "limits") == 0)
        is_free = try_limits();
    else if (strcmp(what, "descriptors") == 0)
        is_free = has_more_descriptors();
    else if (strcmp(what, "environment") == 0)
        is_free = getenv("PENSTOCK_SECRET") || getenv("PATH") || getuid() == 0 || geteuid() == 0;
    else if (strcmp(what, "say-free") == 0)
        is_free = true;
    puts(is_free ? "free" : "held");
    return 0;
}
