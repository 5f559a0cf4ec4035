#ifndef ARTIFACTS_SQLITE_FILE_H
#define ARTIFACTS_SQLITE_FILE_H
/* How the databases of the state directory are opened: records.db, uploads.db. Several processes may do so at
 * once. */
#include <sqlite3.h>

#include "base/error.h"

struct sqlite_file {
    const char *name;    /* "records.db" */
    const char *pragmas; /* run at each opening */
    const char *schema;  /* run once, when the file is older than `version`; sets user_version to it */
    int version;
};

/* <state_dir>/<name> with mode 0600, made when it is missing, its schema in place. NULL with *e: it cannot be
 * made or used, or a newer version wrote it. The caller's to sqlite3_close. */
sqlite3 *sqlite_file_open(const char *state_dir, const struct sqlite_file *file, struct error *e) MUST_USE;

#endif
