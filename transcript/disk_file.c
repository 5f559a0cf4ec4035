/* Files that are written only when their bytes change. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/write_all.h"
#include "base/xalloc.h"
#include "transcript/disk.h"

enum { PIECE = 64 * 1024 };

struct disk_file {
    char *path, *temporary;
    int old, fd;        /* what is there, the new file; -1: none */
    size_t old_n, same; /* bytes of the old file; those that came and were the same */
    char *piece;        /* of the old file */
    struct buf pending;
};

static int complain(const char *path, struct error *e)
{
    return error_set(e, ERROR_BAD_REQUEST, "cannot write %s: %s", path, strerror(errno));
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

/* Bytes of the old file into f->piece; answers how many, fewer than n at its end or when it cannot be read.
 */
static size_t read_old(struct disk_file *f, size_t at, size_t n)
{
    size_t got = 0;
    if (!f->piece)
        f->piece = xmalloc(PIECE);
    while (got < n) {
        ssize_t more = pread(f->old, f->piece + got, n - got, (off_t)(at + got));
        if (more < 0 && errno == EINTR)
            continue;
        if (more <= 0)
            break;
        got += (size_t)more;
    }
    return got;
}

/* From here on the files differ: what was the same is copied. */
static int differ(struct disk_file *f)
{
    f->fd = open_beside(f->path, &f->temporary);
    if (f->fd < 0)
        return -1;
    for (size_t at = 0; at < f->same;) {
        size_t n = f->same - at < PIECE ? f->same - at : PIECE, got = read_old(f, at, n);
        if (got < n) {
            errno = EIO;
            return -1;
        }
        if (write_all(f->fd, span_of(f->piece, n)))
            return -1;
        at += n;
    }
    return 0;
}

static int put(struct disk_file *f, struct span bytes)
{
    while (f->fd < 0 && bytes.n) {
        size_t n = bytes.n < PIECE ? bytes.n : PIECE;
        if (f->old < 0 || f->same + n > f->old_n || read_old(f, f->same, n) < n ||
            memcmp(f->piece, bytes.p, n) != 0) {
            if (differ(f))
                return -1;
            break;
        }
        f->same += n;
        bytes = span_from(bytes, n);
    }
    return bytes.n ? write_all(f->fd, bytes) : 0;
}

struct disk_file *disk_open(const char *path)
{
    struct disk_file *f = xcalloc(1, sizeof *f);
    struct stat st;
    f->path = xstrdup(path);
    f->fd = -1;
    f->old = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (f->old >= 0 && (fstat(f->old, &st) || !S_ISREG(st.st_mode))) {
        close(f->old);
        f->old = -1;
    }
    if (f->old >= 0)
        f->old_n = (size_t)st.st_size;
    buf_init(&f->pending, 2 * (size_t)PIECE);
    return f;
}

int disk_add(struct disk_file *f, struct span bytes, struct error *e)
{
    int status = 0;
    if (f->pending.n + bytes.n > PIECE) {
        status = put(f, buf_span(&f->pending));
        buf_reset(&f->pending);
    }
    if (!status && bytes.n > PIECE)
        status = put(f, bytes);
    else if (!status)
        status = buf_add(&f->pending, bytes);
    return status ? complain(f->path, e) : 0;
}

static void free_file(struct disk_file *f)
{
    if (f->old >= 0)
        close(f->old);
    xfree(f->temporary);
    xfree(f->path);
    xfree(f->piece);
    buf_free(&f->pending);
    xfree(f);
}

void disk_abandon(struct disk_file *f)
{
    if (f->fd >= 0) {
        close(f->fd);
        unlink(f->temporary);
    }
    free_file(f);
}

int disk_close(struct disk_file *f, struct error *e)
{
    int status = put(f, buf_span(&f->pending));
    if (!status && f->fd < 0 && f->old >= 0 && f->old_n == f->same) {
        free_file(f);
        return 0;
    }
    if (!status && f->fd < 0)
        status = differ(f);
    if (!status) {
        status = close(f->fd);
        f->fd = -1;
        if (!status)
            status = rename(f->temporary, f->path);
        if (status) {
            complain(f->path, e);
            unlink(f->temporary);
        }
    } else {
        complain(f->path, e);
    }
    disk_abandon(f);
    return status ? -1 : 1;
}

int disk_write(const char *path, struct span bytes, struct error *e)
{
    struct disk_file *f = disk_open(path);
    if (f->old >= 0 && f->old_n != bytes.n) { /* no need to read it */
        close(f->old);
        f->old = -1;
    }
    if (disk_add(f, bytes, e) == 0)
        return disk_close(f, e);
    disk_abandon(f);
    return -1;
}
