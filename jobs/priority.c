#include "jobs/priority.h"

#include <sched.h>
#include <sys/resource.h>

enum {
    NICER = 10,        /* than the streams; a tenth of their weight */
    LONG_US = 1000000, /* shorter ones had no time to starve */
    STARVED = 4,       /* part of its time that a document must have had the processor for */
    SHARING_MS = 60 * 1000
};

void priority_note(struct priority *p, int64_t now_ms, uint64_t wall_us, uint64_t cpu_us)
{
    if (wall_us >= LONG_US && cpu_us < wall_us / STARVED)
        p->share_until_ms = now_ms + SHARING_MS;
}

bool priority_shares(const struct priority *p, int64_t now_ms)
{
    return now_ms < p->share_until_ms;
}

/* Where it is refused, the document is made all the same. */
void priority_take(bool shares)
{
    const struct sched_param none = {.sched_priority = 0};
    if (shares)
        (void)setpriority(PRIO_PROCESS, 0, getpriority(PRIO_PROCESS, 0) + NICER);
    else
        (void)sched_setscheduler(0, SCHED_IDLE, &none);
}
