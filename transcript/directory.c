#include "transcript/directory.h"

#include <errno.h>
#include <stdio.h>
#include <unistd.h>

#include "base/xalloc.h"
#include "transcript/disk.h"
#include "transcript/names.h"
#include "transcript/print.h"
#include "transcript/raw.h"
#include "transcript/text.h"

enum { THREAD_JSON = 32 << 20, COMPONENT = 250, DATE = 10, ID_PART = 8, TURN_NAME = 32 };

void directory_report_init(struct directory_report *r)
{
    *r = (struct directory_report){0};
    buf_init(&r->clashes, 64 * 1024);
}

void directory_report_free(struct directory_report *r)
{
    xfree(r->path);
    xfree(r->moved_from);
    buf_free(&r->clashes);
    *r = (struct directory_report){0};
}

/* ---- whose directory ---- */

/* Appends the thread's id that a directory's thread.json names; false: none. */
static bool read_thread_id(const char *path, struct buf *id)
{
    char *file = disk_join(path, "thread.json");
    struct buf text;
    struct error e;
    json_t *root = NULL;
    buf_init(&text, THREAD_JSON);
    if (disk_read(file, &text) == 0)
        root = raw_parse(buf_span(&text), &e);
    struct span said = raw_str(root, "thread_id");
    buf_add(id, said);
    bool found = said.n > 0;
    json_decref(root);
    buf_free(&text);
    xfree(file);
    return found;
}

enum owner { OWNER_NONE, OWNER_SAME, OWNER_OTHER };

static enum owner owner_of(const char *path, struct span thread)
{
    struct buf id;
    enum owner owner = OWNER_NONE;
    buf_init(&id, THREAD_JSON);
    if (read_thread_id(path, &id)) {
        bool same = id.n == thread.n && memcmp(buf_span(&id).p, thread.p, thread.n) == 0;
        owner = same ? OWNER_SAME : OWNER_OTHER;
    }
    buf_free(&id);
    return owner;
}

struct directory_index {
    struct names threads; /* → paths */
    char **paths;
    size_t n;
};

struct directory_index *directory_index_read(const char *out)
{
    struct directory_index *index = xcalloc(1, sizeof *index);
    struct error e;
    struct buf id;
    names_init(&index->threads);
    buf_init(&id, THREAD_JSON);
    if (directory_list(out, &index->paths, &index->n, &e))
        index->n = 0;
    for (size_t i = 0; i < index->n; i++) {
        buf_reset(&id);
        if (read_thread_id(index->paths[i], &id))
            names_set(&index->threads, buf_span(&id), i);
    }
    buf_free(&id);
    return index;
}

void directory_index_destroy(struct directory_index *index)
{
    if (!index)
        return;
    names_finish(&index->threads);
    directory_list_free(index->paths, index->n);
    xfree(index);
}

const char *directory_index_find(const struct directory_index *index, struct span thread)
{
    size_t i = names_find(&index->threads, thread);
    return i == NAMES_NONE ? NULL : index->paths[i];
}

/* ---- where ---- */

/* "2035-01-02_Title_id": with the whole id when the short one leads to somebody else's directory. */
static char *name_directory(const struct transcript_entry *entry, bool whole_id)
{
    struct buf name, date, id;
    buf_init(&name, 1024);
    buf_init(&date, 256);
    buf_init(&id, 256);
    if (entry->last_updated.n)
        text_directory(text_cut(entry->last_updated, DATE), &date);
    text_directory(whole_id ? entry->id : text_cut(entry->id, ID_PART), &id);
    buf_printf(&name, "%s_", buf_cstr(&date));
    text_slug(entry->title, &name);
    buf_printf(&name, "_%s", buf_cstr(&id));
    if (name.n > COMPONENT) {
        buf_reset(&name);
        buf_printf(&name, "%s_%s", buf_cstr(&date), buf_cstr(&id));
    }
    char *made = xspandup(buf_span(&name));
    buf_free(&id);
    buf_free(&date);
    buf_free(&name);
    return made;
}

static char *place(const char *out, const struct transcript_entry *entry, bool whole_id)
{
    struct buf names;
    char *name = name_directory(entry, whole_id);
    buf_init(&names, 1024);
    text_directory(entry->author, &names);
    buf_addc(&names, '/');
    text_directory(entry->mode, &names);
    buf_printf(&names, "/%s", name);
    char *path = disk_join(out, buf_cstr(&names));
    buf_free(&names);
    xfree(name);
    return path;
}

static char *choose_place(const char *out, const struct transcript *t, struct error *e)
{
    struct transcript_entry entry = transcript_entry(t);
    char *path = place(out, &entry, false);
    if (owner_of(path, entry.id) == OWNER_OTHER) {
        xfree(path);
        path = place(out, &entry, true);
    }
    if (owner_of(path, entry.id) != OWNER_OTHER)
        return path;
    error_set(e, ERROR_BAD_REQUEST, "%s holds another thread; export to another directory", path);
    xfree(path);
    return NULL;
}

/* ---- writing ---- */

struct writer {
    const char *path;
    struct directory_report *report;
    struct error *e;
};

static int write_file(struct writer *w, const char *name, struct span bytes)
{
    char *path = disk_join(w->path, name);
    int written = disk_write(path, bytes, w->e);
    if (written > 0)
        w->report->written++;
    xfree(path);
    return written < 0 ? -1 : 0;
}

/* What was drawn is too large, or is not what the journal says. */
static int complain_of_drawing(struct writer *w, const struct transcript *t, const char *name)
{
    if (transcript_failed(t))
        return error_set(w->e, ERROR_BAD_REQUEST, "The thread's journal cannot be read any more; try again.");
    return error_set(w->e, ERROR_BAD_REQUEST, "%s/%s would be larger than %d bytes", w->path, name,
                     TRANSCRIPT_FILE);
}

/* A file that is drawn in parts. */
struct growing {
    const char *name;
    enum transcript_file which;
    struct disk_file *file;
    size_t n, part; /* bytes and parts that are written */
};

static void begin_file(struct writer *w, struct growing *g)
{
    char *path = disk_join(w->path, g->name);
    g->file = disk_open(path);
    xfree(path);
}

/* The parts before `until`. */
static int add_parts(struct writer *w, struct growing *g, const struct transcript *t, size_t until)
{
    struct buf text;
    int status = 0;
    buf_init(&text, TRANSCRIPT_FILE);
    for (; g->part < until && !status; g->part++) {
        buf_reset(&text);
        if (transcript_part(t, g->which, g->part, &text) || transcript_failed(t) ||
            text.n > TRANSCRIPT_FILE - g->n)
            status = complain_of_drawing(w, t, g->name);
        else
            status = disk_add(g->file, buf_span(&text), w->e);
        g->n += text.n;
    }
    buf_free(&text);
    return status;
}

static int end_file(struct writer *w, struct growing *g, int status)
{
    if (status) {
        disk_abandon(g->file);
        return -1;
    }
    int written = disk_close(g->file, w->e);
    if (written > 0)
        w->report->written++;
    return written < 0 ? -1 : 0;
}

static int write_parts(struct writer *w, const char *name, const struct transcript *t,
                       enum transcript_file which)
{
    struct growing g = {.name = name, .which = which};
    begin_file(w, &g);
    return end_file(w, &g, add_parts(w, &g, t, transcript_parts(t, which)));
}

static int write_turn(struct writer *w, const struct transcript *t, unsigned number)
{
    char name[TURN_NAME];
    struct buf text;
    snprintf(name, sizeof name, "turns/turn_%04u.md", number);
    buf_init(&text, TRANSCRIPT_FILE);
    int status = transcript_turn(t, number, &text) || transcript_failed(t)
                     ? complain_of_drawing(w, t, name)
                     : write_file(w, name, buf_span(&text));
    buf_free(&text);
    return status;
}

/* conversation.md and turns/, side by side, since each turn is in both. */
static int write_conversation(struct writer *w, const struct transcript *t)
{
    struct growing g = {.name = "conversation.md", .which = TRANSCRIPT_CONVERSATION};
    unsigned turns = transcript_entry(t).turns;
    int status = 0;
    begin_file(w, &g);
    for (unsigned i = 1; i <= turns && !status; i++) {
        status = add_parts(w, &g, t, i + 1);
        if (!status)
            status = write_turn(w, t, i);
    }
    if (!status)
        status = add_parts(w, &g, t, transcript_parts(t, g.which));
    return end_file(w, &g, status);
}

/* The number in "turn_0001.md"; 0: another name. */
static unsigned long turn_number(const char *name)
{
    static const char begin[] = "turn_", end[] = ".md";
    struct span s = span_str(name);
    unsigned long number = 0;
    if (!span_starts(s, begin) || !span_ends(s, end) || s.n < sizeof begin + sizeof end - 1)
        return 0;
    for (const char *p = name + sizeof begin - 1; p < name + s.n - (sizeof end - 1); p++) {
        if (*p < '0' || *p > '9' || number > 100000000)
            return 0;
        number = number * 10 + (unsigned long)(*p - '0');
    }
    return number;
}

/* Turns that the thread does not have any more; files with other names are somebody's own. */
static void remove_turns(struct writer *w, unsigned turns)
{
    char *dir = disk_join(w->path, "turns"), **names;
    size_t n;
    if (disk_list(dir, &names, &n) == 0) {
        for (size_t i = 0; i < n; i++) {
            char *path = disk_join(dir, names[i]);
            if (turn_number(names[i]) > turns)
                w->report->removed += unlink(path) == 0;
            xfree(path);
        }
        disk_list_free(names, n);
    }
    xfree(dir);
}

static int make_places(struct writer *w)
{
    char *turns = disk_join(w->path, "turns");
    int status = disk_make(turns, w->e);
    xfree(turns);
    return status;
}

/* thread.json says when it was exported; that alone is no reason to write it. */
static int write_thread_json(struct writer *w, const struct transcript *t, struct span exported_at)
{
    char *path = disk_join(w->path, "thread.json");
    struct buf text, there;
    int status = 0;
    buf_init(&text, TRANSCRIPT_FILE);
    buf_init(&there, THREAD_JSON);
    if (transcript_thread_json(t, exported_at, &text))
        status =
            error_set(w->e, ERROR_BAD_REQUEST, "%s would be larger than %d bytes", path, TRANSCRIPT_FILE);
    else if (disk_read(path, &there) || !print_same_without(buf_span(&there), buf_span(&text), "exported_at"))
        status = write_file(w, "thread.json", buf_span(&text));
    buf_free(&there);
    buf_free(&text);
    xfree(path);
    return status;
}

/* All but the raw document. */
static int write_all(struct writer *w, const struct transcript *t, struct span exported_at)
{
    return write_parts(w, "sources.json", t, TRANSCRIPT_SOURCES_JSON) ||
                   write_parts(w, "sources.md", t, TRANSCRIPT_SOURCES_MD) || write_conversation(w, t) ||
                   write_thread_json(w, t, exported_at)
               ? -1
               : 0;
}

/* What is in the directory of an older date. */
static void take_over(struct writer *w, const struct transcript *t, const char *old)
{
    struct error why; /* an old directory that stays is no failure */
    if (old && strcmp(old, w->path) != 0 && disk_is_directory(old) &&
        owner_of(old, transcript_entry(t).id) == OWNER_SAME &&
        disk_move_into(old, w->path, &w->report->clashes, &why) == 0)
        w->report->moved_from = xstrdup(old);
    remove_turns(w, transcript_entry(t).turns);
}

/* The second file of a dump that now comes in one, or that was recorded since. */
static int remove_blocks(struct writer *w)
{
    char *path = disk_join(w->path, "raw_blocks.json");
    w->report->removed += unlink(path) == 0;
    xfree(path);
    return 0;
}

int directory_export(const char *out, const struct transcript *t, struct span raw, struct span blocks,
                     struct span exported_at, const char *old, struct directory_report *r, struct error *e)
{
    r->path = choose_place(out, t, e);
    struct writer w = {.path = r->path, .report = r, .e = e};
    if (!r->path || make_places(&w) || write_file(&w, "raw_thread.json", raw) ||
        (blocks.n ? write_file(&w, "raw_blocks.json", blocks) : remove_blocks(&w)) ||
        write_all(&w, t, exported_at))
        return -1;
    take_over(&w, t, old);
    if (!blocks.n)
        remove_blocks(&w); /* the old directory's */
    return 0;
}

struct raw_file {
    struct disk_file *file;
    struct error *e;
};

static int add_raw(void *arg, struct span bytes)
{
    struct raw_file *raw = arg;
    return disk_add(raw->file, bytes, raw->e);
}

static int write_raw(struct writer *w, const struct journal *j)
{
    struct growing g = {.name = "raw_thread.json"};
    begin_file(w, &g);
    struct raw_file raw = {.file = g.file, .e = w->e};
    const struct sink to = {.write = add_raw, .arg = &raw};
    return end_file(w, &g, journal_print(j, TRANSCRIPT_DOCUMENT, &to, w->e));
}

int directory_export_journal(const char *out, const struct transcript *t, const struct journal *j,
                             struct span exported_at, const char *old, struct directory_report *r,
                             struct error *e)
{
    r->path = choose_place(out, t, e);
    struct writer w = {.path = r->path, .report = r, .e = e};
    if (!r->path || make_places(&w) || write_raw(&w, j) || remove_blocks(&w) || write_all(&w, t, exported_at))
        return -1;
    take_over(&w, t, old);
    remove_blocks(&w); /* the old directory's */
    return 0;
}

/* ---- drawing anew ---- */

/* 1: read; 0: there is none. */
static int read_raw(const char *dir, const char *name, struct buf *out, struct error *e)
{
    char *path = disk_join(dir, name);
    int status = 1;
    buf_init(out, TRANSCRIPT_DOCUMENT);
    if (disk_read(path, out))
        status = errno == ENOENT ? 0
                 : errno == EFBIG
                     ? error_set(e, ERROR_BAD_REQUEST, "%s is larger than the %d bytes that can be read",
                                 path, TRANSCRIPT_DOCUMENT)
                     : error_set(e, ERROR_BAD_REQUEST, "cannot read %s: %s", path, strerror(errno));
    xfree(path);
    return status;
}

static int update_thread_json(struct writer *w, const struct transcript *t)
{
    struct buf old, text;
    int status = read_raw(w->path, "thread.json", &old, w->e);
    buf_init(&text, TRANSCRIPT_FILE);
    if (status == 1) {
        if (transcript_update_thread_json(t, buf_span(&old), &text))
            status = error_set(w->e, ERROR_BAD_REQUEST,
                               "%s/thread.json is not a JSON object; export the thread anew", w->path);
        else
            status = write_file(w, "thread.json", buf_span(&text));
    }
    buf_free(&text);
    buf_free(&old);
    return status < 0 ? -1 : 0;
}

static int show_anew(struct writer *w, struct span raw, struct span blocks, bool thread_json)
{
    struct transcript *t;
    struct error why;
    if (transcript_load(raw, blocks, &t, &why))
        return error_set(w->e, ERROR_BAD_REQUEST, "%s/raw_thread.json: %s", w->path, why.message);
    int status =
        make_places(w) || write_conversation(w, t) || (thread_json && update_thread_json(w, t)) ? -1 : 0;
    if (!status)
        remove_turns(w, transcript_entry(t).turns);
    transcript_destroy(t);
    return status;
}

enum directory_rendered directory_rerender(const char *path, bool thread_json, struct directory_report *r,
                                           struct error *e)
{
    struct buf raw, blocks;
    enum directory_rendered answer = DIRECTORY_FAILED;
    r->path = xstrdup(path);
    struct writer w = {.path = r->path, .report = r, .e = e};
    int has_raw = read_raw(path, "raw_thread.json", &raw, e);
    int has_blocks = read_raw(path, "raw_blocks.json", &blocks, e);
    if (has_raw == 0)
        answer = DIRECTORY_SKIPPED;
    else if (has_raw > 0 && has_blocks >= 0 &&
             show_anew(&w, buf_span(&raw), buf_span(&blocks), thread_json) == 0)
        answer = r->written || r->removed ? DIRECTORY_CHANGED : DIRECTORY_SAME;
    buf_free(&raw);
    buf_free(&blocks);
    return answer;
}

/* ---- all of them ---- */

struct listing {
    char **paths;
    size_t n, room;
};

static void add_path(struct listing *l, const char *path)
{
    if (l->n == l->room) {
        l->room = l->room ? 2 * l->room : 64;
        l->paths = xrealloc(l->paths, l->room * sizeof *l->paths);
    }
    l->paths[l->n++] = xstrdup(path);
}

static bool has_file(const char *path, const char *name)
{
    char *file = disk_join(path, name);
    bool found = access(file, F_OK) == 0;
    xfree(file);
    return found;
}

static bool is_thread(const char *path)
{
    return has_file(path, "raw_thread.json") || has_file(path, "thread.json");
}

/* Names may begin with a dot, an author's say; what else is hidden is no thread. */
static void list_level(struct listing *l, const char *path, unsigned level, bool hidden)
{
    enum { LEVELS = 3 }; /* author, mode, thread */
    char **names;
    size_t n;
    if (level == LEVELS) {
        if (!hidden || is_thread(path))
            add_path(l, path);
        return;
    }
    if (disk_list_all(path, &names, &n))
        return;
    for (size_t i = 0; i < n; i++) {
        char *inner = disk_join(path, names[i]);
        if (disk_is_directory(inner))
            list_level(l, inner, level + 1, hidden || names[i][0] == '.');
        xfree(inner);
    }
    disk_list_free(names, n);
}

int directory_list(const char *out, char ***paths, size_t *n, struct error *e)
{
    struct listing l = {0};
    int status = 0;
    if (!disk_is_directory(out))
        status = error_set(e, ERROR_BAD_REQUEST, "%s is not a directory", out);
    else if (is_thread(out))
        add_path(&l, out);
    else
        list_level(&l, out, 0, false);
    *paths = l.paths;
    *n = l.n;
    return status;
}

void directory_list_free(char **paths, size_t n)
{
    disk_list_free(paths, n);
}
