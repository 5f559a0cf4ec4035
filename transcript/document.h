#ifndef TRANSCRIPT_DOCUMENT_H
#define TRANSCRIPT_DOCUMENT_H
/*
 * Where the entries of a raw thread document come from. Only few of them are trees at a time: an entry is
 * parsed when it is asked for, out of the document's text or a journal's lines, and given back after use. Of
 * a document that is not quite JSON, or that came as two files, all of it is a tree.
 */
#include <jansson.h>

#include "transcript/journal.h"

enum side { SIDE_TURNS, SIDE_BACKGROUND, SIDES }; /* the lists "entries", "background_entries" */

struct document;

/* See transcript_load. The texts are borrowed. */
struct document *document_open(struct span plain, struct span blocks, struct error *e) MUST_USE;
/* The journal is borrowed. */
struct document *document_open_journal(const struct journal *j) MUST_USE;
void document_close(struct document *d);

/* The object; its two lists need not be in it. The document's. */
const json_t *document_head(const struct document *d);
size_t document_entries(const struct document *d, enum side side);
/* An entry, whatever it is; the caller gives it back with json_decref. */
json_t *document_entry(struct document *d, enum side side, size_t i) MUST_USE;
/* This one will be asked for often: it stays. */
void document_keep(struct document *d, enum side side, size_t i);
/* Whether an entry could not be read any more and was null instead. */
bool document_failed(const struct document *d);

#endif
