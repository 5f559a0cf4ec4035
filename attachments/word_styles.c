/* Styles: which are headings, quotes, code, and how their runs look. */
#include <stdlib.h>

#include "attachments/word.h"

static const struct word_style nothing = {.heading = WORD_NONE,
                                          .number = WORD_NONE,
                                          .level = WORD_NONE,
                                          .left = WORD_NONE,
                                          .hidden = WORD_NONE,
                                          .id = ""};

int word_switch(const struct xml_node *property)
{
    const char *value = xml_get(property, "val");
    if (!property)
        return WORD_NONE;
    return !(value && (!strcmp(value, "0") || !strcmp(value, "false") || !strcmp(value, "off") ||
                       !strcmp(value, "none")));
}

void word_look(const struct xml_node *rPr, unsigned *look, unsigned *says, int *hidden)
{
    for (const struct xml_node *p = rPr ? rPr->first : NULL; p; p = p->next) {
        if (!p->name)
            continue;
        unsigned bit = !strcmp(p->name, "b")                                       ? MARKUP_BOLD
                       : !strcmp(p->name, "i")                                     ? MARKUP_ITALIC
                       : !strcmp(p->name, "strike") || !strcmp(p->name, "dstrike") ? MARKUP_STRIKE
                                                                                   : 0;
        if (bit) {
            *says |= bit;
            *look = word_switch(p) ? *look | bit : *look & ~bit;
        } else if (!strcmp(p->name, "vertAlign")) {
            const char *value = xml_get(p, "val");
            *says |= MARKUP_SUPER | MARKUP_SUB;
            *look &= ~(unsigned)(MARKUP_SUPER | MARKUP_SUB);
            *look |= value && !strcmp(value, "superscript") ? MARKUP_SUPER
                     : value && !strcmp(value, "subscript") ? MARKUP_SUB
                                                            : 0u;
        } else if (!strcmp(p->name, "vanish"))
            *hidden = word_switch(p);
    }
}

static int level_in(const char *name, const char *word)
{
    size_t n = strlen(word);
    if (strncasecmp(name, word, n) != 0)
        return 0;
    name += n;
    while (*name == ' ')
        name++;
    return name[0] >= '1' && name[0] <= '9' && !name[1] ? name[0] - '0' : 0;
}

static bool one_of(const char *name, const char *const *list)
{
    for (; *list; list++)
        if (!strcasecmp(name, *list))
            return true;
    return false;
}

static long number(const struct xml_node *node, const char *attribute, long otherwise)
{
    const char *value = xml_get(node, attribute);
    char *end;
    long n = value ? strtol(value, &end, 10) : 0;
    return value && end != value && n >= -1000000 && n <= 1000000 ? n : otherwise;
}

/* A style's built-in name is English in every language; its id may be either. */
static void name_it(struct word_style *style, const char *name, bool of_runs)
{
    static const char *const titles[] = {"title", NULL};
    static const char *const quotes[] = {
        "quote", "quotations", "intense quote", "intensequote", "block text", "blocktext", NULL};
    static const char *const codes[] = {
        "source code", "sourcecode", "html preformatted", "htmlpreformatted",  "code", "code block",
        "codeblock",   "macro text", "macrotext",         "preformatted text", NULL};
    static const char *const monos[] = {"verbatim char", "verbatimchar", "html code", "htmlcode",
                                        "source text",   "code char",    "codechar",  "inline code",
                                        "inlinecode",    "code",         NULL};
    if (of_runs) {
        if (one_of(name, monos)) {
            style->look |= MARKUP_MONO;
            style->says |= MARKUP_MONO;
        }
        return;
    }
    if (style->heading == WORD_NONE && level_in(name, "heading"))
        style->heading = level_in(name, "heading");
    style->title |= one_of(name, titles);
    style->quote |= one_of(name, quotes);
    style->code |= one_of(name, codes);
}

static struct word_style read(const struct xml_node *node)
{
    struct word_style style = nothing;
    const char *type = xml_get(node, "type"), *name = xml_get(xml_at(node, "name"), "val");
    const struct xml_node *pPr = xml_at(node, "pPr");
    bool of_runs = type && !strcmp(type, "character");
    style.id = xml_get(node, "styleId");
    style.based_on = xml_get(xml_at(node, "basedOn"), "val");
    if (name)
        name_it(&style, name, of_runs);
    name_it(&style, style.id, of_runs);
    long outline = number(xml_at(pPr, "outlineLvl"), "val", WORD_NONE);
    if (outline >= 0)
        style.heading = outline < 9 ? (int)outline + 1 : 0;
    style.number = (int)number(xml_at(pPr, "numPr/numId"), "val", WORD_NONE);
    style.level = (int)number(xml_at(pPr, "numPr/ilvl"), "val", WORD_NONE);
    style.left = number(xml_at(pPr, "ind"), "left", number(xml_at(pPr, "ind"), "start", WORD_NONE));
    word_look(xml_at(node, "rPr"), &style.look, &style.says, &style.hidden);
    return style;
}

static int by_id(const void *a, const void *b)
{
    return strcmp(((const struct word_style *)a)->id, ((const struct word_style *)b)->id);
}

static struct word_style *find(const struct word_styles *s, const char *id)
{
    struct word_style key = {.id = id};
    return id && s->n ? bsearch(&key, s->list, s->n, sizeof key, by_id) : NULL;
}

static void resolve(struct word_styles *s, struct word_style *style, unsigned depth)
{
    if (style->resolved || depth > 32) /* longer chains are circles */
        return;
    struct word_style *base = find(s, style->based_on);
    style->resolved = true;
    if (!base)
        return;
    resolve(s, base, depth + 1);
    style->heading = style->heading == WORD_NONE ? base->heading : style->heading;
    style->number = style->number == WORD_NONE ? base->number : style->number;
    style->level = style->level == WORD_NONE ? base->level : style->level;
    style->left = style->left == WORD_NONE ? base->left : style->left;
    style->hidden = style->hidden == WORD_NONE ? base->hidden : style->hidden;
    style->look |= base->look & ~style->says;
    style->says |= base->says;
    style->title |= base->title;
    style->quote |= base->quote;
    style->code |= base->code;
}

int word_styles_read(struct archive *a, const char *part, struct arena *memory, struct word_styles *s)
{
    struct xml_node *root;
    size_t n = 0;
    *s = (struct word_styles){0};
    if (!part || !archive_find(a, part))
        return 0;
    if (xml_tree_part(a, part, memory, &root))
        return -1;
    for (const struct xml_node *node = root->first; node; node = node->next)
        n += xml_is(node, "style");
    s->list = arena_take(memory, n * sizeof *s->list);
    for (const struct xml_node *node = root->first; node; node = node->next)
        if (xml_is(node, "style") && xml_get(node, "styleId"))
            s->list[s->n++] = read(node);
    if (s->n)
        qsort(s->list, s->n, sizeof *s->list, by_id);
    for (size_t i = 0; i < s->n; i++)
        resolve(s, &s->list[i], 0);
    return 0;
}

const struct word_style *word_style_find(const struct word_styles *s, const char *id)
{
    static const struct word_style *const none = &nothing;
    static const struct word_style built_in[] = {
    /* Documents may name these without describing them. */
#define HEADING(n)                                                                                           \
    {"Heading" #n, NULL, n, WORD_NONE, WORD_NONE, WORD_NONE, 0, 0, WORD_NONE, false, false, false, true}
        HEADING(1),
        HEADING(2),
        HEADING(3),
        HEADING(4),
        HEADING(5),
        HEADING(6),
        HEADING(7),
        HEADING(8),
        HEADING(9),
#undef HEADING
        {"Title", NULL, WORD_NONE, WORD_NONE, WORD_NONE, WORD_NONE, 0, 0, WORD_NONE, true, false, false,
         true},
        {"Quote", NULL, WORD_NONE, WORD_NONE, WORD_NONE, WORD_NONE, 0, 0, WORD_NONE, false, true, false,
         true},
    };
    const struct word_style *found = find(s, id);
    for (size_t i = 0; id && !found && i < sizeof built_in / sizeof built_in[0]; i++)
        if (!strcmp(built_in[i].id, id))
            found = &built_in[i];
    return found ? found : none;
}
