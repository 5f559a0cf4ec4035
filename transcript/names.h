#ifndef TRANSCRIPT_NAMES_H
#define TRANSCRIPT_NAMES_H
/* Names (ids, addresses) and a number for each. Strangers choose the names: the table is jansson's, whose
 * hash has a random seed. */
#include "base/span.h"

struct json_t;

struct names {
    struct json_t *table;
};

#define NAMES_NONE ((size_t)-1)

void names_init(struct names *n);
void names_finish(struct names *n);
/* The name's number, or NAMES_NONE. */
size_t names_find(const struct names *n, struct span name);
/* Sets or changes it. */
void names_set(struct names *n, struct span name, size_t number);
/* Sets it if the name is new, and says whether it was. */
bool names_add(struct names *n, struct span name, size_t number);

#endif
