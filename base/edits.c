#include "base/json.h"
#include "base/xalloc.h"

void edits_free(struct edits *e)
{
    if (!e)
        return;
    xfree(e->list);
    *e = (struct edits){0};
}

void edits_reset(struct edits *e)
{
    e->n = 0;
}

void edits_add(struct edits *e, size_t at, size_t cut, struct span insert)
{
    if (e->n == e->room) {
        e->room = e->room ? e->room * 2 : 8;
        e->list = xrealloc(e->list, e->room * sizeof *e->list);
    }
    /* Behind all that begin here or before; nearly always the end. */
    size_t low = 0, high = e->n;
    if (high && e->list[high - 1].at <= at)
        low = high;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (e->list[middle].at <= at)
            low = middle + 1;
        else
            high = middle;
    }
    memmove(e->list + low + 1, e->list + low, (e->n - low) * sizeof *e->list);
    e->list[low] = (struct edit){.at = at, .cut = cut, .insert = insert};
    e->n++;
}

int edits_apply(const struct edits *e, struct span text, struct buf *out)
{
    size_t done = 0; /* bytes of the text copied or cut */
    for (size_t i = 0; i < e->n; i++) {
        const struct edit *edit = &e->list[i];
        if (edit->at > text.n || edit->cut > text.n - edit->at)
            return -1;
        if (edit->at > done) {
            buf_addn(out, text.p + done, edit->at - done);
            done = edit->at;
        }
        buf_add(out, edit->insert);
        if (edit->at + edit->cut > done)
            done = edit->at + edit->cut;
    }
    if (done < text.n)
        buf_addn(out, text.p + done, text.n - done);
    return buf_full(out) ? -1 : 0;
}
