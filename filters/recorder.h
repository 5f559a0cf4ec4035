#ifndef FILTERS_RECORDER_H
#define FILTERS_RECORDER_H
/*
 * What a reply said, kept for the thread that it belongs to: the text as the client was meant to read it,
 * reasoning, calls of tools, sources, and how it ended. The reply filter feeds it with what its directive
 * filters let through and with the notes of its dialect; whoever writes the journal reads its members when
 * the reply is over. Strings are kept as they came, the escaped insides of JSON strings, valid or not.
 *
 * All this is done while the reply goes through, so pieces are appended and nothing else: they are unescaped
 * by whoever writes the journal, and whole calls of tools are kept as the API writes them until
 * recorder_settle.
 *
 * Of an API that gives several replies it is the first one. What is over a cap is cut and marked. Pure.
 */
#include <stdint.h>

#include "base/buf.h"
#include "base/limits.h"
#include "base/reply_event.h"

struct recorder_call {
    uint32_t number;
    struct buf id, name, arguments; /* arguments: what the string says, mostly JSON */
};

struct recorder {
    bool parts; /* channels are parts of one reply, as in struct reply_dialect */
    struct buf text, reasoning;
    bool text_cut, reasoning_cut;
    size_t text_room; /* the text may grow by appending as long as it stays shorter */
    /* Where the piece that came last went: more of its kind and number goes behind it, as long as the buffer
     * stays shorter than run_room; 0: there is none. */
    struct buf *run;
    uint64_t run_is; /* recorder_run_of */
    size_t run_room;
    size_t run_from; /* the buffer's length when that began */
    struct recorder_call *calls;
    size_t ncalls;
    size_t arguments; /* bytes in all of them, but for what the run added */
    bool calls_cut;
    bool refused;    /* the call begun last was one too many */
    struct buf raw;  /* values of NOTE_CALLS behind each other, until they are settled */
    size_t raw_room; /* as text_room */
    void (*read_calls)(struct reply_event *e, struct span value); /* the dialect's `calls` */
    struct buf citations; /* {"name":…,"url":…}, comma separated */
    size_t ncitations;
    bool citations_cut;
    bool titled; /* the last citation has a title */
    bool broken; /* reasoning goes on with another paragraph */
    /* How it ended; the first of finished and failed decides. */
    bool finished, failed, canceled;
    bool pending; /* it is made in the background, and was not ready */
    struct buf finish, error_type, error_code, error_message, reply_id;
};

/* parts, read_calls: the dialect's parts and calls. */
struct recorder *recorder_create(bool parts,
                                 void (*read_calls)(struct reply_event *e, struct span value)) MUST_USE;
/* NULL is fine. */
void recorder_destroy(struct recorder *r);
/* Reads what was kept as it came; before `calls` and what belongs to it are looked at. */
void recorder_settle(struct recorder *r);
/* The beginning of a text that is too long, and its mark. */
void recorder_add_cut(struct buf *to, struct span escaped, bool *cut);
/* recorder_text when there is no room for it. */
void recorder_add_text(struct recorder *r, struct span escaped);
void recorder_take_notes(struct recorder *r, const struct reply_event *e);

/* Pieces are as short as a word, and then a call of memcpy is a third of what they cost: the first bytes and
 * the last ones are copied, which overlap. */
static inline __attribute__((always_inline)) void recorder_copy(char *to, const char *from, size_t n)
{
    if (n - 4 <= 3) {
        uint32_t first, last;
        memcpy(&first, from, sizeof first);
        memcpy(&last, from + n - sizeof last, sizeof last);
        memcpy(to, &first, sizeof first);
        memcpy(to + n - sizeof last, &last, sizeof last);
    } else if (n - 8 <= 8) {
        uint64_t first, last;
        memcpy(&first, from, sizeof first);
        memcpy(&last, from + n - sizeof last, sizeof last);
        memcpy(to, &first, sizeof first);
        memcpy(to + n - sizeof last, &last, sizeof last);
    } else if (n - 2 <= 1) {
        uint16_t first, last;
        memcpy(&first, from, sizeof first);
        memcpy(&last, from + n - sizeof last, sizeof last);
        memcpy(to, &first, sizeof first);
        memcpy(to + n - sizeof last, &last, sizeof last);
    } else {
        memcpy(to, from, n);
    }
}

/* Text that goes to the client. */
static inline void recorder_text(struct recorder *r, uint32_t channel, struct span escaped)
{
    struct buf *text = &r->text; /* nothing is taken from its front */
    if (channel && !r->parts)
        return;
    if (text->n + escaped.n < r->text_room) {
        recorder_copy(text->data + text->n, escaped.p, escaped.n);
        text->n += escaped.n;
    } else {
        recorder_add_text(r, escaped);
    }
}

/* A note's kind and number. */
static inline uint64_t recorder_run_of(const struct note *note)
{
    return (uint64_t)note->number << 32 | (uint32_t)note->kind;
}

/* Keeps whole calls as they came, if there is room for them. */
static inline bool recorder_keeps_calls(struct recorder *r, struct span calls)
{
    struct buf *to = &r->raw;
    if (to->n + calls.n >= r->raw_room)
        return false;
    memcpy(to->data + to->n, calls.p, calls.n);
    to->n += calls.n;
    return true;
}

/* Appends the note's value if it goes on where the last one ended, which is where most do. */
static inline bool recorder_goes_on(struct recorder *r, const struct note *note)
{
    struct buf *to = r->run;
    size_t n = note->value.n - 2;
    if (recorder_run_of(note) != r->run_is)
        return note->kind == NOTE_CALLS && recorder_keeps_calls(r, note->value);
    if (to->n + n >= r->run_room || note->value.p[0] != '"')
        return false;
    recorder_copy(to->data + to->n, note->value.p + 1, n);
    to->n += n;
    return true;
}

/* An event that the filter takes. Once, however often it is read. */
static inline void recorder_event(struct recorder *r, const struct reply_event *e)
{
    bool over = e->error || e->ends_stream;
    if (e->nnotes == 1 && !over && recorder_goes_on(r, e->notes))
        return;
    if (e->nnotes || over)
        recorder_take_notes(r, e);
}

#endif
