#ifndef ATTACHMENTS_CONTEXT_H
#define ATTACHMENTS_CONTEXT_H
/* Text around text: the forms in which content items and documents stand in the user's message (product.md
 * §6, "Context"). */
#include "attachments/attachment.h"

/* Where content of that type goes with `context: fields`: "input", "output", "run_logs"; NULL: nowhere. */
const char *context_field(const char *type);
/*
 * Marks content that does not go: blank, or with `fields` of a type that has no field. To be called once
 * before context_write. Answers how many were not passed although they said something.
 */
size_t context_decide(struct attachments *a, bool fields);
/* Appends the block of all content that is passed, without a line break at its end; nothing when there is
 * none. */
void context_write(const struct attachments *a, bool fields, struct buf *out);
/* Appends a text file between tags that carry its name. */
void context_document(const struct attachment *a, struct buf *out);
/* The same with a part of its text. */
void context_document_part(const struct attachment *a, struct span text, struct buf *out);

#endif
