/* Databases that several processes open, and those that cannot be opened. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "artifacts/sqlite_file.h"

enum { ROUNDS = 25, PROCESSES = 6 };

static const struct sqlite_file file = {
    .name = "test.db",
    .pragmas = "PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL;",
    .schema = "CREATE TABLE t (x INTEGER); INSERT INTO t VALUES (1); PRAGMA user_version = 1;",
    .version = 1,
};

static void make_folder(char folder[32])
{
    snprintf(folder, 32, "/tmp/penstock-db-XXXXXX");
    assert_non_null(mkdtemp(folder));
}

static void remove_folder(const char *folder)
{
    static const char *const names[] = {"test.db", "test.db-wal", "test.db-shm"};
    char path[64];
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        snprintf(path, sizeof path, "%s/%s", folder, names[i]);
        unlink(path);
    }
    assert_int_equal(rmdir(folder), 0);
}

static int rows(sqlite3 *db)
{
    sqlite3_stmt *s = NULL;
    assert_int_equal(sqlite3_prepare_v2(db, "SELECT count(*) FROM t", -1, &s, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_step(s), SQLITE_ROW);
    int n = sqlite3_column_int(s, 0);
    sqlite3_finalize(s);
    return n;
}

/* A process of its own, which begins when the pipe is closed. */
static pid_t opener(const char *folder, const int *pipes)
{
    pid_t pid = fork();
    if (pid)
        return pid;
    struct error e;
    char byte;
    close(pipes[1]);
    if (read(pipes[0], &byte, 1) < 0)
        _exit(2);
    sqlite3 *db = sqlite_file_open(folder, &file, &e);
    if (!db)
        fprintf(stderr, "%s\n", e.message);
    sqlite3_close(db);
    _exit(db ? 0 : 1);
}

/* As the workers of one master do when they start. */
static void many_open_a_new_file_at_once(void **state)
{
    (void)state;
    for (int round = 0; round < ROUNDS; round++) {
        char folder[32];
        int pipes[2], status, failed = 0;
        pid_t pids[PROCESSES];
        struct error e;
        make_folder(folder);
        assert_int_equal(pipe(pipes), 0);
        for (int i = 0; i < PROCESSES; i++)
            pids[i] = opener(folder, pipes);
        close(pipes[0]);
        close(pipes[1]);
        for (int i = 0; i < PROCESSES; i++) {
            assert_int_equal(waitpid(pids[i], &status, 0), pids[i]);
            failed += status != 0;
        }
        assert_int_equal(failed, 0);
        sqlite3 *db = sqlite_file_open(folder, &file, &e);
        assert_non_null(db);
        assert_int_equal(rows(db), 1); /* its schema was run once */
        sqlite3_close(db);
        remove_folder(folder);
    }
}

static void a_newer_file_is_named(void **state)
{
    (void)state;
    char folder[32];
    struct error e;
    struct sqlite_file newer = file;
    make_folder(folder);
    newer.schema = "CREATE TABLE t (x INTEGER); PRAGMA user_version = 7;";
    newer.version = 7;
    sqlite3_close(sqlite_file_open(folder, &newer, &e));
    assert_null(sqlite_file_open(folder, &file, &e));
    assert_non_null(strstr(e.message, "newer version (schema 7, this program knows 1)"));
    remove_folder(folder);
}

static void what_is_no_database_is_named(void **state)
{
    (void)state;
    char folder[32], path[64];
    struct error e;
    make_folder(folder);
    snprintf(path, sizeof path, "%s/test.db", folder);
    FILE *f = fopen(path, "we");
    assert_non_null(f);
    for (int i = 0; i < 300; i++)
        fputs("no database", f);
    fclose(f);
    assert_null(sqlite_file_open(folder, &file, &e));
    assert_non_null(strstr(e.message, "test.db: file is not a database"));
    remove_folder(folder);
    assert_null(sqlite_file_open(folder, &file, &e));
    assert_non_null(strstr(e.message, "cannot make test.db"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(many_open_a_new_file_at_once),
        cmocka_unit_test(a_newer_file_is_named),
        cmocka_unit_test(what_is_no_database_is_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
