#include "transcript/plan.h"

#include <stdlib.h>

#include "base/xalloc.h"
#include "transcript/raw.h"
#include "transcript/text.h"

struct plan_state {
    json_t *threads;
};

struct plan_state *plan_state_create(void)
{
    struct plan_state *s = xcalloc(1, sizeof *s);
    s->threads = json_object();
    return s;
}

struct plan_state *plan_state_parse(struct span text)
{
    struct error e;
    json_t *threads = raw_parse(text, &e);
    if (!threads)
        return NULL;
    struct plan_state *s = xcalloc(1, sizeof *s);
    s->threads = threads;
    return s;
}

void plan_state_destroy(struct plan_state *s)
{
    if (!s)
        return;
    json_decref(s->threads);
    xfree(s);
}

void plan_state_set(struct plan_state *s, struct span thread, const char *status, struct span last_updated,
                    uint64_t bytes)
{
    json_t *entry = json_pack("{s:s,s:s%}", "status", status, "lastUpdated",
                              last_updated.n ? last_updated.p : "", last_updated.n);
    if (entry && bytes && bytes <= INT64_MAX)
        json_object_set_new(entry, "bytes", json_integer((json_int_t)bytes));
    if (entry)
        json_object_setn_new(s->threads, thread.n ? thread.p : "", thread.n, entry);
}

int plan_state_print(const struct plan_state *s, struct buf *out)
{
    int failed = json_dump_callback(s->threads, buf_sink, out, JSON_INDENT(1));
    buf_addc(out, '\n');
    return failed || buf_full(out) ? -1 : 0;
}

const char *plan_action_name(enum plan_action a)
{
    static const char *const names[] = {"new", "updated", "done", "expired", "deleted"};
    return names[a];
}

/* Where a fraction's digits begin and end without the zeros at their end, and where they end with them. */
static void find_fraction(struct span s, size_t *from, size_t *to, size_t *end)
{
    const char *dot = s.n ? memchr(s.p, '.', s.n) : NULL;
    size_t at = dot ? (size_t)(dot - s.p) + 1 : s.n;
    *from = at;
    while (at < s.n && s.p[at] >= '0' && s.p[at] <= '9')
        at++;
    *end = at;
    while (at > *from + 1 && s.p[at - 1] == '0')
        at--;
    *to = at;
}

bool plan_same_time(struct span a, struct span b)
{
    size_t from[2], to[2], end[2];
    a = text_trim(a);
    b = text_trim(b);
    find_fraction(a, &from[0], &to[0], &end[0]);
    find_fraction(b, &from[1], &to[1], &end[1]);
    return to[0] == to[1] && a.n - end[0] == b.n - end[1] && memcmp(a.p, b.p, to[0]) == 0 &&
           memcmp(a.p + end[0], b.p + end[1], a.n - end[0]) == 0;
}

struct sorted {
    struct plan_thread thread;
    size_t place;
};

static int compare_threads(const void *a, const void *b)
{
    const struct sorted *x = a, *y = b;
    struct span s = x->thread.last_updated, t = y->thread.last_updated;
    size_t n = s.n < t.n ? s.n : t.n;
    int order = n ? memcmp(t.p, s.p, n) : 0;
    if (order == 0 && s.n != t.n)
        order = s.n > t.n ? -1 : 1;
    return order ? order : x->place < y->place ? -1 : x->place > y->place;
}

static bool same_length(const struct plan_thread *t, const json_t *before)
{
    const json_t *bytes = json_object_get(before, "bytes");
    return t->bytes == 0 || !json_is_integer(bytes) || (uint64_t)json_integer_value(bytes) == t->bytes;
}

static enum plan_action decide(const struct plan_thread *t, const json_t *before, bool force)
{
    struct span status = raw_str(before, "status");
    if (span_is(status, "expired"))
        return PLAN_EXPIRED;
    if (span_is(status, "deleted"))
        return PLAN_DELETED;
    if (!before)
        return PLAN_NEW;
    bool done = !force && span_is(status, "ok") && t->last_updated.n &&
                plan_same_time(raw_str(before, "lastUpdated"), t->last_updated) && same_length(t, before);
    return done ? PLAN_DONE : PLAN_UPDATED;
}

size_t plan_threads(struct plan_thread *threads, size_t n, const struct plan_state *state, bool full,
                    bool force)
{
    struct sorted *sorted = xcalloc(n + 1, sizeof *sorted);
    for (size_t i = 0; i < n; i++)
        sorted[i] = (struct sorted){.thread = threads[i], .place = i};
    qsort(sorted, n, sizeof *sorted, compare_threads);
    for (size_t i = 0; i < n; i++) {
        struct span id = sorted[i].thread.id;
        threads[i] = sorted[i].thread;
        threads[i].action =
            decide(&threads[i], json_object_getn(state->threads, id.n ? id.p : "", id.n), force);
    }
    xfree(sorted);
    while (!full && !force && n && threads[n - 1].action != PLAN_NEW && threads[n - 1].action != PLAN_UPDATED)
        n--;
    return n;
}
