#ifndef ARTIFACTS_OFFICE_IMAGE_H
#define ARTIFACTS_OFFICE_IMAGE_H
/* The pictures that a document's Markdown names. */
#include "artifacts/markdown.h"
#include "jobs/renderer.h"

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

#endif
