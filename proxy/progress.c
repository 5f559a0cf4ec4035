#include "proxy/progress.h"

#include <stdio.h>
#include <unistd.h>

#include "base/clock.h"

enum { WIDTH = 30, PAUSE_MS = 80 };

void progress_begin(struct progress *p, const char *what, size_t total)
{
    *p = (struct progress){.what = what, .total = isatty(STDERR_FILENO) ? total : 0};
}

void progress_step(struct progress *p, size_t done)
{
    char bar[WIDTH + 1];
    int64_t now = clock_mono_ms();
    if (p->total == 0 || (p->shown && now - p->last_ms < PAUSE_MS))
        return;
    size_t full = done * WIDTH / p->total;
    for (size_t i = 0; i < WIDTH; i++)
        bar[i] = i < full ? '#' : '.';
    bar[WIDTH] = '\0';
    fprintf(stderr, "\r[%s] %zu of %zu %s", bar, done, p->total, p->what);
    p->shown = true;
    p->last_ms = now;
}

void progress_clear(struct progress *p)
{
    if (p->shown)
        fputs("\r\033[K", stderr);
    p->shown = false;
}
