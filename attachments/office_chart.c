#include "attachments/office_chart.h"

#include <stdlib.h>

#include "attachments/office_number.h"
#include "base/xalloc.h"

enum { SERIES = 256, POINTS = 50000 };

/* Points of a series in order: stored ones may leave some out. */
struct points {
    const struct xml_node *cache, *next; /* the next c:pt */
    enum office_number as;
};

struct series {
    const struct xml_node *node;
    struct points category, value;
};

static unsigned long index_of(const struct xml_node *point)
{
    const char *index = xml_get(point, "idx");
    return index ? strtoul(index, NULL, 10) : 0;
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
    if (code && code->first)
        p.as = office_number_of_code(code->first->text);
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
    while (p->next && (!xml_is(p->next, "pt") || index_of(p->next) < row))
        p->next = p->next->next;
    if (p->next && index_of(p->next) == row) {
        struct buf stored;
        buf_init(&stored, EXTRACT_TEXT);
        xml_text(xml_at(p->next, "v"), &stored);
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

static size_t collect(const struct xml_node *plot, struct series list[SERIES])
{
    size_t n = 0;
    for (const struct xml_node *kind = plot ? plot->first : NULL; kind; kind = kind->next)
        for (const struct xml_node *ser = kind->first; ser && n < SERIES; ser = ser->next) {
            if (!xml_is(ser, "ser"))
                continue;
            const struct xml_node *x = xml_at(ser, "cat"), *y = xml_at(ser, "val");
            list[n].node = ser;
            list[n].category = points_of(x ? x : xml_at(ser, "xVal"));
            list[n++].value = points_of(y ? y : xml_at(ser, "yVal"));
        }
    return n;
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
    for (struct series *s = first; s < end; s++)
        rows = last_index(&s->value) > rows ? last_index(&s->value) : rows;
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
        for (struct series *s = first; s < end; s++)
            point(m, &s->value, row, from_1904, &text);
    }
    markup_table_end(m);
    buf_free(&text);
    return 0;
}

static int write(const struct xml_node *root, struct markup *m, struct extraction *x)
{
    const struct xml_node *chart = xml_at(root, "chart");
    const char *date1904 = xml_get(xml_at(root, "date1904"), "val");
    bool from_1904 = xml_at(root, "date1904") && !(date1904 && (*date1904 == '0' || *date1904 == 'f'));
    struct series *list = xcalloc(SERIES, sizeof *list);
    size_t n = collect(xml_at(chart, "plotArea"), list);
    struct buf title;
    buf_init(&title, EXTRACT_TEXT);
    words(xml_at(chart, "title/tx"), &title);
    if (title.n == 0 && !chart) /* the newer kind, whose data is only in the workbook */
        words(xml_find(root, "tx"), &title);
    if (title.n == 0 && n == 1)
        words(xml_at(list[0].node, "tx"), &title);
    markup_begin(m, MARKUP_HEADING, 3);
    markup_text(m, title.n ? SPAN_LIT("Chart: ") : SPAN_LIT("Chart"), 0);
    markup_text(m, buf_span(&title), 0);
    markup_end(m);
    buf_free(&title);
    int answer = 0;
    for (size_t i = 0, end; i < n && answer == 0; i = end) {
        for (end = i + 1; end < n && same_points(&list[i].category, &list[end].category); end++)
            ;
        answer = table(m, &list[i], &list[end], from_1904, x);
    }
    xfree(list);
    return answer;
}

int office_chart_write(struct archive *a, const char *part, struct markup *m)
{
    struct arena memory = {0};
    struct xml_node *root;
    int answer = xml_tree_part(a, part, &memory, &root);
    if (answer == 0)
        answer = write(root, m, archive_extraction(a));
    arena_free(&memory);
    return answer;
}
