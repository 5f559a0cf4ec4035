#ifndef ATTACHMENTS_CHARSET_H
#define ATTACHMENTS_CHARSET_H
/*
 * Bytes of a text file as UTF-8. Runs in penstock-worker: the tables are glibc's (iconv), which are files, so
 * charset_warm must have been called before the cage is entered.
 *
 * Which encoding it is, first match wins: a byte order mark; valid UTF-8; what the document itself declares,
 * when all of it can be read so; what its letters look like (UTF-8 with a few bad bytes, Shift_JIS, GB18030,
 * Windows-1252); else what it declares, with U+FFFD for what cannot be read.
 */
#include "jobs/renderer.h"

enum { CHARSET_TEXT = 96 * 1024 * 1024 /* most bytes of UTF-8 that a document may become */ };

/* Loads the tables. May be called more than once. -1: this system lacks even the usual ones. */
int charset_warm(void);
/* iconv's name of an encoding by any name that the web has for it (WHATWG Encoding, section 4.2), without
 * regard to case; NULL: none that is read here. */
const char *charset_find(struct span label);
/* What the letters look like: "CP932", "GB18030", "CP1252", "UTF-8" (with faults); NULL: like none of them.
 * Looks at the first 64 KiB behind the first byte that is not ASCII. */
const char *charset_guess(struct span bytes);
/*
 * Appends the text to `out` (whose cap is the caller's, CHARSET_TEXT at most). `declared` may be empty. A
 * byte order mark does not become part of the text. RENDER_INVALID with a sentence when it is text in no
 * known encoding, RENDER_LIMIT when the buffer is full.
 */
enum render_status charset_decode(struct span bytes, struct span declared, struct buf *out,
                                  char sentence[RENDER_SENTENCE]) MUST_USE;
/*
 * Appends bytes in the encoding of that name (as charset_find gives it); what cannot be read becomes U+FFFD,
 * *faults counts them (may be NULL). -1: no such table here.
 */
int charset_convert(const char *charset, struct span bytes, struct buf *out, size_t *faults);
/* Appends one character; what is none becomes U+FFFD. */
void charset_put(uint32_t c, struct buf *out);
/* The character at p (p < end) and in *n its bytes; U+FFFD and *n = 1 for what is not valid UTF-8. */
uint32_t charset_next(const char *p, const char *end, size_t *n);

#endif
