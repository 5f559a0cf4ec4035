/* Headers and footers: what they say stands once at the end, but for numbers of pages. */
#include "attachments/office_margin.h"
#include "attachments/word.h"

static int unit(void *user, const struct xml_node *node)
{
    return word_block(user, node);
}

/* One part, as a text of its own. */
static int read(struct word *w, const char *part, const char *container, struct buf *text)
{
    struct markup *whole = w->m;
    w->m = markup_create(text, w->x);
    int answer = office_relations_read(w->archive, part, &w->memory, &w->relations);
    if (answer == 0)
        answer = xml_units(w->archive, part, container, unit, w);
    word_fields_end(w, 0);
    word_flow_end(w);
    if (markup_finish(w->m))
        answer = -1;
    markup_destroy(w->m);
    w->m = whole;
    return answer;
}

int word_margins(struct word *w, const struct office_relations *document)
{
    struct buf seen;
    int answer = 0;
    buf_init(&seen, ARCHIVE_ENTRIES * sizeof(uint64_t));
    for (size_t i = 0; i < document->n && answer == 0; i++) {
        const struct office_relation *r = &document->list[i];
        bool header = !strcmp(r->type, "header");
        if (r->external || (!header && strcmp(r->type, "footer") != 0) ||
            !archive_find(w->archive, r->target))
            continue;
        struct buf text;
        buf_init(&text, EXTRACT_TEXT);
        answer = read(w, r->target, header ? "hdr" : "ftr", &text);
        if (answer == 0)
            office_margin_write(w->m, &seen, header ? "Header" : "Footer", buf_span(&text));
        buf_free(&text);
    }
    buf_free(&seen);
    return answer;
}
