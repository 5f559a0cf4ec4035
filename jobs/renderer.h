#ifndef JOBS_RENDERER_H
#define JOBS_RENDERER_H
/*
 * What a renderer is: it turns the text of a directive into the bytes of a file (artifacts/render_*.c), or,
 * as an extractor, the bytes of a document into text (attachments/extract.h). A renderer is linked into the
 * program penstock-worker alone and runs there in a child of its own for each document, in a cage
 * (jobs/sandbox.h): it cannot open, connect, start or signal anything, and is killed at its deadline. What it
 * may do: compute, take memory up to its limit, and read below the folders of `reads` and, when `fonts` is
 * set, of fonts. No temporary files.
 *
 * Renderers are functions of their arguments: the same source and the same parameters give the same bytes
 * (the time is in the parameters). The source is untrusted text of any bytes; the renderer caps what it
 * builds and answers with a sentence rather than with a cut file.
 */
#include <stdint.h>

#include "base/buf.h"
#include "base/span.h"

struct program;

enum {
    RENDER_SENTENCE = 256, /* room for a sentence, with its terminator */
    RENDER_ASSETS = 32,    /* other files of the same reply that a renderer may be given */
    RENDER_OPTIONS = 64 * 1024,
    RENDER_SOURCE = 64 * 1024 * 1024,
    RENDER_NAME = 128, /* a file name or a name of a renderer, with its terminator */
};

/* A picture (or other file) of the same reply, named as the source names it. */
struct render_asset {
    const char *name;       /* "logo.png" */
    const char *media_type; /* "image/png"; told from the bytes */
    struct span bytes;
};

/* How the operator wants documents to look. Any string may be NULL or empty: the renderer's own choice. */
struct render_brand {
    const char *font;         /* a family; for headings and text */
    const char *heading_font; /* a family; for headings alone */
    const char *colour;       /* "#1f4e79": headings, table heads, the first colour of a chart */
    const char *header;       /* plain text above each page */
    const char *footer;       /* plain text below each page, beside the page number */
    struct span logo;         /* PNG or JPEG bytes; n = 0: none */
};

struct render_params {
    const char *format;   /* as in the metadata: "docx", "pdf", "png" … */
    const char *filename; /* of the file that is made; safe already */
    const char *title;    /* may be empty */
    /* The directive's metadata, a strict JSON object or empty: page_size, orientation, author, sheet, width,
     * height, chart … A renderer takes from it what it knows and ignores the rest. Untrusted. */
    struct span options;
    int64_t made_at; /* seconds since 1970: the only clock */
    struct render_brand brand;
    const struct render_asset *assets;
    size_t n_assets;
};

enum render_status {
    RENDER_OK,
    RENDER_INVALID, /* the content is not what the format wants; the sentence says what and where */
    RENDER_LIMIT,   /* too large or too much of something; the sentence says of what */
    RENDER_FAILED,  /* the renderer's own fault, or no memory */
};

struct render_limits {
    uint64_t source_bytes; /* longer sources are refused before a child is made */
    uint64_t out_bytes;    /* the cap of `out`, and of the file that the child can write */
    uint64_t memory_bytes; /* address space of the child beyond what the spawner has (RLIMIT_AS); 0: none */
    unsigned cpu_s;        /* RLIMIT_CPU */
    unsigned wall_ms;      /* SIGKILL after it */
};

struct renderer_ops {
    const char *name;    /* "docx": what artifacts record, with the version */
    const char *version; /* changes whenever the same source gives other bytes: "1" */
    /* Formats it makes, NULL at the end: {"png", "svg", NULL}. */
    const char *const *formats;
    struct render_limits limits;
    bool fonts; /* needs to read font files and fontconfig's files and cache */
    /* Files and folders that it may read beside these, NULL at the end; may be NULL. One that is not there
     * is passed over. */
    const char *const *reads;
    /* What it may run beside it (jobs/program.h); NULL: nothing. Not together with `fonts`. */
    const struct program *program;
    /*
     * Once in the spawner, before the first child is forked: loads what every document needs (FcInit, fonts).
     * Trusted input only. May not make a thread, nor lay out text with pango (which makes one). May be NULL;
     * -1: this renderer does not work here, and its formats are not offered; 1: likewise, but nothing is
     * wrong, since what it needs need not be installed.
     */
    int (*warm)(void);
    /*
     * Appends the file's bytes to `out`, whose cap is limits.out_bytes. `sentence` is empty on entry; it is
     * shown to the caller of the API, so it names the thing and holds none of the source beyond a short name.
     * With RENDER_OK it may be a note about what was left out.
     */
    enum render_status (*render)(struct span source, const struct render_params *params, struct buf *out,
                                 char sentence[RENDER_SENTENCE]);
};

/* Every renderer of this program, NULL at the end (artifacts/render_registry.c). */
extern const struct renderer_ops *const renderer_list[];
/* Every extractor of it, NULL at the end (attachments/extract_registry.c). */
extern const struct renderer_ops *const extractor_list[];
/* The renderer of a format in `renderer_list`; NULL: none. */
const struct renderer_ops *renderer_find(const char *format);

#endif
