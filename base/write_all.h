#ifndef BASE_WRITE_ALL_H
#define BASE_WRITE_ALL_H
/* Bytes to a blocking descriptor, however many calls that takes (write(2) may take less than it was given).
 */
#include "base/span.h"

/* -1 with errno: some of them may have been written. */
int write_all(int fd, struct span bytes) MUST_USE;
/* The same, and closes `fd` in any case: what only close(2) reports counts as not written. */
int write_all_and_close(int fd, struct span bytes) MUST_USE;

#endif
