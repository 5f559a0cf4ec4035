#include "attachments/html.h"

#include <libxml/HTMLparser.h>
#include <libxml/parserInternals.h>
#include <stdio.h>
#include <stdlib.h>

#include "attachments/charset.h"
#include "base/xalloc.h"

enum { META_HEAD = 4096, URL = 4096 };

/* ---- elements ---- */

enum kind {
    INLINE,  /* nothing but perhaps a style */
    BLOCK,   /* text before, in and after it are paragraphs of their own */
    DROPPED, /* with all that is in it */
    MAIN,
    ARTICLE,
    HEADING, /* arg: its level */
    PRE,
    QUOTE,
    LIST, /* arg: 1 has numbers */
    ITEM,
    TERM_TEXT,
    TABLE,
    ROW,
    CELL,
    ANCHOR,
    LINE_BREAK,
    RULE,
    PICTURE,
    INPUT,
    QUOTED,
    ELEMENT /* hidden unless it is open */
};

struct element {
    const char *name;
    enum kind kind;
    unsigned arg; /* style of INLINE */
};

/* Sorted by name. */
static const struct element elements[] = {
    {"a", ANCHOR, 0},
    {"address", BLOCK, 0},
    {"article", ARTICLE, 0},
    {"aside", BLOCK, 0},
    {"b", INLINE, MARKUP_BOLD},
    {"blockquote", QUOTE, 0},
    {"body", BLOCK, 0},
    {"br", LINE_BREAK, 0},
    {"caption", BLOCK, 0},
    {"center", BLOCK, 0},
    {"code", INLINE, MARKUP_MONO},
    {"dd", TERM_TEXT, 0},
    {"del", INLINE, MARKUP_STRIKE},
    {"details", BLOCK, 0},
    {"dialog", ELEMENT, 0},
    {"dir", LIST, 0},
    {"div", BLOCK, 0},
    {"dl", BLOCK, 0},
    {"dt", BLOCK, 0},
    {"em", INLINE, MARKUP_ITALIC},
    {"fieldset", BLOCK, 0},
    {"figcaption", BLOCK, 0},
    {"figure", BLOCK, 0},
    {"footer", BLOCK, 0},
    {"form", BLOCK, 0},
    {"h1", HEADING, 1},
    {"h2", HEADING, 2},
    {"h3", HEADING, 3},
    {"h4", HEADING, 4},
    {"h5", HEADING, 5},
    {"h6", HEADING, 6},
    {"head", DROPPED, 0},
    {"header", BLOCK, 0},
    {"hgroup", BLOCK, 0},
    {"hr", RULE, 0},
    {"html", BLOCK, 0},
    {"i", INLINE, MARKUP_ITALIC},
    {"iframe", DROPPED, 0},
    {"img", PICTURE, 0},
    {"input", INPUT, 0},
    {"kbd", INLINE, MARKUP_MONO},
    {"legend", BLOCK, 0},
    {"li", ITEM, 0},
    {"main", MAIN, 0},
    {"menu", LIST, 0},
    {"nav", DROPPED, 0},
    {"noscript", DROPPED, 0},
    {"ol", LIST, 1},
    {"option", BLOCK, 0},
    {"p", BLOCK, 0},
    {"pre", PRE, 0},
    {"q", QUOTED, 0},
    {"s", INLINE, MARKUP_STRIKE},
    {"samp", INLINE, MARKUP_MONO},
    {"script", DROPPED, 0},
    {"section", BLOCK, 0},
    {"strike", INLINE, MARKUP_STRIKE},
    {"strong", INLINE, MARKUP_BOLD},
    {"style", DROPPED, 0},
    {"sub", INLINE, MARKUP_SUB},
    {"summary", BLOCK, 0},
    {"sup", INLINE, MARKUP_SUPER},
    {"svg", DROPPED, 0},
    {"table", TABLE, 0},
    {"td", CELL, 0},
    {"template", DROPPED, 0},
    {"textarea", BLOCK, 0},
    {"th", CELL, 0},
    {"title", DROPPED, 0},
    {"tr", ROW, 0},
    {"tt", INLINE, MARKUP_MONO},
    {"ul", LIST, 0},
};

static int compare_element(const void *name, const void *element)
{
    return strcmp(name, ((const struct element *)element)->name);
}

static const struct element *find_element(const char *name)
{
    static const struct element other = {"", INLINE, 0};
    const struct element *e =
        bsearch(name, elements, sizeof elements / sizeof elements[0], sizeof elements[0], compare_element);
    return e ? e : &other;
}

/* ---- the walk ---- */

/* An element that is open and has to undo something at its end. */
struct level {
    uint64_t depth;
    enum kind kind;
    unsigned style;   /* that was in force around it */
    unsigned ordinal; /* LIST: of the next item, 0: no numbers; TABLE: 1 when a row is open */
    int list, table;  /* around it: places in the stack, -1: none */
};

struct page {
    htmlParserCtxtPtr parser;
    struct markup *m; /* NULL: the walk that only counts */
    struct extraction *x;
    uint64_t depth, dropped_at, main_at; /* depth at which one of them began; 0: none is open */
    enum kind chosen;                    /* MAIN or ARTICLE: nothing outside of them is written; else BLOCK */
    uint64_t seen, in_main, in_article;  /* bytes of visible text, when counting */
    unsigned mains, articles;            /* that are open, when counting */
    struct level stack[HTML_DEPTH];
    int top; /* -1: none */
    int list, table;
    unsigned style, pres;
    char url[URL];
    size_t n_url; /* of the link around what comes; 0: none */
    bool linked;  /* and it has been begun */
};

static const char *attribute(const xmlChar **list, const char *name)
{
    for (; list && list[0]; list += 2)
        if (!strcmp((const char *)list[0], name))
            return list[1] ? (const char *)list[1] : "";
    return NULL;
}

/* Of a style: without blanks, so that "display : none" is found. */
static bool hides(const char *style)
{
    char plain[256];
    size_t n = 0;
    for (; *style && n < sizeof plain - 1; style++)
        if (!strchr(" \t\r\n\f", *style))
            plain[n++] = *style;
    plain[n] = '\0';
    return strcasestr(plain, "display:none") != NULL;
}

static bool is_dropped(const struct element *e, const xmlChar **attributes)
{
    const char *style = attribute(attributes, "style"), *aria = attribute(attributes, "aria-hidden");
    return e->kind == DROPPED || (e->kind == ELEMENT && !attribute(attributes, "open")) ||
           attribute(attributes, "hidden") || (aria && !strcasecmp(aria, "true")) || (style && hides(style));
}

static void end_link(struct page *p)
{
    if (p->linked)
        markup_link_end(p->m);
    p->linked = false;
}

/* What is said next begins a paragraph of its own; an empty block has just that effect. */
static void part(struct page *p)
{
    end_link(p);
    if (p->pres)
        return;
    markup_begin(p->m, MARKUP_PARAGRAPH, 0);
    markup_end(p->m);
}

static void write_text(struct page *p, struct span text)
{
    static const char blanks[] = " \t\r\n\f";
    size_t blank = 0;
    while (blank < text.n && strchr(blanks, text.p[blank]))
        blank++;
    if (p->n_url && !p->linked && blank < text.n) {
        markup_link(p->m, span_of(p->url, p->n_url));
        p->linked = true;
    }
    markup_text(p->m, text, p->style);
}

/* ---- what an element begins ---- */

static void begin_link(struct page *p, const xmlChar **attributes)
{
    const char *url = attribute(attributes, "href");
    end_link(p);
    p->n_url = 0;
    while (url && *url && strchr(" \t\r\n\f", *url))
        url++;
    if (!url ||
        (strncasecmp(url, "http://", 7) && strncasecmp(url, "https://", 8) && strncasecmp(url, "mailto:", 7)))
        return;
    size_t n = strlen(url);
    while (n && strchr(" \t\r\n\f", url[n - 1]))
        n--;
    if (n > URL)
        return; /* longer than browsers take */
    memcpy(p->url, url, n);
    p->n_url = n;
}

static void write_picture(struct page *p, const xmlChar **attributes)
{
    const char *alt = attribute(attributes, "alt"), *src = attribute(attributes, "src");
    if (!src && !(alt && *alt))
        return;
    src = src ? src : "";
    if (!strncasecmp(src, "data:", 5)) {
        src = "data:…";
    } else if (strncasecmp(src, "http://", 7) && strncasecmp(src, "https://", 8)) {
        const char *slash = strrchr(src, '/');
        src = slash ? slash + 1 : src;
    }
    write_text(p, SPAN_LIT(""));
    markup_image(p->m, span_str(alt), span_str(src));
}

static void write_input(struct page *p, const xmlChar **attributes)
{
    static const char *const silent[] = {"hidden", "password", "file", "image", "color", "range"};
    const char *type = attribute(attributes, "type"), *value = attribute(attributes, "value");
    type = type ? type : "text";
    if (!strcasecmp(type, "checkbox") || !strcasecmp(type, "radio")) {
        write_text(p, attribute(attributes, "checked") ? SPAN_LIT("[x] ") : SPAN_LIT("[ ] "));
        return;
    }
    for (size_t i = 0; i < sizeof silent / sizeof silent[0]; i++)
        if (!strcasecmp(type, silent[i]))
            return;
    if (!value)
        return;
    write_text(p, SPAN_LIT(" ")); /* a field stands apart from what is around it */
    write_text(p, span_str(value));
    write_text(p, SPAN_LIT(" "));
}

static unsigned number_of(const char *text, unsigned otherwise)
{
    char *end;
    long n = text ? strtol(text, &end, 10) : 0;
    return text && end != text && n >= 0 && n < 1000000000 ? (unsigned)n : otherwise;
}

static void begin_item(struct page *p, const xmlChar **attributes)
{
    char marker[16] = "-";
    struct level *list = p->list >= 0 ? &p->stack[p->list] : NULL;
    if (list && list->kind == LIST && list->ordinal) {
        list->ordinal = number_of(attribute(attributes, "value"), list->ordinal);
        snprintf(marker, sizeof marker, "%u.", list->ordinal++);
    }
    end_link(p);
    markup_item(p->m, marker);
}

static void begin_cell(struct page *p, struct level *l, const xmlChar **attributes)
{
    struct level *table = &p->stack[p->table];
    end_link(p);
    if (!table->ordinal)
        markup_row(p->m);
    table->ordinal = 1;
    markup_cell(p->m, number_of(attribute(attributes, "colspan"), 1),
                number_of(attribute(attributes, "rowspan"), 1));
    l->kind = CELL;
    p->table = -1; /* what is in it is in no row */
}

/* Tables that only place things are no tables. */
static bool begin_grid(struct page *p, struct level *l, const struct element *e, const xmlChar **attributes)
{
    const char *role = attribute(attributes, "role");
    if (e->kind == TABLE && (!role || (strcasecmp(role, "presentation") && strcasecmp(role, "none")))) {
        end_link(p);
        markup_table(p->m);
        p->table = p->top;
    } else if (e->kind == ROW && p->table >= 0) {
        end_link(p);
        markup_row(p->m);
        p->stack[p->table].ordinal = 1;
    } else if (e->kind == CELL && p->table >= 0) {
        begin_cell(p, l, attributes);
    } else {
        return false;
    }
    return true;
}

static void begin_element(struct page *p, struct level *l, const struct element *e,
                          const xmlChar **attributes)
{
    switch (e->kind) {
    case INLINE:
        p->style |= e->arg;
        return;
    case ANCHOR:
        begin_link(p, attributes);
        return;
    case HEADING:
        end_link(p);
        markup_begin(p->m, MARKUP_HEADING, e->arg);
        return;
    case PRE:
        end_link(p);
        if (!p->pres++)
            markup_begin(p->m, MARKUP_CODE, 0);
        return;
    case QUOTE:
        end_link(p);
        markup_quote(p->m);
        return;
    case LIST:
        part(p);
        l->ordinal = e->arg ? number_of(attribute(attributes, "start"), 1) : 0;
        p->list = p->top;
        return;
    case ITEM:
        begin_item(p, attributes);
        return;
    case TERM_TEXT:
        end_link(p);
        markup_item(p->m, ":");
        return;
    case QUOTED:
        write_text(p, SPAN_LIT("“"));
        return;
    case TABLE:
    case ROW:
    case CELL:
        if (begin_grid(p, l, e, attributes))
            return;
        l->kind = BLOCK;
        part(p);
        return;
    case LINE_BREAK:
        markup_break(p->m);
        return;
    case RULE:
        end_link(p);
        if (p->table < 0 && p->top >= 0)
            markup_line(p->m, "---");
        return;
    case PICTURE:
        write_picture(p, attributes);
        return;
    case INPUT:
        write_input(p, attributes);
        return;
    default:
        part(p);
    }
}

static void end_element(struct page *p, const struct level *l)
{
    p->style = l->style;
    switch (l->kind) {
    case INLINE:
    case LINE_BREAK:
    case RULE:
    case PICTURE:
    case INPUT:
        break;
    case ANCHOR:
        end_link(p);
        p->n_url = 0;
        break;
    case HEADING:
        end_link(p);
        markup_end(p->m);
        break;
    case PRE:
        end_link(p);
        if (!--p->pres)
            markup_end(p->m);
        break;
    case QUOTE:
    case ITEM:
    case TERM_TEXT:
        end_link(p);
        markup_leave(p->m);
        break;
    case QUOTED:
        write_text(p, SPAN_LIT("”"));
        break;
    case TABLE:
        end_link(p);
        markup_table_end(p->m);
        break;
    case ROW:
        p->stack[p->table].ordinal = 0;
        break;
    case CELL:
        end_link(p);
        markup_cell_end(p->m);
        break;
    default:
        part(p);
    }
    p->list = l->list;
    p->table = l->table;
}

/* ---- events ---- */

static void on_open(void *user, const xmlChar *name, const xmlChar **attributes)
{
    struct page *p = user;
    const struct element *e = find_element((const char *)name);
    p->depth++;
    if (!p->m && p->x->nodes++ >= p->x->max_nodes) {
        extraction_fail(p->x, RENDER_LIMIT, "has more than %llu elements.",
                        (unsigned long long)p->x->max_nodes);
        xmlStopParser(p->parser);
        return;
    }
    if (p->dropped_at)
        return;
    if (is_dropped(e, attributes)) {
        p->dropped_at = p->depth;
        return;
    }
    if (!p->m) {
        p->mains += e->kind == MAIN;
        p->articles += e->kind == ARTICLE;
        return;
    }
    if (p->chosen != BLOCK && !p->main_at) {
        if (e->kind != p->chosen)
            return;
        p->main_at = p->depth;
    }
    if (p->top == HTML_DEPTH - 1)
        return;
    struct level *l = &p->stack[++p->top];
    *l = (struct level){
        .depth = p->depth, .kind = e->kind, .style = p->style, .list = p->list, .table = p->table};
    begin_element(p, l, e, attributes);
}

static void on_close(void *user, const xmlChar *name)
{
    struct page *p = user;
    if (p->dropped_at) {
        if (p->dropped_at == p->depth)
            p->dropped_at = 0;
    } else if (!p->m) {
        enum kind kind = find_element((const char *)name)->kind;
        p->mains -= kind == MAIN && p->mains;
        p->articles -= kind == ARTICLE && p->articles;
    } else {
        if (p->top >= 0 && p->stack[p->top].depth == p->depth) {
            end_element(p, &p->stack[p->top]);
            p->top--;
        }
        if (p->main_at == p->depth)
            p->main_at = 0;
    }
    p->depth -= p->depth > 0;
}

/* References such as &#146; mean characters of Windows-1252 (WHATWG HTML, 13.2.5.80); the parser takes them
 * for controls of Unicode. */
static void write_characters(struct page *p, struct span s)
{
    struct buf one;
    size_t from = 0;
    buf_init(&one, 8);
    for (size_t i = 0; i + 1 < s.n; i++) {
        unsigned char second = (unsigned char)s.p[i + 1];
        if (s.p[i] != '\xc2' || second < 0x80 || second > 0x9f)
            continue;
        write_text(p, span_of(s.p + from, i - from));
        buf_reset(&one);
        if (charset_convert("CP1252", span_of(s.p + i + 1, 1), &one, NULL) == 0)
            write_text(p, buf_span(&one));
        from = i + 2;
    }
    buf_free(&one);
    write_text(p, span_from(s, from));
}

static void on_text(void *user, const xmlChar *text, int n)
{
    struct page *p = user;
    struct span s = span_of((const char *)text, n > 0 ? (size_t)n : 0);
    if (p->dropped_at)
        return;
    if (p->m) {
        if (p->chosen == BLOCK || p->main_at)
            write_characters(p, s);
        if (markup_stopped(p->m))
            xmlStopParser(p->parser);
        return;
    }
    for (size_t i = 0; i < s.n; i++) {
        bool visible = !strchr(" \t\r\n\f", s.p[i]);
        p->seen += visible;
        p->in_main += visible && p->mains;
        p->in_article += visible && p->articles;
    }
}

/* ---- parsing ---- */

static int walk(struct span text, struct page *p)
{
    int failed = 0;
    if (text.n == 0)
        return 0;
    p->top = p->list = p->table = -1;
    p->parser = htmlCreateMemoryParserCtxt(text.p, (int)text.n);
    if (!p->parser)
        return extraction_fail(p->x, RENDER_FAILED, "could not be read: there is no memory.");
    htmlCtxtUseOptions(p->parser, HTML_PARSE_RECOVER | HTML_PARSE_NOERROR | HTML_PARSE_NOWARNING |
                                      HTML_PARSE_NONET | HTML_PARSE_IGNORE_ENC);
    xmlSwitchEncoding(p->parser, XML_CHAR_ENCODING_UTF8);
    /* No tree is made, so what makes one is taken out. */
    *p->parser->sax = (htmlSAXHandler){.startElement = on_open,
                                       .endElement = on_close,
                                       .characters = on_text,
                                       .ignorableWhitespace = on_text};
    p->parser->userData = p;
    htmlParseDocument(p->parser);
    const xmlParserInput *input = p->parser->input;
    if (p->x->status != RENDER_OK)
        failed = -1;
    else if (!(p->m && markup_stopped(p->m)) && input && input->cur < input->end)
        failed = extraction_fail(p->x, RENDER_INVALID, "could not be read to its end.");
    htmlFreeParserCtxt(p->parser);
    /* A parser that was stopped has not closed what was open. */
    for (; p->m && p->top >= 0; p->top--)
        end_element(p, &p->stack[p->top]);
    return failed;
}

/* What <meta charset=…> or <?xml encoding=…?> says (WHATWG HTML, 13.2.3.2, simplified). */
static struct span declared_charset(struct span bytes)
{
    struct span head = span_of(bytes.p, bytes.n < META_HEAD ? bytes.n : META_HEAD);
    static const char *const words[] = {"charset", "encoding"};
    for (size_t w = 0; w < 2; w++)
        for (size_t n = strlen(words[w]), i = 0; i + n < head.n; i++) {
            if (strncasecmp(head.p + i, words[w], n))
                continue;
            size_t from = i + n;
            while (from < head.n && strchr(" \t\r\n", head.p[from]))
                from++;
            if (from == head.n || head.p[from] != '=')
                continue;
            while (++from < head.n && strchr(" \t\r\n\"'", head.p[from]))
                ;
            size_t to = from;
            while (to < head.n && !strchr(" \t\r\n\"'>;?/", head.p[to]))
                to++;
            return span_of(head.p + from, to - from);
        }
    return span_of("", 0);
}

int html_warm(void)
{
    xmlInitParser();
    return charset_warm();
}

static enum kind choose(const struct page *p)
{
    if (p->in_main)
        return MAIN;
    return p->in_article * 2 >= p->seen && p->in_article ? ARTICLE : BLOCK;
}

static int read_text(struct span text, struct markup *m, struct extraction *x)
{
    struct page *p = xcalloc(1, sizeof *p);
    p->x = x;
    int failed = walk(text, p);
    enum kind chosen = choose(p);
    if (!failed) {
        *p = (struct page){.m = m, .x = x, .chosen = chosen};
        markup_collapse(m, true);
        failed = walk(text, p);
        markup_collapse(m, false);
    }
    xfree(p);
    return failed;
}

int html_read(struct span bytes, struct markup *m, struct extraction *x)
{
    struct buf text;
    char sentence[RENDER_SENTENCE] = "";
    buf_init(&text, CHARSET_TEXT);
    enum render_status status = charset_decode(bytes, declared_charset(bytes), &text, sentence);
    int failed = status == RENDER_OK ? 0 : extraction_fail(x, status, "%s", sentence);
    struct span s = buf_span(&text);
    for (char *nul; !failed && s.n && (nul = memchr(s.p, 0, s.n)) != NULL;
         s = span_from(s, (size_t)(nul + 1 - s.p)))
        *nul = ' '; /* the parser takes one for the end */
    failed = failed || read_text(buf_span(&text), m, x);
    buf_free(&text);
    return failed ? -1 : 0;
}
