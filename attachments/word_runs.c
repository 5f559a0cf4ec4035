/* Runs: text and everything else that stands in a paragraph. */
#include <stdlib.h>

#include "attachments/office_math.h"
#include "attachments/word.h"

/* What the styles around a run say of it goes along. */
struct runs {
    struct word *w;
    struct word_look table, paragraph;
};

static int inside(struct runs *r, const struct xml_node *node);

/* ---- fields (17.16) ---- */

static bool in_instruction(const struct word *w)
{
    for (unsigned i = 0; i < w->n_fields; i++)
        if (!w->fields[i].result)
            return true;
    return false;
}

static void end_field(struct word *w)
{
    struct word_field *field = &w->fields[--w->n_fields];
    if (field->link)
        markup_link_end(w->m);
    buf_free(&field->instruction);
}

void word_fields_end(struct word *w, unsigned depth)
{
    while (w->n_fields > depth)
        end_field(w);
}

/* The place in a document that is linked, from what follows its address: \l "place" \o "hint". */
static struct span place_of(struct span code)
{
    const char *at = code.n ? memmem(code.p, code.n, "\\l \"", 4) : NULL;
    if (!at)
        return SPAN_LIT("");
    struct span place = span_from(code, (size_t)(at - code.p) + 4);
    const char *end = memchr(place.p, '"', place.n);
    return span_of(place.p, end ? (size_t)(end - place.p) : 0);
}

/* HYPERLINK "address" \l "place" \o "hint": what it leads to; nothing for places in the document itself. */
static bool address_of(struct span code, struct buf *url)
{
    while (code.n && code.p[0] == ' ')
        code = span_from(code, 1);
    if (code.n < 10 || !span_is_nocase(span_of(code.p, 9), "HYPERLINK"))
        return false;
    code = span_from(code, 9);
    while (code.n && code.p[0] == ' ')
        code = span_from(code, 1);
    if (code.n < 2 || code.p[0] == '\\')
        return false;
    char end = code.p[0] == '"' ? '"' : ' ';
    code = span_from(code, end == '"');
    const char *close = memchr(code.p, end, code.n);
    size_t n = close ? (size_t)(close - code.p) : code.n;
    struct span place = place_of(span_from(code, n));
    buf_add(url, span_of(code.p, n));
    if (n && place.n && !memchr(code.p, '#', n)) {
        buf_addc(url, '#');
        buf_add(url, place);
    }
    return n > 0;
}

static void check_box_field(struct word *w, const struct xml_node *fldChar)
{
    const struct xml_node *box = xml_at(fldChar, "ffData/checkBox");
    const struct xml_node *checked = xml_at(box, "checked");
    if (!box)
        return;
    int on = word_switch(checked ? checked : xml_at(box, "default"));
    markup_text(w->m, on == 1 ? SPAN_LIT("[x]") : SPAN_LIT("[ ]"), 0);
}

/* A drop-down list of a form has no result; what was chosen is the n-th of its entries. */
static void list_field(struct word *w, const struct xml_node *fldChar)
{
    const struct xml_node *list = xml_at(fldChar, "ffData/ddList"), *entry = list ? list->first : NULL;
    const char *chosen = xml_get(xml_at(list, "result"), "val");
    if (!chosen)
        chosen = xml_get(xml_at(list, "default"), "val");
    unsigned long n = chosen ? strtoul(chosen, NULL, 10) : 0;
    for (; entry; entry = entry->next)
        if (xml_is(entry, "listEntry") && n-- == 0)
            break;
    if (xml_get(entry, "val"))
        markup_text(w->m, span_str(xml_get(entry, "val")), 0);
}

static void field_character(struct word *w, const struct xml_node *node)
{
    const char *type = xml_get(node, "fldCharType");
    if (!type)
        return;
    if (!strcmp(type, "begin")) {
        if (!in_instruction(w)) {
            check_box_field(w, node);
            list_field(w, node);
        }
        if (w->n_fields == WORD_FIELDS) {
            w->deep_fields++;
            return;
        }
        struct word_field *field = &w->fields[w->n_fields++];
        *field = (struct word_field){0};
        buf_init(&field->instruction, 64 * 1024);
    } else if (w->deep_fields) {
        w->deep_fields -= !strcmp(type, "end");
    } else if (!strcmp(type, "separate") && w->n_fields) {
        struct word_field *field = &w->fields[w->n_fields - 1];
        field->result = true;
        struct buf url;
        buf_init(&url, EXTRACT_TEXT);
        if (!in_instruction(w) && address_of(buf_span(&field->instruction), &url)) {
            markup_link(w->m, buf_span(&url));
            field->link = true;
        }
        buf_free(&url);
    } else if (!strcmp(type, "end") && w->n_fields)
        end_field(w);
}

/* ---- characters ---- */

static void symbol(struct word *w, const struct xml_node *node, unsigned look)
{
    static const struct {
        unsigned long code;
        const char *text;
    } known[] = {{0xf0fe, "[x]"}, {0xf0fd, "[x]"}, {0xf052, "[x]"}, {0xf0a8, "[ ]"}, {0xf06f, "[ ]"},
                 {0xf0a3, "[ ]"}, {0xf0fc, "✓"},   {0xf0fb, "✗"},   {0xf0e0, "→"},   {0xf0e8, "→"},
                 {0xf0df, "←"},   {0xf0a7, "▪"},   {0xf0b7, "•"},   {0xf04a, "☺"},   {0xf0b0, "°"},
                 {0xf0b1, "±"},   {0xf0a3, "≤"},   {0xf0b3, "≥"},   {0xf0b9, "≠"},   {0xf0a5, "∞"},
                 {0xf061, "α"},   {0xf062, "β"},   {0xf067, "γ"},   {0xf064, "δ"},   {0xf06d, "μ"},
                 {0xf070, "π"},   {0xf073, "σ"},   {0xf077, "ω"},   {0xf044, "Δ"},   {0xf057, "Ω"}};
    const char *character = xml_get(node, "char"), *font = xml_get(node, "font");
    unsigned long code = character ? strtoul(character, NULL, 16) : 0;
    bool greek = font && !strcmp(font, "Symbol");
    if (code < 0x100)
        code |= 0xf000;
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
        if (known[i].code == code && (i < 14) != greek) {
            markup_text(w->m, span_str(known[i].text), look);
            return;
        }
    markup_text(w->m, SPAN_LIT("\xef\xbf\xbd"), look);
}

/* A box that is drawn as a character, alone or at the beginning, is a check box. */
static void characters(struct word *w, const struct xml_node *t, unsigned look)
{
    static const struct {
        const char *box, *text;
    } boxes[] = {{"☐", "[ ]"}, {"☑", "[x]"}, {"☒", "[x]"}};
    for (const struct xml_node *run = t->first; run; run = run->next) {
        struct span text = run->text;
        for (size_t i = 0; i < sizeof boxes / sizeof boxes[0] && !(look & MARKUP_MONO) && !w->flow.code; i++)
            if (span_starts(text, boxes[i].box) && (text.n == 3 || text.p[3] == ' ' || text.p[3] == '\t')) {
                markup_text(w->m, span_str(boxes[i].text), look);
                text = span_from(text, 3);
            }
        markup_text(w->m, text, look);
    }
}

/* ---- drawings ---- */

static void put_off(struct word *w, struct word_later later)
{
    struct word_later *at = arena_take(&w->memory, sizeof *at);
    *at = later;
    *w->later_end = at;
    w->later_end = &at->next;
}

/* One whose file is not there still has a description. */
static void picture(struct word *w, const char *id, const char *alt)
{
    const struct office_relation *r = office_relation_by_id(&w->relations, id);
    if (r || *alt)
        markup_image(w->m, span_str(alt),
                     span_str(!r            ? ""
                              : r->external ? r->target
                                            : office_base_name(r->target)));
}

/* What another program put there: its picture is named before it, its own file is not read. */
static void embedded(struct word *w, const struct xml_node *node)
{
    const char *program = xml_get(node, "ProgID");
    struct buf words;
    if (program && !strncmp(program, "Equation", 8))
        return;
    buf_init(&words, 4096);
    buf_printf(&words, " (embedded object: %.60s) ", program ? program : "unknown");
    markup_text(w->m, buf_span(&words), 0);
    buf_free(&words);
}

static const char *first_of(const char *a, const char *b)
{
    return a && *a ? a : b;
}

void word_drawing(struct word *w, const struct xml_node *node, const char *alt)
{
    for (const struct xml_node *child = node->first; child; child = child->next) {
        const struct office_relation *r;
        if (!child->name)
            continue;
        if (!strcmp(child->name, "AlternateContent")) {
            if (word_alternative(child))
                word_drawing(w, word_alternative(child), alt);
        } else if (!strcmp(child->name, "docPr") || !strcmp(child->name, "cNvPr"))
            alt = first_of(xml_get(child, "descr"), alt);
        else if (!strcmp(child->name, "txbxContent"))
            put_off(w, (struct word_later){.node = child});
        else if (!strcmp(child->name, "blip"))
            picture(w, first_of(xml_get(child, "embed"), xml_get(child, "link")), alt);
        else if (!strcmp(child->name, "imagedata"))
            picture(w, xml_get_prefixed(child, "id"), first_of(alt, first_of(xml_get(child, "title"), "")));
        else if (!strcmp(child->name, "chart")) {
            if ((r = office_relation_by_id(&w->relations, xml_get_prefixed(child, "id"))) && !r->external)
                put_off(w, (struct word_later){.chart = r->target});
        } else if (!strcmp(child->name, "relIds")) {
            if ((r = office_relation_by_id(&w->relations, xml_get(child, "dm"))) && !r->external)
                put_off(w, (struct word_later){.diagram = r->target});
        } else if (!strcmp(child->name, "OLEObject"))
            embedded(w, child);
        else if (!strcmp(child->name, "textpath") && xml_get(child, "string"))
            markup_text(w->m, span_str(xml_get(child, "string")), 0);
        else {
            /* What describes a picture stands beside the picture, before it. */
            const struct xml_node *own = xml_at(child, "nvPicPr/cNvPr");
            word_drawing(w, child, first_of(xml_get(child, "alt"), first_of(xml_get(own, "descr"), alt)));
        }
    }
}

/* ---- runs ---- */

static void math(struct word *w, const struct xml_node *node)
{
    struct buf latex;
    buf_init(&latex, EXTRACT_TEXT);
    buf_addc(&latex, '$');
    office_math_write(node, &latex);
    buf_addc(&latex, '$');
    if (latex.n > 2)
        markup_verbatim(w->m, buf_span(&latex));
    buf_free(&latex);
}

static int in_run(struct runs *r, const struct xml_node *node, unsigned look)
{
    struct word *w = r->w;
    for (const struct xml_node *c = node->first; c; c = c->next) {
        if (!c->name || word_is_gone(c))
            continue;
        bool silent = in_instruction(w);
        if (!strcmp(c->name, "fldChar"))
            field_character(w, c);
        else if (!strcmp(c->name, "instrText") && w->n_fields && !w->fields[w->n_fields - 1].result)
            xml_text(c, &w->fields[w->n_fields - 1].instruction);
        else if (silent)
            continue;
        else if (!strcmp(c->name, "t"))
            characters(w, c, look);
        else if (!strcmp(c->name, "tab") || !strcmp(c->name, "ptab"))
            markup_text(w->m, w->flow.code ? SPAN_LIT("\t") : SPAN_LIT(" "), look);
        else if (!strcmp(c->name, "br") || !strcmp(c->name, "cr")) {
            const char *type = xml_get(c, "type");
            if (!type || strcmp(type, "page") != 0)
                markup_break(w->m);
            else /* a new page in the middle of a sentence parts two words all the same */
                markup_text(w->m, w->flow.code ? SPAN_LIT("\n") : SPAN_LIT(" "), look);
        } else if (!strcmp(c->name, "noBreakHyphen"))
            markup_text(w->m, SPAN_LIT("-"), look);
        else if (!strcmp(c->name, "sym"))
            symbol(w, c, look);
        else if (!strcmp(c->name, "footnoteReference") || !strcmp(c->name, "endnoteReference"))
            word_note_reference(w, c->name[0] == 'e', xml_get(c, "id"));
        else if (!strcmp(c->name, "drawing") || !strcmp(c->name, "pict") || !strcmp(c->name, "object"))
            word_drawing(w, c, "");
        else if (!strcmp(c->name, "AlternateContent")) {
            const struct xml_node *branch = word_alternative(c);
            if (branch && in_run(r, branch, look))
                return -1;
        } else if (!strcmp(c->name, "ruby")) {
            if (inside(r, xml_at(c, "rubyBase")))
                return -1;
        }
    }
    return 0;
}

static int run(struct runs *r, const struct xml_node *node)
{
    unsigned look = word_look_of(&r->w->styles, r->table, r->paragraph, xml_at(node, "rPr"));
    return look & WORD_HIDDEN ? 0 : in_run(r, node, look);
}

static int hyperlink(struct runs *r, const struct xml_node *node)
{
    const struct office_relation *to = office_relation_by_id(&r->w->relations, xml_get_prefixed(node, "id"));
    bool link = to && to->external && !in_instruction(r->w);
    if (link) {
        const char *place = xml_get(node, "anchor");
        struct buf url;
        buf_init(&url, EXTRACT_TEXT);
        buf_adds(&url, to->target);
        if (place && *place && !strchr(to->target, '#'))
            buf_printf(&url, "#%s", place);
        markup_link(r->w->m, buf_span(&url));
        buf_free(&url);
    }
    int answer = inside(r, node);
    if (link)
        markup_link_end(r->w->m);
    return answer;
}

static int simple_field(struct runs *r, const struct xml_node *node)
{
    const char *code = xml_get(node, "instr");
    struct buf url;
    buf_init(&url, EXTRACT_TEXT);
    bool link = address_of(span_str(code), &url);
    if (link)
        markup_link(r->w->m, buf_span(&url));
    buf_free(&url);
    int answer = inside(r, node);
    if (link)
        markup_link_end(r->w->m);
    return answer;
}

static int inside(struct runs *r, const struct xml_node *node)
{
    int answer = 0;
    for (const struct xml_node *c = node ? node->first : NULL; c && answer == 0; c = c->next) {
        if (!c->name || word_is_gone(c))
            continue;
        if (!strcmp(c->name, "r"))
            answer = run(r, c);
        else if (!strcmp(c->name, "hyperlink"))
            answer = hyperlink(r, c);
        else if (!strcmp(c->name, "fldSimple"))
            answer = simple_field(r, c);
        else if (!strcmp(c->name, "oMath"))
            math(r->w, c);
        else if (!strcmp(c->name, "sdt")) {
            int box = word_check_box(c);
            if (box == WORD_NONE)
                answer = inside(r, xml_at(c, "sdtContent"));
            else
                markup_text(r->w->m, box ? SPAN_LIT("[x]") : SPAN_LIT("[ ]"), 0);
        } else if (!strcmp(c->name, "AlternateContent"))
            answer = inside(r, word_alternative(c));
        else if (strcmp(c->name, "pPr") != 0)
            answer = inside(r, c);
    }
    return answer;
}

int word_runs(struct word *w, const struct xml_node *node, const struct word_style *paragraph)
{
    struct runs r = {w, word_look_in_place(w->flow.table, w->flow.head),
                     word_look_in_place(paragraph, w->flow.head || paragraph->quote)};
    return inside(&r, node);
}
