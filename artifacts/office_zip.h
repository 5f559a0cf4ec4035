#ifndef ARTIFACTS_OFFICE_ZIP_H
#define ARTIFACTS_OFFICE_ZIP_H
/*
 * A ZIP archive as Office documents want it (ISO/IEC 29500-2, APPNOTE 6.3.x): deflate, names flagged as
 * UTF-8, sizes in the local headers (no data descriptors), the time fixed, so that the same parts give the
 * same bytes. Parts are written one after the other, each in as many pieces as one likes.
 *
 *   office_zip_begin(&z, out);
 *   office_zip_open(&z, "word/document.xml", true); office_zip_write(&z, …); office_zip_close(&z); …
 *   if (office_zip_finish(&z)) … over the cap of out …
 *
 * Failures stick: every call after one does nothing and office_zip_finish answers -1. Finish is always
 * called.
 */
#include <stdint.h>

#include "base/buf.h"

struct z_stream_s;

struct office_zip {
    struct buf *out;
    struct buf directory;
    size_t base;   /* of the archive in `out` */
    size_t header; /* of the open part's local header, from base */
    size_t body;   /* where its bytes begin */
    uint64_t size; /* bytes written to it */
    uint32_t crc;
    unsigned parts;
    bool open, deflated, failed;
    char name[512];
    struct z_stream_s *stream;
};

void office_zip_begin(struct office_zip *z, struct buf *out);
/* `deflate`: false for what is compressed already. Names are at most 511 bytes. */
void office_zip_open(struct office_zip *z, const char *name, bool deflate);
void office_zip_write(struct office_zip *z, struct span bytes);
void office_zip_close(struct office_zip *z);
/* Open, write, close. */
void office_zip_part(struct office_zip *z, const char *name, struct span bytes);
int office_zip_finish(struct office_zip *z) MUST_USE;

#endif
