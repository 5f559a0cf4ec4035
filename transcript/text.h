#ifndef TRANSCRIPT_TEXT_H
#define TRANSCRIPT_TEXT_H
/*
 * Small functions of text: Markdown's pieces, names of directories. Text is UTF-8, a character a code point.
 * A printing function appends to a buffer, whose cap says how much there may be.
 */
#include "base/buf.h"

enum {
    TEXT_TITLE = 80, /* characters of a title that is made of a query, and of a query as a headline */
    TEXT_SLUG = 40,  /* characters */
    TEXT_NAME = 150, /* bytes of a directory's name that is somebody's name or id */
};

/* Parts of a text. */
bool text_is_blank(struct span s);
struct span text_trim(struct span s);
struct span text_first_line(struct span s);
/* The first n characters. */
struct span text_cut(struct span s, size_t n);

/* Without trailing white space, in a fence of more backticks than a run in it has, at least three. */
void text_fence(struct span s, struct buf *out);
size_t text_fence_length(struct span s);
/* Each line behind "> ", an empty one ">". */
void text_quote(struct span s, struct buf *out);
/* For headings and summaries: one line, "&<>" as entities, trimmed. */
void text_head(struct span s, struct buf *out);
/* For lines outside of headings: a run of control characters becomes a blank. */
void text_line(struct span s, struct buf *out);
/* A "<" that would open or close a folded block becomes "&lt;". */
void text_guard(struct span s, struct buf *out);
/* "- [name](url)"; an empty name is the url. */
void text_link(struct span name, struct span url, struct buf *out);
/* "[name](url)". */
void text_target(struct span name, struct span url, struct buf *out);
/* A table's cell. */
void text_cell(struct span s, struct buf *out);
/* "1 step", "2 steps". */
void text_plural(size_t n, const char *word, struct buf *out);

/* A title as a part of a directory's name; "untitled" for nothing. */
void text_slug(struct span s, struct buf *out);
/* A name or an id as a directory's name: no separators, no control characters, at most TEXT_NAME bytes;
 * "unknown" for nothing, "." and "..". */
void text_directory(struct span s, struct buf *out);

#endif
