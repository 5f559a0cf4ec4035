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

/* ---- members and items that go ---- */

static bool is_blank(char c)
{
    return c == ' ' || c == '\n' || c == '\r' || c == '\t';
}

static const char *skip_blank(const char *p, const char *end)
{
    while (p < end && is_blank(*p))
        p++;
    return p;
}

/* What to cut for neighbouring members that lie from first to behind the last of them. */
static struct span removal(struct span container, const char *first, const char *after)
{
    const char *end = container.p + container.n, *p = skip_blank(after, end);
    if (p < end && *p == ',') {
        after = skip_blank(p + 1, end);
    } else {
        for (p = first; p > container.p && is_blank(p[-1]);)
            p--;
        if (p > container.p && p[-1] == ',')
            first = p - 1;
    }
    return span_of(first, (size_t)(after - first));
}

struct span json_removal(struct span container, struct span whole)
{
    return removal(container, whole.p, whole.p + whole.n);
}

static void add_removal(struct span text, struct span cut, struct edits *e)
{
    edits_add(e, (size_t)(cut.p - text.p), cut.n, span_of("", 0));
}

void json_removals(struct span text, struct span container, const struct span *wholes, size_t n,
                   struct edits *e)
{
    const char *end = container.p + container.n;
    for (size_t i = 0; i < n;) {
        const char *first = wholes[i].p, *after = first + wholes[i].n;
        for (i++; i < n; i++) {
            const char *p = skip_blank(after, end);
            if (p == end || *p != ',' || skip_blank(p + 1, end) != wholes[i].p)
                break;
            after = wholes[i].p + wholes[i].n;
        }
        add_removal(text, removal(container, first, after), e);
    }
}

size_t json_remove_members(struct span text, struct span object, const char *const *names, size_t n,
                           struct edits *e)
{
    struct json_iter it = json_iter(object);
    struct span run = {0}; /* neighbours to be cut, so far */
    size_t removed = 0;
    while (it.object && json_next(&it) == 1) {
        bool named = false;
        for (size_t i = 0; i < n && !named; i++)
            named = json_key_is(&it, names[i]);
        if (named) {
            if (!run.p)
                run.p = it.whole.p;
            run.n = (size_t)(it.whole.p + it.whole.n - run.p);
            removed++;
        } else if (run.p) {
            add_removal(text, removal(object, run.p, run.p + run.n), e);
            run = (struct span){0};
        }
    }
    if (run.p)
        add_removal(text, removal(object, run.p, run.p + run.n), e);
    return removed;
}
