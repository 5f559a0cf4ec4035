#include "transcript/disk.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/xalloc.h"
#include "transcript/transcript.h"

enum { CLASHES = 20 };

char *disk_join(const char *dir, const char *name)
{
    struct buf path;
    bool slash = *dir && dir[strlen(dir) - 1] == '/';
    buf_init(&path, strlen(dir) + strlen(name) + 2);
    buf_printf(&path, "%s%s%s", dir, slash || !*name ? "" : "/", name);
    char *joined = xspandup(buf_span(&path));
    buf_free(&path);
    return joined;
}

static int complain(const char *what, const char *path, struct error *e)
{
    return error_set(e, ERROR_BAD_REQUEST, "cannot %s %s: %s", what, path, strerror(errno));
}

int disk_read(const char *path, struct buf *out)
{
    struct stat st;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK), status = -1;
    if (fd < 0)
        return -1;
    if (fstat(fd, &st) || !S_ISREG(st.st_mode)) {
        errno = EINVAL;
        goto out;
    }
    for (size_t left = (size_t)st.st_size;;) {
        size_t room = left ? left : 1; /* it may have grown */
        char *to = buf_reserve(out, room);
        if (!to) {
            errno = EFBIG;
            goto out;
        }
        ssize_t n = read(fd, to, room);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            goto out;
        if (n == 0)
            break;
        buf_commit(out, (size_t)n);
        left -= (size_t)n < left ? (size_t)n : left;
    }
    status = 0;
out:
    close(fd);
    return status;
}

static bool is_same(const char *path, struct span bytes)
{
    struct buf there;
    struct stat st;
    if (stat(path, &st) || !S_ISREG(st.st_mode) || (size_t)st.st_size != bytes.n)
        return false;
    buf_init(&there, bytes.n + 1);
    bool same = disk_read(path, &there) == 0 && there.n == bytes.n &&
                (bytes.n == 0 || memcmp(buf_span(&there).p, bytes.p, bytes.n) == 0);
    buf_free(&there);
    return same;
}

static int write_all(int fd, struct span bytes)
{
    while (bytes.n) {
        ssize_t n = write(fd, bytes.p, bytes.n);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return -1;
        bytes = span_from(bytes, (size_t)n);
    }
    return 0;
}

/* A new file beside the path, whose name the caller frees; -1 with errno. */
static int open_beside(const char *path, char **name)
{
    enum { TRIES = 100 }; /* others may write here, and a killed program leaves its file */
    int fd = -1;
    *name = NULL;
    errno = EEXIST;
    for (unsigned i = 0; i < TRIES && fd < 0 && errno == EEXIST; i++) {
        struct buf text;
        buf_init(&text, strlen(path) + 16);
        buf_printf(&text, "%s.%u.new", path, i);
        xfree(*name);
        *name = xspandup(buf_span(&text));
        buf_free(&text);
        fd = open(*name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    }
    return fd;
}

int disk_write(const char *path, struct span bytes, struct error *e)
{
    if (is_same(path, bytes))
        return 0;
    char *temporary;
    int fd = open_beside(path, &temporary), status = -1;
    if (fd < 0) {
        status = complain("write", path, e);
        goto out;
    }
    int failed = write_all(fd, bytes);
    if (close(fd))
        failed = 1;
    if (failed || rename(temporary, path)) {
        status = complain("write", path, e);
        unlink(temporary);
    } else {
        status = 1;
    }
out:
    xfree(temporary);
    return status;
}

int disk_make(const char *path, struct error *e)
{
    char *copy = xstrdup(path);
    int status = 0;
    for (char *p = copy + 1; *copy && !status; p++) {
        char c = *p;
        if (c != '/' && c != '\0')
            continue;
        *p = '\0';
        if (mkdir(copy, 0777) < 0 && errno != EEXIST)
            status = complain("make the directory", copy, e);
        *p = c;
        if (c == '\0')
            break;
    }
    xfree(copy);
    return status;
}

static int compare_names(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

int disk_list(const char *path, char ***names, size_t *n)
{
    size_t room = 0;
    DIR *dir = opendir(path);
    *names = NULL;
    *n = 0;
    if (!dir)
        return -1;
    for (struct dirent *d; (d = readdir(dir));) {
        if (d->d_name[0] == '.')
            continue;
        if (*n == room) {
            room = room ? 2 * room : 32;
            *names = xrealloc(*names, room * sizeof **names);
        }
        (*names)[(*n)++] = xstrdup(d->d_name);
    }
    closedir(dir);
    if (*n)
        qsort(*names, *n, sizeof **names, compare_names);
    return 0;
}

void disk_list_free(char **names, size_t n)
{
    for (size_t i = 0; i < n; i++)
        xfree(names[i]);
    xfree(names);
}

bool disk_is_directory(const char *path)
{
    struct stat st;
    return lstat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

/* ---- moving ---- */

struct move {
    struct buf *clashes;
    unsigned nclashes;
    struct error *e;
};

static int copy_file(struct move *m, const char *from, const char *to, const char *name)
{
    struct buf bytes;
    struct stat st;
    int status = 0;
    buf_init(&bytes, TRANSCRIPT_FILE);
    if (disk_read(from, &bytes)) {
        status = complain("read", from, m->e);
    } else if (lstat(to, &st) != 0) {
        status = disk_write(to, buf_span(&bytes), m->e) < 0 ? -1 : 0;
        if (!status && !is_same(to, buf_span(&bytes)))
            status = error_set(m->e, ERROR_BAD_REQUEST, "%s was not copied well", to);
    } else if (!is_same(to, buf_span(&bytes)) && m->nclashes++ < CLASHES) {
        buf_printf(m->clashes, "%s\n", name);
    }
    buf_free(&bytes);
    return status;
}

static int copy_into(struct move *m, const char *from, const char *to, unsigned nesting)
{
    char **names;
    size_t n;
    int status = 0;
    if (nesting > DISK_NESTING || disk_list(from, &names, &n))
        return error_set(m->e, ERROR_BAD_REQUEST, "cannot read the directory %s", from);
    if (disk_make(to, m->e))
        status = -1;
    for (size_t i = 0; i < n && !status; i++) {
        char *source = disk_join(from, names[i]), *target = disk_join(to, names[i]);
        struct stat st;
        if (lstat(source, &st))
            status = complain("read", source, m->e);
        else if (S_ISDIR(st.st_mode))
            status = copy_into(m, source, target, nesting + 1);
        else if (S_ISREG(st.st_mode))
            status = copy_file(m, source, target, names[i]);
        else
            status = error_set(m->e, ERROR_BAD_REQUEST, "%s is neither a file nor a directory", source);
        xfree(source);
        xfree(target);
    }
    disk_list_free(names, n);
    return status;
}

static void remove_all(const char *path, unsigned nesting)
{
    char **names;
    size_t n;
    if (nesting > DISK_NESTING || disk_list(path, &names, &n))
        return;
    for (size_t i = 0; i < n; i++) {
        char *inner = disk_join(path, names[i]);
        if (disk_is_directory(inner))
            remove_all(inner, nesting + 1);
        else
            unlink(inner);
        xfree(inner);
    }
    disk_list_free(names, n);
    rmdir(path);
}

int disk_move_into(const char *from, const char *to, struct buf *clashes, struct error *e)
{
    struct move m = {.clashes = clashes, .e = e};
    if (copy_into(&m, from, to, 0))
        return -1;
    remove_all(from, 0);
    return 0;
}
