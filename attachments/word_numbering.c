/* Lists: what their labels look like, and counting (ISO/IEC 29500-1, 17.9). */
#include <stdio.h>
#include <stdlib.h>

#include "attachments/word.h"

struct word_abstract {
    const char *id, *style_link;
    struct word_level levels[WORD_LEVELS];
};

struct word_list {
    long id;
    struct word_level levels[WORD_LEVELS];
    long counts[WORD_LEVELS];
    bool counting[WORD_LEVELS];
};

static long number_of(const struct xml_node *node, const char *attribute, long otherwise)
{
    const char *value = xml_get(node, attribute);
    char *end;
    long n = value ? strtol(value, &end, 10) : 0;
    return value && end != value && n >= -1000000 && n <= 1000000 ? n : otherwise;
}

static void read_level(const struct xml_node *lvl, struct word_level *to)
{
    const char *format = xml_get(xml_at(lvl, "numFmt"), "val"),
               *text = xml_get(xml_at(lvl, "lvlText"), "val");
    if (!format) /* newer formats are alternatives of a plain one */
        format = xml_get(xml_find(xml_at(lvl, "AlternateContent"), "numFmt"), "val");
    *to = (struct word_level){
        .format = format ? format : "decimal",
        .text = text ? text : "",
        .style = xml_get(xml_at(lvl, "pStyle"), "val"),
        .start = number_of(xml_at(lvl, "start"), "val", 1),
        .left =
            number_of(xml_at(lvl, "pPr/ind"), "left", number_of(xml_at(lvl, "pPr/ind"), "start", WORD_NONE)),
        .restarts = number_of(xml_at(lvl, "lvlRestart"), "val", 1) != 0,
        .legal = word_switch(xml_at(lvl, "isLgl")) == 1,
    };
}

static void read_abstract(const struct xml_node *node, struct word_abstract *a)
{
    a->id = xml_get(node, "abstractNumId");
    a->style_link = xml_get(xml_at(node, "numStyleLink"), "val");
    for (int i = 0; i < WORD_LEVELS; i++)
        a->levels[i] = (struct word_level){
            .format = "bullet", .text = "", .start = 1, .left = WORD_NONE, .restarts = true};
    for (const struct xml_node *lvl = node->first; lvl; lvl = lvl->next) {
        long i = xml_is(lvl, "lvl") ? number_of(lvl, "ilvl", WORD_NONE) : WORD_NONE;
        if (i >= 0 && i < WORD_LEVELS)
            read_level(lvl, &a->levels[i]);
    }
}

static const struct word_abstract *abstract_of(const struct word_numbering *n, const char *id)
{
    for (size_t i = 0; id && i < n->n_abstracts; i++)
        if (n->abstracts[i].id && !strcmp(n->abstracts[i].id, id))
            return &n->abstracts[i];
    return NULL;
}

static struct word_list *list_of(const struct word_numbering *n, long id)
{
    size_t low = 0, high = n->n;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (n->lists[middle].id < id)
            low = middle + 1;
        else
            high = middle;
    }
    return low < n->n && n->lists[low].id == id ? &n->lists[low] : NULL;
}

static int by_id(const void *a, const void *b)
{
    long x = ((const struct word_list *)a)->id, y = ((const struct word_list *)b)->id;
    return (x > y) - (x < y);
}

static void read_list(const struct xml_node *num, const struct word_numbering *n, struct word_list *list)
{
    const struct word_abstract *from = abstract_of(n, xml_get(xml_at(num, "abstractNumId"), "val"));
    list->id = number_of(num, "numId", 0);
    for (int i = 0; i < WORD_LEVELS; i++)
        list->levels[i] =
            from ? from->levels[i] : (struct word_level){.format = "bullet", .text = "", .left = WORD_NONE};
    for (const struct xml_node *o = num->first; o; o = o->next) {
        long i = xml_is(o, "lvlOverride") ? number_of(o, "ilvl", WORD_NONE) : WORD_NONE;
        if (i < 0 || i >= WORD_LEVELS)
            continue;
        if (xml_at(o, "lvl"))
            read_level(xml_at(o, "lvl"), &list->levels[i]);
        list->levels[i].start = number_of(xml_at(o, "startOverride"), "val", list->levels[i].start);
    }
}

/* A list that is described by a style takes the levels of the list that the style names. */
static void follow_links(const struct xml_node *root, struct word_numbering *n,
                         const struct word_styles *styles)
{
    for (const struct xml_node *num = root->first; num; num = num->next) {
        const struct word_abstract *from =
            xml_is(num, "num") ? abstract_of(n, xml_get(xml_at(num, "abstractNumId"), "val")) : NULL;
        if (!from || !from->style_link)
            continue;
        struct word_list *list = list_of(n, number_of(num, "numId", 0));
        const struct word_list *linked = list_of(n, word_style_find(styles, from->style_link)->number);
        if (list && linked && list != linked)
            memcpy(list->levels, linked->levels, sizeof list->levels);
    }
}

int word_numbering_read(struct archive *a, const char *part, struct arena *memory,
                        const struct word_styles *styles, struct word_numbering *n)
{
    enum { LISTS = 5000 };
    struct xml_node *root;
    size_t abstracts = 0, lists = 0;
    *n = (struct word_numbering){0};
    if (!part || !archive_find(a, part))
        return 0;
    if (xml_tree_part(a, part, memory, &root))
        return -1;
    for (const struct xml_node *node = root->first; node; node = node->next) {
        abstracts += xml_is(node, "abstractNum");
        lists += xml_is(node, "num");
    }
    if (abstracts > LISTS || lists > LISTS)
        return extraction_fail(archive_extraction(a), RENDER_LIMIT, "describes more than %d lists.", LISTS);
    n->abstracts = arena_take(memory, abstracts * sizeof *n->abstracts);
    n->lists = arena_take(memory, lists * sizeof *n->lists);
    for (const struct xml_node *node = root->first; node; node = node->next)
        if (xml_is(node, "abstractNum"))
            read_abstract(node, &n->abstracts[n->n_abstracts++]);
    for (const struct xml_node *node = root->first; node; node = node->next)
        if (xml_is(node, "num"))
            read_list(node, n, &n->lists[n->n++]);
    if (n->n)
        qsort(n->lists, n->n, sizeof *n->lists, by_id);
    follow_links(root, n, styles);
    return 0;
}

const struct word_level *word_level_find(const struct word_numbering *n, int number, int level)
{
    const struct word_list *list = list_of(n, number);
    return list && level >= 0 && level < WORD_LEVELS ? &list->levels[level] : NULL;
}

int word_level_of_style(const struct word_numbering *n, int number, const char *style, int otherwise)
{
    const struct word_list *list = list_of(n, number);
    for (int i = 0; list && i < WORD_LEVELS; i++)
        if (list->levels[i].style && !strcmp(list->levels[i].style, style))
            return i;
    return otherwise;
}

static void roman(struct buf *out, long n, bool upper)
{
    static const struct {
        long value;
        const char *text;
    } digits[] = {{1000, "m"}, {900, "cm"}, {500, "d"}, {400, "cd"}, {100, "c"}, {90, "xc"}, {50, "l"},
                  {40, "xl"},  {10, "x"},   {9, "ix"},  {5, "v"},    {4, "iv"},  {1, "i"}};
    for (size_t i = 0; i < sizeof digits / sizeof digits[0]; i++)
        for (; n >= digits[i].value; n -= digits[i].value)
            for (const char *p = digits[i].text; *p; p++)
                buf_addc(out, (char)(upper ? *p & ~0x20 : *p));
}

/* a … z, aa, bb … */
static void letters(struct buf *out, long n, char first)
{
    for (long i = 0; i <= (n - 1) / 26; i++)
        buf_addc(out, (char)(first + (n - 1) % 26));
}

static void write_number(struct buf *out, long n, const char *format)
{
    bool small = n > 0 && n < 4000;
    if (small && !strcmp(format, "lowerLetter") && n <= 780)
        letters(out, n, 'a');
    else if (small && !strcmp(format, "upperLetter") && n <= 780)
        letters(out, n, 'A');
    else if (small && (!strcmp(format, "lowerRoman") || !strcmp(format, "upperRoman")))
        roman(out, n, format[0] == 'u');
    else if (!strcmp(format, "decimalZero"))
        buf_printf(out, "%02ld", n);
    else if (strcmp(format, "none") != 0 && strcmp(format, "bullet") != 0)
        buf_printf(out, "%ld", n);
}

long word_number_next(struct word_numbering *n, int number, int level, struct buf *label)
{
    struct word_list *list = list_of(n, number);
    if (!list || level < 0 || level >= WORD_LEVELS)
        return 0;
    for (int i = 0; i <= level; i++) {
        if (list->counting[i])
            list->counts[i] += i == level;
        else
            list->counts[i] = list->levels[i].start;
        list->counting[i] = true;
    }
    for (int i = level + 1; i < WORD_LEVELS; i++)
        if (list->levels[i].restarts)
            list->counting[i] = false;
    const struct word_level *own = &list->levels[level];
    for (const char *p = own->text; *p; p++) {
        int i = p[0] == '%' && p[1] >= '1' && p[1] <= '9' ? p[1] - '1' : WORD_NONE;
        if (i == WORD_NONE) {
            buf_addc(label, *p);
            continue;
        }
        const char *format = list->levels[i].format;
        write_number(label, list->counting[i] || i <= level ? list->counts[i] : list->levels[i].start,
                     own->legal && strcmp(format, "none") != 0 ? "decimal" : format);
        p++;
    }
    while (label->n && label->data[label->start + label->n - 1] == ' ')
        buf_cut(label, label->n - 1);
    return list->counts[level];
}
