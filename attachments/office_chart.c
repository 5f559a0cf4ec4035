#include "attachments/office_chart.h"

#include <stdio.h>
#include <stdlib.h>

#include "attachments/office_number.h"
#include "attachments/office_package.h"
#include "base/xalloc.h"

enum {
    SERIES = 256,
    POINTS = 50000,
    LEVELS = 8 /* of categories: the months of years; deeper ones are not known to any program */
};

/* Points of a series in order: stored ones may leave some out. */
struct points {
    const struct xml_node *cache, *next; /* the next c:pt */
    enum office_number as;
    struct level {
        const struct xml_node *at, *next; /* the point that goes on, the one that follows */
    } outer[LEVELS];                      /* of categories, from the inside */
    unsigned n_outer;
};

struct series {
    const struct xml_node *node;
    struct points category, value, size; /* size: of bubbles */
};

static unsigned long index_of(const struct xml_node *point)
{
    const char *index = xml_get(point, "idx");
    return index ? strtoul(index, NULL, 10) : 0;
}

static const struct xml_node *next_point(const struct xml_node *node)
{
    while (node && !xml_is(node, "pt"))
        node = node->next;
    return node;
}

/* What holds the points below c:cat, c:val, c:xVal …: strCache, numCache, strLit, numLit, or the innermost
 * level of several. */
static struct points points_of(const struct xml_node *holder)
{
    static const char *const caches[] = {"numCache", "strCache", "numLit", "strLit", "lvl"};
    struct points p = {0};
    for (size_t i = 0; holder && !p.cache && i < sizeof caches / sizeof caches[0]; i++)
        p.cache = xml_find(holder, caches[i]);
    if (!p.cache)
        return p;
    p.next = xml_at(p.cache, "pt");
    const struct xml_node *code = xml_at(p.cache, "formatCode");
    const char *own = xml_get(p.cache, "formatCode"); /* of the newer kind */
    if (code && code->first)
        p.as = office_number_of_code(code->first->text);
    else if (own)
        p.as = office_number_of_code(span_str(own));
    for (const struct xml_node *outer = xml_is(p.cache, "lvl") ? p.cache->next : NULL;
         outer && p.n_outer < LEVELS; outer = outer->next)
        if (xml_is(outer, "lvl"))
            p.outer[p.n_outer++].next = xml_at(outer, "pt");
    return p;
}

static unsigned long last_index(const struct points *p)
{
    unsigned long rows = 0;
    for (const struct xml_node *pt = p->next; pt; pt = pt->next)
        if (xml_is(pt, "pt") && index_of(pt) + 1 > rows)
            rows = index_of(pt) + 1;
    return rows;
}

static void cell(struct markup *m, struct span text)
{
    markup_cell(m, 1, 1);
    markup_text(m, text, 0);
    markup_cell_end(m);
}

/* The cell of a row, if there is a point for it. */
static void point(struct markup *m, struct points *p, unsigned long row, bool from_1904, struct buf *text)
{
    buf_reset(text);
    for (unsigned i = p->n_outer; i > 0; i--) {
        struct level *level = &p->outer[i - 1];
        for (; level->next && index_of(level->next) <= row; level->next = next_point(level->next->next))
            level->at = level->next;
        if (!level->at)
            continue;
        xml_text(xml_at(level->at, "v") ? xml_at(level->at, "v") : level->at, text);
        buf_adds(text, " / ");
    }
    while (p->next && (!xml_is(p->next, "pt") || index_of(p->next) < row))
        p->next = p->next->next;
    if (p->next && index_of(p->next) == row) {
        struct buf stored;
        buf_init(&stored, EXTRACT_TEXT);
        xml_text(xml_at(p->next, "v") ? xml_at(p->next, "v") : p->next, &stored);
        office_number_write_text(text, buf_span(&stored), p->as, from_1904);
        buf_free(&stored);
    }
    cell(m, buf_span(text));
}

/* Rich text or the stored text of a reference. */
static void words(const struct xml_node *tx, struct buf *out)
{
    buf_reset(out);
    const struct xml_node *rich = xml_at(tx, "rich");
    if (!rich) {
        xml_text(xml_find(tx, "v"), out);
        return;
    }
    for (const struct xml_node *p = rich->first; p; p = p->next) {
        if (!xml_is(p, "p"))
            continue;
        if (out->n)
            buf_addc(out, ' ');
        for (const struct xml_node *r = p->first; r; r = r->next)
            xml_text(xml_at(r, "t"), out);
    }
}

/* -1: too many of them. */
static int collect(const struct xml_node *plot, struct series list[SERIES], size_t *n, struct extraction *x)
{
    for (const struct xml_node *kind = plot ? plot->first : NULL; kind; kind = kind->next)
        for (const struct xml_node *ser = kind->first; ser; ser = ser->next) {
            if (!xml_is(ser, "ser"))
                continue;
            if (*n == SERIES)
                return extraction_fail(x, RENDER_LIMIT, "has a chart of more than %d series.", SERIES);
            const struct xml_node *across = xml_at(ser, "cat"), *up = xml_at(ser, "val");
            list[(*n)++] = (struct series){.node = ser,
                                           .category = points_of(across ? across : xml_at(ser, "xVal")),
                                           .value = points_of(up ? up : xml_at(ser, "yVal")),
                                           .size = points_of(xml_at(ser, "bubbleSize"))};
        }
    return 0;
}

/* The newer kind (waterfall, tree map, funnel …) keeps its data apart from the series that show it. */
static int collect_newer(const struct xml_node *root, struct series list[SERIES], size_t *n,
                         struct extraction *x)
{
    const struct xml_node *region = xml_at(root, "chart/plotArea/plotAreaRegion");
    for (const struct xml_node *ser = region ? region->first : NULL; ser; ser = ser->next) {
        const char *id = xml_is(ser, "series") ? xml_get(xml_at(ser, "dataId"), "val") : NULL, *own = NULL;
        const struct xml_node *data = id ? xml_at(root, "chartData/data") : NULL;
        while (data && !(xml_is(data, "data") && (own = xml_get(data, "id")) && !strcmp(own, id)))
            data = data->next;
        if (!data)
            continue;
        if (*n == SERIES)
            return extraction_fail(x, RENDER_LIMIT, "has a chart of more than %d series.", SERIES);
        list[(*n)++] = (struct series){.node = ser,
                                       .category = points_of(xml_at(data, "strDim")),
                                       .value = points_of(xml_at(data, "numDim"))};
    }
    return 0;
}

/* Whether two series have the same categories, so that they can share the table's first column. */
static bool same_points(const struct points *a, const struct points *b)
{
    struct buf x, y;
    buf_init(&x, EXTRACT_TEXT);
    buf_init(&y, EXTRACT_TEXT);
    xml_text(a->cache, &x);
    xml_text(b->cache, &y);
    bool same = !b->cache || a->cache == b->cache || (x.n == y.n && !memcmp(x.data, y.data, x.n));
    buf_free(&x);
    buf_free(&y);
    return same;
}

/* Series [first, end) in one table. */
static int table(struct markup *m, struct series *first, struct series *end, bool from_1904,
                 struct extraction *x)
{
    unsigned long rows = last_index(&first->category);
    for (struct series *s = first; s < end; s++) {
        rows = last_index(&s->value) > rows ? last_index(&s->value) : rows;
        rows = last_index(&s->size) > rows ? last_index(&s->size) : rows;
    }
    if (rows > POINTS)
        return extraction_fail(x, RENDER_LIMIT, "has a chart of more than %d points.", POINTS);
    struct buf text;
    buf_init(&text, EXTRACT_TEXT);
    markup_table(m);
    markup_row(m);
    cell(m, SPAN_LIT("Category"));
    for (struct series *s = first; s < end; s++) {
        words(xml_at(s->node, "tx"), &text);
        cell(m, buf_span(&text));
        buf_adds(&text, text.n ? " (size)" : "size");
        if (s->size.cache)
            cell(m, buf_span(&text));
    }
    for (unsigned long row = 0; row < rows && !markup_stopped(m); row++) {
        struct points none = first->category;
        markup_row(m);
        if (none.cache)
            point(m, &first->category, row, from_1904, &text);
        else {
            buf_reset(&text);
            buf_printf(&text, "%lu", row + 1);
            cell(m, buf_span(&text));
        }
        for (struct series *s = first; s < end; s++) {
            point(m, &s->value, row, from_1904, &text);
            if (s->size.cache)
                point(m, &s->size, row, from_1904, &text);
        }
    }
    markup_table_end(m);
    buf_free(&text);
    return 0;
}

/* What stands along the axes. */
static void axes(const struct xml_node *plot, struct markup *m)
{
    bool said = false;
    struct buf title;
    buf_init(&title, EXTRACT_TEXT);
    for (const struct xml_node *axis = plot ? plot->first : NULL; axis; axis = axis->next) {
        buf_reset(&title);
        if (axis->name)
            words(xml_at(axis, "title/tx"), &title);
        if (title.n == 0)
            continue;
        if (!said)
            markup_begin(m, MARKUP_PARAGRAPH, 0);
        markup_text(m, said ? SPAN_LIT("; ") : SPAN_LIT("Axes: "), 0);
        markup_text(m, buf_span(&title), 0);
        said = true;
    }
    if (said)
        markup_end(m);
    buf_free(&title);
}

/* Labels whose text somebody wrote, where others show a value. */
static void labels(const struct xml_node *series, struct markup *m)
{
    const struct xml_node *all = xml_at(series, "dLbls");
    struct buf text;
    buf_init(&text, EXTRACT_TEXT);
    for (const struct xml_node *label = all ? all->first : NULL; label; label = label->next) {
        buf_reset(&text);
        const char *index = xml_is(label, "dLbl") ? xml_get(xml_at(label, "idx"), "val") : NULL;
        if (index && xml_at(label, "tx/rich"))
            words(xml_at(label, "tx"), &text);
        if (text.n == 0)
            continue;
        markup_item(m, "-");
        markup_text(m, SPAN_LIT("Label of row "), 0);
        char row[24];
        int n = snprintf(row, sizeof row, "%lu: ", strtoul(index, NULL, 10) + 1);
        markup_text(m, span_of(row, (size_t)n), 0);
        markup_text(m, buf_span(&text), 0);
        markup_leave(m);
    }
    buf_free(&text);
}

static int write(const struct xml_node *root, struct markup *m, struct extraction *x)
{
    const struct xml_node *chart = xml_at(root, "chart");
    const char *date1904 = xml_get(xml_at(root, "date1904"), "val");
    bool from_1904 = xml_at(root, "date1904") && !(date1904 && (*date1904 == '0' || *date1904 == 'f'));
    struct series *list = xcalloc(SERIES, sizeof *list);
    size_t n = 0;
    int answer = collect(xml_at(chart, "plotArea"), list, &n, x) || collect_newer(root, list, &n, x) ? -1 : 0;
    struct buf title;
    buf_init(&title, EXTRACT_TEXT);
    words(xml_at(chart, "title/tx"), &title);
    if (title.n == 0 && n == 1)
        words(xml_at(list[0].node, "tx"), &title);
    markup_begin(m, MARKUP_HEADING, 3);
    markup_text(m, title.n ? SPAN_LIT("Chart: ") : SPAN_LIT("Chart"), 0);
    markup_text(m, buf_span(&title), 0);
    markup_end(m);
    buf_free(&title);
    axes(xml_at(chart, "plotArea"), m);
    for (size_t i = 0, end; i < n && answer == 0; i = end) {
        for (end = i + 1; end < n && same_points(&list[i].category, &list[end].category); end++)
            ;
        answer = table(m, &list[i], &list[end], from_1904, x);
    }
    for (size_t i = 0; i < n && answer == 0; i++)
        labels(list[i].node, m);
    if (n == 0 && answer == 0)
        markup_line(m, "(Its data is not stored with it.)");
    xfree(list);
    return answer;
}

/* Text boxes that were drawn into the chart. */
static void boxes(const struct xml_node *node, struct markup *m)
{
    struct buf text;
    buf_init(&text, EXTRACT_TEXT);
    for (const struct xml_node *c = node->first; c; c = c->next) {
        if (!c->name)
            continue;
        if (strcmp(c->name, "p") != 0) {
            boxes(c, m);
            continue;
        }
        buf_reset(&text);
        for (const struct xml_node *r = c->first; r; r = r->next)
            xml_text(xml_at(r, "t"), &text);
        markup_begin(m, MARKUP_PARAGRAPH, 0);
        markup_text(m, buf_span(&text), 0);
        markup_end(m);
    }
    buf_free(&text);
}

static int drawn_into(struct archive *a, const char *part, struct arena *memory, struct markup *m)
{
    struct office_relations relations;
    struct xml_node *root;
    if (office_relations_read(a, part, memory, &relations))
        return -1;
    const struct office_relation *shapes = office_relation_by_type(&relations, "chartUserShapes");
    if (!shapes || !archive_find(a, shapes->target))
        return 0;
    if (xml_tree_part(a, shapes->target, memory, &root))
        return -1;
    boxes(root, m);
    return 0;
}

int office_chart_write(struct archive *a, const char *part, struct markup *m)
{
    struct arena memory = {0};
    struct xml_node *root;
    int answer = xml_tree_part(a, part, &memory, &root);
    if (answer == 0)
        answer = write(root, m, archive_extraction(a));
    if (answer == 0)
        answer = drawn_into(a, part, &memory, m);
    arena_free(&memory);
    return answer;
}
