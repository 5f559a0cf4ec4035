/*
 * ZIP archives of several files. A part whose extension is one that is drawn from a source (docx, png, csv …)
 * is drawn, by the same renderer as alone; every other text is the part's bytes.
 */
#include <stdio.h>

#include "artifacts/lines.h"
#include "artifacts/office_zip.h"
#include "artifacts/render.h"
#include "artifacts/sniff.h"
#include "artifacts/utf8.h"
#include "artifacts/zip.h"
#include "base/base64.h"
#include "base/xalloc.h"

enum { OUT = 64 * 1024 * 1024, SHOWN = 80 /* bytes of a path in a sentence */ };

struct entry {
    char folder[ZIP_PATH + 2]; /* ends with a slash unless empty */
    char name[LIMIT_FILENAME + 1];
};

struct writer {
    const struct render_params *params;
    struct zip_parts parts;
    struct entry entries[ZIP_PARTS];
    size_t n; /* entries so far */
    struct office_zip zip;
    char *sentence;
};

static enum render_status refuse(struct writer *w, enum render_status status, struct span path,
                                 const char *why)
{
    char reason[RENDER_SENTENCE];
    snprintf(reason, sizeof reason, "%s", why); /* it may be the sentence */
    snprintf(w->sentence, RENDER_SENTENCE, "the part \"%.*s\" %s", (int)utf8_cut(path, SHOWN), path.p,
             reason);
    return status;
}

/* ---- paths ---- */

static bool is_taken(void *arg, const char *name)
{
    const struct writer *w = arg;
    const struct entry *own = &w->entries[w->n];
    char a[ZIP_PATH + LIMIT_FILENAME + 3], b[sizeof a];
    snprintf(a, sizeof a, "%s%s", own->folder, name);
    for (size_t i = 0; i < w->n; i++) {
        snprintf(b, sizeof b, "%s%s", w->entries[i].folder, w->entries[i].name);
        if (artifact_name_same(a, b))
            return true;
        /* One's name may be another's folder. */
        const char *folder = w->entries[i].folder;
        size_t n = strlen(a);
        if (strncasecmp(folder, a, n) == 0 && folder[n] == '/')
            return true;
    }
    return false;
}

/* The path's folders and its name, made safe; what leads upwards or to a root is left out. */
static const char *clean_path(struct writer *w, struct span path)
{
    struct entry *e = &w->entries[w->n];
    struct buf folder;
    unsigned depth = 0;
    *e = (struct entry){.name = ""};
    buf_init(&folder, ZIP_PATH);
    for (size_t i = 0, from = 0; i <= path.n; i++) {
        if (i < path.n && path.p[i] != '/' && path.p[i] != '\\')
            continue;
        struct span one = span_of(path.p + from, i - from);
        from = i + 1;
        if (!artifact_path_part(one, e->name))
            continue;
        if (i < path.n) {
            buf_adds(&folder, e->name);
            buf_addc(&folder, '/');
            e->name[0] = '\0';
            depth++;
        }
    }
    bool full = buf_full(&folder);
    snprintf(e->folder, sizeof e->folder, "%s", buf_cstr(&folder));
    buf_free(&folder);
    if (full || depth > ZIP_DEPTH || strlen(e->folder) + strlen(e->name) > ZIP_PATH)
        return "has too long a path";
    if (!e->name[0])
        return "has no file name";
    artifact_name_unique(e->name, is_taken, w);
    if (strlen(e->folder) + strlen(e->name) > ZIP_PATH + 8)
        return "has too long a path";
    return NULL;
}

/* A file that stands where a later part wants a folder. */
static bool is_folder_taken(const struct writer *w)
{
    const struct entry *own = &w->entries[w->n];
    char b[ZIP_PATH + LIMIT_FILENAME + 3];
    for (size_t i = 0; i < w->n; i++) {
        size_t n = (size_t)snprintf(b, sizeof b, "%s%s", w->entries[i].folder, w->entries[i].name);
        if (strncasecmp(own->folder, b, n) == 0 && own->folder[n] == '/')
            return true;
    }
    return false;
}

/* ---- bytes ---- */

static const struct format *format_of(const char *name)
{
    const char *dot = strrchr(name, '.');
    return dot ? format_find_any(span_str(dot + 1)) : NULL;
}

static enum render_status add(struct writer *w, struct span bytes, bool packed)
{
    char name[ZIP_PATH + LIMIT_FILENAME + 3];
    snprintf(name, sizeof name, "%s%s", w->entries[w->n].folder, w->entries[w->n].name);
    office_zip_open(&w->zip, name, !packed);
    office_zip_write(&w->zip, bytes);
    office_zip_close(&w->zip);
    w->n++;
    return RENDER_OK;
}

static enum render_status add_base64(struct writer *w, const struct zip_part *part,
                                     const struct format *format)
{
    struct buf bytes;
    enum render_status status;
    buf_init(&bytes, LIMIT_BASE64);
    int failed = base64_read_leniently(part->content, &bytes);
    const char *sniffed = failed ? NULL : sniff_extension(buf_span(&bytes));
    bool binary = format && format_find_binary(span_str(format->name)) == format;
    if (failed)
        status = refuse(w, buf_full(&bytes) ? RENDER_LIMIT : RENDER_INVALID, part->path,
                        buf_full(&bytes) ? "is larger than the limit for base64" : "is not valid base64");
    else if (sniffed && strcmp(sniffed, "zip") == 0)
        status = refuse(w, RENDER_INVALID, part->path, "is an archive itself; put its files in here");
    else if (binary && !(sniffed && sniff_fits(sniffed, format)))
        status =
            refuse(w, RENDER_INVALID, part->path, "has bytes that are of another type than its name says");
    else
        status = add(w, buf_span(&bytes), binary);
    buf_free(&bytes);
    return status;
}

static enum render_status add_drawn(struct writer *w, const struct zip_part *part,
                                    const struct renderer_ops *ops, const char *format)
{
    struct buf bytes;
    struct render_params params = *w->params;
    params.format = format;
    params.filename = w->entries[w->n].name;
    params.title = "";
    params.options = span_of("", 0);
    buf_init(&bytes, ops->limits.out_bytes);
    enum render_status status = part->content.n > ops->limits.source_bytes
                                    ? RENDER_LIMIT
                                    : ops->render(part->content, &params, &bytes, w->sentence);
    if (status == RENDER_OK)
        status = add(w, buf_span(&bytes), format_find_binary(span_str(format)) != NULL);
    else
        refuse(w, status, part->path, w->sentence[0] ? w->sentence : "is larger than the limit");
    buf_free(&bytes);
    return status;
}

static enum render_status add_table(struct writer *w, const struct zip_part *part)
{
    struct buf bytes;
    buf_init(&bytes, part->content.n * 2 + 64);
    enum render_status status = csv_make_inert(part->content, true, &bytes)
                                    ? refuse(w, RENDER_LIMIT, part->path, "is larger than the limit")
                                    : add(w, buf_span(&bytes), false);
    buf_free(&bytes);
    return status;
}

static bool is_markup(struct span content)
{
    struct span text = lines_trim(content);
    return span_starts(text, "<") || span_starts(text, "\xef\xbb\xbf<");
}

static bool is_file_itself(struct span content, const struct format *format)
{
    struct buf bytes;
    buf_init(&bytes, LIMIT_BASE64);
    const char *sniffed =
        base64_read_leniently(content, &bytes) == 0 ? sniff_extension(buf_span(&bytes)) : NULL;
    bool is = sniffed && sniff_fits(sniffed, format);
    buf_free(&bytes);
    return is;
}

static enum render_status add_part(struct writer *w, const struct zip_part *part)
{
    const char *wrong = clean_path(w, part->path);
    if (wrong)
        return refuse(w, RENDER_INVALID, part->path, wrong);
    if (is_folder_taken(w))
        return refuse(w, RENDER_INVALID, part->path, "has another part for a folder");
    const struct format *format = format_of(w->entries[w->n].name);
    bool binary = format && format_find_binary(span_str(format->name)) == format;
    if (part->base64 || (binary && is_file_itself(part->content, format)))
        return add_base64(w, part, format);
    if (format && strcmp(format->name, "zip") == 0)
        return refuse(w, RENDER_INVALID, part->path, "is an archive itself; put its files in here");
    bool drawing = format && strcmp(format->name, "svg") == 0 && is_markup(part->content);
    if (drawing && (wrong = svg_check(part->content)))
        return refuse(w, RENDER_INVALID, part->path, wrong);
    const struct renderer_ops *ops = format && !drawing ? renderer_find(format->name) : NULL;
    if (ops)
        return add_drawn(w, part, ops, format->name);
    if (binary)
        return refuse(w, RENDER_INVALID, part->path,
                      "is text, but its name says that it is not; give base64");
    if (format && strcmp(format->name, "tsv") == 0)
        return add_table(w, part);
    return add(w, part->content, false);
}

static enum render_status render(struct span source, const struct render_params *params, struct buf *out,
                                 char sentence[RENDER_SENTENCE])
{
    struct writer *w = xcalloc(1, sizeof *w);
    w->params = params;
    w->sentence = sentence;
    enum render_status status = zip_read(source, &w->parts, sentence);
    if (status == RENDER_OK) {
        office_zip_begin(&w->zip, out);
        for (size_t i = 0; i < w->parts.n && status == RENDER_OK; i++)
            status = add_part(w, &w->parts.list[i]);
        if (office_zip_finish(&w->zip) && status == RENDER_OK) {
            snprintf(sentence, RENDER_SENTENCE, "the archive would be larger than the limit");
            status = RENDER_LIMIT;
        }
    }
    zip_parts_free(&w->parts);
    xfree(w);
    return status;
}

static const char *const formats[] = {"zip", NULL};

/* Fonts are read for the documents and charts within alone. */
const struct renderer_ops render_zip = {
    .name = "zip",
    .version = "1",
    .formats = formats,
    .limits = {.source_bytes = 16 << 20,
               .out_bytes = OUT,
               .memory_bytes = 512 << 20,
               .cpu_s = 20,
               .wall_ms = 30000},
    .fonts = true,
    .render = render,
};
