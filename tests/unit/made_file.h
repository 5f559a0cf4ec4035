#ifndef TESTS_MADE_FILE_H
#define TESTS_MADE_FILE_H
/* Files that tests have made by programs: speech, films, archives. */
#include <fcntl.h>
#include <setjmp.h>
#include <spawn.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/buf.h"

extern char **environ;

enum { MADE_FILE = 64 << 20 };

/* Runs a program of the tests; its output goes nowhere. */
static inline void make(const char *const *arguments)
{
    pid_t pid;
    int status = -1;
    posix_spawn_file_actions_t quiet;
    posix_spawn_file_actions_init(&quiet);
    posix_spawn_file_actions_addopen(&quiet, 0, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_addopen(&quiet, 1, "/dev/null", O_WRONLY, 0);
    posix_spawn_file_actions_addopen(&quiet, 2, "/dev/null", O_WRONLY, 0);
    if (posix_spawnp(&pid, arguments[0], &quiet, NULL, (char *const *)(uintptr_t)arguments, environ))
        fail_msg("%s is not installed; scripts/setup installs what tests need", arguments[0]);
    waitpid(pid, &status, 0);
    posix_spawn_file_actions_destroy(&quiet);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

/* The file's bytes; the file is gone. */
static inline struct buf take(const char *path)
{
    struct buf b;
    FILE *f = fopen(path, "rb");
    assert_non_null(f);
    buf_init(&b, MADE_FILE);
    for (;;) {
        char *room = buf_reserve(&b, 65536);
        size_t n = fread(room, 1, 65536, f);
        buf_commit(&b, n);
        if (n == 0)
            break;
    }
    fclose(f);
    unlink(path);
    return b;
}

#endif
