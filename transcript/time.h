#ifndef TRANSCRIPT_TIME_H
#define TRANSCRIPT_TIME_H
/* Points in time: microseconds since 1970-01-01T00:00:00Z, and the texts they have. No floating point, no
 * clock. */
#include <stdint.h>

#include "base/buf.h"

/* "2035-01-02T03:04:05", a blank for the T, a fraction (cut off after six digits), Z or ±HH:MM; no zone is
 * UTC. False for anything else. */
bool time_parse(struct span text, int64_t *us);
/* Appends "2035-01-02T03:04:05.000000Z"; nothing, and false, for a year that has not four digits. */
bool time_print(int64_t us, struct buf *out);
/* Appends "2035-01-02 03:04 UTC"; nothing for 0 and for a year that has not four digits. */
void time_print_minute(int64_t us, struct buf *out);
/* Appends "2035-01-02 03:04:05". */
void time_print_second(int64_t us, struct buf *out);

#endif
