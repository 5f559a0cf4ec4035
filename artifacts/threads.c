#include "artifacts/threads.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <openssl/sha.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "artifacts/store.h"
#include "base/hex.h"
#include "base/log.h"
#include "base/xalloc.h"

enum { FILE_NAME = THREAD_NAME + 8, TAIL = 4096, SWEEP_MOST = 100000, OPEN_TRIES = 8 };

static const char extension[] = ".jsonl";

struct threads {
    int root; /* state_dir */
    int lock; /* threads.lock; with `run` it holds that byte of it */
    uint64_t run;
};

/* ---- who is alive ---- */

/*
 * A process holds a lock on the byte of the file whose number is its run. The kernel takes the lock back when
 * the process ends, however it ends, so nothing is left that would have to be cleaned up. The file is empty.
 */
static struct flock byte_of(uint64_t run, short type)
{
    return (struct flock){.l_type = type, .l_whence = SEEK_SET, .l_start = (off_t)run, .l_len = 1};
}

static int begin_run(struct threads *t)
{
    enum { BITS = 48 }; /* exact in every JSON reader */
    if (getrandom(&t->run, sizeof t->run, 0) != sizeof t->run)
        return -1;
    t->run = (t->run >> (64 - BITS)) + 1;
    struct flock byte = byte_of(t->run, F_WRLCK);
    return fcntl(t->lock, F_OFD_SETLK, &byte);
}

struct threads *threads_open(const char *state_dir, bool keep, struct error *e)
{
    struct threads *t = xcalloc(1, sizeof *t);
    t->lock = -1;
    t->root = open(state_dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (t->root >= 0)
        t->lock =
            openat(t->root, "threads.lock", keep ? O_RDWR | O_CREAT | O_CLOEXEC : O_RDONLY | O_CLOEXEC, 0600);
    if (t->root >= 0 && (!keep || (t->lock >= 0 && begin_run(t) == 0)))
        return t;
    error_set(e, ERROR_BAD_REQUEST, "%s: the journals of threads cannot be opened: %s", state_dir,
              strerror(errno));
    threads_close(t);
    return NULL;
}

void threads_close(struct threads *t)
{
    if (!t)
        return;
    if (t->lock >= 0)
        close(t->lock);
    if (t->root >= 0)
        close(t->root);
    xfree(t);
}

uint64_t threads_run(const struct threads *t)
{
    return t->run;
}

bool threads_run_lives(const struct threads *t, uint64_t run)
{
    struct flock byte = byte_of(run, F_WRLCK);
    if (run == t->run)
        return run != 0;
    return run && run < INT64_MAX && t->lock >= 0 && fcntl(t->lock, F_OFD_GETLK, &byte) == 0 &&
           byte.l_type != F_UNLCK;
}

bool threads_is_live(void *threads, int64_t run)
{
    return run > 0 && threads_run_lives(threads, (uint64_t)run);
}

/* ---- places ---- */

void threads_name(struct span said, char name[THREAD_NAME])
{
    enum { DIGITS = 16 }; /* bytes of the digest that are written */
    bool good = said.n > 0 && said.n < THREAD_NAME;
    for (size_t i = 0; good && i < said.n; i++) {
        char c = said.p[i];
        good = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '-' ||
               c == '_';
    }
    if (good) {
        memcpy(name, said.p, said.n);
        name[said.n] = '\0';
        return;
    }
    unsigned char digest[SHA256_DIGEST_LENGTH];
    SHA256((const unsigned char *)said.p, said.n, digest);
    hex_write(digest, DIGITS, name);
}

static bool name_valid(const char *name)
{
    char same[THREAD_NAME];
    size_t n = strnlen(name, THREAD_NAME);
    if (n == 0 || n == THREAD_NAME)
        return false;
    threads_name(span_of(name, n), same);
    return strcmp(same, name) == 0;
}

/* A directory below `dir`, no symbolic link; made when it is not there. */
static int open_dir(int dir, const char *name, bool make)
{
    int flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
    int fd = openat(dir, name, flags);
    if (fd >= 0 || errno != ENOENT || !make)
        return fd;
    if (mkdirat(dir, name, 0700) && errno != EEXIST)
        return -1;
    return openat(dir, name, flags);
}

static void close_keeping_errno(int fd)
{
    int why = errno;
    close(fd);
    errno = why;
}

/* orgs/<org>/threads, or -1. */
static int open_org(const struct threads *t, const char *org, bool make)
{
    if (!store_org_valid(org)) {
        errno = EINVAL;
        return -1;
    }
    int orgs = open_dir(t->root, "orgs", make);
    if (orgs < 0)
        return -1;
    int its = open_dir(orgs, org, make);
    close_keeping_errno(orgs);
    if (its < 0)
        return -1;
    int threads = open_dir(its, "threads", make);
    close_keeping_errno(its);
    return threads;
}

/* ---- writing ---- */

/* A line that was cut off says nothing and would spoil the next one. */
static int drop_torn(int fd, off_t *size)
{
    char tail[TAIL];
    off_t end = *size;
    while (end > 0) {
        off_t from = end > TAIL ? end - TAIL : 0;
        ssize_t n = pread(fd, tail, (size_t)(end - from), from);
        if (n != end - from)
            return -1;
        const char *line = memrchr(tail, '\n', (size_t)n);
        if (line) {
            end = from + (line - tail) + 1;
            break;
        }
        end = from;
    }
    if (end == *size)
        return 0;
    *size = end;
    return ftruncate(fd, end);
}

/* One write; what it could not take is taken back. */
static int add_line(int fd, struct span line, off_t *size)
{
    ssize_t n;
    do
        n = write(fd, line.p, line.n);
    while (n < 0 && errno == EINTR);
    if (n >= 0 && (size_t)n == line.n) {
        *size += n;
        return 0;
    }
    int why = n < 0 ? errno : ENOSPC;
    if (n > 0 && ftruncate(fd, *size))
        why = errno;
    errno = why;
    return -1;
}

/* Opens the journal, makes it if need be, and locks it. Between the two a sweep may have removed it. */
static int open_locked(int dir, const char *file, struct stat *st)
{
    for (int i = 0; i < OPEN_TRIES; i++) {
        int fd = openat(dir, file, O_RDWR | O_CREAT | O_APPEND | O_NOFOLLOW | O_CLOEXEC, 0600);
        if (fd < 0)
            return -1;
        if (flock(fd, LOCK_EX) == 0 && fstat(fd, st) == 0 && st->st_nlink > 0)
            return fd;
        close_keeping_errno(fd);
    }
    return -1;
}

int threads_append(struct threads *t, const char *org, const char *name, struct span first, struct span line)
{
    char file[FILE_NAME];
    struct stat st;
    int fd = -1, status = -1;
    if (!name_valid(name)) {
        errno = EINVAL;
        return -1;
    }
    snprintf(file, sizeof file, "%s%s", name, extension);
    int dir = open_org(t, org, true);
    if (dir < 0)
        return -1;
    fd = open_locked(dir, file, &st);
    if (fd < 0 || drop_torn(fd, &st.st_size) < 0 ||
        (st.st_size == 0 && first.n && add_line(fd, first, &st.st_size) < 0))
        goto out;
    status = add_line(fd, line, &st.st_size);
out:
    if (fd >= 0)
        close_keeping_errno(fd);
    close_keeping_errno(dir);
    return status;
}

/* ---- reading ---- */

static int read_part(void *arg, size_t at, size_t n, struct buf *out)
{
    int fd = *(const int *)arg;
    char *to = buf_reserve(out, n);
    while (n && to) {
        ssize_t got = pread(fd, to, n, (off_t)at);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0) /* a torn line was taken away */
            return -1;
        buf_commit(out, (size_t)got);
        to += got;
        at += (size_t)got;
        n -= (size_t)got;
    }
    return to ? 0 : -1;
}

enum threads_read threads_source(const struct threads *t, const char *org, const char *name,
                                 struct source *out)
{
    char file[FILE_NAME];
    struct stat st;
    int dir = name_valid(name) ? open_org(t, org, false) : -1;
    *out = (struct source){.n = 0};
    if (dir < 0)
        return THREADS_NONE;
    snprintf(file, sizeof file, "%s%s", name, extension);
    int fd = openat(dir, file, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
    int why = errno;
    close(dir);
    if (fd < 0) {
        errno = why;
        return why == ENOENT ? THREADS_NONE : THREADS_FAILED;
    }
    if (fstat(fd, &st) || !S_ISREG(st.st_mode)) {
        close(fd);
        errno = EINVAL;
        return THREADS_FAILED;
    }
    int *kept = xmalloc(sizeof *kept);
    *kept = fd;
    /* What is added meanwhile is for the next reader. */
    *out = (struct source){.n = (size_t)st.st_size, .read = read_part, .arg = kept};
    return THREADS_READ;
}

void threads_source_close(struct source *s)
{
    int *fd = s->arg;
    if (fd)
        close(*fd);
    xfree(fd);
    *s = (struct source){.n = 0};
}

/* Cuts the extension off; false: the file is no journal. */
static bool thread_of(const char *file, char name[THREAD_NAME])
{
    size_t n = strlen(file), e = sizeof extension - 1;
    if (n <= e || n - e >= THREAD_NAME || strcmp(file + n - e, extension) != 0)
        return false;
    memcpy(name, file, n - e);
    name[n - e] = '\0';
    return name_valid(name);
}

struct listing {
    struct thread_entry *list;
    size_t n, room, most;
    bool more;
};

/* Calls `each` for the journals of an organisation. */
static void each_of_org(const struct threads *t, const char *org,
                        void (*each)(void *arg, int dir, const char *org, const char *file), void *arg)
{
    int fd = open_org(t, org, false);
    DIR *dir = fd >= 0 ? fdopendir(fd) : NULL;
    char name[THREAD_NAME];
    if (!dir) {
        if (fd >= 0)
            close(fd);
        return;
    }
    for (struct dirent *d; (d = readdir(dir));)
        if (thread_of(d->d_name, name))
            each(arg, dirfd(dir), org, d->d_name);
    closedir(dir);
}

static int each_journal(const struct threads *t, const char *org,
                        void (*each)(void *arg, int dir, const char *org, const char *file), void *arg)
{
    if (*org) {
        each_of_org(t, org, each, arg);
        return 0;
    }
    int fd = open_dir(t->root, "orgs", false);
    if (fd < 0)
        return errno == ENOENT ? 0 : -1;
    DIR *orgs = fdopendir(fd);
    if (!orgs) {
        close(fd);
        return -1;
    }
    for (struct dirent *d; (d = readdir(orgs));)
        if (store_org_valid(d->d_name))
            each_of_org(t, d->d_name, each, arg);
    closedir(orgs);
    return 0;
}

static void list_one(void *arg, int dir, const char *org, const char *file)
{
    struct listing *l = arg;
    struct stat st;
    if (l->n == l->most) {
        l->more = true;
        return;
    }
    if (fstatat(dir, file, &st, AT_SYMLINK_NOFOLLOW) || !S_ISREG(st.st_mode))
        return;
    if (l->n == l->room) {
        l->room = l->room ? l->room * 2 : 64;
        l->list = xrealloc(l->list, l->room * sizeof *l->list);
    }
    struct thread_entry *entry = &l->list[l->n];
    *entry = (struct thread_entry){.bytes = (uint64_t)st.st_size,
                                   .changed_us = st.st_mtim.tv_sec * 1000000ll + st.st_mtim.tv_nsec / 1000};
    snprintf(entry->org, sizeof entry->org, "%s", org);
    l->n += thread_of(file, entry->name);
}

static int by_change(const void *a, const void *b)
{
    const struct thread_entry *x = a, *y = b;
    if (x->changed_us != y->changed_us)
        return (y->changed_us > x->changed_us) - (y->changed_us < x->changed_us);
    int org = strcmp(x->org, y->org);
    return org ? org : strcmp(x->name, y->name);
}

int threads_list(const struct threads *t, const char *org, size_t most, struct thread_entry **list, size_t *n,
                 bool *more)
{
    struct listing l = {.most = most};
    int status = each_journal(t, org, list_one, &l);
    if (l.n)
        qsort(l.list, l.n, sizeof *l.list, by_change);
    *list = l.list;
    *n = l.n;
    *more = l.more;
    return status;
}

struct sweeping {
    int64_t before_s;
    unsigned seen, removed;
};

/* Whoever holds the lock may be about to write. */
static void sweep_one(void *arg, int dir, const char *org, const char *file)
{
    struct sweeping *s = arg;
    struct stat st;
    (void)org;
    if (s->seen++ >= SWEEP_MOST || fstatat(dir, file, &st, AT_SYMLINK_NOFOLLOW) || st.st_mtime >= s->before_s)
        return;
    int fd = openat(dir, file, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0)
        return;
    if (flock(fd, LOCK_EX | LOCK_NB) == 0 && fstat(fd, &st) == 0 && st.st_mtime < s->before_s)
        s->removed += unlinkat(dir, file, 0) == 0;
    close(fd);
}

unsigned threads_sweep(struct threads *t, int64_t before_s)
{
    struct sweeping s = {.before_s = before_s};
    if (each_journal(t, "", sweep_one, &s) < 0)
        log_error("threads.sweep", log_str("reason", strerror(errno)));
    return s.removed;
}
