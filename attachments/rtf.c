#include "attachments/rtf.h"

#include <stdio.h>
#include <stdlib.h>

#include "attachments/charset.h"
#include "base/xalloc.h"

enum { CAUGHT = 4096, NOTES = 1024 * 1024 };

static struct rtf_group *group(struct rtf *r)
{
    return &r->groups[r->depth < RTF_GROUPS ? r->depth : RTF_GROUPS - 1];
}

/* ---- characters ---- */

/* iconv's name of a code page; NULL: none. */
static const char *page_name(unsigned page)
{
    static const struct {
        unsigned page;
        const char *name;
    } others[] = {{932, "CP932"},       {936, "GB18030"}, {949, "UHC"},     {950, "BIG5-HKSCS"},
                  {10000, "MACINTOSH"}, {874, "TIS-620"}, {65001, "UTF-8"}, {437, "CP437"},
                  {850, "CP850"},       {852, "CP852"},   {866, "CP866"},   {1250, "CP1250"},
                  {1251, "CP1251"},     {1252, "CP1252"}, {1253, "CP1253"}, {1254, "CP1254"},
                  {1255, "CP1255"},     {1256, "CP1256"}, {1257, "CP1257"}, {1258, "CP1258"}};
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++)
        if (others[i].page == page)
            return others[i].name;
    return NULL;
}

/* Of a font's \fcharset; 0: the document's own. */
static uint16_t charset_page(long charset)
{
    static const struct {
        uint16_t charset, page;
    } known[] = {{0, 1252},   {77, 10000}, {128, 932},  {129, 949},  {134, 936},  {136, 950},
                 {161, 1253}, {162, 1254}, {163, 1258}, {177, 1255}, {178, 1256}, {186, 1257},
                 {204, 1251}, {222, 874},  {238, 1250}, {254, 437},  {255, 850}};
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
        if (known[i].charset == charset)
            return known[i].page;
    return 0;
}

static const char *encoding(struct rtf *r)
{
    unsigned page = r->code_page;
    for (size_t i = 0; i < r->n_fonts; i++)
        if (r->fonts[i].number == group(r)->font && r->fonts[i].page)
            page = r->fonts[i].page;
    const char *name = page_name(page);
    return name ? name : "CP1252";
}

/* Where text of the group goes, as UTF-8. */
static void put(struct rtf *r, struct span text)
{
    struct rtf_group *g = group(r);
    if (g->hidden || r->skipped_at)
        return;
    switch (g->destination) {
    case RTF_BODY:
        rtf_body(r, text, g->style);
        return;
    case RTF_FOOTNOTE:
    case RTF_COMMENT:
    case RTF_AUTHOR:
        if (buf_add(&r->notes, text))
            extraction_fail(r->x, RENDER_LIMIT, "has more than %d KiB of notes and comments.", NOTES / 1024);
        return;
    case RTF_STYLE_SHEET:
    case RTF_INSTRUCTION:
    case RTF_LIST_TEXT:
        if (r->caught.n + text.n <= CAUGHT) /* none of them is text of the document */
            buf_add(&r->caught, text);
        return;
    default:
        return;
    }
}

/* Decodes what has been collected. To be called before anything that is not a byte of the same text. */
static void flush(struct rtf *r)
{
    struct span s = buf_span(&r->bytes);
    bool ascii = true;
    if (r->surrogate) {
        r->surrogate = 0;
        put(r, SPAN_LIT("\xef\xbf\xbd"));
    }
    for (size_t i = 0; i < s.n && ascii; i++)
        ascii = (unsigned char)s.p[i] < 0x80;
    if (ascii && s.n) {
        put(r, s);
    } else if (s.n) {
        buf_reset(&r->text);
        if (charset_convert(encoding(r), s, &r->text, NULL))
            charset_convert("CP1252", s, &r->text, NULL);
        put(r, buf_span(&r->text));
    }
    buf_reset(&r->bytes);
}

static void put_character(struct rtf *r, uint32_t c)
{
    flush(r);
    buf_reset(&r->text);
    charset_put(c, &r->text);
    put(r, buf_span(&r->text));
}

static void put_byte(struct rtf *r, char c)
{
    if (r->to_skip) {
        r->to_skip--;
        return;
    }
    if (r->surrogate)
        flush(r);
    if (group(r)->destination == RTF_SKIP || group(r)->destination == RTF_PICTURE || r->skipped_at)
        return;
    buf_addc(&r->bytes, c);
    if (r->bytes.n >= 65536 && (unsigned char)c < 0x80)
        flush(r);
}

/* A 16-bit unit, as a signed number; characters beyond them come as two. */
static void put_unicode(struct rtf *r, long n)
{
    uint32_t unit = (uint32_t)(n < 0 ? n + 65536 : n);
    r->to_skip = group(r)->skip;
    if ((unit & 0xfffffc00) == 0xd800) {
        flush(r);
        r->surrogate = unit;
    } else if ((unit & 0xfffffc00) == 0xdc00 && r->surrogate) {
        uint32_t c = 0x10000 + ((r->surrogate & 0x3ff) << 10) + (unit & 0x3ff);
        r->surrogate = 0;
        put_character(r, c);
    } else if (unit) {
        put_character(r, unit);
    }
}

/* ---- groups ---- */

static void open_group(struct rtf *r)
{
    flush(r);
    r->to_skip = 0;
    r->optional = false;
    struct rtf_group outer = *group(r);
    bool skip = outer.twice;
    group(r)->twice = false;
    r->depth++;
    if (r->depth >= RTF_GROUPS)
        return;
    outer.result = outer.twice = false;
    if (skip)
        outer.destination = RTF_SKIP;
    r->groups[r->depth] = outer;
}

/* "heading 2;" in any case, or an outline level. */
static void take_style(struct rtf *r)
{
    const char *name = buf_cstr(&r->caught);
    unsigned level = r->style_outline;
    while (*name == ' ')
        name++;
    if (!strncasecmp(name, "heading ", 8) && name[8] >= '1' && name[8] <= '9')
        level = (unsigned)(name[8] - '0');
    else if (!strncasecmp(name, "title;", 6))
        level = 1;
    if (r->style_number < RTF_STYLES)
        r->headings[r->style_number] = (uint8_t)level;
    buf_reset(&r->caught);
    r->style_number = 0;
    r->style_outline = 0;
}

static void end_destination(struct rtf *r, enum rtf_destination destination)
{
    switch (destination) {
    case RTF_LIST_TEXT:
        rtf_take_marker(r);
        return;
    case RTF_FOOTNOTE:
    case RTF_COMMENT:
        rtf_end_note(r);
        return;
    case RTF_PICTURE:
        rtf_picture(r);
        return;
    default:
        return;
    }
}

static void close_group(struct rtf *r)
{
    flush(r);
    r->to_skip = 0;
    r->optional = false;
    if (r->depth == 0)
        return;
    if (r->skipped_at == r->depth)
        r->skipped_at = 0;
    r->depth--;
    if (r->depth >= RTF_GROUPS - 1)
        return;
    const struct rtf_group *inner = &r->groups[r->depth + 1], *outer = &r->groups[r->depth];
    if (inner->result && r->url.n) {
        markup_link_end(r->m);
        buf_reset(&r->url);
    }
    if (inner->destination == RTF_STYLE_SHEET && r->caught.n)
        take_style(r);
    if (inner->destination != outer->destination)
        end_destination(r, inner->destination);
}

/* Inside of what is skipped everything is. */
static void enter_destination(struct rtf *r, enum rtf_destination destination)
{
    struct rtf_group *g = group(r);
    if (g->destination == RTF_SKIP || r->skipped_at)
        return;
    if (r->depth >= RTF_GROUPS) {
        if (destination != RTF_BODY)
            r->skipped_at = r->depth;
        return;
    }
    /* A note in a note is text of it; a text box in one is, too. */
    if (rtf_is_note(g->destination) && (destination == RTF_BODY || rtf_is_note(destination)))
        return;
    g->destination = destination;
    if (rtf_is_note(destination))
        rtf_begin_note(r, destination);
    else if (destination == RTF_AUTHOR)
        r->author = r->notes.n;
    else if (destination == RTF_PICTURE)
        r->picture = RTF_WMF;
    else if (destination != RTF_BODY && destination != RTF_SKIP)
        buf_reset(&r->caught);
}

/* ---- control words ---- */

static void set_font(struct rtf *r, long n)
{
    struct rtf_group *g = group(r);
    g->font = n >= 0 && n < 65536 ? (uint16_t)n : 0;
    if (g->destination == RTF_FONTS_TABLE && r->n_fonts < RTF_FONTS) {
        r->fonts[r->n_fonts].number = g->font;
        r->fonts[r->n_fonts++].page = 0;
    }
}

static void skip_bytes(struct rtf *r, long n)
{
    size_t left = r->in.n - r->at, wanted = n < 0 ? 0 : (size_t)n;
    if (wanted > left)
        extraction_fail(r->x, RENDER_INVALID,
                        "is damaged: it announces %zu bytes of a picture or an object, and ends after %zu.",
                        wanted, left);
    r->at += wanted < left ? wanted : left;
}

static void set_style_number(struct rtf *r, const struct rtf_word *w, long n)
{
    if (group(r)->destination != RTF_STYLE_SHEET)
        rtf_block(r, w, n);
    else if (w->action == RTF_STYLE_NUMBER)
        r->style_number = n >= 0 ? (unsigned)n : 0;
    else
        r->style_outline = (uint8_t)(n >= 0 && n < 9 ? n + 1 : 0);
}

/* What has an effect on characters and groups; false: it is a matter of blocks. */
static bool act(struct rtf *r, const struct rtf_word *w, bool said, long n)
{
    struct rtf_group *g = group(r);
    switch (w->action) {
    case RTF_DESTINATION:
        enter_destination(r, (enum rtf_destination)w->arg);
        return true;
    case RTF_RESULT:
        if (r->depth < RTF_GROUPS && g->destination == RTF_BODY && !g->result) {
            rtf_begin_result(r);
            g->result = true;
        }
        return true;
    case RTF_TWICE:
        g->twice = true;
        return true;
    case RTF_STYLE:
        g->style = said && n == 0 ? g->style & ~w->arg : g->style | w->arg;
        return true;
    case RTF_HIDE:
        g->hidden = said && n == 0 ? g->hidden & ~w->arg : g->hidden | w->arg;
        return true;
    case RTF_PLAIN:
        g->style = 0;
        g->hidden &= ~1U;
        return true;
    case RTF_NO_SCRIPT:
        g->style &= ~(unsigned)(MARKUP_SUPER | MARKUP_SUB);
        return true;
    case RTF_CHARACTER:
        put_character(r, w->arg);
        return true;
    case RTF_FONT:
        set_font(r, n);
        return true;
    case RTF_FONT_CHARSET:
        if (g->destination == RTF_FONTS_TABLE && r->n_fonts)
            r->fonts[r->n_fonts - 1].page = charset_page(n);
        return true;
    case RTF_CODE_PAGE:
    case RTF_CODE_PAGE_FIXED:
        r->code_page = w->arg ? w->arg : n > 0 ? (unsigned)n : 1252;
        return true;
    case RTF_UNICODE_SKIP:
        g->skip = (uint16_t)(n >= 0 && n < 16 ? n : 1);
        return true;
    case RTF_BINARY:
        skip_bytes(r, n);
        return true;
    case RTF_PICTURE_KIND:
        r->picture = (enum rtf_picture)w->arg;
        return true;
    default:
        return false;
    }
}

static void apply(struct rtf *r, const char *name, bool said, long n)
{
    const struct rtf_word *w = rtf_word_find(name);
    bool optional = r->optional;
    r->optional = false;
    if (w && w->action == RTF_UNICODE) {
        r->to_skip = 0;
        if (r->bytes.n)
            flush(r);
        put_unicode(r, n);
        return;
    }
    if (r->to_skip && (!w || w->action != RTF_BINARY)) {
        r->to_skip--;
        return;
    }
    flush(r);
    if (!w) {
        if (optional)
            enter_destination(r, RTF_SKIP);
        return;
    }
    if (act(r, w, said, n))
        return;
    if (w->action == RTF_STYLE_NUMBER || w->action == RTF_OUTLINE)
        set_style_number(r, w, n);
    else if (group(r)->destination == RTF_BODY && !r->skipped_at)
        rtf_block(r, w, n);
    else if (w->action == RTF_PARAGRAPH || w->action == RTF_LINE)
        put(r, SPAN_LIT(" "));
}

/* ---- tokens ---- */

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static char peek(const struct rtf *r)
{
    return r->at < r->in.n ? r->in.p[r->at] : '\0';
}

static void read_word(struct rtf *r)
{
    char name[33];
    size_t n = 0;
    long parameter = 0;
    for (; r->at < r->in.n && is_letter(r->in.p[r->at]); r->at++)
        if (n < sizeof name - 1)
            name[n++] = r->in.p[r->at];
    name[n] = '\0';
    bool minus = peek(r) == '-' && r->at + 1 < r->in.n && is_digit(r->in.p[r->at + 1]);
    r->at += minus;
    bool said = is_digit(peek(r));
    for (int digits = 0; is_digit(peek(r)); r->at++)
        if (digits++ < RTF_PARAMETER)
            parameter = parameter * 10 + (peek(r) - '0');
    r->at += peek(r) == ' ';
    apply(r, name, said, minus ? -parameter : parameter);
}

static int hex(char c)
{
    return is_digit(c)            ? c - '0'
           : c >= 'a' && c <= 'f' ? c - 'a' + 10
           : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                  : -1;
}

static void read_symbol(struct rtf *r)
{
    char c = r->in.p[r->at++];
    if (c == '\'') {
        int high = hex(peek(r)), low = r->at + 1 < r->in.n ? hex(r->in.p[r->at + 1]) : -1;
        r->at += high >= 0 && low >= 0 ? 2 : 0;
        if (high >= 0 && low >= 0)
            put_byte(r, (char)(high << 4 | low));
    } else if (c == '*') {
        r->optional = true;
    } else if (r->to_skip) {
        r->to_skip--;
    } else if (c == '\\' || c == '{' || c == '}') {
        put_byte(r, c);
    } else if (c == '~') {
        put_character(r, 0xa0);
    } else if (c == '_') {
        put_character(r, 0x2011);
    } else if (c == '\n' || c == '\r') {
        apply(r, "par", false, 0);
    } else if (c == '\t') {
        put_character(r, '\t');
    }
}

static void read_token(struct rtf *r)
{
    char c = r->in.p[r->at++];
    switch (c) {
    case '{':
        open_group(r);
        return;
    case '}':
        close_group(r);
        return;
    case '\\':
        if (r->at == r->in.n)
            return;
        if (is_letter(r->in.p[r->at]))
            read_word(r);
        else
            read_symbol(r);
        return;
    case '\r':
    case '\n':
    case '\0':
        return;
    default:
        put_byte(r, c);
    }
}

int rtf_read(struct span bytes, struct markup *m, struct extraction *x)
{
    struct rtf *r = xcalloc(1, sizeof *r);
    *r = (struct rtf){.in = bytes, .m = m, .x = x, .code_page = 1252};
    r->groups[0].skip = 1;
    buf_init(&r->bytes, bytes.n + 1);
    buf_init(&r->text, 4 * bytes.n + 64);
    buf_init(&r->caught, CAUGHT + 1);
    buf_init(&r->url, CAUGHT + 1);
    buf_init(&r->notes, NOTES);
    buf_init(&r->note_list, NOTES);
    while (r->at < r->in.n && x->status == RENDER_OK && !markup_stopped(m))
        read_token(r);
    if (r->depth && !markup_stopped(m))
        extraction_fail(x, RENDER_INVALID, "is damaged: it ends within a group, so a part of it is missing.");
    flush(r);
    rtf_finish(r);
    buf_free(&r->bytes);
    buf_free(&r->text);
    buf_free(&r->caught);
    buf_free(&r->url);
    buf_free(&r->notes);
    buf_free(&r->note_list);
    xfree(r);
    return x->status == RENDER_OK ? 0 : -1;
}
