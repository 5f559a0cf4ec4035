#include "artifacts/markdown_html.h"

#include "artifacts/lines.h"

static bool is_name(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

static bool is_space(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\f';
}

static unsigned style_of(struct span name)
{
    return lines_word_in(name, "b strong")            ? STYLE_STRONG
           : lines_word_in(name, "i em cite var dfn") ? STYLE_EMPHASIS
           : lines_word_in(name, "s del strike")      ? STYLE_STRIKE
           : lines_word_in(name, "code kbd samp tt")  ? STYLE_CODE
           : lines_word_in(name, "u ins")             ? STYLE_UNDERLINE
           : lines_word_in(name, "sup")               ? STYLE_SUPERSCRIPT
           : lines_word_in(name, "sub")               ? STYLE_SUBSCRIPT
           : lines_word_in(name, "mark")              ? STYLE_MARK
                                                      : 0;
}

/* The value of an attribute; empty: absent. */
static struct span attribute(struct span tag, const char *wanted)
{
    size_t i = 1;
    while (i < tag.n && (is_name(tag.p[i]) || tag.p[i] == '/'))
        i++;
    while (i < tag.n) {
        while (i < tag.n && !is_name(tag.p[i]))
            i++;
        size_t from = i;
        while (i < tag.n && (is_name(tag.p[i]) || tag.p[i] == '-' || tag.p[i] == ':'))
            i++;
        struct span name = span_of(tag.p + from, i - from);
        while (i < tag.n && is_space(tag.p[i]))
            i++;
        if (i >= tag.n || tag.p[i] != '=')
            continue;
        for (i++; i < tag.n && is_space(tag.p[i]); i++)
            ;
        char quote = i < tag.n && (tag.p[i] == '"' || tag.p[i] == '\'') ? tag.p[i++] : 0;
        from = i;
        while (i < tag.n && (quote ? tag.p[i] != quote : !is_space(tag.p[i]) && tag.p[i] != '>'))
            i++;
        if (span_is_nocase(name, wanted))
            return span_of(tag.p + from, i - from);
        i += quote != 0;
    }
    return span_of("", 0);
}

static struct markdown_tag read_comment(struct span html)
{
    size_t from = 4, to = html.n - 3;
    while (from < to && is_space(html.p[from]))
        from++;
    while (to > from && is_space(html.p[to - 1]))
        to--;
    struct span inside = span_of(html.p + from, to - from);
    bool page = span_is_nocase(inside, "pagebreak") || span_is_nocase(inside, "page-break") ||
                span_is_nocase(inside, "page break") || span_is_nocase(inside, "newpage");
    return (struct markdown_tag){.means = page ? HTML_PAGE : HTML_NOTHING};
}

struct markdown_tag markdown_html_read(struct span html)
{
    struct markdown_tag tag = {.means = HTML_TEXT, .target = {"", 0}, .words = {"", 0}};
    if (html.n >= 7 && span_starts(html, "<!--") && span_ends(html, "-->"))
        return read_comment(html);
    size_t at = 1, n = 0;
    bool end = html.n > 2 && html.p[1] == '/';
    at += end;
    while (at + n < html.n && is_name(html.p[at + n]))
        n++;
    struct span name = span_of(html.p + at, n);
    if (!n)
        return tag;
    tag.style = style_of(name);
    if (tag.style)
        tag.means = end ? HTML_STYLE_END : HTML_STYLE;
    else if (lines_word_in(name, "br"))
        tag.means = HTML_LINE;
    else if (lines_word_in(name, "a"))
        tag.means = end ? HTML_LINK_END : HTML_LINK;
    else if (lines_word_in(name, "img"))
        tag.means = end ? HTML_NOTHING : HTML_IMAGE;
    else if (lines_word_in(name, "td th"))
        tag.means = HTML_SPACE;
    else if (lines_word_in(
                 name,
                 "p div tr li dt dd h1 h2 h3 h4 h5 h6 table ul ol dl blockquote pre summary section article "
                 "header footer main figure figcaption hr center details"))
        tag.means = HTML_LINE;
    else if (lines_word_in(
                 name,
                 "span font small big thead tbody tfoot colgroup col caption abbr label nav aside picture "
                 "source html head body wbr q time address bdi bdo ruby rt rp nobr"))
        tag.means = HTML_NOTHING;
    if (tag.means == HTML_LINK)
        tag.target = attribute(html, "href");
    if (tag.means == HTML_IMAGE) {
        tag.target = attribute(html, "src");
        tag.words = attribute(html, "alt");
    }
    return tag;
}
