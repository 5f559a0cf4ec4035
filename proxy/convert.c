#include "proxy/convert.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "attachments/context.h"
#include "attachments/extract.h"
#include "base/write_all.h"
#include "base/xalloc.h"
#include "proxy/conversion.h"
#include "proxy/local_renders.h"

enum { READ = 64 * 1024, TAGS = 4096 };

struct convert {
    const char *dir; /* NULL: standard output */
    struct config *config;
    struct local_renders *renders;
    unsigned written; /* texts on standard output */
    bool refused, failed;
};

static void complain(struct convert *c, const char *what, const char *name)
{
    fprintf(stderr, "penstock convert: cannot %s %s: %s\n", what, name, strerror(errno));
    c->failed = true;
}

/* ---- reading ---- */

/* One byte more than a file may have is enough to refuse it. -1 with errno. */
static int read_all(int fd, struct buf *out)
{
    for (;;) {
        size_t left = out->max - out->n, want = left < READ ? left : READ;
        char *room = want ? buf_reserve(out, want) : NULL;
        ssize_t n = room ? read(fd, room, want) : 0;
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return (int)n;
        buf_commit(out, (size_t)n);
    }
}

/* The file as an attachment that nobody declared. */
static int read_file(struct convert *c, const char *path, struct attachment *a)
{
    bool standard = strcmp(path, "-") == 0;
    const char *slash = strrchr(path, '/'), *name = standard ? "standard input" : slash ? slash + 1 : path;
    int fd = standard ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC);
    a->index = ATTACHMENT_ALONE;
    a->source = ATTACHMENT_DATA;
    a->name = xstrdup(name);
    buf_init(&a->bytes, c->config->limits.attachment_file + 1);
    int bad = fd < 0 || read_all(fd, &a->bytes) < 0; /* of a directory as well */
    if (a->bytes.n == 0) /* its resolver takes it for data that is still to be decoded */
        buf_free(&a->bytes);
    if (bad)
        complain(c, "read", path);
    if (!standard && fd >= 0)
        close(fd);
    return bad ? -1 : 0;
}

/* ---- converting ---- */

static int convert(struct convert *c, struct attachment *a, struct error *e)
{
    const char *why = NULL;
    int document = conversion_document(a, a->conversion->format);
    if (document < 0)
        return error_set(e, ERROR_OVERLOADED, "There is no memory to convert it in.");
    if (isatty(STDERR_FILENO)) /* it may take a while */
        fprintf(stderr, "converting %s …\n", a->name);
    const struct render_result *r = local_render(c->renders, a->conversion->format, document,
                                                 conversion_most_ms(c->config, a->conversion->format), &why);
    if (!r)
        return error_set(e, ERROR_OVERLOADED, "%s: it cannot be converted: %s.", a->name, why);
    snprintf(a->converter, sizeof a->converter, "%s %s", r->renderer, r->version);
    if (r->outcome != RENDER_JOB_DONE) {
        conversion_refused(a, r, e);
        return -1;
    }
    int bad = conversion_read(a, r->fd, r->bytes, SPAN_LIT(""), e);
    close(r->fd);
    return bad;
}

/* ---- writing ---- */

static void write_text(struct convert *c, const struct attachment *a)
{
    struct buf text;
    buf_init(&text, EXTRACT_TEXT + c->config->limits.attachment_file + TAGS);
    if (c->written++)
        buf_adds(&text, "\n");
    context_document(a, &text);
    buf_adds(&text, "\n");
    if (write_all(STDOUT_FILENO, buf_span(&text)))
        complain(c, "write", "standard output");
    buf_free(&text);
}

static void write_file(struct convert *c, const struct attachment *a)
{
    char *path = NULL;
    struct buf b;
    buf_init(&b, strlen(c->dir) + strlen(a->name) + 8);
    buf_printf(&b, "%s/%s.md", c->dir, a->name);
    path = xspandup(buf_span(&b));
    buf_free(&b);
    int fd = mkdir(c->dir, 0777) < 0 && errno != EEXIST
                 ? -1
                 : open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    int failed = fd < 0 || write_all(fd, attachment_text(a)) || write_all(fd, SPAN_LIT("\n"));
    if (fd >= 0 && close(fd) < 0)
        failed = 1;
    if (failed)
        complain(c, "write", path);
    else
        fprintf(stderr, "wrote %s (%llu characters%s%s)\n", path, (unsigned long long)a->characters,
                a->converter[0] ? "; converter and its version: " : "", a->converter);
    xfree(path);
}

/* ---- one file ---- */

static void take(struct convert *c, const char *path)
{
    struct attachments list = {0};
    struct attachment *a = attachments_add(&list);
    struct error e = {0};
    const struct attachment_settings settings = {
        .file_max = c->config->limits.attachment_file,
        .total_max = SIZE_MAX,
        .characters_max = c->config->limits.attachment_characters,
        .converts = conversion_offered,
        .arg = local_renders_pool(c->renders),
    };
    if (read_file(c, path, a))
        goto out;
    int bad = attachments_resolve(&list, &settings, &e);
    if (!bad && a->conversion)
        bad = convert(c, a, &e);
    if (!bad)
        bad = attachments_check_text(&list, settings.characters_max, &e);
    if (bad) {
        bool named = strncmp(e.message, a->name, strlen(a->name)) == 0;
        fprintf(stderr, "penstock convert: %s%s%s\n", named ? "" : a->name, named ? "" : ": ", e.message);
        c->refused = true;
    } else if (!attachment_is_text(a)) {
        fprintf(stderr, "%s: %s (%s) goes to the model as it is, %llu bytes\n", a->name, a->media.word,
                a->media.type, (unsigned long long)a->size);
    } else if (c->dir) {
        write_file(c, a);
    } else {
        write_text(c, a);
    }
out:
    attachments_free(&list);
}

int convert_run(const struct convert_options *options)
{
    struct config_error e;
    struct convert c = {.dir = options->out, .config = config_load(NULL, &e)};
    if (!c.config) {
        fprintf(stderr, "penstock convert: %s\n", e.message);
        return 1;
    }
    c.renders = local_renders_create("convert", "documents cannot be converted",
                                     c.config->sandbox == SANDBOX_REQUIRED);
    for (size_t i = 0; i < options->npaths; i++)
        take(&c, options->paths[i]);
    local_renders_destroy(c.renders);
    config_unref(c.config);
    return c.failed ? 1 : c.refused ? 3 : 0;
}
