#include "transcript/show.h"

#include "base/xalloc.h"
#include "transcript/text.h"
#include "transcript/time.h"

void links_init(struct links *l)
{
    *l = (struct links){0};
    names_init(&l->urls);
}

void links_finish(struct links *l)
{
    names_finish(&l->urls);
    xfree(l->list);
}

void links_add(struct links *l, json_t *sources)
{
    json_t *source;
    size_t i;
    json_array_foreach(sources, i,
                       source) if (raw_str(source, "url").n && names_add(&l->urls, raw_str(source, "url"), 0))
    {
        l->list = thread_grow(l->list, l->n, &l->room, sizeof *l->list);
        l->list[l->n++] = source;
    }
}

void show_links(const struct links *l, struct drawing *d)
{
    struct buf line;
    buf_init(&line, d->out->max);
    if (l->n)
        show_part(d);
    for (size_t i = 0; i < l->n; i++) {
        struct span name = raw_str(l->list[i], "name");
        buf_reset(&line);
        text_link(name.n ? name : raw_str(l->list[i], "title"), raw_str(l->list[i], "url"), &line);
        buf_adds(d->out, i ? "\n" : "");
        show_text(d, buf_span(&line));
    }
    buf_free(&line);
}

void show_part(struct drawing *d)
{
    if (d->out->n > d->base)
        buf_adds(d->out, "\n\n");
}

void show_text(struct drawing *d, struct span text)
{
    if (d->inside)
        text_guard(text, d->out);
    else
        buf_add(d->out, text);
}

int show_finish(struct drawing *d)
{
    struct span text = buf_span(d->out);
    while (text.n > d->base && text.p[text.n - 1] == '\n')
        text.n--;
    buf_cut(d->out, text.n);
    buf_addc(d->out, '\n');
    return buf_full(d->out) ? -1 : 0;
}

void show_open(struct drawing *d, struct span id)
{
    d->open[d->nopen++] = id;
}

void show_close(struct drawing *d)
{
    d->nopen--;
}

void show_also(struct drawing *d, const char *text)
{
    if (*text)
        buf_printf(d->out, " · %s", text);
}

void show_when(struct drawing *d, int64_t us)
{
    struct buf when;
    buf_init(&when, 64);
    time_print_minute(us, &when);
    if (when.n)
        buf_printf(d->out, " — %s", buf_cstr(&when));
    buf_free(&when);
}

void show_second(struct span time, struct buf *out)
{
    struct buf line;
    struct span cut = text_cut(time, 19);
    buf_init(&line, 128);
    for (size_t i = 0; i < cut.n; i++)
        buf_addc(&line, cut.p[i] == 'T' ? ' ' : cut.p[i]);
    text_line(buf_span(&line), out);
    buf_free(&line);
}

bool show_times(struct drawing *d, struct span started, struct span completed)
{
    struct buf start, end;
    buf_init(&start, 128);
    buf_init(&end, 128);
    show_second(started, &start);
    show_second(completed, &end);
    bool shown = start.n && end.n && !span_is(buf_span(&start), buf_cstr(&end));
    if (shown)
        buf_printf(d->out, " — %s → %s", buf_cstr(&start), buf_cstr(&end));
    buf_free(&start);
    buf_free(&end);
    return shown;
}

void show_reference(struct drawing *d, struct span headline, size_t record, unsigned turn)
{
    const struct record *r = record == NO_RECORD ? NULL : &d->t->records[record];
    show_part(d);
    buf_adds(d->out, "(subagent ");
    text_head(text_is_blank(headline) ? SPAN_LIT("untitled") : headline, d->out);
    if (r)
        turn = r->turn;
    if (turn)
        buf_printf(d->out, ": recorded under turn %u)", turn);
    else
        buf_adds(d->out, r ? ": recorded under the background tasks)" : ")");
}
