#ifndef ARTIFACTS_MARKDOWN_PAGE_H
#define ARTIFACTS_MARKDOWN_PAGE_H
/*
 * Sources that are an HTML page where Markdown was asked for, as Markdown: blocks become Markdown's, tags
 * within text stay (markdown_html.h knows them), all else is escaped. What models write is regular HTML; this
 * is no reader of anybody's pages. For markdown.c alone. Pure.
 */
#include "base/buf.h"

/* Whether the source is HTML from its first tag to its last. */
bool markdown_page_is(struct span source);
/* Appends it as Markdown. -1: over the buffer's cap. */
int markdown_page_read(struct span source, struct buf *out) MUST_USE;

#endif
