/*
 * The file store. Every path is walked a directory at a time from a descriptor on state_dir, without
 * following symbolic links, so that nothing planted inside can lead out. Files are 0600, directories 0700. A
 * file is written under a temporary name beside its place, synced, renamed, and its directory synced: whole
 * or not there, and there after a crash. What is put soon is not synced, and neither are directories that
 * were made for it; whoever makes a directory for something durable syncs those above it as well.
 *
 * A record's modification time is the moment it expires, so that a sweep reads only those that are due.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "artifacts/store.h"
#include "base/hex.h"
#include "base/log.h"
#include "base/write_all.h"
#include "base/xalloc.h"

enum {
    SWEEP_ENTRIES = 4096, /* directory entries a sweep looks at */
    TEMPORARY_AGE = 3600, /* seconds after which a temporary file is a forgotten one */
    READ_SIZE = 4096,
    SECRET_TEXT = 2 * STORE_SECRET,
};

static const char temporary[] = ".tmp-";

struct file_store {
    int root;
    /* Where the sweep stands; guarded by the store's lock. */
    DIR *shards, *shard, *orgs, *org;
    char shard_name[NAME_MAX + 1], org_name[NAME_MAX + 1];
};

/* ---- files ---- */

enum how { FIND, MAKE, MAKE_SOON /* without syncing */ };

static int sync_dir(int dir)
{
    return fsync(dir);
}

/* *made: whether it was made, and not synced then. */
static int open_child(int dir, const char *name, enum how how, bool *made)
{
    int flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
    int fd = openat(dir, name, flags);
    if (fd >= 0 || errno != ENOENT || how == FIND)
        return fd;
    if (mkdirat(dir, name, 0700) && errno != EEXIST)
        return -1;
    *made = true;
    return openat(dir, name, flags);
}

/* From a directory up to the root, each synced; all of them are ours. */
static int sync_above(int root, int dir)
{
    struct stat top, st;
    int at = dup(dir), failed = fstat(root, &top);
    while (at >= 0 && !failed) {
        failed = fstat(at, &st) || sync_dir(at);
        if (failed || (st.st_dev == top.st_dev && st.st_ino == top.st_ino))
            break;
        int above = openat(at, "..", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        close(at);
        at = above;
    }
    failed = failed || at < 0;
    if (at >= 0)
        close(at);
    return failed ? -1 : 0;
}

/* A descriptor on the directory of `key`; *last is its last component. */
static int open_parent(int root, const char *key, enum how how, const char **last)
{
    bool made = false;
    int dir = openat(root, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    for (const char *slash; dir >= 0 && (slash = strchr(key, '/')); key = slash + 1) {
        char part[NAME_MAX + 1];
        size_t n = (size_t)(slash - key);
        int child = -1;
        if (n && n < sizeof part) {
            memcpy(part, key, n);
            part[n] = '\0';
            if (strcmp(part, ".") != 0 && strcmp(part, "..") != 0)
                child = open_child(dir, part, how, &made);
        }
        int why = errno;
        close(dir);
        errno = why;
        dir = child;
    }
    *last = key;
    if (dir >= 0 && (!*key || strcmp(key, ".") == 0 || strcmp(key, "..") == 0)) {
        close(dir);
        errno = EINVAL;
        return -1;
    }
    if (dir >= 0 && made && how == MAKE && sync_above(root, dir)) {
        int why = errno;
        close(dir);
        errno = why;
        return -1;
    }
    return dir;
}

static int read_all(int fd, struct buf *out)
{
    for (;;) {
        size_t left = out->max - out->n, want = left < READ_SIZE ? left : READ_SIZE;
        char extra,
            *to = want ? buf_reserve(out, want) : &extra; /* at the cap: to see that nothing follows */
        ssize_t n = to ? read(fd, to, want ? want : 1) : -1;
        if (to && n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return (int)n;
        if (!want)
            return -1;
        buf_commit(out, (size_t)n);
    }
}

/* A new file beside its place, with its bytes on disk when they are to be synced. */
static int write_temporary(int dir, struct span bytes, int64_t mtime_s, bool sync, char name[64])
{
    char random[ARTIFACT_ID];
    store_new_id("", random, sizeof random);
    snprintf(name, 64, "%s%s", temporary, random);
    int fd = openat(dir, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (fd < 0)
        return -1;
    const struct timespec times[2] = {{.tv_nsec = UTIME_NOW}, {.tv_sec = mtime_s}};
    int failed = write_all(fd, bytes) || (mtime_s && futimens(fd, times)) || (sync && fsync(fd));
    failed = close(fd) || failed;
    if (failed)
        unlinkat(dir, name, 0);
    return failed ? -1 : 0;
}

static int file_put_at(int dir, const char *name, struct span bytes, int64_t mtime_s, bool sync)
{
    char from[64];
    if (write_temporary(dir, bytes, mtime_s, sync, from))
        return -1;
    if (renameat(dir, from, dir, name) == 0)
        return sync ? sync_dir(dir) : 0;
    int why = errno;
    unlinkat(dir, from, 0);
    errno = why;
    return -1;
}

/* The moment of expiry that a record states, for its modification time; 0: not a record. */
static int64_t expiry_of(const char *key, struct span bytes)
{
    static const char field[] = "\"expires_at\":";
    int64_t at = 0;
    if (strncmp(key, "files/", 6) != 0 || !bytes.n)
        return 0;
    const char *found = memmem(bytes.p, bytes.n, field, sizeof field - 1);
    for (const char *p = found ? found + sizeof field - 1 : NULL; p && p < bytes.p + bytes.n; p++) {
        if (*p >= '0' && *p <= '9' && at < INT64_MAX / 16)
            at = at * 10 + (*p - '0');
        else if (*p != ' ')
            break;
    }
    return at;
}

static int put(struct file_store *f, const char *key, struct span bytes, enum how how)
{
    const char *last;
    int dir = open_parent(f->root, key, how, &last);
    int failed = dir < 0 || file_put_at(dir, last, bytes, expiry_of(key, bytes), how == MAKE);
    if (failed) /* the last component may be a name of the model's choice, which no log shows */
        log_error("store.put_failed", log_text("folder", span_of(key, (size_t)(last - key))),
                  log_int("errno", errno));
    if (dir >= 0)
        close(dir);
    return failed ? -1 : 0;
}

static int file_put(void *backend, const char *key, struct span bytes)
{
    return put(backend, key, bytes, MAKE);
}

static int file_put_soon(void *backend, const char *key, struct span bytes)
{
    return put(backend, key, bytes, MAKE_SOON);
}

static int file_open(void *backend, const char *key)
{
    struct file_store *f = backend;
    const char *last;
    struct stat st;
    int dir = open_parent(f->root, key, FIND, &last);
    if (dir < 0)
        return -1;
    int fd = openat(dir, last, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);
    close(dir);
    if (fd >= 0 && (fstat(fd, &st) || !S_ISREG(st.st_mode))) {
        close(fd);
        return -1;
    }
    return fd;
}

static int file_get(void *backend, const char *key, struct buf *out)
{
    int fd = file_open(backend, key);
    if (fd < 0)
        return -1;
    int failed = read_all(fd, out);
    close(fd);
    return failed ? -1 : 0;
}

static bool file_exists(void *backend, const char *key)
{
    struct file_store *f = backend;
    const char *last;
    struct stat st;
    int dir = open_parent(f->root, key, FIND, &last);
    bool exists = dir >= 0 && fstatat(dir, last, &st, AT_SYMLINK_NOFOLLOW) == 0;
    if (dir >= 0)
        close(dir);
    return exists;
}

static int file_remove(void *backend, const char *key)
{
    struct file_store *f = backend;
    const char *last;
    int dir = open_parent(f->root, key, FIND, &last);
    if (dir < 0)
        return errno == ENOENT ? 0 : -1;
    int failed = unlinkat(dir, last, 0) && errno != ENOENT;
    failed = failed || sync_dir(dir);
    close(dir);
    return failed ? -1 : 0;
}

/* The directory itself is the lock's file; the descriptor its token. One that is made for it is synced with
 * what is put there. */
static int lock(struct file_store *f, const char *key, enum how how)
{
    const char *last;
    bool made = false;
    int dir = open_parent(f->root, key, how, &last);
    int fd = dir < 0 ? -1 : open_child(dir, last, how, &made);
    if (dir >= 0)
        close(dir);
    while (fd >= 0 && flock(fd, LOCK_EX))
        if (errno != EINTR) {
            close(fd);
            fd = -1;
        }
    return fd;
}

static int file_lock(void *backend, const char *key)
{
    return lock(backend, key, MAKE_SOON);
}

static int file_lock_found(void *backend, const char *key)
{
    return lock(backend, key, FIND);
}

static void file_unlock(void *backend, int token)
{
    (void)backend;
    if (token >= 0)
        close(token);
}

/* ---- sweeping ---- */

static DIR *open_list(int dir, const char *name)
{
    int fd = open_child(dir, name, FIND, NULL);
    DIR *list = fd < 0 ? NULL : fdopendir(fd);
    if (fd >= 0 && !list)
        close(fd);
    return list;
}

static void close_list(DIR **list)
{
    if (*list)
        closedir(*list);
    *list = NULL;
}

/* The next entry that is no dot name but for temporary files; NULL: at the end (the list is closed then). */
static const char *next_entry(DIR **list, unsigned *budget)
{
    while (*list && *budget) {
        struct dirent *entry = readdir(*list);
        if (!entry) {
            close_list(list);
            break;
        }
        --*budget;
        if (entry->d_name[0] != '.' || strncmp(entry->d_name, temporary, sizeof temporary - 1) == 0)
            return entry->d_name;
    }
    return NULL;
}

static void sweep_record(DIR *shard, const char *name, int64_t now_s, void (*record)(void *, struct span),
                         void *arg)
{
    struct stat st;
    struct span file = span_str(name);
    if (fstatat(dirfd(shard), name, &st, AT_SYMLINK_NOFOLLOW))
        return;
    if (name[0] == '.') {
        if (st.st_ctime < now_s - TEMPORARY_AGE)
            unlinkat(dirfd(shard), name, 0);
    } else if (span_ends(file, ".json") && st.st_mtime <= now_s) {
        record(arg, span_of(file.p, file.n - 5));
    }
}

static void sweep_records(struct file_store *f, int64_t now_s, void (*record)(void *, struct span), void *arg)
{
    unsigned budget = SWEEP_ENTRIES;
    if (!f->shards && !f->shard)
        f->shards = open_list(f->root, "files");
    while (budget) {
        const char *name = next_entry(&f->shard, &budget);
        if (name) {
            sweep_record(f->shard, name, now_s, record, arg);
            continue;
        }
        name = next_entry(&f->shards, &budget);
        if (!name)
            return;
        f->shard = open_list(dirfd(f->shards), name);
    }
}

/* A workspace was last changed when its manifest was; one without a manifest, when its directory was. */
static bool is_old(int org, const char *consult, int64_t before_s)
{
    char manifest[STORE_KEY];
    struct stat st;
    if (snprintf(manifest, sizeof manifest, "%s/manifest.json", consult) >= (int)sizeof manifest)
        return false;
    if (fstatat(org, manifest, &st, AT_SYMLINK_NOFOLLOW) && fstatat(org, consult, &st, AT_SYMLINK_NOFOLLOW))
        return false;
    return st.st_mtime < before_s;
}

static void empty_dir(int parent, const char *name)
{
    DIR *list = open_list(parent, name);
    if (!list)
        return;
    for (struct dirent *entry; (entry = readdir(list));)
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
            unlinkat(dirfd(list), entry->d_name, 0);
    closedir(list);
}

/* What callers attached lies there for less time than what was made of it. */
static void sweep_inbound(int org, const char *consult, int64_t before_s)
{
    struct stat st;
    int dir = open_child(org, consult, FIND, NULL);
    if (dir < 0)
        return;
    if (fstatat(dir, "inbound", &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISDIR(st.st_mode) &&
        st.st_mtime < before_s) {
        empty_dir(dir, "inbound");
        unlinkat(dir, "inbound", AT_REMOVEDIR);
    }
    close(dir);
}

static void sweep_workspaces(struct file_store *f, int64_t before_s, int64_t inbound_before_s,
                             void (*workspace)(void *, const char *, const char *), void *arg)
{
    unsigned budget = SWEEP_ENTRIES;
    if (!f->orgs && !f->org)
        f->orgs = open_list(f->root, "orgs");
    while (budget) {
        const char *name = next_entry(&f->org, &budget);
        if (name) {
            if (store_consult_valid(name))
                sweep_inbound(dirfd(f->org), name, inbound_before_s);
            if (store_consult_valid(name) && is_old(dirfd(f->org), name, before_s))
                workspace(arg, f->org_name, name);
            continue;
        }
        name = next_entry(&f->orgs, &budget);
        if (!name)
            return;
        snprintf(f->org_name, sizeof f->org_name, "%s", name);
        f->org = store_org_valid(name) ? open_list(dirfd(f->orgs), name) : NULL;
    }
}

static void file_sweep(void *backend, int64_t now_s, int64_t retention_s, int64_t inbound_s,
                       void (*record)(void *, struct span),
                       void (*workspace)(void *, const char *, const char *), void *arg)
{
    sweep_records(backend, now_s, record, arg);
    sweep_workspaces(backend, now_s - retention_s, now_s - inbound_s, workspace, arg);
}

static void file_drop(void *backend, const char *org, const char *consult)
{
    static const char *const folders[] = {"inbound", "outbound", "quarantine"};
    struct file_store *f = backend;
    char key[STORE_KEY];
    const char *last;
    if (store_workspace_key(org, consult, "manifest.json", key))
        return;
    int dir = open_parent(f->root, key, FIND, &last);
    if (dir < 0)
        return;
    for (size_t i = 0; i < sizeof folders / sizeof folders[0]; i++) {
        empty_dir(dir, folders[i]);
        unlinkat(dir, folders[i], AT_REMOVEDIR);
    }
    close(dir);
    *strrchr(key, '/') = '\0';
    dir = open_parent(f->root, key, FIND, &last);
    if (dir < 0)
        return;
    empty_dir(dir, last);
    unlinkat(dir, last, AT_REMOVEDIR);
    close(dir);
}

/* ---- opening ---- */

static int hex_value(char c)
{
    return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static int parse_secret(struct span text, unsigned char secret[STORE_SECRET])
{
    if (text.n && text.p[text.n - 1] == '\n')
        text.n--;
    if (text.n != SECRET_TEXT)
        return -1;
    for (size_t i = 0; i < STORE_SECRET; i++) {
        int high = hex_value(text.p[2 * i]), low = hex_value(text.p[2 * i + 1]);
        if (high < 0 || low < 0)
            return -1;
        secret[i] = (unsigned char)(high << 4 | low);
    }
    return 0;
}

/* Made whole under another name and then linked: of several processes that start at once one wins, and nobody
 * reads half a secret. */
static int make_secret(int root)
{
    char text[SECRET_TEXT + 2], from[64];
    unsigned char bytes[STORE_SECRET];
    if (getentropy(bytes, sizeof bytes))
        return -1;
    hex_write(bytes, sizeof bytes, text);
    text[SECRET_TEXT] = '\n';
    if (write_temporary(root, span_of(text, SECRET_TEXT + 1), 0, true, from))
        return -1;
    int failed = linkat(root, from, root, "secret", 0) && errno != EEXIST;
    unlinkat(root, from, 0);
    return failed || sync_dir(root) ? -1 : 0;
}

static int load_secret(struct file_store *f, unsigned char secret[STORE_SECRET], const char *state_dir,
                       struct error *e)
{
    struct buf text;
    int failed = -1;
    buf_init(&text, SECRET_TEXT + 1);
    if (!file_exists(f, "secret") && make_secret(f->root))
        error_set(e, ERROR_BAD_REQUEST, "cannot make %s/secret: %s", state_dir, strerror(errno));
    else if (file_get(f, "secret", &text))
        error_set(e, ERROR_BAD_REQUEST, "cannot read %s/secret: it must be a regular file of this user",
                  state_dir);
    else if (parse_secret(buf_span(&text), secret))
        error_set(e, ERROR_BAD_REQUEST, "%s/secret is damaged: it must hold %d hexadecimal digits", state_dir,
                  SECRET_TEXT);
    else
        failed = 0;
    if (text.data)
        explicit_bzero(text.data, text.room);
    buf_free(&text);
    return failed;
}

/* state_dir may lie anywhere and may be reached by links: the operator says where it is. */
static int make_path(const char *path)
{
    char *copy = xstrdup(path);
    int failed = 0;
    for (char *p = copy + 1; !failed && *copy && *p; p++) {
        if (*p != '/')
            continue;
        *p = '\0';
        failed = mkdir(copy, 0700) && errno != EEXIST;
        *p = '/';
    }
    failed = failed || (mkdir(copy, 0700) && errno != EEXIST);
    xfree(copy);
    return failed ? -1 : 0;
}

static void file_close(void *backend)
{
    struct file_store *f = backend;
    if (!f)
        return;
    close_list(&f->shards);
    close_list(&f->shard);
    close_list(&f->orgs);
    close_list(&f->org);
    if (f->root >= 0)
        close(f->root);
    xfree(f);
}

void *store_file_open(const char *state_dir, unsigned char secret[STORE_SECRET], struct error *e)
{
    static const char *const folders[] = {"orgs", "files"};
    struct file_store *f = xcalloc(1, sizeof *f);
    f->root = -1;
    bool made = state_dir[0] && make_path(state_dir) == 0;
    f->root = made ? open(state_dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
    for (size_t i = 0; f->root >= 0 && i < sizeof folders / sizeof folders[0]; i++) {
        bool made_folder = false;
        int fd = open_child(f->root, folders[i], MAKE, &made_folder);
        if (fd >= 0 && made_folder && sync_dir(f->root)) {
            close(fd);
            fd = -1;
        }
        if (fd < 0) {
            close(f->root);
            f->root = -1;
        } else {
            close(fd);
        }
    }
    if (f->root < 0)
        error_set(e, ERROR_BAD_REQUEST, "state_dir %s cannot be used: %s", state_dir, strerror(errno));
    else if (load_secret(f, secret, state_dir, e) == 0)
        return f;
    file_close(f);
    return NULL;
}

const struct store_ops store_file_ops = {
    .name = "file",
    .put = file_put,
    .put_soon = file_put_soon,
    .get = file_get,
    .open = file_open,
    .exists = file_exists,
    .remove = file_remove,
    .lock = file_lock,
    .unlock = file_unlock,
    .lock_found = file_lock_found,
    .sweep = file_sweep,
    .drop = file_drop,
    .close = file_close,
};
