#include "artifacts/upload_store.h"

#include <stdio.h>

#include "artifacts/sqlite_file.h"
#include "base/buf.h"
#include "base/log.h"
#include "base/xalloc.h"

struct upload_store {
    sqlite3 *db;
    sqlite3_stmt *find, *claim, *put, *drop, *due, *later, *sweep;
};

/* A claim is a row without an id that is good until it lapses. Of one key there may be several rows: one that
 * is good, and older ones that wait for their deletion. */
static const char schema[] = "CREATE TABLE IF NOT EXISTS uploads ("
                             " key TEXT NOT NULL, provider TEXT NOT NULL, account TEXT NOT NULL,"
                             " id TEXT NOT NULL, uri TEXT NOT NULL,"
                             " good_until INTEGER NOT NULL, delete_at INTEGER NOT NULL,"
                             " PRIMARY KEY (key, id)) WITHOUT ROWID;"
                             "CREATE INDEX IF NOT EXISTS due ON uploads (provider, account, delete_at);"
                             "PRAGMA user_version = 1;";

static int failed(struct upload_store *s, const char *doing)
{
    log_error("uploads.failed", log_str("doing", doing), log_str("reason", sqlite3_errmsg(s->db)));
    return -1;
}

static int prepare(struct upload_store *s)
{
    const struct {
        sqlite3_stmt **to;
        const char *sql;
    } list[] = {
        {&s->find, "SELECT id, uri, good_until, delete_at FROM uploads WHERE key = ?1 AND good_until > ?2"
                   " ORDER BY id DESC LIMIT 1"},
        {&s->claim, "INSERT OR REPLACE INTO uploads VALUES (?1, ?2, ?3, '', '', ?4, ?4)"},
        {&s->put, "INSERT OR REPLACE INTO uploads VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)"},
        {&s->drop, "DELETE FROM uploads WHERE key = ?1 AND id = ?2"},
        {&s->due, "SELECT key, id, uri, good_until, delete_at FROM uploads WHERE provider = ?1 AND"
                  " account = ?2 AND delete_at <= ?3 AND id <> '' ORDER BY delete_at LIMIT ?4"},
        {&s->later, "UPDATE uploads SET good_until = 0, delete_at = ?3 WHERE key = ?1 AND id = ?2"},
        {&s->sweep, "DELETE FROM uploads WHERE delete_at < ?1"},
    };
    for (size_t i = 0; i < sizeof list / sizeof list[0]; i++)
        if (sqlite3_prepare_v3(s->db, list[i].sql, -1, SQLITE_PREPARE_PERSISTENT, list[i].to, NULL))
            return -1;
    return 0;
}

struct upload_store *upload_store_open(const char *state_dir, struct error *e)
{
    static const struct sqlite_file file = {.name = "uploads.db",
                                            .pragmas =
                                                "PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL;",
                                            .schema = schema,
                                            .version = 1};
    struct upload_store *s = xcalloc(1, sizeof *s);
    s->db = sqlite_file_open(state_dir, &file, e);
    if (s->db && prepare(s) == 0)
        return s;
    if (s->db)
        error_set(e, ERROR_BAD_REQUEST, "cannot use uploads.db in %s: %s", state_dir, sqlite3_errmsg(s->db));
    upload_store_close(s);
    return NULL;
}

void upload_store_close(struct upload_store *s)
{
    if (!s)
        return;
    sqlite3_stmt *const all[] = {s->find, s->claim, s->put, s->drop, s->due, s->later, s->sweep};
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
        sqlite3_finalize(all[i]);
    sqlite3_close(s->db);
    xfree(s);
}

/* ---- rows ---- */

static int bind(sqlite3_stmt *st, int at, const char *text)
{
    return sqlite3_bind_text(st, at, text, -1, SQLITE_STATIC);
}

/* Runs what answers nothing. */
static int run(struct upload_store *s, sqlite3_stmt *st, int bad, const char *doing)
{
    bad = bad || sqlite3_step(st) != SQLITE_DONE;
    int answer = bad ? failed(s, doing) : 0;
    sqlite3_reset(st);
    sqlite3_clear_bindings(st);
    return answer;
}

static void copy(sqlite3_stmt *st, int column, char *out, size_t room)
{
    const char *text = (const char *)sqlite3_column_text(st, column);
    snprintf(out, room, "%s", text ? text : "");
}

static enum upload_found read_row(struct upload_store *s, struct upload_row *row, int64_t now_ms)
{
    enum upload_found found = UPLOAD_STORE_CLAIMED;
    if (bind(s->find, 1, row->key) || sqlite3_bind_int64(s->find, 2, now_ms)) {
        found = UPLOAD_STORE_FAILED;
    } else {
        int step = sqlite3_step(s->find);
        if (step != SQLITE_ROW && step != SQLITE_DONE)
            found = UPLOAD_STORE_FAILED;
        if (step == SQLITE_ROW) {
            copy(s->find, 0, row->id, sizeof row->id);
            copy(s->find, 1, row->uri, sizeof row->uri);
            row->good_until_ms = sqlite3_column_int64(s->find, 2);
            row->delete_ms = sqlite3_column_int64(s->find, 3);
            found = row->id[0] ? UPLOAD_STORE_FOUND : UPLOAD_STORE_BUSY;
        }
    }
    sqlite3_reset(s->find);
    return found;
}

enum upload_found upload_store_take(struct upload_store *s, struct upload_row *row, int64_t now_ms,
                                    int64_t claim_ms)
{
    if (sqlite3_exec(s->db, "BEGIN IMMEDIATE", NULL, NULL, NULL)) {
        failed(s, "begin");
        return UPLOAD_STORE_FAILED;
    }
    enum upload_found found = read_row(s, row, now_ms);
    if (found == UPLOAD_STORE_FAILED)
        failed(s, "find");
    if (found == UPLOAD_STORE_CLAIMED &&
        run(s, s->claim,
            bind(s->claim, 1, row->key) || bind(s->claim, 2, row->provider) ||
                bind(s->claim, 3, row->account) || sqlite3_bind_int64(s->claim, 4, now_ms + claim_ms),
            "claim") < 0)
        found = UPLOAD_STORE_FAILED;
    if (sqlite3_exec(s->db, found == UPLOAD_STORE_FAILED ? "ROLLBACK" : "COMMIT", NULL, NULL, NULL)) {
        failed(s, "commit");
        sqlite3_exec(s->db, "ROLLBACK", NULL, NULL, NULL);
        return UPLOAD_STORE_FAILED;
    }
    return found;
}

int upload_store_put(struct upload_store *s, const struct upload_row *row)
{
    sqlite3_stmt *st = s->put;
    if (upload_store_drop(s, row->key, "") < 0)
        return -1;
    return run(s, st,
               bind(st, 1, row->key) || bind(st, 2, row->provider) || bind(st, 3, row->account) ||
                   bind(st, 4, row->id) || bind(st, 5, row->uri) ||
                   sqlite3_bind_int64(st, 6, row->good_until_ms) || sqlite3_bind_int64(st, 7, row->delete_ms),
               "put");
}

int upload_store_drop(struct upload_store *s, const char *key, const char *id)
{
    return run(s, s->drop, bind(s->drop, 1, key) || bind(s->drop, 2, id), "drop");
}

int upload_store_due(struct upload_store *s, const char *provider, const char *account, int64_t now_ms,
                     int64_t again_ms, struct upload_row *rows, size_t most)
{
    sqlite3_stmt *st = s->due;
    int n = 0, step = SQLITE_ERROR;
    if (!bind(st, 1, provider) && !bind(st, 2, account) && !sqlite3_bind_int64(st, 3, now_ms) &&
        !sqlite3_bind_int64(st, 4, (int64_t)most))
        while ((step = sqlite3_step(st)) == SQLITE_ROW && (size_t)n < most) {
            struct upload_row *row = &rows[n++];
            snprintf(row->provider, sizeof row->provider, "%s", provider);
            snprintf(row->account, sizeof row->account, "%s", account);
            copy(st, 0, row->key, sizeof row->key);
            copy(st, 1, row->id, sizeof row->id);
            copy(st, 2, row->uri, sizeof row->uri);
            row->good_until_ms = sqlite3_column_int64(st, 3);
            row->delete_ms = sqlite3_column_int64(st, 4);
        }
    sqlite3_reset(st);
    if (step != SQLITE_DONE && step != SQLITE_ROW)
        return failed(s, "due");
    for (int i = 0; i < n; i++)
        if (run(s, s->later,
                bind(s->later, 1, rows[i].key) || bind(s->later, 2, rows[i].id) ||
                    sqlite3_bind_int64(s->later, 3, now_ms + again_ms),
                "later") < 0)
            return -1;
    return n;
}

int upload_store_sweep(struct upload_store *s, int64_t before_ms)
{
    return run(s, s->sweep, sqlite3_bind_int64(s->sweep, 1, before_ms), "sweep");
}
