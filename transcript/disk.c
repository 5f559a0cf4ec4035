#include "transcript/disk.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/xalloc.h"

enum { CLASHES = 20, PIECE = 64 * 1024 };

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

static int list_names(const char *path, bool hidden, char ***names, size_t *n)
{
    size_t room = 0;
    DIR *dir = opendir(path);
    *names = NULL;
    *n = 0;
    if (!dir)
        return -1;
    for (struct dirent *d; (d = readdir(dir));) {
        bool dots = strcmp(d->d_name, ".") == 0 || strcmp(d->d_name, "..") == 0;
        if (dots || (d->d_name[0] == '.' && !hidden))
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

int disk_list(const char *path, char ***names, size_t *n)
{
    return list_names(path, false, names, n);
}

int disk_list_all(const char *path, char ***names, size_t *n)
{
    return list_names(path, true, names, n);
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

static int open_regular(const char *path)
{
    struct stat st;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd >= 0 && (fstat(fd, &st) || !S_ISREG(st.st_mode))) {
        close(fd);
        errno = EINVAL;
        return -1;
    }
    return fd;
}

/* As read, but as much as there is up to the room. */
static ssize_t read_piece(int fd, char *to, size_t room)
{
    size_t n = 0;
    while (n < room) {
        ssize_t got = read(fd, to + n, room - n);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return -1;
        if (got == 0)
            break;
        n += (size_t)got;
    }
    return (ssize_t)n;
}

static bool are_same(const char *a, const char *b)
{
    char *pieces = xmalloc(2 * (size_t)PIECE);
    int x = open_regular(a), y = open_regular(b);
    ssize_t n = 0, m = 0;
    bool same = x >= 0 && y >= 0;
    do {
        n = same ? read_piece(x, pieces, PIECE) : 0;
        m = same ? read_piece(y, pieces + PIECE, PIECE) : 0;
        same = same && n >= 0 && n == m && memcmp(pieces, pieces + PIECE, (size_t)n) == 0;
    } while (same && n > 0);
    if (x >= 0)
        close(x);
    if (y >= 0)
        close(y);
    xfree(pieces);
    return same;
}

static int copy_to(struct move *m, const char *from, const char *to)
{
    char *piece;
    int fd = open_regular(from), status = 0;
    if (fd < 0)
        return complain("read", from, m->e);
    struct disk_file *f = disk_open(to);
    piece = xmalloc(PIECE);
    for (ssize_t n = 1; n > 0 && !status;) {
        n = read_piece(fd, piece, PIECE);
        status = n < 0 ? complain("read", from, m->e) : disk_add(f, span_of(piece, (size_t)n), m->e);
    }
    if (status)
        disk_abandon(f);
    else
        status = disk_close(f, m->e) < 0 ? -1 : 0;
    if (!status && !are_same(from, to))
        status = error_set(m->e, ERROR_BAD_REQUEST, "%s was not copied well", to);
    xfree(piece);
    close(fd);
    return status;
}

static int copy_file(struct move *m, const char *from, const char *to, const char *name)
{
    struct stat st;
    if (lstat(to, &st) != 0)
        return copy_to(m, from, to);
    if (!are_same(from, to) && m->nclashes++ < CLASHES)
        buf_printf(m->clashes, "%s\n", name);
    return 0;
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
