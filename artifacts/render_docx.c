/* Word documents from Markdown. */
#include <stdio.h>

#include "artifacts/docx.h"
#include "artifacts/utf8.h"
#include "base/json.h"
#include "base/xalloc.h"

#define WORD "http://schemas.openxmlformats.org/wordprocessingml/2006/main"

enum {
    MARGIN = 1440,
    A4_WIDTH = 11906,
    A4_HEIGHT = 16838,
    LETTER_WIDTH = 12240,
    LETTER_HEIGHT = 15840,
    A3_HEIGHT = 23811
};

/* From so much on a text has contents. */
enum { CONTENTS_HEADINGS = 8, CONTENTS_BYTES = 8000 };

static void read_page(struct docx *d)
{
    char size[OFFICE_SHORT], orientation[OFFICE_SHORT];
    office_option(d->params, "page_size", size);
    office_option(d->params, "orientation", orientation);
    d->width = A4_WIDTH;
    d->height = A4_HEIGHT;
    if (strcasecmp(size, "letter") == 0) {
        d->width = LETTER_WIDTH;
        d->height = LETTER_HEIGHT;
    } else if (strcasecmp(size, "legal") == 0) {
        d->width = LETTER_WIDTH;
        d->height = 20160;
    } else if (strcasecmp(size, "a3") == 0) {
        d->width = A4_HEIGHT;
        d->height = A3_HEIGHT;
    } else if (strcasecmp(size, "a5") == 0) {
        d->width = 8391;
        d->height = A4_WIDTH;
    }
    if (strcasecmp(orientation, "landscape") == 0) {
        unsigned width = d->width;
        d->width = d->height;
        d->height = width;
    }
    d->text_width = d->room = d->width - 2 * MARGIN;
    d->text_height = d->height - 2 * MARGIN;
}

/* The first letters of Korean or Japanese say which font Chinese characters are shown in. */
static void choose_east_asian(struct docx *d, struct span source)
{
    d->east_asian = "Microsoft YaHei";
    d->east_asian_language = "zh-CN";
    for (size_t i = 0, n; i < source.n; i += n) {
        n = 1;
        if ((unsigned char)source.p[i] < 0xe3)
            continue;
        uint32_t c = utf8_next(source.p + i, source.p + source.n, &n);
        if (c >= 0x3040 && c <= 0x30ff) {
            d->east_asian = "Yu Gothic";
            d->east_asian_language = "ja-JP";
            return;
        }
        if (c >= 0xac00 && c <= 0xd7a3) {
            d->east_asian = "Malgun Gothic";
            d->east_asian_language = "ko-KR";
            return;
        }
    }
}

/* Whether the metadata asks for contents, or the text is long enough for them. */
static bool wants_contents(const struct docx *d, size_t bytes)
{
    struct span value;
    if (d->params->options.n && (json_member(d->params->options, "toc", &value) ||
                                 json_member(d->params->options, "contents", &value)))
        return json_type(value) == JSON_TRUE;
    return d->headings_n >= CONTENTS_HEADINGS && bytes >= CONTENTS_BYTES;
}

static bool shows_title(const struct docx *d, const struct markdown_block *heading)
{
    struct buf text;
    buf_init(&text, MARKDOWN_SOURCE * 2);
    bool same = markdown_plain(heading->runs, &text) == 0 && text.n == d->markdown->title.n &&
                memcmp(buf_span(&text).p, d->markdown->title.p, text.n) == 0;
    buf_free(&text);
    return same;
}

/* A title that the text itself does not show: from front matter. */
static void put_title(struct docx *d, bool shown)
{
    const struct markdown *m = d->markdown;
    if (!shown && m->title.n) {
        docx_open_paragraph(d, &(struct docx_paragraph){.style = "Title", .rtl = office_is_rtl(m->title)});
        docx_plain_run(d, NULL, m->title);
        docx_close_paragraph(d);
    }
    if (!m->author.n && !m->date.n)
        return;
    docx_open_paragraph(d, &(struct docx_paragraph){.style = "Subtitle"});
    if (m->author.n)
        docx_plain_run(d, NULL, m->author);
    if (m->author.n && m->date.n)
        docx_plain_run(d, NULL, SPAN_LIT(" \xc2\xb7 "));
    if (m->date.n)
        docx_plain_run(d, NULL, m->date);
    docx_close_paragraph(d);
}

static void put_body(struct docx *d, size_t bytes)
{
    const struct markdown_block *first = d->markdown->document->first;
    bool heading = first && first->type == MARKDOWN_HEADING && first->level == 1;
    bool contents = wants_contents(d, bytes);
    buf_adds(
        &d->body, OFFICE_XML
        "<w:document xmlns:w=\"" WORD "\" xmlns:r=\"" OFFICE_RELATIONS
        "\" xmlns:wp=\"http://schemas.openxmlformats.org/drawingml/2006/wordprocessingDrawing\"><w:body>");
    bool shown = heading && shows_title(d, first);
    if (!shown)
        put_title(d, false);
    if (heading)
        docx_block(d, first);
    if (shown)
        put_title(d, true);
    if (contents)
        docx_contents(d);
    for (const struct markdown_block *block = heading ? first->next : first; block && d->status == RENDER_OK;
         block = block->next)
        docx_block(d, block);
    buf_printf(
        &d->body,
        "<w:sectPr><w:headerReference w:type=\"default\" r:id=\"rId1\"/><w:footerReference "
        "w:type=\"default\" "
        "r:id=\"rId2\"/><w:pgSz w:w=\"%u\" w:h=\"%u\"%s/><w:pgMar w:top=\"%u\" w:right=\"%u\" "
        "w:bottom=\"%u\" "
        "w:left=\"%u\" w:header=\"708\" w:footer=\"708\" w:gutter=\"0\"/></w:sectPr></w:body></w:document>",
        d->width, d->height, d->width > d->height ? " w:orient=\"landscape\"" : "", MARGIN, MARGIN, MARGIN,
        MARGIN);
}

static void put_relations(struct docx *d, const char *name, const struct docx_rels *rels)
{
    struct buf b;
    buf_init(&b, DOCX_XML);
    buf_adds(&b, OFFICE_RELS_HEAD);
    buf_add(&b, buf_span(&rels->xml));
    buf_adds(&b, "</Relationships>");
    office_zip_part(&d->zip, name, buf_span(&b));
    buf_free(&b);
}

static void put_parts(struct docx *d, size_t bytes)
{
    static const char *const fixed[][2] = {{"header", "header1.xml"},    {"footer", "footer1.xml"},
                                           {"styles", "styles.xml"},     {"numbering", "numbering.xml"},
                                           {"settings", "settings.xml"}, {"footnotes", "footnotes.xml"}};
    char author[OFFICE_SHORT];
    office_option(d->params, "author", author);
    struct span title =
        d->params->title && d->params->title[0] ? span_str(d->params->title) : d->markdown->title;
    docx_content_types(d);
    office_root_relations(&d->zip, "word/document.xml");
    office_properties(&d->zip, d->params, title, author[0] ? span_str(author) : d->markdown->author);
    for (size_t i = 0; i < sizeof fixed / sizeof fixed[0]; i++)
        docx_relation(&d->body_rels, fixed[i][0], fixed[i][1], false);
    docx_collect_headings(d);
    office_zip_open(&d->zip, "word/document.xml", true);
    put_body(d, bytes);
    office_zip_write(&d->zip, buf_span(&d->body));
    office_zip_close(&d->zip);
    docx_footnotes(d);
    docx_header_and_footer(d);
    docx_styles(d);
    docx_numbering(d);
    docx_settings(d);
    put_relations(d, "word/_rels/document.xml.rels", &d->body_rels);
    if (d->notes_rels.n)
        put_relations(d, "word/_rels/footnotes.xml.rels", &d->notes_rels);
    office_pictures_write(&d->pictures, &d->zip, "word/");
}

static enum render_status render(struct span source, const struct render_params *params, struct buf *out,
                                 char sentence[RENDER_SENTENCE])
{
    const char *wrong;
    struct markdown *markdown = markdown_parse(source, &wrong);
    if (!markdown) {
        snprintf(sentence, RENDER_SENTENCE, "its Markdown %s", wrong);
        return RENDER_LIMIT;
    }
    struct docx *d = xcalloc(1, sizeof *d);
    d->params = params;
    d->markdown = markdown;
    buf_init(&d->body, DOCX_XML);
    buf_init(&d->notes, DOCX_XML);
    buf_init(&d->body_rels.xml, DOCX_XML);
    buf_init(&d->notes_rels.xml, DOCX_XML);
    buf_init(&d->nums, DOCX_XML);
    d->to = &d->body;
    d->rels = &d->body_rels;
    d->noted = xcalloc(markdown->notes_n + 1u, sizeof *d->noted);
    office_colour(params->brand.colour, "1F4E79", d->colour);
    read_page(d);
    choose_east_asian(d, source);
    office_zip_begin(&d->zip, out);
    put_parts(d, source.n);
    if (office_zip_finish(&d->zip))
        docx_refuse(d, RENDER_LIMIT, "the file would be larger than the limit");
    enum render_status status = d->status;
    if (status != RENDER_OK)
        snprintf(sentence, RENDER_SENTENCE, "%s", d->why);
    else
        office_pictures_note(&d->pictures, sentence);
    office_pictures_free(&d->pictures);
    xfree(d->noted);
    xfree(d->headings);
    xfree(d->by_slug);
    buf_free(&d->body);
    buf_free(&d->notes);
    buf_free(&d->body_rels.xml);
    buf_free(&d->notes_rels.xml);
    buf_free(&d->nums);
    xfree(d);
    markdown_free(markdown);
    return status;
}

static const char *const formats[] = {"docx", NULL};

/* Fonts are read for charts within the text alone. */
const struct renderer_ops render_docx = {
    .name = "docx",
    .version = "1",
    .formats = formats,
    .limits = {.source_bytes = MARKDOWN_SOURCE,
               .out_bytes = 64u * 1024 * 1024,
               .memory_bytes = 512u * 1024 * 1024,
               .cpu_s = 10,
               .wall_ms = 15000},
    .fonts = true,
    .render = render,
};
