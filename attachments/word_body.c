/* Paragraphs: what kind of block each one is, and which container it is in. */
#include <stdio.h>
#include <stdlib.h>

#include "attachments/office_chart.h"
#include "attachments/office_diagram.h"
#include "attachments/word.h"

/* What a paragraph's own properties and its style say together. */
struct paragraph {
    const struct word_style *style;
    int heading; /* 0: none */
    int number, level;
    long left, hanging; /* WORD_NONE: not said */
    bool mark_deleted, ruled;
};

static long number_of(const struct xml_node *node, const char *attribute, long otherwise)
{
    const char *value = xml_get(node, attribute);
    char *end;
    long n = value ? strtol(value, &end, 10) : 0;
    return value && end != value && n >= -1000000 && n <= 1000000 ? n : otherwise;
}

static struct paragraph describe(struct word *w, const struct xml_node *node)
{
    const struct xml_node *pPr = xml_at(node, "pPr"), *ind = xml_at(pPr, "ind");
    const char *style = xml_get(xml_at(pPr, "pStyle"), "val");
    struct paragraph p = {.style = style ? word_style_find(&w->styles, style) : w->styles.paragraph};
    long outline = number_of(xml_at(pPr, "outlineLvl"), "val", WORD_NONE);
    p.heading = outline >= 0 && outline < 9 ? (int)outline + 1 : outline == 9 ? 0 : p.style->heading;
    if (p.heading <= 0)
        p.heading = p.style->title ? 1 : 0;
    p.number = (int)number_of(xml_at(pPr, "numPr/numId"), "val", WORD_NONE);
    p.level = (int)number_of(xml_at(pPr, "numPr/ilvl"), "val", WORD_NONE);
    if (p.number == WORD_NONE && p.style->number > 0) {
        p.number = p.style->number;
        if (p.level == WORD_NONE)
            p.level = word_level_of_style(&w->numbering, p.number, p.style->id, p.style->level);
    }
    p.level = p.level < 0 ? 0 : p.level;
    p.left = number_of(ind, "left", number_of(ind, "start", p.style->left));
    p.hanging = number_of(ind, "hanging", WORD_NONE);
    p.mark_deleted = xml_at(pPr, "rPr/del") || xml_at(pPr, "rPr/moveFrom");
    p.ruled = xml_at(pPr, "pBdr/bottom") && !p.style->code;
    return p;
}

static void end_items(struct word *w, unsigned to)
{
    for (; w->flow.items > to; w->flow.items--)
        markup_leave(w->m);
}

static void end_code(struct word *w)
{
    if (w->flow.code)
        markup_end(w->m);
    w->flow.code = false;
}

static void end_quote(struct word *w)
{
    if (w->flow.quote)
        markup_leave(w->m);
    w->flow.quote = false;
}

void word_flow_end(struct word *w)
{
    if (w->flow.joined)
        markup_end(w->m);
    w->flow.joined = false;
    end_code(w);
    end_items(w, 0);
    end_quote(w);
}

int word_flow(struct word *w, const struct xml_node *node)
{
    struct word_flow around = w->flow;
    struct word_later *later = w->later, **later_end = w->later_end;
    unsigned depth = w->n_fields;
    w->flow = (struct word_flow){.table = around.table, .head = around.head};
    w->later = NULL;
    w->later_end = &w->later;
    int answer = word_blocks(w, node);
    word_fields_end(w, depth);
    word_flow_end(w);
    w->flow = around;
    w->later = later;
    w->later_end = later ? later_end : &w->later;
    return answer;
}

/* A label that is more than a number: "1.2", "Article 3", "(a-1)". */
static bool says_more(const char *text)
{
    unsigned places = 0;
    for (const char *p = text; *p; p++) {
        if (p[0] == '%' && p[1] >= '1' && p[1] <= '9') {
            places++;
            p++;
        } else if ((*p | 0x20) >= 'a' && (*p | 0x20) <= 'z')
            return true;
    }
    return places > 1;
}

static void enter_item(struct word *w, unsigned level, const char *marker, long left)
{
    end_items(w, level);
    while (w->flow.items < level) { /* a level that was jumped over */
        markup_item(w->m, NULL);
        w->flow.lefts[w->flow.items++] = 0;
    }
    markup_item(w->m, marker);
    w->flow.lefts[w->flow.items++] = left;
}

/* A numbered paragraph that is no heading. */
static void item(struct word *w, const struct paragraph *p, const struct word_level *level)
{
    struct buf label;
    char marker[32] = "-";
    unsigned depth = p->level < WORD_LEVELS - 1 ? (unsigned)p->level : WORD_LEVELS - 1;
    buf_init(&label, 4096);
    long n = word_number_next(&w->numbering, p->number, p->level, &label);
    if (strcmp(level->format, "bullet") != 0) {
        if (says_more(level->text) && label.n < 28 && label.n > 0)
            snprintf(marker, sizeof marker, "%s", buf_cstr(&label));
        else
            snprintf(marker, sizeof marker, "%ld.", n);
    }
    buf_free(&label);
    bool unmarked = !strcmp(level->format, "none") && !level->text[0];
    enter_item(w, depth, unmarked ? NULL : marker,
               p->left != WORD_NONE && p->left > 0 ? p->left : level->left);
}

/* A paragraph without a number that is indented like an item's text goes on with that item. */
static void continue_item(struct word *w, const struct paragraph *p)
{
    unsigned depth = 0;
    while (depth < w->flow.items && p->left > 0 && w->flow.lefts[depth] > 0 &&
           p->left >= w->flow.lefts[depth])
        depth++;
    end_items(w, p->heading ? 0 : depth);
}

/* Check boxes that people draw as characters at the beginning of an indented line are tasks. */
static bool is_task(const struct xml_node *node, const struct paragraph *p)
{
    const struct xml_node *t = p->hanging > 0 ? xml_find(node, "t") : NULL;
    struct span text = t && t->first ? t->first->text : SPAN_LIT("");
    return span_starts(text, "☐") || span_starts(text, "☑") || span_starts(text, "☒");
}

static void begin_paragraph(struct word *w, const struct xml_node *node, const struct paragraph *p)
{
    const struct word_level *level =
        p->number > 0
            ? word_level_find(&w->numbering, p->number, p->level < WORD_LEVELS ? p->level : WORD_LEVELS - 1)
            : NULL;
    struct buf label;
    buf_init(&label, 4096);
    if (!p->style->code)
        end_code(w);
    if (!p->style->quote)
        end_quote(w);
    if (p->heading) {
        end_items(w, 0);
        if (level && strcmp(level->format, "bullet") != 0)
            word_number_next(&w->numbering, p->number, p->level, &label);
    } else if (level)
        item(w, p, level);
    else if (is_task(node, p)) {
        continue_item(w, &(struct paragraph){.left = p->left - p->hanging});
        enter_item(w, w->flow.items, "-", p->left);
    } else if (!w->flow.code)
        continue_item(w, p);
    if (p->style->quote && !w->flow.quote && !p->heading && !w->flow.items) {
        markup_quote(w->m);
        w->flow.quote = true;
    }
    if (p->style->code && !p->heading) {
        if (w->flow.code)
            markup_break(w->m);
        else
            markup_begin(w->m, MARKUP_CODE, 0);
        w->flow.code = true;
    } else
        markup_begin(w->m, p->heading ? MARKUP_HEADING : MARKUP_PARAGRAPH, (unsigned)p->heading);
    if (label.n) {
        markup_text(w->m, buf_span(&label), 0);
        markup_text(w->m, SPAN_LIT(" "), 0);
    }
    buf_free(&label);
    if (w->lead)
        markup_text(w->m, span_str(w->lead), 0);
    w->lead = NULL;
}

/* Text boxes, charts and diagrams of the paragraph that has just ended. */
static int write_later(struct word *w)
{
    struct word_later *later = w->later;
    w->later = NULL;
    w->later_end = &w->later;
    int answer = 0;
    for (; later && answer == 0; later = later->next)
        answer = later->node      ? word_flow(w, later->node)
                 : later->chart   ? office_chart_write(w->archive, later->chart, w->m)
                 : later->diagram ? office_diagram_write(w->archive, later->diagram, w->m)
                                  : 0;
    return answer;
}

static int paragraph(struct word *w, const struct xml_node *node)
{
    struct paragraph p = describe(w, node);
    if ((p.style->look.on & WORD_HIDDEN) && !xml_find(node, "vanish") && !xml_find(node, "rStyle"))
        return 0;
    if (!w->flow.joined)
        begin_paragraph(w, node, &p);
    if (word_runs(w, node, p.style))
        return -1;
    w->flow.joined = p.mark_deleted && !w->flow.code;
    if (w->flow.joined)
        return write_later(w);
    if (!w->flow.code)
        markup_end(w->m);
    if (p.ruled && !xml_find(node, "r") && !xml_find(node, "oMath"))
        markup_line(w->m, "---");
    return write_later(w);
}

bool word_is_gone(const struct xml_node *node)
{
    size_t n = strlen(node->name);
    return !strcmp(node->name, "del") || !strcmp(node->name, "moveFrom") ||
           (n > 6 && !strcmp(node->name + n - 6, "Change"));
}

const struct xml_node *word_alternative(const struct xml_node *node)
{
    const struct xml_node *choice = xml_at(node, "Choice");
    return choice ? choice : xml_at(node, "Fallback");
}

int word_check_box(const struct xml_node *sdt)
{
    const struct xml_node *box = xml_at(sdt, "sdtPr/checkbox");
    if (!box)
        return WORD_NONE;
    return word_switch(xml_at(box, "checked")) == 1;
}

int word_block(struct word *w, const struct xml_node *node)
{
    if (!node->name || word_is_gone(node) || markup_stopped(w->m))
        return w->x->status == RENDER_OK ? 0 : -1;
    if (!strcmp(node->name, "p"))
        return paragraph(w, node);
    if (!strcmp(node->name, "tbl")) {
        word_flow_end(w);
        return word_table(w, node);
    }
    if (!strcmp(node->name, "sdt"))
        return word_blocks(w, xml_at(node, "sdtContent"));
    if (!strcmp(node->name, "AlternateContent"))
        return word_blocks(w, word_alternative(node));
    if (!strcmp(node->name, "altChunk"))
        return word_chunk(w, node);
    if (!strcmp(node->name, "subDoc")) {
        const struct office_relation *r = office_relation_by_id(&w->relations, xml_get_prefixed(node, "id"));
        word_flow_end(w);
        markup_line(w->m, "(The document %s belongs here; it is not part of this file.)",
                    extraction_name(span_str(office_base_name(r ? r->target : ""))).text);
        return 0;
    }
    if (!strcmp(node->name, "sectPr") || !strcmp(node->name, "sdtPr"))
        return 0;
    return word_blocks(w, node);
}

int word_blocks(struct word *w, const struct xml_node *node)
{
    for (const struct xml_node *child = node ? node->first : NULL; child; child = child->next)
        if (word_block(w, child))
            return -1;
    return 0;
}
