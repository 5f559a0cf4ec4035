/* Tables of a slide (21.1.3): cells that span, and those that are covered. */
#include <stdlib.h>

#include "attachments/slide.h"

static unsigned span_of_cell(const struct xml_node *cell, const char *attribute)
{
    const char *value = xml_get(cell, attribute);
    unsigned long n = value ? strtoul(value, NULL, 10) : 1;
    return n == 0 ? 1 : n > MARKUP_SPAN ? MARKUP_SPAN : (unsigned)n;
}

static bool is_set(const struct xml_node *cell, const char *attribute)
{
    const char *value = xml_get(cell, attribute);
    return value && (!strcmp(value, "1") || !strcmp(value, "true"));
}

void slide_table(struct slide *s, const struct xml_node *table)
{
    markup_table(s->m);
    for (const struct xml_node *tr = table->first; tr && !markup_stopped(s->m); tr = tr->next) {
        if (!xml_is(tr, "tr"))
            continue;
        markup_row(s->m);
        for (const struct xml_node *tc = tr->first; tc; tc = tc->next) {
            if (!xml_is(tc, "tc") || is_set(tc, "hMerge") || is_set(tc, "vMerge"))
                continue;
            markup_cell(s->m, span_of_cell(tc, "gridSpan"), span_of_cell(tc, "rowSpan"));
            slide_text(s, xml_at(tc, "txBody"), SLIDE_PLAIN);
            markup_cell_end(s->m);
        }
    }
    markup_table_end(s->m);
}
