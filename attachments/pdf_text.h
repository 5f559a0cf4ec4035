#ifndef ATTACHMENTS_PDF_TEXT_H
#define ATTACHMENTS_PDF_TEXT_H
/*
 * What becomes of pdftotext's output: pages, each ended by a form feed, of lines in which blanks stand for
 * distances. Pure; the text is untrusted and need not even be UTF-8.
 */
#include "base/buf.h"

/* Whether there is anything but white space and control characters. */
bool pdf_text_visible(struct span text);
/*
 * Whether a page of `laid_out` is prose in two columns: at least two fifths of its lines have text on both
 * sides of one gutter, none of it table-like narrow, and there is no third column.
 */
bool pdf_text_has_columns(struct span laid_out);
/*
 * Appends the pages, parted by "<!-- Page N -->" between empty lines. A page of two columns is taken from
 * `in_order` (the same document in reading order; when it has not as many pages, it is not used), all others
 * from `laid_out` with runs of blanks cut to four. A page without text says so: it may be a picture of some.
 * Words that a soft hyphen parted are joined. Characters that no text holds are left out, and what is not
 * UTF-8 becomes U+FFFD.
 */
void pdf_text_write(struct span laid_out, struct span in_order, struct buf *out);

#endif
