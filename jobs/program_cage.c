#include "jobs/program_cage.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

enum { RUNNER_ARGUMENTS = 3, RUNNER_FIRST_CLOSED, PAGE = 4096, PATH = 256, ABOVE_ALL = 64 };

int program_find(const struct program *p, char path[PATH])
{
    static const char *const folders[] = {"/usr/local/bin/", "/usr/bin/", "/bin/"};
    bool is_path = strchr(p->name, '/') != NULL;
    struct stat st;
    for (size_t i = 0; i < (is_path ? 1 : sizeof folders / sizeof folders[0]); i++) {
        int n = snprintf(path, PATH, "%s%s", is_path ? "" : folders[i], p->name);
        if (n > 0 && n < PATH && stat(path, &st) == 0 && S_ISREG(st.st_mode) && access(path, X_OK) == 0)
            return 0;
    }
    return -1;
}

/* ---- the runner ---- */

/* A copy of the path where nobody who comes later can know it; execve is allowed from there alone. */
static char *hide_path(const char *path)
{
    unsigned short at = 0;
    char *page = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (page == MAP_FAILED || getrandom(&at, sizeof at, 0) != sizeof at)
        return NULL;
    char *hidden = page + at % (PAGE - PATH);
    memcpy(hidden, path, strlen(path) + 1);
    return hidden;
}

/* Everything up to the end of file. 0: nothing came, or too much. */
static size_t read_arguments(char text[PROGRAM_ARGUMENT_BYTES])
{
    size_t n = 0;
    ssize_t got;
    while (n < PROGRAM_ARGUMENT_BYTES &&
           (got = read(RUNNER_ARGUMENTS, text + n, PROGRAM_ARGUMENT_BYTES - n)) != 0) {
        if (got < 0 && errno != EINTR)
            return 0;
        n += got > 0 ? (size_t)got : 0;
    }
    return n < PROGRAM_ARGUMENT_BYTES && n && text[n - 1] == '\0' ? n : 0;
}

static _Noreturn void execute(const struct program *p, char *path)
{
    char text[PROGRAM_ARGUMENT_BYTES];
    char *arguments[PROGRAM_ARGUMENTS] = {(char *)p->name};
    char *const environment[] = {(char *)"LANG=C.UTF-8", (char *)"TZ=UTC0", NULL};
    size_t n = read_arguments(text), count = 1;
    for (size_t at = 0; at < n && count < PROGRAM_ARGUMENTS - 1; at += strlen(text + at) + 1)
        arguments[count++] = text + at;
    close(RUNNER_ARGUMENTS);
    if (n)
        execve(path, arguments, environment);
    _exit(n ? 127 : 0);
}

/* Its ends of the pipes become 0 to 3. */
static int place_ends(const int ends[4])
{
    int high[4];
    for (int i = 0; i < 4; i++)
        high[i] = fcntl(ends[i], F_DUPFD, ABOVE_ALL);
    for (int i = 0; i < 4; i++)
        if (high[i] < 0 || dup2(high[i], i) < 0)
            return -1;
    return 0;
}

/* Says what it is caged by, and later who it is, where its program's output will be. */
static _Noreturn void runner(const struct program *p, const struct sandbox *s, const char *path, int parent,
                             const int ends[4])
{
    struct sandbox_entry entry = {
        .sandbox = s, .program = p, .path = path, .first_closed = RUNNER_FIRST_CLOSED, .parent = parent};
    char *hidden = hide_path(path);
    if (place_ends(ends) || !hidden)
        _exit(1);
    entry.hidden = hidden;
    const uint32_t words[] = {sandbox_enter(&entry), (uint32_t)getpid()};
    if (write(STDOUT_FILENO, words, sizeof words) != sizeof words)
        _exit(1);
    execute(p, hidden);
}

/* ---- the child ---- */

/* Empty; the child fills it. */
static int make_input(void)
{
    int fd = memfd_create("input", MFD_CLOEXEC);
    int failed = fd < 0 || (fd != PROGRAM_FILE && dup2(fd, PROGRAM_FILE) < 0);
    if (fd >= 0 && fd != PROGRAM_FILE)
        close(fd);
    return failed ? -1 : 0;
}

static void close_each(const int *fds, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (fds[i] >= 0)
            close(fds[i]);
}

/* The runner gets the input for reading, and one end of each pipe; the child's ends go where they belong. */
static int start_runner(const struct program *p, const struct sandbox *s, const char *path, int first)
{
    enum { INPUT, OUTPUT, ERRORS, ARGUMENTS, ENDS };
    int theirs[ENDS] = {-1, -1, -1, -1}, ours[ENDS] = {-1, -1, -1, -1}, pair[2];
    int parent = getpid(), failed = -1;
    char name[32];
    snprintf(name, sizeof name, "/proc/self/fd/%d", PROGRAM_FILE);
    theirs[INPUT] = open(name, O_RDONLY | O_CLOEXEC);
    for (int i = OUTPUT; i < ENDS && pipe2(pair, O_CLOEXEC) == 0; i++) {
        theirs[i] = pair[i == ARGUMENTS ? 0 : 1];
        ours[i] = pair[i == ARGUMENTS ? 1 : 0];
    }
    if (theirs[INPUT] < 0 || theirs[ARGUMENTS] < 0)
        goto out;
    pid_t pid = fork();
    if (pid == 0)
        runner(p, s, path, parent, theirs);
    const int to[ENDS] = {-1, first + 1, first + 2, first};
    int high[ENDS];
    for (int i = OUTPUT; i < ENDS; i++) /* above all, since one may sit on another's number */
        high[i] = fcntl(ours[i], F_DUPFD_CLOEXEC, ABOVE_ALL);
    close_each(theirs, ENDS);
    close_each(ours, ENDS);
    failed = pid < 0;
    for (int i = OUTPUT; i < ENDS; i++)
        failed |= high[i] < 0 || dup2(high[i], to[i]) < 0;
    close_each(high + OUTPUT, ENDS - OUTPUT);
    return failed ? -1 : 0;
out:
    close_each(theirs, ENDS);
    close_each(ours, ENDS);
    return failed;
}

int program_prepare(const struct program *p, const struct sandbox *s)
{
    char path[PATH];
    if (program_find(p, path) || make_input())
        return -1;
    for (unsigned i = 0; i < p->runs; i++)
        if (start_runner(p, s, path, PROGRAM_FIRST + PROGRAM_EACH * (int)i))
            return -1;
    return 0;
}

unsigned program_layers(const struct program *p)
{
    unsigned layers = SANDBOX_ALL;
    for (unsigned i = 0; i < p->runs; i++) {
        uint32_t word = 0;
        if (read(PROGRAM_FIRST + PROGRAM_EACH * (int)i + 1, &word, sizeof word) != sizeof word)
            return 0;
        layers &= word;
    }
    return layers;
}
