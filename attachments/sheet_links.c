/* Where cells lead to: hyperlinks of a sheet (18.3.1.47) and those that formulas make. */
#include "attachments/sheet.h"

enum { STEPS = 20000000 /* cells looked at for links of whole ranges */ };

static int too_many(struct sheet *s)
{
    return extraction_fail(s->book->x, RENDER_LIMIT, "has more than %d links in one sheet.", SHEET_LINKS);
}

static int add(struct sheet *s, struct sheet_link link, struct span shown)
{
    link.n = (uint32_t)s->text.n - link.at;
    link.shown = (uint32_t)shown.n;
    buf_add(&s->text, shown);
    if (buf_full(&s->text))
        return extraction_fail(s->book->x, RENDER_LIMIT, "has too much text in its cells; split it.");
    return link.n && buf_addn(&s->links, &link, sizeof link) ? too_many(s) : 0;
}

int sheet_link(struct sheet *s, const char *const *attributes)
{
    const char *reference = xml_attribute(attributes, "ref"), *place = xml_attribute(attributes, "location"),
               *shown = xml_attribute(attributes, "display");
    const struct office_relation *to = office_relation_by_id(s->relations, xml_attribute(attributes, "id"));
    struct sheet_merge range;
    if (!reference || sheet_range(reference, &range))
        return extraction_fail(s->book->x, RENDER_INVALID, "names a cell that cannot be: %s.",
                               extraction_name(span_str(reference ? reference : "")).text);
    struct sheet_link link = {.first_row = range.first_row,
                              .last_row = range.last_row,
                              .first_column = range.first_column,
                              .last_column = range.last_column,
                              .at = (uint32_t)s->text.n};
    if (to)
        buf_adds(&s->text, to->external ? to->target : office_base_name(to->target));
    if (place && *place && !(to && strchr(to->target, '#')))
        buf_printf(&s->text, "#%s", place);
    return add(s, link, span_str(shown ? shown : ""));
}

int sheet_link_of_formula(struct sheet *s, struct span formula, uint32_t row, uint16_t column)
{
    struct sheet_link link = {row, row, column, column, (uint32_t)s->text.n, 0, 0};
    struct span rest = formula;
    if (rest.n < 12 || !span_is_nocase(span_of(rest.p, 11), "HYPERLINK(\""))
        return 0;
    for (rest = span_from(rest, 11); rest.n; rest = span_from(rest, 1)) {
        if (rest.p[0] == '"' && !(rest.n > 1 && rest.p[1] == '"'))
            break;
        if (rest.p[0] == '"')
            rest = span_from(rest, 1);
        buf_addc(&s->text, rest.p[0]);
    }
    /* A text that goes on with `&` is only a part of the address. */
    if (rest.n < 2 || !strchr(",)", rest.p[1])) {
        buf_cut(&s->text, link.at);
        return 0;
    }
    return add(s, link, SPAN_LIT(""));
}

/* The first cell at the place or behind it. */
static size_t from(const struct sheet_cell *cells, size_t n, uint32_t row, uint16_t column)
{
    size_t low = 0, high = n;
    while (low < high) {
        size_t middle = (low + high) / 2;
        const struct sheet_cell *c = &cells[middle];
        if (c->row < row || (c->row == row && c->column < column))
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

int sheet_links_set(struct sheet *s)
{
    size_t n = s->cells.n / sizeof(struct sheet_cell), steps = 0;
    for (size_t i = 0; i < s->links.n / sizeof(struct sheet_link); i++) {
        const struct sheet_link *l = (const struct sheet_link *)(const void *)buf_span(&s->links).p + i;
        struct sheet_cell *cells = n ? (struct sheet_cell *)(void *)(s->cells.data + s->cells.start) : NULL;
        bool said = false;
        for (size_t k = from(cells, n, l->first_row, l->first_column); k < n && cells[k].row <= l->last_row;
             k++) {
            if (++steps > STEPS)
                return too_many(s);
            if (cells[k].column < l->first_column || cells[k].column > l->last_column)
                continue;
            cells[k].link = (uint32_t)i + 1;
            said = true;
        }
        struct sheet_cell own = {.row = l->first_row,
                                 .column = l->first_column,
                                 .at = l->shown ? l->at + l->n : l->at,
                                 .n = l->shown ? l->shown : l->n,
                                 .link = (uint32_t)i + 1};
        if (said)
            continue;
        s->sorted = false;
        if (buf_addn(&s->cells, &own, sizeof own))
            return extraction_fail(s->book->x, RENDER_LIMIT,
                                   "has more than %d cells with something in them; split it.", SHEET_CELLS);
    }
    return 0;
}

struct span sheet_link_target(const struct sheet *s, const struct sheet_cell *cell)
{
    if (!cell->link)
        return SPAN_LIT("");
    const struct sheet_link *l =
        (const struct sheet_link *)(const void *)buf_span(&s->links).p + cell->link - 1;
    return span_of(s->text.data + s->text.start + l->at, l->n);
}
