/* Styles: which are headings, quotes, code, and how their runs look. */
#include <stdlib.h>

#include "attachments/word.h"

/* Half points that text is moved before it counts as raised or lowered (17.3.2.24): programs that know no
 * superscript write it so; less than that only mends how a line looks. */
enum { MOVES = 3 };

static const struct word_style nothing = {
    .heading = WORD_NONE, .number = WORD_NONE, .level = WORD_NONE, .left = WORD_NONE, .id = ""};

int word_switch(const struct xml_node *property)
{
    const char *value = xml_get(property, "val");
    if (!property)
        return WORD_NONE;
    return !(value && (!strcmp(value, "0") || !strcmp(value, "false") || !strcmp(value, "off") ||
                       !strcmp(value, "none")));
}

static long number(const struct xml_node *node, const char *attribute, long otherwise)
{
    const char *value = xml_get(node, attribute);
    char *end;
    long n = value ? strtol(value, &end, 10) : 0;
    return value && end != value && n >= -1000000 && n <= 1000000 ? n : otherwise;
}

static unsigned bit_of(const char *property)
{
    static const struct {
        const char *property;
        unsigned bit;
    } known[] = {{"b", MARKUP_BOLD},
                 {"i", MARKUP_ITALIC},
                 {"strike", MARKUP_STRIKE},
                 {"dstrike", WORD_DOUBLE},
                 {"vanish", WORD_HIDDEN}};
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
        if (!strcmp(known[i].property, property))
            return known[i].bit;
    return 0;
}

static void set(struct word_look *look, unsigned bits, unsigned on)
{
    look->says |= bits;
    look->on = (look->on & ~bits) | on;
}

void word_look_read(const struct xml_node *rPr, struct word_look *look)
{
    enum { ALIGNED = MARKUP_SUPER | MARKUP_SUB, MOVED = WORD_RAISED | WORD_LOWERED };
    for (const struct xml_node *p = rPr ? rPr->first : NULL; p; p = p->next) {
        unsigned bit = p->name ? bit_of(p->name) : 0;
        const char *value = xml_get(p, "val");
        if (bit)
            set(look, bit, word_switch(p) ? bit : 0);
        else if (xml_is(p, "vertAlign"))
            set(look, ALIGNED,
                value && !strcmp(value, "superscript") ? MARKUP_SUPER
                : value && !strcmp(value, "subscript") ? MARKUP_SUB
                                                       : 0u);
        else if (xml_is(p, "position")) {
            long moved = number(p, "val", 0);
            set(look, MOVED, moved >= MOVES ? WORD_RAISED : moved <= -MOVES ? WORD_LOWERED : 0u);
        }
    }
}

/* What there is no mark for of its own. */
static unsigned shown(unsigned on)
{
    on |= on & WORD_DOUBLE ? MARKUP_STRIKE : 0u;
    if (!(on & (MARKUP_SUPER | MARKUP_SUB)))
        on |= on & WORD_RAISED ? MARKUP_SUPER : on & WORD_LOWERED ? MARKUP_SUB : 0u;
    return on & ~(unsigned)(WORD_DOUBLE | WORD_RAISED | WORD_LOWERED);
}

struct word_look word_look_in_place(const struct word_style *style, bool place_says_it)
{
    struct word_look look = style ? style->look : nothing.look;
    if (place_says_it)
        look.on &= ~(unsigned)(MARKUP_BOLD | MARKUP_ITALIC);
    return look;
}

unsigned word_look_of(const struct word_styles *s, struct word_look table, struct word_look paragraph,
                      const struct xml_node *rPr)
{
    const char *id = xml_get(xml_at(rPr, "rStyle"), "val");
    const struct word_style *own = id ? word_style_find(s, id) : s->characters;
    struct word_look look = s->defaults;
    const struct word_look *levels[] = {&table, &paragraph, &own->look};
    unsigned toggled = 0;
    for (size_t i = 0; i < sizeof levels / sizeof levels[0]; i++) {
        toggled ^= levels[i]->on & WORD_TOGGLES;
        set(&look, levels[i]->says & ~(unsigned)WORD_TOGGLES, levels[i]->on & ~(unsigned)WORD_TOGGLES);
    }
    look.on |= toggled;
    word_look_read(rPr, &look);
    return shown(look.on);
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
            set(&style->look, MARKUP_MONO, MARKUP_MONO);
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
    word_look_read(xml_at(node, "rPr"), &style.look);
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
    set(&style->look, base->look.says & ~style->look.says, base->look.on & ~style->look.says);
    style->title |= base->title;
    style->quote |= base->quote;
    style->code |= base->code;
}

int word_styles_read(struct archive *a, const char *part, struct arena *memory, struct word_styles *s)
{
    struct xml_node *root;
    size_t n = 0;
    *s = (struct word_styles){.paragraph = &nothing, .characters = &nothing};
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
    word_look_read(xml_at(root, "docDefaults/rPrDefault/rPr"), &s->defaults);
    if (s->n)
        qsort(s->list, s->n, sizeof *s->list, by_id);
    for (size_t i = 0; i < s->n; i++)
        resolve(s, &s->list[i], 0);
    for (const struct xml_node *node = root->first; node; node = node->next) {
        const char *is_default = xml_get(node, "default"), *type = xml_get(node, "type");
        const struct word_style *found = xml_is(node, "style") ? find(s, xml_get(node, "styleId")) : NULL;
        if (!found || !type || !is_default || (*is_default != '1' && *is_default != 't'))
            continue;
        if (!strcmp(type, "paragraph"))
            s->paragraph = found;
        else if (!strcmp(type, "character"))
            s->characters = found;
    }
    return 0;
}

const struct word_style *word_style_find(const struct word_styles *s, const char *id)
{
/* Documents may name these without describing them. */
#define BUILT_IN(name, of_heading, ...)                                                                      \
    {                                                                                                        \
        .id = name, .heading = of_heading, .number = WORD_NONE, .level = WORD_NONE, .left = WORD_NONE,       \
        .resolved = true, ##__VA_ARGS__                                                                      \
    }
    static const struct word_style built_in[] = {
        BUILT_IN("Heading1", 1),
        BUILT_IN("Heading2", 2),
        BUILT_IN("Heading3", 3),
        BUILT_IN("Heading4", 4),
        BUILT_IN("Heading5", 5),
        BUILT_IN("Heading6", 6),
        BUILT_IN("Heading7", 7),
        BUILT_IN("Heading8", 8),
        BUILT_IN("Heading9", 9),
        BUILT_IN("Title", WORD_NONE, .title = true),
        BUILT_IN("Quote", WORD_NONE, .quote = true),
    };
#undef BUILT_IN
    const struct word_style *found = find(s, id);
    for (size_t i = 0; id && !found && i < sizeof built_in / sizeof built_in[0]; i++)
        if (!strcmp(built_in[i].id, id))
            found = &built_in[i];
    return found ? found : &nothing;
}
