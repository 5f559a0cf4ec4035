#ifndef FILTERS_RECORDER_H
#define FILTERS_RECORDER_H
/*
 * What a reply said, kept for the thread that it belongs to: the text as the client was meant to read it,
 * reasoning, calls of tools, sources, and how it ended. The reply filter feeds it with what its directive
 * filters let through and with the notes of its dialect; whoever writes the journal reads its members when
 * the reply is over. Strings are kept as they came, the escaped insides of JSON strings, valid or not.
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
    struct recorder_call *calls;
    size_t ncalls;
    size_t arguments; /* bytes in all of them */
    bool calls_cut;
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

struct recorder *recorder_create(bool parts) MUST_USE;
/* NULL is fine. */
void recorder_destroy(struct recorder *r);
/* The beginning of a text that is too long, and its mark. */
void recorder_add_cut(struct buf *to, struct span escaped, bool *cut);
void recorder_take_notes(struct recorder *r, const struct reply_event *e);

/* Text that goes to the client. */
static inline void recorder_text(struct recorder *r, uint32_t channel, struct span escaped)
{
    struct buf *text = &r->text; /* nothing is taken from its front */
    if (channel && !r->parts)
        return;
    if (text->n + escaped.n < text->room && !r->text_cut) {
        memcpy(text->data + text->n, escaped.p, escaped.n);
        text->n += escaped.n;
    } else {
        recorder_add_cut(text, escaped, &r->text_cut);
    }
}

/* Where the next piece of a text that goes on belongs; NULL: that is not simply behind the last one. */
static inline struct buf *recorder_piece_of(struct recorder *r, const struct note *note)
{
    struct recorder_call *call = r->ncalls ? &r->calls[r->ncalls - 1] : NULL;
    if (note->kind == NOTE_REASONING && !r->broken && !r->reasoning_cut)
        return &r->reasoning;
    if (note->kind == NOTE_CALL_MORE && call && call->number == note->number && !r->calls_cut)
        return &call->arguments;
    return NULL;
}

/* A piece of reasoning or of a call's arguments, and room for it. */
static inline bool recorder_take_piece(struct recorder *r, const struct note *note)
{
    struct buf *to = recorder_piece_of(r, note);
    if (!to || note->value.p[0] != '"' || to->n + note->value.n >= to->room)
        return false;
    size_t n = note->value.n - 2;
    if (note->kind == NOTE_CALL_MORE) { /* all calls share one cap */
        if (n > LIMIT_THREAD_ARGUMENTS - r->arguments)
            return false;
        r->arguments += n;
    }
    memcpy(to->data + to->n, note->value.p + 1, n);
    to->n += n;
    return true;
}

/* An event that the filter takes. Once, however often it is read. */
static inline void recorder_event(struct recorder *r, const struct reply_event *e)
{
    if (!e->nnotes && !e->error && !e->ends_stream)
        return;
    if (e->nnotes != 1 || e->error || e->ends_stream || !recorder_take_piece(r, &e->notes[0]))
        recorder_take_notes(r, e);
}

#endif
