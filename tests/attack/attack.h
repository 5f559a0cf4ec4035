#ifndef ATTACK_H
#define ATTACK_H
/*
 * Sources that are meant to break a renderer: two hundred and more a renderer by a fixed list of kinds, and
 * any number of mutants of these and of good sources. All of it is a function of a seed, so that a finding
 * can be made again.
 */
#include <stdint.h>

#include "base/buf.h"
#include "base/span.h"
#include "jobs/renderer.h"

enum { ATTACK_HOSTILE = 200 /* at least */, ATTACK_MUTANT = 64 * 1024 };

/* splitmix64. */
struct dice {
    uint64_t state;
};
uint64_t dice_throw(struct dice *d);
/* Below n; n > 0. */
size_t dice_below(struct dice *d, size_t n);

/*
 * A kind of hostile source: `before`, then `unit` n times, then `behind`. In all of them
 *   \1 stands for the number of the repetition,   \2 for a byte of zero,
 *   \3 for a number that is hard to handle,       \4 for text that is hard to handle,
 *   \5 for a byte of any value,                   \6 for n letters.
 */
struct kind {
    const char *name, *before, *unit, *behind;
    size_t most; /* repetitions; 0: as many as asked for */
};
/* A NULL name at the end. */
extern const struct kind markdown_kinds[], table_kinds[], chart_kinds[], part_kinds[];

/* Of a list of kinds: each of them in four sizes, or more. */
unsigned hostile_count(const struct kind *kinds);
/* The n-th hostile source of a list of kinds, of at most `most` repetitions. Its kind's name. */
const char *hostile_source(const struct kind *kinds, unsigned n, size_t most, struct buf *out);

/* Changes `source` in one to eight places; `other` is what parts may be taken from. At most ATTACK_MUTANT
 * bytes. */
void mutate(struct span source, struct span other, struct dice *d, struct buf *out);

/* NULL, or what is wrong with a file of that format: the archive of an Office document and every part of it,
 * the beginning and the end of the others. */
const char *output_fault(const char *format, struct span bytes);

#endif
