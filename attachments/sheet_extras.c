/* What lies on a sheet: comments, charts, pictures, text boxes. */
#include <stdlib.h>

#include "attachments/office_chart.h"
#include "attachments/office_diagram.h"
#include "attachments/sheet.h"

static void comment(struct sheet_book *b, const char *reference, const char *author, struct span text)
{
    struct buf line;
    buf_init(&line, EXTRACT_TEXT);
    buf_printf(&line, author && *author ? "%s (%s): " : "%s: ", reference, author);
    markup_item(b->m, "-");
    markup_begin(b->m, MARKUP_PARAGRAPH, 0);
    markup_text(b->m, buf_span(&line), 0);
    markup_text(b->m, text, 0);
    markup_end(b->m);
    markup_leave(b->m);
    buf_free(&line);
}

/* The n-th child of that name. */
static const struct xml_node *child_at(const struct xml_node *node, const char *name, unsigned long n)
{
    const struct xml_node *child = node ? node->first : NULL;
    for (; child; child = child->next)
        if (xml_is(child, name) && n-- == 0)
            break;
    return child;
}

/* Text runs below a comment's text, without phonetic ones. */
static void words(const struct xml_node *node, struct buf *out)
{
    for (const struct xml_node *c = node ? node->first : NULL; c; c = c->next) {
        struct buf text;
        buf_init(&text, EXTRACT_TEXT);
        if (xml_is(c, "t")) {
            xml_text(c, &text);
            sheet_string_write(out, buf_span(&text));
        } else if (c->name && strcmp(c->name, "rPh") != 0)
            words(c, out);
        buf_free(&text);
    }
}

static int plain_comments(struct sheet_book *b, const char *part, bool threaded)
{
    struct arena memory = {0};
    struct xml_node *root;
    int answer = xml_tree_part(b->archive, part, &memory, &root);
    const struct xml_node *list = answer == 0 ? xml_at(root, "commentList") : NULL,
                          *authors = answer == 0 ? xml_at(root, "authors") : NULL;
    for (const struct xml_node *c = list ? list->first : NULL; c; c = c->next) {
        const char *reference = xml_get(c, "ref"), *id = xml_get(c, "authorId");
        if (!xml_is(c, "comment") || !reference)
            continue;
        struct buf author, text;
        buf_init(&author, EXTRACT_TEXT);
        buf_init(&text, EXTRACT_TEXT);
        xml_text(id ? child_at(authors, "author", strtoul(id, NULL, 10)) : NULL, &author);
        words(xml_at(c, "text"), &text);
        /* A thread has a copy of itself here, for programs that do not know threads. */
        if (!threaded || !span_starts(buf_span(&author), "tc="))
            comment(b, reference, buf_cstr(&author), buf_span(&text));
        buf_free(&author);
        buf_free(&text);
    }
    arena_free(&memory);
    return answer;
}

static const char *person(const struct xml_node *persons, const char *id)
{
    for (const struct xml_node *p = persons ? persons->first : NULL; p && id; p = p->next) {
        const char *own = xml_get(p, "id");
        if (own && !strcmp(own, id))
            return xml_get(p, "displayName");
    }
    return NULL;
}

static int threads(struct sheet_book *b, const char *part)
{
    struct arena memory = {0};
    struct xml_node *root, *persons = NULL;
    const struct office_relation *r = office_relation_by_type(&b->relations, "person");
    int answer = xml_tree_part(b->archive, part, &memory, &root);
    if (answer == 0 && r && archive_find(b->archive, r->target))
        answer = xml_tree_part(b->archive, r->target, &memory, &persons);
    for (const struct xml_node *c = answer == 0 ? root->first : NULL; c; c = c->next) {
        const char *reference = xml_get(c, "ref");
        if (!xml_is(c, "threadedComment") || !reference)
            continue;
        struct buf text;
        buf_init(&text, EXTRACT_TEXT);
        xml_text(xml_at(c, "text"), &text);
        comment(b, reference, person(persons, xml_get(c, "personId")), buf_span(&text));
        buf_free(&text);
    }
    arena_free(&memory);
    return answer;
}

int sheet_comments(struct sheet_book *b, const struct office_relations *sheet)
{
    const struct office_relation *plain = office_relation_by_type(sheet, "comments");
    const struct office_relation *thread = office_relation_by_type(sheet, "threadedComment");
    bool threaded = thread && archive_find(b->archive, thread->target);
    if (plain && archive_find(b->archive, plain->target) && plain_comments(b, plain->target, threaded))
        return -1;
    return threaded ? threads(b, thread->target) : 0;
}

struct drawing {
    struct sheet_book *book;
    struct office_relations relations;
};

static int drawn(struct drawing *d, const struct xml_node *node, const char *alt)
{
    struct markup *m = d->book->m;
    const struct office_relation *r;
    for (const struct xml_node *c = node->first; c; c = c->next) {
        if (!c->name)
            continue;
        const char *described = xml_get(c, "descr");
        if (!strcmp(c->name, "cNvPr") && described)
            alt = described;
        else if (!strcmp(c->name, "Fallback"))
            continue;
        else if (!strcmp(c->name, "chart")) {
            r = office_relation_by_id(&d->relations, xml_get_prefixed(c, "id"));
            if (r && !r->external && office_chart_write(d->book->archive, r->target, m))
                return -1;
        } else if (!strcmp(c->name, "relIds")) {
            r = office_relation_by_id(&d->relations, xml_get(c, "dm"));
            if (r && !r->external && office_diagram_write(d->book->archive, r->target, m))
                return -1;
        } else if (!strcmp(c->name, "blip")) {
            r = office_relation_by_id(&d->relations, xml_get(c, "embed"));
            markup_begin(m, MARKUP_PARAGRAPH, 0);
            if (r)
                markup_image(m, span_str(alt), span_str(office_base_name(r->target)));
            markup_end(m);
        } else if (!strcmp(c->name, "txBody")) {
            for (const struct xml_node *p = c->first; p; p = p->next) {
                struct buf text;
                buf_init(&text, EXTRACT_TEXT);
                for (const struct xml_node *run = xml_is(p, "p") ? p->first : NULL; run; run = run->next) {
                    if (xml_is(run, "br"))
                        buf_addc(&text, ' ');
                    xml_text(xml_at(run, "t"), &text);
                }
                markup_begin(m, MARKUP_PARAGRAPH, 0);
                markup_text(m, buf_span(&text), 0);
                markup_end(m);
                buf_free(&text);
            }
        } else {
            const char *own = xml_get(xml_at(c, "nvPicPr/cNvPr"), "descr");
            if (drawn(d, c, own ? own : alt))
                return -1;
        }
    }
    return 0;
}

int sheet_drawings(struct sheet_book *b, const struct office_relations *sheet)
{
    for (size_t i = 0; i < sheet->n; i++) {
        const struct office_relation *r = &sheet->list[i];
        if (r->external || strcmp(r->type, "drawing") != 0 || !archive_find(b->archive, r->target))
            continue;
        struct arena memory = {0};
        struct xml_node *root;
        struct drawing d = {.book = b};
        int answer = office_relations_read(b->archive, r->target, &memory, &d.relations);
        if (answer == 0)
            answer = xml_tree_part(b->archive, r->target, &memory, &root);
        if (answer == 0)
            answer = drawn(&d, root, "");
        arena_free(&memory);
        if (answer)
            return -1;
    }
    return 0;
}
