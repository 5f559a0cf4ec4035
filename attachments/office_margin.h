#ifndef ATTACHMENTS_OFFICE_MARGIN_H
#define ATTACHMENTS_OFFICE_MARGIN_H
/* Headers and footers of pages, which stand once behind the text: "> Header: Confidential". */
#include "attachments/markup.h"

/* Writes one, unless it says nothing but a number of pages or was written before. `seen` holds what was, and
 * has a cap; `name` is "Header" or "Footer"; `text` may have several lines. */
void office_margin_write(struct markup *m, struct buf *seen, const char *name, struct span text);

#endif
