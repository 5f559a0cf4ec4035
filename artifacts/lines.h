#ifndef ARTIFACTS_LINES_H
#define ARTIFACTS_LINES_H
/* The lines of a source, and its words: what its readers share. Pure. */
#include "base/span.h"

/* Without blanks, tabs and line ends at either end. */
struct span lines_trim(struct span s);
/* Cuts the first line, with its end (LF, CRLF or CR), off the text and answers it without that end. */
struct span lines_take(struct span *text);
/* "=== Name ===": the line that begins a part of a source with several; *name is not empty then. */
bool lines_part(struct span line, struct span *name);
/* Whether a word is in a list of words with a blank between them, without regard to case. */
bool lines_word_in(struct span word, const char *list);

#endif
