#ifndef FILTERS_TOKENS_H
#define FILTERS_TOKENS_H
/*
 * Log probabilities kept in step with the text of one channel (product.md §4.2): an entry whose text was
 * passed on is passed on, one of whose text a byte was taken out goes, one whose text is still held waits.
 *
 * An event's entries are laid over its text from its beginning. What of the text they do not cover is
 * followed without an entry; entries beyond its end, and empty ones, share what becomes of the text before
 * them. So a provider whose entries and text differ in length is out of step for one event only. Lengths are
 * those of the text in UTF-8: of `bytes` where an entry has it, else of `token`.
 */
#include "base/buf.h"
#include "base/span.h"

struct token_run;  /* so many bytes of text, passed on or taken out */
struct token_item; /* so many bytes of text, and the entry for them, if any */

struct tokens {
    struct token_run *runs;
    size_t nruns, runs_room;
    struct token_item *items; /* undecided; ring of `room` */
    size_t first, n, room;
    struct buf entries; /* texts of the undecided entries, in order */
    struct buf ready;   /* entries that may go out: the inside of a JSON array */
};

/* `max`: bytes of entries that may wait. */
void tokens_init(struct tokens *t, size_t max);
void tokens_finish(struct tokens *t);
/* What the directive filter says of the text, in order. */
void tokens_fate(struct tokens *t, size_t bytes, bool kept);
/* An event brought `length` bytes of text and these entries (the inside of a JSON array; may be empty). -1:
 * too much is waiting. */
int tokens_take(struct tokens *t, struct span entries, size_t length) MUST_USE;
/* Applies the fates heard so far; what is decided and kept is in t->ready then. all: no text is held any
 * more, so nothing may stay behind. */
void tokens_settle(struct tokens *t, bool all);
/* Forgets the fates heard so far: nothing of the text they are about is waiting. */
void tokens_pass(struct tokens *t);
/* Whether entries wait or are ready. */
bool tokens_any(const struct tokens *t);
/* Bytes of UTF-8 that the escaped inside of a JSON string stands for. */
size_t tokens_text_length(struct span escaped);

#endif
