#include "artifacts/markdown_leaf.h"

#include "artifacts/office_xml.h"
#include "artifacts/utf8.h"
#include "base/xalloc.h"

int markdown_leaf_refuse(struct markdown_reader *r, const char *why)
{
    if (!r->wrong)
        r->wrong = why;
    return -1;
}

int markdown_leaf_count(struct markdown_reader *r)
{
    return ++r->nodes > MARKDOWN_NODES ? markdown_leaf_refuse(r, "has too many parts") : 0;
}

struct markdown_block *markdown_leaf_block(struct markdown_reader *r, enum markdown_type type)
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
    markdown_leaf_count(r);
    return block;
}

/* ---- runs ---- */

static unsigned style_now(const struct markdown_reader *r)
{
    unsigned style = 0;
    for (unsigned i = 0; i < MARKDOWN_STYLES; i++)
        if (r->styles[i] || r->html_styles[i])
            style |= 1u << i;
    return style;
}

void markdown_leaf_style(unsigned counts[MARKDOWN_STYLES], unsigned style, bool begins)
{
    for (unsigned i = 0; i < MARKDOWN_STYLES; i++)
        if (style & 1u << i) {
            if (begins)
                counts[i]++;
            else if (counts[i])
                counts[i]--;
        }
}

struct markdown_piece *markdown_leaf_piece(struct markdown_reader *r, enum markdown_run_type type)
{
    if (r->pieces_n == r->pieces_room) {
        r->pieces_room = r->pieces_room ? r->pieces_room * 2 : 64;
        r->pieces = xrealloc(r->pieces, r->pieces_room * sizeof *r->pieces);
    }
    struct markdown_piece *piece = &r->pieces[r->pieces_n++];
    *piece = (struct markdown_piece){.type = type,
                                     .style = style_now(r),
                                     .at = r->text.n,
                                     .href = r->href.n ? r->href : r->html_href,
                                     .source = {"", 0}};
    markdown_leaf_count(r);
    return piece;
}

/* A line's end in the source is a blank, but not between characters of scripts that have none. */
static void end_soft(struct markdown_reader *r, struct span next)
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

void markdown_leaf_text(struct markdown_reader *r, struct span text)
{
    if (!r->leaf || !text.n)
        return;
    struct markdown_piece *last = r->pieces_n ? &r->pieces[r->pieces_n - 1] : NULL;
    struct span href = r->href.n ? r->href : r->html_href;
    bool joins = last && last->type == RUN_TEXT && last->style == style_now(r) &&
                 (last->href.p == href.p || (!last->href.n && !href.n));
    if (!r->image && !joins) {
        /* The blank goes to whichever of the two shows no style. */
        if (r->soft && last && last->type == RUN_TEXT && !last->style && !last->href.n) {
            end_soft(r, text);
            last->n = r->text.n - last->at;
        }
        last = markdown_leaf_piece(r, RUN_TEXT);
        joins = true;
    }
    if (r->soft)
        end_soft(r, text);
    buf_add(&r->text, text);
    if (!r->image)
        last->n = r->text.n - last->at;
    if (buf_full(&r->text))
        markdown_leaf_refuse(r, "has too much text");
}

void markdown_leaf_break(struct markdown_reader *r)
{
    if (r->image)
        markdown_leaf_text(r, SPAN_LIT(" "));
    else if (r->leaf)
        markdown_leaf_piece(r, RUN_BREAK);
    r->soft = false;
}

static struct markdown_run *add_run(struct markdown_reader *r, struct markdown_run ***end,
                                    const struct markdown_piece *piece)
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
static void add_text_runs(struct markdown_reader *r, struct markdown_run ***end,
                          const struct markdown_piece *piece, struct span text)
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
        if (markdown_leaf_count(r))
            return;
    }
    if (from < text.n)
        add_run(r, end, piece)->text = span_from(text, from);
}

static void clear_scratch(struct markdown_reader *r)
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

void markdown_leaf_end(struct markdown_reader *r)
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
        markdown_leaf_block(r, MARKDOWN_PAGE_BREAK);
}

void markdown_leaf_begin(struct markdown_reader *r, enum markdown_type type)
{
    markdown_leaf_end(r);
    r->leaf = markdown_leaf_block(r, type);
}
