#ifndef BASE_JSON_H
#define BASE_JSON_H
/*
 * Looking into JSON text without building anything: every function works on the original bytes and answers
 * with spans of them, so that an edit can be spliced in and all else stays as it was (RFC 8259; product.md
 * §2.5). Pure: no allocation, no state. Strict where it matters: a text that is not one complete JSON value
 * of at most LIMIT_JSON_DEPTH levels is reported as such, and the caller leaves it alone.
 *
 * Scanning one event costs a nanosecond or so a byte; strings are skipped by the word.
 */
#include <stdint.h>

#include "base/buf.h"
#include "base/span.h"

enum json_type {
    JSON_NONE,
    JSON_OBJECT,
    JSON_ARRAY,
    JSON_STRING,
    JSON_NUMBER,
    JSON_TRUE,
    JSON_FALSE,
    JSON_NULL
};

/* The value that starts at p (leading white space allowed): its exact bytes, without white space around it.
 * -1: no complete, valid value there. A number ends where its grammar does: what follows is the caller's to
 * check. */
int json_value(const char *p, const char *end, struct span *value) MUST_USE;
/* Whether the whole text is one value with nothing but white space around it; `value` is that value. */
bool json_document(struct span text, struct span *value) MUST_USE;

/*
 * What counts as valid. Replies are read with some leniency, since what a client reads must not pass its
 * filter unread: JSON_NONFINITE takes NaN, Infinity and -Infinity for numbers, JSON_LENIENT control
 * characters in strings as well. Everything else, and json_value and json_document, are strict.
 */
enum json_reading { JSON_RFC, JSON_NONFINITE, JSON_LENIENT };

int json_value_as(const char *p, const char *end, enum json_reading how, struct span *value) MUST_USE;
bool json_document_as(struct span text, enum json_reading how, struct span *value) MUST_USE;
/* By its first byte; JSON_NONE for a number that is not finite, unless it begins with a minus. */
enum json_type json_type(struct span value);

/*
 * Walking the members of an object or the items of an array. `next` answers 1 and fills the iterator,
 * 0 at the end, -1 when the text is not valid. The text must be the value's span (from '{' or '[' to its
 * end), which was found by one of the functions above: here it is read as JSON_LENIENT.
 *
 *   struct json_iter it = json_iter(object);
 *   while (json_next(&it) == 1)
 *       if (json_key_is(&it, "messages")) … it.value …
 */
struct json_iter {
    const char *at, *end;
    bool object;
    bool started;
    struct span key;   /* inside of the key's quotes, still escaped; empty for arrays */
    struct span value; /* exact bytes of the value */
    struct span whole; /* object: from the key's opening quote to the value's end; array: as value */
};

struct json_iter json_iter(struct span container);
int json_next(struct json_iter *it) MUST_USE;
/* Compares with escapes undone ("c\u006fntent" is "content"). */
bool json_key_is(const struct json_iter *it, const char *name);
/* The LAST member of that name, which is what every common parser takes; false: absent or not an object. */
bool json_member(struct span object, const char *name, struct span *value) MUST_USE;

/* The inside of a string value, still escaped. The value must be a string. */
struct span json_inside(struct span string);
/* Appends the text that an escaped inside stands for, as UTF-8. A lone surrogate becomes U+FFFD; \u0000 a
 * NUL. -1: not valid, or over the buffer's cap; then nothing was appended. */
int json_unescape(struct span inside, struct buf *out) MUST_USE;
/* Whether the escaped inside stands for exactly this text. */
bool json_inside_is(struct span inside, const char *text);
/* Appends text as the inside of a JSON string: quotes, backslashes and control characters are escaped, the
 * rest (valid or not) stays as it is. -1: over the buffer's cap, nothing appended. */
int json_escape(struct span text, struct buf *out) MUST_USE;
/* A whole number without fraction or exponent that fits; false otherwise. */
bool json_int(struct span value, int64_t *out) MUST_USE;

/*
 * Edits of a text: each replaces `cut` bytes at `at` (an offset) by `insert`. A list is kept in ascending
 * order and does not overlap; several insertions at one place stay in the order in which they were added. The
 * list borrows what it inserts.
 */
struct edit {
    size_t at, cut;
    struct span insert;
};

struct edits {
    struct edit *list;
    size_t n, room;
};

void edits_free(struct edits *e);
void edits_reset(struct edits *e);
/* Keeps the order; the place may be anywhere, adding in ascending order is the cheap way. */
void edits_add(struct edits *e, size_t at, size_t cut, struct span insert);
/* Appends the edited text. -1: over the buffer's cap, or an edit reaches beyond the text. */
int edits_apply(const struct edits *e, struct span text, struct buf *out) MUST_USE;
/* How long a text of n bytes is afterwards. */
size_t edits_length(const struct edits *e, size_t n);
/* The edited text as pieces of text and edits, none of them empty: 2 * e->n + 1 at most. -1: an edit reaches
 * beyond the text. */
int edits_pieces(const struct edits *e, struct span text, struct span *pieces) MUST_USE;
/* What is to be cut so that a member or item, as json_iter's `whole`, leaves a valid container behind: it and
 * the comma after it (with white space up to the next member), or, for the last one, the comma before it.
 * `container` as given to json_iter. */
struct span json_removal(struct span container, struct span whole);
/*
 * The same for several of a container at once. Cuts from json_removal cannot be put together when a last
 * member and the one before it both go: they would overlap in a comma and leave another one behind. Here
 * neighbours become one cut. wholes: ascending, each once, of a valid container. The edits' offsets count
 * from text.p; the container lies in text. Nothing else may be inserted or cut inside of the container's
 * removed bytes.
 */
void json_removals(struct span text, struct span container, const struct span *wholes, size_t n,
                   struct edits *e);
/* json_removals of every member, repeated ones too, that has one of the n names. The object is one that
 * json_value answered. Answers how many members go. */
size_t json_remove_members(struct span text, struct span object, const char *const *names, size_t n,
                           struct edits *e);

#endif
