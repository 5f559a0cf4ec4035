/* The parts of an archive as models write them. */
#include <stdio.h>

#include "artifacts/artifact.h"
#include "artifacts/lines.h"
#include "artifacts/metadata.h"
#include "artifacts/zip.h"
#include "base/json.h"

#define NAMES(...) ((const char *const[]){__VA_ARGS__, NULL})

static enum render_status refuse(char sentence[RENDER_SENTENCE], enum render_status status, const char *why)
{
    snprintf(sentence, RENDER_SENTENCE, "%s", why);
    return status;
}

static struct zip_part *add_part(struct zip_parts *parts, struct span path)
{
    if (parts->n == ZIP_PARTS)
        return NULL;
    struct zip_part *part = &parts->list[parts->n++];
    *part = (struct zip_part){.path = path, .content = {"", 0}};
    return part;
}

static enum render_status too_many(char sentence[RENDER_SENTENCE])
{
    snprintf(sentence, RENDER_SENTENCE, "it has more than %d parts", ZIP_PARTS);
    return RENDER_LIMIT;
}

/* ---- lines ---- */

static void drop_line_end(struct span *s)
{
    if (s->n && s->p[s->n - 1] == '\n')
        s->n--;
    if (s->n && s->p[s->n - 1] == '\r')
        s->n--;
}

/* A code fence around the whole part is a habit, unless it says that it holds something else. */
static struct span without_fence(struct span content, struct span path)
{
    struct span rest = lines_trim(content), first = lines_take(&rest), end = SPAN_LIT("```");
    const char *dot = path.n ? memrchr(path.p, '.', path.n) : NULL;
    struct span extension = dot ? span_from(path, (size_t)(dot - path.p) + 1) : span_of("", 0);
    if (!span_starts(first, "```") || !span_ends(rest, "```") || !extension.n ||
        !format_fence(lines_trim(span_from(first, 3)), extension))
        return content;
    size_t at = rest.n - end.n;
    if ((at && rest.p[at - 1] != '\n' && rest.p[at - 1] != '\r') || memmem(rest.p, at, end.p, end.n))
        return content;
    rest.n = at;
    drop_line_end(&rest);
    return rest;
}

static enum render_status read_lines(struct span source, struct zip_parts *parts,
                                     char sentence[RENDER_SENTENCE])
{
    struct zip_part *part = NULL;
    while (source.n) {
        const char *from = source.p;
        struct span line = lines_take(&source), path;
        if (lines_part(line, &path) && line.p[0] == '=') {
            part = add_part(parts, path);
            if (!part)
                return too_many(sentence);
            part->content = span_of(source.p, 0);
        } else if (part) {
            part->content.n += (size_t)(source.p - from);
        } else if (lines_trim(line).n) {
            return refuse(sentence, RENDER_INVALID, "it does not begin with a line === path ===");
        }
    }
    for (size_t i = 0; i < parts->n; i++) {
        drop_line_end(&parts->list[i].content);
        parts->list[i].content = without_fence(parts->list[i].content, parts->list[i].path);
    }
    return RENDER_OK;
}

/* ---- JSON ---- */

static bool member(struct span object, const char *const *names, struct span *value)
{
    for (; *names; names++)
        if (json_member(object, *names, value))
            return true;
    return false;
}

/* The text of an escaped inside. -1: over the cap of a source. */
static int text_of(struct zip_parts *parts, struct span inside, struct span *out)
{
    struct buf text;
    buf_init(&text, inside.n + 1);
    int failed = json_unescape(inside, &text);
    *out = arena_copy(&parts->arena, buf_span(&text));
    buf_free(&text);
    return failed;
}

static enum render_status read_content(struct zip_parts *parts, struct zip_part *part, struct span value,
                                       char sentence[RENDER_SENTENCE])
{
    enum json_type type = json_type(value);
    if (type == JSON_OBJECT || type == JSON_ARRAY) { /* a JSON file that was not put into a string */
        part->content = arena_copy(&parts->arena, value);
        return RENDER_OK;
    }
    if (type != JSON_STRING || text_of(parts, json_inside(value), &part->content))
        return refuse(sentence, RENDER_INVALID, "the content of one of its files is not a text");
    return RENDER_OK;
}

static enum render_status read_file(struct zip_parts *parts, struct span file, char sentence[RENDER_SENTENCE])
{
    struct span path, value, encoding;
    if (json_type(file) != JSON_OBJECT || !member(file, NAMES("path", "filename", "name", "file"), &path) ||
        json_type(path) != JSON_STRING || text_of(parts, json_inside(path), &path))
        return refuse(sentence, RENDER_INVALID, "one of its files has no \"path\"");
    struct zip_part *part = add_part(parts, path);
    if (!part)
        return too_many(sentence);
    if (json_member(file, "base64", &value) && json_type(value) == JSON_STRING) {
        part->base64 = true;
        return read_content(parts, part, value, sentence);
    }
    part->base64 = json_member(file, "encoding", &encoding) && json_type(encoding) == JSON_STRING &&
                   json_inside_is(json_inside(encoding), "base64");
    if (!member(file, NAMES("content", "text", "data"), &value))
        return refuse(sentence, RENDER_INVALID, "one of its files has no \"content\" and no \"base64\"");
    return json_type(value) == JSON_NULL ? RENDER_OK : read_content(parts, part, value, sentence);
}

/* An object of contents by path. */
static enum render_status read_by_path(struct zip_parts *parts, struct span object,
                                       char sentence[RENDER_SENTENCE])
{
    enum render_status status = RENDER_OK;
    struct json_iter it = json_iter(object);
    while (status == RENDER_OK && json_next(&it) == 1) {
        struct span path;
        if (text_of(parts, it.key, &path))
            return refuse(sentence, RENDER_INVALID, "the path of one of its files cannot be read");
        struct zip_part *part = add_part(parts, path);
        status = part ? read_content(parts, part, it.value, sentence) : too_many(sentence);
    }
    return status;
}

static enum render_status read_json(struct span source, struct zip_parts *parts,
                                    char sentence[RENDER_SENTENCE])
{
    struct span document, files;
    if (!json_document(source, &document)) {
        struct buf repaired;
        buf_init(&repaired, source.n * 2 + 1024);
        bool ok = metadata_repair_document(source, &repaired) == 0;
        files = arena_copy(&parts->arena, buf_span(&repaired));
        buf_free(&repaired);
        if (!ok || !json_document(files, &document))
            return refuse(sentence, RENDER_INVALID, "it begins like JSON but is not valid JSON");
    }
    files = document;
    if (json_type(document) == JSON_OBJECT && !member(document, NAMES("files", "parts"), &files))
        return read_by_path(parts, document, sentence);
    if (json_type(files) == JSON_OBJECT)
        return read_by_path(parts, files, sentence);
    if (json_type(files) != JSON_ARRAY)
        return refuse(sentence, RENDER_INVALID, "it is JSON without a list \"files\"");
    enum render_status status = RENDER_OK;
    struct json_iter it = json_iter(files);
    while (status == RENDER_OK && json_next(&it) == 1)
        status = read_file(parts, it.value, sentence);
    return status;
}

/* ---- */

enum render_status zip_read(struct span source, struct zip_parts *out, char sentence[RENDER_SENTENCE])
{
    *out = (struct zip_parts){.n = 0};
    if (span_starts(source, "\xef\xbb\xbf"))
        source = span_from(source, 3);
    struct span text = lines_trim(source);
    bool json = text.n && (text.p[0] == '{' || text.p[0] == '[');
    enum render_status status = json ? read_json(text, out, sentence) : read_lines(source, out, sentence);
    if (status == RENDER_OK && !out->n)
        return refuse(sentence, RENDER_INVALID, "it has no parts: write a line === path === before each");
    return status;
}

void zip_parts_free(struct zip_parts *parts)
{
    arena_free(&parts->arena);
}
