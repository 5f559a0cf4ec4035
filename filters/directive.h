#ifndef FILTERS_DIRECTIVE_H
#define FILTERS_DIRECTIVE_H
/*
 * The directive filter: the text of one channel goes in, in pieces of any size; out come the pieces of it
 * that a client may see, and each directive whole. The grammar is product.md §3.
 *
 * Bytes in and out are the escaped inside of JSON strings, as they stand in the provider's event: matching is
 * done on the text they stand for, but what is passed on keeps its own spelling (\u00e9, \/, a surrogate
 * half). A piece may end anywhere between two escapes, not inside one; it may end inside a UTF-8 sequence.
 *
 * The guarantee (product.md §4.1): the concatenated output depends on the concatenated input alone, never on
 * how it was cut, and no prefix of it holds a byte of a directive or a marker. The filter is one automaton
 * fed a character at a time; a cut is no input to it. At the end of a feed everything decided has been passed
 * on; at most LIMIT_HELD_TEXT characters that may still become a marker or a fence line, and LIMIT_HELD_BLANK
 * of white space, are held.
 *
 * Cost: text without any of `<`, `H`, `h`, `>`, a backtick at a line's start or a backslash passes at the
 * speed of a scan and as one span of the input, without a copy.
 *
 * Pure: no clock, no I/O; memory of its own only while something is held or a directive is open.
 */
#include "base/buf.h"
#include "base/flag.h"
#include "base/limits.h"
#include "base/span.h"

struct directive_filter;

/* How a directive ended. Only DIRECTIVE_COMPLETE is rendered; the others are kept in quarantine. */
enum directive_end {
    DIRECTIVE_COMPLETE,
    DIRECTIVE_UNTERMINATED, /* the channel ended inside it, or another directive began at a line's start */
    DIRECTIVE_TOO_LARGE,    /* more than the cap; `text` holds what fits under it */
};

struct directive_callbacks {
    /* Text that may go to the client now: escaped, in order. The span lives for the call. */
    void (*text)(void *arg, struct span escaped);
    /* A directive ended. `text`: what stood between its opening marker (without it and its suffix) and its
     * closing marker (without it, and without `<<<`, `<<</`, `<<<END`,
     * `<<<END_`, `<<<END ` left before it), unescaped to UTF-8. The callee may take it with buf_move. */
    void (*directive)(void *arg, struct buf *text, enum directive_end how);
    /* A marker was taken out that belonged to no directive, or the one character that would have completed
     * one (product.md §3). */
    void (*stray_marker)(void *arg);
    /* May be NULL. What became of the input, in order: so many bytes of (unescaped, UTF-8) text were passed
     * on (kept) or taken out. Comes for every byte exactly once, when it is decided. Used to keep log
     * probabilities and offsets in step with the text. points: how many code points begin in these bytes, or
     * 0 unless `count_points`. */
    void (*fate)(void *arg, size_t bytes, size_t points, bool kept);
    bool count_points;
};

/* `max` caps the text of one directive in bytes. The callbacks must outlive the filter. */
struct directive_filter *directive_filter_create(const struct directive_callbacks *callbacks, void *arg,
                                                 size_t max) MUST_USE;
void directive_filter_destroy(struct directive_filter *f);
void directive_filter_feed(struct directive_filter *f, struct span escaped);
/*
 * The channel ended: what is held goes out, an open directive is unterminated. Feeding it again afterwards
 * starts a new text; but where it ended inside a directive, or behind an opening marker, what is fed goes on
 * there and is taken out until a closing marker, or until another directive begins. Nothing is handed out for
 * it a second time.
 */
void directive_filter_finish(struct directive_filter *f);
/* Whether anything is held back or open: something fed has been neither passed on nor taken out. */
bool directive_filter_holding(const struct directive_filter *f);
/* Whether the text stands inside of a directive, also of one that was handed out at an end. */
bool directive_filter_inside(const struct directive_filter *f);
/* Whether text holds a marker, or part of a JSON document of any kind does, escapes undone. */
bool directive_marked(struct span escaped);
/* Bytes of memory that an open directive uses now. */
size_t directive_filter_held_bytes(const struct directive_filter *f);

#endif
