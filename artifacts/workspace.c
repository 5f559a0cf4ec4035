/* One consult's files, its quarantine and its manifest. */
#include <jansson.h>
#include <openssl/evp.h>
#include <stdio.h>

#include "artifacts/manifest.h"
#include "artifacts/store.h"
#include "artifacts/utf8.h"
#include "base/base64.h"
#include "base/clock.h"
#include "base/hex.h"
#include "base/log.h"
#include "base/xalloc.h"

enum { ENTRY_MAX = 16 * 1024, URL_MAX = 8 * 1024, NAMES_MAX = 4096 };

struct workspace {
    struct store *store;
    struct owner owner;
    char consult[CONSULT_ID];
    bool image_generation;
    const struct rendered *rendered;
    char (*names)[LIMIT_FILENAME + 1]; /* given in this consult, so that none is given twice */
    size_t n, room;
    bool remember, recall;
    struct taken *taken; /* with either of them: the directives so far */
    size_t ntaken, taken_room;
};

/* A directive that was taken, so that one that says the same is told from it. */
struct taken {
    unsigned number;
    unsigned char digest[DIGEST];
};

struct workspace *workspace_create(struct store *s, const struct owner *owner, const char *consult,
                                   bool image_generation, const struct rendered *rendered)
{
    struct workspace *w = xcalloc(1, sizeof *w);
    w->store = s;
    w->owner = *owner;
    w->image_generation = image_generation;
    w->rendered = rendered;
    snprintf(w->consult, sizeof w->consult, "%s", consult);
    return w;
}

void workspace_destroy(struct workspace *w)
{
    if (!w)
        return;
    xfree(w->names);
    xfree(w->taken);
    xfree(w);
}

void workspace_know(struct workspace *w, bool remember, bool recall)
{
    w->remember = remember;
    w->recall = recall;
}

void made_free(struct made *m)
{
    buf_free(&m->entry);
    buf_free(&m->url);
    image_wanted_free(&m->image);
    render_wanted_free(&m->render);
}

/* ---- entries of the manifest ---- */

static void append_outbound(json_t *manifest, void *arg)
{
    const struct artifact *a = arg;
    json_t *entry =
        json_pack("{s:s,s:s,s:s,s:s,s:I,s:s,s:I,s:I}", "id", a->id, "filename", a->filename, "format",
                  a->format, "media_type", a->media_type, "bytes", (json_int_t)a->bytes, "sha256", a->sha256,
                  "created_at", (json_int_t)a->created_at, "expires_at", (json_int_t)a->expires_at);
    if (a->title[0])
        json_object_set_new(entry, "title", json_string(a->title));
    if (a->renderer[0])
        json_object_set_new(entry, "renderer", json_string(a->renderer));
    json_array_append_new(json_object_get(manifest, "outbound"), entry);
}

struct kept {
    char file[sizeof "quarantine/4294967295-99.txt"];
    const struct made *made;
};

static void append_quarantine(json_t *manifest, void *arg)
{
    const struct kept *k = arg;
    json_t *entry = json_pack("{s:s,s:s,s:s}", "file", k->file, "reason", flag_name(k->made->flag),
                              "sentence", k->made->sentence);
    if (k->made->filename[0])
        json_object_set_new(entry, "filename", json_string(k->made->filename));
    json_array_append_new(json_object_get(manifest, "quarantine"), entry);
}

/* ---- what a client gets ---- */

/* product.md §5.2, in its order. */
static int write_entry(const struct artifact *a, const char *url, struct buf *out)
{
    json_t *entry =
        json_pack("{s:s,s:s,s:s,s:s,s:I,s:s}", "id", a->id, "filename", a->filename, "format", a->format,
                  "media_type", a->media_type, "bytes", (json_int_t)a->bytes, "sha256", a->sha256);
    if (a->title[0])
        json_object_set_new(entry, "title", json_string(a->title));
    json_object_set_new(entry, "created_at", json_integer(a->created_at));
    json_object_set_new(entry, "url", json_string(url));
    int failed = json_dump_callback(entry, buf_sink, out, JSON_COMPACT);
    json_decref(entry);
    return failed;
}

/* ---- sentences ---- */

/* Flags of a reply are joined with "; ", so that no sentence may hold one; a name is all that comes from
 * outside. */
static void write_sentence(struct made *m, const char *why)
{
    char text[LIMIT_ERROR_TEXT];
    if (m->filename[0])
        snprintf(text, sizeof text, "The file \"%s\" could not be made: %s.", m->filename, why);
    else
        snprintf(text, sizeof text, "A file could not be made: %s.", why);
    for (char *p = text; *p; p++)
        if (*p == ';')
            *p = ',';
    memcpy(m->sentence, text, sizeof text);
}

static const char *why_refused(enum flag flag)
{
    switch (flag) {
    case FLAG_UNTERMINATED:
        return "its end is missing";
    case FLAG_TOO_LARGE:
        return "it is larger than the limit";
    case FLAG_TOO_MANY:
        return "the reply holds more files than the limit allows";
    case FLAG_IMAGE_GENERATION_DISABLED:
        return "image generation is off here";
    case FLAG_STORAGE_FAILED:
        return "it could not be stored";
    case FLAG_RENDER_TIMEOUT:
        return "making it took too long";
    default:
        return "its renderer failed";
    }
}

/* ---- one directive ---- */

static bool is_taken(void *arg, const char *name)
{
    struct workspace *w = arg;
    char key[STORE_KEY], rest[sizeof "outbound/" + LIMIT_FILENAME];
    for (size_t i = 0; i < w->n; i++)
        if (artifact_name_same(w->names[i], name))
            return true;
    snprintf(rest, sizeof rest, "outbound/%s", name);
    return store_workspace_key(w->owner.org, w->consult, rest, key) == 0 &&
           w->store->ops->exists(w->store->backend, key);
}

static void remember_name(struct workspace *w, const char *name)
{
    if (w->n == NAMES_MAX)
        return;
    if (w->n == w->room) {
        w->room = w->room ? w->room * 2 : 8;
        w->names = xrealloc(w->names, w->room * sizeof *w->names);
    }
    snprintf(w->names[w->n++], sizeof *w->names, "%s", name);
}

static void fill_digest(struct span bytes, char out[65])
{
    unsigned char digest[EVP_MAX_MD_SIZE];
    unsigned n = 0;
    EVP_Digest(bytes.p, bytes.n, digest, &n, EVP_sha256(), NULL);
    hex_write(digest, n, out);
}

/* Gives the bytes a name and an id and stores them. `renderer` may be empty. */
static enum flag store_bytes(struct workspace *w, const struct directive_parts *parts,
                             const struct format *format, struct span bytes, const char *renderer,
                             struct made *m)
{
    struct artifact *a = &m->artifact;
    *a = (struct artifact){.owner = w->owner, .bytes = bytes.n, .created_at = clock_wall_ms() / 1000};
    a->expires_at = a->created_at + w->store->retention_s;
    store_new_id("file-hw-", a->id, sizeof a->id);
    snprintf(a->consult, sizeof a->consult, "%s", w->consult);
    snprintf(a->format, sizeof a->format, "%s", format->name);
    snprintf(a->media_type, sizeof a->media_type, "%s", format->media_type);
    snprintf(a->title, sizeof a->title, "%s", parts->title);
    snprintf(a->renderer, sizeof a->renderer, "%s", renderer);
    fill_digest(bytes, a->sha256);
    artifact_name_unique(m->filename, is_taken, w);
    snprintf(a->filename, sizeof a->filename, "%s", m->filename);
    if (store_put_artifact(w->store, a, bytes))
        return FLAG_STORAGE_FAILED;
    remember_name(w, a->filename);
    if (manifest_change(w->store, w->owner.org, w->consult, append_outbound, a)) {
        if (store_delete(w->store, a))
            log_warning("store.delete_failed", log_str("artifact", a->id));
        return FLAG_STORAGE_FAILED;
    }
    return FLAG_NONE;
}

/* The bytes decide what the file is, whatever extension was asked for. */
static enum flag store_picture(struct workspace *w, const struct directive_parts *parts, struct span bytes,
                               struct made *m, char why[LIMIT_ERROR_TEXT])
{
    const struct format *format = image_format(bytes);
    if (!format) {
        snprintf(why, LIMIT_ERROR_TEXT, "what came instead of a picture is none");
        return FLAG_RENDER_FAILED;
    }
    artifact_name(span_str(parts->filename), span_str(parts->title[0] ? parts->title : "image"), format,
                  m->filename);
    return store_bytes(w, parts, format, bytes, "", m);
}

/* Format image: a prompt, of which somebody else makes the picture, or the picture itself in base64. */
static enum flag make_image(struct workspace *w, const struct directive_parts *parts, struct made *m,
                            char why[LIMIT_ERROR_TEXT])
{
    struct buf bytes;
    enum flag flag = FLAG_INVALID_CONTENT;
    if (!w->image_generation)
        return FLAG_IMAGE_GENERATION_DISABLED;
    if (!parts->base64)
        return image_wanted_read(parts, &m->image, why);
    buf_init(&bytes, parts->content.n + 4);
    if (base64_read_leniently(buf_span(&parts->content), &bytes) || !image_format(buf_span(&bytes)))
        snprintf(why, LIMIT_ERROR_TEXT, "its content is no picture in base64");
    else
        flag = store_picture(w, parts, buf_span(&bytes), m, why);
    buf_free(&bytes);
    return flag;
}

/* ---- renderings ---- */

enum { ASSETS = 16, ASSET_BYTES = 16 * 1024 * 1024 };

/* A picture that the source names and that this consult has made before: into the next asset. False: none. */
static bool take_asset(const struct workspace *w, const char *name, struct span source,
                       struct rendered_asset *out)
{
    char key[STORE_KEY], rest[sizeof "outbound/" + LIMIT_FILENAME];
    const char *dot = strrchr(name, '.');
    const struct format *format = dot ? format_find_binary(span_str(dot + 1)) : NULL;
    if (!format || !span_starts(span_str(format->media_type), "image/") || !rendered_mentions(source, name))
        return false;
    snprintf(rest, sizeof rest, "outbound/%s", name);
    buf_init(&out->bytes, ASSET_BYTES);
    if (store_workspace_key(w->owner.org, w->consult, rest, key) ||
        w->store->ops->get(w->store->backend, key, &out->bytes)) {
        buf_free(&out->bytes);
        return false;
    }
    snprintf(out->name, sizeof out->name, "%s", name);
    snprintf(out->media_type, sizeof out->media_type, "%s", format->media_type);
    return true;
}

static bool is_made(void *arg, struct span name)
{
    const struct workspace *w = arg;
    for (size_t i = 0; i < w->n; i++)
        if (span_is_nocase(name, w->names[i]))
            return true;
    return false;
}

static enum flag want_rendering(struct workspace *w, const struct directive_parts *parts,
                                const struct format *format, struct made *m, char why[LIMIT_ERROR_TEXT])
{
    struct rendered_asset *assets = xcalloc(ASSETS, sizeof *assets);
    size_t n = 0;
    for (size_t i = 0; i < w->n && n < ASSETS; i++)
        n += take_asset(w, w->names[i], buf_span(&parts->content), &assets[n]);
    enum flag flag = render_wanted_read(w->rendered, parts, format, m->filename, clock_wall_ms() / 1000,
                                        assets, n, &m->render, why);
    for (size_t i = 0; i < n; i++)
        buf_free(&assets[i].bytes);
    m->render.lacks = rendered_lacks(format, buf_span(&parts->content), is_made, w);
    xfree(assets);
    return flag;
}

/* Parses and renders; *why is left empty when the flag says it all. */
static enum flag make(struct workspace *w, struct span text, size_t max, struct made *m,
                      char why[LIMIT_ERROR_TEXT])
{
    struct directive_parts parts;
    struct buf bytes;
    enum flag flag = directive_parse(text, max, &parts, why);
    struct span name = span_str(parts.format);
    const struct format *format = format_find_any(name);
    bool named = parts.filename[0] || parts.title[0];
    buf_init(&bytes, 2 * max + 64); /* a table grows by an apostrophe a cell at most */
    if (named || flag == FLAG_NONE)
        artifact_name(span_str(parts.filename), span_str(parts.title), flag == FLAG_NONE ? format : NULL,
                      m->filename);
    if (flag != FLAG_NONE)
        goto out;
    if (span_is(name, "image")) {
        flag = make_image(w, &parts, m, why);
    } else if (!format) {
        flag = FLAG_UNSUPPORTED_FORMAT;
        if (!named)
            m->filename[0] = '\0';
        snprintf(why, LIMIT_ERROR_TEXT, "its format cannot be made here");
    } else if (render_is_wanted(w->rendered, &parts, format)) {
        flag = want_rendering(w, &parts, format, m, why);
    } else {
        flag = artifact_render(&parts, format, &bytes, why);
        if (flag == FLAG_NONE)
            flag = store_bytes(w, &parts, format, buf_span(&bytes), "", m);
    }
out:
    buf_free(&bytes);
    directive_parts_free(&parts);
    return flag;
}

/* Only to learn what the file would have been called. */
static void name_refused(struct span text, size_t max, struct made *m)
{
    struct directive_parts parts;
    char why[LIMIT_ERROR_TEXT];
    enum flag flag = directive_parse(text, max, &parts, why);
    const struct format *format = flag == FLAG_NONE ? format_find_any(span_str(parts.format)) : NULL;
    if (parts.filename[0] || parts.title[0])
        artifact_name(span_str(parts.filename), span_str(parts.title), format, m->filename);
    directive_parts_free(&parts);
}

/* A name that is there already belongs to an earlier reply of the same consult: the next free one is taken.
 */
static void keep(struct workspace *w, unsigned number, struct span text, struct made *m)
{
    struct kept k = {.made = m};
    char key[STORE_KEY];
    for (unsigned again = 0; again < 100; again++) {
        if (again)
            snprintf(k.file, sizeof k.file, "quarantine/%02u-%u.txt", number, again);
        else
            snprintf(k.file, sizeof k.file, "quarantine/%02u.txt", number);
        if (store_workspace_key(w->owner.org, w->consult, k.file, key))
            return;
        if (!w->store->ops->exists(w->store->backend, key))
            break;
    }
    if (w->store->ops->put(w->store->backend, key, text) == 0 &&
        manifest_change(w->store, w->owner.org, w->consult, append_quarantine, &k))
        log_warning("store.manifest_failed", log_str("consult", w->consult));
}

static void made_init(struct made *m, enum flag flag)
{
    *m = (struct made){.flag = flag};
    buf_init(&m->entry, ENTRY_MAX);
    buf_init(&m->url, URL_MAX);
}

/* ---- what is known of a directive ---- */

/* The id of its note. */
static void known_id(struct workspace *w, unsigned number, struct span text, char out[ARTIFACT_ID])
{
    struct taken t = {.number = number};
    unsigned n = 0, again = 0;
    bool there = false;
    EVP_Digest(text.p, text.n, t.digest, &n, EVP_sha256(), NULL);
    for (size_t i = 0; i < w->ntaken && !there; i++) {
        there = w->taken[i].number == number;
        again += !there && memcmp(w->taken[i].digest, t.digest, DIGEST) == 0;
    }
    if (!there && w->ntaken < NAMES_MAX) {
        if (w->ntaken == w->taken_room) {
            w->taken_room = w->taken_room ? w->taken_room * 2 : 8;
            w->taken = xrealloc(w->taken, w->taken_room * sizeof *w->taken);
        }
        w->taken[w->ntaken++] = t;
    }
    store_known_id(w->store, &w->owner, text, again, out);
}

static void fill_entry(struct workspace *w, struct made *out)
{
    store_url(w->store, &out->artifact, clock_wall_ms() / 1000, &out->url);
    out->stored = write_entry(&out->artifact, buf_cstr(&out->url), &out->entry) == 0;
}

/* Whether it was made before; then `out` says what became of it. */
static bool recall(struct workspace *w, unsigned number, struct span text, size_t max, struct made *out)
{
    char known[ARTIFACT_ID], id[ARTIFACT_ID];
    if (!w->recall)
        return false;
    known_id(w, number, text, known);
    if (store_find_known(w->store, known, id))
        return false;
    if (store_find(w->store, span_str(id), &out->artifact) == 0) {
        memcpy(out->filename, out->artifact.filename, sizeof out->filename);
        fill_entry(w, out);
        return true;
    }
    name_refused(text, max, out);
    write_sentence(out, "it was deleted");
    return true;
}

static void remember(struct workspace *w, unsigned number, struct span text, const struct made *out)
{
    char known[ARTIFACT_ID];
    if (!w->remember)
        return;
    known_id(w, number, text, known);
    if (store_put_known(w->store, known, &out->artifact))
        log_warning("store.known_failed", log_str("artifact", out->artifact.id));
}

/* What a client gets, and what is kept of a directive that failed. */
static void conclude(struct workspace *w, unsigned number, struct span text, const char *why,
                     struct made *out)
{
    if (out->flag != FLAG_NONE) {
        out->artifact = (struct artifact){.bytes = 0};
        write_sentence(out, why[0] ? why : why_refused(out->flag));
        if (!w->recall)
            keep(w, number, text, out);
        return;
    }
    remember(w, number, text, out);
    fill_entry(w, out);
}

void workspace_take(struct workspace *w, unsigned number, struct span text, enum flag refused, size_t max,
                    struct made *out)
{
    char why[LIMIT_ERROR_TEXT] = "";
    made_init(out, refused);
    if (refused == FLAG_NONE && recall(w, number, text, max, out))
        return;
    if (refused == FLAG_NONE)
        out->flag = make(w, text, max, out, why);
    else
        name_refused(text, max, out);
    if (!out->image.wanted && !out->render.wanted)
        conclude(w, number, text, why, out);
}

void workspace_store(struct workspace *w, unsigned number, struct span text, size_t max, struct span picture,
                     enum flag failed, const char *why, struct made *out)
{
    struct directive_parts parts;
    char ours[LIMIT_ERROR_TEXT] = "";
    made_init(out, failed);
    if (failed != FLAG_NONE) {
        name_refused(text, max, out);
        conclude(w, number, text, why, out);
        return;
    }
    out->flag = directive_parse(text, max, &parts, ours);
    if (out->flag == FLAG_NONE)
        out->flag = store_picture(w, &parts, picture, out, ours);
    directive_parts_free(&parts);
    conclude(w, number, text, ours, out);
}

/* A table or a calendar whose renderer failed for a reason of our own is stored as it was written. */
static bool store_plainly(struct workspace *w, const struct directive_parts *parts,
                          const struct format *format, enum flag failed, size_t max, struct made *m)
{
    char ours[LIMIT_ERROR_TEXT];
    struct buf bytes;
    bool text = format_find(span_str(format->name)) == format;
    if (!text || (failed != FLAG_RENDER_FAILED && failed != FLAG_RENDER_TIMEOUT))
        return false;
    buf_init(&bytes, 2 * max + 64);
    bool stored = artifact_render(parts, format, &bytes, ours) == FLAG_NONE &&
                  store_bytes(w, parts, format, buf_span(&bytes), "", m) == FLAG_NONE;
    buf_free(&bytes);
    return stored;
}

void workspace_store_rendered(struct workspace *w, unsigned number, struct span text, size_t max,
                              struct span bytes, const char *renderer, enum flag failed, const char *why,
                              struct made *out)
{
    struct directive_parts parts;
    char ours[LIMIT_ERROR_TEXT] = "";
    made_init(out, directive_parse(text, max, &parts, ours));
    const struct format *format = out->flag == FLAG_NONE ? format_find_any(span_str(parts.format)) : NULL;
    artifact_name(span_str(parts.filename), span_str(parts.title), format, out->filename);
    if (format && store_plainly(w, &parts, format, failed, max, out)) {
        out->flag = FLAG_NONE;
    } else if (format && failed != FLAG_NONE) {
        out->flag = failed;
        if (*why)
            render_clause(format, why, ours);
    } else if (format && render_check(format, bytes)) {
        out->flag = FLAG_RENDER_FAILED;
    } else if (format) {
        out->flag = store_bytes(w, &parts, format, bytes, renderer, out);
    }
    directive_parts_free(&parts);
    conclude(w, number, text, ours, out);
}
