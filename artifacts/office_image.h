#ifndef ARTIFACTS_OFFICE_IMAGE_H
#define ARTIFACTS_OFFICE_IMAGE_H
/* The pictures that a document's Markdown names, and those that its file holds. */
#include "artifacts/markdown.h"
#include "artifacts/office_zip.h"
#include "jobs/renderer.h"

enum { OFFICE_PICTURES = 200, OFFICE_PICTURE_BYTES = 48 * 1024 * 1024 };

struct office_image {
    struct span bytes;
    const char *extension; /* "png", "jpeg", "gif" */
    unsigned width, height;
    struct buf own; /* what `bytes` points to, where the picture came from the source itself */
};

/*
 * Another file of the reply by its name, or a data: address. False: there is no such picture, or it is none
 * of PNG, JPEG and GIF. Given back with office_image_free.
 */
bool office_image_find(const struct render_params *params, struct span source,
                       struct office_image *out) MUST_USE;
/* The picture of a code block "chart"; false: no chart's renderer is here, or it refused. */
bool office_image_chart(const struct render_params *params, const struct markdown_block *code,
                        struct office_image *out) MUST_USE;
void office_image_free(struct office_image *image);
/* Whether a block of code is the source of a chart. */
bool office_is_chart(const struct markdown_block *block);

/* A picture that is a part of the file. */
struct office_picture {
    struct span bytes;
    unsigned width, height;
    char target[40]; /* below the document's folder: "media/image1.png" */
    struct buf own;
};
struct office_pictures {
    struct office_picture list[OFFICE_PICTURES];
    unsigned n;
    size_t bytes;
    unsigned lost; /* named, but none of the reply's files, or too many; their words are shown */
};

/* Whether one more may be kept. */
bool office_pictures_room(const struct office_pictures *p);
/* The picture's place; what it owns moves there. One that is there already is not kept twice. */
unsigned office_pictures_keep(struct office_pictures *p, struct office_image *image);
/* Writes them as parts; `folder` is "word/" or the like. */
void office_pictures_write(const struct office_pictures *p, struct office_zip *zip, const char *folder);
/* The note about those that were lost, if any. */
void office_pictures_note(const struct office_pictures *p, char sentence[RENDER_SENTENCE]);
void office_pictures_free(struct office_pictures *p);

#endif
