#ifndef CONFIG_VALUE_H
#define CONFIG_VALUE_H
/*
 * Single values of the configuration: text to number and back. Pure. The parsers answer -1 for what is not
 * exactly the form, or does not fit; they know no ranges.
 */
#include <stdint.h>

#include "base/buf.h"
#include "base/span.h"

/* "250000": decimal digits. */
int value_count(struct span text, int64_t *out) MUST_USE;
/* "8MiB", "64KiB", "1GiB", "512B" or plain bytes. */
int value_size(struct span text, int64_t *out) MUST_USE;
/* "250ms", "10s", "5m", "1h", "7d": one number, one unit. */
int value_milliseconds(struct span text, int64_t *out) MUST_USE;
/* "true" or "false". */
int value_bool(struct span text, bool *out) MUST_USE;
/* 64 hexadecimal digits. */
int value_hash(struct span text, unsigned char out[32]) MUST_USE;
/* Valid UTF-8 without control characters, line breaks of any kind, byte order marks: what can stand in a path
 * and in YAML quotes. */
bool value_printable(struct span text);
/* Letters, digits, '-', '_', 1 to 64 of them; with `lower`, no upper case. */
bool value_word(struct span text, bool lower);

/* In the largest unit that is exact. */
void value_print_size(int64_t bytes, struct buf *out);
void value_print_milliseconds(int64_t ms, struct buf *out);
/* As a YAML scalar, quoted where needed; text must be value_printable. */
void value_print_text(struct span text, struct buf *out);
/* For a message: in quotes, at most 60 bytes, nothing unprintable. */
void value_print_found(struct span text, struct buf *out);

/* Edit distance, for "did you mean"; words over 32 bytes are as far away as can be. */
unsigned value_distance(struct span a, struct span b);

#endif
