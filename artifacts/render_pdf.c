/* Markdown as PDF: A4 or another sheet, outline, links, tagged structure, embedded subsets of the fonts. */
#include <fontconfig/fontconfig.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <time.h>

#include "artifacts/page.h"
#include "base/xalloc.h"

enum { OPTION = 200 };

static const double MARGIN = 62.4; /* 22 mm */

static int warm(void)
{
    return FcInit() ? 0 : -1;
}

/* ---- the sheet ---- */

static const char *option(const json_t *options, const char *name)
{
    const char *text = json_string_value(json_object_get(options, name));
    return text && strlen(text) <= OPTION ? text : "";
}

static void choose_sheet(struct page *p, const json_t *options)
{
    static const struct {
        const char *name;
        double width, height;
    } sheets[] = {{"A4", 595.28, 841.89},  {"letter", 612, 792},   {"legal", 612, 1008},
                  {"A3", 841.89, 1190.55}, {"A5", 419.53, 595.28}, {"tabloid", 792, 1224},
                  {"slide", 540, 960}};
    const char *wanted = option(options, "page_size");
    size_t sheet = 0;
    for (size_t i = 0; i < sizeof sheets / sizeof *sheets; i++)
        if (strcasecmp(wanted, sheets[i].name) == 0 ||
            (strncasecmp(wanted, "us", 2) == 0 &&
             strcasecmp(wanted + 2 + strspn(wanted + 2, " -_"), sheets[i].name) == 0))
            sheet = i;
    bool wide = strcasecmp(option(options, "orientation"), "landscape") == 0;
    p->width = wide ? sheets[sheet].height : sheets[sheet].width;
    p->height = wide ? sheets[sheet].width : sheets[sheet].height;
    p->margin = p->width < 500 || p->height < 500 ? 45 : MARGIN;
    p->top = p->margin;
    p->bottom = p->height - p->margin;
    p->left = p->margin;
    p->right = p->width - p->margin;
}

/* ---- what the document says about itself ---- */

static void put_property(struct page *p, cairo_pdf_metadata_t key, struct span value)
{
    struct buf clean;
    buf_init(&clean, 4096);
    if (value.n && value.n <= 1024 && !text_clean(value, false, &clean) && clean.n)
        cairo_pdf_surface_set_metadata(p->surface, key, buf_cstr(&clean));
    buf_free(&clean);
}

static bool first_heading(const struct markdown_block *document, struct buf *out)
{
    for (const struct markdown_block *b = document->first; b; b = b->next)
        if (b->type == MARKDOWN_HEADING && b->level == 1)
            return !markdown_plain(b->runs, out) && out->n;
    return false;
}

static void put_properties(struct page *p, const json_t *options)
{
    const struct markdown *m = p->markdown;
    struct buf heading;
    char made[32];
    time_t at = (time_t)p->params->made_at;
    struct tm tm;
    buf_init(&heading, 1024);
    struct span title = span_str(p->params->title);
    if (!title.n)
        title = m->title;
    if (!title.n && first_heading(m->document, &heading))
        title = buf_span(&heading);
    put_property(p, CAIRO_PDF_METADATA_TITLE, title);
    const char *author = option(options, "author");
    put_property(p, CAIRO_PDF_METADATA_AUTHOR, *author ? span_str(author) : m->author);
    cairo_pdf_surface_set_metadata(p->surface, CAIRO_PDF_METADATA_CREATOR, "Penstock");
    if (gmtime_r(&at, &tm) && strftime(made, sizeof made, "%Y-%m-%dT%H:%M:%SZ", &tm)) {
        cairo_pdf_surface_set_metadata(p->surface, CAIRO_PDF_METADATA_CREATE_DATE, made);
        cairo_pdf_surface_set_metadata(p->surface, CAIRO_PDF_METADATA_MOD_DATE, made);
    }
    buf_free(&heading);
}

static void put_line(struct page *p, struct span text, const struct text_style *style, const char *tag)
{
    struct buf clean;
    buf_init(&clean, 8192);
    if (text.n && text.n <= 2048 && !text_clean(text, false, &clean) && clean.n) {
        page_tag(p, tag);
        page_plain_flow(p, buf_span(&clean), style);
        page_untag(p);
    }
    buf_free(&clean);
}

/* A title from the front matter, where the text has no heading that says it. */
static void put_title(struct page *p)
{
    const struct markdown *m = p->markdown;
    struct buf heading, by;
    buf_init(&heading, 4096);
    buf_init(&by, 4096);
    struct text_style title = {.family = p->heading_family, .size = 22, .bold = true, .colour = p->accent};
    struct text_style small = {.family = p->family, .size = 10, .colour = COLOUR_SOFT};
    if (m->title.n && !first_heading(m->document, &heading)) {
        put_line(p, m->title, &title, "H1");
        page_gap(p, 4);
    }
    if (m->title.n || m->author.n) {
        buf_add(&by, m->author);
        if (m->author.n && m->date.n)
            buf_adds(&by, " \xc2\xb7 ");
        buf_add(&by, m->date);
        put_line(p, buf_span(&by), &small, "P");
        page_gap(p, 14);
    }
    buf_free(&heading);
    buf_free(&by);
}

/* ---- the whole ---- */

static void set_brand(struct page *p)
{
    const struct render_brand *b = &p->params->brand;
    p->family = text_families(b->font, p->families, sizeof p->families);
    p->heading_family = text_families(b->heading_font && *b->heading_font ? b->heading_font : b->font,
                                      p->heading_families, sizeof p->heading_families);
    p->accent = 0x1f3a5f;
    if (b->colour && !colour_read(span_str(b->colour), &p->accent))
        p->accent = 0x1f3a5f;
    /* Headings must be readable on white. */
    if (colour_on(p->accent) != COLOUR_PAPER)
        p->accent = colour_blend(p->accent, -0.45);
    if (b->logo.n)
        p->logo = draw_picture(b->logo, &p->logo_width, &p->logo_height);
}

static enum render_status finish(struct page *p, struct buf *out, char sentence[RENDER_SENTENCE])
{
    cairo_status_t status = cairo_status(p->cr);
    cairo_destroy(p->cr);
    cairo_surface_finish(p->surface);
    if (status == CAIRO_STATUS_SUCCESS)
        status = cairo_surface_status(p->surface);
    cairo_surface_destroy(p->surface);
    cairo_surface_destroy(p->logo);
    xfree(p->areas);
    if (p->over) {
        snprintf(sentence, RENDER_SENTENCE, "the document has more than %d pages", PAGE_MAX);
        return RENDER_LIMIT;
    }
    if (buf_full(out)) {
        snprintf(sentence, RENDER_SENTENCE, "the document is larger than the limit");
        return RENDER_LIMIT;
    }
    if (status != CAIRO_STATUS_SUCCESS) {
        snprintf(sentence, RENDER_SENTENCE, "the document could not be drawn");
        return RENDER_FAILED;
    }
    if (p->lost)
        snprintf(sentence, RENDER_SENTENCE, "%u picture%s not among the reply's files: the words stand in",
                 p->lost, p->lost == 1 ? " is" : "s are");
    return RENDER_OK;
}

static enum render_status render(struct span source, const struct render_params *params, struct buf *out,
                                 char sentence[RENDER_SENTENCE])
{
    const char *wrong = NULL;
    struct markdown *m = markdown_parse(source, &wrong);
    if (!m) {
        snprintf(sentence, RENDER_SENTENCE, "%s", wrong ? wrong : "the Markdown could not be read");
        return RENDER_LIMIT;
    }
    json_t *options = params->options.n ? json_loadb(params->options.p, params->options.n, 0, NULL) : NULL;
    struct page p = {.params = params, .markdown = m};
    choose_sheet(&p, options);
    set_brand(&p);
    p.surface = cairo_pdf_surface_create_for_stream(draw_write, out, p.width, p.height);
    cairo_pdf_surface_restrict_to_version(p.surface, CAIRO_PDF_VERSION_1_5);
    p.cr = cairo_create(p.surface);
    put_properties(&p, options);
    /* Cairo 1.16 writes damaged files when a link stands outside of a structure. */
    cairo_tag_begin(p.cr, "Document", NULL);
    page_begin(&p);
    put_title(&p);
    page_blocks(&p, m->document->first);
    page_notes(&p);
    page_finish(&p);
    cairo_tag_end(p.cr, "Document");
    enum render_status status = finish(&p, out, sentence);
    json_decref(options);
    markdown_free(m);
    return status;
}

static const char *const formats[] = {"pdf", NULL};

const struct renderer_ops render_pdf = {
    .name = "pdf",
    .version = "2",
    .formats = formats,
    .limits = {.source_bytes = MARKDOWN_SOURCE,
               .out_bytes = 64 << 20,
               .memory_bytes = 512 << 20,
               .cpu_s = 20,
               .wall_ms = 30000},
    .fonts = true,
    .warm = warm,
    .render = render,
};
