#ifndef ATTACHMENTS_HTML_H
#define ATTACHMENTS_HTML_H
/*
 * What a reader of an HTML page sees, through the Markdown writer: on libxml2's HTML parser, as events and
 * without a tree, so depth costs nothing. Nothing is fetched and no script is run. Pages of HTML files and
 * chapters of EPUB books.
 *
 *   left out     script, style, noscript, template, svg, iframe, nav, the head; `hidden`, aria-hidden="true",
 *                display:none
 *   chosen       <main>, else <article>s when they hold most of the text, else the body
 *   links        http, https and mailto; others are text alone
 *   pictures     ![alt](src): addresses as they are, `data:…` for data URLs, else the file's name without
 * folders
 *
 * Elements more than HTML_DEPTH deep have no effect, but their text is there.
 */
#include "attachments/markup.h"

enum { HTML_DEPTH = 1024 };

/* Loads what must not be loaded in a cage: tables of encodings. -1: this system lacks them. */
int html_warm(void);
/* Writes the page; elements count against x->max_nodes. Blocks that are open stay open. -1: refused, x says
 * why. */
int html_read(struct span bytes, struct markup *m, struct extraction *x) MUST_USE;

#endif
