#ifndef PROVIDERS_EVENT_H
#define PROVIDERS_EVENT_H
/*
 * What dialects have in common when they read an event, which most of them do so:
 *
 *   struct walk w;
 *   const char *start;
 *   if (!event_open(e, &w, true))
 *       return;
 *   start = w.at;
 *   while (walk_member(&w, &key)) … what the dialect knows
 *   if (!event_close(e, &w, start))
 *       return;
 *
 * Inline, since every event of every stream comes through here.
 */
#include "providers/walk.h"

/* Goes into the object that the event is. False: it is none; the event says so, or, where the API's streams
 * end with the `[DONE]` of OpenAI (`marked`), that this is the end. */
static inline bool event_open(struct reply_event *e, struct walk *w, bool marked)
{
    *w = walk_event(e);
    if (walk_enter(w, '{'))
        return true;
    e->ends_stream = marked && !e->whole && span_starts(e->json, "[DONE]");
    e->unreadable = !e->ends_stream;
    return false;
}

/* The report's place in an object, of which these are the first byte behind the opening brace and the closing
 * brace. */
static inline void event_report_in(struct reply_event *e, const char *start, const char *brace)
{
    e->report_at = e->json_at + (size_t)(brace - e->json.p);
    while (start < brace && (*start == ' ' || *start == '\n' || *start == '\r' || *start == '\t'))
        start++;
    e->report_first = start == brace;
}

/* The object was walked to its end; `start`: where event_open left the walk. Notes where the report goes.
 * False: the text was not one valid value, and all that was found in it is forgotten. */
static inline bool event_close(struct reply_event *e, struct walk *w, const char *start)
{
    const char *brace = w->at - 1;
    if (!walk_done(w)) {
        e->n = e->nnotes = 0;
        e->unreadable = true;
        e->more = e->error = e->may_go_on = false;
        return false;
    }
    event_report_in(e, start, brace);
    return true;
}

/* Steps over the next value; whether it says something, as all but null does. */
static inline bool event_says(struct walk *w)
{
    struct span value;
    return walk_skip(w, &value) && value.p[0] != 'n';
}

/* Gives the deltas from `first` on their channel, for APIs whose replies have their number behind the text.
 */
static inline void event_set_channel(struct reply_event *e, size_t first, uint32_t channel)
{
    for (size_t i = first; i < e->n; i++)
        e->deltas[i].channel = channel;
}

#endif
