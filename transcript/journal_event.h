#ifndef TRANSCRIPT_JOURNAL_EVENT_H
#define TRANSCRIPT_JOURNAL_EVENT_H
/* A journal as the files journal*.c see it: events read from lines, and which lines belong together. */
#include "base/json.h"
#include "transcript/journal.h"
#include "transcript/names.h"

/* The members that are read; of a repeated one the last counts. */
enum member {
    EV,
    THREAD,
    TITLE,
    AUTHOR,
    ID,
    ROLE,
    AT,
    QUERY,
    TRIGGER,
    CONSULT,
    PARENT,
    HEADLINE,
    RUN,
    ATTACHMENTS,
    TEXT,
    REASONING,
    TOOL_CALLS,
    CITATIONS,
    ARTIFACTS,
    END,
    MEMBERS
};

/* A line's members as they are spelt; an empty span: missing, of another type, or an empty string. */
struct event {
    struct span v[MEMBERS];
};
struct event event_read(struct span line);
/* 0 for none. */
int64_t event_number(struct span value);
bool event_is(struct span string, const char *text);

/* A line's object in the journal; n 0: there is none. */
struct line_place {
    size_t at, n;
};

struct request {
    struct line_place begin, end;
    size_t sibling; /* the next one that the same request started, NAMES_NONE: none */
    int64_t run;
    bool specialist, running;
};

struct journal {
    const struct source *source;
    struct buf head; /* the document without its lists */
    struct request *requests;
    size_t n, room;
    size_t *sides[2]; /* which requests are entries of the document: turns, background */
    size_t nsides[2];
    size_t skipped;
    bool running;
    struct names consults; /* consult id → request */
    /* For specialists that name the request which started them instead of a tool's call: its id → the first
     * of them. */
    struct names first;
};

#endif
