#include "proxy/extract.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "artifacts/artifact.h"
#include "base/json.h"
#include "base/write_all.h"
#include "base/xalloc.h"
#include "filters/directive.h"
#include "filters/report.h"
#include "proxy/extract_render.h"

enum { READ = 64 * 1024, ESCAPED = 6 * READ, AGAIN = 100 };

#define CLEAR "\r\033[K" /* the progress line, on a terminal */

/* A document that names a picture which is not there yet. */
struct later {
    unsigned number;
    struct buf text;
};

struct extract {
    const char *dir;
    size_t directive, directives, total; /* limits, as in struct config_limits */
    size_t bytes;                        /* of directives so far */
    unsigned n;                          /* directives so far */
    struct report report;
    struct extract_file *files; /* written by this run */
    size_t nfiles;
    struct later *later; /* made when the text is over */
    size_t nlater;
    struct extract_renders *renders; /* NULL until the first file that is drawn */
    struct buf plain;                /* of one piece of text */
    bool visible;                    /* anything but white space went out */
    bool flagged, failed;
    bool no_dir;   /* it could not be made, and that was said */
    bool terminal; /* standard error is one */
    bool sandbox_required;
    int64_t render_ms; /* the longest that one file may take */
};

/* ---- files ---- */

static int complain(struct extract *x, const char *what, const char *name)
{
    fprintf(stderr, "penstock extract: cannot %s %s: %s\n", what, name, strerror(errno));
    x->failed = true;
    return -1;
}

/* The directory and those above it, where they are missing. */
static int make_directory(struct extract *x, const char *path)
{
    char *copy = xstrdup(path);
    int failed = 0;
    for (char *p = copy + 1; *copy && !failed; p++) {
        char c = *p;
        if (c != '/' && c != '\0')
            continue;
        *p = '\0';
        if (mkdir(copy, 0777) < 0 && errno != EEXIST)
            failed = complain(x, "make the directory", copy);
        *p = c;
        if (c == '\0')
            break;
    }
    xfree(copy);
    return failed;
}

static char *join_path(const char *dir, const char *name)
{
    struct buf path;
    bool slash = *dir && dir[strlen(dir) - 1] == '/';
    buf_init(&path, strlen(dir) + strlen(name) + 2);
    buf_printf(&path, "%s%s%s", dir, slash ? "" : "/", name);
    char *joined = xspandup(buf_span(&path));
    buf_free(&path);
    return joined;
}

/* A new file, whole or not at all. -1 with errno: EEXIST, or what went wrong. */
static int write_new(const char *path, struct span bytes)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (fd < 0)
        return -1;
    if (write_all_and_close(fd, bytes) == 0)
        return 0;
    int why = errno;
    unlink(path);
    errno = why;
    return -1;
}

/* By a file of the reply. */
static bool is_given(void *arg, const char *name)
{
    const struct extract *x = arg;
    for (size_t i = 0; i < x->nfiles; i++)
        if (artifact_name_same(x->files[i].name, name))
            return true;
    return false;
}

/* By a file in the directory, or by one whose name differs but for case or accents. */
static bool is_taken(void *arg, const char *name)
{
    const struct extract *x = arg;
    struct stat st;
    for (size_t i = 0; i < x->nfiles; i++)
        if (artifact_name_same(x->files[i].on_disk, name))
            return true;
    char *path = join_path(x->dir, name);
    bool taken = lstat(path, &st) == 0;
    xfree(path);
    return taken;
}

/* Under the first form of the name that the reply has not given yet, which is then in `name`, and on disk
 * under the first that is free there. */
static int write_artifact(struct extract *x, char name[LIMIT_FILENAME + 1], const struct format *format,
                          struct span bytes)
{
    char *path = NULL;
    struct extract_file file;
    int failed = x->no_dir ? -1 : make_directory(x, x->dir);
    x->no_dir = failed != 0;
    if (failed)
        return -1;
    artifact_name_unique(name, is_given, x);
    snprintf(file.name, sizeof file.name, "%s", name);
    snprintf(file.on_disk, sizeof file.on_disk, "%s", name);
    for (unsigned again = 0; again < AGAIN; again++) { /* another program may take the name in between */
        artifact_name_unique(file.on_disk, is_taken, x);
        xfree(path);
        path = join_path(x->dir, file.on_disk);
        failed = write_new(path, bytes);
        if (!failed || errno != EEXIST)
            break;
    }
    if (failed) {
        complain(x, "write", path);
    } else {
        fprintf(stderr, "%swrote %s (%s, %zu bytes)\n", x->terminal ? CLEAR : "", path, format->name,
                bytes.n);
        x->files = xrealloc(x->files, (x->nfiles + 1) * sizeof *x->files);
        x->files[x->nfiles++] = file;
    }
    xfree(path);
    return failed;
}

/* The path of the kept text; the caller frees it. NULL: it could not be kept. */
static char *keep(struct extract *x, unsigned number, struct span text)
{
    char name[64];
    char *dir = join_path(x->dir, "quarantine"), *path = NULL;
    int failed = x->no_dir ? -1 : make_directory(x, dir);
    x->no_dir |= failed != 0;
    for (unsigned again = 1; !failed && again < AGAIN; again++) {
        if (again == 1)
            snprintf(name, sizeof name, "%02u.txt", number);
        else
            snprintf(name, sizeof name, "%02u-%u.txt", number, again);
        xfree(path);
        path = join_path(dir, name);
        failed = write_new(path, text);
        if (!failed)
            break;
        if (errno != EEXIST)
            complain(x, "write", path);
        else if (again + 1 < AGAIN)
            failed = 0;
    }
    if (failed) {
        xfree(path);
        path = NULL;
    }
    xfree(dir);
    return path;
}

/* ---- directives ---- */

static const char *why_refused(enum flag flag)
{
    return flag == FLAG_UNTERMINATED ? "its end is missing"
           : flag == FLAG_TOO_LARGE  ? "it is larger than the limit"
           : flag == FLAG_TOO_MANY   ? "the reply holds more files than the limit allows"
                                     : "it could not be written";
}

/* Documents and charts; the renderers are started for the first of them. */
static bool is_drawn(struct extract *x, const struct directive_parts *parts, const struct format *format)
{
    static const char *const texts[] = {"svg", "csv", "ics"};
    bool may = format_find_binary(span_str(format->name)) == format;
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
        may |= strcmp(format->name, texts[i]) == 0;
    if (parts->base64 || !may)
        return false;
    if (!x->renders)
        x->renders = extract_renders_create(x->sandbox_required, x->render_ms);
    return render_is_wanted(extract_renders_formats(x->renders), parts, format);
}

static bool is_written(void *arg, struct span name)
{
    const struct extract *x = arg;
    for (size_t i = 0; i < x->nfiles; i++)
        if (span_is_nocase(name, x->files[i].name))
            return true;
    return false;
}

/* What is asked of make_file beside the directive's text. */
struct task {
    enum flag refused;
    bool last;  /* a picture that is not there will not come */
    bool later; /* out: it is to be made when the text is over */
    bool lacks; /* out: it was made without a picture that it names */
    char name[LIMIT_FILENAME + 1];
    char why[LIMIT_ERROR_TEXT]; /* a clause that may be empty */
};

static enum flag make_bytes(struct extract *x, const struct directive_parts *parts,
                            const struct format *format, struct task *t, struct buf *bytes)
{
    if (!is_drawn(x, parts, format))
        return artifact_render(parts, format, bytes, t->why);
    t->lacks = rendered_lacks(format, buf_span(&parts->content), is_written, x);
    t->later = t->lacks && !t->last;
    if (t->later)
        return FLAG_NONE;
    t->lacks = t->lacks && strcmp(format->name, "zip") != 0; /* that one may mean a file of its own */
    enum flag flag =
        extract_render(x->renders, parts, format, t->name, x->dir, x->files, x->nfiles, bytes, t->why);
    bool ours = flag == FLAG_RENDER_FAILED || flag == FLAG_RENDER_TIMEOUT;
    if (!ours || format_find(span_str(format->name)) != format)
        return flag;
    buf_reset(bytes); /* a table or a calendar can be taken as it was written */
    return artifact_render(parts, format, bytes, t->why);
}

/* Parses, renders and writes. */
static enum flag make_file(struct extract *x, struct span text, struct task *t)
{
    struct directive_parts parts;
    struct buf bytes;
    enum flag flag = directive_parse(text, x->directive, &parts, t->why);
    const struct format *format = flag == FLAG_NONE ? format_find_any(span_str(parts.format)) : NULL;
    buf_init(&bytes, 2 * x->directive + 64); /* a table grows by an apostrophe a cell at most */
    if (parts.filename[0] || parts.title[0] || format)
        artifact_name(span_str(parts.filename), span_str(parts.title), format, t->name);
    if (t->refused != FLAG_NONE) {
        flag = t->refused;
        t->why[0] = '\0';
    } else if (flag == FLAG_NONE && !format) {
        flag = FLAG_UNSUPPORTED_FORMAT;
        snprintf(t->why, sizeof t->why, "its format cannot be made here");
    } else if (flag == FLAG_NONE) {
        if (x->terminal) {
            fflush(stdout); /* the text before it, if that is the same terminal */
            fprintf(stderr, CLEAR "making %s …", t->name);
        }
        flag = make_bytes(x, &parts, format, t, &bytes);
        if (flag == FLAG_NONE && !t->later && write_artifact(x, t->name, format, buf_span(&bytes)))
            flag = FLAG_STORAGE_FAILED;
        if (x->terminal)
            fputs(CLEAR, stderr);
    }
    buf_free(&bytes);
    directive_parts_free(&parts);
    return flag;
}

static void put_off(struct extract *x, unsigned number, struct span text)
{
    x->later = xrealloc(x->later, (x->nlater + 1) * sizeof *x->later);
    struct later *l = &x->later[x->nlater++];
    l->number = number;
    buf_init(&l->text, text.n + 1);
    buf_add(&l->text, text);
}

static void take_directive(struct extract *x, unsigned number, struct span text, enum flag refused, bool last)
{
    char sentence[2 * LIMIT_ERROR_TEXT];
    struct task t = {.refused = refused, .last = last};
    enum flag flag = make_file(x, text, &t);
    if (t.later) {
        put_off(x, number, text);
        return;
    }
    struct reply_artifact made = {.filename = span_str(t.name), .flag = flag};
    const char *clause = t.why[0] ? t.why : why_refused(flag);
    if (flag == FLAG_NONE) {
        made.entry = SPAN_LIT("{}");
        if (t.lacks) {
            fprintf(stderr, "%s: The file \"%s\" names a picture that is no file of this reply.\n",
                    flag_name(FLAG_INVALID_CONTENT), t.name);
            x->flagged = true;
        }
    } else {
        if (t.name[0])
            snprintf(sentence, sizeof sentence, "The file \"%s\" could not be made: %s.", t.name, clause);
        else
            snprintf(sentence, sizeof sentence, "A file could not be made: %s.", clause);
        char *kept = keep(x, number, text);
        fprintf(stderr, "%s: %s%s%s%s\n", flag_name(flag), sentence, kept ? " Its text is in " : "",
                kept ? kept : "", kept ? "." : "");
        xfree(kept);
        made.sentence = span_str(sentence);
        x->flagged = true;
    }
    if (!report_settle(&x->report, number, &made))
        x->failed = true;
}

/* The text is over: no picture comes any more. */
static void take_later(struct extract *x)
{
    for (size_t i = 0; i < x->nlater; i++) {
        take_directive(x, x->later[i].number, buf_span(&x->later[i].text), FLAG_NONE, true);
        buf_free(&x->later[i].text);
    }
    xfree(x->later);
    x->later = NULL;
    x->nlater = 0;
}

static void on_directive(void *arg, struct buf *text, enum directive_end how)
{
    struct extract *x = arg;
    size_t left = x->total - x->bytes;
    enum flag refused = FLAG_NONE;
    x->n++;
    if (how == DIRECTIVE_UNTERMINATED)
        refused = FLAG_UNTERMINATED;
    else if (x->n > x->directives)
        refused = FLAG_TOO_MANY;
    else if (how == DIRECTIVE_TOO_LARGE || text->n > left)
        refused = FLAG_TOO_LARGE;
    if (x->n > x->directives + LIMIT_FLAGS) {
        x->report.surplus++;
        x->flagged = true;
        return;
    }
    x->bytes += text->n < left ? text->n : left;
    take_directive(x, report_open(&x->report, 0, 0), buf_span(text), refused, false);
}

static void on_stray_marker(void *arg)
{
    struct extract *x = arg;
    x->report.strays++;
    x->flagged = true;
}

/* ---- text ---- */

static void on_text(void *arg, struct span escaped)
{
    struct extract *x = arg;
    buf_reset(&x->plain);
    if (json_unescape(escaped, &x->plain) < 0) { /* it came out of json_escape */
        x->failed = true;
        return;
    }
    struct span plain = buf_span(&x->plain);
    for (size_t i = 0; i < plain.n && !x->visible; i++)
        x->visible = !strchr(" \t\r\n", plain.p[i]) || plain.p[i] == '\0';
    fwrite(plain.p, 1, plain.n, stdout);
}

static int feed_file(struct extract *x, struct directive_filter *f, int fd, const char *name)
{
    struct buf escaped;
    char *room = xmalloc(READ);
    ssize_t n = 0;
    buf_init(&escaped, ESCAPED);
    while (!x->failed && !ferror(stdout) && (n = read(fd, room, READ)) != 0) {
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0) {
            complain(x, "read", name);
            break;
        }
        buf_reset(&escaped);
        if (json_escape(span_of(room, (size_t)n), &escaped) == 0)
            directive_filter_feed(f, buf_span(&escaped));
    }
    directive_filter_finish(f);
    buf_free(&escaped);
    xfree(room);
    return x->failed ? -1 : 0;
}

/* What stands in for a text of which nothing was left, and the flags that have no line yet. */
static void write_rest(struct extract *x)
{
    struct buf sentence;
    buf_init(&sentence, ESCAPED);
    if (x->n && !x->visible) {
        report_sentence(&x->report, 0, &sentence);
        on_text(x, buf_span(&sentence));
        fputc('\n', stdout);
    }
    buf_free(&sentence);
    if (x->report.surplus)
        fprintf(stderr, "%s: %u more files were left out: %s.\n", flag_name(FLAG_TOO_MANY), x->report.surplus,
                why_refused(FLAG_TOO_MANY));
    if (x->report.strays)
        fprintf(stderr, "%s: %u marker%s that belonged to no file %s taken out of the text.\n",
                flag_name(FLAG_STRAY_MARKER), x->report.strays, x->report.strays == 1 ? "" : "s",
                x->report.strays == 1 ? "was" : "were");
}

static const struct directive_callbacks callbacks = {
    .text = on_text, .directive = on_directive, .stray_marker = on_stray_marker};

static int extract(struct extract *x, int fd, const char *name)
{
    size_t max = x->directive < x->total ? x->directive : x->total;
    struct directive_filter *f = directive_filter_create(&callbacks, x, max);
    buf_init(&x->plain, ESCAPED);
    int failed = feed_file(x, f, fd, name);
    take_later(x);
    if (!failed)
        write_rest(x);
    if (fflush(stdout) || ferror(stdout))
        complain(x, "write", "standard output");
    directive_filter_destroy(f);
    buf_free(&x->plain);
    report_finish(&x->report);
    extract_renders_destroy(x->renders);
    xfree(x->files);
    return x->failed ? 1 : x->flagged ? 3 : 0;
}

int extract_run(const struct extract_options *options)
{
    struct config_error e;
    struct config *c = config_load(NULL, &e);
    if (!c) {
        fprintf(stderr, "penstock extract: %s\n", e.message);
        return 1;
    }
    struct extract x = {.dir = options->out && *options->out ? options->out : ".",
                        .terminal = isatty(STDERR_FILENO) == 1,
                        .directive = c->limits.directive,
                        .directives = c->limits.directives,
                        .total = c->limits.directive_total,
                        .sandbox_required = c->sandbox == SANDBOX_REQUIRED,
                        .render_ms = c->timeouts.render};
    config_unref(c);
    const char *name = options->path ? options->path : "standard input";
    int fd = options->path ? open(options->path, O_RDONLY | O_CLOEXEC) : STDIN_FILENO;
    if (fd < 0) {
        complain(&x, "open", name);
        return 1;
    }
    int status = extract(&x, fd, name);
    if (options->path)
        close(fd);
    return status;
}
