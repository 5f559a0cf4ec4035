#include "jobs/task_queue.h"

static struct queued **end_of(struct task_queue *q)
{
    struct queued **at = &q->first;
    while (*at)
        at = &(*at)->next;
    return at;
}

static size_t count_of(const struct task_queue *q, uint64_t owner)
{
    size_t n = 0;
    for (const struct queued *t = q->first; t; t = t->next)
        n += t->owner == owner;
    return n;
}

void task_queue_remove(struct task_queue *q, struct queued *item)
{
    struct queued **at = &q->first;
    while (*at != item)
        at = &(*at)->next;
    *at = item->next;
    item->next = NULL;
    q->n--;
}

/* The newest one of the owner who has most; NULL: nobody has more than `least`. */
static struct queued *newest_of_most(const struct task_queue *q, size_t least)
{
    struct queued *found = NULL;
    for (struct queued *t = q->first; t; t = t->next) {
        size_t n = found && t->owner == found->owner ? least : count_of(q, t->owner);
        if (n > least || (found && t->owner == found->owner)) {
            least = n;
            found = t;
        }
    }
    return found;
}

int task_queue_add(struct task_queue *q, struct queued *item, size_t max, struct queued **ousted)
{
    *ousted = NULL;
    if (q->n >= max) {
        *ousted = newest_of_most(q, count_of(q, item->owner) + 1);
        if (!*ousted)
            return -1;
        task_queue_remove(q, *ousted);
    }
    item->next = NULL;
    *end_of(q) = item;
    q->n++;
    return 0;
}

/* What is left of an owner goes behind everybody else, in its order. */
static void send_back(struct task_queue *q, uint64_t owner)
{
    struct queued *others = NULL, **other = &others, *own = NULL, **mine = &own;
    for (struct queued *t = q->first; t; t = t->next)
        if (t->owner == owner) {
            *mine = t;
            mine = &t->next;
        } else {
            *other = t;
            other = &t->next;
        }
    *mine = NULL;
    *other = own;
    q->first = others;
}

struct queued *task_queue_take(struct task_queue *q, unsigned (*running)(const void *user, uint64_t owner),
                               const void *user, bool slow_too)
{
    struct queued *best = NULL;
    unsigned fewest = 0;
    for (struct queued *t = q->first; t; t = t->next) {
        unsigned n = running(user, t->owner);
        if ((t->slow && !slow_too) || (best && n >= fewest))
            continue;
        best = t;
        fewest = n;
    }
    if (!best)
        return NULL;
    task_queue_remove(q, best);
    send_back(q, best->owner);
    return best;
}
