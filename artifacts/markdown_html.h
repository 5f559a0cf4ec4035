#ifndef ARTIFACTS_MARKDOWN_HTML_H
#define ARTIFACTS_MARKDOWN_HTML_H
/* What a piece of HTML within Markdown means to a document; for markdown.c alone. Pure. */
#include "artifacts/markdown.h"

enum markdown_html {
    HTML_TEXT,    /* not a tag that is known: it stays as it is written */
    HTML_NOTHING, /* left out: a comment, a tag that only carries layout */
    HTML_SPACE,   /* stands between two words */
    HTML_LINE,    /* begins a new line */
    HTML_PAGE,    /* begins a new page */
    HTML_STYLE,   /* `style` begins */
    HTML_STYLE_END,
    HTML_LINK, /* `target`, still with its entities */
    HTML_LINK_END,
    HTML_IMAGE, /* `target` and `words` */
};

struct markdown_tag {
    enum markdown_html means;
    unsigned style;
    struct span target, words;
};

struct markdown_tag markdown_html_read(struct span html);

#endif
