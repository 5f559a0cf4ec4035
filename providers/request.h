#ifndef PROVIDERS_REQUEST_H
#define PROVIDERS_REQUEST_H
/* What dialects have in common when they read a request. */
#include "providers/dialect.h"
#include "providers/walk.h"

/* One member of a request's object: key as walk_key_is wants it. */
struct request_member {
    const struct walk *w;
    struct span key, value;
};

static inline bool request_member_is(const struct request_member *m, const char *name)
{
    return walk_key_is(m->w, m->key, name);
}

/* A string that says exactly this. */
static inline bool request_value_is(struct span value, const char *text)
{
    return json_type(value) == JSON_STRING && json_inside_is(json_inside(value), text);
}

/*
 * Resets *facts and goes through the top-level members of the body: Penstock's own go into *facts, `member`
 * is told of all others. Sets facts->root and answers true when the body is one JSON object; false: forget
 * what was heard.
 */
bool request_read(struct span body, struct request_facts *facts,
                  void (*member)(void *arg, const struct request_member *m), void *arg) MUST_USE;
/* Nothing of this body is known: it is to be relayed untouched. */
void request_reset(struct request_facts *facts);
/* `n` and the like: how many replies the caller wants; 1 when that is no number in range. */
unsigned request_choices(struct span value);
/* Whether the body's object has members that stay in it: others than Penstock's own. */
bool request_keeps_members(const struct request_facts *facts) MUST_USE;
/* Whether a `format` (response_format …) asks for something else than text. */
bool request_machine_format(struct span format) MUST_USE;
/* Adds one edit: `cut` bytes at `at` of the body make room for what was put into `room` from `from` on.
 * Nothing when the room was too small. */
void request_insert(const struct buf *room, size_t from, struct edits *edits, size_t at, size_t cut);
/* Adds what puts a member (with its comma, none before it) at the end of the object; it has members. */
void request_add_member(struct span body, struct span object, struct span member, struct edits *edits);

#endif
