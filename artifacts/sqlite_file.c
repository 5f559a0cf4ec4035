#include "artifacts/sqlite_file.h"

#include <fcntl.h>
#include <unistd.h>

#include "base/buf.h"

enum { BUSY_MS = 5000, AGAIN_MS = 10 };

static int64_t user_version(sqlite3 *db)
{
    sqlite3_stmt *s = NULL;
    int64_t version = -1;
    if (sqlite3_prepare_v2(db, "PRAGMA user_version", -1, &s, NULL) == SQLITE_OK &&
        sqlite3_step(s) == SQLITE_ROW)
        version = sqlite3_column_int64(s, 0);
    sqlite3_finalize(s);
    return version;
}

/* Several workers may open a new file at once: the first inside the transaction makes the tables. Answers
 * what SQLite does. */
static int make_schema(sqlite3 *db, const struct sqlite_file *file)
{
    int bad = sqlite3_exec(db, "BEGIN IMMEDIATE", NULL, NULL, NULL);
    if (bad)
        return bad;
    int64_t version = user_version(db);
    if (version < 0 || version > file->version)
        bad = SQLITE_MISMATCH;
    else if (version < file->version)
        bad = sqlite3_exec(db, file->schema, NULL, NULL, NULL);
    if (!bad)
        bad = sqlite3_exec(db, "COMMIT", NULL, NULL, NULL);
    if (bad)
        sqlite3_exec(db, "ROLLBACK", NULL, NULL, NULL);
    return bad;
}

/* Changing to WAL, and being the first to open after a crash, answer SQLITE_BUSY at once, whatever the
 * timeout, while another process does the same. */
static int set_up(sqlite3 *db, const struct sqlite_file *file)
{
    int bad = SQLITE_BUSY;
    for (int ms = 0; (bad & 0xff) == SQLITE_BUSY && ms < BUSY_MS; ms += AGAIN_MS) {
        if (ms)
            sqlite3_sleep(AGAIN_MS);
        bad = sqlite3_exec(db, file->pragmas, NULL, NULL, NULL);
        if (!bad)
            bad = make_schema(db, file);
    }
    return bad;
}

/* SQLite gives the files beside the database the database's own mode. */
static int make_file(const char *path)
{
    int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (fd < 0)
        return -1;
    return close(fd);
}

sqlite3 *sqlite_file_open(const char *state_dir, const struct sqlite_file *file, struct error *e)
{
    sqlite3 *db = NULL;
    struct buf path;
    buf_init(&path, 4096);
    buf_printf(&path, "%s/%s", state_dir, file->name);
    const char *name = buf_cstr(&path);
    int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOFOLLOW | SQLITE_OPEN_NOMUTEX;
    int bad = buf_full(&path) || make_file(name);
    if (bad) {
        error_set(e, ERROR_BAD_REQUEST, "cannot make %s in %s", file->name, state_dir);
        goto out;
    }
    bad = sqlite3_open_v2(name, &db, flags, NULL);
    if (!bad)
        bad = sqlite3_busy_timeout(db, BUSY_MS);
    if (!bad)
        bad = set_up(db, file);
    if (!bad)
        goto out;
    int64_t version = bad == SQLITE_MISMATCH ? user_version(db) : -1;
    if (version > file->version)
        error_set(e, ERROR_BAD_REQUEST,
                  "cannot use %s: it was written by a newer version (schema %lld, this program knows %d)",
                  name, (long long)version, file->version);
    else
        error_set(e, ERROR_BAD_REQUEST, "cannot use %s: %s", name, sqlite3_errstr(bad));
    sqlite3_close(db);
    db = NULL;
out:
    buf_free(&path);
    return db;
}
