#include "base/reply_event.h"

#include "base/xalloc.h"

void reply_event_delta(struct reply_event *e, enum delta_kind kind, uint32_t channel, struct span where)
{
    if (e->n == e->room) {
        e->room = e->room ? e->room * 2 : 4;
        e->deltas = xrealloc(e->deltas, e->room * sizeof *e->deltas);
    }
    size_t at = where.p ? (size_t)(where.p - e->json.p) + e->json_at : 0;
    e->deltas[e->n++] = (struct delta){.kind = kind, .channel = channel, .at = at, .n = where.n};
}

void reply_event_reset(struct reply_event *e, struct span raw)
{
    struct delta *deltas = e->deltas;
    size_t room = e->room;
    *e = (struct reply_event){.raw = raw, .deltas = deltas, .room = room};
}

void reply_event_free(struct reply_event *e)
{
    xfree(e->deltas);
    *e = (struct reply_event){0};
}
