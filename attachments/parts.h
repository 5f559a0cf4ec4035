#ifndef ATTACHMENTS_PARTS_H
#define ATTACHMENTS_PARTS_H
/*
 * What an extractor makes that is not text alone: a film's frames and its transcript, or its sound for
 * somebody else to write down. Such an extractor's output (EXTRACT_PARTS and EXTRACT_FRAMES in extract.h) is
 * this, written in the cage and read by the proxy, which believes none of it:
 *
 *   penstock-parts 1
 *   text/markdown 44
 *   <44 bytes>image/jpeg 23571
 *   <23571 bytes>text/markdown 19
 *   …
 *
 * A line each with media type and number of bytes, and just those bytes behind it; to the end. The order is
 * that in which the model is to see them; a text before a picture belongs to it.
 */
#include "base/buf.h"
#include "base/span.h"

enum { PARTS_MOST = 32, PARTS_BYTES = 32 * 1024 * 1024 };

void parts_begin(struct buf *out);
void parts_add(const char *media_type, struct span bytes, struct buf *out);

struct part {
    bool picture, sound;    /* else text */
    const char *media_type; /* "image/jpeg", "audio/mpeg", "text/markdown" */
    struct span bytes;      /* of `all` */
};

/*
 * Reads all of it: texts that are text (sniff_is_text), pictures that are JPEG and sound that is MP3 by their
 * bytes, at most PARTS_MOST, and one sound among them. Answers how many; -1: it is something else.
 */
int parts_read(struct span all, struct part out[PARTS_MOST]) MUST_USE;

#endif
