#ifndef ATTACHMENTS_EXTRACT_ARCHIVE_H
#define ATTACHMENTS_EXTRACT_ARCHIVE_H
/* What the extractors of documents that are ZIP archives do around their reading: docx, xlsx, pptx, odt,
 * epub. */
#include "attachments/archive.h"
#include "attachments/markup.h"

/* Opens the archive, lets `read` write it and ends the text. `read` answers -1 when the document cannot be
 * read; where x does not say why, it is called damaged. Everything is gone afterwards but `out`. */
enum render_status extract_archive(struct span source, struct buf *out, char sentence[RENDER_SENTENCE],
                                   uint64_t max_nodes,
                                   int (*read)(struct archive *a, struct markup *m, struct extraction *x));

#endif
