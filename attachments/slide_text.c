/* Text of shapes (21.1.2): paragraphs, lists, runs, links, equations. */
#include <stdio.h>
#include <stdlib.h>

#include "attachments/office_math.h"
#include "attachments/slide.h"

static bool is_on(const struct xml_node *node, const char *attribute)
{
    const char *value = xml_get(node, attribute);
    return value && (!strcmp(value, "1") || !strcmp(value, "true"));
}

static unsigned look_of(const struct xml_node *rPr)
{
    const char *strike = xml_get(rPr, "strike"), *base = xml_get(rPr, "baseline");
    long raised = base ? strtol(base, NULL, 10) : 0;
    return (is_on(rPr, "b") ? MARKUP_BOLD : 0u) | (is_on(rPr, "i") ? MARKUP_ITALIC : 0u) |
           (strike && strcmp(strike, "noStrike") != 0 ? MARKUP_STRIKE : 0u) |
           (raised > 0 ? MARKUP_SUPER : 0u) | (raised < 0 ? MARKUP_SUB : 0u);
}

/* Text with a soft line break in it is two lines (it came from older programs). */
static void say(struct slide *s, const struct xml_node *t, unsigned look)
{
    struct buf words;
    buf_init(&words, EXTRACT_TEXT);
    if (t)
        xml_text(t, &words);
    struct span rest = buf_span(&words);
    const char *cut;
    while (rest.n && (cut = memchr(rest.p, '\v', rest.n))) {
        markup_text(s->m, span_of(rest.p, (size_t)(cut - rest.p)), look);
        markup_break(s->m);
        rest = span_from(rest, (size_t)(cut - rest.p) + 1);
    }
    markup_text(s->m, rest, look);
    buf_free(&words);
}

struct span slide_link(const struct slide *s, const struct xml_node *click)
{
    const struct office_relation *to = office_relation_by_id(&s->relations, xml_get_prefixed(click, "id"));
    if (!to || to->external)
        return span_str(to ? to->target : NULL);
    for (unsigned i = 0; i < s->n_slides; i++)
        if (!strcmp(s->slides[i], to->target)) {
            char place[24];
            snprintf(place, sizeof place, "#slide-%u", i + 1);
            return arena_copy(s->memory, span_str(place));
        }
    return SPAN_LIT("");
}

static void run(struct slide *s, const struct xml_node *r)
{
    const struct xml_node *rPr = xml_at(r, "rPr");
    struct span link = slide_link(s, xml_at(rPr, "hlinkClick"));
    if (!link.n)
        link = s->link;
    markup_link(s->m, link);
    say(s, xml_at(r, "t"), look_of(rPr));
    if (link.n)
        markup_link_end(s->m);
}

static void equation(struct slide *s, const struct xml_node *node)
{
    const struct xml_node *math = xml_is(node, "oMath") ? node : xml_find(node, "oMath");
    struct buf latex;
    if (!math)
        return;
    buf_init(&latex, EXTRACT_TEXT);
    buf_addc(&latex, '$');
    office_math_write(math, &latex);
    buf_addc(&latex, '$');
    markup_verbatim(s->m, buf_span(&latex));
    buf_free(&latex);
}

static void runs(struct slide *s, const struct xml_node *p, bool one_line)
{
    for (const struct xml_node *c = p->first; c; c = c->next) {
        if (xml_is(c, "r") || xml_is(c, "fld"))
            run(s, c);
        else if (xml_is(c, "br") && one_line)
            markup_text(s->m, SPAN_LIT(" "), 0);
        else if (xml_is(c, "br"))
            markup_break(s->m);
        else if (xml_is(c, "m") || xml_is(c, "oMathPara") || xml_is(c, "oMath"))
            equation(s, c);
        else if (xml_is(c, "AlternateContent")) {
            const struct xml_node *choice = xml_at(c, "Choice");
            runs(s, choice ? choice : c, one_line);
        }
    }
}

bool slide_has_text(const struct xml_node *body)
{
    for (const struct xml_node *p = body ? body->first : NULL; p; p = p->next)
        if (xml_is(p, "p") && (xml_find(p, "t") || xml_find(p, "oMath")))
            return true;
    return false;
}

/* What is open between two paragraphs of a body. */
struct list {
    unsigned items;                   /* that are open */
    unsigned long next[SLIDE_LEVELS]; /* numbers of each level */
};

static void end_items(struct slide *s, struct list *l, unsigned to)
{
    for (; l->items > to; l->items--)
        markup_leave(s->m);
}

static bool is_item(const struct xml_node *pPr, unsigned level, enum slide_body kind)
{
    if (xml_at(pPr, "buNone"))
        return false;
    return kind == SLIDE_OUTLINE || level > 0 || xml_at(pPr, "buChar") || xml_at(pPr, "buAutoNum") ||
           xml_at(pPr, "buBlip");
}

static void begin_item(struct slide *s, struct list *l, const struct xml_node *pPr, unsigned level)
{
    const struct xml_node *numbered = xml_at(pPr, "buAutoNum");
    const char *start = xml_get(numbered, "startAt");
    char marker[32] = "-";
    unsigned depth = level < l->items ? level : l->items; /* levels are not jumped over */
    for (unsigned deeper = level + 1; deeper < SLIDE_LEVELS; deeper++)
        l->next[deeper] = 0;
    if (numbered) {
        if (l->next[level] == 0)
            l->next[level] = start ? strtoul(start, NULL, 10) % 100000 : 1;
        snprintf(marker, sizeof marker, "%lu.", l->next[level]++);
    } else
        l->next[level] = 0;
    end_items(s, l, depth);
    markup_item(s->m, marker);
    l->items++;
}

void slide_text(struct slide *s, const struct xml_node *body, enum slide_body kind)
{
    struct list l = {0};
    for (const struct xml_node *p = body ? body->first : NULL; p && !markup_stopped(s->m); p = p->next) {
        if (!xml_is(p, "p") || (!xml_find(p, "t") && !xml_find(p, "oMath")))
            continue;
        const struct xml_node *pPr = xml_at(p, "pPr");
        const char *said = xml_get(pPr, "lvl");
        unsigned long n = said ? strtoul(said, NULL, 10) : 0;
        unsigned level = n < SLIDE_LEVELS ? (unsigned)n : SLIDE_LEVELS - 1;
        if (is_item(pPr, level, kind))
            begin_item(s, &l, pPr, level);
        else {
            end_items(s, &l, 0);
            l = (struct list){0};
        }
        markup_begin(s->m, MARKUP_PARAGRAPH, 0);
        runs(s, p, false);
        markup_end(s->m);
    }
    end_items(s, &l, 0);
}

void slide_heading(struct slide *s, const struct xml_node *body, unsigned level)
{
    bool first = true;
    markup_begin(s->m, MARKUP_HEADING, level);
    for (const struct xml_node *p = body ? body->first : NULL; p; p = p->next) {
        if (!xml_is(p, "p") || !xml_find(p, "t"))
            continue;
        if (!first)
            markup_text(s->m, SPAN_LIT(" "), 0);
        first = false;
        runs(s, p, true);
    }
    markup_end(s->m);
}
