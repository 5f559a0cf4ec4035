/* Tables: cells that span, cells that go on from above, rows that were deleted. */
#include <stdlib.h>

#include "attachments/word.h"

enum { COLUMNS = 63 }; /* as many as Word itself makes */

static unsigned count(const struct xml_node *node, unsigned most)
{
    const char *value = xml_get(node, "val");
    unsigned long n = value ? strtoul(value, NULL, 10) : 1;
    return n > most ? most : (unsigned)n;
}

/* Whether a merge property says that this cell goes on from the one before it. */
static bool goes_on(const struct xml_node *merge)
{
    const char *value = xml_get(merge, "val");
    return merge && !(value && !strcmp(value, "restart"));
}

/* The next cell of a row's children; content controls around cells are looked through. */
static int cells(struct word *w, const struct xml_node *row, unsigned columns)
{
    for (const struct xml_node *c = row ? row->first : NULL; c; c = c->next) {
        if (!c->name || word_is_gone(c))
            continue;
        if (strcmp(c->name, "tc") != 0) {
            const struct xml_node *deeper = !strcmp(c->name, "sdt") ? xml_at(c, "sdtContent") : c;
            if (strcmp(c->name, "trPr") != 0 && strcmp(c->name, "tblPrEx") != 0 && cells(w, deeper, columns))
                return -1;
            continue;
        }
        const struct xml_node *tcPr = xml_at(c, "tcPr");
        unsigned wide = count(xml_at(tcPr, "gridSpan"), columns);
        if (xml_at(tcPr, "cellDel") || goes_on(xml_at(tcPr, "hMerge")))
            continue;
        for (const struct xml_node *next = c->next;
             next && goes_on(xml_at(next, "tcPr/hMerge")) && wide < columns; next = next->next)
            wide++;
        if (goes_on(xml_at(tcPr, "vMerge"))) {
            markup_cell_above(w->m, wide);
            continue;
        }
        markup_cell(w->m, wide, 1);
        int answer = word_flow(w, c);
        markup_cell_end(w->m);
        if (answer)
            return -1;
    }
    return 0;
}

static int rows(struct word *w, const struct xml_node *node, unsigned columns)
{
    for (const struct xml_node *c = node ? node->first : NULL; c; c = c->next) {
        if (!c->name || word_is_gone(c))
            continue;
        if (strcmp(c->name, "tr") != 0) {
            const struct xml_node *deeper = !strcmp(c->name, "sdt") ? xml_at(c, "sdtContent") : c;
            if (strcmp(c->name, "tblPr") != 0 && strcmp(c->name, "tblGrid") != 0 && rows(w, deeper, columns))
                return -1;
            continue;
        }
        const struct xml_node *trPr = xml_at(c, "trPr");
        if (xml_at(trPr, "del") || word_switch(xml_at(trPr, "hidden")) == 1)
            continue;
        markup_row(w->m);
        unsigned before = xml_at(trPr, "gridBefore") ? count(xml_at(trPr, "gridBefore"), columns) : 0;
        if (before) {
            markup_cell(w->m, before, 1);
            markup_cell_end(w->m);
        }
        int answer = cells(w, c, columns);
        w->flow.head = false;
        if (answer)
            return -1;
    }
    return 0;
}

int word_table(struct word *w, const struct xml_node *node)
{
    unsigned columns = 0;
    const struct xml_node *grid = xml_at(node, "tblGrid");
    for (const struct xml_node *c = grid ? grid->first : NULL; c && columns < COLUMNS; c = c->next)
        columns += xml_is(c, "gridCol");
    struct word_flow around = w->flow;
    const char *style = xml_get(xml_at(node, "tblPr/tblStyle"), "val");
    w->flow.table = style ? word_style_find(&w->styles, style) : around.table;
    w->flow.head = true;
    markup_table(w->m);
    int answer = rows(w, node, columns ? columns : COLUMNS);
    markup_table_end(w->m);
    w->flow.table = around.table;
    w->flow.head = around.head;
    return answer;
}
