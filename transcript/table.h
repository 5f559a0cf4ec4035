#ifndef TRANSCRIPT_TABLE_H
#define TRANSCRIPT_TABLE_H
/* Tables of workflows as Markdown. */
#include <jansson.h>

#include "base/buf.h"

/* A pipe table with all rows and columns; nothing for a table that has neither. payload may be NULL. */
void table_print(const json_t *payload, struct buf *out);

#endif
