/*
 * Markdown by md4c's events. A leaf's runs are gathered in a scratch list and move into the document's memory
 * when the leaf ends.
 */
#include "artifacts/markdown.h"

#include <md4c.h>
#include <stdlib.h>

#include "artifacts/markdown_html.h"
#include "artifacts/markdown_source.h"
#include "artifacts/office_xml.h"
#include "artifacts/utf8.h"
#include "base/xalloc.h"

enum { STYLES = 8 };

/* A run whose text is still being added to. */
struct piece {
    enum markdown_run_type type;
    unsigned style;
    size_t at, n; /* its text in reader.text */
    struct span href, source;
};

struct reader {
    struct markdown *markdown;
    struct markdown_source source;
    const char *wrong;
    size_t nodes;
    struct markdown_block *at;   /* the innermost open block that holds others */
    struct markdown_block *leaf; /* open */
    unsigned ignored;            /* open blocks that were too deep */
    unsigned depth;
    bool head;
    unsigned column;
    struct piece *pieces;
    size_t pieces_n, pieces_room;
    struct buf text;
    unsigned styles[STYLES], html_styles[STYLES];
    struct span href, html_href;
    unsigned image; /* open ones */
    struct span image_source;
    size_t image_at; /* where its words begin in `text` */
    bool soft;       /* a line of the source ended */
    bool page;       /* a page ends with this block */
    bool in_note;
};

static int refuse(struct reader *r, const char *why)
{
    if (!r->wrong)
        r->wrong = why;
    return -1;
}

static int count(struct reader *r)
{
    return ++r->nodes > MARKDOWN_NODES ? refuse(r, "has too many parts") : 0;
}

static struct markdown_block *add_block(struct reader *r, enum markdown_type type)
{
    struct markdown_block *block = arena_take(&r->markdown->arena, sizeof *block);
    block->type = type;
    block->parent = r->at;
    block->language = block->code = span_of("", 0);
    if (r->at->last)
        r->at->last->next = block;
    else
        r->at->first = block;
    r->at->last = block;
    count(r);
    return block;
}

/* ---- runs ---- */

static unsigned style_now(const struct reader *r)
{
    unsigned style = 0;
    for (unsigned i = 0; i < STYLES; i++)
        if (r->styles[i] || r->html_styles[i])
            style |= 1u << i;
    return style;
}

static void count_style(unsigned counts[STYLES], unsigned style, bool begins)
{
    for (unsigned i = 0; i < STYLES; i++)
        if (style & 1u << i) {
            if (begins)
                counts[i]++;
            else if (counts[i])
                counts[i]--;
        }
}

static struct piece *add_piece(struct reader *r, enum markdown_run_type type)
{
    if (r->pieces_n == r->pieces_room) {
        r->pieces_room = r->pieces_room ? r->pieces_room * 2 : 64;
        r->pieces = xrealloc(r->pieces, r->pieces_room * sizeof *r->pieces);
    }
    struct piece *piece = &r->pieces[r->pieces_n++];
    *piece = (struct piece){.type = type,
                            .style = style_now(r),
                            .at = r->text.n,
                            .href = r->href.n ? r->href : r->html_href,
                            .source = {"", 0}};
    count(r);
    return piece;
}

/* A line's end in the source is a blank, but not between characters of scripts that have none. */
static void end_soft(struct reader *r, struct span next)
{
    struct span before = buf_span(&r->text);
    bool wide = false;
    r->soft = false;
    if (before.n && next.n) {
        size_t from = before.n - 1, n;
        while (from && before.n - from < UTF8_MAX && (before.p[from] & 0xc0) == 0x80)
            from--;
        utf8_next(next.p, next.p + next.n, &n);
        wide = (unsigned char)before.p[from] >= 0xe3 && (unsigned char)next.p[0] >= 0xe3 &&
               office_width(span_from(before, from)) == 2 && office_width(span_of(next.p, n)) == 2 &&
               (unsigned char)next.p[0] < 0xea && (unsigned char)before.p[from] < 0xea;
    }
    if (!wide)
        buf_addc(&r->text, ' ');
}

static void add_text(struct reader *r, struct span text)
{
    if (!r->leaf || !text.n)
        return;
    struct piece *last = r->pieces_n ? &r->pieces[r->pieces_n - 1] : NULL;
    struct span href = r->href.n ? r->href : r->html_href;
    bool joins = last && last->type == RUN_TEXT && last->style == style_now(r) &&
                 (last->href.p == href.p || (!last->href.n && !href.n));
    if (!r->image && !joins) {
        /* The blank goes to whichever of the two shows no style. */
        if (r->soft && last && last->type == RUN_TEXT && !last->style && !last->href.n) {
            end_soft(r, text);
            last->n = r->text.n - last->at;
        }
        last = add_piece(r, RUN_TEXT);
        joins = true;
    }
    if (r->soft)
        end_soft(r, text);
    buf_add(&r->text, text);
    if (!r->image)
        last->n = r->text.n - last->at;
    if (buf_full(&r->text))
        refuse(r, "has too much text");
}

static void add_break(struct reader *r)
{
    if (r->image)
        add_text(r, SPAN_LIT(" "));
    else if (r->leaf)
        add_piece(r, RUN_BREAK);
    r->soft = false;
}

static struct markdown_run *add_run(struct reader *r, struct markdown_run ***end, const struct piece *piece)
{
    struct markdown_run *run = arena_take(&r->markdown->arena, sizeof *run);
    run->type = piece->type;
    run->text = span_of("", 0);
    run->style = piece->style;
    run->href = piece->href;
    run->source = piece->source;
    **end = run;
    *end = &run->next;
    return run;
}

/* A text may hold mentions of footnotes. */
static void add_text_runs(struct reader *r, struct markdown_run ***end, const struct piece *piece,
                          struct span text)
{
    size_t from = 0;
    bool look = r->source.n && !r->in_note && !(piece->style & STYLE_CODE);
    for (size_t i = 0; look && i < text.n; i++) {
        struct span id = markdown_mention(text, i);
        struct markdown_definition *d = id.n ? markdown_definition_find(&r->source, id) : NULL;
        if (!d)
            continue;
        if (!d->number)
            d->number = ++r->markdown->notes_n;
        if (i > from)
            add_run(r, end, piece)->text = span_of(text.p + from, i - from);
        struct markdown_run *note = add_run(r, end, piece);
        note->type = RUN_NOTE;
        note->note = d->number;
        i += id.n + 2;
        from = i + 1;
        if (count(r))
            return;
    }
    if (from < text.n)
        add_run(r, end, piece)->text = span_from(text, from);
}

static void clear_scratch(struct reader *r)
{
    r->pieces_n = 0;
    buf_reset(&r->text);
    memset(r->html_styles, 0, sizeof r->html_styles);
    r->html_href = span_of("", 0);
    r->soft = false;
}

static bool is_page_break(const struct span text)
{
    return span_is(text, "\\newpage") || span_is(text, "\\pagebreak");
}

static void end_leaf(struct reader *r)
{
    if (!r->leaf)
        return;
    struct markdown_block *leaf = r->leaf;
    struct span text = arena_copy(&r->markdown->arena, buf_span(&r->text));
    struct markdown_run **end = &leaf->runs;
    if (leaf->type == MARKDOWN_CODE) {
        leaf->code = text;
        r->pieces_n = 0;
    }
    if (leaf->type == MARKDOWN_PARAGRAPH && is_page_break(text)) {
        r->page = true;
        r->pieces_n = 0;
    }
    /* Line breaks at either end are of no use. */
    size_t from = 0;
    while (from < r->pieces_n && r->pieces[from].type == RUN_BREAK)
        from++;
    while (r->pieces_n > from && r->pieces[r->pieces_n - 1].type == RUN_BREAK)
        r->pieces_n--;
    for (size_t i = from; i < r->pieces_n && !r->wrong; i++) {
        struct span own = span_of(text.p + r->pieces[i].at, r->pieces[i].n);
        if (r->pieces[i].type == RUN_TEXT)
            add_text_runs(r, &end, &r->pieces[i], own);
        else
            add_run(r, &end, &r->pieces[i])->text = own;
    }
    clear_scratch(r);
    r->leaf = NULL;
    if (!r->page || leaf->type == MARKDOWN_CELL)
        return;
    r->page = false;
    if (leaf->type == MARKDOWN_PARAGRAPH && !leaf->runs)
        leaf->type = MARKDOWN_PAGE_BREAK;
    else
        add_block(r, MARKDOWN_PAGE_BREAK);
}

static void begin_leaf(struct reader *r, enum markdown_type type)
{
    end_leaf(r);
    r->leaf = add_block(r, type);
}

/* ---- md4c's events ---- */

/* The text of an attribute, with its entities undone. */
static struct span attribute_text(struct reader *r, const MD_ATTRIBUTE *a)
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

static void enter(struct reader *r, enum markdown_type type)
{
    end_leaf(r);
    r->at = add_block(r, type);
    r->depth++;
}

/* Whether a block that holds others is entered; else its content goes to the one around it. */
static bool goes_deeper(struct reader *r, unsigned levels)
{
    if (!r->ignored && r->depth + levels <= MARKDOWN_DEPTH)
        return true;
    end_leaf(r);
    r->ignored++;
    return false;
}

static void enter_list(struct reader *r, bool ordered, unsigned start, bool tight)
{
    if (!goes_deeper(r, 2))
        return;
    enter(r, MARKDOWN_LIST);
    r->at->ordered = ordered;
    r->at->start = start;
    r->at->tight = tight;
}

static void enter_item(struct reader *r, const MD_BLOCK_LI_DETAIL *detail)
{
    if (!goes_deeper(r, 1))
        return;
    enter(r, MARKDOWN_ITEM);
    if (detail->is_task)
        r->at->task = detail->task_mark == ' ' ? TASK_OPEN : TASK_DONE;
}

static void enter_cell(struct reader *r, const MD_BLOCK_TD_DETAIL *detail)
{
    if (r->column >= MARKDOWN_COLUMNS) {
        add_text(r, SPAN_LIT(" "));
        return;
    }
    r->column++;
    begin_leaf(r, MARKDOWN_CELL);
    r->leaf->head = r->head;
    r->leaf->align = detail->align == MD_ALIGN_LEFT     ? ALIGN_LEFT
                     : detail->align == MD_ALIGN_CENTER ? ALIGN_CENTER
                     : detail->align == MD_ALIGN_RIGHT  ? ALIGN_RIGHT
                                                        : ALIGN_DEFAULT;
}

static int enter_block(MD_BLOCKTYPE type, void *detail, void *arg)
{
    struct reader *r = arg;
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
        end_leaf(r);
        add_block(r, MARKDOWN_RULE);
        break;
    case MD_BLOCK_H:
        begin_leaf(r, MARKDOWN_HEADING);
        r->leaf->level = ((MD_BLOCK_H_DETAIL *)detail)->level;
        break;
    case MD_BLOCK_CODE:
        begin_leaf(r, MARKDOWN_CODE);
        r->leaf->language = attribute_text(r, &((MD_BLOCK_CODE_DETAIL *)detail)->lang);
        break;
    case MD_BLOCK_P:
        begin_leaf(r, MARKDOWN_PARAGRAPH);
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
    struct reader *r = arg;
    (void)detail;
    switch (type) {
    case MD_BLOCK_QUOTE:
    case MD_BLOCK_UL:
    case MD_BLOCK_OL:
    case MD_BLOCK_LI:
        end_leaf(r);
        if (r->ignored) {
            r->ignored--;
            break;
        }
        r->at = r->at->parent;
        r->depth--;
        break;
    case MD_BLOCK_TABLE:
    case MD_BLOCK_TR:
        end_leaf(r);
        r->at = r->at->parent;
        r->depth--;
        break;
    case MD_BLOCK_TH:
    case MD_BLOCK_TD:
        if (r->column < MARKDOWN_COLUMNS)
            end_leaf(r);
        break;
    case MD_BLOCK_DOC:
    case MD_BLOCK_H:
    case MD_BLOCK_CODE:
    case MD_BLOCK_P:
        end_leaf(r);
        break;
    default:
        break;
    }
    return r->wrong ? -1 : 0;
}

/* md4c names no paragraph in an item of a tight list. */
static void imply_paragraph(struct reader *r)
{
    if (!r->leaf)
        begin_leaf(r, MARKDOWN_PARAGRAPH);
}

static void begin_image(struct reader *r, struct span source)
{
    if (r->soft && !r->image) {
        r->soft = false;
        add_text(r, SPAN_LIT(" "));
    }
    if (r->image++)
        return;
    r->image_source = source;
    r->image_at = r->text.n;
}

static void end_image(struct reader *r)
{
    if (!r->image || --r->image)
        return;
    struct piece *piece = add_piece(r, RUN_IMAGE);
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
    struct reader *r = arg;
    imply_paragraph(r);
    if (type == MD_SPAN_A)
        r->href = attribute_text(r, &((MD_SPAN_A_DETAIL *)detail)->href);
    else if (type == MD_SPAN_IMG)
        begin_image(r, attribute_text(r, &((MD_SPAN_IMG_DETAIL *)detail)->src));
    else
        count_style(r->styles, span_style(type), true);
    return r->wrong ? -1 : 0;
}

static int leave_span(MD_SPANTYPE type, void *detail, void *arg)
{
    struct reader *r = arg;
    (void)detail;
    if (type == MD_SPAN_A)
        r->href = span_of("", 0);
    else if (type == MD_SPAN_IMG)
        end_image(r);
    else
        count_style(r->styles, span_style(type), false);
    return r->wrong ? -1 : 0;
}

static void add_entity(struct reader *r, struct span entity)
{
    char utf8[UTF8_MAX];
    unsigned c = markdown_entity(entity);
    if (c == 0 || (c < 0x20 && c != '\t' && c != '\n') || (c >= 0x7f && c < 0xa0))
        add_text(r, entity);
    else
        add_text(r, c == '\n' ? SPAN_LIT(" ") : span_of(utf8, utf8_put(c, utf8)));
}

static void add_html(struct reader *r, struct span html)
{
    struct markdown_tag tag = markdown_html_read(html);
    switch (tag.means) {
    case HTML_TEXT:
        add_text(r, html);
        break;
    case HTML_NOTHING:
        break;
    case HTML_SPACE:
        add_text(r, SPAN_LIT(" "));
        break;
    case HTML_LINE:
        if (r->pieces_n && r->pieces[r->pieces_n - 1].type != RUN_BREAK)
            add_break(r);
        r->soft = false;
        break;
    case HTML_PAGE:
        r->page = true;
        break;
    case HTML_STYLE:
    case HTML_STYLE_END:
        count_style(r->html_styles, tag.style, tag.means == HTML_STYLE);
        break;
    case HTML_LINK:
        r->html_href = arena_copy(&r->markdown->arena, tag.target);
        break;
    case HTML_LINK_END:
        r->html_href = span_of("", 0);
        break;
    case HTML_IMAGE:
        begin_image(r, arena_copy(&r->markdown->arena, tag.target));
        add_text(r, tag.words);
        end_image(r);
        break;
    }
}

/* A bar within code in a table is written with a backslash before it, which stays there. */
static void add_code(struct reader *r, struct span code)
{
    if (!r->leaf || r->leaf->type != MARKDOWN_CELL) {
        add_text(r, code);
        return;
    }
    size_t from = 0;
    for (size_t i = 0; i + 1 < code.n; i++)
        if (code.p[i] == '\\' && code.p[i + 1] == '|') {
            add_text(r, span_of(code.p + from, i - from));
            from = i + 1;
        }
    add_text(r, span_from(code, from));
}

static int text(MD_TEXTTYPE type, const MD_CHAR *p, MD_SIZE n, void *arg)
{
    struct reader *r = arg;
    struct span s = span_of(p, n);
    imply_paragraph(r);
    switch (type) {
    case MD_TEXT_BR:
        add_break(r);
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
        add_text(r, SPAN_LIT("\xef\xbf\xbd"));
        break;
    case MD_TEXT_NORMAL:
    case MD_TEXT_LATEXMATH:
        add_text(r, s);
        break;
    }
    return r->wrong ? -1 : 0;
}

/* ---- documents ---- */

static void parse_into(struct reader *r, struct markdown_block *block, struct span source)
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
        refuse(r, "could not be read");
    end_leaf(r);
}

/* Definitions without a mention come last, as they are written. */
static void add_notes(struct reader *r)
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
        begin_leaf(r, MARKDOWN_PARAGRAPH);
        add_text(r, SPAN_LIT("[^"));
        add_text(r, d->id);
        add_text(r, SPAN_LIT("]:"));
        end_leaf(r);
        parse_into(r, m->document, d->text);
    }
}

/* Two definitions of one id: only the first is found by it, so the second has no number. */
struct markdown *markdown_parse(struct span source, const char **wrong)
{
    struct markdown *m = xcalloc(1, sizeof *m);
    const struct span none = {"", 0};
    struct reader r = {.markdown = m, .href = none, .html_href = none, .image_source = none};
    buf_init(&r.text, MARKDOWN_SOURCE * 2);
    m->document = arena_take(&m->arena, sizeof *m->document);
    if (markdown_source_init(&r.source, source))
        refuse(&r, "is larger than the limit");
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

int markdown_plain(const struct markdown_run *runs, struct buf *out)
{
    for (const struct markdown_run *run = runs; run; run = run->next) {
        if (run->type == RUN_BREAK)
            buf_addc(out, ' ');
        else if (run->type != RUN_NOTE)
            buf_add(out, run->text);
    }
    return buf_full(out) ? -1 : 0;
}

bool markdown_link_allowed(struct span href)
{
    static const char *const schemes[] = {"http://", "https://", "mailto:"};
    for (size_t i = 0; i < sizeof schemes / sizeof schemes[0]; i++) {
        size_t n = strlen(schemes[i]);
        if (href.n > n && strncasecmp(href.p, schemes[i], n) == 0)
            return true;
    }
    return false;
}

bool markdown_is_rtl(const struct markdown_run *runs)
{
    static const char *const letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
    for (const struct markdown_run *run = runs; run; run = run->next) {
        if (run->type != RUN_TEXT || (run->style & STYLE_CODE))
            continue;
        for (size_t i = 0, n; i < run->text.n; i += n) {
            uint32_t c = utf8_next(run->text.p + i, run->text.p + run->text.n, &n);
            if ((c < 0x80 && strchr(letters, (int)c) && c) || (c >= 0xc0 && c != 0xd7 && c != 0xf7))
                return office_is_rtl(span_from(run->text, i));
        }
    }
    return false;
}
