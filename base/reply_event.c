#include "base/reply_event.h"

#include "base/xalloc.h"

void reply_event_delta(struct reply_event *e, enum delta_kind kind, uint32_t channel, struct span where)
{
    if (e->n == e->room) {
        e->room = e->room ? e->room * 2 : 4;
        e->deltas = xrealloc(e->deltas, e->room * sizeof *e->deltas);
    }
    e->more = e->more || kind > DELTA_CHANNEL_END;
    size_t at = where.p ? (size_t)(where.p - e->json.p) + e->json_at : 0;
    e->deltas[e->n++] = (struct delta){.kind = kind, .channel = channel, .at = at, .n = where.n};
}

void reply_event_more_notes(struct reply_event *e)
{
    e->notes_room = e->notes_room ? e->notes_room * 2 : 4;
    e->notes = xrealloc(e->notes, e->notes_room * sizeof *e->notes);
}

void reply_event_ends_last(struct reply_event *e)
{
    size_t n = e->n, ends = 0, kept = 0;
    for (size_t i = 0; i < n; i++)
        ends += e->deltas[i].kind == DELTA_CHANNEL_END;
    if (ends == 0 || (ends == 1 && e->deltas[n - 1].kind == DELTA_CHANNEL_END))
        return;
    for (size_t i = 0; i < n; i++)
        if (e->deltas[i].kind == DELTA_CHANNEL_END)
            reply_event_delta(e, DELTA_CHANNEL_END, e->deltas[i].channel, (struct span){0});
    for (size_t i = 0; i < e->n; i++)
        if (i >= n || e->deltas[i].kind != DELTA_CHANNEL_END)
            e->deltas[kept++] = e->deltas[i];
    e->n = kept;
}

void reply_event_reset(struct reply_event *e, struct span raw)
{
    struct delta *deltas = e->deltas;
    struct note *notes = e->notes;
    size_t room = e->room, notes_room = e->notes_room;
    bool noting = e->noting;
    *e = (struct reply_event){.raw = raw,
                              .deltas = deltas,
                              .room = room,
                              .notes = notes,
                              .notes_room = notes_room,
                              .noting = noting};
}

void reply_event_free(struct reply_event *e)
{
    xfree(e->deltas);
    xfree(e->notes);
    *e = (struct reply_event){0};
}
