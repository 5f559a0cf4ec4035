/*
 * What is done to a Markdown source line by line: front matter and footnotes are taken out, which the parser
 * does not know, and the cells of a table's delimiter row are widened to three dashes, fewer of which it does
 * not take for one.
 */
#include "artifacts/markdown_source.h"

#include <stdlib.h>

#include "artifacts/utf8.h"
#include "base/xalloc.h"

enum { ID_MAX = 100, FRONT_LINES = 60 };

static struct span line_at(struct span text, size_t at)
{
    const char *end = memchr(text.p + at, '\n', text.n - at);
    return span_of(text.p + at, end ? (size_t)(end - text.p) - at : text.n - at);
}

static size_t indentation(struct span line)
{
    size_t n = 0;
    while (n < line.n && line.p[n] == ' ')
        n++;
    return n;
}

static struct span trim(struct span s)
{
    while (s.n && (s.p[0] == ' ' || s.p[0] == '\t'))
        s = span_from(s, 1);
    while (s.n && (s.p[s.n - 1] == ' ' || s.p[s.n - 1] == '\t'))
        s.n--;
    return s;
}

/* Valid UTF-8 without control characters but tab and line feed; every line ends with a line feed. */
static int clean(struct span source, struct buf *out)
{
    if (span_starts(source, "\xef\xbb\xbf"))
        source = span_from(source, 3);
    size_t step;
    for (const char *p = source.p, *end = p + source.n; p < end; p += step) {
        const char *from = p;
        while (p < end && (unsigned char)*p >= 0x20 && (unsigned char)*p < 0x7f)
            p++;
        buf_addn(out, from, (size_t)(p - from));
        if (p == end)
            break;
        uint32_t c = utf8_next(p, end, &step);
        if (c == '\r') {
            if (p + 1 == end || p[1] != '\n')
                buf_addc(out, '\n');
        } else if (c == UTF8_INVALID && step == 1) {
            buf_adds(out, "\xef\xbf\xbd");
        } else if (c == '\n' || c == '\t' || (c > 0x9f && c != 0xfffe && c != 0xffff)) {
            buf_addn(out, p, step);
        }
    }
    return buf_addc(out, '\n');
}

/* ---- front matter ---- */

static struct span unquote(struct span value)
{
    value = trim(value);
    if (value.n >= 2 && (value.p[0] == '"' || value.p[0] == '\'') && value.p[value.n - 1] == value.p[0])
        value = span_of(value.p + 1, value.n - 2);
    return value;
}

/* "key: value", an item or continuation of one, a comment, or nothing. */
static bool is_front_line(struct span line, struct span *key, struct span *value)
{
    *key = *value = span_of("", 0);
    size_t n = 0;
    if (!trim(line).n || line.p[0] == ' ' || line.p[0] == '#' || span_starts(line, "- "))
        return true;
    while (n < line.n && ((line.p[n] | 0x20) >= 'a' && (line.p[n] | 0x20) <= 'z'))
        n++;
    while (n && n < line.n &&
           ((line.p[n] >= '0' && line.p[n] <= '9') || (line.p[n] | 0x20) == '-' || line.p[n] == '_' ||
            ((line.p[n] | 0x20) >= 'a' && (line.p[n] | 0x20) <= 'z')))
        n++;
    if (!n || n == line.n || line.p[n] != ':' || (n + 1 < line.n && line.p[n + 1] != ' '))
        return false;
    *key = span_of(line.p, n);
    *value = unquote(span_from(line, n + 1));
    return true;
}

/* Where the text begins. */
static size_t take_front_matter(struct markdown_source *s)
{
    struct span text = buf_span(&s->clean), key, value, title = {"", 0}, author = title, date = title;
    if (!span_is(trim(line_at(text, 0)), "---"))
        return 0;
    size_t at = line_at(text, 0).n + 1;
    bool any = false;
    for (unsigned i = 0; i < FRONT_LINES && at < text.n; i++) {
        struct span line = line_at(text, at);
        at += line.n + 1;
        if (span_is(trim(line), "---") || span_is(trim(line), "...")) {
            if (!any)
                return 0;
            s->title = title;
            s->author = author;
            s->date = date;
            return at;
        }
        if (!is_front_line(line, &key, &value))
            return 0;
        any |= key.n > 0;
        if (span_is_nocase(key, "title"))
            title = value;
        else if (span_is_nocase(key, "author"))
            author = value;
        else if (span_is_nocase(key, "date"))
            date = value;
    }
    return 0;
}

/* ---- fences ---- */

struct fence {
    char mark; /* 0: none is open */
    size_t n;
};

static void follow_fence(struct fence *fence, struct span line)
{
    while (line.n && (line.p[0] == ' ' || line.p[0] == '>'))
        line = span_from(line, 1);
    size_t n = 0;
    char mark = line.n ? line.p[0] : 0;
    while (n < line.n && line.p[n] == mark)
        n++;
    if ((mark != '`' && mark != '~') || n < 3)
        return;
    struct span info = span_from(line, n);
    if (!fence->mark) {
        if (mark == '`' && memchr(info.p, '`', info.n))
            return;
        *fence = (struct fence){mark, n};
    } else if (mark == fence->mark && n >= fence->n && !trim(info).n) {
        fence->mark = 0;
    }
}

/* ---- footnotes ---- */

struct span markdown_mention(struct span text, size_t at)
{
    struct span none = {"", 0};
    if (at + 4 > text.n || text.p[at] != '[' || text.p[at + 1] != '^')
        return none;
    size_t n = 0, from = at + 2;
    while (from + n < text.n && n <= ID_MAX && text.p[from + n] != ']' && text.p[from + n] != '[' &&
           (unsigned char)text.p[from + n] > ' ')
        n++;
    return n && n <= ID_MAX && from + n < text.n && text.p[from + n] == ']' ? span_of(text.p + from, n)
                                                                            : none;
}

/* The id of a definition that begins on that line; *content: what stands behind it. */
static struct span definition_id(struct span line, struct span *content)
{
    size_t at = indentation(line);
    struct span id = at > 3 ? span_of("", 0) : markdown_mention(line, at);
    size_t colon = at + id.n + 3;
    if (!id.n || colon >= line.n || line.p[colon] != ':')
        return span_of("", 0);
    *content = trim(span_from(line, colon + 1));
    return id;
}

static int compare_ids(struct span a, struct span b)
{
    int order = memcmp(a.p, b.p, a.n < b.n ? a.n : b.n);
    return order ? order : a.n < b.n ? -1 : a.n > b.n;
}

static int by_id(const void *a, const void *b)
{
    const struct markdown_definition *x = a, *y = b;
    int order = compare_ids(x->id, y->id);
    return order ? order : x->at < y->at ? -1 : x->at > y->at; /* the first of one id counts */
}

struct markdown_definition *markdown_definition_find(const struct markdown_source *s, struct span id)
{
    size_t low = 0, high = s->n;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (compare_ids(s->definitions[middle].id, id) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low < s->n && compare_ids(s->definitions[low].id, id) == 0 ? &s->definitions[low] : NULL;
}

/* Whether a line goes on with a definition. `blank`: the line before it was empty. */
static bool continues(struct span line, bool blank)
{
    struct span content;
    if (!trim(line).n)
        return true;
    if (blank)
        return indentation(line) >= 2 || line.p[0] == '\t';
    return !definition_id(line, &content).n && line.p[0] != '#' && line.p[0] != '|' &&
           !span_starts(line, "```");
}

/* Reads the definition whose first line begins at `at`; answers where the text goes on. */
static size_t take_definition(struct markdown_source *s, struct span text, size_t at, struct span id,
                              struct span content)
{
    struct markdown_definition d = {.id = id, .at = s->notes.n};
    bool blank = false;
    buf_add(&s->notes, content);
    buf_addc(&s->notes, '\n');
    at += line_at(text, at).n + 1;
    size_t end = at;
    while (at < text.n) {
        struct span line = line_at(text, at);
        if (!continues(line, blank))
            break;
        size_t inside = indentation(line);
        blank = !trim(line).n;
        at += line.n + 1;
        buf_add(&s->notes, span_from(line, inside < 4 ? inside : 4));
        buf_addc(&s->notes, '\n');
        if (!blank) {
            d.n = s->notes.n - d.at;
            end = at;
        }
    }
    if (!d.n)
        d.n = content.n + 1;
    if (s->n == s->room) {
        s->room = s->room ? s->room * 2 : 16;
        s->definitions = xrealloc(s->definitions, s->room * sizeof *s->definitions);
    }
    s->definitions[s->n++] = d;
    return end;
}

/* ---- tables ---- */

/* A line of nothing but the cells of a delimiter row. */
static bool is_delimiter_row(struct span line)
{
    bool bar = false, dash = false;
    for (size_t i = 0; i < line.n; i++) {
        char c = line.p[i];
        if (c != '|' && c != ':' && c != '-' && c != ' ' && c != '>')
            return false;
        bar |= c == '|';
        dash |= c == '-';
    }
    return bar && dash && line.n < 4096;
}

static void add_widened(struct buf *out, struct span line)
{
    for (size_t i = 0; i < line.n;) {
        size_t n = 0;
        while (i + n < line.n && line.p[i + n] == '-')
            n++;
        buf_addn(out, line.p + i, n ? n : 1);
        for (size_t k = n; n && k < 3; k++)
            buf_addc(out, '-');
        i += n ? n : 1;
    }
}

/* The parser takes two bars for one: an empty cell is written as a blank one. */
static void add_row(struct buf *out, struct span line)
{
    for (size_t i = 0; i < line.n; i++) {
        buf_addc(out, line.p[i]);
        if (line.p[i] == '\\' && i + 1 < line.n)
            buf_addc(out, line.p[++i]);
        else if (line.p[i] == '|' && i + 1 < line.n && line.p[i + 1] == '|')
            buf_addc(out, ' ');
    }
}

/* ---- all of it ---- */

static void read_lines(struct markdown_source *s, struct span text)
{
    struct fence fence = {0};
    size_t at = 0;
    bool after_bar = false, table = false;
    while (at < text.n) {
        struct span line = line_at(text, at), content;
        bool inside = fence.mark != 0;
        follow_fence(&fence, line);
        inside |= fence.mark != 0;
        struct span id = inside || s->n == MARKDOWN_NOTES ? span_of("", 0) : definition_id(line, &content);
        if (id.n) {
            at = take_definition(s, text, at, id, content);
            continue;
        }
        bool bar = memchr(line.p, '|', line.n) != NULL, rule = !inside && after_bar && is_delimiter_row(line);
        table = rule || (table && bar && !inside);
        if (rule)
            add_widened(&s->text, line);
        else if (table)
            add_row(&s->text, line);
        else
            buf_add(&s->text, line);
        buf_addc(&s->text, '\n');
        after_bar = bar;
        at += line.n + 1;
    }
}

int markdown_source_init(struct markdown_source *s, struct span source)
{
    *s = (struct markdown_source){.title = {"", 0}, .author = {"", 0}, .date = {"", 0}};
    buf_init(&s->clean, MARKDOWN_SOURCE * 3);
    buf_init(&s->text, MARKDOWN_SOURCE * 4);
    buf_init(&s->notes, MARKDOWN_SOURCE * 4);
    if (source.n > MARKDOWN_SOURCE || clean(source, &s->clean))
        return -1;
    struct span text = span_from(buf_span(&s->clean), take_front_matter(s));
    read_lines(s, text);
    if (s->n)
        qsort(s->definitions, s->n, sizeof *s->definitions, by_id);
    for (size_t i = 0; i < s->n; i++)
        s->definitions[i].text = span_of(buf_span(&s->notes).p + s->definitions[i].at, s->definitions[i].n);
    return buf_full(&s->text) || buf_full(&s->notes) ? -1 : 0;
}

void markdown_source_finish(struct markdown_source *s)
{
    xfree(s->definitions);
    buf_free(&s->clean);
    buf_free(&s->text);
    buf_free(&s->notes);
}
