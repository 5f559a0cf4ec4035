/* Presentations from Markdown, or from JSON with a list of slides. */
#include <stdio.h>

#include "artifacts/lines.h"
#include "artifacts/metadata.h"
#include "artifacts/pptx.h"
#include "base/json.h"
#include "base/xalloc.h"

static void put_parts(struct pptx *p)
{
    char author[OFFICE_SHORT];
    office_option(p->params, "author", author);
    struct span title =
        p->params->title && p->params->title[0] ? span_str(p->params->title) : p->markdown->title;
    pptx_content_types(p);
    office_root_relations(&p->zip, "ppt/presentation.xml");
    office_properties(&p->zip, p->params, title, author[0] ? span_str(author) : p->markdown->author);
    pptx_presentation(p);
    pptx_fixed_parts(p);
    for (size_t i = 0; i < p->slides_n && p->status == RENDER_OK; i++)
        pptx_draw(p, i);
    office_pictures_write(&p->pictures, &p->zip, "ppt/");
}

static void make(struct pptx *p, struct buf *out)
{
    buf_init(&p->xml, PPTX_XML);
    buf_init(&p->rels, PPTX_XML);
    p->items = xcalloc(PPTX_ITEMS, sizeof *p->items);
    pptx_plan(p);
    if (p->status == RENDER_OK && !p->slides_n)
        pptx_refuse(p, RENDER_INVALID, "it has no slides");
    if (p->status == RENDER_OK) {
        office_zip_begin(&p->zip, out);
        put_parts(p);
        if (office_zip_finish(&p->zip))
            pptx_refuse(p, RENDER_LIMIT, "the file would be larger than the limit");
    }
    office_pictures_free(&p->pictures);
    xfree(p->items);
    buf_free(&p->xml);
    buf_free(&p->rels);
}

/* An object, or a list of objects. `[text](target)` is Markdown. */
static bool begins_like_json(struct span source)
{
    if (span_starts(source, "\xef\xbb\xbf"))
        source = span_from(source, 3);
    struct span text = lines_trim(source);
    struct span inside = text.n ? lines_trim(span_from(text, 1)) : text;
    return text.n && (text.p[0] == '{' || (text.p[0] == '[' && inside.n && inside.p[0] == '{'));
}

/* Its slides as Markdown; NULL, or what is wrong. */
static const char *read_json(struct span source, struct buf *text)
{
    struct span document;
    struct buf repaired;
    const char *wrong = NULL;
    buf_init(&repaired, source.n * 2 + 1024);
    if (!json_document(source, &document) &&
        (metadata_repair_document(source, &repaired) || !json_document(buf_span(&repaired), &document)))
        wrong = "it begins like JSON but is not valid JSON";
    else if (!pptx_json(document, text))
        wrong = "it is JSON without a list \"slides\"";
    buf_free(&repaired);
    return wrong;
}

static enum render_status render(struct span source, const struct render_params *params, struct buf *out,
                                 char sentence[RENDER_SENTENCE])
{
    const char *wrong;
    struct buf text;
    buf_init(&text, MARKDOWN_SOURCE);
    if (begins_like_json(source)) {
        wrong = read_json(source, &text);
        if (wrong) {
            snprintf(sentence, RENDER_SENTENCE, "%s", wrong);
            buf_free(&text);
            return RENDER_INVALID;
        }
        source = buf_span(&text);
    }
    struct markdown *markdown = markdown_parse(source, &wrong);
    buf_free(&text);
    if (!markdown) {
        snprintf(sentence, RENDER_SENTENCE, "its Markdown %s", wrong);
        return RENDER_LIMIT;
    }
    struct pptx *p = xcalloc(1, sizeof *p);
    p->params = params;
    p->markdown = markdown;
    office_colour(params->brand.colour, "1F4E79", p->colour);
    make(p, out);
    enum render_status status = p->status;
    if (status != RENDER_OK)
        snprintf(sentence, RENDER_SENTENCE, "%s", p->why);
    else
        office_pictures_note(&p->pictures, sentence);
    xfree(p);
    markdown_free(markdown);
    return status;
}

static const char *const formats[] = {"pptx", NULL};

/* Fonts are read for charts on the slides alone. */
const struct renderer_ops render_pptx = {
    .name = "pptx",
    .version = "3",
    .formats = formats,
    .limits = {.source_bytes = MARKDOWN_SOURCE,
               .out_bytes = 64u * 1024 * 1024,
               .memory_bytes = 512u * 1024 * 1024,
               .cpu_s = 10,
               .wall_ms = 15000},
    .fonts = true,
    .render = render,
};
