/*
 * Markdown by md4c's events. A leaf's runs are gathered in a scratch list and move into the document's memory
 * when the leaf ends.
 */
#include "artifacts/markdown.h"

#include <md4c.h>
#include <stdlib.h>

#include "artifacts/markdown_html.h"
#include "artifacts/markdown_leaf.h"
#include "artifacts/markdown_page.h"
#include "artifacts/utf8.h"
#include "base/xalloc.h"

/* ---- md4c's events ---- */

/* The text of an attribute, with its entities undone. */
static struct span attribute_text(struct markdown_reader *r, const MD_ATTRIBUTE *a)
{
    struct buf text;
    char utf8[UTF8_MAX];
    if (!a->text || !a->size)
        return span_of("", 0);
    buf_init(&text, (size_t)a->size * UTF8_MAX);
    for (unsigned i = 0; a->substr_offsets[i] < a->size; i++) {
        struct span part =
            span_of(a->text + a->substr_offsets[i], a->substr_offsets[i + 1] - a->substr_offsets[i]);
        unsigned c = a->substr_types[i] == MD_TEXT_ENTITY ? markdown_entity(part) : 0;
        if (c)
            buf_addn(&text, utf8, utf8_put(c, utf8));
        else
            buf_add(&text, part);
    }
    struct span copy = arena_copy(&r->markdown->arena, buf_span(&text));
    buf_free(&text);
    return copy;
}

static void enter(struct markdown_reader *r, enum markdown_type type)
{
    markdown_leaf_end(r);
    r->at = markdown_leaf_block(r, type);
    r->depth++;
}

/* Whether a block that holds others is entered; else its content goes to the one around it. */
static bool goes_deeper(struct markdown_reader *r, unsigned levels)
{
    if (!r->ignored && r->depth + levels <= MARKDOWN_DEPTH)
        return true;
    markdown_leaf_end(r);
    r->ignored++;
    return false;
}

static void enter_list(struct markdown_reader *r, bool ordered, unsigned start, bool tight)
{
    if (!goes_deeper(r, 2))
        return;
    enter(r, MARKDOWN_LIST);
    r->at->ordered = ordered;
    r->at->start = start;
    r->at->tight = tight;
}

static void enter_item(struct markdown_reader *r, const MD_BLOCK_LI_DETAIL *detail)
{
    if (!goes_deeper(r, 1))
        return;
    enter(r, MARKDOWN_ITEM);
    if (detail->is_task)
        r->at->task = detail->task_mark == ' ' ? TASK_OPEN : TASK_DONE;
}

static void enter_cell(struct markdown_reader *r, const MD_BLOCK_TD_DETAIL *detail)
{
    if (r->column >= MARKDOWN_COLUMNS) {
        markdown_leaf_text(r, SPAN_LIT(" "));
        return;
    }
    r->column++;
    markdown_leaf_begin(r, MARKDOWN_CELL);
    r->leaf->head = r->head;
    r->leaf->align = detail->align == MD_ALIGN_LEFT     ? ALIGN_LEFT
                     : detail->align == MD_ALIGN_CENTER ? ALIGN_CENTER
                     : detail->align == MD_ALIGN_RIGHT  ? ALIGN_RIGHT
                                                        : ALIGN_DEFAULT;
}

static int enter_block(MD_BLOCKTYPE type, void *detail, void *arg)
{
    struct markdown_reader *r = arg;
    switch (type) {
    case MD_BLOCK_DOC:
    case MD_BLOCK_HTML:
        break;
    case MD_BLOCK_QUOTE:
        if (goes_deeper(r, 1))
            enter(r, MARKDOWN_QUOTE);
        break;
    case MD_BLOCK_UL:
        enter_list(r, false, 1, ((MD_BLOCK_UL_DETAIL *)detail)->is_tight);
        break;
    case MD_BLOCK_OL:
        enter_list(r, true, ((MD_BLOCK_OL_DETAIL *)detail)->start, ((MD_BLOCK_OL_DETAIL *)detail)->is_tight);
        break;
    case MD_BLOCK_LI:
        enter_item(r, detail);
        break;
    case MD_BLOCK_HR:
        markdown_leaf_end(r);
        markdown_leaf_block(r, MARKDOWN_RULE);
        break;
    case MD_BLOCK_H:
        markdown_leaf_begin(r, MARKDOWN_HEADING);
        r->leaf->level = ((MD_BLOCK_H_DETAIL *)detail)->level;
        break;
    case MD_BLOCK_CODE:
        markdown_leaf_begin(r, MARKDOWN_CODE);
        r->leaf->language = attribute_text(r, &((MD_BLOCK_CODE_DETAIL *)detail)->lang);
        break;
    case MD_BLOCK_P:
        markdown_leaf_begin(r, MARKDOWN_PARAGRAPH);
        break;
    case MD_BLOCK_TABLE:
        enter(r, MARKDOWN_TABLE);
        r->at->columns = ((MD_BLOCK_TABLE_DETAIL *)detail)->col_count;
        if (r->at->columns > MARKDOWN_COLUMNS)
            r->at->columns = MARKDOWN_COLUMNS;
        break;
    case MD_BLOCK_THEAD:
    case MD_BLOCK_TBODY:
        r->head = type == MD_BLOCK_THEAD;
        break;
    case MD_BLOCK_TR:
        enter(r, MARKDOWN_ROW);
        r->at->head = r->head;
        r->column = 0;
        break;
    case MD_BLOCK_TH:
    case MD_BLOCK_TD:
        enter_cell(r, detail);
        break;
    }
    return r->wrong ? -1 : 0;
}

static int leave_block(MD_BLOCKTYPE type, void *detail, void *arg)
{
    struct markdown_reader *r = arg;
    (void)detail;
    switch (type) {
    case MD_BLOCK_QUOTE:
    case MD_BLOCK_UL:
    case MD_BLOCK_OL:
    case MD_BLOCK_LI:
        markdown_leaf_end(r);
        if (r->ignored) {
            r->ignored--;
            break;
        }
        r->at = r->at->parent;
        r->depth--;
        break;
    case MD_BLOCK_TABLE:
    case MD_BLOCK_TR:
        markdown_leaf_end(r);
        r->at = r->at->parent;
        r->depth--;
        break;
    case MD_BLOCK_TH:
    case MD_BLOCK_TD:
        if (r->column < MARKDOWN_COLUMNS)
            markdown_leaf_end(r);
        break;
    case MD_BLOCK_DOC:
    case MD_BLOCK_H:
    case MD_BLOCK_CODE:
    case MD_BLOCK_P:
        markdown_leaf_end(r);
        break;
    default:
        break;
    }
    return r->wrong ? -1 : 0;
}

/* md4c names no paragraph in an item of a tight list. */
static void imply_paragraph(struct markdown_reader *r)
{
    if (!r->leaf)
        markdown_leaf_begin(r, MARKDOWN_PARAGRAPH);
}

static void begin_image(struct markdown_reader *r, struct span source)
{
    if (r->soft && !r->image) {
        r->soft = false;
        markdown_leaf_text(r, SPAN_LIT(" "));
    }
    if (r->image++)
        return;
    r->image_source = source;
    r->image_at = r->text.n;
}

static void end_image(struct markdown_reader *r)
{
    if (!r->image || --r->image)
        return;
    struct markdown_piece *piece = markdown_leaf_piece(r, RUN_IMAGE);
    piece->at = r->image_at;
    piece->n = r->text.n - r->image_at;
    piece->source = r->image_source;
}

static unsigned span_style(MD_SPANTYPE type)
{
    return type == MD_SPAN_EM       ? STYLE_EMPHASIS
           : type == MD_SPAN_STRONG ? STYLE_STRONG
           : type == MD_SPAN_CODE   ? STYLE_CODE
           : type == MD_SPAN_DEL    ? STYLE_STRIKE
                                    : 0;
}

static int enter_span(MD_SPANTYPE type, void *detail, void *arg)
{
    struct markdown_reader *r = arg;
    imply_paragraph(r);
    if (type == MD_SPAN_A)
        r->href = attribute_text(r, &((MD_SPAN_A_DETAIL *)detail)->href);
    else if (type == MD_SPAN_IMG)
        begin_image(r, attribute_text(r, &((MD_SPAN_IMG_DETAIL *)detail)->src));
    else
        markdown_leaf_style(r->styles, span_style(type), true);
    return r->wrong ? -1 : 0;
}

static int leave_span(MD_SPANTYPE type, void *detail, void *arg)
{
    struct markdown_reader *r = arg;
    (void)detail;
    if (type == MD_SPAN_A)
        r->href = span_of("", 0);
    else if (type == MD_SPAN_IMG)
        end_image(r);
    else
        markdown_leaf_style(r->styles, span_style(type), false);
    return r->wrong ? -1 : 0;
}

static void add_entity(struct markdown_reader *r, struct span entity)
{
    char utf8[UTF8_MAX];
    unsigned c = markdown_entity(entity);
    if (c == 0 || (c < 0x20 && c != '\t' && c != '\n') || (c >= 0x7f && c < 0xa0))
        markdown_leaf_text(r, entity);
    else
        markdown_leaf_text(r, c == '\n' ? SPAN_LIT(" ") : span_of(utf8, utf8_put(c, utf8)));
}

static void add_html(struct markdown_reader *r, struct span html)
{
    struct markdown_tag tag = markdown_html_read(html);
    switch (tag.means) {
    case HTML_TEXT:
        markdown_leaf_text(r, html);
        break;
    case HTML_NOTHING:
        break;
    case HTML_SPACE:
        markdown_leaf_text(r, SPAN_LIT(" "));
        break;
    case HTML_LINE:
        if (r->pieces_n && r->pieces[r->pieces_n - 1].type != RUN_BREAK)
            markdown_leaf_break(r);
        r->soft = false;
        break;
    case HTML_PAGE:
        r->page = true;
        break;
    case HTML_STYLE:
    case HTML_STYLE_END:
        markdown_leaf_style(r->html_styles, tag.style, tag.means == HTML_STYLE);
        break;
    case HTML_LINK:
        r->html_href = arena_copy(&r->markdown->arena, tag.target);
        break;
    case HTML_LINK_END:
        r->html_href = span_of("", 0);
        break;
    case HTML_IMAGE:
        begin_image(r, arena_copy(&r->markdown->arena, tag.target));
        markdown_leaf_text(r, tag.words);
        end_image(r);
        break;
    }
}

/* A bar within code in a table is written with a backslash before it, which stays there. */
static void add_code(struct markdown_reader *r, struct span code)
{
    if (!r->leaf || r->leaf->type != MARKDOWN_CELL) {
        markdown_leaf_text(r, code);
        return;
    }
    size_t from = 0;
    for (size_t i = 0; i + 1 < code.n; i++)
        if (code.p[i] == '\\' && code.p[i + 1] == '|') {
            markdown_leaf_text(r, span_of(code.p + from, i - from));
            from = i + 1;
        }
    markdown_leaf_text(r, span_from(code, from));
}

static int text(MD_TEXTTYPE type, const MD_CHAR *p, MD_SIZE n, void *arg)
{
    struct markdown_reader *r = arg;
    struct span s = span_of(p, n);
    imply_paragraph(r);
    switch (type) {
    case MD_TEXT_BR:
        markdown_leaf_break(r);
        break;
    case MD_TEXT_SOFTBR:
        r->soft = r->pieces_n && r->pieces[r->pieces_n - 1].type != RUN_BREAK;
        break;
    case MD_TEXT_ENTITY:
        add_entity(r, s);
        break;
    case MD_TEXT_HTML:
        add_html(r, s);
        break;
    case MD_TEXT_CODE:
        add_code(r, s);
        break;
    case MD_TEXT_NULLCHAR:
        markdown_leaf_text(r, SPAN_LIT("\xef\xbf\xbd"));
        break;
    case MD_TEXT_NORMAL:
    case MD_TEXT_LATEXMATH:
        markdown_leaf_text(r, s);
        break;
    }
    return r->wrong ? -1 : 0;
}

/* ---- documents ---- */

static void parse_into(struct markdown_reader *r, struct markdown_block *block, struct span source)
{
    const MD_PARSER parser = {.flags = MD_DIALECT_GITHUB | MD_FLAG_NOHTMLBLOCKS,
                              .enter_block = enter_block,
                              .leave_block = leave_block,
                              .enter_span = enter_span,
                              .leave_span = leave_span,
                              .text = text};
    r->at = block;
    r->depth = r->ignored = r->image = 0;
    if (!r->wrong && md_parse(source.p, (MD_SIZE)source.n, &parser, r))
        markdown_leaf_refuse(r, "could not be read");
    markdown_leaf_end(r);
}

/* Definitions without a mention come last, as they are written. */
static void add_notes(struct markdown_reader *r)
{
    struct markdown *m = r->markdown;
    m->notes = arena_take(&m->arena, (m->notes_n + 1) * sizeof *m->notes);
    r->in_note = true;
    for (size_t i = 0; i < r->source.n && !r->wrong; i++) {
        struct markdown_definition *d = &r->source.definitions[i];
        struct markdown_block *note = arena_take(&m->arena, sizeof *note);
        note->type = MARKDOWN_NOTE;
        note->level = d->number;
        if (d->number)
            m->notes[d->number - 1] = note;
        if (d->number) {
            parse_into(r, note, d->text);
            continue;
        }
        r->at = m->document;
        markdown_leaf_begin(r, MARKDOWN_PARAGRAPH);
        markdown_leaf_text(r, SPAN_LIT("[^"));
        markdown_leaf_text(r, d->id);
        markdown_leaf_text(r, SPAN_LIT("]:"));
        markdown_leaf_end(r);
        parse_into(r, m->document, d->text);
    }
}

/* Two definitions of one id: only the first is found by it, so the second has no number. */
struct markdown *markdown_parse(struct span source, const char **wrong)
{
    struct markdown *m = xcalloc(1, sizeof *m);
    const struct span none = {"", 0};
    struct markdown_reader r = {.markdown = m, .href = none, .html_href = none, .image_source = none};
    buf_init(&r.text, MARKDOWN_SOURCE * 2);
    m->document = arena_take(&m->arena, sizeof *m->document);
    struct buf page;
    buf_init(&page, MARKDOWN_SOURCE);
    bool html = source.n <= MARKDOWN_SOURCE && markdown_page_is(source);
    if (html && markdown_page_read(source, &page))
        markdown_leaf_refuse(&r, "is larger than the limit");
    if (markdown_source_init(&r.source, html ? buf_span(&page) : source))
        markdown_leaf_refuse(&r, "is larger than the limit");
    buf_free(&page);
    parse_into(&r, m->document, buf_span(&r.source.text));
    add_notes(&r);
    m->title = arena_copy(&m->arena, r.source.title);
    m->author = arena_copy(&m->arena, r.source.author);
    m->date = arena_copy(&m->arena, r.source.date);
    for (struct markdown_block *b = m->document->first; b && !m->title.n; b = b->next)
        if (b->type == MARKDOWN_HEADING && b->level == 1) {
            buf_reset(&r.text);
            if (markdown_plain(b->runs, &r.text) == 0)
                m->title = arena_copy(&m->arena, buf_span(&r.text));
            break;
        }
    markdown_source_finish(&r.source);
    buf_free(&r.text);
    xfree(r.pieces);
    *wrong = r.wrong;
    if (!r.wrong)
        return m;
    markdown_free(m);
    return NULL;
}

void markdown_free(struct markdown *m)
{
    if (!m)
        return;
    struct arena arena = m->arena;
    xfree(m);
    arena_free(&arena);
}
