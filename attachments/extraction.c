#include "attachments/extraction.h"

#include <stdarg.h>
#include <stdio.h>

void extraction_init(struct extraction *x, char sentence[RENDER_SENTENCE], uint64_t max_nodes)
{
    *x = (struct extraction){.status = RENDER_OK, .sentence = sentence, .max_nodes = max_nodes};
}

int extraction_fail(struct extraction *x, enum render_status status, const char *format, ...)
{
    if (x->status != RENDER_OK)
        return -1;
    va_list list;
    va_start(list, format);
    vsnprintf(x->sentence, RENDER_SENTENCE, format, list);
    va_end(list);
    x->status = status;
    return -1;
}

struct extraction_name extraction_name(struct span name)
{
    struct extraction_name s;
    size_t n = name.n < 60 ? name.n : 57;
    for (size_t i = 0; i < n; i++)
        s.text[i] = (char)(name.p[i] >= ' ' && name.p[i] < 0x7f ? name.p[i] : '?');
    memcpy(s.text + n, n < name.n ? "..." : "", n < name.n ? 4 : 1);
    return s;
}
