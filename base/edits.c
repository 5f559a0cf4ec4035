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

size_t edits_length(const struct edits *e, size_t n)
{
    for (size_t i = 0; i < e->n; i++)
        n += e->list[i].insert.n - e->list[i].cut;
    return n;
}

/* How far the edited text has been gone through. */
struct walk {
    size_t next; /* edit */
    size_t done; /* bytes of the text taken or cut */
};

/* 1: a piece of text or edit, which may be empty; 0: that was all; -1: an edit reaches beyond the text. */
static int next_piece(const struct edits *e, struct span text, struct walk *w, struct span *piece)
{
    const struct edit *edit = w->next < e->n ? &e->list[w->next] : NULL;
    size_t until = edit ? edit->at : text.n;
    if (edit && (edit->at > text.n || edit->cut > text.n - edit->at))
        return -1;
    if (until > w->done) {
        *piece = span_of(text.p + w->done, until - w->done);
        w->done = until;
        return 1;
    }
    if (!edit)
        return 0;
    *piece = edit->insert;
    if (edit->at + edit->cut > w->done)
        w->done = edit->at + edit->cut;
    w->next++;
    return 1;
}

int edits_apply(const struct edits *e, struct span text, struct buf *out)
{
    struct walk w = {0};
    struct span piece;
    int more;
    while ((more = next_piece(e, text, &w, &piece)) == 1)
        buf_add(out, piece);
    return more < 0 || buf_full(out) ? -1 : 0;
}

int edits_pieces(const struct edits *e, struct span text, struct span *pieces)
{
    struct walk w = {0};
    struct span piece;
    int more, n = 0;
    while ((more = next_piece(e, text, &w, &piece)) == 1)
        if (piece.n)
            pieces[n++] = piece;
    return more < 0 ? -1 : n;
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
