/* Paragraphs, headings, lists, sections, frames, and the notes at the end (5 and 10). */
#include <stdio.h>
#include <stdlib.h>

#include "attachments/odt.h"

/* Where a paragraph stands in lists. */
struct place {
    struct odt_list *list; /* NULL: in none */
    unsigned level;        /* items around it */
    bool first;            /* in its item, which it begins */
    bool header;           /* of a list: without a number */
    unsigned long start;   /* of its item; 0: goes on */
};

static int walk(struct odt *o, const struct xml_node *node, struct place *place);

static void end_items(struct odt *o, unsigned to)
{
    for (; o->items > to; o->items--)
        markup_leave(o->m);
}

static void end_code(struct odt *o)
{
    if (o->code)
        markup_end(o->m);
    o->code = false;
}

static void end_quote(struct odt *o)
{
    if (o->quote)
        markup_leave(o->m);
    o->quote = false;
}

void odt_flow_end(struct odt *o)
{
    end_code(o);
    end_items(o, 0);
    end_quote(o);
}

int odt_flow(struct odt *o, const struct xml_node *node)
{
    unsigned items = o->items;
    bool code = o->code, quote = o->quote;
    o->items = 0;
    o->code = o->quote = false;
    int answer = odt_blocks(o, node);
    odt_flow_end(o);
    o->items = items;
    o->code = code;
    o->quote = quote;
    return answer;
}

static void begin_item(struct odt *o, struct place *place)
{
    struct buf label;
    char marker[32] = "-";
    unsigned level = place->level ? place->level - 1 : 0;
    const struct odt_level *l = place->list ? &place->list->levels[level] : NULL;
    end_items(o, level);
    while (o->items < level) { /* a level that was jumped over */
        markup_item(o->m, NULL);
        o->items++;
    }
    buf_init(&label, 4096);
    if (place->list && !place->header) {
        unsigned long n = odt_count(place->list, level, place->start, &label);
        if (l->numbered && l->format && l->shown > 1 && label.n > 0 && label.n < 28)
            snprintf(marker, sizeof marker, "%s", buf_cstr(&label));
        else if (l->numbered && l->format)
            snprintf(marker, sizeof marker, "%lu.", n);
    }
    buf_free(&label);
    markup_item(o->m, place->header ? NULL : marker);
    o->items++;
    place->first = false;
}

static unsigned heading_level(const struct xml_node *node)
{
    const char *value = xml_get(node, "outline-level");
    unsigned long n = value ? strtoul(value, NULL, 10) : 1;
    return n < 1 ? 1 : n > ODT_LEVELS ? ODT_LEVELS : (unsigned)n;
}

static void heading(struct odt *o, const struct xml_node *node, unsigned level)
{
    struct buf label;
    const char *plain = xml_get(node, "is-list-header");
    end_items(o, 0);
    markup_begin(o->m, MARKUP_HEADING, level);
    buf_init(&label, 4096);
    if (!(plain && !strcmp(plain, "true")) && o->styles.headings.levels[level - 1].format)
        odt_count(&o->styles.headings, level - 1, 0, &label);
    if (label.n) {
        markup_text(o->m, buf_span(&label), 0);
        markup_text(o->m, SPAN_LIT(" "), 0);
    }
    buf_free(&label);
}

static int paragraph(struct odt *o, const struct xml_node *node, struct place *place)
{
    const struct odt_style *style = odt_style_find(&o->styles, "paragraph", xml_get(node, "style-name"));
    bool is_heading = xml_is(node, "h") || style->title, code = style->code && !is_heading;
    if (style->hidden == 1)
        return 0;
    if (!code)
        end_code(o);
    if (!style->quote || is_heading)
        end_quote(o);
    if (is_heading)
        heading(o, node, style->title && !xml_is(node, "h") ? 1 : heading_level(node));
    else {
        if (place->first)
            begin_item(o, place);
        else
            end_items(o, place->level);
        if (style->quote && !o->quote && !o->items) {
            markup_quote(o->m);
            o->quote = true;
        }
        if (code && o->code)
            markup_break(o->m);
        else
            markup_begin(o->m, code ? MARKUP_CODE : MARKUP_PARAGRAPH, 0);
        o->code = code;
    }
    if (o->lead)
        markup_text(o->m, span_str(o->lead), 0);
    o->lead = NULL;
    int answer = 0;
    size_t later = o->later.n / sizeof(struct odt_note);
    for (const struct xml_node *c = node->first; c && answer == 0; c = c->next)
        if (c->name)
            answer = odt_inline(o, c, code ? 0 : style->look);
        else
            markup_text(o->m, c->text, code ? 0 : style->look);
    if (!code)
        markup_end(o->m);
    return answer ? answer : odt_later(o, later);
}

static int list(struct odt *o, const struct xml_node *node, const struct place *around)
{
    struct place place = {.list = odt_list_find(&o->styles, xml_get(node, "style-name")),
                          .level = around->level < ODT_LEVELS ? around->level + 1 : ODT_LEVELS};
    const char *goes_on = xml_get(node, "continue-numbering"), *which = xml_get(node, "continue-list");
    if (!place.list)
        place.list = around->list;
    if (place.list && around->level == 0 && !which && !(goes_on && !strcmp(goes_on, "true")))
        memset(place.list->next, 0, sizeof place.list->next);
    for (const struct xml_node *c = node->first; c; c = c->next) {
        const char *start = c->name ? xml_get(c, "start-value") : NULL;
        if (!xml_is(c, "list-item") && !xml_is(c, "list-header"))
            continue;
        place.first = true;
        place.header = xml_is(c, "list-header");
        place.start = start ? strtoul(start, NULL, 10) % 1000000 : 0;
        if (walk(o, c, &place))
            return -1;
    }
    return 0;
}

static bool is_section_hidden(const struct xml_node *node)
{
    const char *shown = xml_get(node, "display");
    return shown && (!strcmp(shown, "none") || !strcmp(shown, "false"));
}

static bool is_left_out(const char *name)
{
    static const char *const names[] = {"tracked-changes", "sequence-decls",
                                        "variable-decls",  "user-field-decls",
                                        "forms",           "dde-connection-decls",
                                        "annotation-end",  "change",
                                        "change-start",    "change-end",
                                        "soft-page-break", "hidden-paragraph",
                                        "creator",         "date",
                                        "date-string"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (!strcmp(name, names[i]))
            return true;
    return false;
}

static int block(struct odt *o, const struct xml_node *node, struct place *place)
{
    if (!node->name || is_left_out(node->name) || is_section_hidden(node) || markup_stopped(o->m))
        return o->x->status == RENDER_OK ? 0 : -1;
    if (!strcmp(node->name, "p") || !strcmp(node->name, "h"))
        return paragraph(o, node, place);
    if (!strcmp(node->name, "list"))
        return list(o, node, place);
    if (!strcmp(node->name, "table")) {
        end_code(o);
        if (place->first)
            begin_item(o, place);
        end_items(o, place->level);
        return odt_table(o, node);
    }
    if (!strcmp(node->name, "frame"))
        return odt_frame(o, node, false);
    return walk(o, node, place);
}

static int walk(struct odt *o, const struct xml_node *node, struct place *place)
{
    int answer = 0;
    o->depth++;
    if (o->depth > 4 * ODT_DEPTH)
        answer = extraction_fail(o->x, RENDER_LIMIT, "has text more than %d levels deep.", 4 * ODT_DEPTH);
    for (const struct xml_node *c = node ? node->first : NULL; c && answer == 0; c = c->next)
        answer = block(o, c, place);
    o->depth--;
    return answer;
}

int odt_blocks(struct odt *o, const struct xml_node *node)
{
    return walk(o, node, &(struct place){0});
}

/* ---- at the end ---- */

static const struct odt_note *list_of(const struct buf *notes)
{
    return (const struct odt_note *)(const void *)(notes->data + notes->start);
}

static int comment(struct odt *o, const struct xml_node *node)
{
    struct buf author, lead;
    buf_init(&author, 4096);
    buf_init(&lead, 8192);
    if (xml_at(node, "creator"))
        xml_text(xml_at(node, "creator"), &author);
    buf_printf(&lead, author.n ? "Comment (%s): " : "Comment: ", buf_cstr(&author));
    o->lead = buf_cstr(&lead);
    markup_quote(o->m);
    int answer = odt_flow(o, node);
    markup_leave(o->m);
    o->lead = NULL;
    buf_free(&author);
    buf_free(&lead);
    return answer;
}

int odt_notes(struct odt *o)
{
    char marker[24];
    for (size_t i = 0; i < o->notes.n / sizeof(struct odt_note); i++) { /* notes may hold notes */
        snprintf(marker, sizeof marker, "[^%zu]:", i + 1);
        markup_item(o->m, marker);
        int answer = odt_flow(o, list_of(&o->notes)[i].body);
        markup_leave(o->m);
        if (answer)
            return -1;
    }
    for (size_t i = 0; i < o->comments.n / sizeof(struct odt_note); i++)
        if (comment(o, list_of(&o->comments)[i].body))
            return -1;
    return 0;
}
