#ifndef PROXY_CONVERSION_H
#define PROXY_CONVERSION_H
/* One attachment that becomes text in an extractor (attachments/extract.h): what goes in, what comes out, and
 * what a failure means to the caller. The running of it is the business of attach_prepare.c and convert.c. */
#include "attachments/attachment.h"
#include "config/config.h"
#include "jobs/render_job.h"

/* Whether this host has the extractor of that format; for struct attachment_settings. `pool` is a struct
 * render_pool, of which no more is read than what never changes. */
bool conversion_offered(const void *pool, const char *format);
/* How long a conversion to that format may take. */
int64_t conversion_most_ms(const struct config *config, const char *format);
/* The document for render_submit, for that format. -1: no memory. Blocking work: it copies the bytes. */
int conversion_document(const struct attachment *a, const char *format) MUST_USE;
/* The text into a->text, and its characters; of a film the pictures too, into a->parts, with the transcript
 * in the place of the sound if that came apart; `fd` stays the caller's. -1 with *e: what came is no text. */
int conversion_read(struct attachment *a, int fd, uint64_t n, struct span transcript,
                    struct error *e) MUST_USE;
/* Appends the sound that came apart; nothing when there is none. -1: what came is not what it should be. */
int conversion_sound(int fd, uint64_t n, struct buf *mp3) MUST_USE;
/* The error for anything but RENDER_JOB_DONE; the attachment is then ATTACHMENT_REFUSED. */
void conversion_refused(struct attachment *a, const struct render_result *r, struct error *e);

#endif
