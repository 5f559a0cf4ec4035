#ifndef ATTACHMENTS_SNIFF_H
#define ATTACHMENTS_SNIFF_H
/*
 * What bytes are, told from the bytes once and never believed from anybody. Pure. Looks at the beginning, and
 * inside ZIP directories, ISO base media boxes, EBML headers and OLE2 directories; each walk is bounded.
 */
#include "base/span.h"

enum media_kind {
    MEDIA_IMAGE,
    MEDIA_AUDIO,
    MEDIA_VIDEO,
    MEDIA_TEXT,     /* valid UTF-8 that may go to a model as it is */
    MEDIA_DOCUMENT, /* holds text that a converter would get out */
    MEDIA_OTHER     /* archives, programs, unknown bytes */
};

struct media {
    enum media_kind kind;
    const char *type; /* "image/png", without parameters */
    const char *word; /* "a PNG image", for messages */
};

/* `name` may choose among kinds of text (csv, Markdown …) and nothing else. */
struct media sniff_media(struct span bytes, struct span name);
/* Whether all of it is UTF-8 without control characters but tab, line ends, form feed and escape. */
bool sniff_is_text(struct span bytes);

#endif
