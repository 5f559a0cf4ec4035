/* Tables (9): rows and cells that are repeated, cells that span and those that are covered. */
#include <stdlib.h>

#include "attachments/odt.h"

static unsigned times(const struct xml_node *node, const char *attribute, unsigned most)
{
    const char *value = xml_get(node, attribute);
    unsigned long n = value ? strtoul(value, NULL, 10) : 1;
    return n == 0 ? 1 : n > most ? most : (unsigned)n;
}

static bool says_something(const struct xml_node *row)
{
    struct buf text;
    buf_init(&text, EXTRACT_TEXT);
    xml_text(row, &text);
    bool says = text.n > 0;
    buf_free(&text);
    return says;
}

static int row(struct odt *o, const struct xml_node *tr)
{
    markup_row(o->m);
    for (const struct xml_node *c = tr->first; c; c = c->next) {
        if (!xml_is(c, "table-cell"))
            continue; /* covered cells have the text of what covers them */
        unsigned n = times(c, "number-columns-repeated", MARKUP_SPAN);
        for (unsigned i = 0; i < n && !markup_stopped(o->m); i++) {
            markup_cell(o->m, times(c, "number-columns-spanned", MARKUP_SPAN),
                        times(c, "number-rows-spanned", 1000000));
            int answer = odt_flow(o, c);
            markup_cell_end(o->m);
            if (answer)
                return -1;
        }
    }
    return 0;
}

static int rows(struct odt *o, const struct xml_node *node)
{
    for (const struct xml_node *c = node->first; c; c = c->next) {
        if (xml_is(c, "table-row")) {
            unsigned n = times(c, "number-rows-repeated", ODT_REPEATS + 1);
            if (n > ODT_REPEATS && says_something(c))
                return extraction_fail(o->x, RENDER_LIMIT, "repeats a row with text more than %d times.",
                                       ODT_REPEATS);
            if (n > ODT_REPEATS)
                continue; /* empty to the end of the sheet */
            for (unsigned i = 0; i < n && !markup_stopped(o->m); i++)
                if (row(o, c))
                    return -1;
        } else if ((xml_is(c, "table-header-rows") || xml_is(c, "table-rows") ||
                    xml_is(c, "table-row-group")) &&
                   rows(o, c))
            return -1;
    }
    return o->x->status == RENDER_OK ? 0 : -1;
}

int odt_table(struct odt *o, const struct xml_node *table)
{
    markup_table(o->m);
    int answer = rows(o, table);
    markup_table_end(o->m);
    return answer;
}
