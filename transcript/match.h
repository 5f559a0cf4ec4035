#ifndef TRANSCRIPT_MATCH_H
#define TRANSCRIPT_MATCH_H
/*
 * Level 2 of the waterfall: which notice belongs to which end. Of all pairs at most MATCH_WINDOW apart the
 * nearest are taken first, each end once; ties go to the earlier stub, then to the earlier end. Since a stub
 * may take several, that is: every end goes to its nearest stub. Pure numbers, n log n.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { MATCH_WINDOW = 10000000 }; /* us, both bounds inclusive */

/* The distance of two times, which may be any. */
uint64_t match_distance(int64_t a, int64_t b);
/* stubs: ascending. Answers the place of the nearest one, the first of several equal ones; n: none is near
 * enough. */
size_t match_stub(const int64_t *stubs, size_t n, int64_t end);

#endif
