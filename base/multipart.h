#ifndef BASE_MULTIPART_H
#define BASE_MULTIPART_H
/*
 * Writing a multipart/form-data body (RFC 7578): what uploads and transcripts are asked for with. The
 * boundary is at most 70 letters, digits and `-`, random, so that no content holds it. A buffer that is full
 * says so (buf_full).
 */
#include "base/buf.h"

/* Writes "multipart/form-data; boundary=…". */
void multipart_type(const char *boundary, struct buf *out);
/* A field. The name is ours and needs no escapes. */
void multipart_field(const char *boundary, const char *name, struct span value, struct buf *out);
/* A file with its name (what a quoted string cannot hold is escaped as browsers do) and media type. */
void multipart_file(const char *boundary, const char *name, struct span filename, struct span media_type,
                    struct span bytes, struct buf *out);
void multipart_end(const char *boundary, struct buf *out);

#endif
