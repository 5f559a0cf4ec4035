#ifndef TRANSCRIPT_SCAN_H
#define TRANSCRIPT_SCAN_H
/* JSON texts looked into by files that have jansson's trees: base/json.h cannot be included beside jansson.h.
 */
#include <stdint.h>

#include "base/buf.h"

/* The value at p, without white space around it; n 0: there is none. */
struct span scan_value(const char *p, const char *end);
/* As json_unescape, json_int. */
int scan_unescape(struct span inside, struct buf *out) MUST_USE;
bool scan_integer(struct span value, int64_t *number) MUST_USE;

/* Values of an array. */
struct scan_list {
    struct span *texts; /* the caller's (xfree); they lie in the text */
    size_t n;
};
/*
 * An object's members of these n names, as far as they are arrays: of a repeated one the last counts. The
 * object without them is appended to `rest`. False: the text is no object, strictly read; nothing is the
 * caller's then.
 */
bool scan_lists(struct span text, const char *const *names, size_t n, struct scan_list *lists,
                struct buf *rest) MUST_USE;

#endif
