#include "proxy/extract_render.h"

#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include "attachments/extract.h"
#include "base/clock.h"
#include "base/xalloc.h"
#include "proxy/local_renders.h"

enum { ASSETS = 16, ASSET_BYTES = 16 * 1024 * 1024 };

struct extract_renders {
    struct local_renders *renders;
    struct rendered formats;
    int64_t longest_ms;
};

struct extract_renders *extract_renders_create(bool sandbox_required, int64_t longest_ms)
{
    struct extract_renders *r = xcalloc(1, sizeof *r);
    size_t n;
    r->longest_ms = longest_ms;
    r->renders = local_renders_create("extract", "documents cannot be made", sandbox_required);
    const struct render_format *list = render_pool_formats(local_renders_pool(r->renders), &n);
    for (size_t i = 0; i < n && i < RENDERED_FORMATS; i++)
        if (!extract_is_format(list[i].format))
            memcpy(r->formats.formats[r->formats.n++], list[i].format, sizeof r->formats.formats[0]);
    return r;
}

void extract_renders_destroy(struct extract_renders *r)
{
    if (!r)
        return;
    local_renders_destroy(r->renders);
    xfree(r);
}

const struct rendered *extract_renders_formats(const struct extract_renders *r)
{
    return &r->formats;
}

/* ---- pictures that the source names ---- */

static bool take_asset(const char *dir, const struct extract_file *file, struct span source,
                       struct rendered_asset *out)
{
    struct buf path;
    const char *name = file->name, *dot = strrchr(name, '.');
    const struct format *format = dot ? format_find_binary(span_str(dot + 1)) : NULL;
    if (!format || !span_starts(span_str(format->media_type), "image/") || !rendered_mentions(source, name))
        return false;
    buf_init(&path, strlen(dir) + strlen(file->on_disk) + 2);
    buf_printf(&path, "%s/%s", dir, file->on_disk);
    int fd = open(buf_cstr(&path), O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    off_t n = fd < 0 ? -1 : lseek(fd, 0, SEEK_END);
    buf_init(&out->bytes, ASSET_BYTES);
    bool taken = n > 0 && n <= ASSET_BYTES && local_render_read(fd, (uint64_t)n, &out->bytes) == 0;
    if (fd >= 0)
        close(fd);
    buf_free(&path);
    if (!taken)
        buf_free(&out->bytes);
    snprintf(out->name, sizeof out->name, "%s", name);
    snprintf(out->media_type, sizeof out->media_type, "%s", format->media_type);
    return taken;
}

/* ---- one file ---- */

static enum flag judge(const struct render_result *r, const struct format *format, char why[LIMIT_ERROR_TEXT])
{
    static const enum flag flags[RENDER_JOB_OUTCOMES] = {
        [RENDER_JOB_DONE] = FLAG_NONE,          [RENDER_JOB_INVALID] = FLAG_INVALID_CONTENT,
        [RENDER_JOB_LIMIT] = FLAG_TOO_LARGE,    [RENDER_JOB_FAILED] = FLAG_RENDER_FAILED,
        [RENDER_JOB_DIED] = FLAG_RENDER_FAILED, [RENDER_JOB_TIMEOUT] = FLAG_RENDER_TIMEOUT,
        [RENDER_JOB_BUSY] = FLAG_RENDER_FAILED, [RENDER_JOB_UNSAFE] = FLAG_RENDER_FAILED,
    };
    enum flag flag = flags[r->outcome];
    if (flag == FLAG_NONE)
        return flag;
    if (r->sentence[0])
        render_clause(format, r->sentence, why);
    else
        snprintf(why, LIMIT_ERROR_TEXT, "%s",
                 flag == FLAG_RENDER_TIMEOUT ? "making it took too long" : "its renderer failed");
    return flag;
}

static enum flag run(struct extract_renders *r, struct render_wanted *wanted, const struct format *format,
                     struct buf *bytes, char why[LIMIT_ERROR_TEXT])
{
    const char *refused = NULL;
    int document = wanted->document;
    wanted->wanted = false; /* the descriptor goes on */
    const struct render_result *result =
        local_render(r->renders, wanted->format, document, r->longest_ms, &refused);
    if (!result) {
        snprintf(why, LIMIT_ERROR_TEXT, "%s", refused);
        return FLAG_RENDER_FAILED;
    }
    enum flag flag = judge(result, format, why);
    if (flag != FLAG_NONE)
        return flag;
    buf_free(bytes);
    buf_init(bytes, (size_t)result->bytes);
    bool good =
        local_render_read(result->fd, result->bytes, bytes) == 0 && !render_check(format, buf_span(bytes));
    close(result->fd);
    if (!good)
        snprintf(why, LIMIT_ERROR_TEXT, "its renderer failed");
    return good ? FLAG_NONE : FLAG_RENDER_FAILED;
}

enum flag extract_render(struct extract_renders *r, const struct directive_parts *parts,
                         const struct format *format, const char *filename, const char *dir,
                         const struct extract_file *files, size_t nfiles, struct buf *bytes,
                         char why[LIMIT_ERROR_TEXT])
{
    struct rendered_asset *assets = xcalloc(ASSETS, sizeof *assets);
    struct render_wanted wanted = {.wanted = false};
    size_t n = 0;
    for (size_t i = 0; i < nfiles && n < ASSETS; i++)
        n += take_asset(dir, &files[i], buf_span(&parts->content), &assets[n]);
    enum flag flag = render_wanted_read(&r->formats, parts, format, filename, clock_wall_ms() / 1000, assets,
                                        n, &wanted, why);
    if (flag == FLAG_NONE)
        flag = run(r, &wanted, format, bytes, why);
    render_wanted_free(&wanted);
    for (size_t i = 0; i < n; i++)
        buf_free(&assets[i].bytes);
    xfree(assets);
    return flag;
}
