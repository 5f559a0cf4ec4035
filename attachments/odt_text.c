/* What stands in a paragraph (6): text, spans, links, fields, notes, and what is anchored in it. */
#include <stdlib.h>

#include "attachments/odt.h"

static int children(struct odt *o, const struct xml_node *node, unsigned look)
{
    for (const struct xml_node *c = node->first; c; c = c->next) {
        if (!c->name)
            markup_text(o->m, c->text, look);
        else if (odt_inline(o, c, look))
            return -1;
    }
    return 0;
}

static void spaces(struct odt *o, const struct xml_node *node, unsigned look)
{
    const char *value = xml_get(node, "c");
    unsigned long n = value ? strtoul(value, NULL, 10) : 1;
    for (unsigned long i = 0; i < n && i < 1000; i++)
        markup_text(o->m, SPAN_LIT(" "), look);
}

static int link(struct odt *o, const struct xml_node *node, unsigned look)
{
    const char *url = xml_get(node, "href");
    bool outside =
        url && (!strncmp(url, "http:", 5) || !strncmp(url, "https:", 6) || !strncmp(url, "mailto:", 7));
    if (outside)
        markup_link(o->m, span_str(url));
    int answer = children(o, node, look);
    if (outside)
        markup_link_end(o->m);
    return answer;
}

/* Put off until the end; a note is referred to where it stands. */
static int put_off(struct odt *o, struct buf *list, const struct xml_node *body, bool numbered)
{
    struct odt_note note = {body};
    if (!body)
        return 0;
    if (buf_addn(list, &note, sizeof note) < 0)
        return extraction_fail(o->x, RENDER_LIMIT, "has more than %d notes.", ODT_NOTES);
    if (numbered)
        markup_note(o->m, (unsigned)(list->n / sizeof note));
    return 0;
}

static bool is_hidden(const struct xml_node *node)
{
    const char *shown = xml_get(node, "display"), *is = xml_get(node, "is-hidden");
    return (shown && !strcmp(shown, "none")) || (is && !strcmp(is, "true"));
}

static bool is_left_out(const char *name)
{
    static const char *const names[] = {"hidden-text",
                                        "tracked-changes",
                                        "bookmark",
                                        "bookmark-start",
                                        "bookmark-end",
                                        "change",
                                        "change-start",
                                        "change-end",
                                        "annotation-end",
                                        "note-citation",
                                        "alphabetical-index-mark",
                                        "toc-mark",
                                        "user-index-mark",
                                        "ruby-text",
                                        "soft-page-break",
                                        "title",
                                        "desc"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (!strcmp(name, names[i]))
            return true;
    return false;
}

/* Drawn things that may have text in them (10.3). */
static bool is_shape(const char *name)
{
    static const char *const names[] = {
        "custom-shape", "rect",    "ellipse", "circle",          "line", "polyline", "polygon", "path",
        "connector",    "caption", "measure", "regular-polygon", NULL};
    for (size_t i = 0; names[i]; i++)
        if (!strcmp(name, names[i]))
            return true;
    return false;
}

int odt_inline(struct odt *o, const struct xml_node *node, unsigned look)
{
    if (is_left_out(node->name) || is_hidden(node) || markup_stopped(o->m))
        return o->x->status == RENDER_OK ? 0 : -1;
    if (!strcmp(node->name, "span")) {
        const struct odt_style *style = odt_style_find(&o->styles, "text", xml_get(node, "style-name"));
        return style->hidden == 1 ? 0 : children(o, node, (look & ~style->says) | style->look);
    }
    if (!strcmp(node->name, "s"))
        spaces(o, node, look);
    else if (!strcmp(node->name, "tab"))
        markup_text(o->m, SPAN_LIT("\t"), look);
    else if (!strcmp(node->name, "line-break"))
        markup_break(o->m);
    else if (!strcmp(node->name, "a"))
        return link(o, node, look);
    else if (!strcmp(node->name, "note"))
        return put_off(o, &o->notes, xml_at(node, "note-body"), true);
    else if (!strcmp(node->name, "annotation"))
        return put_off(o, &o->comments, node, false);
    else if (!strcmp(node->name, "frame"))
        return odt_frame(o, node, true);
    else if (is_shape(node->name))
        return put_off(o, &o->later, node, false);
    else if (!strcmp(node->name, "p") || !strcmp(node->name, "h")) { /* in a drawn shape */
        markup_text(o->m, SPAN_LIT(" "), look);
        return children(o, node, look);
    } else
        return children(o, node, look);
    return 0;
}
