#ifndef ATTACHMENTS_ATTACHMENT_H
#define ATTACHMENTS_ATTACHMENT_H
/*
 * What a caller sends along with a request (product.md §6), from the `attachments` array to bytes that are
 * known and text that is counted. Knows neither providers nor the event loop: attachments_declare is quick
 * and needs no files; attachments_resolve reads files, decodes and hashes, so it belongs in a job's thread.
 *
 *   declare --> resolve (bytes, media types, text) --> what must be converted is converted, by the caller
 *           --> check limits --> context_write and the caller's placing
 *
 * Errors name the place in the array, the field and the name: `attachments[1].path ("a/b.pdf"): …`.
 */
#include <stdint.h>

#include "attachments/sniff.h"
#include "base/buf.h"
#include "base/error.h"

enum attachment_source { ATTACHMENT_PATH, ATTACHMENT_DATA, ATTACHMENT_CONTENT };

/* What became of one, for the record. */
enum attachment_decision { ATTACHMENT_PASSED, ATTACHMENT_BLANK, ATTACHMENT_NOT_PASSED, ATTACHMENT_REFUSED };

/* How a file came to the provider when not in the request. */
enum attachment_upload { ATTACHMENT_INLINE, ATTACHMENT_UPLOADED, ATTACHMENT_UPLOAD_REUSED };

/* It is in no array: it was forwarded from a parent's consult. */
#define ATTACHMENT_FORWARDED SIZE_MAX
/* Likewise: it is a file on a command line. */
#define ATTACHMENT_ALONE (SIZE_MAX - 1)

enum { ATTACHMENT_PLACE = 128 /* room for what attachment_place writes */ };

struct conversion;

struct attachment {
    size_t index; /* in the caller's array, or one of the above */
    enum attachment_source source;
    bool native; /* handling: native */
    char *name;  /* display name; a file has one in any case, content only when one was said */
    char *path;  /* of ATTACHMENT_PATH, as said */
    char *type;  /* of ATTACHMENT_CONTENT */
    /* Inside of the string in `data`, or the JSON value in `content`; borrowed from what was declared. n = 0
     * with bytes present: the bytes are the file, or the JSON value, themselves (forwarded). */
    struct span value;

    /* filled in by attachments_resolve */
    struct buf bytes; /* of a file, with hash_later of an image not before attachments_hash; of forwarded
                         content its JSON text */
    struct buf text;  /* of content; and what `conversion` made of a file, empty until then */
    struct buf parts; /* of a film: attachments/parts.h, checked; `text` is then all text in it */
    /* How the file is to become text; NULL: it goes as it is. */
    const struct conversion *conversion;
    char converter[72]; /* what did it, with its version: "pdf 1"; empty: nothing did */
    /* A provider makes its text: a transcript, or what it gets out of an upload; in `text`, empty until then.
     */
    bool by_provider;
    enum attachment_upload upload;
    char *uploaded;      /* what names it at the provider, when it goes by that; NULL: it does not */
    struct span base64;  /* `value` when it is just what a provider wants; else n = 0 */
    struct media media;  /* of a file, as sniffed; of content text/plain */
    uint64_t size;       /* bytes of the file, or of the text */
    uint64_t characters; /* Unicode code points of what goes as text; 0 for the rest */
    char sha256[65];     /* of the file's bytes, or of the text; empty: not known */
    enum attachment_decision decision;
};

struct attachments {
    struct attachment *list; /* at most LIMIT_ATTACHMENTS */
    size_t n;
};

/* Zeroed is empty. */
void attachments_free(struct attachments *a);
/* Appends an empty one that the list owns; NULL: there are LIMIT_ATTACHMENTS already. */
struct attachment *attachments_add(struct attachments *a);

/* Reads the value of the body's key; null and an empty array say nothing. The value must stay where it is.
 * -1 with *e: BAD_REQUEST (no array), ATTACHMENT_INVALID. What was read until then stays in the list. */
int attachments_declare(struct span value, struct attachments *out, struct error *e) MUST_USE;

struct attachment_settings {
    const char *workspace_root, *org; /* files are looked for under <workspace_root>/<org> */
    size_t file_max;                  /* bytes of one file; inclusive */
    size_t total_max;                 /* bytes of all files together */
    size_t characters_max;            /* of all text together; inclusive */
    bool hash_later;                  /* no digests of files: the caller has attachments_hash do it */
    /* Whether this host has the extractor of that format; NULL: it has none. Called in the job's thread. */
    bool (*converts)(const void *arg, const char *format);
    /* Whether a provider writes down what is said in audio of that media type; NULL: none does. Likewise. */
    bool (*transcribes)(const void *arg, const char *media_type);
    /* Whether the request's provider takes a file of that media type as it is; NULL: there is no request. For
     * what a refusal advises. Likewise. */
    bool (*takes)(const void *arg, const char *media_type);
    const void *arg;
};

/*
 * Reads, decodes, sniffs, hashes and counts all of them, but for what is to be converted; blocking. -1 with
 * *e: any ATTACHMENT_ code, and that attachment's decision is ATTACHMENT_REFUSED (of a sum that is too large,
 * the largest one's).
 */
int attachments_resolve(struct attachments *a, const struct attachment_settings *s, struct error *e) MUST_USE;

/* Digests of files that have none yet; blocking. */
void attachments_hash(struct attachments *a);
/* Counts all text once more, when conversions and `native` have been decided. As attachments_resolve. */
int attachments_check_text(struct attachments *a, size_t max, struct error *e) MUST_USE;

/* Whether it goes as text: content, files that are text or become it, and are not native. */
bool attachment_is_text(const struct attachment *a);
/* That text; before its conversion empty. */
struct span attachment_text(const struct attachment *a);
bool attachment_in_array(const struct attachment *a);
/* `attachments[3] ("scan.pdf")`, or of others the name it goes by. For messages. */
void attachment_place(const struct attachment *a, char out[ATTACHMENT_PLACE]);
/* "attachment-4": what a file without a name is called by. */
void attachment_made_name(size_t index, char out[48]);
/* What names it to a caller: name, path or type; never NULL. */
const char *attachment_title(const struct attachment *a);
/* A JSON array for record and manifest: name or path, media type, size, digest, handling, decision; never
 * content. `refused`: the code of the error that kept the request from being sent; NULL: it was sent. */
void attachments_record(const struct attachments *a, const char *refused, struct buf *out);

/* ---- limits.c ---- */

/* Code points of UTF-8 text; bytes that are not UTF-8 count as what they would be to a lenient reader. */
uint64_t limits_characters(struct span text);
/* The sum of all characters. -1 with *e (ATTACHMENT_TOO_LARGE with its details). */
int limits_check(const struct attachments *a, size_t max, struct error *e) MUST_USE;
/* ATTACHMENT_TOO_LARGE in bytes for one file. */
int limits_file(const struct attachment *a, uint64_t bytes, size_t max, struct error *e);
/* Writes n with a comma every three digits. */
void limits_number(uint64_t n, char out[32]);

/* ---- content.c ---- */

/* Text of a JSON value: a string as it is, an array joined with line breaks, an object indented by two in its
 * own key order and number spelling. Counts characters to the end, but keeps no more than the buffer's cap.
 * The value must be valid JSON. */
uint64_t content_render(struct span value, struct buf *out);

#endif
