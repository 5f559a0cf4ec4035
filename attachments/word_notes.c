/* Footnotes, endnotes and comments, at the end of the text. */
#include <stdio.h>
#include <stdlib.h>

#include "attachments/word.h"

static struct word_note *notes(struct word *w)
{
    return (struct word_note *)(void *)(w->notes.data + w->notes.start);
}

static struct word_note *find(struct word *w, bool end, long id)
{
    size_t n = w->notes.n / sizeof(struct word_note);
    for (size_t i = 0; i < n; i++)
        if (notes(w)[i].id == id && notes(w)[i].end == end)
            return &notes(w)[i];
    return NULL;
}

void word_note_reference(struct word *w, bool end, const char *id)
{
    struct word_note note = {.end = end, .id = id ? strtol(id, NULL, 10) : 0};
    const struct word_note *known = find(w, end, note.id);
    unsigned number = known ? known->number : 0;
    if (!known) {
        note.number = number = markup_note_next(w->m);
        if (buf_addn(&w->notes, &note, sizeof note))
            extraction_fail(w->x, RENDER_LIMIT, "has more than %d notes.", WORD_NOTES);
    }
    markup_note(w->m, number);
}

static int note(void *user, const struct xml_node *node)
{
    struct word *w = user;
    const char *type = xml_get(node, "type"), *id = xml_get(node, "id");
    char marker[24];
    if (!node->name || !id || (type && strcmp(type, "normal") != 0)) /* others are lines above the notes */
        return 0;
    struct word_note *found = find(w, !strcmp(node->name, "endnote"), strtol(id, NULL, 10));
    if (!found)
        return 0;
    found->there = true;
    snprintf(marker, sizeof marker, "[^%u]:", found->number);
    markup_item(w->m, marker);
    int answer = word_flow(w, node);
    markup_leave(w->m);
    return answer;
}

static int comment(void *user, const struct xml_node *node)
{
    struct word *w = user;
    if (!xml_is(node, "comment"))
        return 0;
    const char *author = xml_get(node, "author");
    struct buf lead;
    buf_init(&lead, EXTRACT_TEXT);
    buf_printf(&lead, author && *author ? "Comment (%s): " : "Comment: ", author);
    w->lead = buf_cstr(&lead);
    markup_quote(w->m);
    int answer = word_flow(w, node);
    markup_leave(w->m);
    w->lead = NULL;
    buf_free(&lead);
    return answer;
}

static int part(struct word *w, const struct office_relations *document, const char *type,
                const char *container, int (*unit)(void *user, const struct xml_node *node))
{
    const struct office_relation *r = office_relation_by_type(document, type);
    if (!r || !archive_find(w->archive, r->target))
        return 0;
    if (office_relations_read(w->archive, r->target, &w->memory, &w->relations))
        return -1;
    return xml_units(w->archive, r->target, container, unit, w);
}

/* A note that the text names and the document does not hold would be lost unseen. */
static int check(struct word *w)
{
    size_t n = w->notes.n / sizeof(struct word_note);
    for (size_t i = 0; i < n; i++)
        if (!notes(w)[i].there)
            return extraction_fail(w->x, RENDER_INVALID, "is damaged: the text of its %s %ld is missing.",
                                   notes(w)[i].end ? "endnote" : "footnote", notes(w)[i].id);
    return 0;
}

int word_notes(struct word *w, const struct office_relations *document)
{
    if (part(w, document, "footnotes", "footnotes", note) ||
        part(w, document, "endnotes", "endnotes", note) || check(w))
        return -1;
    return part(w, document, "comments", "comments", comment);
}
