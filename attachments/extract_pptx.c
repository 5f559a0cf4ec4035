/* Presentations (pptx, pptm, ppsx) as Markdown, a slide after the other with its notes and comments. */
#include <stdio.h>
#include <stdlib.h>

#include "attachments/extract_archive.h"
#include "attachments/extract_office.h"
#include "attachments/slide.h"

struct show {
    struct archive *archive;
    struct extraction *x;
    struct markup *m;
    struct arena memory; /* of the whole show */
    struct office_relations relations;
    const struct xml_node *authors; /* of comments; NULL: none */
    const char **slides;            /* their parts */
    unsigned n_slides;
    struct buf around; /* lines for the end: what slides have from their masters, and their footers */
};

/* All paragraphs of a text body in one line. */
static void words(const struct xml_node *body, struct buf *out)
{
    for (const struct xml_node *p = body ? body->first : NULL; p; p = p->next) {
        if (!xml_is(p, "p"))
            continue;
        if (out->n)
            buf_addc(out, ' ');
        for (const struct xml_node *r = p->first; r; r = r->next) {
            if (xml_is(r, "br"))
                buf_addc(out, ' ');
            xml_text(xml_at(r, "t"), out);
        }
    }
}

/* Remembers a line, once. */
static void say_once(struct show *show, const char *name, const struct xml_node *body)
{
    struct buf line, text;
    buf_init(&line, EXTRACT_TEXT);
    buf_init(&text, EXTRACT_TEXT);
    words(body, &text);
    buf_printf(&line, "%s: ", name);
    for (size_t i = 0; i < text.n; i++) {
        char c = text.data[text.start + i];
        buf_addc(&line, c >= 0 && c < ' ' ? ' ' : c);
    }
    buf_addc(&line, '\n');
    if (text.n && !memmem(buf_span(&show->around).p, show->around.n, line.data + line.start, line.n) &&
        buf_add(&show->around, buf_span(&line)))
        extraction_fail(show->x, RENDER_LIMIT, "has more than %d MiB of text on its masters.",
                        EXTRACT_TEXT >> 20);
    buf_free(&line);
    buf_free(&text);
}

/* Text of a layout or a master that is no place for a slide's own. */
static void behind(struct show *show, const struct xml_node *tree)
{
    for (const struct xml_node *c = tree ? tree->first : NULL; c; c = c->next)
        if (xml_is(c, "grpSp"))
            behind(show, c);
        else if (xml_is(c, "sp") && !slide_placeholder(c))
            say_once(show, "Master", xml_at(c, "txBody"));
}

/* The part that a relationship of this type leads to, as a tree; NULL without one. -1: it is broken. */
static int related(struct slide *s, const struct office_relations *r, const char *type,
                   const struct xml_node **root, const char **part)
{
    const struct office_relation *found = office_relation_by_type(r, type);
    struct xml_node *tree = NULL;
    int answer = 0;
    *part = found ? archive_find(s->archive, found->target) : NULL;
    if (*part)
        answer = xml_tree_part(s->archive, *part, s->memory, &tree);
    *root = answer ? NULL : tree;
    return answer;
}

static int find_layout(struct slide *s)
{
    const char *part;
    struct office_relations r;
    if (related(s, &s->relations, "slideLayout", &s->layout, &part))
        return -1;
    if (!part)
        return 0;
    return office_relations_read(s->archive, part, s->memory, &r) ||
                   related(s, &r, "slideMaster", &s->master, &part)
               ? -1
               : 0;
}

static int notes(struct slide *s)
{
    const char *part;
    const struct xml_node *root;
    struct office_relations slide = s->relations;
    if (related(s, &slide, "notesSlide", &root, &part))
        return -1;
    const struct xml_node *tree = xml_at(root, "cSld/spTree");
    if (!part || office_relations_read(s->archive, part, s->memory, &s->relations))
        return part ? -1 : 0;
    bool said = false;
    for (const struct xml_node *c = tree ? tree->first : NULL; c; c = c->next) {
        if (!xml_is(c, "sp") || slide_is_furniture(slide_placeholder(c)) ||
            !slide_has_text(xml_at(c, "txBody")))
            continue;
        if (!said)
            markup_line(s->m, "### Notes:");
        said = true;
        slide_text(s, xml_at(c, "txBody"), SLIDE_PLAIN);
    }
    s->relations = slide;
    return 0;
}

static const char *author_of(const struct show *show, const struct xml_node *comment)
{
    const char *id = xml_get(comment, "authorId");
    for (const struct xml_node *a = id && show->authors ? show->authors->first : NULL; a; a = a->next) {
        const char *own = a->name ? xml_get(a, "id") : NULL, *name = own ? xml_get(a, "name") : NULL;
        if (name && !strcmp(own, id))
            return name;
    }
    return "unknown";
}

static void comment(const struct show *show, struct slide *s, const struct xml_node *node)
{
    struct buf text;
    buf_init(&text, EXTRACT_TEXT);
    if (xml_at(node, "text"))
        xml_text(xml_at(node, "text"), &text);
    else
        words(xml_at(node, "txBody"), &text);
    markup_quote(s->m);
    markup_begin(s->m, MARKUP_PARAGRAPH, 0);
    markup_text(s->m, SPAN_LIT("Comment ("), 0);
    markup_text(s->m, span_str(author_of(show, node)), 0);
    markup_text(s->m, SPAN_LIT("): "), 0);
    markup_text(s->m, buf_span(&text), 0);
    markup_end(s->m);
    markup_leave(s->m);
    buf_free(&text);
}

/* Both kinds; the newer one has replies. */
static int comments(const struct show *show, struct slide *s)
{
    const char *part;
    const struct xml_node *root;
    if (related(s, &s->relations, "comments", &root, &part))
        return -1;
    for (const struct xml_node *c = root ? root->first : NULL; c; c = c->next) {
        if (!xml_is(c, "cm"))
            continue;
        comment(show, s, c);
        const struct xml_node *replies = xml_at(c, "replyLst");
        for (const struct xml_node *reply = replies ? replies->first : NULL; reply; reply = reply->next)
            if (xml_is(reply, "reply"))
                comment(show, s, reply);
    }
    return 0;
}

static int slide(struct show *show, const char *part, unsigned n)
{
    struct arena memory = {0};
    struct slide s = {.archive = show->archive,
                      .x = show->x,
                      .m = show->m,
                      .memory = &memory,
                      .slides = show->slides,
                      .n_slides = show->n_slides};
    struct xml_node *root;
    int answer = xml_tree_part(show->archive, part, &memory, &root);
    if (answer == 0)
        answer = office_relations_read(show->archive, part, &memory, &s.relations);
    if (answer == 0)
        answer = find_layout(&s);
    if (answer == 0) {
        const char *shown = xml_get(root, "show");
        bool hidden = shown && (!strcmp(shown, "0") || !strcmp(shown, "false"));
        markup_line(s.m, "<!-- Slide number: %u%s -->", n, hidden ? " (hidden)" : "");
        answer = slide_shapes(&s, xml_at(root, "cSld/spTree"));
        behind(show, xml_at(s.layout, "cSld/spTree"));
        behind(show, xml_at(s.master, "cSld/spTree"));
    }
    if (answer == 0)
        answer = notes(&s) || comments(show, &s) ? -1 : 0;
    arena_free(&memory);
    return answer;
}

static int list_slides(struct show *show, const struct xml_node *list)
{
    size_t n = 0;
    for (const struct xml_node *c = list ? list->first : NULL; c; c = c->next)
        n += xml_is(c, "sldId");
    show->slides = arena_take(&show->memory, (n + 1) * sizeof *show->slides);
    for (const struct xml_node *c = list ? list->first : NULL; c; c = c->next) {
        if (!xml_is(c, "sldId"))
            continue;
        const struct office_relation *r = office_relation_by_id(&show->relations, xml_get_prefixed(c, "id"));
        if (!r || r->external || !archive_find(show->archive, r->target))
            return extraction_fail(show->x, RENDER_INVALID, "is damaged: slide %u is missing.",
                                   show->n_slides + 1);
        show->slides[show->n_slides++] = r->target;
    }
    return 0;
}

static int read(struct show *show)
{
    struct xml_node *root, *tree;
    const char *main = office_main_part(show->archive, &show->memory, "ppt/presentation.xml", "pptx");
    if (!main || office_relations_read(show->archive, main, &show->memory, &show->relations) ||
        xml_tree_part(show->archive, main, &show->memory, &root))
        return -1;
    for (int modern = 0; modern < 2 && !show->authors; modern++) {
        const struct office_relation *r =
            office_relation_by_type(&show->relations, modern ? "authors" : "commentAuthors");
        if (r && archive_find(show->archive, r->target)) {
            if (xml_tree_part(show->archive, r->target, &show->memory, &tree))
                return -1;
            show->authors = tree;
        }
    }
    if (list_slides(show, xml_at(root, "sldIdLst")))
        return -1;
    for (unsigned i = 0; i < show->n_slides; i++)
        if (slide(show, show->slides[i], i + 1))
            return -1;
    markup_quotes(show->m, buf_span(&show->around));
    return show->n_slides ? 0 : extraction_fail(show->x, RENDER_INVALID, "has no slides.");
}

static int document(struct archive *a, struct markup *m, struct extraction *x)
{
    struct show show = {.archive = a, .x = x, .m = m};
    buf_init(&show.around, EXTRACT_TEXT);
    int answer = read(&show);
    buf_free(&show.around);
    arena_free(&show.memory);
    return answer;
}

static enum render_status extract(struct span source, const struct render_params *params, struct buf *out,
                                  char sentence[RENDER_SENTENCE])
{
    (void)params;
    return extract_archive(source, out, sentence, EXTRACT_NODES, document);
}

static const char *const formats[] = {"text:pptx", NULL};

const struct renderer_ops extract_pptx_ops = {
    .name = "text:pptx",
    .version = "1",
    .formats = formats,
    .limits = EXTRACT_LIMITS,
    .render = extract,
};
