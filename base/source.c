#include "base/source.h"

enum { PIECE = 256 * 1024 };

static int read_text(void *arg, size_t at, size_t n, struct buf *out)
{
    const struct span *text = arg;
    return buf_addn(out, text->p + at, n);
}

struct source source_text(const struct span *text)
{
    return (struct source){.n = text->n, .read = read_text, .arg = (void *)(uintptr_t)text};
}

int source_read(const struct source *s, size_t at, size_t n, struct buf *out)
{
    if (at > s->n || n > s->n - at)
        return -1;
    return n ? s->read(s->arg, at, n, out) : 0;
}

void source_lines_init(struct source_lines *l, const struct source *s, size_t max)
{
    *l = (struct source_lines){.source = s};
    buf_init(&l->window, max < SIZE_MAX - PIECE ? max + PIECE : SIZE_MAX);
}

void source_lines_free(struct source_lines *l)
{
    buf_free(&l->window);
}

/* False: there is no more, or it cannot be read. */
static bool read_more(struct source_lines *l)
{
    size_t from = l->at + l->window.n, left = l->source->n - from;
    if (left == 0 || l->failed)
        return false;
    l->failed = source_read(l->source, from, left < PIECE ? left : PIECE, &l->window) < 0;
    return !l->failed;
}

bool source_next_line(struct source_lines *l, struct span *line, size_t *at)
{
    buf_consume(&l->window, l->given);
    l->at += l->given;
    l->given = 0;
    for (size_t seen = 0;;) {
        struct span window = buf_span(&l->window);
        const char *lf = window.n > seen ? memchr(window.p + seen, '\n', window.n - seen) : NULL;
        seen = window.n;
        if (!lf && read_more(l))
            continue;
        if (l->failed || (!lf && window.n == 0))
            return false;
        *line = span_of(window.p, lf ? (size_t)(lf - window.p) : window.n);
        *at = l->at;
        l->given = lf ? line->n + 1 : line->n;
        return true;
    }
}
