#include "attachments/parts.h"

#include "attachments/sniff.h"

static const char head[] = "penstock-parts 1\n";

void parts_begin(struct buf *out)
{
    buf_adds(out, head);
}

void parts_add(const char *media_type, struct span bytes, struct buf *out)
{
    buf_printf(out, "%s %zu\n", media_type, bytes.n);
    buf_add(out, bytes);
}

/* The number up to the line's end, of at most nine digits. -1: there is none. */
static int read_size(struct span *rest, size_t *n)
{
    size_t digits = 0;
    *n = 0;
    for (; digits < rest->n && digits < 9 && rest->p[digits] >= '0' && rest->p[digits] <= '9'; digits++)
        *n = *n * 10 + (size_t)(rest->p[digits] - '0');
    if (digits == 0 || digits == rest->n || rest->p[digits] != '\n')
        return -1;
    *rest = span_from(*rest, digits + 1);
    return 0;
}

/* What there may be; 0 is text. */
static const char *const types[] = {"text/markdown", "image/jpeg", "audio/mpeg"};

static int read_part(struct span *rest, struct part *out)
{
    size_t n, kind = 0, kinds = sizeof types / sizeof types[0];
    while (kind < kinds && !(span_starts(*rest, types[kind]) && rest->n > strlen(types[kind]) &&
                             rest->p[strlen(types[kind])] == ' '))
        kind++;
    if (kind == kinds)
        return -1;
    *rest = span_from(*rest, strlen(types[kind]) + 1);
    if (read_size(rest, &n) || n == 0 || n > rest->n)
        return -1;
    *out = (struct part){
        .picture = kind == 1, .sound = kind == 2, .media_type = types[kind], .bytes = span_of(rest->p, n)};
    *rest = span_from(*rest, n);
    if (kind == 0)
        return sniff_is_text(out->bytes) ? 0 : -1;
    return strcmp(sniff_media(out->bytes, span_of("", 0)).type, types[kind]) == 0 ? 0 : -1;
}

int parts_read(struct span all, struct part out[PARTS_MOST])
{
    int n = 0, sounds = 0;
    if (!span_starts(all, head))
        return -1;
    for (struct span rest = span_from(all, sizeof head - 1); rest.n; n++)
        if (n == PARTS_MOST || read_part(&rest, &out[n]) || (sounds += out[n].sound) > 1)
            return -1;
    return n;
}
