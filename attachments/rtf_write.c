/* Paragraphs, lists, tables, links and notes of an RTF document. */
#include <stdio.h>

#include "attachments/rtf.h"

/* ---- tables ---- */

/* How many cells the one of this number stands for, and the flags of it. */
static unsigned cell_width(const struct rtf *r)
{
    unsigned n = 1;
    if (r->cell_number < r->n_cells && r->cells[r->cell_number] & RTF_MERGE_FIRST)
        while (r->cell_number + n < r->n_cells && r->cells[r->cell_number + n] & RTF_MERGED)
            n++;
    return n;
}

static void open_cell(struct rtf *r)
{
    unsigned flags = r->cell_number < r->n_cells ? r->cells[r->cell_number] : 0;
    if (!r->table)
        markup_table(r->m);
    if (!r->row)
        markup_row(r->m);
    r->table = r->row = r->cell = true;
    r->dropped = (flags & RTF_MERGED) || (flags & RTF_MERGED_ABOVE);
    if (flags & RTF_MERGED)
        return; /* it was written with the first of them */
    if (flags & RTF_MERGED_ABOVE)
        markup_cell_above(r->m, cell_width(r));
    else
        markup_cell(r->m, cell_width(r), 1);
    if (r->cell_number < r->n_cells)
        markup_cell_edges(r->m, &r->edges[r->cell_number], cell_width(r));
}

static void end_paragraph(struct rtf *r)
{
    if (r->open)
        markup_end(r->m);
    r->open = false;
}

static void end_cell(struct rtf *r)
{
    if (!r->cell)
        open_cell(r);
    end_paragraph(r);
    if (!r->dropped)
        markup_cell_end(r->m);
    r->cell = r->dropped = false;
    r->marker[0] = r->number[0] = '\0'; /* a cell's end is its last paragraph's */
    r->cell_number++;
}

static void end_row(struct rtf *r)
{
    if (r->cell)
        end_cell(r);
    r->row = false;
    r->cell_number = 0;
}

static void leave_lists(struct rtf *r, unsigned depth)
{
    for (; r->lists > depth; r->lists--)
        markup_leave(r->m);
}

static void end_table(struct rtf *r)
{
    end_row(r);
    if (r->table)
        markup_table_end(r->m);
    r->table = false;
}

/* ---- paragraphs ---- */

static void begin_item(struct rtf *r)
{
    leave_lists(r, r->list_level);
    for (; r->lists < r->list_level; r->lists++)
        markup_item(r->m, NULL);
    markup_item(r->m, r->marker);
    r->lists++;
    r->marker[0] = '\0';
}

/* What is not there before the first text of a paragraph. */
static void begin_paragraph(struct rtf *r)
{
    if (r->in_table) {
        if (!r->table)
            leave_lists(r, 0);
        if (!r->cell)
            open_cell(r);
    } else {
        end_table(r);
        if (r->marker[0] && !r->heading) /* a heading is no item of a list */
            begin_item(r);
        else
            leave_lists(r, 0);
    }
    if (r->heading) {
        markup_begin(r->m, MARKUP_HEADING, r->heading);
        markup_text(r->m, span_str(r->number), 0);
        markup_text(r->m, span_of(" ", r->number[0] != '\0'), 0);
    } else {
        markup_begin(r->m, MARKUP_PARAGRAPH, 0);
    }
    r->number[0] = '\0';
    r->open = true;
}

void rtf_body(struct rtf *r, struct span text, unsigned style)
{
    if (r->cell && r->dropped)
        return;
    if (!r->open)
        begin_paragraph(r);
    if (!r->dropped)
        markup_text(r->m, text, style);
}

static void set_cell_flag(struct rtf *r, unsigned flag)
{
    r->cell_flags = (uint8_t)(r->cell_flags | flag);
}

static void define_cell(struct rtf *r, long edge)
{
    if (r->n_cells < RTF_CELLS) {
        r->edges[r->n_cells] = (int32_t)edge; /* of at most RTF_PARAMETER digits */
        r->cells[r->n_cells++] = r->cell_flags;
    }
    r->cell_flags = 0;
}

void rtf_block(struct rtf *r, const struct rtf_word *w, long n)
{
    switch (w->action) {
    case RTF_PARAGRAPH:
        end_paragraph(r);
        r->marker[0] = r->number[0] = '\0';
        return;
    case RTF_LINE:
        if (r->open)
            markup_break(r->m);
        return;
    case RTF_PARAGRAPH_DEFAULTS:
        r->heading = r->list_level = 0;
        r->in_table = false;
        return;
    case RTF_STYLE_NUMBER:
        r->heading = n >= 0 && n < RTF_STYLES ? r->headings[n] : 0;
        return;
    case RTF_OUTLINE:
        r->heading = n >= 0 && n < 9 ? (unsigned)n + 1 : 0;
        return;
    case RTF_LEVEL:
        r->list_level = n >= 0 && n < 16 ? (unsigned)n : 0;
        return;
    case RTF_IN_TABLE:
        r->in_table = true;
        return;
    case RTF_ROW_DEFAULTS:
        r->n_cells = 0;
        r->cell_flags = 0;
        return;
    case RTF_CELL_FLAG:
        set_cell_flag(r, w->arg);
        return;
    case RTF_CELL_DEFINED:
        define_cell(r, n);
        return;
    case RTF_CELL:
        end_cell(r);
        return;
    case RTF_ROW:
        end_row(r);
        return;
    case RTF_INNER_CELL:
        rtf_body(r, SPAN_LIT(" | "), 0);
        return;
    case RTF_INNER_ROW:
        end_paragraph(r);
        return;
    default:
        return;
    }
}

/* "1.", "2)" and the like are numbers; letters stay beside a dash; everything else is a bullet.
 * A heading keeps its number as it is printed. */
void rtf_take_marker(struct rtf *r)
{
    char text[12];
    size_t n = 0, digits = 0;
    struct span s = buf_span(&r->caught);
    for (size_t i = 0; i < s.n && n < sizeof text - 1; i++)
        if (s.p[i] > ' ' && s.p[i] < 0x7f)
            text[n++] = s.p[i];
    text[n] = '\0';
    while (digits < n && text[digits] >= '0' && text[digits] <= '9')
        digits++;
    bool letters = n > 1 && (text[n - 1] == '.' || text[n - 1] == ')') && text[0] != '.' && text[0] != ')';
    if (digits)
        snprintf(r->marker, sizeof r->marker, "%.*s.", (int)digits, text);
    else
        snprintf(r->marker, sizeof r->marker, letters ? "- %s" : "-", text);
    snprintf(r->number, sizeof r->number, "%s", digits || letters ? text : "");
    buf_reset(&r->caught);
}

/* ---- pictures, links, notes ---- */

void rtf_picture(struct rtf *r)
{
    static const char *const endings[] = {
        [RTF_WMF] = "wmf", [RTF_EMF] = "emf", [RTF_PNG] = "png", [RTF_JPEG] = "jpg"};
    char name[32];
    snprintf(name, sizeof name, "image%u.%s", ++r->pictures, endings[r->picture]);
    rtf_body(r, SPAN_LIT(""), 0);
    if (!r->dropped)
        markup_image(r->m, SPAN_LIT(""), span_str(name));
}

/* ` HYPERLINK "https://…" \o "tip" `: an address that stays in the document has no quotation mark before it.
 */
void rtf_begin_result(struct rtf *r)
{
    struct span s = buf_span(&r->caught);
    while (s.n && s.p[0] == ' ')
        s = span_from(s, 1);
    buf_reset(&r->url);
    if (s.n > 10 && strncasecmp(s.p, "HYPERLINK ", 10) == 0) {
        s = span_from(s, 10);
        while (s.n && s.p[0] == ' ')
            s = span_from(s, 1);
        const char *end = s.n && s.p[0] == '"' ? memchr(s.p + 1, '"', s.n - 1) : NULL;
        struct span url = end ? span_of(s.p + 1, (size_t)(end - s.p) - 1) : span_of("", 0);
        if ((url.n > 7 && !strncasecmp(url.p, "http://", 7)) ||
            (url.n > 8 && !strncasecmp(url.p, "https://", 8)) ||
            (url.n > 7 && !strncasecmp(url.p, "mailto:", 7)))
            buf_add(&r->url, url);
    }
    buf_reset(&r->caught);
    if (!r->url.n)
        return;
    rtf_body(r, SPAN_LIT(""), 0);
    markup_link(r->m, buf_span(&r->url));
}

bool rtf_is_note(enum rtf_destination destination)
{
    return destination == RTF_FOOTNOTE || destination == RTF_COMMENT;
}

void rtf_begin_note(struct rtf *r, enum rtf_destination kind)
{
    struct rtf_note note = {
        .kind = kind, .author = kind == RTF_COMMENT ? r->author : r->notes.n, .text = r->notes.n};
    if (kind == RTF_FOOTNOTE) {
        rtf_body(r, SPAN_LIT(""), 0);
        if (!r->dropped)
            markup_note(r->m, note.number = markup_note_next(r->m));
    }
    buf_addn(&r->note_list, &note, sizeof note);
}

static struct rtf_note note_at(const struct rtf *r, size_t i)
{
    struct rtf_note note;
    memcpy(&note, buf_span(&r->note_list).p + i * sizeof note, sizeof note);
    return note;
}

/* The list is short of one that it had no room for; then the text had none either, and it was refused. */
void rtf_end_note(struct rtf *r)
{
    size_t n = r->note_list.n / sizeof(struct rtf_note);
    if (n == 0 || buf_full(&r->note_list)) {
        extraction_fail(r->x, RENDER_LIMIT, "has too many notes and comments.");
        return;
    }
    struct rtf_note note = note_at(r, n - 1);
    note.end = r->notes.n;
    r->author = r->notes.n;
    buf_cut(&r->note_list, (n - 1) * sizeof note);
    buf_addn(&r->note_list, &note, sizeof note);
}

static void write_note(struct rtf *r, const struct rtf_note *note)
{
    char head[32];
    struct span all = buf_span(&r->notes), text = span_of(all.p + note->text, note->end - note->text),
                author = span_of(all.p + note->author, note->text - note->author);
    if (note->kind == RTF_COMMENT) {
        markup_quote(r->m);
        markup_begin(r->m, MARKUP_PARAGRAPH, 0);
        markup_text(r->m, author.n ? SPAN_LIT("Comment (") : SPAN_LIT("Comment"), 0);
        markup_text(r->m, author, 0);
        markup_text(r->m, author.n ? SPAN_LIT("): ") : SPAN_LIT(": "), 0);
    } else {
        snprintf(head, sizeof head, "[^%u]:", note->number);
        markup_item(r->m, head);
        markup_begin(r->m, MARKUP_PARAGRAPH, 0);
    }
    while (text.n && text.p[0] == ' ')
        text = span_from(text, 1);
    markup_text(r->m, text, 0);
    markup_end(r->m);
    markup_leave(r->m);
}

void rtf_finish(struct rtf *r)
{
    end_paragraph(r);
    end_table(r);
    leave_lists(r, 0);
    static const enum rtf_destination kinds[] = {RTF_FOOTNOTE, RTF_COMMENT};
    for (size_t pass = 0; pass < sizeof kinds / sizeof kinds[0]; pass++)
        for (size_t i = 0; i < r->note_list.n / sizeof(struct rtf_note); i++) {
            struct rtf_note note = note_at(r, i);
            if (note.end < note.text)
                note.end = r->notes.n; /* the document ends inside of it */
            if (note.kind == kinds[pass] && (note.kind == RTF_COMMENT || note.number))
                write_note(r, &note);
        }
}
