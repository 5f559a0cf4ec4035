#ifndef ATTACHMENTS_ARCHIVE_H
#define ATTACHMENTS_ARCHIVE_H
/*
 * A ZIP archive that somebody sent, on libzip: the container of Office documents, OpenDocument and EPUB.
 * Everything that it says about itself is a claim: members are inflated piece by piece and counted here
 * (EXTRACT_PART, EXTRACT_INFLATED), and one that holds more or less than its directory says is refused.
 * Refused as a whole: no directory, more than ARCHIVE_ENTRIES members, two members of one name, names that
 * climb out (`..`, a leading slash), encrypted members that are read, methods other than stored and deflate,
 * an OLE2 container instead of a ZIP (what a password makes of docx, xlsx and pptx). Archives inside of it
 * are bytes like any other.
 *
 * Names are compared as they are and then without regard to ASCII case (ISO/IEC 29500-2, 7.2.3.5), with `\`
 * for `/` where a careless program wrote that.
 */
#include "attachments/extraction.h"
#include "base/buf.h"
#include "base/span.h"

enum {
    ARCHIVE_ENTRIES = 20000,
    ARCHIVE_NAME = 1024,       /* bytes of a member's name */
    ARCHIVE_PIECE = 64 * 1024, /* inflated at a time */
};

struct archive;

/* The bytes stay the caller's and must outlive it. NULL: refused; x says why. x must outlive it, too. */
struct archive *archive_open(struct span bytes, struct extraction *x) MUST_USE;
/* NULL is fine. */
void archive_close(struct archive *a);
struct extraction *archive_extraction(struct archive *a);

size_t archive_count(const struct archive *a);
/* i < archive_count; sorted by name. */
const char *archive_name(const struct archive *a, size_t i);
/* The member's name as the archive spells it; NULL: there is none. */
const char *archive_find(const struct archive *a, const char *name);
/* Hands the member's bytes to `piece` in order. -1: missing, broken, too large (x says so), or `piece`
 * answered other than 0, after which it is not called again. */
int archive_read(struct archive *a, const char *name, int (*piece)(void *user, struct span bytes),
                 void *user);
/* Appends the whole member to `out`, whose cap counts too. */
int archive_load(struct archive *a, const char *name, struct buf *out);

#endif
