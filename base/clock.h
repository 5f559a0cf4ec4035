#ifndef BASE_CLOCK_H
#define BASE_CLOCK_H
/* Time. clock_mono_ms never goes back and is for timeouts and durations; clock_wall_ms is what a calendar
 * says. */
#include <stdint.h>

int64_t clock_mono_ms(void);
int64_t clock_mono_us(void);
/* Milliseconds since 1970-01-01T00:00:00Z. */
int64_t clock_wall_ms(void);
int64_t clock_wall_us(void);

#endif
