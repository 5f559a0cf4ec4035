#ifndef PROVIDERS_NOTES_H
#define PROVIDERS_NOTES_H
/* What dialects have in common when they tell what a reply says besides its text (struct note in
 * base/reply_event.h). Called for events that are noting, off the path of plain text. */
#include "base/json.h"
#include "base/reply_event.h"

/* Keeps what only recorded replies need out of the functions that every event goes through. */
#define NOT_INLINE __attribute__((noinline))

/* A value, unless it is absent or null. */
static inline void notes_value(struct reply_event *e, enum note_kind kind, uint32_t number, struct span value)
{
    if (value.n && json_type(value) != JSON_NULL)
        reply_event_note(e, kind, number, value);
}

/* A string, unless it is empty. */
static inline void notes_string(struct reply_event *e, enum note_kind kind, uint32_t number,
                                struct span value)
{
    if (value.n > 2 && value.p[0] == '"')
        reply_event_note(e, kind, number, value);
}

/* The same for what comes by the token. */
static inline __attribute__((always_inline)) void notes_piece(struct reply_event *e, enum note_kind kind,
                                                              uint32_t number, struct span value)
{
    if (value.n > 2 && value.p[0] == '"')
        reply_event_note(e, kind, number, value);
}

/* The member of an object under that name. */
static inline void notes_member(struct reply_event *e, enum note_kind kind, uint32_t number,
                                struct span object, const char *name)
{
    struct span value;
    if (json_type(object) == JSON_OBJECT && json_member(object, name, &value))
        notes_value(e, kind, number, value);
}

/* What an error says: an object with some of type, status, code and message, or the message alone. */
void notes_error(struct reply_event *e, struct span error);
/* A source: an object with its address under the first name, and a title. */
void notes_source(struct reply_event *e, struct span source, const char *address);
/* The sources of a list; `holder`: each is the member of that name of its item, NULL: the item itself, or a
 * string that is the address. */
void notes_sources(struct reply_event *e, struct span list, const char *holder, const char *address);

#endif
