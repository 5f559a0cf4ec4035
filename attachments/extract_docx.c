/* Word documents (docx, docm, dotx) as Markdown. */
#include "attachments/extract_archive.h"
#include "attachments/extract_office.h"
#include "attachments/html.h"
#include "attachments/word.h"
#include "base/xalloc.h"

static int unit(void *user, const struct xml_node *node)
{
    return word_block(user, node);
}

static const char *part_of(const struct office_relations *r, const char *type)
{
    const struct office_relation *found = office_relation_by_type(r, type);
    return found ? found->target : NULL;
}

static int read(struct word *w)
{
    const char *main = office_main_part(w->archive, &w->memory, "word/document.xml", "docx");
    struct office_relations document;
    if (!main || office_relations_read(w->archive, main, &w->memory, &document) ||
        word_styles_read(w->archive, part_of(&document, "styles"), &w->memory, &w->styles) ||
        word_numbering_read(w->archive, part_of(&document, "numbering"), &w->memory, &w->styles,
                            &w->numbering))
        return -1;
    w->relations = document;
    if (xml_units(w->archive, main, "body", unit, w))
        return -1;
    word_fields_end(w, 0);
    word_flow_end(w);
    return word_notes(w, &document);
}

int word_document(struct archive *a, struct markup *m, struct extraction *x, unsigned depth)
{
    struct word *w = xcalloc(1, sizeof *w);
    w->archive = a;
    w->x = x;
    w->m = m;
    w->depth = depth;
    w->later_end = &w->later;
    buf_init(&w->notes, WORD_NOTES * sizeof(struct word_note));
    int answer = read(w);
    word_fields_end(w, 0);
    buf_free(&w->notes);
    arena_free(&w->memory);
    xfree(w);
    return answer;
}

static int document(struct archive *a, struct markup *m, struct extraction *x)
{
    return word_document(a, m, x, 0);
}

static enum render_status extract(struct span source, const struct render_params *params, struct buf *out,
                                  char sentence[RENDER_SENTENCE])
{
    (void)params;
    return extract_archive(source, out, sentence, EXTRACT_NODES, document);
}

static const char *const formats[] = {"text:docx", NULL};

const struct renderer_ops extract_docx_ops = {
    .name = "text:docx",
    .version = "1",
    .formats = formats,
    .limits = EXTRACT_LIMITS,
    .warm = html_warm, /* for pages inside of it */
    .render = extract,
};
