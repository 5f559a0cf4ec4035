#include "attachments/paths.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdint.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/limits.h"

/* Not to block on a pipe, and not to become a terminal's owner: what it is, is only known once it is open. */
enum {
    FILE_FLAGS = O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY,
    DIR_FLAGS = O_RDONLY | O_DIRECTORY | O_CLOEXEC
};
enum { TRIES = 8 /* of an openat2 that a rename nearby has disturbed */ };

const char *paths_reason(enum path_result result)
{
    switch (result) {
    case PATH_OK:
        return "is fine";
    case PATH_EMPTY:
        return "is empty";
    case PATH_NOT_FOUND:
        return "names no file in the organisation's folder, which is workspace_root/<organisation> on the "
               "proxy's "
               "host";
    case PATH_ABSOLUTE:
        return "is absolute; it must be relative to the organisation's folder";
    case PATH_DOTS:
        return "holds \"..\"; it must stay within the organisation's folder";
    case PATH_NUL:
        return "holds a NUL character";
    case PATH_ESCAPES:
        return "leads out of the organisation's folder by a symbolic link";
    case PATH_NO_FILE:
        return "names no regular file but a directory, a device or a pipe";
    default:
        return "could not be opened";
    }
}

/* What can be told without looking; copies the path for the system. */
static enum path_result check_text(struct span path, char out[LIMIT_PATH])
{
    if (path.n == 0)
        return PATH_EMPTY;
    if (memchr(path.p, '\0', path.n))
        return PATH_NUL;
    if (path.p[0] == '/')
        return PATH_ABSOLUTE;
    if (path.n >= LIMIT_PATH)
        return PATH_NOT_FOUND;
    for (size_t i = 0, start = 0; i <= path.n; i++)
        if (i == path.n || path.p[i] == '/') {
            if (i - start == 2 && memcmp(path.p + start, "..", 2) == 0)
                return PATH_DOTS;
            start = i + 1;
        }
    memcpy(out, path.p, path.n);
    out[path.n] = '\0';
    return PATH_OK;
}

static enum path_result of_errno(int why)
{
    switch (why) {
    case ENOENT:
    case ENOTDIR:
    case EACCES:
    case ENAMETOOLONG:
        return PATH_NOT_FOUND;
    case EXDEV:
    case ELOOP:
        return PATH_ESCAPES;
    case ENXIO: /* a socket, or a device without a driver */
    case ENODEV:
        return PATH_NO_FILE;
    default:
        return PATH_FAILED;
    }
}

/* Who may choose an organisation's name may not choose its folder. */
static bool org_is_plain(const char *org)
{
    return *org && !strchr(org, '/') && strcmp(org, ".") != 0 && strcmp(org, "..") != 0;
}

/* The root may be reached by links, since the operator says where it is; the folder in it may be none. */
static enum path_result open_folder(const char *root, const char *org, int *dir)
{
    if (!org_is_plain(org))
        return PATH_NOT_FOUND;
    int top = open(root, DIR_FLAGS);
    if (top < 0)
        return of_errno(errno);
    *dir = openat(top, org, DIR_FLAGS | O_NOFOLLOW);
    int why = errno;
    close(top);
    return *dir < 0 ? of_errno(why) : PATH_OK;
}

static enum path_result take_file(int fd, int *out, size_t *size)
{
    struct stat st;
    if (fstat(fd, &st) || !S_ISREG(st.st_mode) || st.st_size < 0) {
        close(fd);
        return PATH_NO_FILE;
    }
    *out = fd;
    *size = (size_t)st.st_size;
    return PATH_OK;
}

static int open_beneath(int dir, const char *path)
{
    struct open_how how = {.flags = FILE_FLAGS, .resolve = RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS};
    int fd = -1;
    for (int i = 0; i < TRIES; i++) {
        fd = (int)syscall(SYS_openat2, dir, path, &how, sizeof how);
        if (fd >= 0 || (errno != EAGAIN && errno != EINTR))
            break;
    }
    return fd;
}

static enum path_result walk(int dir, char *path, int *fd)
{
    char *at = path, *slash;
    int here = dir, next;
    while ((slash = strchr(at, '/'))) {
        *slash = '\0';
        next = *at ? openat(here, at, DIR_FLAGS | O_NOFOLLOW) : dup(here);
        int why = errno;
        if (here != dir)
            close(here);
        if (next < 0) {
            /* A link is no directory to O_NOFOLLOW; which of the two it was does not matter to the caller. */
            return why == ENOTDIR ? PATH_ESCAPES : of_errno(why);
        }
        here = next;
        at = slash + 1;
    }
    *fd = openat(here, *at ? at : ".", FILE_FLAGS | O_NOFOLLOW);
    int why = errno;
    if (here != dir)
        close(here);
    return *fd < 0 ? of_errno(why) : PATH_OK;
}

enum path_result paths_open_by_component(const char *root, const char *org, struct span path, int *fd,
                                         size_t *size)
{
    char text[LIMIT_PATH];
    int dir = -1, file = -1;
    enum path_result result = check_text(path, text);
    if (result == PATH_OK)
        result = open_folder(root, org, &dir);
    if (result == PATH_OK)
        result = walk(dir, text, &file);
    if (dir >= 0)
        close(dir);
    return result == PATH_OK ? take_file(file, fd, size) : result;
}

enum path_result paths_open(const char *root, const char *org, struct span path, int *fd, size_t *size)
{
    char text[LIMIT_PATH];
    int dir = -1;
    enum path_result result = check_text(path, text);
    if (result == PATH_OK)
        result = open_folder(root, org, &dir);
    if (result != PATH_OK)
        return result;
    int file = open_beneath(dir, text), why = errno;
    close(dir);
    if (file >= 0)
        return take_file(file, fd, size);
    /* Kernels before 5.6 do not know the call, and filters of system calls may forbid it. */
    if (why == ENOSYS || why == EPERM || why == EINVAL)
        return paths_open_by_component(root, org, path, fd, size);
    return of_errno(why);
}
