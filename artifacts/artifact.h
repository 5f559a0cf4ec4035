#ifndef ARTIFACTS_ARTIFACT_H
#define ARTIFACTS_ARTIFACT_H
/*
 * From a directive's text to a stored file. Everything here is blocking and runs in a job's thread
 * (jobs/job.h) or in a command like `penstock extract`; nothing here knows the event loop.
 *
 * A consult's workspace in the store (product.md §5.4):
 *   <state_dir>/orgs/<org>/<consult>/outbound/<filename>      the files
 *                                   /quarantine/<nn>.txt      the raw text of each directive that failed, as
 * the model wrote it /inbound/<nn>             what the caller attached, for a while /manifest.json what is
 * there; rewritten whole after each change <state_dir>/files/<2>/<id>.json                           an
 * artifact by id: where it is, whose it is, when it expires; or a note which artifact was made of a directive
 * (known.c). Each file is written under a temporary name,
 * fsynced, renamed, and its directory fsynced, before it is named to anybody.
 */
#include <stdint.h>

#include "base/buf.h"
#include "base/error.h"
#include "base/flag.h"
#include "base/limits.h"
#include "base/span.h"
#include "jobs/renderer.h"

enum { ARTIFACT_ID = 40, CONSULT_ID = 40, DIGEST = 32 };

/* Whose a consult is. `key` is an HMAC of the API key it came with (store_key); all zero: it came without
 * one. */
struct owner {
    char org[LIMIT_ORG + 1];
    unsigned char key[DIGEST];
    bool has_key;
};

/* A stored artifact. */
struct artifact {
    char id[ARTIFACT_ID]; /* "file-hw-" and 24 random characters of [0-9a-z] */
    char consult[CONSULT_ID];
    struct owner owner;
    char filename[LIMIT_FILENAME + 1];
    char format[32];
    char media_type[96];
    char title[256];
    uint64_t bytes;
    char sha256[65];
    char renderer[64];              /* name and version of what drew it; empty: nobody did */
    int64_t created_at, expires_at; /* seconds since 1970 */
};

/* ---- formats (formats.c) ---- */

struct format {
    const char *name;       /* as in the metadata */
    const char *extension;  /* without the dot */
    const char *media_type; /* with charset for text */
    bool offered;           /* named in the attachment protocol */
};
/* By name or, failing that, by an extension; NULL: not known or no renderer for it yet (docx, pdf, xlsx,
 * pptx, png, image). */
const struct format *format_find(struct span name);
/* Formats whose bytes can only come as base64: documents, pictures, sound, archives. NULL: not one of these.
 */
const struct format *format_find_binary(struct span name);
/* Either of them. */
const struct format *format_find_any(struct span name);
/* Whether the info string of a code fence names the format or the language that its content is written in. */
bool format_fence(struct span info, struct span name);
/* Whether files of that format may have the extension ("yml" for yaml, "jpeg" for jpg). */
bool format_has_extension(const struct format *format, struct span extension);

enum { RENDERED_FORMATS = 64 };
/* Formats whose files penstock-worker draws from a source (jobs/render_job.h); empty when it is not there. */
struct rendered {
    char formats[RENDERED_FORMATS][32];
    size_t n;
    struct render_brand brand; /* borrowed */
};
/* `r` may be NULL: none. */
bool rendered_makes(const struct rendered *r, const char *format);
/* Comma-separated names of what is offered, for protocol_text. */
void formats_offered(const struct rendered *r, struct buf *out);

/* ---- reading a directive (parse.c); product.md §3 with all its tolerances ---- */

struct directive_parts {
    struct buf metadata; /* the object, repaired to strict JSON */
    char filename[512];  /* as asked for; may be empty */
    char format[64];     /* as asked for, lower case; or from the filename's extension */
    char title[256];
    char description[512];
    bool base64;
    struct buf content; /* what is between the separator and the closing marker, fences taken off, unescaped
                           where the whole directive was escaped once more */
};
/* FLAG_NONE, or FLAG_INVALID_METADATA with a sentence; what could be read of the name is in `out` in any
 * case. Free with directive_parts_free. */
enum flag directive_parse(struct span text, size_t max, struct directive_parts *out,
                          char sentence[LIMIT_ERROR_TEXT]) MUST_USE;
void directive_parts_free(struct directive_parts *p);

/* ---- making the bytes (render_text.c) ---- */

/* From the parts to the file's bytes. FLAG_NONE, or a flag with a sentence (unsupported_format,
 * invalid_content). */
enum flag artifact_render(const struct directive_parts *parts, const struct format *format, struct buf *out,
                          char sentence[LIMIT_ERROR_TEXT]) MUST_USE;

/* ---- pictures, which somebody else draws (image.c) ---- */

/* What a directive of format image asks for. */
struct image_wanted {
    bool wanted;
    struct buf prompt; /* valid UTF-8, not blank */
    char size[32];     /* as in the metadata ("1024x1024"); empty: not said */
    char quality[32];
};
/* FLAG_NONE with `wanted` set, or a flag with a sentence. Free with image_wanted_free in any case. */
enum flag image_wanted_read(const struct directive_parts *parts, struct image_wanted *out,
                            char sentence[LIMIT_ERROR_TEXT]) MUST_USE;
void image_wanted_free(struct image_wanted *w);
/* The format of a picture, told from its bytes; NULL: they are no picture. */
const struct format *image_format(struct span bytes);

/* ---- documents and charts, which a caged renderer draws (rendered.c) ---- */

/* What is asked of it. */
struct render_wanted {
    bool wanted;
    char format[32];
    int document;                 /* a sealed memfd (jobs/document.h), closed by render_wanted_free */
    unsigned char digest[DIGEST]; /* of everything that decides the file's bytes, but the time */
    bool lacks;                   /* rendered_lacks, of the consult's files so far */
};
/* A picture of the same reply, which the source may name. */
struct rendered_asset {
    char name[LIMIT_FILENAME + 1];
    char media_type[96];
    struct buf bytes;
};
/* Whether the directive's content is a source for a renderer, rather than the file itself. */
bool render_is_wanted(const struct rendered *r, const struct directive_parts *parts,
                      const struct format *format);
/* FLAG_NONE with `wanted` set, or a flag with a sentence. `made_at` in seconds since 1970. Free with
 * render_wanted_free in any case. */
enum flag render_wanted_read(const struct rendered *r, const struct directive_parts *parts,
                             const struct format *format, const char *filename, int64_t made_at,
                             const struct rendered_asset *assets, size_t n_assets, struct render_wanted *out,
                             char sentence[LIMIT_ERROR_TEXT]);
void render_wanted_free(struct render_wanted *w);
/* Whether the source of a document (docx, pdf, pptx), or of an archive that may hold one, names a picture, by
 * the name of a file, for which `made` says no. */
bool rendered_lacks(const struct format *format, struct span source,
                    bool (*made)(void *arg, struct span name), void *arg);
/* Whether the name of a file stands in the source, without regard to case, as the renderers look for it. */
bool rendered_mentions(struct span source, const char *name);
/* A clause from what a renderer said, which is not trusted: valid UTF-8 without control characters. */
void render_clause(const struct format *format, const char *said, char out[LIMIT_ERROR_TEXT]);
/* The drawn file's bytes; -1: it is none of that format, whatever the renderer says. */
int render_check(const struct format *format, struct span bytes) MUST_USE;

/* ---- names (names.c) ---- */

/* A safe file name from what was asked for (product.md §5.1), with the format's extension; with format NULL
 * (one that failed) the extension asked for stays. */
void artifact_name(struct span asked, struct span title, const struct format *format,
                   char out[LIMIT_FILENAME + 1]);
/* One part of a path within an archive, made safe in the same way; a leading dot stays. False: nothing is
 * left of it (blanks, "..", ""). */
bool artifact_path_part(struct span part, char out[LIMIT_FILENAME + 1]);
/* Changes `name` to "name (2).ext", "name (3).ext" … until `taken` says no; compares without case and in NFC
 * as far as ASCII goes. */
void artifact_name_unique(char name[LIMIT_FILENAME + 1], bool (*taken)(void *arg, const char *name),
                          void *arg);
/* Whether two names would be taken for one: without regard to case, accents and the way in which these are
 * encoded. */
bool artifact_name_same(const char *a, const char *b);
/* Content-Disposition: attachment with filename and filename* (RFC 6266, RFC 8187). */
void artifact_disposition(const char *filename, struct buf *out);

/* ---- the store ---- */

struct store; /* file store today; ops table in store.h */
struct workspace;

struct store_settings {
    const char *state_dir;
    int64_t retention_s, link_ttl_s;
    int64_t inbound_ttl_s; /* of what callers attached; 0: retention_s */
    const char *public_url;
};

/* Makes the directories and the secret (state_dir/secret, 0600) where they are missing. NULL with *e filled.
 * One a process; its functions may be called from any thread. */
struct store *store_open(const struct store_settings *settings, struct error *e) MUST_USE;
void store_close(struct store *s);
/* HMAC-SHA256 of an API key with the store's secret, so that no key is ever stored. */
void store_key(const struct store *s, struct span api_key, unsigned char out[DIGEST]);
/* "file-hw-…" from the system's random source; consult ids likewise ("hwc-" and 24 characters). */
void store_new_id(const char *prefix, char *out, size_t room);
/* Bytes from the system's random source, fetched many at a time; zeroed to start, used by one thread. */
struct random_pool {
    unsigned char bytes[512];
    size_t left;
};

/* "hwc-", nine characters of time and fifteen random ones: ids of consults rise with time, so that records of
 * them are added at the end of their table. */
void store_new_consult_id(struct random_pool *pool, char out[CONSULT_ID]);
/* The id's artifact; -1: none, expired, or the id is not well formed. */
int store_find(struct store *s, struct span id, struct artifact *out) MUST_USE;
/* An open descriptor on the bytes; -1. */
int store_open_content(struct store *s, const struct artifact *a) MUST_USE;
int store_delete(struct store *s, const struct artifact *a) MUST_USE;
/* Removes what has expired, including empty workspaces and forgotten temporary files; answers how many
 * artifacts went. Called now and then by one worker. */
unsigned store_sweep(struct store *s, int64_t now_s);
/* Appends the signed URL (product.md §5.2): public_url/v1/files/<id>/content?expires=…&signature=… */
void store_url(const struct store *s, const struct artifact *a, int64_t now_s, struct buf *out);
/* Whether the query string of a request for that id carries a signature that is right and has not expired.
 * Constant time. */
bool store_signed(const struct store *s, struct span id, struct span query, int64_t now_s);

/* ---- one consult's work (workspace.c) ---- */

/* Everything about one consult's files. Made and used in the disk thread only; nothing is created on disk
 * before the first directive. `rendered` may be NULL and outlives it. */
struct workspace *workspace_create(struct store *s, const struct owner *owner, const char *consult,
                                   bool image_generation, const struct rendered *rendered) MUST_USE;
void workspace_destroy(struct workspace *w);
/*
 * For replies that the provider keeps. remember: notes what its directives are made into. recall: the reply
 * is such a one fetched again, so what is known of a directive counts and nothing is made of it anew, and one
 * that fails is not kept in quarantine a second time.
 */
void workspace_know(struct workspace *w, bool remember, bool recall);

struct made {
    bool stored;
    struct artifact artifact;
    struct buf entry; /* its object for outbound_artifacts; empty when not stored */
    struct buf url;
    char
        filename[LIMIT_FILENAME + 1]; /* made safe; also for one that failed, when the metadata said a name */
    enum flag flag;
    char sentence[LIMIT_ERROR_TEXT];
    struct image_wanted image;   /* `wanted`: nothing is made yet, see workspace_store */
    struct render_wanted render; /* likewise, see workspace_store_rendered */
};
/*
 * Parses, renders and stores one directive, or keeps it in quarantine when `refused` is a flag or something
 * goes wrong. Updates the manifest. Never fails: what went wrong is in `out`. Free with made_free.
 */
void workspace_take(struct workspace *w, unsigned number, struct span text, enum flag refused, size_t max,
                    struct made *out);
/*
 * The second half for a directive of which workspace_take wanted an image; the arguments are the same. Stores
 * the picture, or keeps the directive in quarantine when `failed` is a flag; `why` says so in a clause
 * (empty: the flag says it all).
 */
void workspace_store(struct workspace *w, unsigned number, struct span text, size_t max, struct span picture,
                     enum flag failed, const char *why, struct made *out);
/* The second half for a directive of which workspace_take wanted a rendering. `renderer`: its name and
 * version. With `failed` the bytes are nobody's; `why` may then be what the renderer said. */
void workspace_store_rendered(struct workspace *w, unsigned number, struct span text, size_t max,
                              struct span bytes, const char *renderer, enum flag failed, const char *why,
                              struct made *out);
void made_free(struct made *m);

#endif
