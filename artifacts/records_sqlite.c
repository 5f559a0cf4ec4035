#include "artifacts/records.h"

#include <stdio.h>

#include "artifacts/sqlite_file.h"
#include "base/json.h"
#include "base/log.h"
#include "base/xalloc.h"

enum {
    LIST_MAX = 1000,
    SEQ_MS_BITS = 43, /* milliseconds until the year 2248 */
    SEQ_REST_BITS = 20,
    SEQ_TRIES = 8 /* places after the one that an id asks for */
};

struct records {
    sqlite3 *db;
    sqlite3_stmt *add, *list, *find, *sweep;
};

/*
 * A row is a record's JSON text and what it is found by. `seq` is made from the id, which begins with the
 * time: so rows stand in the order of time, new ones are added at the end of the table, and no index has to
 * be kept for finding one by its id or by its time.
 */
static const char schema[] =
    "CREATE TABLE IF NOT EXISTS consults ("
    " seq INTEGER PRIMARY KEY, id TEXT NOT NULL, org TEXT NOT NULL, record TEXT NOT NULL);"
    "PRAGMA user_version = 1;";

static int failed(struct records *r, const char *doing)
{
    log_error("records.failed", log_str("doing", doing), log_str("reason", sqlite3_errmsg(r->db)));
    return -1;
}

static int prepare(struct records *r)
{
    static const char add[] = "INSERT INTO consults (seq, id, org, record) VALUES (?1, ?2, ?3, ?4)";
    static const char list[] = "SELECT record FROM consults WHERE seq < ?3 AND (?1 = '' OR org = ?1)"
                               " ORDER BY seq DESC LIMIT ?4";
    static const char find[] = "SELECT record FROM consults WHERE seq BETWEEN ?3 AND ?3 + ?4 AND id = ?2"
                               " AND (?1 = '' OR org = ?1)";
    static const char sweep[] = "DELETE FROM consults WHERE seq < ?1";
    unsigned flags = SQLITE_PREPARE_PERSISTENT;
    return sqlite3_prepare_v3(r->db, add, -1, flags, &r->add, NULL) ||
                   sqlite3_prepare_v3(r->db, list, -1, flags, &r->list, NULL) ||
                   sqlite3_prepare_v3(r->db, find, -1, flags, &r->find, NULL) ||
                   sqlite3_prepare_v3(r->db, sweep, -1, flags, &r->sweep, NULL)
               ? -1
               : 0;
}

struct records *records_open(const char *state_dir, struct error *e)
{
    static const struct sqlite_file file = {
        .name = "records.db",
        .pragmas = "PRAGMA page_size = 16384; PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL;"
                   " PRAGMA cache_size = -512; PRAGMA wal_autocheckpoint = 256",
        .schema = schema,
        .version = 1};
    struct records *r = xcalloc(1, sizeof *r);
    r->db = sqlite_file_open(state_dir, &file, e);
    if (r->db && prepare(r) == 0)
        return r;
    if (r->db)
        error_set(e, ERROR_BAD_REQUEST, "cannot use records.db in %s: %s", state_dir, sqlite3_errmsg(r->db));
    records_close(r);
    return NULL;
}

void records_close(struct records *r)
{
    if (!r)
        return;
    sqlite3_finalize(r->add);
    sqlite3_finalize(r->list);
    sqlite3_finalize(r->find);
    sqlite3_finalize(r->sweep);
    sqlite3_close(r->db);
    xfree(r);
}

/* Milliseconds since 1970 from the nine base-36 digits behind "hwc-"; -1: an id of another kind. */
static int64_t time_of_id(const char *id)
{
    enum { PREFIX = 4, DIGITS = 9 };
    int64_t ms = 0;
    if (strncmp(id, "hwc-", PREFIX) != 0)
        return -1;
    for (const char *p = id + PREFIX; p < id + PREFIX + DIGITS; p++) {
        if (*p >= '0' && *p <= '9')
            ms = ms * 36 + (*p - '0');
        else if (*p >= 'a' && *p <= 'z')
            ms = ms * 36 + (*p - 'a' + 10);
        else
            return -1;
    }
    return ms >> SEQ_MS_BITS ? -1 : ms;
}

/* Of two consults that began in one millisecond, the rest of the id decides. */
static int64_t seq_of(const char *id, int64_t otherwise_ms)
{
    int64_t ms = time_of_id(id);
    uint32_t hash = 2166136261u; /* FNV-1a */
    for (const char *p = id; *p; p++)
        hash = (hash ^ (unsigned char)*p) * 16777619u;
    return (int64_t)((uint64_t)(ms >= 0 ? ms : otherwise_ms) << SEQ_REST_BITS) +
           (hash >> (32 - SEQ_REST_BITS));
}

/* ---- rows ---- */

static int add_one(struct records *r, const struct record_row *row)
{
    sqlite3_stmt *s = r->add;
    int64_t seq = seq_of(row->id, row->started_ms);
    int step = SQLITE_CONSTRAINT;
    int bad = sqlite3_bind_text(s, 2, row->id, -1, SQLITE_STATIC) ||
              sqlite3_bind_text(s, 3, row->org, -1, SQLITE_STATIC) ||
              sqlite3_bind_text64(s, 4, row->text.p, row->text.n, SQLITE_STATIC, SQLITE_UTF8);
    for (int i = 0; i < SEQ_TRIES && !bad && step == SQLITE_CONSTRAINT; i++) {
        bad = sqlite3_bind_int64(s, 1, seq + i);
        step = bad ? SQLITE_ERROR : sqlite3_step(s);
        sqlite3_reset(s);
    }
    int answer = bad || step != SQLITE_DONE ? failed(r, "add") : 0;
    sqlite3_clear_bindings(s);
    return answer;
}

int records_add(struct records *r, const struct record_row *rows, size_t n)
{
    int bad = sqlite3_exec(r->db, "BEGIN IMMEDIATE", NULL, NULL, NULL) != SQLITE_OK;
    if (bad)
        return failed(r, "begin");
    for (size_t i = 0; i < n && !bad; i++)
        bad = add_one(r, &rows[i]) < 0;
    bad = bad || sqlite3_exec(r->db, "COMMIT", NULL, NULL, NULL) != SQLITE_OK;
    if (!bad)
        return 0;
    failed(r, "commit");
    sqlite3_exec(r->db, "ROLLBACK", NULL, NULL, NULL);
    return -1;
}

int records_list(struct records *r, const char *org, const char *id, int64_t before_ms, int limit,
                 struct buf *out)
{
    sqlite3_stmt *s = id && *id ? r->find : r->list;
    int wanted = limit < 1 ? 1 : limit > LIST_MAX ? LIST_MAX : limit, n = 0, step;
    bool more = false;
    bool one = s == r->find;
    int64_t from = one                                              ? seq_of(id, 0)
                   : before_ms > 0 && before_ms >> SEQ_MS_BITS == 0 ? before_ms << SEQ_REST_BITS
                                                                    : INT64_MAX;
    if (sqlite3_bind_text(s, 1, org ? org : "", -1, SQLITE_STATIC) ||
        (one && sqlite3_bind_text(s, 2, id, -1, SQLITE_STATIC)) || sqlite3_bind_int64(s, 3, from) ||
        sqlite3_bind_int(s, 4, one ? SEQ_TRIES : wanted + 1))
        return failed(r, "list");
    buf_adds(out, "{\"data\":[");
    while ((step = sqlite3_step(s)) == SQLITE_ROW) {
        more = n == wanted;
        if (more)
            break;
        if (n++)
            buf_addc(out, ',');
        buf_addn(out, sqlite3_column_text(s, 0), (size_t)sqlite3_column_bytes(s, 0));
    }
    int answer = step == SQLITE_ROW || step == SQLITE_DONE ? 0 : failed(r, "list");
    sqlite3_reset(s);
    sqlite3_clear_bindings(s);
    buf_printf(out, "],\"has_more\":%s}", more ? "true" : "false");
    return answer || buf_full(out) ? -1 : 0;
}

int records_sweep(struct records *r, int64_t before_ms)
{
    int bad =
        sqlite3_bind_int64(r->sweep, 1,
                           before_ms > 0 && before_ms >> SEQ_MS_BITS == 0 ? before_ms << SEQ_REST_BITS : 0) ||
        sqlite3_step(r->sweep) != SQLITE_DONE;
    int answer = bad ? failed(r, "sweep") : 0;
    sqlite3_reset(r->sweep);
    return answer;
}
