#ifndef ATTACHMENTS_PATHS_H
#define ATTACHMENTS_PATHS_H
/*
 * The one way to a file that a caller names: relative to the organisation's folder, never out of it, opened
 * once, its type and size taken from the open descriptor. The kernel's openat2 resolves beneath the folder;
 * where it is missing, each component is opened by itself and no symbolic link is followed at all.
 */
#include "base/span.h"

enum path_result {
    PATH_OK,
    PATH_EMPTY,     /* an empty path */
    PATH_NOT_FOUND, /* no such file, or it may not be read */
    PATH_ABSOLUTE,
    PATH_DOTS,    /* a component `..` */
    PATH_NUL,     /* a NUL byte */
    PATH_ESCAPES, /* a symbolic link that leaves the folder */
    PATH_NO_FILE, /* a directory, a device, a pipe or a socket */
    PATH_FAILED   /* the system could not */
};

/* *fd is an open regular file, and *size its size now. The path may hold any bytes. */
enum path_result paths_open(const char *root, const char *org, struct span path, int *fd,
                            size_t *size) MUST_USE;
/* The same without openat2, for kernels that lack it; for tests as well. */
enum path_result paths_open_by_component(const char *root, const char *org, struct span path, int *fd,
                                         size_t *size) MUST_USE;
/* A sentence's end: "leads out of the organisation's folder" … */
const char *paths_reason(enum path_result result);

#endif
