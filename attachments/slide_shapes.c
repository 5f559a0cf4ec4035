/* The shapes of a slide in the order in which they are read: placeholders have their places from the layout.
 */
#include <stdlib.h>

#include "attachments/office_chart.h"
#include "attachments/office_diagram.h"
#include "attachments/slide.h"
#include "base/xalloc.h"

struct shape {
    const struct xml_node *node;
    const char *placeholder; /* NULL: none */
    int64_t x, y;            /* of its upper left corner, in EMU (914400 an inch) */
    size_t order;            /* in the file, which is also from back to front */
};

struct shapes {
    struct slide *slide;
    struct shape *list;
    size_t n;
    unsigned hidden; /* that are left out */
};

/* How a group's own coordinates become the slide's (20.1.7.5): x' = (x - from) * size / own + to. */
struct frame {
    double x, y, wide, high;
};

static const struct xml_node *properties(const struct xml_node *shape)
{
    for (const struct xml_node *c = shape->first; c; c = c->next)
        if (c->name && !strncmp(c->name, "nv", 2))
            return c;
    return NULL;
}

static const struct xml_node *placeholder_of(const struct xml_node *shape)
{
    return xml_at(properties(shape), "nvPr/ph");
}

const char *slide_placeholder(const struct xml_node *shape)
{
    const struct xml_node *ph = placeholder_of(shape);
    const char *type = xml_get(ph, "type");
    return !ph ? NULL : type ? type : "obj";
}

static const struct xml_node *transform(const struct xml_node *shape)
{
    const struct xml_node *own = xml_at(shape, "spPr/xfrm");
    return own ? own : xml_at(shape, "xfrm");
}

static bool is_same(const char *a, const char *b)
{
    return (!a && !b) || (a && b && !strcmp(a, b));
}

/* What a placeholder's layout or master says of the one it stands for: by index, else by type (19.3.1.36). */
static const struct xml_node *counterpart(const struct xml_node *root, const struct xml_node *ph)
{
    const struct xml_node *tree = xml_at(root, "cSld/spTree"), *by_type = NULL;
    const char *index = xml_get(ph, "idx"), *type = xml_get(ph, "type");
    for (const struct xml_node *c = tree ? tree->first : NULL; c; c = c->next) {
        const struct xml_node *other = c->name ? placeholder_of(c) : NULL;
        if (!other || !transform(c))
            continue;
        if (index && is_same(xml_get(other, "idx"), index))
            return c;
        if (!by_type && is_same(xml_get(other, "type"), type))
            by_type = c;
    }
    return by_type;
}

static const struct xml_node *find_transform(const struct slide *s, const struct xml_node *shape)
{
    const struct xml_node *own = transform(shape), *ph = placeholder_of(shape), *other = NULL;
    if (own || !ph)
        return own;
    other = counterpart(s->layout, ph);
    if (!other)
        other = counterpart(s->master, ph);
    return other ? transform(other) : NULL;
}

static double number(const struct xml_node *node, const char *attribute, double otherwise)
{
    const char *value = xml_get(node, attribute);
    double n = value ? strtod(value, NULL) : otherwise;
    return n > -1e15 && n < 1e15 ? n : otherwise;
}

static struct frame inside(struct frame around, const struct xml_node *group)
{
    const struct xml_node *xfrm = xml_at(group, "grpSpPr/xfrm"), *off = xml_at(xfrm, "off"),
                          *ext = xml_at(xfrm, "ext"), *own = xml_at(xfrm, "chOff"),
                          *size = xml_at(xfrm, "chExt");
    double across = number(size, "cx", 0), down = number(size, "cy", 0);
    double wide = across > 0 ? number(ext, "cx", across) / across : 1,
           high = down > 0 ? number(ext, "cy", down) / down : 1;
    return (struct frame){.x = around.x + around.wide * (number(off, "x", 0) - number(own, "x", 0) * wide),
                          .y = around.y + around.high * (number(off, "y", 0) - number(own, "y", 0) * high),
                          .wide = around.wide * wide,
                          .high = around.high * high};
}

static int64_t whole(double n)
{
    return n > 1e15 ? (int64_t)1e15 : n > -1e15 ? (int64_t)n : -(int64_t)1e15;
}

static bool is_hidden(const struct xml_node *shape)
{
    const char *value = xml_get(xml_at(properties(shape), "cNvPr"), "hidden");
    return value && (!strcmp(value, "1") || !strcmp(value, "true"));
}

static int collect(struct shapes *all, const struct xml_node *tree, struct frame f, unsigned depth);

static int add(struct shapes *all, const struct xml_node *node, struct frame f, unsigned depth)
{
    if (!strcmp(node->name, "AlternateContent")) {
        const struct xml_node *choice = xml_at(node, "Choice");
        return collect(all, choice ? choice : xml_at(node, "Fallback"), f, depth);
    }
    if (!strcmp(node->name, "grpSp"))
        return is_hidden(node) ? (all->hidden++, 0) : collect(all, node, inside(f, node), depth + 1);
    if (strcmp(node->name, "sp") != 0 && strcmp(node->name, "pic") != 0 &&
        strcmp(node->name, "graphicFrame") != 0)
        return 0;
    if (is_hidden(node)) {
        all->hidden++;
        return 0;
    }
    if (all->n == SLIDE_SHAPES)
        return extraction_fail(all->slide->x, RENDER_LIMIT, "has a slide with more than %d shapes.",
                               SLIDE_SHAPES);
    const struct xml_node *off = xml_at(find_transform(all->slide, node), "off");
    all->list[all->n] = (struct shape){.node = node,
                                       .placeholder = slide_placeholder(node),
                                       .x = whole(f.x + f.wide * number(off, "x", 0)),
                                       .y = whole(f.y + f.high * number(off, "y", 0)),
                                       .order = all->n};
    all->n++;
    return 0;
}

static int collect(struct shapes *all, const struct xml_node *tree, struct frame f, unsigned depth)
{
    if (depth > SLIDE_GROUPS)
        return extraction_fail(all->slide->x, RENDER_LIMIT,
                               "has more than %d groups of shapes inside one another.", SLIDE_GROUPS);
    for (const struct xml_node *c = tree ? tree->first : NULL; c; c = c->next)
        if (c->name && add(all, c, f, depth))
            return -1;
    return 0;
}

static bool is_title(const struct shape *s)
{
    return s->placeholder && (!strcmp(s->placeholder, "title") || !strcmp(s->placeholder, "ctrTitle"));
}

bool slide_is_furniture(const char *placeholder)
{
    return placeholder && (!strcmp(placeholder, "sldNum") || !strcmp(placeholder, "dt") ||
                           !strcmp(placeholder, "ftr") || !strcmp(placeholder, "hdr"));
}

static int compare(const void *a, const void *b)
{
    const struct shape *s = a, *t = b;
    if (is_title(s) != is_title(t))
        return is_title(s) ? -1 : 1;
    if (s->y != t->y)
        return s->y < t->y ? -1 : 1;
    if (s->x != t->x)
        return s->x < t->x ? -1 : 1;
    return s->order < t->order ? -1 : s->order > t->order;
}

static void picture(struct slide *s, const struct xml_node *node)
{
    const struct xml_node *name = xml_at(properties(node), "cNvPr");
    const struct office_relation *r =
        office_relation_by_id(&s->relations, xml_get_prefixed(xml_at(node, "blipFill/blip"), "embed"));
    const char *alt = xml_get(name, "descr");
    if (!alt || !*alt)
        alt = xml_get(name, "name");
    markup_begin(s->m, MARKUP_PARAGRAPH, 0);
    markup_link(s->m, s->link);
    markup_image(s->m, span_str(alt ? alt : ""), span_str(r ? office_base_name(r->target) : ""));
    markup_link_end(s->m);
    markup_end(s->m);
}

/* What another program put there: its picture, if there is one; its own file is not read. */
static void embedded(struct slide *s, const struct xml_node *object)
{
    const char *program = xml_get(object, "progId");
    const struct xml_node *shown = xml_find(object, "pic");
    if (shown)
        picture(s, shown);
    markup_line(s->m, "(embedded object: %s)", extraction_name(span_str(program ? program : "unknown")).text);
}

static int graphic(struct slide *s, const struct xml_node *node)
{
    const struct xml_node *data = xml_at(node, "graphic/graphicData"), *table = xml_at(data, "tbl");
    const struct office_relation *chart =
        office_relation_by_id(&s->relations, xml_get_prefixed(xml_at(data, "chart"), "id"));
    const struct office_relation *diagram =
        office_relation_by_id(&s->relations, xml_get_prefixed(xml_at(data, "relIds"), "dm"));
    if (xml_find(data, "oleObj"))
        embedded(s, xml_find(data, "oleObj"));
    if (table)
        slide_table(s, table);
    if (chart && !chart->external && archive_find(s->archive, chart->target) &&
        office_chart_write(s->archive, chart->target, s->m))
        return -1;
    if (diagram && !diagram->external && archive_find(s->archive, diagram->target))
        return office_diagram_write(s->archive, diagram->target, s->m);
    return 0;
}

static int write(struct slide *s, const struct shape *shape)
{
    const struct xml_node *body = xml_at(shape->node, "txBody");
    if (slide_is_furniture(shape->placeholder))
        return 0;
    s->link = slide_link(s, xml_at(properties(shape->node), "cNvPr/hlinkClick"));
    if (is_title(shape))
        slide_heading(s, body, 1);
    else if (xml_is(shape->node, "pic"))
        picture(s, shape->node);
    else if (xml_is(shape->node, "graphicFrame"))
        return graphic(s, shape->node);
    else
        slide_text(s, body,
                   shape->placeholder &&
                           (!strcmp(shape->placeholder, "body") || !strcmp(shape->placeholder, "obj"))
                       ? SLIDE_OUTLINE
                       : SLIDE_PLAIN);
    return s->x->status == RENDER_OK ? 0 : -1;
}

int slide_shapes(struct slide *s, const struct xml_node *tree)
{
    struct shapes all = {.slide = s, .list = xcalloc(SLIDE_SHAPES, sizeof *all.list)};
    int answer = collect(&all, tree, (struct frame){.wide = 1, .high = 1}, 0);
    qsort(all.list, all.n, sizeof *all.list, compare);
    for (size_t i = 0; i < all.n && answer == 0; i++)
        answer = write(s, &all.list[i]);
    s->link = SPAN_LIT("");
    if (all.hidden && answer == 0)
        markup_line(s->m, "(%u hidden shape%s left out)", all.hidden, all.hidden == 1 ? "" : "s");
    xfree(all.list);
    return answer;
}
