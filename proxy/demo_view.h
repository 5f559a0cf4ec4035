#ifndef PROXY_DEMO_VIEW_H
#define PROXY_DEMO_VIEW_H
/*
 * What the demo puts on standard output. Colours only on a terminal and without NO_COLOR; text that came over
 * a network never reaches the terminal with control characters in it.
 */
#include "proxy/demo_client.h"

enum demo_style { DEMO_PLAIN, DEMO_BOLD, DEMO_DIM, DEMO_MARKED, DEMO_GOOD, DEMO_BAD, DEMO_STYLES };

/* A title with a rule under it. */
void demo_view_title(const char *title);
/* Text with line breaks, without control characters; flushed, so that it appears as it comes. */
void demo_view_text(struct span text);
void demo_view_styled(enum demo_style style, struct span text);
/* "ok" or "FAILED" before a sentence. */
void demo_view_check(bool good, const char *sentence);

/*
 * Both sides' text beside each other: lines of directives stand on the left only. With the number of events
 * that each side had, and how the first opening marker was cut.
 */
void demo_view_sides(const struct demo_stream *provider, const struct demo_stream *client);
/* The first lines of a file, set off from the rest; `lines` at most. */
void demo_view_beginning(struct span bytes, unsigned lines);

#endif
