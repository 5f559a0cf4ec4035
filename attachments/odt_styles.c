/* Styles of text, lists and headings (19 and 16.29 ff.). */
#include <stdio.h>
#include <stdlib.h>
#include <strings.h>

#include "attachments/odt.h"

static const struct odt_style nothing = {.name = "", .family = "", .hidden = -1, .resolved = true};

static int compare(const void *a, const void *b)
{
    const struct odt_style *s = a, *t = b;
    int order = strcmp(s->family, t->family);
    return order ? order : strcmp(s->name, t->name);
}

/* "Source_20_Code", "Source Code" and "SourceCode" are one name. */
static bool is_called(const char *name, const char *known)
{
    while (*name && *known) {
        size_t skip = !strncmp(name, "_20_", 4) ? 4 : *name == ' ' || *name == '-' ? 1 : 0;
        if (skip) {
            name += skip;
            continue;
        }
        if ((*name | 0x20) != *known)
            return false;
        name++;
        known++;
    }
    return !*name && !*known;
}

static void name_it(struct odt_style *style)
{
    static const char *const quotes[] = {"quotations", "quote", "intensequote", "blocktext"};
    static const char *const codes[] = {"preformattedtext", "sourcecode", "htmlpreformatted", "code",
                                        "codeblock"};
    static const char *const monos[] = {"sourcetext", "verbatimchar", "htmlcode",
                                        "teletype",   "inlinecode",   "code"};
    if (!strcmp(style->family, "text")) {
        for (size_t i = 0; i < sizeof monos / sizeof monos[0]; i++)
            if (is_called(style->name, monos[i])) {
                style->look |= MARKUP_MONO;
                style->says |= MARKUP_MONO;
            }
        return;
    }
    style->title = is_called(style->name, "title");
    for (size_t i = 0; i < sizeof quotes / sizeof quotes[0]; i++)
        style->quote |= is_called(style->name, quotes[i]);
    for (size_t i = 0; i < sizeof codes / sizeof codes[0]; i++)
        style->code |= is_called(style->name, codes[i]);
}

static void say(struct odt_style *style, unsigned bit, bool on)
{
    style->says |= bit;
    style->look = on ? style->look | bit : style->look & ~bit;
}

static void look(struct odt_style *style, const struct xml_node *properties)
{
    const char *weight = xml_get(properties, "font-weight"), *slant = xml_get(properties, "font-style"),
               *line = xml_get(properties, "text-line-through-style"),
               *place = xml_get(properties, "text-position"), *shown = xml_get(properties, "display");
    if (weight)
        say(style, MARKUP_BOLD, !strcmp(weight, "bold") || strtol(weight, NULL, 10) >= 600);
    if (slant)
        say(style, MARKUP_ITALIC, strcmp(slant, "normal") != 0);
    if (line)
        say(style, MARKUP_STRIKE, strcmp(line, "none") != 0);
    if (place) {
        say(style, MARKUP_SUPER, !strncmp(place, "super", 5) || strtol(place, NULL, 10) > 0);
        say(style, MARKUP_SUB, !strncmp(place, "sub", 3) || strtol(place, NULL, 10) < 0);
    }
    if (shown)
        style->hidden = !strcmp(shown, "none");
}

static struct odt_style read_style(const struct xml_node *node)
{
    struct odt_style style = {.name = xml_get(node, "name"),
                              .family = xml_get(node, "family"),
                              .parent = xml_get(node, "parent-style-name"),
                              .list = xml_get(node, "list-style-name"),
                              .hidden = -1};
    style.name = style.name ? style.name : "";
    style.family = style.family ? style.family : "";
    name_it(&style);
    look(&style, xml_at(node, "text-properties"));
    return style;
}

static char format_of(const struct xml_node *node)
{
    const char *format = xml_get(node, "num-format");
    return format && format[0] && strchr("1aAiI", format[0]) ? format[0] : '\0';
}

static void read_levels(struct odt_list *list, const struct xml_node *node)
{
    list->name = xml_get(node, "name");
    for (const struct xml_node *c = node->first; c; c = c->next) {
        const char *level = c->name ? xml_get(c, "level") : NULL, *start = xml_get(c, "start-value"),
                   *shown = xml_get(c, "display-levels"), *before = xml_get(c, "num-prefix"),
                   *behind = xml_get(c, "num-suffix");
        unsigned long n = level ? strtoul(level, NULL, 10) : 0;
        if (n < 1 || n > ODT_LEVELS)
            continue;
        list->levels[n - 1] =
            (struct odt_level){.numbered = strstr(c->name, "number") || xml_is(c, "outline-level-style"),
                               .format = format_of(c),
                               .before = before ? before : "",
                               .behind = behind ? behind : "",
                               .start = start ? strtoul(start, NULL, 10) % 1000000 : 1,
                               .shown = shown ? (unsigned)(strtoul(shown, NULL, 10) % 11) : 1};
    }
}

static void read_group(const struct xml_node *group, struct odt_styles *s)
{
    for (const struct xml_node *c = group ? group->first : NULL; c; c = c->next) {
        if (xml_is(c, "style"))
            s->list[s->n++] = read_style(c);
        else if (xml_is(c, "list-style") && s->n_lists < ODT_LISTS)
            read_levels(&s->lists[s->n_lists++], c);
        else if (xml_is(c, "outline-style"))
            read_levels(&s->headings, c);
    }
}

static size_t count(const struct xml_node *group, const char *name)
{
    size_t n = 0;
    for (const struct xml_node *c = group ? group->first : NULL; c; c = c->next)
        n += xml_is(c, name);
    return n;
}

static void resolve(struct odt_styles *s, struct odt_style *style)
{
    if (style->resolved)
        return;
    style->resolved = true; /* before its parents, which may be in a circle */
    struct odt_style key = {.name = style->parent ? style->parent : "", .family = style->family};
    struct odt_style *parent = style->parent ? bsearch(&key, s->list, s->n, sizeof key, compare) : NULL;
    if (!parent)
        return;
    resolve(s, parent);
    style->look |= parent->look & ~style->says;
    style->says |= parent->says;
    style->hidden = style->hidden < 0 ? parent->hidden : style->hidden;
    style->title |= parent->title;
    style->quote |= parent->quote;
    style->code |= parent->code;
    style->list = style->list ? style->list : parent->list;
}

int odt_styles_read(struct archive *a, const struct xml_node *content, struct arena *memory,
                    struct odt_styles *s)
{
    struct xml_node *root = NULL;
    if (archive_find(a, "styles.xml") && xml_tree_part(a, "styles.xml", memory, &root))
        return -1;
    const struct xml_node *groups[] = {xml_at(root, "styles"), xml_at(content, "automatic-styles")};
    size_t n = 0;
    for (size_t i = 0; i < 2; i++)
        n += count(groups[i], "style");
    s->list = arena_take(memory, n * sizeof *s->list);
    s->lists = arena_take(memory, ODT_LISTS * sizeof *s->lists);
    for (size_t i = 0; i < 2; i++)
        read_group(groups[i], s);
    s->headings.name = NULL;
    qsort(s->list, s->n, sizeof *s->list, compare);
    for (size_t i = 0; i < s->n; i++)
        resolve(s, &s->list[i]);
    return 0;
}

const struct odt_style *odt_style_find(const struct odt_styles *s, const char *family, const char *name)
{
    struct odt_style key = {.name = name ? name : "", .family = family};
    const struct odt_style *found = name ? bsearch(&key, s->list, s->n, sizeof key, compare) : NULL;
    return found ? found : &nothing;
}

struct odt_list *odt_list_find(struct odt_styles *s, const char *name)
{
    for (size_t i = 0; name && i < s->n_lists; i++)
        if (s->lists[i].name && !strcmp(s->lists[i].name, name))
            return &s->lists[i];
    return NULL;
}

static void roman(unsigned long n, struct buf *out)
{
    static const struct {
        unsigned value;
        const char *text;
    } steps[] = {{1000, "m"}, {900, "cm"}, {500, "d"}, {400, "cd"}, {100, "c"}, {90, "xc"}, {50, "l"},
                 {40, "xl"},  {10, "x"},   {9, "ix"},  {5, "v"},    {4, "iv"},  {1, "i"}};
    for (size_t i = 0; n < 4000 && i < sizeof steps / sizeof steps[0]; i++)
        for (; n >= steps[i].value; n -= steps[i].value)
            buf_adds(out, steps[i].text);
}

static void number(unsigned long n, char format, struct buf *out)
{
    size_t from = out->n;
    if ((format | 0x20) == 'i' && n > 0 && n < 4000)
        roman(n, out);
    else if ((format | 0x20) == 'a' && n > 0)
        for (unsigned long i = 0; i <= (n - 1) / 26 && i < 8; i++)
            buf_addc(out, (char)('a' + (n - 1) % 26));
    else
        buf_printf(out, "%lu", n);
    for (char *p = out->data + out->start + from; format == 'A' || format == 'I'; p++) {
        if (p == out->data + out->start + out->n)
            break;
        if (*p >= 'a' && *p <= 'z')
            *p = (char)(*p - 0x20);
    }
}

unsigned long odt_count(struct odt_list *list, unsigned level, unsigned long start, struct buf *label)
{
    const struct odt_level *l = &list->levels[level];
    if (start || list->next[level] == 0)
        list->next[level] = (start ? start : l->start) + 1; /* one more, so that 0 is none */
    unsigned long own = list->next[level]++ - 1;
    for (unsigned deeper = level + 1; deeper < ODT_LEVELS; deeper++)
        list->next[deeper] = 0;
    if (!l->numbered || !l->format)
        return own;
    buf_adds(label, l->before);
    unsigned first = l->shown > 0 && l->shown <= level ? level + 1 - l->shown : 0;
    if (l->shown <= 1)
        first = level;
    for (unsigned i = first; i <= level; i++) {
        const struct odt_level *shown = &list->levels[i];
        unsigned long n = i == level ? own : list->next[i] >= 2 ? list->next[i] - 2 : shown->start;
        if (i > first)
            buf_addc(label, '.');
        number(n, shown->format ? shown->format : '1', label);
    }
    buf_adds(label, l->behind);
    return own;
}
