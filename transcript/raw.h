#ifndef TRANSCRIPT_RAW_H
#define TRANSCRIPT_RAW_H
/*
 * Raw thread documents as trees. Every access goes through the functions here, to which a member of the wrong
 * type is a missing one. Spans and trees that they answer are the document's.
 */
#include <jansson.h>

#include "base/buf.h"
#include "base/error.h"

/* The tree of a text that is an object; NULL with an error. Nested deeper than any thread is drawn, not quite
 * UTF-8, numbers out of range: what cannot be kept becomes null or U+FFFD. json_decref is the caller's. */
json_t *raw_parse(struct span text, struct error *e) MUST_USE;
/* The same for a text inside of a document: any value, NULL if it is none. */
json_t *raw_parse_value(struct span text) MUST_USE;
/* Adds what the second file of a dump knows to the first, in either order, and gives back both for one. */
json_t *raw_merge(json_t *plain, json_t *blocks) MUST_USE;

/* object may be NULL or no object in all of these. */
struct span raw_str(const json_t *object, const char *key);
/* NULL: none; json_array_size of it is 0 then. */
json_t *raw_list(const json_t *object, const char *key);
json_t *raw_obj(const json_t *object, const char *key);
bool raw_true(const json_t *object, const char *key);
/* An integer, or a string of digits; else 0. */
int64_t raw_us(const json_t *object, const char *key);
/* A time as ISO text. */
bool raw_time(const json_t *object, const char *key, int64_t *us);

struct span raw_span(const json_t *value);

#endif
